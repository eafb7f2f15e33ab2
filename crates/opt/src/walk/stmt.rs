//! Statements: which way values go.

use ir::construct::Leaf;
use ir::program::{Init, InitId, RegionId, StmtId, StmtKind, VarId};
use ir::walk::Part;

use super::state::{Frame, FrameKind, Val};
use super::{Rounds, Walk};
use crate::access::{Base, Context};
use crate::finding::Reason;
use crate::normal::{self, Form};
use crate::poly::{Poly, Value};
use crate::scan::Scan;
use crate::sharing::private_items;

impl Walk<'_> {
    pub(super) fn stmt(&mut self, id: StmtId) {
        let program = self.program;
        let span = program.stmts[id].span;
        match &program.stmts[id].kind {
            StmtKind::Error => self.obstacle(Reason::Faulty, span),
            StmtKind::Empty | StmtKind::Declaration(_) => {}
            StmtKind::Block(stmts) => stmts.iter().for_each(|&it| self.stmt(it)),
            StmtKind::Local(var) => self.local(*var),
            StmtKind::Expr(expr) => _ = self.eval(*expr),
            StmtKind::If(cond, then, other) => {
                self.eval(*cond);
                let before = self.state.clone();
                self.assume(*cond, true);
                self.branch(|walk| walk.stmt(*then));
                let after = std::mem::replace(&mut self.state, before);
                self.assume(*cond, false);
                if let Some(other) = other {
                    self.branch(|walk| walk.stmt(*other));
                }
                self.join(after);
            }
            StmtKind::While(cond, body) => {
                self.inner_loop(id, None, Some(*cond), None, *body);
            }
            StmtKind::DoWhile(body, cond) => self.do_while(*body, *cond),
            StmtKind::For(it) => {
                it.init.iter().for_each(|&it| self.stmt(it));
                let form = normal::loop_form(program, id);
                self.inner_loop(id, form.as_ref(), it.cond, it.step, it.body);
            }
            StmtKind::Switch(cond, body) => {
                self.eval(*cond);
                let scan = Scan::new(program, *body);
                self.forget(scan.writes.keys());
                let base = self.state.clone();
                self.frames.push(Frame::new(FrameKind::Switch));
                // Each label is entered from the head or from above: what the head knows holds.
                self.branch(|walk| walk.cases(*body, &base));
                self.frames.pop();
                self.state = base;
                self.forget(scan.writes.keys());
            }
            StmtKind::Case(_, _, body) | StmtKind::Default(body) => self.stmt(*body),
            StmtKind::Label(..) | StmtKind::Goto(_) | StmtKind::GotoExpr(_) => {
                self.obstacle(Reason::Jump, span);
            }
            StmtKind::Continue => {
                let state = self.state.clone();
                let frame = self.frames.iter_mut().rev().find(|it| it.kind != FrameKind::Switch);
                if let Some(frame) = frame {
                    frame.continues.push(state);
                }
                self.state.is_dead = true;
            }
            StmtKind::Break => {
                let state = self.state.clone();
                match self.frames.last_mut() {
                    Some(frame) if frame.kind != FrameKind::Examined => frame.breaks.push(state),
                    Some(_) | None => self.obstacle(Reason::Break, span),
                }
                self.state.is_dead = true;
            }
            StmtKind::Return(_) => self.obstacle(Reason::Return, span),
            StmtKind::Asm(_) => self.obstacle(Reason::Assembly, span),
            StmtKind::Region(region) => self.region(*region),
        }
    }

    /// The body of a `switch`: at each label the state is that of the head.
    fn cases(&mut self, body: StmtId, base: &super::state::State) {
        let program = self.program;
        let mut stack = vec![body];
        while let Some(id) = stack.pop() {
            let kind = &program.stmts[id].kind;
            if let StmtKind::Case(_, _, inner) | StmtKind::Default(inner) = kind {
                self.state = base.clone();
                stack.push(*inner);
            } else if !holds_label(program, id) {
                self.stmt(id);
            } else if let StmtKind::Block(stmts) = kind {
                stack.extend(stmts.iter().rev());
            } else {
                // A label inside another statement: a jump into its middle.
                self.obstacle(Reason::Jump, program.stmts[id].span);
            }
        }
    }

    fn local(&mut self, var: VarId) {
        let program = self.program;
        let it = &program.vars[var];
        if let ir::program::VarStorage::LocalStatic(_) = it.storage {
            return;
        }
        // Lengths of arrays are computed here.
        let mut lengths = Vec::new();
        program.parts(Part::Local(var), &mut |part| {
            if let Part::Expr(expr) = part {
                lengths.push(expr);
            }
        });
        for expr in lengths {
            self.eval(expr);
        }
        let value = match it.init {
            Some(init) => self.init(init),
            None => None,
        };
        let value = value.unwrap_or_else(|| self.anything(it.ty));
        self.state.env.insert(var, value);
    }

    pub(super) fn init(&mut self, init: InitId) -> Option<Val> {
        match &self.program.inits[init] {
            Init::Expr(value) => Some(self.eval(*value)),
            Init::List(_, elements) => {
                for element in elements {
                    self.init(element.value);
                }
                None
            }
        }
    }

    /// A loop inside the examined one: of what it changes nothing is known at its head.
    fn inner_loop(
        &mut self,
        id: StmtId,
        form: Option<&Form>,
        cond: Option<ir::program::ExprId>,
        step: Option<ir::program::ExprId>,
        body: StmtId,
    ) {
        let mut parts = vec![Part::Stmt(body)];
        parts.extend([cond, step].into_iter().flatten().map(Part::Expr));
        let scan = Scan::of(self.program, &parts);
        let form = form.filter(|it| {
            scan.writes.get(&it.var).is_some_and(|writes| writes.len() == 1)
                && !self.q.aliases.is_exposed(self.program, it.var)
                && !self.q.reduced.contains(&it.var)
        });
        let begin = form.map(|it| (it, self.value_of(it.var)));
        self.forget(scan.writes.keys());
        let outside = std::rc::Rc::clone(&self.state.facts);
        let number = self.trips;
        self.trips += 1;
        let mut room = None;
        let first = match &begin {
            Some((_, Val::Int(begin))) => Some(begin.clone()),
            Some((_, Val::Addr(_) | Val::Other)) | None => None,
        };
        match begin {
            Some((form, Val::Int(begin))) => {
                let trip = Poly::atom(Value::Trip(number));
                let value = trip.scaled(form.step).and_then(|it| begin.add(&it));
                let value = value.unwrap_or_else(|| self.fresh());
                self.state.env.insert(form.var, Val::Int(value.clone()));
                self.state.learn(trip);
                let known = self.state.facts.len();
                self.head(cond, form, &value);
                if let Some([only]) = self.state.facts.get(known..) {
                    room = Some(only.clone());
                }
            }
            Some((_, Val::Addr(_) | Val::Other)) | None => {
                if let Some(cond) = cond {
                    self.eval(cond);
                    self.assume(cond, true);
                }
            }
        }
        let step_by = form.map_or(0, |it| it.step);
        let rounds = Rounds { number, stmt: id, begin: first, room: room.clone(), step: step_by };
        self.body.loops.push(rounds);
        let head = self.state.clone();
        self.frames.push(Frame::new(FrameKind::Loop));
        self.within(Context::Loop(number, room), |walk| {
            walk.stmt(body);
            if let Some(frame) = walk.frames.pop() {
                for state in frame.continues {
                    walk.join(state);
                }
            }
            if let Some(step) = step {
                walk.eval(step);
            }
        });
        // It may have run any number of times, none included.
        self.state = head;
        self.state.facts = outside;
        self.forget(scan.writes.keys());
    }

    fn do_while(&mut self, body: StmtId, cond: ir::program::ExprId) {
        let scan = Scan::of(self.program, &[Part::Stmt(body), Part::Expr(cond)]);
        self.forget(scan.writes.keys());
        let outside = std::rc::Rc::clone(&self.state.facts);
        let mut breaks = Vec::new();
        self.frames.push(Frame::new(FrameKind::Loop));
        self.branch(|walk| walk.stmt(body));
        if let Some(frame) = self.frames.pop() {
            for state in frame.continues {
                self.join(state);
            }
            breaks = frame.breaks;
        }
        self.branch(|walk| walk.eval(cond));
        for state in breaks {
            self.join(state);
        }
        self.state.facts = outside;
        self.forget(scan.writes.keys());
    }

    /// A directive: one that marks a loop changes nothing but whose its variables are.
    fn region(&mut self, id: RegionId) {
        let program = self.program;
        let region = &program.regions[id];
        let mut is_loop = true;
        for leaf in &region.construct.leaves {
            if let Leaf::Atomic = leaf
                && self.q.form.is_some()
            {
                self.obstacle(Reason::Atomic, region.span);
            }
            // Whoever shares the iterations of a loop, together they do what it says.
            let shares = matches!(leaf, Leaf::Distribute | Leaf::Parallel | Leaf::For);
            is_loop &= shares && !region.loops.is_empty()
                || matches!(
                    leaf,
                    Leaf::Loop | Leaf::Simd | Leaf::Cache | Leaf::Unroll | Leaf::Atomic
                );
        }
        // What it does to memory is noted all the same.
        if !is_loop || has_copies(&region.construct) {
            self.obstacle(Reason::Directive, region.span);
        }
        let shadows: Vec<Base> = private_items(program, &region.construct)
            .into_iter()
            .filter(|it| !self.shadowed.contains(it))
            .collect();
        let is_var = |it: &Base| if let Base::Var(var) = it { Some(*var) } else { None };
        let hidden: Vec<VarId> = shadows.iter().filter_map(is_var).collect();
        let before: Vec<(VarId, Option<Val>, bool)> = hidden
            .iter()
            .map(|it| (*it, self.state.env.get(it).cloned(), self.state.must.contains(it)))
            .collect();
        self.shadowed.extend(&shadows);
        self.forget(&hidden);
        if let Some(body) = region.body {
            self.stmt(body);
        }
        self.shadowed.retain(|it| !shadows.contains(it));
        for (var, value, was_written) in before {
            match value {
                Some(value) => _ = self.state.env.insert(var, value),
                None => _ = self.state.env.remove(&var),
            }
            if !was_written {
                self.state.must.remove(&var);
            }
        }
    }
}

/// Clauses that make copies with a first or last value.
fn has_copies(construct: &ir::construct::Construct<ir::program::Typed>) -> bool {
    use ir::construct::ClauseKind;
    construct.clauses.iter().any(|it| {
        matches!(
            it.kind,
            ClauseKind::FirstPrivate { .. }
                | ClauseKind::LastPrivate { .. }
                | ClauseKind::Linear(_)
                | ClauseKind::Induction(_)
        )
    })
}

/// Whether a label of the `switch` that is being looked at stands in a statement.
fn holds_label(program: &ir::program::Program, stmt: StmtId) -> bool {
    let mut stack = vec![stmt];
    while let Some(id) = stack.pop() {
        let kind = &program.stmts[id].kind;
        if let StmtKind::Case(..) | StmtKind::Default(_) = kind {
            return true;
        }
        // Those of a `switch` inside are its own.
        if !matches!(kind, StmtKind::Switch(..)) {
            kind.parts(&mut |part| {
                if let Part::Stmt(it) = part {
                    stack.push(it);
                }
            });
        }
    }
    false
}
