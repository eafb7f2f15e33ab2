//! The helper process as the host sees it: where it is, how it starts, and the channels to it.
//!
//! A channel carries one request at a time and is served by a thread of its own in the helper, which
//! stays as long as the channel: so kernels of many host threads run at once, and each such thread
//! keeps the team that its kernels have started. Channels without work are kept, the last one on top.
//!
//! When the program ends, helpers are told to and waited for: nothing is left behind.
#![allow(unsafe_code, reason = "the loader, and waiting for a child by its number")]

use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{env, mem, thread};

use super::protocol::{self, Request, VERSION};
use super::silence::{STEP, STEPS_TO_ASK, Silence};
use super::upward;
use super::{FOLDER_VARIABLE, HELPER, INSIDE_VARIABLE};
use crate::arena::Arena;
use crate::{DeviceError, Result, Upcalls};

/// How often threads of a team look whether others have come, before they sleep.
const SPINS: &str = "GOMP_SPINCOUNT";

/// About as long as sleeping and being woken takes. GCC's runtime would look 300,000 times, for a millisecond and in an emulator
/// for many: threads that wait keep those from processors that they wait for, here or in the program.
const LOOKS: &str = "1000";

/// Settings of the user's that say how threads wait.
const WAITING: [&str; 2] = [SPINS, "OMP_WAIT_POLICY"];

/// Threads of a process that wait for their team are soon asleep, unless the user says how they wait.
pub(crate) fn let_sleep_soon(command: &mut Command) {
    if WAITING.iter().all(|it| env::var_os(it).is_none()) {
        command.env(SPINS, LOOKS);
    }
}

/// How many devices the program has.
static NUMBER: AtomicUsize = AtomicUsize::new(1);

/// Says how many devices the program has, before one of them is opened: kernels may ask.
pub fn tell_number(devices: usize) {
    NUMBER.store(devices, Ordering::Relaxed);
}

/// A running helper.
#[derive(Debug)]
pub(super) struct Helper {
    /// New channels are sent through it; when it ends, the helper does.
    control: Mutex<UnixStream>,
    idle: Mutex<Vec<UnixStream>>,
    /// Channels from kernels come through it, until somebody answers them.
    upward: Mutex<Option<UnixStream>>,
    process: libc::pid_t,
    /// The process that may speak to it: not one that this one forks.
    owner: u32,
    /// It was given up: it showed no sign of life.
    is_silent: AtomicBool,
}

/// How long a process may take to end.
const TO_END: Duration = Duration::from_secs(2);

/// Helpers to end with the program.
static HELPERS: Mutex<Vec<Ending>> = Mutex::new(Vec::new());

/// The program ends, and helpers with it.
static ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// This thread ends the program.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

struct Ending {
    process: libc::pid_t,
    owner: u32,
    /// It leads a group, which ends with it.
    is_group: bool,
    /// A copy of its control channel.
    control: UnixStream,
}

/// A request was not answered.
pub(super) enum Unanswered {
    /// The helper has ended.
    Gone,
    /// The helper is there and shows no sign of life; it was ended.
    Silent,
    /// The kernel took longer than it may; the helper was ended.
    Late,
    /// This process is not the one that started it.
    Forked,
}

/// A child of ours ends when this end of its channel does, at the end of the program; it is waited for then.
pub(crate) fn end_with_program(process: libc::pid_t, is_group: bool, channel: &UnixStream) {
    if let Ok(control) = channel.try_clone() {
        lock(&HELPERS).push(Ending { process, owner: process::id(), is_group, control });
    }
}

/// Whether another thread ends the program, and its helpers with it: who has lost one then has nothing to say. The thread
/// that does may ask for a helper that has ended: in static programs images are given back behind that.
pub(crate) fn is_ending() -> bool {
    ENDING.load(Ordering::Acquire) && !ENDS.get()
}

/// How many devices the program has.
pub(crate) fn number_told() -> usize {
    NUMBER.load(Ordering::Relaxed)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Helper {
    pub(super) fn start(number: usize, arena: &Arena) -> Result<Helper> {
        let path = find()?;
        let failed = |error: io::Error| {
            DeviceError::Failed(format!("`{}` cannot be run: {error}", path.display()))
        };
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let (upward, asking) = UnixStream::pair().map_err(failed)?;
        let mut command = Command::new(&path);
        let devices = number_told().to_string();
        let_sleep_soon(&mut command);
        command.env(INSIDE_VARIABLE, devices).env_remove("FERRY_INFO").env_remove("FERRY_TRACE");
        // The only descriptor that a child surely gets and nobody else's does; the program's own
        // standard input follows in the first message.
        command.stdin(std::os::fd::OwnedFd::from(theirs));
        let child = command.spawn().map_err(failed)?;
        let process = libc::pid_t::try_from(child.id()).unwrap_or(0);
        let hello = Request::Hello {
            version: VERSION,
            parent: u64::from(process::id()),
            number: number as u64,
            base: arena.base as u64,
            size: arena.size as u64,
            library: library().map(|it| it.display().to_string()).unwrap_or_default(),
        };
        let Some(memory) = &arena.file else {
            return Err(DeviceError::Failed("it has no memory that both sides see".into()));
        };
        let files = [memory.as_raw_fd(), asking.as_raw_fd(), 0];
        let greet = |files: &[RawFd]| protocol::ask(&ours, &hello, files, &mut protocol::never);
        // Standard input may be closed.
        let sent = greet(&files).or_else(|_| greet(files.get(..2).unwrap_or_default()));
        // Its end of the channel is the child's alone now.
        drop(command);
        let limited = ours.set_read_timeout(Some(STEP));
        let mut silence = Silence::before_greeting(process);
        let mut is_late = || if silence.goes_on() { protocol::never() } else { Ok(()) };
        let greeted = sent.and(limited).and_then(|()| protocol::answered(&ours, &mut is_late));
        let greeted = greeted.map_err(|error| {
            let why = if error.kind() == io::ErrorKind::TimedOut {
                kill(process);
                format!("waited {:?} for its greeting", STEP * silence.steps())
            } else {
                error.to_string()
            };
            DeviceError::Failed(format!("`{}` does not answer: {why}", path.display()))
        })?;
        greeted.map_err(|error| DeviceError::Failed(format!("`{}`: {error}", path.display())))?;
        let owner = process::id();
        end_with_program(process, false, &ours);
        let upward = Mutex::new(Some(upward));
        let (control, idle) = (Mutex::new(ours), Mutex::default());
        let is_silent = AtomicBool::new(false);
        Ok(Helper { control, idle, upward, process, owner, is_silent })
    }

    /// Is this the process that has started it?
    pub(super) fn is_ours(&self) -> bool {
        self.owner == process::id()
    }

    /// Lets nobody use a channel that is idle, or ask for one, until the answer is dropped.
    pub(super) fn hold(&self) -> impl Sized {
        (lock(&self.idle), lock(&self.control))
    }

    /// How it has ended, in words, where it left none itself.
    pub(super) fn end(&self) -> String {
        match wait(self.process, TO_END) {
            Some(status) if libc::WIFSIGNALED(status) => {
                let signal = libc::WTERMSIG(status);
                if signal == libc::SIGSEGV {
                    return "a thread of the kernel ran out of stack".into();
                }
                format!("its process was killed by signal {signal}")
            }
            Some(status) if libc::WIFEXITED(status) => {
                format!("its process ended with status {}", libc::WEXITSTATUS(status))
            }
            _ => "its process ended".into(),
        }
    }

    /// Asks and waits for the answer, until some time if one is given.
    pub(super) fn call(
        &self,
        request: &Request,
        until: Option<Instant>,
    ) -> std::result::Result<Result<Vec<u8>>, Unanswered> {
        if !self.is_ours() {
            return Err(Unanswered::Forked);
        }
        let kept = lock(&self.idle).pop();
        let channel = kept.map_or_else(|| self.open(), Ok).map_err(|_| Unanswered::Gone)?;
        let is_over = || until.is_some_and(|it| it <= Instant::now());
        let mut is_late = || if is_over() { protocol::never() } else { self.lives() };
        let answer = protocol::ask(&channel, request, &[], &mut is_late)
            .and_then(|()| protocol::answered(&channel, &mut is_late));
        let answer = answer.map_err(|error| {
            if error.kind() == io::ErrorKind::TimedOut && is_over() {
                kill(self.process);
                return Unanswered::Late;
            }
            if error.kind() == io::ErrorKind::TimedOut {
                self.is_silent.store(true, Ordering::Release);
                kill(self.process);
            }
            if self.is_silent.load(Ordering::Acquire) {
                return Unanswered::Silent;
            }
            // Another thread ends the program, which says all there is to say.
            while is_ending() {
                thread::park();
            }
            Unanswered::Gone
        })?;
        lock(&self.idle).push(channel);
        Ok(answer)
    }

    /// Lets somebody answer what kernels ask.
    pub(super) fn answer(&self, upcalls: Arc<dyn Upcalls>) -> Result<()> {
        let Some(upward) = lock(&self.upward).take() else { return Ok(()) };
        upward::listen(upward, upcalls)
            .map_err(|error| DeviceError::Failed(format!("kernels cannot call the host: {error}")))
    }

    fn open(&self) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        // An answer that takes longer may be that of a kernel that computes, or never come: a sign of life tells.
        ours.set_read_timeout(Some(STEP * STEPS_TO_ASK))?;
        ours.set_write_timeout(Some(STEP * STEPS_TO_ASK))?;
        let control = lock(&self.control);
        protocol::ask(&control, &Request::Channel, &[theirs.as_raw_fd()], &mut protocol::never)?;
        Ok(ours)
    }
}

impl Helper {
    /// Whether the helper shows that it lives; kernels may compute as long as they like meanwhile.
    fn lives(&self) -> io::Result<()> {
        let control = lock(&self.control);
        if self.is_silent.load(Ordering::Acquire) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut silence = Silence::of(self.process, false).asked();
        let mut is_late = || if silence.goes_on() { protocol::never() } else { Ok(()) };
        protocol::ask(&control, &Request::Alive, &[], &mut protocol::never)?;
        protocol::answered(&control, &mut is_late).map(|_| ())
    }
}

/// Ends a child of ours that does not end by itself, and takes its status.
pub(crate) fn kill(process: libc::pid_t) {
    if process > 0 {
        // SAFETY: a child of ours whose status nobody has taken, so that its number is its own.
        unsafe { libc::kill(process, libc::SIGKILL) };
        wait(process, TO_END);
    }
}

/// Waits for a helper that is ending, not for ever; answers its status unless the program has
/// waited for it itself. One that does not end is made to.
pub(crate) fn wait(process: libc::pid_t, most: Duration) -> Option<i32> {
    const STEP: Duration = Duration::from_millis(1);
    for _ in 0..most.as_millis() / STEP.as_millis() {
        let mut status = 0;
        // SAFETY: a child of ours; the place for the answer lives until the call returns.
        match unsafe { libc::waitpid(process, &raw mut status, libc::WNOHANG) } {
            0 => thread::sleep(STEP),
            done if done == process => return Some(status),
            _ => return None,
        }
    }
    // SAFETY: it is our child still, as it was a moment ago.
    unsafe { libc::kill(process, libc::SIGKILL) };
    None
}

/// The same for one that leads a group: what is left of the group is ended, stopped processes too.
pub(crate) fn wait_for_group(process: libc::pid_t, most: Duration) -> Option<i32> {
    const STEP: Duration = Duration::from_millis(1);
    let id = libc::id_t::try_from(process).ok()?;
    for _ in 0..most.as_millis() / STEP.as_millis() {
        // SAFETY: a child of ours, whose status is left where it is; the place for the answer lives until the call
        // returns, and zero is valid there.
        let is_over = unsafe {
            let mut info: libc::siginfo_t = mem::zeroed();
            let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            let asked = libc::waitid(libc::P_PID, id, &raw mut info, flags);
            asked != 0 || info.si_pid() != 0
        };
        if is_over {
            break;
        }
        thread::sleep(STEP);
    }
    // SAFETY: its status is not taken yet, so that its number, and that of its group, are nobody else's.
    unsafe { libc::kill(-process, libc::SIGKILL) };
    wait(process, TO_END)
}

/// Runs when the library is unloaded, behind the last words of the program.
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end_all;

extern "C" fn end_all() {
    // A lock that a thread held when the program ended is not waited for.
    let Ok(mut helpers) = HELPERS.try_lock() else { return };
    ENDS.set(true);
    ENDING.store(true, Ordering::Release);
    for it in helpers.drain(..).filter(|it| it.owner == process::id()) {
        let _ = it.control.shutdown(Shutdown::Both);
        if it.is_group {
            wait_for_group(it.process, TO_END);
        } else {
            wait(it.process, TO_END);
        }
    }
}

/// The helper: where the user says, beside the library, in the installation, in a build tree.
pub(super) fn find() -> Result<PathBuf> {
    let mut tried = Vec::new();
    if let Some(folder) = cache::setting(FOLDER_VARIABLE) {
        tried.push(PathBuf::from(folder));
    }
    let here = library().or_else(|| env::current_exe().ok());
    if let Some(folder) = here.as_deref().and_then(Path::parent) {
        tried.push(folder.to_owned());
        tried.extend(["../libexec/ferry", "../../libexec/ferry", ".."].map(|it| folder.join(it)));
    }
    tried.extend(["/usr/local/libexec/ferry", "/usr/libexec/ferry"].map(PathBuf::from));
    let found = tried.iter().map(|it| it.join(HELPER)).find(|it| it.is_file());
    found.ok_or_else(|| {
        let tried: Vec<String> = tried.iter().map(|it| it.display().to_string()).collect();
        DeviceError::Failed(format!(
            "its helper `{HELPER}` is in none of {}; {FOLDER_VARIABLE} names another folder",
            tried.join(", ")
        ))
    })
}

/// The shared library that this code is part of; none if it is linked into the program.
fn library() -> Option<PathBuf> {
    // SAFETY: the structure is plain numbers and pointers, for which zero is valid; the loader fills
    // it in for an address of our own code, with a text that stays as long as that code.
    let file = unsafe {
        let mut info: libc::Dl_info = mem::zeroed();
        let known = libc::dladdr(library as *const c_void, &raw mut info) != 0;
        if !known || info.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned()
    };
    let path = Path::new(&file).canonicalize().ok()?;
    let program = env::current_exe().and_then(|it| it.canonicalize()).ok();
    (program.as_ref() != Some(&path)).then_some(path)
}
