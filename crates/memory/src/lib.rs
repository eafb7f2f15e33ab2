//! Memory of the host by kind: which there is, allocators on it, and proof of where data lie.
//!
//! - [`topology`]: the machine's memory, as the kernel describes it
//! - [`kinds`]: which memory serves which kind
//! - `os`: calls of the kernel about pages
//! - `arena`: address space of a place, handed to the allocator of small blocks
//! - `kept`: small blocks that threads keep, `own`: how a thread finds them, `slabs`: where they are cut
//! - [`allocator`]: traits, fall-backs, pools; blocks large and small
//! - [`checked`]: the same with every wrong use found
//! - [`traits`]: traits of allocators, [`fault`]: what is wrong with a call
//! - [`named`]: kinds by name, also a user's
//! - [`instance`]: variables that each thread has in a memory of some kind
//! - [`persist`]: data that outlive the program
//! - [`proof`]: where memory lies, asked of the kernel
//!
//! Nothing here knows directives or prints; who uses it says what users read.

pub mod allocator;
mod arena;
pub mod checked;
pub mod fault;
mod handles;
pub mod instance;
mod kept;
pub mod kinds;
pub mod named;
mod os;
mod own;
pub mod persist;
pub mod proof;
mod slabs;
pub mod topology;
pub mod traits;
