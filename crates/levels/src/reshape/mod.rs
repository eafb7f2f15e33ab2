//! Who runs which loop of a region, said in the words that the region is written in.
//!
//! In: a program, a device and what is known of its loops ([`Mapping`]). Out: the same program with the directives of those nests
//! written anew for which crate `opt` finds a shape that costs less on the device ([`Reshaped`]): levels are named where they
//! were left open, loops are made one, lanes and threads change places. Directives that cost little more than the best
//! stay as they are. What cannot be said otherwise without a difference somebody could see stays too, and
//! [`Reshaped::left`] says why.
//!
//! Constructs that say who runs what are in [`teams`], those that say what may run in any order in [`levels`]. Not here: the choice
//! itself (`opt::shape`), and any other standard's words.

mod edit;
mod form;
mod levels;
mod teams;
mod within;

use std::collections::{BTreeMap, BTreeSet};

use ir::construct::Leaf;
use ir::program::{Program, RegionId, StmtId, VarId};
use ir::region::Loop;
use opt::decisions::Decision;
use opt::dependence::Analysis;
use opt::marks::{LoopMark, LoopTree};
use opt::shape::{self, Because, Choice, Family, Respect, Shape, Terms};
use source::{Diagnostics, Span};

use crate::mapping::{Mapping, Pinned, refused};
use crate::note::{About, Note};
use form::form;
pub use form::form as canonical_loop;
pub use within::{Within, share_inside};

/// A program whose nests have the shapes that were chosen.
#[derive(Debug)]
pub struct Reshaped {
    /// The program.
    pub program: Program,
    /// Directives that say something else than their text; of the first of a nest, why.
    pub changed: BTreeMap<RegionId, Option<String>>,
    /// Constructs with a nest that stays as it is although another shape costs less, and why.
    pub left: Vec<(RegionId, String)>,
    /// Loops of nests that were decided on and are not for lanes.
    pub without_lanes: BTreeSet<StmtId>,
    /// Nests whose outer loop is to be run whole by each thread; as yet threads share it.
    pub within: Vec<Within>,
    /// The shape of each nest by its name, if that is asked for.
    pub decisions: Vec<(String, Decision)>,
    /// Pins that cannot be had.
    pub faults: Diagnostics,
    /// What was chosen and why, by nest.
    pub notes: Vec<Note>,
}

impl Reshaped {
    /// Has every thread run the outer loops of nests whole for which that was chosen, where directives say who runs
    /// what; elsewhere they have to get such directives first.
    pub fn share_inside(&mut self) {
        for nest in std::mem::take(&mut self.within) {
            match share_inside(&mut self.program, nest) {
                Some(made) => made.iter().for_each(|it| {
                    self.changed.entry(*it).or_default();
                }),
                None => self.within.push(nest),
            }
        }
    }
}

/// How levels are said where nothing else is to be made of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    /// All of them by name, for a pass that reads them.
    Named,
    /// As a user would write them: the two outer levels are one, what runs in order says so.
    Two,
    /// The same with all three levels.
    Three,
}

/// Gives nests the shapes that cost least.
pub fn reshape(program: &Program, mapping: &Mapping<'_>, levels: Levels) -> Reshaped {
    all(program, mapping, levels, false)
}

/// The same for nests whose levels are left to the compiler, and nothing else; of pins those of [`Within`].
pub fn name_levels(program: &Program, mapping: &Mapping<'_>) -> Reshaped {
    all(program, mapping, Levels::Named, true)
}

fn all(program: &Program, mapping: &Mapping<'_>, levels: Levels, only_open: bool) -> Reshaped {
    let mut pass = Pass {
        written: program,
        analysis: Analysis::new(program),
        mapping,
        levels,
        only_open,
        made: Reshaped {
            program: program.clone(),
            changed: BTreeMap::new(),
            left: Vec::new(),
            without_lanes: BTreeSet::new(),
            within: Vec::new(),
            decisions: Vec::new(),
            faults: Diagnostics::new(),
            notes: Vec::new(),
        },
    };
    for (id, region) in program.regions.iter() {
        let leaves_host =
            region.construct.has(Leaf::Offload) || region.construct.has(Leaf::Kernels);
        if leaves_host && !region.construct.goes_back() {
            pass.region(id);
        }
    }
    pass.made
}

struct Pass<'a> {
    written: &'a Program,
    analysis: Analysis<'a>,
    mapping: &'a Mapping<'a>,
    levels: Levels,
    /// What names levels stays as it is.
    only_open: bool,
    made: Reshaped,
}

/// Why a nest keeps the levels that it names, in either way of naming them.
const NOT_CERTAIN: &str = "what iterations need for themselves is not certain";
const OWN_COPY: &str =
    "a directive inside has its own copy of a variable that is used outside of it too";

/// A nest and the shape it is to have.
struct Nest<'t> {
    /// The construct that leaves the host.
    start: RegionId,
    tree: &'t LoopTree,
    root: usize,
    shape: &'t Shape,
    why: String,
}

/// What a loop of a nest is in its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Teams share it; threads too, unless a loop inside has them.
    Outer,
    /// Threads of a team share it.
    Threads,
    /// Lanes of a thread share it.
    Lanes,
    /// One thread runs it in order.
    InOrder,
}

impl Nest<'_> {
    fn mark(&self, at: usize) -> Option<&LoopMark> {
        self.tree.loop_at(at)
    }

    fn role_at(&self, at: usize) -> Role {
        match () {
            () if self.shape.outer.contains(&at) => Role::Outer,
            () if self.shape.split.contains(&at) => Role::Threads,
            () if self.shape.lanes.contains(&at) => Role::Lanes,
            () => Role::InOrder,
        }
    }

    fn role(&self, stmt: StmtId) -> Role {
        self.tree.position(stmt).map_or(Role::InOrder, |it| self.role_at(it))
    }

    /// Whether lanes share a loop besides what else it is.
    fn has_lanes(&self, stmt: StmtId) -> bool {
        self.tree.position(stmt).is_some_and(|it| self.shape.lanes.contains(&it))
    }

    /// The loops of the nest, outer ones first.
    fn loops(&self) -> impl Iterator<Item = &LoopMark> {
        self.tree.nest(self.root).into_iter().filter_map(|it| self.tree.loop_at(it))
    }

    /// Loops that teams share, outermost first.
    fn outer(&self) -> impl Iterator<Item = &LoopMark> {
        self.shape.outer.iter().filter_map(|it| self.tree.loop_at(*it))
    }
}

impl Pass<'_> {
    fn region(&mut self, id: RegionId) {
        if self.only_open {
            return self.open_region(id);
        }
        let tree = self.analysis.marks(id, &self.mapping.marks);
        // Levels have no word for loops that every thread runs whole.
        let is_named = self.levels == Levels::Named;
        let terms = Terms {
            may_share_inside: is_named,
            teams_are_threads: !is_named,
            ..Terms::all(Respect::Written, &[])
        };
        let profile = self.mapping.profile;
        let choices = shape::choose_with(self.written, &tree, profile, terms);
        let function = self.written.regions[id].function;
        for root in tree.roots().collect::<Vec<_>>() {
            let mut faults = std::mem::take(&mut self.made.faults);
            let pinned = self.mapping.pinned(self.written, function, &tree, root, &mut faults);
            self.made.faults = faults;
            let shapes = match pinned {
                Some(pinned) => vec![self.pin(id, &tree, root, &pinned)],
                None => {
                    let nest = tree.nest(root);
                    let own = choices.iter().filter(|it| nest.contains(&it.root));
                    own.map(|it| self.choice(id, &tree, it)).collect()
                }
            };
            let why = choices.iter().find(|it| it.root == root).map_or("", |it| it.why.as_str());
            let decided = self.mapping.decision(self.written, function, &tree, root, &shapes, why);
            self.made.decisions.extend(decided);
        }
    }

    /// Names levels where a construct leaves them open.
    fn open_region(&mut self, id: RegionId) {
        if self.written.regions[id].construct.dialect == directive::HOST_DIALECT {
            return;
        }
        let tree = self.analysis.marks(id, &self.mapping.marks);
        let function = self.written.regions[id].function;
        let roots: Vec<usize> = tree.roots().collect();
        let mut said_elsewhere = Diagnostics::new();
        let pins: Vec<(usize, Pinned)> = roots
            .into_iter()
            .filter_map(|root| {
                let faults = &mut said_elsewhere;
                Some((root, self.mapping.pinned(self.written, function, &tree, root, faults)?))
            })
            .collect();
        let is_pinned = |at: usize| pins.iter().any(|it| tree.nest(it.0).contains(&at));
        let plain = self.mapping.without_lanes(self.written, &tree);
        let may_share_inside = self.mapping.may_share_inside(self.written, id);
        let terms = Terms { may_share_inside, ..Terms::all(Respect::Written, &plain) };
        let profile = self.mapping.profile;
        let choices = shape::choose_with(self.written, &tree, profile, terms);
        let open: Vec<Choice> =
            choices.into_iter().filter(|it| it.written.is_none() && !is_pinned(it.root)).collect();
        for choice in open {
            self.choice(id, &tree, &choice);
        }
        // What else is pinned is for the pass that gives levels to loops.
        for (root, pinned) in pins.iter().filter(|it| it.1.iter().any(|it| it.1.whole)) {
            self.pin(id, &tree, *root, pinned);
        }
    }

    /// Takes a choice if it is another than what is written; answers the shape that the nest has.
    fn choice(&mut self, id: RegionId, tree: &LoopTree, choice: &Choice) -> Shape {
        let as_written = || choice.written.as_ref().map_or_else(Shape::default, |it| it.0.clone());
        match choice.because {
            Because::Cheapest => {}
            Because::Kept | Because::Uncertain => return as_written(),
            Because::NothingParallel => return Shape::default(),
        }
        // What runs in order hands the question on to the loops inside.
        if choice.shape.family() == Family::InOrder {
            return Shape::default();
        }
        let (shape, why) = (&choice.shape.outside(), choice.why.clone());
        let nest = Nest { start: id, tree, root: choice.root, shape, why };
        match self.apply(&nest) {
            Ok(()) => {
                self.note(id, tree, choice);
                self.made.within.extend(Within::of(tree, &choice.shape));
                choice.shape.clone()
            }
            Err(why) => {
                let better = choice.shape.text(self.written, tree);
                self.made.left.push((id, format!("{better} would cost less, but {why}")));
                as_written()
            }
        }
    }

    fn note(&mut self, id: RegionId, tree: &LoopTree, choice: &Choice) {
        let Some(mark) = tree.loop_at(choice.root) else { return };
        self.made.notes.push(Note {
            about: About::Loop,
            region: self.written.regions[id].construct.span,
            span: mark.finding.span,
            text: format!("{}: {}", mark.name(self.written), choice.why),
            at: None,
        });
    }

    /// Takes what somebody has pinned.
    fn pin(&mut self, id: RegionId, tree: &LoopTree, root: usize, pinned: &Pinned) -> Shape {
        let with = |is: fn(opt::marks::Levels) -> bool| {
            pinned.iter().filter(|it| is(it.1)).map(|it| it.0).collect::<Vec<usize>>()
        };
        let mut shape = Shape {
            whole: with(|it| it.whole),
            outer: with(|it| it.teams),
            split: with(|it| it.threads && !it.teams),
            lanes: with(|it| it.lanes),
        };
        if shape.outer.is_empty() {
            shape.outer = std::mem::take(&mut shape.split);
        }
        let outside = shape.outside();
        let root = outside.outer.first().copied().unwrap_or(root);
        let why = format!("{}: pinned", shape.text(self.written, tree));
        let nest = Nest { start: id, tree, root, shape: &outside, why };
        let within = Within::of(tree, &shape);
        let done = match within.is_some() && self.levels != Levels::Named {
            true => Err("there are no words for loops that every thread runs whole".to_owned()),
            false => self.apply(&nest),
        };
        self.made.within.extend(within.filter(|_| done.is_ok()));
        if let Err(why) = done {
            let mark = tree.loop_at(root);
            let span = mark.map_or(self.written.regions[id].span, |it| it.finding.span);
            let name = mark.map_or("loop", |it| it.name(self.written));
            self.made.faults.push(refused("this nest", name, span, &why));
        }
        shape
    }

    fn apply(&mut self, nest: &Nest<'_>) -> Result<(), String> {
        let dialect = self.written.regions[nest.start].construct.dialect;
        match dialect == directive::HOST_DIALECT {
            true => self.teams(nest)?,
            false => self.levels(nest)?,
        }
        for it in nest.loops() {
            if !nest.has_lanes(it.stmt()) {
                self.made.without_lanes.insert(it.stmt());
            }
        }
        Ok(())
    }

    /// Nothing in code that a nest calls asks who runs it, or deals loops of its own.
    fn calls_are_quiet(&self, id: RegionId) -> Result<(), String> {
        let program = self.written;
        let region = &program.regions[id];
        if !region.indirect_calls.is_empty() {
            return Err("a function is called through a pointer".to_owned());
        }
        for it in &region.reaches {
            let function = &program.functions[*it];
            let name = program.names.text(function.name);
            let asks = directive::RUNTIME_SYMBOLS.iter().any(|it| name.starts_with(it));
            let has_regions = program.regions.iter().any(|region| region.1.function == *it);
            let is_quiet = match function.body {
                Some(_) => !has_regions && !asks,
                None => self.analysis.is_pure(*it),
            };
            if !is_quiet {
                return Err(format!("`{name}` may depend on who calls it"));
            }
        }
        Ok(())
    }

    /// Loops that are made one, in the form of directives.
    fn outer_loops(&self, nest: &Nest<'_>) -> Result<Vec<Loop>, String> {
        let known = |stmt: StmtId| {
            let mut all = self.written.regions.iter().flat_map(|it| it.1.loops.iter());
            all.find(|it| it.stmt == stmt).cloned()
        };
        let found = nest.outer().map(|it| {
            known(it.stmt())
                .or_else(|| form(self.written, it.stmt()))
                .ok_or_else(|| "a loop has not the form that directives ask for".to_owned())
        });
        found.collect()
    }

    /// Whether a variable is mentioned in a statement outside of another that stands in it.
    fn is_used_between(&self, outer: Span, inner: Span, var: VarId) -> bool {
        let program = self.written;
        let is_in = |span: Span, of: Span| of.start <= span.start && span.end <= of.end;
        program.exprs.iter().any(|(_, it)| {
            it.kind == ir::program::ExprKind::Var(var)
                && is_in(it.span, outer)
                && !is_in(it.span, inner)
                && !program.regions.iter().any(|(_, region)| is_in(it.span, region.construct.span))
        })
    }
}
