//! Line markers: which written line each line of a preprocessed text came from.
//!
//! In: the text that `cc -E` printed, with lines such as `# 12 "file.c" 1 3` and
//! `#line 12 "file.c"`. Out: [`Markers`], built in one pass over the lines, asked by binary search.
//! Not here: columns ([`crate::Locator`] recovers those from the written text).

use std::collections::HashMap;
use std::sync::Arc;

use crate::lines::{Lines, offset};

/// The line markers of one text, in order.
#[derive(Debug)]
pub(crate) struct Markers {
    list: Vec<Marker>,
    names: Vec<Arc<str>>,
}

/// One marker: from `first` on, lines are those of file `name` from `line` on.
#[derive(Debug)]
struct Marker {
    /// The line after the marker, numbered from 0.
    first: u32,
    /// The written number of that line.
    line: u32,
    /// Index into the names.
    name: u32,
    system: bool,
}

/// The written line that a line of a preprocessed text stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The written file, as the marker names it.
    pub(crate) name: Arc<str>,
    /// Its line, from 1.
    pub(crate) line: u32,
    /// Whether the marker calls it a system header.
    pub(crate) system: bool,
}

impl Markers {
    /// Reads the markers of `text`; lines before the first belong to `own_name`.
    pub(crate) fn of(own_name: &Arc<str>, text: &[u8], lines: &Lines) -> Markers {
        let mut names = vec![Arc::clone(own_name)];
        let mut known = HashMap::from([(own_name.as_bytes().to_vec(), 0)]);
        let mut list = vec![Marker { first: 0, line: 1, name: 0, system: false }];
        for line in 0..lines.count() {
            let bytes = text.get(lines.content(line, text)).unwrap_or_default();
            // Almost every line is told apart by its first byte.
            if !matches!(bytes.first(), Some(b'#' | b' ' | b'\t')) {
                continue;
            }
            let Some(parsed) = parse(bytes) else { continue };
            let name = match parsed.name {
                None => list.last().map_or(0, |it| it.name),
                Some(name) => *known.entry(name).or_insert_with_key(|name| {
                    names.push(String::from_utf8_lossy(name).into());
                    offset(names.len() - 1)
                }),
            };
            list.push(Marker { first: line + 1, line: parsed.line, name, system: parsed.system });
        }
        Markers { list, names }
    }

    /// Where the line `line` (from 0) of the text was written.
    pub(crate) fn origin(&self, line: u32) -> Option<Origin> {
        let index = self.list.partition_point(|it| it.first <= line).checked_sub(1)?;
        let marker = self.list.get(index)?;
        Some(Origin {
            name: Arc::clone(self.names.get(marker.name as usize)?),
            line: marker.line.saturating_add(line - marker.first),
            system: marker.system,
        })
    }
}

struct Parsed {
    line: u32,
    name: Option<Vec<u8>>,
    system: bool,
}

/// Whether a line is a marker rather than text of the program.
pub(crate) fn is_marker(line: &[u8]) -> bool {
    parse(line).is_some()
}

/// `# 12 "name" flags` or `#line 12 "name"`; `None` for any other line.
fn parse(line: &[u8]) -> Option<Parsed> {
    let rest = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"line").map_or(rest, <[u8]>::trim_ascii_start);
    let digits = rest.iter().take_while(|it| it.is_ascii_digit()).count();
    let (number, rest) = rest.split_at_checked(digits)?;
    let number = std::str::from_utf8(number).ok().filter(|it| !it.is_empty())?;
    // A number past 32 bits is nonsense, but still a marker.
    let line = number.parse().unwrap_or(u32::MAX);
    let rest = rest.trim_ascii_start();
    let Some(quoted) = rest.strip_prefix(b"\"") else {
        return rest.is_empty().then_some(Parsed { line, name: None, system: false });
    };
    let (name, flags) = unquote(quoted)?;
    let system = flags.split(u8::is_ascii_whitespace).any(|flag| flag == b"3");
    Some(Parsed { line, name: Some(name), system })
}

/// The string up to its closing quote, escapes undone, and what follows it.
fn unquote(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut name = Vec::new();
    let mut rest = text;
    loop {
        let (&byte, tail) = rest.split_first()?;
        rest = tail;
        match byte {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let octal = rest.iter().take(3).take_while(|it| matches!(it, b'0'..=b'7')).count();
                let (digits, tail) = rest.split_at_checked(octal.max(1))?;
                rest = tail;
                name.push(match octal {
                    0 => *digits.first()?,
                    _ => digits.iter().fold(0, |sum: u8, it| (sum << 3) | (it - b'0')),
                });
            }
            other => name.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let lines = Lines::of(text.as_bytes());
        let markers = Markers::of(&"own.i".into(), text.as_bytes(), &lines);
        let found: Vec<String> = (0..lines.count())
            .filter(|it| !is_marker(&text.as_bytes()[lines.content(*it, text.as_bytes())]))
            .map(|it| markers.origin(it).expect("every line has an origin"))
            .map(|it| format!("{}:{}{}", it.name, it.line, if it.system { " system" } else { "" }))
            .collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn markers_lead_back_to_the_written_line() {
        check("a\nb", &["own.i:1", "own.i:2"]);
        check("# 12 \"x.c\"\na\nb", &["x.c:12", "x.c:13"]);
        check("#line 7 \"x.c\"\na\n#line 3\nb", &["x.c:7", "x.c:3"]);
        check(
            "# 1 \"x.c\"\n# 1 \"/usr/include/a.h\" 1 3 4\na\n# 2 \"x.c\" 2\nb",
            &["/usr/include/a.h:1 system", "x.c:2"],
        );
        check("  # 4 \"x.c\"\r\na", &["x.c:4"]);
    }

    #[test]
    fn escapes_in_names_are_undone() {
        check(r#"# 1 "a\\b \"c\" \303\244.c""#, &[]);
        check("# 1 \"a\\\\b \\\"c\\\" \\303\\244.c\"\nx", &["a\\b \"c\" ä.c:1"]);
    }

    #[test]
    fn other_lines_are_text() {
        check(
            "#pragma x\n# define Y\n#\n# x 12\n# 1 \"open",
            &["own.i:1", "own.i:2", "own.i:3", "own.i:4", "own.i:5"],
        );
    }

    #[test]
    fn huge_numbers_do_not_overflow() {
        check("# 99999999999 \"x.c\"\na\nb", &["x.c:4294967295", "x.c:4294967295"]);
    }
}
