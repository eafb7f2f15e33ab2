//! A text to show: its bytes, its lines, and places in it.
//!
//! Usually a whole written file; where that is missing, a line of preprocessed text that bears
//! the name and the line number of the written one.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::{Location, Place, tokens};
use crate::lines::{Lines, offset};

/// A text with its lines.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) name: Arc<str>,
    pub(crate) bytes: Rc<[u8]>,
    pub(crate) lines: Lines,
    /// The number of the first line.
    pub(crate) first_line: u32,
    comments: OnceCell<Vec<Range<u32>>>,
}

impl Text {
    pub(super) fn new(name: Arc<str>, bytes: Vec<u8>, first_line: u32) -> Text {
        let lines = Lines::of(&bytes);
        Text { name, bytes: bytes.into(), lines, first_line, comments: OnceCell::new() }
    }

    /// Whether a line (from 0) begins inside a block comment.
    pub(super) fn begins_in_comment(&self, line: u32) -> bool {
        let comments =
            self.comments.get_or_init(|| tokens::lines_in_comments(&self.bytes, &self.lines));
        let index = comments.partition_point(|it| it.end <= line);
        comments.get(index).is_some_and(|it| it.contains(&line))
    }

    /// The place of some bytes; a range outside is moved to the end.
    pub(super) fn place(
        self: &Rc<Text>,
        range: Range<usize>,
        system: bool,
        is_written: bool,
    ) -> Place {
        let start = range.start.min(self.bytes.len());
        let end = range.end.clamp(start, self.bytes.len());
        let (line, column) = self.position(start);
        let (end_line, end_column) = self.position(end);
        let location = Location {
            file: Arc::clone(&self.name),
            line,
            column,
            end_line,
            end_column,
            in_system_header: system,
            written: is_written.then_some(start..end),
        };
        Place { location, text: Rc::clone(self), range: start..end }
    }

    fn position(&self, at: usize) -> (u32, u32) {
        let line = self.lines.line_of(offset(at));
        let before = self.bytes.get(self.lines.full(line).start..at).unwrap_or_default();
        (self.first_line.saturating_add(line), offset(characters(before)).saturating_add(1))
    }
}

/// How many characters some bytes show as.
fn characters(bytes: &[u8]) -> usize {
    let shown = |it: std::str::Utf8Chunk<'_>| {
        it.valid().chars().count() + usize::from(!it.invalid().is_empty())
    };
    bytes.utf8_chunks().map(shown).sum()
}
