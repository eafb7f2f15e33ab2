//! Directives and statements as bytes of a written file: where they begin and end, and what is put in their place.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use source::Making;

use super::Keep;
use super::words::{one_line, pieces};

/// Lines beyond this are continued on the next.
const WIDTH: usize = 100;

/// Where a directive stands.
pub(super) struct Spot {
    pub(super) file: Arc<str>,
    pub(super) text: Rc<[u8]>,
    /// From its first to its last byte.
    pub(super) range: Range<usize>,
    /// What makes it, if it is no line of its own.
    pub(super) made: Option<Rc<Making>>,
}

impl Spot {
    pub(super) fn words(&self) -> String {
        let text = self.text.get(self.range.clone()).unwrap_or_default();
        one_line(&String::from_utf8_lossy(text))
    }

    pub(super) fn newline(&self) -> &'static str {
        newline(&self.text)
    }

    /// Whether a loop begins here.
    pub(super) fn begins_loop(&self) -> bool {
        let rest = self.text.get(self.range.start..).unwrap_or_default();
        ["for", "while", "do"].iter().any(|it| rest.starts_with(it.as_bytes()))
    }

    /// The blanks before it on its line, if nothing else is there.
    pub(super) fn indent(&self) -> Option<&str> {
        blanks_before(&self.text, self.range.start)
    }

    /// How much further the line before begins than this one, which begins with these blanks.
    pub(super) fn deeper_before(&self, blanks: &str) -> String {
        let start = physical_line(&self.text, self.range.start);
        let before = self.text.get(..start.saturating_sub(1)).unwrap_or_default();
        let line = before.get(physical_line(before, before.len())..).unwrap_or_default();
        let own = line.iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
        let own = String::from_utf8_lossy(line.get(..own).unwrap_or_default()).into_owned();
        own.strip_prefix(blanks).unwrap_or_default().to_owned()
    }

    /// Directives before a loop that has none.
    pub(super) fn before_loop(&self, lines: &[String]) -> String {
        let newline = self.newline();
        match self.indent() {
            Some(indent) => lines
                .iter()
                .map(|it| format!("{}{newline}{indent}", broken(it, indent, newline)))
                .collect(),
            None => format!("{newline}{}{newline}", lines.join(newline)),
        }
    }

    /// The bytes that go and what comes for them.
    pub(super) fn replacement(&self, lines: &[String], keep: Keep) -> (Range<usize>, String) {
        let newline = self.newline();
        let indent = self.indent().unwrap_or("").to_owned();
        let new: Vec<String> = lines.iter().map(|it| broken(it, &indent, newline)).collect();
        let separator = format!("{newline}{indent}");
        let old = self.text.get(self.range.clone()).unwrap_or_default();
        let old = String::from_utf8_lossy(old).into_owned();
        let text = match keep {
            Keep::Nothing => {
                let comments = comments(old.as_bytes()).into_iter().filter(|_| !new.is_empty());
                std::iter::once(new.join(&separator)).chain(comments).collect::<Vec<_>>().join(" ")
            }
            Keep::Comment => {
                let kept = format!("/* {} */", one_line(&old).replace("*/", "* /"));
                std::iter::once(kept).chain(new).collect::<Vec<_>>().join(&separator)
            }
            Keep::Guard => guarded(guard_macro(&old), old, &new, &separator),
        };
        if !text.is_empty() {
            return (self.range.clone(), text);
        }
        // The line goes too if nothing else is on it.
        let start = physical_line(&self.text, self.range.start);
        let rest = self.text.get(self.range.end..).unwrap_or_default();
        let end = rest.iter().position(|it| *it == b'\n').map_or(rest.len(), |it| it + 1);
        let is_alone = rest.get(..end).is_some_and(|it| it.trim_ascii().is_empty());
        match is_alone && self.indent().is_some() {
            true => (start..self.range.end + end, text),
            false => (self.range.clone(), text),
        }
    }
}

/// Comments between the words of a directive, each on one line.
fn comments(text: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.windows(2).position(|it| it == b"/*") {
        let inside = rest.get(start + 2..).unwrap_or_default();
        let Some(end) = inside.windows(2).position(|it| it == b"*/") else { break };
        let comment = inside.get(..end).unwrap_or_default();
        found.push(format!("/* {} */", one_line(&String::from_utf8_lossy(comment))));
        rest = inside.get(end + 2..).unwrap_or_default();
    }
    found
}

pub(super) fn is_our_header(file: &str) -> bool {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    name == directive::TRANSLATION_HEADER || name == directive::BACK_HEADER
}

/// The old text for compilers that define a macro, the new for all others.
pub(super) fn guarded(standard: &str, old: String, new: &[String], separator: &str) -> String {
    let mut all = vec![format!("#ifdef {standard}"), old];
    if !new.is_empty() {
        all.push("#else".to_owned());
        all.extend(new.iter().cloned());
    }
    all.push("#endif".to_owned());
    all.join(separator)
}

/// The words of a directive that belong to its standard: names of constructs, clauses and modifiers.
pub(super) fn keywords(line: &str) -> Vec<&str> {
    let parts = pieces(line);
    let mut found = Vec::new();
    let (mut round, mut square) = (0usize, 0usize);
    for (at, part) in parts.iter().enumerate() {
        let is_word = part.starts_with(|it: char| it.is_alphabetic() || it == '_');
        let is_modifier = round == 1
            && square == 0
            && parts.get(at + 1).is_some_and(|it| it.trim_start().starts_with(':'));
        if is_word && (round == 0 || is_modifier) {
            found.push(*part);
        }
        for it in part.chars() {
            match it {
                '(' => round += 1,
                ')' => round = round.saturating_sub(1),
                '[' => square += 1,
                ']' => square = square.saturating_sub(1),
                _ => {}
            }
        }
    }
    found
}

/// The macro of the standard that a directive belongs to.
pub(super) fn guard_macro(old: &str) -> &'static str {
    match directive::is_of_levels(&one_line(old)) {
        true => directive::MACRO_OF_LEVELS,
        false => directive::MACRO_OF_TEAMS,
    }
}

/// Continued on further lines where it is long.
fn broken(line: &str, indent: &str, newline: &str) -> String {
    if line.len() + indent.len() <= WIDTH || !line.starts_with('#') {
        return line.to_owned();
    }
    let mut text = String::new();
    let mut width = indent.len();
    for (at, clause) in clauses(line).into_iter().enumerate() {
        if at > 0 && width + clause.len() + 3 > WIDTH {
            text.push_str(&format!(" \\{newline}{indent}    {clause}"));
            width = indent.len() + 4 + clause.len();
        } else {
            if at > 0 {
                text.push(' ');
            }
            text.push_str(clause);
            width += clause.len() + 1;
        }
    }
    text
}

/// The words of a directive; what stands in parentheses belongs to the word before.
pub(super) fn clauses(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0usize);
    for (at, letter) in line.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => {
                parts.extend(line.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(line.get(start..));
    parts
}

/// Where the line of a byte begins, lines joined by backslashes counted as one.
pub(super) fn logical_line(text: &[u8], at: usize) -> usize {
    let mut start = physical_line(text, at);
    while start > 1 {
        let before = text.get(..start - 1).unwrap_or_default();
        let before = before.strip_suffix(b"\r").unwrap_or(before);
        if !before.ends_with(b"\\") {
            break;
        }
        start = physical_line(text, start - 1);
    }
    start
}

/// Where a directive ends that begins at a byte: behind the last word of its line, without comments.
pub(super) fn directive_end(text: &[u8], start: usize) -> usize {
    let (mut at, mut end) = (start, start);
    while let Some(byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        let joined = [b"\\\n".as_slice(), b"\\\r\n"].into_iter().find(|it| rest.starts_with(it));
        if let Some(joined) = joined {
            at += joined.len();
        } else if rest.starts_with(b"//") || *byte == b'\n' {
            break;
        } else if rest.starts_with(b"/*") {
            let inside = rest.get(2..).unwrap_or_default();
            let length = inside.windows(2).position(|it| it == b"*/");
            at += length.map_or(rest.len(), |it| it + 4);
        } else {
            at += 1;
            if !byte.is_ascii_whitespace() {
                end = at;
            }
        }
    }
    end
}

/// The line of a byte with those that backslashes join to it, without its end.
pub(super) fn definition(text: &[u8], at: usize) -> Range<usize> {
    let start = logical_line(text, at);
    let mut from = at;
    loop {
        let rest = text.get(from..).unwrap_or_default();
        let length = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
        let line = text.get(..from + length).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if length == rest.len() || !line.ends_with(b"\\") {
            return start..line.len();
        }
        from += length + 1;
    }
}

/// The names that a file defines as macros, each time it does.
pub(super) fn defined(text: &[u8]) -> Vec<String> {
    let lines = text.split(|it| *it == b'\n').filter_map(|line| {
        let rest = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
        let rest = rest.strip_prefix(b"define")?;
        let name = String::from_utf8_lossy(rest.trim_ascii_start()).into_owned();
        pieces(&name).first().map(|it| (*it).to_owned())
    });
    lines.collect()
}

fn physical_line(text: &[u8], at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1)
}

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|it| it == part)
}

/// Where the first line stands that includes something; the beginning if none does.
pub(super) fn first_include(text: &[u8]) -> usize {
    let mut start = 0;
    for line in text.split_inclusive(|it| *it == b'\n') {
        let words = line.trim_ascii_start().strip_prefix(b"#").unwrap_or_default();
        if words.trim_ascii_start().starts_with(b"include") {
            return start;
        }
        start += line.len();
    }
    0
}

/// Behind the semicolon of a statement.
pub(super) fn statement_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let is_behind = text.get(at.saturating_sub(1)) == Some(&b';');
    match rest.iter().position(|it| !it.is_ascii_whitespace()) {
        Some(gap) if !is_behind && rest.get(gap) == Some(&b';') => at + gap + 1,
        _ => at,
    }
}

/// How lines of a file end: as the first does.
pub(super) fn newline(text: &[u8]) -> &'static str {
    let end = text.iter().position(|it| *it == b'\n').unwrap_or(0);
    if text.get(..end).is_some_and(|it| it.ends_with(b"\r")) { "\r\n" } else { "\n" }
}

/// The blanks before a byte on its line, if nothing else is there.
pub(super) fn blanks_before(text: &[u8], at: usize) -> Option<&str> {
    let before = std::str::from_utf8(text.get(physical_line(text, at)..at)?).ok()?;
    before.trim().is_empty().then_some(before)
}

/// Where a line can come without parting what stands there: the end of the line, if nothing but blanks and a
/// comment are left of it.
pub(super) fn line_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let length = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
    let line = rest.get(..length).unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let words = line.trim_ascii();
    let is_comment = match words.strip_prefix(b"/*") {
        Some(rest) => rest.windows(2).position(|it| it == b"*/") == rest.len().checked_sub(2),
        None => words.starts_with(b"//") && !words.ends_with(b"\\"),
    };
    let is_free = words.is_empty() || is_comment;
    if is_free { at + line.len() } else { at }
}

/// Whether only blanks are left on the line of a byte.
pub(super) fn ends_line(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let rest = rest.split(|it| *it == b'\n').next().unwrap_or_default();
    rest.trim_ascii().is_empty()
}

/// The blanks that the line behind this one begins with.
pub(super) fn blanks_of_next(text: &[u8], at: usize) -> String {
    let rest = text.get(at..).unwrap_or_default();
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
    let Some(next) = rest.strip_prefix(b"\n") else { return String::new() };
    let count = next.iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
    String::from_utf8_lossy(next.get(..count).unwrap_or_default()).into_owned()
}

/// Behind the declaration or function that follows: its semicolon, or the brace that ends its body.
pub(super) fn declaration_end(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut depth = 0usize;
    let mut at = 0usize;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'/' if rest.get(at + 1) == Some(&b'*') => {
                let tail = rest.get(at + 2..)?;
                at += 3 + tail.windows(2).position(|it| it == b"*/")?;
            }
            b'/' if rest.get(at + 1) == Some(&b'/') => {
                at += rest.get(at..)?.iter().position(|it| *it == b'\n')?;
            }
            // Other directives and definitions between them.
            b'#' if depth == 0 => {
                let mut end = at;
                loop {
                    end += rest.get(end..)?.iter().position(|it| *it == b'\n')?;
                    let line = rest.get(..end)?;
                    if !line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\") {
                        break;
                    }
                    end += 1;
                }
                at = end;
            }
            b'"' | b'\'' => {
                let quote = *byte;
                at += 1;
                while *rest.get(at)? != quote {
                    at += if rest.get(at) == Some(&b'\\') { 2 } else { 1 };
                }
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(from + at + 1);
                }
            }
            b';' if depth == 0 => return Some(from + at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}
