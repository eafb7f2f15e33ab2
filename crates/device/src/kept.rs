//! Free memory that still has its pages: the next block there is written as fast as one that was used before.
//!
//! In: ranges that are freed and ranges that are used again. Out: ranges whose pages are to go, the oldest first, where more is
//! kept than may be. Nothing here touches memory.

use std::collections::VecDeque;
use std::ops::Range;

/// Ranges that are free and have their pages, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Kept(VecDeque<Range<usize>>);

impl Kept {
    /// Nobody uses these bytes any more. Answers with those that must go, so that at most so many are kept.
    pub(crate) fn add(&mut self, range: Range<usize>, most: usize) -> Vec<Range<usize>> {
        self.0.push_back(range);
        let mut bytes: usize = self.0.iter().map(Range::len).sum();
        let mut gone = Vec::new();
        while bytes > most
            && let Some(oldest) = self.0.pop_front()
        {
            bytes -= oldest.len();
            gone.push(oldest);
        }
        gone
    }

    /// Somebody uses these bytes.
    pub(crate) fn take(&mut self, range: &Range<usize>) {
        let around = |it: Range<usize>| {
            let before = it.start..it.end.min(range.start);
            let behind = it.start.max(range.end)..it.end;
            [before, behind].into_iter().filter(|it| !it.is_empty())
        };
        self.0 = std::mem::take(&mut self.0).into_iter().flat_map(around).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_and_what_is_used_stays() {
        let mut kept = Kept::default();
        assert!(kept.add(0..100, 250).is_empty());
        assert!(kept.add(200..300, 250).is_empty());
        // In the middle of one, and over an end of the other.
        kept.take(&(40..60));
        kept.take(&(280..400));
        assert_eq!(kept.0, [0..40, 60..100, 200..280]);
        assert_eq!(kept.add(300..420, 250), std::slice::from_ref(&(0..40)));
        assert_eq!(kept.add(500..800, 250), [60..100, 200..280, 300..420, 500..800]);
        assert!(kept.0.is_empty());
    }
}
