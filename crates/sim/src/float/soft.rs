//! Exact arithmetic on the bits of floating-point numbers.
//!
//! A number is taken apart into a whole number and a power of two; the operation is done exactly, or with a mark
//! that something was left over; [`Format::pack`] rounds once, at the end. Tininess is found after rounding.

use super::{DIVIDE_BY_ZERO, INEXACT, INVALID, OVERFLOW, Rounding, UNDERFLOW};

/// A binary format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Bits behind the point.
    fraction: u32,
    exponent: u32,
}

/// 32 bits.
pub(crate) const SINGLE: Format = Format { fraction: 23, exponent: 8 };
/// 64 bits.
pub(crate) const DOUBLE: Format = Format { fraction: 52, exponent: 11 };

/// A number taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Nan {
        is_signaling: bool,
    },
    Infinity {
        negative: bool,
    },
    /// `magnitude * 2^scale`, plus a little where `is_more`.
    Finite(Finite),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Finite {
    negative: bool,
    scale: i32,
    magnitude: u128,
    is_more: bool,
}

impl Finite {
    fn new(negative: bool, scale: i32, magnitude: u128) -> Finite {
        Finite { negative, scale, magnitude, is_more: false }
    }

    /// The same with its first bit at a place that leaves room for a carry.
    fn normal(self) -> Finite {
        let shift = self.magnitude.leading_zeros().saturating_sub(2);
        if self.magnitude == 0 {
            return self;
        }
        Finite {
            scale: self.scale - shift.cast_signed(),
            magnitude: self.magnitude << shift,
            ..self
        }
    }

    fn is_zero(self) -> bool {
        self.magnitude == 0
    }

    /// The sum of two that are exact; the sign of a sum that cancels depends on the rounding.
    fn add(self, other: Finite, rounding: Rounding) -> Finite {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => {
                let negative = match (self.negative, other.negative) {
                    (true, true) => true,
                    (false, false) => false,
                    (true, false) | (false, true) => rounding == Rounding::Down,
                };
                return Finite { negative, ..self };
            }
            (true, false) => return other,
            (false, true) => return self,
            (false, false) => {}
        }
        let (a, b) = (self.normal(), other.normal());
        let (large, small) =
            if (a.scale, a.magnitude) >= (b.scale, b.magnitude) { (a, b) } else { (b, a) };
        let (addend, is_more) =
            shift_right(small.magnitude, (large.scale - small.scale).cast_unsigned());
        let magnitude = match large.negative == small.negative {
            true => large.magnitude + addend,
            // What was shifted out is taken away too: one less, and something more.
            false => large.magnitude - addend - u128::from(is_more),
        };
        let cancels = magnitude == 0 && !is_more;
        let negative = if cancels { rounding == Rounding::Down } else { large.negative };
        Finite { negative, scale: large.scale, magnitude, is_more }
    }
}

/// Shifts, and says whether ones were lost.
fn shift_right(value: u128, by: u32) -> (u128, bool) {
    if by >= 128 {
        return (0, value != 0);
    }
    (value >> by, value & ((1 << by) - 1) != 0)
}

/// Rounds away the lowest `by` bits: the whole part, and whether anything was lost.
fn round(value: Finite, by: i32, rounding: Rounding) -> (u128, bool) {
    if by <= 0 {
        return (value.magnitude << by.unsigned_abs().min(127), value.is_more);
    }
    let by = by.unsigned_abs();
    let (whole, mut is_more) = shift_right(value.magnitude, by);
    let (doubled, below_half) = shift_right(value.magnitude, by - 1);
    let half = doubled & 1 == 1;
    let beyond_half = half && (below_half || value.is_more);
    is_more |= value.is_more;
    let up = match rounding {
        Rounding::NearestEven => beyond_half || half && whole & 1 == 1,
        Rounding::NearestAway => half,
        Rounding::TowardZero => false,
        Rounding::Down => is_more && value.negative,
        Rounding::Up => is_more && !value.negative,
    };
    (whole + u128::from(up), is_more)
}

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Bits of the exponent, all ones.
    fn special(self) -> u64 {
        (1 << self.exponent) - 1
    }

    fn sign(self, negative: bool) -> u64 {
        u64::from(negative) << (self.fraction + self.exponent)
    }

    fn infinity(self, negative: bool) -> u64 {
        self.sign(negative) | self.special() << self.fraction
    }

    /// The one NaN that operations give.
    pub(crate) fn nan(self) -> u64 {
        self.infinity(false) | 1 << (self.fraction - 1)
    }

    fn is_negative(self, bits: u64) -> bool {
        bits >> (self.fraction + self.exponent) & 1 == 1
    }

    fn unpack(self, bits: u64) -> Number {
        let negative = self.is_negative(bits);
        let exponent = bits >> self.fraction & self.special();
        let fraction = bits & ((1 << self.fraction) - 1);
        let lowest = 1 - self.bias() - self.fraction.cast_signed();
        if exponent == self.special() {
            return match fraction {
                0 => Number::Infinity { negative },
                _ => Number::Nan { is_signaling: fraction >> (self.fraction - 1) == 0 },
            };
        }
        let (scale, magnitude) = match exponent {
            0 => (lowest, fraction),
            _ => (lowest + exponent as i32 - 1, fraction | 1 << self.fraction),
        };
        Number::Finite(Finite::new(negative, scale, u128::from(magnitude)))
    }

    /// The nearest number of this format.
    fn pack(self, value: Finite, rounding: Rounding, flags: &mut u32) -> u64 {
        if value.magnitude == 0 && !value.is_more {
            return self.sign(value.negative);
        }
        let precision = self.fraction.cast_signed() + 1;
        let length = 128 - value.magnitude.leading_zeros().cast_signed();
        let first = value.scale + length - 1;
        let smallest = 1 - self.bias();
        let last = first.max(smallest) - (precision - 1);
        let (mut whole, is_inexact) = round(value, last - value.scale, rounding);
        let mut last = last;
        if whole >> precision != 0 {
            whole >>= 1;
            last += 1;
        }
        if is_inexact {
            *flags |= INEXACT;
            let full = || round(value, first - (precision - 1) - value.scale, rounding).0;
            // Rounded as if exponents had no end, is it still below the smallest normal number?
            let is_tiny = first < smallest - 1 || first == smallest - 1 && full() >> precision == 0;
            if is_tiny {
                *flags |= UNDERFLOW;
            }
        }
        let sign = self.sign(value.negative);
        if whole >> (precision - 1) == 0 {
            return sign | whole as u64;
        }
        let exponent = last + precision - 1 + self.bias();
        if i64::from(exponent) >= self.special().cast_signed() {
            *flags |= OVERFLOW | INEXACT;
            let is_infinite = match rounding {
                Rounding::NearestEven | Rounding::NearestAway => true,
                Rounding::TowardZero => false,
                Rounding::Down => value.negative,
                Rounding::Up => !value.negative,
            };
            let infinity = self.infinity(value.negative);
            return if is_infinite { infinity } else { infinity - 1 };
        }
        let fraction = whole as u64 & ((1 << self.fraction) - 1);
        sign | u64::from(exponent.cast_unsigned()) << self.fraction | fraction
    }

    /// What an operation gives that has a NaN among its operands.
    fn propagate(self, operands: &[Number], flags: &mut u32) -> u64 {
        if operands.iter().any(|it| matches!(it, Number::Nan { is_signaling: true })) {
            *flags |= INVALID;
        }
        self.nan()
    }

    fn invalid(self, flags: &mut u32) -> u64 {
        *flags |= INVALID;
        self.nan()
    }

    pub(crate) fn negate(self, bits: u64) -> u64 {
        bits ^ self.sign(true)
    }

    pub(crate) fn add(self, a: u64, b: u64, rounding: Rounding, flags: &mut u32) -> u64 {
        use Number::{Finite, Infinity, Nan};
        let (x, y) = (self.unpack(a), self.unpack(b));
        match (x, y) {
            (Nan { .. }, _) | (_, Nan { .. }) => self.propagate(&[x, y], flags),
            (Infinity { negative }, Infinity { negative: other }) if negative != other => {
                self.invalid(flags)
            }
            (Infinity { negative }, _) | (_, Infinity { negative }) => self.infinity(negative),
            (Finite(x), Finite(y)) => self.pack(x.add(y, rounding), rounding, flags),
        }
    }

    pub(crate) fn mul(self, a: u64, b: u64, rounding: Rounding, flags: &mut u32) -> u64 {
        match self.product(a, b, flags) {
            Ok(product) => self.pack(product, rounding, flags),
            Err(Number::Infinity { negative }) => self.infinity(negative),
            Err(Number::Nan { .. } | Number::Finite(_)) => self.nan(),
        }
    }

    /// The exact product, or what it is if not finite.
    fn product(self, a: u64, b: u64, flags: &mut u32) -> Result<Finite, Number> {
        let (x, y) = (self.unpack(a), self.unpack(b));
        let negative = self.is_negative(a) != self.is_negative(b);
        match (x, y) {
            (Number::Nan { .. }, _) | (_, Number::Nan { .. }) => {
                self.propagate(&[x, y], flags);
                Err(Number::Nan { is_signaling: false })
            }
            (Number::Infinity { .. }, Number::Finite(it))
            | (Number::Finite(it), Number::Infinity { .. })
                if it.is_zero() =>
            {
                self.invalid(flags);
                Err(Number::Nan { is_signaling: false })
            }
            (Number::Infinity { .. }, _) | (_, Number::Infinity { .. }) => {
                Err(Number::Infinity { negative })
            }
            (Number::Finite(x), Number::Finite(y)) => {
                Ok(Finite::new(negative, x.scale + y.scale, x.magnitude * y.magnitude))
            }
        }
    }

    /// `a * b + c`, rounded once.
    pub(crate) fn fused(self, a: u64, b: u64, c: u64, rounding: Rounding, flags: &mut u32) -> u64 {
        let product = self.product(a, b, flags);
        let z = self.unpack(c);
        match (product, z) {
            (_, Number::Nan { .. }) => self.propagate(&[z], flags),
            (Err(Number::Infinity { negative }), Number::Infinity { negative: other })
                if negative != other =>
            {
                self.invalid(flags)
            }
            (Err(Number::Infinity { negative }), _) => self.infinity(negative),
            (Err(Number::Nan { .. } | Number::Finite(_)), _) => self.nan(),
            (Ok(_), Number::Infinity { negative }) => self.infinity(negative),
            (Ok(product), Number::Finite(z)) => {
                self.pack(product.add(z, rounding), rounding, flags)
            }
        }
    }

    pub(crate) fn div(self, a: u64, b: u64, rounding: Rounding, flags: &mut u32) -> u64 {
        use Number::{Finite, Infinity, Nan};
        let (x, y) = (self.unpack(a), self.unpack(b));
        let negative = self.is_negative(a) != self.is_negative(b);
        match (x, y) {
            (Nan { .. }, _) | (_, Nan { .. }) => self.propagate(&[x, y], flags),
            (Infinity { .. }, Infinity { .. }) => self.invalid(flags),
            (Infinity { .. }, Finite(_)) => self.infinity(negative),
            (Finite(_), Infinity { .. }) => self.sign(negative),
            (Finite(x), Finite(y)) => {
                if y.is_zero() {
                    if x.is_zero() {
                        return self.invalid(flags);
                    }
                    *flags |= DIVIDE_BY_ZERO;
                    return self.infinity(negative);
                }
                if x.is_zero() {
                    return self.sign(negative);
                }
                let x = x.normal();
                let quotient = self::Finite {
                    negative,
                    scale: x.scale - y.scale,
                    magnitude: x.magnitude / y.magnitude,
                    is_more: x.magnitude % y.magnitude != 0,
                };
                self.pack(quotient, rounding, flags)
            }
        }
    }

    pub(crate) fn sqrt(self, a: u64, rounding: Rounding, flags: &mut u32) -> u64 {
        let x = self.unpack(a);
        match x {
            Number::Nan { .. } => self.propagate(&[x], flags),
            Number::Infinity { negative: false } => a,
            Number::Infinity { negative: true } => self.invalid(flags),
            Number::Finite(x) if x.is_zero() => a,
            Number::Finite(x) if x.negative => self.invalid(flags),
            Number::Finite(x) => {
                let x = x.normal();
                let odd = x.scale & 1;
                let radicand = x.magnitude << odd;
                let root = radicand.isqrt();
                let root = Finite {
                    negative: false,
                    scale: (x.scale - odd) / 2,
                    magnitude: root,
                    is_more: root * root != radicand,
                };
                self.pack(root, rounding, flags)
            }
        }
    }

    /// The smaller, or the larger: -0 is below 0, and a NaN loses.
    pub(crate) fn select(self, a: u64, b: u64, larger: bool, flags: &mut u32) -> u64 {
        let (x, y) = (self.unpack(a), self.unpack(b));
        let is_nan = |it| matches!(it, Number::Nan { .. });
        match (is_nan(x), is_nan(y)) {
            (true, true) => self.propagate(&[x, y], flags),
            (true, false) => {
                self.propagate(&[x], flags);
                b
            }
            (false, true) => {
                self.propagate(&[y], flags);
                a
            }
            (false, false) => {
                let a_is_below = self.order(a) <= self.order(b);
                if a_is_below != larger { a } else { b }
            }
        }
    }

    /// Grows with the number; not for NaN.
    fn order(self, bits: u64) -> i64 {
        let magnitude = (bits & !self.sign(true)).cast_signed();
        if self.is_negative(bits) { -1 - magnitude } else { magnitude }
    }

    fn is_zero(self, bits: u64) -> bool {
        bits & !self.sign(true) == 0
    }

    /// How `a` stands to `b`; `None` if one is a NaN. A quiet one is invalid only `if_ordered`.
    pub(crate) fn compare(
        self,
        a: u64,
        b: u64,
        if_ordered: bool,
        flags: &mut u32,
    ) -> Option<std::cmp::Ordering> {
        let (x, y) = (self.unpack(a), self.unpack(b));
        let is_nan = |it| matches!(it, Number::Nan { .. });
        if is_nan(x) || is_nan(y) {
            self.propagate(&[x, y], flags);
            if if_ordered {
                *flags |= INVALID;
            }
            return None;
        }
        if self.is_zero(a) && self.is_zero(b) {
            return Some(std::cmp::Ordering::Equal);
        }
        Some(self.order(a).cmp(&self.order(b)))
    }

    /// The ten classes, a bit each.
    pub(crate) fn class(self, bits: u64) -> u32 {
        let negative = self.is_negative(bits);
        let class = match self.unpack(bits) {
            Number::Nan { is_signaling: true } => return 1 << 8,
            Number::Nan { is_signaling: false } => return 1 << 9,
            Number::Infinity { .. } => 0,
            Number::Finite(it) if it.is_zero() => 3,
            Number::Finite(it) if it.magnitude >> self.fraction == 0 => 2,
            Number::Finite(_) => 1,
        };
        if negative { 1 << class } else { 1 << (7 - class) }
    }

    /// A whole number from `low` to `high`; what is beyond becomes the nearer of them.
    pub(crate) fn to_integer(
        self,
        bits: u64,
        (low, high): (i64, i64),
        rounding: Rounding,
        flags: &mut u32,
    ) -> i64 {
        let mut out_of_range = |value| {
            *flags |= INVALID;
            value
        };
        let value = match self.unpack(bits) {
            Number::Nan { .. } => return out_of_range(high),
            Number::Infinity { negative } => {
                return out_of_range(if negative { low } else { high });
            }
            Number::Finite(value) => value,
        };
        // Beyond this no format has bits behind the point, and no integer here has so many.
        if !value.is_zero() && value.scale > 64 {
            return out_of_range(if value.negative { low } else { high });
        }
        let (whole, is_inexact) = round(value, -value.scale, rounding);
        let whole = i128::try_from(whole).unwrap_or(i128::MAX);
        let signed = if value.negative { -whole } else { whole };
        match i64::try_from(signed) {
            Ok(it) if (low..=high).contains(&it) => {
                if is_inexact {
                    *flags |= INEXACT;
                }
                it
            }
            Ok(_) | Err(_) => out_of_range(if value.negative { low } else { high }),
        }
    }

    pub(crate) fn integer(self, value: i64, rounding: Rounding, flags: &mut u32) -> u64 {
        let magnitude = u128::from(value.unsigned_abs());
        self.pack(Finite::new(value < 0, 0, magnitude), rounding, flags)
    }

    /// The nearest number of this format to one of another.
    pub(crate) fn convert(
        self,
        from: Format,
        bits: u64,
        rounding: Rounding,
        flags: &mut u32,
    ) -> u64 {
        let number = from.unpack(bits);
        match number {
            Number::Nan { .. } => self.propagate(&[number], flags),
            Number::Infinity { negative } => self.infinity(negative),
            Number::Finite(value) => self.pack(value, rounding, flags),
        }
    }

    /// `magnitude` with the sign of `sign`.
    pub(crate) fn with_sign(self, magnitude: u64, sign: u64) -> u64 {
        magnitude & !self.sign(true) | sign & self.sign(true)
    }
}

#[cfg(test)]
mod tests;
