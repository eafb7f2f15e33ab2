//! Strings, as arrays and as what fills arrays.
//!
//! Wide ones are spelt so that every machine makes the program's `wchar_t` of them: `U"…"` has no sign anywhere, and
//! what has one is read through a pointer to such elements.

use ir::types::{ArrayLen, IntKind, Ty, TypeKind};
use source::Name;
use syntax::literal::{self, Prefix};

use super::Printer;

impl Printer<'_> {
    /// The pieces of a string, as written.
    fn pieces(&self, pieces: &[Name]) -> Vec<&str> {
        pieces.iter().map(|it| self.text(*it)).collect()
    }

    /// A string of this type, which can be an operand anywhere.
    pub(super) fn string(&self, pieces: &[Name], ty: Ty) -> String {
        let words = self.pieces(pieces);
        if !self.is_respelt(&words) {
            return words.join(" ");
        }
        let swap = |it: &&str| it.strip_prefix('L').map_or((*it).to_owned(), |it| format!("U{it}"));
        let text = words.iter().map(swap).collect::<Vec<_>>().join(" ");
        let types = &self.program.types;
        let element = types.element(ty).and_then(|it| types.integer_kind(it));
        match element {
            Some(IntKind::UInt) => text,
            _ => format!("(*({}){text})", self.declare_pointer(ty, "")),
        }
    }

    /// What fills an array of this type.
    pub(super) fn filling(&self, pieces: &[Name], ty: Ty) -> String {
        let words = self.pieces(pieces);
        let known = literal::string(words.iter().copied()).ok();
        let types = &self.program.types;
        let element = types.element(ty).and_then(|it| types.integer_kind(it));
        let (Some(string), Some(kind), true) = (known, element, self.is_respelt(&words)) else {
            return words.join(" ");
        };
        let shape = types.shape(ty);
        let length =
            if let TypeKind::Array(_, ArrayLen::Known(it)) = shape { *it } else { u64::MAX };
        let room = usize::try_from(length).unwrap_or(usize::MAX);
        let number =
            |unit: u32| self.number(self.program.model.int_wrap(kind, unit.into()), kind).0;
        let units = string.units.into_iter().chain([0]).take(room);
        format!("{{ {} }}", units.map(number).collect::<Vec<_>>().join(", "))
    }

    fn is_respelt(&self, words: &[&str]) -> bool {
        self.is_for_machines && words.iter().any(|it| it.starts_with(Prefix::Wide.spelling()))
    }
}
