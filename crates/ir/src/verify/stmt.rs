//! Handles, and statements in their functions.

use rustc_hash::FxHashSet;
use source::Span;

use super::{Law, Looked, Verifier};
use crate::construct::Leaf;
use crate::program::{
    ExprKind, Function, FunctionId, Item, LabelId, RegionId, StmtId, StmtKind, VarStorage,
};
use crate::walk::Part;

/// A statement to look at, with what is around it.
#[derive(Clone, Copy)]
struct Place {
    part: Part,
    in_loop: bool,
    in_switch: bool,
    region: Option<RegionId>,
}

impl Verifier<'_> {
    /// All handles in the arenas name something.
    pub(super) fn handles(&mut self, looked: Looked) {
        let program = self.program;
        for (_, expr) in program.exprs.iter().skip(looked.exprs) {
            expr.kind.parts(&program.types, &mut |part| self.part(part, expr.span));
            let holds = if let ExprKind::Var(id) = expr.kind {
                program.vars.find(id).is_some()
            } else if let ExprKind::Function(id) = expr.kind {
                program.functions.find(id).is_some()
            } else if let ExprKind::LabelAddr(id) = expr.kind {
                program.labels.find(id).is_some()
            } else if let ExprKind::Member(_, id, _) = expr.kind {
                program.types.records.find(id).is_some()
            } else if let ExprKind::EnumConst(id, at) = expr.kind {
                let constants = program.types.enums.find(id).and_then(|it| it.constants.as_ref());
                constants.is_some_and(|it| (at as usize) < it.len())
            } else {
                true
            };
            self.check(holds, Law::Handle, expr.span, "an expression names nothing");
        }
        for (_, stmt) in program.stmts.iter().skip(looked.stmts) {
            stmt.kind.parts(&mut |part| self.part(part, stmt.span));
            let holds = if let StmtKind::Label(id, _) | StmtKind::Goto(id) = stmt.kind {
                program.labels.find(id).is_some()
            } else if let StmtKind::Declaration(at) = stmt.kind {
                (at as usize) < program.declarations.len()
            } else {
                true
            };
            self.check(holds, Law::Handle, stmt.span, "a statement names nothing");
        }
        for (_, init) in program.inits.iter().skip(looked.inits) {
            init.parts(&mut |part| self.part(part, Span::NONE));
        }
        for (id, var) in program.vars.iter() {
            program.parts(Part::Local(id), &mut |part| self.part(part, var.span));
        }
        for (_, function) in program.functions.iter() {
            let vars = function.params.iter().all(|it| program.vars.find(*it).is_some());
            let calls = function.calls.iter().all(|it| program.functions.find(*it).is_some());
            let body = function.body.is_none_or(|it| program.stmts.find(it).is_some());
            self.check(vars && calls && body, Law::Handle, function.span, "a function's part");
        }
        for item in &program.items {
            let holds = match item {
                Item::Var(id) => program.vars.find(*id).is_some(),
                Item::Function(id) => program.functions.find(*id).is_some(),
                Item::Declaration(at) => (*at as usize) < program.declarations.len(),
            };
            self.check(holds, Law::Handle, Span::NONE, "an item names nothing");
        }
        self.region_handles();
    }

    fn part(&mut self, part: Part, span: Span) {
        let program = self.program;
        let holds = match part {
            Part::Expr(id) => program.exprs.find(id).is_some(),
            Part::Stmt(id) => program.stmts.find(id).is_some(),
            Part::Local(id) => program.vars.find(id).is_some(),
            Part::Init(id) => program.inits.find(id).is_some(),
            Part::Region(id) => program.regions.find(id).is_some(),
        };
        if !holds {
            self.report(Law::Handle, span, format!("{part:?} does not exist"));
        }
    }

    /// Statements, function by function.
    pub(super) fn statements(&mut self) {
        let mut seen = FxHashSet::default();
        for (id, function) in self.program.functions.iter() {
            if let Some(body) = function.body {
                self.body(id, function, body, &mut seen);
            }
        }
    }

    fn body(
        &mut self,
        id: FunctionId,
        function: &Function,
        body: StmtId,
        seen: &mut FxHashSet<Part>,
    ) {
        let program = self.program;
        let mut defined = FxHashSet::default();
        let mut wanted: Vec<(LabelId, Span)> = Vec::new();
        let start =
            Place { part: Part::Stmt(body), in_loop: false, in_switch: false, region: None };
        let mut pending = vec![start];
        while let Some(place) = pending.pop() {
            let mut inner = place;
            if !seen.insert(place.part) {
                self.twice(place.part);
                continue;
            }
            match place.part {
                Part::Stmt(stmt) => {
                    let span = program.stmts[stmt].span;
                    let kind = &program.stmts[stmt].kind;
                    self.stmt(kind, span, function, &place);
                    inner.in_loop |= matches!(
                        kind,
                        StmtKind::While(..) | StmtKind::DoWhile(..) | StmtKind::For(_)
                    );
                    inner.in_switch |= matches!(kind, StmtKind::Switch(..));
                    if let StmtKind::Label(label, _) = kind {
                        let fresh = defined.insert(*label);
                        self.check(fresh, Law::Jump, span, "a label is defined twice");
                    } else if let StmtKind::Goto(label) = kind {
                        wanted.push((*label, span));
                    } else if let StmtKind::Asm(asm) = kind {
                        wanted.extend(asm.labels.iter().map(|it| (*it, span)));
                    }
                }
                Part::Expr(expr) => {
                    if let ExprKind::LabelAddr(label) = program.exprs[expr].kind {
                        wanted.push((label, program.exprs[expr].span));
                    }
                }
                Part::Local(var) => {
                    let var = &program.vars[var];
                    let owner = match var.storage {
                        VarStorage::Local(it) | VarStorage::LocalStatic(it) => Some(it),
                        VarStorage::Param(_)
                        | VarStorage::Global
                        | VarStorage::Extern
                        | VarStorage::Static => None,
                    };
                    let fits = owner == Some(id);
                    self.check(fits, Law::Tree, var.span, "a variable of another function");
                }
                Part::Region(region) => {
                    let it = &program.regions[region];
                    let fits = it.parent == place.region && it.function == id;
                    self.check(
                        fits,
                        Law::Region,
                        it.span,
                        "another region or function is around it",
                    );
                    // One that chooses stands for the regions that it chooses from.
                    let chooses = [Leaf::Metadirective, Leaf::BeginMetadirective]
                        .map(|leaf| it.construct.has(leaf));
                    if !chooses.contains(&true) {
                        inner.region = Some(region);
                    }
                }
                Part::Init(_) => {}
            }
            program.parts(place.part, &mut |part| pending.push(Place { part, ..inner }));
        }
        for (label, span) in wanted {
            let holds = defined.contains(&label);
            self.check(holds, Law::Jump, span, "the label is not in this function");
        }
    }

    /// Lengths of types, and with them expressions, may be shared; what runs may not.
    fn twice(&mut self, part: Part) {
        match part {
            Part::Stmt(id) => {
                let span = self.program.stmts[id].span;
                self.report(Law::Tree, span, "a statement stands in two places");
            }
            Part::Region(id) => {
                let span = self.program.regions[id].span;
                self.report(Law::Tree, span, "a region stands in two places");
            }
            Part::Local(id) => {
                let span = self.program.vars[id].span;
                self.report(Law::Tree, span, "a variable begins in two places");
            }
            Part::Expr(_) | Part::Init(_) => {}
        }
    }

    fn stmt(&mut self, kind: &StmtKind, span: Span, function: &Function, place: &Place) {
        let program = self.program;
        let types = &program.types;
        match kind {
            StmtKind::If(c, ..) | StmtKind::While(c, _) | StmtKind::DoWhile(_, c) => {
                self.condition(*c);
            }
            StmtKind::For(it) => it.cond.iter().for_each(|it| self.condition(*it)),
            StmtKind::Switch(e, _) => {
                let ty = self.ty(*e);
                let fits = types.is_integer(ty) || types.is_error(ty);
                self.check(fits, Law::Condition, span, "what is switched on is no integer");
            }
            StmtKind::Case(low, high, _) => {
                self.check(place.in_switch, Law::Jump, span, "a case outside of a switch");
                self.check(low <= high, Law::Jump, span, "the range of a case is empty");
            }
            StmtKind::Default(_) => {
                self.check(place.in_switch, Law::Jump, span, "a default outside of a switch");
            }
            StmtKind::Continue => {
                self.check(place.in_loop, Law::Jump, span, "`continue` outside of a loop");
            }
            StmtKind::Break => {
                let fits = place.in_loop || place.in_switch;
                self.check(fits, Law::Jump, span, "`break` outside of a loop or switch");
            }
            StmtKind::GotoExpr(e) => {
                let ty = self.ty(*e);
                let fits = types.is_pointer(ty) || types.is_error(ty);
                self.check(fits, Law::Jump, span, "the target is no address");
            }
            StmtKind::Return(value) => {
                let Some(known) = types.callee(function.ty) else { return };
                match value {
                    // C lets old programs return without a value.
                    None => {}
                    Some(e) if types.is_void(known.ret) => {
                        let fits = types.is_void(self.ty(*e));
                        self.check(fits, Law::Return, span, "a value from a `void` function");
                    }
                    Some(e) => {
                        self.check_same(Law::Return, span, "the value", self.ty(*e), known.ret);
                    }
                }
            }
            StmtKind::Error
            | StmtKind::Empty
            | StmtKind::Block(_)
            | StmtKind::Local(_)
            | StmtKind::Expr(_)
            | StmtKind::Label(..)
            | StmtKind::Goto(_)
            | StmtKind::Asm(_)
            | StmtKind::Region(_)
            | StmtKind::Declaration(_) => {}
        }
    }
}
