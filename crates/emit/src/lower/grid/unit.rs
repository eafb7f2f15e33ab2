//! The text for grids as a whole: what it may use, types, variables, functions, kernels.
//!
//! Names of the user's functions have a prefix: C for grids has words and functions of its own that they would meet.

use ir::program::{FunctionId, RegionId};
use ir::walk::Part;

use super::super::device::{self, Kernel};
use super::super::entries::{Access, Captured, Entries};
use super::super::offload::thread_limit;
use super::super::{Lowering, mentions};
use super::refused::given_lengths;
use super::{builtins, spmd};
use crate::c::library::{known, spelled};
use crate::c::vendor::{self, Words};
use crate::c::{Grid, Out, Printing, Setting, Used};

/// What every text in OpenCL C begins with.
const OPENCL_PRELUDE: &str = include_str!("prelude.cl");

/// What follows it in texts for FPGAs.
const FPGA_PRELUDE: &str = include_str!("prelude.fpga");

/// What every text in CUDA C++ begins with.
const CUDA_PRELUDE: &str = include_str!("prelude.cu");

/// What stands before that in HIP: what the compiler alone has of CUDA's words.
const HIP_PRELUDE: &str = include_str!("prelude.hip");

/// What those need that have complex numbers.
const OPENCL_COMPLEX: &str = include_str!("complex.cl");
const CUDA_COMPLEX: &str = include_str!("complex.cu");

/// Functions of the C library that texts have where they call them.
const LIBRARY: &str = include_str!("library.c");
const COMPLEX_LIBRARY: &str = include_str!("complex.c");

/// What those need that have bit-fields.
const OPENCL_BITS: &str = include_str!("bits.cl");
const CUDA_BITS: &str = include_str!("bits.cu");

/// What those need that have locks.
const LOCKS: &str = include_str!("locks.c");

/// What kernels use whose threads share rows, or that have instructions of their own.
const CUDA_SHAPES: &str = include_str!("shapes.cu");

/// Functions that ask for the time or wait, which GPUs have a clock for; OpenCL C has none.
const CLOCK: &str = include_str!("clock.txt");
const CUDA_CLOCK: &str = include_str!("clock.cu");

/// CUDA has no pragma for it: who compiles the text passes the option on.
const ROUNDS_EACH: &str = "// compile with --fmad=false\n";

/// Whether host and kernels see memory at the same time, in which kernels can hand regions back.
fn has_mailbox(grid: Grid) -> bool {
    match grid {
        Grid::OpenCl | Grid::Cuda => true,
        Grid::OpenCl12 | Grid::Hip | Grid::Fpga(_) => false,
    }
}

impl Lowering<'_> {
    /// The text; none if nothing of the program is for devices.
    pub(in crate::lower) fn grid_unit(&self, grid: Grid, kernels: &[Kernel]) -> Option<String> {
        let program = self.program;
        let (mut selection, outer) = device::selected(program, kernels);
        // These are the language's own.
        selection.functions.retain(|it| Printing::of(program, *it).is_none());
        let has_vars = program.vars.iter().any(|(_, it)| it.device.is_some());
        if kernels.is_empty() && selection.functions.is_empty() && !has_vars {
            return None;
        }
        let hands_back = !self.state.borrow().back.is_empty();
        if hands_back && (self.standalone || !has_mailbox(grid)) {
            let back = self.state.borrow().back.clone();
            let what = "a region that goes back to the host";
            for span in back.iter().map(|it| program.regions[it.region].span) {
                match self.standalone {
                    true => self.not_standalone(span, what),
                    false => self.not_for(grid.name(), span, what),
                }
            }
            return None;
        }
        let bodies = kernels.iter().filter_map(|it| program.regions[it.region].body);
        let mut parts: Vec<Part> = bodies.map(Part::Stmt).collect();
        for id in &selection.functions {
            let function = &program.functions[*id];
            parts.extend(function.params.iter().map(|it| Part::Local(*it)));
            parts.extend(function.body.map(Part::Stmt));
        }
        parts.extend(selection.vars.iter().map(|it| Part::Local(*it)));
        for it in kernels.iter().flat_map(|it| &it.entries.captured) {
            self.check_type(it.var);
        }
        self.find_arrays(&parts, kernels, &given_lengths(kernels));
        self.check_grid(grid, &parts, kernels);
        self.find_literals(&parts);
        if grid.names_memory() {
            self.lend(&parts, kernels);
        }
        if grid.is_opencl() {
            self.find_calls(&parts);
            self.check_recursion(&selection.functions);
        }

        let mut used = Used::on_device();
        parts.iter().for_each(|it| used.part(program, *it));
        for kernel in kernels {
            let region = &program.regions[kernel.region];
            let clauses = region.construct.clauses.iter().filter(|it| mentions::stays(it));
            let only = ir::construct::Construct {
                clauses: clauses.cloned().collect(),
                ..region.construct.clone()
            };
            used.construct(program, &only);
        }
        let bodies = parts.iter().copied();
        let regions = kernels.iter().map(|it| Part::Region(it.region));
        let all: Vec<Part> = bodies.chain(regions).collect();
        let services = self.grid_services(grid, &used.functions, &all);
        let printer = self.printer(Setting::Alone);
        let mut unit = Out::placed(self.place);
        printer.unit_with(&selection, outer, &mut unit);
        let mut addresses = self.grid_addresses(grid);
        addresses.push_str(&self.callers());
        let mut heap = self.grid_heap();
        if grid.is_opencl() && self.can_be_linked(&selection) && !self.has_grid_variables() {
            let mut out = Out::new();
            self.put_some_variable(&mut out);
            heap.push_str(&out.into_text());
        }
        let has_variables = self.has_grid_variables();
        let mut body = services;
        body.push_str(&self.function_lookup());
        // What others call has its name though nobody here says it.
        let is_unnamed = |it: &FunctionId| self.offers(*it) && !used.functions.contains(it);
        let unnamed = selection.functions.iter().copied().filter(is_unnamed);
        let named: Vec<FunctionId> = used.functions.iter().copied().chain(unnamed).collect();
        body.push_str(self.builtins(grid, &named));
        body.push_str(&self.library(grid, &named));
        if hands_back {
            body.push_str(&self.mailbox_text());
        }
        body.push_str(&unit.into_text());
        body.push_str(&addresses);
        body.push_str(&heap);
        body.push_str("\n# 1 \"<ferry>\" 3\n");
        if has_variables {
            body.push_str(&self.names_when_linked(&selection));
            body.push_str(&self.variable_kernels());
        }
        for kernel in kernels {
            if self.standalone {
                body.push_str(&self.told(grid, kernel));
            }
            body.push_str(&self.grid_kernel(kernel));
            body.push('\n');
        }
        if hands_back {
            body.push_str(&self.mailbox_mappers());
        }
        let mut text = String::new();
        match grid {
            Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) => {
                text.push_str(&match grid {
                    Grid::Fpga(_) => abi::image::fpga(grid.name()),
                    Grid::OpenCl12 => abi::image::OPENCL_12.to_owned(),
                    Grid::OpenCl | Grid::Cuda | Grid::Hip => abi::image::OPENCL.to_owned(),
                });
                if has_variables {
                    text.push_str(abi::image::OPENCL_VARIABLES);
                }
                if grid.names_memory() {
                    let bytes = self.stack_bytes();
                    text.push_str(&format!("{}{bytes}ul\n", abi::image::OPENCL_STACK));
                }
                if self.rounds_each {
                    text.push_str("#pragma OPENCL FP_CONTRACT OFF\n");
                }
                text.push_str(OPENCL_PRELUDE);
                if let Some(vendor) = grid.vendor() {
                    let defined = vendor::words(vendor).defined;
                    text.push_str(&FPGA_PRELUDE.replace("@DEFINED@", defined));
                }
                text.push_str(if body.contains("_Complex ") { OPENCL_COMPLEX } else { "" });
                text.push_str(if body.contains("_bits(") { OPENCL_BITS } else { "" });
            }
            Grid::Cuda => {
                text.push_str(abi::image::CUDA);
                if self.rounds_each {
                    text.push_str(ROUNDS_EACH);
                }
                text.push_str(if has_complex(&body) { CUDA_COMPLEX } else { "" });
                text.push_str(if is_shaped(&body) { CUDA_SHAPES } else { "" });
                text.push_str(CUDA_PRELUDE);
                text.push_str(if has_clock(&body) { CUDA_CLOCK } else { "" });
                text.push_str(if body.contains("_bits(") { CUDA_BITS } else { "" });
            }
            Grid::Hip => {
                text.push_str(abi::image::HIP);
                if self.rounds_each {
                    text.push_str("#pragma clang fp contract(off)\n");
                }
                text.push_str(HIP_PRELUDE);
                text.push_str(if has_complex(&body) { CUDA_COMPLEX } else { "" });
                text.push_str(CUDA_PRELUDE);
                text.push_str(if has_clock(&body) { CUDA_CLOCK } else { "" });
                text.push_str(if body.contains("_bits(") { CUDA_BITS } else { "" });
            }
        }
        text.push_str(if body.contains("__ferry_lock_") { LOCKS } else { "" });
        let of_library = ["__ferry_x_", "___strncpy_chk", "___strcat_chk", "___strncat_chk"];
        let has_library = of_library.iter().any(|it| body.contains(it));
        text.push_str(if has_library { LIBRARY } else { "" });
        text.push_str(if body.contains("__ferry_z_") { COMPLEX_LIBRARY } else { "" });
        text.push_str(&body);
        text.push_str(&self.link_words(grid, &selection));
        Some(text)
    }

    /// A kernel, and what it wants of the device as far as that is known when it is there.
    fn grid_kernel(&self, kernel: &Kernel) -> String {
        let mut entries = kernel.entries.clone();
        let limit = thread_limit(&self.program.regions[kernel.region]).zip(kernel.limit);
        entries.computed.extend(limit);
        let mut text = self.kernel(kernel.region, &entries, &kernel.name, Setting::Alone);
        let (spread, registers) = {
            let mut state = self.state.borrow_mut();
            (state.spread.take(), state.registers.take())
        };
        let threads = spmd::threads(Grid::Cuda);
        let registers = registers.filter(|_| self.grid == Some(Grid::Cuda));
        if let Some(blocks) = registers.and_then(|it| spmd::at_once(threads, it)) {
            let bounds = |more: &str| format!("__launch_bounds__({threads}{more})");
            text = text.replacen(&bounds(""), &bounds(&format!(", {blocks}")), 1);
        }
        if let Some(numbers) = spread.filter(|_| !self.standalone) {
            let numbers = numbers.map(|it| it.to_string()).join(", ");
            let name = abi::image::spread(&kernel.name);
            text.push_str(&format!(
                "extern \"C\" __device__ unsigned {name}[3] = {{ {numbers} }};\n"
            ));
        }
        let parts = std::mem::take(&mut self.state.borrow_mut().parts);
        if parts > 0 && self.grid == Some(Grid::Cuda) && !self.standalone {
            let name = abi::image::sums(&kernel.name);
            let words = self.launch(kernel.region).map_or(1, |it| it.words.max(1));
            text.push_str(&format!(
                "extern \"C\" __device__ unsigned {name}[2] = {{ {parts}, {words} }};\n"
            ));
        }
        text
    }

    /// Names of the library and of the runtime.
    fn library(&self, grid: Grid, functions: &[FunctionId]) -> String {
        let mut text = String::new();
        for id in functions.iter().filter(|it| Printing::of(self.program, **it).is_none()) {
            let function = &self.program.functions[*id];
            let name = self.program.names.text(function.name);
            if let Some(plain) = builtins::library_name(function, name) {
                let other = spelled(grid, &plain).unwrap_or(&plain);
                text.push_str(&format!("#define {name} {other}\n"));
            } else if function.body.is_none()
                && let Some(other) = by_clock(grid, name)
            {
                text.push_str(&format!("#define {name} {other}\n"));
            } else if function.body.is_none() && known(name) {
                if let Some(other) = spelled(grid, name) {
                    text.push_str(&format!("#define {name} {other}\n"));
                }
            } else if let Some(answer) = directive::alone_answer(name)
                && function.body.is_none()
            {
                text.push_str(&format!("#define {name}{answer}\n"));
            }
        }
        text
    }

    /// What stands before a kernel's body: how many threads it wants, and its arguments. `parts`: places
    /// that groups leave their parts of sums in.
    pub(in crate::lower) fn grid_header(
        &self,
        grid: Grid,
        id: RegionId,
        (name, entries): (&str, &Entries),
        parts: usize,
    ) -> String {
        let slots = entries.slots;
        let is_spmd = self.is_spmd(id);
        let threads = if is_spmd { spmd::threads(grid) } else { 1 };
        if grid.is_cpp() {
            return cuda_header(name, slots, parts, threads);
        }
        let has_variables = self.has_grid_variables();
        let all = slots + usize::from(has_variables);
        let memories = Some("__ferry_memories".to_owned()).filter(|_| !self.memory().is_empty());
        let params: Vec<String> = (0..all)
            .map(|it| format!("unsigned long __ferry_a{it}"))
            .chain((0..parts).map(|it| format!("unsigned long __ferry_parts{it}")))
            .chain(memories)
            .collect();
        let values: Vec<String> =
            (0..slots).map(|it| format!("__ferry_flat(__ferry_a{it})")).collect();
        let threads = match self.has_lone(id) {
            true => format!("__ferry_threads_each({threads}) "),
            false => format!("__attribute__((reqd_work_group_size({threads}, 1, 1))) "),
        };
        let mut lines = match self.memory() {
            "" => String::new(),
            _ => "  __ferry_start();\n".to_owned(),
        };
        if is_spmd && !self.memory().is_empty() {
            lines.push_str("  __ferry_kernel_begin();\n");
        }
        if !values.is_empty() {
            let (memory, values) = (self.memory(), values.join(", "));
            lines.push_str(&format!("  {memory}void *const __ferry_slots[] = {{ {values} }};\n"));
        }
        if has_variables {
            lines.push_str(&format!("  __ferry_enter(__ferry_a{slots});\n"));
        }
        let lines = lines.trim_end();
        let params = params.join(", ");
        let head = format!("__kernel {threads}void {name}({params})");
        let head = match grid.vendor() {
            Some(vendor) => {
                let Words { defined, single, .. } = vendor::words(vendor);
                let single = if is_spmd { threads.as_str() } else { *single };
                let params = self.vendor_params(entries, all, parts).join(", ");
                let own = format!("__kernel {single}void {name}({params})");
                format!("#ifdef {defined}\n{own}\n#else\n{head}\n#endif")
            }
            None => head,
        };
        format!("# 1 \"<ferry>\" 3\n{head}\n{{\n{lines}")
    }

    /// The arguments of a kernel as a vendor's compiler sees them: pointers are known to be some.
    fn vendor_params(&self, entries: &Entries, all: usize, parts: usize) -> Vec<String> {
        let types = &self.program.types;
        let pointer = |slot: usize| {
            let of = |it: &&Captured| it.slot == Some(slot);
            let it = entries.captured.iter().find(of)?;
            let ty = self.program.vars[it.var].ty;
            match it.access {
                Access::Value if types.is_pointer(ty) && ty.quals.is_restrict => {
                    Some("__global void *restrict ")
                }
                Access::Value if !types.is_pointer(ty) => None,
                Access::Value | Access::Reference => Some("__global void *"),
                Access::Own | Access::Name => None,
            }
        };
        (0..all)
            .map(|it| format!("{}__ferry_a{it}", pointer(it).unwrap_or("unsigned long ")))
            .chain((0..parts).map(|it| format!("unsigned long __ferry_parts{it}")))
            .chain(["__global char *__ferry_room".to_owned()])
            .collect()
    }
}

fn cuda_header(name: &str, slots: usize, parts: usize, threads: u64) -> String {
    let params: Vec<String> = (0..slots)
        .map(|it| format!("__ferry_slot __ferry_a{it}"))
        .chain((0..parts).map(|it| format!("unsigned long __ferry_parts{it}")))
        .collect();
    let values: Vec<String> = (0..slots).map(|it| format!("__ferry_a{it}")).collect();
    let lines = match values.is_empty() {
        true => String::new(),
        false => format!("  const __ferry_slot __ferry_slots[] = {{ {} }};", values.join(", ")),
    };
    format!(
        "# 1 \"<ferry>\" 3\nextern \"C\" __global__ void __launch_bounds__({threads}) {name}({})\n{{\n{lines}",
        params.join(", ")
    )
}

/// What a function is called that needs the clock of a grid, where it has one.
pub(in crate::lower) fn by_clock(grid: Grid, name: &str) -> Option<&'static str> {
    let mut words = CLOCK.lines().filter_map(|line| line.split_once(' '));
    words.find(|it| it.0 == name && grid.is_cpp()).map(|it| it.1)
}

/// Whether a text uses [`CUDA_CLOCK`].
fn has_clock(text: &str) -> bool {
    CLOCK.lines().filter_map(|line| line.split_once(' ')).any(|it| text.contains(it.1))
}

/// Whether a text in C++ has complex numbers.
fn has_complex(text: &str) -> bool {
    ["__ferry_complex<", "__builtin_complex("].iter().any(|it| text.contains(it))
}

/// Whether a text uses [`CUDA_SHAPES`].
fn is_shaped(text: &str) -> bool {
    text.contains("__ferry_inverse_root")
}
