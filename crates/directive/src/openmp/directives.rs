//! The directives of OpenMP: one row each, and which may be combined. Declarations have a file of
//! their own ([`super::declarations`]).
//!
//! A combined directive is not listed: `then` says which part may follow which, and the clauses of
//! the whole are those of its parts. A composite one whose parts mean something else together
//! (`distribute parallel for`) is a row of its own.

use ir::construct::{ClauseKind, Construct, Leaf};
use syntax::pragma::Shape;

#[allow(clippy::wildcard_imports, reason = "the table of clauses, nearly every row of it")]
use super::clauses::*;
#[allow(clippy::wildcard_imports, reason = "every row of it is listed below")]
use super::declarations::*;
use super::{STANDARD, args, memkind};
use crate::Written;
use crate::table::{ClauseRow, DIRECTIVE, DirectiveRow, ShapeRule, rows};

pub(super) const STANDALONE: ShapeRule = ShapeRule::Is(Shape::Standalone);
pub(super) const OPENS: ShapeRule = ShapeRule::Is(Shape::Opens);
pub(super) const CLOSES: ShapeRule = ShapeRule::Is(Shape::Closes);

/// It takes a body if one of the directives it chooses from does.
fn chosen_shape(construct: &Construct<Written>) -> Shape {
    let takes_body = |it: &Construct<Written>| {
        STANDARD.heading(&it.leaves).is_some_and(|heading| heading.shape(it) == Shape::Prefix)
    };
    let any = construct.kinds().any(|kind| match kind {
        ClauseKind::When(_, Some(it)) => takes_body(it),
        ClauseKind::Otherwise { directive: Some(it), .. } => takes_body(it),
        _ => false,
    });
    if any { Shape::Prefix } else { Shape::Standalone }
}

/// Of `parallel`, alone and combined.
static PARALLEL_CLAUSES: &[&ClauseRow] = rows![
    ALLOCATE COPYIN DEFAULT FIRSTPRIVATE IF MESSAGE NUM_THREADS PRIVATE PROC_BIND REDUCTION
    SAFESYNC SEVERITY SHARED
];

/// Of `for`.
static FOR_CLAUSES: &[&ClauseRow] = rows![
    ALLOCATE COLLAPSE FIRSTPRIVATE INDUCTION LASTPRIVATE LINEAR NOWAIT ORDER ORDERED PRIVATE
    REDUCTION SCHEDULE
];

/// Of `distribute`.
static DISTRIBUTE_CLAUSES: &[&ClauseRow] = rows![
    ALLOCATE COLLAPSE DIST_SCHEDULE FIRSTPRIVATE INDUCTION LASTPRIVATE ORDER PRIVATE
];

/// How strictly memory is ordered.
static MEMORY_ORDER_CLAUSES: &[&ClauseRow] = rows![SEQ_CST ACQ_REL ACQUIRE RELEASE RELAXED];

static TARGET: DirectiveRow = DirectiveRow {
    words: &["target"],
    leaves: &[Leaf::Offload],
    // `shared` is none of the standard's here, but 6.0 programs write it on targets among tasks; it
    // says what holds for mapped variables anyway.
    clauses: &[rows![
        ALLOCATE COEXECUTE DEFAULT DEFAULTMAP DEPEND DEVICE DEVICE_TYPE FIRSTPRIVATE
        HAS_DEVICE_ADDR IF
        IN_REDUCTION IS_DEVICE_PTR MAP NOWAIT PRIORITY PRIVATE REPLAYABLE SHARED THREAD_LIMIT
        USES_ALLOCATORS
    ]],
    then: &[Leaf::Teams, Leaf::Parallel, Leaf::Simd],
    ..DIRECTIVE
};

static TEAMS: DirectiveRow = DirectiveRow {
    words: &["teams"],
    leaves: &[Leaf::Teams],
    clauses: &[rows![
        ALLOCATE DEFAULT FIRSTPRIVATE IF NUM_TEAMS PRIVATE REDUCTION SHARED THREAD_LIMIT
    ]],
    then: &[Leaf::Distribute, Leaf::Loop],
    ..DIRECTIVE
};

static DISTRIBUTE: DirectiveRow = DirectiveRow {
    words: &["distribute"],
    leaves: &[Leaf::Distribute],
    clauses: &[DISTRIBUTE_CLAUSES],
    then: &[Leaf::Simd],
    ..DIRECTIVE
};

static DISTRIBUTE_PARALLEL_FOR: DirectiveRow = DirectiveRow {
    words: &["distribute parallel for"],
    leaves: &[Leaf::Distribute, Leaf::Parallel, Leaf::For],
    clauses: &[DISTRIBUTE_CLAUSES, PARALLEL_CLAUSES, FOR_CLAUSES],
    then: &[Leaf::Simd],
    ..DIRECTIVE
};

static PARALLEL: DirectiveRow = DirectiveRow {
    words: &["parallel"],
    leaves: &[Leaf::Parallel],
    clauses: &[PARALLEL_CLAUSES],
    then: &[Leaf::For, Leaf::Loop, Leaf::Sections, Leaf::Masked, Leaf::Master],
    ..DIRECTIVE
};

static FOR: DirectiveRow = DirectiveRow {
    words: &["for"],
    leaves: &[Leaf::For],
    clauses: &[FOR_CLAUSES],
    then: &[Leaf::Simd],
    ..DIRECTIVE
};

static SIMD_LOOP: DirectiveRow = DirectiveRow {
    words: &["simd"],
    leaves: &[Leaf::Simd],
    clauses: &[rows![
        ALIGNED COLLAPSE IF INDUCTION LASTPRIVATE LINEAR NONTEMPORAL ORDER PRIVATE REDUCTION
        SAFELEN SIMDLEN
    ]],
    ..DIRECTIVE
};

static LOOP: DirectiveRow = DirectiveRow {
    words: &["loop"],
    leaves: &[Leaf::Loop],
    clauses: &[rows![BIND COLLAPSE LASTPRIVATE ORDER PRIVATE REDUCTION]],
    ..DIRECTIVE
};

static SECTIONS: DirectiveRow = DirectiveRow {
    words: &["sections"],
    leaves: &[Leaf::Sections],
    clauses: &[rows![ALLOCATE FIRSTPRIVATE LASTPRIVATE NOWAIT PRIVATE REDUCTION]],
    ..DIRECTIVE
};

static MASKED: DirectiveRow = DirectiveRow {
    words: &["masked"],
    leaves: &[Leaf::Masked],
    clauses: &[rows![FILTER]],
    then: &[Leaf::Taskloop],
    ..DIRECTIVE
};

static MASTER: DirectiveRow = DirectiveRow {
    words: &["master"],
    leaves: &[Leaf::Master],
    then: &[Leaf::Taskloop],
    ..DIRECTIVE
};

static TASKLOOP: DirectiveRow = DirectiveRow {
    words: &["taskloop"],
    leaves: &[Leaf::Taskloop],
    clauses: &[rows![
        ALLOCATE COEXECUTE COLLAPSE DEFAULT DEFAULTMAP DEVICE FINAL FIRSTPRIVATE GRAINSIZE IF
        IN_REDUCTION INDUCTION LASTPRIVATE MAP MERGEABLE NOGROUP NUM_TASKS PRIORITY PRIVATE REDUCTION REPLAYABLE SHARED
        THREADSET TRANSPARENT UNTIED
    ]],
    then: &[Leaf::Simd],
    ..DIRECTIVE
};

static SECTION: DirectiveRow =
    DirectiveRow { words: &["section"], leaves: &[Leaf::Section], ..DIRECTIVE };

static SINGLE: DirectiveRow = DirectiveRow {
    words: &["single"],
    leaves: &[Leaf::Single],
    clauses: &[rows![ALLOCATE COPYPRIVATE FIRSTPRIVATE NOWAIT PRIVATE]],
    ..DIRECTIVE
};

static SCOPE: DirectiveRow = DirectiveRow {
    words: &["scope"],
    leaves: &[Leaf::Scope],
    clauses: &[rows![ALLOCATE FIRSTPRIVATE NOWAIT PRIVATE REDUCTION]],
    ..DIRECTIVE
};

static CRITICAL: DirectiveRow = DirectiveRow {
    words: &["critical"],
    leaves: &[Leaf::Critical],
    args: Some(args::MAYBE_NAME),
    clauses: &[rows![HINT]],
    ..DIRECTIVE
};

static ORDERED_REGION: DirectiveRow = DirectiveRow {
    words: &["ordered"],
    leaves: &[Leaf::Ordered],
    clauses: &[rows![THREADS SIMD]],
    ..DIRECTIVE
};

static ORDERED_POINT: DirectiveRow = DirectiveRow {
    words: &["ordered"],
    leaves: &[Leaf::OrderedPoint],
    shape: STANDALONE,
    clauses: &[rows![DOACROSS DEPEND_SOURCE]],
    required: &[rows![DOACROSS DEPEND_SOURCE]],
    if_followed_by: &["depend", "doacross"],
    ..DIRECTIVE
};

static TASK: DirectiveRow = DirectiveRow {
    words: &["task"],
    leaves: &[Leaf::Task],
    clauses: &[rows![
        AFFINITY ALLOCATE DEFAULT DEPEND DETACH FINAL FIRSTPRIVATE IF IN_REDUCTION MERGEABLE
        PRIORITY PRIVATE REPLAYABLE SHARED THREADSET TRANSPARENT UNTIED
    ]],
    ..DIRECTIVE
};

static TASKGROUP: DirectiveRow = DirectiveRow {
    words: &["taskgroup"],
    leaves: &[Leaf::Taskgroup],
    clauses: &[rows![ALLOCATE TASK_REDUCTION]],
    ..DIRECTIVE
};

static TASKGRAPH: DirectiveRow = DirectiveRow {
    words: &["taskgraph"],
    leaves: &[Leaf::Taskgraph],
    clauses: &[rows![GRAPH_ID GRAPH_RESET IF NOGROUP]],
    ..DIRECTIVE
};

static TASK_ITERATION: DirectiveRow = DirectiveRow {
    words: &["task iteration"],
    leaves: &[Leaf::TaskIteration],
    shape: STANDALONE,
    clauses: &[rows![AFFINITY DEPEND IF]],
    ..DIRECTIVE
};

static TASKWAIT: DirectiveRow = DirectiveRow {
    words: &["taskwait"],
    leaves: &[Leaf::Taskwait],
    shape: STANDALONE,
    clauses: &[rows![DEPEND NOWAIT REPLAYABLE]],
    ..DIRECTIVE
};

static TASKYIELD: DirectiveRow = DirectiveRow {
    words: &["taskyield"],
    leaves: &[Leaf::Taskyield],
    shape: STANDALONE,
    ..DIRECTIVE
};

static BARRIER: DirectiveRow =
    DirectiveRow { words: &["barrier"], leaves: &[Leaf::Barrier], shape: STANDALONE, ..DIRECTIVE };

static FLUSH: DirectiveRow = DirectiveRow {
    words: &["flush"],
    leaves: &[Leaf::Flush],
    shape: STANDALONE,
    args: Some(args::MAYBE_ITEMS),
    clauses: &[rows![MEMSCOPE], MEMORY_ORDER_CLAUSES],
    ..DIRECTIVE
};

static ATOMIC: DirectiveRow = DirectiveRow {
    words: &["atomic"],
    leaves: &[Leaf::Atomic],
    clauses: &[
        rows![ATOMIC_READ ATOMIC_WRITE ATOMIC_UPDATE CAPTURE COMPARE FAIL WEAK HINT MEMSCOPE],
        MEMORY_ORDER_CLAUSES,
    ],
    ..DIRECTIVE
};

static CANCEL: DirectiveRow = DirectiveRow {
    words: &["cancel"],
    leaves: &[Leaf::Cancel],
    shape: STANDALONE,
    args: Some(args::CANCEL),
    clauses: &[rows![IF]],
    ..DIRECTIVE
};

static CANCELLATION_POINT: DirectiveRow = DirectiveRow {
    words: &["cancellation point"],
    leaves: &[Leaf::CancellationPoint],
    shape: STANDALONE,
    args: Some(args::CANCEL),
    ..DIRECTIVE
};

static SCAN: DirectiveRow = DirectiveRow {
    words: &["scan"],
    leaves: &[Leaf::Scan],
    shape: STANDALONE,
    clauses: &[rows![INCLUSIVE EXCLUSIVE INIT_COMPLETE]],
    required: &[rows![INCLUSIVE EXCLUSIVE INIT_COMPLETE]],
    ..DIRECTIVE
};

static DISPATCH: DirectiveRow = DirectiveRow {
    words: &["dispatch"],
    leaves: &[Leaf::Dispatch],
    clauses: &[rows![
        DEPEND DEVICE HAS_DEVICE_ADDR INTEROP IS_DEVICE_PTR NOCONTEXT NOVARIANTS NOWAIT
    ]],
    ..DIRECTIVE
};

static ASSUME: DirectiveRow = DirectiveRow {
    words: &["assume"],
    leaves: &[Leaf::Assume],
    clauses: &[ASSUMPTIONS],
    ..DIRECTIVE
};

static TARGET_DATA: DirectiveRow = DirectiveRow {
    words: &["target data"],
    leaves: &[Leaf::DataRegion],
    clauses: &[rows![
        AFFINITY ALLOCATE DEFAULT DEPEND DETACH DEVICE FIRSTPRIVATE IF IN_REDUCTION MAP
        MERGEABLE NOGROUP NOWAIT PRIORITY PRIVATE SHARED TRANSPARENT USE_DEVICE_ADDR
        USE_DEVICE_PTR
    ]],
    required: &[rows![MAP USE_DEVICE_PTR USE_DEVICE_ADDR]],
    ..DIRECTIVE
};

static TARGET_ENTER_DATA: DirectiveRow = DirectiveRow {
    words: &["target enter data"],
    leaves: &[Leaf::EnterData],
    shape: STANDALONE,
    clauses: &[rows![DEPEND DEVICE IF MAP NOWAIT PRIORITY REPLAYABLE]],
    required: &[rows![MAP]],
    ..DIRECTIVE
};

static TARGET_EXIT_DATA: DirectiveRow = DirectiveRow {
    words: &["target exit data"],
    leaves: &[Leaf::ExitData],
    shape: STANDALONE,
    clauses: &[rows![DEPEND DEVICE IF MAP NOWAIT PRIORITY REPLAYABLE]],
    required: &[rows![MAP]],
    ..DIRECTIVE
};

static TARGET_UPDATE: DirectiveRow = DirectiveRow {
    words: &["target update"],
    leaves: &[Leaf::Update],
    shape: STANDALONE,
    clauses: &[rows![DEPEND DEVICE FROM IF NOWAIT PRIORITY REPLAYABLE TO]],
    required: &[rows![TO FROM]],
    ..DIRECTIVE
};

static TILE: DirectiveRow = DirectiveRow {
    words: &["tile"],
    leaves: &[Leaf::Tile],
    clauses: &[rows![APPLY SIZES]],
    required: &[rows![SIZES]],
    ..DIRECTIVE
};

static STRIPE: DirectiveRow = DirectiveRow {
    words: &["stripe"],
    leaves: &[Leaf::Stripe],
    clauses: &[rows![APPLY SIZES]],
    required: &[rows![SIZES]],
    ..DIRECTIVE
};

static UNROLL: DirectiveRow = DirectiveRow {
    words: &["unroll"],
    leaves: &[Leaf::Unroll],
    clauses: &[rows![APPLY FULL PARTIAL]],
    ..DIRECTIVE
};

static INTERCHANGE: DirectiveRow = DirectiveRow {
    words: &["interchange"],
    leaves: &[Leaf::Interchange],
    clauses: &[rows![APPLY PERMUTATION]],
    ..DIRECTIVE
};

static REVERSE: DirectiveRow = DirectiveRow {
    words: &["reverse"],
    leaves: &[Leaf::Reverse],
    clauses: &[rows![APPLY]],
    ..DIRECTIVE
};

static FUSE: DirectiveRow = DirectiveRow {
    words: &["fuse"],
    leaves: &[Leaf::Fuse],
    clauses: &[rows![APPLY LOOPRANGE]],
    ..DIRECTIVE
};

static SPLIT: DirectiveRow = DirectiveRow {
    words: &["split"],
    leaves: &[Leaf::Split],
    clauses: &[rows![APPLY COUNTS]],
    required: &[rows![COUNTS]],
    ..DIRECTIVE
};

static INTEROP_OBJECT: DirectiveRow = DirectiveRow {
    words: &["interop"],
    leaves: &[Leaf::Interop],
    shape: STANDALONE,
    clauses: &[rows![DEPEND DESTROY DEVICE INIT NOWAIT USE]],
    required: &[rows![INIT USE DESTROY]],
    ..DIRECTIVE
};

static DEPOBJ: DirectiveRow = DirectiveRow {
    words: &["depobj"],
    leaves: &[Leaf::Depobj],
    shape: STANDALONE,
    args: Some(args::MAYBE_OBJECT),
    clauses: &[rows![DEPEND DEPOBJ_INIT DEPOBJ_UPDATE DESTROY]],
    required: &[rows![DEPEND DEPOBJ_INIT DEPOBJ_UPDATE DESTROY]],
    ..DIRECTIVE
};

static METADIRECTIVE: DirectiveRow = DirectiveRow {
    words: &["metadirective"],
    leaves: &[Leaf::Metadirective],
    shape: ShapeRule::Ask(chosen_shape),
    clauses: &[rows![WHEN OTHERWISE OTHERWISE_OLD]],
    ..DIRECTIVE
};

static BEGIN_METADIRECTIVE: DirectiveRow = DirectiveRow {
    words: &["begin metadirective"],
    leaves: &[Leaf::BeginMetadirective],
    shape: OPENS,
    clauses: &[rows![WHEN OTHERWISE OTHERWISE_OLD]],
    ..DIRECTIVE
};

static END_METADIRECTIVE: DirectiveRow = DirectiveRow {
    words: &["end metadirective"],
    leaves: &[Leaf::EndMetadirective],
    shape: CLOSES,
    ..DIRECTIVE
};

/// Says something where it stands and takes the place of no statement: to C it is white space.
const ASIDE: ShapeRule = ShapeRule::Is(Shape::Foreign);

static ERROR: DirectiveRow = DirectiveRow {
    words: &["error"],
    leaves: &[Leaf::Error],
    shape: ASIDE,
    clauses: &[rows![AT MESSAGE SEVERITY]],
    ..DIRECTIVE
};

static NOTHING: DirectiveRow = DirectiveRow {
    words: &["nothing"],
    leaves: &[Leaf::Nothing],
    shape: ASIDE,
    clauses: &[rows![APPLY]],
    ..DIRECTIVE
};

/// An extension: in which memory variables are stored.
static MEMKIND: DirectiveRow = DirectiveRow {
    words: &["memkind"],
    leaves: &[Leaf::Memory],
    shape: STANDALONE,
    args: Some(memkind::MEMORY_KINDS),
    ..DIRECTIVE
};

/// All of them.
pub(super) static ALL: &[&DirectiveRow] = rows![
    TARGET TEAMS DISTRIBUTE DISTRIBUTE_PARALLEL_FOR PARALLEL FOR SIMD_LOOP LOOP SECTIONS MASKED
    MASTER TASKLOOP SECTION SINGLE SCOPE CRITICAL ORDERED_REGION ORDERED_POINT TASK TASKGROUP
    TASKGRAPH TASK_ITERATION TASKWAIT TASKYIELD BARRIER FLUSH ATOMIC CANCEL CANCELLATION_POINT
    SCAN DISPATCH ASSUME TARGET_DATA TARGET_ENTER_DATA TARGET_EXIT_DATA TARGET_UPDATE TILE STRIPE
    UNROLL INTERCHANGE REVERSE FUSE SPLIT INTEROP_OBJECT DEPOBJ DECLARE_TARGET
    BEGIN_DECLARE_TARGET END_DECLARE_TARGET DECLARE_VARIANT BEGIN_DECLARE_VARIANT
    END_DECLARE_VARIANT DECLARE_SIMD DECLARE_REDUCTION DECLARE_INDUCTION DECLARE_MAPPER
    THREADPRIVATE GROUPPRIVATE ALLOCATE_STORAGE REQUIRES ASSUMES BEGIN_ASSUMES END_ASSUMES
    METADIRECTIVE BEGIN_METADIRECTIVE END_METADIRECTIVE ERROR NOTHING MEMKIND
];
