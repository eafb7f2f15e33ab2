//! Variables of the file that functions on devices use although no directive names them.
//!
//! On a device with memory of its own such a function has room for the variable in its image. A map of
//! the variable uses that room, so that the function and the region see one object; a region that
//! reaches the function maps the variable if the user does not, as if its body named it. What starts with
//! pointers that the image knows (names, functions) keeps them unless the user maps it.

use ir::program::{FunctionId, Program, RegionId, VarId, VarStorage};
use ir::region::{Mapping, Region};
use ir::types::{ArrayLen, Ty, TypeKind};
use ir::walk::Part;
use rustc_hash::FxHashSet;
use source::Diagnostic;

use super::device::{Kernel, functions_of};
use super::entries::Entries;
use super::frame::Row;
use super::{Lowering, entries};
use crate::c::{Printer, Setting, Used};

/// The names of a variable's address and size.
pub(super) struct Handle {
    pub(super) at: String,
    pub(super) size: String,
}

impl Lowering<'_> {
    /// Variables that the device unit has room for.
    pub(super) fn rooms(&self, kernels: &[Kernel]) -> Vec<VarId> {
        let mut used = Used::on_device();
        for id in functions_of(self.program, kernels) {
            if let Some(body) = self.program.functions[id].body {
                used.part(self.program, Part::Stmt(body));
            }
        }
        used.vars.retain(|it| self.is_roomed(*it));
        used.vars.sort_by_key(|it| it.index());
        used.vars
    }

    fn is_roomed(&self, id: VarId) -> bool {
        let var = &self.program.vars[id];
        let is_of_file = match var.storage {
            VarStorage::Global | VarStorage::Static => true,
            VarStorage::Extern => !self.is_of_system(var.span),
            VarStorage::LocalStatic(_) | VarStorage::Param(_) | VarStorage::Local(_) => false,
        };
        let is_sized = !matches!(
            self.program.types.shape(var.ty),
            TypeKind::Array(_, ArrayLen::Unknown) | TypeKind::Function(_)
        );
        is_of_file
            && is_sized
            && var.device.is_none()
            && var.name.is_some()
            && !var.thread_local
            && !self.moved.contains_key(&id)
            && !entries::is_constant(self.program, id)
            && !is_grouped(self.program, id)
    }

    /// What a region's functions use is mapped with it.
    pub(super) fn reached(&self, printer: &Printer<'_>, id: RegionId, entries: &mut Entries) {
        let program = self.program;
        let region = &program.regions[id];
        let mut used = Used::on_device();
        let here = called_on_device(program, region);
        for function in region.reaches.iter().filter(|it| here.contains(it)) {
            if let Some(body) = program.functions[*function].body {
                used.part(program, Part::Stmt(body));
            }
        }
        let is_mapped = |var: VarId| {
            region.vars.iter().any(|it| {
                it.var == var && it.mappings.iter().any(|it| matches!(it.value, Mapping::Map(..)))
            })
        };
        for var in used.vars {
            let is_known = program.vars[var].init.is_some() && has_pointers(program, var);
            if self.is_roomed(var) && !is_known && !is_mapped(var) {
                entries.reach(
                    &self.handle(printer, var),
                    &printer.declared_name(var),
                    is_pointer(program, var),
                );
            }
        }
    }

    /// A constant with the variable's address and one with its size: the variable's own name may mean
    /// something else where the region stands.
    fn handle(&self, printer: &Printer<'_>, var: VarId) -> Handle {
        let (at, size) =
            (format!("__ferry_at_{}", var.index()), format!("__ferry_size_{}", var.index()));
        let declaration = format!("static void *const {at};\nstatic const __ferry_i64 {size};\n");
        let mut state = self.state.borrow_mut();
        if !state.declarations.contains(&declaration) {
            let name = printer.declared_name(var);
            state.functions.push(format!(
                "static void *const {at} = (void *)&{name};\nstatic const __ferry_i64 {size} = sizeof({name});\n"
            ));
            state.declarations.push(declaration);
        }
        Handle { at, size }
    }

    /// The rows of the host's table, and what other files cannot know.
    pub(super) fn room_rows(&self, kernels: &[Kernel]) -> Vec<Row> {
        let printer = self.printer(Setting::Appended);
        let rooms = self.rooms(kernels);
        self.warn_of_declared(&rooms);
        let row = |id: &VarId| {
            let name = printer.declared_name(*id);
            Row {
                address: format!("&{name}"),
                name: self.symbol(*id),
                size: format!("sizeof({name})"),
                flags: abi::entry::ROOM,
                data: 0,
            }
        };
        rooms.iter().map(row).collect()
    }

    /// Room for what other files define, unless their device code does.
    pub(super) fn foreign_rooms(&self, printer: &Printer<'_>, kernels: &[Kernel]) -> String {
        let is_foreign = |it: &&VarId| self.program.vars[**it].storage == VarStorage::Extern;
        let define = |id: &VarId| {
            let declared = printer.declare(self.program.vars[*id].ty, &printer.declared_name(*id));
            format!("__attribute__((weak)) {declared};\n")
        };
        self.rooms(kernels).iter().filter(is_foreign).map(define).collect()
    }

    /// A function that other files may call on devices: their regions do not map what it uses.
    fn warn_of_declared(&self, rooms: &[VarId]) {
        let mut told: FxHashSet<VarId> = FxHashSet::default();
        for (_, function) in self.program.functions.iter() {
            let Some(body) = function.body else { continue };
            if !function.device.declared || function.device.host_only || function.is_static {
                continue;
            }
            let mut used = Used::on_device();
            used.part(self.program, Part::Stmt(body));
            for id in used.vars.into_iter().filter(|it| rooms.contains(it)) {
                if !told.insert(id) {
                    continue;
                }
                let names = &self.program.names;
                let var = &self.program.vars[id];
                let (name, user) =
                    (var.name.map_or("", |it| names.text(it)), names.text(function.name));
                let warning = Diagnostic::warning(
                    "F0703",
                    format!("`{user}` is declared for devices and uses `{name}`, which is not"),
                )
                .at(
                    function.span,
                    "regions of other files that call this do not bring the variable",
                )
                .label(var.span, "the variable")
                .help("declare the variable for devices too, or map it wherever the function runs");
                self.state.borrow_mut().faults.push(warning);
            }
        }
    }
}

/// Functions that code of a region on its device names, or that these name.
fn called_on_device(program: &Program, region: &Region) -> Vec<FunctionId> {
    let mut used = Used::on_device();
    region.body.iter().for_each(|it| used.part(program, Part::Stmt(*it)));
    let mut at = 0;
    while let Some(function) = used.functions.get(at) {
        let body = program.functions[*function].body;
        body.iter().for_each(|it| used.part(program, Part::Stmt(*it)));
        at += 1;
    }
    used.functions
}

fn is_pointer(program: &Program, id: VarId) -> bool {
    program.types.is_pointer(program.vars[id].ty)
}

/// One per team, by a directive.
fn is_grouped(program: &Program, id: VarId) -> bool {
    let mut declarations = program.declarations.iter();
    declarations
        .any(|it| it.construct.has(ir::construct::Leaf::Groupprivate) && it.vars.contains(&id))
}

fn has_pointers(program: &Program, id: VarId) -> bool {
    let mut seen = FxHashSet::default();
    let mut open: Vec<Ty> = vec![program.vars[id].ty];
    while let Some(ty) = open.pop() {
        if let Some(record) = program.types.record_of(ty) {
            if seen.insert(record) {
                let fields = program.types.records.find(record).and_then(|it| it.fields.as_ref());
                open.extend(fields.into_iter().flatten().map(|it| it.ty));
            }
            continue;
        }
        match program.types.shape(ty) {
            TypeKind::Pointer(_) => return true,
            TypeKind::Array(element, _) => open.push(*element),
            _ => {}
        }
    }
    false
}
