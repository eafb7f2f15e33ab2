//! The emulated accelerator: a process per core, which sees buffers through a view of its own and all else as it was when
//! the accelerator was started.
//!
//! A process between host and cores starts them, sees how they end and starts them again. Global variables of the program are one
//! set for all cores, another than the host's. The accelerator ends with the host, however that ends.
#![allow(unsafe_code, reason = "processes, signals, and the pages of global variables")]

use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::Ordering;

use crate::core;
use crate::hardware::{ENDED, Hardware};
use crate::memory::Memory;
use crate::settings::Settings;
use crate::view::View;

/// Starts the accelerator; says why it cannot. Comes before threads of this library.
pub(crate) fn start(
    hardware: &'static Hardware,
    memory: &'static Memory,
    settings: &Settings,
) -> Result<(), String> {
    let mut ends = [0; 2];
    // SAFETY: a pipe and a copy of the process; the copy does not return.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err("no pipe".into());
        }
        // What waits in buffers would be written by each process.
        libc::fflush(ptr::null_mut());
        match libc::fork() {
            0 => {
                let [read, write] = ends;
                libc::close(write);
                control(hardware, memory, settings, read);
                libc::_exit(0)
            }
            -1 => Err("no process".into()),
            _ => {
                let [read, _] = ends;
                libc::close(read);
                Ok(())
            }
        }
    }
}

/// Starts cores until the host has ended.
fn control(hardware: &'static Hardware, memory: &'static Memory, settings: &Settings, host: c_int) {
    let Some(view) = View::new(memory, settings.is_checked, false) else { return };
    let is_shared = share_globals();
    if !is_shared {
        crate::report::warn(
            "global variables are not shared among accelerator cores: the program has no segment of its own for them",
        );
    }
    // SAFETY: signals of this process.
    let children = unsafe {
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    for (number, _) in hardware.cores() {
        launch(hardware, view, number);
    }
    loop {
        let mut waits =
            [host, children].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        // SAFETY: two descriptors of this process. Restarts are asked for in memory, hence the short time.
        unsafe { libc::poll(waits.as_mut_ptr(), 2, 20) };
        let [host, signal] = waits;
        if host.revents != 0 || hardware.is_over.load(Ordering::Relaxed) != 0 {
            break;
        }
        if signal.revents != 0 {
            let mut bytes = [0_u8; 512];
            // SAFETY: reads what there is.
            unsafe { libc::read(children, bytes.as_mut_ptr().cast(), bytes.len()) };
        }
        bury(hardware);
        for (number, core) in hardware.cores() {
            if core.restart.swap(0, Ordering::AcqRel) != 0 {
                launch(hardware, view, number);
            }
        }
    }
    for (_, core) in hardware.cores() {
        let process = core.process.load(Ordering::Relaxed);
        if process > 0 {
            // SAFETY: a child of this process that was not waited for.
            unsafe { libc::kill(process, libc::SIGKILL) };
        }
    }
}

/// Notes which cores have ended, and how.
fn bury(hardware: &Hardware) {
    loop {
        let mut status = 0;
        // SAFETY: asks for children of this process.
        let process = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        if process <= 0 {
            return;
        }
        for (_, core) in hardware.cores() {
            if core.process.load(Ordering::Relaxed) == process {
                core.process.store(0, Ordering::Relaxed);
                core.is_free.store(0, Ordering::Relaxed);
                core.ending.store(status | ENDED, Ordering::Release);
                hardware.deaths.fetch_add(1, Ordering::AcqRel);
                hardware.host.ring_all();
            }
        }
    }
}

fn launch(hardware: &'static Hardware, view: &'static View, number: u32) {
    // SAFETY: a copy of this process, which has one thread; the copy does not return.
    unsafe {
        let parent = libc::getpid();
        match libc::fork() {
            0 => {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if libc::getppid() != parent {
                    libc::_exit(0);
                }
                let mut set: libc::sigset_t = mem::zeroed();
                libc::sigemptyset(&raw mut set);
                libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut());
                core::run(hardware, view, number)
            }
            -1 => (),
            process => {
                if let Some(core) = hardware.core(number) {
                    core.process.store(process, Ordering::Relaxed);
                }
            }
        }
    }
}

/// Makes the program's global variables one set for this process and those that it starts.
fn share_globals() -> bool {
    unsafe extern "C" fn segment(
        info: *mut libc::dl_phdr_info,
        _: usize,
        found: *mut c_void,
    ) -> c_int {
        // SAFETY: as the loader calls it, with the place of the answer.
        unsafe {
            let info = &*info;
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            // Without a loader the C library's variables are among them, and these are of one process.
            if headers.iter().any(|it| it.p_type == libc::PT_INTERP) {
                let sealed = headers.iter().find(|it| it.p_type == libc::PT_GNU_RELRO);
                let sealed = sealed.map_or(0, |it| it.p_vaddr + it.p_memsz);
                let writable = headers
                    .iter()
                    .filter(|it| it.p_type == libc::PT_LOAD && it.p_flags & libc::PF_W != 0);
                for it in writable {
                    let (from, to) = (it.p_vaddr.max(sealed), it.p_vaddr + it.p_memsz);
                    let base = info.dlpi_addr;
                    *found.cast::<(usize, usize)>() =
                        ((base + from) as usize, (base + to) as usize);
                }
            }
        }
        // The program comes first; libraries keep theirs.
        1
    }
    let mut found = (0_usize, 0_usize);
    const PAGE: usize = crate::view::PAGE;
    // SAFETY: this process has one thread. The pages behind the sealed part are replaced by shared ones with the same
    // contents.
    unsafe {
        libc::dl_iterate_phdr(Some(segment), (&raw mut found).cast());
        let (from, to) = (found.0 / PAGE * PAGE, found.1.next_multiple_of(PAGE));
        if to <= from {
            return false;
        }
        let bytes = to - from;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let new = libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0);
        if new == libc::MAP_FAILED {
            return false;
        }
        ptr::copy_nonoverlapping(from as *const u8, new.cast::<u8>(), bytes);
        let fixed = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        libc::mremap(new, bytes, bytes, fixed, from as *mut c_void) != libc::MAP_FAILED
    }
}
