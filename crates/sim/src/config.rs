//! What a cluster is made of, and what things cost there.
//!
//! In: the text of a TOML file, or the name of a preset. Out: a [`Config`] that has been checked, so that the rest of
//! the crate need not. Every field must be written: a number that is left out would be a number made up.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;

/// Clusters that come with the simulator: names and texts.
pub const PRESETS: [(&str, &str); 4] = [
    ("hero-paper", include_str!("../presets/hero-paper.toml")),
    ("hero-rtl", include_str!("../presets/hero-rtl.toml")),
    ("keystone2-like", include_str!("../presets/keystone2-like.toml")),
    ("keystone2-incoherent", include_str!("../presets/keystone2-incoherent.toml")),
];

/// Most cores of a cluster: their order within a cycle has six bits.
pub(crate) const MOST_CORES: u32 = 64;

/// Most cycles that anything takes: sums of a few must not overflow.
const MOST_CYCLES: u32 = 1_000_000;

/// Where the registers of engines begin, and their size; the same in every cluster.
pub(crate) const PERIPHERALS: Range<u64> = 0x1020_0000..0x1030_0000;

/// A cluster. Times are in cycles, sizes in bytes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// As it is asked for.
    pub name: String,
    /// In words.
    pub about: String,
    /// The cores.
    pub cores: Cores,
    /// What instructions cost.
    pub timing: Timing,
    /// Scratchpad of the cluster.
    pub l1: L1,
    /// Memory of the accelerator; programs lie here.
    pub l2: L2,
    /// Memory of the host.
    pub host: Host,
    /// Instruction cache, shared by all cores; without it every fetch is a hit.
    pub instruction_cache: Option<InstructionCache>,
    /// Cache of each core for the accelerator's memory, which others do not see into; without it all see one memory.
    pub data_cache: Option<DataCache>,
    /// Queues of descriptors, by which cores agree.
    pub queues: Option<Queues>,
    /// Engine that copies.
    pub dma: Dma,
    /// Barriers, events.
    pub events: Events,
    /// How cores reach addresses of 64 bits.
    pub extension: Extension,
}

/// Cache of each core for the accelerator's memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DataCache {
    /// Size; a power of two.
    pub size: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Bytes of a line, 8 to 128.
    pub line: u32,
    /// When memory gets what is written.
    pub policy: WritePolicy,
    /// Cycles for a line to come or go, beside the latency of the memory.
    pub transfer: u32,
}

/// When memory gets what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// When the line is flushed, or makes room.
    WriteBack,
    /// At once.
    WriteThrough,
}

/// Queues of descriptors.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Queues {
    /// Managers, 1 or 2; each serves one request at a time.
    pub managers: u32,
    /// Queues of each, at most 8192.
    pub per_manager: u32,
    /// Until the answer comes.
    pub latency: u32,
    /// Until a manager takes the next request.
    pub busy: u32,
}

/// The cores.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cores {
    /// How many, 1 to 64.
    pub count: u32,
    /// Letters of RISC-V beyond the base: any of `m`, `a`, `f`, `d`, `c`.
    pub extensions: Vec<Letter>,
    /// What an access does that is not aligned to its size.
    pub misaligned: Misaligned,
}

/// An extension of the base instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Letter {
    /// Multiplication and division.
    M,
    /// Atomic instructions.
    A,
    /// Single precision.
    F,
    /// Double precision; needs `f`.
    D,
    /// Instructions of 16 bits.
    C,
}

/// What an access does that is not aligned to its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Misaligned {
    /// Two accesses where it crosses a word.
    Split,
    /// A fault.
    Fault,
}

/// Cycles of instructions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Timing {
    /// A branch that is taken; one that is not takes 1.
    pub taken_branch: u32,
    /// `jal`, `jalr`.
    pub jump: u32,
    /// More for a `jalr` whose base comes from the instruction before.
    pub jump_hazard: u32,
    /// More to reach an instruction of 32 bits that is not aligned to 4.
    pub unaligned_target: u32,
    /// More for an instruction that uses what the one before loads.
    pub load_use: u32,
    /// More for an access that crosses a word.
    pub misaligned: u32,
    /// `mulh`, `mulhsu`, `mulhu`; `mul` takes 1.
    pub multiply_high: u32,
    /// Division by a divisor of 32 significant bits; each leading zero adds 1.
    pub divide: u32,
    /// Control registers.
    pub csr: u32,
    /// `mstatus`.
    pub status_csr: u32,
    /// More for an instruction that uses a result of floating-point arithmetic at once.
    pub float_latency: u32,
    /// `fdiv`.
    pub float_divide: u32,
    /// `fsqrt`.
    pub float_square_root: u32,
    /// `fence.i`.
    pub fence_instructions: u32,
}

/// Scratchpad of the cluster.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct L1 {
    /// First address.
    pub base: u32,
    /// Size.
    pub size: u32,
    /// Banks, interleaved by words; a power of two.
    pub banks: u32,
    /// Cycles more that an atomic access keeps its bank.
    pub atomic: u32,
    /// Whether `lr.w` and `sc.w` work here.
    pub reservations: bool,
}

/// Memory of the accelerator.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct L2 {
    /// First address.
    pub base: u32,
    /// Size.
    pub size: u32,
    /// Cycles that an access waits.
    pub latency: u32,
}

/// Memory of the host, behind the interconnect.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Host {
    /// Cycles that an access waits.
    pub latency: u32,
}

/// Instruction cache.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct InstructionCache {
    /// Size; a power of two.
    pub size: u32,
    /// Lines of a set; a power of two.
    pub ways: u32,
    /// Bytes of a line; a power of two.
    pub line: u32,
    /// Cycles to fill a line.
    pub miss: u32,
}

/// Engine that copies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dma {
    /// Transfers that are under way at once.
    pub channels: u32,
    /// From the start to the first bytes.
    pub latency: u32,
    /// Between two transfers of a channel.
    pub gap: u32,
    /// Of all channels together.
    pub bytes_per_cycle: u32,
    /// Bytes that are moved before another channel has its turn.
    pub burst: u32,
    /// Transfers of a core that may be unfinished; the next start waits.
    pub queue_per_core: u32,
    /// The same for all cores.
    pub queue: u32,
    /// 32 or 64.
    pub address_bits: u32,
}

/// Barriers and events.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Events {
    /// How many barriers there are.
    pub barriers: u32,
    /// From the last arrival until all go on.
    pub barrier: u32,
    /// From an event until the core that waits for it goes on.
    pub wake: u32,
    /// A wait that finds its event there already.
    pub event_load: u32,
}

/// How cores reach addresses of 64 bits.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Extension {
    /// A register beside each core, in memory.
    pub register: bool,
    /// A control register.
    pub csr: bool,
    /// Loads and stores with an address in two registers.
    pub instructions: bool,
    /// Cycles more that such an instruction takes.
    pub wide_instruction: u32,
    /// Whether the second half of a misaligned access carries into the upper 32 bits.
    pub carry: bool,
    /// What an access does that the host refuses.
    pub errors: Errors,
}

/// What an access does that the host refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Errors {
    /// A fault.
    Fault,
    /// It reads zero and sets a bit in the error register beside the core, as HERO does.
    Record,
}

/// Why a description cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads a description and checks it.
    ///
    /// # Errors
    /// What is missing, unknown or impossible, by the name of its key.
    pub fn from_toml(text: &str) -> Result<Config, ConfigError> {
        let config: Config =
            toml::from_str(text).map_err(|error| ConfigError(error.to_string()))?;
        config.check()?;
        Ok(config)
    }

    /// One of [`PRESETS`].
    ///
    /// # Errors
    /// There is none of this name; the message lists those that are.
    pub fn preset(name: &str) -> Result<Config, ConfigError> {
        match PRESETS.iter().find(|it| it.0 == name) {
            Some((_, text)) => Config::from_toml(text),
            None => {
                let names = PRESETS.map(|it| it.0).join("`, `");
                Err(ConfigError(format!("no cluster `{name}`; there are `{names}`")))
            }
        }
    }

    pub(crate) fn has(&self, letter: Letter) -> bool {
        self.cores.extensions.contains(&letter)
    }

    /// All that is counted in cycles, by its key.
    fn cycles(&self) -> Vec<(&'static str, u32)> {
        let timing = &self.timing;
        let miss = self.instruction_cache.as_ref().map_or(0, |it| it.miss);
        vec![
            ("timing.taken-branch", timing.taken_branch),
            ("timing.jump", timing.jump),
            ("timing.jump-hazard", timing.jump_hazard),
            ("timing.unaligned-target", timing.unaligned_target),
            ("timing.load-use", timing.load_use),
            ("timing.misaligned", timing.misaligned),
            ("timing.multiply-high", timing.multiply_high),
            ("timing.divide", timing.divide),
            ("timing.csr", timing.csr),
            ("timing.status-csr", timing.status_csr),
            ("timing.float-latency", timing.float_latency),
            ("timing.float-divide", timing.float_divide),
            ("timing.float-square-root", timing.float_square_root),
            ("timing.fence-instructions", timing.fence_instructions),
            ("l1.atomic", self.l1.atomic),
            ("l2.latency", self.l2.latency),
            ("host.latency", self.host.latency),
            ("instruction-cache.miss", miss),
            ("dma.latency", self.dma.latency),
            ("dma.gap", self.dma.gap),
            ("events.barrier", self.events.barrier),
            ("events.wake", self.events.wake),
            ("events.event-load", self.events.event_load),
            ("extension.wide-instruction", self.extension.wide_instruction),
        ]
    }

    fn check(&self) -> Result<(), ConfigError> {
        let at_least_one = [
            ("cores.count", self.cores.count),
            ("timing.taken-branch", self.timing.taken_branch),
            ("timing.jump", self.timing.jump),
            ("timing.multiply-high", self.timing.multiply_high),
            ("timing.divide", self.timing.divide),
            ("timing.csr", self.timing.csr),
            ("timing.status-csr", self.timing.status_csr),
            ("timing.float-divide", self.timing.float_divide),
            ("timing.float-square-root", self.timing.float_square_root),
            ("timing.fence-instructions", self.timing.fence_instructions),
            ("l1.size", self.l1.size),
            ("l2.size", self.l2.size),
            ("dma.channels", self.dma.channels),
            ("dma.bytes-per-cycle", self.dma.bytes_per_cycle),
            ("dma.burst", self.dma.burst),
            ("dma.queue-per-core", self.dma.queue_per_core),
            ("dma.queue", self.dma.queue),
            ("events.event-load", self.events.event_load),
        ];
        for (key, value) in at_least_one {
            require(value >= 1, key, "must be at least 1")?;
        }
        for (key, value) in self.cycles() {
            require(value <= MOST_CYCLES, key, "must be at most 1000000")?;
        }
        require(self.cores.count <= MOST_CORES, "cores.count", "must be at most 64")?;
        require(!self.has(Letter::D) || self.has(Letter::F), "cores.extensions", "`d` needs `f`")?;
        require(self.l1.banks.is_power_of_two(), "l1.banks", "must be a power of two")?;
        require(self.l1.banks <= 1024, "l1.banks", "must be at most 1024")?;
        for (key, base, size) in
            [("l1", self.l1.base, self.l1.size), ("l2", self.l2.base, self.l2.size)]
        {
            require(base.is_multiple_of(8) && size.is_multiple_of(8), key, "must be aligned to 8")?;
            require(size <= 0x1000_0000, key, "must be at most 256 MiB")?;
            let range = range_of(base, size);
            require(range.end <= 1 << 32, key, "must end below 4 GiB")?;
            require(!overlap(&range, &PERIPHERALS), key, "overlaps the registers at 0x10200000")?;
        }
        let (l1, l2) = (range_of(self.l1.base, self.l1.size), range_of(self.l2.base, self.l2.size));
        require(!overlap(&l1, &l2), "l2", "overlaps l1")?;
        require(self.events.barriers <= 16, "events.barriers", "must be at most 16")?;
        require(self.dma.channels <= 64, "dma.channels", "must be at most 64")?;
        require(matches!(self.dma.address_bits, 32 | 64), "dma.address-bits", "must be 32 or 64")?;
        if let Some(cache) = &self.data_cache {
            for (key, value) in [
                ("data-cache.size", cache.size),
                ("data-cache.ways", cache.ways),
                ("data-cache.line", cache.line),
            ] {
                require(value.is_power_of_two(), key, "must be a power of two")?;
            }
            require((8..=128).contains(&cache.line), "data-cache.line", "must be from 8 to 128")?;
            let is_aligned = |it: u32| it.is_multiple_of(cache.line);
            let are_lines = is_aligned(self.l2.base) && is_aligned(self.l2.size);
            require(are_lines, "l2", "must be whole lines of the data cache")?;
            let smallest = u64::from(cache.ways) * u64::from(cache.line);
            let is_enough = u64::from(cache.size) >= smallest;
            require(is_enough, "data-cache.size", "is less than one set")?;
            require(cache.size <= 1 << 24, "data-cache.size", "must be at most 16 MiB")?;
            require(
                cache.transfer <= MOST_CYCLES,
                "data-cache.transfer",
                "must be at most 1000000",
            )?;
            require(
                !self.has(Letter::A),
                "cores.extensions",
                "`a` needs memory that all see alike",
            )?;
        }
        if let Some(queues) = &self.queues {
            require((1..=2).contains(&queues.managers), "queues.managers", "must be 1 or 2")?;
            let count = queues.per_manager;
            require((1..=8192).contains(&count), "queues.per-manager", "must be from 1 to 8192")?;
            for (key, value) in [("queues.latency", queues.latency), ("queues.busy", queues.busy)] {
                require(value <= MOST_CYCLES, key, "must be at most 1000000")?;
            }
        }
        if let Some(cache) = &self.instruction_cache {
            for (key, value) in [
                ("instruction-cache.size", cache.size),
                ("instruction-cache.ways", cache.ways),
                ("instruction-cache.line", cache.line),
            ] {
                require(value.is_power_of_two(), key, "must be a power of two")?;
            }
            require(cache.line >= 8, "instruction-cache.line", "must be at least 8")?;
            let smallest = u64::from(cache.ways) * u64::from(cache.line);
            let is_enough = u64::from(cache.size) >= smallest;
            require(is_enough, "instruction-cache.size", "is less than one set")?;
            require(cache.size <= 1 << 24, "instruction-cache.size", "must be at most 16 MiB")?;
        }
        Ok(())
    }
}

fn require(holds: bool, key: &str, rule: &str) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError(format!("`{key}` {rule}"))) }
}

fn range_of(base: u32, size: u32) -> Range<u64> {
    u64::from(base)..u64::from(base) + u64::from(size)
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_can_be_used_and_bears_its_name() {
        for (name, _) in PRESETS {
            assert_eq!(Config::preset(name).unwrap().name, name);
        }
    }

    #[test]
    fn an_unknown_preset_names_those_there_are() {
        let error = Config::preset("hero").unwrap_err().to_string();
        assert!(error.contains("`hero`") && error.contains("`hero-rtl`"), "{error}");
    }

    #[track_caller]
    fn check_refused(from: &str, to: &str, expect: &str) {
        let text = PRESETS[0].1;
        assert!(text.contains(from), "{from}");
        let error = Config::from_toml(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        check_refused("count = 8", "count = 0", "`cores.count` must be at least 1");
        check_refused("count = 8", "count = 65", "`cores.count` must be at most 64");
        check_refused("count = 8", "count = -8", "invalid value");
        check_refused("count = 8", "cuont = 8", "unknown field `cuont`");
        check_refused("count = 8\n", "", "missing field `count`");
        check_refused("\"f\", ", "\"d\", ", "`d` needs `f`");
        check_refused("banks = 16", "banks = 12", "`l1.banks` must be a power of two");
        check_refused("base = 0x1C00_0000", "base = 0x1003_FFF8", "`l2` overlaps l1");
        check_refused("base = 0x1C00_0000", "base = 0x101F_FFF8", "overlaps the registers");
        check_refused("base = 0x1C00_0000", "base = 0xFFFF_FFF8", "`l2` must end below 4 GiB");
        check_refused("ways = 4", "ways = 1024", "is less than one set");
        check_refused("address-bits = 64", "address-bits = 48", "must be 32 or 64");
        check_refused("divide = 3", "divide = 4294967295", "`timing.divide` must be at most");
        check_refused("errors = \"fault\"", "errors = \"ignore\"", "unknown variant");
    }
}
