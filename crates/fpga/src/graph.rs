//! One iteration as a graph: operations, the values between them, and what must come before what.

use source::Span;

use crate::device::Device;
use crate::schedule::{CYCLE, Delay, Dependence, Operation, Problem};

/// Kinds of operators, as devices name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Sums and differences.
    Add,
    /// Products.
    Multiply,
    /// Quotients and remainders.
    Divide,
    /// Square roots.
    Sqrt,
    /// Comparisons.
    Compare,
    /// One of two values.
    Select,
    /// The smaller or larger of two values.
    Extreme,
    /// Operations on single bits.
    Logic,
    /// Shifts by a distance that is not constant.
    Shift,
    /// Conversions between integers and floating numbers, or between kinds of these.
    Convert,
    /// Exponentials, logarithms, sines and relatives.
    Function,
}

impl Unit {
    /// All of them.
    pub const ALL: &'static [Unit] = &[
        Unit::Add,
        Unit::Multiply,
        Unit::Divide,
        Unit::Sqrt,
        Unit::Compare,
        Unit::Select,
        Unit::Extreme,
        Unit::Logic,
        Unit::Shift,
        Unit::Convert,
        Unit::Function,
    ];

    /// Its name in tables of devices and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Add => "add",
            Unit::Multiply => "multiply",
            Unit::Divide => "divide",
            Unit::Sqrt => "sqrt",
            Unit::Compare => "compare",
            Unit::Select => "select",
            Unit::Extreme => "extreme",
            Unit::Logic => "logic",
            Unit::Shift => "shift",
            Unit::Convert => "convert",
            Unit::Function => "function",
        }
    }
}

/// What an operator works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Class {
    Int32,
    Int64,
    Float32,
    Float64,
}

impl Class {
    /// Bits of a value.
    pub fn bits(self) -> u64 {
        match self {
            Class::Int32 | Class::Float32 => 32,
            Class::Int64 | Class::Float64 => 64,
        }
    }

    /// In C's words.
    pub fn word(self) -> &'static str {
        match self {
            Class::Int32 => "int",
            Class::Int64 => "long",
            Class::Float32 => "float",
            Class::Float64 => "double",
        }
    }
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A value that all iterations find the same.
    Input,
    /// What a variable has when an iteration begins.
    Carried,
    /// An operator.
    Unit(Unit, Class),
    /// A read of memory: its number.
    Load(usize),
    /// A write of memory: its number.
    Store(usize),
}

/// A node of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// Bits of its value.
    pub bits: u64,
    /// The variable it is about, if it has a name.
    pub name: String,
    /// Where it was written.
    pub span: Span,
}

/// One node waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Which is waited for.
    pub from: usize,
    /// Which waits.
    pub to: usize,
    /// The one of so many iterations before.
    pub distance: u64,
    /// What for.
    pub wait: Wait,
}

/// What a node waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The value.
    Value,
    /// What was written to be there.
    Written,
    /// The other to have started.
    Order,
}

/// Memory that a graph reads or writes: an array, or what a pointer leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// As it is called in the program.
    pub name: String,
    /// It is on the chip: how many bits. Else it is memory of the board.
    pub local: Option<u64>,
}

/// One iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The operations.
    pub nodes: Vec<Node>,
    /// What they wait for.
    pub edges: Vec<Edge>,
    /// The memories.
    pub memories: Vec<Memory>,
}

/// Parts of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Units of logic.
    pub logic: u64,
    /// Bits of registers.
    pub registers: u64,
    /// Multipliers.
    pub dsp: u64,
    /// Blocks of memory.
    pub ram: u64,
}

impl Resources {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Resources) -> Resources {
        Resources {
            logic: self.logic.saturating_add(other.logic),
            registers: self.registers.saturating_add(other.registers),
            dsp: self.dsp.saturating_add(other.dsp),
            ram: self.ram.saturating_add(other.ram),
        }
    }

    /// The largest share that is taken of any part of a device.
    pub fn share(self, device: &Device) -> f64 {
        let part = |used: u64, of: u64| used as f64 / of.max(1) as f64;
        [
            part(self.logic, device.logic),
            part(self.registers, device.registers),
            part(self.dsp, device.dsp),
            part(self.ram, device.ram),
        ]
        .into_iter()
        .fold(0.0, f64::max)
    }
}

/// A unit of the board's memory interface for one access.
const ACCESS: Resources = Resources { logic: 400, registers: 800, dsp: 0, ram: 2 };
/// Values that wait longer lie in blocks of memory.
const LONG: u64 = 8;

impl Graph {
    /// How long a node takes.
    pub fn delay(&self, device: &Device, node: usize) -> Delay {
        let is_local = |it: usize| self.memories.get(it).is_some_and(|it| it.local.is_some());
        match self.nodes.get(node).map(|it| it.op) {
            None | Some(Op::Input | Op::Carried) => Delay::Combinational(0),
            Some(Op::Unit(unit, class)) => {
                device.operator(unit, class).map_or(Delay::Registered(1), |it| it.delay())
            }
            Some(Op::Load(it)) if is_local(it) => Delay::Registered(device.local_load),
            Some(Op::Load(_)) => Delay::Registered(device.load),
            Some(Op::Store(it)) if is_local(it) => Delay::Registered(device.local_store),
            Some(Op::Store(_)) => Delay::Registered(device.store),
        }
    }

    fn is_chip(&self, memory: usize) -> bool {
        self.memories.get(memory).is_some_and(|it| it.local.is_some())
    }

    fn reads_chip(&self, node: usize) -> bool {
        matches!(self.nodes.get(node).map(|it| it.op), Some(Op::Load(it)) if self.is_chip(it))
    }

    fn writes_chip(&self, node: usize) -> bool {
        matches!(self.nodes.get(node).map(|it| it.op), Some(Op::Store(it)) if self.is_chip(it))
    }

    /// Accesses of a memory on the chip meet from one iteration to the next: nothing is said of its elements.
    pub(crate) fn chips_meet(&mut self) {
        let memory = |op: Op| match op {
            Op::Load(it) => Some((it, false)),
            Op::Store(it) => Some((it, true)),
            Op::Input | Op::Carried | Op::Unit(..) => None,
        };
        let accesses: Vec<(usize, usize, bool)> = (0..)
            .zip(&self.nodes)
            .filter_map(|(at, it)| memory(it.op).map(|(memory, writes)| (at, memory, writes)))
            .filter(|it| self.is_chip(it.1))
            .collect();
        for (from, a, first) in &accesses {
            for (to, _, second) in accesses.iter().filter(|it| it.1 == *a && (*first || it.2)) {
                let wait = if *first && !second { Wait::Written } else { Wait::Order };
                self.edges.push(Edge { from: *from, to: *to, distance: 1, wait });
            }
        }
    }

    /// What is to be scheduled, and what its ports are called.
    pub fn problem(&self, device: &Device) -> (Problem, Vec<String>) {
        let mut problem = Problem::default();
        let mut names = Vec::new();
        let mut ports = Vec::new();
        for memory in &self.memories {
            let mut port = |capacity: u64, name: String| {
                if capacity == 0 {
                    return None;
                }
                problem.ports.push(capacity);
                names.push(name);
                Some(problem.ports.len() - 1)
            };
            let name = &memory.name;
            ports.push(match memory.local {
                Some(_) => {
                    let both =
                        port(device.local_ports, format!("accesses of `{name}` on the chip"));
                    (both, both)
                }
                None => (
                    port(device.reads, format!("loads of `{name}`")),
                    port(device.writes, format!("stores to `{name}`")),
                ),
            });
        }
        for (at, node) in self.nodes.iter().enumerate() {
            let port = match node.op {
                Op::Load(it) => ports.get(it).and_then(|it| it.0),
                Op::Store(it) => ports.get(it).and_then(|it| it.1),
                Op::Input | Op::Carried | Op::Unit(..) => None,
            };
            problem.operations.push(Operation { delay: self.delay(device, at), port });
        }
        for it in &self.edges {
            let ticks = match it.wait {
                Wait::Value | Wait::Written => self.delay(device, it.from).ticks(),
                // A memory on the chip gives what it had as the cycle began.
                Wait::Order if self.reads_chip(it.from) && self.writes_chip(it.to) => 0,
                Wait::Order => CYCLE,
            };
            let Edge { from, to, distance, .. } = *it;
            problem.dependences.push(Dependence { from, to, distance, ticks });
        }
        (problem, names)
    }

    /// What a schedule of it takes of a device: operators, and registers or memory for values that wait.
    pub fn resources(&self, device: &Device, interval: u64, starts: &[u64]) -> Resources {
        let mut sum = Resources::default();
        let mut waits = vec![0u64; self.nodes.len()];
        for it in self.edges.iter().filter(|it| it.wait == Wait::Value) {
            let at = |node: usize| starts.get(node).copied().unwrap_or(0) / CYCLE;
            let ready = (starts.get(it.from).copied().unwrap_or(0)
                + self.delay(device, it.from).ticks())
                / CYCLE;
            let used = at(it.to).saturating_add(it.distance.saturating_mul(interval));
            if let Some(wait) = waits.get_mut(it.from) {
                *wait = (*wait).max(used.saturating_sub(ready));
            }
        }
        for (node, wait) in self.nodes.iter().zip(waits) {
            let taken = match node.op {
                Op::Input | Op::Carried => Resources::default(),
                Op::Unit(unit, class) => {
                    let it = device.operator(unit, class).unwrap_or_default();
                    Resources { logic: it.logic, registers: it.registers, dsp: it.dsp, ram: 0 }
                }
                Op::Load(it) | Op::Store(it) => match self.memories.get(it) {
                    Some(memory) if memory.local.is_none() => ACCESS,
                    Some(_) | None => Resources::default(),
                },
            };
            sum = sum.and(taken);
            // A value that stays the same needs one register.
            let wait =
                if node.op == Op::Input { wait.min(1) } else { wait.div_ceil(interval.max(1)) };
            let bits = wait.saturating_mul(node.bits);
            match wait > LONG {
                true => sum.ram = sum.ram.saturating_add(bits.div_ceil(device.ram_bits)),
                false => sum.registers = sum.registers.saturating_add(bits),
            }
        }
        sum
    }

    /// Bytes of the board's memory that an iteration reads and writes.
    pub fn bytes(&self) -> u64 {
        let is_far = |it: usize| self.memories.get(it).is_some_and(|it| it.local.is_none());
        let moved = self.nodes.iter().filter(|it| match it.op {
            Op::Load(at) | Op::Store(at) => is_far(at),
            Op::Input | Op::Carried | Op::Unit(..) => false,
        });
        moved.map(|it| it.bits.div_ceil(8)).sum()
    }
}
