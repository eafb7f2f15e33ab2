//! Applies directives that declare: what variables and functions are on devices and to threads.
//!
//! In: the program's declarations, with the functions and variables they stand around. Out: those
//! they name by list added, and [`ir::program::Var::device`], [`ir::program::Function::device`] and
//! `thread_local` set. Misuse is reported by [`super::rules`].

use ir::construct::{Args, ClauseKind, Construct, DeviceKind, Leaf, Presence};
use ir::program::{
    DeviceFunction, DeviceVar, ExprId, ExprKind, FunctionId, Level, Program, Typed, VarId,
    VarStorage,
};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Name;

use super::has_static_storage;
use super::items::{self, Role};

/// A variable or a function, as a list names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Entity {
    Var(VarId),
    Function(FunctionId),
}

fn entity(program: &Program, item: ExprId) -> Option<Entity> {
    match &program.exprs[item].kind {
        ExprKind::Var(var) => Some(Entity::Var(*var)),
        ExprKind::Function(function) => Some(Entity::Function(*function)),
        ExprKind::Cast(_, inner) | ExprKind::AddrOf(inner) => entity(program, *inner),
        // A declaration is about the whole variable.
        ExprKind::Section(section) => entity(program, section.base),
        _ => None,
    }
}

/// Applies all declarations, in the order of the text.
pub(super) fn apply(program: &mut Program) {
    let mut by_name: FxHashMap<Name, FunctionId> = FxHashMap::default();
    for (id, function) in program.functions.iter() {
        by_name.entry(function.name).or_insert(id);
    }
    for at in 0..program.declarations.len() {
        let Some(declaration) = program.declarations.get(at) else { continue };
        let construct = declaration.construct.clone();
        let at_file_scope = declaration.within.is_none();
        let mut functions = declaration.functions.clone();
        let mut vars = declaration.vars.clone();
        let known = vars.iter().map(|&it| Entity::Var(it));
        let known = known.chain(functions.iter().map(|&it| Entity::Function(it)));
        let mut seen: FxHashSet<Entity> = known.collect();
        let mut named: Vec<Entity> =
            listed(&construct).into_iter().filter_map(|it| entity(program, it)).collect();
        if let (Leaf::Routine, Args::Name(name)) = (first(&construct), &construct.args) {
            named.extend(by_name.get(name).map(|&it| Entity::Function(it)));
        }
        for entity in named.into_iter().filter(|&it| seen.insert(it)) {
            match entity {
                Entity::Var(var) => vars.push(var),
                Entity::Function(function) => functions.push(function),
            }
        }
        one(program, &construct, &functions, &vars, at_file_scope);
        if let Some(declaration) = program.declarations.get_mut(at) {
            (declaration.functions, declaration.vars) = (functions, vars);
        }
    }
}

fn first(construct: &Construct<Typed>) -> Leaf {
    construct.leaves.first().copied().unwrap_or(Leaf::Nothing)
}

/// Everything that the directive lists.
fn listed(construct: &Construct<Typed>) -> Vec<ExprId> {
    let mut list: Vec<ExprId> = items::args(construct).to_vec();
    if let Args::Memory(kinds) = &construct.args {
        list.extend(kinds.iter().flat_map(|it| it.items.iter().copied()));
    }
    let declares = [Leaf::DeclareTarget, Leaf::BeginDeclareTarget, Leaf::Declare];
    if declares.iter().any(|it| construct.has(*it)) {
        list.extend(items::all(construct).map(|it| it.expr));
    }
    list
}

fn one(
    program: &mut Program,
    construct: &Construct<Typed>,
    functions: &[FunctionId],
    vars: &[VarId],
    at_file_scope: bool,
) {
    let standings = standings(program, construct);
    let standing = |var: VarId| standings.get(&var).copied().unwrap_or(DeviceVar::Enter);
    match first(construct) {
        Leaf::DeclareTarget | Leaf::BeginDeclareTarget => {
            let device = target_function(construct);
            for &function in functions {
                let before = program.functions[function].device;
                program.functions[function].device = DeviceFunction {
                    declared: true,
                    nohost: before.nohost || device.nohost,
                    host_only: before.host_only || device.host_only,
                    level: before.level,
                };
            }
            for &var in vars {
                program.vars[var].device = Some(standing(var));
            }
        }
        Leaf::Declare => {
            // Variables of a function are there while it runs, as if in a data region.
            let stays = |it: VarStorage| at_file_scope || it == VarStorage::Extern;
            for &var in vars {
                if stays(program.vars[var].storage) {
                    program.vars[var].device = standings.get(&var).copied();
                }
            }
        }
        Leaf::Routine => {
            let nohost = construct.clauses.iter().any(|it| matches!(it.kind, ClauseKind::Nohost));
            for &function in functions {
                let device = &mut program.functions[function].device;
                device.declared = true;
                device.nohost |= nohost;
                device.level = level(construct).or(device.level);
            }
        }
        Leaf::Threadprivate => {
            // An automatic variable is reported by the rules, and stays what it is.
            for &var in vars {
                let is_static = has_static_storage(program, var);
                program.vars[var].thread_local |= is_static;
            }
        }
        _ => {}
    }
}

/// For which side the functions of a declaration are made.
fn target_function(construct: &Construct<Typed>) -> DeviceFunction {
    let kind = construct.kinds().find_map(|it| match it {
        ClauseKind::DeviceKind(kind) => Some(*kind),
        _ => None,
    });
    DeviceFunction {
        declared: true,
        nohost: kind == Some(DeviceKind::Nohost),
        host_only: kind == Some(DeviceKind::Host),
        level: None,
    }
}

/// How listed variables stand on devices, each by the first clause that names it.
fn standings(program: &Program, construct: &Construct<Typed>) -> FxHashMap<VarId, DeviceVar> {
    let mut standings = FxHashMap::default();
    for item in items::all(construct) {
        let Some(var) = items::base(program, item.expr) else { continue };
        let clause = construct.clauses.get(item.clause as usize);
        let standing = match (item.role, clause.map(|it| &it.kind)) {
            (Role::Declared, Some(ClauseKind::DeviceLink(_))) => DeviceVar::Link,
            (Role::Declared, Some(ClauseKind::DeviceResident(_))) => DeviceVar::Resident,
            (Role::Declared, Some(ClauseKind::DeviceLocal(_))) => DeviceVar::Local,
            (Role::Declared, _) => DeviceVar::Enter,
            // What is only said to be there has its storage from elsewhere.
            (Role::Map, Some(ClauseKind::Map(map))) if map.presence == Presence::Any => {
                DeviceVar::Enter
            }
            _ => continue,
        };
        standings.entry(var).or_insert(standing);
    }
    standings
}

/// The level that a routine may use.
fn level(construct: &Construct<Typed>) -> Option<Level> {
    construct.clauses.iter().find_map(|it| match &it.kind {
        ClauseKind::Gang(_) => Some(Level::Team),
        ClauseKind::Worker(_) => Some(Level::Thread),
        ClauseKind::Vector(_) => Some(Level::Lane),
        ClauseKind::Seq => Some(Level::Seq),
        _ => None,
    })
}
