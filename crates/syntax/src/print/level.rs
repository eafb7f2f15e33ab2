//! Precedence: which expression may stand bare where.

/// How tightly an expression holds together, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are those of the grammar")]
pub enum Level {
    Comma,
    Assign,
    Conditional,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Cast,
    Unary,
    Postfix,
    Primary,
}

impl Level {
    /// The next tighter one: what the right operand of an operator must be that groups to the left.
    #[must_use]
    pub fn tighter(self) -> Level {
        match self {
            Level::Comma => Level::Assign,
            Level::Assign => Level::Conditional,
            Level::Conditional => Level::Or,
            Level::Or => Level::And,
            Level::And => Level::BitOr,
            Level::BitOr => Level::BitXor,
            Level::BitXor => Level::BitAnd,
            Level::BitAnd => Level::Equality,
            Level::Equality => Level::Relation,
            Level::Relation => Level::Shift,
            Level::Shift => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product => Level::Cast,
            Level::Cast => Level::Unary,
            Level::Unary => Level::Postfix,
            Level::Postfix | Level::Primary => Level::Primary,
        }
    }
}
