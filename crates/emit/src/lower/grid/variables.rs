//! Variables that live on the device.
//!
//! Drivers compile kernels one by one, and what a text declares may exist once for each; so the
//! variables of an image lie in one block of memory, made when it is loaded. Every kernel gets its
//! address and keeps it where the functions that it calls find it; a variable is a macro that leads to its
//! place in the block, under a name that no parameter or member has.

use ir::program::{DeviceVar, ExprId, ExprKind, FunctionId, Init, RegionId, VarId, VarStorage};
use ir::walk::Part;
use rustc_hash::FxHashSet;

use crate::c::{Grid, Out, Printer, is_reserved};
use crate::lower::Lowering;
use crate::lower::entries::is_function_name;
use crate::lower::handed_back::PLACE;
use crate::lower::indirect::{TABLE, WORDS};

/// How memory is handed out to kernels, from a heap behind the block.
const HEAP: &str = include_str!("heap.cl");

/// Bytes of it: what other makers of devices give kernels too.
const HEAP_BYTES: u64 = 8 << 20;

/// What the block begins at a multiple of, and every variable in it: more than any type asks for.
const BLOCK_ALIGNED: u64 = 64;

/// The word that says what fault a kernel has found in itself.
const FAULT: &str = abi::names::FAULT;

/// What a text calls the number of its device.
const NUMBER: &str = "__ferry_device";

/// What functions of a text call before the heap has a place.
const HEAP_CALLS: &str = "\
static __ferry_far void *__ferry_heap_malloc(__ferry_of_thread __ferry_size size);
static void __ferry_heap_free(__ferry_of_thread __ferry_far void *memory);
static __ferry_far void *__ferry_heap_calloc(__ferry_of_thread __ferry_size count, __ferry_size size);
static __ferry_far void *__ferry_heap_room(__ferry_of_thread unsigned long align, __ferry_size size);
static __ferry_far void *__ferry_heap_cleared(__ferry_of_thread unsigned long align, __ferry_size count, __ferry_size size);
static void __ferry_heap_leave(__ferry_of_thread __ferry_far void *memory);
#define __ferry_c_malloc(size) __ferry_heap_malloc(__ferry_mine_and size)
#define __ferry_c_free(memory) __ferry_heap_free(__ferry_mine_and memory)
#define __ferry_c_calloc(count, size) __ferry_heap_calloc(__ferry_mine_and count, size)
#define __ferry_room(align, size) __ferry_heap_room(__ferry_mine_and align, size)
#define __ferry_cleared(align, count, size) __ferry_heap_cleared(__ferry_mine_and align, count, size)
#define __ferry_leave(memory) __ferry_heap_leave(__ferry_mine_and memory)
#define __builtin_malloc __ferry_c_malloc
#define __builtin_free __ferry_c_free
";

/// The same for arrays whose length is computed.
const ARRAY_CALLS: &str = "\
static __ferry_far void *__ferry_heap_array(__ferry_of_thread __ferry_far void *had, unsigned long bytes_had,
                                            unsigned long align, unsigned long bytes);
#define __ferry_array(room, align, bytes) \
  (room = __ferry_heap_array(__ferry_mine_and room, room##_bytes, align, bytes), room##_bytes = (bytes))
";

/// What hands out memory for such arrays.
const ARRAYS: &str = include_str!("arrays.cl");

/// A variable in the block.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Placed {
    name: String,
    /// The macro.
    place: String,
    /// What the host asks for.
    symbol: String,
    /// Its first value, as C.
    init: Option<String>,
    /// What its address is a multiple of.
    align: u64,
    /// Linked, it is another file's.
    is_borrowed: bool,
}

impl Placed {
    /// One that goes by the same name everywhere.
    fn ours(name: &str) -> Placed {
        let [name, place, symbol] = [name; 3].map(str::to_owned);
        Placed { name, place, symbol, init: None, align: BLOCK_ALIGNED, is_borrowed: false }
    }

    /// One that every text may have.
    fn of_unit(name: &str, unit: u64) -> Placed {
        Placed { symbol: format!("{name}_{unit:016x}"), ..Placed::ours(name) }
    }
}

impl Lowering<'_> {
    /// Whether the unit has any.
    pub(super) fn has_grid_variables(&self) -> bool {
        !self.state.borrow().placed.is_empty()
    }

    /// What stands before all else because these functions are called: the number of the device, and
    /// what hands out memory.
    pub(super) fn grid_services(
        &self,
        grid: Grid,
        functions: &[FunctionId],
        parts: &[Part],
    ) -> String {
        let mut out = Out::new();
        for (declared, name, value) in self.string_variables() {
            let placed = Placed { init: Some(value), ..Placed::of_unit(&name, self.unit) };
            self.put_variable(placed, &format!("typedef {declared};"), &mut out);
        }
        let answers = |word: &str| {
            functions.iter().any(|it| {
                let name = self.program.names.text(self.program.functions[*it].name);
                directive::alone_answer(name).is_some_and(|it| it.contains(word))
            })
        };
        if answers(NUMBER) {
            let symbol = format!("{}{:016x}", abi::names::DEVICE_NUMBER, self.unit);
            match grid {
                Grid::Cuda | Grid::Hip => {
                    out.line(&format!("extern \"C\" {{ __device__ int {symbol}; }}"));
                    out.raw(&format!("#define {NUMBER} {symbol}"));
                }
                Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) => {
                    let declared = format!("typedef int __ferry_t_{NUMBER};");
                    self.put_variable(
                        Placed { symbol, ..Placed::ours(NUMBER) },
                        &declared,
                        &mut out,
                    );
                }
            }
        }
        if !self.state.borrow().back.is_empty() {
            let symbol = format!("{}{:016x}", abi::names::MAILBOX, self.unit);
            match grid.is_cpp() {
                true => {
                    out.line(&format!("extern \"C\" {{ __device__ unsigned long {symbol}; }}"));
                    out.raw(&format!("#define {PLACE} {symbol}"));
                }
                false => {
                    let declared = format!("typedef unsigned long __ferry_t_{PLACE};");
                    self.put_variable(
                        Placed { symbol, ..Placed::ours(PLACE) },
                        &declared,
                        &mut out,
                    );
                }
            }
        }
        if self.can_fail(functions) && grid == Grid::OpenCl {
            let declared = format!("typedef unsigned long __ferry_t_{FAULT};");
            let placed = match self.standalone {
                // One program has one text for each file, which the host asks by this name.
                true => Placed { symbol: "ferry_fault".to_owned(), ..Placed::ours(FAULT) },
                false => Placed::of_unit(FAULT, self.unit),
            };
            self.put_variable(placed, &declared, &mut out);
        }
        let named = |it: &FunctionId| {
            let function = &self.program.functions[*it];
            let name = self.program.names.text(function.name);
            function.body.is_none() && matches!(name, "malloc" | "calloc" | "free")
        };
        let has_heap = functions.iter().any(named)
            || ["__ferry_room", "__ferry_cleared", "__ferry_leave"].into_iter().any(answers)
            || self.copies_parts(parts)
            || self.state.borrow().has_arrays;
        self.state.borrow_mut().has_heap = has_heap && grid.is_opencl();
        if has_heap && grid.is_opencl() {
            out.raw(HEAP_CALLS);
        }
        if self.state.borrow().has_arrays && grid.is_opencl() {
            out.raw(ARRAY_CALLS);
        }
        out.into_text()
    }

    /// Whether constructs in the code have copies of parts of arrays, for which memory is asked.
    fn copies_parts(&self, parts: &[Part]) -> bool {
        let mut seen: FxHashSet<Part> = FxHashSet::default();
        let mut open: Vec<Part> = parts.to_vec();
        while let Some(part) = open.pop() {
            if let Part::Region(id) = part
                && (!self.part_items(id).is_empty() || self.sums_parts(id))
            {
                return true;
            }
            if seen.insert(part) {
                self.program.parts(part, &mut |it| open.push(it));
            }
        }
        false
    }

    /// Whether a construct has copies of parts of arrays that it reduces.
    fn sums_parts(&self, id: RegionId) -> bool {
        let is_part = |it: &(ExprId, _)| match self.program.exprs[it.0].kind {
            ExprKind::Var(var) => self.program.types.is_pointer(self.program.vars[var].ty),
            _ => true,
        };
        self.reduced_alone(id).iter().any(is_part)
    }

    /// Variables with the addresses of functions that the host has pointers to; where there are no such pointers, with
    /// their numbers.
    pub(super) fn grid_addresses(&self, grid: Grid) -> String {
        let define = |(symbol, function): (String, String)| {
            format!("extern \"C\" {{ __device__ decltype(&{function}) {symbol} = {function}; }}\n")
        };
        match grid {
            Grid::Cuda | Grid::Hip => self.indirect_functions().into_iter().map(define).collect(),
            Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) => {
                let mut out = Out::new();
                for (id, (symbol, _)) in
                    self.indirect_ids().into_iter().zip(self.indirect_functions())
                {
                    let declared = format!("typedef unsigned long __ferry_t_{symbol};");
                    let init = Some(format!("{}ul", self.number_of(id)));
                    self.put_variable(
                        Placed { init, ..Placed::ours(&symbol) },
                        &declared,
                        &mut out,
                    );
                }
                out.into_text()
            }
        }
    }

    /// The table of the host's pointers to functions.
    pub(super) fn put_function_table(&self, out: &mut Out<'_>) {
        let declared = format!("typedef unsigned long __ferry_t_{TABLE}[{WORDS}];");
        self.put_variable(Placed::of_unit(TABLE, self.unit), &declared, out);
    }

    /// The heap, behind all variables.
    pub(super) fn grid_heap(&self) -> String {
        let mut out = Out::new();
        if self.state.borrow().has_heap {
            let name = "__ferry_heap";
            let declared = format!("typedef unsigned long __ferry_t_{name}[8];");
            self.put_variable(Placed::of_unit(name, self.unit), &declared, &mut out);
            out.raw(&format!("#define __FERRY_HEAP {HEAP_BYTES}ul"));
            out.raw(HEAP);
            if self.state.borrow().has_arrays {
                out.raw(ARRAYS);
            }
        }
        out.into_text()
    }

    /// Variables that live on the device go by names of their own.
    pub(in crate::lower) fn use_places(&self, printer: &mut Printer<'_>) {
        for (id, var) in self.program.vars.iter() {
            let is_elsewhere = var.storage == VarStorage::Extern && var.device.is_some();
            let is_of_file = matches!(var.storage, VarStorage::Global | VarStorage::Static)
                || is_elsewhere && self.grid.is_some_and(Grid::is_opencl);
            if is_of_file && var.device != Some(DeviceVar::Link) {
                let place = self.place_of(&printer.declared_name(id), id);
                printer.substitute(id, format!("({place})"));
            }
        }
    }

    /// `__func__` and its relatives are the strings that the user's functions have: here functions go by other names.
    pub(in crate::lower) fn use_function_names(&self, printer: &mut Printer<'_>) {
        for (id, var) in self.program.vars.iter() {
            if let Some(Init::Expr(name)) = var.init.map(|it| &self.program.inits[it])
                && is_function_name(self.program, id)
            {
                let text = printer.primary(*name);
                printer.substitute(id, text);
            }
        }
    }

    fn place_of(&self, name: &str, id: VarId) -> String {
        match self.grid {
            Some(Grid::Cuda | Grid::Hip) => self.symbol(id),
            Some(Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_)) | None => {
                format!("__ferry_g_{name}")
            }
        }
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
        if grid.is_cpp() {
            return self.cuda_variable(printer, id, is_defined, out);
        }
        let var = &self.program.vars[id];
        if var.device == Some(DeviceVar::Link) {
            let pointer = self.link_pointer(id);
            let declared = format!("typedef {}void *__ferry_t_{pointer};", self.memory());
            let is_borrowed = var.storage == VarStorage::Extern;
            let placed = Placed { is_borrowed, ..Placed::ours(&pointer) };
            return self.put_variable(placed, &declared, out);
        }
        if !is_defined {
            // What is not for devices came as an argument.
            if var.storage != VarStorage::Extern || var.device.is_none() {
                return;
            }
            if !self.links() {
                return self.not_for_grid(var.span, "a variable of another file");
            }
            let (name, symbol) = (printer.declared_name(id), self.symbol(id));
            let ty = printer.declare(var.ty, &format!("__ferry_t_{name}"));
            out.line(&format!("typedef {ty};"));
            out.line(&format!("void *{}(void);", finder(&symbol)));
            let place = self.place_of(&name, id);
            let memory = self.memory();
            out.raw(&format!(
                "#define {place} (*({memory}__ferry_t_{name} *){}())",
                finder(&symbol)
            ));
            self.state.borrow_mut().uses.insert(symbol);
            return;
        }
        let name = printer.declared_name(id);
        let declared =
            format!("typedef {};", printer.declare(var.ty, &format!("__ferry_t_{name}")));
        let init = var.init.map(|it| printer.init(it, var.ty));
        let place = self.place_of(&name, id);
        let symbol = self.symbol(id);
        let align = var.align.unwrap_or(1).max(BLOCK_ALIGNED);
        let placed = Placed { name, place, symbol, init, align, is_borrowed: false };
        self.put_variable(placed, &declared, out);
    }

    /// The same where variables of a text are one for all kernels, and can be asked for.
    fn cuda_variable(&self, printer: &Printer<'_>, id: VarId, is_defined: bool, out: &mut Out<'_>) {
        let var = &self.program.vars[id];
        // Its name is what the host asks for.
        if let Some(grid) = self.grid
            && var.device.is_some()
            && is_reserved(grid, &self.symbol(id))
        {
            let what = format!("a variable of the file that is called `{}`", self.symbol(id));
            self.not_for_grid(var.span, &what);
        }
        if var.device == Some(DeviceVar::Link) {
            let word = if var.storage == VarStorage::Extern { "__ferry_shared_in" } else { "" };
            let pointer = self.link_pointer(id);
            return out.line(&format!("extern \"C\" {{ {word} __device__ void *{pointer}; }}"));
        }
        if !is_defined {
            if var.storage != VarStorage::Extern || var.device.is_none() {
                return;
            }
            if !self.links() {
                return self.not_for_grid(var.span, "a variable of another file");
            }
            let (name, symbol) = (printer.declared_name(id), self.symbol(id));
            self.state.borrow_mut().uses.insert(symbol.clone());
            let ty = printer.declare(var.ty, &format!("__ferry_t_{name}"));
            out.line(&format!("typedef {ty};"));
            return out.line(&format!(
                "extern \"C\" {{ extern __device__ __ferry_open<__ferry_t_{name}>::type {symbol}; }}"
            ));
        }
        let (name, symbol) = (printer.declared_name(id), self.symbol(id));
        out.line(&format!("typedef {};", printer.declare(var.ty, &format!("__ferry_t_{name}"))));
        let init = var.init.map(|it| format!(" = {}", printer.init(it, var.ty)));
        let align = var.align.map(|it| format!(" __attribute__((aligned({it})))"));
        out.line(&format!(
            "extern \"C\" {{ __device__ __ferry_open<__ferry_t_{name}>::type {symbol}{}{}; }}",
            align.unwrap_or_default(),
            init.unwrap_or_default()
        ));
    }

    fn put_variable(&self, placed: Placed, declared: &str, out: &mut Out<'_>) {
        let mut state = self.state.borrow_mut();
        let Placed { name, place, symbol, align, is_borrowed, .. } = &placed;
        let before =
            state.placed.last().map_or("0".to_owned(), |it| format!("__ferry_e_{}", it.name));
        out.line(declared);
        // Beyond that its address is rounded up.
        let gap = align - BLOCK_ALIGNED;
        let room = if gap > 0 { format!(" + {gap}") } else { String::new() };
        out.line(&format!(
            "enum {{ __ferry_o_{name} = ({before} + 63) / 64 * 64, __ferry_e_{name} = __ferry_o_{name} + \
             sizeof(__ferry_t_{name}){room} }};"
        ));
        let memory = self.memory();
        let mut of_block =
            format!("(({memory}char *)__ferry_flat(__ferry_vars) + __ferry_o_{name})");
        if gap > 0 {
            let mask = align - 1;
            of_block = format!("(((unsigned long){of_block} + {mask}) & ~{mask}ul)");
        }
        if *is_borrowed {
            let finder = finder(symbol);
            out.raw(&format!("#ifdef __FERRY_LINKED\nvoid *{finder}(void);"));
            out.raw(&format!("#define __ferry_w_{name} {finder}()"));
            out.raw(&format!("#else\n#define __ferry_w_{name} {of_block}\n#endif"));
            out.raw(&format!("#define {place} (*({memory}__ferry_t_{name} *)__ferry_w_{name})"));
        } else {
            out.raw(&format!("#define {place} (*({memory}__ferry_t_{name} *){of_block})"));
        }
        state.placed.push(placed);
    }

    /// A variable for a text that has none, as every kernel of a linked text is told where variables are.
    pub(super) fn put_some_variable(&self, out: &mut Out<'_>) {
        let name = "__ferry_nothing";
        let declared = format!("typedef int __ferry_t_{name};");
        self.put_variable(Placed::of_unit(name, self.unit), &declared, out);
    }

    /// Functions of a linked text that tell others where its variables are.
    pub(super) fn finders(&self) -> String {
        let define = |it: &Placed| {
            format!("void *{}(void) {{ return (void *)&{}; }}\n", finder(&it.symbol), it.place)
        };
        self.state.borrow().placed.iter().filter(|it| !it.is_borrowed).map(define).collect()
    }

    /// Kernels that tell how large the block is, fill it, and tell where each variable is.
    pub(super) fn variable_kernels(&self) -> String {
        let placed = self.state.borrow().placed.clone();
        let Some(last) = placed.last() else { return String::new() };
        let end = format!("__ferry_e_{}", last.name);
        let heap = if self.state.borrow().has_heap { HEAP_BYTES } else { 0 };
        let memory = self.memory();
        let kernel = |name: &str, body: &str| kernel(name, body, !memory.is_empty());
        let mut text = kernel(
            abi::names::VARIABLES_SIZE,
            &format!("(({memory}unsigned long *)__ferry_flat(__ferry_a0))[0] = {end} + {heap}ul;"),
        );
        let mut fill = format!("__ferry_c_memset(__ferry_flat(__ferry_vars), 0, {end});");
        for Placed { name, place, init, .. } in &placed {
            let Some(init) = init else { continue };
            fill.push_str(&format!(
                "\n  {{ const __ferry_t_{name} __ferry_first = {init}; \
                 __ferry_put(({memory}void *)&{place}, &__ferry_first, sizeof(__ferry_first)); }}"
            ));
        }
        text.push_str(&kernel(abi::names::VARIABLES_INIT, &fill));
        for Placed { name, place, symbol, is_borrowed, .. } in &placed {
            let asks = kernel(
                &format!("{}{symbol}", abi::names::ASKS_PREFIX),
                &format!(
                    "{memory}unsigned long *__ferry_answer = __ferry_flat(__ferry_a0);\n  \
                     __ferry_answer[0] = (unsigned long)&{place};\n  \
                     __ferry_answer[1] = sizeof(__ferry_t_{name});"
                ),
            );
            match is_borrowed {
                true => text.push_str(&format!("#ifndef __FERRY_LINKED\n{asks}#endif\n")),
                false => text.push_str(&asks),
            }
        }
        text
    }
}

/// The function that tells where a variable of a linked text is.
fn finder(symbol: &str) -> String {
    format!("__ferry_where_{symbol}")
}

/// A kernel for one thread that takes one address, and that of the block.
fn kernel(name: &str, body: &str, is_told_of_memory: bool) -> String {
    let (more, start) = match is_told_of_memory {
        true => (", __ferry_memories", "  __ferry_start();\n"),
        false => ("", ""),
    };
    format!(
        "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void {name}(unsigned long __ferry_a0, \
         unsigned long __ferry_a1{more})\n{{\n{start}  __ferry_enter(__ferry_a1);\n  {body}\n}}\n"
    )
}
