//! List items, numbers, and clauses that contradict.

use super::support::{bad, bad_body, good, good_body};

#[test]
fn one_variable_has_one_role() {
    bad_body("#pragma omp parallel private(x) shared(x)\nx = 1;", &["F0523 | x"]);
    bad_body("#pragma omp target map(x) firstprivate(x)\nx = 1;", &["F0523 | x"]);
    good_body("#pragma omp target map(tofrom: x) shared(x)\nx = 1;");
    bad_body("#pragma omp parallel private(x) reduction(+:x)\nx = 1;", &["F0523 | x"]);
    bad_body("#pragma omp parallel reduction(+:x) reduction(*:x)\nx = 1;", &["F0523 | x"]);
    bad_body("#pragma omp parallel private(x) private(x)\nx = 1;", &["F0524 | x"]);
    good_body(
        "#pragma omp parallel for firstprivate(x) lastprivate(x)\nfor (i = 0; i < n; i++) x = i;",
    );
}

#[test]
fn lists_name_variables() {
    bad_body("#pragma omp parallel private(a[0:2])\n;", &["F0530 | a[0:2]"]);
    bad_body("#pragma omp parallel firstprivate(s.a)\n;", &["F0530 | s.a"]);
    bad_body("#pragma omp target map(3)\n;", &["F0530 | 3"]);
    bad_body("#pragma omp target map(get())\n;", &["F0530 | get()"]);
    good_body("#pragma acc parallel private(a[0:2])\n;");
    good_body("#pragma omp target map(s.a, p[0:n])\n;");
}

#[test]
fn what_is_not_in_the_copied_part_is_not_used() {
    let used = |clause: &str, code: &str| format!("#pragma acc serial {clause}\n{code}");
    bad_body(&used("private(a[0:4])", "a[4] = a[3];"), &["F0592 | a[4]"]);
    bad_body(&used("firstprivate(a[2:4])", "a[1] = a[5];"), &["F0592 | a[1]"]);
    bad_body(&used("private(b[1:2][0:3])", "b[1][3] = b[2][2];"), &["F0592 | b[1][3]"]);
    good_body(&used("private(a[0:n])", "a[40] = 1;"));
    good_body(&used("private(a)", "a[40] = 1;"));
    good_body(&used("private(a[0:4])", "a[n] = 1;"));
    good_body(&used("copy(a[0:4]) private(x)", "a[3] = 1;"));
}

#[test]
fn mapped_objects_have_a_size() {
    bad(
        "extern int open[];\nvoid f(void) {\n#pragma omp target map(open)\nopen[0] = 1;\n}\n",
        &["F0531 | open"],
    );
    good(
        "extern int open[];\nvoid f(void) {\n#pragma omp target map(open[0:3])\nopen[0] = 1;\n}\n",
    );
    bad(
        "struct bits { int a : 3; int b; } v;\nvoid f(void) {\n#pragma omp target map(v.a)\n;\n}\n",
        &["F0530 | v.a"],
    );
}

#[test]
fn sections_stay_in_their_array() {
    bad_body("#pragma omp target map(a[0:101])\n;", &["F0532 | a[0:101]"]);
    bad_body("#pragma omp target map(a[60:50])\n;", &["F0532 | a[60:50]"]);
    bad_body("#pragma omp target map(a[-1:2])\n;", &["F0532 | -1"]);
    bad_body("#pragma omp target map(a[0:-2])\n;", &["F0532 | -2"]);
    bad_body("#pragma omp target map(p[0:])\n;", &["F0532 | p[0:]"]);
    bad_body("#pragma omp target update to(a[0:10:0])\n", &["F0532 | 0"]);
    bad_body("#pragma omp target map(b[9:1][5:6])\n;", &["F0532 | b[9:1][5:6]"]);
    bad_body("#pragma omp target map(b[0:10][5:5])\n;", &["F0532 | b[0:10][5:5]"]);
    bad_body("#pragma acc parallel copy(a[0:101])\n;", &["F0532 | a[0:101]"]);
    good_body("#pragma omp target map(a[0:100], b[2:1][5:5], p[-1:n]) map(a[100:0])\n;");
    good_body("#pragma omp target update to(a[0:50:2])\n");
}

#[test]
fn constants_and_thread_variables_have_no_copies() {
    bad_body("#pragma omp parallel private(k)\n;", &["F0533 | k"]);
    bad_body("#pragma omp parallel reduction(+:k)\n;", &["F0533 | k"]);
    good_body("#pragma omp parallel firstprivate(k)\n;");
    let text = |clause: &str| {
        format!(
            "int t, g;\n#pragma omp threadprivate(t)\nvoid f(void) {{\n#pragma omp parallel {clause}\n;\n}}\n"
        )
    };
    bad(&text("private(t)"), &["F0534 | t"]);
    bad(&text("copyin(g)"), &["F0535 | g"]);
    good(&text("copyin(t) private(g)"));
}

#[test]
fn types_fit_their_clauses() {
    let simd = |clause: &str| format!("#pragma omp simd {clause}\nfor (i = 0; i < n; i++) x++;");
    bad_body(&simd("linear(e)"), &["F0536 | e"]);
    bad_body(&simd("aligned(x)"), &["F0536 | x"]);
    good_body(&simd("linear(x) aligned(p, a : 16)"));
    bad_body("#pragma omp target is_device_ptr(x)\n;", &["F0536 | x"]);
    bad_body("#pragma acc parallel deviceptr(x)\n;", &["F0536 | x"]);
    bad_body("#pragma omp target data use_device_ptr(x) map(x)\n;", &["F0536 | x"]);
    good_body("#pragma acc parallel deviceptr(p)\n;");
}

#[test]
fn values_can_be_reduced() {
    bad_body("#pragma omp parallel reduction(&:e)\n;", &["F0537 | e"]);
    bad_body("#pragma omp parallel reduction(max:s)\n;", &["F0537 | s"]);
    bad_body("#pragma omp parallel reduction(+:s)\n;", &["F0537 | s"]);
    bad_body("#pragma acc parallel reduction(|:e)\n;", &["F0537 | e"]);
    bad_body("#pragma omp parallel reduction(mine:x)\n;", &["F0538 | x"]);
    good_body(
        "#pragma omp parallel reduction(&&:e) reduction(max:d) reduction(+:a, b[0:2][0:10])\n;",
    );
    let text = |op: &str| {
        format!(
            "struct v {{ int a; }} s; int x;\n\
             #pragma omp declare reduction(mine : struct v : omp_out.a += omp_in.a)\n\
             #pragma omp declare reduction(+ : struct v : omp_out.a += omp_in.a)\n\
             void f(void) {{\n#pragma omp parallel reduction({op})\n;\n}}\n"
        )
    };
    good(&text("mine:s"));
    good(&text("+:s"));
    bad(&text("mine:x"), &["F0538 | x"]);
    bad(&text("*:s"), &["F0537 | s"]);
}

#[test]
fn only_copies_are_allocated() {
    bad_body("#pragma omp parallel allocate(x)\n;", &["F0539 | x"]);
    good_body("#pragma omp parallel allocate(x) private(x)\n;");
}

#[test]
fn numbers_are_positive_constant_integers_where_they_must_be() {
    let simd = |clause: &str| format!("#pragma omp simd {clause}\nfor (i = 0; i < n; i++) x++;");
    bad_body(&simd("collapse(0)"), &["F0540 | 0"]);
    bad_body(&simd("safelen(-4)"), &["F0540 | -4"]);
    bad_body(&simd("simdlen(n)"), &["F0541 | n"]);
    good_body(&simd("simdlen(4) safelen(2 * 4) collapse(1)"));
    bad_body("#pragma omp parallel num_threads(0)\n;", &["F0540 | 0"]);
    bad_body("#pragma omp parallel num_threads(e)\n;", &["F0542 | e"]);
    good_body("#pragma omp parallel num_threads(n)\n;");
    bad_body("#pragma omp target teams num_teams(-1)\n;", &["F0540 | -1"]);
    bad_body("#pragma acc parallel num_gangs(0)\n;", &["F0540 | 0"]);
    bad_body("#pragma acc parallel vector_length(2.5)\n;", &["F0542 | 2.5"]);
    good_body("#pragma acc parallel num_gangs(n) vector_length(128)\n;");
}

#[test]
fn conditions_are_true_or_false() {
    bad_body("#pragma omp parallel if(s)\n;", &["F0536 | s"]);
    bad_body("#pragma acc parallel if(s)\n;", &["F0536 | s"]);
    bad_body("#pragma omp task final(s)\n;", &["F0536 | s"]);
    good_body("#pragma omp parallel if(e)\n;\n#pragma acc parallel if(p) self(n)\n;");
}

#[test]
fn an_order_is_for_all_of_memory() {
    bad_body("#pragma omp flush(x) acquire", &["F0548 | acquire"]);
    good_body("#pragma omp flush acquire\n#pragma omp flush(x)");
}

#[test]
fn hints_are_for_one_lock() {
    bad_body("#pragma omp critical hint(1)\nx++;", &["F0549 | hint(1)"]);
    good_body("#pragma omp critical hint(0)\nx++;\n#pragma omp critical(c) hint(1)\nx++;");
}

#[test]
fn sections_have_elements_of_known_size() {
    let text = |list: &str| {
        format!(
            "struct far; void f(struct far *p, int *q) {{\n#pragma omp target map({list})\n;\n}}\n"
        )
    };
    bad(&text("p[0:1]"), &["F0529 | p[0:1]"]);
    good(&text("q[0:1]"));
}

#[test]
fn data_is_held_one_way() {
    bad_body("#pragma acc parallel copyin(a) copyout(a)\na[0] = 1;", &["F0524 | a"]);
    bad_body("#pragma acc data copyin(a) present(a)\n;", &["F0523 | a"]);
    bad_body("#pragma acc data copyin(a) copyin(a)\n;", &["F0524 | a"]);
    bad_body("#pragma acc parallel private(x) copy(x)\nx = 1;", &["F0523 | x"]);
    bad_body("#pragma acc kernels copy(x) deviceptr(p) create(p)\n;", &["F0523 | p"]);
    good_body("#pragma acc parallel loop private(x) copy(x)\nfor (i = 0; i < n; i++) x = i;");
    good_body("#pragma acc parallel reduction(+:x) copy(x)\nx++;");
    good_body("#pragma acc data copyin(a[0:5]) copyout(a[5:5])\n;");
}

#[test]
fn updates_go_one_way() {
    bad_body("#pragma omp target update to(x) from(x)", &["F0523 | x"]);
    bad_body("#pragma acc update self(x) device(x)", &["F0523 | x"]);
    bad_body("#pragma omp target update to(x) to(x)", &["F0524 | x"]);
    good_body("#pragma omp target update to(x) from(y)");
    bad_body("#pragma omp target update to(a[0:n]) from(a[0:n])", &["F0523 | a[0:n]"]);
    bad_body("#pragma acc update self(p[n:m]) device(p[n:m])", &["F0523 | p[n:m]"]);
    bad_body("#pragma omp target update to(p[:4]) to(p[:4])", &["F0524 | p[:4]"]);
    bad_body("#pragma acc update self(s.a, b[1][0:2]) device(s.a)", &["F0523 | s.a"]);
    good_body("#pragma omp target update to(a[0:n]) from(a[n:m])");
    good_body("#pragma omp target update to(a[0:4]) from(a[4:])");
    good_body("#pragma omp target update to(p[:4]) from(p[4:4])");
    good_body("#pragma acc update self(s.a) device(s.b)");
}

#[test]
fn clauses_that_contradict() {
    bad_body(
        "#pragma omp simd simdlen(8) safelen(4)\nfor (i = 0; i < n; i++) x++;",
        &["F0543 | safelen(4)"],
    );
    bad_body(
        "#pragma omp for collapse(2) ordered(1)\nfor (i = 0; i < n; i++) for (j = 0; j < n; j++) ;",
        &["F0543 | ordered(1)"],
    );
    bad_body(
        "#pragma omp parallel private(x)\n{\n#pragma omp single copyprivate(x) nowait\nx = 1;\n}",
        &["F0543 | nowait"],
    );
    bad_body(
        "#pragma omp for schedule(auto, 4)\nfor (i = 0; i < n; i++) ;",
        &["F0546 | schedule(auto, 4)"],
    );
    good_body("#pragma omp for schedule(dynamic, 4)\nfor (i = 0; i < n; i++) ;");
}

#[test]
fn the_way_back_to_the_host_is_asked_for() {
    let text = |head: &str| {
        format!("{head}void f(void) {{\n#pragma omp target device(ancestor: 1)\n;\n}}\n")
    };
    bad(&text(""), &["F0545 | device(ancestor: 1)"]);
    good(&text("#pragma omp requires reverse_offload\n"));
}

#[test]
fn copies_of_shared_work_stand_for_a_shared_variable() {
    let text = |outer: &str, inner: &str| {
        format!(
            "#pragma omp parallel {outer}\n{{\n#pragma omp for {inner}\nfor (i = 0; i < n; i++) x = i;\n}}"
        )
    };
    for outer in ["private(x)", "firstprivate(x)", "reduction(+:x)"] {
        bad_body(&text(outer, "reduction(+:x)"), &["F0522 | x"]);
        bad_body(&text(outer, "lastprivate(x)"), &["F0525 | x"]);
        bad_body(&text(outer, "firstprivate(x)"), &["F0525 | x"]);
        good_body(&text(outer, "private(x)"));
    }
    for inner in ["reduction(+:x)", "lastprivate(x)", "firstprivate(x)"] {
        good_body(&text("", inner));
        good_body(&text("shared(x)", inner));
    }
    bad_body(
        "#pragma omp parallel\n{ int t = 1;\n#pragma omp single firstprivate(t)\nuse(t);\n}",
        &["F0525 | t"],
    );
}

#[test]
fn what_one_thread_hands_on_the_others_have_too() {
    let single = "#pragma omp single copyprivate(x)\nx = 1;";
    bad_body(&format!("#pragma omp parallel\n{{\n{single}\n}}"), &["F0526 | x"]);
    good_body(&format!("#pragma omp parallel private(x)\n{{\n{single}\n}}"));
    good_body(&format!("#pragma omp parallel\n{{ int x;\n{single}\n}}"));
    good_body(single);
    bad_body("#pragma omp single copyprivate(d)\nd = 1;", &["F0526 | d"]);
    good(
        "int x;\n#pragma omp threadprivate(x)\n\
         void f(void) {\n#pragma omp single copyprivate(x)\nx = 1;\n}\n",
    );
}
