//! Programs of clang and flang: how to tell them, and the lines their tests and tools expect.
//!
//! A program is LLVM's if this library was loaded under the name of LLVM's, or if it registered a
//! kernel and none of ours. It gets devices and messages as LLVM's own runtime has them; the texts
//! here are interface, not prose. Its information lines are in [`crate::llvm_info`].

use std::fmt::{Display, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Section};
use crate::loaded;

/// Said when a pointer that is held by a region is disassociated.
pub(crate) const HELD_POINTER: &str =
    "omptarget error: Trying to disassociate a pointer with a non-zero hold reference count\n";

static HAS_OURS: AtomicBool = AtomicBool::new(false);
static HAS_THEIRS: AtomicBool = AtomicBool::new(false);

/// What such a program gets when `FERRY_DEVICE` is not set: four devices with copies.
pub(crate) const DEVICES: &str = "cpu:copy*4";

/// A kernel was registered.
pub(crate) fn saw_kernel(is_ours: bool) {
    let seen = if is_ours { &HAS_OURS } else { &HAS_THEIRS };
    seen.store(true, Ordering::Relaxed);
}

/// The program was built by clang or flang alone.
pub(crate) fn is_program() -> bool {
    static HAS_THEIR_NAME: OnceLock<bool> = OnceLock::new();
    let has_their_name = || {
        let own = loaded::file_of(saw_kernel as *const () as usize);
        own.rsplit('/').next().is_some_and(|it| it.starts_with("libomptarget.so"))
    };
    let is_theirs =
        HAS_THEIRS.load(Ordering::Relaxed) || *HAS_THEIR_NAME.get_or_init(has_their_name);
    is_theirs && !HAS_OURS.load(Ordering::Relaxed)
}

fn section(it: &Section) -> String {
    format!("0x{:016x} ({} bytes)", it.at, it.size)
}

/// The lines before such a program is ended by a signal.
pub(crate) fn last_words(place: &dyn Display, in_kernel: bool, error: &Error) -> String {
    let mut out = String::new();
    let lost_pointer = |out: &mut String, reason: &str| {
        let _ = writeln!(
            out,
            "omptarget error: Call to getTargetPointer returned null pointer ({reason})."
        );
    };
    let not_present = |out: &mut String, what: &Section, modifier: &str| {
        let _ = writeln!(
            out,
            "omptarget message: device mapping required by 'present' {modifier} modifier does not \
             exist for host address {}",
            section(what)
        );
    };
    match error {
        Error::Overlap { what, mapped, is_required } => {
            let _ = writeln!(
                out,
                "omptarget message: explicit extension not allowed: host address specified is {}, \
                 but device allocation maps to host at {}",
                section(what),
                section(mapped)
            );
            if *is_required {
                not_present(&mut out, what, "map type");
            }
            let present = "'present' map type modifier";
            let reason = if *is_required { present } else { "device failure or illegal mapping" };
            lost_pointer(&mut out, reason);
        }
        Error::NotPresent { what, is_motion } => {
            let modifier = if *is_motion { "motion" } else { "map type" };
            not_present(&mut out, what, modifier);
            if !is_motion {
                lost_pointer(&mut out, "'present' map type modifier");
            }
        }
        Error::NoSuchDevice { number, count } => {
            let _ = writeln!(
                out,
                "omptarget fatal error {number}: Device number '{number}' out of range, only \
                 {count} devices available"
            );
            return out;
        }
        Error::Requires { clause } => {
            let _ = writeln!(
                out,
                "omptarget fatal error 2: '#pragma omp requires {clause}' not used consistently!"
            );
            return out;
        }
        Error::Device { .. }
        | Error::Crash { .. }
        | Error::Exited { .. }
        | Error::NoImage { .. }
        | Error::Size { .. }
        | Error::UnknownRegion { .. }
        | Error::NoSuchQueue { .. }
        | Error::NoDevices { .. }
        | Error::Setting { .. }
        | Error::Argument { .. }
        | Error::BadCall(_)
        | Error::Panicked => {
            let _ = writeln!(out, "omptarget error: {error}");
        }
    }
    if in_kernel {
        out.push_str("omptarget error: Call to targetDataBegin failed, abort target.\n");
        out.push_str("omptarget error: Failed to process data before launching the kernel.\n");
    }
    out.push_str(
        "omptarget error: Consult https://openmp.llvm.org/design/Runtimes.html for debugging \
         options.\n",
    );
    let place = place.to_string();
    if place == "unknown place" {
        out.push_str("omptarget error: Source location information not present. Compile with -g or -gline-tables-only.\n");
    } else {
        let file = place.rsplit('/').next().unwrap_or(&place);
        let _ = write!(out, "{file}: ");
    }
    out.push_str(
        "omptarget fatal error 1: failure of target construct while offloading is mandatory\n",
    );
    out
}
