//! Variables whose address is taken, where all pointers lead to the memory of the device.
//!
//! OpenCL C 1.2 has a kind of pointer for each kind of memory, and a thread's own variables are in another kind than
//! arrays. So every thread has a stack in the memory of the device, and variables that a pointer may lead to lie there.
//! No function calls itself ([`super::refused`]): each of them has one place for all calls, known now.

use ir::construct::{ClauseKind, ReductionOp};
use ir::program::{CastKind, ExprId, ExprKind, FunctionId, Init, VarId, VarStorage};
use ir::region::Sharing;
use ir::types::Ty;
use ir::walk::Part;
use rustc_hash::FxHashSet;

use crate::c::{Grid, Out, Printer, Printing, Setting, THREAD};
use crate::lower::Lowering;
use crate::lower::device::Kernel;
use crate::lower::entries::is_function_name;

/// What every variable there begins at a multiple of, at least.
const ALIGNED: u64 = 8;

/// What every stack begins at a multiple of.
const STACKS_ALIGNED: u64 = 64;

/// A variable's place on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) struct StackPlace {
    /// How far it is from the beginning.
    at: u64,
    /// What its address is rounded up to, where the stack is not aligned as much as the variable.
    rounded: Option<u64>,
}

impl StackPlace {
    /// Its address, on a stack that begins at `stack`.
    pub(super) fn address(self, stack: &str) -> String {
        let StackPlace { at, rounded } = self;
        match rounded {
            Some(align) => {
                format!("(((unsigned long)({stack} + {at}) + {}) & ~{}ul)", align - 1, align - 1)
            }
            None => format!("({stack} + {at})"),
        }
    }
}

impl Lowering<'_> {
    /// The word before what a pointer leads to, where the language wants one.
    pub(in crate::lower) fn memory(&self) -> &'static str {
        self.grid.map_or("", Grid::memory)
    }

    /// Finds those variables in all that is printed, and gives them places.
    pub(super) fn lend(&self, parts: &[Part], kernels: &[Kernel]) {
        let mut found: FxHashSet<VarId> = FxHashSet::default();
        let mut of_file: FxHashSet<VarId> = FxHashSet::default();
        // An array that is subscripted at once is no pointer, but for strings, which lie elsewhere.
        let mut subscripted: FxHashSet<ExprId> = FxHashSet::default();
        let mut printed: FxHashSet<ExprId> = FxHashSet::default();
        let program = self.program;
        let regions = kernels.iter().map(|it| Part::Region(it.region));
        let mut open: Vec<Part> = parts.iter().copied().chain(regions).collect();
        let mut seen: FxHashSet<Part> = FxHashSet::default();
        while let Some(part) = open.pop() {
            if !seen.insert(part) {
                continue;
            }
            if let Part::Region(id) = part {
                found.extend(self.copied_whole(id));
            }
            if let Part::Expr(id) = part {
                let kind = &program.exprs[id].kind;
                if let ExprKind::Index(of, _) | ExprKind::Deref(of) = kind {
                    subscripted.insert(*of);
                }
                let is_lent = match kind {
                    ExprKind::AddrOf(of) => Some(*of),
                    ExprKind::Cast(CastKind::ArrayToPointer, of) => {
                        Some(*of).filter(|_| !subscripted.contains(&id))
                    }
                    ExprKind::Index(of, _) | ExprKind::Deref(of) => self.string(self.peeled(*of)),
                    _ => None,
                };
                if let ExprKind::Call(callee, args) = kind
                    && let ExprKind::Function(id) = self.kind(*callee)
                    && Printing::of(program, *id).is_some()
                {
                    let strings = args.iter().map(|it| self.peeled(*it));
                    printed.extend(strings.filter(|it| matches!(self.kind(*it), ExprKind::Str(_))));
                }
                if let Some(of) = is_lent.filter(|it| !printed.contains(it)) {
                    match self.string(of) {
                        Some(string) => {
                            let strings = &mut self.state.borrow_mut().strings;
                            if !strings.contains(&string) {
                                strings.push(string);
                            }
                        }
                        None => match self.own_object(of) {
                            Some(own) => found.extend([own]),
                            None => of_file.extend(self.object(of)),
                        },
                    }
                }
            }
            program.parts(part, &mut |it| open.push(it));
        }
        for id in
            program.regions.iter().map(|it| it.0).filter(|it| seen.contains(&Part::Region(*it)))
        {
            for counted in &program.regions[id].loops {
                if found.contains(&counted.var) {
                    let what = "the address of what counts the iterations of a loop";
                    self.not_for_grid(program.vars[counted.var].span, what);
                }
            }
        }
        // Those whose length is computed are there already.
        let is_placed = |it: &VarId| !program.types.is_vla(program.vars[*it].ty);
        let mut found: Vec<VarId> = found.into_iter().filter(is_placed).collect();
        found.sort_by_key(|it| it.index());
        self.state.borrow_mut().pointed_vars = of_file;
        for var in found {
            let place = self.room_on_stack(var);
            self.state.borrow_mut().lent.insert(var, place);
        }
    }

    /// The variable that an expression names, or a part of.
    fn object(&self, expr: ExprId) -> Option<VarId> {
        match self.program.exprs[expr].kind {
            ExprKind::Var(var) => Some(var),
            ExprKind::Member(of, ..) => self.object(of),
            ExprKind::Index(of, _) => {
                let is_array = self.program.types.is_array(self.program.exprs[of].ty);
                if is_array { self.object(of) } else { None }
            }
            _ => None,
        }
    }

    /// The string that an expression is, or is called by: `__func__`.
    fn string(&self, expr: ExprId) -> Option<ExprId> {
        match self.program.exprs[expr].kind {
            ExprKind::Str(_) => Some(expr),
            ExprKind::Var(var) if is_function_name(self.program, var) => {
                match self.program.inits[self.program.vars[var].init?] {
                    Init::Expr(name) => Some(name),
                    Init::List(..) => None,
                }
            }
            _ => None,
        }
    }

    /// Variables of which a construct makes copies byte by byte.
    fn copied_whole(&self, id: ir::program::RegionId) -> Vec<VarId> {
        let region = &self.program.regions[id];
        let is_array = |var: VarId| self.program.types.is_array(self.program.vars[var].ty);
        let mut found = Vec::new();
        for var in &region.vars {
            match var.sharing.as_ref().map(|it| &it.value) {
                Some(Sharing::FirstPrivate | Sharing::LastPrivate | Sharing::FirstLastPrivate)
                    if is_array(var.var) =>
                {
                    found.push(var.var)
                }
                Some(Sharing::Reduction(ReductionOp::User(_))) => found.push(var.var),
                _ => {}
            }
        }
        for kind in region.construct.kinds() {
            if let ClauseKind::Reduction(it) | ClauseKind::InReduction(it) = kind
                && matches!(it.op, ReductionOp::User(_))
            {
                found.extend(it.items.iter().filter_map(|it| self.own_object(*it)));
            }
        }
        found.retain(|it| self.is_of_thread(*it));
        found
    }

    fn is_of_thread(&self, var: VarId) -> bool {
        match self.program.vars[var].storage {
            VarStorage::Local(_) | VarStorage::Param(_) | VarStorage::LocalStatic(_) => true,
            VarStorage::Global | VarStorage::Static | VarStorage::Extern => false,
        }
    }

    /// The variable of a thread that an expression names, or a part of.
    fn own_object(&self, expr: ExprId) -> Option<VarId> {
        match self.program.exprs[expr].kind {
            ExprKind::Var(var) | ExprKind::CompoundLiteral(var) => {
                Some(var).filter(|it| self.is_of_thread(*it))
            }
            ExprKind::Member(of, ..) => self.own_object(of),
            ExprKind::Index(of, _) => match self.program.exprs[of].kind {
                ExprKind::Cast(CastKind::ArrayToPointer, of) => self.own_object(of),
                _ if self.program.types.is_array(self.program.exprs[of].ty) => self.own_object(of),
                _ => None,
            },
            _ => None,
        }
    }

    /// A place for one more variable like this one.
    pub(super) fn room_on_stack(&self, var: VarId) -> StackPlace {
        let (types, model) = (&self.program.types, &self.program.model);
        let var = &self.program.vars[var];
        let size = model.size_of(types, var.ty).unwrap_or(0);
        let align = model.align_of(types, var.ty).unwrap_or(1).max(ALIGNED);
        let align = align.max(var.align.unwrap_or(1));
        let rounded = Some(align).filter(|it| *it > STACKS_ALIGNED);
        let mut state = self.state.borrow_mut();
        let at = state.stack.next_multiple_of(align.min(STACKS_ALIGNED));
        state.stack = at.saturating_add(size).saturating_add(rounded.unwrap_or(0));
        StackPlace { at, rounded }
    }

    /// Bytes of a thread's stack.
    pub(super) fn stack_bytes(&self) -> u64 {
        self.state.borrow().stack.next_multiple_of(STACKS_ALIGNED)
    }

    /// What names a variable there.
    fn place_on_stack(&self, printer: &Printer<'_>, ty: Ty, place: StackPlace) -> String {
        let address = place.address(&format!("{THREAD}->__stack"));
        format!("(*({}){address})", printer.declare_pointer(ty.plain(), ""))
    }

    /// A new variable of a thread that is like another, if such are on its stack.
    pub(in crate::lower) fn new_on_stack(&self, printer: &Printer<'_>, like: VarId) -> String {
        let place = self.room_on_stack(like);
        self.place_on_stack(printer, self.program.vars[like].ty, place)
    }

    /// A copy of a variable there, which the printer then names.
    pub(super) fn stack_copy(
        &self,
        outside: &Printer<'_>,
        inside: &mut Printer<'_>,
        var: VarId,
    ) -> String {
        let place = self.new_on_stack(outside, var);
        inside.substitute(var, place.clone());
        place
    }

    /// Whether a variable lies there.
    pub(in crate::lower) fn is_on_stack(&self, var: VarId) -> bool {
        self.state.borrow().lent.contains_key(&var)
    }

    /// Whether pointers lead to the variable, which is no thread's own.
    pub(in crate::lower) fn is_pointed_to(&self, var: VarId) -> bool {
        self.state.borrow().pointed_vars.contains(&var)
    }

    /// The variable there, if it is one of them.
    pub(in crate::lower) fn on_stack(&self, printer: &Printer<'_>, var: VarId) -> Option<String> {
        let place = self.state.borrow().lent.get(&var).copied()?;
        Some(self.place_on_stack(printer, self.program.vars[var].ty, place))
    }

    /// Variables there go by their places, and strings by the names of theirs.
    pub(in crate::lower) fn use_stack(&self, printer: &mut Printer<'_>) {
        for (number, id) in self.state.borrow().strings.iter().enumerate() {
            printer.substitute_expr(*id, string_name(number));
        }
        let lent: Vec<VarId> = self.state.borrow().lent.keys().copied().collect();
        for var in lent {
            if let Some(place) = self.on_stack(printer, var) {
                printer.substitute(var, place);
            }
        }
    }

    /// Strings that pointers lead to: types, names and values of the variables that they are.
    pub(super) fn string_variables(&self) -> Vec<(String, String, String)> {
        let strings = self.state.borrow().strings.clone();
        let printer = Printer::new(self.program, Setting::Alone);
        let variable = |(number, id): (usize, ExprId)| {
            let name = string_name(number);
            let ty =
                printer.declare(self.program.exprs[id].ty.plain(), &format!("__ferry_t_{name}"));
            (ty, name, printer.expr(id))
        };
        strings.into_iter().enumerate().map(variable).collect()
    }

    /// A declaration of such a variable: its first value. Answers whether it is one.
    pub(in crate::lower) fn stack_local(
        &self,
        printer: &Printer<'_>,
        var: VarId,
        out: &mut Out<'_>,
    ) -> bool {
        if !self.is_on_stack(var) {
            return false;
        }
        let Some(init) = self.program.vars[var].init else {
            out.line(";");
            return true;
        };
        let (place, ty) = (printer.var_name(var), self.program.vars[var].ty);
        self.put_first(printer, (&place, ty), init, out);
        true
    }

    /// Parameters there get their values where the body begins.
    pub(in crate::lower) fn stack_parameters(&self, id: FunctionId) -> Vec<String> {
        let printer = self.printer(Setting::Alone);
        let params = self.program.functions[id].params.iter();
        let put = |var: &VarId| {
            let place = self.on_stack(&printer, *var)?;
            Some(format!("{place} = {};", printer.declared_name(*var)))
        };
        params.filter_map(put).collect()
    }
}

/// What a string is called.
fn string_name(number: usize) -> String {
    format!("__ferry_string{number}")
}
