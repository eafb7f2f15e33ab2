//! Who watches: the information lines of `FERRY_INFO`, the events of `FERRY_TRACE`, a tool.
//!
//! A call asks once, with one relaxed load, whether anybody watches; if nobody does, nothing below
//! reads the clock or makes a text.

use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use device::Build;

use crate::args::{Name, Place};
use crate::piece::Piece;
use crate::{llvm_info, report, running, settings, trace};

const INFO: u32 = 1;
const TRACE: u32 = 2;
/// A tool wants to be called.
const TOOL: u32 = 4;
/// A profiling tool wants to be called.
const PROFILER: u32 = 8;
/// What devices count by themselves is wanted.
const COUNTS: u32 = 16;
/// Where LLVM's bits are.
const LLVM_SHIFT: u32 = 8;
/// The environment was not read yet.
const UNREAD: u32 = 1 << 31;

static WATCHERS: AtomicU32 = AtomicU32::new(UNREAD);

/// What is watched during one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch(u32);

/// When something began; empty if nobody watches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer(Option<Instant>);

/// Which way data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To the device.
    In,
    /// To the host.
    Out,
}

impl Watch {
    /// What is watched now.
    pub(crate) fn now() -> Watch {
        match WATCHERS.load(Ordering::Relaxed) {
            UNREAD => Watch(first()),
            watchers => Watch(watchers),
        }
    }

    pub(crate) fn start(self) -> Timer {
        Timer(self.is_on().then(Instant::now))
    }

    /// A copy has been made.
    pub(crate) fn transfer(
        self,
        timer: Timer,
        (number, place): (usize, Place),
        direction: Direction,
        piece: &Piece,
    ) {
        let Some(began) = timer.0 else { return };
        if self.has_llvm(llvm_info::COPIES) {
            llvm_info::copied(number, direction, piece);
        }
        let bytes = piece.size;
        let name = piece.name.map_or_else(|| "unnamed data".to_owned(), |it| it.to_string());
        let (verb, way) = match direction {
            Direction::In => ("to", "copy to device"),
            Direction::Out => ("from", "copy to host"),
        };
        let ended = Instant::now();
        if self.0 & INFO != 0 {
            let micros = micros(began, ended);
            let line =
                format!("{place}: {name}: {bytes} bytes {verb} device {number}, {micros} us");
            report::info(&line);
        }
        if self.0 & TRACE != 0 {
            let mut args = format!("\"bytes\":{bytes},\"device\":{number}");
            let _ = write!(args, ",\"place\":{}", trace::quoted(&place.to_string()));
            trace::event(way, &name, began, ended, &args);
        }
    }

    /// Does somebody want to know what devices count by themselves?
    pub(crate) fn wants_counts(self) -> bool {
        self.0 & COUNTS != 0
    }

    /// What a device has counted during a launch.
    pub(crate) fn counted(place: &dyn std::fmt::Display, kernel: &str, counts: &str) {
        report::info(&format!("{place}: {kernel}: {counts}"));
    }

    /// A device is open that works by itself.
    pub(crate) fn opened(self, device: usize, kind: &str) {
        if self.0 & INFO != 0 {
            report::info(&format!(
                "device {device} ({kind}): each call is waited for while this is told, otherwise when results are read"
            ));
        }
    }

    /// A device has the code of a program.
    pub(crate) fn loaded(self, timer: Timer, device: usize, build: Option<Build>) {
        let (Some(began), Some(build)) = (timer.0, build) else { return };
        let (what, ended) = (build_words(build), Instant::now());
        if self.0 & INFO != 0 {
            report::info(&format!("device {device}: {what}, {} us", micros(began, ended)));
        }
        if self.0 & TRACE != 0 {
            trace::event("load", what, began, ended, &format!("\"device\":{device}"));
        }
    }

    /// A device runs kernels in a process that has given up so much.
    pub(crate) fn confined(self, device: usize, how: impl FnOnce() -> Option<String>) {
        if self.0 & INFO != 0
            && let Some(how) = how()
        {
            report::info(&format!("device {device}: kernels are confined: {how}"));
        }
    }

    /// A region or a data directive is done. `what` says where it ran.
    pub(crate) fn finished(
        self,
        timer: Timer,
        cx_place: &dyn std::fmt::Display,
        kind: &str,
        what: &str,
    ) {
        let Some(began) = timer.0 else { return };
        let ended = Instant::now();
        let queue = running::queue();
        if self.0 & INFO != 0 {
            let queue = queue.map_or_else(String::new, |it| format!(", queue {it}"));
            let took = micros(began, ended);
            report::info(&format!("{cx_place}: {kind} {what}{queue}, {took} us"));
        }
        if self.0 & TRACE != 0 {
            let mut args = format!("\"place\":{}", trace::quoted(&cx_place.to_string()));
            if let Some(queue) = queue {
                let _ = write!(args, ",\"queue\":{queue}");
            }
            trace::event(kind, what, began, ended, &args);
        }
    }

    /// Does somebody want these lines of LLVM's?
    pub(crate) fn has_llvm(self, bits: u32) -> bool {
        self.0 & (bits << LLVM_SHIFT) != 0
    }

    /// Sets which lines of LLVM's are printed.
    pub(crate) fn set_llvm(bits: u32) {
        let own = Watch::now().0 & (INFO | TRACE | TOOL | PROFILER | COUNTS);
        WATCHERS.store(own | (bits & llvm_info::ALL) << LLVM_SHIFT, Ordering::Relaxed);
    }

    /// A tool wants to be called from now on.
    pub(crate) fn add_tool() {
        let before = Watch::now().0;
        WATCHERS.store(before | TOOL, Ordering::Relaxed);
    }

    /// The tool is gone.
    pub(crate) fn remove_tool() {
        WATCHERS.fetch_and(!TOOL, Ordering::Relaxed);
    }

    /// The same for profiling tools.
    pub(crate) fn add_profiler() {
        let _ = Watch::now();
        WATCHERS.fetch_or(PROFILER, Ordering::Relaxed);
    }

    pub(crate) fn remove_profiler() {
        WATCHERS.fetch_and(!PROFILER, Ordering::Relaxed);
    }

    /// Does a profiling tool want to be called?
    pub(crate) fn has_profiler(self) -> bool {
        self.0 & PROFILER != 0
    }

    /// Does a tool of either kind want to be called?
    pub(crate) fn has_tools(self) -> bool {
        self.0 & (TOOL | PROFILER) != 0
    }

    /// Does a tool want to be called?
    pub(crate) fn has_tool(self) -> bool {
        self.0 & TOOL != 0
    }

    /// The device address of something was asked for that is not there.
    pub(crate) fn without_counterpart(self, device: usize, name: Option<Name>) {
        if self.has_llvm(llvm_info::NO_COUNTERPART) {
            llvm_info::without_counterpart(device, name);
        }
    }

    /// Does anybody read what happened?
    pub(crate) fn is_on(self) -> bool {
        self.0 & !(TOOL | PROFILER | COUNTS) != 0
    }
}

fn build_words(build: Build) -> &'static str {
    match build {
        Build::Compiled => "kernels compiled",
        Build::Kept => "kernels compiled before",
    }
}

fn micros(began: Instant, ended: Instant) -> String {
    format!("{:.1}", (ended - began).as_nanos() as f64 / 1000.0)
}

#[cold]
fn first() -> u32 {
    let info = if settings::info() { INFO } else { 0 };
    let trace = match settings::trace() {
        Some(path) if trace::open(&path) => TRACE,
        _ => 0,
    };
    let lines = (settings::llvm_info() & llvm_info::ALL) << LLVM_SHIFT;
    let counts = if settings::counts() { COUNTS } else { 0 };
    let all = info | trace | lines | counts;
    WATCHERS.store(all, Ordering::Relaxed);
    all
}
