//! Other machines: a program of theirs, which the image brings along, is started and spoken to.
//!
//! Its memory is one range of its addresses, which this side deals out. Where both sides can map one file, copies are
//! copies of bytes; elsewhere they are frames. Nothing assumes that addresses of both sides are the same.
//!
//! - [`link`]: frames, who reads them, signs of life
//! - [`start`]: the program as a file, and what starts it
//! - [`device`]: the device as the runtime sees it
//! - [`offer`]: what the runtime says of a program's images before devices are opened

mod device;
mod link;
mod start;

use std::sync::{Mutex, PoisonError};

use abi::remote::Image;

pub use device::Other;

/// Images of the program for other machines.
static OFFERED: Mutex<Vec<Offered>> = Mutex::new(Vec::new());

/// An image in parts of its own.
#[derive(Clone, Debug)]
struct Offered {
    device: String,
    runner: Vec<String>,
    shares_files: bool,
    program: Vec<u8>,
}

/// Tells of an image of the program; those of other devices are passed over.
pub fn offer(bytes: &[u8]) {
    let Some(Image { device, runner, shares_files, program }) = Image::read(bytes) else { return };
    let offered = Offered { device, runner, shares_files, program: program.to_vec() };
    OFFERED.lock().unwrap_or_else(PoisonError::into_inner).push(offered);
}

/// The image of a device, the last of them.
fn offered(device: &str) -> Option<Offered> {
    let all = OFFERED.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().rev().find(|it| it.device == device).cloned()
}
