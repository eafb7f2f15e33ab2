//! Faults of links, processes and disks of devices, at random moments: a program gives the right answer or none, with a place,
//! and in time.
//!
//! `FERRY_FAULTS` says how many of each kind are tried, a few without it; `FERRY_FAULT_KINDS` which kinds (`cut,stop`), all without it.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::told;

/// Stands between the library and a program, and does something at some byte of what the program says.
const RELAY: &str = r#"
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
static void all(int to, const char *at, long len) {
  while (len > 0) { long n = write(to, at, len); if (n <= 0) _exit(0); at += n; len -= n; }
}
int main(int count, char **words) {
  const char *kind = getenv("FAULT");
  long after = atol(getenv("AFTER")), seen = 0, heard = 0;
  int ends[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  pid_t child = fork();
  if (!child) { dup2(ends[1], 0); dup2(ends[1], 1); close(ends[0]); close(ends[1]); execv(words[1], words + 1); _exit(9); }
  close(ends[1]);
  static char bytes[1 << 16];
  int is_done = 0;
  for (;;) {
    struct pollfd wait[2] = { { 0, POLLIN, 0 }, { ends[0], POLLIN, 0 } };
    poll(wait, 2, -1);
    for (int i = 0; i < 2; i++) {
      if (!wait[i].revents) continue;
      long n = read(wait[i].fd, bytes, sizeof bytes);
      if (n <= 0) _exit(0);
      long *passed = i ? &seen : &heard;
      int is_there = !strcmp(kind, "garbage_in") ? !i : i;
      if (!is_done && is_there && *passed + n > after) {
        is_done = 1;
        if (!strcmp(kind, "cut")) _exit(0);
        if (!strcmp(kind, "kill")) kill(child, SIGKILL);
        if (!strcmp(kind, "stop")) kill(child, SIGSTOP);
        if (!strcmp(kind, "hang")) for (;;) pause();
        if (!strcmp(kind, "spin")) for (;;) ;
        if (!strncmp(kind, "garbage", 7))
          for (long at = after - *passed < 0 ? 0 : after - *passed, k = 0; at < n && k < 5; at++, k++) bytes[at] ^= 0xa5;
      }
      *passed += n;
      all(i ? 1 : ends[0], bytes, n);
    }
  }
}
"#;

/// Many regions and copies; the answer is right, or there is none.
pub(crate) const WORK: &str = "#include <stdio.h>
#include <stdlib.h>
int total;
#pragma omp declare target enter(total)
int main(void) {
  int n = 20000;
  long sum = 0;
  int *a = malloc(n * sizeof *a);
  for (int i = 0; i < n; i++) a[i] = i;
#pragma omp target enter data map(to: a[:n])
  for (int round = 0; round < 30; round++) {
#pragma omp target teams distribute parallel for reduction(+: sum) map(tofrom: sum)
    for (int i = 0; i < n; i++) { a[i] += round; sum += a[i]; }
#pragma omp target
    total += round;
    if (round % 5 == 0) {
#pragma omp target update from(a[:n])
    }
  }
#pragma omp target update from(total)
#pragma omp target exit data map(from: a[:n])
  long check = 0;
  for (int i = 0; i < n; i++) check += a[i];
  printf(\"%ld %ld %d\\n\", sum, check, total);
  return 0;
}
";

/// What it prints.
pub(crate) const ANSWER: &str = "6089600000 208690000 435\n";

/// Numbers that look random and are the same each time.
fn random(seed: u64) -> u64 {
    let mixed = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ mixed >> 31
}

/// How many faults of each kind.
fn faults() -> u64 {
    std::env::var("FERRY_FAULTS").ok().and_then(|it| it.parse().ok()).unwrap_or(6)
}

/// The same for long enough to be struck wherever that comes; it tells that its device has begun to work.
pub(crate) fn lasting() -> String {
    WORK.replace("round < 30", "round < 30000").replace(
        "    if (round % 5 == 0) {",
        "    if (!round) fprintf(stderr, \"begun\\n\");\n    if (round % 5 == 0) {",
    )
}

/// Those of these kinds that are tried.
fn kinds<'a>(all: &[&'a str]) -> Vec<&'a str> {
    let only = std::env::var("FERRY_FAULT_KINDS").ok();
    let is_tried =
        |it: &&&str| only.as_ref().is_none_or(|only| only.split(',').any(|one| one == **it));
    all.iter().filter(is_tried).copied().collect()
}

/// A run with a fault gave the right answer, as nothing had come of the fault, or none, with a place; in time.
fn judge(what: &str, ran: &Output, took: Duration, most: Duration) -> bool {
    let text = told(ran);
    assert!(took < most, "{what}: took {took:?}: {text}");
    if ran.status.success() {
        // Where it could not be started at all, the policy lets this machine do the work.
        assert_eq!(String::from_utf8_lossy(&ran.stdout), ANSWER, "{what}: {text}");
        return text.contains("runs on `cpu`");
    }
    assert_eq!(ran.status.code(), Some(1), "{what}: {text}");
    assert!(text.contains("ferry: error: a.c:") && ran.stdout.is_empty(), "{what}: {text}");
    true
}

/// Makes `./relay` in a folder, which a device there is started by.
pub(crate) fn relay(folder: &Path) {
    fs::write(folder.join("relay.c"), RELAY).expect("a file");
    let mut compiler = Command::new("gcc");
    let built = compiler.args(["-w", "relay.c", "-o", "relay"]).current_dir(folder).status();
    assert!(built.expect("gcc runs").success());
}

/// Faults of the link of a program whose device is started by the relay; `run` starts it with these settings. They are found within
/// a second, a missing greeting after ten; the machine may be busy, and the program has its own work: `most` is for all that.
pub(crate) fn of_links(most: Duration, run: impl Fn(&[(&str, &str)]) -> Output + Sync) {
    let none = run(&[("FAULT", "none"), ("AFTER", "0")]);
    assert_eq!(String::from_utf8_lossy(&none.stdout), ANSWER, "{}", told(&none));
    assert!(none.status.success() && none.stderr.is_empty(), "{}", told(&none));
    let kinds = kinds(&["cut", "kill", "stop", "hang", "spin", "garbage", "garbage_in"]);
    let jobs: Vec<(&str, u64)> =
        kinds.iter().flat_map(|kind| (0..faults()).map(move |seed| (*kind, seed))).collect();
    let one = |kind: &str, seed: u64| {
        // All bytes are some 700,000 to this side and 100,000 to that; most faults come early.
        let number = random(seed * 8 + kind.len() as u64);
        let behind = match seed % 5 {
            0 => 40,
            1 => 400,
            2 => 4000,
            3 => 60_000,
            _ => 600_000,
        };
        let after = (number % behind).to_string();
        let start = Instant::now();
        let ran = run(&[("FAULT", kind), ("AFTER", &after), ("OMP_NUM_THREADS", "2")]);
        judge(&format!("{kind} after {after}"), &ran, start.elapsed(), most)
    };
    let struck: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let mine = jobs.iter().skip(worker).step_by(4);
                let one = &one;
                scope.spawn(move || mine.filter(|(kind, seed)| one(kind, *seed)).count())
            })
            .collect();
        workers.into_iter().map(|it| it.join().expect("all judged")).sum()
    });
    eprintln!("{struck} of {} faults have struck", jobs.len());
    assert!(struck * 2 > jobs.len(), "{struck} of {} faults have struck", jobs.len());
}

/// Whether this user may have disks of his own.
fn has_disks() -> bool {
    let tried =
        Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    let is_there = tried.is_ok_and(|it| it.status.success());
    if !is_there {
        eprintln!("skipped: no disk can be mounted here (`unshare -rm`)");
    }
    is_there
}

/// Disks that are full after any number of bytes: `disk` in the folder, which programs are written to, and the one of shared memory.
/// Each place is a device and a disk; `program` is the command.
pub(crate) fn of_disks(folder: &Path, places: &[(&str, &str)], program: &str) {
    if !has_disks() {
        return;
    }
    fs::create_dir(folder.join("disk")).expect("a folder");
    let mut struck = 0;
    for seed in 0..faults() {
        for (device, disk) in places {
            let most = match seed % 3 {
                0 => 4,
                1 => 40,
                _ => 400,
            };
            let kilobytes = 4 * (1 + random(seed) % most);
            let line = format!(
                "mount -t tmpfs -o size={kilobytes}k none {disk} && TMPDIR=$PWD/disk FERRY_DEVICE={device} exec timeout 60 {program}"
            );
            let mut command = Command::new("unshare");
            command.args(["-rm", "sh", "-c", &line]).current_dir(folder);
            let start = Instant::now();
            let ran = command.env("OMP_NUM_THREADS", "2").output().expect("unshare runs");
            let (took, text) = (start.elapsed(), told(&ran));
            let what = format!("{device}, {kilobytes} KiB at {disk}");
            assert!(took < Duration::from_secs(20), "{what}: took {took:?}: {text}");
            if ran.status.success() {
                assert_eq!(String::from_utf8_lossy(&ran.stdout), ANSWER, "{what}: {text}");
                continue;
            }
            struck += 1;
            assert_eq!(ran.status.code(), Some(1), "{what}: {text}");
            let is_told =
                text.contains("ferry: error: ") && text.contains("No space left on device");
            assert!(is_told && ran.stdout.is_empty(), "{what}: {text}");
        }
    }
    eprintln!("{struck} of {} full disks were in the way", places.len() as u64 * faults());
    assert!(struck > 0, "no disk was full");
}

/// The processes of a program's devices.
fn children(program: u32) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("processes").flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|it| it.parse::<i32>().ok()) else {
            continue;
        };
        let text = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent =
            text.rsplit_once(") ").and_then(|it| it.1.split(' ').nth(1)?.parse::<u32>().ok());
        if parent == Some(program) {
            found.push(number);
        }
    }
    found
}

/// The process of a device is killed or stopped at any moment; `program` is the command of one that is `lasting`.
pub(crate) fn of_processes(device: &str, program: impl Fn() -> Command) {
    let signals = kinds(&["kill", "stop"]);
    let mut soonest = Duration::MAX;
    for (seed, kind) in (0..faults()).zip(signals.iter().cycle()) {
        let signal = if *kind == "kill" { "-KILL" } else { "-STOP" };
        let mut command = program();
        command.env("FERRY_DEVICE", device).env("OMP_NUM_THREADS", "2");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut program = command.spawn().expect("the program runs");
        let mut begun = [0; "begun\n".len()];
        let told_so = program.stderr.as_mut().map(|it| it.read_exact(&mut begun));
        assert!(matches!(told_so, Some(Ok(()))) && begun == *b"begun\n", "{device}: {begun:?}");
        thread::sleep(Duration::from_millis(random(seed) % 100));
        let start = Instant::now();
        for child in children(program.id()) {
            let _ = Command::new("kill").args([signal, &child.to_string()]).status();
        }
        let ran = program.wait_with_output().expect("the program ends");
        let text = told(&ran);
        let took = start.elapsed();
        // Found within a second; the machine may be busy.
        assert!(took < Duration::from_secs(20), "{device} {signal}: took {took:?}: {text}");
        if signal == "-STOP" {
            soonest = soonest.min(took);
        }
        assert_eq!(ran.status.code(), Some(1), "{device} {signal}: {text}");
        let is_told = text.contains("ferry: error: ") && text.contains("a.c:");
        assert!(is_told || text.contains("cannot be used"), "{device} {signal}: {text}");
    }
    eprintln!("{device}: a process that was stopped was found after {soonest:?} at the soonest");
    // A second, and some for the end of both processes.
    let is_soon = !signals.contains(&"stop") || soonest < Duration::from_millis(1500);
    assert!(is_soon, "{device}: found after {soonest:?}");
}
