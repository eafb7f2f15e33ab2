//! Where the lines of a text begin.
//!
//! In: bytes, once. Out: the line of an offset by binary search, and the range of a line. Lines are
//! numbered from 0 here; people see them numbered from 1. A line ends at `\n`; a `\r` before it
//! belongs to the line end.

use std::ops::Range;

/// The start of every line of one text.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Never empty: the first line begins at 0 even where there is no text.
    starts: Vec<u32>,
    len: u32,
}

impl Lines {
    /// Finds the lines of `text`, which the address space keeps below 4 GiB.
    pub(crate) fn of(text: &[u8]) -> Lines {
        let mut starts = Vec::with_capacity(text.len() / 32 + 1);
        starts.push(0);
        starts.extend(memchr::memchr_iter(b'\n', text).map(|it| offset(it + 1)));
        Lines { starts, len: offset(text.len()) }
    }

    /// How many lines there are; an empty text has one.
    pub(crate) fn count(&self) -> u32 {
        offset(self.starts.len())
    }

    /// The line that holds the byte at `at`; the last line for anything past the end.
    pub(crate) fn line_of(&self, at: u32) -> u32 {
        offset(self.starts.partition_point(|start| *start <= at).saturating_sub(1))
    }

    /// The bytes of a line with its line end; empty, at the end of the text, for a line too far.
    pub(crate) fn full(&self, line: u32) -> Range<usize> {
        let start_of = |it: u32| self.starts.get(it as usize).copied().unwrap_or(self.len) as usize;
        start_of(line)..start_of(line.saturating_add(1))
    }

    /// The bytes of a line without its line end.
    pub(crate) fn content(&self, line: u32, text: &[u8]) -> Range<usize> {
        let full = self.full(line);
        let bytes = text.get(full.clone()).unwrap_or_default();
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        full.start..full.start + bytes.len()
    }
}

/// A text position as 32 bits; positions of texts in a map always fit.
pub(crate) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, lines: &[&str]) {
        let table = Lines::of(text.as_bytes());
        let found: Vec<&str> =
            (0..table.count()).map(|it| &text[table.content(it, text.as_bytes())]).collect();
        assert_eq!(found, lines, "{text:?}");
        for at in 0..=offset(text.len()) {
            let line = table.line_of(at);
            let full = table.full(line);
            assert!(full.start <= at as usize && at as usize <= full.end, "{text:?} at {at}");
        }
    }

    #[test]
    fn every_line_is_found_without_its_end() {
        check("", &[""]);
        check("a", &["a"]);
        check("a\n", &["a", ""]);
        check("a\r\nb", &["a", "b"]);
        check("\n\n", &["", "", ""]);
    }

    #[test]
    fn a_line_too_far_is_empty() {
        assert_eq!(Lines::of(b"abc").full(7), 3..3);
    }
}
