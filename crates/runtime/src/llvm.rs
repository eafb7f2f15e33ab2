//! Programs of clang and flang: how to tell them, and the lines their tests and tools expect.
//!
//! A program is LLVM's if this library was loaded under the name of LLVM's, or if it registered a
//! kernel, none of ours, and nothing says that Ferry has linked it. It gets devices and messages as LLVM's own runtime has them; the texts
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

/// Ferry has linked the program, whoever has compiled it.
pub(crate) fn saw_link() {
    HAS_OURS.store(true, Ordering::Relaxed);
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

/// What people call the region of a kernel of LLVM's in a program that Ferry has linked: `main:8` for
/// `__omp_offloading_fe00_990f24_main_l8`, with the function as it is written. Nothing for other kernels and programs.
pub(crate) fn region_of(kernel: &str) -> Option<String> {
    if !HAS_OURS.load(Ordering::Relaxed) {
        return None;
    }
    written(kernel)
}

fn written(kernel: &str) -> Option<String> {
    let rest = kernel.strip_prefix("__omp_offloading_")?;
    let (_, rest) = rest.split_once('_')?;
    let (_, rest) = rest.split_once('_')?;
    let (function, line) = rest.rsplit_once("_l")?;
    let (line, number) = line.split_once('_').map_or((line, None), |(it, more)| (it, Some(more)));
    line.parse::<u32>().ok()?;
    let function = name_of(function).unwrap_or_else(|| function.to_owned());
    Some(match number {
        None => format!("{function}:{line}"),
        Some(number) => format!("{function}:{line} ({number})"),
    })
}

/// The name of a function without its types: `_ZN3abc1fIiEEvT_` is `abc::f`, `_QMshapesParea` is `shapes::area`.
fn name_of(symbol: &str) -> Option<String> {
    if let Some(rest) = symbol.strip_prefix("_Q") {
        if rest == "Qmain" {
            return Some("main".to_owned());
        }
        // Modules, functions and procedures in them, each with a letter before its name.
        let parts = rest.split(['M', 'F', 'P', 'S']).filter(|it| !it.is_empty());
        return Some(parts.collect::<Vec<_>>().join("::"));
    }
    let rest = symbol.strip_prefix("_Z")?;
    let is_nested = rest.starts_with('N');
    let mut rest = rest.trim_start_matches(['N', 'K', 'L', 'V']);
    let mut parts: Vec<&str> = Vec::new();
    while let Some(end) = rest.find(|it: char| !it.is_ascii_digit()).filter(|it| *it > 0) {
        let (number, after) = rest.split_at_checked(end)?;
        let (part, after) = after.split_at_checked(number.parse().ok()?)?;
        parts.push(part);
        rest = after;
        if !is_nested {
            break;
        }
    }
    (!parts.is_empty()).then(|| parts.join("::"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_called_as_their_functions_are_written() {
        for (kernel, region) in [
            ("__omp_offloading_fe00_990f24_main_l8", Some("main:8")),
            ("__omp_offloading_fe00_990f24__Z3sumIiET_RKSt6vectorIS0_SaIS0_EE_l10", Some("sum:10")),
            ("__omp_offloading_fe00_990f24__ZN4Grid3addERf_l35_1", Some("Grid::add:35 (1)")),
            ("__omp_offloading_fe00_990f24__ZL5localv_l3", Some("local:3")),
            ("__omp_offloading_fe00_990f24__QQmain_l22", Some("main:22")),
            ("__omp_offloading_fe00_990f24__QMshapesParea_l7", Some("shapes::area:7")),
            ("__omp_offloading_fe00_990f24__Z9x_l7", Some("_Z9x:7")),
            ("__omp_offloading_main_l8", None),
            ("__omp_offloading_1_2_main", None),
            ("__ferry_k_0_main_l8", None),
        ] {
            assert_eq!(written(kernel).as_deref(), region, "{kernel}");
        }
    }
}
