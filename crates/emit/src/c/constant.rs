//! Numbers, so that they have the type they are meant to have.

use ir::types::{IntKind, Ty, TypeKind};
use syntax::print::Level;

use super::{Grid, Printer};

impl Printer<'_> {
    /// An integer of a type: `5UL`, `(char)65`, `(-2147483647 - 1)`.
    pub(super) fn integer(&self, value: i128, ty: Ty) -> (String, Level) {
        let types = &self.program.types;
        let TypeKind::Int(kind) = types.shape(ty) else {
            // Enumerations, `_Bool`, pointers: a number that is converted.
            let (text, _) = self.number(value, self.enclosing(value));
            return (format!("({}){text}", self.type_name(ty.plain())), Level::Cast);
        };
        self.number(self.program.model.int_wrap(*kind, value), *kind)
    }

    /// The word for a kind of integer. `long long` has 128 bits where compilers follow OpenCL C, and
    /// `long` has 64 everywhere there.
    pub(super) fn kind_there(&self, kind: IntKind) -> IntKind {
        match (kind, self.grid) {
            (IntKind::LongLong, Some(Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_))) => {
                IntKind::Long
            }
            (IntKind::ULongLong, Some(Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_))) => {
                IntKind::ULong
            }
            (kind, _) => kind,
        }
    }

    pub(super) fn number(&self, value: i128, kind: IntKind) -> (String, Level) {
        let suffix = match self.kind_there(kind) {
            IntKind::Int => "",
            IntKind::UInt => "U",
            IntKind::Long => "L",
            IntKind::ULong => "UL",
            IntKind::LongLong => "LL",
            IntKind::ULongLong => "ULL",
            IntKind::Int128 | IntKind::UInt128 => return self.wide(value, kind),
            IntKind::Char | IntKind::SChar | IntKind::UChar | IntKind::Short | IntKind::UShort => {
                let (text, _) = self.number(value, IntKind::Int);
                return (format!("({}){text}", kind.spelling()), Level::Cast);
            }
        };
        let (least, _) = self.program.model.int_range(kind);
        if value >= 0 {
            (format!("{value}{suffix}"), Level::Primary)
        } else if value == least {
            // Its absolute value is no number of this type.
            (format!("({}{suffix} - 1)", value + 1), Level::Primary)
        } else {
            (format!("{value}{suffix}"), Level::Unary)
        }
    }

    /// A number that may be too long for a literal, in two halves.
    fn wide(&self, value: i128, kind: IntKind) -> (String, Level) {
        let name = kind.spelling();
        if let Ok(small) = i64::try_from(value) {
            let (text, _) = self.number(i128::from(small), IntKind::LongLong);
            return (format!("({name}){text}"), Level::Cast);
        }
        let bits = value as u128;
        let (high, low) = ((bits >> 64) as u64, bits as u64);
        let text = format!("(unsigned __int128){high}ULL << 64 | {low}ULL");
        (format!("({name})({text})"), Level::Cast)
    }

    /// A kind that holds a value.
    fn enclosing(&self, value: i128) -> IntKind {
        let fits = |kind: &IntKind| {
            let (least, most) = self.program.model.int_range(*kind);
            (least..=most).contains(&value)
        };
        let kinds = [IntKind::Int, IntKind::Long, IntKind::LongLong, IntKind::ULongLong];
        kinds.into_iter().find(fits).unwrap_or(IntKind::Int128)
    }

    /// The value of a case, as a number of whatever type holds it.
    pub(super) fn case_value(&self, value: i128) -> String {
        self.number(value, self.enclosing(value)).0
    }
}
