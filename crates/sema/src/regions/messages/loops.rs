//! Faults of loops, `F050x` and `F051x`.

use ir::program::{Program, VarId};
use ir::region::{Loop, Region};
use ir::types::TypeKind;
use source::{Diagnostic, Span};

use crate::regions::loops::Fault;
use crate::regions::spelling::{self, directive, var};

const FORM: &str = "the loop must be `for (var = first; var < bound; var += step)`, where the test \
                    is one of `<`, `<=`, `>`, `>=`, `!=` and the step adds to or takes from `var`";

pub(crate) fn not_a_loop(region: &Region, span: Span) -> Diagnostic {
    let name = directive(&region.construct);
    Diagnostic::error("F0501", format!("`{name}` is not followed by a `for` loop"))
        .at(span, "a `for` loop is expected here")
        .label(region.construct.span, "this directive is about a loop")
}

pub(crate) fn not_canonical(
    program: &Program,
    region: &Region,
    fault: Fault,
    span: Span,
) -> Diagnostic {
    let name = directive(&region.construct);
    let message = |what: String| format!("{what} in the loop of `{name}`");
    let fault = match fault {
        Fault::Init => Diagnostic::error("F0502", message("no loop variable is set".into()))
            .at(span, "not of the form `var = first`"),
        Fault::Type(id) => {
            let ty = program.types.spell(&program.names, program.vars[id].ty);
            let name = var(program, id);
            let what = format!("loop variable `{name}` of type `{ty}` does not count");
            let is_enum = matches!(program.types.shape(program.vars[id].ty), TypeKind::Enum(_));
            let why = match is_enum {
                true => "an enumeration, which is no type to count with",
                false => "neither an integer nor a pointer",
            };
            return Diagnostic::error("F0503", what)
                .at(span, why)
                .help(format!("count with an `int`, and compute `{name}` from it"))
                .label(region.construct.span, "the loop of this directive");
        }
        Fault::Test(id) => {
            let name = var(program, id);
            Diagnostic::error("F0504", message(format!("loop variable `{name}` is not tested")))
                .at(span, format!("not of the form `{name} < bound`"))
        }
        Fault::Bound(id) => {
            let name = var(program, id);
            Diagnostic::error("F0504", message(format!("`{name}` is compared with no integer")))
                .at(span, "neither an integer nor a pointer")
        }
        Fault::MovingBound(id) => {
            let name = var(program, id);
            Diagnostic::error("F0504", message(format!("the bound moves with `{name}`")))
                .at(span, "must have the same value in all iterations")
        }
        Fault::Step(id) => {
            let name = var(program, id);
            let what = format!("loop variable `{name}` is not stepped evenly");
            Diagnostic::error("F0505", message(what))
                .at(span, format!("not of the form `{name} += step`"))
        }
        Fault::ZeroStep => Diagnostic::error("F0506", message("the step is zero".into()))
            .at(span, "the variable stays where it is"),
        Fault::WrongWay => {
            Diagnostic::error("F0506", message("the step leads away from the bound".into()))
                .at(span, "wrong direction for the test")
        }
        Fault::Skips => {
            Diagnostic::error("F0506", message("the step may jump over the bound".into()))
                .at(span, "with `!=` the step must be 1 or -1")
        }
    };
    fault.label(region.construct.span, "this directive deals out iterations").note(FORM)
}

pub(crate) fn too_few_loops(
    region: &Region,
    wanted: u32,
    found: usize,
    span: Span,
    by: Option<Span>,
    outer: Span,
) -> Diagnostic {
    let name = directive(&region.construct);
    let have = if found == 1 { "is only one".to_owned() } else { format!("are only {found}") };
    let message = format!("`{name}` asks for {wanted} nested loops, but there {have}");
    let fault = Diagnostic::error("F0507", message).at(span, "another `for` loop is expected here");
    let start = Span::new(outer.start, outer.start.saturating_add(3).min(outer.end));
    let fault = fault.label(start, "the last loop of the nest");
    match by {
        Some(by) => fault.label(by, "so many are asked for here"),
        None => fault,
    }
}

pub(crate) fn code_between(region: &Region, span: Span, by: Option<Span>) -> Diagnostic {
    let name = directive(&region.construct);
    let message = format!("the loops of `{name}` do not follow each other directly");
    let fault = Diagnostic::error("F0508", message).at(span, "this stands between the loops");
    let fault =
        fault.label(by.unwrap_or(region.construct.span), "these loops are taken as one nest");
    fault.help("move it into the innermost loop or out of the nest")
}

pub(crate) fn loop_variable_changed(
    program: &Program,
    region: &Region,
    it: &Loop,
    span: Span,
) -> Diagnostic {
    let (name, of) = (var(program, it.var), directive(&region.construct));
    let message = format!("loop variable `{name}` is changed in the loop of `{of}`");
    Diagnostic::error("F0509", message)
        .at(span, "changed here")
        .label(region.construct.span, "the number of iterations is computed before the loop")
}

pub(crate) fn loop_variable_listed(
    program: &Program,
    region: &Region,
    it: &Loop,
    (clause, item): (u32, Span),
) -> Diagnostic {
    let (name, of) = (var(program, it.var), directive(&region.construct));
    let clause = spelling::clause(&region.construct, clause);
    let message = format!("loop variable `{name}` of `{of}` is in a `{clause}` clause");
    Diagnostic::error("F0517", message)
        .at(item, "each iteration has its own value of it")
        .label(start(it), "it counts this loop")
}

pub(crate) fn counts_twice(
    program: &Program,
    region: &Region,
    outer: &Loop,
    inner: &Loop,
) -> Diagnostic {
    let (name, of) = (var(program, inner.var), directive(&region.construct));
    Diagnostic::error("F0518", format!("`{name}` counts two loops of the nest of `{of}`"))
        .at(start(inner), "this loop")
        .label(start(outer), "and this one around it")
        .help("give each loop a variable of its own")
}

/// The keyword of a loop.
fn start(it: &Loop) -> Span {
    Span::new(it.span.start, it.span.start.saturating_add(3).min(it.span.end))
}

pub(crate) fn bound_changes(
    program: &Program,
    id: VarId,
    place: Span,
    changed: Span,
) -> Diagnostic {
    let name = var(program, id);
    let message = format!("`{name}` bounds the loop and is changed in it");
    Diagnostic::warning("F0510", message)
        .at(changed, "changed here")
        .label(place, "the number of iterations is computed once, from this")
}

pub(crate) fn not_rectangular(region: &Region, span: Span, by: Option<Span>) -> Diagnostic {
    let name = directive(&region.construct);
    let message = format!("bounds of a loop of `{name}` depend on an outer loop");
    let fault = Diagnostic::error("F0511", message).at(span, "changes with the outer loop");
    match by {
        Some(by) => fault.label(by, "not possible together with this clause"),
        None => fault.label(region.construct.span, "the nest must be rectangular here"),
    }
}

pub(crate) fn strange_bound(region: &Region, span: Span) -> Diagnostic {
    let name = directive(&region.construct);
    let message = format!("bounds of a loop of `{name}` follow an outer loop in no simple way");
    Diagnostic::error("F0512", message)
        .at(span, "changes with the outer loop")
        .note("bounds may be `a * outer + b`, where `a` and `b` do not change in the nest")
}

pub(crate) fn break_out(region: &Region, span: Span) -> Diagnostic {
    let name = directive(&region.construct);
    Diagnostic::error("F0513", format!("`break` out of the loop of `{name}`"))
        .at(span, "ends the loop early")
        .label(region.construct.span, "all iterations are run")
}

pub(crate) fn leaves(region: &Region, word: &str, span: Span) -> Diagnostic {
    let name = directive(&region.construct);
    Diagnostic::error("F0514", format!("`{word}` leaves the region of `{name}`"))
        .at(span, "jumps out of the region")
        .label(region.construct.span, "this region is left only at its end")
}

pub(crate) fn jumps_in(region: &Region, span: Span) -> Diagnostic {
    let name = directive(&region.construct);
    Diagnostic::error("F0515", format!("`goto` into the region of `{name}`"))
        .at(span, "jumps into the region")
        .label(region.construct.span, "this region is entered only at its start")
}

pub(crate) fn makes_no_loop(region: &Region, inner: &Region) -> Diagnostic {
    let (name, made) = (directive(&region.construct), directive(&inner.construct));
    Diagnostic::error("F0516", format!("`{made}` leaves no loop for `{name}`"))
        .at(inner.construct.span, "unrolls the whole loop")
        .label(region.construct.span, "this directive is about a loop")
}
