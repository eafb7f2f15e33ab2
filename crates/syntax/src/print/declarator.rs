//! Declarators and attributes as text.

use super::Level;
use super::Printer;
use crate::ast::{
    ArrayPart, ArraySize, Attr, AttrArg, AttrId, DeclaratorId, Derived, ParamKind, Params, Quals,
};

impl Printer<'_> {
    /// `*(*name[3])(int)`: what is left of the name from the outside in, the name, then what is
    /// right of it from the inside out.
    pub(super) fn declarator(&mut self, declarator: DeclaratorId, trailer: Trailer) {
        let tree = self.tree;
        let it = &tree.declarators[declarator];
        for (at, part) in it.parts.iter().enumerate().rev() {
            match part {
                Derived::Pointer(quals, attrs) => {
                    self.pointer(*quals, attrs, it.name.is_some() || at > 0);
                }
                Derived::Array(_) | Derived::Function(_) => {
                    if follows_pointer(&it.parts, at) {
                        self.put("(");
                    }
                }
            }
        }
        if let Some(name) = it.name {
            self.name(name.name);
        }
        // A `[[…]]` belongs to the name, and would belong to the array or function type if it
        // stood behind the brackets or parentheses.
        if it.name.is_some() && it.attrs.iter().any(|it| tree.attrs[*it].is_standard) {
            self.put(" ");
            self.attr_lists(&it.attrs, true);
        }
        for (at, part) in it.parts.iter().enumerate() {
            match part {
                Derived::Pointer(..) => {}
                Derived::Array(part) => {
                    self.put(if follows_pointer(&it.parts, at) { ")" } else { "" });
                    self.array(part);
                }
                Derived::Function(params) => {
                    self.put(if follows_pointer(&it.parts, at) { ")" } else { "" });
                    self.params(params);
                }
            }
        }
        if let Some(label) = it.asm_label {
            self.put(" ");
            self.asm(label);
        }
        if trailer == Trailer::Attributes {
            self.trailing_attrs(&it.attrs);
        }
    }

    /// `*const `, with a space where more of the declarator follows.
    fn pointer(&mut self, quals: Quals, attrs: &[AttrId], more: bool) {
        self.put("*");
        let mut is_bare = true;
        for word in qualifiers(quals) {
            self.put(if is_bare { "" } else { " " });
            self.put(word);
            is_bare = false;
        }
        if !attrs.is_empty() {
            self.put(if is_bare { "" } else { " " });
            self.attrs(attrs);
            is_bare = false;
        }
        if more && !is_bare {
            self.put(" ");
        }
    }

    /// `[static const n]`
    fn array(&mut self, part: &ArrayPart) {
        self.put("[");
        if part.is_static {
            self.put("static ");
        }
        for word in qualifiers(part.quals) {
            self.put(word);
            self.put(" ");
        }
        match part.size {
            ArraySize::Unknown => {}
            ArraySize::Star => self.put("*"),
            ArraySize::Expr(size) => self.expr(size, Level::Assign),
        }
        self.put("]");
    }

    /// `(int a, …)`
    fn params(&mut self, params: &Params) {
        let tree = self.tree;
        self.put("(");
        match &params.kind {
            ParamKind::Unspecified => {}
            ParamKind::List(list) if list.is_empty() && !params.variadic => self.put("void"),
            ParamKind::List(list) => {
                self.separated(list, ", ", |it, param| {
                    it.specs(param.specs);
                    let declarator = &tree.declarators[param.declarator];
                    if declarator.name.is_some() || !declarator.parts.is_empty() {
                        it.space();
                    }
                    it.declarator(param.declarator, Trailer::Attributes);
                });
                if params.variadic {
                    self.put(if list.is_empty() { "..." } else { ", ..." });
                }
            }
            ParamKind::Names(names) => self.idents(names),
        }
        self.put(")");
    }

    /// ` __attribute__((…))` behind a declarator; its `[[…]]` stand behind the name.
    pub(super) fn trailing_attrs(&mut self, attrs: &[AttrId]) {
        let tree = self.tree;
        if attrs.iter().any(|it| !tree.attrs[*it].is_standard) {
            self.put(" ");
            self.attr_lists(attrs, false);
        }
    }

    /// `[[a]] __attribute__((b, c))`: standard attributes stand first.
    pub(super) fn attrs(&mut self, attrs: &[AttrId]) {
        let tree = self.tree;
        let standard = attrs.iter().filter(|it| tree.attrs[**it].is_standard).count();
        if standard > 0 {
            self.attr_lists(attrs, true);
        }
        if standard < attrs.len() {
            self.put(if standard > 0 { " " } else { "" });
            self.attr_lists(attrs, false);
        }
    }

    /// The attributes of one of the two spellings.
    pub(super) fn attr_lists(&mut self, attrs: &[AttrId], is_standard: bool) {
        let tree = self.tree;
        let (open, close) = if is_standard { ("[[", "]]") } else { ("__attribute__((", "))") };
        self.put(open);
        let chosen = attrs.iter().map(|it| &tree.attrs[*it]);
        let chosen = chosen.filter(|it| it.is_standard == is_standard);
        self.separated(chosen, ", ", |it, attr| it.attr(attr));
        self.put(close);
    }

    /// `gnu::aligned(8)`
    fn attr(&mut self, attr: &Attr) {
        if let Some(scope) = attr.scope {
            self.name(scope.name);
            self.put("::");
        }
        self.name(attr.ident.name);
        if let Some(args) = &attr.args {
            self.put("(");
            self.separated(args, ", ", |it, arg| match arg {
                AttrArg::Expr(value) => it.expr(*value, Level::Assign),
                AttrArg::Type(ty) => it.type_name(*ty),
            });
            self.put(")");
        }
    }
}

/// Whether a declarator prints its `__attribute__`s.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trailer {
    /// Behind it.
    Attributes,
    /// Elsewhere.
    Nothing,
}

/// Whether the part before `at` (nearer to the name) is a pointer, which binds looser than the
/// brackets and parentheses that come next.
fn follows_pointer(parts: &[Derived], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| parts.get(at));
    matches!(before, Some(Derived::Pointer(..)))
}

pub(super) fn qualifiers(quals: Quals) -> impl Iterator<Item = &'static str> {
    let words = [
        (quals.is_const, "const"),
        (quals.is_volatile, "volatile"),
        (quals.is_restrict, "__restrict"),
        (quals.is_atomic, "_Atomic"),
    ];
    words.into_iter().filter(|(is_there, _)| *is_there).map(|(_, word)| word)
}
