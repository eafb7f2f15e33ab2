//! Who is to run a region: the host, a device, or all together, by the time that each took before.
//!
//! For each region, and each order of magnitude of its data and iterations, it is known how long an iteration takes on each side and how long
//! data take to come and go ([`Known`]); and how long the region took as a whole the last times, for each [`Plan`].
//! Nothing being known, all run it together. Then those plans are tried once that should be nearly the best, and from
//! then on the best is taken. The second best is tried again now and then, and all is forgotten when a region takes
//! another time than it did.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::deal::{Deal, Seen};
use crate::args::MapArgs;

/// How a region is run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plan {
    /// By the host alone.
    Host,
    /// By one of the devices alone.
    Device(usize),
    /// By all; as far as is known how fast they are.
    Together { known: Option<Known> },
    /// By all, each the same.
    Equal,
}

/// What is known of a region on all sides.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Known {
    /// Seconds for an iteration on the host.
    pub(crate) host: f64,
    pub(crate) devices: Vec<Device>,
}

/// What is known of it on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Device {
    /// Seconds for an iteration.
    pub(crate) each: f64,
    /// Seconds for data to come and go.
    pub(crate) around: f64,
}

impl Known {
    /// Seconds if all run it together, with devices that are done with their data by then.
    fn together(&self, trips: u64) -> f64 {
        let mut taking: Vec<&Device> = self.devices.iter().collect();
        loop {
            let speed: f64 = 1.0 / self.host + taking.iter().map(|it| 1.0 / it.each).sum::<f64>();
            let lost: f64 = taking.iter().map(|it| it.around / it.each).sum();
            let time = (trips as f64 + lost) / speed;
            let count = taking.len();
            taking.retain(|it| it.around < time);
            if taking.len() == count {
                return time;
            }
        }
    }

    /// How many iterations each device runs then.
    pub(crate) fn shares(&self, trips: u64) -> Vec<f64> {
        let time = self.together(trips);
        let share = |it: &Device| ((time - it.around) / it.each).clamp(0.0, trips as f64);
        self.devices.iter().map(share).collect()
    }
}

/// A region with data and iterations of a magnitude.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    region: usize,
    bytes: u32,
    trips: u32,
}

/// What a region with these arguments is remembered by.
pub(crate) fn key(region: usize, args: &MapArgs, trips: u64) -> Key {
    let mapped = args.items().filter(|it| !it.1.is_unmapped());
    let bytes = mapped.fold(0usize, |sum, it| sum.saturating_add(it.1.size));
    Key { region, bytes: bytes.max(1).ilog2(), trips: trips.max(1).ilog2() }
}

#[derive(Debug, Default)]
struct Model {
    known: Option<Known>,
    /// Seconds for an iteration, all in all: of the host, of devices, of all together.
    host: Option<f64>,
    devices: Vec<Option<f64>>,
    together: Option<f64>,
    runs: u64,
    /// How often a device had nothing to run.
    missed: u32,
    /// How often in a row it took another time than before.
    others: u32,
}

/// So often it is tried whether a device comes in time.
const MISSES: u32 = 3;
/// A plan is tried that should take at most so many times as long as the best.
const NEARLY: f64 = 1.25;
/// So often the second best is tried again.
const AGAIN: u64 = 50;
/// What is so many times as long, or as short, is another time.
const OTHER: f64 = 2.5;
/// And so often in a row it is no accident.
const OTHERS: u32 = 4;

static MODELS: LazyLock<Mutex<HashMap<Key, Model>>> = LazyLock::new(Mutex::default);

fn models() -> MutexGuard<'static, HashMap<Key, Model>> {
    MODELS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How to run it this time.
pub(crate) fn plan(key: Key, devices: usize, trips: u64) -> Plan {
    let mut models = models();
    let model = models.entry(key).or_default();
    model.devices.resize(devices, None);
    model.runs += 1;
    model.plan(trips)
}

impl Model {
    fn plan(&self, trips: u64) -> Plan {
        let Some(known) = &self.known else { return Plan::Together { known: None } };
        let together = Plan::Together { known: Some(known.clone()) };
        let count = trips.max(1) as f64;
        let alone = |it: &Device| (it.around + it.each * count) / count;
        let mut plans = vec![
            (Plan::Host, known.host, self.host),
            (together, known.together(trips) / count, self.together),
        ];
        for (at, it) in known.devices.iter().enumerate() {
            plans.push((Plan::Device(at), alone(it), self.devices.get(at).copied().flatten()));
        }
        let time = |it: &(Plan, f64, Option<f64>)| it.2.unwrap_or(it.1);
        plans.sort_by(|a, b| time(a).total_cmp(&time(b)));
        let best = plans.first().map_or(0.0, time);
        let is_near = |it: &&(Plan, f64, Option<f64>)| time(it) <= NEARLY * best;
        let untried = plans.iter().filter(is_near).find(|it| it.2.is_none());
        let second =
            plans.iter().filter(is_near).nth(1).filter(|_| self.runs.is_multiple_of(AGAIN));
        let taken = untried.or(second).or(plans.first());
        taken.map_or(Plan::Host, |it| it.0.clone())
    }

    fn measured(&mut self, plan: &Plan) -> Option<&mut Option<f64>> {
        match plan {
            Plan::Host => Some(&mut self.host),
            Plan::Device(at) => self.devices.get_mut(*at),
            Plan::Together { known: Some(_) } => Some(&mut self.together),
            Plan::Together { known: None } | Plan::Equal => None,
        }
    }
}

/// A region was run together.
pub(crate) fn learn(key: Key, deal: &Deal) {
    let known = deal.known();
    let mut models = models();
    let Some(model) = models.get_mut(&key) else { return };
    model.known = known.or_else(|| {
        model.missed += 1;
        // Devices that come too late time and again come too late.
        let late =
            |it: &Seen| Device { each: it.each.unwrap_or(1.0), around: it.around.unwrap_or(1.0) };
        let (host, devices) = deal.seen();
        let is_late = model.missed >= MISSES;
        let known = |host| Known { host, devices: devices.iter().map(late).collect() };
        host.each.filter(|_| is_late).map(known)
    });
}

/// A region took so long.
pub(crate) fn took(key: Key, plan: &Plan, trips: u64, time: Duration) {
    let each = time.as_secs_f64() / trips.max(1) as f64;
    let mut models = models();
    let Some(model) = models.get_mut(&key) else { return };
    let Some(before) = model.measured(plan) else { return };
    let is_other = before.is_some_and(|it| each > OTHER * it || each * OTHER < it);
    *before = Some(before.map_or(each, |it| (it + each) / 2.0));
    model.others = if is_other { model.others + 1 } else { 0 };
    if model.others >= OTHERS {
        let runs = model.runs;
        *model = Model { runs, ..Model::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(host: f64, each: f64, around: f64) -> Known {
        Known { host, devices: vec![Device { each, around }] }
    }

    #[track_caller]
    fn check(known: Known, trips: u64, expected: &Plan) {
        let model = Model { known: Some(known), devices: vec![None], ..Model::default() };
        assert_eq!(
            std::mem::discriminant(&model.plan(trips)),
            std::mem::discriminant(expected),
            "{model:?}"
        );
    }

    #[test]
    fn both_run_what_both_are_good_at() {
        check(known(1e-6, 1e-6, 1e-4), 1_000_000, &Plan::Together { known: None });
    }

    #[test]
    fn data_that_take_longer_than_the_host_stay() {
        check(known(1e-9, 1e-12, 1.0), 1_000_000, &Plan::Host);
    }

    #[test]
    fn a_device_that_is_much_faster_runs_all() {
        check(known(1e-3, 1e-9, 1e-5), 1_000_000, &Plan::Together { known: None });
        let mut model = Model {
            known: Some(known(1e-3, 1e-9, 1e-5)),
            devices: vec![None],
            together: Some(1.2e-9),
            runs: 1,
            ..Model::default()
        };
        assert_eq!(model.plan(1_000_000), Plan::Device(0));
        model.devices = vec![Some(1e-9)];
        assert_eq!(model.plan(1_000_000), Plan::Device(0));
    }

    #[test]
    fn what_was_measured_counts_more_than_what_was_expected() {
        let model = Model {
            known: Some(known(1e-6, 1e-6, 1e-4)),
            host: Some(0.4e-6),
            devices: vec![Some(1e-6)],
            together: Some(0.6e-6),
            runs: 1,
            ..Model::default()
        };
        assert_eq!(model.plan(1_000_000), Plan::Host);
    }

    #[test]
    fn a_device_whose_data_come_too_late_gets_nothing() {
        assert_eq!(known(1e-6, 1e-6, 10.0).shares(1000), [0.0]);
    }
}
