//! Functions that others stand for on devices: calls in regions are calls of those.
//!
//! In: declarations that bind a function to another name. Out: the program with such calls renamed in
//! every region that leaves the host. Functions that regions reach exist once where host and device share
//! code: there the call asks where it is.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{
    CastKind, Expr, ExprId, ExprKind, Function, FunctionId, Program, Rewrite, Rewritten, StmtId,
    VarStorage,
};
use ir::types::{FunctionType, IntKind, TypeKind};
use ir::walk::Part;
use rustc_hash::{FxHashMap, FxHashSet};
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
    calls.iter().for_each(|it| reached.push(it.1));
    let mut known: FxHashSet<FunctionId> = FxHashSet::default();
    while let Some(function) = reached.pop() {
        if !known.insert(function) {
            continue;
        }
        reached.extend(&written.functions[function].calls);
        let Some(body) = written.functions[function].body else { continue };
        for name in names_in(written, body, &bound) {
            reached.push(name.other);
            if name.is_static {
                let span = written.exprs[name.expr].span;
                faults.push(only_elsewhere(written, span, function, name.other));
                leveled.program.exprs[name.function].kind = ExprKind::Function(name.other);
                continue;
            }
            choose(&mut leveled.program, &name);
            leveled.program.functions[function].calls.push(name.other);
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

/// What a variable starts with is known before the program runs: it is the host's.
fn only_elsewhere(
    program: &Program,
    span: Span,
    within: FunctionId,
    other: FunctionId,
) -> Diagnostic {
    let name = |id: FunctionId| program.names.text(program.functions[id].name);
    Diagnostic::warning(
        "F0712",
        format!(
            "on `cpu`, a variable of `{}` starts with this and not with `{}`",
            name(within),
            name(other)
        ),
    )
    .at(span, "on devices with memory of their own it starts with the other")
    .note("host and `cpu` share the variable")
    .help("give it its value where it is used")
}

/// A name of a function for which another stands, in a function that host and device share.
struct Named {
    /// The name, or the pointer that is made of it.
    expr: ExprId,
    function: ExprId,
    here: FunctionId,
    other: FunctionId,
    /// It is part of what a variable of the whole run starts with.
    is_static: bool,
}

fn names_in(
    program: &Program,
    body: StmtId,
    bound: &FxHashMap<FunctionId, FunctionId>,
) -> Vec<Named> {
    let mut found = Vec::new();
    let mut open = vec![(Part::Stmt(body), false)];
    while let Some((part, is_static)) = open.pop() {
        if let Part::Expr(expr) = part {
            let function = match program.exprs[expr].kind {
                ExprKind::AddrOf(it) | ExprKind::Cast(CastKind::FunctionToPointer, it) => it,
                _ => expr,
            };
            if let ExprKind::Function(here) = program.exprs[function].kind {
                let named =
                    |other: &FunctionId| Named { expr, function, here, other: *other, is_static };
                found.extend(bound.get(&here).map(named));
                continue;
            }
        }
        let starts = matches!(part, Part::Local(it)
            if matches!(program.vars[it].storage, VarStorage::LocalStatic(_)));
        program.parts(part, &mut |it| open.push((it, is_static || starts)));
    }
    found
}

/// Puts a choice into the place of a name: on the host it is the function itself.
fn choose(program: &mut Program, name: &Named) {
    let Expr { ty, span, .. } = program.exprs[name.expr];
    let ty = match program.types.shape(ty) {
        TypeKind::Function(_) => program.types.pointer_to(ty),
        _ => ty,
    };
    let mut value = |id: FunctionId| {
        let kind = ExprKind::Function(id);
        let function = program.exprs.push(Expr { kind, ty: program.functions[id].ty, span });
        let kind = ExprKind::Cast(CastKind::FunctionToPointer, function);
        program.exprs.push(Expr { kind, ty, span })
    };
    let (here, other) = (value(name.here), value(name.other));
    let test = on_host(program, span);
    program.exprs[name.expr].kind = ExprKind::Conditional(test, Some(here), other);
    program.exprs[name.expr].ty = ty;
    program.rewrites.push(Rewrite { span, by: Rewritten::Expr(name.expr) });
}

/// A call that asks whether the host runs the code.
fn on_host(program: &mut Program, span: Span) -> ExprId {
    let name = program.names.intern(directive::IS_ON_HOST);
    let int = program.types.get(TypeKind::Int(IntKind::Int));
    let known = program.functions.iter().find(|it| it.1.name == name).map(|it| it.0);
    let function = known.unwrap_or_else(|| {
        let ty =
            FunctionType { ret: int, params: Box::default(), variadic: false, prototyped: true };
        let ty = program.types.get(TypeKind::Function(ty));
        // Generated text declares it.
        program.functions.push(Function { is_builtin: true, ..Function::declared(name, ty, span) })
    });
    let ty = program.functions[function].ty;
    let callee = program.exprs.push(Expr { kind: ExprKind::Function(function), ty, span });
    program.exprs.push(Expr { kind: ExprKind::Call(callee, Box::default()), ty: int, span })
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
