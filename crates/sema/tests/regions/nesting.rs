//! What may stand where.

use super::support::{bad, bad_body, good, good_body};

#[test]
fn all_threads_come_by_worksharing_and_barriers() {
    let inside = |outer: &str, inner: &str| {
        format!("#pragma omp parallel\n{{\n#pragma omp {outer}\n{{\n{inner}\n}}\n}}")
    };
    let each = "#pragma omp for\nfor (i = 0; i < n; i++) ;";
    bad_body(&inside("single", each), &["F0550 | for"]);
    bad_body(&inside("critical", each), &["F0550 | for"]);
    bad_body(&inside("task", each), &["F0550 | for"]);
    bad_body(&inside("masked", "#pragma omp barrier"), &["F0550 | barrier"]);
    bad_body(&inside("task", "#pragma omp master\nuse(1);"), &["F0550 | master"]);
    good_body(&inside("single", "#pragma omp parallel for\nfor (i = 0; i < n; i++) ;"));
    good_body("#pragma omp parallel\n{\n#pragma omp barrier\n}");
}

#[test]
fn teams_hold_what_deals_with_teams() {
    bad_body("#pragma omp target teams\n{\n#pragma omp single\nuse(1);\n}", &["F0551 | single"]);
    good_body("#pragma omp target teams\n{\n#pragma omp distribute\nfor (i = 0; i < n; i++) ;\n}");
    good_body(
        "#pragma acc parallel\n{\n#pragma acc atomic\nx++;\n#pragma acc loop\nfor (i = 0; i < n; i++) ;\n}",
    );
    bad_body(
        "#pragma omp parallel\n{\n#pragma omp distribute\nfor (i = 0; i < n; i++) ;\n}",
        &["F0552 | distribute"],
    );
    bad_body("#pragma omp parallel\n{\n#pragma omp teams\n;\n}", &["F0552 | teams"]);
    bad_body(
        "#pragma omp target\n{\n#pragma omp teams\n;\n#pragma omp parallel\n;\n}",
        &["F0555 | parallel"],
    );
    good_body("#pragma omp target\n{\n#pragma omp teams\n;\n}");
}

#[test]
fn lanes_run_little_else() {
    bad_body(
        "#pragma omp simd\nfor (i = 0; i < n; i++) {\n#pragma omp critical\nuse(1);\n}",
        &["F0550 | critical"],
    );
    good_body("#pragma omp simd\nfor (i = 0; i < n; i++) {\n#pragma omp atomic\nx++;\n}");
}

#[test]
fn a_critical_region_is_not_entered_twice() {
    bad_body(
        "#pragma omp critical (one)\n{\n#pragma omp critical (one)\nuse(1);\n}",
        &["F0553 | critical (one)"],
    );
    good_body("#pragma omp critical (one)\n{\n#pragma omp critical (two)\nuse(1);\n}");
}

#[test]
fn order_is_kept_in_loops_that_say_so() {
    let nest = |clause: &str, inner: &str| {
        format!(
            "#pragma omp parallel for {clause}\nfor (i = 1; i < n; i++) {{\n#pragma omp {inner}\n}}"
        )
    };
    bad_body(&nest("", "ordered\nuse(1);"), &["F0552 | ordered"]);
    good_body(&nest("ordered", "ordered\nuse(1);"));
    bad_body(&nest("", "ordered depend(source)"), &["F0552 | ordered depend(source)"]);
    bad_body(
        &nest("ordered(1)", "ordered depend(sink: i - 1, i)"),
        &["F0557 | depend(sink: i - 1, i)"],
    );
    good_body(&nest("ordered(1)", "ordered depend(sink: i - 1)"));
}

#[test]
fn cancel_stands_in_what_it_ends() {
    bad_body("#pragma omp parallel\n{\n#pragma omp cancel for\n}", &["F0552 | cancel for"]);
    good_body("#pragma omp parallel\n{\n#pragma omp cancel parallel\n}");
    good_body("#pragma omp parallel for\nfor (i = 0; i < n; i++) {\n#pragma omp cancel for\n}");
}

#[test]
fn a_scan_has_its_reduction_and_its_point() {
    let nest = |clause: &str, inner: &str| {
        format!(
            "#pragma omp parallel for {clause}\nfor (i = 0; i < n; i++) {{ x += i;\n{inner}\na[i] = x; }}"
        )
    };
    bad_body(&nest("reduction(inscan, +:x)", ""), &["F0556 | reduction(inscan, +:x)"]);
    bad_body(
        &nest("reduction(+:x)", "#pragma omp scan inclusive(x)"),
        &["F0552 | scan inclusive(x)"],
    );
    good_body(&nest("reduction(inscan, +:x)", "#pragma omp scan inclusive(x)"));
    bad_body(
        &nest("reduction(inscan, +:x)", "{\n#pragma omp scan inclusive(x)\n}"),
        &["F0552 | scan inclusive(x)"],
    );
    bad_body(
        &nest("reduction(inscan, +:x)", "if (n > 3) {\n#pragma omp scan inclusive(x)\n}"),
        &["F0552 | scan inclusive(x)"],
    );
}

#[test]
fn the_phases_of_a_scan_share_no_locals() {
    let nest = |kind: &str, before: &str, after: &str| {
        format!(
            "#pragma omp parallel for reduction(inscan, +:x)\nfor (i = 0; i < n; i++) {{\n{before}\n\
             #pragma omp scan {kind}(x)\n{after}\n}}"
        )
    };
    for kind in ["inclusive", "exclusive"] {
        bad_body(&nest(kind, "int here = i;", "x += 1 + here;"), &["F0561 | here"]);
        bad_body(
            &nest(kind, "int k = i, l[2] = {i, i};", "if (i) { int z = l[1]; x += z + k; }"),
            &["F0561 | k", "F0561 | l"],
        );
        bad_body(
            &nest(kind, "static int kept;", "for (int j = 0; j < 3; j++) kept++;"),
            &["F0561 | kept"],
        );
        good_body(&nest(kind, "int here = i; x += here;", "{ int here = i; a[here] = x; }"));
        good_body(&nest(kind, "{ int here = i; x += here; }", "a[i] = x;"));
        good_body(&nest(kind, "int here = i; x += here;", "a[i] = x;"));
    }
}

#[test]
fn device_code_does_not_offload() {
    bad_body("#pragma omp target\n{\n#pragma omp target\n;\n}", &["F0554 | target"]);
    bad_body("#pragma acc parallel\n{\n#pragma acc parallel\n;\n}", &["F0550 | parallel"]);
    good_body("#pragma omp target data map(a)\n{\n#pragma omp target\n;\n}");
}

#[test]
fn a_loop_has_somebody_to_run_it() {
    bad("void f(int n) {\n#pragma acc loop\nfor (int i = 0; i < n; i++) ;\n}\n", &["F0574 | loop"]);
    good(
        "#pragma acc routine gang\nvoid f(int n) {\n#pragma acc loop\nfor (int i = 0; i < n; i++) ;\n}\n",
    );
    bad("void f(int n) {\n#pragma omp loop\nfor (int i = 0; i < n; i++) ;\n}\n", &["F0552 | loop"]);
    good("void f(int n) {\n#pragma omp loop bind(thread)\nfor (int i = 0; i < n; i++) ;\n}\n");
}

#[test]
fn levels_nest_from_wide_to_narrow() {
    let nest = |outer: &str, inner: &str| {
        format!(
            "#pragma acc parallel loop {outer}\nfor (i = 0; i < n; i++) {{\n\
             #pragma acc loop {inner}\nfor (j = 0; j < n; j++) b[i][j] = 0;\n}}"
        )
    };
    bad_body(&nest("gang", "gang"), &["F0570 | gang"]);
    bad_body(&nest("vector", "worker"), &["F0570 | worker"]);
    good_body(&nest("gang worker", "vector"));
    let kernels = |outer, inner| nest(outer, inner).replace("parallel loop", "kernels loop");
    bad_body(&kernels("gang worker", "gang worker"), &["F0577 | gang"]);
    bad_body(&kernels("worker", "gang"), &["F0570 | gang"]);
    good_body(&nest("gang(dim:2)", "gang(dim:1)"));
}

#[test]
fn what_acts_stands_in_a_function() {
    bad("#pragma omp target\nint x;\n", &["F0558 | target"]);
    bad("#pragma acc parallel loop\nvoid f(void) {}\n", &["F0558 | parallel loop"]);
    bad("#pragma omp parallel\n;\n", &["F0558 | parallel"]);
    bad("#pragma omp barrier\n", &["F0558 | barrier"]);
    good("#pragma omp nothing\nint x;\n#pragma omp threadprivate(x)\n");
}

#[test]
fn a_directive_is_no_statement() {
    for (directive, name) in [
        ("omp taskwait", "taskwait"),
        ("omp flush", "flush"),
        ("omp target update to(x)", "target update to(x)"),
        ("acc wait", "wait"),
        ("acc enter data copyin(x)", "enter data copyin(x)"),
    ] {
        let fault = format!("F0559 | {name}");
        for head in ["if (n)", "if (n) ; else", "while (n--)", "for (; n; n--)", "switch (n)"] {
            bad_body(&format!("{head}\n#pragma {directive}\nm = 2;"), &[&fault]);
            good_body(&format!("{head} {{\n#pragma {directive}\n}} m = 2;"));
        }
        bad_body(&format!("do\n#pragma {directive}\nwhile (n--);"), &[&fault]);
        good_body(&format!("if (n) goto out;\nout:\n#pragma {directive}\nm = 2;"));
    }
    good_body("if (n)\n#pragma omp parallel\nuse(1);");
    good_body("if (n)\n#pragma omp nothing\nm = 2;");
}
