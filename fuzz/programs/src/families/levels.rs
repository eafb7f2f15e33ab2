//! Who runs which loop: levels of OpenACC that are named, implied or left open, teams and threads of OpenMP, functions with
//! loops. However they are dealt, every iteration is run once.

use crate::check::Check;

/// A loop in a `parallel` region: with no gang around it, gang is implied.
pub(super) fn implied(c: &mut Check) {
    let count = c.rng.range(1, 12);
    let gangs = c.rng.range(1, 5);
    let levels = c.rng.pick(&[
        "gang",
        "worker",
        "vector",
        "gang worker",
        "gang vector",
        "worker vector",
        "gang worker vector",
        "independent vector",
    ]);
    let atomic = c.rng.chance(60);
    c.line(format!("int w = 1, hit[{count}] = {{0}};"));
    c.pragma(format!("acc parallel num_gangs({gangs}) copy(w, hit)"));
    c.line("{");
    c.pragma(format!("acc loop {levels}"));
    c.line(format!("for (int i = 0; i < {count}; i++) {{"));
    if atomic {
        c.pragma("acc atomic");
        c.line("w++;");
    }
    c.pragma("acc atomic update");
    c.line("hit[i] += i + 1;");
    c.line("}");
    c.line("}");
    c.same("w", if atomic { 1 + count } else { 1 });
    for i in 0..count {
        c.same(&format!("hit[{i}]"), i + 1);
    }
}

/// A nest whose loops have levels, with a loop in order somewhere.
pub(super) fn nested(c: &mut Check) {
    let (rows, columns) = (c.rng.range(1, 5), c.rng.range(1, 6));
    let (outer, inner) = c.rng.pick(&[
        ("acc parallel loop gang", "acc loop worker"),
        ("acc parallel loop gang", "acc loop vector"),
        ("acc parallel loop gang worker", "acc loop vector"),
        ("acc parallel loop worker", "acc loop vector"),
        ("acc parallel loop gang vector", "acc loop seq"),
        ("acc parallel loop seq", "acc loop gang vector"),
        ("acc parallel loop seq", "acc loop vector"),
        ("acc kernels loop gang", "acc loop vector"),
        ("acc kernels loop", "acc loop seq"),
        ("acc kernels loop independent", "acc loop independent"),
        ("acc parallel loop", "acc loop"),
        ("acc serial loop gang", "acc loop vector"),
        ("omp target teams distribute", "omp parallel for"),
        ("omp target teams distribute", "omp parallel for simd"),
        ("omp target teams distribute", "omp simd"),
        ("omp target parallel for", "omp simd"),
        ("omp target teams loop", "omp simd"),
        ("omp target teams loop", "omp loop bind(thread)"),
    ]);
    let data = if outer.starts_with("acc") { "copy(hit)" } else { "map(tofrom: hit)" };
    c.line(format!("int hit[{rows}][{columns}];"));
    c.line("memset(hit, 0, sizeof hit);");
    c.pragma(format!("{outer} {data}"));
    c.line(format!("for (int i = 0; i < {rows}; i++) {{"));
    let local = c.rng.chance(50);
    if local {
        c.line("int base = 3 * i;");
    }
    c.pragma(inner);
    c.line(format!(
        "for (int j = 0; j < {columns}; j++) hit[i][j] += {} + j + 1;",
        if local { "base" } else { "3 * i" }
    ));
    c.line("}");
    for i in 0..rows {
        for j in 0..columns {
            c.same(&format!("hit[{i}][{j}]"), 3 * i + j + 1);
        }
    }
}

/// Loops in functions that regions call.
pub(super) fn functions(c: &mut Check) {
    let (rows, columns) = (c.rng.range(1, 5), c.rng.range(1, 6));
    let id = c.seed;
    let (outer, level, inner) = c.rng.pick(&[
        ("acc parallel loop gang", "vector", "acc loop vector"),
        ("acc parallel loop gang", "worker", "acc loop worker"),
        ("acc parallel loop gang", "worker", "acc loop worker vector"),
        ("acc parallel loop gang worker", "vector", "acc loop vector"),
        ("acc parallel loop", "seq", "acc loop seq"),
        ("acc parallel loop gang vector", "seq", ""),
        ("omp target teams distribute parallel for", "", "omp simd"),
        ("omp target parallel for", "", ""),
    ]);
    if level.is_empty() {
        c.top("#pragma omp begin declare target");
    } else {
        c.top(format!("#pragma acc routine {level}"));
    }
    c.top(format!("static void fill_{id}(int *row, int from) {{"));
    if !inner.is_empty() {
        c.top(format!("#pragma {inner}"));
    }
    c.top(format!("  for (int j = 0; j < {columns}; j++) row[j] += from + j;\n}}"));
    if level.is_empty() {
        c.top("#pragma omp end declare target");
    }
    c.line(format!("int hit[{rows}][{columns}];"));
    c.line("memset(hit, 0, sizeof hit);");
    let data = if outer.starts_with("acc") { "copy(hit)" } else { "map(tofrom: hit)" };
    c.pragma(format!("{outer} {data}"));
    c.line(format!("for (int i = 0; i < {rows}; i++) fill_{id}(hit[i], 10 * i + 1);"));
    for i in 0..rows {
        for j in 0..columns {
            c.same(&format!("hit[{i}][{j}]"), 10 * i + 1 + j);
        }
    }
}
