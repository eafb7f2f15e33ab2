//! The shape that a nest gets on a device: `cpu: teams and threads on i, lanes on j`.

use opt::dependence::Analysis;
use opt::marks::Options;
use opt::profile::Profiles;
use opt::shape::{self, Because, Choice};

use super::support;

struct Asked {
    profile: &'static str,
    options: Options,
}

fn on(profile: &'static str) -> Asked {
    Asked { profile, options: Options::default() }
}

impl Asked {
    fn with(mut self, name: &str, trips: u64) -> Asked {
        self.options.trips.insert(name.to_owned(), trips);
        self
    }

    fn reassociating(mut self) -> Asked {
        self.options.reassociates = true;
        self
    }

    #[allow(clippy::expect_used, reason = "what a test is about is there")]
    fn choices(&self, text: &str) -> (Vec<Choice>, Vec<String>) {
        let program = support::program(&support::within(text));
        let analysis = Analysis::new(&program);
        let body = program.functions.iter().find_map(|it| it.1.body).expect("a body");
        let tree = analysis.marks_in(body, &self.options);
        let profile = Profiles::built_in().get(self.profile).expect("a profile");
        let choices = shape::choose(&program, &tree, &profile);
        let texts = choices.iter().map(|it| it.shape.text(&program, &tree)).collect();
        (choices, texts)
    }

    #[track_caller]
    fn gets(&self, text: &str, expect: &[&str]) {
        let (choices, texts) = self.choices(text);
        let why: Vec<&str> = choices.iter().map(|it| it.why.as_str()).collect();
        assert_eq!(texts, expect, "{} {}\n{text}\n{}", self.profile, "", why.join("\n"));
    }
}

const MRI_Q: &str = "#pragma acc parallel loop\nfor (int i = 0; i < 32768; i++) { double s = 0, t = 0;\n\
    #pragma acc loop reduction(+:s,t)\n\
    for (int k = 0; k < 1024; k++) { double a = 6.28 * (p[k] * u[i] + p[k + 1024] * u[i + 32768]);\n\
    s += q[k] * sqrt(a); t += q[k] * sqrt(1 - a); } v[i] = s; v[i + 32768] = t; }";

#[test]
fn small_sums_inside_stay_with_their_thread() {
    for gpu in ["h200", "gpu", "clang-gpu", "nvc"] {
        on(gpu).gets(MRI_Q, &["teams and threads on i"]);
    }
    on("cpu").gets(MRI_Q, &["teams and threads on i"]);
}

const MATMUL: &str = "#pragma acc parallel loop\nfor (int i = 0; i < n; i++)\n\
    #pragma acc loop\nfor (int j = 0; j < n; j++) { double s = 0;\n\
    for (int k = 0; k < n; k++) s += p[i * n + k] * q[k * n + j]; u[i * n + j] = s; }";

#[test]
fn threads_of_gpus_do_not_queue_up_for_one_place() {
    // What is written beside it would make one loop of both.
    let text = |place: &str, count: u32| {
        format!(
            "#pragma acc parallel loop\nfor (int i = 0; i < 1000; i++)\n#pragma acc loop\n\
             for (int k = 0; k < {count}; k++) {{ v[i * {count} + k] = q[k];\n\
             #pragma acc atomic\nu[{place}] += q[k]; }}"
        )
    };
    on("gpu").gets(&text("i", 7), &["teams and threads on i"]);
    on("gpu").gets(&text("i * 7 + k", 7), &["teams and threads on i, k (collapsed)"]);
    on("gpu").gets(&text("i", 64), &["teams and threads on i, k (collapsed)"]);
}

#[test]
fn products_of_matrices_are_collapsed_on_gpus_and_not_on_cores() {
    for gpu in ["h200", "gpu", "clang-gpu", "nvc"] {
        on(gpu).gets(MATMUL, &["teams and threads on i, j (collapsed)"]);
    }
    on("gcc-gpu").gets(MATMUL, &["teams and threads on i, j (collapsed), lanes on j"]);
    on("cpu").gets(MATMUL, &["teams and threads on i"]);
}

const COLUMNS: &str = "double a[400][400], b[400][400], c[400][400];\n\
    #pragma acc kernels\nfor (int i = 0; i < 400; i++) for (int j = 0; j < 400; j++) { double s = 0;\n\
    for (int k = 0; k < 400; k++) s += a[i][k] * b[k][j]; c[i][j] = s; } p[0] = c[3][4];";

const WHOLE: &str = "i whole in each thread, teams and threads on j";

#[test]
fn threads_share_columns_if_only_a_share_of_what_is_read_again_fits_their_caches() {
    on("cpu").gets(COLUMNS, &[WHOLE]);
    let (choices, _) = on("cpu").choices(COLUMNS);
    let why = &choices[0].why;
    assert!(why.contains("each iteration of i reads the same 1.2 MiB of `b`"), "{why}");
    assert!(why.contains("next best is teams and threads on i"), "{why}");
    // All of it fits, or not even a share does.
    on("cpu").gets(&COLUMNS.replace("400", "300"), &["teams and threads on i"]);
    on("cpu").gets(&COLUMNS.replace("400", "1600"), &["teams and threads on i"]);
    // Nobody knows how many columns there are.
    on("cpu").gets(&COLUMNS.replace("j < 400", "j < n"), &["teams and threads on i"]);
    for gpu in ["h200", "gpu"] {
        on(gpu).gets(COLUMNS, &["teams and threads on i, j (collapsed)"]);
    }
}

#[test]
fn a_loop_is_run_whole_by_each_thread_only_if_nobody_can_tell() {
    let sum_of_rows = COLUMNS.replace("c[i][j] = s;", "c[0][i] += s;");
    let triangle = COLUMNS.replace("j < 400", "j <= i");
    let between = COLUMNS
        .replace("for (int j", "{ p[i] = 0; for (int j")
        .replace("c[i][j] = s; }", "c[i][j] = s; } }");
    let last = COLUMNS
        .replace("double s = 0;", "s = j;")
        .replace("double a", "double s; double a")
        .replace("c[3][4]", "s");
    for text in [sum_of_rows, triangle, between, last] {
        let (_, texts) = on("cpu").choices(&text);
        assert!(!texts.iter().any(|it| it.contains("whole")), "{texts:?}\n{text}");
    }
    // Where teams stand around the loop each of them would run it.
    let teams = COLUMNS
        .replace("#pragma acc kernels\n", "#pragma omp target teams\n{\n#pragma omp distribute\n")
        + "}";
    on("cpu").gets(&teams, &["teams and threads on i"]);
    let one = COLUMNS.replace("acc kernels", "omp target teams distribute");
    on("cpu").gets(&one, &[WHOLE]);
    let dealt =
        COLUMNS.replace("acc kernels", "omp target teams distribute parallel for lastprivate(p)");
    on("cpu").gets(&dealt, &["teams and threads on i"]);
}

#[test]
fn what_every_thread_runs_whole_already_stays_so() {
    let text = COLUMNS
        .replace("acc kernels", "omp target parallel")
        .replace("for (int j", "\n#pragma omp for nowait\nfor (int j");
    let (choices, texts) = on("cpu").choices(&text);
    assert_eq!(texts, [WHOLE]);
    assert_eq!(choices[0].because, Because::Kept, "{}", choices[0].why);
}

const JACOBI: &str = "#pragma omp target teams distribute\nfor (int i = 1; i < n - 1; i++)\n\
    {\n#pragma omp parallel for\nfor (int j = 1; j < n - 1; j++)\n\
    p[i * n + j] = 0.25 * (q[(i - 1) * n + j] + q[(i + 1) * n + j] + q[i * n + j - 1] + q[i * n + j + 1]); }";

#[test]
fn stencils_are_collapsed_on_gpus_and_get_lanes_on_cores() {
    on("h200").with("n", 4096).gets(JACOBI, &["teams and threads on i, j (collapsed)"]);
    on("cpu").with("n", 4096).gets(JACOBI, &["teams and threads on i, lanes on j"]);
}

const ROWS: &str = "int *row = (int *)u; for (int i = 0; i < n; i++) { double s = 0;\n\
    for (int k = row[i]; k < row[i + 1]; k++) s += p[k] * v[k]; q[i] = s; }";

#[test]
fn few_long_rows_are_split_and_many_short_ones_are_not() {
    let few = on("h200").with("n", 100).with("k", 100_000).reassociating();
    few.gets(ROWS, &["teams on i, threads on k"]);
    let many = on("h200").with("n", 1_000_000).with("k", 20).reassociating();
    many.gets(ROWS, &["teams and threads on i"]);
    // Nobody has said that the order of the sum does not matter.
    on("h200").with("n", 100).with("k", 100_000).gets(ROWS, &["teams and threads on i"]);
}

#[test]
fn short_loops_have_no_threads_of_their_own() {
    let nest = |outer: u32, inner: u32| {
        format!(
            "double a[8][8][4096]; for (int i = 0; i < {outer}; i++) {{ double t = p[i];\n\
             for (int j = 0; j < {inner}; j++) a[0][j][i] = t * j; }} q[0] = a[0][0][0];"
        )
    };
    on("h200").gets(&nest(4000, 8), &["teams and threads on i"]);
    on("h200").gets(&nest(8, 8), &["teams and threads on i"]);
    // Four iterations are too few for sixteen cores.
    let small = "double a[4][4000]; for (int i = 0; i < 4; i++) for (int j = 0; j < 4000; j++)\n\
                 for (int k = 0; k < 100; k++) a[i][j] += sqrt(p[k * 4000 + j]); q[0] = a[0][0];";
    on("cpu").gets(small, &["teams and threads on i, j (collapsed)"]);
    on("cpu").gets("for (int i = 0; i < 4; i++) p[i] = 0;", &["in order"]);
}

#[test]
fn lanes_are_for_long_loops() {
    let nest = |inner: u32| {
        format!(
            "for (int i = 0; i < 100000; i++) for (int j = 0; j < {inner}; j++)\n\
             p[i * {inner} + j] = q[i * {inner} + j] * 2;"
        )
    };
    on("cpu").gets(&nest(16), &["teams and threads on i, lanes on j"]);
    on("cpu").gets(&nest(7), &["teams and threads on i"]);
}

#[test]
fn lanes_of_an_outer_loop_have_teams_too() {
    let text = "#pragma acc parallel loop vector\nfor (int i = 0; i < 100000; i++) {\n\
                double s = 0; for (int k = 0; k < 50; k++) s += p[i * 50 + k]; q[i] = s; }";
    on("cpu").gets(text, &["teams and threads on i, lanes on i"]);
}

#[test]
fn what_is_written_stays_if_it_is_nearly_as_good() {
    // Lanes would gain nothing where memory is what counts.
    let text = "#pragma omp target teams distribute parallel for\n\
                for (int i = 0; i < 1000000; i++) p[i] = q[i];";
    let (choices, _) = on("cpu").choices(text);
    assert_eq!(choices[0].because, Because::Kept, "{}", choices[0].why);
    let (choices, texts) = on("cpu").with("n", 4096).choices(JACOBI);
    assert_eq!(choices[0].because, Because::Cheapest, "{}", choices[0].why);
    assert_eq!(texts, ["teams and threads on i, lanes on j"]);
    assert!(choices[0].why.contains("as written, teams on i, threads on j"), "{}", choices[0].why);
}

#[test]
fn a_guess_does_not_overrule_the_user() {
    let text = "#pragma acc parallel loop gang\nfor (int i = 0; i < n; i++) { double s = 0;\n\
                #pragma acc loop vector reduction(+:s)\nfor (int k = 0; k < m; k++) s += p[i * m + k];\n\
                q[i] = s; }";
    let (choices, texts) = on("h200").choices(text);
    assert_eq!(texts, ["teams on i, threads on k, lanes on k"], "{}", choices[0].why);
    assert!(matches!(choices[0].because, Because::Uncertain | Because::Kept));
    let known = on("h200").with("n", 1_000_000).with("m", 64);
    known.gets(text, &["teams and threads on i"]);
}

#[test]
fn the_fastest_loop_of_a_gpu_is_the_one_that_walks_through_memory() {
    // Threads on i would each walk through a row.
    let text = "for (int i = 0; i < 200000; i++) { double t = u[i];\n\
                for (int j = 0; j < 1000; j++) p[i * 1000 + j] = t * q[i * 1000 + j]; }";
    on("h200").gets(text, &["teams on i, threads on j"]);
    // Here neighbours are neighbours.
    let turned = "for (int i = 0; i < 200000; i++) { double t = u[i];\n\
                  for (int j = 0; j < 1000; j++) p[j * 200000 + i] = t * q[j * 200000 + i]; }";
    on("h200").gets(turned, &["teams and threads on i"]);
}

#[test]
fn loops_inside_one_that_runs_in_order_are_nests_of_their_own() {
    let text = "for (int t = 0; t < 100; t++) { for (int i = 1; i < 99999; i++) p[i] = q[i - 1] + q[i + 1];\n\
                for (int i = 1; i < 99999; i++) q[i] = sqrt(p[i]); }";
    on("cpu")
        .gets(text, &["in order", "teams and threads on i, lanes on i", "teams and threads on i"]);
    on("cpu").gets("for (int i = 1; i < n; i++) p[i] = p[i - 1];", &["in order"]);
}

#[test]
fn the_reason_is_told_with_numbers() {
    let (choices, _) = on("h200").choices(MRI_Q);
    let why = &choices[0].why;
    assert!(why.contains("next best is teams on i, threads on k"), "{why}");
    assert!(why.contains(" us"), "{why}");
}
