//! One block of a design: operators, what they work on, and when.

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Bits of a value.
    pub bits: u32,
    /// How they are read.
    pub kind: NumberKind,
}

/// How bits are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum NumberKind {
    Signed,
    Unsigned,
    Float,
}

impl Number {
    /// An address.
    pub const ADDRESS: Number = Number { bits: 64, kind: NumberKind::Unsigned };
    /// 1 or 0.
    pub const TRUTH: Number = Number { bits: 32, kind: NumberKind::Signed };

    /// Whether it is a floating-point number.
    pub fn is_float(self) -> bool {
        self.kind == NumberKind::Float
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(self) -> bool {
        self.kind == NumberKind::Signed
    }

    /// The bits that a value may have.
    pub fn mask(self) -> u64 {
        if self.bits >= 64 { u64::MAX } else { (1 << self.bits) - 1 }
    }
}

/// What an operator works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// These bits.
    Constant(u64),
    /// What a node gives.
    Node(usize),
}

/// What an operator computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Function {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Left,
    Right,
    And,
    Or,
    Xor,
    Less,
    LessOrEqual,
    Equal,
    /// The smaller or larger of two integers.
    Least,
    Most,
    /// The second where the first is not zero, else the third.
    Select,
    /// The same value in another type.
    Convert,
    Negate,
    Absolute,
    Sqrt,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// What a register has when the block, or an iteration of it, begins.
    Begin(usize),
    /// An operator.
    Compute(Function),
    /// A read of memory: the address.
    Load,
    /// A write: the address and the value.
    Store,
    /// A read of a memory on the chip: which, and the number of the element. It sees what was there as the cycle began.
    Look(usize),
    /// A write of one: the number and the value. It is there from the next cycle on.
    Keep(usize),
    /// A value out of a channel: which.
    Pop(usize),
    /// A value into a channel: which.
    Push(usize),
}

impl Act {
    /// The channel that it is about, and whether it puts values in.
    pub fn channel(self) -> Option<(usize, bool)> {
        match self {
            Act::Pop(channel) => Some((channel, false)),
            Act::Push(channel) => Some((channel, true)),
            Act::Begin(_)
            | Act::Compute(_)
            | Act::Load
            | Act::Store
            | Act::Look(_)
            | Act::Keep(_) => None,
        }
    }
}

/// A node, and what its maker knows of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<A = ()> {
    /// What it does.
    pub act: Act,
    /// What it works on.
    pub operands: Vec<Operand>,
    /// The type of what it works on.
    pub of: Number,
    /// The type of what it gives.
    pub gives: Number,
    /// It happens only where this is not zero: accesses of memory.
    pub guard: Option<Operand>,
    /// What else is known of it.
    pub about: A,
}

/// A block with its schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<A = ()> {
    /// In an order in which each follows what it waits for.
    pub nodes: Vec<Node<A>>,
    /// A loop goes on while this is not zero, asked in the cycle in which an iteration begins; what follows a block that runs
    /// once is chosen by it.
    pub test: Option<Operand>,
    /// Registers that have new values in the end.
    pub sets: Vec<(usize, Operand)>,
    /// It is a loop.
    pub is_loop: bool,
    /// Iterations start so many cycles after each other.
    pub interval: u64,
    /// Cycles of an iteration.
    pub depth: u64,
    /// The cycle in which each node starts.
    pub starts: Vec<u64>,
    /// And cycles until it gives its value.
    pub latencies: Vec<u64>,
}

impl<A> Default for Block<A> {
    fn default() -> Block<A> {
        Block {
            nodes: Vec::new(),
            test: None,
            sets: Vec::new(),
            is_loop: false,
            interval: 0,
            depth: 0,
            starts: Vec::new(),
            latencies: Vec::new(),
        }
    }
}

impl<A> Block<A> {
    /// The cycle in which an operand is there.
    pub fn ready(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Constant(_) => 0,
            Operand::Node(at) => {
                let start = self.starts.get(at).copied().unwrap_or(0);
                start + self.latencies.get(at).copied().unwrap_or(0)
            }
        }
    }

    /// The operand that a register gets for the next iteration; none if it stays.
    pub fn next(&self, register: usize) -> Option<Operand> {
        self.sets.iter().find(|it| it.0 == register).map(|it| it.1).filter(|_| self.is_loop)
    }

    /// All that a node waits for in its iteration.
    pub fn inputs(node: &Node<A>) -> impl Iterator<Item = usize> {
        let of = |it: &Operand| match it {
            Operand::Node(at) => Some(*at),
            Operand::Constant(_) => None,
        };
        node.operands.iter().chain(&node.guard).filter_map(of).collect::<Vec<_>>().into_iter()
    }

    /// The same without what only its maker needs.
    pub fn plain(self) -> Block {
        let plain = |it: Node<A>| {
            let Node { act, operands, of, gives, guard, about: _ } = it;
            Node { act, operands, of, gives, guard, about: () }
        };
        let Block { nodes, test, sets, is_loop, interval, depth, starts, latencies } = self;
        let nodes = nodes.into_iter().map(plain).collect();
        Block { nodes, test, sets, is_loop, interval, depth, starts, latencies }
    }
}
