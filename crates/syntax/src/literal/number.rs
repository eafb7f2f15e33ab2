//! Numbers: base, digits and suffix of integer and floating constants.

use std::fmt;

use super::LiteralError;

/// A number as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// `0x1fUL`
    Int(Int),
    /// `1.5e3f`
    Float(Float),
}

/// An integer constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    /// Its value.
    pub value: u128,
    /// Decides, with the suffix, which types it may have.
    pub base: Base,
    /// What stands behind the digits.
    pub suffix: IntSuffix,
}

/// How digits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Base {
    Binary,
    Octal,
    Decimal,
    Hexadecimal,
}

impl Base {
    fn radix(self) -> u32 {
        match self {
            Base::Binary => 2,
            Base::Octal => 8,
            Base::Decimal => 10,
            Base::Hexadecimal => 16,
        }
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Base::Binary => "binary",
            Base::Octal => "octal",
            Base::Decimal => "decimal",
            Base::Hexadecimal => "hexadecimal",
        })
    }
}

/// `u`, `l`, `ll` and GNU's `i`, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IntSuffix {
    /// `u`
    pub unsigned: bool,
    /// 0, 1 for `l`, 2 for `ll`.
    pub long: u8,
    /// GNU `i` or `j`: an imaginary number.
    pub imaginary: bool,
}

/// A floating constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Float {
    /// The digits without separators and suffix, with at least one digit on either side of a
    /// point: `1.0`, `0.5e-3`, `0x1.8p3`.
    pub digits: String,
    /// Whether they are hexadecimal.
    pub hex: bool,
    /// Its type.
    pub suffix: FloatSuffix,
    /// GNU `i` or `j`: an imaginary number.
    pub imaginary: bool,
}

/// The type a floating constant asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatSuffix {
    /// None: `double`.
    None,
    /// `f`: `float`
    F,
    /// `l`: `long double`
    L,
    /// `f16`: `_Float16`
    F16,
    /// `f32`: `_Float32`
    F32,
    /// `f64`: `_Float64`
    F64,
    /// `f128`: `_Float128`
    F128,
    /// `f32x`: `_Float32x`
    F32x,
    /// `f64x`: `_Float64x`
    F64x,
    /// `bf16`: `__bf16`
    Bf16,
    /// `q`: `__float128`
    Q,
    /// `w`: `__float80`
    W,
}

/// Reads the spelling of a number.
pub fn number(text: &str) -> Result<Number, LiteralError> {
    let starts = |prefix: &str| text.get(..2).is_some_and(|it| it.eq_ignore_ascii_case(prefix));
    let (base, body) = if starts("0x") {
        (Base::Hexadecimal, text.get(2..).unwrap_or_default())
    } else if starts("0b") {
        (Base::Binary, text.get(2..).unwrap_or_default())
    } else {
        (Base::Decimal, text)
    };
    // A binary constant takes all decimal digits here, so that a wrong one is named.
    let radix = base.radix().max(10);
    let (whole, rest) = digits(body, radix)?;
    let marker = if base == Base::Hexadecimal { 'p' } else { 'e' };
    let is_float = rest.starts_with('.') || rest.starts_with([marker, marker.to_ascii_uppercase()]);
    if is_float && base != Base::Binary {
        return float(whole, rest, base).map(Number::Float);
    }
    let base = match base {
        Base::Decimal if whole.starts_with('0') && whole.len() > 1 => Base::Octal,
        Base::Decimal | Base::Octal | Base::Binary | Base::Hexadecimal => base,
    };
    let suffix = int_suffix(rest)?;
    if whole.is_empty() {
        let is_number = matches!(base, Base::Binary | Base::Hexadecimal);
        return Err(if is_number { LiteralError::NoDigits(base) } else { LiteralError::Malformed });
    }
    let mut value = 0_u128;
    for digit in whole.chars() {
        let Some(units) = digit.to_digit(base.radix()) else {
            return Err(LiteralError::InvalidDigit(digit, base));
        };
        let next = value.checked_mul(base.radix().into());
        let next = next.and_then(|it| it.checked_add(units.into()));
        value = next.ok_or(LiteralError::TooLarge)?;
    }
    Ok(Number::Int(Int { value, base, suffix }))
}

/// `.5e-3f`: what follows the whole part of a floating constant.
fn float(whole: String, rest: &str, base: Base) -> Result<Float, LiteralError> {
    let hex = base == Base::Hexadecimal;
    let mut rest = rest;
    let mut text = String::from(if hex { "0x" } else { "" });
    let mut has_digits = !whole.is_empty();
    text.push_str(if has_digits { &whole } else { "0" });
    if let Some(after) = rest.strip_prefix('.') {
        let (fraction, after) = digits(after, base.radix())?;
        has_digits |= !fraction.is_empty();
        text.push('.');
        text.push_str(if fraction.is_empty() { "0" } else { &fraction });
        rest = after;
    }
    if !has_digits {
        return Err(if hex { LiteralError::NoDigits(base) } else { LiteralError::Malformed });
    }
    let marker = if hex { ['p', 'P'] } else { ['e', 'E'] };
    if let Some(after) = rest.strip_prefix(marker) {
        text.push(if hex { 'p' } else { 'e' });
        let sign = after.strip_prefix(['+', '-']);
        if after.starts_with('-') {
            text.push('-');
        }
        let (exponent, after) = digits(sign.unwrap_or(after), 10)?;
        if exponent.is_empty() {
            return Err(LiteralError::NoExponent);
        }
        text.push_str(&exponent);
        rest = after;
    } else if hex {
        return Err(LiteralError::HexFloatWithoutExponent);
    }
    let (suffix, imaginary) = float_suffix(rest)?;
    Ok(Float { digits: text, hex, suffix, imaginary })
}

/// The digits at the front of `text` without their separators, and what follows.
fn digits(text: &str, radix: u32) -> Result<(String, &str), LiteralError> {
    let is_digit = |it: Option<char>| it.is_some_and(|it| it.is_digit(radix));
    let mut digits = String::new();
    let mut rest = text;
    loop {
        let mut chars = rest.chars();
        match chars.next() {
            Some('\'') => {
                if digits.is_empty() || !is_digit(chars.clone().next()) {
                    return Err(LiteralError::MisplacedSeparator);
                }
            }
            Some(it) if it.is_digit(radix) => digits.push(it),
            Some(_) | None => return Ok((digits, rest)),
        }
        rest = chars.as_str();
    }
}

fn int_suffix(text: &str) -> Result<IntSuffix, LiteralError> {
    let invalid = || LiteralError::InvalidSuffix(text.to_owned(), false);
    let mut suffix = IntSuffix::default();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut taken = 1;
        match first {
            'u' | 'U' if !suffix.unsigned => suffix.unsigned = true,
            'i' | 'I' | 'j' | 'J' if !suffix.imaginary => suffix.imaginary = true,
            'l' | 'L' if suffix.long == 0 => {
                // `lL` is no suffix: both letters have one case.
                taken = if rest.get(1..).is_some_and(|it| it.starts_with(first)) { 2 } else { 1 };
                suffix.long = taken;
            }
            'w' | 'W' if matches!(rest, "wb" | "WB" | "wbu" | "wbU" | "WBu" | "WBU") => {
                let what = "a bit-precise integer";
                return Err(LiteralError::UnsupportedSuffix(text.to_owned(), what));
            }
            _ => return Err(invalid()),
        }
        rest = rest.get(usize::from(taken)..).unwrap_or_default();
    }
    Ok(suffix)
}

/// Type and whether the number is imaginary; `i` stands before or behind the rest.
fn float_suffix(text: &str) -> Result<(FloatSuffix, bool), LiteralError> {
    const IMAGINARY: [char; 4] = ['i', 'I', 'j', 'J'];
    let bare = text.strip_prefix(IMAGINARY).or_else(|| text.strip_suffix(IMAGINARY));
    let suffix = match bare.unwrap_or(text) {
        // gcc's `d` says `double` aloud.
        "" | "d" | "D" => FloatSuffix::None,
        "f" | "F" => FloatSuffix::F,
        "l" | "L" => FloatSuffix::L,
        "f16" | "F16" => FloatSuffix::F16,
        "f32" | "F32" => FloatSuffix::F32,
        "f64" | "F64" => FloatSuffix::F64,
        "f128" | "F128" => FloatSuffix::F128,
        "f32x" | "F32x" => FloatSuffix::F32x,
        "f64x" | "F64x" => FloatSuffix::F64x,
        "bf16" | "BF16" => FloatSuffix::Bf16,
        "q" | "Q" => FloatSuffix::Q,
        "w" | "W" => FloatSuffix::W,
        "df" | "DF" | "dd" | "DD" | "dl" | "DL" => {
            let what = "a decimal floating type";
            return Err(LiteralError::UnsupportedSuffix(text.to_owned(), what));
        }
        _ => return Err(LiteralError::InvalidSuffix(text.to_owned(), true)),
    };
    Ok((suffix, bare.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn int(text: &str, value: u128, base: Base, suffix: &str) {
        let expect = IntSuffix {
            unsigned: suffix.contains('u'),
            long: suffix.matches('l').count() as u8,
            imaginary: suffix.contains('i'),
        };
        assert_eq!(number(text), Ok(Number::Int(Int { value, base, suffix: expect })), "{text}");
    }

    #[track_caller]
    fn float(text: &str, digits: &str, suffix: FloatSuffix, imaginary: bool) {
        let hex = digits.starts_with("0x");
        let expect = Float { digits: digits.to_owned(), hex, suffix, imaginary };
        assert_eq!(number(text), Ok(Number::Float(expect)), "{text}");
    }

    #[track_caller]
    fn refused(text: &str, reason: &str) {
        assert_eq!(number(text).map_err(|it| it.to_string()), Err(reason.to_owned()), "{text}");
    }

    #[test]
    fn integers_have_base_value_and_suffix() {
        int("0", 0, Base::Decimal, "");
        int("42", 42, Base::Decimal, "");
        int("0777", 0o777, Base::Octal, "");
        int("0x1fUL", 31, Base::Hexadecimal, "ul");
        int("0XABcdefLLu", 0xabcdef, Base::Hexadecimal, "llu");
        int("0b1011", 11, Base::Binary, "");
        int("1'000'000", 1_000_000, Base::Decimal, "");
        int("3iu", 3, Base::Decimal, "iu");
        int("2lJ", 2, Base::Decimal, "li");
        int("18446744073709551615u", u64::MAX.into(), Base::Decimal, "u");
        int("0xffffffffffffffffffffffffffffffff", u128::MAX, Base::Hexadecimal, "");
        int("0x1e", 30, Base::Hexadecimal, "");
    }

    #[test]
    fn floats_keep_their_digits() {
        float("1.", "1.0", FloatSuffix::None, false);
        float(".5f", "0.5", FloatSuffix::F, false);
        float("08.5", "08.5", FloatSuffix::None, false);
        float("1e+5L", "1e5", FloatSuffix::L, false);
        float("1E-5", "1e-5", FloatSuffix::None, false);
        float("0x1.8p3", "0x1.8p3", FloatSuffix::None, false);
        float("0x.8P-3f", "0x0.8p-3", FloatSuffix::F, false);
        float("1.0if", "1.0", FloatSuffix::F, true);
        float("1.0fi", "1.0", FloatSuffix::F, true);
        float("2.0j", "2.0", FloatSuffix::None, true);
        float("1.5f128", "1.5", FloatSuffix::F128, false);
        float("1.5F64x", "1.5", FloatSuffix::F64x, false);
        float("1.5Q", "1.5", FloatSuffix::Q, false);
        float("1.5bf16", "1.5", FloatSuffix::Bf16, false);
        float("1'0.2'5e1'0", "10.25e10", FloatSuffix::None, false);
    }

    #[test]
    fn refusals_say_why() {
        refused("089", "invalid digit `8` in octal constant");
        refused("0b12", "invalid digit `2` in binary constant");
        refused("0x", "hexadecimal constant without digits");
        refused("0xg", "invalid suffix `g` on integer constant");
        refused("0b", "binary constant without digits");
        refused("1f", "invalid suffix `f` on integer constant");
        refused("1lL", "invalid suffix `lL` on integer constant");
        refused("1uu", "invalid suffix `uu` on integer constant");
        refused("1.0u", "invalid suffix `u` on floating constant");
        refused("1e", "exponent has no digits");
        refused("1e+", "exponent has no digits");
        refused("0x1.8", "hexadecimal floating constant requires an exponent");
        refused("0x1e+1", "invalid suffix `+1` on integer constant");
        refused("1'", "digit separator `'` not between two digits");
        refused("0x'1", "digit separator `'` not between two digits");
        refused("1wb", "suffix `wb` asks for a bit-precise integer, which is not supported");
        refused("1.0dd", "suffix `dd` asks for a decimal floating type, which is not supported");
        refused("0x100000000000000000000000000000000", "integer constant does not fit 128 bits");
        refused("", "malformed literal");
        refused(".", "malformed literal");
        refused("0b1.0", "invalid suffix `.0` on integer constant");
    }
}
