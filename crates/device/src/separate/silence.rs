//! How long a process may be silent: one that is stopped, or has processors and does not answer, is given up within a second; one that
//! waits for processors is not dead, and gets more.
//!
//! The system counts for each thread how long it ran and how long it waited for a processor. Two looks tell whether any thread of the
//! processes, of which one answers, has waited for a good part of the time in between; a thread that waits still has run for none of it.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

/// How long is waited between looks at a process.
pub(crate) const STEP: Duration = Duration::from_millis(100);
/// So many steps without a byte, and a sign of life is asked for.
pub(crate) const STEPS_TO_ASK: u32 = 2;
/// So many, and a process that does not answer is given up; after the second number where processors are short, or may be.
const STEPS_TO_LIVE: u32 = 8;
const STEPS_WHEN_BUSY: u32 = 50;
/// So many before the first word: a connection takes its time. A program that has just begun may want as long for its memory where
/// processors are short.
const STEPS_TO_GREET: u32 = 100;

/// A silence, in steps: time in which this process was stopped itself is one step at most.
#[derive(Clone, Debug)]
pub(crate) struct Silence {
    process: libc::pid_t,
    steps: u32,
    /// It may be that long; and that long where processors are short.
    most: u32,
    most_when_busy: u32,
    /// What processors the other side had when it was asked.
    supply: Option<Supply>,
}

impl Silence {
    /// That of a child of ours and what it has started. Of who works on another machine it is not known whether processors are short
    /// there.
    pub(crate) fn of(process: libc::pid_t, is_elsewhere: bool) -> Silence {
        let most = if is_elsewhere { STEPS_WHEN_BUSY } else { STEPS_TO_LIVE };
        Silence { process, steps: 0, most, most_when_busy: STEPS_WHEN_BUSY, supply: None }
    }

    /// That of a child which has just been started.
    pub(crate) fn before_greeting(process: libc::pid_t) -> Silence {
        let most = STEPS_TO_GREET;
        Silence { process, steps: 0, most, most_when_busy: most, supply: None }
    }

    /// The same for one that has just begun.
    pub(crate) fn of_new(self) -> Silence {
        Silence { most_when_busy: STEPS_TO_GREET, ..self }
    }

    /// The same behind the steps after which is asked.
    pub(crate) fn asked(self) -> Silence {
        Silence { steps: STEPS_TO_ASK, ..self }
    }

    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// Something came.
    pub(crate) fn ends(&mut self) {
        (self.steps, self.supply) = (0, None);
    }

    /// Goes on for another step; whether it was too long.
    pub(crate) fn goes_on(&mut self) -> bool {
        self.steps += 1;
        // Who has been asked, and answers at once, is not looked at.
        if self.steps > STEPS_TO_ASK && self.supply.is_none() {
            self.supply = Some(Supply::of(self.process));
        }
        if self.steps < STEPS_TO_LIVE || is_traced(self.process) {
            return false;
        }
        let is_short = || self.supply.as_ref().is_none_or(Supply::is_short);
        let most = match state_of(self.process) {
            Some('T') => STEPS_TO_LIVE,
            // A processor that others use, or a disk, is not the program's fault.
            _ if self.most < self.most_when_busy && is_short() => self.most_when_busy,
            _ => self.most,
        };
        self.steps >= most
    }
}

/// What the system says of a process: `R` for one that could run, `T` for one that is stopped.
fn state_of(process: libc::pid_t) -> Option<char> {
    told_of(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)?.chars().next()
}

/// What the system tells of a process or a thread behind its name, which may have anything in it.
fn told_of(text: &str) -> Option<&str> {
    text.rsplit_once(") ").map(|it| it.1)
}

/// Whether a debugger holds a process: it may stop it as long as its user likes.
fn is_traced(process: libc::pid_t) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let tracer = status.lines().find_map(|it| it.strip_prefix("TracerPid:"));
    tracer.is_some_and(|it| it.trim() != "0")
}

/// What the system says of a thread, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thread {
    ran: u64,
    waited: u64,
}

/// A first look.
#[derive(Clone, Debug)]
struct Supply {
    process: libc::pid_t,
    at: Instant,
    threads: Option<HashMap<String, Thread>>,
}

impl Supply {
    fn of(process: libc::pid_t) -> Supply {
        let threads = threads(process);
        let of = |it: HashMap<String, (Thread, char)>| {
            it.into_iter().map(|(name, (thread, _))| (name, thread)).collect()
        };
        Supply { process, at: Instant::now(), threads: threads.map(of) }
    }

    /// Whether a thread has waited for a processor, or a disk, for a tenth of the time since; true where that is not known.
    fn is_short(&self) -> bool {
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

/// A process, and those of the group that it leads.
fn members(process: libc::pid_t) -> Vec<String> {
    let leader = process.to_string();
    let of_group = |name: &String| {
        let text = fs::read_to_string(format!("/proc/{name}/stat")).unwrap_or_default();
        told_of(&text).and_then(|it| it.split(' ').nth(2)) == Some(leader.as_str())
    };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = all.map(|it| it.file_name().to_string_lossy().into_owned());
    let is_process = |it: &String| it.bytes().all(|it| it.is_ascii_digit());
    names.filter(is_process).filter(|it| *it == leader || of_group(it)).collect()
}

/// The threads of a process and its group, by number; none if they are not there or the system does not count.
fn threads(process: libc::pid_t) -> Option<HashMap<String, (Thread, char)>> {
    let mut found = HashMap::new();
    let folders = members(process).into_iter().map(|it| format!("/proc/{it}/task"));
    for entry in folders.flat_map(fs::read_dir).flatten().flatten() {
        let read = |name: &str| fs::read_to_string(entry.path().join(name));
        // One that ends meanwhile is not there.
        let (Ok(counts), Ok(stat)) = (read("schedstat"), read("stat")) else { continue };
        let mut words = counts.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(ran)), Some(Ok(waited))) = (words.next(), words.next()) else { continue };
        let state = told_of(&stat).and_then(|it| it.chars().next()).unwrap_or('?');
        let name = entry.file_name().to_string_lossy().into_owned();
        found.insert(name, (Thread { ran, waited }, state));
    }
    let is_counted = found.values().any(|it| it.0.ran > 0);
    is_counted.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
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

    /// So many steps of a child of ours that is silent until it is given up.
    fn steps_of(child: &Ended, is_elsewhere: bool) -> u32 {
        let mut silence = Silence::of(child.0.id() as libc::pid_t, is_elsewhere);
        while !silence.goes_on() {
            assert!(silence.steps() <= STEPS_TO_GREET);
            thread::sleep(Duration::from_millis(5));
        }
        silence.steps()
    }

    fn started(script: &str) -> Ended {
        let mut command = Command::new("sh");
        let child = command.args(["-c", script]).process_group(0).spawn().unwrap();
        thread::sleep(Duration::from_millis(200));
        Ended(child)
    }

    #[test]
    fn who_is_stopped_or_sleeps_is_given_up_within_a_second() {
        assert!(STEP * STEPS_TO_LIVE < Duration::from_secs(1));
        assert_eq!(steps_of(&started("kill -STOP $$"), false), STEPS_TO_LIVE);
        assert_eq!(steps_of(&started("exec sleep 9"), false), STEPS_TO_LIVE);
    }

    #[test]
    fn who_works_on_another_machine_may_wait_for_processors_there() {
        assert_eq!(steps_of(&started("exec sleep 9"), true), STEPS_WHEN_BUSY);
        assert_eq!(steps_of(&started("kill -STOP $$"), true), STEPS_TO_LIVE);
    }

    #[test]
    fn what_a_process_has_started_counts_as_it_does() {
        let child = started("sleep 9; true");
        let leader = child.0.id() as libc::pid_t;
        let names = members(leader);
        assert_eq!(names.len(), 2, "{names:?}");
        assert_eq!(threads(leader).unwrap().len(), 2);
        let ended = Command::new("kill").args(["-KILL", "--", &format!("-{leader}")]).status();
        assert!(ended.unwrap().success());
    }
}
