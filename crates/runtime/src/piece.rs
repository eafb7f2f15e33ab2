//! A range on both sides, host and device, as copies know it.
//!
//! Attached pointers are never copied: the device's copy of such a pointer holds a device address
//! and the host's a host address, and each keeps its own. So a copy goes around them, run by run.

use std::collections::BTreeMap;

use abi::POINTER_SIZE;
use device::DevicePtr;

use crate::args::Name;
use crate::error::Section;

/// One range on both sides.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) host: usize,
    pub(crate) device: DevicePtr,
    pub(crate) size: usize,
    pub(crate) name: Option<Name>,
    /// Host addresses inside the range that are not copied, each of a pointer; ascending.
    pub(crate) skip: Vec<usize>,
}

impl Piece {
    /// The pointers of `attached` that lie in the range.
    pub(crate) fn around<T>(mut self, attached: &BTreeMap<usize, T>) -> Piece {
        let end = self.host.saturating_add(self.size);
        let first = self.host.saturating_sub(POINTER_SIZE - 1);
        self.skip = attached.range(first..end).map(|(at, _)| *at).collect();
        self
    }

    /// The runs of bytes between the skipped pointers, as offset and length.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (usize, usize)> {
        let pointers = self.skip.iter().map(|at| {
            let begin = at.saturating_sub(self.host);
            (begin, at.saturating_add(POINTER_SIZE).saturating_sub(self.host).min(self.size))
        });
        let mut from = 0;
        pointers.chain([(self.size, self.size)]).filter_map(move |(begin, end)| {
            let run = (from, begin.saturating_sub(from));
            from = end.max(from);
            (run.1 > 0).then_some(run)
        })
    }

    pub(crate) fn section(&self) -> Section {
        Section { name: self.name.map(|it| it.to_string()), at: self.host, size: self.size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(skip: &[usize], expect: &[(usize, usize)]) {
        let device = DevicePtr(0x1000);
        let attached = skip.iter().map(|at| (*at, device)).collect();
        let piece = Piece { host: 100, device, size: 40, name: None, skip: Vec::new() };
        let runs: Vec<_> = piece.around(&attached).runs().collect();
        assert_eq!(runs, expect, "{skip:?}");
    }

    #[test]
    fn copies_go_around_attached_pointers() {
        check(&[], &[(0, 40)]);
        check(&[108], &[(0, 8), (16, 24)]);
        check(&[100, 108, 132], &[(16, 16)]);
        check(&[96, 136], &[(4, 32)]);
        check(&[92, 140], &[(0, 40)]);
    }
}
