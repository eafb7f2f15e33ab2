//! The marks of loops, one line each: who says that it is parallel, how often it runs, how accesses move.

use opt::dependence::Analysis;
use opt::marks::{LoopTree, Options, Stride, Trust};

use super::support;

/// `i: proved; 100 constant; tight; a 1, b row`
fn lines(body: &str, options: &Options) -> Vec<String> {
    let program = support::program(&support::within(body));
    let analysis = Analysis::new(&program);
    let function = program.functions.iter().find_map(|it| it.1.body);
    let tree = function.map_or_else(LoopTree::default, |it| analysis.marks_in(it, options));
    let line = |at: usize| {
        let it = &tree.loops[at];
        let tight = if it.is_tight { "; tight" } else { "" };
        let moves: Vec<String> = tree
            .strides(at)
            .map(|(access, stride)| {
                let name = access.var.and_then(|it| program.vars[it].name);
                let name = name.map_or("?", |it| program.names.text(it));
                let by = match stride {
                    Stride::Same => "0".to_owned(),
                    Stride::Elements(by) => by.to_string(),
                    Stride::Row => "row".to_owned(),
                    Stride::Irregular => "any".to_owned(),
                };
                format!("{name} {by}")
            })
            .collect();
        format!(
            "{}: {:?}; {} {}{tight}; {}",
            it.name(&program),
            it.parallel,
            it.trips.estimate,
            it.trips.from.text(),
            moves.join(", ")
        )
    };
    (0..tree.loops.len()).map(line).collect()
}

#[track_caller]
fn check(body: &str, expect: &[&str]) {
    assert_eq!(lines(body, &Options::default()), expect, "{body}");
}

#[test]
fn strides_are_told_for_every_loop_around_an_access() {
    check(
        "double a[40][60]; for (int i = 0; i < 40; i++) for (int j = 0; j < 60; j += 2)\n\
         a[i][j] = p[i * m + j] + q[j * 3];",
        &[
            "i: Proved; 40 constant; p row, q 0, a 60",
            "j: Proved; 30 constant; tight; p 2, q 6, a 2",
        ],
    );
    check(
        "for (int i = 0; i < n; i++) { double s = 0; for (int k = (int)u[i]; k < (int)u[i + 1]; k++)\n\
         s += p[k] * v[(int)q[k]]; p[i] = s; }",
        &[
            "i: No(Unknown); 1024 guessed; u 1, u 1, p any, q any, v any, p 1",
            "k: No(Rounding); 1024 guessed; p 1, q 1, v any",
        ],
    );
}

#[test]
fn trips_come_from_numbers_values_arrays_and_the_user() {
    check(
        "int size = 500; double a[64]; for (int i = 1; i < size; i++) p[i] = 0;\n\
         for (int i = 0; i < n; i++) a[2 * i] = 0; for (int i = 0; i < size; i++)\n\
         for (int j = 0; j <= i; j++) p[i * size + j] = 0; q[0] = a[0];",
        &[
            "i: Proved; 499 from the values of variables; p 1",
            "i: Proved; 32 from the size of an array; a 2",
            "i: Proved; 500 from the values of variables; p row",
            "j: Proved; 251 from the values of variables; tight; p 1",
        ],
    );
    let mut options = Options::default();
    options.trips.insert("n".to_owned(), 77);
    let found = lines("for (int i = 0; i < n - 1; i++) p[i] = 0;", &options);
    assert_eq!(found, ["i: Proved; 76 given; p 1"]);
}

#[test]
fn what_the_user_says_is_checked() {
    let wrong =
        "#pragma acc parallel loop independent\nfor (int i = 1; i < n; i++) p[i] = p[i - 1];";
    let open = "#pragma acc parallel loop\nfor (int i = 1; i < n; i++) u[i] = v[i - 1];";
    let said = |body: &str, trust: Trust| {
        let options = Options { trust, ..Options::default() };
        let line = lines(body, &options).remove(0);
        line.split("; ").next().unwrap_or_default().to_owned()
    };
    assert_eq!(said(wrong, Trust::Trust), "i: User(Refuted)");
    assert_eq!(said(wrong, Trust::Verify), "i: No(Distrusted)");
    assert_eq!(said(wrong, Trust::Strict), "i: No(Distrusted)");
    assert_eq!(said(open, Trust::Verify), "i: User(Open)");
    assert_eq!(
        said(open.trim_start_matches("#pragma acc parallel loop\n"), Trust::Verify),
        "i: ProvedIf"
    );
}
