//! The lines of a text that a snippet shows, made fit to be shown.
//!
//! In: a text and labelled ranges of it. Out: one string of whole lines, and the ranges in that
//! string. Only the lines between the labels are taken, so the cost does not depend on the size of
//! the file; invalid bytes become `U+FFFD`; what of a long line lies
//! far behind its labels is left out.

use std::ops::Range;

use crate::lines::{Lines, offset};
use crate::locate::Text;

/// Of longer lines only this much after the last label is taken: more than a terminal shows.
const LONG_LINE: usize = 400;

/// Some lines of a text.
#[derive(Debug)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// The number of its first line.
    pub(super) first_line: u32,
    /// The ranges asked for, as ranges of `text`.
    pub(super) ranges: Vec<Range<usize>>,
}

impl Excerpt {
    /// The lines of `text` that hold `ranges`.
    pub(super) fn of(text: &Text, ranges: &[Range<usize>]) -> Excerpt {
        let lines = &text.lines;
        let first = ranges.iter().map(|it| lines.line_of(offset(it.start))).min().unwrap_or(0);
        let last = ranges.iter().map(|it| last_line(lines, it)).max().unwrap_or(0);
        let mut excerpt = Excerpt {
            text: String::new(),
            first_line: text.first_line.saturating_add(first),
            ranges: vec![0..0; ranges.len()],
        };
        for line in first..=last.max(first) {
            excerpt.push_line(text, line, ranges);
        }
        // A line end must not be asked for: there is nothing to underline.
        excerpt.text.truncate(excerpt.text.trim_end_matches('\n').len());
        let end = excerpt.text.len();
        for range in &mut excerpt.ranges {
            *range = range.start.min(end)..range.end.clamp(range.start.min(end), end);
        }
        excerpt
    }

    fn push_line(&mut self, text: &Text, line: u32, ranges: &[Range<usize>]) {
        let content = text.lines.content(line, &text.bytes);
        let full = text.lines.full(line);
        let is_here =
            |at: usize| full.contains(&at) || (at >= full.end && full.end == text.bytes.len());
        let places = || {
            let both = ranges.iter().flat_map(|it| [it.start, it.end]);
            both.filter(|it| is_here(*it)).map(|it| it.min(content.end))
        };
        let mut kept = content.clone();
        if content.len() > LONG_LINE {
            // The beginning stays, for the renderer counts columns from it and cuts it itself.
            let reach = places().max().unwrap_or(content.start).saturating_add(LONG_LINE);
            kept.end = whole_character(&text.bytes, reach.min(content.end));
        }
        let shown_at = self.text.len();
        let shown = lossy(&text.bytes, kept.clone());
        self.text.push_str(&shown);
        let length_to = |at: usize| {
            let at = at.clamp(kept.start, kept.end);
            let mut length = lossy(&text.bytes, kept.start..at).len().min(shown.len());
            // A position inside a character counts as the character's start.
            while !shown.is_char_boundary(length) {
                length -= 1;
            }
            shown_at + length
        };
        for (range, asked) in self.ranges.iter_mut().zip(ranges) {
            if is_here(asked.start) {
                range.start = length_to(asked.start);
            }
            if is_here(asked.end) {
                range.end = length_to(asked.end);
            }
        }
        self.text.push('\n');
    }
}

/// The line where a range ends; one that takes a line's end with it ends on that line.
pub(super) fn last_line(lines: &Lines, range: &Range<usize>) -> u32 {
    lines.line_of(offset(range.end.saturating_sub(1).max(range.start)))
}

fn lossy(bytes: &[u8], range: Range<usize>) -> String {
    String::from_utf8_lossy(bytes.get(range).unwrap_or_default()).into_owned()
}

/// The position at or after `at` that does not fall into a UTF-8 sequence.
fn whole_character(bytes: &[u8], at: usize) -> usize {
    let is_inside = |it: &&u8| (**it & 0xc0) == 0x80;
    // A sequence has four bytes at most; what is longer is not UTF-8 anyway.
    at + bytes.iter().skip(at).take(3).take_while(is_inside).count()
}
