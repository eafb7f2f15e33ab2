//! FPGAs by their numbers: clock, resources, operators, memory.
//!
//! In: the built-in table (`devices.toml`, which says where each figure is from) and a table of the user's. Out: a [`Device`]
//! by its name. Not here: what the numbers are used for.

use std::collections::BTreeMap;

use opt::passes::Fabric;
use serde::Deserialize;

use crate::graph::{Class, Unit};
use crate::schedule::{CYCLE, Delay};

const BUILT_IN: &str = include_str!("../devices.toml");

/// Who made it, which decides between ways to say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Vendor {
    Intel,
    Xilinx,
    Lattice,
}

/// A device.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// As it is asked for.
    #[serde(default)]
    pub name: String,
    /// In words.
    pub about: String,
    /// Who made it.
    pub vendor: Vendor,
    /// What its logic is counted in.
    pub unit: String,
    /// The clock that estimates count with, in MHz.
    pub clock: f64,
    /// Units of logic.
    pub logic: u64,
    /// Registers, in bits.
    pub registers: u64,
    /// Multipliers.
    pub dsp: u64,
    /// Blocks of memory on the chip.
    pub ram: u64,
    /// Bits of a block.
    pub ram_bits: u64,
    /// Memory of the board, in GB/s.
    pub bandwidth: f64,
    /// Cycles until a value from the board's memory is there.
    pub load: u64,
    /// Cycles until a value is in the board's memory.
    pub store: u64,
    /// Reads of one array in a cycle; 0: no limit.
    pub reads: u64,
    /// Writes of one array in a cycle; 0: no limit.
    pub writes: u64,
    /// The same for memory on the chip.
    pub local_load: u64,
    /// Cycles until a value is in memory on the chip.
    pub local_store: u64,
    /// Accesses of one array on the chip in a cycle.
    pub local_ports: u64,
    /// Watts when nothing runs.
    pub idle: f64,
    /// Watts when all of it is used.
    pub full: f64,
    int32: Operators,
    int64: Operators,
    float32: Operators,
    float64: Operators,
}

type Operators = BTreeMap<String, Operator>;

/// An operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operator {
    latency: Option<u64>,
    delay: Option<f64>,
    /// Units of logic.
    #[serde(default)]
    pub logic: u64,
    /// Registers, in bits.
    #[serde(default)]
    pub registers: u64,
    /// Multipliers.
    #[serde(default)]
    pub dsp: u64,
}

impl Operator {
    /// How long it takes.
    pub fn delay(&self) -> Delay {
        match (self.latency, self.delay) {
            (Some(cycles), _) => Delay::Registered(cycles),
            (None, Some(part)) => Delay::Combinational((part * CYCLE as f64).round() as u64),
            (None, None) => Delay::Combinational(0),
        }
    }
}

/// Why there is no such device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The text is no table of devices: what is wrong with it.
    Text(String),
    /// There is none of that name; these there are.
    Unknown(String, Vec<String>),
    /// It is like itself, by others or directly.
    Circle(String),
    /// Something is left open, or is not what it may be.
    Wrong(String, String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Text(why) => write!(f, "{why}"),
            Fault::Unknown(name, known) => {
                write!(f, "there is no FPGA `{name}`; there are {}", known.join(", "))
            }
            Fault::Circle(name) => write!(f, "FPGA `{name}` is like itself"),
            Fault::Wrong(name, why) => write!(f, "FPGA `{name}`: {why}"),
        }
    }
}

/// All devices there are.
#[derive(Clone, Debug)]
pub struct Devices {
    written: toml::Table,
}

impl Devices {
    /// Those that are always there.
    pub fn built_in() -> Devices {
        Devices { written: BUILT_IN.parse().unwrap_or_default() }
    }

    /// The same, and those of a text, which may replace them.
    pub fn with(text: &str) -> Result<Devices, Fault> {
        let own: toml::Table =
            text.parse().map_err(|it: toml::de::Error| Fault::Text(it.to_string()))?;
        let mut written = Devices::built_in().written;
        written.extend(own);
        Ok(Devices { written })
    }

    /// Their names.
    pub fn names(&self) -> Vec<String> {
        self.written.keys().cloned().collect()
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Result<Device, Fault> {
        let find = |name: &str| match self.written.get(name) {
            Some(toml::Value::Table(it)) => Ok(it.clone()),
            Some(_) | None => Err(Fault::Unknown(name.to_owned(), self.names())),
        };
        let mut found = find(name)?;
        let mut seen = vec![name.to_owned()];
        while let Some(like) = found.remove("like") {
            let like = like.as_str().unwrap_or_default().to_owned();
            if seen.contains(&like) {
                return Err(Fault::Circle(name.to_owned()));
            }
            let mut base = find(&like)?;
            merge(&mut base, found);
            found = base;
            seen.push(like);
        }
        let wrong = |why: String| Fault::Wrong(name.to_owned(), why.trim_end().to_owned());
        let mut device: Device =
            found.try_into().map_err(|it: toml::de::Error| wrong(it.to_string()))?;
        device.name = name.to_owned();
        let positive = [device.clock, device.bandwidth, device.idle, device.full];
        let counts = [device.logic, device.registers, device.dsp, device.ram, device.ram_bits];
        if positive.iter().any(|it| !it.is_finite() || *it <= 0.0) || counts.contains(&0) {
            return Err(wrong("clock, bandwidth, power and resources are above zero".to_owned()));
        }
        let operators = [&device.int32, &device.int64, &device.float32, &device.float64];
        let parts = operators.iter().flat_map(|it| it.values()).filter_map(|it| it.delay);
        if parts.into_iter().any(|it| !(0.0..=1.0).contains(&it)) {
            return Err(wrong("a `delay` is a part of a cycle, from 0 to 1".to_owned()));
        }
        let known = |name: &String| Unit::ALL.iter().any(|it| it.word() == name);
        if let Some(word) = operators.iter().flat_map(|it| it.keys()).find(|it| !known(it)) {
            return Err(wrong(format!("`{word}` is no operator")));
        }
        Ok(device)
    }
}

fn merge(base: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) if old.contains_key("add") => {
                old.extend(new);
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

impl Device {
    /// What passes ask of it.
    pub fn fabric(&self) -> Fabric {
        let cycles = |unit: Unit| {
            [Class::Int32, Class::Int64, Class::Float32, Class::Float64].map(|class| {
                let ticks = self.operator(unit, class).map_or(CYCLE, |it| it.delay().ticks());
                ticks.div_ceil(CYCLE).max(1)
            })
        };
        Fabric {
            add: cycles(Unit::Add),
            multiply: cycles(Unit::Multiply),
            extreme: cycles(Unit::Extreme),
            reads: self.reads,
            lanes: 1,
            units: 1,
            memory: self.ram.saturating_mul(self.ram_bits) / 16,
            without: &[],
        }
    }

    /// An operator of it; none if it has no such.
    pub fn operator(&self, unit: Unit, class: Class) -> Option<Operator> {
        let table = match class {
            Class::Int32 => &self.int32,
            Class::Int64 => &self.int64,
            Class::Float32 => &self.float32,
            Class::Float64 => &self.float64,
        };
        table.get(unit.word()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_is_whole() {
        let devices = Devices::built_in();
        let names = ["alveo-u250", "arria-10", "cyclone-v", "ecp5", "stratix-10", "stratix-v"];
        assert_eq!(devices.names(), names);
        for name in devices.names() {
            let it = devices.get(&name).unwrap();
            for class in [Class::Int32, Class::Int64, Class::Float32, Class::Float64] {
                for unit in Unit::ALL {
                    let is_there = it.operator(*unit, class).is_some();
                    let is_float = matches!(class, Class::Float32 | Class::Float64);
                    let of_floats = matches!(unit, Unit::Sqrt | Unit::Function);
                    let of_ints = matches!(unit, Unit::Logic | Unit::Shift);
                    let expected = if is_float { !of_ints } else { !of_floats };
                    assert_eq!(is_there, expected, "{name}: {unit:?} of {class:?}");
                }
            }
        }
    }

    #[test]
    fn latencies_are_those_of_the_published_tables() {
        let of = |name: &str, unit, class| {
            let device = Devices::built_in().get(name).unwrap();
            device.operator(unit, class).unwrap().delay()
        };
        assert_eq!(of("stratix-v", Unit::Add, Class::Float32), Delay::Registered(8));
        assert_eq!(of("stratix-v", Unit::Multiply, Class::Float64), Delay::Registered(16));
        assert_eq!(of("arria-10", Unit::Add, Class::Float32), Delay::Registered(4));
        assert_eq!(of("arria-10", Unit::Multiply, Class::Float64), Delay::Registered(16));
        assert_eq!(of("stratix-10", Unit::Add, Class::Float32), Delay::Registered(5));
    }

    #[test]
    fn a_user_says_only_what_differs() {
        let text = "[mine]\nlike = \"ecp5\"\nclock = 80.0\n[mine.float32]\nadd = { latency = 4 }\n";
        let it = Devices::with(text).unwrap().get("mine").unwrap();
        assert_eq!((it.clock, it.vendor), (80.0, Vendor::Lattice));
        let add = it.operator(Unit::Add, Class::Float32).unwrap();
        assert_eq!((add.delay(), add.logic), (Delay::Registered(4), 0));
        let multiply = it.operator(Unit::Multiply, Class::Float32).unwrap();
        assert_eq!(multiply.dsp, 4);
    }

    #[test]
    fn faults_are_told() {
        let of = |text: &str, name: &str| {
            Devices::with(text).and_then(|it| it.get(name)).unwrap_err().to_string()
        };
        assert!(of("", "none").contains("there is no FPGA `none`; there are alveo-u250"));
        assert!(of("[a]\nlike = \"b\"\n[b]\nlike = \"a\"", "a").contains("like itself"));
        assert!(of("[a]\nlike = \"ecp5\"\nclocks = 3", "a").contains("clocks"));
        assert!(of("[a]\nlike = \"ecp5\"\nclock = 0.0", "a").contains("above zero"));
        let slow = "[a]\nlike = \"ecp5\"\n[a.int32]\nadd = { delay = 2.0 }";
        assert!(of(slow, "a").contains("part of a cycle"));
        let odd = "[a]\nlike = \"ecp5\"\n[a.int32]\nad = { delay = 0.5 }";
        assert!(of(odd, "a").contains("`ad` is no operator"));
        assert!(of("[a", "a").contains("TOML"));
    }
}
