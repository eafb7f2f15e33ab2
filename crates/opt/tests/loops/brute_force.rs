//! Random nests of loops, compared with running them: a loop in which two iterations meet is
//! never called parallel, and one in which none meet is never called certainly dependent.
//!
//! A nest is decoded from bytes, printed as C, read by the real front end and examined; beside that
//! it is interpreted for several values of `n`, and every access is noted with the iteration that
//! made it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use opt::dependence::{Finding, Verdict};
use proptest::prelude::*;

use super::support;

const VARS: [&str; 3] = ["i", "j", "k"];
/// Values that `n` takes.
const SIZES: [i64; 7] = [0, 1, 2, 3, 4, 5, 7];
/// Columns of the array with two dimensions; subscripts are moved to its middle.
const COLUMNS: i64 = 2000;

/// `sum of factors * counters + constant + n * (the same)`
#[derive(Clone, Debug)]
struct Linear {
    factors: [i64; 3],
    constant: i64,
    by_n: [i64; 3],
    n: i64,
}

#[derive(Clone, Debug)]
struct Loop {
    begin: Linear,
    /// First value that is no longer taken.
    end: Linear,
    step: i64,
}

#[derive(Clone, Debug)]
enum Place {
    /// `a[x]` or `b[x]`
    Line(usize, Linear),
    /// `c[x][y]`
    Grid(Linear, Linear),
    /// A scalar.
    Scalar(usize),
}

#[derive(Clone, Debug)]
struct Statement {
    /// `if (guard >= 0)`
    guard: Option<Linear>,
    /// `+=` rather than `=`
    accumulates: bool,
    to: Place,
    from: Vec<Place>,
    /// How many loops are around it.
    depth: usize,
    /// Before the inner loop rather than after it.
    is_early: bool,
}

#[derive(Clone, Debug)]
struct Nest {
    loops: Vec<Loop>,
    statements: Vec<Statement>,
}

/// Hands out small numbers.
struct Genes<'a>(std::slice::Iter<'a, u8>);

impl Genes<'_> {
    fn below(&mut self, limit: i64) -> i64 {
        i64::from(self.0.next().copied().unwrap_or(0)) % limit
    }

    /// Mostly zero.
    fn factor(&mut self) -> i64 {
        [0, 0, 1, 1, 0, -1, 2, 0, 1, 3, 0, -2].get(self.below(12) as usize).copied().unwrap_or(0)
    }

    fn linear(&mut self, depth: usize, with_n: bool) -> Linear {
        let mut it = Linear { factors: [0; 3], constant: 0, by_n: [0; 3], n: 0 };
        for at in 0..depth {
            it.factors[at] = self.factor();
        }
        it.constant = self.below(7) - 3;
        if with_n && self.below(3) == 0 {
            it.n = self.below(3) - 1;
            if self.below(2) == 0 {
                it.by_n[self.below(depth as i64) as usize] = 1;
            }
        }
        it
    }

    fn place(&mut self, depth: usize) -> Place {
        match self.below(8) {
            0..=3 => Place::Line(self.below(2) as usize, self.linear(depth, true)),
            4..=6 => Place::Grid(self.linear(depth, true), self.linear(depth, true)),
            _ => Place::Scalar(self.below(2) as usize),
        }
    }

    fn bound(&mut self, depth: usize, low: i64, high: i64) -> Linear {
        let mut it = Linear { factors: [0; 3], constant: 0, by_n: [0; 3], n: 0 };
        it.constant = low + self.below(high - low + 1);
        match self.below(4) {
            0 => it.n = 1,
            1 if depth > 0 => it.factors[self.below(depth as i64) as usize] = 1,
            _ => {}
        }
        it
    }

    fn nest(&mut self) -> Nest {
        let depth = 1 + self.below(3) as usize;
        let mut loops = Vec::new();
        for at in 0..depth {
            let step = [1, 1, 1, 2, -1][self.below(5) as usize];
            let mut begin = Linear { factors: [0; 3], constant: 0, by_n: [0; 3], n: 0 };
            if self.below(3) == 0 {
                begin = self.bound(at, 0, 2);
            }
            let end = self.bound(at, 1, 5);
            loops.push(if step > 0 {
                Loop { begin, end, step }
            } else {
                // From the last value down.
                Loop { begin: end.plus(-1), end: begin.plus(-1), step }
            });
        }
        let statements = (0..1 + self.below(3))
            .map(|_| {
                let depth =
                    if self.below(3) == 0 { 1 + self.below(depth as i64) as usize } else { depth };
                Statement {
                    guard: (self.below(5) == 0).then(|| self.linear(depth, true)),
                    accumulates: self.below(5) == 0,
                    to: self.place(depth),
                    from: (0..self.below(3)).map(|_| self.place(depth)).collect(),
                    depth,
                    is_early: self.below(2) == 0,
                }
            })
            .collect();
        Nest { loops, statements }
    }
}

impl Linear {
    fn plus(&self, by: i64) -> Linear {
        Linear { constant: self.constant + by, ..self.clone() }
    }

    fn value(&self, counters: [i64; 3], n: i64) -> i64 {
        let dot = |factors: [i64; 3]| -> i64 {
            factors.iter().zip(counters).map(|(factor, counter)| factor * counter).sum()
        };
        dot(self.factors) + self.constant + n * (dot(self.by_n) + self.n)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (factor, var) in self.factors.iter().zip(VARS) {
            if *factor != 0 {
                let _ = write!(text, "{factor} * {var} + ");
            }
        }
        for (factor, var) in self.by_n.iter().zip(VARS) {
            if *factor != 0 {
                let _ = write!(text, "{factor} * {var} * n + ");
            }
        }
        if self.n != 0 {
            let _ = write!(text, "{} * n + ", self.n);
        }
        format!("{text}({})", self.constant)
    }
}

impl Place {
    fn text(&self) -> String {
        match self {
            Place::Line(which, at) => format!("{}[{}]", ["a", "b"][*which], at.text()),
            Place::Grid(row, column) => {
                format!("c[{}][{}]", row.text(), column.plus(COLUMNS / 2).text())
            }
            Place::Scalar(which) => ["s", "t"][*which].to_owned(),
        }
    }

    /// Which array or scalar, and where in it.
    fn location(&self, counters: [i64; 3], n: i64) -> (usize, i64, i64) {
        match self {
            Place::Line(which, at) => (*which, at.value(counters, n), 0),
            Place::Grid(row, column) => (2, row.value(counters, n), column.value(counters, n)),
            Place::Scalar(which) => (3 + which, 0, 0),
        }
    }
}

impl Nest {
    fn text(&self) -> String {
        let mut text = format!(
            "void f(int n, double *restrict a, double *restrict b, double (*restrict c)[{COLUMNS}]) {{\n\
             double s = 0, t = 0;\n"
        );
        self.print(0, &mut text);
        text + "a[0] = s;\n}\n"
    }

    fn print(&self, depth: usize, text: &mut String) {
        let at = |is_early| {
            self.statements.iter().filter(move |it| it.depth == depth && it.is_early == is_early)
        };
        at(true).for_each(|it| it.print(text));
        if let Some(it) = self.loops.get(depth) {
            let var = VARS[depth];
            let test = if it.step > 0 { "<" } else { ">" };
            let (begin, end, step) = (it.begin.text(), it.end.text(), it.step);
            let _ =
                writeln!(text, "for (int {var} = {begin}; {var} {test} {end}; {var} += {step}) {{");
            self.print(depth + 1, text);
            text.push_str("}\n");
        }
        at(false).for_each(|it| it.print(text));
    }

    /// All accesses in order.
    fn run(&self, n: i64) -> Vec<Event> {
        let mut events = Vec::new();
        self.interpret(0, [0; 3], n, &mut events);
        events
    }

    /// A run of loop `level` with two iterations or more in which none reads what another writes: the
    /// counters around it.
    fn run_without_meeting(&self, events: &[Event], level: usize, n: i64) -> Option<Vec<i64>> {
        let mut starts: Vec<[i64; 3]> = vec![[0; 3]];
        for depth in 0..level {
            let inner = starts.iter().flat_map(|&counters| {
                self.values(depth, counters, n).into_iter().map(move |value| {
                    let mut counters = counters;
                    counters[depth] = value;
                    counters
                })
            });
            starts = inner.collect();
        }
        starts.into_iter().map(|it| it[..level].to_vec()).find(|around| {
            let mut counters = [0; 3];
            counters[..level].copy_from_slice(around);
            let own: Vec<&Event> = events
                .iter()
                .filter(|it| it.depth > level && it.counters[..level] == around[..])
                .collect();
            let is_met = own.iter().any(|a| {
                let differs = |b: &&&Event| a.counters[level] != b.counters[level];
                let meets = |b: &Event| a.writes && !b.writes && a.at == b.at;
                own.iter().filter(differs).any(|b| meets(b))
            });
            self.values(level, counters, n).len() > 1 && !is_met
        })
    }

    /// The values that the counter of a loop takes.
    fn values(&self, depth: usize, counters: [i64; 3], n: i64) -> Vec<i64> {
        let Some(it) = self.loops.get(depth) else { return Vec::new() };
        let end = it.end.value(counters, n);
        let mut at = it.begin.value(counters, n);
        let mut values = Vec::new();
        while if it.step > 0 { at < end } else { at > end } {
            values.push(at);
            at += it.step;
        }
        values
    }

    fn interpret(&self, depth: usize, counters: [i64; 3], n: i64, events: &mut Vec<Event>) {
        let at = |is_early| {
            self.statements.iter().filter(move |it| it.depth == depth && it.is_early == is_early)
        };
        at(true).for_each(|it| it.interpret(counters, n, events));
        if let Some(it) = self.loops.get(depth) {
            let mut counters = counters;
            let end = it.end.value(counters, n);
            counters[depth] = it.begin.value(counters, n);
            while if it.step > 0 { counters[depth] < end } else { counters[depth] > end } {
                self.interpret(depth + 1, counters, n, events);
                counters[depth] += it.step;
            }
        }
        at(false).for_each(|it| it.interpret(counters, n, events));
    }
}

impl Statement {
    fn print(&self, text: &mut String) {
        if let Some(guard) = &self.guard {
            let _ = write!(text, "if ({} >= 0) ", guard.text());
        }
        let op = if self.accumulates { "+=" } else { "=" };
        let from: Vec<String> = self.from.iter().map(Place::text).collect();
        let from = if from.is_empty() { "1".to_owned() } else { from.join(" + ") };
        let _ = writeln!(text, "{} {op} {from};", self.to.text());
    }

    fn interpret(&self, counters: [i64; 3], n: i64, events: &mut Vec<Event>) {
        if self.guard.as_ref().is_some_and(|it| it.value(counters, n) < 0) {
            return;
        }
        let mut event = |place: &Place, writes| {
            let depth = self.depth;
            events.push(Event { counters, depth, at: place.location(counters, n), writes });
        };
        self.from.iter().for_each(|it| event(it, false));
        if self.accumulates {
            event(&self.to, false);
        }
        event(&self.to, true);
    }
}

struct Event {
    counters: [i64; 3],
    depth: usize,
    at: (usize, i64, i64),
    writes: bool,
}

/// Whether two iterations of loop `level` meet in one of its runs. Scalars in `own` are one each: then
/// none may be read before it is written. Those in `combined` are not looked at.
fn meets(
    events: &[Event],
    level: usize,
    own: &BTreeSet<usize>,
    combined: &BTreeSet<usize>,
) -> bool {
    // By run of the loop and location: iterations that read, that write; writes of this iteration.
    type Key = (Vec<i64>, (usize, i64, i64));
    let mut seen: BTreeMap<Key, (BTreeSet<i64>, BTreeSet<i64>)> = BTreeMap::new();
    for event in events.iter().filter(|it| it.depth > level) {
        if combined.contains(&event.at.0) {
            continue;
        }
        let key = (event.counters[..level].to_vec(), event.at);
        let iteration = event.counters[level];
        let (reads, writes) = seen.entry(key).or_default();
        if event.writes {
            writes.insert(iteration);
        } else if !own.contains(&event.at.0) || !writes.contains(&iteration) {
            reads.insert(iteration);
        }
    }
    seen.iter().any(|((_, at), (reads, writes))| {
        let is_own = own.contains(&at.0);
        let is_rewritten = writes.len() > 1 && !is_own;
        is_rewritten || writes.iter().any(|it| reads.iter().any(|other| is_own || other != it))
    })
}

/// Scalars of a finding, by number.
fn scalars<'a>(
    program: &ir::program::Program,
    vars: impl Iterator<Item = &'a ir::program::VarId>,
) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for &var in vars {
        match program.vars[var].name.map(|it| program.names.text(it)) {
            Some("s") => _ = found.insert(3),
            Some("t") => _ = found.insert(4),
            _ => {}
        }
    }
    found
}

/// Numbers of loops.
#[derive(Default)]
struct Counts {
    /// Free of dependences in all runs.
    free: usize,
    /// Found to be so.
    found: usize,
    /// Certainly not free of them.
    certain: usize,
}

/// Compares what is found of the loops with their runs.
fn compare(nest: &Nest) -> Result<Counts, String> {
    let text = nest.text();
    let program = support::program(&text);
    let findings = support::findings(&program);
    let runs: Vec<Vec<Event>> = SIZES.iter().map(|&n| nest.run(n)).collect();
    let mut counts = Counts::default();
    for (level, finding) in findings.iter().enumerate() {
        if finding.verdict == Verdict::Parallel {
            let own = scalars(&program, finding.private.iter());
            let combined = scalars(&program, finding.reductions.iter().map(|it| &it.0));
            for (events, n) in runs.iter().zip(SIZES) {
                if meets(events, level, &own, &combined) {
                    return Err(format!("loop {level} with n = {n}\n{text}\n{finding:#?}"));
                }
            }
            counts.found += 1;
        }
        if matches!(&finding.verdict, Verdict::Carried(it) if it.certain) {
            counts.certain += 1;
            for (events, n) in runs.iter().zip(SIZES) {
                if let Some(counters) = nest.run_without_meeting(events, level, n) {
                    let where_ = format!("loop {level} at {counters:?} with n = {n}");
                    return Err(format!("{where_} is not certain\n{text}\n{finding:#?}"));
                }
            }
        }
        counts.free += usize::from(is_free(&runs, level, finding));
    }
    Ok(counts)
}

/// No two iterations meet, arrays alone being looked at, unless a scalar stands in the way.
fn is_free(runs: &[Vec<Event>], level: usize, finding: &Finding) -> bool {
    let none = BTreeSet::new();
    finding.verdict == Verdict::Parallel || !runs.iter().any(|it| meets(it, level, &none, &none))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(600), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_loop_whose_iterations_meet_is_never_called_parallel(
        genes in prop::collection::vec(any::<u8>(), 120)
    ) {
        let nest = Genes(genes.iter()).nest();
        if let Err(message) = compare(&nest) {
            return Err(TestCaseError::fail(message));
        }
    }
}

#[test]
fn most_loops_that_are_free_of_dependences_are_proven_to_be_and_some_are_certainly_not() {
    let mut all = Counts::default();
    let mut state: u64 = 1;
    for _ in 0..400 {
        let genes: Vec<u8> = (0..120)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as u8
            })
            .collect();
        let one = compare(&Genes(genes.iter()).nest()).unwrap();
        all.free += one.free;
        all.found += one.found;
        all.certain += one.certain;
    }
    let Counts { free, found, certain } = all;
    let share = found * 100 / free;
    assert!(share >= 80, "{found} of {free} loops were proven, {share} %");
    assert!(certain >= 40, "{certain} loops are certainly dependent");
}
