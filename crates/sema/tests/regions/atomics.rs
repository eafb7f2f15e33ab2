//! Statements that an atomic directive takes.

use super::support::{bad_body, good_body};

#[track_caller]
fn atomic(clause: &str, statement: &str, fits: bool) {
    for standard in ["omp", "acc"] {
        let body = format!("#pragma {standard} atomic {clause}\n{statement}");
        if fits {
            good_body(&body);
        } else {
            bad_body(&body, &[&format!("F0560 | {statement}")]);
        }
    }
}

#[test]
fn reads_and_writes() {
    atomic("read", "x = *p;", true);
    atomic("read", "x = *p + 1;", false);
    atomic("write", "a[n] = x + 1;", true);
    atomic("write", "x++;", false);
}

/// What a constant switches off is not there.
#[test]
fn switches() {
    good_body("#pragma omp atomic read(1)\nx = *p;");
    bad_body("#pragma omp atomic read(1)\nx++;", &["F0560 | x++;"]);
    good_body("#pragma omp atomic read(0)\nx++;");
    good_body("#pragma omp atomic capture(2 > 1) seq_cst(1)\ny = x++;");
    bad_body("#pragma omp atomic capture(n)\ny = x++;", &["F0541 | n"]);
    bad_body(
        "#pragma omp taskloop nogroup reduction(+: x)\nfor (i = 0; i < n; i++) x += i;",
        &["F0543 | reduction(+: x)"],
    );
    good_body("#pragma omp taskloop nogroup(0) reduction(+: x)\nfor (i = 0; i < n; i++) x += i;");
    good_body("#pragma omp single copyprivate(x) nowait(0)\nx = 1;");
}

#[test]
fn updates() {
    for fits in
        ["x++;", "--a[n];", "x += n;", "x = x * n;", "x = n - x;", "s.a <<= 2;", "e = e + x;"]
    {
        atomic("update", fits, true);
        atomic("", fits, true);
    }
    for chain in ["x = x + n + 1;", "x = x * n * m;", "x = x + n * m;", "x = n - m - x;"] {
        atomic("update", chain, true);
    }
    for mixed in ["x = x * 2 + 1;", "x = x - n - 1;", "x = x - n + 1;", "x = x / n / 2;"] {
        atomic("update", mixed, false);
    }
    for wrong in ["x = y + n;", "x = 1;", "x %= 2;", "use(x);", "if (x) x++;"] {
        atomic("update", wrong, false);
    }
}

#[test]
fn captures() {
    for fits in [
        "y = x++;",
        "y = x += n;",
        "y = x = x + n;",
        "{ y = x; x += n; }",
        "{ x = x + n; y = x; }",
        "{ y = x; x = n; }",
    ] {
        atomic("capture", fits, true);
    }
    for wrong in ["x++;", "y = x;", "{ y = m; x += n; }", "{ x++; }", "{ y = x; x++; n++; }"] {
        atomic("capture", wrong, false);
    }
}

#[test]
fn comparisons_are_left_alone() {
    good_body("#pragma omp atomic compare\nif (x < n) { x = n; }");
    good_body("#pragma omp atomic compare\nx = x == n ? m : x;");
}

#[test]
fn operands_with_commas_are_compared() {
    good_body("#pragma omp atomic\na[get(), 0] = a[get(), 0] + 1;");
    bad_body(
        "#pragma omp atomic\na[get(), 0] = a[get(), 1] + 1;",
        &["F0560 | a[get(), 0] = a[get(), 1] + 1;"],
    );
}
