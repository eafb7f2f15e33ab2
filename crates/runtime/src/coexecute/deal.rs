//! Who gets which iterations: the host from the first on, devices from the last on.
//!
//! Each side gets half of what it would run until all are done, by the speed of its parts so far; the first part of a device whose
//! speed is known is most of that. A device that is not known yet begins with few iterations, and gets more as
//! its speed is seen. What a device would take longer for than the host takes for all that is left, it does not get.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::model::{Known, Plan};

/// Less than this is not worth a part of its own, in seconds.
const LEAST_HOST: f64 = 100e-6;
const LEAST_DEVICE: f64 = 300e-6;

/// What was seen of one side.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Seconds for an iteration.
    pub(crate) each: Option<f64>,
    /// Iterations that it has run.
    pub(crate) done: u64,
    /// Its last part.
    last: u64,
    /// Seconds for data to come and go, of a device.
    pub(crate) around: Option<f64>,
}

/// What is left of a side's iterations, in so many parts.
#[derive(Clone, Copy, Debug)]
struct Block {
    first: u64,
    end: u64,
    parts: u64,
}

/// Parts of a side that gets as much as all others.
const PARTS: u64 = 3;

#[derive(Debug)]
struct State {
    low: u64,
    high: u64,
    host: Seen,
    devices: Vec<Seen>,
    /// Where sides begin and end that get the same each.
    blocks: Option<Vec<Block>>,
}

/// The iterations of a region.
#[derive(Debug)]
pub(crate) struct Deal {
    trips: u64,
    /// How many each device is to begin with, if that is known.
    first: Vec<Option<u64>>,
    state: Mutex<State>,
    is_over: AtomicBool,
}

impl Deal {
    pub(crate) fn new(trips: u64, plan: &Plan, devices: usize) -> Deal {
        let (known, is_equal) = match plan {
            Plan::Together { known } => (known.clone(), false),
            Plan::Equal => (None, true),
            Plan::Host | Plan::Device(_) => (None, false),
        };
        let mut host = Seen::default();
        let mut seen = vec![Seen::default(); devices];
        let mut first = vec![None; devices];
        if let Some(known) = &known {
            host.each = Some(known.host);
            let shares = known.shares(trips);
            for ((seen, first), (it, share)) in
                seen.iter_mut().zip(&mut first).zip(known.devices.iter().zip(shares))
            {
                seen.each = Some(it.each);
                *first = Some((share * 0.9) as u64);
            }
        }
        let sides = devices as u64 + 1;
        let blocks = is_equal.then(|| {
            let edge = |it: u64| (u128::from(trips) * u128::from(it) / u128::from(sides)) as u64;
            (0..sides)
                .map(|it| Block { first: edge(it), end: edge(it + 1), parts: PARTS })
                .collect()
        });
        let state = State { low: 0, high: trips, host, devices: seen, blocks };
        Deal { trips, first, state: Mutex::new(state), is_over: AtomicBool::new(false) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody gets any more.
    pub(crate) fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Whether a device is to begin at all.
    pub(crate) fn is_wanted(&self, at: usize) -> bool {
        let state = self.state();
        let is_none = matches!(self.first.get(at), Some(Some(0)));
        !self.is_over() && state.low < state.high && !is_none
    }

    /// The next part of the host.
    pub(crate) fn of_host(&self) -> Option<(u64, u64)> {
        if self.is_over() {
            return None;
        }
        let mut state = self.state();
        if let Some(part) = state.block(0) {
            return part;
        }
        let left = state.high - state.low;
        if left == 0 {
            return None;
        }
        let count = match state.host.each {
            None => self.trips / 64,
            Some(each) => {
                let is_unknown = state.devices.iter().any(|it| it.each.is_none());
                let share = state.share(left, 1.0 / each) / 2.0;
                // Who is not known may come and be fast.
                let share = if is_unknown { share.min(self.trips as f64 / 16.0) } else { share };
                share.max(LEAST_HOST / each) as u64
            }
        };
        let count = count.clamp(1, left);
        let first = state.low;
        state.low += count;
        Some((first, first + count))
    }

    /// The next part of a device.
    pub(crate) fn of_device(&self, at: usize) -> Option<(u64, u64)> {
        if self.is_over() {
            return None;
        }
        let mut state = self.state();
        if let Some(part) = state.block(at + 1) {
            return part;
        }
        let left = state.high - state.low;
        let seen = *state.devices.get(at)?;
        if left == 0 {
            return None;
        }
        let most = match (state.host.each, seen.each) {
            (Some(host), Some(each)) => left as f64 * host / each,
            _ => left as f64,
        };
        let count = match (seen.each, self.first.get(at).copied().flatten()) {
            (Some(_), Some(first)) if seen.done == 0 => first as f64,
            (None, _) => (self.trips / 256) as f64,
            (Some(each), _) => {
                let share = state.share(left, 1.0 / each) / 2.0;
                let is_grown = self.first.get(at).is_some_and(Option::is_some);
                let share = if is_grown { share } else { share.min(seen.last as f64 * 8.0) };
                share.max(LEAST_DEVICE / each)
            }
        };
        if most < 1.0 && seen.done > 0 {
            return None;
        }
        let count = (count.min(most) as u64).clamp(1, left);
        let last = state.high;
        state.high -= count;
        Some((last - count, last))
    }

    /// The host has run so many iterations.
    pub(crate) fn did_host(&self, count: u64, took: Duration) {
        self.state().host.did(count, took);
    }

    /// A device has.
    pub(crate) fn did_device(&self, at: usize, count: u64, took: Duration) {
        if let Some(it) = self.state().devices.get_mut(at) {
            it.did(count, took);
        }
    }

    /// What a device has taken for data to come and go.
    pub(crate) fn spent(&self, at: usize, took: Duration) {
        if let Some(it) = self.state().devices.get_mut(at) {
            it.around = Some(took.as_secs_f64());
        }
    }

    /// Whether a device has run anything.
    pub(crate) fn has_worked(&self, at: usize) -> bool {
        self.state().devices.get(at).is_some_and(|it| it.done > 0)
    }

    /// How many iterations host and devices have run.
    pub(crate) fn done(&self) -> Vec<u64> {
        let state = self.state();
        std::iter::once(&state.host).chain(&state.devices).map(|it| it.done).collect()
    }

    /// What was seen of the host and of devices.
    pub(crate) fn seen(&self) -> (Seen, Vec<Seen>) {
        let state = self.state();
        (state.host, state.devices.clone())
    }

    /// What is known when all is done, if all have run something.
    pub(crate) fn known(&self) -> Option<Known> {
        let (host, devices) = self.seen();
        let of = |it: &Seen| {
            Some(super::model::Device {
                each: it.each.filter(|_| it.done > 0)?,
                around: it.around?,
            })
        };
        Some(Known { host: host.each?, devices: devices.iter().map(of).collect::<Option<_>>()? })
    }
}

impl State {
    /// The next part of a side's block, where all get the same.
    fn block(&mut self, side: usize) -> Option<Option<(u64, u64)>> {
        let block = self.blocks.as_mut()?.get_mut(side)?;
        let Block { first, end, parts } = *block;
        if first >= end {
            return Some(None);
        }
        let last = (first + (end - first).div_ceil(parts.max(1))).min(end);
        *block = Block { first: last, end, parts: parts.saturating_sub(1) };
        Some(Some((first, last)))
    }

    /// What a side of this speed runs of what is left, if all are done at once.
    fn share(&self, left: u64, speed: f64) -> f64 {
        let all = std::iter::once(&self.host).chain(&self.devices);
        let speeds: f64 = all.filter_map(|it| it.each).map(|it| 1.0 / it).sum();
        if speeds > 0.0 { left as f64 * speed / speeds } else { left as f64 }
    }
}

impl Seen {
    fn did(&mut self, count: u64, took: Duration) {
        let each = (took.as_secs_f64() / count.max(1) as f64).max(1e-12);
        // Later parts are larger, and tell more.
        self.each = Some(match self.each {
            Some(before) if self.done > 0 => (before + 2.0 * each) / 3.0,
            Some(_) | None => each,
        });
        self.done += count;
        self.last = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs all parts in turn at these seconds for an iteration, and counts who has run each.
    fn check(trips: u64, plan: &Plan, host: f64, devices: &[f64]) -> Vec<u64> {
        let deal = Deal::new(trips, plan, devices.len());
        let mut runs = vec![0u32; usize::try_from(trips).unwrap_or(0)];
        let mut clock = vec![0.0f64; devices.len() + 1];
        let mut is_done = vec![false; devices.len() + 1];
        while let Some(side) = (0..clock.len())
            .filter(|it| !is_done[*it])
            .min_by(|a, b| clock[*a].total_cmp(&clock[*b]))
        {
            let part = if side == 0 { deal.of_host() } else { deal.of_device(side - 1) };
            let Some((first, last)) = part else {
                is_done[side] = true;
                continue;
            };
            runs[first as usize..last as usize].iter_mut().for_each(|it| *it += 1);
            let each = if side == 0 { host } else { devices[side - 1] };
            let took = Duration::from_secs_f64(each * (last - first) as f64);
            clock[side] += took.as_secs_f64();
            match side {
                0 => deal.did_host(last - first, took),
                _ => deal.did_device(side - 1, last - first, took),
            }
        }
        assert!(runs.iter().all(|it| *it == 1), "each iteration is run once");
        deal.done()
    }

    fn open() -> Plan {
        Plan::Together { known: None }
    }

    #[test]
    fn each_iteration_is_run_once() {
        for trips in [2, 3, 7, 64, 1000, 100_003] {
            check(trips, &Plan::Equal, 1e-6, &[1e-6, 1e-6]);
            check(trips, &open(), 1e-6, &[1e-6]);
            check(trips, &open(), 1e-3, &[1e-9, 1.0]);
        }
    }

    #[test]
    fn all_get_the_same_if_that_is_asked_for() {
        assert_eq!(check(90, &Plan::Equal, 1e-3, &[1e-9, 1.0]), [30, 30, 30]);
    }

    #[test]
    fn who_is_faster_gets_more() {
        let done = check(100_000, &open(), 4e-6, &[1e-6]);
        assert!((70_000..90_000).contains(&done[1]), "{done:?}");
        let done = check(100_000, &open(), 1e-6, &[4e-6]);
        assert!((10_000..30_000).contains(&done[1]), "{done:?}");
    }

    #[test]
    fn a_hopeless_device_gets_little() {
        let done = check(10_000, &open(), 1e-6, &[1e-2]);
        assert!(done[1] < 100, "{done:?}");
    }
}
