//! Directives that declare.

use super::support::{bad, good};

#[test]
fn storage_lives_as_long_as_the_program() {
    bad("void f(void) { int x;\n#pragma omp threadprivate(x)\nx = 1; }\n", &["F0580 | x"]);
    good("void f(void) { static int x;\n#pragma omp threadprivate(x)\nx = 1; }\n");
    bad(
        "void f(void) { int x;\n#pragma omp memkind(fastmem : val : x)\nx = 1; }\n",
        &["F0580 | x"],
    );
    good("int x;\n#pragma omp memkind(fastmem : val : x)\nvoid f(void) { x = 1; }\n");
}

#[test]
fn names_come_before_uses() {
    bad("int x; void f(void) { x = 1; }\n#pragma omp threadprivate(x)\n", &["F0581 | x"]);
    bad("int x; void f(void) { x = 1; }\n#pragma omp memkind(fastmem : val : x)\n", &["F0581 | x"]);
    good("int x;\n#pragma omp threadprivate(x)\nvoid f(void) { x = 1; }\n");
}

#[test]
fn each_thread_has_its_own_of_a_memory_kind() {
    let memkind = "#pragma omp memkind(fastmem : val : x)\n";
    bad(&format!("int x;\n{memkind}{memkind}"), &["F0583 | x"]);
    bad(&format!("int x;\n#pragma omp threadprivate(x)\n{memkind}"), &["F0583 | x"]);
    bad(&format!("int x;\n{memkind}int *p = &x;\n"), &["F0594 | x"]);
    good(&format!("int x;\n{memkind}int n = sizeof x;\n"));
    let within =
        |text: &str| format!("int x;\n{memkind}void f(void) {{\n{text}\n{{ x = 1; }}\n}}\n");
    good(&within("#pragma omp parallel"));
    bad(&within("#pragma omp parallel private(x)"), &["F0534 | x"]);
    bad(&within("#pragma omp parallel copyin(x)"), &["F0595 | x"]);
    bad(&within("#pragma omp target"), &["F0527 | x"]);
}

#[test]
fn what_a_memory_kind_refers_to_has_a_size() {
    let by_ref = |ty: &str| format!("{ty} x;\n#pragma omp memkind(persistent : ref : x)\n");
    good(&by_ref("int *"));
    good("double (*x)[8];\n#pragma omp memkind(ref : x)\n");
    bad(&by_ref("int"), &["F0593 | x"]);
    bad(&by_ref("void *"), &["F0593 | x"]);
    bad(&by_ref("struct s *"), &["F0593 | x"]);
}

#[test]
fn memory_of_a_team_is_no_threads_own() {
    let text = "int x;\n#pragma omp memkind(teamlocal : x)\nvoid f(void) {\n#pragma omp target teams\n{ x = 1; }\n}\n";
    good(text);
    bad("void f(void) { int x;\n#pragma omp memkind(teamlocal : x)\n}\n", &["F0580 | x"]);
}

#[test]
fn memory_kinds_are_for_whole_plain_variables() {
    bad("extern int x[];\n#pragma omp memkind(fastmem : val : x)\n", &["F0582 | x"]);
    bad("_Thread_local int x;\n#pragma omp memkind(fastmem : val : x)\n", &["F0583 | x"]);
    bad("int x; void f(void) {\n#pragma omp memkind(fastmem : val : x)\n}\n", &["F0584 | x"]);
}

#[test]
fn requirements_come_first() {
    let offload = "void f(void) {\n#pragma omp target\n;\n}\n";
    let requires = "#pragma omp requires unified_shared_memory\n";
    bad(&format!("{offload}{requires}"), &["F0585 | requires unified_shared_memory"]);
    good(&format!("{requires}{offload}"));
}

#[test]
fn functions_are_known_by_name() {
    bad("#pragma acc routine(g) seq\nvoid f(void) {}\n", &["F0586 | routine(g) seq"]);
    good("void g(void);\n#pragma acc routine(g) seq\n");
}

#[test]
fn a_variant_takes_the_same_arguments() {
    let text = |param: &str| {
        format!(
            "int g({param});\n\
             #pragma omp declare variant(g) match(construct={{target}})\nint f(int x);\n"
        )
    };
    bad(&text("double x"), &["F0587 | declare variant(g) match(construct={target})"]);
    good(&text("int x"));
}

#[test]
fn a_variant_may_name_the_function_it_replaces() {
    let text = |names: &str| {
        format!(
            "int g(int x); int h(double x);\n\
             #pragma omp declare variant({names}) match(construct={{target}})\nint f(int x);\n"
        )
    };
    let fault = |code: &str, names: &str| {
        format!("{code} | declare variant({names}) match(construct={{target}})")
    };
    good(&text("f : g"));
    bad(&text("f : h"), &[&fault("F0587", "f : h")]);
    bad(&text("h : g"), &[&fault("F0591", "h : g")]);
    bad(&text("f : nobody"), &[&fault("F0586", "f : nobody")]);
    bad(&text("nobody : g"), &[&fault("F0586", "nobody : g")]);
}

#[test]
fn a_variable_stands_on_devices_in_one_way() {
    bad(
        "int x;\n#pragma omp declare target link(x)\n#pragma omp declare target to(x)\n",
        &["F0588 | declare target link(x)"],
    );
    good("int x, y;\n#pragma omp declare target link(x) to(y)\n");
}

#[test]
fn an_automatic_variable_is_reported_once() {
    bad(
        "void f(void) { int x;\n#pragma omp threadprivate(x)\n\
         #pragma omp parallel private(x)\nx = 1; }\n",
        &["F0580 | x"],
    );
}

#[test]
fn beginnings_have_ends() {
    let variant = "begin declare variant match(device={kind(gpu)})";
    bad("#pragma omp declare target\nint x;\n", &["F0590 | declare target"]);
    bad("#pragma omp begin declare target\nint x;\n", &["F0590 | begin declare target"]);
    bad(&format!("#pragma omp {variant}\nvoid f(void) {{}}\n"), &[&format!("F0590 | {variant}")]);
    bad("#pragma omp begin assumes no_openmp\n", &["F0590 | begin assumes no_openmp"]);
    bad("int x;\n#pragma omp end declare target\n", &["F0589 | end declare target"]);
    bad(
        "#pragma omp declare target\nint x;\n#pragma omp end assumes\n\
         #pragma omp end declare target\n",
        &["F0589 | end assumes"],
    );
    bad(
        "#pragma omp declare target\n#pragma omp begin assumes no_openmp\nint x;\n\
         #pragma omp end declare target\n",
        &["F0590 | begin assumes no_openmp"],
    );
    good(
        "#pragma omp begin assumes no_openmp\n#pragma omp declare target\nint x;\n\
         #pragma omp end declare target\n#pragma omp end assumes\n",
    );
}
