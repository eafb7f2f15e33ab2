//! What a pipeline must know of a loop: how often it runs, and which accesses of its iterations meet in memory.
//!
//! In: a program and a `for` statement. Out: [`Carried`]. Unlike [`crate::dependence`], which looks for one reason against
//! running iterations in any order, this tells all dependences through memory with their distances: iterations that start
//! one after the other may still overlap. Values that variables carry from one iteration to the next are not told here.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{BinaryOp, ExprId, ExprKind, StmtId, VarId};
use source::Span;

use crate::access::Base;
use crate::dependence::Analysis;
use crate::finding::{Access, DependenceKind, Obstacle, Reason};
use crate::marks::{Trips, TripsFrom};
use crate::poly::{Poly, Value};
use crate::scan::Scan;
use crate::sharing::Marked;
use crate::sum::Sum;
use crate::{normal, pairs, walk};

/// What is known of a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// The variable that counts, if the loop has the normal form.
    pub var: Option<VarId>,
    /// How often it runs.
    pub trips: Trips,
    /// Dependences between its iterations through memory, or what hides them.
    pub memory: Result<Vec<Dependence>, Obstacle>,
}

/// Two accesses that may reach the same memory, one of them in a later iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// The access in the earlier iteration.
    pub first: Access,
    /// The one in the later.
    pub second: Access,
    /// What they do to each other.
    pub kind: DependenceKind,
    /// They are at least so many iterations apart.
    pub distance: u64,
    /// They are never nearer or further: the distance is not assumed.
    pub is_exact: bool,
    /// It is not known whether they are in one object.
    pub may_alias: bool,
}

impl Analysis<'_> {
    /// Asks about one loop. `given`: values of variables in its bounds, for the estimate.
    pub fn carried(&self, stmt: StmtId, given: &BTreeMap<String, u64>) -> Carried {
        let program = self.program;
        let span = program.stmts[stmt].span;
        let unknown = |reason, span: Span| Carried {
            var: None,
            trips: Trips::guess(),
            memory: Err(Obstacle::new(reason, span)),
        };
        let Some(form) = normal::loop_form(program, stmt) else {
            return unknown(Reason::NotNormal, span);
        };
        let scan = Scan::new(program, stmt);
        let expected = if form.declares { 1 } else { 2 };
        let writes = scan.writes.get(&form.var).map_or(0, Vec::len);
        if self.aliases.is_exposed(program, form.var) || writes > expected {
            return unknown(Reason::CounterChanged, span);
        }
        let around = self.outline.around(stmt);
        let marked = Marked::new(program, self.outline.governing(stmt));
        let reduced = BTreeSet::new();
        let question = walk::Question {
            program,
            aliases: &self.aliases,
            effects: &self.effects,
            outline: &self.outline,
            stmt,
            form: Some(&form),
            scan: &scan,
            reduced: &reduced,
            private: &marked.private,
            around: &around,
        };
        let body = walk::run(&question);
        let room = body.around.room.as_ref();
        let trips = match self.rounds(room, form.step, form.var, given) {
            Trips { count, from: TripsFrom::Guess, .. } => {
                Trips { count, ..self.estimated(stmt, &form, given) }
            }
            known => known,
        };
        let var = Some(form.var);
        if let Some(obstacle) = body.obstacles.first() {
            return Carried { var, trips, memory: Err(obstacle.clone()) };
        }
        let Some(met) = pairs::meetings(&question, &body.touches) else {
            let memory = Err(Obstacle::new(Reason::TooLarge, span));
            return Carried { var, trips, memory };
        };
        let access = |it: &crate::access::Touch| Access {
            var: match it.place.base {
                Base::Var(var) | Base::Pointee(var) => Some(var),
                Base::Held(_) | Base::Unknown | Base::Nowhere => None,
            },
            writes: it.writes,
            span: it.span,
        };
        let dependence = |it: &pairs::Meeting<'_>| Dependence {
            first: access(it.first),
            second: access(it.second),
            kind: match (it.first.writes, it.second.writes) {
                (true, true) => DependenceKind::Output,
                (true, false) => DependenceKind::Flow,
                (false, _) => DependenceKind::Anti,
            },
            distance: it.distance.unwrap_or(1).max(1),
            is_exact: it.distance.is_some(),
            may_alias: it.may_alias,
        };
        Carried { var, trips, memory: Ok(met.iter().map(dependence).collect()) }
    }

    /// How often a loop runs, of which `room` is not negative in just the rounds that are run.
    fn rounds(
        &self,
        room: Option<&Poly>,
        step: i128,
        counter: VarId,
        given: &BTreeMap<String, u64>,
    ) -> Trips {
        let first = room.and_then(|room| {
            room.replace(&|atom| match atom.value == Value::Trip(0) {
                true => Poly::default(),
                false => Poly::from(atom),
            })
        });
        let Some(first) = first else { return Trips::guess() };
        let step = step.unsigned_abs().max(1).cast_signed();
        let count = first.plus(1).filter(|_| step == 1).and_then(|it| Sum::of(&it));
        let rounds = |last: i128| {
            u64::try_from(last.checked_div_euclid(step).map_or(0, |it| it + 1)).unwrap_or(0)
        };
        if let Some(last) = first.as_constant() {
            return Trips { count, estimate: rounds(last), from: TripsFrom::Constant };
        }
        let said = |var: VarId| self.value_said(var, given);
        if let Some(estimate) = said(counter) {
            return Trips { count, estimate, from: TripsFrom::Given };
        }
        let mut from = TripsFrom::Constant;
        let mut values = BTreeMap::new();
        for atom in first.atoms() {
            let Value::Entry(var) = atom.value else { return Trips { count, ..Trips::guess() } };
            let value = match (said(var), self.values().get(var)) {
                (Some(it), _) => (i128::from(it), TripsFrom::Given),
                (None, Some(it)) => (it, TripsFrom::Values),
                (None, None) => return Trips { count, ..Trips::guess() },
            };
            from = from.max(value.1);
            values.insert(atom, value.0);
        }
        let put = |atom| Poly::constant(values.get(&atom).copied().unwrap_or(0));
        match first.replace(&put).and_then(|it| it.as_constant()) {
            Some(last) => Trips { count, estimate: rounds(last), from },
            None => Trips { count, ..Trips::guess() },
        }
    }

    fn value_said(&self, var: VarId, given: &BTreeMap<String, u64>) -> Option<u64> {
        let name = self.program.vars[var].name.map(|it| self.program.names.text(it))?;
        given.get(name).copied()
    }

    /// The same by the numbers alone: what is not known in the bounds is as large as a guess, so that a loop over groups of
    /// iterations counts fewer than one over all of them, and one over two dimensions more.
    fn estimated(&self, stmt: StmtId, form: &normal::Form, given: &BTreeMap<String, u64>) -> Trips {
        let program = self.program;
        let mut from = TripsFrom::Constant;
        let ends = self.bound_number(form.begin, given, &mut from);
        let ends = ends.zip(self.bound_number(form.bound, given, &mut from));
        let test = normal::parts(program, stmt).and_then(|it| it.cond);
        let includes = test.is_some_and(|it| {
            matches!(program.exprs[it].kind, ExprKind::Binary(BinaryOp::Le | BinaryOp::Ge, ..))
        });
        let rounds = ends.and_then(|(begin, bound)| {
            let step = i128::try_from(form.step.unsigned_abs().max(1)).ok()?;
            let way = if form.step < 0 { begin - bound } else { bound - begin };
            u64::try_from((way + i128::from(includes) + step - 1).div_euclid(step)).ok()
        });
        match rounds {
            Some(estimate) if estimate > 0 || from != TripsFrom::Guess => {
                Trips { count: None, estimate, from }
            }
            _ => Trips::guess(),
        }
    }

    fn bound_number(
        &self,
        e: ExprId,
        given: &BTreeMap<String, u64>,
        from: &mut TripsFrom,
    ) -> Option<i128> {
        match self.program.exprs[e].kind {
            ExprKind::Int(value) => Some(i128::from(value)),
            ExprKind::Cast(_, of) => self.bound_number(of, given, from),
            ExprKind::Var(var) => {
                let (value, known) = match (self.value_said(var, given), self.values().get(var)) {
                    (Some(it), _) => (i128::from(it), TripsFrom::Given),
                    (None, Some(it)) => (it, TripsFrom::Values),
                    (None, None) => (i128::from(Trips::guess().estimate), TripsFrom::Guess),
                };
                *from = (*from).max(known);
                Some(value)
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) =
                    (self.bound_number(a, given, from)?, self.bound_number(b, given, from)?);
                match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    BinaryOp::Mul => a.checked_mul(b),
                    BinaryOp::Div => a.checked_div(b),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
