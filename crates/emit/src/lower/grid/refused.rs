//! What the C of such devices lacks, looked for in all that a unit prints.

use ir::construct::ClauseKind;
use ir::program::{
    CastKind, ExprId, ExprKind, FunctionId, Init, InitId, Program, StmtId, StmtKind, VarId,
    VarStorage,
};
use ir::types::{FloatKind, IntKind, Ty, TypeKind};
use ir::walk::Part;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;

use super::super::device::Kernel;
use super::builtins;
use super::unit::by_clock;
use crate::c::library::known;
use crate::c::{Grid, Printing, computes_in_bits, is_pure, is_split, named_callee, width_of};
use crate::lower::Lowering;

impl Lowering<'_> {
    /// Refuses what these statements and variables need and the device has not.
    pub(super) fn check_grid(&self, grid: Grid, parts: &[Part], kernels: &[Kernel]) {
        let program = self.program;
        let mut lengths = Lengths::of(kernels);
        let mut seen: FxHashSet<Part> = FxHashSet::default();
        let mut open: Vec<Part> = parts.to_vec();
        while let Some(part) = open.pop() {
            if !seen.insert(part) {
                continue;
            }
            match part {
                Part::Local(var) => {
                    let it = &program.vars[var];
                    self.check_type(var);
                    let all = program.types.lengths(it.ty);
                    let unnamed = all.iter().filter(|it| !self.names_length(**it));
                    lengths.named.extend(unnamed.map(|it| (*it, var)));
                    let is_static = matches!(it.storage, VarStorage::LocalStatic(_));
                    let element = program.types.innermost_element(it.ty);
                    if grid.is_opencl() && is_static && !element.quals.is_const {
                        self.not_for_grid(
                            it.span,
                            "a variable of a function that outlives its calls",
                        );
                    }
                }
                Part::Expr(id) => {
                    let it = &program.exprs[id];
                    lengths.changes(program, &it.kind);
                    if let Some(what) = lacking(Some(grid), program, it.ty) {
                        self.not_for_grid(it.span, what);
                    }
                    if let ExprKind::LabelAddr(_) = it.kind {
                        self.not_for_grid(it.span, "the address of a label");
                    }
                    if grid.is_cpp()
                        && let Some(what) = not_in_cpp(program, &it.kind)
                    {
                        self.not_for_grid(it.span, what);
                    }
                    if let Some(what) = self.odd_bits(grid, &it.kind) {
                        self.not_for_grid(it.span, what);
                    }
                    if let ExprKind::Var(var) = it.kind
                        && program.vars[var].thread_local
                    {
                        self.not_for_grid(it.span, "a variable of which each thread has its own");
                    }
                    if let ExprKind::Function(function) = it.kind
                        && let Some(what) = self.missing_function(function)
                    {
                        self.not_for_grid(it.span, &what);
                    }
                    if let ExprKind::Call(callee, args) = &it.kind
                        && let Some(name) = self.prints_elsewhere(*callee, args)
                    {
                        let what = format!("`{name}` to other streams than `stdout` and `stderr`");
                        self.not_for_grid(it.span, &what);
                    }
                    if let ExprKind::Call(callee, _) = it.kind
                        && !calls_by_name(program, callee)
                    {
                        let callee = program.types.callee(program.exprs[callee].ty);
                        let has_types = callee.is_some_and(|it| it.prototyped && !it.variadic);
                        if grid.is_opencl() && !has_types {
                            let what = "a call through a pointer that tells not all types";
                            self.not_for_grid(it.span, what);
                        } else if self.standalone {
                            // The runtime knows which function of the device a host's stands for.
                            self.not_standalone(it.span, "a call through a pointer");
                        }
                    }
                }
                Part::Stmt(id) => {
                    let stmt = &program.stmts[id];
                    let what = match stmt.kind {
                        StmtKind::Asm(_) => Some("assembly"),
                        StmtKind::GotoExpr(_) => Some("a jump to an address"),
                        _ => None,
                    };
                    what.into_iter().for_each(|what| self.not_for_grid(stmt.span, what));
                }
                Part::Init(id) => {
                    if let Some(span) = self.odd_bits_list(grid, id) {
                        let what = "what this bit-field begins with";
                        self.not_for_grid(span, what);
                    }
                }
                Part::Region(_) => {}
            }
            program.parts(part, &mut |it| open.push(it));
        }
        for var in lengths.unsteady(program) {
            self.not_for_grid(program.vars[var].span, VARIABLE_ARRAY);
        }
    }

    /// What is done with a bit-field and cannot be done with bytes, or is computed otherwise than by gcc.
    fn odd_bits(&self, grid: Grid, kind: &ExprKind) -> Option<&'static str> {
        let program = self.program;
        let is_twice = |it: ExprId| match program.exprs[it].kind {
            ExprKind::Member(_, record, _) => {
                is_split(grid, &program.types.records[record])
                    || program.types.is_bool(program.exprs[it].ty)
            }
            _ => false,
        };
        if let ExprKind::AssignOp(_, to, ..) | ExprKind::Step(_, to) = kind
            && is_twice(*to)
            && width_of(program, *to).is_some()
            && !is_pure(program, *to)
        {
            return Some("a change of a bit-field that is found by an expression with effects");
        }
        let is_odd = computes_in_bits(program, kind);
        is_odd.then_some("a number as wide as a bit-field, which is wider than `int`,")
    }

    /// A value that would be computed once for each byte of a bit-field.
    fn odd_bits_list(&self, grid: Grid, id: InitId) -> Option<Span> {
        let program = self.program;
        let Init::List(ty, elements) = program.inits.find(id)? else { return None };
        let record = program.types.record_of(*ty)?;
        let layout = program.model.record(&program.types, record).ok()?;
        let is_split = is_split(grid, &program.types.records[record]);
        elements.iter().find_map(|it| {
            let place = layout.fields.get(usize::try_from(it.first).ok()?)?;
            let Init::Expr(value) = program.inits.find(it.value)? else { return None };
            let is_of_one = place.bit_offset + place.bit_width? <= 8;
            let is_odd = is_split && !is_of_one && !is_pure(program, *value);
            is_odd.then(|| program.exprs[*value].span)
        })
    }

    /// A function that prints to a stream which a grid has not.
    fn prints_elsewhere(&self, callee: ExprId, args: &[ExprId]) -> Option<&str> {
        let program = self.program;
        let ExprKind::Function(id) = *self.kind(callee) else { return None };
        let name = program.names.text(program.functions[id].name);
        let stream =
            args.first().filter(|_| Printing::of(program, id).is_some_and(|it| it.has_stream))?;
        let is_known = match self.kind(*stream) {
            ExprKind::Var(var) => {
                let var = &program.vars[*var];
                let is_stream = |it| ["stdout", "stderr"].contains(&program.names.text(it));
                var.name.is_some_and(is_stream) && var.storage == VarStorage::Extern
            }
            _ => false,
        };
        (!is_known).then_some(name)
    }

    /// Refuses a variable of a type that there is no word for.
    pub(super) fn check_type(&self, var: VarId) {
        let it = &self.program.vars[var];
        if let Some(what) = lacking(self.grid, self.program, it.ty) {
            self.not_for_grid(it.span, what);
        }
    }

    /// A function of the system or the runtime that such devices have not.
    fn missing_function(&self, id: FunctionId) -> Option<String> {
        let function = &self.program.functions[id];
        let name = self.program.names.text(function.name);
        let is_built_in = self.grid.is_some_and(|it| builtins::is_there(it, function, name));
        if function.is_builtin && !is_built_in {
            return Some(format!("`{name}`"));
        }
        let has_final = || {
            self.program
                .regions
                .iter()
                .any(|it| it.1.construct.kinds().any(|it| matches!(it, ClauseKind::Final(_))))
        };
        if directive::asks_final(name) && function.body.is_none() && has_final() {
            return Some(format!("`{name}`, in a program with `final`,"));
        }
        let is_known = function.body.is_some()
            || Printing::of(self.program, id).is_some()
            || is_built_in
            || known(name)
            || self.grid.is_some_and(|it| by_clock(it, name).is_some())
            || directive::alone_answer(name).is_some();
        let is_missing = !is_known
            && (self.is_of_system(function.span)
                || directive::RUNTIME_SYMBOLS.iter().any(|it| name.starts_with(it)));
        if is_known {
            return None;
        }
        if is_missing {
            return Some(format!("`{name}`"));
        }
        let has_types = self.program.types.callee(function.ty).is_some_and(|it| it.prototyped);
        if self.links() && !self.agrees_on_atomics() {
            return Some(format!(
                "`{name}`, which is in another file, beside atomic accesses under a lock,"
            ));
        }
        match (self.links(), has_types) {
            (true, true) => {
                self.state.borrow_mut().uses.insert(name.to_owned());
                None
            }
            (true, false) => Some(format!("`{name}`, of which only the name is declared here,")),
            // Each file is an image of its own.
            (false, _) => Some(format!("`{name}`, which is in another file,")),
        }
    }

    /// Refuses functions that call themselves: drivers compile calls away.
    pub(super) fn check_recursion(&self, functions: &[FunctionId]) {
        let program = self.program;
        let mut calls: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
        for id in functions {
            let Some(body) = program.functions[*id].body else { continue };
            let mut found = Vec::new();
            let mut open = vec![Part::Stmt(body)];
            while let Some(part) = open.pop() {
                if let Part::Expr(e) = part {
                    match program.exprs[e].kind {
                        ExprKind::Function(callee) => found.push(callee),
                        ExprKind::Call(callee, _) if !calls_by_name(program, callee) => {
                            found.extend(self.reached_through(program.exprs[callee].ty));
                        }
                        _ => {}
                    }
                }
                program.parts(part, &mut |it| open.push(it));
            }
            calls.insert(*id, found);
        }
        for id in functions {
            let mut seen: FxHashSet<FunctionId> = FxHashSet::default();
            let mut open: Vec<FunctionId> = calls.get(id).cloned().unwrap_or_default();
            while let Some(at) = open.pop() {
                if at == *id {
                    let name = program.names.text(program.functions[*id].name);
                    let what = format!("`{name}`, which calls itself,");
                    self.not_for_grid(program.functions[*id].span, &what);
                    break;
                }
                if seen.insert(at) {
                    open.extend(calls.get(&at).into_iter().flatten());
                }
            }
        }
    }
}

/// What says that the length of an array may have changed since.
pub(super) const VARIABLE_ARRAY: &str = "an array whose length is computed";

/// Lengths that kernels get.
pub(super) fn given_lengths(kernels: &[Kernel]) -> FxHashSet<ExprId> {
    let entries = kernels.iter().map(|it| &it.entries);
    let given = entries.flat_map(|it| {
        let of_variables = it.captured.iter().flat_map(|it| &it.lengths);
        it.lengths.iter().chain(of_variables).map(|it| it.0)
    });
    given.collect()
}

/// Lengths of arrays that variables point to: they are computed anew where they are needed, and must be
/// what they were when the variable came to life.
struct Lengths {
    /// Those that kernels get.
    given: FxHashSet<ExprId>,
    named: Vec<(ExprId, VarId)>,
    /// Variables that do not keep their values.
    changed: FxHashSet<VarId>,
}

impl Lengths {
    fn of(kernels: &[Kernel]) -> Lengths {
        let given = given_lengths(kernels);
        Lengths { given, named: Vec::new(), changed: FxHashSet::default() }
    }

    fn changes(&mut self, program: &Program, kind: &ExprKind) {
        if let ExprKind::Assign(to, _)
        | ExprKind::AssignOp(_, to, ..)
        | ExprKind::Step(_, to)
        | ExprKind::AddrOf(to) = kind
            && let ExprKind::Var(var) = program.exprs[*to].kind
        {
            self.changed.insert(var);
        }
    }

    /// Variables with lengths that may have changed since.
    fn unsteady(&self, program: &Program) -> Vec<VarId> {
        let is_steady = |length: ExprId| {
            let mut open = vec![Part::Expr(length)];
            while let Some(part) = open.pop() {
                let Part::Expr(id) = part else { return false };
                match program.exprs[id].kind {
                    ExprKind::Var(var) => {
                        if self.changed.contains(&var) {
                            return false;
                        }
                    }
                    ExprKind::Int(_)
                    | ExprKind::EnumConst(..)
                    | ExprKind::Sizeof(_)
                    | ExprKind::Cast(..)
                    | ExprKind::Unary(..)
                    | ExprKind::Binary(..) => {}
                    _ => return false,
                }
                program.parts(part, &mut |it| open.push(it));
            }
            true
        };
        let named = self.named.iter().filter(|it| !self.given.contains(&it.0));
        named.filter(|it| !is_steady(it.0)).map(|it| it.1).collect()
    }
}

/// What C has and C++ has not.
fn not_in_cpp(program: &Program, kind: &ExprKind) -> Option<&'static str> {
    match kind {
        ExprKind::StmtExpr(body) if is_left(program, *body) => {
            Some("a jump out of a statement in an expression")
        }
        ExprKind::AddrOf(of) | ExprKind::Cast(CastKind::ArrayToPointer, of)
            if is_literal_of_file(program, *of) =>
        {
            Some("the address of a compound literal of the file")
        }
        _ => None,
    }
}

/// Whether an expression is a compound literal outside of functions, or a part of one.
fn is_literal_of_file(program: &Program, e: ExprId) -> bool {
    match program.exprs[e].kind {
        ExprKind::CompoundLiteral(var) => program.vars[var].storage == VarStorage::Static,
        ExprKind::Member(of, ..) => is_literal_of_file(program, of),
        _ => false,
    }
}

/// Whether a jump in a statement leads out of it.
fn is_left(program: &Program, body: StmtId) -> bool {
    let (mut labels, mut targets) = (FxHashSet::default(), Vec::new());
    // Statements, and whether `break` and `continue` in them stay within.
    let mut open = vec![(Part::Stmt(body), false, false)];
    while let Some((part, breaks, continues)) = open.pop() {
        let (mut breaks, mut continues) = (breaks, continues);
        if let Part::Stmt(id) = part {
            match program.stmts[id].kind {
                StmtKind::Return(_) => return true,
                StmtKind::Break if !breaks => return true,
                StmtKind::Continue if !continues => return true,
                StmtKind::Goto(label) => targets.push(label),
                StmtKind::Label(label, _) => {
                    labels.insert(label);
                }
                StmtKind::While(..) | StmtKind::DoWhile(..) | StmtKind::For(_) => {
                    (breaks, continues) = (true, true);
                }
                StmtKind::Switch(..) => breaks = true,
                _ => {}
            }
        }
        program.parts(part, &mut |it| open.push((it, breaks, continues)));
    }
    targets.iter().any(|it| !labels.contains(it))
}

fn calls_by_name(program: &Program, callee: ExprId) -> bool {
    named_callee(program, callee).is_some()
}

/// The word for a type of floating-point numbers that grids lack.
fn rare(kind: FloatKind) -> &'static str {
    match kind {
        FloatKind::Float16 => "`_Float16`",
        FloatKind::BFloat16 => "`__bf16`",
        FloatKind::Float32 => "`_Float32`",
        FloatKind::Float64 => "`_Float64`",
        FloatKind::Float128 => "`_Float128`",
        FloatKind::Float32x => "`_Float32x`",
        FloatKind::Float64x => "`_Float64x`",
        FloatKind::LongDouble => "`long double`",
        FloatKind::Float => "`float`",
        FloatKind::Double => "`double`",
    }
}

/// A type that there is no word for.
fn lacking(grid: Option<Grid>, program: &Program, ty: Ty) -> Option<&'static str> {
    let types = &program.types;
    let innermost = types.innermost_element(ty);
    let is_atomic = matches!(types.kind(types.resolve(innermost).id), TypeKind::Atomic(_));
    if is_atomic && grid.is_some_and(|it| it != Grid::Hip) {
        return Some("a variable that is `_Atomic`");
    }
    match types.shape(innermost) {
        TypeKind::Float(FloatKind::Float | FloatKind::Double) => None,
        TypeKind::Float(kind) => Some(rare(*kind)),
        TypeKind::Int(IntKind::Int128 | IntKind::UInt128) if grid.is_some_and(Grid::is_opencl) => {
            Some("an integer of 128 bits")
        }
        TypeKind::Complex(FloatKind::Float | FloatKind::Double) => None,
        TypeKind::Complex(_) => Some("a complex number of `long double`"),
        TypeKind::ComplexInt(_) => Some("a complex integer"),
        TypeKind::Vector(..) => Some("a vector"),
        _ => None,
    }
}
