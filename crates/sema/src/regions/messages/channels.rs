//! What is wrong with channels.

use source::{Diagnostic, Span};

pub(crate) fn undeclared(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0596", format!("`{name}` is no channel here"))
        .at(span, "the end of a channel")
        .help(format!("put a data region with `pipe({name})` around both ends"))
}

pub(crate) fn ends(name: &str, why: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0597", format!("the channel `{name}` has not two ends: {why}"))
        .at(span, "this channel")
        .help(format!(
            "one region says `pipeout({name})`, and a later one in the same data region `pipein({name})`"
        ))
}

pub(crate) fn wrong_way(name: &str, is_reader: bool, span: Span) -> Diagnostic {
    let (goes, does) = if is_reader { ("reads", "writes") } else { ("writes", "reads") };
    Diagnostic::error("F0598", format!("a region that {goes} the channel `{name}` {does} it too"))
        .at(span, "a channel goes one way")
        .help("map it as an array: `create` around the regions, `present` on them")
}
