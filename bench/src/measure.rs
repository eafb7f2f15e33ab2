//! Time and peak memory of a child process.

use std::io;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// What a run cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Wall clock.
    pub(crate) seconds: f64,
    /// Largest resident set.
    pub(crate) peak_kib: u64,
}

/// The shortest time and largest memory of each command over `rounds`, run turn about so that a
/// busy moment of the machine meets both.
pub(crate) fn best<const N: usize>(
    commands: [&dyn Fn() -> Command; N],
    rounds: usize,
) -> io::Result<[Cost; N]> {
    let mut costs = [Cost { seconds: f64::INFINITY, peak_kib: 0 }; N];
    for _ in 0..rounds {
        for (cost, command) in costs.iter_mut().zip(&commands) {
            let now = run(command())?;
            cost.seconds = cost.seconds.min(now.seconds);
            cost.peak_kib = cost.peak_kib.max(now.peak_kib);
        }
    }
    Ok(costs)
}

fn run(mut command: Command) -> io::Result<Cost> {
    let start = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let (status, peak_kib) = wait(child)?;
    let seconds = start.elapsed().as_secs_f64();
    if status != 0 {
        return Err(io::Error::other(format!("{command:?} ended with status {status:#x}")));
    }
    Ok(Cost { seconds, peak_kib })
}

/// Waits for the child; gives its raw status and its largest resident set in KiB.
#[allow(unsafe_code, reason = "the standard library waits but does not tell the memory used")]
fn wait(child: Child) -> io::Result<(i32, u64)> {
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: all bytes zero is a valid `rusage`: it holds integers only.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live variables of the right types; the child is ours, and
    // nobody else waits for it: `child` is dropped unawaited.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    if waited != pid {
        return Err(io::Error::last_os_error());
    }
    Ok((status, u64::try_from(usage.ru_maxrss).unwrap_or(0)))
}
