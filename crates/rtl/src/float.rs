//! Operators on floating-point numbers of IEEE 754 as circuits.
//!
//! Results are rounded to nearest, ties to even; subnormal numbers are numbers like others. A result that is no number is
//! the quiet NaN without a payload. Conversions to integers cut; what does not fit becomes the nearest integer there is.

use crate::circuit::{Circuit, Wire, ones};

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the fraction.
    pub fraction: u32,
}

/// `float`
pub const SINGLE: Format = Format { exponent: 8, fraction: 23 };
/// `double`
pub const DOUBLE: Format = Format { exponent: 11, fraction: 52 };

impl Format {
    fn bits(self) -> u32 {
        1 + self.exponent + self.fraction
    }

    /// Bits of a significand.
    fn precision(self) -> u32 {
        self.fraction + 1
    }

    fn bias(self) -> u128 {
        ones(self.exponent - 1)
    }

    fn nan(self) -> u128 {
        ones(self.exponent + 1) << (self.fraction - 1)
    }

    fn infinity(self) -> u128 {
        ones(self.exponent) << self.fraction
    }
}

/// A number taken apart.
#[derive(Clone, Copy)]
struct Parts {
    sign: Wire,
    /// Of the highest bit of `digits`, with the bias.
    exponent: Wire,
    digits: Wire,
    /// Exponent and fraction as they are stored.
    size: Wire,
    is_nan: Wire,
    is_infinite: Wire,
    is_zero: Wire,
}

/// A circuit for a format that is being made.
struct Maker {
    c: Circuit,
    f: Format,
    /// Bits in which exponents are computed, with a sign.
    work: u32,
}

impl Maker {
    fn new(f: Format) -> Maker {
        Maker { c: Circuit::default(), f, work: f.exponent + 4 }
    }

    fn number(&mut self, value: u128) -> Wire {
        self.c.constant(value, self.work)
    }

    fn apart(&mut self, word: Wire) -> Parts {
        let (f, work, c) = (self.f, self.work, &mut self.c);
        let sign = c.slice(word, f.bits() - 1, 1);
        let stored = c.slice(word, f.fraction, f.exponent);
        let fraction = c.slice(word, 0, f.fraction);
        let size = c.slice(word, 0, f.bits() - 1);
        let has_fraction = c.any(fraction);
        let has_exponent = c.any(stored);
        let full = c.constant(ones(f.exponent), f.exponent);
        let is_full = c.equal(stored, full);
        let is_nan = c.and(is_full, has_fraction);
        let no_fraction = c.not(has_fraction);
        let is_infinite = c.and(is_full, no_fraction);
        let has_size = c.any(size);
        let is_zero = c.not(has_size);
        // Without the leading one the exponent is that of the least number with one.
        let is_small = c.not(has_exponent);
        let least = c.wide(is_small, f.exponent);
        let exponent = c.or(stored, least);
        let exponent = c.wide(exponent, work);
        let digits = c.join(has_exponent, fraction);
        Parts { sign, exponent, digits, size, is_nan, is_infinite, is_zero }
    }

    /// With a one on top, if it is not zero.
    fn normal(&mut self, parts: Parts) -> Parts {
        let (digits, by) = self.c.normal(parts.digits, self.work);
        let exponent = self.c.sub(parts.exponent, by);
        Parts { exponent, digits, ..parts }
    }

    fn is_negative(&mut self, exponent: Wire) -> Wire {
        self.c.slice(exponent, self.work - 1, 1)
    }

    /// A number of a sign, an exponent of the highest digit, and digits with a one on top or none at all.
    fn rounded(&mut self, sign: Wire, exponent: Wire, digits: Wire) -> Wire {
        let (f, width) = (self.f, self.c.width(digits));
        let (one, zero) = (self.number(1), self.number(0));
        // Too small for a leading one: the digits move down to the least exponent.
        let lack = self.c.sub(one, exponent);
        let is_more = self.is_negative(lack);
        let has_lack = self.c.any(lack);
        let not_more = self.c.not(is_more);
        let is_small = self.c.and(not_more, has_lack);
        let by = self.c.mux(is_small, lack, zero);
        let moved = self.c.sticky_right(digits, by);
        let below = self.c.sub(exponent, one);
        let base = self.c.mux(is_small, zero, below);
        let base = self.c.slice(base, 0, f.exponent);
        let c = &mut self.c;
        let kept = c.slice(moved, width - f.precision(), f.precision());
        let guard = c.slice(moved, width - f.precision() - 1, 1);
        let rest = c.slice(moved, 0, width - f.precision() - 1);
        let has_rest = c.any(rest);
        let last = c.slice(kept, 0, 1);
        let tie = c.or(has_rest, last);
        let up = c.and(guard, tie);
        // The leading one adds one to the exponent, and so does a carry.
        let base = c.raised(base, f.fraction);
        let kept = c.wide(kept, f.bits() - 1);
        let up = c.wide(up, f.bits() - 1);
        let sum = c.add(base, kept);
        let sum = c.add(sum, up);
        let most = self.number(ones(f.exponent));
        let room = self.c.sub(exponent, most);
        let fits = self.is_negative(room);
        let infinite = self.c.constant(f.infinity(), f.bits() - 1);
        let size = self.c.mux(fits, sum, infinite);
        // Without digits there is no exponent.
        let has_digits = self.c.any(digits);
        let none = self.c.constant(0, f.bits() - 1);
        let size = self.c.mux(has_digits, size, none);
        self.c.join(sign, size)
    }

    fn nan(&mut self) -> Wire {
        self.c.constant(self.f.nan(), self.f.bits())
    }

    fn infinite(&mut self, sign: Wire) -> Wire {
        let size = self.c.constant(self.f.infinity(), self.f.bits() - 1);
        self.c.join(sign, size)
    }

    fn zero(&mut self, sign: Wire) -> Wire {
        let size = self.c.constant(0, self.f.bits() - 1);
        self.c.join(sign, size)
    }

    /// The sum of two numbers with digits of one width.
    fn sum(&mut self, a: Parts, b: Parts) -> Wire {
        let width = self.c.width(a.digits);
        // Where a sign is needed, exponents get one bit turned: an order without sign.
        let top = self.number(1 << (self.work - 1));
        let key = |it: &mut Maker, part: Parts| {
            let turned = it.c.xor(part.exponent, top);
            it.c.join(turned, part.digits)
        };
        let (key_a, key_b) = (key(self, a), key(self, b));
        let is_less = self.c.less(key_a, key_b);
        let c = &mut self.c;
        let big = c.mux(is_less, b.digits, a.digits);
        let small = c.mux(is_less, a.digits, b.digits);
        let big_exponent = c.mux(is_less, b.exponent, a.exponent);
        let small_exponent = c.mux(is_less, a.exponent, b.exponent);
        let sign = c.mux(is_less, b.sign, a.sign);
        let apart = c.sub(big_exponent, small_exponent);
        // A carry above, and three digits below of which the last tells of all that is lost.
        let big = c.raised(big, 3);
        let small = c.raised(small, 3);
        let small = c.sticky_right(small, apart);
        let big = c.wide(big, width + 4);
        let small = c.wide(small, width + 4);
        let differs = c.xor(a.sign, b.sign);
        let plus = c.add(big, small);
        let minus = c.sub(big, small);
        let digits = c.mux(differs, minus, plus);
        let (digits, by) = c.normal(digits, self.work);
        let one = self.number(1);
        let exponent = self.c.add(big_exponent, one);
        let exponent = self.c.sub(exponent, by);
        // What is nothing is minus nothing only if both are.
        let is_there = self.c.any(digits);
        let both = self.c.and(a.sign, b.sign);
        let sign = self.c.mux(is_there, sign, both);
        let sum = self.rounded(sign, exponent, digits);
        let any = self.c.or(a.is_infinite, b.is_infinite);
        let both = self.c.and(a.is_infinite, b.is_infinite);
        let against = self.c.and(both, differs);
        let sign = self.c.mux(a.is_infinite, a.sign, b.sign);
        let infinite = self.infinite(sign);
        let sum = self.c.mux(any, infinite, sum);
        let is_nan = self.c.or(a.is_nan, b.is_nan);
        let is_nan = self.c.or(is_nan, against);
        let nan = self.nan();
        self.c.mux(is_nan, nan, sum)
    }

    /// A product with all its digits.
    fn product(&mut self, a: Parts, b: Parts) -> Parts {
        let (a, b) = (self.normal(a), self.normal(b));
        let sign = self.c.xor(a.sign, b.sign);
        let digits = self.c.mul(a.digits, b.digits);
        let exponent = self.c.add(a.exponent, b.exponent);
        let less = self.number(self.f.bias() - 1);
        let exponent = self.c.sub(exponent, less);
        // The highest digit may be a zero.
        let (width, one) = (self.c.width(digits), self.number(1));
        let top = self.c.slice(digits, width - 1, 1);
        let by = self.c.constant(1, 1);
        let raised = self.c.left(digits, by);
        let lower = self.c.sub(exponent, one);
        let digits = self.c.mux(top, digits, raised);
        let exponent = self.c.mux(top, exponent, lower);
        let is_infinite = self.c.or(a.is_infinite, b.is_infinite);
        let is_zero = self.c.or(a.is_zero, b.is_zero);
        let is_wrong = self.c.and(is_infinite, is_zero);
        let is_nan = self.c.or(a.is_nan, b.is_nan);
        let is_nan = self.c.or(is_nan, is_wrong);
        // Nothing is smaller than all numbers.
        let least = self.number(0b11 << (self.work - 2));
        let exponent = self.c.mux(is_zero, least, exponent);
        Parts { sign, exponent, digits, is_nan, is_infinite, is_zero, size: a.size }
    }

    /// With what is not a number, infinite, or nothing.
    fn with_specials(&mut self, plain: Wire, it: Parts) -> Wire {
        let infinite = self.infinite(it.sign);
        let zero = self.zero(it.sign);
        let nan = self.nan();
        let value = self.c.mux(it.is_zero, zero, plain);
        let value = self.c.mux(it.is_infinite, infinite, value);
        self.c.mux(it.is_nan, nan, value)
    }
}

/// `a + b`, or `a - b`.
pub fn add(f: Format, is_difference: bool) -> Circuit {
    let mut m = Maker::new(f);
    let (a, b) = (m.c.input(f.bits()), m.c.input(f.bits()));
    let a = m.apart(a);
    let mut b = m.apart(b);
    if is_difference {
        b.sign = m.c.not(b.sign);
    }
    let sum = m.sum(a, b);
    m.c.giving(sum)
}

/// `a * b`
pub fn multiply(f: Format) -> Circuit {
    let mut m = Maker::new(f);
    let (a, b) = (m.c.input(f.bits()), m.c.input(f.bits()));
    let (a, b) = (m.apart(a), m.apart(b));
    let product = m.product(a, b);
    let plain = m.rounded(product.sign, product.exponent, product.digits);
    let value = m.with_specials(plain, product);
    m.c.giving(value)
}

/// `a * b + c`, rounded once.
pub fn fused(f: Format) -> Circuit {
    let mut m = Maker::new(f);
    let words = [m.c.input(f.bits()), m.c.input(f.bits()), m.c.input(f.bits())];
    let [a, b, c] = words.map(|it| m.apart(it));
    let product = m.product(a, b);
    let mut c = m.normal(c);
    c.digits = m.c.raised(c.digits, f.precision());
    // Nothing is smaller than all numbers.
    let least = m.number(0b11 << (m.work - 2));
    c.exponent = m.c.mux(c.is_zero, least, c.exponent);
    let zeros = m.c.constant(0, 2 * f.precision());
    let digits = m.c.mux(product.is_zero, zeros, product.digits);
    let sum = m.sum(Parts { digits, ..product }, c);
    m.c.giving(sum)
}

/// `a / b`
pub fn divide(f: Format) -> Circuit {
    let mut m = Maker::new(f);
    let (a, b) = (m.c.input(f.bits()), m.c.input(f.bits()));
    let (a, b) = (m.apart(a), m.apart(b));
    let (a, b) = (m.normal(a), m.normal(b));
    let sign = m.c.xor(a.sign, b.sign);
    // One digit of the quotient after the other; what is left in the end tells whether there are more.
    let width = f.precision() + 1;
    let by = m.c.wide(b.digits, width);
    let mut rest = m.c.wide(a.digits, width);
    let mut quotient: Option<Wire> = None;
    let one = m.c.constant(1, 1);
    for _ in 0..f.precision() + 2 {
        let is_less = m.c.less(rest, by);
        let digit = m.c.not(is_less);
        let less = m.c.sub(rest, by);
        let next = m.c.mux(is_less, rest, less);
        rest = m.c.left(next, one);
        quotient = Some(quotient.map_or(digit, |it| m.c.join(it, digit)));
    }
    let more = m.c.any(rest);
    let digits = quotient.map_or(more, |it| m.c.join(it, more));
    let exponent = m.c.sub(a.exponent, b.exponent);
    let bias = m.number(f.bias());
    let exponent = m.c.add(exponent, bias);
    let (digits, less) = m.c.normal(digits, m.work);
    let exponent = m.c.sub(exponent, less);
    let plain = m.rounded(sign, exponent, digits);
    let zeros = m.c.and(a.is_zero, b.is_zero);
    let infinities = m.c.and(a.is_infinite, b.is_infinite);
    let is_nan = m.c.or(a.is_nan, b.is_nan);
    let is_nan = m.c.or(is_nan, zeros);
    let is_nan = m.c.or(is_nan, infinities);
    let is_infinite = m.c.or(a.is_infinite, b.is_zero);
    let is_zero = m.c.or(a.is_zero, b.is_infinite);
    let value = m.with_specials(plain, Parts { sign, is_nan, is_infinite, is_zero, ..a });
    m.c.giving(value)
}

/// The square root.
pub fn sqrt(f: Format) -> Circuit {
    let mut m = Maker::new(f);
    let a = m.c.input(f.bits());
    let a = m.apart(a);
    let a = m.normal(a);
    let bias = m.number(f.bias());
    let exponent = m.c.sub(a.exponent, bias);
    let is_odd = m.c.slice(exponent, 0, 1);
    // Half of it, down.
    let half = m.c.slice(exponent, 1, m.work - 1);
    let sign = m.is_negative(exponent);
    let half = m.c.join(sign, half);
    let exponent = m.c.add(half, bias);
    let digits = f.precision() + 2;
    let below = 2 * digits - 1 - f.precision();
    let radicand = m.c.raised(a.digits, below);
    let radicand = m.c.wide(radicand, 2 * digits);
    let one = m.c.constant(1, 1);
    let twice = m.c.left(radicand, one);
    let radicand = m.c.mux(is_odd, twice, radicand);
    let width = digits + 2;
    let mut rest = m.c.constant(0, width);
    let mut root = m.c.constant(0, width);
    let two = m.c.constant(2, 2);
    for digit in 0..digits {
        let pair = m.c.slice(radicand, 2 * (digits - 1 - digit), 2);
        let pair = m.c.wide(pair, width);
        let more = m.c.left(rest, two);
        let more = m.c.or(more, pair);
        let trial = m.c.left(root, two);
        let least = m.c.constant(1, width);
        let trial = m.c.or(trial, least);
        let is_less = m.c.less(more, trial);
        let less = m.c.sub(more, trial);
        rest = m.c.mux(is_less, more, less);
        let moved = m.c.left(root, one);
        let raised = m.c.or(moved, least);
        root = m.c.mux(is_less, moved, raised);
    }
    let more = m.c.any(rest);
    let root = m.c.slice(root, 0, digits);
    let found = m.c.join(root, more);
    let plus = m.c.constant(0, 1);
    let plain = m.rounded(plus, exponent, found);
    let not_zero = m.c.not(a.is_zero);
    let is_wrong = m.c.and(a.sign, not_zero);
    let is_nan = m.c.or(a.is_nan, is_wrong);
    let value = m.with_specials(plain, Parts { is_nan, ..a });
    m.c.giving(value)
}

/// What two numbers are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `a < b`
    Less,
    /// `a <= b`
    LessOrEqual,
    /// `a == b`
    Equal,
}

/// A comparison: one bit.
pub fn compare(f: Format, order: Order) -> Circuit {
    let mut m = Maker::new(f);
    let (a, b) = (m.c.input(f.bits()), m.c.input(f.bits()));
    let (a, b) = (m.apart(a), m.apart(b));
    let c = &mut m.c;
    let same = c.equal(a.size, b.size);
    let differs = c.xor(a.sign, b.sign);
    let like = c.not(differs);
    let same = c.and(same, like);
    let zeros = c.and(a.is_zero, b.is_zero);
    let equal = c.or(same, zeros);
    // Of two with a sign the larger one is less.
    let below = c.less(a.size, b.size);
    let above = c.less(b.size, a.size);
    let ordered = c.mux(a.sign, above, below);
    let less = c.mux(differs, a.sign, ordered);
    let not_equal = c.not(equal);
    let less = c.and(less, not_equal);
    let value = match order {
        Order::Less => less,
        Order::LessOrEqual => c.or(less, equal),
        Order::Equal => equal,
    };
    let is_nan = c.or(a.is_nan, b.is_nan);
    let numbers = c.not(is_nan);
    let value = c.and(value, numbers);
    m.c.giving(value)
}

/// An integer of so many bits as a number.
pub fn from_integer(f: Format, bits: u32, is_signed: bool) -> Circuit {
    let mut m = Maker::new(f);
    let a = m.c.input(bits);
    let zero = m.c.constant(0, 1);
    let sign = if is_signed { m.c.slice(a, bits - 1, 1) } else { zero };
    let zeros = m.c.constant(0, bits);
    let turned = m.c.sub(zeros, a);
    let size = m.c.mux(sign, turned, a);
    let (digits, by) = m.c.normal(size, m.work);
    let width = bits.max(f.precision() + 2);
    let digits = m.c.raised(digits, width - bits);
    let top = m.number(f.bias() + u128::from(bits) - 1);
    let exponent = m.c.sub(top, by);
    let value = m.rounded(sign, exponent, digits);
    m.c.giving(value)
}

/// A number cut to an integer of so many bits; no number is 0.
pub fn to_integer(f: Format, bits: u32, is_signed: bool) -> Circuit {
    let mut m = Maker::new(f);
    let a = m.c.input(f.bits());
    let a = m.apart(a);
    let width = bits + f.precision();
    // The highest digit stands for one where the exponent is the bias.
    let bias = m.number(f.bias());
    let by = m.c.sub(a.exponent, bias);
    let is_below = m.is_negative(by);
    let digits = m.c.wide(a.digits, width);
    let moved = m.c.left(digits, by);
    let whole = m.c.slice(moved, f.fraction, width - f.fraction);
    let none = m.c.constant(0, width - f.fraction);
    let whole = m.c.mux(is_below, none, whole);
    let most = m.number(u128::from(bits));
    let room = m.c.sub(by, most);
    let no_room = m.is_negative(room);
    let is_beyond = m.c.not(no_room);
    let size = m.c.slice(whole, 0, bits);
    let limit = |it: &mut Maker, value: u128| it.c.constant(value, bits);
    let (most, least) = match is_signed {
        true => (limit(&mut m, ones(bits - 1)), limit(&mut m, 1 << (bits - 1))),
        false => (limit(&mut m, ones(bits)), limit(&mut m, 0)),
    };
    let zeros = m.c.constant(0, bits);
    let turned = m.c.sub(zeros, size);
    let value = match is_signed {
        true => {
            let top = m.c.slice(size, bits - 1, 1);
            let is_beyond = m.c.or(is_beyond, top);
            let value = m.c.mux(a.sign, turned, size);
            let end = m.c.mux(a.sign, least, most);
            m.c.mux(is_beyond, end, value)
        }
        false => {
            let value = m.c.mux(is_beyond, most, size);
            m.c.mux(a.sign, zeros, value)
        }
    };
    let value = m.c.mux(a.is_nan, zeros, value);
    m.c.giving(value)
}

/// A number of one format in another.
pub fn convert(from: Format, to: Format) -> Circuit {
    let mut m = Maker::new(from);
    let a = m.c.input(from.bits());
    let a = m.apart(a);
    let a = m.normal(a);
    // Exponents are computed in the wider of both.
    let work = m.work.max(to.exponent + 4);
    let top = m.is_negative(a.exponent);
    let mut exponent = a.exponent;
    for _ in m.work..work {
        exponent = m.c.join(top, exponent);
    }
    let mut m = Maker { c: m.c, f: to, work };
    let shift = m.number(to.bias().wrapping_sub(from.bias()));
    let exponent = m.c.add(exponent, shift);
    let width = from.precision().max(to.precision() + 2);
    let digits = m.c.raised(a.digits, width - from.precision());
    let plain = m.rounded(a.sign, exponent, digits);
    let value = m.with_specials(plain, a);
    m.c.giving(value)
}
