//! Starting a program of another machine: the file that it is, what starts it, and its greeting.
#![allow(unsafe_code, reason = "asks the system for a process without rights of others")]

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use std::{env, iter};

use abi::remote::{GREETING, MIXED, PROGRAM, SIZE, VERSION, mixed};

use super::Offered;
use super::link::{End, Link, words};
use crate::separate::process::{end_with_program, kill, let_sleep_soon, wait_for_group};
use crate::{DeviceError, Result};

/// A program that has greeted.
pub(super) struct Started {
    pub(super) link: Link,
    pub(super) process: libc::pid_t,
    /// Bytes of memory of its machine.
    pub(super) memory: usize,
}

/// Starts the program of an image.
pub(super) fn start(image: &Offered) -> Result<Started> {
    let is_sent = image.runner.iter().any(|it| it.contains(SIZE));
    let file = if is_sent { None } else { Some(Removed(written(&image.program)?)) };
    let line = command(image, file.as_ref().map(|it| it.0.as_path()));
    let shown = line.join(" ");
    let failed = |why: &dyn std::fmt::Display| {
        let missing = "install what starts its programs, or choose another device";
        DeviceError::Failed(format!("`{shown}` cannot be run: {why}; {missing}"))
    };
    let (ours, theirs) = UnixStream::pair().map_err(|it| failed(&it))?;
    let other = theirs.try_clone().map_err(|it| failed(&it))?;
    let mut command = Command::new(line.first().map_or("", String::as_str));
    command.args(line.get(1..).unwrap_or_default());
    let_sleep_soon(&mut command);
    command.stdin(OwnedFd::from(theirs)).stdout(OwnedFd::from(other));
    // Whatever it starts ends with it, and the terminal's signals are for the program.
    command.process_group(0);
    // SAFETY: one call of the system between fork and exec; that it may fail takes nothing away.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            Ok(())
        });
    }
    let child = command.spawn().map_err(|it| failed(&it))?;
    let process = libc::pid_t::try_from(child.id()).unwrap_or(0);
    // Its ends are the child's alone now.
    drop(command);
    let link = Link::new(ours, process, is_sent).map_err(|it| failed(&it))?;
    let mut greeting = [0; 40];
    let sent = if is_sent { link.write(&image.program) } else { Ok(()) };
    let greeted = sent.and_then(|()| link.greeting(&mut greeting));
    let refused = |why: String| {
        end_group(process);
        DeviceError::Failed(format!("`{shown}` {why}"))
    };
    match greeted {
        Ok(()) => {}
        Err(End::Closed) => {
            let status =
                wait_for_group(process, Duration::from_secs(2)).map(ended).unwrap_or_default();
            let text =
                "has not greeted: what starts programs is not there, or cannot start this one";
            return Err(DeviceError::Failed(format!("`{shown}` {text}{status}")));
        }
        Err(_) => return Err(refused("shows no sign of life".to_owned())),
    }
    let (first, rest) = greeting.split_at(GREETING.len());
    let [version, _page, memory, value] = words(rest).unwrap_or_default();
    if first != GREETING || value != mixed(MIXED, rest.get(..24).unwrap_or_default()) {
        return Err(refused("is no device of Ferry: its first words are others".to_owned()));
    }
    if version != VERSION {
        return Err(refused(format!(
            "speaks version {version} and the library version {VERSION}: build the program anew"
        )));
    }
    end_with_program(process, true, link.stream());
    Ok(Started { link, process, memory: usize::try_from(memory).unwrap_or(usize::MAX) })
}

/// Ends a process and all that it has started.
pub(super) fn end_group(process: libc::pid_t) {
    if process > 0 {
        // SAFETY: a child of ours whose status nobody has taken, and the group that it was started with.
        unsafe { libc::kill(-process, libc::SIGKILL) };
        kill(process);
    }
}

/// How a process has ended, in words.
pub(super) fn ended(status: i32) -> String {
    if libc::WIFSIGNALED(status) {
        return format!(" (killed by signal {})", libc::WTERMSIG(status));
    }
    format!(" (status {})", libc::WEXITSTATUS(status))
}

/// The words of the command.
fn command(image: &Offered, file: Option<&Path>) -> Vec<String> {
    let path = file.map(|it| it.display().to_string()).unwrap_or_default();
    let size = image.program.len().to_string();
    let is_placed = image.runner.iter().any(|it| it.contains(PROGRAM) || it.contains(SIZE));
    let words = image.runner.iter().map(|it| it.replace(PROGRAM, &path).replace(SIZE, &size));
    words.chain(iter::once(path.clone()).filter(|_| !is_placed)).collect()
}

/// A file that is removed when it was started: who runs has it open.
struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The program as a file that can be run.
fn written(program: &[u8]) -> Result<PathBuf> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let clock = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |it| it.as_nanos());
    // A name that no other file has.
    let path = env::temp_dir().join(format!("ferry-program-{}-{count}-{clock:x}", process::id()));
    let failed = |error: io::Error| {
        DeviceError::Failed(format!(
            "its program cannot be written to `{}`: {error}",
            path.display()
        ))
    };
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o700).open(&path).map_err(failed)?;
    if let Err(error) = file.write_all(program) {
        let error = failed(error);
        let _ = fs::remove_file(&path);
        return Err(error);
    }
    Ok(path)
}
