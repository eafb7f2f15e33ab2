//! What the choice of a mapping rests on besides the program: the device, what is known of loops, and decisions of
//! an earlier build, which people may have changed and pinned.
//!
//! A nest is known by file, function and line of its outermost loop, and by its text: a pin for another text is stale, and said
//! to be. A pin that names loops that are not there, or that may not run in parallel, is an error.

use ir::construct::{Leaf, ReductionOp};
use ir::program::{FunctionId, Program, RegionId, VarId};
use opt::decisions::{Decision, Decisions};
use opt::dependence::Analysis;
use opt::marks::{self, Levels, LoopMark, LoopTree};
use opt::profile::Profile;
use opt::shape;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostic, Diagnostics, Locator, Span};

/// What is chosen for, and with.
#[derive(Clone)]
pub struct Mapping<'a> {
    /// The device.
    pub profile: &'a Profile,
    /// What marks rest on.
    pub marks: marks::Options,
    /// What was decided before; none if nobody wants to know.
    pub decisions: Option<&'a Decisions>,
    /// Where the program was written.
    pub locator: &'a Locator<'a>,
    /// The preprocessed text, and where it begins.
    pub text: (&'a [u8], u32),
    /// Regions whose nests run in blocks: no thread needs to run an outer loop whole there.
    pub blocked: Option<&'a FxHashSet<RegionId>>,
}

/// Levels of the loops of a nest, by position in its tree.
pub type Pinned = Vec<(usize, Levels)>;

impl Mapping<'_> {
    /// Whether threads may share a loop inside of one that each of them runs whole.
    pub fn may_share_inside(&self, program: &Program, id: RegionId) -> bool {
        self.blocked.is_none_or(|blocked| !program.around(id).any(|it| blocked.contains(&it)))
    }

    /// Whether somebody has pinned anything.
    pub fn has_pins(&self) -> bool {
        self.decisions.is_some_and(|it| it.nests.values().any(|it| it.pinned))
    }

    /// The name of a nest: `a.c:f:12`.
    fn key(&self, program: &Program, function: FunctionId, span: Span) -> Option<String> {
        let at = self.locator.locate(span)?;
        let function = program.names.text(program.functions[function].name);
        Some(format!("{}:{function}:{}", at.file, at.line))
    }

    /// The name of a loop: `i:12`.
    fn name(&self, program: &Program, mark: &LoopMark) -> String {
        let line = self.locator.locate(mark.finding.span).map_or(0, |it| it.line);
        format!("{}:{line}", mark.name(program))
    }

    /// A number for the text of a statement; spaces and places do not count.
    fn hash(&self, span: Span) -> String {
        let (text, base) = self.text;
        let offset = |at: u32| at.saturating_sub(base) as usize;
        let text = text.get(offset(span.start)..offset(span.end)).unwrap_or_default();
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let is_marker = |line: &&[u8]| matches!(line, [b'#', b' ', b'0'..=b'9', ..]);
        for line in text.split(|it| *it == b'\n').filter(|it| !is_marker(it)) {
            for byte in line.iter().filter(|it| !it.is_ascii_whitespace()) {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        format!("{hash:016x}")
    }

    /// What somebody has pinned for a nest, if it can be done.
    pub fn pinned(
        &self,
        program: &Program,
        function: FunctionId,
        tree: &LoopTree,
        root: usize,
        faults: &mut Diagnostics,
    ) -> Option<Pinned> {
        let span = tree.loop_at(root)?.finding.span;
        let key = self.key(program, function, span)?;
        let decision = self.decisions?.nests.get(&key).filter(|it| it.pinned)?;
        if decision.hash != self.hash(span) {
            let message = format!("the mapping that is pinned for `{key}` is stale");
            let fault = Diagnostic::warning("F0707", message)
                .at(span, "this nest has changed since")
                .note("it is mapped as if nothing were pinned")
                .help(format!("take the entry out, or set its `hash` to \"{}\"", self.hash(span)));
            faults.push(fault);
            return None;
        }
        let nest = tree.nest(root);
        let mut found: Pinned = nest.iter().map(|it| (*it, Levels::default())).collect();
        let set = |levels: &mut Levels, which: usize| match which {
            0 => levels.teams = true,
            1 => levels.threads = true,
            2 => levels.lanes = true,
            _ => levels.whole = true,
        };
        let lists = [&decision.teams, &decision.threads, &decision.lanes, &decision.whole];
        for (which, list) in lists.iter().enumerate() {
            for name in *list {
                let at = found.iter_mut().find(|it| {
                    tree.loop_at(it.0).is_some_and(|mark| self.name(program, mark) == *name)
                });
                let why = match at {
                    None => "there is no such loop in this nest",
                    Some((at, levels)) => {
                        if tree.loop_at(*at).is_some_and(LoopMark::is_parallel) {
                            set(levels, which);
                            continue;
                        }
                        "iterations of this loop are not known to be independent"
                    }
                };
                faults.push(refused(&key, name, span, why));
                return None;
            }
        }
        if let Some(it) = found.iter().find(|it| it.1.whole).map(|it| it.0)
            && let Some(mark) = tree.loop_at(it)
        {
            let inner = shape::shared_inside(program, tree, it);
            let is_shared = |it: &(usize, Levels)| Some(it.0) == inner && it.1.threads;
            if !found.iter().any(is_shared) {
                let why = "threads that run it whole cannot share the loops that are named";
                faults.push(refused(&key, &self.name(program, mark), span, why));
                return None;
            }
        }
        Some(found)
    }

    /// What was decided for a nest, if anybody wants to know: the shapes of its parts.
    pub fn decision(
        &self,
        program: &Program,
        function: FunctionId,
        tree: &LoopTree,
        root: usize,
        shapes: &[shape::Shape],
        why: &str,
    ) -> Option<(String, Decision)> {
        self.decisions?;
        let span = tree.loop_at(root)?.finding.span;
        let key = self.key(program, function, span)?;
        let names = |pick: fn(&shape::Shape) -> &[usize]| {
            let loops = shapes.iter().flat_map(pick).filter_map(|it| tree.loop_at(*it));
            loops.map(|it| self.name(program, it)).collect::<Vec<String>>()
        };
        let decision = Decision {
            hash: self.hash(span),
            device: self.profile.name.clone(),
            whole: names(|it| &it.whole),
            teams: names(|it| &it.outer),
            threads: names(|it| if it.split.is_empty() { &it.outer } else { &it.split }),
            lanes: names(|it| &it.lanes),
            pinned: false,
            why: format!("by the model: {why}"),
        };
        Some((key, decision))
    }

    /// Loops that get no lanes without being asked for them: those that would add in another order, and those that
    /// read one element again and again. Of such an element the compiler that gets the text knows nothing if it is only told that
    /// iterations are independent, and reads it anew each time; left alone, it tests once that nobody writes it.
    pub fn without_lanes(&self, program: &Program, tree: &LoopTree) -> Vec<usize> {
        let is_whole = |var: VarId| program.types.is_integer(program.vars[var].ty);
        let rounds = |mark: &LoopMark| {
            mark.finding.reductions.iter().any(|(var, op)| {
                let is_picked = matches!(op, ReductionOp::Max | ReductionOp::Min);
                !(is_whole(*var) || is_picked && mark.said.copies.contains(var))
            })
        };
        let count = tree.loops.len();
        let marks = (0..count).filter_map(|at| Some((at, tree.loop_at(at)?)));
        marks
            .filter(|(_, mark)| !mark.said.levels.lanes)
            .filter(|(at, mark)| rounds(mark) || tree.reads_again(*at))
            .map(|it| it.0)
            .collect()
    }

    /// What was decided for all nests of regions that leave the host, after all is done.
    pub fn decided(&self, written: &Program, done: &Program) -> Vec<(String, Decision)> {
        if self.decisions.is_none() {
            return Vec::new();
        }
        let analysis = Analysis::new(written);
        let levels = levels_of(done);
        let mut found = Vec::new();
        for (id, region) in written.regions.iter() {
            if !is_start(written, id) {
                continue;
            }
            let tree = analysis.marks(id, &self.marks);
            let plain = self.without_lanes(written, &tree);
            let terms = shape::Terms::all(shape::Respect::Nothing, &plain);
            let choices = shape::choose_with(written, &tree, self.profile, terms);
            for root in tree.roots() {
                let Some(mark) = tree.loop_at(root) else { continue };
                let span = mark.finding.span;
                let Some(key) = self.key(written, region.function, span) else { continue };
                let mut decision = Decision {
                    hash: self.hash(span),
                    device: self.profile.name.clone(),
                    ..Decision::default()
                };
                for at in tree.nest(root) {
                    let Some(mark) = tree.loop_at(at) else { continue };
                    let Some(it) = levels.get(&place(mark.finding.span)) else { continue };
                    let name = self.name(written, mark);
                    let lists = [
                        (it.whole, &mut decision.whole),
                        (it.teams, &mut decision.teams),
                        (it.threads, &mut decision.threads),
                        (it.lanes, &mut decision.lanes),
                    ];
                    for (_, list) in lists.into_iter().filter(|it| it.0) {
                        list.push(name.clone());
                    }
                }
                let choice = choices.iter().find(|it| it.root == root);
                decision.why =
                    choice.map_or(String::new(), |it| format!("by the model: {}", it.why));
                found.push((key, decision));
            }
        }
        found
    }
}

/// A region that leaves the host.
fn is_start(program: &Program, id: RegionId) -> bool {
    let construct = &program.regions[id].construct;
    construct.has(Leaf::Offload) || construct.has(Leaf::Kernels)
}

fn place(span: Span) -> (u32, u32) {
    (span.start, span.end)
}

/// Who runs loops, by their places.
fn levels_of(program: &Program) -> FxHashMap<(u32, u32), Levels> {
    let mut found: FxHashMap<(u32, u32), Levels> = FxHashMap::default();
    for (_, region) in program.regions.iter() {
        let has = |leaf| region.construct.has(leaf);
        // All threads of a device of cores are teams.
        let all = has(Leaf::For) || has(Leaf::Distribute) && !has(Leaf::Parallel);
        let whole = has(Leaf::Parallel) && !has(Leaf::For) && region.loops.is_empty();
        let levels = Levels { teams: all, threads: has(Leaf::For), lanes: false, whole };
        let mut spans: Vec<Span> = region.loops.iter().map(|it| it.span).collect();
        if spans.is_empty() {
            spans.extend(region.body.map(|it| program.stmts[it].span));
        }
        let last = spans.last().copied();
        for span in spans {
            let lanes = has(Leaf::Simd) && Some(span) == last;
            let known = found.entry(place(span)).or_default();
            known.teams |= levels.teams;
            known.threads |= levels.threads;
            known.whole |= levels.whole;
            known.lanes |= lanes;
        }
    }
    found
}

/// A pin that cannot be done.
pub fn refused(key: &str, name: &str, span: Span, why: &str) -> Diagnostic {
    let message = format!("the mapping that is pinned for `{key}` cannot be used: `{name}`: {why}");
    Diagnostic::error("F0708", message)
        .at(span, "this nest")
        .help("change the entry, or set `pinned = false` to have one chosen")
}
