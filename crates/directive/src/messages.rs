//! What can be wrong with the text of a directive: the catalogue, one function per fault.
//!
//! Codes are F03xx and stay with their fault. The caller brings words and places; the wording is
//! here and nowhere else.

use source::{Diagnostic, Span};

use crate::suggest::nearest;

/// A list of this many words is still worth showing.
const SHORT: usize = 12;

/// `a`, `b` or `c`
fn alternatives(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [many @ .., last] => {
            let many: Vec<String> = many.iter().map(|it| format!("`{it}`")).collect();
            format!("{} or `{last}`", many.join(", "))
        }
    }
}

/// Adds the nearest word, or all of them if they are few.
fn suggesting(fault: Diagnostic, word: &str, known: &[&str]) -> Diagnostic {
    match nearest(word, known.iter().copied()) {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None if !known.is_empty() && known.len() <= SHORT => {
            fault.help(format!("write {}", alternatives(known)))
        }
        None => fault,
    }
}

pub(crate) fn missing_directive(sentinel: &str, standard: &str, place: Span) -> Diagnostic {
    Diagnostic::error("F0301", format!("a directive is missing after `{sentinel}`"))
        .at(place, format!("{standard} expects the name of a directive here"))
}

pub(crate) fn unknown_directive(
    word: &str,
    standard: &str,
    near: Option<&str>,
    place: Span,
) -> Diagnostic {
    let fault = Diagnostic::error("F0302", format!("`{word}` is no {standard} directive"))
        .at(place, "not known");
    match near {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault,
    }
}

pub(crate) fn cannot_follow(
    next: &str,
    before: &str,
    may_follow: &[&str],
    place: Span,
) -> Diagnostic {
    let fault =
        Diagnostic::error("F0303", format!("`{next}` cannot follow `{before}` in one directive"))
            .at(place, "not a part of this directive");
    match may_follow {
        [] => fault.help(format!("write `{next}` as a directive of its own")),
        some => fault
            .note(format!("`{before}` may be followed by {}", alternatives(some)))
            .help(format!("write `{next}` as a directive of its own inside the region")),
    }
}

pub(crate) fn unknown_clause(
    word: &str,
    directive: &str,
    allowed: &[&str],
    place: Span,
) -> Diagnostic {
    let fault =
        Diagnostic::error("F0304", format!("unknown clause `{word}`")).at(place, "not known");
    match nearest(word, allowed.iter().copied()) {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None if allowed.is_empty() => fault.note(format!("`{directive}` takes no clauses")),
        None if allowed.len() <= SHORT => {
            fault.note(format!("`{directive}` takes {}", alternatives(allowed)))
        }
        None => fault,
    }
}

pub(crate) fn clause_not_allowed(
    word: &str,
    directive: &str,
    allowed: &[&str],
    why: Option<&str>,
    place: Span,
) -> Diagnostic {
    let fault = Diagnostic::error("F0305", format!("`{word}` is not allowed on `{directive}`"))
        .at(place, "this clause does not belong here");
    match why {
        Some(why) => fault.note(why),
        None if allowed.is_empty() => fault.note(format!("`{directive}` takes no clauses")),
        None if allowed.len() <= SHORT => {
            fault.note(format!("`{directive}` takes {}", alternatives(allowed)))
        }
        None => fault,
    }
}

pub(crate) fn clause_given_twice(
    word: &str,
    directive: &str,
    first: Span,
    again: Span,
) -> Diagnostic {
    Diagnostic::error("F0306", format!("`{word}` is given twice on `{directive}`"))
        .at(again, "given again here")
        .label(first, "given first here")
        .help("remove one of them")
}

pub(crate) fn clauses_exclude(word: &str, other: &str, first: Span, again: Span) -> Diagnostic {
    Diagnostic::error("F0307", format!("`{word}` and `{other}` exclude each other"))
        .at(again, format!("`{word}` here"))
        .label(first, format!("`{other}` here"))
        .help("remove one of them")
}

pub(crate) fn argument_missing(word: &str, place: Span) -> Diagnostic {
    Diagnostic::error("F0308", format!("`{word}` needs an argument"))
        .at(place.after(), "`(` is missing here")
        .help(format!("write `{word}(…)`"))
}

pub(crate) fn takes_no_argument(word: &str, place: Span) -> Diagnostic {
    Diagnostic::error("F0309", format!("`{word}` takes no argument"))
        .at(place, "remove these parentheses")
}

pub(crate) fn unclosed(word: &str, open: Span) -> Diagnostic {
    Diagnostic::error("F0310", format!("the parenthesis of `{word}` is not closed"))
        .at(open, "opened here")
        .note("a directive ends with its line; a `\\` at the end of the line continues it")
}

pub(crate) fn expected(
    what: &str,
    found: &str,
    place: Span,
    inside: &str,
    inside_span: Span,
) -> Diagnostic {
    Diagnostic::error("F0311", format!("expected {what}, found {found}"))
        .at(place, format!("{what} should stand here"))
        .label(inside_span, format!("in this `{inside}`"))
}

pub(crate) fn unknown_choice(
    what: &str,
    word: &str,
    known: &[&str],
    place: Span,
    inside: &str,
) -> Diagnostic {
    let fault = Diagnostic::error("F0312", format!("`{word}` is not {what} of `{inside}`"))
        .at(place, "not known here");
    suggesting(fault, word, known)
}

pub(crate) fn clause_required(directive: &str, needed: &[&str], place: Span) -> Diagnostic {
    Diagnostic::error("F0313", format!("`{directive}` needs {}", alternatives(needed)))
        .at(place, "the clause is missing")
}

pub(crate) fn clause_advised(directive: &str, needed: &[&str], place: Span) -> Diagnostic {
    Diagnostic::warning("F0335", format!("`{directive}` should have {}", alternatives(needed)))
        .at(place, "the clause is missing")
        .note("the standard wants one; some compilers do without")
}

pub(crate) fn unexpected_text(found: &str, place: Span, inside: &str) -> Diagnostic {
    Diagnostic::error("F0314", format!("unexpected {found} in `{inside}`"))
        .at(place, "not understood from here on")
}

pub(crate) fn not_a_part(part: &str, directive: &str, parts: &[&str], place: Span) -> Diagnostic {
    let fault = Diagnostic::error("F0315", format!("`{part}` is no part of `{directive}`"))
        .at(place, "names a part that is not there");
    suggesting(fault, part, parts)
}

pub(crate) fn nested_too_deeply(place: Span) -> Diagnostic {
    Diagnostic::error("F0316", "directives inside directives are nested too deeply")
        .at(place, "one level too many")
}

pub(crate) fn expected_clause(found: &str, directive: &str, place: Span) -> Diagnostic {
    Diagnostic::error("F0317", format!("expected a clause of `{directive}`, found {found}"))
        .at(place, "a clause begins with its name")
}

pub(crate) fn given_twice(what: &str, inside: &str, place: Span) -> Diagnostic {
    Diagnostic::error("F0318", format!("{what} is given twice in `{inside}`"))
        .at(place, "given again here")
        .help("remove one of them")
}

pub(crate) fn not_per_device(word: &str, place: Span) -> Diagnostic {
    Diagnostic::error("F0331", format!("`{word}` cannot differ between types of devices"))
        .at(place, "stands behind a `device_type`")
        .help("write it before the first `device_type`: it holds for all of them")
}

pub(crate) fn too_many_arguments(word: &str, at_most: usize, place: Span) -> Diagnostic {
    Diagnostic::error("F0332", format!("`{word}` takes at most {at_most} arguments"))
        .at(place, "too many")
}

pub(crate) fn unknown_operator(
    found: &str,
    known: &[&str],
    place: Span,
    inside: &str,
) -> Diagnostic {
    Diagnostic::error("F0333", format!("{found} is no operator of `{inside}`"))
        .at(place, "an operator and a colon should stand here")
        .help(format!("write {}", alternatives(known)))
}

pub(crate) fn subscripted_clause(word: &str, place: Span) -> Diagnostic {
    Diagnostic::error("F0334", format!("`{word}` takes no subscript"))
        .at(place, "remove this")
        .note("subscripts stand, as an extension, on clauses that speak of levels")
}

/// What became of each clause with a subscript: its place, and how it was read.
pub(crate) fn subscripts_read(readings: &[(Span, String)]) -> Option<Diagnostic> {
    let ((place, reading), others) = readings.split_first()?;
    let warning = Diagnostic::warning("F0336", "subscripts on clauses are read as dimensions")
        .at(*place, reading);
    let warning = others.iter().fold(warning, |it, (place, text)| it.label(*place, text));
    Some(
        warning
            .note("they are an extension of RoseACC and not in the standard; 0 is the innermost")
            .help("the standard writes `num_gangs(x, y)` and `gang(dim: 2)`, counted from 1"),
    )
}

pub(crate) fn no_dimension(word: &str, largest: u8, place: Span) -> Diagnostic {
    Diagnostic::error("F0337", format!("the subscript of `{word}` is no dimension"))
        .at(place, format!("a number from 0 to {largest} should stand in these brackets"))
}
