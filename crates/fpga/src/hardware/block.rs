//! Blocks while they are made: the order of their operators, and the graph that a schedule is made for.

use std::collections::BTreeSet;

use rtl::block::{Act, Function, Number, Operand};
use source::Span;

use crate::device::Device;
use crate::graph::{Class, Edge, Graph, Memory, Node as Vertex, Op, Unit, Wait};
use crate::schedule::{CYCLE, Delay};

/// What is known of a node until it has its cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct About {
    /// The register with the address that an access counts from, if that is one.
    pub(super) base: Option<usize>,
    /// The operator that it takes; none where bits are only wired.
    pub(super) unit: Option<(Unit, Class)>,
    /// Where it was written.
    pub(super) span: Span,
}

pub(super) type Node = rtl::block::Node<About>;
pub(super) type Block = rtl::block::Block<About>;

/// The kind of operator that works on numbers of a type.
pub(super) fn class(number: Number) -> Class {
    match (number.is_float(), number.bits > 32) {
        (true, false) => Class::Float32,
        (true, true) => Class::Float64,
        (false, false) => Class::Int32,
        (false, true) => Class::Int64,
    }
}

/// Of the least or most of several integers the operand that waits for an earlier iteration is compared last: which of
/// them are compared first makes no difference.
///
/// Answers where each node is then.
pub(super) fn balance(block: &mut Block) -> Vec<usize> {
    for _ in 0..block.nodes.len() {
        let Some((outer, inner, late, early)) = unbalanced(block) else { break };
        let mut swap = |node: usize, from: Operand, to: Operand| {
            let operands = block.nodes.get_mut(node).map(|it| &mut it.operands);
            operands.into_iter().flatten().filter(|it| **it == from).for_each(|it| *it = to);
        };
        swap(inner, late, early);
        swap(outer, early, late);
    }
    sort(block)
}

/// `outer(inner(late, x), early)` where `late` waits for an earlier iteration and `early` does not.
fn unbalanced(block: &Block) -> Option<(usize, usize, Operand, Operand)> {
    let live = live(block);
    for (outer, node) in block.nodes.iter().enumerate() {
        let is_extreme = |it: Act| matches!(it, Act::Compute(Function::Least | Function::Most));
        let [a, b] = *node.operands.as_slice() else { continue };
        if !is_extreme(node.act) {
            continue;
        }
        let reached = reached(block, outer);
        let is_late = |it: Operand| matches!(it, Operand::Node(at) if reached.contains(&at));
        for (first, early) in [(a, b), (b, a)] {
            let Operand::Node(inner) = first else { continue };
            let Some(below) = block.nodes.get(inner) else { continue };
            let uses = block.nodes.iter().zip(&live).filter(|it| *it.1).map(|it| it.0);
            let uses = uses.flat_map(Block::inputs).filter(|it| *it == inner);
            let is_set = block.sets.iter().any(|it| it.1 == first);
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
fn reached(block: &Block, from: usize) -> BTreeSet<usize> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(at) = open.pop() {
        for (to, node) in block.nodes.iter().enumerate() {
            let begins =
                matches!(node.act, Act::Begin(it) if block.next(it) == Some(Operand::Node(at)));
            if (begins || Block::inputs(node).any(|it| it == at)) && found.insert(to) {
                open.push(to);
            }
        }
    }
    found
}

/// Which nodes anything waits for, in the end.
fn live(block: &Block) -> Vec<bool> {
    let mut live = vec![false; block.nodes.len()];
    let is_access = |it: &Node| {
        it.act.channel().is_some() || matches!(it.act, Act::Load | Act::Store | Act::Keep(_))
    };
    let accesses = (0..).zip(&block.nodes).filter(|it| is_access(it.1)).map(|it| it.0);
    let kept = block.sets.iter().map(|it| &it.1).chain(&block.test);
    let kept = kept.filter_map(|it| match it {
        Operand::Node(at) => Some(*at),
        Operand::Constant(_) => None,
    });
    let mut open: Vec<usize> = accesses.chain(kept).collect();
    while let Some(at) = open.pop() {
        if let (Some(mine @ false), Some(node)) = (live.get_mut(at), block.nodes.get(at)) {
            *mine = true;
            open.extend(Block::inputs(node));
        }
    }
    live
}

/// Puts nodes that are needed into an order in which each follows what it waits for, and leaves out others.
fn sort(block: &mut Block) -> Vec<usize> {
    let (count, live) = (block.nodes.len(), live(block));
    let (mut place, mut order) = (vec![None; count], Vec::new());
    let wanted = live.iter().filter(|it| **it).count();
    while order.len() < wanted {
        let before = order.len();
        for (at, node) in block.nodes.iter().enumerate() {
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
        order.iter().filter_map(|it| block.nodes.get(*it)).cloned().collect();
    for node in &mut nodes {
        node.operands.iter_mut().chain(&mut node.guard).for_each(moved);
    }
    block.nodes = nodes;
    block.sets.iter_mut().map(|it| &mut it.1).chain(&mut block.test).for_each(moved);
    place.into_iter().map(Option::unwrap_or_default).collect()
}

/// The graph that schedules are made for.
pub(super) fn graph(block: &Block) -> Graph {
    let mut graph = Graph::default();
    let mut bases: Vec<Base> = Vec::new();
    for (at, node) in block.nodes.iter().enumerate() {
        let op = match (node.act, node.about.unit) {
            (Act::Begin(_), _) | (Act::Compute(_), None) => Op::Carried,
            (Act::Compute(_), Some((unit, class))) => Op::Unit(unit, class),
            (Act::Load, _) => Op::Load(memory_of(&mut bases, Base::Board(node.about.base))),
            (Act::Store, _) => Op::Store(memory_of(&mut bases, Base::Board(node.about.base))),
            (Act::Look(chip), _) => Op::Load(memory_of(&mut bases, Base::Chip(chip))),
            (Act::Keep(chip), _) => Op::Store(memory_of(&mut bases, Base::Chip(chip))),
            (Act::Pop(channel), _) => Op::Load(memory_of(&mut bases, Base::Channel(channel))),
            (Act::Push(channel), _) => Op::Store(memory_of(&mut bases, Base::Channel(channel))),
        };
        let bits = u64::from(node.gives.bits);
        graph.nodes.push(Vertex { op, bits, name: String::new(), span: node.about.span });
        for from in Block::inputs(node) {
            graph.edges.push(Edge { from, to: at, distance: 0, wait: Wait::Value });
        }
        if let Act::Begin(register) = node.act
            && let Some(Operand::Node(from)) = block.next(register)
        {
            graph.edges.push(Edge { from, to: at, distance: 1, wait: Wait::Value });
        }
    }
    let memory = |it: &Base| {
        let local = matches!(it, Base::Chip(_) | Base::Channel(_)).then_some(0);
        Memory { name: "memory".to_owned(), local }
    };
    graph.memories = bases.iter().map(memory).collect();
    graph
}

/// Gives every node its cycle; false if there is no schedule.
pub(super) fn schedule(block: &mut Block, graph: &Graph, device: &Device) -> bool {
    let Some(found) = graph.problem(device).0.schedule() else { return false };
    block.starts = found.starts.iter().map(|it| it / CYCLE).collect();
    let latency = |at: usize| match graph.delay(device, at) {
        Delay::Registered(cycles) => cycles,
        Delay::Combinational(_) => 0,
    };
    block.latencies = (0..block.nodes.len()).map(latency).collect();
    block.interval = found.interval;
    block.depth = found.depth;
    true
}

/// Where accesses go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// Memory of the board, counted from what this register has.
    Board(Option<usize>),
    /// This memory on the chip.
    Chip(usize),
    /// This channel.
    Channel(usize),
}

/// The number of the memory that accesses from a base reach.
fn memory_of(bases: &mut Vec<Base>, base: Base) -> usize {
    match bases.iter().position(|it| *it == base) {
        Some(known) => known,
        None => {
            bases.push(base);
            bases.len() - 1
        }
    }
}
