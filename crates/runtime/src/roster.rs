//! The devices of the list as facts: what may be known of them by who cannot use them.
//!
//! Tools are told of devices by these. Devices themselves, and what is mapped to them, lie above ([`crate::devices`]).

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// What may be known of a device.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) number: usize,
    /// The kind, as the user writes it: `cpu:separate`.
    pub(crate) kind: &'static str,
    /// Images of the program were loaded there.
    pub(crate) is_used: AtomicBool,
    /// A tool was told of it.
    pub(crate) announced: AtomicBool,
}

impl Facts {
    pub(crate) fn new(number: usize, kind: &'static str) -> Arc<Facts> {
        let (is_used, announced) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(Facts { number, kind, is_used, announced })
    }
}

static LISTED: OnceLock<Vec<Arc<Facts>>> = OnceLock::new();

/// The list is made: these are in it.
pub(crate) fn list(devices: impl Iterator<Item = Arc<Facts>>) {
    LISTED.get_or_init(|| devices.collect());
}

/// The devices of the list; none before it is made.
pub(crate) fn listed() -> &'static [Arc<Facts>] {
    LISTED.get().map_or(&[], Vec::as_slice)
}

/// The host as tools number it, after the last device.
pub(crate) fn host_number() -> usize {
    listed().len()
}
