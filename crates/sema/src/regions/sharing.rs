//! How each variable of a region is shared among those who run it, and why.
//!
//! In: what the region uses, and the attributes of the regions around it. Out: its [`RegionVar`]s.
//! A clause decides first, then what the variable is (a loop variable, one per thread), then the
//! `default` clause, then what the construct does with variables that nobody mentions. Constructs
//! that make no new data environment take the attribute from around.
//! How variables come to a device is in [`super::mapping`].

use ir::construct::{Category, ClauseKind, Construct, DefaultSharing, Implicit, Leaf};
use ir::program::{Program, RegionId, Typed, VarId};
use ir::region::{Attribute, Mapping, Origin, Region, RegionVar, Rule, Sharing};
use source::Diagnostics;

use super::items::{self, Item, Role};
use super::uses::{Use, Used, Uses, offloads};
use super::{ancestors, has_static_storage, loops, mapping, messages};

/// The variables of a region with their attributes.
pub(super) fn vars(
    program: &Program,
    uses: &Uses,
    id: RegionId,
    faults: &mut Diagnostics,
) -> Vec<RegionVar> {
    let region = &program.regions[id];
    let cx = Cx { program, uses, id, region };
    // Without an environment of its own a construct is about what its clauses name.
    let takes_all = has_environment(&region.construct);
    let mut vars = Vec::new();
    for used in uses.region(id).list.iter().filter(|it| it.in_clause || takes_all) {
        // Only read by a clause: computed outside, so nothing comes in.
        let comes_in = used.in_body || named(program, uses.region(id), &region.construct, used.var);
        let mapping = if comes_in { mapping::of(program, uses, id, used.var) } else { None };
        let sharing = if comes_in { cx.sharing(used, mapping.as_ref()) } else { None };
        if used.in_body && cx.must_be_listed(used, mapping.as_ref(), sharing.as_ref()) {
            faults.push(messages::not_listed(program, region, used.var, used.body_span));
        }
        vars.push(RegionVar {
            var: used.var,
            sharing,
            mapping,
            read: used.read,
            written: used.written,
            span: used.span,
        });
    }
    vars
}

/// Whether a clause list or the directive itself names the variable.
fn named(program: &Program, used: &Used, construct: &Construct<Typed>, var: VarId) -> bool {
    !used.items(var).is_empty()
        || items::args(construct).iter().any(|&it| items::base(program, it) == Some(var))
}

/// Whether the construct gives variables new attributes.
fn has_environment(construct: &Construct<Typed>) -> bool {
    construct.leaves.iter().any(|it| {
        matches!(
            it,
            Leaf::Offload
                | Leaf::Kernels
                | Leaf::Teams
                | Leaf::Distribute
                | Leaf::Parallel
                | Leaf::For
                | Leaf::Simd
                | Leaf::Loop
                | Leaf::Sections
                | Leaf::Single
                | Leaf::Scope
                | Leaf::Task
                | Leaf::Taskloop
        )
    })
}

struct Cx<'a> {
    program: &'a Program,
    uses: &'a Uses,
    id: RegionId,
    region: &'a Region,
}

fn because<A>(value: A, rule: Rule) -> Option<Attribute<A>> {
    Some(Attribute { value, origin: Origin::Rule(rule) })
}

impl Cx<'_> {
    fn sharing(
        &self,
        used: &Use,
        mapping: Option<&Attribute<Mapping>>,
    ) -> Option<Attribute<Sharing>> {
        if !has_environment(&self.region.construct) {
            return None;
        }
        explicit(
            self.program,
            &self.region.construct,
            self.uses.region(self.id).items(used.var),
            used.var,
        )
        .or_else(|| self.predetermined(used.var))
        .or_else(|| if used.in_body { self.by_default_clause(used.var) } else { None })
        .or_else(|| if used.in_body { self.implicit(used.var, mapping) } else { None })
    }

    /// What the variable is decides.
    fn predetermined(&self, var: VarId) -> Option<Attribute<Sharing>> {
        let construct = &self.region.construct;
        if self.program.vars[var].thread_local {
            return because(Sharing::ThreadPrivate, Rule::ThreadLocal);
        }
        let deals = construct.leaves.iter().any(|&it| loops::deals_iterations(it));
        if deals && self.region.loops.iter().any(|it| it.var == var) {
            return if !construct.has(Leaf::Simd) {
                because(Sharing::Private, Rule::LoopVariable)
            } else if self.region.loops.len() == 1 {
                because(Sharing::Linear, Rule::LaneLoopVariable)
            } else {
                because(Sharing::LastPrivate, Rule::LaneLoopVariable)
            };
        }
        None
    }

    fn by_default_clause(&self, var: VarId) -> Option<Attribute<Sharing>> {
        let category = mapping::category(self.program, var);
        let chosen = self.region.construct.kinds().find_map(|it| match it {
            ClauseKind::Default(sharing, of) if covers(*of, category) => Some(*sharing),
            _ => None,
        })?;
        match chosen {
            DefaultSharing::Shared => because(Sharing::Shared, Rule::DefaultClause),
            DefaultSharing::Private => because(Sharing::Private, Rule::DefaultClause),
            DefaultSharing::FirstPrivate => because(Sharing::FirstPrivate, Rule::DefaultClause),
            DefaultSharing::None | DefaultSharing::Present => None,
        }
    }

    fn implicit(
        &self,
        var: VarId,
        mapping: Option<&Attribute<Mapping>>,
    ) -> Option<Attribute<Sharing>> {
        let construct = &self.region.construct;
        if construct.has(Leaf::Parallel) || construct.has(Leaf::Teams) {
            // Where every team has its own copy of what travels as an argument.
            if let (true, Some(it)) = (construct.rules.copies_per_team, mapping)
                && it.value == Mapping::FirstPrivate
            {
                return Some(Attribute { value: Sharing::FirstPrivate, origin: it.origin });
            }
            return because(Sharing::Shared, Rule::SharedDefault);
        }
        if offloads(self.region) {
            // One thread (or the compiler's choice): how it comes to the device says all.
            return None;
        }
        let around = self.around(var);
        if construct.has(Leaf::Task) || construct.has(Leaf::Taskloop) {
            return match around {
                Around::Shared(_) if has_static_storage(self.program, var) => {
                    because(Sharing::Shared, Rule::StaticStorage)
                }
                Around::Shared(_) => because(Sharing::Shared, Rule::EnclosingShared),
                Around::Own(_) | Around::Unknown => because(Sharing::FirstPrivate, Rule::TaskCopy),
            };
        }
        match around {
            Around::Shared(true) => because(Sharing::Shared, Rule::EnclosingShared),
            Around::Shared(false) => because(Sharing::Shared, Rule::StaticStorage),
            Around::Own(attribute) => attribute,
            Around::Unknown => None,
        }
    }

    fn around(&self, var: VarId) -> Around {
        around(self.program, self.uses, self.id, var)
    }

    /// Whether a clause forbids that nobody mentions the variable.
    fn must_be_listed(
        &self,
        used: &Use,
        mapping: Option<&Attribute<Mapping>>,
        sharing: Option<&Attribute<Sharing>>,
    ) -> bool {
        let construct = &self.region.construct;
        let rules = mapping::rules(self.program, self.id);
        let demanded = mapping::implicit(self.program, &rules, used.var) == Implicit::MustBeListed;
        let is_settled = |origin: Origin| match origin {
            Origin::Clause(_) | Origin::Enclosing(..) | Origin::Declared(_) => true,
            Origin::Rule(rule) => matches!(
                rule,
                Rule::LoopVariable
                    | Rule::LaneLoopVariable
                    | Rule::ThreadLocal
                    | Rule::DeclaredInside
                    | Rule::ReductionMapped
                    | Rule::CombinedClause
                    | Rule::DefaultMapClause
            ),
        };
        demanded
            && has_environment(construct)
            && !mapping.is_some_and(|it| is_settled(it.origin))
            && !sharing.is_some_and(|it| is_settled(it.origin))
            // Where the address of a pointer travels like any scalar, only what has a life of its
            // own on the device must be named.
            && (!rules.yields_to_data_region
                || mapping::category(self.program, used.var) == Category::Aggregate)
            // Older programs count on constants being shared.
            && !is_const(self.program, used.var)
            && self.program.vars[used.var].name.is_some_and(|it| {
                // The compiler's own names, such as `__func__`, cannot be listed.
                !self.program.names.text(it).starts_with("__")
            })
    }
}

/// Whether nothing may be assigned to the variable.
pub(super) fn is_const(program: &Program, var: VarId) -> bool {
    let ty = program.types.innermost_element(program.vars[var].ty);
    program.types.resolve(ty).quals.is_const
}

fn covers(of: Option<Category>, category: Category) -> bool {
    of.is_none_or(|it| it == Category::All || it == category)
}

/// What a variable is to the code around a region.
pub(super) enum Around {
    /// One for all; whether a region around says so.
    Shared(bool),
    /// Each has its own, by this attribute if a region says so.
    Own(Option<Attribute<Sharing>>),
    /// Nobody around says.
    Unknown,
}

/// What a variable is to the code around the region `id`.
pub(super) fn around(program: &Program, uses: &Uses, id: RegionId, var: VarId) -> Around {
    let is_static = has_static_storage(program, var);
    for outer in ancestors(program, program.regions[id].parent) {
        let region = &program.regions[outer];
        if !uses.is_outside(program, var, outer) {
            // All regions further out contain the declaration too.
            if is_static {
                return Around::Shared(false);
            } else if has_environment(&region.construct) {
                return Around::Own(None);
            }
            continue;
        }
        let found = region.vars.iter().find(|it| it.var == var).and_then(|it| it.sharing.clone());
        if let Some(attribute) = found {
            if attribute.value == Sharing::Shared {
                return Around::Shared(true);
            }
            let origin = match attribute.origin {
                Origin::Clause(at) => Origin::Enclosing(outer, at),
                origin => origin,
            };
            return Around::Own(Some(Attribute { value: attribute.value, origin }));
        }
    }
    if is_static { Around::Shared(false) } else { Around::Unknown }
}

/// What the clauses say in which `items` name the variable.
pub(super) fn explicit(
    program: &Program,
    construct: &Construct<Typed>,
    items: &[Item],
    var: VarId,
) -> Option<Attribute<Sharing>> {
    let mut first: Option<u32> = None;
    let mut last: Option<u32> = None;
    let mut other: Option<Attribute<Sharing>> = None;
    for item in items {
        let kind = construct.clauses.get(item.clause as usize).map(|it| &it.kind);
        let value = match (item.role, kind) {
            (Role::Shared, _) => Sharing::Shared,
            (Role::Private, _) => Sharing::Private,
            (Role::Linear | Role::Induction, _) => Sharing::Linear,
            (
                Role::Reduction | Role::InReduction | Role::TaskReduction,
                Some(
                    ClauseKind::Reduction(it)
                    | ClauseKind::InReduction(it)
                    | ClauseKind::TaskReduction(it),
                ),
            ) => Sharing::Reduction(it.op.clone()),
            (Role::CopyIn | Role::CopyPrivate, _) if program.vars[var].thread_local => {
                Sharing::ThreadPrivate
            }
            (Role::FirstPrivate, _) => {
                first.get_or_insert(item.clause);
                continue;
            }
            (Role::LastPrivate, _) => {
                last.get_or_insert(item.clause);
                continue;
            }
            _ => continue,
        };
        other.get_or_insert(Attribute { value, origin: Origin::Clause(item.clause) });
    }
    let of = |value, clause| Some(Attribute { value, origin: Origin::Clause(clause) });
    match (first, last) {
        (Some(_), Some(last)) => of(Sharing::FirstLastPrivate, last),
        (None, Some(last)) if other.is_none() => of(Sharing::LastPrivate, last),
        (Some(first), None) if other.is_none() => of(Sharing::FirstPrivate, first),
        _ => other,
    }
}
