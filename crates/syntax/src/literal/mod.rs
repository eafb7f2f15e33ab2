//! What the spelling of a literal means: numbers, characters and strings.
//!
//! In: the spelling as the tree keeps it, prefix, quotes and suffix included. Out: the value, free
//! of any data model: which type an integer gets, how wide `wchar_t` is and whether `char` has a
//! sign are questions to whoever knows the target. What gcc accepts with a warning (an escape out
//! of range, an unknown escape) is accepted here, with gcc's value.
//!
//! Not here: the value of a float (the type decides the rounding) and its overflow.

mod number;
mod text;

pub use number::{Base, Float, FloatSuffix, Int, IntSuffix, Number, number};
pub use text::{Character, Prefix, Str, character, string};

use std::fmt;

/// Why a spelling means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiteralError {
    /// `089`, `0b12`
    InvalidDigit(char, Base),
    /// `0x`, `0b`: no digit after the prefix.
    NoDigits(Base),
    /// Does not fit 128 bits.
    TooLarge,
    /// `1'`, `1''0`, `0x'1`
    MisplacedSeparator,
    /// `1e+`
    NoExponent,
    /// `0x1.8`
    HexFloatWithoutExponent,
    /// `1xyz`, `1.0u`: the suffix, and whether the number is a float.
    InvalidSuffix(String, bool),
    /// `1wb`, `1.0dd`: known elsewhere, and not supported: the suffix and what it asks for.
    UnsupportedSuffix(String, &'static str),
    /// No number, character or string at all, or one that does not end.
    Malformed,
    /// `''`
    EmptyCharacter,
    /// `\x` without a digit.
    NoHexDigits,
    /// `\u12`: the escape so far.
    IncompleteUniversal(String),
    /// `\ud800`, `\U00110000`
    InvalidUniversal(u32),
    /// `u"a" U"b"`
    MixedPrefixes(Prefix, Prefix),
}

impl fmt::Display for LiteralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiteralError::InvalidDigit(digit, base) => {
                write!(f, "invalid digit `{digit}` in {base} constant")
            }
            LiteralError::NoDigits(base) => write!(f, "{base} constant without digits"),
            LiteralError::TooLarge => f.write_str("integer constant does not fit 128 bits"),
            LiteralError::MisplacedSeparator => {
                f.write_str("digit separator `'` not between two digits")
            }
            LiteralError::NoExponent => f.write_str("exponent has no digits"),
            LiteralError::HexFloatWithoutExponent => {
                f.write_str("hexadecimal floating constant requires an exponent")
            }
            LiteralError::InvalidSuffix(suffix, is_float) => {
                let kind = if *is_float { "floating" } else { "integer" };
                write!(f, "invalid suffix `{suffix}` on {kind} constant")
            }
            LiteralError::UnsupportedSuffix(suffix, what) => {
                write!(f, "suffix `{suffix}` asks for {what}, which is not supported")
            }
            LiteralError::Malformed => f.write_str("malformed literal"),
            LiteralError::EmptyCharacter => f.write_str("empty character constant"),
            LiteralError::NoHexDigits => f.write_str("`\\x` used with no following hex digits"),
            LiteralError::IncompleteUniversal(text) => {
                write!(f, "incomplete universal character name `{text}`")
            }
            LiteralError::InvalidUniversal(code) => {
                write!(f, "`U+{code:04X}` is not a valid character")
            }
            LiteralError::MixedPrefixes(first, second) => {
                let (first, second) = (first.spelling(), second.spelling());
                write!(f, "string literals with prefixes `{first}` and `{second}` do not combine")
            }
        }
    }
}

impl std::error::Error for LiteralError {}
