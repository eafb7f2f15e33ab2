//! The program in the accelerator's memory, decoded as far as it was run.
//!
//! There is a place for every half word of the range that may be executed. A store into it makes the instructions it
//! touches undecoded again, so programs may write programs; a `fence.i` costs time and nothing else.

use std::ops::Range;

use crate::isa::op::{Kind, Op};

#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    base: u32,
    ops: Vec<Op>,
}

impl Code {
    /// Makes a range executable, besides what is already; all of it is undecoded.
    pub(crate) fn extend(&mut self, range: Range<u32>) {
        let mut range = range.start & !1..range.end;
        if !self.ops.is_empty() {
            range.start = range.start.min(self.base);
            range.end = range.end.max(self.end());
        }
        self.base = range.start;
        let count = (range.end - range.start).div_ceil(2) as usize;
        self.ops = vec![Op::default(); count];
    }

    fn end(&self) -> u32 {
        self.base.wrapping_add(2 * self.ops.len() as u32)
    }

    #[inline(always)]
    pub(crate) fn at(&self, pc: u32) -> Option<&Op> {
        self.ops.get((pc.wrapping_sub(self.base) >> 1) as usize)
    }

    pub(crate) fn set(&mut self, pc: u32, op: Op) {
        if let Some(it) = self.ops.get_mut((pc.wrapping_sub(self.base) >> 1) as usize) {
            *it = op;
        }
    }

    /// These pieces of memory were written.
    #[inline(always)]
    pub(crate) fn forget(&mut self, pieces: &mut Vec<(u32, u32)>) {
        for (address, bytes) in pieces.drain(..) {
            self.written(address, bytes);
        }
    }

    fn written(&mut self, address: u32, bytes: u32) {
        let end = address.saturating_add(bytes);
        if end <= self.base || address >= self.end() {
            return;
        }
        // An instruction that begins a half word earlier reaches into it.
        let first = (address.saturating_sub(self.base) >> 1).saturating_sub(1) as usize;
        let last = ((end - self.base).div_ceil(2) as usize).min(self.ops.len());
        for op in self.ops.get_mut(first..last).into_iter().flatten() {
            op.kind = Kind::Undecoded;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_makes_what_it_touches_undecoded() {
        let mut code = Code::default();
        code.extend(0x100..0x110);
        for pc in (0x100..0x110).step_by(2) {
            code.set(pc, Op { kind: Kind::Add, ..Op::default() });
        }
        code.written(0x106, 1);
        code.written(0xf0, 16);
        code.written(0x110, 4);
        let decoded: Vec<u32> = (0x100..0x110)
            .step_by(2)
            .filter(|it| code.at(*it).unwrap().kind == Kind::Add)
            .collect();
        assert_eq!(decoded, [0x100, 0x102, 0x108, 0x10a, 0x10c, 0x10e]);
        code.written(0xff, 2);
        assert_eq!(code.at(0x100).unwrap().kind, Kind::Undecoded);
        assert!(code.at(0x110).is_none() && code.at(0xfe).is_none());
    }
}
