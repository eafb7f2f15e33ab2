//! From a kernel to a design: which blocks there are, and which follows which.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{ExprId, For, Program, StmtId, StmtKind, VarId};
use ir::walk::Part;
use kernel::Kernel;
use opt::carried::Dependence;
use opt::dependence::{Access, Analysis};
use source::Span;

use super::block::{Act, Block, Node, Number, Operand};
use super::data::{Data, Registers, Result, refuse};
use crate::device::Device;
use crate::flow::{Obstacle, WRITTEN_OUT, short_rounds};
use crate::graph::{Edge, Wait};
use crate::plan::{anywhere, through_memory};

/// A kernel as hardware.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// Registers between blocks, by the type of what they hold.
    pub registers: Vec<Number>,
    /// Blocks, and which is next. The first is begun with.
    pub states: Vec<State>,
    /// Variables of the program whose values registers have when the kernel begins, and when it ends.
    pub values: BTreeMap<VarId, usize>,
    /// And whose addresses.
    pub addresses: BTreeMap<VarId, usize>,
    /// Cycles until a load has its value, and until a store is seen.
    pub memory: (u64, u64),
}

/// A block and what follows it.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// What is done.
    pub block: Block,
    /// What follows.
    pub next: Next,
}

/// What follows a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This block; behind the last the kernel ends.
    Goto(usize),
    /// One of two: as the block's test is not zero, or zero.
    Choose(usize, usize),
}

/// Makes a design of a kernel that one thread runs (after `opt::passes::pipeline::run_pipelined`), or says what stands in the way.
pub fn design(
    program: &Program,
    kernel: &Kernel,
    device: &Device,
) -> std::result::Result<Design, Obstacle> {
    let code = kernel.body.iter().filter_map(|it| match it.kind {
        kernel::StmtKind::Code(code) => Some(code),
        _ => None,
    });
    let code: Vec<StmtId> = code.collect();
    let mut declared = BTreeSet::new();
    for stmt in &code {
        declared.extend(kernel::walk::uses(program, Part::Stmt(*stmt)).1);
    }
    let analysis = Analysis::new(program);
    let mut maker = Maker {
        program,
        kernel,
        device,
        analysis: &analysis,
        declared: &declared,
        registers: Registers::default(),
        states: Vec::new(),
    };
    maker.list(&code)?;
    let is_outer = |var: &VarId| !declared.contains(var);
    let values = maker.registers.keys.iter().filter(|it| is_outer(&it.0.0) && it.0.1.is_empty());
    let values = values.map(|(key, register)| (key.0, *register)).collect();
    if let Some((key, _)) =
        maker.registers.keys.iter().find(|it| is_outer(&it.0.0) && !it.0.1.is_empty())
    {
        return refuse("a record of the program", program.vars[key.0].span);
    }
    if maker.states.is_empty() {
        maker.nothing();
    }
    let states = maker.states;
    let addresses = maker.registers.objects;
    let memory = (device.load, device.store);
    Ok(Design { registers: maker.registers.numbers, states, values, addresses, memory })
}

struct Maker<'p> {
    program: &'p Program,
    kernel: &'p Kernel,
    device: &'p Device,
    analysis: &'p Analysis<'p>,
    declared: &'p BTreeSet<VarId>,
    registers: Registers,
    states: Vec<State>,
}

impl Maker<'_> {
    fn list(&mut self, list: &[StmtId]) -> Result<()> {
        let mut straight = Vec::new();
        for stmt in list {
            if !self.has_loops(*stmt) {
                straight.push(*stmt);
                continue;
            }
            self.straight(&std::mem::take(&mut straight), None)?;
            let span = self.program.stmts[*stmt].span;
            match &self.program.stmts[*stmt].kind {
                StmtKind::Block(inner) => self.list(&inner.clone())?,
                StmtKind::Region(region) => {
                    let body: Vec<StmtId> =
                        self.program.regions[*region].body.into_iter().collect();
                    self.list(&body)?;
                }
                StmtKind::If(condition, then, other) => self.branch(*condition, *then, *other)?,
                StmtKind::For(it) => self.a_loop(*stmt, &it.clone(), span)?,
                _ => return refuse("a loop that is not counted", span),
            }
        }
        self.straight(&straight, None)
    }

    /// Whether there is a loop in a statement that is not written out: one of many rounds, with those of loops inside.
    fn has_loops(&self, stmt: StmtId) -> bool {
        let mut open = vec![(Part::Stmt(stmt), 1u64)];
        while let Some((part, around)) = open.pop() {
            let mut rounds = around;
            if let Part::Stmt(stmt) = part {
                match &self.program.stmts[stmt].kind {
                    StmtKind::For(it) => match short_rounds(self.program, it) {
                        Some(each) => rounds = around.saturating_mul(each),
                        None => return true,
                    },
                    StmtKind::While(..) | StmtKind::DoWhile(..) => return true,
                    _ => {}
                }
            }
            if rounds > 4 * WRITTEN_OUT {
                return true;
            }
            self.program.parts(part, &mut |it| open.push((it, rounds)));
        }
        false
    }

    fn data(&mut self) -> Data<'_> {
        Data::new(self.program, &mut self.registers, self.declared)
    }

    /// Code that runs once, and a question for what follows.
    fn straight(&mut self, list: &[StmtId], test: Option<ExprId>) -> Result<()> {
        if list.is_empty() && test.is_none() {
            return Ok(());
        }
        let mut data = self.data();
        data.list(list)?;
        if let Some(test) = test {
            data.block.test = Some(data.expr(test)?.at);
        }
        let (block, accesses) = data.close();
        if block.nodes.is_empty() && block.sets.is_empty() && test.is_none() {
            return Ok(());
        }
        self.put(block, &accesses, None)
    }

    /// Schedules a block and makes it the last.
    fn put(
        &mut self,
        mut block: Block,
        accesses: &[(Span, bool, usize)],
        stmt: Option<StmtId>,
    ) -> Result<()> {
        let span = accesses.first().map_or(self.kernel.span, |it| it.0);
        let place = block.balance();
        let at = |node: usize| place.get(node).copied().unwrap_or(node);
        let accesses: Vec<(Span, bool, usize, usize)> =
            accesses.iter().map(|it| (it.0, it.1, at(it.2), 0)).collect();
        let mut graph = block.graph();
        // Accesses come in their order, but for those of two objects; of two pointers nothing is known here.
        let object = |node: usize| {
            let base = block.nodes.get(node).and_then(|it| it.base);
            base.filter(|it| self.registers.objects.values().any(|that| that == it))
        };
        for (number, second) in accesses.iter().enumerate() {
            for first in accesses.iter().take(number).filter(|it| it.1 || second.1) {
                let (a, b) = (object(first.2), object(second.2));
                if a.is_some() && b.is_some() && a != b {
                    continue;
                }
                let wait = if first.1 && !second.1 { Wait::Written } else { Wait::Order };
                graph.edges.push(Edge { from: first.2, to: second.2, distance: 0, wait });
            }
        }
        if let Some(stmt) = stmt
            && !self.kernel.launch.independent.contains(&stmt)
        {
            match self.analysis.carried(stmt, &BTreeMap::new()).memory {
                Ok(found) if found.iter().all(|it| is_known(&accesses, it)) => {
                    found.iter().for_each(|it| through_memory(&mut graph, &accesses, it));
                }
                Ok(_) | Err(_) => anywhere(&mut graph, &accesses),
            }
        }
        if !block.schedule(&graph, self.device) {
            return refuse("an access that waits for itself", span);
        }
        if block.is_loop && block.test.is_some_and(|it| block.ready(it) > 0) {
            return refuse(
                "a loop whose end is not known in the cycle in which an iteration begins",
                span,
            );
        }
        let next = Next::Goto(self.states.len() + 1);
        self.states.push(State { block, next });
        Ok(())
    }

    fn branch(&mut self, condition: ExprId, then: StmtId, other: Option<StmtId>) -> Result<()> {
        self.straight(&[], Some(condition))?;
        let asked = self.states.len() - 1;
        self.list(&[then])?;
        self.nothing();
        let leaves = self.states.len() - 1;
        let begins = self.states.len();
        self.list(&other.into_iter().collect::<Vec<_>>())?;
        self.nothing();
        let end = self.states.len();
        self.follow(asked, Next::Choose(asked + 1, begins));
        self.follow(leaves, Next::Goto(end));
        Ok(())
    }

    /// A block that does nothing, from which others can be gone to.
    fn nothing(&mut self) {
        let block = Block { interval: 1, depth: 1, ..Block::default() };
        self.states.push(State { block, next: Next::Goto(self.states.len() + 1) });
    }

    fn follow(&mut self, state: usize, next: Next) {
        if let Some(state) = self.states.get_mut(state) {
            state.next = next;
        }
    }

    fn a_loop(&mut self, stmt: StmtId, it: &For, span: Span) -> Result<()> {
        self.straight(&it.init, None)?;
        let Some(condition) = it.cond else { return refuse("a loop without an end", span) };
        if self.has_loops(it.body) {
            let begin = self.states.len();
            self.straight(&[], Some(condition))?;
            self.list(&[it.body])?;
            if let Some(step) = it.step {
                let mut data = self.data();
                data.expr(step)?;
                let (block, accesses) = data.close();
                self.put(block, &accesses, None)?;
            } else {
                self.nothing();
            }
            let last = self.states.len() - 1;
            self.follow(last, Next::Goto(begin));
            self.follow(begin, Next::Choose(begin + 1, last + 1));
            return Ok(());
        }
        let mut data = self.data();
        data.block.is_loop = true;
        data.block.test = Some(data.expr(condition)?.at);
        data.list(&[it.body])?;
        if let Some(step) = it.step {
            data.expr(step)?;
        }
        let (block, accesses) = data.close();
        let (before, block) = self.hoisted(block);
        if let Some(before) = before {
            self.put(before, &[], None)?;
        }
        self.put(block, &accesses, Some(stmt))
    }

    /// What is the same in all iterations is computed before them.
    fn hoisted(&mut self, mut block: Block) -> (Option<Block>, Block) {
        let mut same = vec![false; block.nodes.len()];
        for (at, node) in block.nodes.iter().enumerate() {
            let is_same = match node.act {
                Act::Begin(register) => block.next(register).is_none(),
                Act::Compute(_) => Block::inputs(node).all(|it| same.get(it) == Some(&true)),
                Act::Load | Act::Store => false,
            };
            if let Some(mine) = same.get_mut(at) {
                *mine = is_same;
            }
        }
        let is_moved = |at: usize| {
            same.get(at) == Some(&true)
                && block.nodes.get(at).is_some_and(|it| matches!(it.act, Act::Compute(_)))
        };
        let moved: Vec<usize> = (0..block.nodes.len()).filter(|it| is_moved(*it)).collect();
        if moved.is_empty() {
            return (None, block);
        }
        // The same nodes in a block of their own; those that are not needed there stay without use.
        let mut before = Block::default();
        let mut place: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, node) in block.nodes.iter().enumerate().filter(|it| same.get(it.0) == Some(&true))
        {
            let mut node = node.clone();
            for operand in &mut node.operands {
                if let Operand::Node(from) = operand
                    && let Some(new) = place.get(from)
                {
                    *from = *new;
                }
            }
            place.insert(at, before.nodes.len());
            before.nodes.push(node);
        }
        for at in moved {
            let Some(node) = block.nodes.get_mut(at) else { continue };
            let register = self.registers.fresh(node.gives);
            let value = place.get(&at).copied().unwrap_or(0);
            before.sets.push((register, Operand::Node(value)));
            let (act, gives) = (Act::Begin(register), node.gives);
            *node = Node {
                act,
                operands: Vec::new(),
                of: gives,
                guard: None,
                unit: None,
                ..node.clone()
            };
        }
        (Some(before), block)
    }
}

/// Whether both ends of a dependence are accesses here.
fn is_known(accesses: &[(Span, bool, usize, usize)], it: &Dependence) -> bool {
    let has = |that: &Access| accesses.iter().any(|it| it.0 == that.span && it.1 == that.writes);
    has(&it.first) && has(&it.second)
}
