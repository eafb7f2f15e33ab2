//! Functions that others stand for on devices: calls in regions are calls of those.
//!
//! In: declarations that bind a function to another name. Out: the program with such calls renamed in
//! every region that leaves the host, and in the functions that regions reach. These exist once where
//! host and device share code, which then calls what the host calls: that is said aloud.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{ExprId, ExprKind, FunctionId, Program, StmtId};
use ir::walk::Part;
use rustc_hash::FxHashMap;
use source::{Diagnostic, Diagnostics, Span};

use super::levels::Leveled;

/// Renames calls.
pub(super) fn rename(written: &Program, leveled: Option<Leveled>) -> Option<Leveled> {
    let mut faults = Diagnostics::new();
    let bound = bound(written, &mut faults);
    if bound.is_empty() && faults.is_empty() {
        return leveled;
    }
    let mut leveled = leveled.unwrap_or_else(|| Leveled::unchanged(written));
    let mut reached: Vec<FunctionId> = Vec::new();
    let mut calls: Vec<(ExprId, FunctionId)> = Vec::new();
    let regions: Vec<_> = written.regions.iter().map(|it| it.0).collect();
    for id in regions {
        let region = &written.regions[id];
        if !region.construct.leaves.iter().any(|it| matches!(it, Leaf::Offload | Leaf::Kernels)) {
            continue;
        }
        for function in &region.reaches {
            if !reached.contains(function) {
                reached.push(*function);
            }
        }
        let found = region.body.map(|it| calls_in(written, Part::Stmt(it), &bound));
        let found = found.unwrap_or_default();
        let others: Vec<FunctionId> = found.iter().map(|it| it.1).collect();
        calls.extend(found);
        leveled.program.regions[id].reaches.extend(others);
    }
    for function in reached {
        let Some(body) = written.functions[function].body else { continue };
        for (call, other) in calls_in(written, Part::Stmt(body), &bound) {
            faults.push(only_in_regions(written, call, function, other));
            calls.push((call, other));
        }
    }
    for (call, other) in calls {
        leveled.program.exprs[call].kind = ExprKind::Function(other);
    }
    leveled.faults.append(faults);
    Some(leveled)
}

/// The directives of regions in which functions stand for others.
pub(super) fn regions(program: &Program) -> Vec<Span> {
    let bound = bound(program, &mut Diagnostics::new());
    if bound.is_empty() {
        return Vec::new();
    }
    let is_offload = |it: &Leaf| matches!(it, Leaf::Offload | Leaf::Kernels);
    let regions = program.regions.iter().map(|it| it.1);
    let regions = regions.filter(|it| it.construct.leaves.iter().any(is_offload));
    let calls = |it: StmtId| !calls_in(program, Part::Stmt(it), &bound).is_empty();
    regions.filter(|it| it.body.is_some_and(calls)).map(|it| it.construct.span).collect()
}

/// Which function stands for which.
fn bound(program: &Program, faults: &mut Diagnostics) -> FxHashMap<FunctionId, FunctionId> {
    let mut bound = FxHashMap::default();
    for declaration in program.declarations.iter().filter(|it| it.construct.has(Leaf::Routine)) {
        for clause in &declaration.construct.clauses {
            let ClauseKind::BindName(name) = &clause.kind else { continue };
            let other = match &program.exprs[*name].kind {
                ExprKind::Function(id) => Some(*id),
                ExprKind::Str(pieces) => {
                    let text: String =
                        pieces.iter().map(|it| program.names.text(*it).trim_matches('"')).collect();
                    let is_it = |it: &ir::program::Function| program.names.text(it.name) == text;
                    program.functions.iter().find(|(_, it)| is_it(it)).map(|it| it.0)
                }
                _ => None,
            };
            match other {
                Some(other) => {
                    bound.extend(declaration.functions.iter().map(|it| (*it, other)));
                }
                None => faults.push(
                    Diagnostic::error("F0711", "the function for devices is not declared here")
                        .at(clause.span, "no function of this name is known in this file")
                        .help("declare it in this file, as the function that it stands for"),
                ),
            }
        }
    }
    bound
}

/// Code that host and device share calls the host's function.
fn only_in_regions(
    program: &Program,
    call: ExprId,
    within: FunctionId,
    other: FunctionId,
) -> Diagnostic {
    let name = |id: FunctionId| program.names.text(program.functions[id].name);
    Diagnostic::warning(
        "F0712",
        format!("on `cpu`, `{}` calls this and not `{}`", name(within), name(other)),
    )
    .at(program.exprs[call].span, "on devices with memory of their own the other is called")
    .note("host and `cpu` share the code of functions; only regions have code of their own there")
}

/// Names of functions for which others stand.
fn calls_in(
    program: &Program,
    part: Part,
    bound: &FxHashMap<FunctionId, FunctionId>,
) -> Vec<(ExprId, FunctionId)> {
    let mut found = Vec::new();
    let mut open = vec![part];
    while let Some(part) = open.pop() {
        if let Part::Expr(id) = part
            && let ExprKind::Function(function) = program.exprs[id].kind
            && let Some(other) = bound.get(&function)
        {
            found.push((id, *other));
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}
