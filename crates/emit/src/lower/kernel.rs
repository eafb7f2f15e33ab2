//! Kernels: what a region becomes on a device that runs C.
//!
//! In: a region, its captured variables, and where the kernel will stand. Out: a C function that
//! takes one slot per argument, gives every captured variable a name, and has the region's body,
//! with the constructs inside left to the compiler of that device ([`super::nested`]).
//!
//! A variable that came by address is used through a pointer, `(*__x)`. A list of a directive
//! cannot name that, so a variable that some construct inside makes copies of gets a name of its own
//! for the whole kernel, and its value is carried in and out.

use ir::construct::{Args, ClauseKind, Leaf, ReductionDecl};
use ir::program::{ExprId, ExprKind, Init, InitId, Program, RegionId, Typed, VarId, VarStorage};
use ir::region::{Origin, Region, Rule, Sharing};
use ir::types::Ty;
use ir::walk::Part;
pub(super) use ir::walk::regions_in;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Lowering;
use super::entries::{self, Access, Captured, Entries};
use super::sums::Alone;
use super::teams::release;
use crate::c::{Grid, Hook, Out, Printer, Setting};

/// How a captured variable is called in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binding {
    /// `(*__x)`
    Pointed,
    /// A local variable with the value, carried back at the end.
    Carried,
    /// The same, and nobody changes it.
    Read,
    /// A local variable with the value, for an array; carried back at the end.
    CarriedArray,
    /// An array as a pointer to its first element, so that a reduction can name its section.
    Element,
}

impl Lowering<'_> {
    /// The kernel of a region, as a function definition.
    pub(super) fn kernel(
        &self,
        id: RegionId,
        entries: &Entries,
        name: &str,
        setting: Setting,
    ) -> String {
        let program = self.program;
        let region = &program.regions[id];
        let mut printer = self.printer(setting);
        // In the kernel the compiler would give its name for the function's.
        for (var, it) in program.vars.iter() {
            if self.grid.is_none()
                && it.storage == VarStorage::LocalStatic(region.function)
                && entries::is_function_name(program, var)
                && let Some(name) = it.init
            {
                let name = printer.init(name, it.ty);
                printer.substitute(var, format!("({name})"));
            }
        }
        let copied = copied_inside(program, id);
        let mut out = Out::placed(self.place);
        let linkage = if setting == Setting::Alone { "" } else { "static " };
        let header = match self.grid {
            Some(grid) => {
                let parts = self.parts_of_sums(grid, id);
                self.state.borrow_mut().parts = parts;
                self.grid_header(grid, id, (name, entries), parts)
            }
            None => {
                format!("# 1 \"<ferry>\" 3\n{linkage}void {name}(void *const *__ferry_slots)\n{{")
            }
        };
        out.raw(&header);
        let mut carried = Vec::new();
        let arrays = match self.grid {
            Some(_) => self.array_rooms(&[Part::Region(id)]),
            None => (Vec::new(), Vec::new()),
        };
        out.indented(|out| {
            // A unit of its own has defined them all.
            if setting != Setting::Alone {
                let parts: Vec<Part> = region.body.iter().map(|it| Part::Stmt(*it)).collect();
                printer.local_types(&parts, &mut FxHashSet::default(), out);
            }
            let body = region.body.map(Part::Stmt);
            let rooms = body.map(|it| self.literal_rooms(it)).unwrap_or_default();
            rooms.iter().chain(&arrays.0).for_each(|it| out.line(it));
            if self.grid.is_none() {
                let seen = block_reductions(program, region);
                seen.iter().for_each(|it| self.declaration(&printer, *it, out));
            }
            for (at, (length, slot)) in entries.lengths.iter().enumerate() {
                let name = format!("__ferry_len{at}");
                out.line(&format!(
                    "const __ferry_size {name} = (__ferry_size)(__ferry_word)__ferry_slots[{slot}];"
                ));
                printer.substitute_expr(*length, name);
            }
            for captured in &entries.captured {
                let is_seen = setting == Setting::Appended && !region.construct.goes_back();
                let align = self.alignment(&printer, id, captured.var);
                if self.aligned_copy(&mut printer, region, captured, &align, out) {
                    continue;
                }
                let bound = self.bind(&mut printer, captured, &copied, (is_seen, &align), out);
                if let Some(back) = bound {
                    carried.push(back);
                }
            }
            for (expr, slot) in &entries.computed {
                printer
                    .substitute_expr(*expr, format!("((int)(__ferry_word)__ferry_slots[{slot}])"));
            }
            let allocators = self.allocators(&printer, id, entries);
            allocators.before.iter().for_each(|it| out.line(it));
            if self.is_spmd(id) {
                return self.spmd_kernel(&printer, id, out);
            }
            if self.grid.is_some() {
                return self.alone(&printer, id, &region.construct.leaves, out);
            }
            let leaves: Vec<Leaf> = region
                .construct
                .leaves
                .iter()
                .copied()
                .filter(|it| !matches!(it, Leaf::Offload | Leaf::Kernels))
                .collect();
            // One thread runs all of it: what is its own is the kernel's.
            let mut inside = printer.clone();
            let (kept, sums) = match leaves.is_empty() {
                true => (
                    self.own_parts(&printer, &mut inside, id, out),
                    self.own_reduced(&printer, &mut inside, id, out),
                ),
                false => (Vec::new(), Alone::default()),
            };
            self.construct(&inside, id, &leaves, out);
            out.leave();
            sums.join(out);
            release(&kept, out);
            allocators.after.iter().for_each(|it| out.line(it));
            carried.iter().for_each(|it| out.line(it));
            // A label before the end of the body may need a statement to stand before.
            out.line(";");
        });
        arrays.1.iter().for_each(|it| out.line(it));
        out.raw("}");
        out.into_text()
    }

    /// A copy of the kernel's own that is to be aligned: where the runtime has put its value nobody has asked for that.
    fn aligned_copy(
        &self,
        printer: &mut Printer<'_>,
        region: &Region,
        captured: &Captured,
        align: &str,
        out: &mut Out<'_>,
    ) -> bool {
        let is_copy = |it: &ir::region::RegionVar| {
            let sharing = it.sharing.as_ref().map(|it| &it.value);
            it.var == captured.var && matches!(sharing, Some(Sharing::FirstPrivate))
        };
        // Where there are teams or threads they have copies of it.
        let is_kernels = region.construct.leaves.len() == 1 && region.vars.iter().any(is_copy);
        let Some(slot) = captured.slot.filter(|_| captured.access == Access::Reference) else {
            return false;
        };
        if align.is_empty() || !is_kernels {
            return false;
        }
        let own = self.begin_bind(printer, captured, out);
        if self.grid.is_some() && self.program.types.is_vla(self.program.vars[captured.var].ty) {
            let from = format!("__ferry_slots[{slot}]");
            let outside = printer.clone();
            self.array_copy(&outside, printer, captured.var, Some(&from), out);
            return true;
        }
        let place = self.on_stack(printer, captured.var);
        if place.is_none() && !self.memory().is_empty() {
            // Nobody looks at its address.
            return false;
        }
        let place = match (place, self.grid) {
            (Some(place), _) => place,
            (None, Some(_)) => self.declare_own(printer, captured.var, &own, "", out),
            (None, None) => {
                let declared = printer.declare(self.program.vars[captured.var].ty.plain(), &own);
                out.line(&format!("{declared}{align};"));
                own
            }
        };
        printer.substitute(captured.var, place.clone());
        out.line(&format!(
            "__builtin_memcpy(({}void *)&{place}, __ferry_slots[{slot}], sizeof({place}));",
            self.memory()
        ));
        true
    }

    /// The name of a captured variable in the kernel; lengths in its type get theirs.
    fn begin_bind(
        &self,
        printer: &mut Printer<'_>,
        captured: &Captured,
        out: &mut Out<'_>,
    ) -> String {
        let own = printer.declared_name(captured.var);
        if captured.access != Access::Name {
            printer.restore(captured.var);
        }
        for (at, (length, slot)) in captured.lengths.iter().enumerate() {
            let name = format!("__len{at}_{own}");
            out.line(&format!(
                "const __ferry_size {name} = (__ferry_size)(__ferry_word)__ferry_slots[{slot}];"
            ));
            printer.substitute_expr(*length, name);
        }
        own
    }

    /// Gives a captured variable its name; answers what carries its value back. `is_seen`: variables of
    /// the file can be used by their names; `align`: what the kernel's own variable is declared with.
    fn bind(
        &self,
        printer: &mut Printer<'_>,
        captured: &Captured,
        copied: &Copied,
        (is_seen, align): (bool, &str),
        out: &mut Out<'_>,
    ) -> Option<String> {
        let program = self.program;
        let var = &program.vars[captured.var];
        let own = self.begin_bind(printer, captured, out);
        let plain = var.ty.plain();
        match captured.access {
            Access::Name => None,
            Access::Own => {
                match self.on_stack(printer, captured.var) {
                    Some(place) => printer.substitute(captured.var, place),
                    None if self.grid.is_some() && program.types.is_vla(var.ty) => {
                        let outside = printer.clone();
                        self.array_copy(&outside, printer, captured.var, None, out);
                    }
                    None if self.grid.is_some() => {
                        let place = self.declare_own(printer, captured.var, &own, "", out);
                        printer.substitute(captured.var, place);
                    }
                    None => out.line(&format!("{}{align};", printer.declare(plain, &own))),
                }
                None
            }
            Access::Value => {
                let slot = captured.slot?;
                let declared = format!("{}{align}", printer.declare(plain, &own));
                let place = self.on_stack(printer, captured.var);
                if program.types.is_pointer(var.ty) {
                    let is_number = printer.is_number(var.ty);
                    let cast = if is_number { "(unsigned long)" } else { "" };
                    out.line(&format!("{declared} = {cast}__ferry_slots[{slot}];"));
                } else if program.types.is_integer(var.ty) {
                    let ty = printer.type_name(plain);
                    out.line(&format!("{declared} = ({ty})(__ferry_word)__ferry_slots[{slot}];"));
                } else {
                    if self.grid.is_some_and(Grid::is_cpp) {
                        let ty = printer.type_name(plain);
                        out.line(&format!(
                            "{declared} = __ferry_value<{ty}>(__ferry_slots[{slot}]);"
                        ));
                        return None;
                    }
                    // Not by its address: the host's compiler would keep it in memory for ever.
                    let value = printer.declare(plain, "__value");
                    out.line(&format!(
                        "{declared} = ((union {{ {}void *__slot; {value}; }}){{ __ferry_slots[{slot}] }}).__value;",
                        self.memory()
                    ));
                }
                let rounded = || self.rounded_copy(printer, captured.var, &own, out);
                if let Some(place) = place.or_else(rounded) {
                    out.line(&format!("{place} = {own};"));
                    printer.substitute(captured.var, place);
                }
                None
            }
            Access::Reference => {
                // The text around has it already, and shares its memory.
                if is_seen
                    && is_of_file(program, captured.var)
                    && !self.apart.contains(&captured.var)
                {
                    return None;
                }
                // What never changes is written down again: the compiler sees the values.
                let is_on_stack = self.is_on_stack(captured.var);
                let is_pointed_to = is_on_stack || self.is_pointed_to(captured.var);
                if let Some(init) =
                    constant(program, captured.var, copied).filter(|_| !is_pointed_to)
                {
                    let init = printer.init(init, var.ty);
                    let word = if self.memory().is_empty() { "static" } else { "__constant" };
                    out.line(&format!("{word} {} = {init};", printer.declare(var.ty, &own)));
                    // Pointers of OpenCL C do not lead to what is static.
                    if self.grid == Some(Grid::OpenCl) {
                        let pointer = printer.declare(var.ty, "(*)");
                        let place = format!("(*(__ferry_generic {pointer})__ferry_flat(&{own}))");
                        printer.substitute(captured.var, place);
                    }
                    return None;
                }
                let slot = captured.slot?;
                let pointer = format!("__ref_{own}");
                if self.grid.is_some() && program.types.is_vla(var.ty) {
                    let part = printer.known_part(var.ty);
                    let declared = printer.declare_pointer(part, &pointer);
                    out.line(&format!("{declared} = __ferry_slots[{slot}];"));
                    printer.substitute(captured.var, format!("({pointer})"));
                    printer.decay(captured.var);
                    return None;
                }
                // Compilers of grids see through one array only to what kind of memory it is in.
                let memory = match self.grid.is_some() && program.types.is_array(var.ty) {
                    true if self.memory().is_empty() => "__ferry_generic ",
                    true | false => "",
                };
                let declared = match self.memory().is_empty() {
                    true => printer.declare(var.ty, &format!("(*{pointer})")),
                    false => printer.declare_pointer(var.ty, &pointer),
                };
                let declared = format!("{memory}{declared}");
                out.line(&format!("{declared} = __ferry_slots[{slot}];"));
                let binding = match binding(program, captured.var, copied) {
                    Binding::Read if !is_on_stack => Binding::Read,
                    // Threads of a grid have no kernel around them that could carry anything.
                    _ if self.grid.is_some() => Binding::Pointed,
                    binding => binding,
                };
                match binding {
                    Binding::Pointed => {
                        printer.substitute(captured.var, format!("(*{pointer})"));
                        None
                    }
                    Binding::Read => {
                        out.line(&format!("{} = *{pointer};", printer.declare(plain, &own)));
                        None
                    }
                    Binding::Carried => {
                        out.line(&format!("{} = *{pointer};", printer.declare(plain, &own)));
                        Some(format!("*{pointer} = {own};"))
                    }
                    Binding::CarriedArray => {
                        out.line(&format!(
                            "{}; __builtin_memcpy(&{own}, {pointer}, sizeof({own}));",
                            printer.declare(plain, &own)
                        ));
                        Some(format!("__builtin_memcpy({pointer}, &{own}, sizeof({own}));"))
                    }
                    Binding::Element => {
                        let element = program.types.element(var.ty).unwrap_or(var.ty);
                        let declared = printer.declare(element, &format!("(*{own})"));
                        out.line(&format!("{declared} = *{pointer};"));
                        printer.decay(captured.var);
                        None
                    }
                }
            }
        }
    }
}

/// Reductions that blocks around a region declare: in its kernel the host's compiler does not see them. Of those that
/// combine the same type under the same name the innermost holds.
pub(super) fn block_reductions(program: &Program, region: &Region) -> Vec<u32> {
    let types = &program.types;
    let mut found: Vec<(u32, &ReductionDecl<Typed>)> = Vec::new();
    for (at, it) in program.declarations_seen(region.construct.span) {
        let Args::Reduction(declared) = &it.construct.args else { continue };
        if it.within.is_none() || !it.construct.has(Leaf::DeclareReduction) {
            continue;
        }
        found.retain(|(_, that)| {
            let is_same = |(one, other): (&Ty, &Ty)| types.compatible(*one, *other);
            that.name != declared.name || !that.types.iter().zip(&declared.types).all(is_same)
        });
        found.extend(u32::try_from(at).map(|at| (at, declared.as_ref())));
    }
    found.into_iter().map(|it| it.0).collect()
}

/// The initial value of a variable that has it for ever, if that is made of literals.
fn constant(program: &Program, var: VarId, copied: &Copied) -> Option<InitId> {
    let element = program.types.innermost_element(program.vars[var].ty);
    let is_fixed = element.quals.is_const && !element.quals.is_volatile;
    let init = program.vars[var].init?;
    let is_known = is_fixed
        && program.types.is_arithmetic(element)
        && !copied.contains_key(&var)
        && is_literal(program, init);
    is_known.then_some(init)
}

fn is_literal(program: &Program, init: InitId) -> bool {
    match &program.inits[init] {
        Init::List(_, elements) => elements.iter().all(|it| is_literal(program, it.value)),
        Init::Expr(value) => {
            let mut open = vec![*value];
            while let Some(expr) = open.pop() {
                let kind = &program.exprs[expr].kind;
                if let ExprKind::Unary(_, it) | ExprKind::Cast(_, it) = kind {
                    open.push(*it);
                } else if !matches!(
                    kind,
                    ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::EnumConst(..)
                ) {
                    return false;
                }
            }
            true
        }
    }
}

fn binding(program: &Program, var: VarId, copied: &Copied) -> Binding {
    let is_array = program.types.is_array(program.vars[var].ty);
    match copied.get(&var) {
        None => Binding::Pointed,
        Some(Copies::Reduced) if is_array => Binding::Element,
        Some(Copies::Made) if is_array => Binding::CarriedArray,
        Some(Copies::Read) => Binding::Read,
        Some(Copies::Made | Copies::Reduced) => Binding::Carried,
    }
}

/// Why there are copies of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copies {
    /// Its value never changes in the kernel, and is kept where the compiler sees that.
    Read,
    /// Only to be combined.
    Reduced,
    /// For other reasons too.
    Made,
}

type Copied = FxHashMap<VarId, Copies>;

/// Whether the variable belongs to the file, so that a kernel at its end sees it.
pub(super) fn is_of_file(program: &Program, var: VarId) -> bool {
    match program.vars[var].storage {
        VarStorage::Global | VarStorage::Extern | VarStorage::Static => true,
        VarStorage::LocalStatic(_) | VarStorage::Param(_) | VarStorage::Local(_) => false,
    }
}

/// Variables that the construct or one inside it makes copies of.
fn copied_inside(program: &Program, id: RegionId) -> Copied {
    let mut found = Copied::default();
    let region = &program.regions[id];
    let inside = region.body.map(|it| regions_in(program, it)).unwrap_or_default();
    let inside: Vec<&Region> = inside.into_iter().map(|it| &program.regions[it]).collect();
    let all = inside.iter().copied().chain([region]);
    let parts: Vec<VarId> = all.flat_map(|it| part_vars(program, it)).collect();
    let is_lone = region.construct.leaves.len() == 1;
    if !is_lone {
        copied_by(program, region, &parts, &mut found);
    }
    inside.into_iter().for_each(|it| copied_by(program, it, &parts, &mut found));
    // A scalar that came by a rule, for no other reason than that it may be changed.
    for var in &program.regions[id].vars {
        let by_rule = var
            .mappings
            .iter()
            .all(|it| matches!(it.origin, Origin::Rule(Rule::ScalarDefault | Rule::ScalarRead)));
        let is_scalar = program.types.is_scalar(program.vars[var.var].ty);
        if by_rule && is_scalar && !var.written {
            found.entry(var.var).or_insert(Copies::Read);
        }
    }
    found
}

fn copied_by(program: &Program, region: &Region, parts: &[VarId], found: &mut Copied) {
    for var in &region.vars {
        // Copies of parts are made by hand, of no more than is named: no more may be there.
        if parts.contains(&var.var) && !names_whole(program, region, var.var) {
            continue;
        }
        match var.sharing.as_ref().map(|it| &it.value) {
            Some(
                Sharing::Private
                | Sharing::FirstPrivate
                | Sharing::LastPrivate
                | Sharing::FirstLastPrivate
                | Sharing::Linear,
            ) => {
                found.insert(var.var, Copies::Made);
            }
            Some(Sharing::Reduction(_)) => {
                found.entry(var.var).or_insert(Copies::Reduced);
            }
            Some(Sharing::Shared | Sharing::ThreadPrivate) | None => {}
        }
    }
}

/// What clauses for copies name.
fn copied_items(region: &Region) -> impl Iterator<Item = ExprId> {
    let items = region.construct.kinds().flat_map(|it| match it {
        ClauseKind::Private(items) | ClauseKind::FirstPrivate { items, .. } => items.as_slice(),
        _ => &[],
    });
    items.copied()
}

/// Variables of which such clauses name parts.
fn part_vars(program: &Program, region: &Region) -> Vec<VarId> {
    let is_part = |it: &ExprId| !matches!(program.exprs[*it].kind, ExprKind::Var(_));
    let parts = copied_items(region).filter(is_part);
    parts.filter_map(|it| super::levels::base(program, it)).collect()
}

/// Whether one of them names all of a variable.
fn names_whole(program: &Program, region: &Region, var: VarId) -> bool {
    copied_items(region).any(|it| program.exprs[it].kind == ExprKind::Var(var))
}
