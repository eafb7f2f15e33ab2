//! Small pieces of text that many clauses share.

/// `(a, b)`
pub(super) fn list(items: &[String]) -> String {
    format!("({})", items.join(", "))
}

/// `(modifier, modifier: a, b)`
pub(super) fn prefixed(modifiers: &[String], items: &[String]) -> String {
    if modifiers.is_empty() {
        return list(items);
    }
    format!("({}: {})", modifiers.join(", "), items.join(", "))
}
