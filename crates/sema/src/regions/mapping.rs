//! How each variable of a region comes to the device, and why.
//!
//! In: what clauses, declarations and enclosing data regions say, and the construct's implicit
//! rules by kind of variable. Out: one [`Mapping`] with its origin. Regions that run no device code
//! but move data (data regions, updates) map what their clauses name.

use ir::construct::{
    Category, ClauseKind, Construct, Implicit, Leaf, Motion, Presence, Rules, UseDevice,
};
use ir::program::{DeviceVar, ExprId, Program, RegionId, Typed, VarId};
use ir::region::{Attribute, Mapping, Origin, Region, Rule, Sharing};
use ir::types::TypeKind;

use super::items::{self, Item, Role};
use super::uses::{Uses, offloads};
use super::{ancestors, loops, sharing};

/// How `var` comes to the device in region `id`.
pub(super) fn of(
    program: &Program,
    uses: &Uses,
    id: RegionId,
    var: VarId,
) -> Option<Attribute<Mapping>> {
    let region = &program.regions[id];
    let runs = offloads(region);
    let listed = by_clause(program, &region.construct, uses.region(id).items(var), var)
        .map(|(value, at)| Attribute { value, origin: Origin::Clause(at) });
    if listed.is_some() || !runs {
        return listed;
    }
    by_combination(program, region, uses.region(id).items(var), var)
        .or_else(|| declared(program, var))
        .or_else(|| {
            if uses.is_outside(program, var, id) { enclosing(program, uses, id, var) } else { None }
        })
        .or_else(|| if is_loop_variable(region, var) { private_loop_variable() } else { None })
        .or_else(|| by_rule(program, id, var))
}

fn private_loop_variable() -> Option<Attribute<Mapping>> {
    Some(Attribute { value: Mapping::Private, origin: Origin::Rule(Rule::LoopVariable) })
}

fn is_loop_variable(region: &Region, var: VarId) -> bool {
    region.construct.leaves.iter().any(|&it| loops::deals_iterations(it))
        && region.loops.iter().any(|it| it.var == var)
}

/// What a clause in which `items` name the variable says; which one.
fn by_clause(
    program: &Program,
    construct: &Construct<Typed>,
    items: &[Item],
    var: VarId,
) -> Option<(Mapping, u32)> {
    let is_last = items.iter().any(|it| it.role == Role::LastPrivate);
    items.iter().find_map(|it| Some((mapping(program, construct, *it, var, is_last)?, it.clause)))
}

fn mapping(
    program: &Program,
    construct: &Construct<Typed>,
    item: Item,
    var: VarId,
    is_last: bool,
) -> Option<Mapping> {
    let runs = construct.has(Leaf::Offload) || construct.has(Leaf::Kernels);
    let kind = &construct.clauses.get(item.clause as usize)?.kind;
    let part = part(program, item.expr);
    Some(match (item.role, kind) {
        (Role::Map, ClauseKind::Map(map)) => {
            Mapping::Map(motion(construct, map.motion), map.presence, part)
        }
        (Role::Transfer, ClauseKind::Transfer(it)) => {
            let motion = if it.to_device { Motion::To } else { Motion::From };
            Mapping::Map(motion, it.presence, part)
        }
        (Role::UseDevice, ClauseKind::UseDevice(how, _)) => {
            let is_pointer = program.types.is_pointer(program.vars[var].ty);
            match how {
                UseDevice::Pointer => Mapping::DevicePointer,
                UseDevice::ByType if is_pointer => Mapping::DevicePointer,
                UseDevice::Address | UseDevice::ByType => Mapping::DeviceAddress,
            }
        }
        (Role::DevicePointer, _) => Mapping::DevicePointer,
        (Role::HasDeviceAddr, _) => Mapping::DeviceAddress,
        (Role::Attach, _) => Mapping::PointerToMapped,
        (Role::Private, _) if runs => Mapping::Private,
        (Role::FirstPrivate, _) if runs && !is_last => Mapping::FirstPrivate,
        _ => return None,
    })
}

/// The item, if it is more than the variable's name.
fn part(program: &Program, item: ExprId) -> Option<ExprId> {
    if items::plain(program, item).is_some() { None } else { Some(item) }
}

/// What a map without a word of motion does.
fn motion(construct: &Construct<Typed>, motion: Motion) -> Motion {
    match motion {
        Motion::Unsaid if construct.has(Leaf::EnterData) => Motion::To,
        Motion::Unsaid if construct.has(Leaf::ExitData) => Motion::From,
        Motion::Unsaid => Motion::ToFrom,
        Motion::Alloc
        | Motion::To
        | Motion::From
        | Motion::ToFrom
        | Motion::Release
        | Motion::Delete => motion,
    }
}

/// Clauses of the inner parts of a combined construct that bring a value back.
fn by_combination(
    program: &Program,
    region: &Region,
    items: &[Item],
    var: VarId,
) -> Option<Attribute<Mapping>> {
    let construct = &region.construct;
    let both_ways = Mapping::Map(Motion::ToFrom, Presence::Any, None);
    let rule = match sharing::explicit(program, construct, items, var)?.value {
        Sharing::Reduction(_) if construct.rules.reduction_maps => Rule::ReductionMapped,
        Sharing::LastPrivate | Sharing::FirstLastPrivate | Sharing::Linear
            if construct.leaves.len() > 1 =>
        {
            Rule::CombinedClause
        }
        Sharing::Shared
        | Sharing::Private
        | Sharing::FirstPrivate
        | Sharing::LastPrivate
        | Sharing::FirstLastPrivate
        | Sharing::Reduction(_)
        | Sharing::Linear
        | Sharing::ThreadPrivate => return None,
    };
    Some(Attribute { value: both_ways, origin: Origin::Rule(rule) })
}

/// What a declaration says of the variable on every device.
fn declared(program: &Program, var: VarId) -> Option<Attribute<Mapping>> {
    let device = program.vars[var].device?;
    let at = program.declarations.iter().position(|it| {
        it.vars.contains(&var)
            && it.construct.leaves.iter().any(|it| {
                matches!(it, Leaf::DeclareTarget | Leaf::BeginDeclareTarget | Leaf::Declare)
            })
    })?;
    let value = match device {
        DeviceVar::Enter | DeviceVar::Resident | DeviceVar::Local => Mapping::Declared,
        // It has storage there only while it is mapped.
        DeviceVar::Link => Mapping::Map(Motion::ToFrom, Presence::Any, None),
    };
    Some(Attribute { value, origin: Origin::Declared(at as u32) })
}

/// What a data region around, or a declaration of the function, says.
fn enclosing(
    program: &Program,
    uses: &Uses,
    id: RegionId,
    var: VarId,
) -> Option<Attribute<Mapping>> {
    let region = &program.regions[id];
    if !region.construct.rules.yields_to_data_region {
        return None;
    }
    for outer in ancestors(program, region.parent) {
        let construct = &program.regions[outer].construct;
        if !construct.has(Leaf::DataRegion) {
            continue;
        }
        if let Some((value, at)) = by_clause(program, construct, uses.region(outer).items(var), var)
        {
            return Some(Attribute { value, origin: Origin::Enclosing(outer, at) });
        }
    }
    let visible = (0u32..).zip(&program.declarations).filter(|(_, it)| {
        it.construct.has(Leaf::Declare)
            && (it.within.is_none() || it.within == Some(region.function))
    });
    visible
        .filter_map(|(at, it)| {
            let about = |item: &Item| items::base(program, item.expr) == Some(var);
            let items: Vec<Item> = items::all(&it.construct).filter(about).collect();
            Some((by_clause(program, &it.construct, &items, var)?.0, at))
        })
        .map(|(value, at)| Attribute { value, origin: Origin::Declared(at) })
        .next()
}

/// The rules that hold for a region: a data region's `default` speaks for those inside that have
/// none of their own.
pub(super) fn rules(program: &Program, id: RegionId) -> Rules {
    let region = &program.regions[id];
    let mut rules = region.construct.rules;
    let has_default =
        |it: &Construct<Typed>| it.kinds().any(|it| matches!(it, ClauseKind::Default(..)));
    if !rules.yields_to_data_region || has_default(&region.construct) {
        return rules;
    }
    let outer = ancestors(program, region.parent).map(|it| &program.regions[it].construct);
    let outer = outer.into_iter().find(|it| it.has(Leaf::DataRegion) && has_default(it));
    if let Some(outer) = outer {
        let take = |ours: &mut Implicit, theirs: Implicit| {
            if theirs != Implicit::NotApplicable {
                *ours = theirs;
            }
        };
        take(&mut rules.scalar, outer.rules.scalar);
        take(&mut rules.aggregate, outer.rules.aggregate);
        take(&mut rules.pointer, outer.rules.pointer);
    }
    rules
}

/// What the rules say of variables of this kind.
pub(super) fn implicit(program: &Program, rules: &Rules, var: VarId) -> Implicit {
    match category(program, var) {
        Category::Scalar => rules.scalar,
        Category::Pointer => rules.pointer,
        Category::Aggregate | Category::Allocatable | Category::All => rules.aggregate,
    }
}

fn by_rule(program: &Program, id: RegionId, var: VarId) -> Option<Attribute<Mapping>> {
    let category = category(program, var);
    let construct = &program.regions[id].construct;
    let by_defaultmap = construct.kinds().any(|it| {
        matches!(it, ClauseKind::DefaultMap(_, of)
            if of.is_none_or(|it| it == Category::All || it == category))
    });
    let rule = match category {
        _ if by_defaultmap => Rule::DefaultMapClause,
        Category::Scalar => Rule::ScalarDefault,
        Category::Pointer => Rule::PointerDefault,
        Category::Aggregate | Category::Allocatable | Category::All => Rule::AggregateDefault,
    };
    let value = match implicit(program, &rules(program, id), var) {
        Implicit::FirstPrivate => Mapping::FirstPrivate,
        Implicit::Private => Mapping::Private,
        Implicit::Map(motion, presence) => Mapping::Map(motion, presence, None),
        Implicit::PointerToMapped => Mapping::PointerToMapped,
        // A sharing clause listed it (or it is reported): it comes as it would without `default`.
        Implicit::MustBeListed if construct.rules.yields_to_data_region => return None,
        Implicit::MustBeListed => match category {
            Category::Scalar => Mapping::FirstPrivate,
            Category::Pointer => Mapping::PointerToMapped,
            Category::Aggregate | Category::Allocatable | Category::All => {
                Mapping::Map(Motion::ToFrom, Presence::Any, None)
            }
        },
        Implicit::Shared | Implicit::NotApplicable => return None,
    };
    let must = implicit(program, &rules(program, id), var) == Implicit::MustBeListed;
    let rule = if must && by_defaultmap { Rule::ScalarDefault } else { rule };
    Some(Attribute { value, origin: Origin::Rule(rule) })
}

/// Which kind of variable it is.
pub(super) fn category(program: &Program, var: VarId) -> Category {
    match program.types.shape(program.vars[var].ty) {
        TypeKind::Pointer(_) | TypeKind::Function(_) => Category::Pointer,
        TypeKind::Array(..) | TypeKind::Record(_) | TypeKind::VaList => Category::Aggregate,
        TypeKind::Error
        | TypeKind::Void
        | TypeKind::Bool
        | TypeKind::Int(_)
        | TypeKind::Float(_)
        | TypeKind::Complex(_)
        | TypeKind::ComplexInt(_)
        | TypeKind::Enum(_)
        | TypeKind::Alias(_)
        | TypeKind::Atomic(_)
        | TypeKind::Vector(..) => Category::Scalar,
    }
}
