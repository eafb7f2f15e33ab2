//! Variables of a block's own, where no directive of the host's compiler makes them.

use ir::program::VarId;
use ir::region::{Region, Sharing};

use super::Lowering;
use crate::c::{Out, Printer};

/// How a copy begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// Without a value.
    Blank,
    /// With that of the original.
    Copied,
}

impl Lowering<'_> {
    /// Copies of all variables that a region has for itself, and a printer that names them.
    pub(super) fn own_copies<'p>(
        &self,
        printer: &Printer<'p>,
        region: &Region,
        out: &mut Out<'_>,
    ) -> Printer<'p> {
        let mut inside = printer.clone();
        for var in &region.vars {
            let start = match var.sharing.as_ref().map(|it| &it.value) {
                Some(Sharing::Private) => Start::Blank,
                Some(Sharing::FirstPrivate) => Start::Copied,
                _ => continue,
            };
            self.own_copy(printer, &mut inside, var.var, start, out);
        }
        inside
    }

    /// One copy.
    pub(super) fn own_copy(
        &self,
        outside: &Printer<'_>,
        inside: &mut Printer<'_>,
        var: VarId,
        start: Start,
        out: &mut Out<'_>,
    ) {
        let original = outside.var_name(var);
        let name = format!("__ferry_own{}", self.fresh());
        // Lengths of arrays are computed where the original came to life.
        out.line(&format!("__typeof__({original}) {name};"));
        if start == Start::Copied {
            out.line(&format!(
                "__builtin_memcpy((void *)&{name}, (const void *)&{original}, sizeof({name}));"
            ));
        }
        inside.substitute(var, name);
    }
}
