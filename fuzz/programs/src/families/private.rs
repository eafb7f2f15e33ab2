//! Copies of variables: `private`, `firstprivate`, `lastprivate`, what is implied, and atomic accesses to what is not copied.

use super::numbers::{self, INTEGERS};
use crate::check::Check;

/// What a region does to its own copies is not seen outside.
pub(super) fn copies(c: &mut Check) {
    let ty = numbers::any(&c.rng);
    let (low, high) = (ty.min.max(-50), ty.max.min(100));
    let (x, y) = (c.rng.range(low, high), c.rng.range(low, high));
    let new = c.rng.range(low.max(0), 27);
    let id = c.seed;
    c.line(format!("{} x = {x}, y = {y}, got = 0, list[3] = {{1, 2, 3}};", ty.name));
    let record = c.rng.chance(40);
    if record {
        c.top(format!("struct pair_{id} {{ char tag; {} value[2]; }};", ty.name));
        c.line(format!("struct pair_{id} pair = {{'p', {{4, 5}}}};"));
    }
    // `copied`: regions in which the variable is the region's own. `kernels` copies scalars back.
    let (words, copied) = c.rng.pick(&[
        ("omp target map(tofrom: got)", true),
        ("omp target firstprivate(x) map(tofrom: got)", true),
        ("omp target map(tofrom: got, x)", false),
        ("omp target defaultmap(tofrom: scalar)", false),
        ("omp target defaultmap(firstprivate: scalar) map(tofrom: got)", true),
        ("omp target parallel num_threads(1) firstprivate(x) map(tofrom: got)", true),
        ("omp target teams num_teams(1) thread_limit(1) firstprivate(x) map(tofrom: got)", true),
        ("acc serial copy(got)", true),
        ("acc serial firstprivate(x) copy(got)", true),
        ("acc parallel num_gangs(1) copy(got)", true),
        ("acc parallel num_gangs(1) firstprivate(x) copy(got)", true),
        ("acc serial copy(got, x)", false),
        ("acc kernels", false),
    ]);
    let mut clauses = String::new();
    if record {
        clauses += " firstprivate(pair)";
    }
    let listed = c.rng.chance(50) && !words.starts_with("acc kernels");
    if listed {
        clauses += " firstprivate(list)";
    }
    // `kernels` takes no private copies.
    let record = record && !words.starts_with("acc kernels");
    if words.starts_with("acc kernels") {
        clauses.clear();
    }
    c.pragma(format!("{words}{clauses}"));
    c.line("{");
    c.line(format!("x = x / 2 + {new};"));
    c.line("got = x + 1;");
    let mut want = x / 2 + new + 1;
    if listed {
        c.line("list[1] += 7;");
        c.line("got = got + list[1] + list[2];");
        want += 9 + 3;
    }
    if record {
        c.line("pair.value[1] = pair.value[1] + 9;");
        c.line("pair.tag = 'q';");
        c.line("got = got + pair.value[0] + pair.value[1];");
        want += 4 + 14;
    }
    c.line("}");
    if want <= ty.max && (!ty.float || x % 2 == 0) {
        c.same("got", want);
    }
    if !ty.float || copied || x % 2 == 0 {
        c.same("x", if copied { x } else { x / 2 + new });
    }
    c.same("y", y);
    if listed {
        c.same("list[1]", 2);
    }
    if record {
        c.same("pair.value[1]", 5);
        c.same("pair.tag", i64::from(b'p'));
    }
}

/// Loops with variables of their own, of which the last iteration's value may be kept.
pub(super) fn loops(c: &mut Check) {
    let count = c.rng.range(1, 15);
    let (a, b) = (c.rng.range(1, 9), c.rng.range(0, 20));
    c.line(format!("int t = 40, k = {b}, last = 41, y[{count}], work[2] = {{8, 9}};"));
    let openmp = c.rng.chance(60);
    let mut keeps = false;
    let mut arrays = c.rng.chance(40);
    if openmp {
        let form = c.rng.pick(&[
            "target teams distribute parallel for",
            "target parallel for",
            "target parallel for simd",
            "target teams distribute",
            "target simd",
            "target teams distribute parallel for simd",
        ]);
        let mut clauses = " private(t) map(from: y)".to_string();
        if !form.contains("target simd") && c.rng.chance(60) {
            clauses += " firstprivate(k)";
        }
        if c.rng.chance(60) {
            keeps = true;
            clauses += " lastprivate(last)";
            clauses += c.rng.pick(&["", " map(tofrom: last)"]);
        }
        if arrays {
            clauses += " private(work)";
        }
        if form.contains("parallel for") && c.rng.chance(30) {
            clauses +=
                c.rng.pick(&[" schedule(dynamic, 2)", " schedule(static, 1)", " schedule(guided)"]);
        }
        c.pragma(format!("omp {form}{clauses}"));
    } else {
        let form = c.rng.pick(&[
            "parallel loop",
            "parallel loop gang vector",
            "parallel loop gang",
            "serial loop",
            "kernels loop independent",
            "parallel loop worker",
        ]);
        let mut clauses = " private(t) copyout(y)".to_string();
        if form.starts_with("parallel") && c.rng.chance(60) {
            clauses += " firstprivate(k)";
        }
        if arrays {
            clauses += " private(work)";
        }
        arrays &= clauses.contains("work");
        c.pragma(format!("acc {form}{clauses}"));
    }
    c.line(format!("for (int i = 0; i < {count}; i++) {{"));
    c.line(format!("t = i * {a} + k;"));
    if arrays {
        c.line("work[0] = t;");
        c.line("work[1] = i;");
    }
    if keeps {
        c.line("last = t * 2;");
    }
    c.line(format!("y[i] = t{};", if arrays { " + work[0] - work[1]" } else { "" }));
    c.line("}");
    for i in 0..count {
        let t = i * a + b;
        c.same(&format!("y[{i}]"), if arrays { 2 * t - i } else { t });
    }
    c.same("t", 40);
    c.same("k", b);
    c.same("last", if keeps { 2 * ((count - 1) * a + b) } else { 41 });
    c.same("work[1]", 9);
}

/// Atomic accesses of many iterations: the result is the same in every order.
pub(super) fn atomic(c: &mut Check) {
    let ty = c.rng.pick(&[
        INTEGERS[0],
        INTEGERS[1],
        INTEGERS[2],
        INTEGERS[3],
        numbers::FLOATS[0],
        numbers::FLOATS[1],
    ]);
    let count = c.rng.range(1, 24);
    let first = c.rng.range(1, 50);
    let by = c.rng.range(1, 5);
    c.line(format!("{} x = {first}, seen[{count}];", ty.name));
    let openmp = c.rng.chance(60);
    let (set, region) = if openmp {
        (
            "omp",
            c.rng.pick(&[
                "omp target teams distribute parallel for map(tofrom: x) map(from: seen)",
                "omp target parallel for map(tofrom: x) map(from: seen)",
            ]),
        )
    } else {
        (
            "acc",
            c.rng.pick(&[
                "acc parallel loop copy(x) copyout(seen)",
                "acc parallel loop gang vector copy(x) copyout(seen)",
                "acc parallel loop worker copy(x) copyout(seen)",
                "acc kernels loop independent copy(x) copyout(seen)",
            ]),
        )
    };
    c.pragma(region);
    c.line(format!("for (int i = 0; i < {count}; i++) {{"));
    let sum: i64 = (0..count).map(|i| i * by).sum();
    let kind = c.rng.below(if openmp { 8 } else { 6 });
    let mut total = None;
    let want = match kind {
        0 => {
            c.pragma(format!("{set} atomic{}", c.rng.pick(&["", " update"])));
            c.line(format!("x += i * {by};"));
            first + sum
        }
        1 => {
            c.pragma(format!("{set} atomic update"));
            c.line(format!("x = x + {by};"));
            first + by * count
        }
        2 => {
            c.pragma(format!("{set} atomic capture"));
            c.line(c.rng.pick(&[
                "seen[i] = x++;",
                "{ seen[i] = x; x += 1; }",
                "{ seen[i] = x; x = x + 1; }",
            ]));
            total = Some((0..count).map(|i| first + i).sum());
            first + count
        }
        3 => {
            c.pragma(format!("{set} atomic capture"));
            c.line(c.rng.pick(&[
                "seen[i] = ++x;",
                "{ x += 1; seen[i] = x; }",
                "seen[i] = x += 1;",
            ]));
            total = Some((0..count).map(|i| first + i + 1).sum());
            first + count
        }
        4 => {
            c.pragma(format!("{set} atomic write"));
            c.line(format!("x = {by};"));
            by
        }
        5 => {
            c.pragma(format!("{set} atomic read"));
            c.line("seen[i] = x;");
            total = Some(first * count);
            first
        }
        6 if !ty.float => {
            c.pragma("omp atomic compare");
            c.line(format!("if (x < i * {by}) {{ x = i * {by}; }}"));
            first.max((count - 1) * by)
        }
        7 if !ty.float => {
            c.pragma("omp atomic update");
            c.line("x |= 1 << (i % 8);");
            (0..count).fold(first, |a, i| a | 1 << (i % 8))
        }
        _ => {
            c.pragma(format!("{set} atomic update"));
            c.line(format!("x = {by} + x;"));
            first + by * count
        }
    };
    c.line("}");
    c.same("x", want);
    if let Some(total) = total {
        c.line("long long total = 0;");
        c.line(format!("for (int i = 0; i < {count}; i++) total += seen[i];"));
        c.same("total", total);
    }
}
