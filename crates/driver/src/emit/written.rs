//! Changes to a preprocessed text, made in the file that it came from.
//!
//! Lines are the unit: a written line that no change touches stays as it is, with its comments and
//! macros; those that one touches are replaced by what the preprocessor made of them, changed. What
//! belongs together goes together: a directive and its continuation, the arguments of a macro, all
//! branches of `#if` if a change reaches beyond one.

use std::ops::RangeInclusive;
use std::path::Path;

use source::{FileId, SourceMap};

/// A change that cannot be made there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unwritable {
    /// Offset in the preprocessed text.
    pub(super) at: usize,
    pub(super) why: &'static str,
}

/// Lines of the written file, from 1.
type Span = RangeInclusive<usize>;

/// The written file with all changes.
pub(super) fn written(
    source: &[u8],
    path: &Path,
    map: &SourceMap,
    file: FileId,
    pieces: &emit::Standalone,
) -> Result<Vec<u8>, Unwritable> {
    let text = map.bytes(file);
    let name = crate::input::guarded(path).display().to_string();
    let lines: Vec<Line> = map
        .written_lines(file)
        .map(|(bytes, origin)| {
            let is_text = origin.is_some();
            let number = origin.filter(|it| *it.0 == *name).map(|it| it.1 as usize);
            Line { bytes, is_text, number }
        })
        .collect();
    let look = Look::at(source);
    let mut spans: Vec<Span> = Vec::new();
    for (range, _) in &pieces.changes {
        let last = range.end.max(range.start + 1) - 1;
        // What is put behind something stands on its line.
        let first = if range.is_empty() { range.start.saturating_sub(1) } else { range.start };
        let last = if range.is_empty() { first } else { last };
        let touched = lines.iter().filter(|it| it.bytes.start <= last && it.bytes.end > first);
        let mut numbers = Vec::new();
        for line in touched.filter(|it| it.is_text) {
            numbers.push(line.number);
        }
        let at = range.start;
        let numbers: Option<Vec<usize>> = numbers.into_iter().collect();
        let numbers = numbers.ok_or(Unwritable { at, why: "it is in another file" })?;
        let bounds = numbers.iter().min().zip(numbers.iter().max());
        let Some((first, last)) = bounds else {
            return Err(Unwritable { at, why: "it has no line" });
        };
        let span = look.whole(*first..=*last);
        spans.push(span.ok_or(Unwritable { at, why: "its `#if` or macro has no end" })?);
    }
    let mut made = Vec::with_capacity(source.len() + pieces.tail.len());
    made.extend_from_slice(pieces.head.as_bytes());
    let mut done = 1;
    for span in merged(spans) {
        made.extend_from_slice(look.text(source, done, *span.start()));
        if look.begins_in_comment(*span.start()) {
            made.extend_from_slice(b"*/\n");
        }
        made.extend(changed(text, &lines, &span, pieces, &look.indent(source, *span.start())));
        if look.begins_in_comment(span.end() + 1) {
            made.extend_from_slice(b"/*");
        }
        done = span.end() + 1;
    }
    made.extend_from_slice(look.text(source, done, look.count() + 1));
    if made.last().is_some_and(|it| *it != b'\n') {
        made.push(b'\n');
    }
    made.extend_from_slice(pieces.tail.as_bytes());
    Ok(made)
}

/// A line of the preprocessed text.
struct Line {
    bytes: std::ops::Range<usize>,
    /// It is none of the preprocessor's own.
    is_text: bool,
    /// The line of the written file that it stands for.
    number: Option<usize>,
}

/// What the preprocessor made of some written lines, changed.
fn changed(
    text: &[u8],
    lines: &[Line],
    span: &Span,
    pieces: &emit::Standalone,
    indent: &str,
) -> Vec<u8> {
    let is_here = |it: &Line| it.number.is_some_and(|it| span.contains(&it));
    let (Some(first), Some(last)) =
        (lines.iter().position(is_here), lines.iter().rposition(is_here))
    else {
        return Vec::new();
    };
    let mut made = String::new();
    let mut skip = 0;
    for line in lines.get(first..=last).unwrap_or_default() {
        let mut at = line.bytes.start.max(skip);
        let mut kept = String::new();
        let is_last = line.bytes.end == lines.get(last).map_or(0, |it| it.bytes.end);
        for (range, new) in &pieces.changes {
            let is_behind = range.is_empty() && range.start == line.bytes.end && is_last;
            let is_in = line.bytes.contains(&range.start) || is_behind;
            if !is_in || range.start < at {
                continue;
            }
            kept.push_str(&String::from_utf8_lossy(text.get(at..range.start).unwrap_or_default()));
            if new.contains('\n') {
                // A block stands on lines of its own, as deep as what it replaces.
                kept = kept.trim_end().to_owned();
                if !kept.is_empty() {
                    kept.push('\n');
                }
                for it in new.lines().filter(|it| !it.trim().is_empty()) {
                    let depth = if it.starts_with('#') { "" } else { indent };
                    kept.push_str(&format!("{depth}{it}\n"));
                }
            } else {
                kept.push_str(new);
            }
            at = range.end;
            skip = range.end;
        }
        let rest = text.get(at.min(line.bytes.end)..line.bytes.end).unwrap_or_default();
        if line.is_text || at > line.bytes.start {
            kept.push_str(&String::from_utf8_lossy(rest));
        }
        for it in kept.lines().filter(|it| !it.trim().is_empty()) {
            made.push_str(it.trim_end());
            made.push('\n');
        }
    }
    made.into_bytes()
}

/// Spans that share lines are one.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|it| *it.start());
    let mut made: Vec<Span> = Vec::new();
    for span in spans {
        match made.last_mut() {
            Some(last) if span.start() <= last.end() => {
                *last = *last.start()..=*last.end().max(span.end());
            }
            _ => made.push(span),
        }
    }
    made
}

/// What is known of the lines of a written file.
struct Look {
    lines: Vec<Seen>,
    /// The lines of each `#if` with its `#else` and `#endif`.
    groups: Vec<Vec<usize>>,
}

struct Seen {
    bytes: std::ops::Range<usize>,
    /// The line begins inside of a comment.
    in_comment: bool,
    /// The next line is a part of it.
    goes_on: bool,
    /// Parentheses that it opens, less those that it closes.
    open: i32,
}

impl Look {
    fn at(source: &[u8]) -> Look {
        let mut lines = Vec::new();
        let (mut groups, mut open): (Vec<Vec<usize>>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        let (mut start, mut in_comment) = (0, false);
        let mut was_on = false;
        for line in source.split_inclusive(|it| *it == b'\n') {
            let number = lines.len() + 1;
            let words = line.trim_ascii();
            let (parentheses, ends_in_comment) = scanned(line, in_comment);
            let word = words.strip_prefix(b"#").filter(|_| !in_comment && !was_on);
            let word = word.map(<[u8]>::trim_ascii_start).unwrap_or_default();
            let word = word.split(|it| !it.is_ascii_alphabetic()).next().unwrap_or_default();
            match word {
                b"if" | b"ifdef" | b"ifndef" => open.push(vec![number]),
                b"elif" | b"else" | b"elifdef" | b"elifndef" => {
                    open.last_mut().into_iter().for_each(|it| it.push(number));
                }
                b"endif" => groups.extend(open.pop().map(|mut it| {
                    it.push(number);
                    it
                })),
                _ => {}
            }
            let goes_on = words.ends_with(b"\\");
            lines.push(Seen {
                bytes: start..start + line.len(),
                in_comment,
                goes_on,
                open: if word.is_empty() { parentheses } else { 0 },
            });
            was_on = goes_on;
            start += line.len();
            in_comment = ends_in_comment;
        }
        Look { lines, groups }
    }

    fn count(&self) -> usize {
        self.lines.len()
    }

    fn seen(&self, line: usize) -> Option<&Seen> {
        self.lines.get(line.checked_sub(1)?)
    }

    fn begins_in_comment(&self, line: usize) -> bool {
        self.seen(line).is_some_and(|it| it.in_comment)
    }

    /// The bytes from a line on and before another.
    fn text<'a>(&self, source: &'a [u8], from: usize, to: usize) -> &'a [u8] {
        let start = |line: usize| self.seen(line).map_or(source.len(), |it| it.bytes.start);
        source.get(start(from)..start(to)).unwrap_or_default()
    }

    /// How deep the code is from a line on: the white space before the first that is no directive.
    fn indent(&self, source: &[u8], line: usize) -> String {
        let mut goes_on = false;
        for line in line..=self.count() {
            let bytes = self.text(source, line, line + 1);
            let words = bytes.trim_ascii_start();
            let is_code = !words.is_empty() && !words.starts_with(b"#") && !goes_on;
            goes_on = self.seen(line).is_some_and(|it| it.goes_on);
            if is_code {
                let space = bytes.iter().take_while(|it| matches!(it, b' ' | b'\t'));
                return space.map(|it| char::from(*it)).collect();
            }
        }
        String::new()
    }

    /// The lines that belong together with some of them; none if something has no end.
    fn whole(&self, span: Span) -> Option<Span> {
        let (mut first, mut last) = span.into_inner();
        loop {
            let before = (first, last);
            while self.seen(last)?.goes_on {
                last += 1;
            }
            while first > 1 && self.seen(first - 1)?.goes_on {
                first -= 1;
            }
            let open = |first: usize, last: usize| -> i32 {
                (first..=last).filter_map(|it| self.seen(it)).map(|it| it.open).sum()
            };
            while open(first, last) > 0 {
                last += 1;
                self.seen(last)?;
            }
            while open(first, last) < 0 {
                first = first.checked_sub(1)?;
                self.seen(first)?;
            }
            for group in &self.groups {
                let (Some(begin), Some(end)) = (group.first(), group.last()) else { continue };
                let touches = group.iter().any(|it| (first..=last).contains(it));
                if touches {
                    first = first.min(*begin);
                    last = last.max(*end);
                }
            }
            if before == (first, last) {
                return Some(first..=last);
            }
        }
    }
}

/// Parentheses that a line opens, less those that it closes; and whether a comment goes on behind it.
fn scanned(line: &[u8], in_comment: bool) -> (i32, bool) {
    let (mut open, mut comment, mut quote) = (0, in_comment, None);
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if comment {
            if byte == b'*' && bytes.peek() == Some(&b'/') {
                bytes.next();
                comment = false;
            }
            continue;
        }
        if let Some(end) = quote {
            if byte == b'\\' {
                bytes.next();
            } else if byte == end {
                quote = None;
            }
            continue;
        }
        match (byte, bytes.peek()) {
            (b'/', Some(b'*')) => {
                bytes.next();
                comment = true;
            }
            (b'/', Some(b'/')) => break,
            (b'"' | b'\'', _) => quote = Some(byte),
            (b'(', _) => open += 1,
            (b')', _) => open -= 1,
            _ => {}
        }
    }
    (open, comment)
}
