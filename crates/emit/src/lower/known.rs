//! What the host's compiler compiles by itself: the parts of directives that it knows.
//!
//! The measure is gcc 12, which reads version 5.0 and some of 5.1. What is not known to be known is
//! lowered here or refused; a directive that a compiler may skip must not reach it.

use ir::construct::{
    Clause, ClauseKind, Construct, DefaultSharing, DependKind, DoacrossKind, Leaf, Phase,
};
use ir::program::Typed;

/// Whether the host's compiler does all parts of the construct and knows all its clauses.
pub(super) fn by_host(construct: &Construct<Typed>) -> bool {
    in_parts(construct) && construct.clauses.iter().all(|it| clause(construct, it))
}

/// Whether it does all parts, whatever the clauses.
pub(super) fn in_parts<P: Phase>(construct: &Construct<P>) -> bool {
    construct.dialect == directive::HOST_DIALECT && construct.leaves.iter().all(|it| leaf(*it))
}

/// Whether it knows a clause of a construct whose parts it knows.
pub(super) fn clause<P: Phase>(construct: &Construct<P>, clause: &Clause<P>) -> bool {
    let is_scope = construct.has(Leaf::Scope);
    let is_plain_if = matches!(clause.kind, ClauseKind::If(_));
    if clause.switch.is_some() || clause.group.is_some() || (clause.on.is_some() && !is_plain_if) {
        return false;
    }
    match &clause.kind {
        ClauseKind::Shared(_)
        | ClauseKind::Private(_)
        | ClauseKind::LastPrivate { .. }
        | ClauseKind::CopyIn(_)
        | ClauseKind::CopyPrivate(_)
        | ClauseKind::Inclusive(_)
        | ClauseKind::Exclusive(_)
        | ClauseKind::Aligned(..)
        | ClauseKind::Nontemporal(_)
        | ClauseKind::Uniform(_)
        | ClauseKind::ThreadLimit(_)
        | ClauseKind::Bind(_)
        | ClauseKind::Filter(_)
        | ClauseKind::ProcBind(_)
        | ClauseKind::Schedule(_)
        | ClauseKind::DistSchedule(_)
        | ClauseKind::Ordered(_)
        | ClauseKind::Order(_)
        | ClauseKind::OrderedBy(_)
        | ClauseKind::Safelen(_)
        | ClauseKind::Simdlen(_)
        | ClauseKind::Final(_)
        | ClauseKind::Priority(_)
        | ClauseKind::DetachEvent(_)
        | ClauseKind::Affinity(..)
        | ClauseKind::Grainsize(..)
        | ClauseKind::NumTasks(..)
        | ClauseKind::AtomicKind(_)
        | ClauseKind::MemoryOrder(_)
        | ClauseKind::Fail(_)
        | ClauseKind::Weak
        | ClauseKind::Hint(_)
        | ClauseKind::Match(_)
        | ClauseKind::Inbranch
        | ClauseKind::Notinbranch
        | ClauseKind::Initializer(_) => true,
        ClauseKind::Default(sharing, category) => {
            category.is_none() && *sharing != DefaultSharing::Present
        }
        ClauseKind::FirstPrivate { saved, .. } => !saved && !is_scope,
        ClauseKind::Allocate(_) => !is_scope,
        ClauseKind::Linear(linear) => {
            linear.old_form || (linear.kind.is_none() && !linear.has_step_word)
        }
        ClauseKind::Reduction(it) | ClauseKind::InReduction(it) | ClauseKind::TaskReduction(it) => {
            it.original.is_none()
        }
        ClauseKind::If(_) => clause.on != Some(Leaf::Teams) && construct.leaves != [Leaf::Teams],
        ClauseKind::NumTeams { counts, .. } => counts.len() == 1,
        ClauseKind::NumThreads { strict, counts } => strict.is_none() && counts.len() == 1,
        ClauseKind::Collapse { force, .. } => !force,
        ClauseKind::Nowait(condition) => condition.is_none() && !construct.has(Leaf::Taskwait),
        ClauseKind::Untied(condition)
        | ClauseKind::Mergeable(condition)
        | ClauseKind::Nogroup(condition) => condition.is_none(),
        ClauseKind::Depend(it) => !it.all_memory && it.kind != DependKind::Inoutset,
        ClauseKind::Doacross(it) => it.old_form && !matches!(it.kind, DoacrossKind::SinkPrevious),
        ClauseKind::DepobjUpdate(kind) => *kind != DependKind::Inoutset,
        ClauseKind::Destroy(object) => object.is_none(),
        ClauseKind::At(_) | ClauseKind::Severity(_) | ClauseKind::Message(_) => {
            construct.has(Leaf::Error)
        }
        ClauseKind::Map(_)
        | ClauseKind::Transfer(_)
        | ClauseKind::UseDevice(..)
        | ClauseKind::DevicePointer(_)
        | ClauseKind::HasDeviceAddr(_)
        | ClauseKind::Attach(_)
        | ClauseKind::Detach(_)
        | ClauseKind::Finalize
        | ClauseKind::IfPresent
        | ClauseKind::DeviceEnter { .. }
        | ClauseKind::DeviceLink(_)
        | ClauseKind::DeviceResident(_)
        | ClauseKind::DeviceLocal(_)
        | ClauseKind::DeviceKind(_)
        | ClauseKind::DefaultMap(..)
        | ClauseKind::Induction(_)
        | ClauseKind::InitComplete
        | ClauseKind::Allocator(_)
        | ClauseKind::Align(_)
        | ClauseKind::UsesAllocators(_)
        | ClauseKind::SelfExec(_)
        | ClauseKind::Device(..)
        | ClauseKind::DeviceNum(_)
        | ClauseKind::DeviceTypes(_)
        | ClauseKind::NumWorkers(_)
        | ClauseKind::VectorLength(_)
        | ClauseKind::Gang(_)
        | ClauseKind::Worker(_)
        | ClauseKind::Vector(_)
        | ClauseKind::Seq
        | ClauseKind::Auto
        | ClauseKind::Independent
        | ClauseKind::Threadset(_)
        | ClauseKind::TileLoop(_)
        | ClauseKind::Sizes(_)
        | ClauseKind::Full
        | ClauseKind::Partial(_)
        | ClauseKind::Permutation(_)
        | ClauseKind::LoopRange(..)
        | ClauseKind::Counts(_)
        | ClauseKind::Apply { .. }
        | ClauseKind::Async(_)
        | ClauseKind::Wait(_)
        | ClauseKind::DefaultAsync(_)
        | ClauseKind::Transparent(_)
        | ClauseKind::Replayable(_)
        | ClauseKind::GraphId(_)
        | ClauseKind::GraphReset(_)
        | ClauseKind::MemScope(_)
        | ClauseKind::Require(..)
        | ClauseKind::AtomicDefaultOrder(_)
        | ClauseKind::Absent(_)
        | ClauseKind::Contains(_)
        | ClauseKind::Holds(_)
        | ClauseKind::NoUse(..)
        | ClauseKind::When(..)
        | ClauseKind::Otherwise { .. }
        | ClauseKind::AdjustArgs(..)
        | ClauseKind::AppendArgs(_)
        | ClauseKind::Novariants(_)
        | ClauseKind::Nocontext(_)
        | ClauseKind::InteropArgs(_)
        | ClauseKind::InteropInit(..)
        | ClauseKind::InteropUse(_)
        | ClauseKind::Indirect(_)
        | ClauseKind::BindName(_)
        | ClauseKind::Nohost
        | ClauseKind::Combiner(_)
        | ClauseKind::Inductor(_)
        | ClauseKind::Collector(_)
        | ClauseKind::Coexecute
        | ClauseKind::Extension(..) => false,
    }
}

fn leaf(leaf: Leaf) -> bool {
    matches!(
        leaf,
        Leaf::Teams
            | Leaf::Distribute
            | Leaf::Parallel
            | Leaf::For
            | Leaf::Simd
            | Leaf::Loop
            | Leaf::Sections
            | Leaf::Section
            | Leaf::Single
            | Leaf::Masked
            | Leaf::Master
            | Leaf::Scope
            | Leaf::Critical
            | Leaf::Ordered
            | Leaf::OrderedPoint
            | Leaf::Task
            | Leaf::Taskloop
            | Leaf::Taskgroup
            | Leaf::Taskwait
            | Leaf::Taskyield
            | Leaf::Barrier
            | Leaf::Flush
            | Leaf::Atomic
            | Leaf::Cancel
            | Leaf::CancellationPoint
            | Leaf::Scan
            | Leaf::Depobj
            | Leaf::Error
            | Leaf::Nothing
            | Leaf::DeclareSimd
            | Leaf::DeclareReduction
            | Leaf::Threadprivate
    )
}
