//! The clauses of OpenACC 3.3, with the modifiers of 3.4 and the older words.
//!
//! One row per clause: how it is read, how it is written, and texts for tests. Rows share a word
//! where it means two things: `self` (where a region runs, or a copy now), `device_type` (a group
//! of clauses, or a choice of devices), and the levels (of a loop, or of a function).
//! Not here: which directive takes which clause ([`super::directives`]).

use ir::construct::{AtomicKind, Channel, ClauseKind, Motion, Presence};

use super::forms::*;
use crate::table::ReadClause::{Args, Maybe};
use crate::table::clauses;

clauses! {
    // ---- data on the device
    COPY "copy" "pcopy" "present_or_copy" Any, custom(
        Args(|r| data(r, Motion::ToFrom, Presence::Any)),
        |kind| write_data(kind, Motion::ToFrom, Presence::Any),
        ["$l", "always: $l", "alwaysin: $l", "alwaysout, capture: $l"]);
    COPYIN "copyin" "pcopyin" "present_or_copyin" Any, custom(
        Args(|r| data(r, Motion::To, Presence::Any)),
        |kind| write_data(kind, Motion::To, Presence::Any),
        ["$l", "readonly: $l", "always, readonly: $l"]);
    COPYOUT "copyout" "pcopyout" "present_or_copyout" Any, custom(
        Args(|r| data(r, Motion::From, Presence::Any)),
        |kind| write_data(kind, Motion::From, Presence::Any),
        ["$l", "zero: $l", "always, zero: $l"]);
    CREATE "create" "pcreate" "present_or_create" Any, custom(
        Args(|r| data(r, Motion::Alloc, Presence::Any)),
        |kind| write_data(kind, Motion::Alloc, Presence::Any),
        ["$l", "zero: $l", "capture: $l"]);
    NO_CREATE "no_create" Any, custom(
        Args(|r| data(r, Motion::Alloc, Presence::Optional)),
        |kind| write_data(kind, Motion::Alloc, Presence::Optional),
        ["$l"]);
    PRESENT "present" Any, custom(
        Args(|r| data(r, Motion::Alloc, Presence::Required)),
        |kind| write_data(kind, Motion::Alloc, Presence::Required),
        ["$l"]);
    DELETE "delete" Any, custom(
        Args(|r| data(r, Motion::Release, Presence::Any)),
        |kind| write_data(kind, Motion::Release, Presence::Any),
        ["$l"]);
    DEVICEPTR "deviceptr" Any, items(DevicePointer);
    ATTACH "attach" Any, items(Attach);
    DETACH "detach" Any, items(Detach);
    FINALIZE "finalize" Once, bare(Finalize);
    USE_DEVICE "use_device" Any, custom(Args(use_device), write_use_device, ["$l"]);
    IF_PRESENT "if_present" Once, bare(IfPresent);
    DEVICE_RESIDENT "device_resident" Any, items(DeviceResident);
    LINK "link" Any, items(DeviceLink);
    DEFAULT "default" Once, custom(Args(default), write_default, ["none", "present"]);
    SELF_COPY "self" Any, custom(
        Args(|r| transfer(r, SELF)), |kind| write_transfer(kind, SELF), ["$l"]);
    HOST "host" Any, custom(
        Args(|r| transfer(r, OLD_SELF)), |kind| write_transfer(kind, OLD_SELF), ["$l"]);
    DEVICE "device" Any, custom(
        Args(|r| transfer(r, TO_DEVICE)), |kind| write_transfer(kind, TO_DEVICE), ["$l"]);
    PRIVATE "private" Any, items(Private);
    FIRSTPRIVATE "firstprivate" Any, custom(Args(firstprivate), write_firstprivate, ["$l"]);
    REDUCTION "reduction" Any, custom(Args(reduction), write_reduction,
        ["+: $l", "*: $l", "max: $l", "min: $l", "&: $l", "|: $l", "^: $l", "&&: $l", "||: $l"]);

    // ---- where and when
    IF "if" Once, expr(If);
    SELF_EXEC "self" Once, maybe_expr(SelfExec);
    ASYNC "async" Once, per_device(maybe_expr(Async));
    WAIT "wait" Any, per_device(custom(
        Maybe(|| ClauseKind::Wait(None), |r| Ok(ClauseKind::Wait(Some(queues(r)?)))),
        write_wait,
        ["", "$e", "$e, $e", "queues: $e", "devnum: $e : $e, $e", "devnum: $e : queues: $e"]));
    DEVICE_GROUP "device_type" "dtype" Any, group(
        Args(device_types), write_device_types, ["nvidia", "host, multicore", "*"]);
    DEVICE_TYPES "device_type" "dtype" Once, custom(
        Args(device_types), write_device_types, ["nvidia", "host, multicore", "*"]);
    DEVICE_NUM "device_num" Once, expr(DeviceNum);
    DEFAULT_ASYNC "default_async" Once, expr(DefaultAsync);

    // ---- how many
    NUM_GANGS "num_gangs" Once, level(custom(
        Args(num_gangs), write_num_gangs, ["$e", "$e, $e", "$e, $e, $e"]));
    NUM_WORKERS "num_workers" Once, level(expr(NumWorkers));
    VECTOR_LENGTH "vector_length" Once, level(expr(VectorLength));

    // ---- loops
    GANG "gang" Once, level(custom(
        Maybe(|| ClauseKind::Gang(Vec::new()), gang),
        write_gang,
        ["", "$e", "num: $e", "dim: 2", "static: $e", "static: *", "num: $e, static: *"]));
    WORKER "worker" Once, level(custom(
        Maybe(|| ClauseKind::Worker(None), |r| Ok(ClauseKind::Worker(Some(level(r, "num")?)))),
        write_worker,
        ["", "$e", "num: $e"]));
    VECTOR "vector" Once, level(custom(
        Maybe(|| ClauseKind::Vector(None), |r| Ok(ClauseKind::Vector(Some(level(r, "length")?)))),
        write_vector,
        ["", "$e", "length: $e"]));
    SEQ "seq" OneOf("order"), per_device(bare(Seq));
    AUTO "auto" OneOf("order"), per_device(bare(Auto));
    INDEPENDENT "independent" OneOf("order"), per_device(bare(Independent));
    COLLAPSE "collapse" Once, per_device(custom(
        Args(collapse), write_collapse, ["2", "force: 2"]));
    TILE "tile" Once, per_device(custom(Args(tile), write_tile, ["$e", "*", "$e, *", "8, 8"]));

    // ---- functions
    ROUTINE_GANG "gang" OneOf("level"), per_device(custom(
        Maybe(|| ClauseKind::Gang(Vec::new()), routine_gang), write_gang, ["", "dim: 2"]));
    ROUTINE_WORKER "worker" OneOf("level"), per_device(bare(Worker(None)));
    ROUTINE_VECTOR "vector" OneOf("level"), per_device(bare(Vector(None)));
    ROUTINE_SEQ "seq" OneOf("level"), per_device(bare(Seq));
    BIND "bind" Once, per_device(custom(Args(bind), write_bind, ["f", "\"f\""]));
    NOHOST "nohost" Once, bare(Nohost);

    // ---- atomic
    ATOMIC_READ "read" OneOf("access"), bare(AtomicKind(AtomicKind::Read));
    ATOMIC_WRITE "write" OneOf("access"), bare(AtomicKind(AtomicKind::Write));
    ATOMIC_UPDATE "update" OneOf("access"), bare(AtomicKind(AtomicKind::Update));
    ATOMIC_CAPTURE "capture" OneOf("access"), bare(AtomicKind(AtomicKind::Capture));

    // ---- channels between regions, as OpenARC has them
    PIPE "pipe" Any, custom(
        Args(|r| channel(r, Channel::Own)), |kind| write_channel(kind, Channel::Own), ["$l"]);
    PIPEIN "pipein" Any, custom(
        Args(|r| channel(r, Channel::In)), |kind| write_channel(kind, Channel::In), ["$l"]);
    PIPEOUT "pipeout" Any, custom(
        Args(|r| channel(r, Channel::Out)), |kind| write_channel(kind, Channel::Out), ["$l"]);
}
