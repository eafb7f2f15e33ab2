//! What a shape costs on a device, in nanoseconds that are good for comparing and for nothing else.
//!
//! The larger of two times counts: arithmetic at the rate of the device, memory at its bandwidth, both as far as there
//! are threads to use them. On top come the start of the region, of groups of threads inside it, and what combines results.
//!
//! On cores a thread walks through memory, so what it skips is read in vain; on a GPU neighbouring threads do, so
//! the stride counts in the loop that they share.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::marks::{AccessMark, LoopTree, Stride};
use crate::profile::{Kind, Profile};

use super::{Shape, Terms};
use ir::program::{Program, VarId};

/// What something costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Arithmetic.
    pub compute: f64,
    /// Memory.
    pub memory: f64,
    /// Starting regions and threads.
    pub starts: f64,
    /// Combining results.
    pub combine: f64,
}

impl Cost {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.running() + self.starts + self.combine
    }

    /// Arithmetic and memory overlap, but not quite.
    fn running(&self) -> f64 {
        self.compute.max(self.memory) + APART * self.compute.min(self.memory)
    }

    /// One after the other.
    pub(super) fn and(self, other: Cost) -> Cost {
        // Which of the two times counts is decided part by part.
        Cost {
            compute: self.running() + other.running(),
            memory: 0.0,
            starts: self.starts + other.starts,
            combine: self.combine + other.combine,
        }
    }

    /// `1.2 ms (starts 0.3 ms)`
    pub fn text(&self) -> String {
        let mut parts = Vec::new();
        for (name, part) in [("starting threads", self.starts), ("combining", self.combine)] {
            if part > 0.05 * self.total() {
                parts.push(format!("{name} {}", time(part)));
            }
        }
        let parts =
            if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        format!("{}{parts}", time(self.total()))
    }
}

/// A time to two digits.
fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        _ if ns < 1e3 => (ns, "ns"),
        _ if ns < 1e6 => (ns / 1e3, "us"),
        _ if ns < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    if value < 10.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// Which of the plausible numbers of iterations is counted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scale {
    Low,
    Estimate,
    High,
}

/// A tree on a device.
pub(super) struct Model<'a> {
    pub(super) program: &'a Program,
    pub(super) tree: &'a LoopTree,
    pub(super) profile: &'a Profile,
    pub(super) terms: Terms<'a>,
    /// What loops inside cost at best, by loop, entries and scale.
    pub(super) inner: RefCell<FxHashMap<(usize, u64, Scale), Option<Cost>>>,
}

/// The part of the smaller of two times that does not overlap with the larger.
const APART: f64 = 0.2;
/// Operations that it costs a thread to find its share of a loop.
const DEALING: f64 = 50.0;
/// Lanes that like a loop as much as this are all used.
const LIKED: f64 = 100.0;

#[allow(clippy::cast_precision_loss, reason = "estimates")]
pub(super) fn real(number: u64) -> f64 {
    number as f64
}

impl Model<'_> {
    pub(super) fn trips(&self, at: usize, scale: Scale) -> f64 {
        let Some(mark) = self.tree.loop_at(at) else { return 1.0 };
        let (low, high) = mark.trips.interval();
        real(match scale {
            Scale::Low => low,
            Scale::Estimate => mark.trips.estimate,
            Scale::High => high,
        })
    }

    /// How often a loop's body is run for one entry of the nest.
    fn rounds(&self, root: usize, at: usize, scale: Scale) -> f64 {
        let mut rounds = 1.0;
        let mut at = Some(at);
        while let Some(it) = at {
            rounds *= self.trips(it, scale);
            at = if it == root { None } else { self.tree.loop_at(it).and_then(|it| it.parent) };
        }
        rounds
    }

    /// Whether a loop is one for lanes: innermost, liked, long enough.
    pub(super) fn may_have_lanes(&self, at: usize) -> bool {
        let Some(mark) = self.tree.loop_at(at) else { return false };
        mark.children.is_empty()
            && !self.terms.without_lanes.contains(&at)
            && mark.vector.score > 0
            && mark.trips.estimate >= 2 * self.width(at).max(1)
            && self.profile.vector > 0
    }

    /// How many lanes elements of a loop fill.
    fn width(&self, at: usize) -> u64 {
        let bytes = self.tree.strides(at).map(|it| it.0.bytes).max().unwrap_or(8);
        self.profile.vector / bytes.max(1)
    }

    /// How much faster lanes make a loop.
    fn gain(&self, at: usize) -> f64 {
        let score = self.tree.loop_at(at).map_or(0, |it| it.vector.score);
        let liked = (f64::from(score) / LIKED).clamp(0.25, 1.0);
        (real(self.width(at)) * liked).max(1.0)
    }

    /// Operations of one round of a loop, loops inside left out.
    fn units(&self, at: usize) -> f64 {
        self.tree.loop_at(at).map_or(0.0, |it| real(it.work.units() + 1))
    }

    /// What the body of a loop costs beside the loops in it, run in order by one thread.
    pub(super) fn own(&self, root: usize, entries: f64, scale: Scale) -> Cost {
        let rounds = entries * self.trips(root, scale);
        let compute = rounds * self.units(root) / self.speed(1.0);
        Cost { compute, ..Cost::default() }
    }

    /// Operations per nanosecond with so many threads.
    fn speed(&self, threads: f64) -> f64 {
        self.profile.rate * share(threads, self.profile.busy)
    }

    /// Bytes per nanosecond with so many threads.
    fn flow(&self, threads: f64) -> f64 {
        self.profile.bandwidth * share(threads, self.profile.fed)
    }

    /// What a nest costs in a shape.
    pub(super) fn cost(&self, root: usize, shape: &Shape, entries: f64, scale: Scale) -> Cost {
        match self.profile.kind {
            Kind::Cores => self.on_cores(root, shape, entries, scale),
            Kind::Gpu => self.on_gpu(root, shape, entries, scale),
        }
    }

    fn on_cores(&self, root: usize, shape: &Shape, entries: f64, scale: Scale) -> Cost {
        let profile = self.profile;
        let dealt = if shape.outer.is_empty() { &shape.split } else { &shape.outer };
        let wide: f64 = shape.outer.iter().map(|it| self.trips(*it, scale)).product();
        let inside: f64 = shape.split.first().map_or(1.0, |it| self.trips(*it, scale));
        let wide = wide * inside;
        let threads = even(wide, profile.slots);
        let mut units = 0.0;
        for at in self.tree.nest(root) {
            let mut own = self.units(at);
            if shape.lanes.contains(&at) {
                own /= self.gain(at);
            }
            if shape.outer.len() > 1 && shape.outer.last() == Some(&at) {
                own += real(profile.collapse);
            }
            units += own * self.rounds(root, at, scale);
        }
        for it in &shape.whole {
            units += DEALING * threads * self.rounds(root, *it, scale);
        }
        let mut bytes = 0.0;
        for access in self.apart(root) {
            let Some(at) = access.innermost() else { continue };
            let mut walked = self.rounds(root, at, scale) * self.walked(access, at);
            // What stays in a core's caches comes from memory once.
            let within = shape.whole.first().zip(shape.outer.first());
            if within.is_some_and(|(root, inner)| self.is_again(access, *root, *inner, scale)) {
                walked /= self.trips(root, scale).max(1.0);
            }
            bytes += walked;
        }
        let mut cost = Cost {
            compute: entries * units / self.speed(threads),
            memory: entries * bytes / self.flow(threads.min(wide)),
            ..Cost::default()
        };
        if let Some(&first) = dealt.first() {
            // Threads are started once for each time that the loop is met, and again inside teams. Those that run the
            // loops around it whole are there already.
            let first = shape.whole.first().copied().unwrap_or(first);
            let met = self.met(root, first, scale);
            let nested = if shape.outer.is_empty() { None } else { shape.split.first() };
            let met_inside = nested.map_or(0.0, |it| self.met(root, *it, scale));
            cost.starts = entries * (met + met_inside) * profile.fork;
            let combined =
                shape.outer.iter().chain(&shape.split).map(|it| self.sums(*it)).sum::<f64>();
            cost.combine =
                entries * (met + met_inside) * combined * profile.reduce * steps(threads);
        }
        cost
    }

    fn on_gpu(&self, root: usize, shape: &Shape, entries: f64, scale: Scale) -> Cost {
        let profile = self.profile;
        let wide: f64 = shape.outer.iter().map(|it| self.trips(*it, scale)).product();
        let inside = shape.split.iter().map(|it| self.trips(*it, scale)).fold(1.0, f64::max);
        let team = inside.min(real(profile.team));
        let is_split = !shape.split.is_empty();
        let in_step = profile.lanes_need_word && shape.lanes.is_empty();
        // Lanes that nobody asks for are idle.
        let used = if in_step { 1.0 / real(profile.warp) } else { 1.0 };
        let mut cost = Cost::default();
        let accesses = self.apart(root);
        for at in self.tree.nest(root) {
            let thread = shape.split.iter().copied().find(|it| self.tree.is_within(at, *it));
            let (threads, fastest) = match thread {
                Some(it) => (wide * team, Some(it)),
                None => (wide, shape.outer.last().copied()),
            };
            let is_led = is_split && thread.is_none();
            let mut units = self.units(at) * self.rounds(root, at, scale);
            if shape.outer.len() > 1 && shape.outer.last() == Some(&at) {
                units += real(profile.collapse) * self.rounds(root, at, scale);
            }
            let speed = self.speed(threads.min(real(profile.slots))) * used;
            cost.compute += entries * units / speed;
            for access in accesses.iter().filter(|it| it.innermost() == Some(at)) {
                let bytes = match (fastest, is_led) {
                    // It is the same in all rounds of a loop that a thread runs: read once.
                    (Some(it), _) if it != at && access.stride(at) == Some(&Stride::Same) => 0.0,
                    (Some(it), false) => self.together(access, it),
                    // One thread of a warp, or of all, reads for itself.
                    (_, true) | (None, _) => real(profile.line),
                };
                let flow = self.flow(threads.min(real(profile.slots))) * used;
                cost.memory += entries * self.rounds(root, at, scale) * bytes / flow;
            }
        }
        cost.starts = entries * profile.launch;
        // Teams that run at once start their threads at once.
        let at_once = wide.clamp(1.0, real(profile.teams));
        for &at in &shape.split {
            let met = entries * self.met(root, at, scale);
            let between = if self.tree.loop_at(at).is_some_and(|it| it.is_tight) {
                0.0
            } else {
                profile.between
            };
            cost.starts += met * (profile.fork + between) / at_once;
            cost.combine += met * self.sums(at) * profile.reduce * steps(team) / at_once;
        }
        let sums: f64 = shape.outer.iter().map(|it| self.sums(*it)).fold(0.0, f64::max);
        cost.combine += entries * sums * profile.reduce * steps(wide);
        cost
    }

    /// The accesses of a nest; of those that move alike through one array, and so through the same
    /// lines, one.
    pub(super) fn apart(&self, root: usize) -> Vec<&AccessMark> {
        let mut seen: FxHashSet<(VarId, &[(usize, Stride)])> = FxHashSet::default();
        let accesses = self.tree.accesses.iter().filter(|it| it.stride(root).is_some());
        accesses
            .filter(|it| it.var.is_none_or(|var| seen.insert((var, it.strides.as_slice()))))
            .collect()
    }

    /// How often a loop is met for one entry of the nest.
    fn met(&self, root: usize, at: usize, scale: Scale) -> f64 {
        self.rounds(root, at, scale) / self.trips(at, scale).max(1.0)
    }

    /// How many variables a loop combines.
    fn sums(&self, at: usize) -> f64 {
        self.tree.loop_at(at).map_or(0.0, |it| real(it.finding.reductions.len() as u64))
    }

    /// Bytes that an access brings when one thread walks through the loop.
    fn walked(&self, access: &AccessMark, at: usize) -> f64 {
        let line = self.profile.line;
        real(match access.stride(at) {
            Some(Stride::Same) | None => 0,
            Some(Stride::Elements(by)) => access.bytes.saturating_mul(by.unsigned_abs()).min(line),
            Some(Stride::Row | Stride::Irregular) => line,
        })
    }

    /// Bytes that an access brings for one thread when its neighbours have the next iterations of a loop.
    fn together(&self, access: &AccessMark, at: usize) -> f64 {
        let line = self.profile.line;
        match access.stride(at) {
            Some(Stride::Same) | None => real(access.bytes) / real(self.profile.warp),
            Some(Stride::Elements(by)) => {
                real(access.bytes.saturating_mul(by.unsigned_abs()).min(line))
            }
            Some(Stride::Row | Stride::Irregular) => real(line),
        }
    }
}

/// The part of a device that so many threads use.
fn share(threads: f64, needed: u64) -> f64 {
    (threads / real(needed)).clamp(1.0 / real(needed), 1.0)
}

/// Threads that are busy on average, when iterations are dealt evenly.
fn even(iterations: f64, slots: u64) -> f64 {
    let iterations = iterations.max(1.0);
    iterations / (iterations / real(slots)).ceil()
}

/// Steps of a tree over so many.
fn steps(threads: f64) -> f64 {
    threads.max(1.0).log2().ceil()
}
