//! How much of the data behind pointers a region touches: `p 0:n if n - 1`, one line for each pointer.

use opt::dependence::Analysis;
use opt::extent::{Extent, Part};

use super::support;

/// What is said of the pointers of the first region of a function body.
fn lines(body: &str) -> Vec<String> {
    let text = support::within(body);
    let program = support::program(&text);
    let analysis = Analysis::new(&program);
    let Some((region, _)) = program.regions.iter().next() else { return Vec::new() };
    let part = |it: &Part| {
        let guards: Vec<String> = it.guards.iter().map(|it| it.text(&program)).collect();
        let guards =
            if guards.is_empty() { String::new() } else { format!(" if {}", guards.join(", ")) };
        format!("{}{guards}", it.text(&program))
    };
    let told = analysis.implied(region).into_iter().map(|it| {
        let name = program.vars[it.var].name.map_or("?", |it| program.names.text(it));
        match &it.extent {
            Extent::Known(parts) => {
                format!("{name} {}", parts.iter().map(part).collect::<Vec<_>>().join("; "))
            }
            Extent::Unknown(_) => format!("{name} unknown"),
        }
    });
    told.collect()
}

#[track_caller]
fn check(body: &str, expect: &[&str]) {
    let text = format!("#pragma acc parallel loop\n{body}");
    assert_eq!(lines(&text), expect, "{body}");
}

#[test]
fn a_loop_states_the_ends_of_what_it_touches() {
    check("for (int i = 0; i < n; i++) p[i] = q[i];", &["q 0:n if n - 1", "p 0:n if n - 1"]);
    check("for (int i = 3; i <= n; i++) p[i - 1] = 0;", &["p 2:n - 2 if n - 3"]);
    check("for (int i = n - 1; i >= 0; i--) p[i] = 0;", &["p 0:n if n - 1"]);
    check("for (int i = 0; i < 10; i++) p[n - i] = 0;", &["p n - 9:10"]);
    check("for (int i = 0; i < 10; i += 4) p[i] = 0;", &["p 0:9"]);
    check(
        "for (int i = 1; i < n; i++) p[i] = q[i - 1] + q[i + 1];",
        &["q 0:n + 1 if n - 2", "p 1:n - 1 if n - 2"],
    );
    check(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) p[i * m + j] = 0;",
        &["p 0:n * m if n - 1, m - 1"],
    );
}

#[test]
fn the_round_that_touches_an_end_is_one_that_is_run() {
    // The inner loop has no rounds when the outer one begins; or, below, when it ends, and then `q` is read up to `m` only.
    check(
        "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) p[j] = 0;",
        &["p 0:n - 1 if n - 2"],
    );
    check(
        "for (int i = 0; i < n; i++) for (int j = i; j < m; j++) p[j] = q[i];",
        &["q unknown", "p 0:m if n - 1, m - 1"],
    );
}

#[test]
fn distances_are_taken_for_positive_if_they_are() {
    check("for (int i = 0; i < n; i++) p[i * m] = 0;", &["p 0:n * m - m + 1 if n - 1, m"]);
    // From the last row to the first; the distance counts at both ends; and for all parts if for one.
    check(
        "for (int i = n - 1; i >= 0; i--) for (int j = 0; j < 4; j++) p[i * m + j] = 0;",
        &["p 0:n * m - m + 4 if n - 1, m"],
    );
    check(
        "for (int i = 1; i <= 5; i++) for (int j = i; j < 8; j++) p[i * m + j] = 0;",
        &["p m + 1:4 * m + 7 if m"],
    );
    check(
        "for (int i = 0; i < n; i++) { for (int j = 0; j < 4; j++) p[i * m + j] = 0; p[i] = 0; }",
        &["p 0:n * m - m + 4 if n - 1, m; 0:n if n - 1, m"],
    );
}

#[test]
fn rows_and_members_are_counted_whole() {
    let rows = "double (*a)[20] = (void *)u;\n#pragma acc parallel loop\n\
                for (int i = 0; i < n; i++) for (int j = 1; j < 20; j++) a[i][j] = 0;";
    assert_eq!(lines(rows), ["a 0:n if n - 1"]);
    let members = "struct pair *s = (void *)u;\n#pragma acc parallel loop\n\
                   for (int i = 0; i < n; i++) s[i].y = 0;";
    assert_eq!(lines(members), ["s 0:n if n - 1"]);
}

#[test]
fn what_may_not_happen_states_nothing() {
    check("for (int i = 0; i < n; i++) if (i < m) p[i] = 0;", &["p unknown"]);
    check("for (int i = 0; i < n; i++) { p[i] = 1; if (i < m) p[i] = 0; }", &["p 0:n if n - 1"]);
    check("for (int i = 0; i < n; i++) { p[i] = 1; if (i < m) p[i + 1] = 0; }", &["p unknown"]);
    check("for (int i = 0; i < n; i++) { if (i == m) continue; p[i] = 0; }", &["p unknown"]);
    check("for (int i = 0; i < n; i++) p[i] = m > 0 ? q[i] : 0;", &["q unknown", "p 0:n if n - 1"]);
}

#[test]
fn what_cannot_be_told_at_the_entry_is_not_known() {
    check("for (int i = 0; i < n; i++) p[(int)q[i]] = 0;", &["p unknown", "q 0:n if n - 1"]);
    check("for (int i = 0; i < n; i += 2) p[i] = 0;", &["p unknown"]);
    check("for (int i = 0; i < n; i++) { other(); p[i] = 0; }", &["p unknown"]);
    let own = "#pragma acc parallel private(m)\n{ for (int i = 0; i < m; i++) p[i] = 0; }";
    assert_eq!(lines(own), ["p unknown"]);
}

#[test]
fn only_what_nothing_names_is_implied() {
    let clause = "#pragma acc parallel loop copy(p[0:n])\nfor (int i = 0; i < n; i++) p[i] = 0;";
    assert_eq!(lines(clause), Vec::<String>::new());
    let other = "#pragma omp target\nfor (int i = 0; i < n; i++) p[i] = 0;";
    assert_eq!(lines(other), Vec::<String>::new());
}
