//! Characters and strings: prefixes, escapes and code units.

use super::LiteralError;

/// What stands in front of the quotes: the type of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Prefix {
    /// None: `char`.
    None,
    /// `u8`: `char` in UTF-8.
    Utf8,
    /// `u`: `char16_t`
    Utf16,
    /// `U`: `char32_t`
    Utf32,
    /// `L`: `wchar_t`
    Wide,
}

impl Prefix {
    /// As written.
    pub fn spelling(self) -> &'static str {
        match self {
            Prefix::None => "",
            Prefix::Utf8 => "u8",
            Prefix::Utf16 => "u",
            Prefix::Utf32 => "U",
            Prefix::Wide => "L",
        }
    }

    /// The bits of one unit that a numeric escape may set.
    fn mask(self) -> u32 {
        match self {
            Prefix::None | Prefix::Utf8 => 0xff,
            Prefix::Utf16 => 0xffff,
            Prefix::Utf32 | Prefix::Wide => u32::MAX,
        }
    }

    /// Appends the units of one character.
    fn encode(self, character: char, units: &mut Vec<u32>) {
        match self {
            Prefix::None | Prefix::Utf8 => {
                let mut buffer = [0; 4];
                units.extend(character.encode_utf8(&mut buffer).bytes().map(u32::from));
            }
            Prefix::Utf16 => {
                let mut buffer = [0; 2];
                units.extend(character.encode_utf16(&mut buffer).iter().map(|it| u32::from(*it)));
            }
            Prefix::Utf32 | Prefix::Wide => units.push(character.into()),
        }
    }
}

/// A character constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Character {
    /// Its element type.
    pub prefix: Prefix,
    /// The bits of the value; see [`Character::value`].
    pub bits: u32,
    /// How many units were written: more than one is gcc's business, which warns and goes on.
    pub units: usize,
}

impl Character {
    /// The value as gcc gives it: a lone `char` has the sign that `char` has, several are an `int`
    /// (`'ab'` is `'a' << 8 | 'b'`, of which the last four count), and of several wide ones the
    /// last counts.
    pub fn value(&self, char_is_signed: bool) -> i64 {
        match self.prefix {
            Prefix::None if self.units > 1 => i64::from(self.bits.cast_signed()),
            Prefix::None if char_is_signed => i64::from((self.bits as u8).cast_signed()),
            Prefix::None | Prefix::Utf8 | Prefix::Utf16 | Prefix::Utf32 => i64::from(self.bits),
            Prefix::Wide => i64::from(self.bits.cast_signed()),
        }
    }
}

/// A string, its adjacent pieces joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Str {
    /// Its element type.
    pub prefix: Prefix,
    /// The elements without the closing zero: bytes, UTF-16 units, or code points for `U` and `L`.
    /// Where `wchar_t` has 16 bits, code points above `0xffff` are two elements.
    pub units: Vec<u32>,
}

/// Reads the spelling of a character constant: `'a'`, `L'\n'`.
pub fn character(text: &str) -> Result<Character, LiteralError> {
    let (prefix, body) = unquote(text, '\'')?;
    let mut units = Vec::new();
    decode(body, prefix, &mut units)?;
    let Some(last) = units.last() else { return Err(LiteralError::EmptyCharacter) };
    let bits = match prefix {
        Prefix::None => units.iter().fold(0_u32, |bits, unit| bits << 8 | unit),
        Prefix::Utf8 | Prefix::Utf16 | Prefix::Utf32 | Prefix::Wide => *last,
    };
    Ok(Character { prefix, bits, units: units.len() })
}

/// Reads the spellings of adjacent string literals. One prefix may be missing from some of them.
pub fn string<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Result<Str, LiteralError> {
    let mut bodies = Vec::new();
    let mut prefix = Prefix::None;
    for piece in pieces {
        let (its_prefix, body) = unquote(piece, '"')?;
        if prefix == Prefix::None {
            prefix = its_prefix;
        } else if its_prefix != Prefix::None && its_prefix != prefix {
            return Err(LiteralError::MixedPrefixes(prefix, its_prefix));
        }
        bodies.push(body);
    }
    let mut units = Vec::new();
    for body in bodies {
        decode(body, prefix, &mut units)?;
    }
    Ok(Str { prefix, units })
}

/// Prefix, and what is between the quotes.
fn unquote(text: &str, quote: char) -> Result<(Prefix, &str), LiteralError> {
    let (prefix, quoted) = text.split_at(text.find(quote).ok_or(LiteralError::Malformed)?);
    let prefix = match prefix {
        "" => Prefix::None,
        "u8" => Prefix::Utf8,
        "u" => Prefix::Utf16,
        "U" => Prefix::Utf32,
        "L" => Prefix::Wide,
        _ => return Err(LiteralError::Malformed),
    };
    let body = quoted.strip_prefix(quote).and_then(|it| it.strip_suffix(quote));
    Ok((prefix, body.ok_or(LiteralError::Malformed)?))
}

/// Appends the units of `body`.
fn decode(body: &str, prefix: Prefix, units: &mut Vec<u32>) -> Result<(), LiteralError> {
    let mut rest = body;
    let mut chars = rest.chars();
    while let Some(first) = chars.next() {
        if first == '\\' {
            rest = escape(chars.as_str(), prefix, units)?;
            chars = rest.chars();
        } else {
            prefix.encode(first, units);
        }
    }
    Ok(())
}

/// Appends the units of the escape whose `\` stands before `text`, and gives what follows it.
fn escape<'a>(
    text: &'a str,
    prefix: Prefix,
    units: &mut Vec<u32>,
) -> Result<&'a str, LiteralError> {
    let mut chars = text.chars();
    let Some(kind) = chars.next() else { return Err(LiteralError::Malformed) };
    let simple = match kind {
        'a' => 7,
        'b' => 8,
        't' => 9,
        'n' => 10,
        'v' => 11,
        'f' => 12,
        'r' => 13,
        'e' | 'E' => 27,
        '0'..='7' => {
            let (value, rest) = leading(text, 8, 3);
            units.push(value & prefix.mask());
            return Ok(rest);
        }
        'x' => {
            let (value, rest) = leading(chars.as_str(), 16, usize::MAX);
            if rest.len() == chars.as_str().len() {
                return Err(LiteralError::NoHexDigits);
            }
            units.push(value & prefix.mask());
            return Ok(rest);
        }
        'u' | 'U' => {
            let length = if kind == 'u' { 4 } else { 8 };
            let (value, rest) = leading(chars.as_str(), 16, length);
            let taken = chars.as_str().len() - rest.len();
            if taken < length {
                let so_far = text.get(..=taken).unwrap_or_default();
                return Err(LiteralError::IncompleteUniversal(format!("\\{so_far}")));
            }
            let character = char::from_u32(value).ok_or(LiteralError::InvalidUniversal(value))?;
            prefix.encode(character, units);
            return Ok(rest);
        }
        // `\\`, `\'`, `\"`, `\?`, and what gcc does with escapes it does not know.
        other => {
            prefix.encode(other, units);
            return Ok(chars.as_str());
        }
    };
    units.push(simple);
    Ok(chars.as_str())
}

/// The value of up to `most` digits, its lowest 32 bits, and what follows.
fn leading(text: &str, radix: u32, most: usize) -> (u32, &str) {
    let mut value = 0_u32;
    let mut chars = text.chars();
    let mut rest = text;
    for _ in 0..most {
        let Some(digit) = chars.next().and_then(|it| it.to_digit(radix)) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        rest = chars.as_str();
    }
    (value, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn value(text: &str, expect: i64) {
        assert_eq!(character(text).map(|it| it.value(true)), Ok(expect), "{text}");
    }

    #[track_caller]
    fn units(pieces: &[&str], prefix: Prefix, units: &[u32]) {
        let expect = Str { prefix, units: units.to_vec() };
        assert_eq!(string(pieces.iter().copied()), Ok(expect), "{pieces:?}");
    }

    #[test]
    fn characters_have_the_values_gcc_gives_them() {
        value("'a'", 97);
        value(r"'\n'", 10);
        value(r"'\0'", 0);
        value(r"'\377'", -1);
        value(r"'\xff'", -1);
        value(r"'\e'", 27);
        value(r"'\''", 39);
        value(r"'\\'", 92);
        value("'\"'", 34);
        value("'ab'", 0x6162);
        value("'abcd'", 0x6162_6364);
        value("'abcde'", 0x6263_6465);
        value(r"'\377\377\377\377'", -1);
        value("'é'", 0xc3a9);
        value("L'é'", 0xe9);
        value("u'é'", 0xe9);
        value("U'😀'", 0x1f600);
        value("L'ab'", 98);
        value(r"L'\xffffffff'", -1);
        value(r"u'\xffff'", 0xffff);
        value("u8'a'", 97);
        value(r"'\q'", 113);
        assert_eq!(character(r"'\377'").map(|it| it.value(false)), Ok(255));
    }

    #[test]
    fn strings_join_and_take_the_one_prefix() {
        units(&[r#""a\n""#, r#""\x41""#, r#""B""#], Prefix::None, &[97, 10, 0x41, 66]);
        units(&[r#""""#], Prefix::None, &[]);
        units(&[r#""a""#, r#"L"é""#], Prefix::Wide, &[97, 0xe9]);
        units(&[r#"u8"é""#], Prefix::Utf8, &[0xc3, 0xa9]);
        units(&[r#"u"😀""#], Prefix::Utf16, &[0xd83d, 0xde00]);
        units(&[r#"U"😀""#], Prefix::Utf32, &[0x1f600]);
        units(&[r#""\u00e9\101x\0012""#], Prefix::None, &[0xc3, 0xa9, 65, 120, 1, 50]);
        units(&[r#""\U0001F600""#], Prefix::None, &[0xf0, 0x9f, 0x98, 0x80]);
    }

    #[test]
    fn refusals_say_why() {
        let reason = |text| character(text).map_err(|it| it.to_string());
        assert_eq!(reason("''"), Err("empty character constant".to_owned()));
        assert_eq!(reason("'a"), Err("malformed literal".to_owned()));
        assert_eq!(reason("'"), Err("malformed literal".to_owned()));
        assert_eq!(reason(r"'\x'"), Err("`\\x` used with no following hex digits".to_owned()));
        let incomplete = "incomplete universal character name `\\u12`".to_owned();
        assert_eq!(reason(r"'\u12'"), Err(incomplete));
        assert_eq!(reason(r"'\ud800'"), Err("`U+D800` is not a valid character".to_owned()));
        let mixed = string([r#"u"a""#, r#"U"b""#]).map_err(|it| it.to_string());
        let expect = "string literals with prefixes `u` and `U` do not combine".to_owned();
        assert_eq!(mixed, Err(expect));
    }
}
