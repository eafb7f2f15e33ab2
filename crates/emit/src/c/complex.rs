//! Complex numbers, in a language where they are records.

use ir::program::{ExprId, UnaryOp};
use ir::types::Ty;
use syntax::print::Level;

use super::Printer;

impl Printer<'_> {
    /// `z.re` where complex numbers are records.
    pub(super) fn put_half(&self, op: UnaryOp, e: ExprId, out: &mut String) {
        let is_complex = self.ty(e).is_some_and(|it| self.program.types.is_complex(it));
        let operand = self.operand(e, Level::Postfix);
        out.push_str(&match (op == UnaryOp::Imag, is_complex) {
            (true, true) => format!("{operand}.im"),
            (false, true) => format!("{operand}.re"),
            (true, false) => format!("(({operand}) * 0)"),
            (false, false) => format!("({operand})"),
        });
    }

    /// An imaginary number as a record: `1.0iF`.
    pub(super) fn imaginary(&self, text: &str, ty: Ty) -> String {
        let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
        let suffix = |c: &char| {
            matches!(c, 'i' | 'I' | 'j' | 'J') || !is_hexadecimal && matches!(c, 'f' | 'F')
        };
        let number: String = text.chars().filter(|it| !suffix(it)).collect();
        format!("{}(0, {number})", self.type_name(ty.plain()))
    }
}
