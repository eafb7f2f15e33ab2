//! `ferry explain` as a page and as a log, and its time.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use super::support::Folder;

/// Everything that a page draws: proven, carried and unknown loops, and copies of all kinds.
const PROGRAM: &str = "\
double other(double);\n\
void f(int n, int m, double *restrict p, double *restrict q, double *u) {\n\
    double own[10], s = 0;\n\
    for (int k = 0; k < m; k++) {\n\
#pragma omp target map(tofrom: p[0:n], q[0:n], own, s)\n\
        {\n\
            for (int i = 0; i < n; i++)\n\
                for (int j = 0; j < 10; j++) own[j] += p[i] * (i < j && j > 0);\n\
            for (int i = 1; i < n; i++) q[i] = q[i - 1];\n\
            for (int i = 0; i < n; i++) s += q[i];\n\
        }\n\
    }\n\
#pragma acc data copy(u[0:n])\n\
    {\n\
#pragma acc parallel loop\n\
        for (int i = 0; i < n; i++) u[i] = other(i);\n\
    }\n\
}\n";

fn page(program: &str) -> String {
    let folder = Folder::new();
    folder.write("a.c", program);
    let ran = folder.ferry(&["explain", "--html", "page.html", "a.c"]);
    ran.is_clean();
    assert_eq!(ran.out, "", "a page alone was asked for");
    folder.read("page.html")
}

#[test]
fn a_page_needs_nothing_but_itself() {
    let page = page(PROGRAM);
    for word in ["http", "src=", "<script", "<link", "@import", "url(", "javascript:"] {
        assert!(!page.contains(word), "{word}");
    }
    // What is opened is closed, and what is linked is there.
    for tag in ["article", "table", "ul", "li", "svg", "section", "g", "pre", "details", "a", "p"] {
        let opened =
            page.matches(&format!("<{tag} ")).count() + page.matches(&format!("<{tag}>")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    for link in page.split("href=\"#").skip(1).filter_map(|it| it.split('"').next()) {
        assert!(page.contains(&format!("id=\"{link}\"")), "{link}");
    }
    assert!(page.contains("i &lt; j &amp;&amp; j &gt; 0"));
    assert!(page.contains("class=\"mark carried\"") && page.contains("<path class=\"wasted\""));
}

#[test]
fn a_page_and_another_report_can_be_had_at_once() {
    let folder = Folder::new();
    folder.write("a.c", PROGRAM);
    let ran = folder.ferry(&["explain", "--json", "--html", "page.html", "a.c"]);
    assert!(ran.out.starts_with("{\"file\":\"a.c\""), "{}", ran.out);
    assert_eq!(folder.names(), ["a.c", "page.html"]);
    folder.ferry(&["explain", "--html", "a.c", "a.c"]).fails(1, &["`a.c` is read"]);
    let both = folder.ferry(&["explain", "--html", "x", "-o", "x", "a.c"]);
    both.fails(1, &["cannot be both page and report"]);
    let profile = folder.ferry(&["explain", "--profile", "toaster", "a.c"]);
    profile.fails(1, &["there is no profile `toaster`; there are "]);
}

#[test]
fn a_browser_shows_the_page() {
    let folder = Folder::new();
    folder.write("page.html", page(PROGRAM));
    let address = format!("file://{}", folder.path("page.html").display());
    let home = format!("--user-data-dir={}", folder.path("home").display());
    let flags = ["--headless", "--no-sandbox", "--disable-gpu", &home, "--dump-dom", &address];
    let browsers = ["chromium-headless-shell", "chromium"];
    let Some(ran) = browsers.iter().find_map(|it| folder.tool(it, &flags)) else {
        println!("skipped: there is no chromium here");
        return;
    };
    // A browser mends what is wrong; here it has nothing to mend.
    let shown = ran.out;
    assert!(shown.contains("<svg class=\"moves\"") && shown.contains("id=\"f0r2\""), "{shown}");
    for tag in ["<article", "<tr", "<li", "<path", "<details", "<a ", "<u>"] {
        assert_eq!(shown.matches(tag).count(), folder.read("page.html").matches(tag).count());
    }
}

#[test]
fn a_log_has_rules_levels_and_places() {
    let folder = Folder::new();
    folder.write("a.c", PROGRAM);
    let log: Value = serde_json::from_str(&folder.ferry(&["explain", "--sarif", "a.c"]).out)
        .expect("a log is JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    let mut seen = Vec::new();
    for result in results {
        let at = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
        assert_eq!(rules[at]["id"], result["ruleId"]);
        assert!(["note", "warning"].contains(&result["level"].as_str().expect("a level")));
        assert!(!result["message"]["text"].as_str().expect("words").is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a.c");
        assert!(place["region"]["startLine"].as_u64() >= Some(1));
        seen.push(result["ruleId"].as_str().expect("a rule"));
    }
    for code in ["F0900", "F0902", "F0903", "F0904", "F0905"] {
        assert!(seen.contains(&code), "{code} is missing in {seen:?}");
    }
}

/// The time that `ferry` had a processor for a file, as the system tells of a process that has ended.
fn busy(words: &[&str], text: &str) -> Option<Duration> {
    let folder = Folder::new();
    folder.write("a.c", text);
    let mut command = folder.command(&[words, &["a.c"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    let stat = format!("/proc/{}/stat", child.id());
    loop {
        let text = fs::read_to_string(&stat).ok()?;
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        if fields.first() == Some(&"Z") {
            child.wait().ok()?;
            // In hundredths of a second.
            let ticks =
                fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
            return Some(Duration::from_millis(10 * ticks));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Four times as much takes four times as long; the square would be sixteen times.
#[track_caller]
fn grows_evenly(words: &[&str], few: &str, many: &str) {
    let (Some(few), Some(many)) = (busy(words, few), busy(words, many)) else {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: the system does not tell how long processes were busy\n",
        );
        return;
    };
    assert!(many < few.max(Duration::from_millis(50)) * 9, "{few:?} became {many:?}");
}

#[test]
fn time_grows_with_the_program_and_not_with_its_square() {
    let part = "#pragma acc parallel loop copyin(x[0:n]) copy(y[0:n])\n\
                for (i = 0; i < n; i++) { t = x[i]; y[i] += t; }\n\
                #pragma acc kernels copy(y[0:n])\n\
                for (i = 1; i < n; i++) y[i] = y[i - 1];\n";
    let head = "void f(int n, double *restrict x, double *restrict y) { int i; double t;\n";
    let text = |regions: usize| format!("{head}{}}}\n", part.repeat(regions / 2));
    grows_evenly(&["explain"], &text(500), &text(4 * 500));
}

#[test]
fn time_grows_with_the_arrays_that_no_clause_names() {
    let text = |many: usize| {
        let arrays: String = (0..many).map(|it| format!("double v{it}[10];\n")).collect();
        let uses: String = (0..many).map(|it| format!("v{it}[i] = i;\n")).collect();
        let head = "#pragma acc parallel loop\nfor (int i = 0; i < 10; i++)";
        format!("{arrays}void f(void) {{\n{head} {{\n{uses}}}\n}}\n")
    };
    grows_evenly(&["explain"], &text(250), &text(4 * 250));
}

#[test]
fn time_of_translation_grows_with_loops_and_clauses() {
    let loops = |many: usize| {
        let head = "void f(int n, double *restrict p, double *restrict q) { int i;\n\
                    #pragma acc kernels copy(p[0:n]) copyin(q[0:n])\n{\n";
        format!("{head}{}}}\n}}\n", "for (i = 0; i < n; i++) p[i] += q[i];\n".repeat(many))
    };
    let words = ["translate", "--to", "openmp", "-o", "out.c"];
    grows_evenly(&words, &loops(250), &loops(4 * 250));
    let clauses = |many: usize| {
        let arrays: String = (0..many).map(|it| format!("double v{it}[10];\n")).collect();
        let clauses: String = (0..many).map(|it| format!(" \\\n copy(v{it})")).collect();
        format!("void f(void) {{\n{arrays}\n#pragma acc data{clauses}\n{{ }}\n}}\n")
    };
    grows_evenly(&words, &clauses(1000), &clauses(4 * 1000));
}

/// A nest of so many loops, and one statement in which all their counters stand.
fn nest(depth: usize, directive: &str) -> String {
    let loops: String =
        (0..depth).map(|it| format!("for (int i{it} = 0; i{it} < n; i{it}++)\n")).collect();
    let sum: Vec<String> = (0..depth).map(|it| format!("i{it}")).collect();
    format!(
        "double a[100];\nvoid f(int n) {{\n{directive}\n{loops}a[{}] += 1;\n}}\n",
        sum.join(" + ")
    )
}

/// Each loop is a question about all that stands inside: four times the depth may take sixteen times as long.
#[test]
fn time_grows_with_the_depth_of_nests() {
    for (words, directive) in [
        (&["explain"][..], "#pragma omp target teams distribute parallel for"),
        (&["explain"][..], "#pragma acc kernels"),
        (&["translate", "--to", "openmp", "-o", "out.c"][..], "#pragma acc kernels"),
    ] {
        let [few, many] = [12, 48].map(|it| busy(words, &nest(it, directive)));
        let Some((few, many)) = few.zip(many) else { return };
        assert!(many < few.max(Duration::from_millis(40)) * 16, "{directive}: {few:?}, {many:?}");
    }
    let collapsed = |depth: usize| {
        let directive =
            format!("#pragma omp target teams distribute parallel for collapse({depth})");
        nest(depth, &directive)
    };
    // There shapes are compared as well, each of all loops; with the third power it would be sixty-four times.
    let [few, many] = [12, 48].map(|it| busy(&["explain"], &collapsed(it)));
    let Some((few, many)) = few.zip(many) else { return };
    assert!(many < few.max(Duration::from_millis(40)) * 32, "{few:?} became {many:?}");
}

#[test]
fn time_grows_with_the_arrays_of_a_region_and_with_updates() {
    let arrays =
        |many: usize| (0..many).map(|it| format!("double v{it}[10];\n")).collect::<String>();
    let copies = |many: usize| {
        let clauses: String = (0..many).map(|it| format!(" copy(v{it})")).collect();
        let uses: String = (0..many).map(|it| format!("v{it}[i] += i;\n")).collect();
        let head = format!("#pragma acc parallel loop{clauses}\nfor (int i = 0; i < 10; i++)");
        format!("{}void f(void) {{\n{head} {{\n{uses}}}\n}}\n", arrays(many))
    };
    grows_evenly(&["explain"], &copies(400), &copies(4 * 400));
    let updates = |many: usize| {
        let updates: String =
            (0..many).map(|it| format!("#pragma acc update device(v{it})\n")).collect();
        format!("{}void f(void) {{\n{updates}}}\n", arrays(many))
    };
    let words = ["translate", "--to", "openmp", "-o", "out.c"];
    grows_evenly(&words, &updates(1500), &updates(4 * 1500));
}

/// A file of 1600 lines as applications have them: line solves of small blocks, each a region with loops of its own.
#[test]
fn reports_and_translation_cost_at_most_ten_checks() {
    let block: String = (0..90)
        .map(|it| {
            let (row, column) = (it / 10, it % 10);
            format!(
                "lhs[{row}][{column}][k][i][j] = 1.0 + dt * (u[{row}][k][j][i] * q[k][j][i] - \
                 {column}.5 * lhs[{column}][{row}][k][i - 1][j]);\n"
            )
        })
        .collect();
    let region = format!(
        "#pragma acc parallel loop gang num_workers(8) vector_length(32) present(lhs, u, q)\n\
         for (k = 1; k < n - 1; k++) {{\n#pragma acc loop worker\n\
         for (j = 1; j < n - 1; j++) {{\n#pragma acc loop vector private(t)\n\
         for (i = 1; i < n - 1; i++) {{\nt = q[k][j][i];\n{block}u[0][k][j][i] += t;\n}}\n}}\n}}\n"
    );
    let head = "double lhs[10][10][24][24][24], u[10][24][24][24], q[24][24][24];\n\
                void solve(int n, double dt) {\nint i, j, k;\ndouble t;\n\
                #pragma acc data copy(lhs, u) copyin(q)\n{\n";
    let text = format!("{head}{}}}\n}}\n", region.repeat(16));
    assert!(text.lines().count() > 1600, "{}", text.lines().count());
    let check = busy(&["check"], &text);
    for words in [&["explain"][..], &["translate", "--to", "openmp", "-o", "out.c"]] {
        let (Some(check), Some(took)) = (check, busy(words, &text)) else { return };
        assert!(took < check.max(Duration::from_millis(50)) * 10, "{words:?}: {check:?}, {took:?}");
    }
}
