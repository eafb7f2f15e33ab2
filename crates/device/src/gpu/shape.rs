//! How many blocks of how many threads a launch on a GPU gets.

use crate::Launch;

/// What is known of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    /// Threads in a block at most.
    pub(crate) most: usize,
    /// Bytes of memory that its blocks have of their own: then each does something besides its iterations, a
    /// sum for instance.
    pub(crate) memory: usize,
    /// So many blocks of each size in [`THREADS`] run at once on a multiprocessor, if that is known; 0 of a size that the
    /// kernel does not take.
    pub(crate) at_once: Option<[usize; 2]>,
    /// How its iterations are spread over threads.
    pub(crate) spread: Spread,
}

/// So many threads for so many iterations, if there are this many or more; fewer have a thread each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    pub(crate) threads: usize,
    pub(crate) iterations: usize,
    pub(crate) from: usize,
}

impl Spread {
    /// A thread for each.
    pub(crate) const EVEN: Spread = Spread { threads: 1, iterations: 1, from: 0 };

    /// As an image says it; nothing if that has no meaning.
    pub(crate) fn of(words: [u32; 3]) -> Option<Spread> {
        let [threads, iterations, from] = words.map(|it| it as usize);
        (threads > 0 && iterations > 0).then_some(Spread { threads, iterations, from })
    }
}

/// What is known of a GPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gpu {
    /// Its multiprocessors.
    pub(crate) units: usize,
    /// Bytes of each that its blocks share out, and what the system takes of each block, if that is known.
    pub(crate) memory: Option<[usize; 2]>,
}

impl Gpu {
    /// How many blocks with so much memory a multiprocessor has room for.
    fn blocks_by_memory(&self, bytes: usize) -> usize {
        self.memory.map_or(usize::MAX, |[all, reserved]| {
            all.checked_div(bytes.saturating_add(reserved)).unwrap_or(usize::MAX).max(1)
        })
    }
}

/// So many threads have a block of a kernel with much to do, and of one with little: then more blocks
/// are better than large ones.
pub(crate) const THREADS: [usize; 2] = [256, 128];

/// Blocks and threads per block. A kernel that takes only one thread gets a block for each team.
pub(crate) fn of(gpu: Gpu, kernel: Kernel, launch: &Launch<'_>) -> [u32; 2] {
    /// A unit has much to do from so many iterations on.
    const MUCH: usize = 2048;
    /// And so many blocks for each unit, so that none is idle at the end; or where a block is dear: no
    /// more than there is room for at once. Of more blocks each has to find out again how much there is
    /// to do, which takes longer than an iteration.
    const ROUNDS: (usize, usize) = (32, 8);
    /// Where it is told how much there is to do, units that are done take the next blocks; with more than this many each
    /// what blocks cost shows.
    const MANY: usize = 256;
    /// Blocks of a launch at most.
    const MOST_BLOCKS: usize = i32::MAX as usize;
    /// Threads of a GPU go together in groups of this size.
    const TOGETHER: usize = 32;
    let asked = launch.teams as usize;
    let trips = usize::try_from(launch.trip_count).unwrap_or(usize::MAX);
    let words = |blocks: usize, threads: usize| {
        [blocks, threads].map(|it| u32::try_from(it).unwrap_or(u32::MAX))
    };
    let Kernel { most, memory, at_once, spread } = kernel;
    let Gpu { units, .. } = gpu;
    let is_spread = spread != Spread::EVEN && trips > 0 && trips >= spread.from;
    let trips = match is_spread {
        true => trips.saturating_mul(spread.threads).div_ceil(spread.iterations),
        false => trips,
    };
    if most == 1 {
        return words(asked.max(1), 1);
    }
    let limit = if launch.limit == 0 { usize::MAX } else { launch.limit as usize };
    let [many, few] = THREADS;
    // Registers may leave room for several small blocks where a large one does not fit: from a quarter more
    // threads at once on that is worth more than what each block costs.
    let small_are_more = at_once.is_some_and(|[large, small]| {
        small * few * 4 >= large * many * 5 && memory == 0 && !is_spread
    });
    let has_much = trips == 0 || trips / MUCH >= units;
    let wanted = if has_much && !small_are_more { many } else { few };
    let threads = wanted.min(most).min(limit).max(1);
    let threads = if threads > TOGETHER { threads / TOGETHER * TOGETHER } else { threads };
    let smaller = (many / threads).clamp(1, 4);
    // Blocks of this size that run at once on a unit, if that is known.
    let whole = at_once.and_then(|it| it.into_iter().zip(THREADS).find(|it| it.1 == threads));
    let whole = whole.map_or(usize::MAX, |it| it.0.max(1));
    let dear = |times: usize| (ROUNDS.1 * times).min(gpu.blocks_by_memory(memory)).min(whole);
    let blocks = match (asked, trips) {
        (0, 0) if memory > 0 => units * dear(smaller),
        // Each has its share from the start: of what does not run at once the last part keeps few units busy.
        (0, 0) => units * ROUNDS.0.min(whole),
        // Where threads have much to do, or share what they do, blocks are cheap beside it: the next that
        // is ready takes what comes next.
        (0, trips) if is_spread => trips.div_ceil(threads).clamp(1, MOST_BLOCKS),
        // As many threads, whatever their blocks.
        (0, trips) if memory > 0 => trips.div_ceil(threads).clamp(1, units * dear(smaller)),
        (0, trips) => trips.div_ceil(threads).clamp(1, units * MANY * smaller),
        (asked, _) => asked,
    };
    words(blocks, threads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Convention;

    fn launch(teams: u32, limit: u32, trip_count: u64) -> Launch<'static> {
        let convention = Convention::Slots;
        Launch { convention, teams, limit, trip_count, group_memory: 0, name: "k", source: "" }
    }

    fn takes(most: usize) -> Kernel {
        Kernel { most, memory: 0, at_once: None, spread: Spread::EVEN }
    }

    const H200: Gpu = Gpu { units: 132, memory: Some([228 << 10, 1 << 10]) };

    #[test]
    fn a_launch_fills_the_gpu_and_not_more() {
        for (asked, blocks, threads) in [
            (launch(0, 0, 0), 132 * 32, 256),
            (launch(0, 0, 1), 1, 128),
            (launch(0, 0, 16384), 128, 128),
            (launch(0, 0, 1 << 27), 132 * 256, 256),
            (launch(0, 0, u64::MAX), 132 * 256, 256),
            (launch(7, 0, 1 << 27), 7, 256),
            (launch(7, 100, 1 << 27), 7, 96),
            (launch(0, 10, 100), 10, 10),
        ] {
            assert_eq!(of(H200, takes(1024), &asked), [blocks, threads], "{asked:?}");
        }
        assert_eq!(
            of(H200, takes(64), &launch(0, 0, 1000)),
            [16, 64],
            "as many as the kernel takes"
        );
        assert_eq!(of(H200, takes(1), &launch(0, 0, 1000)), [1, 1], "a kernel for one thread");
        assert_eq!(of(H200, takes(1), &launch(12, 8, 1000)), [12, 1], "and one for each team");
        let wishes = |words| Kernel { spread: Spread::of(words).unwrap(), ..takes(256) };
        let tiled = wishes([1, 64, 1 << 21]);
        assert_eq!(of(H200, tiled, &launch(0, 0, 1 << 22)), [512, 128], "a tile for each thread");
        assert_eq!(of(H200, tiled, &launch(0, 0, 1 << 20)), [4096, 256], "too few for tiles");
        let along = wishes([4, 1, 0]);
        assert_eq!(of(H200, along, &launch(0, 0, 16384)), [512, 128], "four threads for each");
        assert_eq!(of(H200, along, &launch(0, 0, 1 << 21)), [32768, 256], "as many as it takes");
        assert_eq!(of(H200, along, &launch(0, 0, 0)), [132 * 32, 256], "nobody knows how many");
        assert_eq!(of(H200, along, &launch(9, 0, 1 << 21)), [9, 256], "as asked");
        assert_eq!(Spread::of([0, 1, 0]), None, "no threads");
        let summing = Kernel { memory: 2048, ..takes(256) };
        assert_eq!(
            of(H200, summing, &launch(0, 0, 1 << 27)),
            [132 * 8, 256],
            "each block has a sum"
        );
        assert_eq!(of(H200, summing, &launch(0, 0, 0)), [132 * 8, 256], "for all that is known");
    }

    #[test]
    fn blocks_that_take_much_memory_are_as_many_as_fit() {
        let of = |memory, gpu| of(gpu, Kernel { memory, ..takes(256) }, &launch(0, 0, 0));
        assert_eq!(of(16 << 10, H200), [132 * 8, 256], "eight fit");
        assert_eq!(of(44 << 10, H200), [132 * 5, 256]);
        assert_eq!(of(300 << 10, H200), [132, 256], "what does not fit is told by the launch");
        assert_eq!(of(44 << 10, Gpu { memory: None, ..H200 }), [132 * 8, 256], "nobody knows");
    }

    #[test]
    fn blocks_that_have_their_share_from_the_start_all_run_at_once() {
        let of = |kernel, trips| of(H200, kernel, &launch(0, 0, trips));
        let teams = Kernel { memory: 512, at_once: Some([0, 12]), ..takes(128) };
        assert_eq!(of(teams, 0), [132 * 12, 128], "sixteen would be a round and a third");
        assert_eq!(of(Kernel { at_once: Some([0, 16]), ..teams }, 0), [132 * 16, 128]);
        assert_eq!(of(teams, 1 << 27), [132 * 12, 128], "the same of a sum");
        let alone = Kernel { at_once: Some([8, 16]), ..takes(1024) };
        assert_eq!(of(alone, 0), [132 * 8, 256], "without memory, too");
        assert_eq!(of(alone, 1 << 27), [132 * 256, 256], "whose iterations are told go round");
    }

    #[test]
    fn blocks_are_small_where_registers_leave_more_room_for_them() {
        let of = |at_once, spread| {
            of(H200, Kernel { at_once, spread, ..takes(256) }, &launch(0, 0, 1 << 27))[1]
        };
        assert_eq!(of(Some([8, 16]), Spread::EVEN), 256, "as many threads");
        assert_eq!(of(Some([2, 5]), Spread::EVEN), 128, "640 threads, not 512");
        assert_eq!(of(Some([6, 13]), Spread::EVEN), 256, "hardly more");
        assert_eq!(of(Some([2, 5]), Spread { threads: 4, iterations: 1, from: 0 }), 256);
        assert_eq!(of(None, Spread::EVEN), 256);
    }
}
