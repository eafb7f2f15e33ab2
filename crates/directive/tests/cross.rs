//! What one standard says, written in the other's words; and what is refused.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod harness;

use directive::{OPENACC, OPENMP, Unwritable, write};
use harness::{lines_with_each_clause, read, understood};
use ir::construct::Dialect;

fn say(line: &str, dialect: Dialect) -> Result<String, Unwritable> {
    write(&understood(line).construct, dialect)
}

#[track_caller]
fn says(line: &str, dialect: Dialect, expect: &str) {
    let text = say(line, dialect).unwrap_or_else(|why| panic!("{line}: {why}"));
    // How expressions are spaced is the printer's choice.
    assert_eq!(text.replace(' ', ""), expect.replace(' ', ""), "{line}");
    understood(&text);
}

/// Each says what the other does.
#[track_caller]
fn both_ways(acc: &str, omp: &str) {
    says(acc, OPENMP, omp);
    says(omp, OPENACC, acc);
}

#[track_caller]
fn to_omp(acc: &str, omp: &str) {
    says(acc, OPENMP, omp);
}

#[track_caller]
fn to_acc(omp: &str, acc: &str) {
    says(omp, OPENACC, acc);
}

/// Is refused because of `what`.
#[track_caller]
fn refused(line: &str, dialect: Dialect, what: &str) {
    match say(line, dialect) {
        Ok(text) => panic!("{line}: written as {text}"),
        Err(refusal) => {
            assert_eq!(refusal.what, what, "{line}: {refusal}");
            assert!(!refusal.why.is_empty());
        }
    }
}

#[test]
fn regions() {
    both_ways("acc parallel", "omp target teams");
    both_ways("acc serial", "omp target");
    both_ways("acc parallel loop", "omp target teams loop");
    both_ways("acc parallel loop gang", "omp target teams distribute");
    both_ways("acc parallel loop gang worker", "omp target teams distribute parallel for");
    both_ways("acc parallel loop gang vector", "omp target teams distribute simd");
    both_ways(
        "acc parallel loop gang worker vector",
        "omp target teams distribute parallel for simd",
    );
    to_omp("acc serial loop collapse(2) reduction(+: x)", "omp target map(tofrom: x)");
    to_omp("acc parallel loop seq", "omp target teams");
}

#[test]
fn loops() {
    both_ways("acc loop", "omp loop");
    both_ways("acc loop gang", "omp distribute");
    both_ways("acc loop worker", "omp parallel for");
    both_ways("acc loop vector", "omp simd");
    both_ways("acc loop gang worker", "omp distribute parallel for");
    both_ways("acc loop vector collapse(2) private(x)", "omp simd collapse(2) private(x)");
    both_ways("acc loop gang(static: 4)", "omp distribute dist_schedule(static, 4)");
    to_omp("acc loop independent", "omp loop");
    to_acc("omp for schedule(static)", "acc loop worker");
    to_acc("omp loop bind(teams)", "acc loop gang");
    to_acc("omp loop bind(parallel) order(concurrent)", "acc loop worker vector");
}

#[test]
fn data() {
    both_ways(
        "acc data copy(a) copyin(b) copyout(x) create(y)",
        "omp target data map(tofrom: a) map(to: b) map(from: x) map(alloc: y)",
    );
    both_ways(
        "acc parallel copyin(a[0:n]) firstprivate(x)",
        "omp target teams map(to: a[0:n]) firstprivate(x)",
    );
    both_ways("acc data present(a)", "omp target data map(present, alloc: a)");
    both_ways(
        "acc enter data copyin(a) create(b)",
        "omp target enter data map(to: a) map(alloc: b)",
    );
    both_ways(
        "acc exit data copyout(a) delete(b)",
        "omp target exit data map(from: a) map(release: b)",
    );
    both_ways("acc parallel deviceptr(p)", "omp target teams is_device_ptr(p)");
    both_ways("acc data copy(always: a)", "omp target data map(always, tofrom: a)");
    to_omp("acc data copyin(readonly: a)", "omp target data map(to: a)");
    to_acc("omp target exit data map(delete: a)", "acc exit data delete(a) finalize");
    to_acc("omp target map(a) map(close, to: b)", "acc serial copy(a) copyin(b)");
    to_acc("omp target data map(present, tofrom: a)", "acc data present(a)");
    to_acc("omp target has_device_addr(a)", "acc serial deviceptr(a)");
    to_acc("omp target data use_device_ptr(p)", "acc host_data use_device(p)");
    to_acc("omp target data use_device_addr(a) if(c)", "acc host_data use_device(a) if(c)");
}

#[test]
fn updates_of_absent_data() {
    both_ways("acc update self(a)", "omp target update from(present: a)");
    both_ways("acc update device(a[0:n]) if_present", "omp target update to(a[0:n])");
    to_omp("acc update host(a)", "omp target update from(present: a)");
    refused("omp target update to(a) from(present: b)", OPENACC, "target update");
}

#[test]
fn conditions_and_counts() {
    both_ways("acc parallel num_gangs(n) if(c)", "omp target teams num_teams(n) if(target: c)");
    to_omp("acc serial if(c)", "omp target if(c)");
    to_omp("acc serial self", "omp target if(0)");
    to_omp("acc serial self(c) if(n)", "omp target if((!(c)) && (n))");
    to_acc("omp target teams num_teams(2:8)", "acc parallel num_gangs(8)");
    to_acc("omp target nowait", "acc serial async");
}

#[test]
fn sharing() {
    both_ways(
        "acc parallel private(x) reduction(+: y)",
        "omp target teams private(x) reduction(+: y)",
    );
    both_ways("acc parallel default(none)", "omp target teams defaultmap(none)");
    both_ways("acc serial default(present)", "omp target defaultmap(present: aggregate)");
    to_acc("omp target teams reduction(-: x) shared(y)", "acc parallel reduction(+: x)");
}

#[test]
fn the_rest() {
    both_ways("acc atomic capture", "omp atomic capture");
    both_ways("acc atomic", "omp atomic");
    both_ways("acc wait", "omp taskwait");
    both_ways("acc declare link(a)", "omp declare target link(a)");
    both_ways("acc declare create(a)", "omp declare target enter(a)");
    to_omp("acc declare copyin(a)", "omp declare target enter(a)");
    to_omp("acc routine(f) seq", "omp declare target enter(f)");
    to_omp("acc routine(f) seq nohost", "omp declare target enter(f) device_type(nohost)");
    to_acc("omp atomic read relaxed hint(0)", "acc atomic read");
}

#[test]
fn what_openmp_cannot_say() {
    refused("acc kernels", OPENMP, "kernels");
    refused("acc kernels loop", OPENMP, "kernels loop");
    refused("acc loop seq", OPENMP, "loop");
    refused("acc loop auto", OPENMP, "loop");
    refused("acc cache(a[0:1])", OPENMP, "cache");
    refused("acc init", OPENMP, "init");
    refused("acc set device_num(1)", OPENMP, "set");
    refused("acc wait(1)", OPENMP, "wait");
    refused("acc host_data use_device(p)", OPENMP, "host_data");
    refused("acc parallel device_type(host) num_gangs(1)", OPENMP, "parallel");
    refused("acc parallel async(1)", OPENMP, "async");
    refused("acc parallel num_gangs(1, 2)", OPENMP, "num_gangs");
    refused("acc parallel vector_length(32)", OPENMP, "vector_length");
    refused("acc parallel no_create(a)", OPENMP, "no_create");
    refused("acc data create(zero: a)", OPENMP, "create");
    refused("acc data copy(alwaysin: a)", OPENMP, "copy");
    refused("acc data default(present)", OPENMP, "default");
    refused("acc exit data delete(a) finalize", OPENMP, "finalize");
    refused("acc loop collapse(force: 2)", OPENMP, "collapse");
    refused("acc loop tile(4, 4)", OPENMP, "tile");
    refused("acc loop gang(dim: 2)", OPENMP, "gang");
    refused("acc parallel loop seq reduction(+: x)", OPENMP, "reduction");
    refused("acc atomic if(c)", OPENMP, "if");
    refused("acc routine seq", OPENMP, "routine");
    refused("acc routine(f) gang", OPENMP, "gang");
    refused("acc declare copyout(a)", OPENMP, "copyout");
    refused("acc data copy(a) attach(p)", OPENMP, "attach");
    // A channel is an array there.
    to_omp("acc data pipe(a)", "omp target data map(alloc: a)");
}

#[test]
fn what_openacc_cannot_say() {
    refused("omp parallel", OPENACC, "parallel");
    refused("omp task", OPENACC, "task");
    refused("omp target parallel for", OPENACC, "target parallel for");
    refused("omp barrier", OPENACC, "barrier");
    refused("omp for lastprivate(x)", OPENACC, "lastprivate");
    refused("omp distribute firstprivate(x)", OPENACC, "firstprivate");
    refused("omp simd safelen(4)", OPENACC, "safelen");
    refused("omp target thread_limit(4)", OPENACC, "thread_limit");
    refused("omp target device(1)", OPENACC, "device");
    refused("omp target depend(in: x)", OPENACC, "depend");
    refused("omp target map(mapper(m), to: a)", OPENACC, "map");
    refused("omp target enter data map(present, to: a)", OPENACC, "map");
    refused("omp target exit data map(delete: a) map(from: b)", OPENACC, "target exit data");
    refused("omp target data map(a) use_device_ptr(p)", OPENACC, "target data");
    refused("omp atomic compare", OPENACC, "compare");
    refused("omp atomic update seq_cst", OPENACC, "seq_cst");
    refused("omp target teams reduction(mine: x)", OPENACC, "reduction");
    refused("omp parallel for if(parallel: c) reduction(inscan, +: x)", OPENACC, "reduction");
    refused("omp taskwait depend(in: x)", OPENACC, "taskwait");
    refused("omp declare target", OPENACC, "declare target");
}

/// Whatever is written in the other standard's words is right there.
#[track_caller]
fn all_that_is_said_is_understood(from: Dialect, sentinel: &str, to: Dialect, at_least: usize) {
    let mut said = 0;
    for line in lines_with_each_clause(from, sentinel) {
        let Some(directive) = read(&line).directive else { continue };
        if let Ok(text) = write(&directive.construct, to) {
            let outcome = read(&text);
            assert!(outcome.faults.is_empty(), "{line}\n{text}\n{:#?}", outcome.faults);
            said += 1;
        }
    }
    assert!(said >= at_least, "only {said} lines were written");
}

#[test]
fn openmp_from_openacc_is_right() {
    all_that_is_said_is_understood(OPENACC, "acc", OPENMP, 100);
}

#[test]
fn openacc_from_openmp_is_right() {
    all_that_is_said_is_understood(OPENMP, "omp", OPENACC, 200);
}

#[test]
fn switches_are_set_before_anything_is_said() {
    to_acc("omp atomic read(1)", "acc atomic read");
    to_acc("omp atomic read(0)", "acc atomic");
    refused("omp atomic read(n)", OPENACC, "read");
}
