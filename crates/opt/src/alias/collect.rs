//! Where addresses go: every expression of the program is looked at once.
//!
//! A pointer's value can be remembered only by an assignment, an initialiser, a call, a `return`, assembly or
//! a conversion to a number; uses that end in an access are not among them.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{
    BinaryOp, CastKind, ExprId, ExprKind, FunctionId, Init, InitId, Program, StmtId, StmtKind,
    VarId, VarStorage,
};

use super::{Aliases, Origin, Reach, is_restrict};

/// What an expression's address may be, before variables are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Flow {
    Object(VarId),
    Fresh(ExprId),
    Copy(VarId),
    Any,
}

struct Collect<'a> {
    program: &'a Program,
    /// What is given to variables and parameters.
    given: BTreeMap<VarId, BTreeSet<Flow>>,
    /// The same without what calls pass.
    assigned: BTreeMap<VarId, BTreeSet<Flow>>,
    /// What goes where it is not followed.
    gone: BTreeSet<Flow>,
    /// Functions that are called here by name and in no other way.
    closed: BTreeSet<FunctionId>,
}

/// Calls that return memory no other pointer leads to.
const ALLOCATIONS: &[&str] = &[
    "aligned_alloc",
    "calloc",
    "malloc",
    "memalign",
    "realloc",
    "valloc",
    "__builtin_calloc",
    "__builtin_malloc",
    "__builtin_realloc",
];

pub(super) fn run(program: &Program) -> Aliases {
    let mut cx = Collect {
        program,
        given: BTreeMap::new(),
        assigned: BTreeMap::new(),
        gone: BTreeSet::new(),
        closed: closed_functions(program),
    };
    for (id, _) in program.exprs.iter() {
        cx.expr(id);
    }
    for (_, stmt) in program.stmts.iter() {
        if let StmtKind::Return(Some(value)) = stmt.kind {
            cx.goes(value);
        } else if let StmtKind::Asm(asm) = &stmt.kind {
            for &(_, operand) in asm.outputs.iter().chain(&asm.inputs) {
                cx.goes(operand);
                if let ExprKind::Var(var) = program.exprs[operand].kind {
                    cx.given.entry(var).or_default().insert(Flow::Any);
                    cx.assigned.entry(var).or_default().insert(Flow::Any);
                }
                let object = root(program, operand);
                cx.gone.extend(object);
            }
        }
    }
    for (id, var) in program.vars.iter() {
        if let Some(init) = var.init {
            cx.init(id, init);
        }
        if var.host.attributes.iter().any(|it| program.names.text(*it).starts_with("cleanup")) {
            cx.gone.insert(Flow::Object(id));
        }
    }
    for (_, init) in program.inits.iter() {
        if let Init::List(_, elements) = init {
            for element in elements {
                if let Init::Expr(value) = program.inits[element.value] {
                    cx.goes(value);
                }
            }
        }
    }
    cx.resolve()
}

/// Functions that only this file calls, and only by name.
fn closed_functions(program: &Program) -> BTreeSet<FunctionId> {
    let mut named: BTreeMap<FunctionId, i64> = BTreeMap::new();
    for (_, expr) in program.exprs.iter() {
        if let ExprKind::Function(id) = expr.kind {
            *named.entry(id).or_default() += 1;
        } else if let ExprKind::Call(callee, _) = expr.kind
            && let Some(id) = called(program, callee)
        {
            *named.entry(id).or_default() -= 1;
        }
    }
    let is_closed = |id: FunctionId| {
        let function = &program.functions[id];
        // Attributes may name it to others: `alias`, `constructor`, `used`.
        function.is_static
            && function.body.is_some()
            && function.host.attributes.is_empty()
            && function.host.asm_label.is_none()
            && named.get(&id).is_none_or(|&it| it == 0)
    };
    program.functions.iter().map(|it| it.0).filter(|&it| is_closed(it)).collect()
}

/// The function that a call names.
pub(crate) fn called(program: &Program, callee: ExprId) -> Option<FunctionId> {
    let mut at = callee;
    while let ExprKind::Cast(CastKind::FunctionToPointer, inner) = program.exprs[at].kind {
        at = inner;
    }
    if let ExprKind::Function(id) = program.exprs[at].kind { Some(id) } else { None }
}

impl Collect<'_> {
    fn expr(&mut self, id: ExprId) {
        let program = self.program;
        let expr = &program.exprs[id];
        if let ExprKind::Assign(to, value) = expr.kind {
            match self.variable(to) {
                Some(var) if self.is_pointer(value) => self.assigns(var, value),
                _ => self.goes(value),
            }
        } else if let ExprKind::Call(callee, args) = &expr.kind {
            let closed = called(program, *callee).filter(|it| self.closed.contains(it));
            let params = closed.map_or(&[][..], |it| program.functions[it].params.as_slice());
            for (at, &arg) in args.iter().enumerate() {
                match params.get(at) {
                    Some(&param) if self.is_pointer(arg) => self.gives(param, arg),
                    _ => self.goes(arg),
                }
            }
            for &param in params.get(args.len()..).unwrap_or_default() {
                self.given.entry(param).or_default().insert(Flow::Any);
            }
        } else if let ExprKind::Cast(CastKind::Explicit | CastKind::Implicit, inner) = expr.kind {
            if self.is_pointer(inner)
                && !program.types.is_pointer(expr.ty)
                && !program.types.is_void(expr.ty)
            {
                self.goes(inner);
            }
        } else if let ExprKind::StmtExpr(body) = expr.kind {
            self.last_value(body);
        }
    }

    /// The value of `({ … })` is that of its last statement.
    fn last_value(&mut self, body: StmtId) {
        if let StmtKind::Block(stmts) = &self.program.stmts[body].kind
            && let Some(&last) = stmts.last()
            && let StmtKind::Expr(value) = self.program.stmts[last].kind
        {
            self.goes(value);
        }
    }

    fn init(&mut self, var: VarId, init: InitId) {
        if let Init::Expr(value) = self.program.inits[init] {
            if self.program.types.is_pointer(self.program.vars[var].ty) {
                self.assigns(var, value);
            } else {
                self.goes(value);
            }
        }
    }

    fn variable(&self, expr: ExprId) -> Option<VarId> {
        if let ExprKind::Var(var) = self.program.exprs[expr].kind { Some(var) } else { None }
    }

    fn is_pointer(&self, expr: ExprId) -> bool {
        is_pointer(self.program, expr)
    }

    fn gives(&mut self, var: VarId, value: ExprId) {
        flows_of(self.program, value, self.given.entry(var).or_default());
    }

    fn assigns(&mut self, var: VarId, value: ExprId) {
        self.gives(var, value);
        flows_of(self.program, value, self.assigned.entry(var).or_default());
    }

    fn goes(&mut self, value: ExprId) {
        if self.is_pointer(value) {
            flows_of(self.program, value, &mut self.gone);
        }
    }

    fn resolve(self) -> Aliases {
        let program = self.program;
        let objects = |flows: &BTreeSet<Flow>| -> Vec<VarId> {
            let object = |it: &Flow| match it {
                Flow::Object(var) => Some(*var),
                Flow::Fresh(_) | Flow::Copy(_) | Flow::Any => None,
            };
            flows.iter().filter_map(object).collect()
        };
        let mut addressed: BTreeSet<VarId> = objects(&self.gone).into_iter().collect();
        self.given.values().for_each(|it| addressed.extend(objects(it)));

        let mut origins = BTreeMap::new();
        for (id, var) in program.vars.iter() {
            if !program.types.is_pointer(var.ty) {
                continue;
            }
            origins.insert(id, self.origins(id, &addressed));
        }
        // What is gone through a variable is gone as well, and so is all that it may hold.
        let mut handed_on = BTreeSet::new();
        let mut escaped: BTreeSet<VarId> = objects(&self.gone).into_iter().collect();
        let mut stack: Vec<VarId> = Vec::new();
        let copies = |flows: &BTreeSet<Flow>| -> Vec<VarId> {
            let copy = |it: &Flow| match it {
                Flow::Copy(var) => Some(*var),
                Flow::Object(_) | Flow::Fresh(_) | Flow::Any => None,
            };
            flows.iter().filter_map(copy).collect()
        };
        stack.extend(copies(&self.gone));
        // What others can read is as good as gone.
        stack.extend(self.given.keys().filter(|&&it| !is_followed(program, it)));
        stack.extend(addressed.iter().filter(|&&it| program.types.is_pointer(program.vars[it].ty)));
        while let Some(var) = stack.pop() {
            if handed_on.insert(var)
                && let Some(flows) = self.given.get(&var)
            {
                escaped.extend(objects(flows));
                stack.extend(copies(flows));
            }
        }
        Aliases { addressed, escaped, origins, handed_on, assigned: self.assigned }
    }

    /// Everything a variable may hold, through copies.
    fn origins(&self, var: VarId, addressed: &BTreeSet<VarId>) -> BTreeSet<Origin> {
        let program = self.program;
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut outlives = false;
        let mut stack = vec![var];
        while let Some(at) = stack.pop() {
            if !seen.insert(at) {
                continue;
            }
            if is_restrict(program, at) {
                found.insert(Origin::Restrict(at));
                continue;
            }
            if !is_followed(program, at) || addressed.contains(&at) {
                found.insert(Origin::Any);
            }
            let storage = program.vars[at].storage;
            if let VarStorage::Param(function) = storage
                && !self.closed.contains(&function)
            {
                found.insert(Origin::Passed(at));
            }
            outlives |= matches!(storage, VarStorage::Static | VarStorage::LocalStatic(_));
            for flow in self.given.get(&at).into_iter().flatten() {
                match *flow {
                    Flow::Object(object) => _ = found.insert(Origin::Object(object)),
                    Flow::Fresh(call) => _ = found.insert(Origin::Fresh(call)),
                    Flow::Copy(from) => stack.push(from),
                    Flow::Any => _ = found.insert(Origin::Any),
                }
            }
        }
        // What an earlier call has left in a variable that outlives it may be younger than the
        // variables of this one.
        if outlives && found.iter().any(|it| matches!(it, Origin::Passed(_))) {
            found.insert(Origin::Any);
        }
        found
    }
}

fn is_pointer(program: &Program, expr: ExprId) -> bool {
    program.types.is_pointer(program.exprs[expr].ty)
}

/// The object or pointer that a place is reached from.
fn root(program: &Program, place: ExprId) -> Option<Flow> {
    let mut at = place;
    loop {
        let expr = &program.exprs[at];
        if let ExprKind::Var(var) | ExprKind::CompoundLiteral(var) = expr.kind {
            return Some(Flow::Object(var));
        } else if let ExprKind::Member(inner, ..) | ExprKind::Unary(_, inner) = expr.kind {
            at = inner;
        } else if let ExprKind::Index(base, _) = expr.kind
            && !is_pointer(program, base)
        {
            at = base;
        } else {
            return None;
        }
    }
}

/// What the value of a pointer expression may be made of.
fn flows_of(program: &Program, value: ExprId, out: &mut BTreeSet<Flow>) {
    let mut stack = vec![value];
    while let Some(id) = stack.pop() {
        let expr = &program.exprs[id];
        if let ExprKind::Var(var) = expr.kind {
            let is_pointer = program.types.is_pointer(expr.ty);
            out.insert(if is_pointer { Flow::Copy(var) } else { Flow::Any });
        } else if let ExprKind::AddrOf(place) | ExprKind::Cast(CastKind::ArrayToPointer, place) =
            expr.kind
        {
            address(program, place, &mut stack, out);
        } else if let ExprKind::Cast(_, inner) = expr.kind {
            if is_pointer(program, inner) || program.types.is_array(program.exprs[inner].ty) {
                stack.push(inner);
            } else if crate::normal::constant(program, inner) != Some(0) {
                out.insert(Flow::Any);
            }
        } else if let ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) = expr.kind {
            stack.extend([a, b].into_iter().filter(|&it| is_pointer(program, it)));
        } else if let ExprKind::Assign(_, inner) | ExprKind::Comma(_, inner) = expr.kind {
            stack.push(inner);
        } else if let ExprKind::AssignOp(_, inner, ..) | ExprKind::Step(_, inner) = expr.kind {
            stack.push(inner);
        } else if let ExprKind::Conditional(cond, then, other) = expr.kind {
            stack.extend([then.unwrap_or(cond), other]);
        } else if let ExprKind::Call(callee, _) = expr.kind {
            let name = called(program, callee).map(|it| &program.functions[it]);
            let is_fresh = name.is_some_and(|it| {
                it.body.is_none() && ALLOCATIONS.contains(&program.names.text(it.name))
            });
            out.insert(if is_fresh { Flow::Fresh(id) } else { Flow::Any });
        } else if !matches!(expr.kind, ExprKind::Str(_) | ExprKind::Function(_))
            && crate::normal::constant(program, id) != Some(0)
        {
            out.insert(Flow::Any);
        }
    }
}

/// What the address of a place may be made of.
fn address(program: &Program, place: ExprId, stack: &mut Vec<ExprId>, out: &mut BTreeSet<Flow>) {
    if let Some(object) = root(program, place) {
        out.insert(object);
        return;
    }
    let mut at = place;
    loop {
        let expr = &program.exprs[at];
        if let ExprKind::Member(inner, ..) | ExprKind::Unary(_, inner) = expr.kind {
            at = inner;
        } else if let ExprKind::Index(base, _) = expr.kind {
            if is_pointer(program, base) {
                stack.push(base);
                return;
            }
            at = base;
        } else if let ExprKind::Deref(pointer) = expr.kind {
            stack.push(pointer);
            return;
        } else {
            // Constants have no place that is written; of the rest nothing is known.
            if !matches!(expr.kind, ExprKind::Str(_) | ExprKind::Function(_)) {
                out.insert(Flow::Any);
            }
            return;
        }
    }
}

impl Aliases {
    /// What a pointer expression may lead to, as far as the function it stands in can tell.
    pub(crate) fn reach(&self, program: &Program, pointer: ExprId) -> BTreeSet<Reach> {
        let (mut found, mut flows) = (BTreeSet::new(), BTreeSet::new());
        flows_of(program, pointer, &mut flows);
        let mut seen = BTreeSet::new();
        while let Some(flow) = flows.pop_first() {
            if !seen.insert(flow) {
                continue;
            }
            match flow {
                Flow::Object(var) => _ = found.insert(Reach::Object(var)),
                Flow::Fresh(_) | Flow::Any => _ = found.insert(Reach::Any),
                Flow::Copy(var) => {
                    if !is_followed(program, var) || self.addressed.contains(&var) {
                        found.insert(Reach::Any);
                    }
                    if let VarStorage::Param(_) = program.vars[var].storage {
                        found.insert(Reach::Param(var));
                    }
                    flows.extend(self.assigned.get(&var).into_iter().flatten());
                }
            }
        }
        found
    }
}

/// Whether all assignments to a variable are seen here.
fn is_followed(program: &Program, var: VarId) -> bool {
    match program.vars[var].storage {
        VarStorage::Global | VarStorage::Extern => false,
        VarStorage::Static
        | VarStorage::LocalStatic(_)
        | VarStorage::Param(_)
        | VarStorage::Local(_) => true,
    }
}
