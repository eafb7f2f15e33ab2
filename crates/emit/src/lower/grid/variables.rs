//! Variables that live on the device.
//!
//! Drivers compile kernels one by one, and what a text declares may exist once for each; so the
//! variables of an image lie in one block of memory, made when it is loaded. Every kernel gets its
//! address and keeps it where the functions that it calls find it; a variable's name is a macro that
//! leads to its place in the block.

use ir::program::{DeviceVar, VarId, VarStorage};

use crate::c::{Grid, Out, Printer};
use crate::lower::Lowering;

/// A variable in the block.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Placed {
    name: String,
    /// What the host asks for.
    symbol: String,
    /// Its first value, as C.
    init: Option<String>,
}

impl Lowering<'_> {
    /// Whether the unit has any.
    pub(super) fn has_grid_variables(&self) -> bool {
        !self.state.borrow().placed.is_empty()
    }

    /// A place for a variable of the file, and a name that leads there.
    pub(in crate::lower) fn grid_variable(
        &self,
        grid: Grid,
        printer: &Printer<'_>,
        id: VarId,
        is_defined: bool,
        out: &mut Out<'_>,
    ) {
        if grid == Grid::Cuda {
            return self.cuda_variable(printer, id, is_defined, out);
        }
        let var = &self.program.vars[id];
        if var.device == Some(DeviceVar::Link) {
            let pointer = self.link_pointer(id);
            let declared = format!("typedef void *__ferry_t_{pointer};");
            return self.put_variable(&pointer, pointer.clone(), &declared, None, out);
        }
        if !is_defined {
            // What is not for devices came as an argument.
            if var.storage == VarStorage::Extern && var.device.is_some() {
                self.not_for_grid(var.span, "a variable of another file");
            }
            return;
        }
        let name = printer.declared_name(id);
        let declared =
            format!("typedef {};", printer.declare(var.ty, &format!("__ferry_t_{name}")));
        let init = var.init.map(|it| printer.init(it, var.ty));
        self.put_variable(&name, self.symbol(id), &declared, init, out);
    }

    /// The same where variables of a text are one for all kernels, and can be asked for.
    fn cuda_variable(&self, printer: &Printer<'_>, id: VarId, is_defined: bool, out: &mut Out<'_>) {
        let var = &self.program.vars[id];
        if var.device == Some(DeviceVar::Link) {
            return out
                .line(&format!("extern \"C\" {{ __device__ void *{}; }}", self.link_pointer(id)));
        }
        if !is_defined {
            if var.storage == VarStorage::Extern && var.device.is_some() {
                self.not_for_grid(var.span, "a variable of another file");
            }
            return;
        }
        let (name, symbol) = (printer.declared_name(id), self.symbol(id));
        out.line(&format!("typedef {};", printer.declare(var.ty, &format!("__ferry_t_{name}"))));
        let init = var.init.map(|it| format!(" = {}", printer.init(it, var.ty)));
        out.line(&format!(
            "extern \"C\" {{ __device__ __ferry_open<__ferry_t_{name}>::type {symbol}{}; }}",
            init.unwrap_or_default()
        ));
        if name != symbol {
            out.raw(&format!("#define {name} {symbol}"));
        }
    }

    fn put_variable(
        &self,
        name: &str,
        symbol: String,
        declared: &str,
        init: Option<String>,
        out: &mut Out<'_>,
    ) {
        let mut state = self.state.borrow_mut();
        let before =
            state.placed.last().map_or("0".to_owned(), |it| format!("__ferry_e_{}", it.name));
        out.line(declared);
        // More than any type asks for.
        out.line(&format!(
            "enum {{ __ferry_o_{name} = ({before} + 63) / 64 * 64, __ferry_e_{name} = __ferry_o_{name} + \
             sizeof(__ferry_t_{name}) }};"
        ));
        out.raw(&format!(
            "#define {name} (*(__ferry_t_{name} *)((char *)__ferry_flat(__ferry_vars) + __ferry_o_{name}))"
        ));
        state.placed.push(Placed { name: name.to_owned(), symbol, init });
    }

    /// Kernels that tell how large the block is, fill it, and tell where each variable is.
    pub(super) fn variable_kernels(&self) -> String {
        let placed = self.state.borrow().placed.clone();
        let Some(last) = placed.last() else { return String::new() };
        let end = format!("__ferry_e_{}", last.name);
        let mut text = kernel(
            abi::names::VARIABLES_SIZE,
            &format!("((unsigned long *)__ferry_flat(__ferry_a0))[0] = {end};"),
        );
        let mut fill = format!("__ferry_c_memset(__ferry_flat(__ferry_vars), 0, {end});");
        for Placed { name, init, .. } in &placed {
            let Some(init) = init else { continue };
            fill.push_str(&format!(
                "\n  {{ const __ferry_t_{name} __ferry_first = {init}; \
                 __ferry_copy((void *)&{name}, &__ferry_first, sizeof(__ferry_first)); }}"
            ));
        }
        text.push_str(&kernel(abi::names::VARIABLES_INIT, &fill));
        for Placed { name, symbol, .. } in &placed {
            text.push_str(&kernel(
                &format!("{}{symbol}", abi::names::ASKS_PREFIX),
                &format!(
                    "unsigned long *__ferry_answer = __ferry_flat(__ferry_a0);\n  \
                     __ferry_answer[0] = (unsigned long)&{name};\n  \
                     __ferry_answer[1] = sizeof(__ferry_t_{name});"
                ),
            ));
        }
        text
    }
}

/// A kernel for one thread that takes one address, and that of the block.
fn kernel(name: &str, body: &str) -> String {
    format!(
        "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void {name}(unsigned long __ferry_a0, \
         unsigned long __ferry_a1)\n{{\n  __ferry_vars = __ferry_a1;\n  {body}\n}}\n"
    )
}
