//! Sharing and mapping of variables, and why.

use super::support::{bad_body, good_body, variables, within};

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
    good_body("#pragma omp parallel default(none) shared(x)\n{ int z = x; use(z + k); }");
    good_body("#pragma omp parallel for default(none) shared(n)\nfor (i = 0; i < n; i++) ;");
    bad_body("#pragma omp target defaultmap(none)\na[0] = 1;", &["F0520 | a"]);
    good_body("#pragma omp target defaultmap(none) map(a)\na[0] = 1;");
    bad_body("#pragma acc parallel default(none)\na[0] = 1;", &["F0520 | a"]);
    good_body("#pragma acc data copy(a)\n{\n#pragma acc parallel default(none)\na[0] = n;\n}");
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
