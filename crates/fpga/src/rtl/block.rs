//! One block of a design: operators, what they work on, and when.

use std::collections::BTreeSet;

use source::Span;

use crate::device::Device;
use crate::graph::{Class, Edge, Graph, Memory, Node as Vertex, Op, Unit, Wait};
use crate::schedule::{CYCLE, Delay};

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
    pub(crate) const ADDRESS: Number = Number { bits: 64, kind: NumberKind::Unsigned };
    pub(crate) const TRUTH: Number = Number { bits: 32, kind: NumberKind::Signed };

    /// Whether it is a floating-point number.
    pub fn is_float(self) -> bool {
        self.kind == NumberKind::Float
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(self) -> bool {
        self.kind == NumberKind::Signed
    }

    /// The kind of operator that works on it.
    pub(crate) fn class(self) -> Class {
        match (self.is_float(), self.bits > 32) {
            (true, false) => Class::Float32,
            (true, true) => Class::Float64,
            (false, false) => Class::Int32,
            (false, true) => Class::Int64,
        }
    }

    /// The bits that a value may have.
    pub(crate) fn mask(self) -> u64 {
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
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
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
    /// The register with the address that an access counts from, if that is one.
    pub base: Option<usize>,
    /// The operator that it takes; none where bits are only wired.
    pub unit: Option<(Unit, Class)>,
    /// Where it was written.
    pub span: Span,
}

/// A block with its schedule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// In an order in which each follows what it waits for.
    pub nodes: Vec<Node>,
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

impl Block {
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
    pub fn inputs(node: &Node) -> impl Iterator<Item = usize> {
        let of = |it: &Operand| match it {
            Operand::Node(at) => Some(*at),
            Operand::Constant(_) => None,
        };
        node.operands.iter().chain(&node.guard).filter_map(of).collect::<Vec<_>>().into_iter()
    }

    /// Of the least or most of several integers the operand that waits for an earlier iteration is compared last: which of
    /// them are compared first makes no difference.
    ///
    /// Answers where each node is then.
    pub(crate) fn balance(&mut self) -> Vec<usize> {
        for _ in 0..self.nodes.len() {
            let Some((outer, inner, late, early)) = self.unbalanced() else { break };
            let mut swap = |node: usize, from: Operand, to: Operand| {
                let operands = self.nodes.get_mut(node).map(|it| &mut it.operands);
                operands.into_iter().flatten().filter(|it| **it == from).for_each(|it| *it = to);
            };
            swap(inner, late, early);
            swap(outer, early, late);
        }
        self.sort()
    }

    /// `outer(inner(late, x), early)` where `late` waits for an earlier iteration and `early` does not.
    fn unbalanced(&self) -> Option<(usize, usize, Operand, Operand)> {
        let live = self.live();
        for (outer, node) in self.nodes.iter().enumerate() {
            let is_extreme = |it: Act| matches!(it, Act::Compute(Function::Least | Function::Most));
            let [a, b] = *node.operands.as_slice() else { continue };
            if !is_extreme(node.act) {
                continue;
            }
            let reached = self.reached(outer);
            let is_late = |it: Operand| matches!(it, Operand::Node(at) if reached.contains(&at));
            for (first, early) in [(a, b), (b, a)] {
                let Operand::Node(inner) = first else { continue };
                let Some(below) = self.nodes.get(inner) else { continue };
                let uses = self.nodes.iter().zip(&live).filter(|it| *it.1).map(|it| it.0);
                let uses = uses.flat_map(Block::inputs).filter(|it| *it == inner);
                let is_set = self.sets.iter().any(|it| it.1 == first);
                let [x, y] = *below.operands.as_slice() else { continue };
                if below.act != node.act || uses.count() != 1 || is_set || is_late(early) {
                    continue;
                }
                let late = [x, y].into_iter().filter(|it| is_late(*it)).collect::<Vec<_>>();
                if let [late] = *late.as_slice() {
                    return Some((outer, inner, late, early));
                }
            }
        }
        None
    }

    /// All that waits for a node, in whichever iteration.
    fn reached(&self, from: usize) -> BTreeSet<usize> {
        let (mut found, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            for (to, node) in self.nodes.iter().enumerate() {
                let begins =
                    matches!(node.act, Act::Begin(it) if self.next(it) == Some(Operand::Node(at)));
                if (begins || Block::inputs(node).any(|it| it == at)) && found.insert(to) {
                    open.push(to);
                }
            }
        }
        found
    }

    /// Which nodes anything waits for, in the end.
    fn live(&self) -> Vec<bool> {
        let mut live = vec![false; self.nodes.len()];
        let is_access = |it: &Node| matches!(it.act, Act::Load | Act::Store);
        let accesses = (0..).zip(&self.nodes).filter(|it| is_access(it.1)).map(|it| it.0);
        let kept = self.sets.iter().map(|it| &it.1).chain(&self.test);
        let kept = kept.filter_map(|it| match it {
            Operand::Node(at) => Some(*at),
            Operand::Constant(_) => None,
        });
        let mut open: Vec<usize> = accesses.chain(kept).collect();
        while let Some(at) = open.pop() {
            if let (Some(mine @ false), Some(node)) = (live.get_mut(at), self.nodes.get(at)) {
                *mine = true;
                open.extend(Block::inputs(node));
            }
        }
        live
    }

    /// Puts nodes that are needed into an order in which each follows what it waits for, and leaves out others.
    fn sort(&mut self) -> Vec<usize> {
        let (count, live) = (self.nodes.len(), self.live());
        let (mut place, mut order) = (vec![None; count], Vec::new());
        let wanted = live.iter().filter(|it| **it).count();
        while order.len() < wanted {
            let before = order.len();
            for (at, node) in self.nodes.iter().enumerate() {
                let is_new = place.get(at) == Some(&None) && live.get(at) == Some(&true);
                let has_all = |it: usize| place.get(it).is_some_and(Option::is_some);
                if is_new && Block::inputs(node).all(has_all) {
                    if let Some(mine) = place.get_mut(at) {
                        *mine = Some(order.len());
                    }
                    order.push(at);
                }
            }
            if order.len() == before {
                return (0..count).collect();
            }
        }
        let moved = |it: &mut Operand| {
            if let Operand::Node(at) = it
                && let Some(Some(new)) = place.get(*at)
            {
                *at = *new;
            }
        };
        let mut nodes: Vec<Node> =
            order.iter().filter_map(|it| self.nodes.get(*it)).cloned().collect();
        for node in &mut nodes {
            node.operands.iter_mut().chain(&mut node.guard).for_each(moved);
        }
        self.nodes = nodes;
        self.sets.iter_mut().map(|it| &mut it.1).chain(&mut self.test).for_each(moved);
        place.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// The graph that schedules are made for.
    pub(crate) fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let mut bases: Vec<Option<usize>> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let op = match (node.act, node.unit) {
                (Act::Begin(_), _) | (Act::Compute(_), None) => Op::Carried,
                (Act::Compute(_), Some((unit, class))) => Op::Unit(unit, class),
                (Act::Load, _) => Op::Load(memory_of(&mut bases, node.base)),
                (Act::Store, _) => Op::Store(memory_of(&mut bases, node.base)),
            };
            let bits = u64::from(node.gives.bits);
            graph.nodes.push(Vertex { op, bits, name: String::new(), span: node.span });
            for from in Block::inputs(node) {
                graph.edges.push(Edge { from, to: at, distance: 0, wait: Wait::Value });
            }
            if let Act::Begin(register) = node.act
                && let Some(Operand::Node(from)) = self.next(register)
            {
                graph.edges.push(Edge { from, to: at, distance: 1, wait: Wait::Value });
            }
        }
        let memory = |_| Memory { name: "memory".to_owned(), local: None };
        graph.memories = bases.iter().map(memory).collect();
        graph
    }

    /// Gives every node its cycle; false if there is no schedule.
    pub(crate) fn schedule(&mut self, graph: &Graph, device: &Device) -> bool {
        let Some(found) = graph.problem(device).0.schedule() else { return false };
        self.starts = found.starts.iter().map(|it| it / CYCLE).collect();
        let latency = |at: usize| match graph.delay(device, at) {
            Delay::Registered(cycles) => cycles,
            Delay::Combinational(_) => 0,
        };
        self.latencies = (0..self.nodes.len()).map(latency).collect();
        self.interval = found.interval;
        self.depth = found.depth;
        true
    }
}

/// The number of the memory that accesses from a base reach.
fn memory_of(bases: &mut Vec<Option<usize>>, base: Option<usize>) -> usize {
    match bases.iter().position(|it| *it == base) {
        Some(known) => known,
        None => {
            bases.push(base);
            bases.len() - 1
        }
    }
}
