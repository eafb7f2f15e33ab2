//! The declarative directives of OpenMP: one row each.

use ir::construct::{Args, ClauseKind, Construct, Leaf};
use syntax::pragma::Shape;

use super::args;
#[allow(clippy::wildcard_imports, reason = "the table of clauses, nearly every row of it")]
use super::clauses::*;
use super::directives::{CLOSES, OPENS, STANDALONE};
use crate::Written;
use crate::table::{ClauseRow, DIRECTIVE, DirectiveRow, ShapeRule, rows};

/// Without a list it is the old form of `begin declare target`.
fn declare_target_shape(construct: &Construct<Written>) -> Shape {
    let names_something = |kind: &ClauseKind<Written>| {
        matches!(
            kind,
            ClauseKind::DeviceEnter { .. } | ClauseKind::DeviceLink(_) | ClauseKind::DeviceLocal(_)
        )
    };
    let has_list = construct.args != Args::None || construct.kinds().any(names_something);
    if has_list { Shape::Standalone } else { Shape::Opens }
}

/// What may be assumed.
pub(super) static ASSUMPTIONS: &[&ClauseRow] = rows![
    ABSENT CONTAINS HOLDS NO_OPENMP NO_OPENMP_CONSTRUCTS NO_OPENMP_ROUTINES NO_PARALLELISM
];

/// What may be required.
static REQUIREMENTS: &[&ClauseRow] = rows![
    ATOMIC_DEFAULT_MEM_ORDER DEVICE_SAFESYNC DYNAMIC_ALLOCATORS REVERSE_OFFLOAD SELF_MAPS
    UNIFIED_ADDRESS UNIFIED_SHARED_MEMORY
];

/// Of `declare target`.
static DECLARE_TARGET_CLAUSES: &[&ClauseRow] =
    rows![DEVICE_TYPE ENTER ENTER_OLD INDIRECT LINK LOCAL];

pub(super) static DECLARE_TARGET: DirectiveRow = DirectiveRow {
    words: &["declare target"],
    leaves: &[Leaf::DeclareTarget],
    shape: ShapeRule::Ask(declare_target_shape),
    args: Some(args::MAYBE_ITEMS),
    clauses: &[DECLARE_TARGET_CLAUSES],
    ..DIRECTIVE
};

pub(super) static BEGIN_DECLARE_TARGET: DirectiveRow = DirectiveRow {
    words: &["begin declare target"],
    leaves: &[Leaf::BeginDeclareTarget],
    shape: OPENS,
    clauses: &[rows![DEVICE_TYPE INDIRECT]],
    ..DIRECTIVE
};

pub(super) static END_DECLARE_TARGET: DirectiveRow = DirectiveRow {
    words: &["end declare target"],
    leaves: &[Leaf::EndDeclareTarget],
    shape: CLOSES,
    ..DIRECTIVE
};

pub(super) static DECLARE_VARIANT: DirectiveRow = DirectiveRow {
    words: &["declare variant"],
    leaves: &[Leaf::DeclareVariant],
    args: Some(args::VARIANT),
    clauses: &[rows![ADJUST_ARGS APPEND_ARGS MATCH]],
    required: &[rows![MATCH]],
    ..DIRECTIVE
};

pub(super) static BEGIN_DECLARE_VARIANT: DirectiveRow = DirectiveRow {
    words: &["begin declare variant"],
    leaves: &[Leaf::BeginDeclareVariant],
    shape: OPENS,
    clauses: &[rows![MATCH]],
    required: &[rows![MATCH]],
    ..DIRECTIVE
};

pub(super) static END_DECLARE_VARIANT: DirectiveRow = DirectiveRow {
    words: &["end declare variant"],
    leaves: &[Leaf::EndDeclareVariant],
    shape: CLOSES,
    ..DIRECTIVE
};

pub(super) static DECLARE_SIMD: DirectiveRow = DirectiveRow {
    words: &["declare simd"],
    leaves: &[Leaf::DeclareSimd],
    clauses: &[rows![ALIGNED INBRANCH LINEAR NOTINBRANCH SIMDLEN UNIFORM]],
    ..DIRECTIVE
};

pub(super) static DECLARE_REDUCTION: DirectiveRow = DirectiveRow {
    words: &["declare reduction"],
    leaves: &[Leaf::DeclareReduction],
    shape: STANDALONE,
    args: Some(args::REDUCTION),
    clauses: &[rows![COMBINER INITIALIZER]],
    ..DIRECTIVE
};

pub(super) static DECLARE_INDUCTION: DirectiveRow = DirectiveRow {
    words: &["declare induction"],
    leaves: &[Leaf::DeclareInduction],
    shape: STANDALONE,
    args: Some(args::INDUCTION),
    clauses: &[rows![INDUCTOR COLLECTOR]],
    required: &[rows![INDUCTOR], rows![COLLECTOR]],
    ..DIRECTIVE
};

pub(super) static DECLARE_MAPPER: DirectiveRow = DirectiveRow {
    words: &["declare mapper"],
    leaves: &[Leaf::DeclareMapper],
    shape: STANDALONE,
    args: Some(args::MAPPER),
    clauses: &[rows![MAP]],
    required: &[rows![MAP]],
    ..DIRECTIVE
};

pub(super) static THREADPRIVATE: DirectiveRow = DirectiveRow {
    words: &["threadprivate"],
    leaves: &[Leaf::Threadprivate],
    shape: STANDALONE,
    args: Some(args::ITEMS),
    ..DIRECTIVE
};

pub(super) static GROUPPRIVATE: DirectiveRow = DirectiveRow {
    words: &["groupprivate"],
    leaves: &[Leaf::Groupprivate],
    shape: STANDALONE,
    args: Some(args::ITEMS),
    clauses: &[rows![DEVICE_TYPE]],
    ..DIRECTIVE
};

pub(super) static ALLOCATE_STORAGE: DirectiveRow = DirectiveRow {
    words: &["allocate"],
    leaves: &[Leaf::Allocate],
    shape: STANDALONE,
    args: Some(args::ITEMS),
    clauses: &[rows![ALIGN ALLOCATOR]],
    ..DIRECTIVE
};

pub(super) static REQUIRES: DirectiveRow = DirectiveRow {
    words: &["requires"],
    leaves: &[Leaf::Requires],
    shape: STANDALONE,
    clauses: &[REQUIREMENTS],
    ..DIRECTIVE
};

pub(super) static ASSUMES: DirectiveRow = DirectiveRow {
    words: &["assumes"],
    leaves: &[Leaf::Assumes],
    shape: STANDALONE,
    clauses: &[ASSUMPTIONS],
    ..DIRECTIVE
};

pub(super) static BEGIN_ASSUMES: DirectiveRow = DirectiveRow {
    words: &["begin assumes"],
    leaves: &[Leaf::BeginAssumes],
    shape: OPENS,
    clauses: &[ASSUMPTIONS],
    ..DIRECTIVE
};

pub(super) static END_ASSUMES: DirectiveRow = DirectiveRow {
    words: &["end assumes"],
    leaves: &[Leaf::EndAssumes],
    shape: CLOSES,
    ..DIRECTIVE
};
