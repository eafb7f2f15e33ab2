//! Rounding, flags and the edges of formats.

use super::*;
use Rounding::{Down, NearestAway, NearestEven, TowardZero, Up};

fn single(value: f32) -> u64 {
    u64::from(value.to_bits())
}

#[track_caller]
fn check(actual: u64, flags: u32, expect: f32, expect_flags: u32) {
    let actual = f32::from_bits(actual as u32);
    assert_eq!(actual.to_bits(), expect.to_bits(), "{actual:e} is not {expect:e}");
    assert_eq!(flags, expect_flags, "flags of {expect:e}");
}

#[test]
fn each_mode_rounds_its_own_way() {
    let (one, tiny) = (single(1.0), single(1e-30));
    let above = 1.0 + f32::EPSILON;
    for (mode, expect) in
        [(NearestEven, 1.0), (TowardZero, 1.0), (Down, 1.0), (Up, above), (NearestAway, 1.0)]
    {
        let mut flags = 0;
        check(SINGLE.add(one, tiny, mode, &mut flags), flags, expect, INEXACT);
    }
    // Halfway between two numbers.
    let half = single(f32::EPSILON / 2.0);
    for (mode, expect) in [(NearestEven, 1.0), (NearestAway, above), (Up, above), (Down, 1.0)] {
        let mut flags = 0;
        check(SINGLE.add(one, half, mode, &mut flags), flags, expect, INEXACT);
    }
}

#[test]
fn a_sum_that_cancels_is_positive_unless_rounded_down() {
    let (a, b) = (single(1.5), single(-1.5));
    let mut flags = 0;
    check(SINGLE.add(a, b, NearestEven, &mut flags), flags, 0.0, 0);
    check(SINGLE.add(a, b, Down, &mut flags), flags, -0.0, 0);
}

#[test]
fn tininess_is_found_after_rounding() {
    let smallest = single(f32::MIN_POSITIVE);
    // Half a step below the smallest normal number: it rounds up to that, but 24 bits would hold it.
    let mut flags = 0;
    let product = SINGLE.mul(smallest, single(1.0 - f32::EPSILON / 2.0), NearestEven, &mut flags);
    check(product, flags, f32::MIN_POSITIVE, INEXACT | UNDERFLOW);
    // A quarter of a step: 24 bits would round it up as well, so it is not tiny.
    let step = 1.0 / 8192.0;
    let (above, below) = (single(f32::MIN_POSITIVE * (1.0 + step)), single(1.0 - step));
    let mut flags = 0;
    check(SINGLE.mul(above, below, NearestEven, &mut flags), flags, f32::MIN_POSITIVE, INEXACT);
}

#[test]
fn overflow_ends_at_infinity_or_at_the_largest_number() {
    let large = single(f32::MAX);
    for (mode, expect) in [(NearestEven, f32::INFINITY), (TowardZero, f32::MAX), (Down, f32::MAX)] {
        let mut flags = 0;
        check(SINGLE.mul(large, large, mode, &mut flags), flags, expect, OVERFLOW | INEXACT);
    }
}

#[test]
fn what_has_no_answer_is_invalid() {
    let (zero, infinity) = (single(0.0), single(f32::INFINITY));
    let nan = f32::from_bits(0x7fc0_0000);
    let mut flags = 0;
    check(SINGLE.mul(zero, infinity, NearestEven, &mut flags), flags, nan, INVALID);
    let mut flags = 0;
    check(SINGLE.sqrt(single(-1.0), NearestEven, &mut flags), flags, nan, INVALID);
    let mut flags = 0;
    check(
        SINGLE.div(single(1.0), zero, NearestEven, &mut flags),
        flags,
        f32::INFINITY,
        DIVIDE_BY_ZERO,
    );
    // Even beside a quiet NaN.
    let mut flags = 0;
    check(SINGLE.fused(zero, infinity, SINGLE.nan(), NearestEven, &mut flags), flags, nan, INVALID);
}

#[test]
fn a_fused_product_is_rounded_once() {
    let a = single(1.0 + f32::EPSILON);
    let c = single(-1.0 - 2.0 * f32::EPSILON);
    let mut flags = 0;
    check(SINGLE.fused(a, a, c, NearestEven, &mut flags), flags, f32::EPSILON * f32::EPSILON, 0);
}

#[test]
fn integers_saturate() {
    let to = |value: f32, range, mode| {
        let mut flags = 0;
        (SINGLE.to_integer(single(value), range, mode, &mut flags), flags)
    };
    let int = (i64::from(i32::MIN), i64::from(i32::MAX));
    let uint = (0, i64::from(u32::MAX));
    assert_eq!(to(-1.5, int, NearestEven), (-2, INEXACT));
    assert_eq!(to(-1.5, int, TowardZero), (-1, INEXACT));
    assert_eq!(to(2.5, int, NearestEven), (2, INEXACT));
    assert_eq!(to(2.5, int, NearestAway), (3, INEXACT));
    assert_eq!(to(3e9, int, NearestEven), (int.1, INVALID));
    assert_eq!(to(1e38, int, NearestEven), (int.1, INVALID));
    assert_eq!(to(3e9, uint, NearestEven), (3_000_000_000, 0));
    assert_eq!(to(-0.5, uint, TowardZero), (0, INEXACT));
    assert_eq!(to(-1.0, uint, NearestEven), (0, INVALID));
    assert_eq!(to(f32::NAN, int, NearestEven), (int.1, INVALID));
}
