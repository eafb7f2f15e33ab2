//! How often loops run: known, computed from variables, or guessed.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{ExprId, ExprKind, FunctionId, Init, Program, VarId};
use ir::walk::Part;
use rustc_hash::{FxHashMap, FxHashSet};

use super::strides::Measured;
use super::{LoopTree, Options};
use crate::dependence::{Analysis, Sum};
use crate::normal;
use crate::poly::{Atom, Poly, Value};
use crate::walk::Rounds;

/// How often a loop runs where nothing at all is known.
const GUESS: u64 = 1024;

/// How often a loop runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trips {
    /// As a sum over variables when the nest is entered, if it is one.
    pub count: Option<Sum>,
    /// The number to count with.
    pub estimate: u64,
    /// Where that is from.
    pub from: TripsFrom,
}

/// Where an estimate is from, most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TripsFrom {
    /// The program says so.
    Constant,
    /// The user says so.
    Given,
    /// The variables in the bounds have one value in this program, as far as it can be seen.
    Values,
    /// As much as fits into an array that the loop walks through.
    Declared,
    /// Nothing is known.
    Guess,
}

impl TripsFrom {
    /// In words, after a number.
    pub fn text(self) -> &'static str {
        match self {
            TripsFrom::Constant => "constant",
            TripsFrom::Given => "given",
            TripsFrom::Values => "from the values of variables",
            TripsFrom::Declared => "from the size of an array",
            TripsFrom::Guess => "guessed",
        }
    }
}

impl Trips {
    pub(crate) fn guess() -> Trips {
        Trips { count: None, estimate: GUESS, from: TripsFrom::Guess }
    }

    /// The least and the most that the loop may plausibly run.
    pub fn interval(&self) -> (u64, u64) {
        const WIDE: u64 = 16;
        match self.from {
            TripsFrom::Constant | TripsFrom::Given => (self.estimate, self.estimate),
            TripsFrom::Values | TripsFrom::Declared => {
                (self.estimate.div_ceil(2), self.estimate.saturating_mul(2))
            }
            TripsFrom::Guess => (self.estimate.div_ceil(WIDE), self.estimate.saturating_mul(WIDE)),
        }
    }
}

/// Values that variables keep, as far as the program can be seen. Good for estimates, no proof.
#[derive(Debug, Default)]
pub(crate) struct Values {
    of: FxHashMap<VarId, i128>,
}

impl Values {
    pub(crate) fn new(program: &Program) -> Values {
        let mut written: FxHashSet<VarId> = FxHashSet::default();
        let mut args: FxHashMap<(FunctionId, usize), Option<i128>> = FxHashMap::default();
        let mut inits: Vec<VarId> = program.vars.iter().map(|it| it.0).collect();
        let mut values = Values::default();
        inits.retain(|it| program.vars[*it].init.is_some());
        let mut calls: Vec<(FunctionId, usize, ExprId)> = Vec::new();
        for (_, function) in program.functions.iter() {
            let mut stack: Vec<Part> = function.body.map(Part::Stmt).into_iter().collect();
            while let Some(part) = stack.pop() {
                if let Part::Expr(id) = part {
                    let kind = &program.exprs[id].kind;
                    if let ExprKind::Assign(to, _)
                    | ExprKind::AssignOp(_, to, ..)
                    | ExprKind::Step(_, to)
                    | ExprKind::AddrOf(to) = kind
                        && let ExprKind::Var(var) = program.exprs[*to].kind
                    {
                        written.insert(var);
                    } else if let ExprKind::Call(callee, given) = kind
                        && let Some(to) = callee_of(program, *callee)
                    {
                        calls.extend(given.iter().enumerate().map(|(at, &it)| (to, at, it)));
                    }
                }
                program.parts(part, &mut |it| stack.push(it));
            }
        }
        for var in inits {
            if let Some(init) = program.vars[var].init
                && let Init::Expr(value) = program.inits[init]
                && !written.contains(&var)
                && let Some(value) = normal::constant(program, value)
            {
                values.of.insert(var, value);
            }
        }
        for (to, at, given) in calls {
            let value = values.value(program, given);
            let entry = args.entry((to, at)).or_insert(value);
            if *entry != value {
                *entry = None;
            }
        }
        for (id, function) in program.functions.iter() {
            for (at, &param) in function.params.iter().enumerate() {
                if let Some(Some(value)) = args.get(&(id, at))
                    && !written.contains(&param)
                {
                    values.of.insert(param, *value);
                }
            }
        }
        values
    }

    /// The value that a variable keeps.
    pub(crate) fn get(&self, var: VarId) -> Option<i128> {
        self.of.get(&var).copied()
    }

    /// The value of a constant or of a variable that has only one.
    fn value(&self, program: &Program, id: ExprId) -> Option<i128> {
        if let Some(value) = normal::constant(program, id) {
            return Some(value);
        }
        if let ExprKind::Cast(_, inner) = program.exprs[id].kind {
            return self.value(program, inner);
        }
        let ExprKind::Var(var) = program.exprs[id].kind else { return None };
        self.of.get(&var).copied()
    }
}

fn callee_of(program: &Program, callee: ExprId) -> Option<FunctionId> {
    let mut at = callee;
    while let ExprKind::Cast(_, inner) | ExprKind::AddrOf(inner) | ExprKind::Deref(inner) =
        program.exprs[at].kind
    {
        at = inner;
    }
    if let ExprKind::Function(id) = program.exprs[at].kind { Some(id) } else { None }
}

/// How often a loop runs, and whether its bounds are the same in all iterations of the loops around it.
pub(super) fn of(
    analysis: &Analysis<'_>,
    tree: &LoopTree,
    at: usize,
    rounds: &Rounds,
    numbers: &BTreeMap<u32, usize>,
    accesses: &[Measured],
    options: &Options,
) -> (Trips, bool) {
    let program = analysis.program;
    let name = |var: VarId| program.vars[var].name.map_or("", |it| program.names.text(it));
    let given = |var: VarId| options.trips.get(name(var)).copied();
    let counter = tree.loop_at(at).and_then(|it| it.finding.var);
    // room = what is left of the way - step * counter
    let first = rounds.room.as_ref().and_then(|room| {
        room.replace(&|atom| match atom.value == Value::Trip(rounds.number) {
            true => Poly::default(),
            false => Poly::from(atom),
        })
    });
    let step = rounds.step.unsigned_abs().max(1);
    // As many rounds everywhere are not enough: they may begin elsewhere.
    let begins_alike = rounds.begin.as_ref().is_some_and(Poly::is_invariant);
    let is_rectangular = begins_alike && first.as_ref().is_some_and(Poly::is_invariant);
    let count = first.as_ref().filter(|_| step == 1).and_then(|it| Sum::of(&it.plus(1)?));
    if let Some(constant) = first.as_ref().and_then(Poly::as_constant) {
        let rounds = constant.checked_div(step as i128).and_then(|it| u64::try_from(it + 1).ok());
        let trips = Trips { count, estimate: rounds.unwrap_or(0), from: TripsFrom::Constant };
        return (trips, begins_alike);
    }
    if let Some(estimate) = counter.and_then(given) {
        return (Trips { count, estimate, from: TripsFrom::Given }, is_rectangular);
    }
    let mut from = TripsFrom::Constant;
    let value = |atom: Atom| -> Option<(i128, TripsFrom)> {
        match atom.value {
            Value::Entry(var) => given(var)
                .map(|it| (i128::from(it), TripsFrom::Given))
                .or_else(|| analysis.values().of.get(&var).map(|it| (*it, TripsFrom::Values))),
            // Half of the way of an outer loop, as in a triangle.
            Value::Trip(number) => {
                let outer = &tree.loop_at(*numbers.get(&number)?)?.trips;
                (outer.from != TripsFrom::Guess)
                    .then_some((i128::from(outer.estimate / 2), outer.from.max(TripsFrom::Values)))
            }
            Value::Held(_) | Value::Distance | Value::Varying(_) => None,
        }
    };
    let computed = first.as_ref().and_then(|it| {
        let atoms: BTreeSet<Atom> = it.atoms().collect();
        for atom in &atoms {
            from = from.max(value(*atom)?.1);
        }
        let put = |atom: Atom| Poly::constant(value(atom).map_or(0, |it| it.0));
        it.replace(&put)?.as_constant()
    });
    if let Some(last) = computed {
        let rounds = last.checked_div(step as i128).and_then(|it| u64::try_from(it + 1).ok());
        return (Trips { count, estimate: rounds.unwrap_or(0), from }, is_rectangular);
    }
    let declared = accesses.iter().flat_map(|it| &it.room).filter(|it| it.0 == at);
    if let Some(estimate) = declared.map(|it| it.1).min() {
        return (Trips { count, estimate, from: TripsFrom::Declared }, is_rectangular);
    }
    (Trips { count, ..Trips::guess() }, is_rectangular)
}
