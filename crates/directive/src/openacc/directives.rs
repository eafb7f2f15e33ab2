//! The directives of OpenACC 3.3 and what each takes.
//!
//! The combined ones (`parallel loop`) are two rows. A `device_type` clause opens a group on
//! directives with clauses that may differ between devices, and selects devices on those that
//! control them: two rows of clauses with one word.

use ir::construct::{Args, Construct, Leaf};
use syntax::pragma::Shape;

use super::args::{CACHE_LIST, FUNCTION_NAME, QUEUES};
use super::clauses::*;
use crate::Written;
use crate::table::{ClauseRow, DIRECTIVE, DirectiveRow, ShapeRule};

/// Where and when a region runs.
const RUN: &[&ClauseRow] = &[&ASYNC, &WAIT, &DEVICE_GROUP, &IF, &SELF_EXEC];
/// How many of each level.
const SIZES: &[&ClauseRow] = &[&NUM_GANGS, &NUM_WORKERS, &VECTOR_LENGTH];
/// Data on the device during a region.
const DATA: &[&ClauseRow] =
    &[&COPY, &COPYIN, &COPYOUT, &CREATE, &NO_CREATE, &PRESENT, &DEVICEPTR, &ATTACH, &DEFAULT];
/// A copy each.
const PRIVATE_COPIES: &[&ClauseRow] = &[&PRIVATE, &FIRSTPRIVATE, &REDUCTION];
/// Ends of channels between regions, as OpenARC has them.
const CHANNELS: &[&ClauseRow] = &[&PIPEIN, &PIPEOUT];
/// Data of a scope.
const DECLARED: &[&ClauseRow] =
    &[&COPY, &COPYIN, &COPYOUT, &CREATE, &PRESENT, &DEVICEPTR, &DEVICE_RESIDENT, &LINK, &PIPE];

/// How many of the device a function takes for itself.
const FUNCTION_LEVEL: &[&ClauseRow] =
    &[&ROUTINE_GANG, &ROUTINE_WORKER, &ROUTINE_VECTOR, &ROUTINE_SEQ];

const STANDALONE: ShapeRule = ShapeRule::Is(Shape::Standalone);

static PARALLEL: DirectiveRow = DirectiveRow {
    words: &["parallel"],
    leaves: &[Leaf::Offload, Leaf::Teams],
    clauses: &[RUN, SIZES, DATA, PRIVATE_COPIES, CHANNELS],
    then: &[Leaf::Loop],
    ..DIRECTIVE
};

static SERIAL: DirectiveRow = DirectiveRow {
    words: &["serial"],
    leaves: &[Leaf::Offload],
    clauses: &[RUN, DATA, PRIVATE_COPIES, CHANNELS],
    then: &[Leaf::Loop],
    ..DIRECTIVE
};

static KERNELS: DirectiveRow = DirectiveRow {
    words: &["kernels"],
    leaves: &[Leaf::Kernels],
    clauses: &[RUN, SIZES, DATA, CHANNELS],
    then: &[Leaf::Loop],
    ..DIRECTIVE
};

static LOOP: DirectiveRow = DirectiveRow {
    words: &["loop"],
    leaves: &[Leaf::Loop],
    clauses: &[&[
        &COLLAPSE,
        &GANG,
        &WORKER,
        &VECTOR,
        &SEQ,
        &INDEPENDENT,
        &AUTO,
        &TILE,
        &DEVICE_GROUP,
        &PRIVATE,
        &REDUCTION,
    ]],
    ..DIRECTIVE
};

static DATA_REGION: DirectiveRow = DirectiveRow {
    words: &["data"],
    leaves: &[Leaf::DataRegion],
    clauses: &[&[&IF, &ASYNC, &WAIT, &DEVICE_GROUP], DATA, &[&PIPE]],
    required: &[&[
        &COPY, &COPYIN, &COPYOUT, &CREATE, &NO_CREATE, &PRESENT, &DEVICEPTR, &ATTACH, &DEFAULT,
        &PIPE,
    ]],
    forgives: true,
    ..DIRECTIVE
};

static ENTER_DATA: DirectiveRow = DirectiveRow {
    words: &["enter data"],
    leaves: &[Leaf::EnterData],
    shape: STANDALONE,
    clauses: &[&[&IF, &ASYNC, &WAIT, &COPYIN, &CREATE, &ATTACH]],
    required: &[&[&COPYIN, &CREATE, &ATTACH]],
    ..DIRECTIVE
};

static EXIT_DATA: DirectiveRow = DirectiveRow {
    words: &["exit data"],
    leaves: &[Leaf::ExitData],
    shape: STANDALONE,
    clauses: &[&[&IF, &ASYNC, &WAIT, &COPYOUT, &DELETE, &DETACH, &FINALIZE]],
    required: &[&[&COPYOUT, &DELETE, &DETACH]],
    ..DIRECTIVE
};

static HOST_DATA: DirectiveRow = DirectiveRow {
    words: &["host_data"],
    leaves: &[Leaf::HostData],
    clauses: &[&[&USE_DEVICE, &IF, &IF_PRESENT]],
    required: &[&[&USE_DEVICE]],
    ..DIRECTIVE
};

static UPDATE: DirectiveRow = DirectiveRow {
    words: &["update"],
    leaves: &[Leaf::Update],
    shape: STANDALONE,
    clauses: &[&[&SELF_COPY, &HOST, &DEVICE, &IF, &IF_PRESENT, &ASYNC, &WAIT, &DEVICE_GROUP]],
    required: &[&[&SELF_COPY, &HOST, &DEVICE]],
    ..DIRECTIVE
};

static DECLARE: DirectiveRow = DirectiveRow {
    words: &["declare"],
    leaves: &[Leaf::Declare],
    shape: STANDALONE,
    clauses: &[DECLARED],
    required: &[DECLARED],
    ..DIRECTIVE
};

static ROUTINE: DirectiveRow = DirectiveRow {
    words: &["routine"],
    leaves: &[Leaf::Routine],
    shape: ShapeRule::Ask(routine_shape),
    args: Some(FUNCTION_NAME),
    clauses: &[FUNCTION_LEVEL, &[&BIND, &DEVICE_GROUP, &NOHOST]],
    required: &[FUNCTION_LEVEL],
    forgives: true,
    ..DIRECTIVE
};

static CACHE: DirectiveRow = DirectiveRow {
    words: &["cache"],
    leaves: &[Leaf::Cache],
    shape: STANDALONE,
    args: Some(CACHE_LIST),
    ..DIRECTIVE
};

static ATOMIC: DirectiveRow = DirectiveRow {
    words: &["atomic"],
    leaves: &[Leaf::Atomic],
    clauses: &[&[&ATOMIC_READ, &ATOMIC_WRITE, &ATOMIC_UPDATE, &ATOMIC_CAPTURE, &IF]],
    ..DIRECTIVE
};

static WAIT_QUEUES: DirectiveRow = DirectiveRow {
    words: &["wait"],
    leaves: &[Leaf::Wait],
    shape: STANDALONE,
    args: Some(QUEUES),
    clauses: &[&[&ASYNC, &IF]],
    ..DIRECTIVE
};

static INIT: DirectiveRow = DirectiveRow {
    words: &["init"],
    leaves: &[Leaf::Init],
    shape: STANDALONE,
    clauses: &[&[&DEVICE_TYPES, &DEVICE_NUM, &IF]],
    ..DIRECTIVE
};

static SHUTDOWN: DirectiveRow = DirectiveRow {
    words: &["shutdown"],
    leaves: &[Leaf::Shutdown],
    shape: STANDALONE,
    clauses: &[&[&DEVICE_TYPES, &DEVICE_NUM, &IF]],
    ..DIRECTIVE
};

static SET: DirectiveRow = DirectiveRow {
    words: &["set"],
    leaves: &[Leaf::Set],
    shape: STANDALONE,
    clauses: &[&[&DEFAULT_ASYNC, &DEVICE_NUM, &DEVICE_TYPES, &IF]],
    required: &[&[&DEFAULT_ASYNC, &DEVICE_NUM, &DEVICE_TYPES]],
    ..DIRECTIVE
};

/// All directives.
pub(super) static ALL: &[&DirectiveRow] = &[
    &PARALLEL,
    &SERIAL,
    &KERNELS,
    &LOOP,
    &DATA_REGION,
    &ENTER_DATA,
    &EXIT_DATA,
    &HOST_DATA,
    &UPDATE,
    &DECLARE,
    &ROUTINE,
    &CACHE,
    &ATOMIC,
    &WAIT_QUEUES,
    &INIT,
    &SHUTDOWN,
    &SET,
];

/// With a name it stands for itself; without, it is for the declaration that follows.
fn routine_shape(construct: &Construct<Written>) -> Shape {
    if construct.args == Args::None { Shape::Prefix } else { Shape::Standalone }
}
