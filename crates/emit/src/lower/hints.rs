//! Advice of the host's compiler for loops, where it takes none.

use ir::program::RegionId;
use source::Edits;

use super::{Lowering, offset};

/// Advice of the host's compiler for a loop, which it takes only right before it.
const HINTS: [&[u8]; 2] = [b"#pragma GCC unroll", b"#pragma GCC ivdep"];

impl Lowering<'_> {
    /// Takes out advice that stands between a directive and its loops, where the host's compiler takes none.
    pub(super) fn without_hints(&self, id: RegionId, text: &[u8], base: u32, edits: &mut Edits) {
        let region = &self.program.regions[id];
        let Some(last) = region.loops.last() else { return };
        let end = offset(base, self.program.stmts[last.stmt].span.start);
        let mut at = offset(base, region.construct.span.end);
        while let Some(rest) = text.get(at..end) {
            let length = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
            let line = rest.get(..length).unwrap_or_default().trim_ascii_start();
            if HINTS.iter().any(|it| line.starts_with(it)) {
                // A loop of two directives has been looked at.
                let _ = edits.delete(at..at + length);
            }
            at += length + 1;
        }
    }
}
