//! Reductions: every operator and type, on every kind of loop and region of both standards. Private copies begin with the
//! operator's identity, and the result contains the original value.

use super::numbers::{self, Op, Type};
use crate::check::{Check, number};

/// Loops of OpenMP that may carry a reduction.
const OPENMP: [&str; 12] = [
    "target teams distribute parallel for",
    "target teams distribute parallel for simd",
    "target teams distribute",
    "target teams distribute simd",
    "target parallel for",
    "target parallel for simd",
    "target simd",
    "target teams loop",
    "target parallel loop",
    "target parallel for schedule(dynamic, 2)",
    "target teams distribute parallel for num_teams(1)",
    "target parallel for num_threads(1)",
];

/// Loops of OpenACC that may carry a reduction.
const OPENACC: [&str; 16] = [
    "parallel loop",
    "parallel loop gang",
    "parallel loop worker",
    "parallel loop vector",
    "parallel loop gang vector",
    "parallel loop gang worker vector",
    "parallel loop seq",
    "parallel loop auto",
    "parallel loop num_gangs(1)",
    "parallel loop gang num_gangs(3) vector_length(32)",
    "parallel loop independent",
    "kernels loop",
    "kernels loop independent",
    "kernels loop seq",
    "serial loop",
    "serial loop seq",
];

/// One reduction of a scalar over a loop.
pub(super) fn scalar(c: &mut Check) {
    let ty = numbers::any(&c.rng);
    let op = Op::of(&c.rng, ty);
    let count = c.rng.pick(&[0, 1, 2, 7, 13]);
    let (first, values) = op.values(&c.rng, ty, count);
    let want = values.iter().fold(first, |a, &b| op.apply(a, b));
    declare(c, ty, "s", first, &values);
    let statement = op.statement(&c.rng, "s", "a[i]");
    let clause = format!("reduction({}: s)", op.name());
    if c.rng.chance(50) {
        let form = c.rng.pick(&OPENMP);
        let map = c.rng.pick(&["", " map(tofrom: s)", " map(s)"]);
        c.pragma(format!("omp {form} {clause}{map} map(to: a)"));
    } else {
        let form = c.rng.pick(&OPENACC);
        let copy = c.rng.pick(&["", " copy(s)"]);
        c.pragma(format!("acc {form} {clause}{copy} copyin(a)"));
    }
    c.line(format!("for (int i = 0; i < {count}; i++) {statement}"));
    // `&&` and `||` of no operands leave the value as it is.
    let want = if count == 0 { first } else { want };
    c.same("s", want);
}

/// The region is run once, or by many that all do the same: the private copy is set, not combined.
pub(super) fn region(c: &mut Check) {
    let ty = numbers::any(&c.rng);
    let op = Op::of(&c.rng, ty);
    let (first, values) = op.values(&c.rng, ty, 1);
    let value = values[0];
    let once = [
        "omp target teams num_teams(1)",
        "omp target parallel num_threads(1)",
        "acc parallel num_gangs(1)",
        "acc serial",
        "acc parallel num_gangs(1) num_workers(1) vector_length(1)",
    ];
    let many =
        ["omp target teams", "omp target parallel", "acc parallel num_gangs(4)", "acc parallel"];
    let form =
        if op.idempotent() && c.rng.chance(50) { c.rng.pick(&many) } else { c.rng.pick(&once) };
    let seen = op.identity(ty).filter(|_| once.contains(&form) && c.rng.chance(50));
    c.line(format!("{} s = {};", ty.name, number(first)));
    let mut clauses = format!("reduction({}: s)", op.name());
    if seen.is_some() {
        c.line(format!("{} seen = 77;", ty.name));
        clauses += if form.starts_with("omp") { " map(from: seen)" } else { " copyout(seen)" };
    }
    if form.starts_with("omp") && c.rng.chance(50) {
        clauses += " map(tofrom: s)";
    }
    c.pragma(format!("{form} {clauses}"));
    c.line("{");
    if seen.is_some() {
        c.line("seen = s;");
    }
    c.line(format!("s = {};", number(value)));
    c.line("}");
    c.same("s", op.apply(first, value));
    if let Some(seen) = seen {
        c.same("seen", seen);
    }
}

/// The same variable is reduced by several levels, or one variable per level.
pub(super) fn levels(c: &mut Check) {
    let ty = numbers::any(&c.rng);
    let op = Op::of(&c.rng, ty);
    let (rows, columns) = (c.rng.range(1, 4), c.rng.range(1, 5));
    let (first, values) = op.values(&c.rng, ty, (rows * columns) as usize);
    declare(c, ty, "s", first, &values);
    let statement = op.statement(&c.rng, "s", &format!("a[i * {columns} + j]"));
    let name = op.name();
    let over = |from: &str, to: i64| format!("for (int {from} = 0; {from} < {to}; {from}++)");
    let (outer, inner) = match c.rng.below(9) {
        0 => (
            format!("omp target teams distribute reduction({name}: s) map(to: a) map(tofrom: s)"),
            format!("omp parallel for reduction({name}: s)"),
        ),
        1 => (
            format!("omp target teams distribute parallel for reduction({name}: s) map(to: a)"),
            format!("omp simd reduction({name}: s)"),
        ),
        2 => (
            format!("omp target parallel for reduction({name}: s) map(to: a)"),
            format!("omp simd reduction({name}: s)"),
        ),
        3 => (
            format!("acc parallel loop gang reduction({name}: s) copyin(a)"),
            format!("acc loop vector reduction({name}: s)"),
        ),
        4 => (
            format!("acc parallel loop gang worker reduction({name}: s) copyin(a) copy(s)"),
            format!("acc loop vector reduction({name}: s)"),
        ),
        5 => (
            format!("acc parallel loop worker reduction({name}: s) copyin(a)"),
            format!("acc loop seq reduction({name}: s)"),
        ),
        6 => (
            format!("acc kernels loop reduction({name}: s) copyin(a)"),
            format!("acc loop reduction({name}: s)"),
        ),
        7 => (
            format!(
                "omp target teams distribute parallel for collapse(2) reduction({name}: s) map(to: a)"
            ),
            String::new(),
        ),
        _ => {
            (format!("acc parallel loop collapse(2) reduction({name}: s) copyin(a)"), String::new())
        }
    };
    c.pragma(outer);
    c.line(over("i", rows));
    if !inner.is_empty() {
        c.pragma(inner);
    }
    c.line(over("j", columns));
    c.line(statement);
    let want = values.iter().fold(first, |a, &b| op.apply(a, b));
    c.same("s", want);
}

/// A variable for each row, combined by the loop inside: it is not what other rows see.
pub(super) fn rows(c: &mut Check) {
    let ty = numbers::any(&c.rng);
    let op = Op::of(&c.rng, ty);
    let (rows, columns) = (c.rng.range(1, 6) as usize, c.rng.range(1, 6) as usize);
    let mut all = Vec::new();
    let mut wants = Vec::new();
    let (first, _) = op.values(&c.rng, ty, columns);
    for _ in 0..rows {
        let (_, values) = op.values(&c.rng, ty, columns);
        wants.push(values.iter().fold(first, |a, &b| op.apply(a, b)));
        all.extend(values);
    }
    declare(c, ty, "s", first, &all);
    c.line(format!("{} y[{rows}];", ty.name));
    let statement = op.statement(&c.rng, "t", &format!("a[i * {columns} + j]"));
    let name = op.name();
    let (outer, inner) = match c.rng.below(6) {
        0 => (
            "omp target teams distribute map(to: a) map(from: y)",
            format!("omp parallel for reduction({name}: t)"),
        ),
        1 => (
            "omp target teams distribute parallel for map(to: a) map(from: y)",
            format!("omp simd reduction({name}: t)"),
        ),
        2 => (
            "acc parallel loop gang num_gangs(3) copyin(a) copyout(y)",
            format!("acc loop worker vector reduction({name}: t)"),
        ),
        3 => (
            "acc parallel loop gang copyin(a) copyout(y)",
            format!("acc loop vector reduction({name}: t)"),
        ),
        4 => (
            "acc kernels loop independent copyin(a) copyout(y)",
            format!("acc loop independent reduction({name}: t)"),
        ),
        _ => (
            "acc parallel loop gang worker copyin(a) copyout(y)",
            format!("acc loop seq reduction({name}: t)"),
        ),
    };
    // Scalars of `parallel` are each gang's own; in OpenMP this one is declared inside.
    let outside = outer.starts_with("acc parallel") && c.rng.chance(50);
    if outside {
        c.line(format!("{} t = 55;", ty.name));
    }
    let private = if outside { c.rng.pick(&["", " private(t)", " firstprivate(t)"]) } else { "" };
    // A scalar of the construct that a loop for gangs and workers sets must be private to the loop's iterations.
    let private = if outside && outer.contains("worker") { " private(t)" } else { private };
    c.pragma(format!("{outer}{private}"));
    c.line(format!("for (int i = 0; i < {rows}; i++) {{"));
    c.line(if outside { "t = s;".to_string() } else { format!("{} t = s;", ty.name) });
    c.pragma(inner);
    c.line(format!("for (int j = 0; j < {columns}; j++) {statement}"));
    c.line("y[i] = t;");
    c.line("}");
    for (row, want) in wants.iter().enumerate() {
        c.same(&format!("y[{row}]"), *want);
    }
    c.same("s", first);
    if outside {
        c.same("t", 55);
    }
}

/// Arrays, several variables and operators on one directive.
pub(super) fn arrays(c: &mut Check) {
    let ty = numbers::any(&c.rng);
    let op = Op::of(&c.rng, ty);
    let (bins, count) = (c.rng.range(1, 5) as usize, c.rng.pick(&[1, 5, 12]));
    let mut firsts = Vec::new();
    for _ in 0..bins {
        firsts.push(op.values(&c.rng, ty, count).0);
    }
    let (_, values) = op.values(&c.rng, ty, count);
    declare(c, ty, "unused", 0, &values);
    c.line("(void)unused;");
    let list: Vec<String> = firsts.iter().map(|it| number(*it)).collect();
    let by_pointer = c.rng.chance(30);
    c.line(format!(
        "{} {}[{bins}] = {{{}}};",
        ty.name,
        if by_pointer { "room" } else { "h" },
        list.join(", ")
    ));
    if by_pointer {
        c.line(format!("{} *h = room;", ty.name));
    }
    let (low, high) = if c.rng.chance(60) { (0, bins) } else { (c.rng.below(bins), bins) };
    let section = if low == 0 && !by_pointer && c.rng.chance(40) {
        "h".into()
    } else {
        format!("h[{low}:{}]", high - low)
    };
    let name = op.name();
    c.line("int n = 3;");
    let form = c.rng.below(5);
    let map = if by_pointer { section.clone() } else { "h".into() };
    match form {
        0 => c.pragma(format!("omp target teams distribute parallel for reduction({name}: {section}) reduction(+: n) map(to: a) map(tofrom: {map})")),
        1 => c.pragma(format!("omp target parallel for reduction({name}: {section}) reduction(+: n) map(to: a) map(tofrom: {map}, n)")),
        2 => c.pragma(format!("omp target simd reduction({name}: {section}) reduction(+: n) map(to: a) map(tofrom: {map}, n)")),
        3 => c.pragma(format!("acc parallel loop reduction({name}: {section}) reduction(+: n) copyin(a) copy({map})")),
        _ => c.pragma(format!("acc parallel loop gang vector reduction({name}: {section}) reduction(+: n) copyin(a) copy({map})")),
    }
    let span = high - low;
    let into = format!("h[{low} + i % {span}]");
    let statement = op.statement(&c.rng, &into, "a[i]");
    c.line(format!("for (int i = 0; i < {count}; i++) {{ {statement} n++; }}"));
    let mut wants = firsts;
    for (at, &value) in values.iter().enumerate() {
        let bin = low + at % span;
        wants[bin] = op.apply(wants[bin], value);
    }
    for (bin, want) in wants.iter().enumerate() {
        c.same(&format!("h[{bin}]"), *want);
    }
    c.same("n", 3 + count as i64);
}

/// Reductions that the program declares, and records of OpenACC, which are combined member by member.
pub(super) fn records(c: &mut Check) {
    let id = c.seed;
    let count = c.rng.pick(&[1, 4, 11]);
    let (n, sum, top) = (c.rng.range(1, 9), c.rng.range(-50, 50), c.rng.range(-99, 99));
    let values: Vec<i64> = (0..count).map(|_| c.rng.range(-200, 200)).collect();
    declare(c, numbers::INTEGERS[0], "unused", 0, &values);
    c.line("(void)unused;");
    let total: i64 = values.iter().sum();
    if c.rng.chance(30) {
        c.top(format!("struct record_{id} {{ int n; double sum; }};"));
        c.line(format!("struct record_{id} s = {{{n}, {sum}}};"));
        let form = c.rng.pick(&[
            "parallel loop",
            "parallel loop gang vector",
            "serial loop",
            "parallel loop seq",
        ]);
        c.pragma(format!("acc {form} reduction(+: s) copyin(a)"));
        c.line(format!("for (int i = 0; i < {count}; i++) {{ s.n += 1; s.sum += a[i]; }}"));
        c.same("s.n", n + count as i64);
        c.exact("s.sum", (sum + total) as f64);
        return;
    }
    c.top(format!("struct record_{id} {{ int n; double sum; short top; }};"));
    c.top(format!("#pragma omp declare reduction(join_{id}: struct record_{id}: omp_out.n += omp_in.n, omp_out.sum += omp_in.sum, omp_out.top = omp_in.top > omp_out.top ? omp_in.top : omp_out.top) initializer(omp_priv = {{0, 0, -32000}})"));
    c.line(format!("struct record_{id} s = {{{n}, {sum}, {top}}};"));
    let form = c.rng.pick(&OPENMP);
    c.pragma(format!("omp {form} reduction(join_{id}: s) map(to: a) map(tofrom: s)"));
    c.line(format!("for (int i = 0; i < {count}; i++) {{ s.n++; s.sum += a[i]; if (a[i] > s.top) s.top = a[i]; }}"));
    c.same("s.n", n + count as i64);
    c.exact("s.sum", (sum + total) as f64);
    c.same("s.top", values.iter().fold(top, |a, &b| a.max(b)));
}

/// Sums up to each iteration: they contain the original value.
pub(super) fn scan(c: &mut Check) {
    let ty = c.rng.pick(&[numbers::INTEGERS[0], numbers::INTEGERS[2], numbers::FLOATS[1]]);
    let count = c.rng.pick(&[1, 2, 9]);
    let (first, values) = Op::Add.values(&c.rng, ty, count);
    declare(c, ty, "s", first, &values);
    c.line(format!("{} in[{count}];", ty.name));
    let inclusive = c.rng.chance(50);
    let form = c.rng.pick(&["target parallel for", "target simd", "target parallel for simd"]);
    c.pragma(format!("omp {form} reduction(inscan, +: s) map(to: a) map(from: in) map(tofrom: s)"));
    c.line(format!("for (int i = 0; i < {count}; i++) {{"));
    c.line(if inclusive { "s += a[i];" } else { "in[i] = s;" });
    c.pragma(format!("omp scan {}(s)", if inclusive { "inclusive" } else { "exclusive" }));
    c.line(if inclusive { "in[i] = s;" } else { "s += a[i];" });
    c.line("}");
    let mut sum = first;
    for (at, value) in values.iter().enumerate() {
        let before = sum;
        sum += value;
        c.same(&format!("in[{at}]"), if inclusive { sum } else { before });
    }
    c.same("s", sum);
}

/// `s` with its original value, and `a` with what is combined.
fn declare(c: &mut Check, ty: Type, name: &str, first: i64, values: &[i64]) {
    let list: Vec<String> = values.iter().map(|it| number(*it)).collect();
    let list = if list.is_empty() { "0".into() } else { list.join(", ") };
    c.line(format!(
        "{} {name} = {}, a[{}] = {{{list}}};",
        ty.name,
        number(first),
        values.len().max(1)
    ));
}
