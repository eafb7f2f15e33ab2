//! OpenMP: what is accepted, what it becomes, and what is said about mistakes.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod harness;

use directive::{OPENMP, directive_name, write};
use harness::{read, understood};
use ir::construct::{Implicit, Leaf, LoopTrust, Motion, Naming, Presence};
use syntax::pragma::Shape;

/// Reads `line` and compares how it is written again.
#[track_caller]
fn check(line: &str, expect: &str) {
    let construct = understood(&format!("omp {line}")).construct;
    let written = write(&construct, OPENMP).unwrap_or_else(|it| panic!("{line}: {it}"));
    assert_eq!(written, format!("omp {expect}"), "{line}");
    assert_eq!(understood(&written).construct, construct, "{line}");
}

/// Lines that are written as they were read.
#[track_caller]
fn same(line: &str) {
    check(line, line);
}

/// The code of each fault of `line` and the text it points at.
#[track_caller]
fn faults(line: &str, expect: &[(&str, &str)]) {
    let outcome = read(&format!("omp {line}"));
    assert_eq!(outcome.fault_list(), expect, "{line}\n{:#?}", outcome.faults);
}

/// What is advised about the first fault of `line`.
fn advice(line: &str) -> String {
    let outcome = read(&format!("omp {line}"));
    let first = outcome.faults.first().expect("has a fault");
    first.helps.iter().chain(&first.notes).next().cloned().unwrap_or_default()
}

#[test]
fn combined_directives_are_read_part_by_part() {
    same("target teams distribute parallel for simd collapse(2) map(tofrom: a[0:n]) simdlen(8)");
    same("parallel masked taskloop simd filter(1) grainsize(strict: 4)");
    same("parallel master taskloop num_tasks(4)");
    same("target parallel loop bind(parallel)");
    same("teams distribute simd dist_schedule(static, 4)");
    same("parallel sections private(x)");
    same("target simd nontemporal(p)");
    let construct = understood("omp target teams distribute parallel for").construct;
    let leaves = [Leaf::Offload, Leaf::Teams, Leaf::Distribute, Leaf::Parallel, Leaf::For];
    assert_eq!(construct.leaves, leaves);
    assert_eq!(directive_name(&construct), "target teams distribute parallel for");
}

#[test]
fn illegal_combinations_are_refused() {
    faults("parallel taskloop", &[("F0303", "taskloop")]);
    faults("teams parallel for", &[("F0303", "parallel")]);
    faults("distribute parallel", &[("F0303", "parallel")]);
    faults("for parallel", &[("F0303", "parallel")]);
    faults("target distribute", &[("F0303", "distribute")]);
    assert!(advice("distribute parallel").contains("directive of its own"));
}

#[test]
fn old_and_new_spellings_are_one() {
    check("target_data map(x)", "target data map(x)");
    check("target_enter_data map(to: x)", "target enter data map(to: x)");
    check("begin declare_target device_type(nohost)", "begin declare target device_type(nohost)");
    check("cancellation_point for", "cancellation point for");
    check("target exit data map(storage: x)", "target exit data map(alloc: x)");
    same("parallel proc_bind(master)");
    same("declare target to(x) link(y)");
    same("declare target enter(automap: x)");
    same("simd linear(val(x): 2)");
    same("simd linear(x: val, step(2))");
    same("metadirective when(user={condition(n > 4)}: parallel for) default(simd)");
    same("metadirective when(user={condition(n > 4)}: parallel for) otherwise(simd)");
    same("ordered depend(sink: i - 1)");
    same("ordered doacross(sink: omp_cur_iteration - 1)");
    same("target uses_allocators(omp_low_lat_mem_alloc, x(y))");
    same("target uses_allocators(memspace(y), traits(x): p; q)");
}

#[test]
fn modifiers_are_kept() {
    check("target map(always close to : a)", "target map(always, close, to: a)");
    same("target map(present, mapper(deep), iterator(int it = 0 : n : 2), to: a[it])");
    same("target map(always, a)");
    same("target update to(present, mapper(default): a[0:n:2]) from(b)");
    same("task depend(iterator(T t = 0 : n), in: a[t]) affinity(iterator(i = 0 : 2): p[i])");
    same("task depend(out: omp_all_memory)");
    same("for reduction(inscan, +: x) schedule(monotonic, simd: dynamic, 4)");
    same("teams num_teams(2 : n + 1)");
    same("target device(ancestor: 1)");
    same("for order(reproducible: concurrent)");
    same("parallel if(parallel: x) num_threads(strict: 4, 2)");
    same("target parallel for if(target: x) if(parallel: y) firstprivate(x)");
    same("parallel for firstprivate(parallel: x)");
    same("parallel for reduction(parallel, task, +: x) if(parallel: n ? x : y)");
    same("target parallel map(target, always, to: x) num_threads(parallel, strict: 4)");
    same("for simd schedule(simd: static)");
    same("parallel allocate(allocator(x), align(64): y) private(y)");
    same("interop init(prefer_type({fr(\"cuda\"), attr(\"ompx_a\")}, 4), targetsync: x) nowait");
    same("tile sizes(4, n) apply(grid(1): unroll partial(2), reverse)");
    same("target ompx_dyn_cgroup_mem(1024) ompx_bare");
}

#[test]
fn declarations_are_read_whole() {
    same(
        "declare reduction(my_add : struct S, int * : f(&omp_out, &omp_in)) initializer(omp_priv = {0, 0})",
    );
    check(
        "declare_reduction(+ : T) combiner(omp_out += omp_in)",
        "declare reduction(+ : T) combiner(omp_out += omp_in)",
    );
    same("declare mapper(deep : struct S T) map(T.m, T.v[0:T.m])");
    same("declare simd uniform(n) linear(i: 1) notinbranch");
    same(
        "declare variant(f) match(construct={simd(simdlen(8), inbranch)}, device={isa(\"avx2\")})",
    );
    same(
        "declare variant(f) match(implementation={vendor(score(n + 1): gnu), extension(match_any)}) adjust_args(need_device_ptr: p)",
    );
    same(
        "declare induction(step : int) inductor(omp_var = omp_var + omp_step) collector(omp_idx * omp_step)",
    );
    same("threadprivate(x, y)");
    same("groupprivate(x) device_type(nohost)");
    same("requires unified_shared_memory atomic_default_mem_order(acq_rel)");
    same("assumes absent(parallel for, barrier) holds(n > 0) no_openmp");
    same("allocate(x) allocator(omp_high_bw_mem_alloc) align(64)");
    same("critical(lock) hint(4)");
    same("depobj(x) update(inout)");
    same("atomic compare capture weak fail(relaxed) seq_cst");
    same("cancel parallel if(x)");
    same("error at(execution) severity(warning) message(\"no\" \"pe\")");
}

#[test]
fn mistakes_are_named_where_they_are() {
    faults("", &[("F0301", "")]);
    faults("paralel for", &[("F0302", "paralel")]);
    faults("target entr data map(x)", &[("F0302", "entr")]);
    faults("parallel privat(x) shard(y) if(1)", &[("F0304", "privat"), ("F0304", "shard")]);
    faults("single shared(x)", &[("F0305", "shared")]);
    faults("parallel for nowait", &[("F0305", "nowait")]);
    faults("parallel default(none) num_threads(2) num_threads(4)", &[("F0306", "num_threads")]);
    faults("taskloop grainsize(1) num_tasks(2)", &[("F0307", "num_tasks")]);
    faults("parallel if num_threads(2)", &[("F0308", "")]);
    faults("taskyield(1)", &[("F0317", "(")]);
    faults("loop bind(team)", &[("F0312", "team")]);
    faults("cancel prallel if(x)", &[("F0312", "prallel")]);
    faults("cancel if(x)", &[("F0312", "if")]);
    faults("parallel private(x", &[("F0310", "(")]);
    faults("parallel private()", &[("F0311", ")")]);
    faults("for schedule(dinamic, 4) nowait(1", &[("F0312", "dinamic"), ("F0310", "(")]);
    faults("target update device(0)", &[("F0313", "target update")]);
    faults("parallel private(x;) if(1)", &[("F0314", ";")]);
    faults("parallel if(task: x)", &[("F0315", "task")]);
    faults("target map(allways, to: x)", &[("F0312", "allways")]);
    faults("target map(to, from: x)", &[("F0318", "from")]);
    faults("for reduction(x)", &[("F0311", ")")]);
    faults("metadirective when(device={kid(gpu)}: paralel)", &[("F0302", "paralel")]);
    assert_eq!(advice("paralel for"), "did you mean `parallel`?");
    assert_eq!(advice("parallel privat(x)"), "did you mean `private`?");
    assert_eq!(advice("loop bind(team)"), "did you mean `teams`?");
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    let deep = "metadirective when(user={condition(1)}: ".repeat(3000);
    let outcome = read(&format!("omp {deep}nothing{}", ")".repeat(3000)));
    assert!(outcome.faults.iter().any(|it| it.code == "F0316"), "{:#?}", outcome.faults);
}

#[test]
fn shapes_follow_what_is_said() {
    let shape = |line: &str| understood(&format!("omp {line}")).shape;
    assert_eq!(shape("parallel for"), Shape::Prefix);
    assert_eq!(shape("barrier"), Shape::Standalone);
    assert_eq!(shape("ordered"), Shape::Prefix);
    assert_eq!(shape("ordered simd"), Shape::Prefix);
    assert_eq!(shape("ordered doacross(source:)"), Shape::Standalone);
    assert_eq!(shape("declare target"), Shape::Opens);
    assert_eq!(shape("declare target(x)"), Shape::Standalone);
    assert_eq!(shape("declare target enter(x) device_type(any)"), Shape::Standalone);
    assert_eq!(shape("end declare target"), Shape::Closes);
    assert_eq!(shape("metadirective when(user={condition(1)}: barrier)"), Shape::Standalone);
    assert_eq!(shape("metadirective when(user={condition(1)}: ) otherwise(for)"), Shape::Prefix);
}

#[test]
fn implicit_rules_are_filled_in() {
    let rules = |line: &str| understood(&format!("omp {line}")).construct.rules;
    let target = rules("target");
    assert_eq!(target.mapping.scalar.implicit, Implicit::FirstPrivate);
    assert_eq!(target.mapping.aggregate.implicit, Implicit::Map(Motion::ToFrom, Presence::Any));
    assert_eq!(target.mapping.pointer.implicit, Implicit::PointerToMapped);
    assert!(!target.yields_to_data_region && !target.copies_per_team && !target.reduction_maps);
    assert!(rules("target teams distribute").reduction_maps);
    let changed = rules("target defaultmap(tofrom: scalar) defaultmap(none: pointer)");
    assert_eq!(changed.mapping.scalar.implicit, Implicit::Map(Motion::ToFrom, Presence::Any));
    assert_eq!(changed.mapping.pointer.naming, Naming::Required);
    assert_eq!(rules("parallel").sharing.scalar.implicit, Implicit::Shared);
    assert_eq!(rules("parallel default(none)").sharing.scalar.naming, Naming::Required);
    let both = rules("target parallel default(none) defaultmap(tofrom)");
    assert_eq!(both, rules("target parallel defaultmap(tofrom) default(none)"));
    assert_eq!(both.sharing.scalar.naming, Naming::Required);
    assert_eq!(both.mapping.scalar.naming, Naming::Optional);
    let copies = rules("target parallel default(firstprivate)");
    assert_eq!(copies.mapping, target.mapping);
    assert_eq!(rules("for").loop_trust, LoopTrust::Independent);
    assert_eq!(rules("barrier").loop_trust, LoopTrust::NotApplicable);
    // One thread runs iterations of `for` in order.
    assert!(!rules("for").any_order && rules("loop").any_order);
    assert!(rules("for order(concurrent)").any_order);
}
