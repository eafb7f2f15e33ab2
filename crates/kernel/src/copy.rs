//! Copies code with other variables in it.
//!
//! In: expressions and statements of a program, and which variables stand for which. Out: the same code in
//! terms of the others; what names none of them is not copied. Variables that are declared in copied code get
//! copies where their initialiser changes. Constructs in the code are copied with their clauses.

use ir::construct::Convert;
use ir::program::{
    Asm, CastKind, Expr, ExprId, ExprKind, For, FunctionId, Init, InitElement, InitId, LabelId,
    Program, RegionId, Stmt, StmtId, StmtKind, Typed, VarId,
};
use ir::region::{Loop, Mapping};
use ir::types::{ArrayLen, Ty, TypeKind};
use rustc_hash::FxHashMap;
use source::Name;

/// What a call becomes, if something else.
pub type Calls<'a> = dyn Fn(&mut Program, FunctionId, &[ExprId]) -> Option<ExprId> + 'a;

/// Which variables stand for which, and what calls become.
pub struct Copier<'p> {
    /// The program that is read and added to.
    pub program: &'p mut Program,
    /// A variable and the one that stands for it.
    pub vars: FxHashMap<VarId, VarId>,
    /// A label and the one that stands for it.
    pub labels: FxHashMap<LabelId, LabelId>,
    /// A variable and the expression that stands for it.
    pub exprs: FxHashMap<VarId, ExprId>,
    /// An expression and the one that stands for it.
    pub places: FxHashMap<ExprId, ExprId>,
    /// A construct and the statement that stands for it.
    pub regions: FxHashMap<RegionId, StmtId>,
    /// A statement and the one that stands for it.
    pub stmts: FxHashMap<StmtId, StmtId>,
    /// What a call of a function without a body is replaced by: given the function and its copied arguments.
    pub calls: &'p Calls<'p>,
}

impl std::fmt::Debug for Copier<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Copier").field("vars", &self.vars).finish_non_exhaustive()
    }
}

/// No call is replaced.
pub fn no_calls(_: &mut Program, _: FunctionId, _: &[ExprId]) -> Option<ExprId> {
    None
}

impl<'p> Copier<'p> {
    /// Copies with nothing replaced.
    pub fn new(program: &'p mut Program) -> Copier<'p> {
        Copier {
            program,
            vars: FxHashMap::default(),
            labels: FxHashMap::default(),
            exprs: FxHashMap::default(),
            places: FxHashMap::default(),
            regions: FxHashMap::default(),
            stmts: FxHashMap::default(),
            calls: &no_calls,
        }
    }
}

impl Copier<'_> {
    /// An expression.
    pub fn expr(&mut self, id: ExprId) -> ExprId {
        if let Some(other) = self.places.get(&id) {
            return *other;
        }
        let Some(expr) = self.program.exprs.find(id).cloned() else { return id };
        let mut kind = expr.kind.clone();
        match &mut kind {
            ExprKind::Var(var) => {
                if let Some(other) = self.exprs.get(var) {
                    return *other;
                }
                if let Some(other) = self.vars.get(var).copied() {
                    *var = other;
                    if let Some(first) = self.first_of(other, &expr) {
                        return first;
                    }
                }
            }
            ExprKind::CompoundLiteral(var) => *var = self.local(*var),
            ExprKind::StmtExpr(body) => *body = self.stmt(*body),
            _ => kind.operands_mut(&mut |it| *it = self.expr(*it)),
        }
        if let ExprKind::Call(callee, args) = &kind
            && let Some(function) = callee_of(self.program, *callee)
            && let Some(answer) = (self.calls)(self.program, function, args)
        {
            return answer;
        }
        // A pointer stands for an array.
        if let ExprKind::Cast(CastKind::ArrayToPointer, inner) = kind
            && self.program.types.is_pointer(self.program.exprs[inner].ty)
        {
            return inner;
        }
        if let ExprKind::Sizeof(of) | ExprKind::Alignof(of) = &mut kind {
            *of = self.type_of(*of);
        }
        // A variable of another type stands there in its own.
        let ty = match &kind {
            ExprKind::Var(var) => {
                let quals = expr.ty.quals;
                let own = self.program.vars[*var].ty;
                if own.plain() == expr.ty.plain() { expr.ty } else { own.qualified(quals) }
            }
            _ => self.type_of(expr.ty),
        };
        if kind == expr.kind && ty == expr.ty {
            return id;
        }
        self.program.exprs.push(Expr { kind, ty, span: expr.span })
    }

    /// An array that stands for a pointer is the address of its first element.
    fn first_of(&mut self, array: VarId, pointer: &Expr) -> Option<ExprId> {
        let ty = self.program.vars[array].ty;
        let is_it = self.program.types.is_array(ty) && self.program.types.is_pointer(pointer.ty);
        is_it.then(|| {
            let span = pointer.span;
            let whole = self.program.exprs.push(Expr { kind: ExprKind::Var(array), ty, span });
            let kind = ExprKind::Cast(CastKind::ArrayToPointer, whole);
            self.program.exprs.push(Expr { kind, ty: pointer.ty, span })
        })
    }

    /// A type, with the lengths in it in terms of the others.
    fn type_of(&mut self, ty: Ty) -> Ty {
        if !self.program.types.is_variably_modified(ty) {
            return ty;
        }
        let shape = self.program.types.shape(ty).clone();
        let kind = match &shape {
            TypeKind::Pointer(to) => TypeKind::Pointer(self.type_of(*to)),
            TypeKind::Array(of, ArrayLen::Variable(Some(len))) => {
                let len = ArrayLen::Variable(Some(self.expr(*len)));
                TypeKind::Array(self.type_of(*of), len)
            }
            TypeKind::Array(of, len) => TypeKind::Array(self.type_of(*of), *len),
            _ => return ty,
        };
        if kind == shape { ty } else { self.program.types.get(kind).qualified(ty.quals) }
    }

    /// An initialiser.
    pub fn init(&mut self, id: InitId) -> InitId {
        let Some(init) = self.program.inits.find(id).cloned() else { return id };
        let copied = match &init {
            Init::Expr(e) => Init::Expr(self.expr(*e)),
            Init::List(ty, elements) => {
                let copy =
                    |it: &InitElement| InitElement { value: self.init(it.value), ..it.clone() };
                Init::List(*ty, elements.iter().map(copy).collect())
            }
        };
        if copied == init { id } else { self.program.inits.push(copied) }
    }

    /// A variable that is declared in the code.
    pub fn local(&mut self, var: VarId) -> VarId {
        let (init, ty) = (self.program.vars[var].init, self.program.vars[var].ty);
        let (copied, copied_ty) = (init.map(|it| self.init(it)), self.type_of(ty));
        if copied == init && copied_ty == ty {
            return var;
        }
        let mut other = self.program.vars[var].clone();
        (other.init, other.ty) = (copied, copied_ty);
        if let Some(name) = other.name {
            let like = self.program.names.text(name);
            let text = format!("__ferry_k{}_{like}", self.program.vars.len());
            other.name = Some(self.program.names.intern(&text));
        }
        let other = self.program.vars.push(other);
        self.vars.insert(var, other);
        other
    }

    /// A statement.
    pub fn stmt(&mut self, id: StmtId) -> StmtId {
        if let Some(other) = self.stmts.get(&id) {
            return *other;
        }
        let Some(stmt) = self.program.stmts.find(id).cloned() else { return id };
        let kind = match &stmt.kind {
            StmtKind::Error
            | StmtKind::Empty
            | StmtKind::Continue
            | StmtKind::Break
            | StmtKind::Return(None)
            | StmtKind::Declaration(_) => return id,
            StmtKind::Block(list) => {
                StmtKind::Block(list.iter().map(|it| self.stmt(*it)).collect())
            }
            StmtKind::Local(var) => StmtKind::Local(self.local(*var)),
            StmtKind::Expr(e) => StmtKind::Expr(self.expr(*e)),
            StmtKind::GotoExpr(e) => StmtKind::GotoExpr(self.expr(*e)),
            StmtKind::Return(Some(e)) => StmtKind::Return(Some(self.expr(*e))),
            StmtKind::If(c, then, other) => {
                let c = self.expr(*c);
                StmtKind::If(c, self.stmt(*then), other.map(|it| self.stmt(it)))
            }
            StmtKind::While(c, body) => {
                let c = self.expr(*c);
                StmtKind::While(c, self.stmt(*body))
            }
            StmtKind::DoWhile(body, c) => {
                let body = self.stmt(*body);
                StmtKind::DoWhile(body, self.expr(*c))
            }
            StmtKind::For(it) => {
                let init = it.init.iter().map(|it| self.stmt(*it)).collect();
                let cond = it.cond.map(|it| self.expr(it));
                let step = it.step.map(|it| self.expr(it));
                let body = self.stmt(it.body);
                let (unroll, lanes) = (it.unroll, it.lanes);
                StmtKind::For(Box::new(For { init, cond, step, body, unroll, lanes }))
            }
            StmtKind::Switch(e, body) => {
                let e = self.expr(*e);
                StmtKind::Switch(e, self.stmt(*body))
            }
            StmtKind::Case(low, high, body) => StmtKind::Case(*low, *high, self.stmt(*body)),
            StmtKind::Default(body) => StmtKind::Default(self.stmt(*body)),
            StmtKind::Label(label, body) => {
                let label = self.labels.get(label).copied().unwrap_or(*label);
                StmtKind::Label(label, self.stmt(*body))
            }
            StmtKind::Goto(label) => {
                StmtKind::Goto(self.labels.get(label).copied().unwrap_or(*label))
            }
            StmtKind::Asm(asm) => {
                let mut copy: Asm = asm.as_ref().clone();
                let operands = copy.outputs.iter_mut().chain(&mut copy.inputs);
                operands.for_each(|it| it.1 = self.expr(it.1));
                StmtKind::Asm(Box::new(copy))
            }
            StmtKind::Region(region) if self.regions.contains_key(region) => {
                return self.regions.get(region).copied().unwrap_or(id);
            }
            StmtKind::Region(region) => StmtKind::Region(self.region(*region)),
        };
        if kind == stmt.kind { id } else { self.program.stmts.push(Stmt { kind, span: stmt.span }) }
    }

    /// A construct with its body.
    pub fn region(&mut self, id: RegionId) -> RegionId {
        let Some(region) = self.program.regions.find(id).cloned() else { return id };
        let mut copy = region.clone();
        copy.construct = region.construct.convert(self);
        copy.body = region.body.map(|it| self.stmt(it));
        for var in &mut copy.vars {
            var.var = self.vars.get(&var.var).copied().unwrap_or(var.var);
            for mapping in &mut var.mappings {
                if let Mapping::Map(_, _, Some(part)) = &mut mapping.value {
                    *part = self.expr(*part);
                }
            }
        }
        copy.loops =
            region.loops.iter().map(|it| self.nest_loop(it, region.body, copy.body)).collect();
        if copy == region { id } else { self.program.regions.push(copy) }
    }

    /// One of a construct's loops: its parts are in the copied body.
    fn nest_loop(&mut self, it: &Loop, from: Option<StmtId>, to: Option<StmtId>) -> Loop {
        let stmt = from.zip(to).and_then(|(from, to)| counterpart(self.program, it.stmt, from, to));
        let stmt = stmt.unwrap_or(it.stmt);
        let body = match &self.program.stmts[stmt].kind {
            StmtKind::For(it) => it.body,
            _ => it.body,
        };
        Loop {
            stmt,
            body,
            var: self.vars.get(&it.var).copied().unwrap_or(it.var),
            begin: self.expr(it.begin),
            bound: self.expr(it.bound),
            step: it.step.map(|it| self.expr(it)),
            ..it.clone()
        }
    }
}

impl Convert<Typed, Typed> for Copier<'_> {
    fn expr(&mut self, expr: &ExprId) -> ExprId {
        Copier::expr(self, *expr)
    }

    fn ty(&mut self, ty: &Ty) -> Ty {
        *ty
    }

    fn init(&mut self, init: &InitId) -> InitId {
        Copier::init(self, *init)
    }

    fn name(&mut self, name: &Name) -> Name {
        *name
    }
}

/// The function that is called by name.
pub fn callee_of(program: &Program, callee: ExprId) -> Option<FunctionId> {
    match program.exprs.find(callee)?.kind {
        ExprKind::Function(id) => Some(id),
        ExprKind::Cast(_, inner) => callee_of(program, inner),
        _ => None,
    }
}

/// The statement that became of `wanted`, which is in `from`, when that became `to`.
fn counterpart(program: &Program, wanted: StmtId, from: StmtId, to: StmtId) -> Option<StmtId> {
    let mut open = vec![(from, to)];
    while let Some((from, to)) = open.pop() {
        if from == wanted {
            return Some(to);
        }
        let inner = |id: StmtId| {
            let mut found = Vec::new();
            program.stmts.find(id)?.kind.parts(&mut |it| match it {
                ir::walk::Part::Stmt(id) => found.push(id),
                ir::walk::Part::Region(id) => found.extend(program.regions[id].body),
                ir::walk::Part::Expr(_) | ir::walk::Part::Local(_) | ir::walk::Part::Init(_) => {}
            });
            Some(found)
        };
        open.extend(inner(from)?.into_iter().zip(inner(to)?));
    }
    None
}
