//! Which flags make the preprocessor read a line: the conditions around it, and names that satisfy them.
//!
//! In: a file as written and a byte of it. Out: settings of the names that the conditions around it test. Only names
//! that the command line can set are tried; what depends on anything else has no answer.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::iter::Peekable;
use std::ops::Range;

/// Names are tried in so many ways.
const MOST_WAYS: usize = 1 << 12;

/// Values of names; none where a name is not defined.
pub(super) type Settings = BTreeMap<String, Option<i64>>;

/// What must hold for a byte to be read: conditions, and whether each is to be true.
pub(super) type Conditions = Vec<(String, bool)>;

/// The conditions around a byte.
pub(super) fn around(text: &[u8], at: usize) -> Conditions {
    let clean = blanked(text);
    // For each open group: the branches before, and the one that is open.
    let mut open: Vec<Conditions> = Vec::new();
    let mut start = 0;
    let mut lines = clean.split_inclusive(|it| *it == b'\n').peekable();
    while let Some(line) = lines.next() {
        if start > at {
            break;
        }
        start += line.len();
        let mut whole = String::from_utf8_lossy(line).trim_end().to_owned();
        while whole.ends_with('\\') {
            whole.pop();
            let Some(more) = lines.next() else { break };
            start += more.len();
            whole.push_str(String::from_utf8_lossy(more).trim_end());
        }
        let Some(rest) = whole.trim_start().strip_prefix('#') else { continue };
        let rest = rest.trim_start();
        let end = rest.find(|it: char| !it.is_alphanumeric()).unwrap_or(rest.len());
        let (word, condition) = rest.split_at(end);
        let condition = condition.trim().to_owned();
        let close = |group: &mut Conditions| {
            if let Some(last) = group.last_mut() {
                last.1 = false;
            }
        };
        match word {
            "if" => open.push(vec![(condition, true)]),
            "ifdef" => open.push(vec![(format!("defined({condition})"), true)]),
            "ifndef" => open.push(vec![(format!("!defined({condition})"), true)]),
            "elif" => {
                if let Some(group) = open.last_mut() {
                    close(group);
                    group.push((condition, true));
                }
            }
            "else" => open.last_mut().into_iter().for_each(close),
            "endif" => {
                open.pop();
            }
            _ => {}
        }
    }
    open.into_iter().flatten().collect()
}

/// Whether no flags make all conditions hold, whatever names mean that are not `fixed`.
pub(super) fn is_never(conditions: &Conditions, fixed: &Settings) -> bool {
    let fails =
        |(text, wanted): &(String, bool)| value(text, fixed).is_some_and(|it| (it != 0) != *wanted);
    conditions.iter().any(fails)
}

/// The branches of conditional groups that begin in a range: the bytes between their lines. `text` has no comments.
pub(super) fn branches(text: &[u8], range: &Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut next = range.start;
    while next < text.len() && (next < range.end || !open.is_empty()) {
        let rest = text.get(next..).unwrap_or_default();
        let start = next;
        next += rest.iter().position(|it| *it == b'\n').map_or(rest.len(), |it| it + 1);
        let line = text.get(start..next).unwrap_or_default().trim_ascii_start();
        let Some(word) = line.strip_prefix(b"#").map(<[u8]>::trim_ascii_start) else { continue };
        if word.starts_with(b"if") {
            open.push(next);
            continue;
        }
        let (goes_on, ends) = (word.starts_with(b"el"), word.starts_with(b"endif"));
        if goes_on || ends {
            found.extend(open.pop().map(|it| it..start));
        }
        if goes_on && !found.is_empty() {
            open.push(next);
        }
    }
    found
}

/// The group that is open at a byte: from its first line to its last.
pub(super) fn group(text: &[u8], at: usize) -> Range<usize> {
    let before = branches_open(text, at);
    let start = before.last().copied().unwrap_or(0);
    let all = branches(text, &(start..start + 1));
    let end = all.last().map_or(text.len(), |it| it.end);
    start..end
}

/// Where groups begin that are open at a byte.
fn branches_open(text: &[u8], at: usize) -> Vec<usize> {
    let mut open: Vec<usize> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(|it| *it == b'\n') {
        if start >= at {
            break;
        }
        let words = line.trim_ascii_start();
        if let Some(word) = words.strip_prefix(b"#").map(<[u8]>::trim_ascii_start) {
            if word.starts_with(b"if") {
                open.push(start);
            } else if word.starts_with(b"endif") {
                open.pop();
            }
        }
        start += line.len();
    }
    open
}

/// Names set so that all conditions hold, as far from `fixed` as they need be; `given` are on the command line already.
pub(super) fn satisfied(
    conditions: &Conditions,
    fixed: &Settings,
    given: &[String],
) -> Option<Settings> {
    let mut names: Vec<String> = Vec::new();
    let mut numbers: Vec<i64> = Vec::new();
    for token in conditions.iter().flat_map(|it| tokens(&it.0)) {
        match token {
            Token::Name(it) if it != "defined" && !fixed.contains_key(&it) => {
                if !names.contains(&it) {
                    names.push(it);
                }
            }
            Token::Number(it) => numbers.extend([it, it.saturating_add(1), it.saturating_sub(1)]),
            Token::Name(_) | Token::Sign(_) => {}
        }
    }
    let mut values = vec![None, Some(1), Some(0)];
    values.extend(numbers.into_iter().map(Some));
    let mut all: Vec<Option<i64>> = Vec::new();
    values.into_iter().for_each(|it| {
        if !all.contains(&it) {
            all.push(it);
        }
    });
    let mut ways = 1usize;
    for _ in &names {
        ways = ways.checked_mul(all.len()).filter(|it| *it <= MOST_WAYS)?;
    }
    (0..ways).find_map(|way| {
        let mut rest = way;
        let mut settings = fixed.clone();
        for name in &names {
            // What has a value on the command line is wanted with one, if anything will do.
            let shift = usize::from(given.contains(name));
            let value = all.get((rest % all.len() + shift) % all.len()).copied().flatten();
            settings.insert(name.clone(), value);
            rest /= all.len();
        }
        let holds = conditions
            .iter()
            .all(|(text, wanted)| value(text, &settings).is_some_and(|it| (it != 0) == *wanted));
        settings.retain(|name, _| !fixed.contains_key(name));
        holds.then_some(settings)
    })
}

/// The settings as flags of the preprocessor; a definition replaces the one before.
pub(super) fn flags(settings: &Settings) -> Vec<OsString> {
    let mut flags = Vec::new();
    for (name, value) in settings {
        flags.push(format!("-U{name}").into());
        flags.extend(value.map(|it| format!("-D{name}={it}").into()));
    }
    flags
}

/// The settings for people.
pub(super) fn told(settings: &Settings) -> String {
    let one = |(name, value): (&String, &Option<i64>)| match value {
        Some(1) => format!("-D{name}"),
        Some(value) => format!("-D{name}={value}"),
        None => format!("-U{name}"),
    };
    settings.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// The same bytes, with blanks for comments and for what stands in literals; line ends stay.
pub(super) fn blanked(text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        let rest = text.get(at..).unwrap_or_default();
        let find = |part: &[u8]| rest.windows(part.len()).skip(2).position(|it| it == part);
        let end = match byte {
            b'/' if rest.starts_with(b"/*") => find(b"*/").map_or(rest.len(), |it| it + 4),
            b'/' if rest.starts_with(b"//") => line_end(rest),
            b'"' | b'\'' => literal_end(rest, byte),
            _ => {
                at += 1;
                continue;
            }
        };
        for place in out.iter_mut().skip(at).take(end) {
            if !matches!(*place, b'\n' | b'\r') {
                *place = b' ';
            }
        }
        at += end;
    }
    out
}

fn line_end(rest: &[u8]) -> usize {
    rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len())
}

fn literal_end(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at).copied() {
        at += 1;
        match byte {
            b'\\' => at += 1,
            b'\n' => return at,
            _ if byte == quote => return at,
            _ => {}
        }
    }
    rest.len()
}

// ---------------------------------------------------------------- conditions

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Number(i64),
    Sign(String),
}

/// Operators of two signs; all others have one.
const PAIRS: [&str; 8] = ["||", "&&", "==", "!=", "<=", ">=", "<<", ">>"];

fn tokens(text: &str) -> Vec<Token> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let pair = PAIRS.iter().find(|it| rest.starts_with(**it)).map(|it| it.len());
        let length = match is_word(first) {
            true => rest.find(|it| !is_word(it)).unwrap_or(rest.len()),
            false => pair.unwrap_or(first.len_utf8()),
        };
        let (word, tail) = rest.split_at(length);
        found.push(match first {
            '0'..='9' => number(word).map_or_else(|| Token::Sign(word.to_owned()), Token::Number),
            _ if is_word(first) => Token::Name(word.to_owned()),
            _ => Token::Sign(word.to_owned()),
        });
        rest = tail.trim_start();
    }
    found
}

fn number(word: &str) -> Option<i64> {
    let word = word.trim_end_matches(['u', 'U', 'l', 'L']);
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None if word.len() > 1 && word.starts_with('0') => i64::from_str_radix(word, 8).ok(),
        None => word.parse().ok(),
    }
}

/// What a condition comes to; none where it holds more than numbers, names and operators.
fn value(text: &str, settings: &Settings) -> Option<i64> {
    let all = tokens(text);
    let mut reader = Reader { tokens: all.into_iter().peekable(), settings };
    let value = reader.binary(0)?;
    reader.tokens.next().is_none().then_some(value)
}

struct Reader<'a, I: Iterator<Item = Token>> {
    tokens: Peekable<I>,
    settings: &'a Settings,
}

impl<I: Iterator<Item = Token>> Reader<'_, I> {
    fn binary(&mut self, least: u8) -> Option<i64> {
        let mut left = self.unary()?;
        while let Some(Token::Sign(sign)) = self.tokens.peek().cloned() {
            let Some(strength) = strength(&sign).filter(|it| *it > least) else { break };
            self.tokens.next();
            let right = self.binary(strength)?;
            left = apply(&sign, left, right)?;
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<i64> {
        match self.tokens.next()? {
            Token::Number(value) => Some(value),
            Token::Sign(sign) => match sign.as_str() {
                "!" => Some(i64::from(self.unary()? == 0)),
                "-" => self.unary()?.checked_neg(),
                "+" => self.unary(),
                "~" => Some(!self.unary()?),
                "(" => {
                    let value = self.binary(0)?;
                    self.sign(")")?;
                    Some(value)
                }
                _ => None,
            },
            Token::Name(name) if name == "defined" => {
                let has_paren = self.tokens.next_if_eq(&Token::Sign("(".to_owned())).is_some();
                let Some(Token::Name(name)) = self.tokens.next() else { return None };
                if has_paren {
                    self.sign(")")?;
                }
                Some(i64::from(self.settings.get(&name)?.is_some()))
            }
            Token::Name(name) => {
                // What takes arguments is not a name alone.
                let is_call = self.tokens.peek() == Some(&Token::Sign("(".to_owned()));
                (!is_call).then_some(())?;
                Some(self.settings.get(&name)?.unwrap_or(0))
            }
        }
    }

    fn sign(&mut self, wanted: &str) -> Option<()> {
        self.tokens.next_if_eq(&Token::Sign(wanted.to_owned())).map(|_| ())
    }
}

/// How tightly an operator binds.
fn strength(sign: &str) -> Option<u8> {
    Some(match sign {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => return None,
    })
}

fn apply(sign: &str, left: i64, right: i64) -> Option<i64> {
    let truth = |it: bool| Some(i64::from(it));
    match sign {
        "||" => truth(left != 0 || right != 0),
        "&&" => truth(left != 0 && right != 0),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "<<" => left.checked_shl(u32::try_from(right).ok()?),
        ">>" => left.checked_shr(u32::try_from(right).ok()?),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        let at = text.find("here").expect("a place");
        let fixed = Settings::from([("_FIXED".to_owned(), Some(7))]);
        let found = satisfied(&around(text.as_bytes(), at), &fixed, &["N".to_owned()]);
        assert_eq!(found.as_ref().map(told).as_deref(), expect, "{text}");
    }

    #[test]
    fn names_are_set_so_that_a_line_is_read() {
        check("#ifdef A\nhere\n#endif", Some("-DA"));
        check("#ifdef A\n#else\nhere\n#endif", Some("-UA"));
        check("#ifndef A // why\n here\n#endif", Some("-UA"));
        check("#if defined(A) && !defined B\nhere\n#endif", Some("-DA -UB"));
        check("#if A > 3\n#elif A == 2 || \\\n C\nhere\n#endif", Some("-DA=2 -UC"));
        check("#if N > 3\n#else\nhere\n#endif", Some("-DN"));
        check("#if 1\n#ifdef A\n#endif\nhere\n#endif", Some(""));
    }

    #[test]
    fn what_no_name_can_reach_has_no_answer() {
        check("#if 0\nhere\n#endif", None);
        check("#if __has_include(<x.h>)\nhere\n#endif", None);
        check("#ifndef _FIXED\nhere\n#endif", None);
        check("#ifdef A\n#ifndef A\nhere\n#endif\n#endif", None);
    }

    #[test]
    fn comments_and_literals_hold_no_conditions() {
        check("/*\n#if 0\n*/ here", Some(""));
        check("char *a = \"/*\";\n#ifdef A\nhere /* */\n#endif", Some("-DA"));
    }

    #[test]
    fn conditions_are_counted_as_c_does() {
        let with = |it: &str| value(it, &Settings::from([("A".to_owned(), Some(5))]));
        assert_eq!(with("1 + 2 * 3 == 7 && A >= 5"), Some(1));
        assert_eq!(with("-(A - 8) << 1"), Some(6));
        assert_eq!(with("0x10 | 010"), Some(24));
        assert_eq!(with("10 - 4 - 3"), Some(3));
        assert_eq!(with("A / 0"), None);
        assert_eq!(with("B"), None);
        assert_eq!(with("(A"), None);
    }
}
