//! Verdicts on loops, one line each: what each loop of a function is found to be, outermost first.

use super::support::{self, check};

#[test]
fn elements_of_their_own_are_independent() {
    check(
        "double a[100], b[100]; for (int i = 0; i < 100; i++) a[i] = b[i] + a[i];",
        &["parallel"],
    );
    check("int a[100]; for (int i = 0; i < 50; i++) a[2 * i] = a[2 * i + 1];", &["parallel"]);
    check("int a[100]; for (int i = 99; i >= 0; i -= 3) a[i] = i;", &["parallel"]);
    check("int a[100]; for (int i = 0; i != 100; ++i) a[99 - i] = i;", &["parallel"]);
    check("int a[100]; for (int i = 0; i < 50; i++) a[i] = a[i + 50];", &["parallel"]);
    check(
        "int a[100]; for (int i = 0; i <= 50; i++) a[i] = a[i + 50];",
        &["anti: a[i + 50] -> a[i] = a[i + 50]"],
    );
}

#[test]
fn values_passed_on_are_carried() {
    check(
        "int a[100]; for (int i = 1; i < 100; i++) a[i] = a[i - 1];",
        &["flow 1: a[i] = a[i - 1] -> a[i - 1]"],
    );
    check(
        "int a[100]; for (int i = 0; i < 97; i++) a[i] = a[i + 3];",
        &["anti 3: a[i + 3] -> a[i] = a[i + 3]"],
    );
    check(
        "int a[100]; for (int i = 0; i < 97; i++) a[0] = i; q[0] = a[0];",
        &["output: a[0] = i -> a[0] = i"],
    );
}

#[test]
fn a_dependence_is_certain_if_the_second_iteration_is_enough_for_it() {
    let check = |body: &str, expect: &[bool]| {
        assert_eq!(support::certain(body), expect, "{body}");
    };
    check("for (int i = 1; i < n; i++) p[i] = p[i - 1];", &[true]);
    check("for (int i = 0; i < n; i++) p[i] = p[i + 1];", &[true]);
    check("for (int i = n; i > m; i--) p[i] = p[i + 1] + 1;", &[true]);
    check("for (int i = 0; i < n; i++) p[0] += q[i];", &[true]);
    // With five iterations or fewer there is none.
    check("for (int i = 5; i < n; i++) p[i] = p[i - 5];", &[false]);
    check("for (int i = 5; i < 20; i++) p[i] = p[i - 5];", &[true]);
    check("for (int i = 5; i < 10; i++) p[i] = p[i - 5];", &[false]);
    check("for (int i = 0; i < n; i++) p[i] = p[i + m];", &[false]);
    // The order of two writes need not matter.
    check("for (int i = 0; i < n; i++) p[0] = 1;", &[false]);
    check("for (int i = 1; i < n; i++) if (q[i] > 0) p[i] = p[i - 1];", &[false]);
    check("for (int i = 1; i < n; i++) { if (i == m) break; p[i] = p[i - 1]; }", &[false]);
    check(
        "for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++) q[i] += p[i * 9 + j];\n\
         for (int j = i + 1; j < n; j++) p[j * 9 + i] = q[i]; }",
        &[true, true, false],
    );
}

#[test]
fn symbolic_bounds_tell_accesses_apart() {
    check("for (int i = 0; i < n; i++) p[i] = p[i + n];", &["parallel"]);
    check("for (int i = 0; i < n; i++) p[i + n] = p[i];", &["parallel"]);
    check("for (int i = 0; i <= n; i++) p[i] = p[i + n];", &["anti: p[i + n] -> p[i] = p[i + n]"]);
    check("for (int i = 0; i < n; i++) p[i] = p[i + m];", &["flow: p[i] = p[i + m] -> p[i + m]"]);
    check("for (int i = 0; i < n; i++) p[i] = p[n];", &["parallel"]);
    check("for (int i = 0; i < n / 2; i++) p[i] = p[i + n / 2];", &["parallel"]);
    check("for (int i = 0; i < n; i++) p[i * m] = 1;", &["subscript: p[i * m] = 1 | p[i * m] = 1"]);
}

#[test]
fn rows_of_linear_subscripts_are_told_apart() {
    let nest = |access: &str| {
        format!("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {access} = 0;")
    };
    check(&nest("p[i * m + j]"), &["parallel", "parallel"]);
    check(&nest("p[j * n + i]"), &["parallel", "parallel"]);
    check(&nest("p[i * (m + 1) + j]"), &["parallel", "parallel"]);
    check(
        &nest("p[i * (m - 1) + j]"),
        &["subscript: p[i * (m - 1) + j] = 0 | p[i * (m - 1) + j] = 0", "parallel"],
    );
    check(&nest("p[i * n + j]"), &["subscript: p[i * n + j] = 0 | p[i * n + j] = 0", "parallel"]);
    check(
        &nest("p[i * 100 + j]"),
        &["output: p[i * 100 + j] = 0 -> p[i * 100 + j] = 0", "parallel"],
    );
    check(
        "for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)\n\
         q[i * m + j] = p[(i - 1) * m + j] + p[i * m + j + 1];",
        &["parallel", "parallel"],
    );
    check(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < 10; k++)\n\
         p[(i * m + j) * 10 + k] = k;",
        &["parallel", "parallel", "parallel"],
    );
    check(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < n; k++)\n\
         p[(i * m + j) * n + k] = k;",
        &["parallel", "parallel", "parallel"],
    );
}

#[test]
fn dimensions_are_compared_one_by_one() {
    check(
        "double a[100][100]; for (int i = 1; i < n; i++) for (int j = 0; j < m; j++)\n\
         a[i][j] = a[i - 1][j];",
        &["flow 1: a[i][j] = a[i - 1][j] -> a[i - 1][j]", "parallel"],
    );
    check(
        "double a[n][m]; for (int i = 0; i < n; i++) for (int j = 1; j < m; j++)\n\
         a[i][j] = a[i][j - 1];",
        &["parallel", "flow 1: a[i][j] = a[i][j - 1] -> a[i][j - 1]"],
    );
    // Numbers that walk over the end of a row are believed.
    check(
        "double a[10][10]; for (int i = 0; i < 2; i++) for (int j = 0; j < 20; j++) a[i][j] = 0;\n\
         q[0] = a[0][0];",
        &["output 1: a[i][j] = 0 -> a[i][j] = 0", "parallel"],
    );
}

#[test]
fn triangles_are_understood() {
    check(
        "double a[100][100]; for (int i = 0; i < n; i++) for (int j = 0; j < i; j++)\n\
         a[i][j] = a[j][i];",
        &["parallel", "parallel"],
    );
    check(
        "double a[100]; for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) a[j] = a[i];",
        &["output: a[j] = a[i] -> a[j] = a[i]", "parallel"],
    );
}

#[test]
fn members_and_pointers_are_followed() {
    check("struct pair s[100]; for (int i = 0; i < 99; i++) s[i].x = s[i + 1].y;", &["parallel"]);
    check(
        "struct pair s[100]; for (int i = 0; i < 99; i++) s[i].x = s[i + 1].x;",
        &["anti 1: s[i + 1].x -> s[i].x = s[i + 1].x"],
    );
    check(
        "for (int i = 0; i < n; i++) { double *r = p + i * m; r[0] = 1; *(q + i) = 2; }",
        &["subscript: r[0] = 1 | r[0] = 1"],
    );
    check(
        "for (int i = 0; i < n; i++) { double *r = p + i * m; for (int j = 0; j < m; j++) r[j] = j; }",
        &["parallel", "parallel"],
    );
}

#[test]
fn pointers_that_may_meet_are_unknown() {
    check(
        "for (int i = 0; i < n; i++) u[i] = v[i];",
        &["may-alias: v[i] | u[i] = v[i]; parallel unless v[ : 8 n] meets u[ : 8 n]"],
    );
    check("for (int i = 0; i < n; i++) u[i] = p[i];", &["parallel"]);
    check(
        "double *w = p; for (int i = 0; i < n; i++) w[i] = p[i + 1];",
        &["may-alias: p[i + 1] | w[i] = p[i + 1]; \
             parallel unless p[8 : 8 + 8 n] meets w[ : 8 n]"],
    );
    check("double a[100]; for (int i = 0; i < n; i++) a[i] = u[i];", &["parallel"]);
    check(
        "double a[100]; u = a; for (int i = 0; i < n; i++) a[i] = u[i];",
        &["may-alias: u[i] | a[i] = u[i]; parallel unless u[ : 8 n] meets a[ : 8 n]"],
    );
}

#[test]
fn scalars_are_private_reduced_or_carried() {
    check(
        "double t; for (int i = 0; i < n; i++) { t = p[i]; q[i] = t * t; }",
        &["parallel; private t"],
    );
    check(
        "double t; for (int i = 0; i < n; i++) { t = p[i]; q[i] = t * t; } q[0] = t;",
        &["parallel; last t"],
    );
    check(
        "double t; for (int i = 0; i < n; i++) if (p[i] > 0) t = p[i]; q[0] = t;",
        &["last-value: t = p[i]"],
    );
    check(
        "double t = 0; for (int i = 0; i < n; i++) { q[i] = t; t = p[i]; }",
        &["flow: t = p[i] -> t"],
    );
    check(
        "double s = 0; for (int i = 0; i < n; i++) s += p[i] * q[i]; q[0] = s;",
        &["parallel; Add s"],
    );
    check(
        "double s = 0; for (int i = 0; i < n; i++) s = p[i] + s - 1; q[0] = s;",
        &["parallel; Add s"],
    );
    check(
        "double s = 0; for (int i = 0; i < n; i++) s = p[i] - s; q[0] = s;",
        &["flow: s = p[i] - s -> s"],
    );
    check(
        "double s = 0; for (int i = 0; i < n; i++) { s += p[i]; q[i] = s; }",
        &["flow: s += p[i] -> s += p[i]"],
    );
    check(
        "double s = 0; for (int i = 0; i < n; i++) { if (p[i] > s) s = p[i]; } q[0] = s;",
        &["parallel; Max s"],
    );
    check(
        "double s = 0; for (int i = 0; i < n; i++) { s = s < p[i] ? s : p[i]; } q[0] = s;",
        &["parallel; Min s"],
    );
    check(
        "double s = 0; for (int i = 0; i < n; i++) { s = fmax(p[i], s); } q[0] = s;",
        &["parallel; Max s"],
    );
    check(
        "int s = 0; for (int i = 0; i < n; i++) s += p[i]; q[0] = s;",
        &["flow: s += p[i] -> s += p[i]"],
    );
    check("int k = 0; for (int i = 0; i < n; i++) { p[k] = i; k += 2; }", &["flow: k += 2 -> k"]);
    check(
        "int i, j; for (i = 0; i < n; i++) for (j = 0; j < m; j++) p[i * m + j] = 0;",
        &["parallel; private j", "parallel"],
    );
    check("for (int i = 0; i < n; i++) p[0] += q[i];", &["flow: p[0] += q[i] -> p[0] += q[i]"]);
}

#[test]
fn what_is_more_than_computing_is_refused_with_its_reason() {
    check("for (int i = 0; i < n; i++) { if (p[i] > 0) break; }", &["break: break;"]);
    check("for (int i = 0; i < n; i++) { if (p[i] > 0) return; }", &["return: return;"]);
    check("for (int i = 0; i < n; i++) printf(\"x\");", &["effect-call: printf(\"x\")"]);
    check("for (int i = 0; i < n; i++) other();", &["unknown-call: other()"]);
    check("for (int i = 0; i < n; i++) p[i] = sqrt(q[i]);", &["parallel"]);
    check("volatile int x; for (int i = 0; i < n; i++) p[i] = x;", &["volatile: x"]);
    check("_Atomic int x = 0; for (int i = 0; i < n; i++) x += 1;", &["atomic: x"]);
    check(
        "for (int i = 0; i < n; i++) { if (n > 2) goto out; p[i] = 0; } out: ;",
        &["jump: goto out;"],
    );
    check("int i = 0; for (; i < n; i++) p[i] = 0;", &["not-normal: for (; i < n; i++) p[i] = 0;"]);
    check("for (int i = 0; i < n; i++) { p[i] = 0; i++; }", &["counter-changed: i++"]);
    check("for (int i = 0; i < n; i++) { if (p[i] > 0) continue; p[i] = 0; }", &["parallel"]);
}

#[test]
fn unsigned_subscripts_that_may_go_round_are_not_believed() {
    check("unsigned w = n; for (unsigned i = 0; i < w; i++) p[i] = 0;", &["parallel"]);
    check("unsigned w = n; for (unsigned i = 0; i < w; i++) p[i + 1] = 0;", &["parallel"]);
    check(
        "unsigned w = n; for (unsigned i = 0; i < w; i++) p[i * w] = 0;",
        &["subscript: p[i * w] = 0 | p[i * w] = 0"],
    );
    check(
        "unsigned w = n; for (unsigned i = 0; i < w; i++) p[i - 1] = p[0];",
        &["subscript: p[i - 1] = p[0] | p[0]"],
    );
    check(
        "unsigned long w = n; for (unsigned long i = 0; i < w; i++)\n\
         for (unsigned long j = 0; j < w; j++) p[i * w + j] = 0;",
        &["parallel", "parallel"],
    );
    check(
        "unsigned w = n; for (unsigned i = 0; i < w; i++)\n\
         for (unsigned j = 0; j < w; j++) p[i * w + j] = 0;",
        &[
            "subscript: p[i * w + j] = 0 | p[i * w + j] = 0",
            "subscript: p[i * w + j] = 0 | p[i * w + j] = 0",
        ],
    );
}

#[test]
fn calls_are_looked_through() {
    let with = |functions: &str, body: &str| {
        support::lines(&format!("{functions}\nvoid f(int n, double *restrict p) {{ {body} }}"))
    };
    let body = "for (int i = 0; i < n; i++) p[i] = g(p[i]);";
    assert_eq!(
        with("static double g(double x) { double t = x * x; return t; }", body),
        ["parallel"]
    );
    assert_eq!(
        with("int count; double g(double x) { count++; return x; }", body),
        ["subscript: g(p[i]) | g(p[i])"]
    );
    assert_eq!(with("double k; double g(double x) { return x * k; }", body), ["parallel"]);
    assert_eq!(with("double g(double) __attribute__((const));", body), ["parallel"]);
    assert_eq!(with("double g(double);", body), ["unknown-call: g(p[i])"]);
    assert_eq!(
        with("static double g(double x) { return x > 0 ? g(x - 1) : x; }", body),
        ["unknown-call: g(p[i])"]
    );
}

#[test]
fn arrays_that_each_iteration_fills_are_private() {
    let nest = |inner: &str| {
        format!("double w[8], z = 0; for (int i = 0; i < n; i++) {{ {inner} }} q[0] = z;")
    };
    let fill = "for (int j = 0; j < 8; j++) w[j] = p[i + j]; ";
    check(
        &nest(&format!("{fill} for (int k = 0; k < 8; k++) q[8 * i + k] = w[7 - k];")),
        &["parallel; private w", "parallel", "parallel"],
    );
    check(&nest(&format!("{fill} q[i] = w[0] + w[7];")), &["parallel; private w", "parallel"]);
    check(
        &nest(&format!("{fill} q[i] = w[8];")).replace("w[8],", "w[9],"),
        &["output: w[j] = p[i + j] -> w[j] = p[i + j]", "parallel"],
    );
    check(&nest("w[0] = p[i]; w[1] = p[i + 1]; q[i] = w[0] * w[1];"), &["parallel; private w"]);
    check(&nest("if (p[i] > 0) w[0] = p[i]; q[i] = w[0];"), &["flow: w[0] = p[i] -> w[0]"]);
    check(
        "double w[8]; for (int i = 0; i < n; i++) { w[0] = p[i]; q[i] = w[0]; } q[0] = w[0];",
        &["flow: w[0] = p[i] -> w[0]"],
    );
}

#[test]
fn scalars_behind_pointers_are_not_lost() {
    check("int x = 0; for (int i = 0; i < n; i++) { *&x = i; p[x] = 1; }", &["may-alias: &x"]);
    check(
        "int x = 0, *r = &x; for (int i = 0; i < n; i++) { *r = i; p[x] = 1; }",
        &["output: *r = i -> *r = i"],
    );
    check(
        "double x = 0, *r = &x; for (int i = 0; i < n; i++) { x += p[i]; r[i] = 1; }",
        &["may-alias: x += p[i] | r[i] = 1; parallel unless x[ : 8] meets r[ : 8 n]"],
    );
}

#[test]
fn conditions_on_overlap_are_told() {
    check(
        "for (int i = 1; i < n - 1; i++) u[i] = v[i - 1] + v[i + 1];",
        &["may-alias: v[i - 1] | u[i] = v[i - 1] + v[i + 1]; \
           parallel unless v[ : 8 n] meets u[8 : -8 + 8 n]"],
    );
    check(
        "for (int i = 0; i < n; i++) u[i] = v[(int)v[i]];",
        &["may-alias: v[i] | u[i] = v[(int)v[i]]"],
    );
}

#[test]
fn a_buffer_that_was_handed_over_earlier_is_not_forgotten() {
    let text = "static double *kept; void keep(double *b) { kept = b; }\n\
                void f(int n) { double a[100]; keep(a);\n\
                for (int i = 0; i < n; i++) a[i] = kept[i + 1]; keep(a); }";
    assert_eq!(
        support::lines(text),
        [
            "may-alias: kept[i + 1] | a[i] = kept[i + 1]; parallel unless kept[8 : 8 + 8 n] meets a[ : 8 n]"
        ]
    );
}

/// The conditions under which a loop over `i` is independent after all, compared with what happens for small numbers.
#[track_caller]
fn check_apart(head: &str, factor: i64, step: usize, expect: &[&str]) {
    let text = format!(
        "void f(int m, int n, double *a) {{ {head} a[{factor} * i] = a[{factor} * i + n]; }}"
    );
    let program = support::program(&text);
    let found = support::findings(&program).remove(0);
    let told: Vec<String> = found.apart.iter().map(|it| it.text(&program)).collect();
    assert_eq!(told, expect, "{text}");
    let [far] = found.apart.as_slice() else { return };
    let value = |sum: &opt::dependence::Sum, m: i64, n: i64| -> i64 {
        let of = |var| match program.vars[var].name.map(|it| program.names.text(it)) {
            Some("m") => m,
            _ => n,
        };
        sum.terms.iter().map(|(by, vars)| by * vars.iter().map(|it| of(*it)).product::<i64>()).sum()
    };
    for m in 0..9 {
        for n in -30..30 {
            let (by, way) = (value(&far.by, m, n), value(&far.way, m, n));
            let holds = by == 0 || by >= way || -by >= way;
            let rounds: Vec<i64> = (0..m).step_by(step).collect();
            let meets = rounds
                .iter()
                .any(|i| rounds.iter().any(|j| i != j && factor * i == factor * j + n));
            assert!(!(holds && meets), "{text} with m = {m}, n = {n}");
        }
    }
}

#[test]
fn differences_that_nobody_knows_are_conditions() {
    check_apart("for (int i = 0; i < m; i++)", 1, 1, &["n >= m, -n >= m, or n == 0"]);
    check_apart("for (int i = 0; i < m; i += 2)", 1, 2, &["n >= m, -n >= m, or n == 0"]);
    check_apart(
        "for (int i = 0; i < m; i++)",
        3,
        1,
        &["n >= 3 * m - 2, -n >= 3 * m - 2, or n == 0"],
    );
    // Where a loop inside moves both, this would not be enough.
    let text = "void f(int m, int n, double *a) { for (int i = 0; i < m; i++)\n\
                for (int j = 0; j < m; j++) a[i + j] = a[i + j + n]; }";
    let program = support::program(text);
    let found = support::findings(&program);
    assert_eq!(found.iter().map(|it| it.apart.len()).collect::<Vec<_>>(), [0, 1]);
}
