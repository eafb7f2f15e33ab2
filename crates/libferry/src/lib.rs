//! `libferry`, as programs link it: crates `runtime` and `tasks` as a shared library and as an archive, and the process of `cpu:separate`.
//!
//! All that is said and done is there; what is in here is how it is packed. What C calls is exported by its name.

pub use runtime::ffi;
pub use tasks::ffi as tasks;
