//! Random numbers from a seed: the same ones on every machine.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A generator of the kind splitmix64.
pub struct Rng(AtomicU64);

impl Rng {
    /// Numbers that depend on nothing but `seed`.
    pub fn new(seed: u64) -> Self {
        let it = Rng(AtomicU64::new(seed ^ 0x5851_f42d_4c95_7f2d));
        it.next();
        it.next();
        it
    }

    /// The next 64 random bits.
    pub fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut bits = self.0.fetch_add(STEP, Relaxed).wrapping_add(STEP);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn range(&self, low: i64, high: i64) -> i64 {
        let span = (high as i128 - low as i128 + 1) as u128;
        (low as i128 + (self.next() as u128 % span) as i128) as i64
    }

    /// An index below `count`.
    pub fn below(&self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// One of `from`.
    pub fn pick<T: Copy>(&self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
