//! Files, spans, diagnostics and text edits: what every phase of the compiler speaks of.
//!
//! Nothing here knows C or directives. This crate touches no file system: texts are handed in,
//! rendered reports are handed out as strings.

mod arena;
mod diagnostic;
mod diff;
mod edit;
mod lines;
mod locate;
mod map;
mod marker;
mod names;
pub mod render;
mod span;

pub use arena::{Arena, Id};
pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use diff::unified_diff;
pub use edit::{EditError, Edits};
pub use locate::{Files, Location, Locator, Making, NoFiles, Worded};
pub use map::{FileId, SourceMap, TooBig, looks_binary};
pub use names::{Name, Names};
pub use span::Span;
