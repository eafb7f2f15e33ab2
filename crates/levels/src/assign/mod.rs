//! Which level of the device runs which loop: teams, threads and lanes become parts of directives
//! that the compiler of the generated text knows.
//!
//! In: a program whose constructs name levels, or leave the choice to the compiler. Out: the same
//! program with those constructs written anew for a device made of cores ([`Leveled`]); none is left
//! that speaks of levels. A team is a thread; how many there are, and whether that can be seen, is
//! decided in [`compute`]; what each loop gets in [`choose`]; how that is said in [`restate`].
//! What is decided here is decided nowhere else: another kind of device needs another such pass.
//!
//! Levels that were left open have been named before, as far as the model of costs chooses them ([`crate::reshape`]); where it does not,
//! the outermost loop that may have threads gets them.
//!
//! What is not known to be independent runs in order, and the note says so.

mod asked;
mod choose;
mod compute;
mod effects;
mod groups;
mod implied;
mod league;
mod pins;
mod proof;
mod restate;

use std::cell::OnceCell;
use std::collections::BTreeSet;

pub use compute::counts;
pub use effects::{assigned_vars, is_quiet_around, is_straight};

use ir::construct::Leaf;
use ir::program::{Program, RegionId, StmtId};
use opt::dependence::Analysis;
use opt::marks::Trust;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Diagnostics;

use crate::mapping::Mapping;
use crate::note::{About, Note};
use crate::reshape::{Within, share_inside};
use proof::Judged;

/// A program whose loops have their levels.
#[derive(Debug)]
pub struct Leveled {
    /// The program.
    pub program: Program,
    /// Regions that say something else than their text does.
    pub changed: FxHashSet<RegionId>,
    /// Who runs the loops.
    pub notes: Vec<Note>,
    /// What could not be done.
    pub faults: Diagnostics,
    /// Whether there are nests whose outer loop every thread runs whole.
    pub shares_inside: bool,
}

impl Leveled {
    /// A program as it is.
    pub fn unchanged(program: &Program) -> Leveled {
        Leveled {
            program: program.clone(),
            changed: FxHashSet::default(),
            notes: Vec::new(),
            faults: Diagnostics::new(),
            shares_inside: false,
        }
    }

    /// Has every thread run the outer loops of these nests whole.
    pub fn share_inside(&mut self, nests: &[Within]) {
        for nest in nests {
            let made = share_inside(&mut self.program, *nest);
            self.shares_inside |= made.is_some();
            self.changed.extend(made.into_iter().flatten());
        }
    }
}

/// In whose words levels are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    /// Cores, on which a team is a thread: what `cc` generates.
    Cores,
    /// Teams of threads, as the user of another compiler would write them.
    League,
}

/// Gives every loop its level; none if no construct of the program asks for that. `reassociates`: sums
/// of floating-point numbers that nobody has marked may be added in another order.
pub fn assign(
    program: &Program,
    reassociates: bool,
    trust: Trust,
    mapping: Option<&Mapping<'_>>,
    without_lanes: &BTreeSet<StmtId>,
) -> Option<Leveled> {
    let ask = Ask { reassociates, trust, machine: Machine::Cores, is_ours: false };
    assign_for(program, ask, mapping, without_lanes)
}

/// The same in the words of teams and their threads; some loops are not for lanes.
pub fn assign_league(
    program: &Program,
    trust: Trust,
    without_lanes: &BTreeSet<StmtId>,
) -> Option<Leveled> {
    let ask = Ask { reassociates: false, trust, machine: Machine::League, is_ours: false };
    assign_for(program, ask, None, without_lanes)
}

/// The same for teams that our own kernels are: no compiler of directives reads it.
pub fn assign_grid(
    program: &Program,
    trust: Trust,
    without_lanes: &BTreeSet<StmtId>,
) -> Option<Leveled> {
    let ask = Ask { reassociates: false, trust, machine: Machine::League, is_ours: true };
    assign_for(program, ask, None, without_lanes)
}

/// What is asked for.
struct Ask {
    reassociates: bool,
    trust: Trust,
    machine: Machine,
    /// What is said is for us alone.
    is_ours: bool,
}

fn assign_for(
    program: &Program,
    ask: Ask,
    mapping: Option<&Mapping<'_>>,
    without_lanes: &BTreeSet<StmtId>,
) -> Option<Leveled> {
    let is_foreign =
        |it: RegionId| program.regions[it].construct.dialect != directive::HOST_DIALECT;
    let foreign: Vec<RegionId> =
        program.regions.iter().map(|it| it.0).filter(|it| is_foreign(*it)).collect();
    if foreign.is_empty() {
        return None;
    }
    let mut pass = Pass {
        leveled: Leveled::unchanged(program),
        done: FxHashSet::default(),
        written: program,
        analysis: OnceCell::new(),
        judged: FxHashMap::default(),
        reassociates: ask.reassociates,
        trust: ask.trust,
        machine: ask.machine,
        is_ours: ask.is_ours,
        inner: inner(program),
        held: FxHashSet::default(),
        without_lanes: without_lanes.iter().copied().collect(),
    };
    if let Some(mapping) = mapping.filter(|it| it.has_pins()) {
        foreign.iter().for_each(|it| pass.take_pins(*it, mapping));
    }
    foreign.iter().for_each(|it| pass.choose_group(*it));
    // Outer constructs stand before inner ones: each decides for the loops inside it.
    for id in &foreign {
        pass.region(*id);
    }
    Some(pass.leveled)
}

struct Pass<'a> {
    leveled: Leveled,
    /// Loops that a construct around has decided on.
    done: FxHashSet<RegionId>,
    /// The program as it came.
    written: &'a Program,
    /// What is known of its loops; asked for only where somebody wants to know.
    analysis: OnceCell<Analysis<'a>>,
    judged: FxHashMap<RegionId, Judged>,
    reassociates: bool,
    trust: Trust,
    machine: Machine,
    is_ours: bool,
    /// Regions directly inside of each, in the order of the text.
    inner: FxHashMap<RegionId, Vec<RegionId>>,
    /// Loops without a directive that are pinned to run in order.
    held: FxHashSet<StmtId>,
    /// Loops that are pinned to run without lanes.
    without_lanes: FxHashSet<StmtId>,
}

fn inner(program: &Program) -> FxHashMap<RegionId, Vec<RegionId>> {
    let mut all: Vec<RegionId> = program.regions.iter().map(|it| it.0).collect();
    all.sort_by_key(|it| program.regions[*it].span.start);
    let mut inner: FxHashMap<RegionId, Vec<RegionId>> = FxHashMap::default();
    for id in all {
        if let Some(parent) = program.regions[id].parent {
            inner.entry(parent).or_default().push(id);
        }
    }
    inner
}

impl Pass<'_> {
    fn program(&self) -> &Program {
        &self.leveled.program
    }

    fn region(&mut self, id: RegionId) {
        let leaves = self.program().regions[id].construct.leaves.clone();
        match leaves.first() {
            Some(Leaf::Offload | Leaf::Kernels) => self.compute(id),
            Some(Leaf::Loop) if !self.done.contains(&id) => self.orphan(id),
            Some(Leaf::Atomic) => self.atomic(id),
            // Made one with the loop around it.
            None => {
                self.construct(id);
            }
            // Advice for memories that cores do not have.
            Some(Leaf::Cache) => self.nothing(id),
            // The same macro again for another preprocessor.
            Some(Leaf::Define) => self.nothing(id),
            Some(Leaf::Transform | Leaf::Resources | Leaf::Memories) => self.hint(id),
            _ => {}
        }
    }

    /// Regions directly or deeper inside, outer ones first.
    fn inside(&self, id: RegionId) -> Vec<RegionId> {
        let mut found = Vec::new();
        let mut open = vec![id];
        while let Some(at) = open.pop() {
            let inner = self.inner.get(&at).map_or(&[][..], Vec::as_slice);
            open.extend(inner.iter().rev());
            if at != id {
                found.push(at);
            }
        }
        found
    }
}
