//! Applies directives that declare: what variables and functions are on devices and to threads.
//!
//! In: the program's declarations, with the functions and variables they stand around. Out: those
//! they name by list added, and [`ir::program::Var::device`], [`ir::program::Function::device`] and
//! `thread_local` set. Misuse is reported by [`super::rules`].

use ir::construct::{Args, ClauseKind, Construct, DeviceKind, Leaf};
use ir::program::{
    DeviceFunction, DeviceVar, ExprId, ExprKind, FunctionId, Level, Program, Typed, VarId,
    VarStorage,
};

use super::items::{self, Role};

/// A variable or a function, as a list names it.
#[derive(Clone, Copy)]
enum Entity {
    Var(VarId),
    Function(FunctionId),
}

fn entity(program: &Program, item: ExprId) -> Option<Entity> {
    match &program.exprs[item].kind {
        ExprKind::Var(var) => Some(Entity::Var(*var)),
        ExprKind::Function(function) => Some(Entity::Function(*function)),
        ExprKind::Cast(_, inner) | ExprKind::AddrOf(inner) => entity(program, *inner),
        _ => None,
    }
}

/// Applies all declarations, in the order of the text.
pub(super) fn apply(program: &mut Program) {
    for at in 0..program.declarations.len() {
        let Some(declaration) = program.declarations.get(at) else { continue };
        let construct = declaration.construct.clone();
        let at_file_scope = declaration.within.is_none();
        let mut functions = declaration.functions.clone();
        let mut vars = declaration.vars.clone();
        for item in listed(&construct) {
            match entity(program, item) {
                Some(Entity::Var(var)) if !vars.contains(&var) => vars.push(var),
                Some(Entity::Function(function)) if !functions.contains(&function) => {
                    functions.push(function);
                }
                Some(Entity::Var(_) | Entity::Function(_)) | None => {}
            }
        }
        if let (Leaf::Routine, Args::Name(name)) = (first(&construct), &construct.args) {
            let found = program.functions.iter().find(|(_, it)| it.name == *name).map(|it| it.0);
            functions.extend(found.filter(|it| !functions.contains(it)));
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
                program.vars[var].device = Some(standing(program, construct, var));
            }
        }
        Leaf::Declare if at_file_scope => {
            for &var in vars {
                program.vars[var].device = Some(standing(program, construct, var));
            }
        }
        Leaf::Declare => {
            // In a function only what outlives the scope stands on the device for good.
            for &var in vars {
                let is_resident = matches!(
                    program.vars[var].storage,
                    VarStorage::LocalStatic(_) | VarStorage::Extern
                ) || standing(program, construct, var) == DeviceVar::Resident;
                if is_resident {
                    program.vars[var].device = Some(standing(program, construct, var));
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
            for &var in vars {
                program.vars[var].thread_local = true;
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

/// How a listed variable stands on devices.
fn standing(program: &Program, construct: &Construct<Typed>, var: VarId) -> DeviceVar {
    let clause = items::all(construct)
        .filter(|it| it.role == Role::Declared && items::base(program, it.expr) == Some(var))
        .find_map(|it| construct.clauses.get(it.clause as usize));
    match clause.map(|it| &it.kind) {
        Some(ClauseKind::DeviceLink(_)) => DeviceVar::Link,
        Some(ClauseKind::DeviceResident(_)) => DeviceVar::Resident,
        Some(ClauseKind::DeviceLocal(_)) => DeviceVar::Local,
        _ => DeviceVar::Enter,
    }
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
