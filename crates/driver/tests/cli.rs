//! The `ferry` binary as users meet it: odd input, full disks, closed pipes, wrong options.
//!
//! What the compiler says of programs is in `tests/cases`; here is how the command behaves.
#![allow(clippy::expect_used, reason = "a test says what it needs from the machine")]

mod cli {
    pub(crate) mod architectures;
    pub(crate) mod build_systems;
    pub(crate) mod cc;
    pub(crate) mod cc_files;
    pub(crate) mod cc_link;
    pub(crate) mod coexecute;
    pub(crate) mod compiler;
    pub(crate) mod devices;
    pub(crate) mod explain;
    pub(crate) mod faults;
    pub(crate) mod foreign;
    pub(crate) mod input;
    pub(crate) mod languages;
    pub(crate) mod mapping;
    pub(crate) mod output;
    pub(crate) mod pages;
    pub(crate) mod printed;
    pub(crate) mod reverse;
    pub(crate) mod support;
    pub(crate) mod usage;
}
