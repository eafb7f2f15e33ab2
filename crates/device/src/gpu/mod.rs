//! What GPUs of all makers share.
//!
//! - [`stream`]: work that is done in its order while its caller goes on, and calls that wait for it
//! - [`pool`]: which streams there are, who has which, and what comes after what
//! - [`heap`]: memory that is kept for the next who asks
//! - [`mailbox`]: regions that kernels hand back to the host
//! - [`relay`]: large copies in pieces, for plugins whose drivers copy them with one thread
//! - [`shape`], [`parts`]: sizes of launches, images of several files
//! - [`llvm`]: kernels that LLVM has compiled

pub(crate) mod heap;
pub(crate) mod llvm;
pub(crate) mod mailbox;
pub(crate) mod parts;
pub(crate) mod pool;
pub(crate) mod relay;
pub(crate) mod shape;
pub(crate) mod stream;

#[cfg(test)]
mod tests;
