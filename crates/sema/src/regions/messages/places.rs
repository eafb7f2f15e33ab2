//! Faults of places where no region comes to be: at file scope, as a lone statement, unpaired.

use source::{Diagnostic, Span};

/// The code of directives at file scope.
pub const OUTSIDE_FUNCTIONS: &str = "F0558";

/// A directive at file scope; one that governs nothing is only without effect.
pub(crate) fn outside_functions(name: &str, span: Span, is_harmless: bool) -> Diagnostic {
    let message = format!("`{name}` stands outside of any function");
    let fault = if is_harmless {
        Diagnostic::warning(OUTSIDE_FUNCTIONS, message)
    } else {
        Diagnostic::error(OUTSIDE_FUNCTIONS, message)
    };
    fault.at(span, "nothing is executed here")
}

/// A directive in the place of a statement; `of` is the keyword of the statement around.
pub(crate) fn lone_directive(name: &str, of: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0559", format!("`{name}` cannot be the only statement of `{of}`"))
        .at(span, "without the directive, the next statement would take its place")
        .help("put it in braces")
}

pub(crate) fn ends_nothing(name: &str, span: Span, open: Option<(&str, Span)>) -> Diagnostic {
    let fault = Diagnostic::error("F0589", format!("`{name}` ends nothing"))
        .at(span, "no directive that it ends stands before it");
    match open {
        Some((opener, span)) => fault.label(span, format!("`{opener}` has another end")),
        None => fault,
    }
}

pub(crate) fn never_ended(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0590", format!("`{name}` is never ended"))
        .at(span, "what it holds for has no end")
}
