//! How many blocks of a kernel a multiprocessor of a GPU runs at once, and what stands in the way of more.
//!
//! In: what a multiprocessor has ([`Unit`], from a profile) and what a block takes ([`Block`]). Out: [`Fit`]. The
//! arithmetic follows what NVIDIA publishes: threads go in warps, a warp takes registers and a block takes memory in
//! grains, and the part of a multiprocessor that a warp belongs to has a quarter of its registers.

/// What a multiprocessor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Threads that it holds.
    pub threads: u64,
    /// Blocks that it holds.
    pub blocks: u64,
    /// Registers of four bytes.
    pub registers: u64,
    /// Bytes of memory that its blocks share out.
    pub memory: u64,
    /// Bytes of it that the system takes of each block.
    pub reserved: u64,
    /// Threads that run in step.
    pub warp: u64,
}

/// What a block of a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its threads.
    pub threads: u64,
    /// Registers of a thread; 0 if that is not known.
    pub registers: u64,
    /// Bytes of its memory.
    pub memory: u64,
}

/// What keeps more blocks from a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// It holds no more threads.
    Threads,
    /// Or no more blocks.
    Blocks,
    /// Its registers are taken.
    Registers,
    /// Its memory for blocks is taken.
    Memory,
}

/// How a kernel fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Blocks that run at once.
    pub blocks: u64,
    /// Warps of all of them, of a hundred that there could be.
    pub percent: u64,
    /// What is used up first.
    pub limit: Limit,
}

/// Registers are handed to a warp in this many.
const REGISTER_GRAIN: u64 = 256;
/// Memory is handed to a block in so many bytes.
const MEMORY_GRAIN: u64 = 128;
/// Parts of a multiprocessor that have registers of their own.
const PARTS: u64 = 4;

impl Unit {
    /// How many blocks fit; none if one is too large.
    pub fn fit(&self, block: Block) -> Option<Fit> {
        let warp = self.warp.max(1);
        let warps = block.threads.div_ceil(warp).max(1);
        let all_warps = self.threads / warp;
        let by_threads = all_warps / warps;
        let by_registers = match block.registers {
            0 => u64::MAX,
            registers => {
                let of_warp = registers.checked_mul(warp)?.next_multiple_of(REGISTER_GRAIN);
                self.registers / PARTS / of_warp * PARTS / warps
            }
        };
        let by_memory = match block.memory {
            0 if self.reserved == 0 => u64::MAX,
            bytes => {
                let bytes = bytes.checked_add(self.reserved)?;
                self.memory / bytes.checked_next_multiple_of(MEMORY_GRAIN)?
            }
        };
        // Of equals the first is what is told.
        let limits = [
            (by_threads, Limit::Threads),
            (self.blocks, Limit::Blocks),
            (by_registers, Limit::Registers),
            (by_memory, Limit::Memory),
        ];
        let (blocks, limit) = limits.into_iter().min_by_key(|it| it.0)?;
        (blocks > 0).then(|| Fit {
            blocks,
            percent: blocks * warps * 100 / all_warps.max(1),
            limit,
        })
    }

    /// The size of block with the most threads at once; of equals the first.
    pub fn best(&self, sizes: &[u64], like: Block) -> Option<(u64, Fit)> {
        let mut best: Option<(u64, Fit)> = None;
        for threads in sizes {
            let Some(fit) = self.fit(Block { threads: *threads, ..like }) else { continue };
            if best.is_none_or(|it| fit.percent > it.1.percent) {
                best = Some((*threads, fit));
            }
        }
        best
    }
}

impl std::fmt::Display for Fit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Fit { blocks, percent, limit } = self;
        let by = match limit {
            Limit::Threads => "threads",
            Limit::Blocks => "blocks",
            Limit::Registers => "registers",
            Limit::Memory => "memory of blocks",
        };
        let word = if *blocks == 1 { "block" } else { "blocks" };
        write!(f, "{blocks} {word} at once on a multiprocessor, {percent} % of its threads ({by})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profiles;

    fn unit(name: &str) -> Unit {
        Profiles::built_in().get(name).unwrap().unit.unwrap()
    }

    #[track_caller]
    fn check(
        name: &str,
        [threads, registers, memory]: [u64; 3],
        blocks: u64,
        percent: u64,
        limit: Limit,
    ) {
        let fit = unit(name).fit(Block { threads, registers, memory }).unwrap();
        assert_eq!(
            fit,
            Fit { blocks, percent, limit },
            "{name}: {threads} threads, {registers} registers, {memory} bytes"
        );
    }

    /// Worked out by hand from the limits and grains that NVIDIA publishes for compute capability 7.0, 8.0 and 9.0.
    #[test]
    fn what_published_limits_leave_room_for_comes_out() {
        for name in ["v100", "a100", "h200"] {
            check(name, [256, 32, 0], 8, 100, Limit::Threads);
            check(name, [1024, 32, 0], 2, 100, Limit::Threads);
            check(name, [1024, 64, 0], 1, 50, Limit::Registers);
            check(name, [32, 32, 0], 32, 50, Limit::Blocks);
            check(name, [256, 64, 0], 4, 50, Limit::Registers);
            check(name, [256, 255, 0], 1, 12, Limit::Registers);
            check(name, [256, 128, 0], 2, 25, Limit::Registers);
            check(name, [256, 96, 0], 2, 25, Limit::Registers);
            check(name, [128, 96, 0], 5, 31, Limit::Registers);
            check(name, [192, 40, 0], 8, 75, Limit::Registers);
        }
        // 96, 164 and 228 KiB, less one for each block from 8.0 on.
        check("v100", [256, 32, 48 << 10], 2, 25, Limit::Memory);
        check("a100", [256, 32, 48 << 10], 3, 37, Limit::Memory);
        check("h200", [256, 32, 48 << 10], 4, 50, Limit::Memory);
        check("v100", [256, 32, 16 << 10], 6, 75, Limit::Memory);
        check("a100", [256, 32, 16 << 10], 8, 100, Limit::Threads);
        check("h200", [256, 32, 227 << 10], 1, 12, Limit::Memory);
    }

    #[test]
    fn what_does_not_fit_at_all_is_told() {
        assert_eq!(unit("v100").fit(Block { threads: 256, registers: 32, memory: 97 << 10 }), None);
        assert_eq!(unit("v100").fit(Block { threads: 4096, registers: 0, memory: 0 }), None);
    }

    #[test]
    fn smaller_blocks_are_chosen_where_more_threads_fit() {
        let like = |registers, memory| Block { threads: 0, registers, memory };
        let best = |like| unit("h200").best(&[256, 128], like).unwrap().0;
        assert_eq!(best(like(32, 0)), 256, "both fill it");
        assert_eq!(best(like(96, 0)), 128, "five of the small are more than two of the large");
        assert_eq!(best(like(32, 40 << 10)), 256, "of those that take much memory the larger");
    }
}
