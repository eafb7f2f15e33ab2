//! Faults of variables, list items, numbers and clauses: `F052x` to `F054x`, `F058x`.

use ir::construct::Construct;
use ir::program::{Program, Typed, VarId};
use ir::region::Region;
use source::{Diagnostic, Span};

use crate::regions::spelling::{clause, directive, var};

pub(crate) fn not_listed(
    program: &Program,
    region: &Region,
    id: VarId,
    used: Span,
    demand: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(&region.construct));
    Diagnostic::error("F0520", format!("`{name}` is not named in a clause of `{of}`"))
        .at(used, "used here")
        .label(demand, "every variable must be named")
}

/// The same where a clause gives copies only of what is local.
pub(crate) fn global_not_listed(
    program: &Program,
    region: &Region,
    id: VarId,
    used: Span,
    default: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(&region.construct));
    Diagnostic::error("F0528", format!("`{name}` is not named in a clause of `{of}`"))
        .at(used, "used here")
        .label(default, "does not speak of variables of file scope")
        .help(format!("say what `{name}` is: `shared`, `private` or `firstprivate`"))
}

/// The same where many programs leave it out.
pub(crate) fn better_listed(
    program: &Program,
    region: &Region,
    id: VarId,
    used: Span,
    demand: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(&region.construct));
    Diagnostic::warning("F0521", format!("`{name}` is not named in a clause of `{of}`"))
        .at(used, "used here")
        .label(demand, "every variable should be named")
}

/// A data clause names an array whose declaration does not say how long it is.
pub(crate) fn length_unknown(
    program: &Program,
    construct: &Construct<Typed>,
    at: u32,
    id: VarId,
    item: Span,
) -> Diagnostic {
    let (name, clause) = (var(program, id), clause(construct, at));
    let message =
        format!("`{clause}` speaks of the pointer `{name}` only: its length is not known");
    Diagnostic::warning("F0519", message)
        .at(item, "an array by its declaration, but a pointer in C")
        .label(program.vars[id].span, "declared here")
        .help(format!("name the elements: `{name}[0:n]`"))
}

pub(crate) fn private_reduction(
    program: &Program,
    region: &Region,
    id: VarId,
    (item, parallel): (Span, Span),
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(&region.construct));
    let message = format!("reduction variable `{name}` of `{of}` is private to each thread");
    Diagnostic::error("F0522", message)
        .at(item, "the results of the threads have nowhere to meet")
        .label(parallel, "each thread has its own here")
        .help(format!("declare `{name}` outside, and share it"))
}

pub(crate) fn private_around(
    program: &Program,
    region: &Region,
    id: VarId,
    at: u32,
    (item, parallel): (Span, Span),
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(&region.construct));
    let clause = clause(&region.construct, at);
    let message = format!("`{clause}` variable `{name}` of `{of}` is private to each thread");
    Diagnostic::error("F0525", message)
        .at(item, "there is no one variable outside that it could stand for")
        .label(parallel, "each thread has its own here")
        .help(format!("share `{name}` among the threads, or drop the clause"))
}

pub(crate) fn shared_copyprivate(
    program: &Program,
    region: &Region,
    id: VarId,
    item: Span,
    parallel: Option<Span>,
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(&region.construct));
    let message = format!("`{name}` is handed to all threads by `{of}`, but they share it");
    let fault = Diagnostic::error("F0526", message).at(item, "not private to each thread");
    match parallel {
        Some(parallel) => fault.label(parallel, "shared here"),
        None => fault,
    }
}

pub(crate) fn contradiction(
    program: &Program,
    construct: &Construct<Typed>,
    id: VarId,
    (first, second): (u32, u32),
    (first_span, second_span): (Span, Span),
) -> Diagnostic {
    let name = var(program, id);
    let (a, b) = (clause(construct, first), clause(construct, second));
    let message = if first == second {
        format!("`{name}` is named twice in `{a}`")
    } else if a == b {
        format!("`{name}` is named in two `{a}` clauses")
    } else {
        format!("`{name}` is named in `{a}` and in `{b}`")
    };
    Diagnostic::error("F0523", message)
        .at(second_span, "named again here")
        .label(first_span, "first named here")
}

pub(crate) fn named_twice(program: &Program, id: VarId, first: Span, second: Span) -> Diagnostic {
    let name = var(program, id);
    Diagnostic::warning("F0524", format!("`{name}` is named twice"))
        .at(second, "named again here")
        .label(first, "first named here")
}

/// A list item that may not be what it is.
pub(crate) fn bad_item(
    construct: &Construct<Typed>,
    at: u32,
    span: Span,
    what: &str,
    wanted: &str,
) -> Diagnostic {
    let name = clause(construct, at);
    Diagnostic::error("F0530", format!("{what} cannot be named in `{name}`"))
        .at(span, format!("{wanted} is expected here"))
}

pub(crate) fn incomplete(
    program: &Program,
    construct: &Construct<Typed>,
    at: u32,
    id: VarId,
    span: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), clause(construct, at));
    let ty = program.types.spell(&program.names, program.vars[id].ty);
    let fault =
        Diagnostic::error("F0531", format!("`{name}` in `{of}` has the incomplete type `{ty}`"))
            .at(span, "its size is not known")
            .label(program.vars[id].span, "declared here");
    if program.types.is_array(program.vars[id].ty) {
        fault.help(format!("name the elements: `{name}[0:length]`"))
    } else {
        fault
    }
}

/// A section whose elements have no size.
pub(crate) fn incomplete_elements(
    program: &Program,
    element: ir::types::Ty,
    span: Span,
) -> Diagnostic {
    let ty = program.types.spell(&program.names, element);
    Diagnostic::error("F0529", format!("a section has elements of the incomplete type `{ty}`"))
        .at(span, "its size is not known")
}

pub(crate) fn bad_section(span: Span, what: String, why: String) -> Diagnostic {
    Diagnostic::error("F0532", what).at(span, why)
}

/// A section that is mapped or combined, and whose elements do not follow each other.
pub(crate) fn gaps(construct: &Construct<Typed>, at: u32, span: Span) -> Diagnostic {
    let of = clause(construct, at);
    bad_section(
        span,
        format!("the elements of a section in `{of}` do not follow each other"),
        "there is something else between them".to_owned(),
    )
    .help("name whole rows, `a[first:count][:]`; only updates may leave elements out")
}

pub(crate) fn outside_of_copy(span: Span, index: i128, item: Span) -> Diagnostic {
    Diagnostic::warning("F0592", format!("element {index} is not in the part that is copied"))
        .at(span, "where this lies in here is not said")
        .label(item, "copies are made of this part alone")
        .help("name a part with all elements that are used, or the whole array")
}

pub(crate) fn no_element(span: Span, index: i128, size: u64) -> Diagnostic {
    let last = size.saturating_sub(1);
    bad_section(
        span,
        "a clause names an element that is not in its array".to_owned(),
        format!("element {index}, but the last is {last}"),
    )
    .help(format!("for the whole array write its name alone, or a section: `[0:{size}]`"))
}

pub(crate) fn const_item(
    program: &Program,
    construct: &Construct<Typed>,
    at: u32,
    id: VarId,
    span: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), clause(construct, at));
    Diagnostic::error("F0533", format!("constant `{name}` is named in `{of}`"))
        .at(span, "its copies could never be given a value")
        .label(program.vars[id].span, "declared `const` here")
}

pub(crate) fn thread_local_item(
    program: &Program,
    construct: &Construct<Typed>,
    at: u32,
    id: VarId,
    span: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), clause(construct, at));
    Diagnostic::error("F0534", format!("`{name}` in `{of}` has one copy per thread already"))
        .at(span, "one per thread by declaration")
        .label(program.vars[id].span, "declared here")
}

pub(crate) fn not_thread_local(
    program: &Program,
    construct: &Construct<Typed>,
    at: u32,
    id: VarId,
    span: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), clause(construct, at));
    Diagnostic::error("F0535", format!("`{name}` in `{of}` has no copy per thread"))
        .at(span, "must be declared as one per thread")
        .label(program.vars[id].span, "declared here")
}

pub(crate) fn bad_type(
    program: &Program,
    construct: &Construct<Typed>,
    at: u32,
    ty: ir::types::Ty,
    span: Span,
    wanted: &str,
) -> Diagnostic {
    let (of, ty) = (clause(construct, at), program.types.spell(&program.names, ty));
    Diagnostic::error("F0536", format!("`{of}` of something of type `{ty}`"))
        .at(span, format!("{wanted} is expected here"))
}

pub(crate) fn bad_reduction(
    program: &Program,
    op: &str,
    ty: ir::types::Ty,
    span: Span,
    place: Span,
) -> Diagnostic {
    let ty = program.types.spell(&program.names, ty);
    Diagnostic::error("F0537", format!("values of type `{ty}` cannot be reduced with `{op}`"))
        .at(span, format!("has type `{ty}`"))
        .label(place, "reduced here")
}

pub(crate) fn unknown_reduction(op: &str, place: Span, declared: Option<Span>) -> Diagnostic {
    let fault = Diagnostic::error("F0538", format!("reduction `{op}` is not declared"))
        .at(place, "no such reduction for this type");
    match declared {
        Some(span) => fault.label(span, "declared for other types here"),
        None => fault,
    }
}

pub(crate) fn not_private(
    program: &Program,
    construct: &Construct<Typed>,
    at: u32,
    id: VarId,
    span: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), clause(construct, at));
    let message = format!("`{name}` in `{of}` has no private copy on this directive");
    Diagnostic::error("F0539", message).at(span, "no other clause makes a copy of it")
}

pub(crate) fn not_positive(
    construct: &Construct<Typed>,
    at: u32,
    value: i128,
    span: Span,
) -> Diagnostic {
    let name = clause(construct, at);
    Diagnostic::error("F0540", format!("`{name}` is given {value}"))
        .at(span, "must be greater than zero")
}

pub(crate) fn not_constant(construct: &Construct<Typed>, at: u32, span: Span) -> Diagnostic {
    let name = clause(construct, at);
    Diagnostic::error("F0541", format!("`{name}` needs a constant"))
        .at(span, "not known when the program is compiled")
}

pub(crate) fn not_integer(
    program: &Program,
    construct: &Construct<Typed>,
    at: u32,
    ty: ir::types::Ty,
    span: Span,
) -> Diagnostic {
    let (name, ty) = (clause(construct, at), program.types.spell(&program.names, ty));
    Diagnostic::error("F0542", format!("`{name}` is given a value of type `{ty}`"))
        .at(span, "an integer is expected here")
}

/// Two clauses that do not go together.
pub(crate) fn clash(
    construct: &Construct<Typed>,
    first: u32,
    second: u32,
    why: &str,
) -> Diagnostic {
    let (a, b) = (clause(construct, first), clause(construct, second));
    let span = |at: u32| construct.clauses.get(at as usize).map_or(construct.span, |it| it.span);
    Diagnostic::error("F0543", format!("`{a}` and `{b}` contradict each other"))
        .at(span(second), why)
        .label(span(first), format!("`{a}` here"))
}

pub(crate) fn part_missing(construct: &Construct<Typed>, at: u32, span: Span) -> Diagnostic {
    let (name, of) = (clause(construct, at), directive(construct));
    Diagnostic::error("F0544", format!("`{name}` is for a part that `{of}` does not have"))
        .at(span, "no such part")
}

pub(crate) fn needs_requirement(construct: &Construct<Typed>, at: u32, span: Span) -> Diagnostic {
    let name = clause(construct, at);
    Diagnostic::error(
        "F0545",
        format!("`{name}` goes back to the host, which the file does not ask for"),
    )
    .at(span, "runs on the device that offloaded to this one")
    .help("say at the top of the file that the program requires reverse offload")
}

pub(crate) fn bad_storage(
    program: &Program,
    construct: &Construct<Typed>,
    id: VarId,
    span: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(construct));
    Diagnostic::error("F0580", format!("`{of}` names the automatic variable `{name}`"))
        .at(span, "lives only while its block runs")
        .label(program.vars[id].span, "declared here")
        .help("declare it at file scope or `static`")
}

pub(crate) fn used_before(
    program: &Program,
    construct: &Construct<Typed>,
    id: VarId,
    used: Span,
    span: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(construct));
    Diagnostic::error("F0581", format!("`{name}` is used before `{of}` names it"))
        .at(span, "must come before all uses")
        .label(used, "used here")
}

pub(crate) fn declared_incomplete(
    program: &Program,
    construct: &Construct<Typed>,
    id: VarId,
    span: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(construct));
    let ty = program.types.spell(&program.names, program.vars[id].ty);
    Diagnostic::error("F0582", format!("`{of}` names `{name}` of the incomplete type `{ty}`"))
        .at(span, "its size is not known")
        .label(program.vars[id].span, "declared here")
}

pub(crate) fn is_thread_local(
    program: &Program,
    construct: &Construct<Typed>,
    id: VarId,
    span: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(construct));
    Diagnostic::error("F0583", format!("`{of}` names `{name}`, of which each thread has its own"))
        .at(span, "one per thread")
        .label(program.vars[id].span, "declared here")
}

/// `ref` of what does not refer to an object.
pub(crate) fn refers_to_nothing(program: &Program, ty: ir::types::Ty, span: Span) -> Diagnostic {
    let ty = program.types.spell(&program.names, ty);
    Diagnostic::error("F0593", format!("`ref` for a variable of type `{ty}`"))
        .at(span, "must point to an object whose size is known")
        .help("say `val`: the variable itself then lives in that memory")
}

/// A first value with the address of a variable that each thread has for itself.
pub(crate) fn address_of_own(program: &Program, of: VarId, id: VarId, span: Span) -> Diagnostic {
    let (name, of) = (var(program, id), var(program, of));
    Diagnostic::error(
        "F0594",
        format!("the first value of `{of}` names `{name}`, which each thread has for itself"),
    )
    .at(span, "its address is not known before the program runs")
    .label(program.vars[id].span, "declared here")
    .help(format!("give `{of}` its value in a function"))
}

pub(crate) fn copied_in(
    program: &Program,
    construct: &Construct<Typed>,
    at: u32,
    id: VarId,
    span: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), clause(construct, at));
    Diagnostic::error("F0595", format!("`{name}` in `{of}` has a memory kind"))
        .at(span, "its copies cannot be given values by this clause yet")
        .label(program.vars[id].span, "declared here")
        .help("copy it to a shared variable before the region, and from there in it")
}

pub(crate) fn other_scope(
    program: &Program,
    construct: &Construct<Typed>,
    id: VarId,
    span: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(construct));
    Diagnostic::error("F0584", format!("`{of}` does not stand in the scope of `{name}`"))
        .at(span, "named here")
        .label(program.vars[id].span, "must stand in the same scope as this declaration")
}

pub(crate) fn late_requirement(construct: &Construct<Typed>, used: Span) -> Diagnostic {
    let name = directive(construct);
    Diagnostic::warning("F0585", format!("`{name}` comes after device code"))
        .at(construct.span, "should come first")
        .label(used, "offloaded without knowing of it")
}

pub(crate) fn unknown_function(name: &str, construct: &Construct<Typed>) -> Diagnostic {
    let of = directive(construct);
    Diagnostic::error("F0586", format!("`{of}` names `{name}`, which is no function"))
        .at(construct.span, "no function of this name is declared")
}

pub(crate) fn other_signature(
    construct: &Construct<Typed>,
    name: &str,
    types: (&str, &str),
    declared: Span,
) -> Diagnostic {
    let of = directive(construct);
    Diagnostic::error("F0587", format!("`{of}` names `{name}`, whose type differs"))
        .at(construct.span, format!("the replaced function is `{}`", types.0))
        .label(declared, format!("this is `{}`", types.1))
}

/// The directive stands before another function than the one it says is replaced.
pub(crate) fn other_base(
    construct: &Construct<Typed>,
    (base, declared): (&str, &str),
    place: Span,
) -> Diagnostic {
    let of = directive(construct);
    Diagnostic::error("F0591", format!("`{of}` is about `{base}`, but stands before `{declared}`"))
        .at(construct.span, format!("names `{base}` as the replaced function"))
        .label(place, "belongs to this declaration")
}

pub(crate) fn two_standings(
    program: &Program,
    construct: &Construct<Typed>,
    id: VarId,
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(construct));
    Diagnostic::error("F0588", format!("`{of}` says of `{name}` what another directive denies"))
        .at(construct.span, "its copy on devices exists from the start, or once mapped; not both")
        .label(program.vars[id].span, "declared here")
}

pub(crate) fn chunk_unused(construct: &Construct<Typed>, at: u32, span: Span) -> Diagnostic {
    let name = clause(construct, at);
    Diagnostic::error("F0546", format!("`{name}` leaves the choice open and gives a chunk size"))
        .at(span, "the chunk size cannot be used")
}

pub(crate) fn order_of_list(construct: &Construct<Typed>, at: u32, span: Span) -> Diagnostic {
    let (name, of) = (clause(construct, at), directive(construct));
    Diagnostic::error("F0548", format!("`{of}` has a list and says `{name}`"))
        .at(span, "an order is for all of memory")
        .help("drop the list, or the clause")
}

pub(crate) fn hint_without_name(construct: &Construct<Typed>, span: Span) -> Diagnostic {
    let of = directive(construct);
    Diagnostic::error("F0549", format!("`{of}` has a hint but no name"))
        .at(span, "all sections without a name share one lock, which cannot be tuned for one")
        .help(format!("name it: `{of}(name)`"))
}

/// A variable of each host thread where no host thread is.
pub(crate) fn thread_local_on_device(
    program: &Program,
    region: &Region,
    id: VarId,
    used: Span,
) -> Diagnostic {
    let (name, of) = (var(program, id), directive(&region.construct));
    Diagnostic::error("F0527", format!("`{name}`, of which each thread has its own, in `{of}`"))
        .at(used, "threads of the host have copies, those of the device do not")
        .label(program.vars[id].span, "declared here")
        .help("copy it to a local variable outside, and use that")
}

pub(crate) fn asked_to_stop(
    construct: &Construct<Typed>,
    text: Option<&str>,
    is_warning: bool,
) -> Diagnostic {
    let name = directive(construct);
    let message = text.map_or_else(|| format!("`{name}` stands here"), str::to_owned);
    let fault = if is_warning {
        Diagnostic::warning("F0547", message)
    } else {
        Diagnostic::error("F0547", message)
    };
    fault.at(construct.span, "the program says so here")
}
