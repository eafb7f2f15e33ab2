//! Whether a process that is silent gets processors: one that waits for them is not dead.
//!
//! The system counts for each thread how long it ran and how long it waited for a processor. Two looks tell whether any thread of the
//! process, of which one answers, has waited for a good part of the time in between; a thread that waits still has run for none of it.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

/// What the system says of a thread, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thread {
    ran: u64,
    waited: u64,
}

/// A first look.
#[derive(Clone, Debug)]
pub(crate) struct Supply {
    process: libc::pid_t,
    at: Instant,
    threads: Option<HashMap<String, Thread>>,
}

impl Supply {
    pub(crate) fn of(process: libc::pid_t) -> Supply {
        let threads = threads(process);
        let of = |it: HashMap<String, (Thread, char)>| {
            it.into_iter().map(|(name, (thread, _))| (name, thread)).collect()
        };
        Supply { process, at: Instant::now(), threads: threads.map(of) }
    }

    /// Whether a thread has waited for a processor, or a disk, for a tenth of the time since; true where that is not known.
    pub(crate) fn is_short(&self) -> bool {
        let (Some(before), Some(now)) = (&self.threads, threads(self.process)) else { return true };
        is_short(before, &now, self.at.elapsed())
    }
}

fn is_short(
    before: &HashMap<String, Thread>,
    now: &HashMap<String, (Thread, char)>,
    passed: Duration,
) -> bool {
    let much = u64::try_from(passed.as_nanos() / 10).unwrap_or(u64::MAX);
    now.iter().any(|(name, (thread, state))| {
        let began = before.get(name).copied().unwrap_or(Thread { ran: 0, waited: 0 });
        let has_waited = thread.waited.saturating_sub(began.waited) > much;
        let waits = *state == 'R' && thread.ran == began.ran;
        has_waited || waits || *state == 'D'
    })
}

/// The threads of a process, by number; none if it is not there or the system does not count.
fn threads(process: libc::pid_t) -> Option<HashMap<String, (Thread, char)>> {
    let mut found = HashMap::new();
    for entry in fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten() {
        let read = |name: &str| fs::read_to_string(entry.path().join(name));
        // One that ends meanwhile is not there.
        let (Ok(counts), Ok(stat)) = (read("schedstat"), read("stat")) else { continue };
        let mut words = counts.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(ran)), Some(Ok(waited))) = (words.next(), words.next()) else { continue };
        // The name may have anything in it.
        let state = stat.rsplit_once(") ").and_then(|it| it.1.chars().next()).unwrap_or('?');
        let name = entry.file_name().to_string_lossy().into_owned();
        found.insert(name, (Thread { ran, waited }, state));
    }
    let is_counted = found.values().any(|it| it.0.ran > 0);
    is_counted.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};
    use std::thread;

    #[track_caller]
    fn check(before: (u64, u64), now: (u64, u64, char), expected: bool) {
        let name = || "7".to_owned();
        let before = [(name(), Thread { ran: before.0, waited: before.1 })].into();
        let now = [(name(), (Thread { ran: now.0, waited: now.1 }, now.2))].into();
        let second = Duration::from_secs(1);
        assert_eq!(is_short(&before, &now, second), expected, "{before:?} {now:?}");
    }

    #[test]
    fn who_waits_for_a_processor_is_not_dead() {
        // Sleeps; computes; got a little; waits still; waits for a disk; is stopped.
        check((5, 5), (5, 5, 'S'), false);
        check((5, 5), (900_000_000, 6, 'R'), false);
        check((5, 5), (300_000_000, 700_000_000, 'R'), true);
        check((5, 5), (5, 5, 'R'), true);
        check((5, 5), (5, 5, 'D'), true);
        check((5, 5), (5, 5, 'T'), false);
    }

    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn a_process_that_sleeps_has_processors_enough() {
        let child = Ended(Command::new("sleep").arg("9").spawn().unwrap());
        thread::sleep(Duration::from_millis(200));
        let supply = Supply::of(child.0.id() as libc::pid_t);
        thread::sleep(Duration::from_millis(300));
        assert!(!supply.is_short());
    }

    #[test]
    fn a_process_of_which_nothing_is_known_may_wait() {
        assert!(Supply::of(libc::pid_t::MAX).is_short());
    }
}
