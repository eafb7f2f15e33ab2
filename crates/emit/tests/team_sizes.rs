//! Sizes of teams, threads and chunks in the text for cores: which words of a directive are left.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod support;

/// The directives of the kernels that come of the body of a function.
fn kernel(body: &str) -> String {
    let text = support::lowered(&format!(
        "int omp_get_team_num(void);\nint elsewhere(int);\nstatic double twice(double x) {{ return 2 * x; }}\n\
         void f(int n, double *a, double *b) {{\n  double s = 0;\n  int k = 0;\n{body}\n  b[0] = s + k;\n}}\n"
    ));
    let kernels = text.lines().skip_while(|it| !it.starts_with("static void __ferry_k_"));
    let shown: Vec<&str> =
        kernels.map(str::trim).filter(|it| it.starts_with("#pragma omp")).collect();
    shown.join("\n").replace("#pragma omp ", "")
}

const LOOP: &str = "\nfor (int i = 0; i < n; i++)";

#[test]
fn sizes_that_nobody_can_observe_are_dropped() {
    for words in [
        "num_teams(1024) thread_limit(256)",
        "num_teams(216) thread_limit(256) schedule(static, 1)",
        "dist_schedule(static, 256) schedule(static, 1)",
        "num_teams(n / 64) num_threads(64)",
        "num_teams(2:6) schedule(static, 4)",
    ] {
        let all = "#pragma omp target teams distribute parallel for map(a[0:n], b[0:n]) ";
        assert_eq!(kernel(&format!("{all}{words}{LOOP} a[i] = twice(b[i]);")), "parallel for");
        let teams = "#pragma omp target teams loop map(a[0:n]) num_teams(64) thread_limit(32)";
        assert_eq!(kernel(&format!("{teams}{LOOP} a[i] = 1;")), "parallel for");
        let teams = "#pragma omp target teams distribute simd map(a[0:n]) num_teams(64)";
        assert_eq!(kernel(&format!("{teams}{LOOP} a[i] = 1;")), "parallel for simd");
    }
}

#[test]
fn teams_around_their_loops_too() {
    let teams = "#pragma omp target teams num_teams(80) thread_limit(128) map(a[0:n]) map(s) reduction(+: s)";
    let text = format!(
        "{teams}\n{{\n#pragma omp distribute parallel for schedule(static, 1) reduction(+: s){LOOP} s += a[i];\n}}"
    );
    let left = kernel(&text);
    assert!(!left.contains("80") && !left.contains("128") && !left.contains("schedule"), "{left}");
    // Code of the teams themselves runs as often as there are teams.
    let text = format!(
        "{teams}\n{{\ns += 1;\n#pragma omp distribute parallel for schedule(static, 1){LOOP} a[i] = 1;\n}}"
    );
    let left = kernel(&text);
    assert!(left.contains("num_teams(80)") && left.contains("schedule(static, 1)"), "{left}");
}

#[test]
fn sizes_stay_where_somebody_looks() {
    let all = "#pragma omp target teams distribute parallel for num_teams(8) schedule(static, 1) ";
    for body in [" a[i] = omp_get_team_num();", " a[i] = elsewhere(i);", " { k++; a[i] = k; }"] {
        let left = kernel(&format!("{all}map(a[0:n]) firstprivate(k){LOOP}{body}"));
        assert!(left.contains("num_teams(8)") && left.contains("schedule(static, 1)"), "{left}");
    }
}

#[test]
fn chunks_stay_where_iterations_differ_in_cost() {
    let all = "#pragma omp target teams distribute parallel for num_teams(8) schedule(static, 1) ";
    for (body, stays) in [
        (" for (int j = 0; j < i; j++) a[i] += b[j];", true),
        (" for (int j = 0; j < (int)b[i]; j++) a[i] += b[j];", true),
        (" { int j = 0; while (b[j] > 0) j++; a[i] = j; }", true),
        (" if (b[i] > 0) for (int j = 0; j < 64; j++) a[i] += b[j];", true),
        (" for (int j = 0; j < n; j++) { if (b[j] > 1) break; a[i] += 1; }", true),
        (" for (int j = -2; j <= 2; j++) a[i] += b[i + j];", false),
        (" for (int j = 0; j < n; j += 2) a[i] += b[j];", false),
        (" if (b[i] > 0) a[i] = 1; else a[i] = 2;", false),
    ] {
        let left = kernel(&format!("{all}map(a[0:n], b[0:n]){LOOP}{body}"));
        let words = if stays { "parallel for schedule(static, 1)" } else { "parallel for" };
        assert_eq!(left, words, "{body}");
    }
}

/// With optimization lanes have sums of their own, which the host's compiler must be told.
#[test]
fn lanes_and_threads_are_told_what_is_combined() {
    let text = support::lowered(
        "#define __OPTIMIZE__ 1\nvoid f(int n, double *a) {\n  double s = 0;\n\
         #pragma omp target teams distribute parallel for map(a[0:n]) reduction(max: s)\n  \
         for (int i = 0; i < n; i++)\n    if (a[i] > s) s = a[i];\n  a[0] = s;\n}\n",
    );
    let told = |words: &str| text.lines().filter(|it| it.trim().starts_with(words)).count();
    assert_eq!(told("#pragma omp parallel for reduction(max: "), 1, "{text}");
    assert_eq!(told("#pragma omp simd reduction(max: "), 1, "{text}");
}

#[test]
fn iterations_that_are_dealt_singly_are_dealt_in_chunks_unless_somebody_can_tell() {
    let all = "#pragma omp target teams distribute parallel for map(a[0:n]) schedule(dynamic)";
    let left = kernel(&format!("{all}{LOOP} while (a[i] > 1) a[i] /= 2;"));
    assert!(
        left.starts_with("parallel for schedule(dynamic, ") && left.contains("/ 1024"),
        "{left}"
    );
    let seen = kernel(&format!("{all}{LOOP} a[i] = omp_get_team_num();"));
    assert!(!seen.contains("1024"), "{seen}");
}

/// A launch on a GPU has as many threads as the loops that were written have iterations, whatever the passes for cores have
/// made of them.
#[test]
fn grids_are_told_iterations_of_the_loops_that_were_written() {
    let text = |directive: &str| {
        format!(
            "#define __OPTIMIZE__ 1\nvoid f(int n, double *a, double *b) {{\n{directive}\n  \
             for (int i = 0; i < n; i++)\n    for (int j = 0; j < 2 * n; j++)\n      \
             a[i * 2 * n + j] += b[j * n + i] * b[j];\n}}\n"
        )
    };
    let maps = "map(a[0:2 * n * n], b[0:2 * n * n])";
    for directive in [
        format!("#pragma omp target teams distribute parallel for collapse(2) {maps}"),
        format!("#pragma omp target teams loop collapse(2) {maps}"),
        "#pragma acc parallel loop collapse(2) copy(a[0:2 * n * n], b[0:2 * n * n])".to_owned(),
    ] {
        let host = support::host_of_grid(emit::Grid::Cuda, &text(&directive));
        let told = host.lines().find(|it| it.contains("struct __ferry_args __fk =")).unwrap();
        let trips = ["__ferry_trips(0, (__ferry_i64)n,", "__ferry_trips(0, (__ferry_i64)(2 * n),"];
        assert!(trips.iter().all(|it| told.contains(it)), "{directive}: {told}");
        assert!(told.contains("{ 0 }, { 0 }, 0 };"), "{directive}: {told}");
    }
}

#[test]
fn conditional_updates_store_values_without_qualifiers() {
    let text = support::lowered(
        "void f(int *a, const short least, volatile double *far, double *b) {
#pragma omp target teams distribute parallel for map(a[0:8], far[0:8], b[0:8])
  for (int i = 0; i < 8; i++) {
    const int x = i;
#pragma omp atomic compare
    if (a[0] < x) { a[0] = x; }
#pragma omp atomic compare
    if (least < a[1]) { a[1] = least; }
#pragma omp atomic compare
    if (b[0] > far[i]) { b[0] = far[i]; }
#pragma omp atomic compare
    if (a[2] > i) { a[2] = i; }
  }
}
",
    );
    for line in [
        "if (a[0] < (int)x)",
        "a[0] = (int)x;",
        "if ((short)least < a[1])",
        "a[1] = (short)least;",
        "if (b[0] > (double)far[i])",
        "b[0] = (double)far[i];",
        "if (a[2] > i)",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
