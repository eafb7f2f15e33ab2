//! The runs of bytes that a strided section of an array consists of.
//!
//! In: dimensions, outermost first; the stride of the last is the size of an element. Out: offset and
//! length of each contiguous run, in the order of the loops; inner dimensions that lie without gaps
//! are one run.

use abi::Dimension;

use crate::args::Name;
use crate::error::Error;

/// Refuses a section whose lengths are negative, or that has more bytes than there are addresses.
pub(crate) fn check(dimensions: &[Dimension], name: Option<Name>) -> Result<(), Error> {
    let name = name.map_or_else(|| "unknown".to_owned(), |it| it.to_string());
    let help = "look at what its lengths are computed from".to_owned();
    let length = dimensions.iter().map(|it| it.count as i64).find(|it| *it < 0);
    if let Some(length) = length {
        let message = format!("`{name}` has a negative length ({length} elements)");
        return Err(Error::Argument { message, help });
    }
    let mut ends = dimensions.iter().map(|it| it.count.checked_mul(it.stride));
    match ends.try_fold(0u64, |sum, it| sum.checked_add(it?)) {
        Some(end) if i64::try_from(end).is_ok() => Ok(()),
        _ => {
            let message = format!("`{name}` has more bytes than there are addresses");
            Err(Error::Argument { message, help })
        }
    }
}

/// The runs of a section; none for an empty section or one whose offsets do not fit an address.
pub(crate) fn runs(dimensions: &[Dimension]) -> impl Iterator<Item = (usize, usize)> {
    let (outer, run) = split(dimensions).unwrap_or((&[], (0, 0)));
    let mut indices = vec![0u64; outer.len()];
    let mut done = run.1 == 0 || outer.iter().any(|it| it.count == 0);
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let place = |(dimension, index): (&Dimension, &u64)| {
            dimension.offset.wrapping_add(*index).wrapping_mul(dimension.stride)
        };
        let offset = outer.iter().zip(&indices).map(place).fold(run.0, u64::wrapping_add);
        done = !advance(outer, &mut indices);
        Some((offset as usize, run.1 as usize))
    })
}

/// The dimensions that must be walked, and the run below them as offset and length.
fn split(dimensions: &[Dimension]) -> Option<(&[Dimension], (u64, u64))> {
    let mut rest = dimensions;
    let mut run = (0, dimensions.last()?.stride);
    while let Some((inner, outer)) = rest.split_last() {
        // Rows follow each other without a gap, or there is but one of them.
        if inner.stride != run.1 && inner.count != 1 {
            break;
        }
        run.0 = inner.offset.checked_mul(inner.stride)?.checked_add(run.0)?;
        run.1 = run.1.checked_mul(inner.count)?;
        rest = outer;
    }
    Some((rest, run))
}

/// The next index vector, innermost first; false after the last.
fn advance(dimensions: &[Dimension], indices: &mut [u64]) -> bool {
    for (dimension, index) in dimensions.iter().zip(indices).rev() {
        *index += 1;
        if *index < dimension.count {
            return true;
        }
        *index = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dimension(offset: u64, count: u64, stride: u64) -> Dimension {
        Dimension { offset, count, stride }
    }

    #[track_caller]
    fn check(dimensions: &[Dimension], expect: &[(usize, usize)]) {
        assert_eq!(runs(dimensions).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn rows_and_strides() {
        check(&[], &[]);
        check(&[dimension(2, 3, 8)], &[(16, 24)]);
        check(&[dimension(0, 2, 16), dimension(0, 1, 8)], &[(0, 8), (16, 8)]);
        // m[2:2][5:3] of double m[10][20], as clang passes it.
        let section = [dimension(2, 2, 160), dimension(5, 3, 8), dimension(0, 1, 8)];
        check(&section, &[(360, 24), (520, 24)]);
        // Full rows are one run.
        check(&[dimension(1, 3, 160), dimension(0, 20, 8)], &[(160, 480)]);
        check(&[dimension(0, 0, 160), dimension(0, 20, 8)], &[]);
    }

    proptest! {
        /// Every element of the section is in exactly one run, and nothing else is.
        #[test]
        fn runs_cover_the_section(
            counts in proptest::collection::vec((0u64..3, 0u64..4, 1u64..3), 1..4),
        ) {
            let mut stride = 4u64;
            let mut section = vec![];
            for (offset, count, gap) in counts.iter().rev() {
                section.insert(0, dimension(*offset, *count, stride));
                stride *= (offset + count).max(1) * gap;
            }
            let element = section.last().unwrap().stride;
            let mut expect = vec![0u64];
            for it in &section {
                let starts = expect.iter().flat_map(|at| {
                    (0..it.count).map(move |index| at + (it.offset + index) * it.stride)
                });
                expect = starts.collect();
            }
            let mut bytes: Vec<u64> =
                expect.iter().flat_map(|at| *at..*at + element).collect();
            bytes.sort_unstable();
            let mut covered: Vec<u64> = runs(&section)
                .flat_map(|(at, len)| at as u64..(at + len) as u64)
                .collect();
            covered.sort_unstable();
            prop_assert_eq!(covered, bytes);
        }
    }
}
