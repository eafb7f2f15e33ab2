//! The form of loops, their nests, and ways out of them.

use proptest::prelude::*;
use proptest::sample::select;

use super::support::{bad_body, good_body, loops, within};

#[test]
fn all_forms_are_understood() {
    let body = "#pragma omp for\nfor (i = 0; i < 10; i++) use(i);\n\
                #pragma omp for\nfor (long t = 9; 0 <= t; t -= 2) use(t);\n\
                #pragma omp for\nfor (int *r = p; r != p + n; ++r) use(*r);\n\
                #pragma omp for\nfor (unsigned u = 10; u > 0; u += -1) use(u);\n\
                #pragma omp for\nfor (short h = 0; h <= 10; h = 3 + h) use(h);\n\
                #pragma omp for\nfor (i = n; m > i; i = i + m) use(i);\n";
    let expected = [
        "i from 0 < 10 by 1, 10 times",
        "t from 9 >= 0 by -2, 5 times",
        "r from p != p + n by 1",
        "u from 10 > 0 by -1, 10 times",
        "h from 0 <= 10 by 3, 4 times",
        "i from n < m by m",
    ];
    assert_eq!(loops(&within(body)), expected);
    good_body(body);
}

#[test]
fn a_nest_is_followed_through_braces_and_transformations() {
    let body = "#pragma omp for collapse(2)\nfor (i = 0; i < 4; i++) { for (j = i; j < n; j++) use(j); }\n\
                #pragma omp for\n#pragma omp tile sizes(4, 4)\n\
                for (i = 0; i < 8; i++) for (j = 0; j < 8; j++) use(j);\n";
    let expected = [
        "i from 0 < 4 by 1, 4 times",
        "j from i < n by 1, slanted",
        "i from 0 < 8 by 1",
        "j from 0 < 8 by 1",
        "i from 0 < 8 by 1, 8 times",
        "j from 0 < 8 by 1, 8 times",
    ];
    assert_eq!(loops(&within(body)), expected);
    good_body(body);
}

#[test]
fn something_else_is_not_a_loop() {
    bad_body("#pragma omp parallel for\nwhile (n) use(n--);", &["F0501 | while (n) use(n--);"]);
    bad_body("#pragma acc parallel loop\nuse(1);", &["F0501 | use(1);"]);
}

#[test]
fn each_part_of_the_form_is_checked() {
    let bad = |head: &str, expected: &str| {
        bad_body(&format!("#pragma omp for\nfor ({head}) use(i);"), &[expected]);
    };
    bad("; i < n; i++", "F0502 | for (; i < n; i++) use(i);");
    bad("i = 0, j = 0; i < n; i++", "F0502 | i = 0, j = 0");
    bad("e = 0; e < n; e++", "F0503 | e");
    bad("i = 0; i; i++", "F0504 | i");
    bad("i = 0; i < n && x; i++", "F0504 | i < n && x");
    bad("i = 0; i < 2 * i + 1; i++", "F0504 | 2 * i + 1");
    bad("i = 0; i < n; i *= 2", "F0505 | i *= 2");
    bad("i = 0; i < n; i++, j++", "F0505 | i++, j++");
    bad("i = 0; i < n; i += i", "F0505 | i += i");
    bad("i = 0; i < n; i += 0", "F0506 | i += 0");
    bad("i = 0; i < n; i--", "F0506 | i--");
    good_body("#pragma omp for\nfor (unsigned k = 2; k < 4000000000u; k += 3000000000u) use(k);");
    bad("i = 0; i != n; i += 2", "F0506 | i += 2");
}

#[test]
fn loops_in_order_may_have_any_form() {
    good_body(
        "#pragma acc parallel\n{\n#pragma acc loop seq\nfor (int t = 1; t < n && x; t *= 2) { if (t == 3) break; t++; }\n}",
    );
    good_body(
        "#pragma acc kernels\n{\n#pragma acc loop\nfor (int t = 1; t < n; t *= 2) a[t] = 0;\n}",
    );
    bad_body(
        "#pragma acc kernels\n{\n#pragma acc loop independent\nfor (int t = 1; t < n; t *= 2) a[t] = 0;\n}",
        &["F0505 | t *= 2"],
    );
}

#[test]
fn collapse_needs_its_loops() {
    bad_body(
        "#pragma omp for collapse(3)\nfor (i = 0; i < n; i++) for (j = 0; j < n; j++) use(j);",
        &["F0507 | use(j);"],
    );
    good_body(
        "#pragma omp for collapse(2)\nfor (i = 0; i < n; i++) for (j = 0; j < n; j++) use(j);",
    );
}

#[test]
fn code_between_loops_is_taken_or_refused() {
    let nest = |directive: &str| {
        format!(
            "#pragma {directive}\nfor (i = 0; i < n; i++) {{ a[i] = 0; for (j = 0; j < n; j++) b[i][j] = 0; }}"
        )
    };
    good_body(&nest("omp for collapse(2)"));
    good_body(&nest("acc parallel loop collapse(force: 2)"));
    bad_body(&nest("acc parallel loop collapse(2)"), &["F0508 | a[i] = 0;"]);
    bad_body(&nest("omp for ordered(2)"), &["F0508 | a[i] = 0;"]);
    bad_body(&nest("omp tile sizes(2, 2)"), &["F0508 | a[i] = 0;"]);
    bad_body(
        "#pragma omp for collapse(2)\nfor (i = 0; i < n; i++) { for (j = 0; j < n; j++) ; for (j = 0; j < n; j++) ; }",
        &["F0508 | for (j = 0; j < n; j++) ;"],
    );
}

#[test]
fn slanted_nests_are_allowed_in_one_form() {
    let nest = |directive: &str, first: &str| {
        format!(
            "#pragma {directive}\nfor (i = 0; i < n; i++) for (j = {first}; j < n; j++) b[i][j] = 0;"
        )
    };
    good_body(&nest("omp for collapse(2)", "2 * i + 1"));
    good_body(&nest("omp simd collapse(2)", "i"));
    bad_body(&nest("omp for collapse(2)", "i * i"), &["F0512 | i * i"]);
    bad_body(&nest("omp for collapse(2)", "a[i]"), &["F0512 | a[i]"]);
    bad_body(&nest("omp for collapse(2) schedule(static)", "i"), &["F0511 | i"]);
    bad_body(&nest("omp for collapse(2) ordered", "i"), &["F0511 | i"]);
    bad_body(&nest("acc parallel loop collapse(2)", "i"), &["F0511 | i"]);
}

#[test]
fn the_loop_variable_belongs_to_the_loop() {
    bad_body("#pragma omp for\nfor (i = 0; i < n; i++) i += 2;", &["F0509 | i"]);
    bad_body("#pragma omp for\nfor (i = 0; i < n; i++) n--;", &["F0510 | n"]);
    good_body("#pragma omp for\nfor (i = 0; i < n; i++) { for (j = 0; j < n; j++) use(j); }");
}

#[test]
fn iterations_are_not_cut_off() {
    bad_body("#pragma omp for\nfor (i = 0; i < n; i++) if (i == 3) break;", &["F0513 | break;"]);
    bad_body(
        "#pragma omp for collapse(2)\nfor (i = 0; i < n; i++) for (j = 0; j < n; j++) if (j) break;",
        &["F0513 | break;"],
    );
    good_body("#pragma omp for\nfor (i = 0; i < n; i++) { for (j = 0; j < n; j++) if (j) break; }");
    good_body(
        "#pragma omp for\nfor (i = 0; i < n; i++) { switch (i) { case 1: break; } continue; }",
    );
}

#[test]
fn regions_are_left_at_their_end() {
    bad_body("#pragma omp parallel\n{ if (n) return; }", &["F0514 | return;"]);
    bad_body("#pragma acc data copy(a)\n{ if (n) return; }", &["F0514 | return;"]);
    bad_body("for (;;) {\n#pragma omp critical\n{ if (n) break; }\n}", &["F0514 | break;"]);
    bad_body("for (;;) {\n#pragma omp critical\n{ if (n) continue; }\n}", &["F0514 | continue;"]);
    bad_body("#pragma omp parallel\n{ if (n) goto out; }\nout: ;", &["F0514 | goto out;"]);
    bad_body("if (n) goto in;\n#pragma omp parallel\n{ in: use(1); }", &["F0515 | goto in;"]);
    good_body("#pragma omp parallel\n{ if (n) goto in; use(2); in: use(1); }");
}

#[test]
fn a_full_unroll_leaves_no_loop() {
    bad_body(
        "#pragma omp for\n#pragma omp unroll full\nfor (i = 0; i < 8; i++) use(i);",
        &["F0516 | unroll full"],
    );
    good_body("#pragma omp for\n#pragma omp unroll partial(2)\nfor (i = 0; i < 8; i++) use(i);");
}

#[test]
fn variables_and_bounds_count() {
    let bad = |head: &str, expected: &str| {
        bad_body(&format!("#pragma omp for\nfor ({head}) use(1);"), &[expected]);
    };
    bad("_Bool t = 0; t < 1; t++", "F0503 | t");
    bad("i = 0; i < 10.5; i++", "F0504 | 10.5");
    bad("i = 0; i < e; i++", "F0504 | e");
    bad("i = 0; (unsigned char)i < n; i++", "F0504 | (unsigned char)i < n");
    bad("i = 0; i < n; i += 1.5", "F0505 | i += 1.5");
    bad("i = 0; i < n; i = (char)(i + 1)", "F0505 | i = (char)(i + 1)");
    bad("i = 0; i != n; i += m", "F0506 | i += m");
    good_body("#pragma omp for\nfor (i = 0; i < sizeof a / sizeof a[0]; i++) use(i);");
}

#[test]
fn trips_are_counted_in_the_type_of_the_variable() {
    let body = "#pragma omp for\nfor (unsigned u = 10; u >= 0; u--) use(1);\n\
                #pragma omp for\nfor (unsigned char c = 250; c < 300; c++) use(1);\n\
                #pragma omp for\nfor (i = -1; i < 10u; i++) use(1);\n\
                #pragma omp for\nfor (unsigned char c = 250; c < 255; c++) use(1);\n\
                #pragma omp for\nfor (unsigned char c = 0; c < 140; c += 150) use(1);\n\
                #pragma omp for\nfor (unsigned u = 3; u < 5; u -= -1) use(1);\n";
    let expected = [
        "u from 10 >= 0 by -1",
        "c from 250 < 300 by 1",
        "i from -1 < 10u by 1",
        "c from 250 < 255 by 1, 5 times",
        "c from 0 < 140 by 150, 1 times",
        "u from 3 < 5 by --1, 2 times",
    ];
    assert_eq!(loops(&within(body)), expected);
}

#[test]
fn a_loop_variable_gets_no_value_from_outside() {
    let nest = |directive: &str| format!("#pragma {directive}\nfor (i = 0; i < n; i++) use(1);");
    bad_body(&nest("omp parallel for firstprivate(i)"), &["F0517 | i"]);
    bad_body(&nest("omp parallel for reduction(+:i)"), &["F0517 | i"]);
    bad_body(&nest("omp taskloop firstprivate(i)"), &["F0517 | i"]);
    bad_body(&nest("acc parallel loop reduction(+:i)"), &["F0517 | i"]);
    good_body(&nest("omp parallel for private(i)"));
    good_body(&nest("omp parallel for lastprivate(i)"));
    good_body(&nest("omp simd linear(i)"));
    good_body(&nest("acc parallel loop private(i)"));
    good_body(&nest("omp parallel for firstprivate(j)"));
}

#[test]
fn each_loop_of_a_nest_has_its_variable() {
    bad_body(
        "#pragma omp for collapse(2)\nfor (i = 0; i < n; i++) for (i = 0; i < m; i++) use(1);",
        &["F0518 | for"],
    );
}

/// A type of a loop variable or bound.
#[derive(Clone, Copy, Debug)]
struct Int {
    name: &'static str,
    bits: u32,
    signed: bool,
}

const fn int(name: &'static str, bits: u32, signed: bool) -> Int {
    Int { name, bits, signed }
}

const INTS: [Int; 10] = [
    int("char", 8, true),
    int("unsigned char", 8, false),
    int("short", 16, true),
    int("unsigned short", 16, false),
    int("int", 32, true),
    int("unsigned", 32, false),
    int("long", 64, true),
    int("unsigned long", 64, false),
    int("long long", 64, true),
    int("unsigned long long", 64, false),
];

impl Int {
    fn fits(self, value: i128) -> bool {
        self.wrap(value) == value
    }

    fn wrap(self, value: i128) -> i128 {
        let low = value & ((1 << self.bits) - 1);
        if self.signed && low >> (self.bits - 1) == 1 { low - (1 << self.bits) } else { low }
    }

    /// C's usual arithmetic conversions.
    fn common(self, other: Int) -> Int {
        let promoted = |it: Int| if it.bits < 32 { int("int", 32, true) } else { it };
        let (a, b) = (promoted(self), promoted(other));
        if a.bits != b.bits {
            return if a.bits > b.bits { a } else { b };
        }
        if a.signed { b } else { a }
    }
}

/// What running a loop tells.
#[derive(Debug, PartialEq)]
enum Ran {
    Ended(u64),
    /// Arithmetic that C leaves open.
    Undefined,
    TooLong,
}

const PATIENCE: u64 = 3_000;

fn run(ty: Int, first: i128, test: &str, (bound, bound_ty): (i128, Int), step: i128) -> Ran {
    let wide = ty.common(bound_ty);
    let (mut value, bound) = (ty.wrap(first), wide.wrap(bound_ty.wrap(bound)));
    for trip in 0..=PATIENCE {
        let left = wide.wrap(value);
        let goes_on = match test {
            "<" => left < bound,
            "<=" => left <= bound,
            ">" => left > bound,
            ">=" => left >= bound,
            _ => left != bound,
        };
        if !goes_on {
            return Ran::Ended(trip);
        }
        let sum = ty.common(int("int", 32, true));
        let next = value + sum.wrap(step);
        if sum.signed && !sum.fits(next) {
            return Ran::Undefined;
        }
        value = ty.wrap(sum.wrap(next));
    }
    Ran::TooLong
}

fn value() -> impl Strategy<Value = i128> {
    prop_oneof![
        -20i128..20,
        (select(&INTS[..]), -3i128..4).prop_map(|(ty, off)| (1 << (ty.bits - 1)) + off),
        (select(&INTS[..]), -3i128..4).prop_map(|(ty, off)| (1 << ty.bits) + off),
        -300i128..300,
    ]
}

proptest! {
    /// A number of trips that is told is the right one, whatever the types.
    #[test]
    fn told_trips_are_right(
        all in proptest::collection::vec(
            (0usize..10, value(), 0usize..5, value(), 0usize..10, -7i128..8),
            40,
        )
    ) {
        let mut text = String::from("void f(void) {\n");
        let spell = |ty: Int, value: i128| format!("({}){value}ll", ty.name);
        let tests = ["<", "<=", ">", ">=", "!="];
        let all: Vec<_> = all
            .into_iter()
            .map(|(ty, first, test, bound, of, step)| {
                let small = |it: i128| it.clamp(-(1 << 62), 1 << 62);
                (INTS[ty], small(first), tests[test], (small(bound), INTS[of]), step)
            })
            .collect();
        for (at, (ty, first, test, bound, step)) in all.iter().enumerate() {
            let (begin, bound) = (spell(*ty, *first), spell(bound.1, bound.0));
            text.push_str(&format!(
                "#pragma omp for\nfor ({} v{at} = {begin}; v{at} {test} {bound}; v{at} += {step}) ;\n",
                ty.name
            ));
        }
        text.push_str("}\n");
        for line in loops(&text) {
            let Some((head, told)) = line.split_once(", ") else { continue };
            let told: u64 = told.trim_end_matches(" times").parse().expect("a number of trips");
            let at = head.split(' ').next().and_then(|it| it.strip_prefix('v'));
            let at: usize = at.and_then(|it| it.parse().ok()).expect("a numbered variable");
            let (ty, first, test, bound, step) = all[at];
            match run(ty, first, test, bound, step) {
                Ran::Ended(trips) => prop_assert_eq!(told, trips, "{}", line),
                Ran::TooLong => prop_assert!(told > PATIENCE, "{}", line),
                Ran::Undefined => prop_assert!(false, "{}", line),
            }
        }
    }
}
