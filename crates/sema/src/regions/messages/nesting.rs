//! Faults of nesting, atomics and levels: `F055x` to `F057x`.

use ir::construct::{Clause, ClauseKind, Construct};
use ir::program::{Level, Program, Typed, VarId};
use ir::region::Region;
use source::{Diagnostic, Span};

use crate::regions::spelling::directive;

/// A construct that may not stand in another.
pub(crate) fn inside(inner: &Region, outer: &Region, why: &str) -> Diagnostic {
    let (a, b) = (directive(&inner.construct), directive(&outer.construct));
    Diagnostic::error("F0550", format!("`{a}` may not stand inside `{b}`"))
        .at(inner.construct.span, why)
        .label(outer.construct.span, "inside the region of this")
}

pub(crate) fn directly_in_teams(inner: &Region, outer: &Region) -> Diagnostic {
    let (a, b) = (directive(&inner.construct), directive(&outer.construct));
    Diagnostic::error("F0551", format!("`{a}` stands directly inside `{b}`"))
        .at(inner.construct.span, "every team would run this, and no threads have been made yet")
        .label(outer.construct.span, "a league of teams begins here")
        .note("only constructs that deal iterations to teams or make threads may stand there")
}

/// A construct that needs another around it.
pub(crate) fn outside(inner: &Region, needed: &str) -> Diagnostic {
    let name = directive(&inner.construct);
    Diagnostic::error("F0552", format!("`{name}` does not stand {needed}"))
        .at(inner.construct.span, format!("must stand {needed}"))
}

/// The region around is of the wrong kind.
pub(crate) fn wrong_parent(inner: &Region, outer: &Region, needed: &str) -> Diagnostic {
    let (a, b) = (directive(&inner.construct), directive(&outer.construct));
    Diagnostic::error("F0552", format!("`{a}` stands in `{b}`, not {needed}"))
        .at(inner.construct.span, format!("must stand {needed}"))
        .label(outer.construct.span, "this is the region around it")
}

pub(crate) fn same_critical(inner: &Region, outer: &Region) -> Diagnostic {
    let name = directive(&inner.construct);
    Diagnostic::error("F0553", format!("`{name}` inside `{name}` of the same name"))
        .at(inner.construct.span, "waits for ever")
        .label(outer.construct.span, "held since here")
}

pub(crate) fn device_in_device(inner: &Region, outer: &Region) -> Diagnostic {
    let (a, b) = (directive(&inner.construct), directive(&outer.construct));
    Diagnostic::warning("F0554", format!("`{a}` inside the device code of `{b}`"))
        .at(inner.construct.span, "device code cannot offload")
        .label(outer.construct.span, "this runs on a device")
}

pub(crate) fn beside_teams(teams: &Region, other: &Region, target: &Region) -> Diagnostic {
    let (a, b) = (directive(&other.construct), directive(&target.construct));
    Diagnostic::error("F0555", format!("`{a}` stands beside the teams of `{b}`"))
        .at(other.construct.span, "must stand inside the teams or in another region")
        .label(teams.construct.span, "the teams begin here")
        .label(target.construct.span, "this region may hold nothing but them")
}

pub(crate) fn no_scan(region: &Region, clause: Span) -> Diagnostic {
    let name = directive(&region.construct);
    Diagnostic::error("F0556", format!("the loop of `{name}` has no point where its scan is read"))
        .at(clause, "a scan is asked for here")
        .help("separate the two phases of the loop body with a scan directive")
}

pub(crate) fn across_scan(program: &Program, scan: &Region, var: VarId, used: Span) -> Diagnostic {
    let var = &program.vars[var];
    let name = var.name.map_or("", |it| program.names.text(it));
    Diagnostic::error("F0561", format!("`{name}` is declared before the scan and used after it"))
        .at(used, "this phase does not know it")
        .label(var.span, "declared in the other phase")
        .label(scan.construct.span, "the phases are separated here")
        .note("all iterations may go through one phase before any goes through the other")
        .help(format!(
            "give each phase a variable of its own, or keep the values of `{name}` in an array"
        ))
}

pub(crate) fn sink_length(region: &Region, found: usize, wanted: i128, span: Span) -> Diagnostic {
    let name = directive(&region.construct);
    let message = format!("`{name}` names {found} loop variables where the nest has {wanted}");
    Diagnostic::error("F0557", message).at(span, "one expression per loop is expected")
}

pub(crate) fn not_atomic(region: &Region, span: Span, why: &str, forms: &str) -> Diagnostic {
    let name = directive(&region.construct);
    Diagnostic::error(
        "F0560",
        format!("the statement after `{name}` is not one indivisible access"),
    )
    .at(span, why)
    .label(region.construct.span, "this directive is about one access")
    .note(format!("it may be {forms}"))
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Team => "teams (gangs)",
        Level::Thread => "threads (workers)",
        Level::Lane => "lanes (vector)",
        Level::Seq => "nobody (in order)",
    }
}

pub(crate) fn level_inside(
    inner: (&Region, Level, Span),
    outer: (&Region, Level, Span),
) -> Diagnostic {
    let message = if inner.1 == outer.1 {
        format!("a loop dealt to {} stands inside a loop dealt to the same", level(inner.1))
    } else {
        format!(
            "a loop dealt to {} stands inside a loop dealt to {}",
            level(inner.1),
            level(outer.1)
        )
    };
    Diagnostic::error("F0570", message)
        .at(inner.2, "the wider level must be outside")
        .label(outer.2, "already dealt out here")
}

pub(crate) fn level_again(level_of: Level, inner: Span, outer: Span) -> Diagnostic {
    let message = format!("two loops, one inside the other, are dealt to {}", level(level_of));
    Diagnostic::warning("F0577", message)
        .at(inner, "this one gets what the outer loop leaves")
        .label(outer, "dealt out here")
        .note("the first version of the standard meant one dimension each; later ones forbid it")
        .help("name each level once, or write `collapse(2)` on the outer loop")
}

pub(crate) fn level_of_routine(
    program: &Program,
    function: ir::program::FunctionId,
    (own, span): (Level, Span),
    allowed: Level,
) -> Diagnostic {
    let name = program.names.text(program.functions[function].name);
    let message = format!("a loop of `{name}` is dealt to {}", level(own));
    Diagnostic::error("F0571", message).at(span, "wider than the function may use").label(
        program.functions[function].span,
        format!("declared to use {} at most", level(allowed)),
    )
}

pub(crate) fn call_inside_level(
    program: &Program,
    callee: ir::program::FunctionId,
    call: Span,
    (outer, outer_span): (Level, Span),
) -> Diagnostic {
    let function = &program.functions[callee];
    let name = program.names.text(function.name);
    let own = function.device.level.unwrap_or(Level::Seq);
    let message = format!(
        "`{name}` deals work to {}, but is called inside a loop dealt to {}",
        level(own),
        level(outer)
    );
    Diagnostic::error("F0572", message)
        .at(call, "called here")
        .label(outer_span, "dealt out here")
        .label(function.span, "declared here")
}

pub(crate) fn no_host_version(
    program: &Program,
    callee: ir::program::FunctionId,
    call: Span,
) -> Diagnostic {
    let function = &program.functions[callee];
    let name = program.names.text(function.name);
    Diagnostic::warning("F0573", format!("`{name}` has no host version, but host code calls it"))
        .at(call, "called here")
        .label(function.span, "made for devices only")
}

pub(crate) fn loop_nowhere(region: &Region) -> Diagnostic {
    let name = directive(&region.construct);
    Diagnostic::error("F0574", format!("`{name}` stands in no region that runs on a device"))
        .at(region.construct.span, "nobody is there to share the iterations")
        .help("put it inside a compute region, or declare the function for devices")
}

pub(crate) fn reduction_of_routine(
    program: &Program,
    region: &Region,
    clause: Span,
    teams: Span,
) -> Diagnostic {
    let name = program.names.text(program.functions[region.function].name);
    Diagnostic::error("F0575", format!("`{name}` reduces over the teams of its callers"))
        .at(clause, "the teams meet only at the end of the device region")
        .label(teams, "dealt to teams here")
        .help("return what each team has found, and reduce in the device region")
}

pub(crate) fn size_of_level(
    construct: &Construct<Typed>,
    outer: &Region,
    clause: &Clause<Typed>,
) -> Diagnostic {
    let (name, around) = (directive(construct), directive(&outer.construct));
    let clauses = match clause.kind {
        ClauseKind::Gang(_) => "num_gangs",
        ClauseKind::Worker(_) => "num_workers",
        _ => "vector_length",
    };
    Diagnostic::error("F0576", format!("a loop of `{around}` says how wide a level is"))
        .at(clause.span, format!("`{name}` may not say so here"))
        .label(outer.construct.span, "all loops of this region have the same levels")
        .help(format!("write `{clauses}(…)` on `{around}`"))
}
