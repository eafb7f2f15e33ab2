//! Loops whose arrays a cluster brings into its scratchpad, some rounds at a time.
//!
//! In: a loop that threads share, in a text for a device with memory beside its cores. Out: the loop over tiles of rounds,
//! with accesses to buffers where [`opt::tiles`] knows the elements of each round; behind it the loop as it was, for when
//! the device finds that something does not hold or fit. Which of them runs is asked at run time: `__ferry_near_begin`
//! answers 0 for the loop as it was, 1 if only arrays that follow the rounds are brought, 2 for all.
//!
//! Where the threads are there already (a loop in a parallel region of its own), one of them asks and all follow its answer.
//!
//! Elements are found by the program's own subscript less that of the first element in the buffer, so nothing is
//! assumed of how subscripts are computed. An array that is used in any other way than by subscript stays where it is.

use ir::construct::{
    Clause, ClauseKind, Construct, Leaf, ReductionModifier, ScheduleKind, Spelled,
};
use ir::program::{CastKind, ExprId, ExprKind, Program, RegionId, StmtId, VarId};
use ir::region::Sharing;
use ir::walk::Part;
use opt::dependence::Sum;
use opt::tiles::{Array, Line, Tiles};
use rustc_hash::FxHashSet;
use source::Span;

use super::find::{self, What};
use super::{Dealer, Maker, Nest, needs_loops_made};
use crate::c::{Out, Printer};
use crate::lower::levels::{About, Note};
use crate::lower::{Lowering, nested, stub};

/// More arrays than this are not brought for one loop; the runtime has as much room.
const MOST_ARRAYS: usize = 8;

/// Loops that touch fewer bytes are done before the runtime has looked at them.
const WORTH_ASKING: u32 = 4096;

/// What the runtime is told, and what it does.
const DECLARATIONS: &str = "\
struct __ferry_near_reach { long __low, __low_step, __high, __high_step; };
struct __ferry_near_array { const volatile void *__base; unsigned long __size; struct __ferry_near_reach __reach[4]; unsigned __reaches, __flags; };
extern int __ferry_near_begin(void *, struct __ferry_near_array *, unsigned, unsigned long, int, const char *);
extern void __ferry_near_begin_in_team(struct __ferry_near_array *, unsigned, unsigned long, int, const char *), __ferry_near_finish_in_team(void);
extern int __ferry_near_of_team(void);
extern void *__ferry_near_plan_of_team(void);
extern unsigned __ferry_near_tiles(void *), __ferry_near_first(void *, unsigned), __ferry_near_end(void *, unsigned);
extern void __ferry_near_enter(void *, unsigned), __ferry_near_leave(void *, unsigned), __ferry_near_finish(void *);
extern void *__ferry_near_at(void *, unsigned, unsigned);
extern long __ferry_near_low(void *, unsigned, unsigned);
";

/// A loop that is printed in versions.
pub(in crate::lower) struct Near {
    /// The arrays, in the order in which the runtime knows them.
    arrays: Vec<Array>,
    stmt: StmtId,
    spelled: Construct<Spelled>,
    is_collapsed: bool,
    /// The parallel region around it, where threads meet the loop together.
    team: Option<RegionId>,
}

/// What comes behind the loop as it was.
pub(in crate::lower) struct Opened {
    plan: String,
    version: String,
    /// In a team: the line before what one thread does for all.
    by_one: Option<String>,
}

impl Lowering<'_> {
    /// The loop with arrays in the scratchpad, if there is one; then the loop as it was must follow, and [`Self::near_end`].
    pub(in crate::lower) fn near_begin(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        leaves: &[Leaf],
        out: &mut Out<'_>,
    ) -> Option<Opened> {
        let near = self.near(printer, id, leaves)?;
        let mut maker = Maker::new(self, printer, id, Dealer::Compiler);
        let nest = maker.nest(near.stmt, 1).ok()?;
        self.declare_near();
        let [plan, version, list] = ["plan", "version", "arrays"].map(|it| maker.name(it));
        let [wait, by_one] = match near.team {
            None => [None, None],
            Some(_) => {
                let line = |leaf| self.pragma(&other(&near.spelled, leaf));
                [Some(line(Leaf::Barrier)?), Some(line(Leaf::Single)?)]
            }
        };
        out.beside(self.program.regions[id].span);
        out.line("{");
        nest.prelude.iter().for_each(|it| out.line(&it.line));
        let [first] = nest.loops.as_slice() else { return None };
        // Of a team one asks at a time, and stacks are short.
        let kept = if near.team.is_some() { "static " } else { "" };
        out.line(&format!("{kept}struct __ferry_near_array {list}[{}];", near.arrays.len()));
        if near.team.is_none() {
            let room = maker.name("room");
            out.line(&format!("long {room}[{}];", abi::cluster::NEAR_ROOM / 8));
            out.line(&format!("long *const {plan} = {room};"));
            out.line(&format!("int {version} = 0;"));
        }
        // What threads have written before the loop is there when one of them brings it.
        wait.iter().chain(&by_one).for_each(|it| out.raw(it));
        out.line(&format!("if ({})", self.near_guards(printer, &near, &first.end)));
        out.line("{");
        out.indented(|out| {
            for (number, array) in near.arrays.iter().enumerate() {
                out.line(&format!(
                    "{list}[{number}] = (struct __ferry_near_array){};",
                    described(printer, array)
                ));
            }
            let begin = match near.team {
                None => format!("{version} = __ferry_near_begin({plan}, "),
                Some(_) => "__ferry_near_begin_in_team(".to_owned(),
            };
            out.line(&format!(
                "{begin}{list}, {}, {}, {}, {});",
                near.arrays.len(),
                first.end,
                i32::from(near.is_collapsed),
                stub::quoted(&self.near_told(id, &near))
            ));
        });
        out.line("}");
        if near.team.is_some() {
            out.line(&format!("const int {version} = __ferry_near_of_team();"));
            out.line(&format!("long *const {plan} = __ferry_near_plan_of_team();"));
        }
        let are_mixed =
            near.arrays.iter().any(Array::is_still) && !near.arrays.iter().all(Array::is_still);
        // By value: what is reached by reference is loaded in each round.
        let user = first.user.iter().flat_map(|it| [it.first.clone(), it.step.clone()]);
        let items: Vec<String> = user.chain([plan.clone()]).collect();
        for number in if are_mixed { vec![2, 1] } else { vec![2] } {
            let mut spelled = near.spelled.clone();
            // In a team each thread has its own already.
            if near.team.is_none() {
                let kind = ClauseKind::FirstPrivate { saved: false, items: items.clone() };
                spelled.clauses.push(clause(kind, spelled.span));
            }
            let pragma = self.pragma(&spelled)?;
            out.line(&format!("if ({version} == {number})"));
            out.line("{");
            let is_brought = |it: &Array| number == 2 || !it.is_still();
            out.indented(|out| {
                maker.put_near(&near, &nest, (&pragma, &plan), &is_brought, out);
            });
            out.line("}");
            out.line("else");
        }
        out.line("{");
        Some(Opened { plan, version, by_one })
    }

    /// Closes what was opened.
    pub(in crate::lower) fn near_end(&self, opened: &Opened, out: &mut Out<'_>) {
        let Opened { plan, version, by_one } = opened;
        out.line("}");
        out.line(&format!("if ({version})"));
        match by_one {
            None => out.line(&format!("__ferry_near_finish({plan});")),
            Some(by_one) => {
                out.raw(by_one);
                out.line("__ferry_near_finish_in_team();");
            }
        }
        out.line("}");
    }

    /// What must be so for the runtime to be asked: what was believed is true, and there is enough to do.
    fn near_guards(&self, printer: &Printer<'_>, near: &Near, rounds: &str) -> String {
        let mut guards: Vec<String> = near
            .arrays
            .iter()
            .flat_map(|it| &it.guards)
            .map(|it| format!("{} >= 0", sum(printer, it)))
            .collect();
        guards.sort_unstable();
        guards.dedup();
        let spans: Vec<String> = near
            .arrays
            .iter()
            .flat_map(|it| it.reaches.iter().map(|reach| (it.var, reach)))
            .map(|(var, it)| {
                let span = sum(printer, &it.high.at.minus(&it.low.at));
                format!("{span} * (long)sizeof({}[0])", printer.var_name(var))
            })
            .collect();
        guards.push(format!("(long){rounds} * ({}) >= {WORTH_ASKING}", spans.join(" + ")));
        guards.join(" && ")
    }

    fn declare_near(&self) {
        let mut state = self.state.borrow_mut();
        if !state.declarations.iter().any(|it| it == DECLARATIONS) {
            state.declarations.push(DECLARATIONS.to_owned());
        }
    }

    /// What is said of a loop at run time: `a.c:7: c, a and b`.
    fn near_told(&self, id: RegionId, near: &Near) -> String {
        let at = self.at(id);
        let names: Vec<&str> = near.arrays.iter().map(|it| self.array_name(it.var)).collect();
        format!("{}:{}: {}", at.file, at.line, names.join(", "))
    }

    fn array_name(&self, var: VarId) -> &str {
        self.program.vars[var].name.map_or("?", |it| self.program.names.text(it))
    }

    /// Which arrays of a region's loop are brought; says so, and why others are not.
    fn near(&self, printer: &Printer<'_>, id: RegionId, leaves: &[Leaf]) -> Option<Near> {
        let analysis = self.near?;
        let program = self.program;
        let region = &program.regions[id];
        if !leaves.contains(&Leaf::For) || needs_loops_made(program, id) {
            return None;
        }
        let found = find::look(program, region.body?);
        let What::For(stmt) = found.what else { return None };
        let note = |text: String, at: Option<Span>| {
            let around = program.around(id).last().unwrap_or(id);
            let region = program.regions[around].construct.span;
            let span = program.stmts[stmt].span;
            let about = About::Scratchpad;
            self.state.borrow_mut().notes.push(Note { about, region, span, text, at });
        };
        let counter = region.loops.first().map_or("the loop", |it| self.array_name(it.var));
        let Some(spelled) = self.near_construct(printer, id, leaves) else {
            note(
                format!(
                    "{counter}: arrays stay outside of the scratchpad: threads share the loop in a way that tiles would change"
                ),
                None,
            );
            return None;
        };
        let Tiles { mut arrays, mut left } = match analysis.tiles(stmt) {
            Ok(tiles) => tiles,
            Err(obstacle) => {
                let why = obstacle.reason.text();
                note(
                    format!("{counter}: arrays stay outside of the scratchpad: {why}"),
                    Some(obstacle.span),
                );
                return None;
            }
        };
        let uses = Uses::new(program, stmt);
        let team = self.team_around(id, leaves);
        arrays.retain(|it| {
            let terms = sums(it).flat_map(|it| &it.terms);
            let mut vars = terms.flat_map(|it| &it.1).copied().chain([it.var]);
            let is_ours = uses.is_only_subscripted(it.var)
                && !uses.declared.contains(&it.var)
                && self.is_one_for_all(id, it.var)
                && sums(it).all(|it| self.is_same_before(id, it))
                && team.is_none_or(|team| vars.all(|it| self.is_one_in_team(team, it)));
            if !is_ours {
                note(format!("{counter}: `{}` stays outside of the scratchpad: it is used in other ways than by subscript", self.array_name(it.var)), None);
            }
            is_ours
        });
        left.retain(|it| !uses.declared.contains(&it.var));
        for it in &left {
            note(
                format!(
                    "{counter}: `{}` stays outside of the scratchpad: {}",
                    self.array_name(it.var),
                    it.why.text()
                ),
                Some(it.span),
            );
        }
        if arrays.is_empty() || arrays.len() > MOST_ARRAYS {
            return None;
        }
        let names = |is_still: bool| {
            let those = arrays.iter().filter(|it| it.is_still() == is_still);
            those.map(|it| format!("`{}`", self.array_name(it.var))).collect::<Vec<_>>().join(", ")
        };
        for (names, how) in [(names(false), "by tiles"), (names(true), "whole")] {
            if !names.is_empty() {
                note(
                    format!(
                        "{counter}: {names}: brought into the scratchpad {how}, if there is room"
                    ),
                    None,
                );
            }
        }
        let is_collapsed = super::collapsed(program, id) > 1;
        Some(Near { arrays, stmt, spelled, is_collapsed, team })
    }

    /// The parallel region whose threads share a loop that makes none itself.
    fn team_around(&self, id: RegionId, leaves: &[Leaf]) -> Option<RegionId> {
        if leaves.first() != Some(&Leaf::For) {
            return None;
        }
        let around = self.program.around(id).nth(1)?;
        let leaves = &self.program.regions[around].construct.leaves;
        (leaves.last() == Some(&Leaf::Parallel)).then_some(around)
    }

    /// Whether a variable is one and the same for all threads of a parallel region.
    fn is_one_in_team(&self, team: RegionId, var: VarId) -> bool {
        let region = &self.program.regions[team];
        let found = region.vars.iter().find(|it| it.var == var);
        let is_shared = match found.and_then(|it| it.sharing.as_ref()).map(|it| &it.value) {
            None | Some(Sharing::Shared) => true,
            Some(
                Sharing::FirstPrivate
                | Sharing::Private
                | Sharing::LastPrivate
                | Sharing::FirstLastPrivate
                | Sharing::Reduction(_)
                | Sharing::Linear
                | Sharing::ThreadPrivate,
            ) => false,
        };
        let is_inside = |it: StmtId| Uses::new(self.program, it).declared.contains(&var);
        is_shared && !region.body.is_some_and(is_inside)
    }

    /// The construct for the loop over tiles; none if that would be another thing than the program asks for.
    fn near_construct(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        leaves: &[Leaf],
    ) -> Option<Construct<Spelled>> {
        let region = &self.program.regions[id];
        // Lanes are for rounds of a tile.
        let leaves: Vec<Leaf> = leaves.iter().copied().filter(|it| *it != Leaf::Simd).collect();
        let mut spelled = self.fitted(printer, id, &leaves);
        if self.is_one_level(id, &leaves) {
            nested::one_level(&mut spelled);
        }
        nested::outer_only(printer, region, &mut spelled);
        let around = self.for_host(printer, id, &mut spelled);
        // In a team all wait behind the loop: what one of them brought goes only then. Who gets which round of a static schedule is
        // something that programs may rely on there; tiles are parts of the outermost loop.
        let is_dealt_by_all = super::collapsed(self.program, id) > 1
            && spelled.kinds().any(|it| matches!(it, ClauseKind::Schedule(_)));
        let is_in_team = spelled.leaves == [Leaf::For]
            && self.team_around(id, &leaves).is_some()
            && !is_dealt_by_all
            && !spelled.kinds().any(|it| matches!(it, ClauseKind::Nowait(_)));
        let is_plain = (spelled.leaves.ends_with(&[Leaf::Parallel, Leaf::For]) || is_in_team)
            && around.is_nothing()
            && spelled.kinds().all(keeps_meaning);
        spelled
            .clauses
            .retain(|it| !matches!(it.kind, ClauseKind::Order(_) | ClauseKind::Schedule(_)));
        is_plain.then_some(spelled)
    }

    /// All threads see the same object, or the same pointer.
    fn is_one_for_all(&self, id: RegionId, var: VarId) -> bool {
        let region = &self.program.regions[id];
        let is_pointer = self.program.types.pointee(self.program.vars[var].ty).is_some();
        let sharing =
            region.vars.iter().find(|it| it.var == var).and_then(|it| it.sharing.as_ref());
        match sharing.map(|it| &it.value) {
            None | Some(Sharing::Shared) => true,
            Some(Sharing::FirstPrivate) => is_pointer,
            Some(
                Sharing::Private
                | Sharing::LastPrivate
                | Sharing::FirstLastPrivate
                | Sharing::Reduction(_)
                | Sharing::Linear
                | Sharing::ThreadPrivate,
            ) => false,
        }
    }

    /// Whether variables have the same values before the construct as in it.
    fn is_same_before(&self, id: RegionId, sum: &Sum) -> bool {
        let region = &self.program.regions[id];
        sum.terms.iter().flat_map(|it| &it.1).all(|var| {
            let found = region.vars.iter().find(|it| it.var == *var);
            match found.and_then(|it| it.sharing.as_ref()).map(|it| &it.value) {
                None | Some(Sharing::Shared | Sharing::FirstPrivate) => true,
                Some(
                    Sharing::Private
                    | Sharing::LastPrivate
                    | Sharing::FirstLastPrivate
                    | Sharing::Reduction(_)
                    | Sharing::Linear
                    | Sharing::ThreadPrivate,
                ) => false,
            }
        })
    }
}

/// A construct of the team at the same place.
fn other(like: &Construct<Spelled>, leaf: Leaf) -> Construct<Spelled> {
    Construct { leaves: vec![leaf], clauses: Vec::new(), ..like.clone() }
}

fn clause(kind: ClauseKind<Spelled>, span: Span) -> Clause<Spelled> {
    Clause { kind, on: None, group: None, switch: None, span }
}

/// Clauses with which a loop over tiles does what the loop over rounds does.
fn keeps_meaning(kind: &ClauseKind<Spelled>) -> bool {
    match kind {
        ClauseKind::Schedule(it) => {
            it.chunk.is_none() && matches!(it.kind, ScheduleKind::Static | ScheduleKind::Auto)
        }
        ClauseKind::Ordered(_) | ClauseKind::Linear(_) | ClauseKind::Induction(_) => false,
        // Combined at each round.
        ClauseKind::Reduction(it) => it.modifier != Some(ReductionModifier::Inscan),
        ClauseKind::LastPrivate { conditional, .. } => !conditional,
        _ => true,
    }
}

impl Maker<'_, '_> {
    /// The loop over tiles.
    fn put_near(
        &mut self,
        near: &Near,
        nest: &Nest,
        (pragma, plan): (&str, &str),
        is_brought: &dyn Fn(&Array) -> bool,
        out: &mut Out<'_>,
    ) {
        let [first] = nest.loops.as_slice() else { return };
        let [tiles, tile, round, end] = ["tiles", "tile", "round", "end"].map(|it| self.name(it));
        out.line(&format!("const unsigned {tiles} = __ferry_near_tiles({plan});"));
        out.raw(pragma);
        out.line(&format!("for (unsigned {tile} = 0; {tile} < {tiles}; {tile}++)"));
        out.line("{");
        let before = self.inside.clone();
        out.indented(|out| {
            out.line(&format!("__ferry_near_enter({plan}, {tile});"));
            out.line(&format!("const int {end} = (int)__ferry_near_end({plan}, {tile});"));
            for (number, array) in near.arrays.iter().enumerate() {
                if !is_brought(array) {
                    continue;
                }
                let [buffer, low] = ["near", "low"].map(|it| self.name(it));
                let name = self.outside.var_name(array.var);
                out.line(&format!(
                    "__typeof__({name}[0]) *const {buffer} = __ferry_near_at({plan}, {number}, {tile});"
                ));
                out.line(&format!("const long {low} = __ferry_near_low({plan}, {number}, {tile});"));
                self.inside.find_elements(array.var, buffer, low);
            }
            out.line(&format!(
                "for (int {round} = (int)__ferry_near_first({plan}, {tile}); {round} < {end}; {round}++)"
            ));
            out.line("{");
            out.indented(|out| {
                out.line(&format!("const unsigned long {} = (unsigned long){round};", first.counter));
                first.before.iter().for_each(|it| out.line(it));
                self.block(&nest.body, out);
            });
            out.line("}");
            out.line(&format!("__ferry_near_leave({plan}, {tile});"));
        });
        out.line("}");
        self.ends.iter().for_each(|it| out.line(it));
        self.inside = before;
    }
}

/// A row of the runtime's table.
fn described(printer: &Printer<'_>, array: &Array) -> String {
    let name = printer.var_name(array.var);
    let line = |it: &Line| format!("{}, {}", sum(printer, &it.at), sum(printer, &it.step));
    let reaches: Vec<String> = array
        .reaches
        .iter()
        .map(|it| format!("{{ {}, {} }}", line(&it.low), line(&it.high)))
        .collect();
    let flags =
        u32::from(array.writes) | u32::from(array.fills) << 1 | u32::from(array.is_still()) << 2;
    format!(
        "{{ &{name}[0], sizeof({name}[0]), {{ {} }}, {}, {flags} }}",
        reaches.join(", "),
        array.reaches.len()
    )
}

fn sums(array: &Array) -> impl Iterator<Item = &Sum> {
    let lines = array.reaches.iter().flat_map(|it| [&it.low, &it.high]);
    lines.flat_map(|it| [&it.at, &it.step]).chain(&array.guards)
}

/// `((long)n * (long)m - 1)`
fn sum(printer: &Printer<'_>, sum: &Sum) -> String {
    let mut terms = Vec::new();
    for (factor, vars) in &sum.terms {
        let names = vars.iter().map(|it| format!("(long){}", printer.var_name(*it)));
        let product: Vec<String> = std::iter::once(format!("{factor}l")).chain(names).collect();
        terms.push(product.join(" * "));
    }
    if terms.is_empty() { "0l".to_owned() } else { format!("({})", terms.join(" + ")) }
}

/// How a loop uses variables.
struct Uses {
    /// Variables that are subscripted.
    subscripted: FxHashSet<VarId>,
    /// Variables that are used in other ways, or whose elements have their addresses taken.
    otherwise: FxHashSet<VarId>,
    /// Variables that come to life in it.
    declared: FxHashSet<VarId>,
}

impl Uses {
    fn new(program: &Program, stmt: StmtId) -> Uses {
        let mut uses = Uses {
            subscripted: FxHashSet::default(),
            otherwise: FxHashSet::default(),
            declared: FxHashSet::default(),
        };
        uses.visit(program, Part::Stmt(stmt), true);
        uses
    }

    fn is_only_subscripted(&self, var: VarId) -> bool {
        !self.otherwise.contains(&var) && self.subscripted.contains(&var)
    }

    /// `is_value`: what is there is read or written at once, and its address goes nowhere.
    fn visit(&mut self, program: &Program, part: Part, is_value: bool) {
        if let Part::Local(var) = part {
            self.declared.insert(var);
        }
        let Part::Expr(id) = part else {
            return program.parts(part, &mut |it| self.visit(program, it, true));
        };
        match program.exprs[id].kind {
            ExprKind::Var(var) => _ = self.otherwise.insert(var),
            ExprKind::Index(base, by) => {
                self.visit(program, Part::Expr(by), true);
                let named = variable(program, base);
                match named {
                    Some(var) if is_value => _ = self.subscripted.insert(var),
                    Some(var) => _ = self.otherwise.insert(var),
                    // Elements of what is in an element.
                    None => self.visit_base(program, base, is_value),
                }
            }
            ExprKind::Member(of, ..) => self.visit(program, Part::Expr(of), is_value),
            ExprKind::AddrOf(of) => self.visit(program, Part::Expr(of), false),
            // An array that becomes a pointer, and is not subscripted.
            ExprKind::Cast(CastKind::ArrayToPointer, of) => {
                self.visit(program, Part::Expr(of), false);
            }
            _ => program.parts(part, &mut |it| self.visit(program, it, true)),
        }
    }

    /// What is subscripted: an array in an element may become a pointer for that.
    fn visit_base(&mut self, program: &Program, base: ExprId, is_value: bool) {
        match program.exprs[base].kind {
            ExprKind::Cast(CastKind::ArrayToPointer, of) => {
                self.visit(program, Part::Expr(of), is_value);
            }
            _ => self.visit(program, Part::Expr(base), true),
        }
    }
}

/// The variable that is subscripted.
fn variable(program: &Program, base: ExprId) -> Option<VarId> {
    match program.exprs[base].kind {
        ExprKind::Var(var) => Some(var),
        ExprKind::Cast(CastKind::ArrayToPointer, of) => match program.exprs[of].kind {
            ExprKind::Var(var) => Some(var),
            _ => None,
        },
        _ => None,
    }
}
