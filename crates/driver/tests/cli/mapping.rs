//! `ferry cc --mapping`: what was decided is written, can be changed and pinned, and is honoured.

use super::support::{Folder, Ran};

const NESTS: &str = "double a[500][400], b[500][400];\n\
    void sweep(void) {\n\
    #pragma omp target teams distribute map(tofrom: a, b)\n\
    for (int i = 0; i < 500; i++) {\n\
    #pragma omp parallel for\n\
    for (int j = 0; j < 400; j++) a[i][j] = b[i][j] * 2;\n\
    }\n\
    #pragma acc kernels copy(a, b)\n\
    for (int i = 0; i < 500; i++)\n\
    for (int j = 0; j < 400; j++) b[i][j] = a[i][j] + 1;\n\
    }\n";

const FIRST: [&str; 4] = ["cc", "--mapping=m.toml", "-c", "a.c"];

fn saved(folder: &Folder) -> String {
    folder.ferry(&["cc", "--mapping", "m.toml", "--ferry-save-temps=t", "-c", "a.c"]).is_clean();
    folder.read("t/a.host.c")
}

#[test]
fn decisions_are_written_once_and_stay_the_same() {
    let folder = Folder::new();
    folder.write("a.c", NESTS);
    folder.ferry(&FIRST).is_clean();
    let first = folder.read("m.toml");
    for line in ["[\"a.c:sweep:4\"]", "teams = [\"i:4\"]", "lanes = [\"j:6\"]", "[\"a.c:sweep:9\"]"]
    {
        assert!(first.contains(line), "{line}: {first}");
    }
    folder.ferry(&FIRST).is_clean();
    assert_eq!(first, folder.read("m.toml"));
    // Another file joins them.
    folder.write("b.c", NESTS.replace("sweep", "other").replace("double a", "extern double a"));
    folder.ferry(&["cc", "--mapping=m.toml", "-c", "b.c"]).is_clean();
    let both = folder.read("m.toml");
    assert!(both.contains("a.c:sweep:4") && both.contains("b.c:other:4"), "{both}");
}

#[test]
fn what_is_pinned_is_taken() {
    let folder = Folder::new();
    folder.write("a.c", NESTS);
    let free = saved(&folder);
    assert!(free.contains("#pragma omp simd"), "{free}");
    let pinned = folder.read("m.toml").replace("lanes = [\"j:6\"]", "lanes = []");
    let in_order = pinned
        .replace("teams = [\"i:9\"]", "teams = []")
        .replace("threads = [\"i:9\"]", "threads = [\"j:10\"]")
        .replace("pinned = false", "pinned = true");
    folder.write("m.toml", &in_order);
    let bound = saved(&folder);
    assert!(!bound.contains("#pragma omp simd"), "{bound}");
    let inner = bound.rfind("#pragma omp parallel for").and_then(|at| bound.get(at..));
    let inner = inner.and_then(|it| it.split_once("for (int ")).map_or("", |it| it.1);
    assert!(bound.contains("for (int j") && !inner.is_empty(), "{bound}");
    assert_eq!(folder.read("m.toml"), in_order, "people's own");
}

#[test]
fn a_stale_pin_is_a_warning_and_a_wrong_one_an_error() {
    let folder = Folder::new();
    folder.write("a.c", NESTS);
    folder.ferry(&FIRST).is_clean();
    let pinned = folder.read("m.toml").replace("pinned = false", "pinned = true");
    folder.write("m.toml", &pinned);
    // Spaces and comments do not count; another factor does.
    folder.write("a.c", NESTS.replace("b[i][j] * 2", "b[i][j]  *  2 /* twice */"));
    folder.ferry(&FIRST).is_clean();
    folder.write("a.c", NESTS.replace("b[i][j] * 2", "b[i][j] * 3"));
    let ran = folder.ferry(&FIRST);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.err.contains("F0707") && ran.err.contains("stale"), "{}", ran.err);
    folder.write("a.c", NESTS);
    folder.write("m.toml", pinned.replace("lanes = [\"j:6\"]", "lanes = [\"k:6\"]"));
    folder.ferry(&FIRST).fails(1, &["F0708", "there is no such loop"]);
    folder.write("m.toml", "pinned = [");
    folder.ferry(&FIRST).fails(1, &["`m.toml` is no file of mappings"]);
}

#[test]
fn directives_are_believed_as_far_as_one_says() {
    let folder = Folder::new();
    folder.write(
        "a.c",
        "void f(int n, double *a) {\n\
         #pragma acc parallel loop gang copy(a[0:n])\n\
         for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;\n\
         #pragma acc parallel loop gang copy(a[0:n])\n\
         for (int i = 1; i < n; i++) if (a[i] > 0) a[i] = a[i - 1] + 1;\n\
         }\n",
    );
    let threads = |how: &str| {
        let word = format!("--trust={how}");
        folder.ferry(&["cc", &word, "-w", "--ferry-save-temps=t", "-c", "a.c"]);
        folder.read("t/a.host.c").matches("parallel for").count()
    };
    assert_eq!(threads("trust"), 2, "both, whatever is found");
    assert_eq!(threads("verify"), 1, "one certainly depends on its order");
    assert_eq!(threads("strict"), 0, "the other looks as if it did");
    folder.ferry(&["cc", "--trust=never", "-c", "a.c"]).fails(1, &["say `trust`, `verify` or"]);
    let told = |how: &str| folder.ferry(&["explain", "--trust", how, "a.c"]).out;
    assert_eq!(told("trust").matches("but it runs in order").count(), 0);
    assert_eq!(told("verify").matches("but it runs in order").count(), 1);
    assert_eq!(told("strict").matches("but it runs in order").count(), 2);
}

/// A program in which each of these directives has iterations run at once that depend on each other, with what it says of itself.
fn dependent(directives: &[&str]) -> String {
    let mut text =
        "#include <stdio.h>\nenum { N = 20000 };\nstatic long a[N];\nstatic int wrong;\n\
         static void check(const char *what) {\n  int right = 0;\n\
         for (int i = 0; i < N; i++) { right += a[i] == i + 1; a[i] = i == 0; }\n\
         if (right != N) printf(\"wrong: %s: %d\\n\", what, N - right), wrong++;\n}\n\
         int main(void) {\n  a[0] = 1;\n"
            .to_owned();
    for it in directives {
        let loops = match it.contains("collapse") {
            true => "for (int i = 1; i < N; i++) for (int k = 0; k < 1; k++) a[i] = a[i - 1] + 1;",
            false => "for (int i = 1; i < N; i++) a[i] = a[i - 1] + 1;",
        };
        let lines: Vec<String> = it.split('|').map(|it| format!("#pragma omp {it}\n")).collect();
        text += &format!("{}  {loops}\n  check(\"{it}\");\n", lines.concat());
    }
    text + "  return wrong;\n}\n"
}

#[test]
fn loops_whose_directives_are_not_believed_run_in_order() {
    let directives = [
        "parallel for",
        "parallel for num_threads(4) schedule(static, 1)",
        "parallel for simd simdlen(8)",
        "parallel for order(concurrent)",
        "parallel loop",
        "parallel|for",
        "simd",
        "simd safelen(16) simdlen(4)",
        "teams distribute num_teams(3)",
        "teams loop",
        "target teams distribute parallel for map(a)",
        "target teams distribute parallel for simd map(a) num_teams(8) thread_limit(4)",
        "target teams distribute parallel for collapse(2) map(a)",
        "target teams distribute map(a)",
        "target teams loop map(a)",
        "target parallel for map(a)",
        "target parallel loop map(a)",
        "target teams map(a)|distribute parallel for",
        "target map(a)|teams|distribute",
        "target map(a)|parallel|for",
        "target map(a)|simd",
        "target teams map(a)|loop",
    ];
    let folder = Folder::new();
    folder.write("a.c", dependent(&directives));
    let lines = |text: &str, part: &str| text.lines().filter(|it| it.contains(part)).count();
    let there = folder.ferry(&["devices", "--json"]).out;
    let opencl = there.lines().find(|it| it.contains("\"opencl\"")).unwrap_or_default();
    // Its kernels are those of all grids; without a driver what is said of them is compared all the same.
    let has_opencl = opencl.contains("\"missing\":[]");
    for device in ["cpu", "cpu:separate", "opencl", "opencl:1.2", "cuda"] {
        let flags = ["cc", "--trust=strict", "-O2", "--device", device, "-c", "a.c", "-o", "a.o"];
        let built = folder.ferry(&flags);
        if device == "cuda" && built.err.contains("needs NVRTC or nvcc") {
            println!("skipped in part: NVRTC is not on this machine");
            continue;
        }
        assert_eq!(built.status, Some(0), "{}", built.err);
        // What is said is what is done, for each of them.
        let told = lines(&built.err, "warning[F0733]");
        let asked = directives.iter().filter(|it| !it.contains("safelen")).count();
        assert_eq!(told, asked, "{}", built.err);
        assert_eq!(lines(&built.err, "F0730"), 0, "{}", built.err);
        if device == "cuda" || device.starts_with("opencl") && !has_opencl {
            continue;
        }
        folder.ferry(&["cc", "--device", device, "a.o", "-o", "a"]).is_clean();
        let ran = Ran::of(
            std::process::Command::new(folder.path("a"))
                .env("FERRY_DEVICE", device)
                .env("OMP_TARGET_OFFLOAD", "MANDATORY")
                .output()
                .expect("it runs"),
        );
        assert_eq!(ran.status, Some(0), "{device}: {}", ran.out);
    }
    let told = folder.ferry(&["explain", "--trust", "strict", "a.c"]).out;
    let asked = directives.iter().filter(|it| !it.contains("safelen")).count();
    assert_eq!(told.matches("but it runs in order").count(), asked, "{told}");
    // Without the word they run as the directives say, and that is told.
    let built = folder.ferry(&["cc", "-c", "a.c"]);
    assert_eq!(lines(&built.err, "F0733"), 0, "{}", built.err);
    assert!(lines(&built.err, "warning[F0730]") > 10, "{}", built.err);
}

/// Sums and temporaries that all iterations share, since no clause makes them each one's own.
const UNSAID: &str = "#include <stdio.h>\n#define N 200000\nstatic int a[N], b[N];\nint main(void) {\n\
    long s = 0, m = 0; int t = 0, wrong = 0;\n\
    for (int i = 0; i < N; i++) a[i] = i % 7;\n\
    #pragma omp target teams distribute parallel for map(tofrom: s)\n\
    for (int i = 0; i < N; i++) s += a[i];\n\
    #pragma omp target parallel for map(tofrom: m)\n\
    for (int i = 0; i < N; i++) m = a[i] + i > m ? a[i] + i : m;\n\
    #pragma omp target teams distribute parallel for map(tofrom: t)\n\
    for (int i = 0; i < N; i++) { t = a[i] * 2; b[i] = t + 1; }\n\
    #pragma omp parallel for\n\
    for (int i = 0; i < N; i++) { t = a[i]; a[i] = t * t + t; }\n\
    long r = 0, k = 0;\n\
    for (int i = 0; i < N; i++) r += i % 7, k = i % 7 + i > k ? i % 7 + i : k, wrong += b[i] != i % 7 * 2 + 1;\n\
    for (int i = 0; i < N; i++) wrong += a[i] != i % 7 * (i % 7) + i % 7;\n\
    return !(s == r && m == k && wrong == 0);\n}\n";

#[test]
fn sums_that_no_clause_names_run_in_order_where_directives_are_not_believed() {
    let folder = Folder::new();
    folder.write("a.c", UNSAID);
    let plain = folder.ferry(&["check", "a.c"]);
    let told = plain.err.matches("warning[F073").count();
    assert!(told >= 3, "{}", plain.err);
    let there = folder.ferry(&["devices", "--json"]).out;
    let opencl = there.lines().find(|it| it.contains("\"opencl\"")).unwrap_or_default();
    let devices: &[&str] = match opencl.contains("\"missing\":[]") {
        true => &["cpu", "cpu:separate", "opencl", "opencl:1.2"],
        false => &["cpu", "cpu:separate"],
    };
    for device in devices {
        let built =
            folder.ferry(&["cc", "--trust=strict", "-O1", "--device", device, "a.c", "-o", "a"]);
        assert_eq!(built.status, Some(0), "{}", built.err);
        assert_eq!(built.err.matches("warning[F0733]").count(), told, "{device}: {}", built.err);
        let mut command = std::process::Command::new(folder.path("a"));
        command.env("FERRY_DEVICE", device).env("OMP_TARGET_OFFLOAD", "MANDATORY");
        let ran = Ran::of(command.output().expect("it runs"));
        assert_eq!(ran.status, Some(0), "{device}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn numbers_of_ones_own_device_decide() {
    let folder = Folder::new();
    folder.write("a.c", NESTS);
    folder.write("mine.toml", "[mine]\nlike = \"cpu\"\nvector = 0\n");
    let with = |profile: &str| {
        let word = format!("--ferry-profile={profile}");
        folder.ferry(&["cc", &word, "--ferry-save-temps=t", "-c", "a.c"]).is_clean();
        folder.read("t/a.host.c")
    };
    assert!(with("cpu").contains("#pragma omp simd"));
    assert!(!with("mine.toml").contains("#pragma omp simd"), "it has no lanes");
    folder
        .ferry(&["cc", "--ferry-profile=gpu", "-c", "a.c"])
        .fails(1, &["the devices of this command are made of cores"]);
    folder
        .ferry(&["cc", "--ferry-profile=none.toml", "-c", "a.c"])
        .fails(1, &["cannot read `none.toml`"]);
}

#[test]
fn iterations_of_loops_for_threads_in_loops_for_teams_are_told() {
    let folder = Folder::new();
    let program = |between: &str| {
        format!(
            "void f(int n, int m, int *a) {{\n\
             #pragma omp target teams distribute map(tofrom: a[0:n * m])\n\
             for (int i = 0; i < n; i++) {{\n\
             {between}\n\
             #pragma omp parallel for\n\
             for (int j = 0; j < m; j++) a[i * m + j] += i;\n\
             }}\n\
             }}\n"
        )
    };
    let host = |between: &str| {
        folder.write("a.c", program(between));
        folder.ferry(&["cc", "--device=cuda", "--ferry-save-temps=t", "-c", "a.c"]);
        folder.read("t/a.host.c")
    };
    let told = "(__ferry_u64)__ferry_trips(0, (__ferry_i64)n, (__ferry_i64)1) * \
                (__ferry_u64)__ferry_trips(0, (__ferry_i64)m, (__ferry_i64)1)";
    assert!(host("").contains(told), "{}", folder.read("t/a.host.c"));
    let text = host("a[i * m] = 0;");
    assert!(!text.contains("(__ferry_u64)__ferry_trips("), "teams do more: {text}");
}

#[test]
fn sums_behind_locks_are_combined_or_indivisible() {
    let folder = Folder::new();
    folder.write(
        "a.c",
        "void f(int *p, const int *key) {\n\
         int bins[16] = {0};\n\
         #pragma omp target parallel for map(tofrom: bins, p[0:16]) map(to: key[0:99])\n\
         for (int i = 0; i < 99; i++) {\n\
         #pragma omp critical(a)\n\
         bins[key[i]]++;\n\
         #pragma omp critical(b)\n\
         p[key[i]] += 2;\n\
         #pragma omp critical(c)\n\
         { p[0] += 1; p[1] = p[0]; }\n\
         }\n\
         p[0] += bins[3];\n\
         }\n",
    );
    folder.ferry(&["cc", "-w", "--ferry-save-temps=t", "-c", "a.c"]).is_clean();
    let text = folder.read("t/a.host.c");
    assert!(text.contains("reduction(+: bins"), "an array of its own: {text}");
    // Another lock was never kept apart from this one; what uses a value in the same turn stays behind its own.
    assert_eq!(text.matches("#pragma omp atomic update").count(), 1, "{text}");
    assert_eq!(text.matches("#pragma omp critical").count(), 1, "{text}");
    folder.write("b.c", folder.read("a.c").replace("critical(c)", "critical(b)"));
    folder.ferry(&["cc", "-w", "--ferry-save-temps=t", "-c", "b.c"]).is_clean();
    let text = folder.read("t/b.host.c");
    assert_eq!(
        text.matches("#pragma omp atomic").count(),
        0,
        "one lock, one keeps it whole: {text}"
    );
    assert_eq!(text.matches("#pragma omp critical").count(), 2, "{text}");
}

#[test]
fn levels_that_are_left_open_are_chosen_by_what_they_cost() {
    let folder = Folder::new();
    let nest = "for (int i = 0; i < ROWS; i++)\n\
                for (int j = 0; j < 5000; j++) a[i][j] = b[i][j] * 2;\n";
    let with = |directive: &str, rows: u32| {
        let nest = match directive.strip_suffix(" both") {
            Some(_) => nest.replace("\nfor (int j", "\n#pragma acc loop\nfor (int j"),
            None => nest.to_owned(),
        };
        let directive = directive.trim_end_matches(" both");
        let text = format!(
            "double a[500][5000], b[500][5000];\nvoid f(void) {{\n#pragma acc {directive}\n{nest}}}\n"
        );
        folder.write("a.c", text.replace("ROWS", &rows.to_string()));
        folder.ferry(&["cc", "--ferry-save-temps=t", "-c", "a.c"]).is_clean();
        let text = folder.read("t/a.host.c");
        let lines = text.lines().filter(|it| it.starts_with("#pragma omp"));
        lines.map(str::trim).collect::<Vec<_>>().join("\n")
    };
    for directive in [
        "kernels copy(a, b)",
        "parallel loop copy(a, b)",
        "parallel loop auto copy(a, b)",
        "parallel loop copy(a, b) both",
        "kernels loop copy(a, b) both",
    ] {
        let few = with(directive, 3);
        assert!(few.contains("collapse(2)") && !few.contains("simd"), "{directive}: {few}");
        let many = with(directive, 500);
        assert!(!many.contains("collapse") && many.contains("simd"), "{directive}: {many}");
    }
    let named = with("parallel loop gang worker copy(a, b)", 3);
    assert!(!named.contains("collapse"), "what is named stays: {named}");
}

#[test]
fn lanes_that_nobody_asks_for_read_nothing_again_and_again() {
    let folder = Folder::new();
    let with = |directive: &str, factor: &str| {
        let text = format!(
            "double a[500][5000], b[500][5000];\nvoid f(double x) {{\n#pragma acc kernels copy(a, b)\n\
             for (int i = 0; i < 500; i++) {{\n{directive}\n\
             for (int j = 1; j < 5000; j++) a[i][j] -= {factor} * b[i][j];\n}}\n}}\n"
        );
        folder.write("a.c", text);
        let told = folder.ferry(&["cc", "--ferry-save-temps=t", "--ferry-report", "-c", "a.c"]);
        assert_eq!(told.status, Some(0), "{}", told.err);
        (folder.read("t/a.host.c").contains("simd"), told.err.contains("lanes on j: "))
    };
    assert_eq!(with("", "x"), (true, true));
    assert_eq!(
        with("", "a[i][0]"),
        (false, false),
        "it would be read anew for each few iterations"
    );
    assert!(with("#pragma acc loop vector", "a[i][0]").0, "what is asked for stays");
}

const PRODUCT: &str = "double a[400][400], b[400][400], c[400][400];\n\
    void product(void) {\n\
    #pragma omp target teams distribute map(to: a, b) map(from: c)\n\
    for (int i = 0; i < 400; i++) {\n\
    #pragma omp parallel for\n\
    for (int j = 0; j < 400; j++) {\n\
    double sum = 0;\n\
    for (int k = 0; k < 400; k++) sum += a[i][k] * b[k][j];\n\
    c[i][j] = sum;\n\
    }\n\
    }\n\
    }\n";

#[test]
fn a_loop_that_every_thread_runs_whole_is_decided_on_and_pinned() {
    let whole = "#pragma omp for schedule(static) nowait";
    for text in [PRODUCT.to_owned(), PRODUCT.replace("omp target teams distribute", "acc kernels")]
    {
        let text = text.replace("map(to: a, b) map(from: c)\n", "\n");
        let text = match text.contains("acc kernels") {
            true => text.replace("#pragma omp parallel for\n", "\n"),
            false => text,
        };
        let folder = Folder::new();
        folder.write("a.c", &text);
        let free = saved(&folder);
        assert!(free.contains(whole), "{free}");
        let decided = folder.read("m.toml");
        assert!(decided.contains("whole = [\"i:4\"]\nteams = [\"j:6\"]"), "{decided}");
        // It is not taken where it is pinned otherwise, nor chosen where the caches hold all.
        let rows = decided
            .replace("whole = [\"i:4\"]\n", "")
            .replace("\"j:6\"", "\"i:4\"")
            .replace("pinned = false", "pinned = true");
        folder.write("m.toml", &rows);
        let bound = saved(&folder);
        assert!(!bound.contains(whole) && bound.contains("#pragma omp parallel for"), "{bound}");
        folder.write("mine.toml", "[mine]\nlike = \"cpu\"\ncache = 8388608\n");
        let large = ["cc", "--ferry-profile=mine.toml", "--ferry-save-temps=t"];
        folder.ferry(&[&large[..], &["-c", "a.c"]].concat()).is_clean();
        assert!(!folder.read("t/a.host.c").contains(whole));
        let pinned = decided.replace("pinned = false", "pinned = true");
        folder.write("m.toml", &pinned);
        folder.ferry(&[&large[..], &["--mapping=m.toml", "-c", "a.c"]].concat()).is_clean();
        assert!(folder.read("t/a.host.c").contains(whole), "it is pinned");
        folder.write("m.toml", pinned.replace("threads = [\"j:6\"]", "threads = []"));
        folder.ferry(&FIRST).fails(1, &["F0708", "threads that run it whole cannot share"]);
    }
}

/// A counter that is declared outside belongs to each thread, also when its loop is no longer made one with that around.
#[test]
fn counters_of_loops_that_come_apart_stay_private() {
    let folder = Folder::new();
    let text = "int a[100][120][100];\nvoid f(void) {\n    int i, j, k;\n\
                #pragma acc parallel loop collapse(2) private(k) copy(a)\n\
                \x20   for (i = 0; i < 100; i++)\n    for (j = 0; j < 120; j++)\n\
                \x20   for (k = i; k < 100; k++) a[i][j][k] += i + 2 * j + 3 * k;\n}\n";
    folder.write("a.c", text);
    let made = saved(&folder);
    let line = made.lines().find(|it| it.contains("#pragma omp parallel for")).unwrap_or_default();
    assert!(line.contains("private(j)") != line.contains("collapse(2)"), "{made}");
    assert!(line.contains("private(j)"), "this nest was one that comes apart: {line}");
}

#[test]
fn loops_inside_of_loops_that_teams_share_are_none_of_theirs() {
    let folder = Folder::new();
    let text = "int a[37][43][29];\nvoid f(void) {\n\
                #pragma omp target teams loop map(tofrom: a)\n\
                \x20   for (int i = 0; i < 37; i++)\n#pragma omp loop\n\
                \x20   for (int j = 0; j < 43; j++)\n#pragma omp loop\n\
                \x20   for (int k = 0; k < 29; k++) a[i][j][k] += i + 2 * j + 3 * k;\n}\n";
    folder.write("a.c", text);
    let made = saved(&folder);
    assert!(!made.contains("#pragma omp distribute"), "{made}");
}
