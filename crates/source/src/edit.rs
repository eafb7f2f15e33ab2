//! Changes to a text that leave every other byte alone.
//!
//! In: replacements of byte ranges of one file, in any order. Out: the new text, and the edits that
//! undo it. Edits may touch but not overlap; several insertions at one place come in the order they
//! were made. How a change looks as a patch is [`crate::unified_diff`]'s business.

use std::fmt;
use std::ops::Range;

/// Changes to one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// In the order of their starts; none overlaps another.
    list: Vec<Edit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Edit {
    range: Range<usize>,
    text: Vec<u8>,
}

/// Why a change cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditError {
    /// Two changes want the same bytes.
    Overlap {
        /// The change already there.
        first: Range<usize>,
        /// The one refused.
        second: Range<usize>,
    },
    /// A change lies beyond the end of the text.
    OutOfText {
        /// The change.
        range: Range<usize>,
        /// Length of the text.
        len: usize,
    },
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditError::Overlap { first, second } => write!(
                f,
                "the change of bytes {second:?} overlaps the one of bytes {first:?} made before"
            ),
            EditError::OutOfText { range, len } => {
                write!(f, "the change of bytes {range:?} lies outside a text of {len} bytes")
            }
        }
    }
}

impl std::error::Error for EditError {}

impl Edits {
    /// No changes.
    pub fn new() -> Edits {
        Edits::default()
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All changes, in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = (Range<usize>, &[u8])> {
        self.list.iter().map(|it| (it.range.clone(), it.text.as_slice()))
    }

    /// Puts `text` in the place of `range`.
    pub fn replace(
        &mut self,
        range: Range<usize>,
        text: impl Into<Vec<u8>>,
    ) -> Result<(), EditError> {
        let text = text.into();
        if range.start > range.end {
            return Err(EditError::OutOfText { range, len: 0 });
        }
        // After all that end before it or are insertions at the same place.
        let index = self.list.partition_point(|it| {
            it.range.start < range.start
                || (it.range.start == range.start && (it.range.is_empty() || it.range == range))
        });
        let before = index.checked_sub(1).and_then(|it| self.list.get(it));
        let clash = before
            .filter(|it| it.range.end > range.start)
            .or_else(|| self.list.get(index).filter(|it| range.end > it.range.start));
        if let Some(Edit { range: first, .. }) = clash {
            return Err(EditError::Overlap { first: first.clone(), second: range });
        }
        self.list.insert(index, Edit { range, text });
        Ok(())
    }

    /// Puts `text` before the byte at `at`.
    pub fn insert(&mut self, at: usize, text: impl Into<Vec<u8>>) -> Result<(), EditError> {
        self.replace(at..at, text)
    }

    /// Takes `range` away.
    pub fn delete(&mut self, range: Range<usize>) -> Result<(), EditError> {
        self.replace(range, Vec::new())
    }

    /// The text with all changes made.
    pub fn apply(&self, text: &[u8]) -> Result<Vec<u8>, EditError> {
        let mut changed = Vec::with_capacity(text.len());
        let mut done = 0;
        for edit in &self.list {
            let outside = || EditError::OutOfText { range: edit.range.clone(), len: text.len() };
            text.get(edit.range.clone()).ok_or_else(outside)?;
            changed.extend_from_slice(text.get(done..edit.range.start).ok_or_else(outside)?);
            changed.extend_from_slice(&edit.text);
            done = edit.range.end;
        }
        changed.extend_from_slice(text.get(done..).unwrap_or_default());
        Ok(changed)
    }

    /// The changes that lead from the changed text back to `text`.
    pub fn invert(&self, text: &[u8]) -> Result<Edits, EditError> {
        let mut list: Vec<Edit> = Vec::with_capacity(self.list.len());
        let (mut grown, mut shrunk) = (0, 0);
        for edit in &self.list {
            let outside = || EditError::OutOfText { range: edit.range.clone(), len: text.len() };
            let old = text.get(edit.range.clone()).ok_or_else(outside)?;
            let start = edit.range.start + grown - shrunk;
            grown += edit.text.len();
            shrunk += edit.range.len();
            list.push(Edit { range: start..start + edit.text.len(), text: old.to_vec() });
        }
        Ok(Edits { list })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Change<'a> = (Range<usize>, &'a str);

    #[track_caller]
    fn check(text: &str, changes: &[Change<'_>], expect: &str) {
        let mut edits = Edits::new();
        for (range, new) in changes {
            edits.replace(range.clone(), *new).expect("no overlap");
        }
        let changed = edits.apply(text.as_bytes()).expect("inside");
        assert_eq!(String::from_utf8_lossy(&changed), expect);
        let undo = edits.invert(text.as_bytes()).expect("inside");
        assert_eq!(undo.apply(&changed).expect("inside"), text.as_bytes());
    }

    #[test]
    fn changes_are_made_in_the_order_of_the_text() {
        check("abcdef", &[(4..5, "E"), (1..2, "B!")], "aB!cdEf");
        check("abc", &[], "abc");
        check("abc", &[(3..3, "!"), (0..0, "?")], "?abc!");
    }

    #[test]
    fn changes_may_touch() {
        check("abcd", &[(0..2, "x"), (2..4, "y")], "xy");
        check("abcd", &[(0..2, "x"), (2..2, "-"), (2..4, "y")], "x-y");
        check("abcd", &[(2..4, "y"), (2..2, "-"), (0..2, "x")], "x-y");
    }

    #[test]
    fn insertions_at_one_place_keep_their_order() {
        check("ab", &[(1..1, "1"), (1..1, "2"), (1..1, "3")], "a123b");
    }

    #[track_caller]
    fn check_refused(first: Range<usize>, second: Range<usize>) {
        let mut edits = Edits::new();
        edits.delete(first.clone()).expect("the first");
        let clash = EditError::Overlap { first, second: second.clone() };
        assert_eq!(edits.delete(second), Err(clash));
    }

    #[test]
    fn overlaps_are_refused() {
        check_refused(0..4, 2..6);
        check_refused(2..6, 0..4);
        check_refused(0..4, 1..2);
        check_refused(1..2, 0..4);
        check_refused(1..2, 1..2);
        check_refused(0..4, 2..2);
        check_refused(2..2, 0..4);
    }

    #[test]
    fn what_lies_outside_is_refused() {
        let mut edits = Edits::new();
        edits.delete(2..9).expect("no overlap");
        let outside = EditError::OutOfText { range: 2..9, len: 3 };
        assert_eq!(edits.apply(b"abc"), Err(outside.clone()));
        assert_eq!(edits.invert(b"abc"), Err(outside));
    }

    proptest! {
        #[test]
        fn undoing_restores_every_byte(
            text in proptest::collection::vec(any::<u8>(), 0..60),
            changes in proptest::collection::vec(
                (0usize..60, 0usize..10, proptest::collection::vec(any::<u8>(), 0..6)), 0..10),
        ) {
            let mut edits = Edits::new();
            let mut touched = vec![false; text.len()];
            for (start, len, new) in changes {
                let range = start.min(text.len())..(start + len).min(text.len());
                if edits.replace(range.clone(), new).is_ok() {
                    touched[range].fill(true);
                }
            }
            let changed = edits.apply(&text).expect("inside");
            let undo = edits.invert(&text).expect("inside");
            prop_assert_eq!(undo.apply(&changed).expect("inside"), text.clone());
            let mut rest = changed.iter();
            for (byte, touched) in text.iter().zip(touched) {
                let stays = touched || rest.any(|it| it == byte);
                prop_assert!(stays, "a byte outside all edits is gone");
            }
        }
    }
}
