//! Kernels that LLVM 19 has compiled for GPUs: what their images say of them, and what they are told.

use crate::Launch;

/// What the name of a kernel is followed by in that of its environment.
pub(crate) const ENVIRONMENT: &str = "_kernel_environment";
/// The variable with what all kernels of an image are told.
pub(crate) const DEVICE_ENVIRONMENT: &str = "__omp_rtl_device_environment";
/// What the names of such kernels begin with.
pub(crate) const KERNEL: &str = "__omp_offloading_";

/// Names of which every image with LLVM's kernels or variables has one: those of kernels, and of rows for both.
pub(crate) const IN_IMAGES: [&str; 2] = [KERNEL, ".offloading.entry."];

/// Words of 32 bits in a kernel's environment.
pub(crate) const WORDS: usize = 12;

/// Who runs the code of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One thread of a block, others wait in groups of a warp.
    Generic,
    /// All.
    Spmd,
}

/// The environment of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Environment {
    pub(crate) mode: Mode,
    least_threads: u32,
    most_threads: u32,
    /// Bytes of what a team leaves of its reductions, and how many teams may leave it at once; zero without reductions.
    pub(crate) reduction: [usize; 2],
}

impl Environment {
    /// As the image has it.
    pub(crate) fn of(words: [u32; WORDS]) -> Environment {
        let [flags, least_threads, most_threads, _, _, bytes, length, ..] = words;
        // The third byte: 1 generic, 2 all threads, 3 generic code that all threads run.
        let mode = if flags >> 16 & 2 != 0 { Mode::Spmd } else { Mode::Generic };
        let positive = |it: u32| u32::try_from(i32::try_from(it).unwrap_or(0)).unwrap_or(0);
        let [least_threads, most_threads] = [least_threads, most_threads].map(positive);
        let reduction = [bytes, length].map(|it| positive(it) as usize);
        Environment { mode, least_threads, most_threads, reduction }
    }

    /// Whether teams leave what is then combined.
    pub(crate) fn reduces(&self) -> bool {
        self.reduction.iter().all(|it| *it > 0)
    }
}

/// Blocks and threads of a launch. `most` is what the device and the kernel allow in a block. Without an environment the
/// program's own numbers hold.
pub(crate) fn shape(environment: Option<Environment>, most: u32, launch: &Launch<'_>) -> [u32; 2] {
    const WARP: u32 = 32;
    const THREADS: u32 = 128;
    /// Blocks of a launch that says nothing.
    const BLOCKS: u64 = 3200;
    const MOST_BLOCKS: u64 = i32::MAX as u64;
    let most = most.max(1);
    let Some(environment) = environment else {
        return [launch.teams.max(1), launch.limit.clamp(1, most)];
    };
    let most = match environment.most_threads {
        0 => most,
        limit => most.min(limit),
    };
    let is_spmd = environment.mode == Mode::Spmd;
    let wanted = match (launch.limit, is_spmd) {
        (0, _) => THREADS.max(environment.least_threads),
        (limit, true) => limit,
        (limit, false) => limit.saturating_add(WARP),
    };
    let mut threads = wanted.min(most).max(1);
    if launch.teams > 0 {
        return [launch.teams, threads];
    }
    let trips = launch.trip_count;
    let blocks = if trips == 0 {
        BLOCKS
    } else if !is_spmd {
        trips
    } else if trips >= BLOCKS * u64::from(threads) || launch.limit > 0 {
        trips.div_ceil(u64::from(threads))
    } else {
        // Few iterations: more blocks of fewer threads, so that all of the device is used.
        let few = u64::from(WARP.min(threads));
        if trips >= BLOCKS * few {
            let each = u32::try_from(trips.div_ceil(BLOCKS)).unwrap_or(threads);
            threads = threads.min(each.next_power_of_two());
        } else {
            threads = threads.min(WARP);
        }
        trips.div_ceil(u64::from(threads))
    };
    let blocks = blocks.clamp(1, BLOCKS.min(MOST_BLOCKS));
    [u32::try_from(blocks).unwrap_or(1), threads]
}

/// What kernels are told of their device: which of how many it is, where the table of functions lies and how many rows it has, and
/// how many warps run at once.
pub(crate) fn device_environment(
    number: usize,
    count: usize,
    (table, rows): (u64, usize),
    warps: usize,
) -> [u8; 48] {
    const NANOSECONDS: u64 = 1_000_000_000;
    let small = |it: usize| u32::try_from(it).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = Vec::with_capacity(48);
    // Nothing is debugged, and no group memory is set aside.
    bytes.extend([small(0), small(count), small(number), small(0)].concat());
    for word in [NANOSECONDS, table, rows as u64, warps as u64] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.try_into().unwrap_or([0; 48])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Convention;

    fn launch(teams: u32, limit: u32, trip_count: u64) -> Launch<'static> {
        let convention = Convention::Parameters;
        Launch { convention, teams, limit, trip_count, group_memory: 0, name: "k", source: "" }
    }

    /// As clang 19 writes it: three bytes of flags, then numbers.
    fn environment(mode: u8, most: i32, reduction: [u32; 2]) -> Environment {
        let [bytes, length] = reduction;
        let flags = u32::from_le_bytes([1, 1, mode, 0]);
        Environment::of([flags, 0, most as u32, 0, 0, bytes, length, 0, 0, 0, 0, 0])
    }

    #[test]
    fn environments_are_read() {
        // Of `target teams distribute parallel for` with a sum of one double.
        let read = Environment::of([0x0002_0100, 1, 128, 0, 0, 8, 1024, 0, 0, 0, 0, 0]);
        assert_eq!((read.mode, read.reduction, read.reduces()), (Mode::Spmd, [8, 1024], true));
        assert_eq!(environment(1, 0, [0, 0]).mode, Mode::Generic);
        assert_eq!(environment(3, -1, [0, 0]).mode, Mode::Spmd);
        assert!(!environment(2, 128, [8, 0]).reduces());
    }

    #[test]
    fn blocks_and_threads_follow_clauses_iterations_and_limits() {
        let spmd = Some(environment(2, 128, [0, 0]));
        let generic = Some(environment(1, 0, [0, 0]));
        for (of, asked, expected) in [
            (spmd, launch(7, 64, 0), [7, 64]),
            (spmd, launch(7, 1000, 0), [7, 128]),
            (spmd, launch(0, 0, 0), [3200, 128]),
            (spmd, launch(0, 0, 100), [4, 32]),
            (spmd, launch(0, 0, 3200 * 100), [2500, 128]),
            (spmd, launch(0, 0, 1 << 40), [3200, 128]),
            (spmd, launch(0, 64, 1000), [16, 64]),
            (generic, launch(1, 0, 0), [1, 128]),
            (generic, launch(1, 64, 0), [1, 96]),
            (generic, launch(0, 0, 10), [10, 128]),
            (generic, launch(1, 2000, 0), [1, 1024]),
            (None, launch(3, 5, 0), [3, 5]),
            (None, launch(0, 0, 0), [1, 1]),
        ] {
            assert_eq!(shape(of, 1024, &asked), expected, "{asked:?}");
        }
    }

    #[test]
    fn devices_are_told_in_the_order_of_the_structure() {
        let bytes = device_environment(1, 4, (0x1000, 3), 64);
        assert_eq!(bytes.get(4..12), Some(&[4, 0, 0, 0, 1, 0, 0, 0][..]));
        assert_eq!(bytes.get(24..32), Some(&0x1000_u64.to_le_bytes()[..]));
        assert_eq!(bytes.get(40..48), Some(&64_u64.to_le_bytes()[..]));
    }
}
