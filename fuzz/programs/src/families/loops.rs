//! Loops: counters of every type, upwards and downwards, spans as wide as the type, nests made one, triangles, schedules, `linear`.
//! Every iteration is run once, with the value that the loop gives its counter.

use super::numbers::{INTEGERS, Type};
use crate::check::{Check, number};

/// A loop and the values of its counter.
struct Loop {
    head: String,
    first: i64,
    /// Distance of two iterations; negative when it counts down.
    step: i64,
    values: Vec<i64>,
}

/// Constructs of OpenMP for a loop that holds atomic accesses only, or writes elements of its own.
const OPENMP: [&str; 9] = [
    "target teams distribute parallel for",
    "target teams distribute parallel for simd",
    "target teams distribute",
    "target parallel for",
    "target parallel for simd",
    "target simd",
    "target teams loop",
    "target parallel loop",
    "target teams distribute simd",
];

const OPENACC: [&str; 12] = [
    "parallel loop",
    "parallel loop gang",
    "parallel loop worker",
    "parallel loop vector",
    "parallel loop gang vector",
    "parallel loop gang worker vector",
    "parallel loop seq",
    "parallel loop independent",
    "kernels loop independent",
    "kernels loop",
    "serial loop",
    "parallel loop num_gangs(3) vector_length(32)",
];

/// A random loop over the counter `i`; `wide` ones span more than a signed type can say.
fn any_loop(c: &mut Check, ty: Type, wide: bool) -> Loop {
    let rng = &c.rng;
    let count = rng.pick(&[0_i64, 1, 2, 3, 5, 17]);
    let down = rng.chance(35);
    // Not-equal comparisons need steps of one.
    let unequal = rng.chance(15) && count > 0;
    let full = ty.max as i128 - ty.min as i128;
    let step: i128 = if unequal {
        1
    } else if wide && count > 1 {
        (full / (count as i128 + 1)).max(1)
    } else {
        i128::from(rng.pick(&[1_i64, 1, 2, 3, 7])).min(full / (count as i128 + 3)).max(1)
    };
    // Where the counter stands after the last iteration; it must be a value of the type, too.
    let span = step * i128::from(count);
    let (min, max) = (ty.min as i128, ty.max as i128);
    let low = if wide && rng.chance(60) {
        min
    } else {
        let from = if rng.chance(50) { min } else { min.max(-50) }.min(max - span);
        let to = (max - span).min(100).max(from);
        from + (rng.next() as i128).rem_euclid(to - from + 1)
    };
    // Without iterations the bound must not be the end of the type: compilers refuse a test that never holds.
    let low = if count == 0 { low.clamp(min + 1, max - 1) } else { low };
    let (first, end) = if down { (low + span, low) } else { (low, low + span) };
    // The bound may lie anywhere behind the last iteration and up to `end`.
    let slack = if unequal || step == 1 || count == 0 {
        0
    } else {
        (rng.next() as i128).rem_euclid(step.min(1 << 20))
    };
    let inclusive = !unequal && rng.chance(40) && if down { end < max } else { end > min };
    let (bound, op) = match (unequal, down, inclusive) {
        (true, ..) => (end, "!="),
        (_, false, false) => (end - slack, "<"),
        (_, true, false) => (end + slack, ">"),
        (_, false, true) => (end - slack.max(1), "<="),
        (_, true, true) => (end + slack.max(1), ">="),
    };
    let step_text = number(step as i64);
    let next = match (down, step == 1, rng.below(3)) {
        (false, true, 0) => "i++".into(),
        (false, true, 1) => "++i".into(),
        (true, true, 0) => "i--".into(),
        (true, true, 1) => "--i".into(),
        (false, _, 0) => format!("i = i + {step_text}"),
        (true, _, 0) => format!("i = i - {step_text}"),
        (false, ..) => format!("i += {step_text}"),
        (true, ..) => format!("i -= {step_text}"),
    };
    let flipped = rng.chance(15);
    let bound = number(bound as i64);
    let test = if flipped {
        let op = match op {
            "<" => ">",
            ">" => "<",
            "<=" => ">=",
            ">=" => "<=",
            other => other,
        };
        format!("{bound} {op} i")
    } else {
        format!("i {op} {bound}")
    };
    let signed_step = if down { -step } else { step };
    let values = (0..count).map(|k| (first + signed_step * i128::from(k)) as i64).collect();
    Loop {
        head: format!("for ({} i = {}; {test}; {next})", ty.name, number(first as i64)),
        first: first as i64,
        step: signed_step as i64,
        values,
    }
}

/// One loop, with every kind of counter.
pub(super) fn one(c: &mut Check) {
    let ty = if c.rng.chance(30) { INTEGERS[0] } else { c.rng.pick(&INTEGERS) };
    let openmp = c.rng.chance(50);
    // OpenMP leaves open what a loop does whose count its signed type cannot say.
    let wide = c.rng.chance(40) && (!openmp || ty.min == 0);
    let it = any_loop(c, ty, wide);
    let count = it.values.len();
    let room = count.max(1);
    c.line(format!("int hit[{room}] = {{0}}, n = 2;"));
    c.line(format!("long long value[{room}] = {{0}};"));
    let directive = if openmp {
        let form = c.rng.pick(&OPENMP);
        let mut words = format!("omp {form} reduction(+: n) map(tofrom: hit, value)");
        if form.contains("for") && c.rng.chance(50) {
            words += c.rng.pick(&[
                " schedule(static)",
                " schedule(static, 1)",
                " schedule(static, 3)",
                " schedule(dynamic)",
                " schedule(dynamic, 2)",
                " schedule(guided)",
                " schedule(auto)",
                " schedule(nonmonotonic: dynamic, 4)",
                " schedule(monotonic: static, 2)",
            ]);
        }
        if form.contains("distribute") && c.rng.chance(30) {
            words += c.rng.pick(&[
                " dist_schedule(static)",
                " dist_schedule(static, 2)",
                " dist_schedule(static, 5)",
            ]);
        }
        if form.contains("simd") && c.rng.chance(30) {
            words += c.rng.pick(&[" simdlen(4)", " safelen(8)"]);
        }
        words
    } else {
        let form = c.rng.pick(&OPENACC);
        format!("acc {form} reduction(+: n) copy(hit, value)")
    };
    c.pragma(directive);
    let head = it.head.clone();
    c.line(format!("{head} {{"));
    let distance = if it.step < 0 {
        format!("({} - (unsigned long long)i)", unsigned(it.first))
    } else {
        format!("((unsigned long long)i - {})", unsigned(it.first))
    };
    c.line(format!("unsigned long long k = {distance} / {}ULL;", it.step.unsigned_abs()));
    c.line("hit[k] += 1;");
    c.line("value[k] = (long long)i;");
    c.line("n++;");
    c.line("}");
    for (k, value) in it.values.iter().enumerate() {
        c.same(&format!("hit[{k}]"), 1);
        c.same(&format!("value[{k}]"), *value);
    }
    c.same("n", 2 + count as i64);
}

fn unsigned(it: i64) -> String {
    format!("{}ULL", it as u64)
}

/// Where an inner loop begins or ends, in an iteration of the outer one.
type Bound = Box<dyn Fn(i64) -> i64>;

/// Two loops, made one or dealt to levels; the inner ones may depend on the outer one.
pub(super) fn nest(c: &mut Check) {
    let openmp = c.rng.chance(60);
    let rows = c.rng.range(1, 6);
    let triangle = c.rng.chance(50);
    let (low, high): (Bound, Bound);
    let (low_text, high_text);
    let columns = c.rng.range(1, 6);
    if triangle {
        match c.rng.below(4) {
            0 => {
                (low, high, low_text, high_text) =
                    (Box::new(|_| 0), Box::new(|i| i + 1), "0".to_string(), "i + 1".to_string())
            }
            1 => {
                (low, high, low_text, high_text) =
                    (Box::new(|i| i), Box::new(move |_| columns), "i".into(), number(columns))
            }
            2 => {
                (low, high, low_text, high_text) =
                    (Box::new(|i| i), Box::new(|i| 2 * i + 1), "i".into(), "2 * i + 1".into())
            }
            _ => {
                (low, high, low_text, high_text) = (
                    Box::new(|i| i - 2),
                    Box::new(move |i| i + columns),
                    "i - 2".into(),
                    format!("i + {columns}"),
                )
            }
        }
    } else {
        (low, high, low_text, high_text) =
            (Box::new(|_| -1), Box::new(move |_| columns), "-1".into(), number(columns));
    }
    let size = 24 * rows;
    c.line(format!("int hit[{size}] = {{0}}, sum = 5;"));
    let counter = c.rng.pick(&["int", "long", "short"]);
    let (outer, inner) = if openmp {
        match c.rng.below(6) {
            0 => (
                "omp target teams distribute parallel for collapse(2) reduction(+: sum) map(hit)",
                "",
            ),
            1 => ("omp target parallel for collapse(2) reduction(+: sum) map(hit)", ""),
            2 => (
                "omp target teams distribute parallel for simd collapse(2) reduction(+: sum) map(hit)",
                "",
            ),
            3 => ("omp target simd collapse(2) reduction(+: sum) map(hit)", ""),
            4 => (
                "omp target teams distribute reduction(+: sum) map(hit, sum)",
                "omp parallel for reduction(+: sum)",
            ),
            _ => (
                "omp target teams distribute parallel for reduction(+: sum) map(hit)",
                "omp simd reduction(+: sum)",
            ),
        }
    } else {
        match c.rng.below(6) {
            0 if !triangle => ("acc parallel loop collapse(2) reduction(+: sum) copy(hit)", ""),
            1 if !triangle => {
                ("acc parallel loop gang vector collapse(2) reduction(+: sum) copy(hit)", "")
            }
            2 => (
                "acc parallel loop gang reduction(+: sum) copy(hit)",
                "acc loop worker vector reduction(+: sum)",
            ),
            3 => ("acc kernels loop reduction(+: sum) copy(hit)", "acc loop reduction(+: sum)"),
            4 => (
                "acc parallel loop worker reduction(+: sum) copy(hit)",
                "acc loop vector reduction(+: sum)",
            ),
            _ => (
                "acc parallel loop gang reduction(+: sum) copy(hit)",
                "acc loop vector reduction(+: sum)",
            ),
        }
    };
    c.pragma(outer);
    c.line(format!("for ({counter} i = 0; i < {rows}; i++)"));
    if !inner.is_empty() {
        c.pragma(inner);
    }
    c.line(format!("for ({counter} j = {low_text}; j < {high_text}; j++) {{ hit[i * 24 + j + 2] += 1 + i * j; sum += i + 2 * j; }}"));
    let mut sum = 5;
    for i in 0..rows {
        let mut marks = [0; 24];
        for j in low(i)..high(i) {
            marks[(j + 2) as usize] += 1 + i * j;
            sum += i + 2 * j;
        }
        for (at, mark) in marks.iter().enumerate() {
            if *mark != 0 || at < 4 {
                c.same(&format!("hit[{}]", i * 24 + at as i64), *mark);
            }
        }
    }
    c.same("sum", sum);
}

/// `linear`: in each iteration the variable is its original value plus the number of the iteration times the step.
pub(super) fn linear(c: &mut Check) {
    let ty = c.rng.pick(&INTEGERS[..7]);
    let count = c.rng.pick(&[1, 2, 9, 20]);
    let (first, step) = (
        c.rng.range(if ty.min < 0 { -9 } else { 60 }, 99),
        c.rng.range(if ty.min < 0 { -3 } else { 1 }, 5),
    );
    let step = if step == 0 { 1 } else { step };
    let down = c.rng.chance(30);
    let adds = c.rng.chance(30);
    let form = c.rng.pick(&[
        "target simd",
        "target parallel for simd",
        "target parallel for",
        "target parallel for simd num_threads(3)",
        "target parallel for schedule(static, 2)",
        "target parallel for schedule(dynamic, 1)",
        "simd",
        "parallel for simd",
        "parallel for",
    ]);
    let clause = match c.rng.below(4) {
        0 if step == 1 => "linear(k)".to_string(),
        1 => format!("linear(k: step({step}))"),
        2 => format!("linear(k: val, step({step}))"),
        _ => format!("linear(k: {step})"),
    };
    c.line(format!("{} k = {first}, a[{count}] = {{0}};", ty.name));
    let map = if form.starts_with("target") { " map(tofrom: a)" } else { "" };
    c.pragma(format!("omp {form} {clause}{map}"));
    let head = if down {
        format!("for (int i = {}; i >= 0; i--)", count - 1)
    } else {
        format!("for (int i = 0; i < {count}; i++)")
    };
    c.line(format!("{head} {{"));
    c.line("a[i] = k;");
    if adds {
        c.line(format!("k += {step};"));
    }
    c.line("}");
    for i in 0..count {
        let iteration = if down { count - 1 - i } else { i };
        c.same(&format!("a[{i}]"), first + step * iteration);
    }
}
