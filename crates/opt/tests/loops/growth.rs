//! Time that grows with the program, not with its square.
//!
//! A program is examined, then one four times as large: what is linear takes four times as long, what
//! grows with the square sixteen times.

use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use opt::dependence::Analysis;

use super::support;

const FEW: usize = 250;
const TIMES: usize = 4;
/// Between linear and square.
const LIMIT: u32 = 9;
/// Shorter times say nothing.
const LEAST: Duration = Duration::from_millis(5);

/// How long this thread has had a processor, whatever else the machine had to do; where the system does not
/// say, the time.
fn busy() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let start = *START;
    let said = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = said.split_whitespace().next().and_then(|it| it.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// All regions of a function that has `part` many times between `before` and `after`.
fn examine(before: &str, part: &str, after: &str, many: usize) -> Duration {
    examine_text(&format!("{before}{}{after}", part.repeat(many)))
}

/// All regions of a function.
fn examine_text(text: &str) -> Duration {
    let text = support::within(text);
    let program = support::program(&text);
    let once = || {
        let start = busy();
        let analysis = Analysis::new(&program);
        for (id, region) in program.regions.iter() {
            analysis.implied(id);
            analysis.region(id);
            region.loops.iter().for_each(|it| drop(analysis.examine(it.stmt)));
        }
        busy() - start
    };
    once().min(once())
}

#[track_caller]
fn grows_evenly(before: &str, part: &str, after: &str) {
    let few = examine(before, part, after, FEW).max(LEAST);
    let many = examine(before, part, after, TIMES * FEW);
    assert!(many < few * LIMIT, "{few:?} became {many:?}");
}

#[test]
fn many_regions_in_one_function() {
    let part = "\n#pragma acc parallel loop copy(p[0:n])\nfor (i = 0; i < n; i++) { t = p[i]; p[i] = t * t; }\n";
    grows_evenly("int i; double t;", part, "");
    let part =
        "\n#pragma acc kernels copyin(q[0:n])\nfor (i = 0; i < n; i++) { t = q[i]; p[i] = t; }\n";
    grows_evenly("int i; double t;", part, "");
}

#[test]
fn many_regions_in_one_loop() {
    let part = "\n#pragma acc parallel loop\nfor (i = 0; i < n; i++) { t = p[i]; p[i] = t * k; }\n";
    grows_evenly("int i, k; double t; for (k = 0; k < m; k++) {", part, "}");
}

#[test]
fn many_regions_beside_labels() {
    let part = "\n#pragma acc parallel loop\nfor (i = 0; i < n; i++) { t = p[i]; p[i] = t; }\n";
    grows_evenly("int i; double t; again: ;", part, "if (n) goto again;");
}

#[test]
fn many_ways_out() {
    let part = "\n#pragma acc parallel loop private(t)\nfor (i = 0; i < n; i++) { t = p[i]; p[i] = t; }\nif (n > m) return;\n";
    grows_evenly("int i; double t;", part, "u[0] = i;");
}

/// A nest of so many loops, none of which needs another's bounds.
fn nest(depth: usize) -> Duration {
    let mut text = String::from("double a[4][4][4][4];\n#pragma acc kernels\n");
    for at in 0..depth {
        text += &format!("for (int i{at} = 0; i{at} < 4; i{at}++)\n");
    }
    text += "a[i0][i1][i2][i3] += 1;\n";
    examine_text(&text)
}

/// Each of the loops is examined, with all that are inside of it: that is the square of how many there are, and
/// no more.
#[test]
fn deep_nests() {
    let (few, many) = (nest(24).max(LEAST), nest(96));
    assert!(many < few * 45, "{few:?} became {many:?}");
}

/// Elements that are told apart by numbers, as in code that was unrolled by hand.
fn unrolled(many: usize) -> Duration {
    let mut text = String::from(
        "double a[200][3][64][64]; int i, j;\n#pragma acc parallel loop\n\
         for (i = 1; i < n; i++)\nfor (j = 1; j < m; j++) {\n",
    );
    for at in 0..many {
        text += &format!("a[{at}][1][i][j] = a[{at}][0][i][j] * a[{at}][2][i][j];\n");
    }
    examine_text(&(text + "}\n"))
}

/// Pairs are compared, but what follows from one pair of subscripts is not worked out again.
#[test]
fn many_elements_by_number() {
    let (few, many) = (unrolled(10).max(LEAST), unrolled(100));
    assert!(many < few * 30, "{few:?} became {many:?}");
}
