//! Diagnostics as text: for people ([`terminal`]), for tools line by line ([`json`]) and as a log
//! that code hosts read ([`sarif`]).
//!
//! In: diagnostics, and a [`crate::Locator`] that knows where their spans were written. Out:
//! strings. The same input always gives the same output. What cannot be located is still told:
//! its words appear without a place.

mod excerpt;
mod json;
mod sarif;
mod terminal;

pub use json::json;
pub use sarif::{SarifLog, sarif};
pub use terminal::{Colour, terminal};

use crate::Severity;

/// The word for a severity, the same in every output that has a choice.
fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

#[cfg(test)]
mod tests;
