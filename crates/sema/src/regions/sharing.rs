//! How each variable of a region is shared among those who run it, and why.
//!
//! In: what the region uses, and the attributes of the regions around it. Out: its [`RegionVar`]s.
//! A clause decides first, then what the variable is (a loop variable, one per thread), then the
//! `default` clause, then what the construct does with variables that nobody mentions. Constructs
//! that make no new data environment take the attribute from around.
//! How variables come to a device is in [`super::mapping`].

use ir::construct::{Clause, ClauseKind, Construct, DefaultMap, DefaultSharing, Leaf, Naming};
use ir::program::{Program, RegionId, Typed, VarId, VarStorage};
use ir::region::{Attribute, Mapping, Origin, Region, RegionVar, Rule, Sharing};
use source::{Diagnostic, Diagnostics, Span};

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
        let mappings = if comes_in { mapping::of(program, uses, id, used.var) } else { Vec::new() };
        let sharing = if comes_in { cx.sharing(used, &mappings) } else { None };
        if used.in_body
            && let Some(fault) = cx.not_listed(used, &mappings, sharing.as_ref())
        {
            faults.push(fault);
        }
        if used.in_body && cx.is_out_of_reach(used.var) {
            let (var, span) = (used.var, used.body_span);
            faults.push(messages::thread_local_on_device(program, region, var, span));
        }
        vars.push(RegionVar {
            var: used.var,
            sharing,
            mappings,
            read: used.read,
            written: used.written,
            pointee: used.pointee,
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
    fn sharing(&self, used: &Use, mappings: &[Attribute<Mapping>]) -> Option<Attribute<Sharing>> {
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
        .or_else(|| if used.in_body { self.implicit(used.var, mappings) } else { None })
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
            ClauseKind::Default(sharing, of) if mapping::covers(*of, category) => Some(*sharing),
            _ => None,
        })?;
        match chosen {
            DefaultSharing::Shared => because(Sharing::Shared, Rule::DefaultClause),
            DefaultSharing::Private => because(Sharing::Private, Rule::DefaultClause),
            DefaultSharing::FirstPrivate => because(Sharing::FirstPrivate, Rule::DefaultClause),
            DefaultSharing::None | DefaultSharing::Present => None,
        }
    }

    fn implicit(&self, var: VarId, mappings: &[Attribute<Mapping>]) -> Option<Attribute<Sharing>> {
        let construct = &self.region.construct;
        if construct.has(Leaf::Parallel) || construct.has(Leaf::Teams) {
            // Where every team has its own copy of what travels as an argument.
            let copy = mappings.iter().find(|it| it.value == Mapping::FirstPrivate);
            let copies = construct.rules.copies_per_team || construct.rules.copies_like_tasks;
            if let (true, Some(it)) = (copies, copy) {
                return Some(Attribute { value: Sharing::FirstPrivate, origin: it.origin });
            }
            return because(Sharing::Shared, Rule::SharedDefault);
        }
        if offloads(self.region) {
            // One thread (or the compiler's choice): how it comes to the device says all.
            return None;
        }
        let is_task = makes_tasks(construct);
        let around = around(self.program, self.uses, self.id, var, is_task);
        if is_task {
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
            Around::Own(Some(attribute)) => Some(attribute),
            Around::Own(None) => because(Sharing::Private, Rule::DeclaredInside),
            Around::Unknown => because(Sharing::Private, Rule::CallersOwn),
        }
    }

    /// Whether threads of the host have the variable, and the region runs elsewhere.
    fn is_out_of_reach(&self, var: VarId) -> bool {
        self.program.vars[var].thread_local
            && offloads(self.region)
            && !self.region.construct.goes_back()
    }

    /// The `default` clause that would copy the variable if it were not of file scope.
    fn default_that_skips(&self, var: VarId, sharing: &Attribute<Sharing>) -> Option<Span> {
        let by_default = sharing.origin == Origin::Rule(Rule::DefaultClause);
        let is_global = match self.program.vars[var].storage {
            VarStorage::Global | VarStorage::Extern | VarStorage::Static => true,
            VarStorage::LocalStatic(_) | VarStorage::Param(_) | VarStorage::Local(_) => false,
        };
        if !by_default || !is_global || is_const(self.program, var) {
            return None;
        }
        let copies = |it: &Clause<Typed>| {
            let copy = [DefaultSharing::Private, DefaultSharing::FirstPrivate];
            matches!(&it.kind, ClauseKind::Default(how, _) if copy.contains(how))
        };
        self.region.construct.clauses.iter().find(|it| copies(it)).map(|it| it.span)
    }

    /// The fault, if a clause forbids that nobody names the variable.
    fn not_listed(
        &self,
        used: &Use,
        mappings: &[Attribute<Mapping>],
        sharing: Option<&Attribute<Sharing>>,
    ) -> Option<Diagnostic> {
        let (program, construct) = (self.program, &self.region.construct);
        // The compiler's own names, such as `__func__`, cannot be listed.
        let name = program.vars[used.var].name?;
        if !has_environment(construct) || program.names.text(name).starts_with("__") {
            return None;
        }
        if let Some(default) = sharing.and_then(|it| self.default_that_skips(used.var, it)) {
            let (var, span) = (used.var, used.body_span);
            return Some(messages::global_not_listed(program, self.region, var, span, default));
        }
        let category = mapping::category(program, used.var);
        let shared = construct.rules.sharing.of(category).naming;
        let mapped = mapping::unnamed(program, self.id, used.var).naming;
        let is_shared = sharing.is_some_and(|it| is_settled(it.origin));
        // Threads that share it share what the device has: that says nothing of how it gets there.
        let has_copy = is_shared && sharing.is_some_and(|it| it.value != Sharing::Shared);
        let is_mapped = has_copy || mappings.iter().any(|it| is_settled(it.origin));
        let by_sharing = shared != Naming::Optional && !is_shared;
        let naming = match (by_sharing, is_mapped) {
            (true, _) => shared,
            (false, false) => mapped,
            (false, true) => Naming::Optional,
        };
        let is_const = is_const(program, used.var);
        match naming {
            Naming::Optional => None,
            // Older programs count on constants being shared.
            Naming::Required if !is_const => {
                let demand = self.demand(by_sharing);
                Some(messages::not_listed(program, self.region, used.var, used.body_span, demand))
            }
            Naming::Required | Naming::Advised => {
                let demand = self.demand(by_sharing);
                let fault =
                    messages::better_listed(program, self.region, used.var, used.body_span, demand);
                let advice = is_const && by_sharing;
                Some(if advice { fault.help("list it in `shared`") } else { fault })
            }
        }
    }

    /// Where the clause stands that wants all variables named.
    fn demand(&self, by_sharing: bool) -> Span {
        let id = mapping::default_around(self.program, self.id).unwrap_or(self.id);
        let construct = &self.program.regions[id].construct;
        let find = |wanted: &dyn Fn(&ClauseKind<Typed>) -> bool| {
            construct.clauses.iter().find(|it| it.group.is_none() && wanted(&it.kind))
        };
        let default = find(&|it| matches!(it, ClauseKind::Default(DefaultSharing::None, _)));
        let defaultmap = find(&|it| matches!(it, ClauseKind::DefaultMap(DefaultMap::None, _)));
        let found = if by_sharing { default } else { defaultmap.or(default) };
        found.map_or(construct.span, |it| it.span)
    }
}

/// Whether an attribute with this origin holds without the implicit rules.
fn is_settled(origin: Origin) -> bool {
    match origin {
        Origin::Clause(_) | Origin::Enclosing(..) | Origin::Declared(_) => true,
        Origin::Rule(rule) => match rule {
            Rule::LoopVariable
            | Rule::LaneLoopVariable
            | Rule::ThreadLocal
            | Rule::ReductionMapped
            | Rule::CombinedClause
            | Rule::DefaultMapClause => true,
            Rule::DeclaredInside
            | Rule::StaticStorage
            | Rule::DefaultClause
            | Rule::ScalarDefault
            | Rule::ScalarRead
            | Rule::AggregateDefault
            | Rule::PointerDefault
            | Rule::Touched
            | Rule::EnclosingShared
            | Rule::EnclosingPrivate
            | Rule::CallersOwn
            | Rule::TaskCopy
            | Rule::SharedDefault => false,
        },
    }
}

/// Whether nothing may be assigned to the variable.
pub(super) fn is_const(program: &Program, var: VarId) -> bool {
    let ty = program.types.innermost_element(program.vars[var].ty);
    program.types.resolve(ty).quals.is_const
}

/// Whether it makes tasks, which copy what is not shared by the threads around them.
fn makes_tasks(construct: &Construct<Typed>) -> bool {
    construct.has(Leaf::Task) || construct.has(Leaf::Taskloop)
}

/// Whether tasks that a region would make share a variable.
pub(super) fn is_shared_by_tasks(program: &Program, uses: &Uses, id: RegionId, var: VarId) -> bool {
    let region = &program.regions[id];
    let cx = Cx { program, uses, id, region };
    let said = explicit(program, &region.construct, uses.region(id).items(var), var);
    match said.or_else(|| cx.by_default_clause(var)) {
        Some(said) => said.value == Sharing::Shared,
        None => matches!(around(program, uses, id, var, true), Around::Shared(_)),
    }
}

/// What a variable is to the code around a region.
enum Around {
    /// One for all; whether a region around says so.
    Shared(bool),
    /// Each has its own, by this attribute if a region says so.
    Own(Option<Attribute<Sharing>>),
    /// Nobody around says.
    Unknown,
}

/// What a variable is to the code around the region `id`; to all threads there, or just to the one
/// that meets the region.
fn around(program: &Program, uses: &Uses, id: RegionId, var: VarId, to_all: bool) -> Around {
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
        let used = uses.var(program, outer, var);
        if let Some(attribute) = used.and_then(|it| it.sharing.clone()) {
            if attribute.value != Sharing::Shared {
                return Around::Own(Some(from(outer, attribute)));
            }
            // Only these make threads. Others share with the one thread that met them, of which
            // the variable may be a private copy.
            let makes_threads = [Leaf::Parallel, Leaf::Teams, Leaf::Offload, Leaf::Kernels]
                .iter()
                .any(|it| region.construct.has(*it));
            if makes_threads || !to_all {
                return Around::Shared(true);
            }
        } else if offloads(region) {
            return used.map_or(Around::Own(None), |it| on_device(outer, &it.mappings));
        }
    }
    if is_static { Around::Shared(false) } else { Around::Unknown }
}

/// What a variable that comes to the device so is to the code of the region `outer`.
fn on_device(outer: RegionId, mappings: &[Attribute<Mapping>]) -> Around {
    let own = mappings.iter().find_map(|it| {
        let value = match it.value {
            Mapping::Private => Sharing::Private,
            // These travel as arguments, the latter two with an address that may be changed.
            Mapping::FirstPrivate | Mapping::PointerToMapped | Mapping::DevicePointer => {
                Sharing::FirstPrivate
            }
            Mapping::Map(..) | Mapping::DeviceAddress | Mapping::Declared => return None,
        };
        Some(from(outer, Attribute { value, origin: it.origin }))
    });
    own.map_or(Around::Shared(true), |it| Around::Own(Some(it)))
}

/// An attribute that holds in the region `outer`, told from inside it.
fn from<A>(outer: RegionId, attribute: Attribute<A>) -> Attribute<A> {
    let origin = match attribute.origin {
        Origin::Clause(at) => Origin::Enclosing(outer, at),
        // A thread's own is its own everywhere.
        Origin::Rule(Rule::ThreadLocal) | Origin::Enclosing(..) | Origin::Declared(_) => {
            attribute.origin
        }
        Origin::Rule(_) => Origin::Rule(Rule::EnclosingPrivate),
    };
    Attribute { value: attribute.value, origin }
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
