//! A span: which bytes of the program's texts something was read from.
//!
//! All texts of one run share one address space of 32 bits ([`crate::SourceMap`] hands out the
//! ranges), so a span is eight bytes and needs no file beside it. A span in preprocessed text is
//! carried back to the written file only when somebody wants to look at it.

use std::fmt;

/// A half-open range of bytes in the address space of a [`crate::SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of things that nobody wrote (built-in declarations, implied clauses).
    pub const NONE: Span = Span { start: 0, end: 0 };

    /// The span from `start` up to, not including, `end`.
    pub fn new(start: u32, end: u32) -> Span {
        debug_assert!(start <= end, "a span runs forward");
        Span { start, end }
    }

    /// The smallest span that covers both; [`Span::NONE`] counts as nothing.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self == Span::NONE {
            other
        } else if other == Span::NONE {
            self
        } else {
            Span { start: self.start.min(other.start), end: self.end.max(other.end) }
        }
    }

    /// The empty span at the end of this one: where something is missing.
    #[must_use]
    pub fn after(self) -> Span {
        Span { start: self.end, end: self.end }
    }

    /// Whether `other` lies within this span.
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Length in bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether no byte is covered.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
