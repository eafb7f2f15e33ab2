//! OpenACC: what is read, what it is written as, what is refused.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod harness;

use directive::{OPENACC, write};
use harness::{read, understood};
use ir::construct::{Implicit, Leaf, LoopTrust, Motion, Naming, OnAbsent, Presence, Rules};
use syntax::pragma::Shape;

/// Reads and writes to the same text.
#[track_caller]
fn same(line: &str) {
    becomes(line, line);
}

/// Reads, and is written as `canonical`.
#[track_caller]
fn becomes(line: &str, canonical: &str) {
    let construct = understood(line).construct;
    let written =
        write(&construct, OPENACC).expect("every construct has a text in its own dialect");
    // How expressions are spaced is the printer's choice.
    assert_eq!(written.replace(' ', ""), canonical.replace(' ', ""));
    assert_eq!(understood(&written).construct, construct, "{written}");
}

/// Is at fault: the codes, each with the text it points at.
#[track_caller]
fn faults(line: &str, expect: &[(&str, &str)]) {
    assert_eq!(read(line).fault_list(), expect, "#pragma {line}");
}

#[track_caller]
fn rules(line: &str) -> Rules {
    understood(line).construct.rules
}

#[test]
fn compute_constructs() {
    same("acc parallel");
    same("acc parallel num_gangs(n, 2, 3) num_workers(4) vector_length(32)");
    same("acc parallel async wait if(n > 4) self(n < 2)");
    same("acc serial self async(n + 1) wait(1, 2) wait(devnum: 0 : queues: 3)");
    same("acc kernels num_gangs(8) copy(a) default(present)");
    same("acc parallel private(x, y) firstprivate(c) reduction(+: x)");
    same("acc parallel loop gang vector collapse(2) copyin(a[0:n]) reduction(max: x)");
    same("acc serial loop seq");
    same("acc kernels loop independent private(x)");
}

#[test]
fn every_data_clause() {
    same("acc data copy(a) copyin(readonly: b[0:n]) copyout(zero: p[0:n]) create(zero: c)");
    same("acc data present(a) no_create(b) deviceptr(p) attach(s.v) default(none)");
    same("acc data copy(always: a) copy(alwaysin: b) copy(alwaysout, capture: c)");
    same("acc data copyin(always, readonly: a[:4]) copy(s.v[0:n]) create(p[i:])");
    same("acc data copy(a) async(1) wait(2) if(c)");
    same("acc enter data copyin(a) create(p[0:n]) attach(q) async wait if(c)");
    same("acc exit data copyout(a) delete(b[0:4]) detach(q) finalize");
    same("acc host_data use_device(p, q) if(c) if_present");
    same("acc declare copyin(a) create(b) device_resident(c) link(x)");
    same("acc update self(a) device(b[0:n]) if_present async(1)");
    same("acc update host(a)");
}

#[test]
fn older_words() {
    becomes("acc data pcopy(a) present_or_copy(b)", "acc data copy(a) copy(b)");
    becomes("acc data pcopyin(a) present_or_copyin(b)", "acc data copyin(a) copyin(b)");
    becomes("acc data pcopyout(a) present_or_copyout(b)", "acc data copyout(a) copyout(b)");
    becomes("acc data pcreate(a) present_or_create(b)", "acc data create(a) create(b)");
    becomes("acc parallel dtype(NVIDIA) async", "acc parallel device_type(nvidia) async");
}

#[test]
fn commas_between_clauses_are_optional() {
    becomes("acc parallel copy(a), async(1),wait", "acc parallel copy(a) async(1) wait");
    becomes("acc enter data, copyin(a)", "acc enter data copyin(a)");
}

#[test]
fn loops() {
    same("acc loop");
    same("acc loop gang(num: n, static: *) worker(num: 4) vector(length: 32)");
    same("acc loop gang(4) worker(2) vector(n)");
    same("acc loop gang(dim: 2)");
    same("acc loop gang(static: n * 2)");
    same("acc loop collapse(force: 2) tile(4, *, n)");
    same("acc loop auto");
    same("acc loop independent private(x) reduction(&&: y) reduction(||: c)");
    same(
        "acc loop reduction(*: x) reduction(&: y) reduction(|: c) reduction(^: n) reduction(min: i)",
    );
}

#[test]
fn groups_of_device_types() {
    same(
        "acc parallel copy(a) device_type(nvidia) num_gangs(8) device_type(host, multicore) async(2) device_type(*) num_gangs(1)",
    );
    same("acc loop gang device_type(nvidia) vector(128) device_type(*)");
    let construct = understood("acc loop gang device_type(nvidia, host) vector seq").construct;
    assert_eq!(construct.groups.len(), 1);
    assert_eq!(construct.groups[0].types, ["nvidia", "host"]);
    let groups: Vec<Option<u16>> = construct.clauses.iter().map(|it| it.group).collect();
    assert_eq!(groups, [None, Some(0), Some(0)]);
    same("acc update self(a) device_type(nvidia) async(1)");
    same("acc routine seq device_type(nvidia) gang bind(f)");
}

#[test]
fn device_control() {
    same("acc init");
    same("acc init device_type(nvidia, host) device_num(1) if(c)");
    same("acc shutdown device_type(*)");
    same("acc set device_num(n) device_type(default) default_async(2)");
    let construct = understood("acc init device_type(nvidia)").construct;
    assert!(construct.groups.is_empty(), "selects devices, opens no group");
    same("acc wait");
    same("acc wait(1, n) async(3) if(c)");
    same("acc wait(devnum: 1 : queues: 2, 3)");
    same("acc wait(devnum: 1 : 2)");
    same("acc wait(queues: 2)");
}

#[test]
fn the_rest() {
    same("acc cache(a[i:4], b)");
    same("acc cache(readonly: a[i:4])");
    same("acc atomic");
    same("acc atomic capture if(c)");
    same("acc atomic read");
    same("acc atomic write");
    same("acc atomic update");
    same("acc routine seq");
    same("acc routine(f) gang(dim: 2) bind(\"f_device\") nohost");
    same("acc data pipe(a[0:n])");
    same("acc parallel pipein(a) pipeout(b)");
}

#[test]
fn shapes() {
    let shape = |line| understood(line).shape;
    assert_eq!(shape("acc parallel loop"), Shape::Prefix);
    assert_eq!(shape("acc data copy(a)"), Shape::Prefix);
    assert_eq!(shape("acc host_data use_device(p)"), Shape::Prefix);
    assert_eq!(shape("acc atomic"), Shape::Prefix);
    assert_eq!(shape("acc routine seq"), Shape::Prefix);
    assert_eq!(shape("acc routine(f) seq"), Shape::Standalone);
    for line in ["acc wait", "acc update self(a)", "acc cache(a[0:1])", "acc enter data create(a)"]
    {
        assert_eq!(shape(line), Shape::Standalone, "{line}");
    }
}

#[test]
fn leaves() {
    let leaves = |line| understood(line).construct.leaves;
    assert_eq!(leaves("acc parallel loop"), [Leaf::Offload, Leaf::Teams, Leaf::Loop]);
    assert_eq!(leaves("acc serial loop"), [Leaf::Offload, Leaf::Loop]);
    assert_eq!(leaves("acc kernels loop"), [Leaf::Kernels, Leaf::Loop]);
    assert_eq!(leaves("acc serial"), [Leaf::Offload]);
}

#[test]
fn implicit_rules_of_regions() {
    let both_ways = Implicit::Map(Motion::ToFrom, Presence::Any);
    let parallel = rules("acc parallel");
    assert_eq!(parallel.mapping.scalar.implicit, Implicit::FirstPrivate);
    assert_eq!(parallel.mapping.aggregate.implicit, both_ways);
    assert_eq!(parallel.mapping.pointer.implicit, Implicit::PointerToMapped);
    assert!(parallel.yields_to_data_region && parallel.copies_per_team && parallel.holds_data);
    assert_eq!(rules("acc serial"), parallel);
    assert_eq!(rules("acc kernels").mapping.scalar.implicit, both_ways);
    assert_eq!(rules("acc kernels").mapping.pointer.implicit, Implicit::PointerToMapped);
    assert!(!rules("acc kernels").copies_per_team);
    let none = rules("acc parallel default(none)");
    assert_eq!(none.mapping.aggregate.naming, Naming::Required);
    assert_eq!(none.mapping.scalar.naming, Naming::Advised);
    assert_eq!(none.mapping.scalar.implicit, Implicit::FirstPrivate);
    let present = rules("acc kernels default(present)");
    assert_eq!(
        present.mapping.aggregate.implicit,
        Implicit::Map(Motion::Alloc, Presence::Required)
    );
    assert_eq!(present.mapping.scalar.implicit, both_ways);
    assert!(parallel.redundant_teams && !rules("acc data copy(a)").redundant_teams);
    assert!(rules("acc parallel loop").plain_nests && rules("acc loop").plain_nests);
    assert!(rules("acc data copy(a)").holds_data);
    assert!(!rules("acc enter data copyin(a)").holds_data);
    assert!(rules("acc enter data attach(p)").counts_attachments);
    assert!(rules("acc exit data delete(a)").whole_presence);
}

#[test]
fn implicit_rules_of_loops() {
    let trust = |line| rules(line).loop_trust;
    assert_eq!(trust("acc loop"), LoopTrust::Independent);
    assert_eq!(trust("acc loop auto"), LoopTrust::Prove);
    assert_eq!(trust("acc loop seq"), LoopTrust::Sequential);
    assert_eq!(trust("acc parallel loop"), LoopTrust::Independent);
    assert_eq!(trust("acc parallel"), LoopTrust::NotApplicable);
    assert_eq!(trust("acc kernels"), LoopTrust::Prove);
    assert_eq!(trust("acc kernels loop"), LoopTrust::Prove);
    assert_eq!(trust("acc kernels loop independent"), LoopTrust::Independent);
    assert_eq!(trust("acc routine seq"), LoopTrust::NotApplicable);
    // A clause for some devices does not hold for all.
    assert_eq!(trust("acc loop device_type(host) seq"), LoopTrust::Independent);
    assert!(rules("acc parallel loop num_gangs(1)").any_order && !rules("acc serial").any_order);
}

#[test]
fn absent_data_stops_an_update() {
    assert_eq!(rules("acc update self(a)").on_absent, OnAbsent::Error);
    assert_eq!(rules("acc update self(a) if_present").on_absent, OnAbsent::Ignore);
    assert_eq!(rules("acc exit data delete(a)").on_absent, OnAbsent::Ignore);
}

#[test]
fn unknown_words_are_named() {
    faults("acc paralel", &[("F0302", "paralel")]);
    faults("acc", &[("F0301", "")]);
    faults("acc parallel copyn(a)", &[("F0304", "copyn")]);
    faults("acc data copy(a) reduction(+: x)", &[("F0305", "reduction")]);
    faults("acc parallel copyin(readnly: a)", &[("F0312", "readnly")]);
    faults("acc data present(zero: a)", &[("F0312", "zero")]);
    faults("acc parallel default(shared)", &[("F0312", "shared")]);
    faults("acc loop gang(size: 4)", &[("F0312", "size")]);
    faults("acc loop worker(length: 4)", &[("F0312", "length")]);
    faults("acc loop collapse(must: 2)", &[("F0312", "must")]);
    faults("acc parallel reduction(plus: x)", &[("F0333", "plus")]);
    faults("acc cache(write: a[0:1])", &[("F0312", "write")]);
}

#[test]
fn suggestions() {
    let help = |line| read(line).faults[0].helps.clone();
    assert_eq!(help("acc paralel"), ["did you mean `parallel`?"]);
    assert_eq!(help("acc enter dta copyin(a)"), ["did you mean `enter data`?"]);
    assert_eq!(help("acc parallel copyn(a)"), ["did you mean `copy`?"]);
    assert_eq!(help("acc parallel copyin(readnly: a)"), ["did you mean `readonly`?"]);
}

#[test]
fn one_fault_does_not_hide_the_next() {
    faults(
        "acc parallel copyn(a) num_gangs() if(c) if(n) nothing(1)",
        &[("F0304", "copyn"), ("F0311", ")"), ("F0306", "if"), ("F0304", "nothing")],
    );
}

#[test]
fn counts() {
    faults("acc loop seq auto", &[("F0307", "auto")]);
    faults("acc routine gang worker", &[("F0307", "worker")]);
    faults("acc atomic read write", &[("F0307", "write")]);
    faults("acc parallel num_gangs(1) num_gangs(2)", &[("F0306", "num_gangs")]);
    faults("acc parallel num_gangs(1, 2, 3, 4)", &[("F0332", "1, 2, 3, 4")]);
    faults("acc loop gang(num: 1, num: 2)", &[("F0318", "num: 2")]);
    // Once for each group.
    understood("acc parallel num_gangs(1) device_type(host) num_gangs(2)");
}

#[test]
fn what_is_missing() {
    faults("acc update async", &[("F0313", "update")]);
    faults("acc enter data async", &[("F0313", "enter data")]);
    faults("acc exit data finalize", &[("F0313", "exit data")]);
    faults("acc host_data", &[("F0313", "host_data")]);
    faults("acc set if(c)", &[("F0313", "set")]);
    faults("acc declare", &[("F0313", "declare")]);
    faults("acc routine", &[("F0335", "routine")]);
    faults("acc data copy", &[("F0308", "")]);
    faults("acc data copy()", &[("F0311", ")")]);
    faults("acc data copy(a", &[("F0310", "(")]);
    faults("acc loop seq(1)", &[("F0309", "(")]);
    faults("acc cache", &[("F0311", "")]);
}

#[test]
fn groups_hold_what_may_differ() {
    faults("acc parallel device_type(host) copy(a)", &[("F0331", "copy")]);
    faults("acc loop device_type(host) private(x)", &[("F0331", "private")]);
}

/// One warning for a directive, and what is written back.
#[track_caller]
fn subscripts(line: &str, standard: &str) {
    let outcome = read(line);
    assert_eq!(outcome.faults.iter().map(|it| it.code).collect::<Vec<_>>(), ["F0336"], "{line}");
    let construct = outcome.directive.expect("it is understood").construct;
    assert_eq!(write(&construct, OPENACC).expect("it has a text"), standard, "{line}");
}

#[test]
fn subscripts_are_dimensions() {
    subscripts(
        "acc parallel num_gangs[0](n / 8) num_gangs[1](8) num_workers[0](4) num_workers[1](2)",
        "acc parallel num_workers(4) num_gangs(n / 8, 8)",
    );
    subscripts("acc parallel num_gangs[1](8)", "acc parallel num_gangs(1, 8)");
    subscripts("acc loop gang[1] worker[1]", "acc loop gang(dim: 2)");
    subscripts("acc loop gang[0](static: 4) worker[0]", "acc loop gang(static: 4, dim: 1) worker");
    subscripts("acc loop vector[0](32)", "acc loop vector(32)");
}

#[test]
fn subscripts_that_are_no_dimension() {
    faults("acc loop gang[3]", &[("F0337", "[")]);
    faults("acc loop gang[i] wrker", &[("F0337", "["), ("F0304", "wrker")]);
    faults("acc loop gang[1 + 1](4) seq", &[("F0337", "[")]);
    faults("acc loop gang[", &[("F0337", "[")]);
    faults("acc loop tile[0](8)", &[("F0334", "[")]);
    faults("omp teams num_teams[0](8)", &[("F0334", "[")]);
    faults("acc loop gang[0] gang[0]", &[("F0336", "gang[0]"), ("F0306", "gang")]);
    faults(
        "acc parallel num_gangs(4) num_gangs[1](8)",
        &[("F0306", "num_gangs"), ("F0336", "num_gangs[1](8)")],
    );
    faults(
        "acc parallel num_gangs[0](4, 8)",
        &[("F0332", "num_gangs[0](4, 8)"), ("F0336", "num_gangs[0](4, 8)")],
    );
}

#[test]
fn a_typedef_does_not_confuse() {
    same("acc parallel if(sizeof(T) > 2) copy(p[0:(T)n])");
}
