//! Variables of a block's own, where no directive of the host's compiler makes them.

use ir::program::VarId;
use ir::region::{Region, Sharing};

use super::Lowering;
use super::storage::Storage;
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
            let own = Own { var: var.var, start, storage: None };
            self.own_copy(printer, &mut inside, &own, out);
        }
        inside
    }

    /// One copy.
    pub(super) fn own_copy(
        &self,
        outside: &Printer<'_>,
        inside: &mut Printer<'_>,
        own: &Own,
        out: &mut Out<'_>,
    ) {
        let original = outside.var_name(own.var);
        let name = format!("__ferry_own{}", self.fresh());
        // Lengths of arrays are computed where the original came to life.
        let place = match &own.storage {
            None => {
                out.line(&format!("__typeof__({original}) {name};"));
                format!("&{name}")
            }
            Some(storage) => {
                out.line(&self.allocated(&name, &original, storage));
                name.clone()
            }
        };
        if own.start == Start::Copied {
            out.line(&format!(
                "__builtin_memcpy((void *){place}, (const void *)&{original}, sizeof({original}));"
            ));
        }
        inside.substitute(own.var, if own.storage.is_some() { format!("(*{name})") } else { name });
    }
}

/// A variable that a block has for itself.
#[derive(Clone, Debug)]
pub(super) struct Own {
    pub(super) var: VarId,
    pub(super) start: Start,
    /// Where it comes from, if not from where local variables do.
    pub(super) storage: Option<Storage>,
}
