//! The device unit: the text that a device with memory of its own is compiled from.
//!
//! In: the kernels that the host's text calls. Out: one C text with them, every function they reach
//! or that is declared for devices, the variables that live on devices, and types. Nothing of the
//! host's text is seen from it. What is declared here and defined in another file stays so: the
//! device objects of a program are linked.
//!
//! A variable of the file that no directive names, but that a function of this text uses, gets room
//! of its own ([`super::room`]). A `link` variable is used through a pointer that the runtime attaches.

use ir::construct::{Args, Construct, Leaf};
use ir::program::{DeviceVar, Function, FunctionId, Program, RegionId, VarId, VarStorage};
use ir::types::Ty;
use ir::walk::Part;
use rustc_hash::FxHashSet;

use super::entries::{self, Entries};
use super::kernel::block_reductions;
use super::{Lowering, frame, is_for_host_compiler, mentions, stub};
use crate::c::{Grid, Out, Printer, Selection, Setting, Used};

/// A kernel that the host's text calls.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub(super) region: RegionId,
    pub(super) entries: Entries,
    /// The argument that limits its threads, if one does.
    pub(super) limit: Option<usize>,
    pub(super) name: String,
}

impl Lowering<'_> {
    /// The text; none if nothing of the program is for devices.
    pub(super) fn device_unit(&self, kernels: &[Kernel]) -> Option<String> {
        let program = self.program;
        self.state.borrow_mut().kernels = kernels.to_vec();
        let stays = |it: &&Kernel| !program.regions[it.region].construct.goes_back();
        let kernels: Vec<Kernel> = kernels.iter().filter(stays).cloned().collect();
        let kernels = kernels.as_slice();
        let (selection, outer) = selected(program, kernels);
        let has_nothing = kernels.is_empty()
            && selection.functions.is_empty()
            && !program.vars.iter().any(|(_, it)| it.device.is_some());
        if has_nothing {
            return None;
        }
        let printer = self.printer(Setting::Alone);
        let mut unit = Out::placed(self.place);
        printer.unit_with(&selection, outer, &mut unit);
        let mut text = String::new();
        for kernel in kernels {
            text.push_str(&self.kernel_text(kernel, Setting::Alone));
            text.push('\n');
        }
        let state = self.state.borrow();
        let mut whole = frame::before();
        whole.push_str(directive::ALLOCATOR_TYPE.1);
        whole.push_str(directive::EVENT_TYPE.1);
        // Whatever flags say: the runtime looks kernels and variables up by name.
        whole.push_str("#pragma GCC visibility push(default)\n");
        whole.push_str(&self.pointers());
        whole.push_str(&self.function_lookup());
        state.declarations.iter().for_each(|it| whole.push_str(it));
        // Whoever runs the image has these, and it must link without.
        for (_, function) in program.functions.iter() {
            let name = program.names.text(function.name);
            if abi::names::CLUSTER_ROUTINES.contains(&name) && function.body.is_none() {
                whole.push_str(&format!("#pragma weak {name}\n"));
            }
        }
        let unit = unit.into_text();
        for (name, defined) in directive::LACKING_ROUTINES {
            if self.near.is_none() && (unit.contains(name) || text.contains(name)) {
                whole.push_str(defined);
            }
        }
        whole.push_str(&unit);
        whole.push_str("\n# 1 \"<ferry>\" 3\n");
        whole.push_str(&self.foreign_rooms(&printer, kernels));
        let rooms = self.rooms(kernels);
        for id in &selection.vars {
            let is_known = program.vars[*id].device.is_some() || rooms.contains(id);
            if program.vars[*id].storage == VarStorage::Static && is_known {
                let (name, symbol) = (printer.declared_name(*id), self.symbol(*id));
                whole.push_str(&format!(
                    "extern __typeof__({name}) {symbol} __attribute__((alias(\"{name}\")));\n"
                ));
            }
        }
        whole.push_str(&self.indirect_addresses());
        state.functions.iter().for_each(|it| whole.push_str(it));
        whole.push_str(&text);
        Some(whole)
    }

    /// A construct that asks for a device, in code that runs on one already: it stays there, where
    /// the data are.
    pub(super) fn on_device(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let leaves = self.program.regions[id].construct.leaves.iter().copied();
        let rest: Vec<Leaf> = leaves.filter(|it| !is_about_devices(*it)).collect();
        self.construct(printer, id, &rest, out);
    }

    /// The name that a variable of the file has in the image: static ones get one that no other file
    /// has.
    pub(super) fn symbol(&self, id: VarId) -> String {
        let var = &self.program.vars[id];
        let name = var.name.map_or("", |it| self.program.names.text(it));
        match var.storage {
            VarStorage::Global | VarStorage::Extern => name.to_owned(),
            VarStorage::Static
            | VarStorage::LocalStatic(_)
            | VarStorage::Param(_)
            | VarStorage::Local(_) => {
                format!("__ferry_v_{:016x}_{name}", self.unit)
            }
        }
    }

    /// The pointer through which a `link` variable is used on devices; the same name on both sides.
    pub(super) fn link_pointer(&self, id: VarId) -> String {
        format!("{}{}", self.symbol(id), abi::names::LINK_SUFFIX)
    }

    /// `link` variables are used through their pointers.
    pub(super) fn use_pointers(&self, printer: &mut Printer<'_>) {
        for (id, ty) in link_variables(self.program) {
            let name = self.link_pointer(id);
            let pointer = match self.grid {
                Some(Grid::Cuda | Grid::Hip) => {
                    format!("__ferry_make<{}> *", printer.type_name(ty))
                }
                Some(Grid::OpenCl12 | Grid::Fpga(_)) => printer.declare_pointer(ty, ""),
                Some(Grid::OpenCl) | None => format!("__typeof__({}) *", printer.type_name(ty)),
            };
            printer.substitute(id, format!("(*({pointer}){name})"));
        }
    }

    /// Defines those pointers: every unit that knows the variable does, and they are one.
    fn pointers(&self) -> String {
        let define = |(id, _)| format!("__attribute__((weak)) void *{};\n", self.link_pointer(id));
        link_variables(self.program).into_iter().map(define).collect()
    }
}

impl Lowering<'_> {
    /// A region that goes back to the host: a call that asks for it, with data of the device.
    pub(super) fn ask_host(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let kernel = self.state.borrow().kernels.iter().find(|it| it.region == id).cloned();
        let entries = entries::of_kernel(printer, &self.mappers, id);
        let Some(kernel) = kernel.filter(|it| it.entries.has_same_slots(&entries)) else {
            return self.not_lowered(&region.construct);
        };
        let (name, at) = (kernel.name, self.at(id));
        let declaration = format!(
            "static const struct __ferry_region __ferry_region_{name} = {{ 1, 0, {}, 0 }};\n",
            stub::quoted(&name)
        );
        // The process of a device has them, and its image must link without.
        let calls = [abi::names::KERNEL, abi::names::PUSH_COMPONENT, abi::names::COMPONENT_COUNT];
        let first = match self.near {
            Some(_) => super::handed_back::CLUSTER.to_owned(),
            None => calls.map(|it| format!("#pragma weak {it}\n")).concat(),
        };
        for it in [first, declaration] {
            let mut state = self.state.borrow_mut();
            if !state.declarations.contains(&it) {
                state.declarations.push(it);
            }
        }
        self.mappers_of(&entries);
        out.beside(region.span);
        out.line("{");
        out.indented(|out| {
            stub::location(out, &at);
            let tables = stub::tables(out, &entries, &at);
            out.line(&format!(
                "struct __ferry_args __fk = {};",
                tables.kernel_arguments("-1u", "0")
            ));
            match self.near {
                Some(_) => self.ask_from_cluster(&entries, &name, out),
                None => out.line(&format!(
                    "{}(&__fi, {}, 0, 0, &__ferry_region_{name}, &__fk);",
                    abi::names::KERNEL,
                    abi::DEVICE_ANCESTOR
                )),
            }
        });
        out.line("}");
    }
}

fn is_about_devices(leaf: Leaf) -> bool {
    matches!(
        leaf,
        Leaf::Offload
            | Leaf::Kernels
            | Leaf::DataRegion
            | Leaf::HostData
            | Leaf::EnterData
            | Leaf::ExitData
            | Leaf::Update
    )
}

fn link_variables(program: &Program) -> Vec<(VarId, Ty)> {
    let vars = program.vars.iter().filter(|(_, it)| it.device == Some(DeviceVar::Link));
    vars.map(|(id, var)| (id, var.ty)).collect()
}

/// The functions that the device unit defines.
pub(super) fn functions_of(program: &Program, kernels: &[Kernel]) -> Vec<FunctionId> {
    selected(program, kernels).0.functions
}

/// What a unit with these kernels defines, and what the kernels themselves use.
pub(super) fn selected(program: &Program, kernels: &[Kernel]) -> (Selection, Used) {
    let mut outer = Used::on_device();
    kernels.iter().for_each(|it| kernel_uses(program, it, &mut outer));
    (select(program, &outer), outer)
}

/// What the text of a kernel names. Clauses that were for the host's side are left out.
fn kernel_uses(program: &Program, kernel: &Kernel, used: &mut Used) {
    let region = &program.regions[kernel.region];
    region.body.iter().for_each(|it| used.part(program, Part::Stmt(*it)));
    kernel.entries.captured.iter().for_each(|it| used.var(program, it.var));
    for at in block_reductions(program, region) {
        let declared = program.declarations.get(at as usize);
        declared.into_iter().for_each(|it| used.construct(program, &it.construct));
    }
    let clauses = region.construct.clauses.iter().filter(|it| mentions::stays(it));
    let only = Construct { clauses: clauses.cloned().collect(), ..region.construct.clone() };
    used.construct(program, &only);
}

/// What the unit defines: functions that kernels reach or that are declared for devices, with all
/// that these name in turn.
fn select(program: &Program, kernels: &Used) -> Selection {
    let mut selection = Selection::default();
    let mut used = Used::on_device();
    kernels.functions.iter().for_each(|it| used.function(program, *it));
    for (id, function) in program.functions.iter() {
        if function.device.declared && !function.device.host_only && function.body.is_some() {
            used.function(program, id);
        }
    }
    for (id, var) in program.vars.iter() {
        if is_defined(var.storage) && lives_on_device(var.device) {
            used.var(program, id);
        }
    }
    let mut declared: FxHashSet<u32> = FxHashSet::default();
    let (mut functions, mut vars) = (0, 0);
    loop {
        declarations(program, kernels, &mut used, &mut declared);
        let before = (used.functions.len(), used.vars.len(), declared.len());
        while let Some(id) = used.functions.get(functions).copied() {
            functions += 1;
            function_uses(program, id, &mut used);
        }
        while let Some(id) = used.vars.get(vars).copied() {
            vars += 1;
            if is_copied(program, id) {
                used.part(program, Part::Local(id));
            }
        }
        if before == (used.functions.len(), used.vars.len(), declared.len()) {
            break;
        }
    }
    let has_body = |it: &FunctionId| program.functions[*it].body.is_some();
    selection.functions = used.functions.iter().copied().filter(has_body).collect();
    selection.vars = used.vars.iter().copied().filter(|it| is_copied(program, *it)).collect();
    selection.vars.sort_by_key(|it| it.index());
    selection.declarations = declared.into_iter().collect();
    selection.declarations.sort_unstable();
    selection
}

fn function_uses(program: &Program, id: FunctionId, used: &mut Used) {
    let function = &program.functions[id];
    if let Some(body) = function.body {
        function.params.iter().for_each(|it| used.var(program, *it));
        used.part(program, Part::Stmt(body));
    }
}

/// Directives at file scope that say something of what is used, or of types.
fn declarations(program: &Program, kernels: &Used, used: &mut Used, declared: &mut FxHashSet<u32>) {
    for (at, declaration) in program.declarations.iter().enumerate() {
        if declaration.within.is_some() || !is_for_host_compiler(&declaration.construct) {
            continue;
        }
        let is_general = declaration.functions.is_empty() && declaration.vars.is_empty()
            || declaration.construct.has(Leaf::DeclareReduction);
        let is_used = declaration.functions.iter().any(|it| used.functions.contains(it))
            || declaration
                .vars
                .iter()
                .any(|it| used.vars.contains(it) || kernels.vars.contains(it));
        let Ok(at) = u32::try_from(at) else { continue };
        if (is_general || is_used) && declared.insert(at) {
            used.construct(program, &declaration.construct);
            // A replacement of a function is named only there.
            if let Args::Variant(decl) = &declaration.construct.args {
                let is_variant = |it: &Function| it.name == decl.variant;
                let found = program.functions.iter().find(|(_, it)| is_variant(it));
                found.into_iter().for_each(|(id, _)| used.function(program, id));
            }
        }
    }
}

/// Whether the unit defines the variable: it lives on devices, or functions of the unit use it.
fn is_copied(program: &Program, id: VarId) -> bool {
    let var = &program.vars[id];
    is_defined(var.storage) && var.device != Some(DeviceVar::Link)
}

fn is_defined(storage: VarStorage) -> bool {
    match storage {
        VarStorage::Global | VarStorage::Static => true,
        VarStorage::Extern
        | VarStorage::LocalStatic(_)
        | VarStorage::Param(_)
        | VarStorage::Local(_) => false,
    }
}

fn lives_on_device(device: Option<DeviceVar>) -> bool {
    match device {
        Some(DeviceVar::Enter | DeviceVar::Local | DeviceVar::Resident) => true,
        Some(DeviceVar::Link) | None => false,
    }
}
