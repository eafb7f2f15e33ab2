//! From a kernel to a design: which blocks there are, and which follows which.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{ExprId, ExprKind, For, Program, StmtId, StmtKind, VarId, VarStorage};
use ir::types::{ArrayLen, TypeKind};
use ir::walk::Part;
use kernel::Kernel;
use opt::carried::Dependence;
use opt::dependence::{Access, Analysis, Reached};
use rtl::block::{Act, Number, Operand};
use rtl::{Chip, Design, Next, Parameter};
use source::Span;

use super::block::{About, Block, Node, balance, graph, schedule};
use super::data::{Data, Registers, Result, refuse};
use super::shape::{End, Shape};
use crate::device::Device;
use crate::flow::{Obstacle, WRITTEN_OUT, short_rounds};
use crate::graph::{Edge, Wait};
use crate::plan::{anywhere, through_memory};

/// A kernel as hardware, and where the variables of its program are.
#[derive(Clone, Debug, PartialEq)]
pub struct Hardware {
    /// What works.
    pub design: Design,
    /// Variables whose values registers have when the kernel begins, and when it ends.
    pub values: BTreeMap<VarId, usize>,
    /// And whose addresses.
    pub addresses: BTreeMap<VarId, usize>,
    /// Its blocks as they nest.
    pub shape: Vec<Shape>,
    /// What it reads and writes in memory; channels are not among that.
    pub touched: BTreeSet<Touch>,
}

/// Something in memory that a kernel reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Touch {
    /// What, if that is known.
    pub what: Option<Reached>,
    /// It is written.
    pub writes: bool,
}

/// How a kernel gets at a variable of the program when it is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// This argument is its value.
    Value(usize),
    /// This argument is its address.
    Address(usize),
    /// It has one of its own, without a value.
    Own,
}

/// Makes hardware of a kernel that one thread runs (after `opt::passes::pipeline::run_pipelined`), or says what stands in the
/// way. `passed`: how it is launched; it then begins with the variables that it is given the addresses of, and ends with them.
///
/// # Errors
/// If code of it is no hardware.
pub fn design(
    program: &Program,
    kernel: &Kernel,
    device: &Device,
    passed: Option<&BTreeMap<VarId, Passed>>,
) -> std::result::Result<Hardware, Obstacle> {
    piped(program, kernel, device, passed, &BTreeMap::new())
}

/// The same with arrays that stand for channels, by their numbers: each element is the next that comes or goes.
///
/// # Errors
/// If code of it is no hardware.
pub fn piped(
    program: &Program,
    kernel: &Kernel,
    device: &Device,
    passed: Option<&BTreeMap<VarId, Passed>>,
    channels: &BTreeMap<VarId, usize>,
) -> std::result::Result<Hardware, Obstacle> {
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
    let mut chips: BTreeMap<VarId, Chip> = BTreeMap::new();
    loop {
        let numbers = (0..).zip(chips.keys()).map(|(at, var)| (*var, at)).collect();
        let mut maker = Maker {
            program,
            kernel,
            device,
            analysis: &analysis,
            declared: &declared,
            in_memory: passed.map(|it| found_elsewhere(program, it)).unwrap_or_default(),
            registers: Registers {
                chips: numbers,
                channels: channels.clone(),
                ..Registers::default()
            },
            states: Vec::new(),
            shape: Vec::new(),
            touched: BTreeSet::new(),
        };
        let made = maker.hardware(&code, passed);
        // An array whose elements are not told apart is a memory: all is made anew, once for each.
        let wanted = maker.registers.wanted.filter(|it| made.is_err() && !chips.contains_key(it));
        match wanted.and_then(|var| Some((var, chip(program, device, var)?))) {
            Some((var, chip)) => chips.insert(var, chip),
            None => {
                return made.map(|it| {
                    let chips = chips.into_values().collect();
                    Hardware { design: Design { chips, ..it.design }, ..it }
                });
            }
        };
    }
}

/// An array of the kernel as a memory on the chip, if it is one of numbers and has room there.
fn chip(program: &Program, device: &Device, var: VarId) -> Option<Chip> {
    let mut ty = program.vars[var].ty;
    let mut elements = 1u64;
    while let TypeKind::Array(element, ArrayLen::Known(length)) = program.types.shape(ty) {
        elements = elements.checked_mul(*length)?;
        ty = *element;
    }
    let number = super::data::number(program, ty)?;
    let has_room = elements.checked_mul(u64::from(number.bits))? <= device.ram * device.ram_bits;
    has_room.then_some(Chip { number, elements })
}

/// Variables that come by address and that code may find by another way than by name.
fn found_elsewhere(program: &Program, passed: &BTreeMap<VarId, Passed>) -> BTreeSet<VarId> {
    let mut addressed = BTreeSet::new();
    for (_, expr) in program.exprs.iter() {
        if let ExprKind::AddrOf(mut of) = expr.kind {
            while let ExprKind::Member(inner, ..) | ExprKind::Index(inner, _) =
                program.exprs[of].kind
            {
                of = inner;
            }
            if let ExprKind::Var(var) = program.exprs[of].kind {
                addressed.insert(var);
            }
        }
    }
    let is_public =
        |it: &VarId| matches!(program.vars[*it].storage, VarStorage::Global | VarStorage::Extern);
    let by_address = passed.iter().filter(|it| matches!(it.1, Passed::Address(_))).map(|it| *it.0);
    by_address.filter(|it| is_public(it) || addressed.contains(it)).collect()
}

/// A block while it is made, and what follows it.
struct State {
    block: Block,
    next: Next,
}

struct Maker<'p> {
    program: &'p Program,
    kernel: &'p Kernel,
    device: &'p Device,
    analysis: &'p Analysis<'p>,
    declared: &'p BTreeSet<VarId>,
    in_memory: BTreeSet<VarId>,
    registers: Registers,
    states: Vec<State>,
    /// What was made of the list of statements that is at hand.
    shape: Vec<Shape>,
    touched: BTreeSet<Touch>,
}

impl Maker<'_> {
    fn hardware(
        &mut self,
        code: &[StmtId],
        passed: Option<&BTreeMap<VarId, Passed>>,
    ) -> Result<Hardware> {
        self.list(code)?;
        let declared = self.declared;
        let is_outer = |var: &VarId| !declared.contains(var);
        let outer = self.registers.keys.iter().filter(|it| is_outer(&it.0.0));
        if let Some((key, _)) = outer.clone().find(|it| !it.0.1.is_empty()) {
            return refuse("a record of the program", self.program.vars[key.0].span);
        }
        let values: BTreeMap<VarId, usize> =
            outer.map(|(key, register)| (key.0, *register)).collect();
        if self.states.is_empty() {
            self.nothing();
        }
        let parameters = match passed {
            Some(passed) => self.launched(passed, &values)?,
            None => Vec::new(),
        };
        let plain = |it: State| rtl::State { block: it.block.plain(), next: it.next };
        let states = std::mem::take(&mut self.states).into_iter().map(plain).collect();
        let addresses = std::mem::take(&mut self.registers.objects);
        let registers = std::mem::take(&mut self.registers.numbers);
        let memory = (self.device.load, self.device.store);
        let design = Design { registers, states, parameters, memory, chips: Vec::new() };
        let shape = std::mem::take(&mut self.shape);
        let touched = std::mem::take(&mut self.touched);
        Ok(Hardware { design, values, addresses, shape, touched })
    }

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
        Data::new(self.program, &mut self.registers, self.declared, &self.in_memory)
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
        let place = balance(&mut block);
        let at = |node: usize| place.get(node).copied().unwrap_or(node);
        let accesses: Vec<(Span, bool, usize, usize)> =
            accesses.iter().map(|it| (it.0, it.1, at(it.2), 0)).collect();
        let mut graph = graph(&block);
        // Accesses come in their order, but for those of two objects; of two pointers nothing is known here.
        let object = |node: usize| {
            let node = block.nodes.get(node)?;
            match node.act {
                Act::Look(chip) | Act::Keep(chip) => Some((true, chip)),
                _ => {
                    let is_object =
                        |it: &usize| self.registers.objects.values().any(|that| that == it);
                    node.about.base.filter(is_object).map(|it| (false, it))
                }
            }
        };
        let is_chip = |it: Option<(bool, usize)>| it.is_some_and(|it| it.0);
        for (number, second) in accesses.iter().enumerate() {
            for first in accesses.iter().take(number).filter(|it| it.1 || second.1) {
                let (a, b) = (object(first.2), object(second.2));
                let are_both = a.is_some() && b.is_some() || is_chip(a) || is_chip(b);
                if are_both && a != b {
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
            // What is asked of loops is about arrays and pointers: variables that lie in memory meet themselves.
            let named: BTreeSet<usize> = self.named();
            for first in &accesses {
                for second in accesses.iter().filter(|it| it.1 || first.1) {
                    let base = |node: usize| block.nodes.get(node).and_then(|it| it.about.base);
                    let [a, b] = [first.2, second.2].map(base);
                    let is_named = |it: Option<usize>| it.is_some_and(|it| named.contains(&it));
                    let are_apart =
                        a != b && object(first.2).is_some() && object(second.2).is_some();
                    if are_apart || !is_named(a) && !is_named(b) {
                        continue;
                    }
                    let wait = if first.1 && !second.1 { Wait::Written } else { Wait::Order };
                    graph.edges.push(Edge { from: first.2, to: second.2, distance: 1, wait });
                }
            }
        }
        if stmt.is_some() {
            graph.chips_meet();
        }
        if !schedule(&mut block, &graph, self.device) {
            return refuse("an access that waits for itself", span);
        }
        if block.is_loop && block.test.is_some_and(|it| block.ready(it) > 0) {
            return refuse(
                "a loop whose end is not known in the cycle in which an iteration begins",
                span,
            );
        }
        let (interval, depth) = (block.interval, block.depth);
        let ends = self.ends(&block)?;
        self.touches(&block);
        self.shape.push(match stmt.filter(|_| block.is_loop) {
            Some(stmt) => Shape::Pipelined { stmt, interval, depth, ends },
            None => Shape::once(depth),
        });
        let next = Next::Goto(self.states.len() + 1);
        self.states.push(State { block, next });
        Ok(())
    }

    /// Ends of channels in a block; they are used in all iterations of a loop.
    fn ends(&self, block: &Block) -> Result<Vec<End>> {
        let mut ends = Vec::new();
        for (node, start) in block.nodes.iter().zip(&block.starts) {
            let Some((channel, pushes)) = node.act.channel() else { continue };
            if !block.is_loop || node.guard.is_some() {
                return refuse("an element of a channel outside of a loop", node.about.span);
            }
            ends.push(End { channel, pushes, start: *start });
        }
        Ok(ends)
    }

    /// What a block reads and writes in memory.
    fn touches(&mut self, block: &Block) {
        let registers = &self.registers;
        let object = |at: usize| {
            let named = registers.objects.iter().find(|it| *it.1 == at);
            let held = registers.keys.iter().find(|it| *it.1 == at && it.0.1.is_empty());
            let is_pointer = |var: VarId| self.program.types.is_pointer(self.program.vars[var].ty);
            let held = held.map(|it| it.0.0).filter(|it| is_pointer(*it));
            named.map(|it| Reached::Object(*it.0)).or(held.map(Reached::Through))
        };
        let touch = |it: &Node| {
            let writes = match it.act {
                Act::Load => false,
                Act::Store => true,
                Act::Begin(_)
                | Act::Compute(_)
                | Act::Look(_)
                | Act::Keep(_)
                | Act::Pop(_)
                | Act::Push(_) => return None,
            };
            Some(Touch { what: it.about.base.and_then(object), writes })
        };
        let found: Vec<Touch> = block.nodes.iter().filter_map(touch).collect();
        self.touched.extend(found);
    }

    /// Registers with the addresses of numbers that lie in memory.
    fn named(&self) -> BTreeSet<usize> {
        let is_number = |var: VarId| self.program.types.is_scalar(self.program.vars[var].ty);
        let objects = self.registers.objects.iter();
        objects.filter(|it| is_number(*it.0)).map(|it| *it.1).collect()
    }

    fn branch(&mut self, condition: ExprId, then: StmtId, other: Option<StmtId>) -> Result<()> {
        self.straight(&[], Some(condition))?;
        let asked = self.states.len() - 1;
        let before = std::mem::take(&mut self.shape);
        self.list(&[then])?;
        self.nothing();
        let first = std::mem::take(&mut self.shape);
        let leaves = self.states.len() - 1;
        let begins = self.states.len();
        self.list(&other.into_iter().collect::<Vec<_>>())?;
        self.nothing();
        let second = std::mem::replace(&mut self.shape, before);
        self.shape.push(Shape::Either(first, second));
        let end = self.states.len();
        self.follow(asked, Next::Choose(asked + 1, begins));
        self.follow(leaves, Next::Goto(end));
        Ok(())
    }

    /// A block that does nothing, from which others can be gone to.
    fn nothing(&mut self) {
        let block = Block { interval: 1, depth: 1, ..Block::default() };
        self.shape.push(Shape::once(block.depth));
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
            let before = std::mem::take(&mut self.shape);
            self.straight(&[], Some(condition))?;
            let test = std::mem::take(&mut self.shape);
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
            let body = std::mem::replace(&mut self.shape, before);
            self.shape.push(Shape::Serial { stmt, test, body });
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

    /// The arguments of a launch. Values of variables that come by address are fetched before anything else, and those that
    /// the kernel changes are put back in the end.
    fn launched(
        &mut self,
        passed: &BTreeMap<VarId, Passed>,
        values: &BTreeMap<VarId, usize>,
    ) -> Result<Vec<Parameter>> {
        let mut parameters = Vec::new();
        let mut fetched = Vec::new();
        for (var, register) in values {
            match passed.get(var) {
                Some(Passed::Own) => {}
                Some(Passed::Value(slot)) => {
                    parameters.push(Parameter { slot: *slot, register: *register });
                }
                Some(Passed::Address(slot)) => {
                    let address = self.registers.fresh(Number::ADDRESS);
                    parameters.push(Parameter { slot: *slot, register: address });
                    fetched.push((address, *register, self.program.vars[*var].span));
                }
                None => return self.unpassed(*var),
            }
        }
        for (var, register) in self.registers.objects.clone() {
            match passed.get(&var) {
                Some(Passed::Address(slot)) => {
                    parameters.push(Parameter { slot: *slot, register });
                }
                Some(Passed::Value(_) | Passed::Own) | None => return self.unpassed(var),
            }
        }
        let is_set = |it: &&(usize, usize, Span)| {
            self.states.iter().any(|state| state.block.sets.iter().any(|set| set.0 == it.1))
        };
        let returned: Vec<_> = fetched.iter().filter(is_set).copied().collect();
        let touched = self.touched.clone();
        if !returned.is_empty() {
            let mut data = self.data();
            returned.iter().for_each(|it| data.put_back(*it));
            let (block, _) = data.close();
            self.put(block, &[], None)?;
        }
        if !fetched.is_empty() {
            let mut data = self.data();
            fetched.iter().for_each(|it| data.fetch(*it));
            let (block, _) = data.close();
            self.put(block, &[], None)?;
            // It is made last and comes first.
            let first = self.states.pop().into_iter();
            let later = |next: Next| match next {
                Next::Goto(to) => Next::Goto(to + 1),
                Next::Choose(yes, no) => Next::Choose(yes + 1, no + 1),
            };
            let rest = std::mem::take(&mut self.states);
            let rest = rest.into_iter().map(|it| State { next: later(it.next), ..it });
            self.states = first.map(|it| State { next: Next::Goto(1), ..it }).chain(rest).collect();
            if let Some(fetch) = self.shape.pop() {
                self.shape.insert(0, fetch);
            }
        }
        // Those blocks are about variables by name.
        self.touched = touched;
        for (var, register) in values.iter().filter(|it| fetched.iter().any(|that| that.1 == *it.1))
        {
            let writes = returned.iter().any(|it| it.1 == *register);
            self.touched.insert(Touch { what: Some(Reached::Object(*var)), writes });
        }
        Ok(parameters)
    }

    fn unpassed<T>(&self, var: VarId) -> Result<T> {
        refuse("a variable that lives on the device", self.program.vars[var].span)
    }

    /// What is the same in all iterations is computed before them.
    fn hoisted(&mut self, mut block: Block) -> (Option<Block>, Block) {
        let mut same = vec![false; block.nodes.len()];
        for (at, node) in block.nodes.iter().enumerate() {
            let is_same = match node.act {
                Act::Begin(register) => block.next(register).is_none(),
                Act::Compute(_) => Block::inputs(node).all(|it| same.get(it) == Some(&true)),
                Act::Load
                | Act::Store
                | Act::Look(_)
                | Act::Keep(_)
                | Act::Pop(_)
                | Act::Push(_) => false,
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
            let about = About { unit: None, ..node.about };
            *node = Node { act, operands: Vec::new(), of: gives, gives, guard: None, about };
        }
        (Some(before), block)
    }
}

/// Whether both ends of a dependence are accesses here.
fn is_known(accesses: &[(Span, bool, usize, usize)], it: &Dependence) -> bool {
    let has = |that: &Access| accesses.iter().any(|it| it.0 == that.span && it.1 == that.writes);
    has(&it.first) && has(&it.second)
}
