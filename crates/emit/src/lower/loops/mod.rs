//! Loops that are made of other loops: transformations, and nests that the host's compiler does not
//! take as they stand.
//!
//! In: a region whose directive changes the loops below it, or deals the iterations of such loops.
//! Out: loops over counters that start at zero, with the user's variables computed from them
//! ([`normal`]), put together as the directives say ([`change`]). What a directive may not change is
//! refused, never skipped.

mod change;
mod find;
mod near;
mod normal;
mod put;
mod share;

use ir::construct::{ClauseKind, Leaf, ReductionModifier, ScheduleKind};
use ir::program::{ExprId, ExprKind, Program, RegionId, StmtId, StmtKind, Typed, VarId};
use ir::region::{Loop, LoopTest};
use rustc_hash::FxHashSet;
use source::Span;

pub(super) use kernel::count::constant;
pub(super) use share::Share;

use super::Lowering;
use crate::c::{Out, Printer};

/// A loop over a counter: `for (counter = begin; counter < end; counter += step)`.
#[derive(Clone, Debug)]
pub(super) struct Made {
    counter: String,
    begin: String,
    end: String,
    step: String,
    /// What the body begins with: the user's variables.
    before: Vec<String>,
    /// Where the user's variable comes from, if the loop is the user's.
    user: Option<User>,
    /// What must be true for the body to run.
    check: Option<String>,
    /// How often the host's compiler is asked to repeat the body.
    unroll: Option<u64>,
    /// Its bounds are known before the nest.
    is_fixed: bool,
}

/// The user's variable of a loop: a first value, and a step for each round.
#[derive(Clone, Debug)]
pub(super) struct User {
    var: VarId,
    first: String,
    step: String,
    operator: char,
}

/// Loops inside each other without anything between them.
#[derive(Clone, Debug)]
pub(super) struct Nest {
    /// What is computed before them: names, and the lines that make them.
    prelude: Vec<Named>,
    loops: Vec<Made>,
    body: Code,
}

/// A variable that is computed before a nest.
#[derive(Clone, Debug)]
pub(super) struct Named {
    name: String,
    line: String,
}

/// What loops do.
#[derive(Clone, Debug)]
pub(super) enum Code {
    Stmt(StmtId),
    Line(String),
    Nest(Box<Nest>),
    Seq(Vec<Code>),
    If(String, Box<Code>),
    /// A body that may say `continue` where something follows.
    Once(Box<Code>),
}

/// Why loops cannot be made.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    span: Span,
    why: &'static str,
}

/// Who deals the iterations of loops that are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dealer {
    /// The host's compiler, which has a copy of each variable for each thread; or nobody, and they run in order.
    Compiler,
    /// We do: each iteration gets copies of the loop variables.
    Us,
}

type Result<T> = std::result::Result<T, Refused>;

/// Makes the loops of one construct.
struct Maker<'a, 'p> {
    lowering: &'a Lowering<'p>,
    region: RegionId,
    /// Names as they are before the loops.
    outside: &'a Printer<'a>,
    /// Names as they are in the bodies.
    inside: Printer<'a>,
    /// Loop variables that outlive their loop.
    kept: FxHashSet<VarId>,
    /// What gives each of them the value that its loop ends with, once the last iteration is done.
    ends: Vec<String>,
    /// Who deals the iterations.
    dealer: Dealer,
}

impl Lowering<'_> {
    /// A transformation that no construct around deals the iterations of.
    pub(super) fn transformation(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let mut maker = Maker::new(self, printer, id, Dealer::Compiler);
        match maker.transformed(id, 0) {
            Ok(nest) => {
                out.beside(self.program.regions[id].span);
                maker.put(&nest, None, &[], out);
            }
            Err(why) => self.refuse_loops(id, &why),
        }
    }

    /// The loops of a construct that deals iterations, with its pragma: answers whether they had to
    /// be made. `pragma` gets the variables that were computed before.
    pub(super) fn dealt(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        out: &mut Out<'_>,
        pragma: impl FnOnce(&[String]) -> Option<String>,
    ) -> bool {
        let is_miscounted = self.grid.is_none() && is_miscounted(self.program, id);
        if !is_linear(self.program, id) && !is_miscounted && !needs_loops_made(self.program, id) {
            return false;
        }
        let mut maker = Maker::new(self, printer, id, Dealer::Compiler);
        match maker.dealt() {
            Ok((nest, after)) => {
                out.beside(self.program.regions[id].span);
                let named = nest.prelude.iter().filter(|it| !it.name.is_empty());
                let names: Vec<String> = named.map(|it| it.name.clone()).collect();
                maker.put(&nest, pragma(&names), &after, out);
            }
            Err(why) => self.refuse_loops(id, &why),
        }
        true
    }

    fn refuse_loops(&self, id: RegionId, refused: &Refused) {
        let construct = &self.program.regions[id].construct;
        let name = directive::directive_name(construct);
        let fault = source::Diagnostic::error("F0036", format!("`{name}` cannot be compiled here"))
            .at(refused.span, refused.why)
            .note("a directive that cannot be followed is not skipped");
        self.state.borrow_mut().faults.push(fault);
    }

    /// A number for names that nobody else has.
    pub(super) fn fresh(&self) -> u32 {
        let mut state = self.state.borrow_mut();
        state.fresh += 1;
        state.fresh
    }
}

/// Whether a part of a construct changes the loops below it.
pub(super) fn transforms(leaf: Leaf) -> bool {
    matches!(
        leaf,
        Leaf::Tile
            | Leaf::Unroll
            | Leaf::Interchange
            | Leaf::Reverse
            | Leaf::Fuse
            | Leaf::Split
            | Leaf::Stripe
    )
}

/// Whether a construct deals iterations of loops that the host's compiler would not understand.
pub(super) fn needs_loops_made(program: &Program, id: RegionId) -> bool {
    let region = &program.regions[id];
    let deals = region.construct.leaves.iter().any(|it| {
        matches!(it, Leaf::For | Leaf::Distribute | Leaf::Simd | Leaf::Loop | Leaf::Taskloop)
    });
    let (true, Some(body)) = (deals, region.body) else { return false };
    region.construct.kinds().any(|it| matches!(it, ClauseKind::Induction(_)))
        || find::is_made(program, body, collapsed(program, id))
}

/// Whether a construct has variables that follow its iterations, each by a step. gcc (12, at least) gives them their values only
/// where the body adds the step itself; loops whose body it must find as it stands are left to it.
pub(super) fn is_linear(program: &Program, id: RegionId) -> bool {
    let region = &program.regions[id];
    let counts = |var: VarId| region.loops.iter().any(|it| it.var == var);
    let is_for_compiler = |kind: &ClauseKind<Typed>| match kind {
        ClauseKind::Ordered(count) => count.is_some(),
        ClauseKind::Reduction(it) => it.modifier == Some(ReductionModifier::Inscan),
        _ => false,
    };
    let follows = |kind: &ClauseKind<Typed>| match kind {
        ClauseKind::Linear(it) => it.items.iter().any(|it| match program.exprs[*it].kind {
            ExprKind::Var(var) => !counts(var),
            _ => true,
        }),
        _ => false,
    };
    !region.loops.is_empty()
        && region.construct.kinds().any(follows)
        && !region.construct.kinds().any(is_for_compiler)
}

/// Whether gcc (12, at least) runs no iteration of a loop, or not all: it counts them in the type of the loop's variable, which
/// the distance between its bounds may not fit.
fn is_wide(program: &Program, id: RegionId) -> bool {
    let region = &program.regions[id];
    let is_dealt = region
        .construct
        .leaves
        .iter()
        .any(|it| matches!(it, Leaf::For | Leaf::Distribute | Leaf::Loop | Leaf::Taskloop));
    is_dealt
        && region.loops.iter().all(|it| it.rectangular)
        && region.loops.iter().any(|it| may_not_fit(program, it))
}

/// Whether the distance between the bounds of a loop, and what is added to round it up, does not fit the type of its variable,
/// as far as the bounds are known. Of the narrow types few are sure to.
fn may_not_fit(program: &Program, one: &Loop) -> bool {
    let ty = program.vars[one.var].ty;
    let Some(kind) = program.types.integer_kind(ty) else { return false };
    let Ok(bytes) = program.model.size_of(&program.types, ty) else { return false };
    let is_signed = program.model.int_signed(kind);
    let bits = u32::try_from(bytes * 8).unwrap_or(64).min(64);
    let most = (1i128 << (bits - u32::from(is_signed))) - 1;
    let least = if is_signed { -most - 1 } else { 0 };
    let known = |it: ExprId| constant(program, it).map(i128::from);
    let step = one.step.map_or(Some(1), known).map(i128::abs);
    let (low, high) = if one.descending { (one.bound, one.begin) } else { (one.begin, one.bound) };
    let (low, high) = (known(low), known(high));
    if bits < 32 {
        // A step that is not known may be large.
        let (low, high) = (low.unwrap_or(least), high.unwrap_or(most));
        return high - low + step.unwrap_or(most) > most;
    }
    match (low, high) {
        (Some(low), Some(high)) => high - low + step.unwrap_or(1) > most + 1,
        (Some(low), None) => low <= least / 2 && is_signed,
        (None, Some(high)) => high > most / 2 && is_signed,
        (None, None) => false,
    }
}

/// Whether gcc (12, at least) runs no iteration of a loop: one that counts down in an unsigned type of less than 64
/// bits, and whose iterations are dealt while it runs, or in order, or to tasks.
pub(super) fn is_miscounted(program: &Program, id: RegionId) -> bool {
    if is_wide(program, id) {
        return true;
    }
    let region = &program.regions[id];
    let construct = &region.construct;
    let is_dealt_late = |kind: &ClauseKind<Typed>| match kind {
        ClauseKind::Schedule(it) => match it.kind {
            ScheduleKind::Static => false,
            ScheduleKind::Dynamic
            | ScheduleKind::Guided
            | ScheduleKind::Auto
            | ScheduleKind::Runtime => true,
        },
        ClauseKind::Ordered(count) => count.is_none(),
        _ => false,
    };
    let is_dealt_late = construct.has(Leaf::Taskloop)
        || construct.has(Leaf::For) && construct.kinds().any(is_dealt_late);
    // Several that are made one have a counter of another type.
    let (true, 1, [one]) = (is_dealt_late, collapsed(program, id), region.loops.as_slice()) else {
        return false;
    };
    let goes_down = match one.test {
        LoopTest::Lt | LoopTest::Le => false,
        LoopTest::Gt | LoopTest::Ge => true,
        LoopTest::Ne => one.descending,
    };
    let ty = program.vars[one.var].ty;
    let bytes = program.model.size_of(&program.types, ty).unwrap_or(u64::MAX);
    let kind = program.types.integer_kind(ty);
    goes_down && bytes < 8 && kind.is_some_and(|it| !program.model.int_signed(it))
}

/// The construct that is all there is in a statement.
pub(in crate::lower) fn only_region(program: &Program, stmt: StmtId) -> Option<RegionId> {
    let mut stmt = stmt;
    loop {
        match &program.stmts[stmt].kind {
            StmtKind::Block(list) => match list.as_ref() {
                [only] => stmt = *only,
                _ => return None,
            },
            StmtKind::Region(inner) => return Some(*inner),
            _ => return None,
        }
    }
}

/// How many loops a construct makes one.
pub(super) fn collapsed(program: &Program, id: RegionId) -> usize {
    let count = program.regions[id].construct.kinds().find_map(|it| match it {
        ClauseKind::Collapse { count, .. } => constant(program, *count),
        _ => None,
    });
    count.and_then(|it| usize::try_from(it).ok()).unwrap_or(1).max(1)
}
