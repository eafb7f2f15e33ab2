//! Floating constants, computed in the format of their type.
//!
//! In: the digits of a literal, integers, other floating constants. Out: what the host computes with
//! one rounding per operation, to nearest. Formats that the host has and Rust has not are the reason
//! for the soft floats: `long double` is wider than `f64`, and a literal read as `double` first is
//! rounded twice when it becomes a `float`.
//!
//! Not here: which type has which format ([`crate::consteval`]).

use ir::program::BinaryOp;
use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float as _, FloatConvert as _};

/// Literals longer than this are left to the host compiler, and so are larger exponents.
const MAX_DIGITS: usize = 1000;
const MAX_EXPONENT: i64 = 100_000;

/// How a floating type keeps its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub(crate) enum Format {
    Half,
    BFloat,
    Single,
    Double,
    /// 64 bits of precision, of x87.
    Extended,
    Quad,
}

/// A value in its format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Float {
    Half(Half),
    BFloat(BFloat),
    Single(Single),
    Double(Double),
    Extended(X87DoubleExtended),
    Quad(Quad),
}

/// What an operation gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    Value(Float),
    Truth(bool),
}

/// The same for each format: `in_format!(format, F => value of type F)`.
macro_rules! in_format {
    ($format:expr, $ty:ident => $value:expr) => {
        match $format {
            Format::Half => {
                type $ty = Half;
                Float::Half($value)
            }
            Format::BFloat => {
                type $ty = BFloat;
                Float::BFloat($value)
            }
            Format::Single => {
                type $ty = Single;
                Float::Single($value)
            }
            Format::Double => {
                type $ty = Double;
                Float::Double($value)
            }
            Format::Extended => {
                type $ty = X87DoubleExtended;
                Float::Extended($value)
            }
            Format::Quad => {
                type $ty = Quad;
                Float::Quad($value)
            }
        }
    };
}

/// The same for each format: `with!(float, it => what is done with it)`.
macro_rules! with {
    ($float:expr, $it:ident => $value:expr) => {
        match $float {
            Float::Half($it) => $value,
            Float::BFloat($it) => $value,
            Float::Single($it) => $value,
            Float::Double($it) => $value,
            Float::Extended($it) => $value,
            Float::Quad($it) => $value,
        }
    };
}

impl Float {
    /// `1.5e3` or `0x1.8p3`, as the reader of literals gives them.
    pub(crate) fn parse(digits: &str, format: Format) -> Option<Float> {
        let exponent = match digits.strip_prefix("0x") {
            Some(hex) => hex.split_once('p').map(|it| it.1),
            None => digits.split_once('e').map(|it| it.1),
        };
        let exponent = exponent.map_or(Some(0), |it| it.parse::<i64>().ok())?;
        if digits.len() > MAX_DIGITS || exponent.abs() > MAX_EXPONENT {
            return None;
        }
        Some(in_format!(format, F => digits.parse::<F>().ok()?))
    }

    /// The nearest to an integer.
    pub(crate) fn of_int(value: i128, is_unsigned: bool, format: Format) -> Float {
        in_format!(format, F => match is_unsigned {
            true => F::from_u128(value.cast_unsigned()).value,
            false => F::from_i128(value).value,
        })
    }

    /// The nearest in another format.
    pub(crate) fn to(self, format: Format) -> Float {
        in_format!(format, F => with!(self, it => {
            let converted: F = it.convert(&mut false).value;
            converted
        }))
    }

    pub(crate) fn negated(self) -> Float {
        match self {
            Float::Half(it) => Float::Half(-it),
            Float::BFloat(it) => Float::BFloat(-it),
            Float::Single(it) => Float::Single(-it),
            Float::Double(it) => Float::Double(-it),
            Float::Extended(it) => Float::Extended(-it),
            Float::Quad(it) => Float::Quad(-it),
        }
    }

    /// A finite `float` or `double` as a literal: whether it is negative, and its shortest decimal spelling without the
    /// sign.
    pub(crate) fn spelled(self) -> Option<(bool, String)> {
        match self {
            Float::Single(it) => {
                let value = f32::from_bits(u32::try_from(it.to_bits()).ok()?);
                value.is_finite().then(|| (value.is_sign_negative(), format!("{:e}f", value.abs())))
            }
            Float::Double(it) => {
                let value = f64::from_bits(u64::try_from(it.to_bits()).ok()?);
                value.is_finite().then(|| (value.is_sign_negative(), format!("{:e}", value.abs())))
            }
            Float::Half(_) | Float::BFloat(_) | Float::Extended(_) | Float::Quad(_) => None,
        }
    }

    pub(crate) fn is_zero(self) -> bool {
        with!(self, it => it.is_zero())
    }

    /// What is before the point, in an integer type. What does not fit becomes the nearest that
    /// does, as gcc has it; the standard leaves it open.
    pub(crate) fn whole(self, bits: u32, is_unsigned: bool) -> i128 {
        let bits = bits as usize;
        with!(self, it => match is_unsigned {
            true => it.to_u128(bits).value.cast_signed(),
            false => it.to_i128(bits).value,
        })
    }

    /// Computes with two values of one format; a quotient by zero is no constant.
    pub(crate) fn binary(op: BinaryOp, a: Float, b: Float) -> Option<Outcome> {
        macro_rules! both {
            ($($format:ident)*) => {
                match (a, b) {
                    $((Float::$format(a), Float::$format(b)) => {
                        let value = |it: rustc_apfloat::StatusAnd<_>| {
                            Some(Outcome::Value(Float::$format(it.value)))
                        };
                        match op {
                            BinaryOp::Mul => value(a * b),
                            BinaryOp::Div if b.is_zero() => None,
                            BinaryOp::Div => value(a / b),
                            BinaryOp::Add => value(a + b),
                            BinaryOp::Sub => value(a - b),
                            BinaryOp::Lt => Some(Outcome::Truth(a < b)),
                            BinaryOp::Gt => Some(Outcome::Truth(a > b)),
                            BinaryOp::Le => Some(Outcome::Truth(a <= b)),
                            BinaryOp::Ge => Some(Outcome::Truth(a >= b)),
                            BinaryOp::Eq => Some(Outcome::Truth(a == b)),
                            BinaryOp::Ne => Some(Outcome::Truth(a != b)),
                            BinaryOp::Rem
                            | BinaryOp::Shl
                            | BinaryOp::Shr
                            | BinaryOp::BitAnd
                            | BinaryOp::BitXor
                            | BinaryOp::BitOr => None,
                        }
                    })*
                    _ => None,
                }
            };
        }
        both!(Half BFloat Single Double Extended Quad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn whole(digits: &str, format: Format, expect: Option<i128>) {
        let value = Float::parse(digits, format).map(|it| it.whole(64, false));
        assert_eq!(value, expect, "{digits}");
    }

    #[test]
    fn literals_are_rounded_once() {
        // Half a unit above 2^24 and a little: rounded to double first, the little would be lost.
        let little_more = "16777217.00000000001";
        whole(little_more, Format::Single, Some(16_777_218));
        whole("16777217.0", Format::Single, Some(16_777_216));
        whole("0x1.8p3", Format::Double, Some(12));
        whole("0x0.8p-3", Format::Double, Some(0));
        whole("9007199254740993.0", Format::Double, Some(9_007_199_254_740_992));
        whole("9007199254740993.0", Format::Extended, Some(9_007_199_254_740_993));
    }

    #[test]
    fn what_does_not_fit_is_the_nearest_that_does() {
        whole("1e40", Format::Double, Some(i64::MAX.into()));
        whole("1e400", Format::Double, Some(i64::MAX.into()));
        let minus = Float::parse("3.5", Format::Double).map(Float::negated);
        assert_eq!(minus.map(|it| it.whole(32, true)), Some(0));
        assert_eq!(minus.map(|it| it.whole(32, false)), Some(-3));
    }

    #[test]
    fn narrow_numbers_are_spelled_so_that_they_are_read_again() {
        let check = |digits: &str, to: Format, wanted: Option<(bool, &str)>| {
            let wide = Float::parse(digits, Format::Extended).expect(digits);
            let found = wide.to(to).spelled();
            assert_eq!(found.as_ref().map(|it| (it.0, it.1.as_str())), wanted, "{digits}");
        };
        let most = "1.79769313486231570814527423731704357e+308";
        check(most, Format::Double, Some((false, "1.7976931348623157e308")));
        check(
            "4.94065645841246544176568792868221372e-324",
            Format::Double,
            Some((false, "5e-324")),
        );
        check(
            "3.40282346638528859811704183484516925e+38",
            Format::Single,
            Some((false, "3.4028235e38f")),
        );
        check("0.0", Format::Double, Some((false, "0e0")));
        check("1e400", Format::Double, None);
        let minus = Float::parse("2.5", Format::Double).map(Float::negated);
        assert_eq!(minus.and_then(Float::spelled), Some((true, "2.5e0".to_owned())));
    }

    #[test]
    fn monstrous_literals_are_left_alone() {
        whole("1e99999999999999999999", Format::Double, None);
        whole("0x1p-99999999", Format::Double, None);
        whole(&"1".repeat(2000), Format::Double, None);
    }

    #[test]
    fn no_literal_is_too_odd() {
        let formats = [
            Format::Half,
            Format::BFloat,
            Format::Single,
            Format::Double,
            Format::Extended,
            Format::Quad,
        ];
        let digits =
            ["0", "1", "9", "123456789", "00000", "999999999999999999999999999999999999999"];
        let exponents = ["0", "1", "-1", "38", "-45", "308", "-324", "4932", "-4966", "16400"];
        let exponents = exponents.iter().chain(&["-16500", "100000", "-100000"]);
        for exponent in exponents {
            for (whole, part) in digits.iter().flat_map(|a| digits.iter().map(move |b| (a, b))) {
                for format in formats {
                    let hex = Float::parse(&format!("0x{whole}.{part}p{exponent}"), format);
                    let decimal = Float::parse(&format!("{whole}.{part}e{exponent}"), format);
                    let (Some(a), Some(b)) = (hex, decimal) else { panic!("{whole}.{part}") };
                    for op in [BinaryOp::Mul, BinaryOp::Div, BinaryOp::Add, BinaryOp::Sub] {
                        if let Some(Outcome::Value(it)) = Float::binary(op, a, b) {
                            for to in formats {
                                let _ = it.to(to).whole(64, true);
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn each_operation_rounds_once() {
        let sum = |format| {
            let tenth = Float::parse("0.1", format)?;
            let three = Float::of_int(3, false, format);
            let thirds = Float::parse("0.3", format)?;
            let Some(Outcome::Value(product)) = Float::binary(BinaryOp::Mul, tenth, three) else {
                return None;
            };
            Float::binary(BinaryOp::Eq, product, thirds)
        };
        assert_eq!(sum(Format::Double), Some(Outcome::Truth(false)));
        assert_eq!(sum(Format::Extended), Some(Outcome::Truth(true)));
    }
}
