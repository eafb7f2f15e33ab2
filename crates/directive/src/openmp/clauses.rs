//! The clauses of OpenMP: one row each.

use ir::construct::{
    AtomicKind, ClauseKind, MemoryOrder, NoUse, OrderedBy, Requirement, UseDevice,
};

use super::words::list;
use super::{context, data, exec, sharing, tasks};
use crate::table::ReadClause::{Args, Maybe};
use crate::table::clauses;

/// `(expr)`, or nothing.
fn optional(expr: &Option<String>) -> String {
    expr.as_ref().map(|it| format!("({it})")).unwrap_or_default()
}

clauses! {
    // ---- data on devices
    MAP "map" Any, custom(Args(data::read_map), data::write_map, ["$l", "to: $l", "always, close, tofrom: $l", "present, alloc: $l", "mapper(my_mapper), from: $l", "iterator(int it = 0 : $e), tofrom: $v[it]", "release: $l", "delete: $l", "self, ompx_hold, to: $l", "attach(never), ref_ptee, storage: $l", "release, delete: $l"]);
    TO "to" Any, custom(Args(data::read_to), data::write_to, ["$l", "present, mapper(default): $l", "iterator(it = 0 : $e : 2): $v[it]"]);
    FROM "from" Any, custom(Args(data::read_from), data::write_from, ["$l", "present: $l"]);
    ENTER "enter" Any, custom(Args(data::read_enter), data::write_enter, ["$v", "automap: $v"]);
    ENTER_OLD "to" Any, custom(Args(data::read_enter_old), data::write_enter_old, ["$v", "$v, $v"]);
    LINK "link" Any, items(DeviceLink);
    LOCAL "local" Any, items(DeviceLocal);
    DEVICE_TYPE "device_type" Once, choice(DeviceKind, data::DEVICE_KINDS);
    IS_DEVICE_PTR "is_device_ptr" Any, items(DevicePointer);
    HAS_DEVICE_ADDR "has_device_addr" Any, items(HasDeviceAddr);
    USE_DEVICE_PTR "use_device_ptr" Any, custom(
        Args(|r| Ok(ClauseKind::UseDevice(UseDevice::Pointer, r.items()?))),
        |kind| match kind {
            ClauseKind::UseDevice(UseDevice::Pointer, items) => Some(list(items)),
            _ => None,
        },
        ["$l"]
    );
    USE_DEVICE_ADDR "use_device_addr" Any, custom(
        Args(|r| Ok(ClauseKind::UseDevice(UseDevice::Address, r.items()?))),
        |kind| match kind {
            ClauseKind::UseDevice(UseDevice::Address, items) => Some(list(items)),
            _ => None,
        },
        ["$l"]
    );
    DEFAULTMAP "defaultmap" Any, custom(Args(data::read_defaultmap), data::write_defaultmap, ["tofrom: scalar", "none", "present: aggregate", "default: pointer", "firstprivate: all", "storage"]);
    // ---- sharing
    DEFAULT "default" Any, custom(Args(data::read_default), data::write_default, ["none", "shared", "private: scalar", "firstprivate"]);
    SHARED "shared" Any, items(Shared);
    PRIVATE "private" Any, items(Private);
    FIRSTPRIVATE "firstprivate" Any, custom(Args(sharing::read_firstprivate), sharing::write_firstprivate, ["$l", "saved: $l"]);
    LASTPRIVATE "lastprivate" Any, custom(Args(sharing::read_lastprivate), sharing::write_lastprivate, ["$l", "conditional: $v"]);
    LINEAR "linear" Any, custom(Args(sharing::read_linear), sharing::write_linear, ["$v", "$v: $e", "val($v): $e", "uval($v)", "$v, $v: val", "$v: step($e)", "$v: ref, step($e)"]);
    REDUCTION "reduction" Any, custom(
        Args(|r| Ok(ClauseKind::Reduction(sharing::read_reduction(r)?))),
        |kind| match kind {
            ClauseKind::Reduction(it) => Some(sharing::write_reduction(it)),
            _ => None,
        },
        ["+: $l", "inscan, max: $v", "task, my_add: $l", "default, &&: $v", "original(shared), |: $v", "-: $v", "min: $l", "^: $v"]
    );
    IN_REDUCTION "in_reduction" Any, custom(
        Args(|r| Ok(ClauseKind::InReduction(sharing::read_reduction(r)?))),
        |kind| match kind {
            ClauseKind::InReduction(it) => Some(sharing::write_reduction(it)),
            _ => None,
        },
        ["+: $l", "my_add: $v"]
    );
    TASK_REDUCTION "task_reduction" Any, custom(
        Args(|r| Ok(ClauseKind::TaskReduction(sharing::read_reduction(r)?))),
        |kind| match kind {
            ClauseKind::TaskReduction(it) => Some(sharing::write_reduction(it)),
            _ => None,
        },
        ["*: $l", "||: $v"]
    );
    INDUCTION "induction" Any, custom(Args(sharing::read_induction), sharing::write_induction, ["step($e), +: $v", "relaxed, my_step: $v", "strict, step($e), *: $v"]);
    COPYIN "copyin" Any, items(CopyIn);
    COPYPRIVATE "copyprivate" Any, items(CopyPrivate);
    INCLUSIVE "inclusive" OneOf("scan"), items(Inclusive);
    EXCLUSIVE "exclusive" OneOf("scan"), items(Exclusive);
    INIT_COMPLETE "init_complete" OneOf("scan"), switch(InitComplete);
    ALIGNED "aligned" Any, custom(Args(sharing::read_aligned), sharing::write_aligned, ["$v", "$v, $v: 64"]);
    NONTEMPORAL "nontemporal" Any, items(Nontemporal);
    UNIFORM "uniform" Any, items(Uniform);
    // ---- memory
    ALLOCATE "allocate" Any, custom(Args(data::read_allocate), data::write_allocate, ["$v", "omp_low_lat_mem_alloc: $v", "allocator($v), align(64): $v, $v", "align(8): $v"]);
    ALLOCATOR "allocator" Once, expr(Allocator);
    ALIGN "align" Once, expr(Align);
    USES_ALLOCATORS "uses_allocators" Any, custom(Args(data::read_uses_allocators), data::write_uses_allocators, ["$v", "$v, $v($v)", "traits($v): $v", "memspace($v), traits($v): $v; $v"]);
    // ---- where, how many
    IF "if" OncePerPart, expr(If);
    DEVICE "device" Once, custom(Args(exec::read_device), exec::write_device, ["$e", "ancestor: 1", "device_num: $e"]);
    // Ours, with the prefix that the standard leaves to implementations.
    COEXECUTE "ompx_coexecute" Once, switch(Coexecute);
    NUM_TEAMS "num_teams" Once, custom(Args(exec::read_num_teams), exec::write_num_teams, ["$e", "$e : $e"]);
    NUM_THREADS "num_threads" Once, custom(Args(exec::read_num_threads), exec::write_num_threads, ["$e", "strict: $e", "$e, $e"]);
    THREAD_LIMIT "thread_limit" Once, expr(ThreadLimit);
    BIND "bind" Once, choice(Bind, exec::BIND_LEVELS);
    FILTER "filter" Once, expr(Filter);
    PROC_BIND "proc_bind" Once, choice(ProcBind, exec::PROC_BINDS);
    THREADSET "threadset" Once, choice(Threadset, exec::THREADSETS);
    // ---- loops
    COLLAPSE "collapse" Once, custom(Args(exec::read_collapse), exec::write_collapse, ["2"]);
    SIZES "sizes" Once, exprs(Sizes);
    SCHEDULE "schedule" Once, custom(Args(exec::read_schedule), exec::write_schedule, ["static", "dynamic, $e", "monotonic: guided, 4", "nonmonotonic, simd: auto", "simd: runtime"]);
    DIST_SCHEDULE "dist_schedule" Once, custom(Args(exec::read_dist_schedule), exec::write_dist_schedule, ["static", "static, $e"]);
    ORDERED "ordered" Once, maybe_expr(Ordered);
    ORDER "order" Once, custom(Args(exec::read_order), exec::write_order, ["concurrent", "reproducible: concurrent", "unconstrained: concurrent"]);
    THREADS "threads" Once, switch(OrderedBy(OrderedBy::Threads));
    SIMD "simd" Once, switch(OrderedBy(OrderedBy::Simd));
    SAFELEN "safelen" Once, expr(Safelen);
    SIMDLEN "simdlen" Once, expr(Simdlen);
    FULL "full" OneOf("unroll"), switch(Full);
    PARTIAL "partial" OneOf("unroll"), maybe_expr(Partial);
    PERMUTATION "permutation" Once, exprs(Permutation);
    LOOPRANGE "looprange" Once, custom(Args(exec::read_looprange), exec::write_looprange, ["1, 2"]);
    COUNTS "counts" Once, custom(Args(exec::read_counts), exec::write_counts, ["4, omp_fill, $e"]);
    APPLY "apply" Any, custom(Args(exec::read_apply), exec::write_apply, ["reverse", "unroll partial(4), reverse", "grid: unroll full", "intratile(1, 2): tile sizes(4, 4) apply(grid: reverse)"]);
    // ---- time
    NOWAIT "nowait" Once, maybe_expr(Nowait);
    DEPEND "depend" Any, custom(Args(tasks::read_depend), tasks::write_depend, ["in: $l", "out: $v, $v[0:4]", "inout: omp_all_memory", "mutexinoutset: $l", "iterator(int it = 0 : $e, unsigned long jt = 1 : 9 : 2), inoutset: $v[it][jt]", "depobj: $v", "out: omp_all_memory, $v"]);
    DEPEND_SOURCE "depend" Any, custom(Args(tasks::read_depend), tasks::write_depend, ["source", "sink: $v - 1, $v"]);
    DOACROSS "doacross" Any, custom(Args(tasks::read_doacross), tasks::write_doacross, ["source:", "source: omp_cur_iteration", "sink: $v - 1, $v + 2", "sink: omp_cur_iteration - 1"]);
    DEPOBJ_UPDATE "update" Once, custom(Args(tasks::read_update), tasks::write_update, ["in", "out", "inout", "mutexinoutset", "inoutset"]);
    DESTROY "destroy" Any, maybe_expr(Destroy);
    // ---- tasks
    FINAL "final" Once, expr(Final);
    PRIORITY "priority" Once, expr(Priority);
    DETACH "detach" Once, expr(DetachEvent);
    GRAPH_ID "graph_id" Once, expr(GraphId);
    GRAPH_RESET "graph_reset" Once, expr(GraphReset);
    UNTIED "untied" Once, maybe_expr(Untied);
    MERGEABLE "mergeable" Once, maybe_expr(Mergeable);
    NOGROUP "nogroup" Once, maybe_expr(Nogroup);
    TRANSPARENT "transparent" Once, maybe_expr(Transparent);
    REPLAYABLE "replayable" Once, maybe_expr(Replayable);
    AFFINITY "affinity" Any, custom(Args(tasks::read_affinity), tasks::write_affinity, ["$l", "iterator(int it = 0 : $e): $v[it]"]);
    GRAINSIZE "grainsize" OneOf("task size"), custom(Args(exec::read_grainsize), exec::write_grainsize, ["$e", "strict: $e"]);
    NUM_TASKS "num_tasks" OneOf("task size"), custom(Args(exec::read_num_tasks), exec::write_num_tasks, ["$e", "strict: $e"]);
    // ---- atomics and memory order
    ATOMIC_READ "read" OneOf("atomic access"), switch(AtomicKind(AtomicKind::Read));
    ATOMIC_WRITE "write" OneOf("atomic access"), switch(AtomicKind(AtomicKind::Write));
    ATOMIC_UPDATE "update" OneOf("atomic access"), switch(AtomicKind(AtomicKind::Update));
    CAPTURE "capture" Once, switch(AtomicKind(AtomicKind::Capture));
    COMPARE "compare" Once, switch(AtomicKind(AtomicKind::Compare));
    SEQ_CST "seq_cst" OneOf("memory order"), switch(MemoryOrder(MemoryOrder::SeqCst));
    ACQ_REL "acq_rel" OneOf("memory order"), switch(MemoryOrder(MemoryOrder::AcqRel));
    ACQUIRE "acquire" OneOf("memory order"), switch(MemoryOrder(MemoryOrder::Acquire));
    RELEASE "release" OneOf("memory order"), switch(MemoryOrder(MemoryOrder::Release));
    RELAXED "relaxed" OneOf("memory order"), switch(MemoryOrder(MemoryOrder::Relaxed));
    FAIL "fail" Once, choice(Fail, exec::MEMORY_ORDERS);
    WEAK "weak" Once, switch(Weak);
    MEMSCOPE "memscope" Once, choice(MemScope, exec::MEM_SCOPES);
    HINT "hint" Once, expr(Hint);
    // ---- requirements and assumptions
    REVERSE_OFFLOAD "reverse_offload" Once, custom(
        Maybe(|| ClauseKind::Require(Requirement::ReverseOffload, None), |r| {
            Ok(ClauseKind::Require(Requirement::ReverseOffload, Some(r.expr()?)))
        }),
        |kind| match kind {
            ClauseKind::Require(Requirement::ReverseOffload, expr) => Some(optional(expr)),
            _ => None,
        },
        ["", "1"]
    );
    UNIFIED_ADDRESS "unified_address" Once, custom(
        Maybe(|| ClauseKind::Require(Requirement::UnifiedAddress, None), |r| {
            Ok(ClauseKind::Require(Requirement::UnifiedAddress, Some(r.expr()?)))
        }),
        |kind| match kind {
            ClauseKind::Require(Requirement::UnifiedAddress, expr) => Some(optional(expr)),
            _ => None,
        },
        ["", "1"]
    );
    UNIFIED_SHARED_MEMORY "unified_shared_memory" Once, custom(
        Maybe(|| ClauseKind::Require(Requirement::UnifiedSharedMemory, None), |r| {
            Ok(ClauseKind::Require(Requirement::UnifiedSharedMemory, Some(r.expr()?)))
        }),
        |kind| match kind {
            ClauseKind::Require(Requirement::UnifiedSharedMemory, expr) => Some(optional(expr)),
            _ => None,
        },
        ["", "1"]
    );
    SELF_MAPS "self_maps" Once, custom(
        Maybe(|| ClauseKind::Require(Requirement::SelfMaps, None), |r| {
            Ok(ClauseKind::Require(Requirement::SelfMaps, Some(r.expr()?)))
        }),
        |kind| match kind {
            ClauseKind::Require(Requirement::SelfMaps, expr) => Some(optional(expr)),
            _ => None,
        },
        ["", "1"]
    );
    DYNAMIC_ALLOCATORS "dynamic_allocators" Once, custom(
        Maybe(|| ClauseKind::Require(Requirement::DynamicAllocators, None), |r| {
            Ok(ClauseKind::Require(Requirement::DynamicAllocators, Some(r.expr()?)))
        }),
        |kind| match kind {
            ClauseKind::Require(Requirement::DynamicAllocators, expr) => Some(optional(expr)),
            _ => None,
        },
        ["", "1"]
    );
    DEVICE_SAFESYNC "device_safesync" Once, custom(
        Maybe(|| ClauseKind::Require(Requirement::DeviceSafesync, None), |r| {
            Ok(ClauseKind::Require(Requirement::DeviceSafesync, Some(r.expr()?)))
        }),
        |kind| match kind {
            ClauseKind::Require(Requirement::DeviceSafesync, expr) => Some(optional(expr)),
            _ => None,
        },
        ["", "1"]
    );
    SAFESYNC "safesync" Once, custom(
        Maybe(|| ClauseKind::Require(Requirement::Safesync, None), |r| {
            Ok(ClauseKind::Require(Requirement::Safesync, Some(r.expr()?)))
        }),
        |kind| match kind {
            ClauseKind::Require(Requirement::Safesync, expr) => Some(optional(expr)),
            _ => None,
        },
        ["", "1"]
    );
    ATOMIC_DEFAULT_MEM_ORDER "atomic_default_mem_order" Once, choice(AtomicDefaultOrder, exec::MEMORY_ORDERS);
    ABSENT "absent" Any, custom(
        Args(|r| Ok(ClauseKind::Absent(context::directive_names(r)?))),
        |kind| match kind {
            ClauseKind::Absent(names) => Some(context::write_directive_names(names)),
            _ => None,
        },
        ["parallel", "target data, teams distribute", "barrier"]
    );
    CONTAINS "contains" Any, custom(
        Args(|r| Ok(ClauseKind::Contains(context::directive_names(r)?))),
        |kind| match kind {
            ClauseKind::Contains(names) => Some(context::write_directive_names(names)),
            _ => None,
        },
        ["parallel", "target data, teams distribute", "barrier"]
    );
    HOLDS "holds" Any, expr(Holds);
    NO_OPENMP "no_openmp" Once, custom(
        Maybe(|| ClauseKind::NoUse(NoUse::Directives, None), |r| {
            Ok(ClauseKind::NoUse(NoUse::Directives, Some(r.expr()?)))
        }),
        |kind| match kind {
            ClauseKind::NoUse(NoUse::Directives, expr) => Some(optional(expr)),
            _ => None,
        },
        ["", "1"]
    );
    NO_OPENMP_CONSTRUCTS "no_openmp_constructs" Once, custom(
        Maybe(|| ClauseKind::NoUse(NoUse::Constructs, None), |r| {
            Ok(ClauseKind::NoUse(NoUse::Constructs, Some(r.expr()?)))
        }),
        |kind| match kind {
            ClauseKind::NoUse(NoUse::Constructs, expr) => Some(optional(expr)),
            _ => None,
        },
        ["", "1"]
    );
    NO_OPENMP_ROUTINES "no_openmp_routines" Once, custom(
        Maybe(|| ClauseKind::NoUse(NoUse::Routines, None), |r| {
            Ok(ClauseKind::NoUse(NoUse::Routines, Some(r.expr()?)))
        }),
        |kind| match kind {
            ClauseKind::NoUse(NoUse::Routines, expr) => Some(optional(expr)),
            _ => None,
        },
        ["", "1"]
    );
    NO_PARALLELISM "no_parallelism" Once, custom(
        Maybe(|| ClauseKind::NoUse(NoUse::Parallelism, None), |r| {
            Ok(ClauseKind::NoUse(NoUse::Parallelism, Some(r.expr()?)))
        }),
        |kind| match kind {
            ClauseKind::NoUse(NoUse::Parallelism, expr) => Some(optional(expr)),
            _ => None,
        },
        ["", "1"]
    );
    // ---- variants
    MATCH "match" Once, custom(Args(context::read_match), context::write_match, ["device={kind(gpu)}", "construct={target, parallel, for}, device={arch(x86_64), isa(\"avx512f\")}", "implementation={vendor(score(100): llvm), extension(match_any)}", "user={condition(score(2): $e > 4)}", "construct={simd(simdlen(8), uniform($v))}", "target_device={device_num($e), kind(host)}", "implementation={requires(unified_address), atomic_default_mem_order(seq_cst)}"]);
    WHEN "when" Any, custom(Args(context::read_when), context::write_when, ["device={kind(gpu)}: target teams distribute parallel for collapse(2) map(to: $l)", "construct={target, parallel, for}, device={arch(x86_64), isa(\"avx512f\")}: ", "implementation={vendor(score(100): llvm), extension(match_any)}: parallel for simd schedule(static)", "user={condition(score(2): $e > 4)}: nothing", "construct={simd(simdlen(8), uniform($v))}: task depend(in: $v) if($e)", "target_device={device_num($e), kind(host)}: taskwait", "implementation={requires(unified_address), atomic_default_mem_order(seq_cst)}: error at(execution)"]);
    OTHERWISE "otherwise" OneOf("otherwise"), custom(Args(context::read_otherwise), context::write_otherwise, ["parallel for private($v)"]);
    OTHERWISE_OLD "default" OneOf("otherwise"), custom(Args(context::read_otherwise_old), context::write_otherwise_old, ["target teams loop", "parallel num_threads($e)"]);
    ADJUST_ARGS "adjust_args" Any, custom(Args(context::read_adjust_args), context::write_adjust_args, ["nothing: $v", "need_device_ptr: $v, $v", "need_device_addr: $v"]);
    APPEND_ARGS "append_args" Once, custom(Args(context::read_append_args), context::write_append_args, ["interop(target)", "interop(prefer_type(\"cuda\", 3), targetsync), interop(target, targetsync)"]);
    NOVARIANTS "novariants" Once, expr(Novariants);
    NOCONTEXT "nocontext" Once, expr(Nocontext);
    INTEROP "interop" Once, items(InteropArgs);
    // ---- interoperability
    INIT "init" Any, custom(Args(context::read_init), context::write_init, ["targetsync: $v", "prefer_type(\"cuda\"), target, targetsync: $v", "prefer_type({fr(\"hip\"), attr(\"ompx_fast\")}, {attr(\"ompx_x\", \"ompx_y\")}), target: $v"]);
    DEPOBJ_INIT "init" Any, custom(Args(context::read_init), context::write_init, ["in($v): $v", "inout($v[0:4]): $v"]);
    USE "use" Any, expr(InteropUse);
    // ---- functions
    INBRANCH "inbranch" OneOf("branch"), switch(Inbranch);
    NOTINBRANCH "notinbranch" OneOf("branch"), switch(Notinbranch);
    INDIRECT "indirect" Once, maybe_expr(Indirect);
    // ---- messages
    AT "at" Once, choice(At, exec::ERROR_TIMES);
    SEVERITY "severity" Once, choice(Severity, exec::SEVERITIES);
    MESSAGE "message" Once, expr(Message);
    // ---- user's reductions and inductions
    COMBINER "combiner" Once, custom(
        Args(|r| Ok(ClauseKind::Combiner(r.clean(|p| p.expression())?))),
        |kind| match kind {
            ClauseKind::Combiner(expr) => Some(format!("({expr})")),
            _ => None,
        },
        ["omp_out = omp_out + omp_in", "omp_out.x += omp_in.x, omp_out.y += omp_in.y"]
    );
    INDUCTOR "inductor" Once, custom(
        Args(|r| Ok(ClauseKind::Inductor(r.clean(|p| p.expression())?))),
        |kind| match kind {
            ClauseKind::Inductor(expr) => Some(format!("({expr})")),
            _ => None,
        },
        ["omp_out = omp_out + omp_in", "omp_out.x += omp_in.x, omp_out.y += omp_in.y"]
    );
    COLLECTOR "collector" Once, custom(
        Args(|r| Ok(ClauseKind::Collector(r.clean(|p| p.expression())?))),
        |kind| match kind {
            ClauseKind::Collector(expr) => Some(format!("({expr})")),
            _ => None,
        },
        ["omp_out = omp_out + omp_in", "omp_out.x += omp_in.x, omp_out.y += omp_in.y"]
    );
    INITIALIZER "initializer" Once, custom(Args(sharing::read_initializer), sharing::write_initializer, ["omp_priv = 0", "omp_priv = {0, 1}", "start(&omp_priv, &omp_orig)"]);
}
