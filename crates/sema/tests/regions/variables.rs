//! Sharing and mapping of variables, and why.

use super::support::{bad, bad_body, good, good_body, labels, variables, within};

#[track_caller]
fn check(body: &str, expected: &[&str]) {
    assert_eq!(variables(&within(body)), expected, "{body}");
}

#[test]
fn parallel_shares_and_clauses_copy() {
    check(
        "#pragma omp parallel private(x) firstprivate(y) reduction(+:e)\n{ x = y; e += x + n; a[x] = 1; }",
        &[
            "parallel:",
            "  x -w Private (clause 0)",
            "  y r- FirstPrivate (clause 1)",
            "  e rw Reduction (clause 2)",
            "  n r- Shared (SharedDefault)",
            "  a -w Shared (SharedDefault)",
        ],
    );
}

#[test]
fn loop_variables_are_private_or_linear() {
    check(
        "#pragma omp parallel for lastprivate(x)\nfor (i = 0; i < n; i++) x = i;",
        &[
            "parallel for:",
            "  x -w LastPrivate (clause 0)",
            "  i -w Private (LoopVariable)",
            "  n r- Shared (SharedDefault)",
        ],
    );
    check(
        "#pragma omp simd\nfor (i = 0; i < 8; i++) a[i] = i;",
        &["simd:", "  i -w Linear (LaneLoopVariable)", "  a -w Shared (StaticStorage)"],
    );
}

#[test]
fn a_private_copy_hides_the_variable_from_regions_around() {
    check(
        "#pragma omp parallel\n{\n#pragma omp for private(x)\nfor (i = 0; i < n; i++) x = i;\n}",
        &[
            "parallel:",
            "  n r- Shared (SharedDefault)",
            "for:",
            "  x -w Private (clause 0)",
            "  i -w Private (LoopVariable)",
            "  n r- Shared (EnclosingShared)",
        ],
    );
}

#[test]
fn tasks_copy_what_is_not_shared_around_them() {
    check(
        "#pragma omp parallel private(x)\n{ int own = 0;\n#pragma omp task\nuse(x + y + own + a[0]);\n}",
        &[
            "parallel:",
            "  x r- Private (clause 0)",
            "  y r- Shared (SharedDefault)",
            "  a r- Shared (SharedDefault)",
            "task:",
            "  x r- FirstPrivate (TaskCopy)",
            "  y r- Shared (EnclosingShared)",
            "  own r- FirstPrivate (TaskCopy)",
            "  a r- Shared (StaticStorage)",
        ],
    );
    check(
        "#pragma omp task\nuse(x + a[0]);",
        &["task:", "  x r- FirstPrivate (TaskCopy)", "  a r- Shared (StaticStorage)"],
    );
}

#[test]
fn targets_map_by_kind_of_variable() {
    check(
        "#pragma omp target map(to: q[0:n]) map(x)\n{ x = y + a[0] + s.a + (int)q[0]; use(*p); }",
        &[
            "target:",
            "  n r-",
            "  q r- Map To Any q[0:n] (clause 0)",
            "  x -w Map ToFrom Any (clause 1)",
            "  y r- FirstPrivate (ScalarDefault)",
            "  a r- Map ToFrom Any (AggregateDefault)",
            "  s r- Map ToFrom Any (AggregateDefault)",
            "  p r- PointerToMapped (PointerDefault)",
        ],
    );
}

#[test]
fn combined_constructs_bring_results_back() {
    check(
        "#pragma omp target teams distribute parallel for reduction(+:x) private(y)\n\
         for (i = 0; i < n; i++) { y = i; x += y; }",
        &[
            "target teams distribute parallel for:",
            "  x rw Reduction (clause 0) Map ToFrom Any (ReductionMapped)",
            "  y -w Private (clause 1) Private (clause 1)",
            "  i -w Private (LoopVariable) Private (LoopVariable)",
            "  n r- Shared (SharedDefault) FirstPrivate (ScalarDefault)",
        ],
    );
}

#[test]
fn defaultmap_chooses_by_kind() {
    check(
        "#pragma omp target defaultmap(tofrom: scalar) defaultmap(to: aggregate)\nx = a[0];",
        &[
            "target:",
            "  a r- Map To Any (DefaultMapClause)",
            "  x -w Map ToFrom Any (DefaultMapClause)",
        ],
    );
}

#[test]
fn a_clause_on_an_array_parameter_speaks_of_the_array_where_the_rules_say_so() {
    let of = |directive: &str, change: &str| {
        format!(
            "void f(int n, int m, double a[4][m], double b[n + 1][m], double *p) {{ {change}\n\
             #pragma {directive}\n{{ a[0][0] = b[0][0] + *p; }} }}"
        )
    };
    let is_told = |text: &str, line: &str| {
        let lines = variables(text);
        assert!(lines.iter().any(|it| it.trim() == line), "{line}: {lines:?}");
    };
    let text = of("acc data copy(a, b, p)", "");
    is_told(&text, "a r- Map ToFrom Any a (clause 0)");
    is_told(&text, "b r- Map ToFrom Any b (clause 0)");
    is_told(&text, "p r- Map ToFrom Any (clause 0)");
    let text = of("omp target data map(a, b, p)", "");
    is_told(&text, "a r- Map ToFrom Any (clause 0)");
    // A length that is no longer what it was, or that another name hides, is not known.
    let text = of("acc data copy(b)", "n = 3;");
    is_told(&text, "b r- Map ToFrom Any (clause 0)");
    bad(&text, &["F0519 | b"]);
    let text = of("acc data copy(a, b)", "{ double n;").replace("} }", "} } }");
    bad(&text, &["F0519 | b"]);
    bad("void f(int a[]) {\n#pragma acc data copy(a)\n{ a[0] = 1; } }", &["F0519 | a"]);
    good("void f(int a[]) {\n#pragma acc data present(a)\n{ a[0] = 1; } }");
}

#[test]
fn an_enclosing_data_region_decides_where_the_rules_say_so() {
    check(
        "#pragma acc data copyin(a) create(x)\n{\n#pragma acc parallel\n{ x = a[0] + y; }\n}",
        &[
            "data:",
            "  a r- Map To Any (clause 0)",
            "  x -w Map Alloc Any (clause 1)",
            "parallel:",
            "  a r- Shared (SharedDefault) Map To Any (around: copyin(a))",
            "  y r- FirstPrivate (ScalarDefault) FirstPrivate (ScalarDefault)",
            "  x -w Shared (SharedDefault) Map Alloc Any (around: create(x))",
        ],
    );
    check(
        "#pragma omp target data map(to: a) map(x)\n{\n#pragma omp target\n{ x = a[0]; }\n}",
        &[
            "target data:",
            "  a r- Map To Any (clause 0)",
            "  x -w Map ToFrom Any (clause 1)",
            "target:",
            "  a r- Map ToFrom Any (AggregateDefault)",
            "  x -w FirstPrivate (ScalarDefault)",
        ],
    );
}

#[test]
fn kernels_copies_scalars_both_ways() {
    check(
        "#pragma acc kernels present(a)\nx = a[0];",
        &[
            "kernels:",
            "  a r- Map Alloc Required (clause 0)",
            "  x -w Map ToFrom Any (ScalarDefault)",
        ],
    );
}

#[test]
fn declared_variables_have_their_own_storage() {
    let text = "int g[10];\n#pragma omp declare target to(g)\nint t;\n#pragma omp threadprivate(t)\n\
                void f(void) {\n#pragma omp target\ng[0] = 1;\n#pragma omp parallel\nt = 1;\n}\n";
    let expected = [
        "target:",
        "  g -w Declared (declaration 0)",
        "parallel:",
        "  t -w ThreadPrivate (ThreadLocal)",
    ];
    assert_eq!(variables(text), expected);
}

#[test]
fn device_addresses_are_not_mapped() {
    check(
        "#pragma acc host_data use_device(p, a)\nuse(*p + a[0]);\n\
         #pragma omp target is_device_ptr(p) has_device_addr(a)\na[0] = *p;",
        &[
            "host_data:",
            "  p r- DevicePointer (clause 0)",
            "  a r- DeviceAddress (clause 0)",
            "target:",
            "  p r- DevicePointer (clause 0)",
            "  a -w DeviceAddress (clause 1)",
        ],
    );
}

#[test]
fn what_moves_data_maps_what_it_names() {
    check(
        "#pragma omp target enter data map(to: a[0:n])\n#pragma omp target update from(a)\n\
         #pragma acc exit data delete(a)",
        &[
            "target enter data:",
            "  n r-",
            "  a -- Map To Any a[0:n] (clause 0)",
            "target update:",
            "  a -- Map From Any (clause 0)",
            "exit data:",
            "  a -- Map Release Any (clause 0)",
        ],
    );
}

#[test]
fn a_value_written_first_is_not_read() {
    check(
        "#pragma omp parallel\n{ x = 1; use(x); if (n) y = 2; use(y); }",
        &[
            "parallel:",
            "  x -w Shared (SharedDefault)",
            "  n r- Shared (SharedDefault)",
            "  y rw Shared (SharedDefault)",
        ],
    );
}

#[test]
fn everything_is_named_where_a_clause_asks_for_it() {
    bad_body("#pragma omp parallel default(none)\nuse(x);", &["F0520 | x"]);
    good_body("#pragma omp parallel default(none) shared(x)\n{ int z = x; use(z); }");
    bad_body("#pragma omp parallel default(none)\nuse(k);", &["F0521 | k"]);
    good_body("#pragma omp parallel default(none) shared(k)\nuse(k);");
    good_body("#pragma omp parallel for default(none) shared(n)\nfor (i = 0; i < n; i++) ;");
    bad_body("#pragma omp target defaultmap(none)\na[0] = 1;", &["F0520 | a"]);
    good_body("#pragma omp target defaultmap(none) map(a)\na[0] = 1;");
    bad_body("#pragma acc parallel default(none)\na[0] = 1;", &["F0520 | a"]);
    bad_body(
        "#pragma acc data copy(a)\n{\n#pragma acc parallel default(none)\na[0] = n + *p;\n}",
        &["F0521 | n", "F0521 | p"],
    );
    good_body(
        "#pragma acc data copy(a)\n{\n#pragma acc parallel default(none) copyin(n)\na[0] = n;\n}",
    );
}

#[test]
fn threads_combine_into_what_they_share() {
    bad_body(
        "#pragma omp parallel private(x)\n{\n#pragma omp for reduction(+:x)\nfor (i = 0; i < n; i++) x++;\n}",
        &["F0522 | x"],
    );
    bad_body(
        "#pragma omp parallel\n{ int own = 0;\n#pragma omp for reduction(+:own)\nfor (i = 0; i < n; i++) own++;\n}",
        &["F0522 | own"],
    );
    good_body(
        "#pragma omp parallel\n{\n#pragma omp for reduction(+:x)\nfor (i = 0; i < n; i++) x++;\n}",
    );
}

#[test]
fn every_item_about_a_variable_is_kept() {
    check(
        "#pragma omp target map(to: s.a) map(from: s.b)\ns.b = s.a;\n\
         #pragma omp target enter data map(alloc: a[0:2], a[4:2])",
        &[
            "target:",
            "  s rw Map To Any s.a (clause 0) Map From Any s.b (clause 1)",
            "target enter data:",
            "  a -- Map Alloc Any a[0:2] (clause 0) Map Alloc Any a[4:2] (clause 0)",
        ],
    );
    let around = "Map To Any a[0:2] (around: copyin(a[0:2])) \
                  Map From Any a[2:2] (around: copyout(a[2:2]))";
    check(
        "#pragma acc data copyin(a[0:2]) copyout(a[2:2])\n{\n#pragma acc serial\na[2] = a[0];\n}",
        &[
            "data:",
            "  a rw Map To Any a[0:2] (clause 0) Map From Any a[2:2] (clause 1)",
            "serial:",
            &format!("  a rw {around}"),
        ],
    );
}

#[test]
fn what_is_mapped_is_copied_by_the_parts_inside() {
    check(
        "#pragma omp target parallel map(to: x) firstprivate(x) map(y) private(y)\ny = x;",
        &[
            "target parallel:",
            "  x r- FirstPrivate (clause 1) Map To Any (clause 0)",
            "  y -w Private (clause 3) Map ToFrom Any (clause 2)",
        ],
    );
}

#[test]
fn what_comes_to_the_device_is_no_answer_to_its_threads() {
    // The one clause speaks of threads, the other of the device, in either order.
    let (threads, device) = ("default(none)", "defaultmap(tofrom)");
    bad_body(&format!("#pragma omp target parallel {threads} {device}\nuse(x);"), &["F0520 | x"]);
    bad_body(&format!("#pragma omp target parallel {device} {threads}\nuse(x);"), &["F0520 | x"]);
    bad_body(
        "#pragma omp target teams default(none) map(a, x)\na[0] = x;",
        &["F0520 | a", "F0520 | x"],
    );
    good_body(
        "#pragma omp target teams default(none) map(a, x) shared(a) private(x)\na[0] = x = 1;",
    );
    bad_body("#pragma omp target parallel defaultmap(none) shared(x)\nuse(x);", &["F0520 | x"]);
    good_body("#pragma omp target parallel defaultmap(none) firstprivate(x)\nuse(x);");
    good_body("#pragma omp target parallel defaultmap(none) map(x)\nuse(x);");
    check(
        "#pragma omp target parallel default(firstprivate)\nuse(a[0] + x);",
        &[
            "target parallel:",
            "  a r- FirstPrivate (DefaultClause) Map ToFrom Any (AggregateDefault)",
            "  x r- FirstPrivate (DefaultClause) FirstPrivate (ScalarDefault)",
        ],
    );
}

#[test]
fn what_is_wrongly_left_out_has_its_usual_attribute() {
    check(
        "#pragma acc parallel default(none)\na[0] = x;\n#pragma acc kernels default(none)\nx = a[0];\n\
         #pragma omp target defaultmap(none: pointer) defaultmap(tofrom: scalar)\nx = *p;",
        &[
            "parallel:",
            "  x r- FirstPrivate (ScalarDefault) FirstPrivate (ScalarDefault)",
            "  a -w Shared (SharedDefault) Map ToFrom Any (AggregateDefault)",
            "kernels:",
            "  a r- Map ToFrom Any (AggregateDefault)",
            "  x -w Map ToFrom Any (ScalarDefault)",
            "target:",
            "  p r- PointerToMapped (PointerDefault)",
            "  x -w Map ToFrom Any (DefaultMapClause)",
        ],
    );
}

#[test]
fn the_clause_that_wants_names_is_shown() {
    let label = |body: &str| labels(&within(body));
    assert_eq!(
        label("#pragma acc data default(none)\n{\n#pragma acc parallel\na[0] = 1;\n}"),
        ["default(none)"],
    );
    assert_eq!(
        label("#pragma omp target parallel defaultmap(none) default(none) map(x)\nuse(x);"),
        ["default(none)"],
    );
    assert_eq!(label("#pragma omp target defaultmap(none)\nuse(x);"), ["defaultmap(none)"]);
}

#[test]
fn a_device_region_hides_the_threads_of_the_host() {
    check(
        "#pragma omp parallel shared(y)\n{\n#pragma omp target map(x)\n{\n\
         #pragma omp task\nuse(x + y);\n}\n}",
        &[
            "parallel:",
            "  y r- Shared (clause 0)",
            "  x rw Shared (SharedDefault)",
            "target:",
            "  x r- Map ToFrom Any (clause 0)",
            "  y r- FirstPrivate (ScalarDefault)",
            "task:",
            "  x r- Shared (EnclosingShared)",
            "  y r- FirstPrivate (TaskCopy)",
        ],
    );
    check(
        "#pragma omp parallel shared(y)\n{\n#pragma omp target private(m)\n{\n\
         #pragma omp simd\nfor (i = 0; i < 8; i++) a[i] = y + m;\n}\n}",
        &[
            "parallel:",
            "  y r- Shared (clause 0)",
            "  a -w Shared (SharedDefault)",
            "target:",
            "  m r- Private (clause 0) Private (clause 0)",
            "  y r- FirstPrivate (ScalarDefault)",
            "  a -w Map ToFrom Any (AggregateDefault)",
            "simd:",
            "  i -w Linear (LaneLoopVariable)",
            "  y r- FirstPrivate (EnclosingPrivate)",
            "  m r- Private (around: private(m))",
            "  a -w Shared (EnclosingShared)",
        ],
    );
}

#[test]
fn what_one_task_shares_is_not_shared_by_all_threads() {
    check(
        "#pragma omp parallel private(x)\n{\n#pragma omp task shared(x, y)\n{\n\
         #pragma omp task\nuse(x + y);\n}\n}",
        &[
            "parallel:",
            "  x r- Private (clause 0)",
            "  y r- Shared (SharedDefault)",
            "task:",
            "  x r- Shared (clause 0)",
            "  y r- Shared (clause 0)",
            "task:",
            "  x r- FirstPrivate (TaskCopy)",
            "  y r- Shared (EnclosingShared)",
        ],
    );
}

#[test]
fn private_things_of_regions_around_say_so() {
    check(
        "#pragma omp for\nfor (i = 0; i < 8; i++) { int own = n;\n\
         #pragma omp simd\nfor (j = 0; j < 8; j++) a[j] = i + own;\n}",
        &[
            "for:",
            "  i -w Private (LoopVariable)",
            "  n r- Private (CallersOwn)",
            "  a -w Shared (StaticStorage)",
            "simd:",
            "  j -w Linear (LaneLoopVariable)",
            "  i r- Private (EnclosingPrivate)",
            "  own r- Private (DeclaredInside)",
            "  a -w Shared (EnclosingShared)",
        ],
    );
}

/// The same item may stand in several maps; together they say both.
#[test]
fn maps_of_one_variable_add_up() {
    check(
        "#pragma omp target map(to: x) map(from: x)\nx++;",
        &["target:", "  x rw Map ToFrom Any (clause 0)"],
    );
    check(
        "#pragma acc serial copyin(x) create(x)\nx++;",
        &["serial:", "  x rw Map To Any (clause 0)"],
    );
}

#[test]
fn copies_by_default_are_of_what_is_local() {
    let text = |clause: &str| {
        format!(
            "int g; const int k = 1; void use(int);\n\
             void f(int x) {{ static int s;\n#pragma omp parallel default({clause})\n\
             use(g + x + s + k); }}\n"
        )
    };
    for clause in ["firstprivate", "private"] {
        bad(&text(clause), &["F0528 | g"]);
        good(&text(&format!("{clause}) shared(g")));
    }
    good(&text("shared"));
}

#[test]
fn devices_do_not_see_what_each_thread_has() {
    let text = |directive: &str| {
        format!(
            "int t;\n#pragma omp threadprivate(t)\nvoid f(void) {{\n\
             #pragma omp {directive}\nt = 1; }}\n"
        )
    };
    bad(&text("target"), &["F0527 | t"]);
    bad(&text("target teams"), &["F0527 | t"]);
    good(&text("parallel"));
}
