//! Languages that kernels are spelt in as they are: a file each, and a line in [`LANGUAGES`].
//!
//! What a device runs has a host's side and a target besides: those are [`crate::Grid`]s.

pub mod kernel;
mod outlined;

use ::kernel::Module;
pub use outlined::{Kernels, Outlined, kernels, outlined};

/// A language that spells modules.
#[derive(Clone, Copy, Debug)]
pub struct Language {
    /// As users write it.
    pub name: &'static str,
    /// For whom, in a few words.
    pub about: &'static str,
    /// What files in it end with.
    pub ending: &'static str,
    /// Spells a verified module.
    pub text: fn(&Module) -> String,
}

impl PartialEq for Language {
    fn eq(&self, other: &Language) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

/// Kernels as Ferry has them.
pub const KERNEL: Language = Language {
    name: "kernel",
    about: "Kernels as Ferry has them before a language has spelt them, for people: on standard output, or in FILE.k",
    ending: "k",
    text: kernel::text,
};

/// All of them.
pub const LANGUAGES: &[Language] = &[KERNEL];
