//! Directives that declare: storage, types and order of what they name.

use ir::construct::{Args, ClauseKind, Leaf, MemoryBy, Requirement};
use ir::program::{Declaration, DeviceVar, ExprKind, FunctionId, Program, VarId, VarStorage};
use ir::walk::Part;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{Diagnostics, Name, Span};

use crate::regions::items;
use crate::regions::messages;
use crate::regions::uses::Uses;

pub(super) fn check(program: &Program, uses: &Uses, faults: &mut Diagnostics) {
    let by_name = functions_by_name(program);
    for declaration in &program.declarations {
        let leaf = declaration.construct.leaves.first().copied().unwrap_or(Leaf::Nothing);
        match leaf {
            Leaf::Threadprivate | Leaf::Groupprivate => {
                for &var in &declaration.vars {
                    storage(program, declaration, var, faults);
                    order(program, uses, declaration, var, faults);
                    complete(program, declaration, var, faults);
                }
            }
            Leaf::Memory => {
                for &var in &declaration.vars {
                    storage(program, declaration, var, faults);
                    order(program, uses, declaration, var, faults);
                    complete(program, declaration, var, faults);
                    scope(program, declaration, var, faults);
                }
                referred(program, declaration, faults);
            }
            Leaf::DeclareTarget => {
                let linked = linked(program, declaration);
                for &var in &declaration.vars {
                    storage(program, declaration, var, faults);
                    let now_link = program.vars[var].device == Some(DeviceVar::Link);
                    if linked.contains(&var) != now_link {
                        faults.push(messages::two_standings(program, &declaration.construct, var));
                    }
                }
            }
            Leaf::Requires => requirement(program, declaration, faults),
            Leaf::Routine => routine(program, declaration, faults),
            Leaf::DeclareVariant => variant(program, &by_name, declaration, faults),
            _ => {}
        }
    }
    initial_addresses(program, faults);
}

/// The functions of the program, the first of each name, for those who name them in words.
fn functions_by_name(program: &Program) -> FxHashMap<Name, FunctionId> {
    let mut by_name = FxHashMap::default();
    for (id, function) in program.functions.iter() {
        by_name.entry(function.name).or_insert(id);
    }
    by_name
}

/// Where the directive names the variable.
fn item_span(program: &Program, declaration: &Declaration, var: VarId) -> Span {
    let construct = &declaration.construct;
    let mut items: Vec<_> = items::args(construct).to_vec();
    if let Args::Memory(kinds) = &construct.args {
        items.extend(kinds.iter().flat_map(|it| it.items.iter().copied()));
    }
    items.extend(items::all(construct).map(|it| it.expr));
    let found = items.into_iter().find(|&it| items::base(program, it) == Some(var));
    found.map_or(construct.span, |it| program.exprs[it].span)
}

fn storage(program: &Program, declaration: &Declaration, var: VarId, faults: &mut Diagnostics) {
    match program.vars[var].storage {
        VarStorage::Param(_) | VarStorage::Local(_) => {
            let span = item_span(program, declaration, var);
            faults.push(messages::bad_storage(program, &declaration.construct, var, span));
        }
        VarStorage::Global
        | VarStorage::Extern
        | VarStorage::Static
        | VarStorage::LocalStatic(_) => {}
    }
}

fn order(
    program: &Program,
    uses: &Uses,
    declaration: &Declaration,
    var: VarId,
    faults: &mut Diagnostics,
) {
    if let Some(&used) = uses.first_uses.get(&var)
        && used.start < declaration.construct.span.start
    {
        let span = item_span(program, declaration, var);
        faults.push(messages::used_before(program, &declaration.construct, var, used, span));
    }
}

fn complete(program: &Program, declaration: &Declaration, var: VarId, faults: &mut Diagnostics) {
    let ty = program.vars[var].ty;
    if !program.types.is_error(ty) && !program.types.is_complete(ty) {
        let span = item_span(program, declaration, var);
        faults.push(messages::declared_incomplete(program, &declaration.construct, var, span));
    }
}

/// What a memory kind has of a variable that refers: it must refer to something whose size is known.
fn referred(program: &Program, declaration: &Declaration, faults: &mut Diagnostics) {
    let Args::Memory(kinds) = &declaration.construct.args else { return };
    let by_reference = kinds.iter().filter(|it| it.by == Some(MemoryBy::Reference));
    for item in by_reference.flat_map(|it| &it.items) {
        let expr = &program.exprs[*item];
        let target = program.types.pointee(expr.ty);
        if !program.types.is_error(expr.ty)
            && !target.is_some_and(|it| program.types.is_complete(it))
        {
            faults.push(messages::refers_to_nothing(program, expr.ty, expr.span));
        }
    }
}

/// Addresses of variables that each thread has for itself are known when the program runs, not before.
fn initial_addresses(program: &Program, faults: &mut Diagnostics) {
    let memory = program.declarations.iter().filter(|it| it.construct.has(Leaf::Memory));
    let kept: FxHashSet<VarId> = memory.flat_map(|it| it.vars.iter().copied()).collect();
    if kept.is_empty() {
        return;
    }
    for (id, var) in program.vars.iter() {
        let is_static = !matches!(var.storage, VarStorage::Local(_) | VarStorage::Param(_));
        let Some(init) = var.init.filter(|_| is_static) else { continue };
        let mut open = vec![Part::Init(init)];
        while let Some(part) = open.pop() {
            if let Part::Expr(e) = part
                && let ExprKind::Var(named) = program.exprs[e].kind
                && kept.contains(&named)
            {
                let span = program.exprs[e].span;
                faults.push(messages::address_of_own(program, id, named, span));
            }
            program.parts(part, &mut |it| open.push(it));
        }
    }
}

/// The directive stands where the variable is declared: at file scope, or in its function.
fn scope(program: &Program, declaration: &Declaration, var: VarId, faults: &mut Diagnostics) {
    let home = match program.vars[var].storage {
        VarStorage::Global | VarStorage::Extern | VarStorage::Static => None,
        VarStorage::LocalStatic(it) | VarStorage::Param(it) | VarStorage::Local(it) => Some(it),
    };
    if home != declaration.within {
        let span = item_span(program, declaration, var);
        faults.push(messages::other_scope(program, &declaration.construct, var, span));
    }
}

/// The variables that exist on devices only once they are mapped.
fn linked(program: &Program, declaration: &Declaration) -> FxHashSet<VarId> {
    let lists = declaration.construct.kinds().filter_map(|it| match it {
        ClauseKind::DeviceLink(list) => Some(list),
        _ => None,
    });
    lists.flatten().filter_map(|&it| items::base(program, it)).collect()
}

/// What a program requires is said before device code.
fn requirement(program: &Program, declaration: &Declaration, faults: &mut Diagnostics) {
    let changes_offload = declaration.construct.kinds().any(|it| {
        matches!(
            it,
            ClauseKind::Require(
                Requirement::ReverseOffload
                    | Requirement::UnifiedAddress
                    | Requirement::UnifiedSharedMemory
                    | Requirement::SelfMaps,
                _
            )
        )
    });
    let device = program.regions.iter().map(|it| it.1).filter(|it| {
        [Leaf::Offload, Leaf::DataRegion, Leaf::EnterData]
            .iter()
            .any(|leaf| it.construct.has(*leaf))
    });
    let first = device.map(|it| it.construct.span).min_by_key(|it| it.start);
    if let Some(first) = first.filter(|it| it.start < declaration.construct.span.start)
        && changes_offload
    {
        faults.push(messages::late_requirement(&declaration.construct, first));
    }
}

fn routine(program: &Program, declaration: &Declaration, faults: &mut Diagnostics) {
    if let Args::Name(name) = &declaration.construct.args
        && declaration.functions.is_empty()
    {
        let name = program.names.text(*name);
        faults.push(messages::unknown_function(name, &declaration.construct));
    }
}

/// A replacement takes the same arguments, unless the directive says how they are adjusted.
fn variant(
    program: &Program,
    by_name: &FxHashMap<Name, FunctionId>,
    declaration: &Declaration,
    faults: &mut Diagnostics,
) {
    let construct = &declaration.construct;
    let Args::Variant(named) = &construct.args else { return };
    for name in named.base.iter().chain([&named.variant]) {
        if !by_name.contains_key(name) {
            faults.push(messages::unknown_function(program.names.text(*name), construct));
        }
    }
    if let Some(base) = named.base
        && by_name.contains_key(&base)
    {
        for function in declaration.functions.iter().map(|&it| &program.functions[it]) {
            if function.name != base {
                let names = (program.names.text(base), program.names.text(function.name));
                faults.push(messages::other_base(construct, names, function.span));
            }
        }
    }
    let adjusts =
        |it: &ClauseKind<_>| matches!(it, ClauseKind::AppendArgs(_) | ClauseKind::AdjustArgs(..));
    // For lanes the arguments become vectors, whose types depend on the machine.
    let is_for_lanes = construct.kinds().any(|it| {
        let ClauseKind::Match(sets) = it else { return false };
        let mut selectors = sets.iter().flat_map(|it| &it.selectors);
        selectors.any(|it| program.names.text(it.name) == "simd")
    });
    if construct.kinds().any(adjusts) || is_for_lanes {
        return;
    }
    let Some(&variant) = by_name.get(&named.variant) else { return };
    let variant = &program.functions[variant];
    for &base in &declaration.functions {
        let base = &program.functions[base];
        let types = &program.types;
        if !types.compatible(base.ty, variant.ty) {
            let spell = |ty| types.spell(&program.names, ty);
            let text = program.names.text(named.variant);
            let both = (&*spell(base.ty), &*spell(variant.ty));
            faults.push(messages::other_signature(construct, text, both, variant.span));
        }
    }
}
