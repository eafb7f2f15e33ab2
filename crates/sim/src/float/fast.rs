//! The host's arithmetic, where it gives the same bits and the flags can be told from the numbers alone.
//!
//! Only for rounding to the nearest even number. Single precision is computed in double precision, which holds sums
//! and products of two exactly, or tells what it lost. `None` means: ask [`super::soft`].

use super::INEXACT;

/// A result and its flags.
type Answer = Option<(f32, u32)>;

/// Takes `value` for an answer if no flag but [`INEXACT`] can be due.
#[inline(always)]
fn settle(value: f32, is_exact: bool) -> Answer {
    let is_plain = value.abs() > f32::MIN_POSITIVE && value.is_finite();
    match (is_exact, is_plain) {
        (true, _) if value.is_finite() => Some((value, 0)),
        (false, true) => Some((value, INEXACT)),
        (true | false, _) => None,
    }
}

/// What a sum of two lost.
#[inline(always)]
fn lost(a: f64, b: f64, sum: f64) -> f64 {
    let second = sum - a;
    (a - (sum - second)) + (b - second)
}

#[inline(always)]
pub(crate) fn add(a: f32, b: f32) -> Answer {
    let (a, b) = (f64::from(a), f64::from(b));
    let sum = a + b;
    // Rounding twice does no harm: a double has more than twice the bits of a single, and two.
    let value = sum as f32;
    settle(value, f64::from(value) == sum && lost(a, b, sum) == 0.0)
}

#[inline(always)]
pub(crate) fn mul(a: f32, b: f32) -> Answer {
    let product = f64::from(a) * f64::from(b);
    let value = product as f32;
    settle(value, f64::from(value) == product)
}

#[inline(always)]
pub(crate) fn fused(a: f32, b: f32, c: f32) -> Answer {
    let product = f64::from(a) * f64::from(b);
    let c = f64::from(c);
    let sum = product + c;
    let error = lost(product, c, sum);
    if error == 0.0 {
        let value = sum as f32;
        return settle(value, f64::from(value) == sum);
    }
    // Here rounding twice could do harm: of the two doubles around the sum, the odd one keeps
    // the second rounding on its side.
    let is_odd = sum.to_bits() & 1 == 1;
    let away_from_zero = (error > 0.0) == (sum > 0.0);
    let bits = match (is_odd, away_from_zero) {
        (true, _) => sum.to_bits(),
        (false, true) => sum.to_bits().wrapping_add(1),
        (false, false) => sum.to_bits().wrapping_sub(1),
    };
    if error.is_nan() {
        return None;
    }
    settle(f64::from_bits(bits) as f32, false)
}

#[inline(always)]
pub(crate) fn div(a: f32, b: f32) -> Answer {
    if b == 0.0 || !b.is_finite() {
        return None;
    }
    let value = (f64::from(a) / f64::from(b)) as f32;
    settle(value, f64::from(value) * f64::from(b) == f64::from(a))
}

#[inline(always)]
pub(crate) fn sqrt(a: f32) -> Answer {
    let value = f64::from(a).sqrt() as f32;
    settle(value, f64::from(value) * f64::from(value) == f64::from(a))
}

/// Far from both ends, so that nothing that is looked at below is rounded itself.
#[inline(always)]
fn is_ordinary(value: f64) -> bool {
    value.abs() < 1e140 && value.abs() > 1e-140
}

#[inline(always)]
fn is_ordinary_or_zero(value: f64) -> bool {
    is_ordinary(value) || value == 0.0
}

/// The same for double precision, where what is lost has to be worked out.
#[inline(always)]
pub(crate) fn add_double(a: f64, b: f64) -> Option<(f64, u32)> {
    let sum = a + b;
    if !is_ordinary(sum) || !is_ordinary_or_zero(a) || !is_ordinary_or_zero(b) {
        return None;
    }
    Some((sum, if lost(a, b, sum) == 0.0 { 0 } else { INEXACT }))
}

#[inline(always)]
pub(crate) fn mul_double(a: f64, b: f64) -> Option<(f64, u32)> {
    if !is_ordinary(a) || !is_ordinary(b) {
        return None;
    }
    let product = a * b;
    let is_exact = a.mul_add(b, -product) == 0.0;
    Some((product, if is_exact { 0 } else { INEXACT }))
}

#[inline(always)]
pub(crate) fn fused_double(a: f64, b: f64, c: f64) -> Option<(f64, u32)> {
    let value = a.mul_add(b, c);
    if ![a, b, value].into_iter().all(is_ordinary) || !is_ordinary_or_zero(c) {
        return None;
    }
    // What the exact result has more than `value`, as a sum of few numbers.
    let product = a * b;
    let product_lost = a.mul_add(b, -product);
    let sum = product + c;
    let sum_lost = lost(product, c, sum);
    let difference = sum - value;
    let difference_lost = lost(sum, -value, difference);
    let small = sum_lost + product_lost;
    let small_lost = lost(sum_lost, product_lost, small);
    let rest = difference + small;
    let rest_lost = lost(difference, small, rest);
    let others = difference_lost.abs() + small_lost.abs() + rest_lost.abs();
    if others == 0.0 {
        return Some((value, if rest == 0.0 { 0 } else { INEXACT }));
    }
    // The others cannot make up for it.
    (rest.abs() > 2.0 * others).then_some((value, INEXACT))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Rounding::NearestEven;
    use super::super::soft::{DOUBLE, SINGLE};
    use super::*;

    /// Numbers of like size, so that sums cancel and carry, and any bits at all.
    fn number() -> impl Strategy<Value = f32> {
        let near = (any::<u32>(), 0u32..6, 0u32..24).prop_map(|(bits, exponent, zeros)| {
            f32::from_bits(bits >> zeros << zeros & 0x807f_ffff | (125 + exponent) << 23)
        });
        prop_oneof![near, any::<u32>().prop_map(f32::from_bits)]
    }

    fn agrees(answer: Answer, bits: u64, flags: u32) -> Result<(), TestCaseError> {
        if let Some((value, fast_flags)) = answer {
            prop_assert_eq!(u64::from(value.to_bits()), bits);
            prop_assert_eq!(fast_flags, flags);
        }
        Ok(())
    }

    fn agrees_double(
        answer: Option<(f64, u32)>,
        bits: u64,
        flags: u32,
    ) -> Result<(), TestCaseError> {
        if let Some((value, fast_flags)) = answer {
            prop_assert_eq!(value.to_bits(), bits);
            prop_assert_eq!(fast_flags, flags);
        }
        Ok(())
    }

    /// Few bits and many, near one and far away.
    fn double() -> impl Strategy<Value = f64> {
        let near = (any::<u64>(), 0u64..120, 0u32..53).prop_map(|(bits, exponent, zeros)| {
            f64::from_bits(bits >> zeros << zeros & 0x800f_ffff_ffff_ffff | (963 + exponent) << 52)
        });
        prop_oneof![4 => near, 1 => any::<u64>().prop_map(f64::from_bits)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn the_host_gives_what_whole_numbers_give(a in number(), b in number(), c in number()) {
            let bits = |it: f32| u64::from(it.to_bits());
            let mut flags = 0;
            let sum = SINGLE.add(bits(a), bits(b), NearestEven, &mut flags);
            agrees(add(a, b), sum, flags)?;
            let mut flags = 0;
            let product = SINGLE.mul(bits(a), bits(b), NearestEven, &mut flags);
            agrees(mul(a, b), product, flags)?;
            let mut flags = 0;
            let quotient = SINGLE.div(bits(a), bits(b), NearestEven, &mut flags);
            agrees(div(a, b), quotient, flags)?;
            let mut flags = 0;
            let root = SINGLE.sqrt(bits(a), NearestEven, &mut flags);
            agrees(sqrt(a), root, flags)?;
            let mut flags = 0;
            let both = SINGLE.fused(bits(a), bits(b), bits(c), NearestEven, &mut flags);
            agrees(fused(a, b, c), both, flags)?;
        }

        #[test]
        fn sums_in_double_precision_agree(a in any::<f64>(), b in any::<f64>(), near in any::<u64>()) {
            for b in [b, f64::from_bits(near & !(0x7ff << 52) | a.to_bits() & 0x7ff << 52)] {
                let mut flags = 0;
                let sum = DOUBLE.add(a.to_bits(), b.to_bits(), NearestEven, &mut flags);
                agrees_double(add_double(a, b), sum, flags)?;
            }
        }

        #[test]
        fn products_in_double_precision_agree(a in double(), b in double(), c in double()) {
            let bits = f64::to_bits;
            let mut flags = 0;
            let product = DOUBLE.mul(bits(a), bits(b), NearestEven, &mut flags);
            agrees_double(mul_double(a, b), product, flags)?;
            // A sum of its own, and one that cancels most of the product.
            for c in [c, -a * b, c * (a * b)] {
                let mut flags = 0;
                let both = DOUBLE.fused(bits(a), bits(b), bits(c), NearestEven, &mut flags);
                agrees_double(fused_double(a, b, c), both, flags)?;
            }
        }
    }

    #[test]
    fn ordinary_numbers_are_the_hosts() {
        assert_eq!(add(1.5, 2.25), Some((3.75, 0)));
        assert_eq!(mul(0.1, 0.1), Some((0.1 * 0.1, INEXACT)));
        assert_eq!(add(f32::MAX, f32::MAX), None, "overflow has flags of its own");
        assert_eq!(mul(f32::MIN_POSITIVE, 0.3), None, "and so has underflow");
        assert_eq!(mul_double(0.1, 0.1), Some((0.1 * 0.1, INEXACT)));
        assert_eq!(fused_double(1.5, 2.0, 0.25), Some((3.25, 0)));
        assert_eq!(fused_double(0.1, 0.1, 0.1), Some((0.1_f64.mul_add(0.1, 0.1), INEXACT)));
    }
}
