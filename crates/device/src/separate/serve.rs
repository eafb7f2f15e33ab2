//! The helper's side of `cpu:separate`: the whole of the program `ferry-cpu-device`.
//!
//! The first thread reads the control channel and starts a thread for each new one; it ends the
//! process when the channel or the program that it belongs to ends, whatever kernels do. The library
//! is loaded so that routines of the standard, called in kernels, answer as on a device.
#![allow(unsafe_code, reason = "runs kernels by address, in a process that is set up for them")]

use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, ptr, thread};

use abi::entry::KernelFn;

use super::protocol::{self, Request, VERSION};
use super::{ENTER, HEAR, last_words};
use crate::arena;
use crate::library::Library;
use crate::{Convention, DeviceError, Result, parameters};

/// Stack of a thread that runs kernels; pages are taken when they are used.
const STACK: usize = 64 << 20;
/// Exit status when there is nobody to serve.
const UNUSED: c_int = 2;

/// A function of the library that is told a number.
type Told = unsafe extern "C" fn(c_int);

/// What all channels share.
struct Server {
    number: c_int,
    enter: Told,
    modules: Mutex<(u64, HashMap<u64, Arc<Library>>)>,
}

/// Serves the program that has started this one; returns an exit status.
pub fn main() -> c_int {
    own_addresses();
    let Some(control) = control() else { return UNUSED };
    let Ok((hello, files)) = protocol::asked(&control) else { return UNUSED };
    let started = start(hello, files);
    let greeting = started.as_ref().map(|_| Vec::new()).map_err(Clone::clone);
    let greeted = protocol::answer(&control, &greeting);
    let Ok((server, parent)) = started else { return UNUSED };
    if greeted.is_ok() {
        listen(&control, parent, &Arc::new(server));
    }
    // SAFETY: kernels may still run; nothing of this process is worth waiting for them.
    unsafe { libc::_exit(0) }
}

/// Addresses of the program must mean nothing here; without random layouts both processes would
/// have the same.
fn own_addresses() {
    // SAFETY: reads and sets a number; then this program begins once more, with its descriptors.
    unsafe {
        let now = libc::personality(0xffff_ffff);
        let fixed = libc::ADDR_NO_RANDOMIZE;
        if now == -1 || now & fixed == 0 {
            return;
        }
        libc::personality((now & !fixed) as libc::c_ulong);
        if libc::personality(0xffff_ffff) & fixed == 0 {
            let words = [c"ferry-cpu-device".as_ptr(), ptr::null()];
            libc::execv(c"/proc/self/exe".as_ptr(), words.as_ptr());
        }
    }
}

/// The control channel came as standard input, whose place is needed for the program's.
fn control() -> Option<UnixStream> {
    // SAFETY: duplicates a descriptor; the new one is ours alone.
    let copy = unsafe { libc::fcntl(0, libc::F_DUPFD_CLOEXEC, 3) };
    // SAFETY: see above.
    (copy >= 0).then(|| UnixStream::from(unsafe { OwnedFd::from_raw_fd(copy) }))
}

fn start(hello: Request, files: Vec<File>) -> Result<(Server, u64)> {
    let Request::Hello { version, parent, number, base, size, library } = hello else {
        return Err(DeviceError::Failed("it was not greeted".into()));
    };
    if version != VERSION {
        return Err(DeviceError::Failed(format!(
            "it speaks version {VERSION} and the library version {version}: they belong to \
             different installations"
        )));
    }
    let mut files = files.into_iter();
    let memory = files.next().ok_or(DeviceError::Failed("it got no memory".into()))?;
    let upward = files.next().ok_or(DeviceError::Failed("it got no channel".into()))?;
    match files.next() {
        // SAFETY: replaces the control channel, which has a copy, by the program's own input.
        Some(input) => unsafe { libc::dup2(input.as_raw_fd(), 0) },
        // SAFETY: the program has none.
        None => unsafe { libc::close(0) },
    };
    let mapped = arena::map_here(&memory, base as usize, size as usize);
    mapped.map_err(|error| DeviceError::Failed(format!("its memory cannot be mapped: {error}")))?;
    signals();
    last_words::listen(base as *mut c_void);
    let (enter, hear) = entrance(&library)?;
    // SAFETY: takes a descriptor, which is the library's from now on.
    unsafe { hear(upward.into_raw_fd()) };
    let number = c_int::try_from(number).unwrap_or(0);
    Ok((Server { number, enter, modules: Mutex::default() }, parent))
}

/// What the terminal sends is for the program, which may go on; faults must reach their handlers
/// whatever the program has blocked.
fn signals() {
    // SAFETY: plain settings of this process, before any thread is started.
    unsafe {
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
        let mut none: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// Loads the library for all images to see, and finds what tells a thread that it is on a device.
/// With it comes what takes the channel to the host.
fn entrance(library: &str) -> Result<(Told, Told)> {
    let mut tried = vec![PathBuf::from(library)];
    if let Some(folder) = env::current_exe().ok().as_deref().and_then(Path::parent) {
        let folders = [".", "deps", "../../lib", "../lib", "../../lib64"];
        tried.extend(folders.map(|it| folder.join(it).join("libferry.so")));
    }
    tried.push("libferry.so".into());
    let names = [ENTER, HEAR].map(|it| CString::new(it).unwrap_or_default());
    for path in tried.iter().filter(|it| !it.as_os_str().is_empty()) {
        let Ok(path) = CString::new(path.as_os_str().as_encoded_bytes()) else { continue };
        // SAFETY: loads our own library; functions of these names have this type there.
        unsafe {
            let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
            if handle.is_null() {
                continue;
            }
            let [enter, hear] = names.each_ref().map(|it| libc::dlsym(handle, it.as_ptr()));
            if !enter.is_null() && !hear.is_null() {
                let told = |it| mem::transmute::<*mut c_void, Told>(it);
                return Ok((told(enter), told(hear)));
            }
        }
    }
    Err(DeviceError::Failed("it does not find libferry.so of its own version".into()))
}

/// Takes new channels until there is nobody to serve.
fn listen(control: &UnixStream, parent: u64, server: &Arc<Server>) {
    // SAFETY: asks for a descriptor of a process, which is ours alone; old systems have none.
    let parent = unsafe { libc::syscall(libc::SYS_pidfd_open, parent as libc::pid_t, 0) } as c_int;
    loop {
        let wait = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // A negative descriptor is passed over.
        let mut waits = [wait(control.as_raw_fd()), wait(parent)];
        // SAFETY: two records that live until the call returns.
        let ready = unsafe { libc::poll(waits.as_mut_ptr(), 2, -1) };
        if ready < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
            continue;
        }
        let [news, death] = waits;
        if ready < 0 || death.revents != 0 {
            return;
        }
        if news.revents == 0 {
            continue;
        }
        let files = match protocol::asked(control) {
            Ok((Request::Channel, files)) => files,
            Ok((Request::Alive, _)) if protocol::answer(control, &Ok(Vec::new())).is_ok() => {
                continue;
            }
            _ => return,
        };
        for file in files {
            let channel = UnixStream::from(OwnedFd::from(file));
            let server = Arc::clone(server);
            let builder = thread::Builder::new().name("ferry-kernel".into()).stack_size(STACK);
            // Without a thread the channel ends, which the other side notices.
            let _ = builder.spawn(move || server.serve(&channel));
        }
    }
}

impl Server {
    /// Answers one channel until it ends.
    fn serve(&self, channel: &UnixStream) {
        last_words::keep_a_stack();
        while let Ok((request, _)) = protocol::asked(channel) {
            let answer = self.handle(request);
            if protocol::answer(channel, &answer).is_err() {
                return;
            }
        }
    }

    fn handle(&self, request: Request) -> Result<Vec<u8>> {
        match request {
            Request::Hello { .. } | Request::Channel | Request::Alive => {
                Err(DeviceError::Failed("a message that does not belong here".into()))
            }
            Request::Load(image) => {
                // Initialisers of the image run now: no lock is held.
                let library = Arc::new(Library::from_bytes(&image)?);
                let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
                modules.0 += 1;
                let number = modules.0;
                modules.1.insert(number, library);
                Ok(number.to_ne_bytes().to_vec())
            }
            Request::Unload(module) => {
                let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
                let library = modules.1.remove(&module);
                drop(modules);
                if let Some(library) = library.and_then(Arc::into_inner) {
                    library.close();
                }
                flush();
                Ok(Vec::new())
            }
            Request::Find { module, name } => {
                let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
                let library = modules.1.get(&module).cloned();
                drop(modules);
                let library =
                    library.ok_or(DeviceError::BadImage("it is not loaded any more".into()))?;
                let symbol = CString::new(name.as_str());
                let symbol = symbol.map_err(|_| DeviceError::NotFound(name))?;
                library.find(&symbol).map(|(at, _)| at.to_ne_bytes().to_vec())
            }
            Request::Read { at, len } => {
                let mut bytes = vec![0u8; usize::try_from(len).unwrap_or(0)];
                move_bytes(libc::process_vm_readv, at, &mut bytes)?;
                Ok(bytes)
            }
            Request::Write { at, mut bytes } => {
                move_bytes(libc::process_vm_writev, at, &mut bytes)?;
                Ok(Vec::new())
            }
            Request::Launch { launch, kernel, convention, args } => {
                last_words::runs(launch);
                // SAFETY: the address came from `Find`, for a kernel with this convention that takes
                // these arguments, as the host's caller promises; the entrance takes a number.
                let ran = unsafe {
                    (self.enter)(self.number);
                    run(kernel as usize, convention, &args)
                };
                flush();
                last_words::runs(0);
                ran.map(|()| Vec::new())
            }
        }
    }
}

/// # Safety
/// As for [`crate::Device::launch`].
unsafe fn run(kernel: usize, convention: Convention, args: &[u64]) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        match convention {
            Convention::Slots => {
                let function: KernelFn = mem::transmute(kernel);
                function(args.as_ptr().cast());
                Ok(())
            }
            Convention::Parameters => parameters::call(kernel, args),
        }
    }
}

/// What a kernel prints is seen when it is done.
fn flush() {
    // SAFETY: flushes all streams of this process.
    unsafe { libc::fflush(ptr::null_mut()) };
}

type Mover = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> isize;

/// Moves between a buffer and memory of this process that may not be there, which is then an error.
fn move_bytes(mover: Mover, at: u64, bytes: &mut [u8]) -> Result<()> {
    let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let there = libc::iovec { iov_base: at as *mut c_void, iov_len: bytes.len() };
    // SAFETY: the system checks the other range; ours is a buffer of that length.
    let moved = unsafe { mover(libc::getpid(), &raw const here, 1, &raw const there, 1, 0) };
    if usize::try_from(moved).is_ok_and(|it| it == bytes.len()) {
        return Ok(());
    }
    Err(DeviceError::Failed(format!("{} bytes at {at:#x} are not memory of it", bytes.len())))
}
