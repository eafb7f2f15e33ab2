//! Files, spans, diagnostics and text edits: what every phase of the compiler speaks of.
//!
//! Nothing here knows C or directives. This crate touches no file system: texts are handed in,
//! rendered reports are handed out as strings.

mod diagnostic;
mod span;

pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use span::Span;
