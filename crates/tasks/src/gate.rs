//! Whether it pays that work crosses to the other side: what tasks take on each, and what crossing costs, measured while
//! the program runs.
//!
//! Host workers time some of their tasks; cores time all that the host sends, and say how many tasks that became. Work goes
//! to a core if the core is done with it before host workers would have come to it: a core that is slow, or that
//! must copy much, is left alone with small work, and gets what there is plenty of.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::settings::Crossing;

/// Tasks that are told apart, by where they were made.
const PLACES: usize = 64;
/// So often tasks of a place cross until there is something to go by, one after the other: a core may be slow, and is waited for.
const TRIES: u64 = 1;
/// Nanoseconds after which a task that was tried does not come back any more.
const LOST: u64 = 50_000_000;
/// What did not pay is tried again after so many times as long as it took: loads change, and a core that has just begun
/// to work is slow.
const AGAIN: u64 = 16;
/// What takes so many times as long on a core is tried again after as many times this long.
const HOPELESS: u64 = 16;
const SELDOM: u64 = 1024;
/// Tasks that wait before anything is tried: it is the newest that goes then, which is small.
const ENOUGH: usize = 2;

/// What is known of tasks that were made at one place.
#[derive(Default)]
struct Known {
    key: AtomicUsize,
    /// Nanoseconds on a core of each task that one of the host's became there; and how many tasks that was.
    core: AtomicU64,
    tasks: AtomicU64,
    /// Nanoseconds from sending to its return, without those.
    crossing: AtomicU64,
    tries: AtomicU64,
    /// When something was sent last to try.
    again: AtomicU64,
}

/// All that was measured.
pub(crate) struct Gate {
    known: [Known; PLACES],
    /// Nanoseconds of a task on the host, and of one on a core.
    host: AtomicU64,
    core: AtomicU64,
    /// Nanoseconds that it takes the host to take a task from a core and to tell that it is done.
    taking: AtomicU64,
    crossing: Crossing,
}

/// What goes to a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sends {
    Nothing,
    /// The newest task, which becomes the least work.
    Newest,
    /// The oldest, which becomes the most.
    Oldest,
}

/// Moves a mean towards a new value: soon if that is less, since all that disturbs only adds.
fn learn(mean: &AtomicU64, value: u64) {
    let old = mean.load(Ordering::Relaxed);
    let new = match old {
        0 => value,
        _ if value < old => old.midpoint(value),
        _ => (old * 7 + value) / 8,
    };
    mean.store(new.max(1), Ordering::Relaxed);
}

/// Moves a mean towards a new value.
fn follow(mean: &AtomicU64, value: u64) {
    let old = mean.load(Ordering::Relaxed);
    let new = if old == 0 { value } else { (old * 7 + value) / 8 };
    mean.store(new.max(1), Ordering::Relaxed);
}

impl Gate {
    /// One that knows nothing.
    pub(crate) fn new(crossing: Crossing) -> Self {
        let known = std::array::from_fn(|_| Known::default());
        let [host, core, taking] = [0, 0, 0].map(AtomicU64::new);
        Self { known, host, core, taking, crossing }
    }

    fn known(&self, key: usize) -> Option<&Known> {
        let known = self.known.get((key ^ key >> 6) % PLACES)?;
        if known.key.load(Ordering::Relaxed) != key {
            known.key.store(key, Ordering::Relaxed);
            for it in [&known.core, &known.tasks, &known.crossing, &known.tries, &known.again] {
                it.store(0, Ordering::Relaxed);
            }
        }
        Some(known)
    }

    /// The host has run a task.
    pub(crate) fn on_host(&self, nanoseconds: u64) {
        learn(&self.host, nanoseconds);
    }

    /// A core has run one of the host's, which became `tasks`; it was away so long, and computed so long.
    pub(crate) fn on_core(&self, key: usize, away: u64, busy: u64, tasks: u64) {
        let Some(known) = self.known(key) else { return };
        learn(&self.core, busy / tasks.max(1));
        learn(&known.core, busy / tasks.max(1));
        follow(&known.tasks, tasks);
        learn(&known.crossing, away.saturating_sub(busy));
        known.tries.fetch_add(1, Ordering::Relaxed);
    }

    /// The host has taken a task from a core, and needed so long for that.
    pub(crate) fn on_taking(&self, nanoseconds: u64) {
        learn(&self.taking, nanoseconds);
    }

    /// What the host should send while so many tasks wait for so many workers. `tries`: what is not known may be tried, as the
    /// newest task is small now: what was just made may still become most of the work. `now`: in nanoseconds.
    pub(crate) fn sends(
        &self,
        key: usize,
        waiting: usize,
        workers: usize,
        tries: bool,
        now: impl FnOnce() -> u64,
    ) -> Sends {
        match self.crossing {
            Crossing::Gate => (),
            Crossing::Always => return Sends::Oldest,
            Crossing::Never => return Sends::Nothing,
        }
        let Some(known) = self.known(key) else { return Sends::Nothing };
        let host = self.host.load(Ordering::Relaxed);
        if known.tries.load(Ordering::Relaxed) < TRIES || host == 0 {
            if !tries || waiting < ENOUGH {
                return Sends::Nothing;
            }
            let (last, now) = (known.again.load(Ordering::Relaxed), now());
            if last != 0 && now.saturating_sub(last) < LOST {
                return Sends::Nothing;
            }
            known.again.store(now, Ordering::Relaxed);
            return Sends::Newest;
        }
        let core = self.core.load(Ordering::Relaxed);
        let tasks = known.tasks.load(Ordering::Relaxed).max(1);
        let there =
            known.core.load(Ordering::Relaxed) * tasks + known.crossing.load(Ordering::Relaxed);
        // As much work as the task becomes, for each that waits, and for itself.
        let here = host * tasks;
        if there <= here + here * waiting as u64 / workers.max(1) as u64 {
            // A core that is about as fast as the host gets most work at once; others are not trusted with it.
            return if core <= host + host / 2 { Sends::Oldest } else { Sends::Newest };
        }
        if !tries || waiting < ENOUGH {
            return Sends::Nothing;
        }
        let pause = if there / HOPELESS > here { SELDOM } else { AGAIN };
        let (last, now) = (known.again.load(Ordering::Relaxed), now());
        if now.saturating_sub(last) <= pause * there {
            return Sends::Nothing;
        }
        known.again.store(now, Ordering::Relaxed);
        Sends::Newest
    }

    /// Whether the host, with nothing else to do, should take a task from a core: unless the core would be done sooner.
    pub(crate) fn takes(&self) -> bool {
        let [host, core, taking] =
            [&self.host, &self.core, &self.taking].map(|it| it.load(Ordering::Relaxed));
        match self.crossing {
            Crossing::Gate => core == 0 || host + taking <= core * 4,
            Crossing::Always => true,
            Crossing::Never => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUNCTION: usize = 0x1000;

    fn gate(host: u64, core: u64, crossing: u64) -> Gate {
        let gate = Gate::new(Crossing::Gate);
        gate.on_host(host);
        for _ in 0..TRIES {
            gate.on_core(FUNCTION, core + crossing, core, 1);
        }
        gate
    }

    #[test]
    fn nothing_known_is_tried() {
        assert_eq!(Gate::new(Crossing::Gate).sends(FUNCTION, 0, 4, true, || 1), Sends::Nothing);
        let gate = Gate::new(Crossing::Gate);
        assert_eq!(gate.sends(FUNCTION, ENOUGH, 4, true, || 1), Sends::Newest);
        assert_eq!(gate.sends(FUNCTION, ENOUGH, 4, true, || 2), Sends::Nothing, "one at a time");
        assert_eq!(gate.sends(FUNCTION, ENOUGH, 4, true, || 1 + LOST), Sends::Newest);
        assert!(Gate::new(Crossing::Gate).takes());
    }

    #[test]
    fn fine_tasks_stay_and_plenty_of_them_goes() {
        let gate = gate(1_000, 1_000, 20_000);
        assert_eq!(gate.sends(FUNCTION, 4, 4, true, || 1), Sends::Nothing);
        assert_eq!(gate.sends(FUNCTION, 400, 4, true, || 1), Sends::Oldest);
    }

    #[test]
    fn coarse_tasks_go_unless_the_core_is_too_slow() {
        assert_eq!(
            gate(1_000_000, 1_000_000, 20_000).sends(FUNCTION, 4, 4, true, || 1),
            Sends::Oldest
        );
        assert_eq!(
            gate(1_000_000, 1_900_000, 20_000).sends(FUNCTION, 4, 4, true, || 1),
            Sends::Newest
        );
        assert_eq!(
            gate(1_000_000, 8_000_000, 20_000).sends(FUNCTION, 4, 4, true, || 1),
            Sends::Nothing
        );
    }

    #[test]
    fn what_did_not_pay_is_tried_again_sometimes() {
        let sent = |gate: Gate, times: &[u64]| {
            let is_sent = |now: u64| gate.sends(FUNCTION, 4, 4, true, || now) != Sends::Nothing;
            times.iter().filter(|it| is_sent(**it)).count()
        };
        let later = 1 + AGAIN * 7_000;
        let times = [200_000, 200_001, 200_000 + later, 200_001 + later, 200_000 + 2 * later];
        assert_eq!(sent(gate(1_000, 5_000, 2_000), &times), 3);
        assert_eq!(sent(gate(1_000, 1_000_000, 20_000), &times), 0);
    }

    #[test]
    fn a_core_that_begins_slowly_is_not_judged_by_that() {
        let gate = gate(1_000_000, 9_000_000, 5_000_000);
        assert_eq!(gate.sends(FUNCTION, 4, 4, true, || 1), Sends::Nothing);
        for _ in 0..12 {
            gate.on_core(FUNCTION, 1_020_000, 1_000_000, 1);
        }
        assert_eq!(gate.sends(FUNCTION, 4, 4, true, || 1), Sends::Oldest);
    }

    #[test]
    fn a_task_that_becomes_many_counts_as_many() {
        let gate = Gate::new(Crossing::Gate);
        gate.on_host(1_000);
        for _ in 0..TRIES {
            gate.on_core(FUNCTION, 120_000, 100_000, 200);
        }
        assert_eq!(gate.sends(FUNCTION, 0, 4, true, || 1), Sends::Oldest);
    }

    #[test]
    fn the_host_takes_back_unless_that_is_dearer_than_the_task() {
        let slow = gate(1_000, 60_000, 20_000);
        slow.on_taking(3_000);
        assert!(slow.takes());
        let fine = gate(1_000, 1_000, 20_000);
        fine.on_taking(30_000);
        assert!(!fine.takes());
    }
}
