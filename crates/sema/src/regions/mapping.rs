//! How each variable of a region comes to the device, and why.
//!
//! In: what clauses, declarations and enclosing data regions say, and the construct's implicit
//! rules by kind of variable. Out: its [`Mapping`]s with their origins: one for each item that names
//! it or a part of it, or one by rule. Regions that run no device code but move data (data regions,
//! updates) map what their clauses name.

use ir::construct::{
    Category, ClauseKind, Construct, DefaultMap, Implicit, Leaf, Motion, Naming, Presence, Unnamed,
    UseDevice,
};
use ir::program::{DeviceVar, ExprId, ExprKind, Program, RegionId, Typed, VarId};
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
) -> Vec<Attribute<Mapping>> {
    let region = &program.regions[id];
    let items = uses.region(id).items(var);
    let mut listed = by_clause(program, &region.construct, items, var, Origin::Clause);
    if !offloads(region) {
        return listed;
    }
    if !listed.is_empty() {
        // A clause on a member says nothing of the structure around it.
        if region.construct.rules.holds_data && are_members(program, var, &listed) {
            listed.extend(unlisted(program, uses, id, var));
        }
        return listed;
    }
    unlisted(program, uses, id, var)
}

/// Whether all that is said of a structure is about its members.
fn are_members(program: &Program, var: VarId, listed: &[Attribute<Mapping>]) -> bool {
    let is_member = |it: &Attribute<Mapping>| match &it.value {
        Mapping::Map(_, _, Some(item)) => items::has_member(program, *item),
        _ => false,
    };
    category(program, var) == Category::Aggregate && listed.iter().all(is_member)
}

/// How a variable comes to the device that no clause of the region names.
fn unlisted(program: &Program, uses: &Uses, id: RegionId, var: VarId) -> Vec<Attribute<Mapping>> {
    let region = &program.regions[id];
    let items = uses.region(id).items(var);
    let settled =
        by_combination(program, region, items, var).or_else(|| declared(program, uses, var));
    if let Some(settled) = settled {
        return vec![settled];
    }
    if uses.is_outside(program, var, id) {
        let around = enclosing(program, uses, id, var);
        if !around.is_empty() {
            return around;
        }
    }
    let by_rule = if is_loop_variable(region, var) {
        private_loop_variable()
    } else if let Some(it) = like_tasks(program, uses, id, var) {
        Some(it)
    } else {
        by_rule(program, id, var)
    };
    by_rule.into_iter().collect()
}

/// How a variable comes to the device that is to the region what it would be to a task: one that is shared comes back if it is
/// written, another is a copy.
fn like_tasks(
    program: &Program,
    uses: &Uses,
    id: RegionId,
    var: VarId,
) -> Option<Attribute<Mapping>> {
    let construct = &program.regions[id].construct;
    let category = category(program, var);
    let is_said = construct
        .kinds()
        .any(|it| matches!(it, ClauseKind::DefaultMap(_, of) if covers(*of, category)));
    if !construct.rules.copies_like_tasks || is_said || category == Category::Pointer {
        return None;
    }
    let is_written = uses.region(id).use_of(var).is_some_and(|it| it.written);
    let is_shared = sharing::is_shared_by_tasks(program, uses, id, var);
    let value = match is_shared && (is_written || category == Category::Aggregate) {
        true => Mapping::Map(Motion::ToFrom, Presence::Any, None),
        false => Mapping::FirstPrivate,
    };
    let rule = if is_shared { Rule::EnclosingShared } else { Rule::TaskCopy };
    Some(Attribute { value, origin: Origin::Rule(rule) })
}

fn private_loop_variable() -> Option<Attribute<Mapping>> {
    Some(Attribute { value: Mapping::Private, origin: Origin::Rule(Rule::LoopVariable) })
}

fn is_loop_variable(region: &Region, var: VarId) -> bool {
    region.construct.leaves.iter().any(|&it| loops::deals_iterations(it))
        && region.loops.iter().any(|it| it.var == var)
}

/// What the clauses say in which `items` name the variable; `origin` tells where one stands.
fn by_clause(
    program: &Program,
    construct: &Construct<Typed>,
    items: &[Item],
    var: VarId,
    origin: impl Fn(u32) -> Origin,
) -> Vec<Attribute<Mapping>> {
    let is_last = items.iter().any(|it| it.role == Role::LastPrivate);
    let is_mapped = construct.leaves.len() > 1
        && items
            .iter()
            .any(|it| it.role == Role::Map && items::plain(program, it.expr) == Some(var));
    // Copies are then made by the parts inside, of what came to the device.
    let is_inside = |role: Role| match role {
        Role::FirstPrivate => is_mapped || is_last,
        Role::Private => is_mapped,
        _ => false,
    };
    let mut found: Vec<Attribute<Mapping>> = Vec::new();
    // Where the map of the whole variable stands.
    let mut whole: Option<usize> = None;
    for item in items.iter().filter(|it| !is_inside(it.role)) {
        let Some(value) = mapping(program, construct, *item, var) else { continue };
        if let Some(before) = whole.and_then(|it| found.get_mut(it))
            && let Some(both) = both(&before.value, &value)
        {
            before.value = both;
            continue;
        }
        if matches!(value, Mapping::Map(_, _, None)) {
            whole = Some(found.len());
        }
        found.push(Attribute { value, origin: origin(item.clause) });
    }
    found
}

/// Two maps of one whole variable on one construct are one: in and out are both ways.
fn both(a: &Mapping, b: &Mapping) -> Option<Mapping> {
    let (Mapping::Map(a, at, None), Mapping::Map(b, bt, None)) = (a, b) else { return None };
    let copies = |it: &Motion| match it {
        Motion::Alloc => Some((false, false)),
        Motion::To => Some((true, false)),
        Motion::From => Some((false, true)),
        Motion::ToFrom => Some((true, true)),
        Motion::Unsaid | Motion::Release | Motion::Delete => None,
    };
    let (a, b) = (copies(a)?, copies(b)?);
    let motion = match (a.0 || b.0, a.1 || b.1) {
        (false, false) => Motion::Alloc,
        (true, false) => Motion::To,
        (false, true) => Motion::From,
        (true, true) => Motion::ToFrom,
    };
    (at == bt).then_some(Mapping::Map(motion, *at, None))
}

fn mapping(
    program: &Program,
    construct: &Construct<Typed>,
    item: Item,
    var: VarId,
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
        (Role::UseDevice, ClauseKind::UseDevice(how, _)) => match how {
            UseDevice::Pointer => Mapping::DevicePointer,
            UseDevice::ByType if leads(program, var) => Mapping::DevicePointer,
            UseDevice::Address | UseDevice::ByType => Mapping::DeviceAddress,
        },
        (Role::DevicePointer, _) if leads(program, var) => Mapping::DevicePointer,
        // An array is the memory of the device itself.
        (Role::DevicePointer, _) => Mapping::DeviceAddress,
        // What a pointer leads to has the device's address, and so that is what the pointer holds.
        (Role::HasDeviceAddr, _) if part.is_some() && leads(program, var) => Mapping::DevicePointer,
        (Role::HasDeviceAddr, _) => Mapping::DeviceAddress,
        // Which pointer of an object is attached says nothing of how the object gets there.
        (Role::Attach, _) if part.is_some() => return None,
        (Role::Attach, _) => Mapping::PointerToMapped,
        // A variable of a function, declared so.
        (Role::Declared, ClauseKind::DeviceResident(_)) => {
            Mapping::Map(Motion::Alloc, Presence::Any, part)
        }
        (Role::Private, _) if runs => Mapping::Private,
        (Role::FirstPrivate, _) if runs => Mapping::FirstPrivate,
        _ => return None,
    })
}

/// Whether the variable leads to what is meant, and is not that itself.
fn leads(program: &Program, var: VarId) -> bool {
    program.types.is_pointer(program.vars[var].ty)
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
    let reduced = items.iter().find(|it| it.role == Role::Reduction);
    let section = reduced.and_then(|it| part(program, it.expr));
    let both_ways = Mapping::Map(Motion::ToFrom, Presence::Any, section);
    // The device works on the task's part of the reduction.
    if items.iter().any(|it| it.role == Role::InReduction) {
        let origin = Origin::Rule(Rule::ReductionMapped);
        return Some(Attribute { value: both_ways, origin });
    }
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
fn declared(program: &Program, uses: &Uses, var: VarId) -> Option<Attribute<Mapping>> {
    let device = program.vars[var].device?;
    let at = *uses.device_declarations.get(&var)?;
    let value = match device {
        DeviceVar::Enter | DeviceVar::Resident | DeviceVar::Local => Mapping::Declared,
        // It has storage there only while it is mapped.
        DeviceVar::Link => Mapping::Map(Motion::ToFrom, Presence::Any, None),
    };
    Some(Attribute { value, origin: Origin::Declared(at) })
}

/// What a data region around, or a declaration of the function, says.
fn enclosing(program: &Program, uses: &Uses, id: RegionId, var: VarId) -> Vec<Attribute<Mapping>> {
    let region = &program.regions[id];
    if !region.construct.rules.yields_to_data_region {
        return Vec::new();
    }
    for outer in ancestors(program, region.parent) {
        let construct = &program.regions[outer].construct;
        if !construct.has(Leaf::DataRegion) || is_never(program, construct) {
            continue;
        }
        let items = uses.region(outer).items(var);
        let mut found =
            by_clause(program, construct, items, var, |at| Origin::Enclosing(outer, at));
        // Where its condition is false nothing is there, and this region copies for itself.
        if construct.kinds().any(|it| matches!(it, ClauseKind::If(_))) {
            for it in &mut found {
                if let Mapping::Map(motion, ..) = &mut it.value {
                    *motion = Motion::ToFrom;
                }
            }
        }
        if !found.is_empty() {
            return found;
        }
    }
    let visible = (0u32..).zip(&program.declarations).filter(|(_, it)| {
        it.construct.has(Leaf::Declare)
            && (it.within.is_none() || it.within == Some(region.function))
    });
    for (at, it) in visible {
        let about = |item: &Item| items::base(program, item.expr) == Some(var);
        let items: Vec<Item> = items::all(&it.construct).filter(about).collect();
        let found = by_clause(program, &it.construct, &items, var, |_| Origin::Declared(at));
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// Whether a construct has a condition that is false wherever it stands: what it says holds nowhere.
fn is_never(program: &Program, construct: &Construct<Typed>) -> bool {
    construct.kinds().any(|it| {
        let ClauseKind::If(e) = it else { return false };
        matches!(program.exprs[program.peeled(*e)].kind, ExprKind::Int(0))
    })
}

/// What holds for the variable if no clause names it.
pub(super) fn unnamed(program: &Program, id: RegionId, var: VarId) -> Unnamed {
    let category = category(program, var);
    let mut rule = program.regions[id].construct.rules.mapping.of(category);
    if let Some(outer) = default_around(program, id) {
        let theirs = program.regions[outer].construct.rules.mapping.of(category);
        if theirs.implicit != Implicit::NotApplicable {
            rule.implicit = theirs.implicit;
        }
        if theirs.naming != Naming::Optional {
            rule.naming = theirs.naming;
        }
    }
    rule
}

/// The data region whose `default` speaks for this region, which has none of its own.
pub(super) fn default_around(program: &Program, id: RegionId) -> Option<RegionId> {
    let region = &program.regions[id];
    let has_default =
        |it: &Construct<Typed>| it.kinds().any(|it| matches!(it, ClauseKind::Default(..)));
    if !region.construct.rules.yields_to_data_region || has_default(&region.construct) {
        return None;
    }
    ancestors(program, region.parent).find(|&it| {
        let outer = &program.regions[it].construct;
        outer.has(Leaf::DataRegion) && has_default(outer)
    })
}

fn by_rule(program: &Program, id: RegionId, var: VarId) -> Option<Attribute<Mapping>> {
    let category = category(program, var);
    let unnamed = unnamed(program, id, var);
    let value = match unnamed.implicit {
        Implicit::FirstPrivate => Mapping::FirstPrivate,
        Implicit::Private => Mapping::Private,
        Implicit::Map(motion, presence) => Mapping::Map(motion, presence, None),
        Implicit::PointerToMapped => Mapping::PointerToMapped,
        Implicit::Shared | Implicit::NotApplicable => return None,
    };
    let by_defaultmap = program.regions[id].construct.kinds().any(|it| {
        matches!(it, ClauseKind::DefaultMap(how, of)
            if *how != DefaultMap::None && covers(*of, category))
    });
    let rule = match category {
        _ if by_defaultmap && unnamed.naming == Naming::Optional => Rule::DefaultMapClause,
        Category::Scalar => Rule::ScalarDefault,
        Category::Pointer => Rule::PointerDefault,
        Category::Aggregate | Category::Allocatable | Category::All => Rule::AggregateDefault,
    };
    Some(Attribute { value, origin: Origin::Rule(rule) })
}

/// Whether a clause about `of` speaks of variables of this kind.
pub(super) fn covers(of: Option<Category>, category: Category) -> bool {
    of.is_none_or(|it| it == Category::All || it == category)
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
