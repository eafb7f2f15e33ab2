//! Variables of kernels that are to be aligned by more than any type is, where the language has no sure word for it.
//!
//! Drivers of OpenCL give threads and groups their variables in memory of which they align the first alone. So such a
//! variable lies in an array of bytes with room to spare, and is found through a pointer to the first place that suits
//! it. Compilers of other grids take an attribute.

use ir::program::{Init, InitId, VarId, VarStorage};
use ir::types::Ty;

use crate::c::{Grid, Out, Printer};
use crate::lower::Lowering;

/// What the places of all variables are multiples of that ask for it.
const SURE: u64 = 16;

impl Lowering<'_> {
    /// What a variable's address is to be a multiple of, if it is rounded up to that.
    fn rounded(&self, var: VarId) -> Option<u64> {
        let is_rounded = self.grid == Some(Grid::OpenCl);
        self.program.vars[var].align.filter(|it| is_rounded && *it > SURE)
    }

    /// Declares a variable like another; answers what names it. `memory`: the word for where it lies, or none for a
    /// thread's own.
    pub(in crate::lower) fn declare_own(
        &self,
        printer: &Printer<'_>,
        like: VarId,
        name: &str,
        memory: &str,
        out: &mut Out<'_>,
    ) -> String {
        let Some(align) = self.rounded(like) else {
            // The word stands before the name: it is of the variable, not of what that points to.
            let declared = printer.declare_like(like, &format!("{memory}{name}"));
            out.line(&format!("{declared};"));
            return name.to_owned();
        };
        let (ty, mask) = (self.program.vars[like].ty.plain(), align - 1);
        let size = format!("sizeof({})", printer.type_name(ty));
        out.line(&format!("{memory}char {name}_bytes[{size} + {mask}];"));
        let pointer = printer.declare(ty, &format!("(*{name}_place)"));
        let at = format!("(unsigned long)__ferry_kernel_flat({name}_bytes)");
        let to = printer.declare(ty, "(*)");
        out.line(&format!("{pointer} = ({to})(({at} + {mask}) & ~{mask}ul);"));
        format!("(*{name}_place)")
    }

    /// A copy of a value that came with the launch, if it is to lie so.
    pub(in crate::lower) fn rounded_copy(
        &self,
        printer: &Printer<'_>,
        var: VarId,
        name: &str,
        out: &mut Out<'_>,
    ) -> Option<String> {
        self.rounded(var)?;
        Some(self.declare_own(printer, var, &format!("{name}_own"), "", out))
    }

    /// Variables of functions that lie so go by their pointers.
    pub(in crate::lower) fn use_rounded(&self, printer: &mut Printer<'_>) {
        for (id, var) in self.program.vars.iter() {
            if matches!(var.storage, VarStorage::Local(_)) && self.rounded(id).is_some() {
                let name = printer.declared_name(id);
                printer.substitute(id, format!("(*{name}_place)"));
            }
        }
    }

    /// A declaration of such a variable, with its first value. Answers whether it is one.
    pub(in crate::lower) fn rounded_local(
        &self,
        printer: &Printer<'_>,
        var: VarId,
        out: &mut Out<'_>,
    ) -> bool {
        let it = &self.program.vars[var];
        if self.rounded(var).is_none() || !matches!(it.storage, VarStorage::Local(_)) {
            return false;
        }
        let name = printer.declared_name(var);
        let place = self.declare_own(printer, var, &name, "", out);
        if let Some(init) = it.init {
            self.put_first(printer, (&place, it.ty), init, out);
        }
        true
    }

    /// Gives an object in memory of the device the value that a variable begins with.
    pub(super) fn put_first(
        &self,
        printer: &Printer<'_>,
        (place, ty): (&str, Ty),
        init: InitId,
        out: &mut Out<'_>,
    ) {
        let is_value = matches!(self.program.inits[init], Init::Expr(_));
        if is_value && !self.program.types.is_array(ty) {
            return out.line(&format!("{place} = {};", printer.init(init, ty)));
        }
        let first = format!("__ferry_first{}", self.fresh());
        out.line("{");
        out.line(&format!("{} = {};", printer.declare(ty.plain(), &first), printer.init(init, ty)));
        out.line(&format!("__ferry_put(&{place}, &{first}, sizeof({first}));"));
        out.line("}");
    }
}
