//! Everyday C in kernels: bit-fields, functions and constants of the headers, names that are words of other languages.

use crate::check::{Check, number};

/// Records with bit-fields: they wrap as their widths say.
pub(super) fn bit_fields(c: &mut Check) {
    let id = c.seed;
    let count = c.rng.range(2, 5);
    let mut text = format!("struct bits_{id} {{ ");
    // Width, whether it has a sign, and the value.
    let mut fields: Vec<(u32, bool, i64)> = Vec::new();
    for k in 0..count {
        let width = c.rng.range(1, 20) as u32;
        let signed = c.rng.chance(40) && width > 1;
        let ty = if signed {
            "signed int"
        } else {
            c.rng.pick(&["unsigned", "unsigned", "unsigned short", "unsigned char"])
        };
        let width = match ty {
            "unsigned short" => width.min(16),
            "unsigned char" => width.min(8),
            _ => width,
        };
        text += &format!("{ty} f{k} : {width}; ");
        if c.rng.chance(15) {
            text += "unsigned : 0; ";
        }
        let (low, high) = bounds(width, signed);
        fields.push((width, signed, c.rng.range(low, high)));
    }
    c.top(format!("{text}int plain; }};"));
    let many = c.rng.range(1, 4);
    c.line(format!("struct bits_{id} s[{many}];"));
    c.line(format!("for (int i = 0; i < {many}; i++) {{"));
    for (k, (_, _, value)) in fields.iter().enumerate() {
        c.line(format!("s[i].f{k} = {};", number(*value)));
    }
    c.line("s[i].plain = i;");
    c.line("}");
    c.line("long long sum = 0;");
    let form = c.rng.pick(&[
        "omp target map(tofrom: s) map(tofrom: sum)",
        "omp target teams distribute parallel for map(tofrom: s) reduction(+: sum)",
        "omp target parallel for map(tofrom: s) reduction(+: sum)",
        "acc parallel loop copy(s) reduction(+: sum)",
        "acc serial copy(s, sum)",
    ]);
    c.pragma(form);
    c.line(format!("for (int i = 0; i < {many}; i++) {{"));
    let mut sum = 0;
    for (k, field) in fields.iter_mut().enumerate() {
        let (width, signed, value) = *field;
        let (low, high) = bounds(width, signed);
        sum += value;
        c.line(format!("sum += s[i].f{k};"));
        match c.rng.below(5) {
            0 => {
                let new = c.rng.range(low, high);
                c.line(format!("s[i].f{k} = {};", number(new)));
                field.2 = new;
            }
            1 if !signed => {
                c.line(format!("s[i].f{k}++;"));
                field.2 = (value + 1) & high;
            }
            2 if !signed => {
                let by = c.rng.range(1, 99);
                c.line(format!("s[i].f{k} += {by};"));
                field.2 = (value + by) & high;
            }
            3 if !signed => {
                let by = c.rng.range(0, high);
                c.line(format!("s[i].f{k} ^= {by};"));
                field.2 = value ^ by;
            }
            4 if signed && value > low => {
                c.line(format!("s[i].f{k} -= 1;"));
                field.2 = value - 1;
            }
            _ => {}
        }
    }
    c.line("s[i].plain += 10;");
    c.line("}");
    c.same("sum", sum * many);
    for i in 0..many {
        for (k, (_, _, value)) in fields.iter().enumerate() {
            c.same(&format!("s[{i}].f{k}"), *value);
        }
        c.same(&format!("s[{i}].plain"), i + 10);
    }
}

/// A number in 64 bits.
fn t(it: impl Into<i64>) -> i64 {
    it.into()
}

fn bounds(width: u32, signed: bool) -> (i64, i64) {
    if signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) }
}

/// Builtins, macros of `<math.h>`, and constants of `<float.h>`, `<limits.h>` and `<stdint.h>`.
pub(super) fn headers(c: &mut Check) {
    let u = c.rng.next() as u32 | 1;
    let u = u >> c.rng.below(31);
    let u = u.max(1);
    let w = (c.rng.next() >> c.rng.below(60)).max(1);
    let x = c.rng.pick(&[
        0.0,
        -0.0,
        1.5,
        -2.25,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e-310,
        7.0,
    ]);
    let y = c.rng.pick(&[0.5, -3.0, f64::INFINITY, f64::NAN, 2.0]);
    let class = |it: f64| match it.classify() {
        std::num::FpCategory::Nan => 0,
        std::num::FpCategory::Infinite => 1,
        std::num::FpCategory::Zero => 2,
        std::num::FpCategory::Subnormal => 3,
        std::num::FpCategory::Normal => 4,
    };
    let whole: [(&str, i64); 46] = [
        ("__builtin_popcount(u)", t(u.count_ones())),
        ("__builtin_clz(u)", t(u.leading_zeros())),
        ("__builtin_ctz(u)", t(u.trailing_zeros())),
        ("__builtin_parity(u)", t(u.count_ones() % 2)),
        ("__builtin_ffs((int)u)", t(u.trailing_zeros() + 1)),
        ("__builtin_bswap32(u)", t(u.swap_bytes())),
        ("__builtin_bswap16((unsigned short)u)", t((u as u16).swap_bytes())),
        ("(long long)__builtin_bswap64(w)", w.swap_bytes() as i64),
        ("__builtin_popcountl(w)", t(w.count_ones())),
        ("__builtin_popcountll(w)", t(w.count_ones())),
        ("__builtin_clzl(w)", t(w.leading_zeros())),
        ("__builtin_clzll(w)", t(w.leading_zeros())),
        ("__builtin_ctzl(w)", t(w.trailing_zeros())),
        ("__builtin_ctzll(w)", t(w.trailing_zeros())),
        ("__builtin_parityll(w)", t(w.count_ones() % 2)),
        ("__builtin_ffsll((long long)w)", t(w.trailing_zeros() + 1)),
        ("isinf(x) != 0", t(x.is_infinite())),
        ("isnan(x) != 0", t(x.is_nan())),
        ("isfinite(x) != 0", t(x.is_finite())),
        ("isnormal(x) != 0", t(x.is_normal())),
        ("x == x && signbit(x) != 0", t(!x.is_nan() && x.is_sign_negative())),
        ("fpclassify(x) == FP_NAN", t(class(x) == 0)),
        ("fpclassify(x) == FP_INFINITE", t(class(x) == 1)),
        ("fpclassify(x) == FP_ZERO", t(class(x) == 2)),
        ("fpclassify(x) == FP_NORMAL", t(class(x) == 4)),
        ("isless(x, y) != 0", t(x < y)),
        ("isgreater(x, y) != 0", t(x > y)),
        ("islessequal(x, y) != 0", t(x <= y)),
        ("isgreaterequal(x, y) != 0", t(x >= y)),
        ("islessgreater(x, y) != 0", t(!x.is_nan() && !y.is_nan() && x != y)),
        ("isunordered(x, y) != 0", t(x.is_nan() || y.is_nan())),
        ("INT_MAX", t(i32::MAX)),
        ("INT_MIN", t(i32::MIN)),
        ("LONG_MAX", i64::MAX),
        ("LLONG_MIN", i64::MIN),
        ("UINT_MAX", t(u32::MAX)),
        ("SHRT_MIN", t(i16::MIN)),
        ("UCHAR_MAX + CHAR_BIT", 263),
        ("(long long)(UINT64_MAX / 2)", i64::MAX),
        ("INT8_MIN + INT16_MAX", 32639),
        ("(long long)(SIZE_MAX >> 1)", i64::MAX),
        ("FLT_DIG + DBL_DIG + FLT_MANT_DIG + DBL_MANT_DIG", 6 + 15 + 24 + 53),
        ("DBL_MAX_EXP + FLT_MIN_EXP", 1024 - 125),
        ("abs(-(int)(u % 1000))", t(u % 1000)),
        ("INT64_C(5) + UINT32_C(7)", 12),
        ("sizeof(long) + _Alignof(double)", 16),
    ];
    let z = c.rng.range(-40, 40) as f64 / 4.0;
    let real: [(&str, f64); 30] = [
        ("DBL_MAX", f64::MAX),
        ("-DBL_MAX", -f64::MAX),
        ("DBL_MIN", f64::MIN_POSITIVE),
        ("DBL_EPSILON", f64::EPSILON),
        ("FLT_MAX", f64::from(f32::MAX)),
        ("-FLT_MAX", -f64::from(f32::MAX)),
        ("FLT_MIN", f64::from(f32::MIN_POSITIVE)),
        ("FLT_EPSILON", f64::from(f32::EPSILON)),
        ("INFINITY", f64::INFINITY),
        ("-INFINITY", f64::NEG_INFINITY),
        ("NAN", f64::NAN),
        ("HUGE_VAL", f64::INFINITY),
        ("-HUGE_VALF", f64::NEG_INFINITY),
        ("fabs(z)", z.abs()),
        ("floor(z)", z.floor()),
        ("ceil(z)", z.ceil()),
        ("trunc(z)", z.trunc()),
        ("round(z)", z.round()),
        ("rint(z)", z.round_ties_even()),
        ("sqrt(z * z)", z.abs()),
        ("fmax(z, 1.25)", z.max(1.25)),
        ("fmin(z, 1.25)", z.min(1.25)),
        ("copysign(2.0, z - 100)", -2.0),
        ("fmod(z, 3.0)", z % 3.0),
        ("ldexp(z, 5)", z * 32.0),
        ("fma(z, 2.0, 1.0)", z * 2.0 + 1.0),
        ("fabsf((float)z)", z.abs()),
        ("sqrtf((float)(z * z))", z.abs()),
        ("fmaxf((float)z, -FLT_MAX)", z),
        ("M_PI", std::f64::consts::PI),
    ];
    let mut chosen = Vec::new();
    let mut chosen_real = Vec::new();
    for _ in 0..c.rng.range(2, 5) {
        chosen.push(c.rng.pick(&whole));
        chosen_real.push(c.rng.pick(&real));
    }
    c.line(format!(
        "unsigned u = {u}u; unsigned long w = {w}ul; double x = {}, y = {}, z = {z:?};",
        crate::check::float(x),
        crate::check::float(y)
    ));
    let n = chosen.len();
    c.line(format!("long long got[{n}]; double real[{n}];"));
    c.line("(void)u; (void)w; (void)x; (void)y; (void)z;");
    let form = c.rng.pick(&[
        "omp target map(from: got, real)",
        "omp target map(from: got, real) map(to: u, w, x, y, z)",
        "acc serial copyout(got, real)",
        "acc parallel num_gangs(1) copyout(got, real) copyin(u, w, x, y, z)",
    ]);
    c.pragma(form);
    c.line("{");
    for (k, (text, _)) in chosen.iter().enumerate() {
        c.line(format!("got[{k}] = {text};"));
        c.line(format!("real[{k}] = {};", chosen_real[k].0));
    }
    c.line("}");
    for (k, (text, want)) in chosen.iter().enumerate() {
        c.line(format!("same(\"{text}\", got[{k}], {});", number(*want)));
        let (text, want) = chosen_real[k];
        c.line(format!("exact(\"{text}\", real[{k}], {});", crate::check::float(want)));
    }
}

/// Words of OpenCL, CUDA, HIP and C++, and names that generated text might use: none of them means anything in C.
const WORDS: [&str; 104] = [
    "vec_step",
    "image2d_t",
    "image3d_t",
    "sampler_t",
    "event_t",
    "kernel",
    "global",
    "local",
    "constant",
    "half",
    "uchar",
    "pipe",
    "read_only",
    "write_only",
    "read_write",
    "float4",
    "int2",
    "uchar16",
    "double8",
    "get_global_id",
    "get_local_id",
    "get_group_id",
    "barrier",
    "mem_fence",
    "native_sin",
    "mad",
    "mad24",
    "clamp",
    "mix",
    "step",
    "smoothstep",
    "sign",
    "dot",
    "cross",
    "length",
    "distance",
    "normalize",
    "select",
    "bitselect",
    "any",
    "all",
    "shuffle",
    "as_int",
    "as_float",
    "convert_int",
    "vload4",
    "vstore4",
    "atomic_add",
    "atomic_inc",
    "work_group_barrier",
    "queue_t",
    "clk_event_t",
    "reserve_id_t",
    "generic",
    "uniform",
    "class",
    "template",
    "typename",
    "namespace",
    "new",
    "delete",
    "this",
    "private",
    "public",
    "protected",
    "virtual",
    "friend",
    "operator",
    "mutable",
    "explicit",
    "export",
    "try",
    "catch",
    "throw",
    "using",
    "and",
    "or",
    "not",
    "xor",
    "bitand",
    "bitor",
    "compl",
    "true",
    "false",
    "nullptr",
    "constexpr",
    "decltype",
    "noexcept",
    "static_assert",
    "wchar_t",
    "char16_t",
    "thread_local",
    "bool",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "dim3",
    "atomicAdd",
    "min",
    "max",
    "popcount",
    "rotate",
];

/// Words that functions of the program may be called, too.
const FUNCTIONS: [&str; 24] = [
    "clamp",
    "mix",
    "step",
    "sign",
    "dot",
    "cross",
    "length",
    "distance",
    "normalize",
    "smoothstep",
    "any",
    "all",
    "shuffle",
    "mad",
    "rotate",
    "min",
    "max",
    "popcount",
    "barrier",
    "atomic_add",
    "atomicAdd",
    "get_global_id",
    "kernel",
    "operator",
];

/// Variables, members, parameters and functions with such names.
pub(super) fn names(c: &mut Check) {
    let id = c.seed;
    let mut words: Vec<&str> = Vec::new();
    while words.len() < 5 {
        let word = c.rng.pick(&WORDS);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let [a, b, d, e, member] = [words[0], words[1], words[2], words[3], words[4]];
    let values: Vec<i64> = (0..4).map(|_| c.rng.range(1, 30)).collect();
    let called = c.rng.chance(50).then(|| c.rng.pick(&FUNCTIONS)).filter(|it| !words.contains(it));
    c.top(format!("struct {member}_{id} {{ int {member}; }};"));
    if let Some(name) = called {
        c.claims.push(name.to_string());
        let openmp = c.rng.chance(50);
        c.top(if openmp { "#pragma omp begin declare target" } else { "#pragma acc routine seq" });
        c.top(format!(
            "static int {name}(int {a}, int {b}) {{ int {d} = {a} * 2; return {d} + {b}; }}"
        ));
        if openmp {
            c.top("#pragma omp end declare target");
        }
    }
    c.line(format!(
        "int {a} = {}, {b}[3] = {{{}, 2, 3}}, {d} = {};",
        values[0], values[1], values[2]
    ));
    c.line(format!("struct {member}_{id} record = {{{}}};", values[3]));
    let counter = e;
    let forms = [
        format!("omp target map(tofrom: {b}, {d}, record)"),
        format!(
            "omp target teams distribute parallel for map(tofrom: {b}, record) reduction(+: {d})"
        ),
        format!(
            "omp target parallel for map(tofrom: {b}, record) reduction(+: {d}) firstprivate({a})"
        ),
        format!("acc parallel loop copy({b}, record) reduction(+: {d})"),
        format!("acc serial copy({b}, {d}, record)"),
    ];
    c.pragma(&forms[c.rng.below(forms.len())]);
    c.line(format!("for (int {counter} = 0; {counter} < 3; {counter}++) {{"));
    let call = called.map_or(String::new(), |name| format!(" + {name}({counter}, {a})"));
    c.line(format!("{b}[{counter}] += {a} + {counter}{call};"));
    c.line(format!("{d} += {counter};"));
    c.line(format!("if ({counter} == 1) record.{member} += {a};"));
    c.line("}");
    for k in 0..3 {
        let first = if k == 0 { values[1] } else { k + 1 };
        let extra = if called.is_some() { 2 * k + values[0] } else { 0 };
        c.same(&format!("{b}[{k}]"), first + values[0] + k + extra);
    }
    c.same(d, values[2] + 3);
    c.same(a, values[0]);
    c.same(&format!("record.{member}"), values[3] + values[0]);
}
