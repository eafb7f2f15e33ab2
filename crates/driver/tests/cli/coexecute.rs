//! `ompx_coexecute`: what host and devices cannot share runs on one device, and `cc` says why.

use super::support::Folder;

/// The loop of such a directive, with clauses, a body and what stands before the function.
fn text(before: &str, clauses: &str, body: &str) -> String {
    format!(
        "{before}\nvoid f(int n, double *a, double *b) {{ double s = 0; int last = 0;\n\
         #pragma omp target teams distribute parallel for ompx_coexecute map(tofrom: a[0:n]) {clauses}\n\
         for (int i = 0; i < n; i++) {{ {body} }}\n}}\n"
    )
}

#[track_caller]
fn check(before: &str, clauses: &str, body: &str, why: Option<&str>) {
    let folder = Folder::new();
    folder.write("a.c", text(before, clauses, body));
    let ran = folder.ferry(&["cc", "--ferry-save-temps=t", "-c", "a.c"]);
    let said = &ran.err;
    let host = folder.read("t/a.host.c");
    let is_shared = host.contains("__ferry_coexecute(&__fi");
    match why {
        Some(why) => {
            assert!(said.contains("F0738") && said.contains(why), "{why}: {said}");
            assert!(!is_shared, "{host}");
        }
        None => assert!(!said.contains("F0738") && is_shared, "{said}"),
    }
}

#[test]
fn plain_loops_are_shared() {
    check("", "", "a[i] = i;", None);
    check("", "map(to: b[0:n]) reduction(+: s)", "a[i] = b[i]; s += b[i];", None);
    check("static double g(double x) { return x * x; }", "", "a[i] = g(i);", None);
    check("", "device(0) if(n > 100) num_teams(8)", "a[i] += 1;", None);
}

#[test]
fn what_iterations_see_of_each_other_is_not() {
    check("", "map(tofrom: s)", "\n#pragma omp atomic\ns += i;\n", Some("in `atomic`"));
    check("", "map(tofrom: s)", "\n#pragma omp critical\ns += i;\n", Some("in `critical`"));
    check("volatile int v;", "map(tofrom: v)", "v = i;", Some("volatile"));
    check("int omp_get_team_num(void);", "", "a[i] = omp_get_team_num();", Some("who runs"));
    check("double g(double);", "", "a[i] = g(i);", Some("what `g` does"));
    check("double (*g)(double);", "", "a[i] = g(i);", Some("through pointers"));
}

#[test]
fn what_is_about_all_iterations_is_not() {
    check("", "lastprivate(last)", "last = i;", Some("`lastprivate`"));
    check("", "nowait", "a[i] = i;", Some("`nowait`"));
    check("", "map(to: b[0:n])", "b[i] = i;", Some("`b` is not mapped back"));
    check("", "reduction(+: b[0:4])", "b[i % 4] += i;", Some("`reduction`"));
    check("", "num_teams(1) num_threads(1)", "a[i] = i;", Some("one thread"));
}

#[test]
fn a_word_that_a_program_has_too_is_no_clause() {
    let folder = Folder::new();
    folder.write(
        "a.c",
        "int ompx_coexecute;\nvoid f(double *a) {\n\
         #pragma omp target teams distribute parallel for map(tofrom: a[0:9], ompx_coexecute)\n\
         for (int i = 0; i < 9; i++) a[i] = ompx_coexecute;\n}\n",
    );
    folder.ferry(&["cc", "-c", "a.c"]).is_clean();
}

/// What `cc` says of a `taskloop` with these clauses.
#[track_caller]
fn tasks(directive: &str, expected: Option<&str>) {
    let folder = Folder::new();
    folder.write(
        "a.c",
        format!(
            "void f(int n, double *a) {{ double s = 0;\n#pragma omp {directive}\n\
             for (int i = 0; i < n; i++) {{ a[i] = i; s += i; }}\n}}\n"
        ),
    );
    let ran = folder.ferry(&["cc", "--ferry-save-temps=t", "-c", "a.c"]);
    match expected {
        Some(word) => {
            let message = format!("error[F0305]: `{word}` is not allowed");
            assert!(ran.err.contains(&message), "{}", ran.err);
        }
        None => {
            assert!(folder.read("t/a.host.c").contains("__ferry_coexecute(&__fi"), "{}", ran.err)
        }
    }
}

#[test]
fn loops_of_tasks_are_shared() {
    tasks("taskloop ompx_coexecute map(tofrom: a[0:n]) firstprivate(s)", None);
    tasks(
        "taskloop reduction(+: s) grainsize(strict: 4) untied mergeable final(n > 3) priority(2) \
         if(taskloop: n > 10) ompx_coexecute device(0) map(tofrom: a[0:n])",
        None,
    );
}

#[test]
fn what_needs_tasks_is_not_shared() {
    tasks("taskloop map(tofrom: a[0:n]) firstprivate(s)", Some("map"));
    tasks("taskloop device(0) firstprivate(s)", Some("device"));
    tasks("taskloop ompx_coexecute nogroup firstprivate(s)", Some("nogroup"));
    tasks("taskloop ompx_coexecute in_reduction(+: s)", Some("in_reduction"));
    tasks("taskloop simd ompx_coexecute reduction(+: s)", Some("ompx_coexecute"));
    tasks("parallel masked taskloop ompx_coexecute reduction(+: s)", Some("ompx_coexecute"));
}
