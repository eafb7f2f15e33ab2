//! Which designs of a kernel there are, and which are worth it: lanes, units, windows and counters, within what a device has.
//!
//! In: a kernel as outlined and a device. Out: designs that were planned, each with its time and what it takes ([`Space`]); those
//! that no other beats in both are its frontier. Of the kernels of a program, which lie on the device together, [`choose`]
//! takes one design each. A row of designs is left where the next
//! does not fit or is not faster: memory has no more to give.

use std::collections::BTreeMap;

use ir::program::Program;
use kernel::Kernel;
use opt::passes::Fabric;
use opt::passes::pipeline::run_pipelined;

use crate::device::Device;
use crate::graph::Resources;
use crate::pins::Pins;
use crate::plan::plan;

/// Passes that a design may do without (what they gain on one device they cost on another), and whether elements that
/// iterations share stay in registers though the memory could serve all of them.
const VARIANTS: [Variant; 5] = [
    (&[], false),
    (&[], true),
    (&["counters"], false),
    (&["counters"], true),
    (&["lines", "window"], false),
];
/// Numbers of units: rows that one of them divides share windows.
const UNITS: [u64; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32];
/// So many of them in a row are planned that gain nothing.
const PATIENCE: u32 = 3;
/// Copies of an iteration at most.
pub(crate) const MOST: u64 = 64;
/// What must be gained by a larger design.
const GAIN: f64 = 0.98;
/// Beyond this share of a device nothing is routed.
pub const FULL: f64 = 0.85;

/// A design.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Iterations of innermost loops that run side by side.
    pub lanes: u64,
    /// Rows of nests that do.
    pub units: u64,
    /// Passes that were left out.
    pub without: &'static [&'static str],
    /// What iterations share stays in registers, also where memory serves any number of loads.
    pub shares: bool,
    /// What the passes have done.
    pub notes: Vec<String>,
    /// Cycles.
    pub cycles: u64,
    /// Seconds, by the pipeline or by memory.
    pub seconds: f64,
    /// Whether it is memory.
    pub is_memory: bool,
    /// Joules.
    pub joules: f64,
    /// What it takes.
    pub resources: Resources,
    /// The largest share of the device.
    pub share: f64,
    /// [`crate::hardware`] makes a design of it.
    pub is_hardware: bool,
}

impl Point {
    /// What passes are told to make it.
    pub fn fabric(&self, device: &Device) -> Fabric {
        fabric(device, (self.lanes, self.units, (self.without, self.shares)))
    }
}

type Variant = (&'static [&'static str], bool);

fn fabric(device: &Device, (lanes, units, (without, shares)): (u64, u64, Variant)) -> Fabric {
    let fabric = device.fabric();
    let reads = if shares { fabric.reads.max(1) } else { fabric.reads };
    Fabric { lanes, units, without, reads, ..fabric }
}

/// Designs of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Space {
    /// All that were planned, in the order in which they were.
    pub points: Vec<Point>,
}

impl Space {
    /// Those that fit and that no other beats, from the smallest on.
    pub fn frontier(&self) -> Vec<&Point> {
        let mut fitting: Vec<&Point> = self.points.iter().filter(|it| it.share <= FULL).collect();
        fitting.sort_by(|a, b| {
            (a.share, a.seconds)
                .partial_cmp(&(b.share, b.seconds))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut frontier: Vec<&Point> = Vec::new();
        for it in fitting {
            if frontier.last().is_none_or(|last| it.seconds < last.seconds * GAIN) {
                frontier.push(it);
            }
        }
        frontier
    }
}

/// Plans the designs of a kernel. `given`: values of variables in the bounds of loops; `pins`: what directives ask for.
pub fn search(
    program: &Program,
    kernel: &Kernel,
    device: &Device,
    given: &BTreeMap<String, u64>,
    pins: Pins,
) -> Space {
    let units = pins.units.map_or(UNITS.to_vec(), |it| vec![it.0]);
    let lanes: Vec<u64> = pins.lanes.map_or((0..7).map(|it| 1 << it).collect(), |it| vec![it.0]);
    let is_free = pins == Pins::default();
    let mut space = Space::default();
    for variant in VARIANTS {
        let (mut row, mut idle) = (f64::INFINITY, 0);
        for &units in &units {
            let (mut last, mut first) = (f64::INFINITY, None);
            for &lanes in lanes.iter().take_while(|it| !is_free || *it * units <= MOST) {
                let made = point(program, kernel, device, given, (lanes, units, variant));
                let Some(it) = made else { break };
                let (seconds, fits) = (it.seconds, it.share <= FULL);
                first.get_or_insert((seconds, fits));
                let gains = seconds < last * GAIN;
                if gains {
                    space.points.push(it);
                }
                if !fits || !gains {
                    break;
                }
                last = seconds;
            }
            match first {
                Some((seconds, true)) if seconds < row * GAIN => (row, idle) = (seconds, 0),
                Some((_, true)) if idle < PATIENCE => idle += 1,
                _ => break,
            }
        }
    }
    space
}

fn point(
    program: &Program,
    kernel: &Kernel,
    device: &Device,
    given: &BTreeMap<String, u64>,
    asked: (u64, u64, Variant),
) -> Option<Point> {
    let mut program = program.clone();
    let (lanes, units, (without, shares)) = asked;
    let made = run_pipelined(&mut program, kernel, fabric(device, asked), None).ok()?;
    let plan = plan(&program, &made, device, given);
    let (cycles, seconds, joules) = (plan.cycles?, plan.seconds?, plan.joules?);
    let is_memory = plan.memory_seconds.is_some_and(|it| it >= seconds);
    let (resources, share) = (plan.resources, plan.resources.share(device));
    let notes = made.launch.notes;
    Some(Point {
        lanes,
        units,
        without,
        shares,
        notes,
        cycles,
        seconds,
        is_memory,
        joules,
        resources,
        share,
        is_hardware: plan.is_hardware,
    })
}

/// One design for each kernel, which fit together: none if not even the smallest do. What gains most time for what it takes
/// is taken first.
pub fn choose<'s>(spaces: &'s [Space], device: &Device) -> Option<Vec<&'s Point>> {
    let frontiers: Vec<Vec<&Point>> = spaces.iter().map(Space::frontier).collect();
    let mut at: Vec<usize> = vec![0; frontiers.len()];
    let chosen = |at: &[usize]| -> Option<Vec<&'s Point>> {
        frontiers.iter().zip(at).map(|(all, at)| all.get(*at).copied()).collect()
    };
    let share = |list: &[&Point]| {
        list.iter().fold(Resources::default(), |sum, it| sum.and(it.resources)).share(device)
    };
    let mut best = chosen(&at).filter(|it| share(it) <= FULL)?;
    loop {
        let mut found: Option<(f64, Vec<usize>, Vec<&'s Point>)> = None;
        for (kernel, all) in frontiers.iter().enumerate() {
            let now = at.get(kernel).copied().unwrap_or(0);
            let Some(old) = all.get(now) else { continue };
            for (next, new) in all.iter().enumerate().skip(now + 1) {
                let mut other = at.clone();
                other.iter_mut().skip(kernel).take(1).for_each(|it| *it = next);
                let Some(list) = chosen(&other).filter(|it| share(it) <= FULL) else { continue };
                let gain = (old.seconds - new.seconds) / (new.share - old.share).max(1e-6);
                if found.as_ref().is_none_or(|it| gain > it.0) {
                    found = Some((gain, other, list));
                }
            }
        }
        match found {
            Some((gain, other, list)) if gain > 0.0 => (at, best) = (other, list),
            _ => return Some(best),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Devices;

    fn design(lanes: u64, seconds: f64, logic: u64) -> Point {
        let device = Devices::built_in().get("stratix-v").unwrap();
        let resources = Resources { logic, ..Resources::default() };
        Point {
            lanes,
            units: 1,
            without: &[],
            shares: false,
            notes: Vec::new(),
            cycles: 1,
            seconds,
            is_memory: false,
            joules: seconds,
            resources,
            share: resources.share(&device),
            is_hardware: true,
        }
    }

    #[test]
    fn a_frontier_has_what_none_beats_and_what_fits() {
        let points = vec![
            design(1, 8.0, 1_000),
            design(2, 9.0, 2_000),
            design(4, 2.0, 4_000),
            design(8, 1.0, 400_000),
        ];
        let space = Space { points };
        let lanes: Vec<u64> = space.frontier().iter().map(|it| it.lanes).collect();
        assert_eq!(lanes, [1, 4]);
    }

    #[test]
    fn kernels_share_the_device() {
        let device = Devices::built_in().get("stratix-v").unwrap();
        // Each fits alone; the second gains more for what it takes.
        let slow = Space { points: vec![design(1, 10.0, 10_000), design(8, 8.0, 100_000)] };
        let quick = Space { points: vec![design(1, 10.0, 10_000), design(8, 1.0, 100_000)] };
        let both = [slow, quick];
        let chosen = choose(&both, &device).unwrap_or_default();
        assert_eq!(chosen.iter().map(|it| it.lanes).collect::<Vec<_>>(), [1, 8]);
        let large = Space { points: vec![design(1, 1.0, 140_000)] };
        assert_eq!(choose(&[large.clone(), large], &device), None);
    }
}
