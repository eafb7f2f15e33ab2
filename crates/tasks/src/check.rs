//! What checking mode says.

use crate::memory::memory;
use crate::report;
use crate::view::{Fault, LINE};

/// The line of an address in words: `bytes 256 to 383 of the buffer at 0x40600000`.
fn line(address: usize) -> String {
    let block = memory().and_then(|it| it.block_of(address)).unwrap_or(address);
    let from = (address - block) / LINE * LINE;
    format!("bytes {from} to {} of the buffer at {block:#x}", from + LINE - 1)
}

fn words(fault: Fault) -> (String, &'static str) {
    match fault {
        Fault::Shared(at) => (
            format!("{} were written by two sides at the same time: one of them is lost", line(at)),
            "give each task whole lines of 128 bytes: a tile of 32 `int`s, or elements padded to 128 bytes",
        ),
        Fault::Unflushed(at) => (
            format!(
                "an accelerator core uses {}, which the host has written and not flushed",
                line(at)
            ),
            "call `ws_cacheWbInv(buffer, size)` before the tasks are made, or name the buffer in `start_finish`",
        ),
    }
}

/// Says it, and ends the program.
pub(crate) fn fail(fault: Fault, place: &str) -> ! {
    let (message, help) = words(fault);
    report::fail(&format!("{place}{message}"), help)
}

/// A line of which the host keeps an old copy while a core has written it.
pub(crate) fn fail_stale(address: usize) -> ! {
    let message = format!(
        "an accelerator core has written {}, but the host keeps its old copy",
        line(address)
    );
    report::fail(
        &message,
        "name the buffer in `start_finish`: `ws_args_t t = {buffer, size}; start_finish(1, &t);`",
    )
}
