//! What a kernel costs as a pipeline: loop by loop.
//!
//! In: a kernel that one thread runs (after `opt::passes::pipeline::run_pipelined`) and a device. Out: a [`Plan`]: its loops
//! as they nest; innermost ones with their interval, what bounds it, their depth and operators; the others run their parts one
//! after the other. Loops that are no pipelines say why. Cycles, resources, time and energy are modelled: no tool of a vendor
//! was asked.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{For, Program, StmtId, StmtKind, VarId};
use ir::region::Mapping;
use ir::walk::Part as Node;
use kernel::Kernel;
use opt::carried::{Carried, Dependence};
use opt::dependence::{Analysis, DependenceKind};
use opt::marks::Trips;
use source::Span;

use crate::device::Device;
use crate::flow::{Closed, Flow, Obstacle, Stop, plain_name, short_rounds};
use crate::graph::{Class, Edge, Graph, Memory, Op, Resources, Unit, Wait};
use crate::hardware::{Passed, Shape, design};
use crate::schedule::{Bound, CYCLE};

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What it does, in order.
    pub parts: Vec<Part>,
    /// Cycles, if all loops are understood; with estimates where rounds are not known. Of a kernel that is hardware they are
    /// those of its blocks, with the steps from one to the next.
    pub cycles: Option<u64>,
    /// It is hardware: [`crate::hardware`] makes a design of it.
    pub is_hardware: bool,
    /// Bytes of the board's memory that are read and written.
    pub bytes: Option<u64>,
    /// What it takes of the device.
    pub resources: Resources,
    /// Arrays on the chip: name and bits.
    pub local: Vec<(String, u64)>,
    /// Seconds.
    pub seconds: Option<f64>,
    /// Seconds that moving the bytes takes at least; it is what bounds the time if both are equal.
    pub memory_seconds: Option<f64>,
    /// Joules.
    pub joules: Option<f64>,
    /// How often loops run, as it was assumed.
    pub rounds: BTreeMap<StmtId, u64>,
}

/// A piece of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Code without loops.
    Straight(Straight),
    /// A loop.
    Loop(LoopPlan),
    /// One of two, as a condition says.
    Either(Vec<Part>, Vec<Part>),
    /// What stands in the way.
    Refused(Obstacle),
}

/// Code without loops.
#[derive(Clone, Debug, PartialEq)]
pub struct Straight {
    /// From its beginning to its end.
    pub cycles: u64,
    /// What it takes.
    pub resources: Resources,
    /// Bytes that it moves.
    pub bytes: u64,
}

/// A loop.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopPlan {
    /// Where.
    pub span: Span,
    /// What counts.
    pub var: Option<String>,
    /// How often it runs.
    pub trips: Trips,
    /// How.
    pub kind: Kind,
}

/// How a loop runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Iterations start one after the other, before the last has ended.
    Pipelined(Box<Pipeline>),
    /// Each iteration runs these, one after the other.
    Serial(Vec<Part>),
}

/// A pipelined loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// An iteration starts so many cycles after the one before.
    pub interval: u64,
    /// It cannot be less than this.
    pub least: u64,
    /// Why.
    pub why: Why,
    /// Cycles of one iteration.
    pub depth: u64,
    /// What it takes.
    pub resources: Resources,
    /// Bytes that an iteration moves.
    pub bytes: u64,
    /// Operators, and how many there are.
    pub operators: BTreeMap<(Unit, Class), u64>,
    /// Memories with the loads and stores of an iteration.
    pub accesses: Vec<(Memory, u64, u64)>,
    /// Rounds of inner loops that were written out.
    pub written_out: u64,
    /// Iterations do not depend on each other, by the word of a directive.
    pub independent: bool,
}

/// What bounds an interval.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// Nothing: it is one.
    Free,
    /// A port has to serve so many accesses.
    Port(String, u64),
    /// An iteration waits for an earlier one.
    Recurrence(Recurrence),
}

/// Operations that wait for each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Recurrence {
    /// What they do, in order, with the cycles each takes.
    pub steps: Vec<(String, f64)>,
    /// How many iterations lie between.
    pub distance: u64,
    /// The memory that the value goes through, if it does.
    pub memory: Option<String>,
    /// The variable that carries it.
    pub variable: Option<String>,
    /// It is not known that they meet: what hides it.
    pub assumed: Option<Obstacle>,
    /// What hides it are pointers of which nothing is said.
    pub may_alias: bool,
    /// Where the value is made.
    pub span: Span,
    /// The one operator of it, if it is only one.
    pub operator: Option<(Unit, Class)>,
}

/// Asks about a kernel. `given`: values of variables in the bounds of loops.
pub fn plan(
    program: &Program,
    kernel: &Kernel,
    device: &Device,
    given: &BTreeMap<String, u64>,
) -> Plan {
    let analysis = Analysis::new(program);
    let code: Vec<StmtId> = kernel
        .body
        .iter()
        .filter_map(|it| match it.kind {
            kernel::StmtKind::Code(code) => Some(code),
            _ => None,
        })
        .collect();
    let mut declared = BTreeSet::new();
    for stmt in &code {
        declared.extend(kernel::walk::uses(program, Node::Stmt(*stmt)).1);
    }
    let mut memory = BTreeSet::new();
    loop {
        let mut planner = Planner {
            program,
            analysis: &analysis,
            kernel,
            device,
            given,
            declared: &declared,
            memory: &memory,
            local: BTreeMap::new(),
            rounds: BTreeMap::new(),
        };
        match planner.parts(&code) {
            Ok(parts) => {
                let local = planner.local.into_iter().collect();
                let built = design(program, kernel, device, Some(&passed(program, kernel)));
                let built = built.or_else(|_| design(program, kernel, device, None)).ok();
                let asked = |stmt: StmtId| analysis.carried(stmt, given).trips.estimate;
                let known = planner.rounds;
                let trips = |it: StmtId| known.get(&it).copied().unwrap_or_else(|| asked(it));
                let cycles = built.as_ref().map(|it| it.cycles(&trips));
                let loops = built.iter().flat_map(|it| Shape::loops(&it.shape));
                let rounds = loops.map(|it| (it, trips(it))).collect();
                return Plan { rounds, ..total(parts, cycles, local, device) };
            }
            // Once in memory an array stays there: this ends.
            Err(var) => memory.insert(var),
        };
    }
}

/// How a kernel gets at variables when it is launched, by what its region does with them: arguments are in their order there.
pub fn passed(program: &Program, kernel: &Kernel) -> BTreeMap<VarId, Passed> {
    let how = |slot: usize, it: &ir::region::RegionVar| {
        let is_pointer = program.types.pointee(program.vars[it.var].ty).is_some();
        let is_number = program.types.is_scalar(program.vars[it.var].ty);
        let is = |wanted: fn(&Mapping) -> bool| it.mappings.iter().any(|it| wanted(&it.value));
        if is(|it| matches!(it, Mapping::Private)) {
            return Passed::Own;
        }
        match !is_number || !is_pointer && is(|it| matches!(it, Mapping::Map(..))) {
            true => Passed::Address(slot),
            false => Passed::Value(slot),
        }
    };
    let vars = program.regions[kernel.region].vars.iter().enumerate();
    vars.map(|(slot, it)| (it.var, how(slot, it))).collect()
}

fn total(parts: Vec<Part>, built: Option<u64>, local: Vec<(String, u64)>, device: &Device) -> Plan {
    let is_hardware = built.is_some();
    let cycles = built.or_else(|| sum(&parts, &|it| it.cycles()));
    let bytes = sum(&parts, &|it| it.bytes());
    let blocks: u64 = local.iter().map(|it| it.1.div_ceil(device.ram_bits)).sum();
    let memory = Resources { ram: blocks, ..Resources::default() };
    let resources = parts.iter().fold(memory, |sum, it| sum.and(it.resources()));
    let memory_seconds = bytes.map(|it| it as f64 / (device.bandwidth * 1e9));
    let computing = cycles.map(|it| it as f64 / (device.clock * 1e6));
    let seconds = match (computing, memory_seconds) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (_, _) => None,
    };
    let watts = device.idle + (device.full - device.idle) * resources.share(device).min(1.0);
    let joules = seconds.map(|it| it * watts);
    Plan {
        parts,
        cycles,
        is_hardware,
        bytes,
        resources,
        local,
        seconds,
        memory_seconds,
        joules,
        rounds: BTreeMap::new(),
    }
}

fn sum(parts: &[Part], of: &dyn Fn(&Part) -> Option<u64>) -> Option<u64> {
    parts.iter().try_fold(0u64, |sum, it| Some(sum.saturating_add(of(it)?)))
}

impl Part {
    /// Cycles from its beginning to its end.
    pub fn cycles(&self) -> Option<u64> {
        match self {
            Part::Straight(it) => Some(it.cycles),
            Part::Loop(it) => it.cycles(),
            Part::Either(a, b) => Some(sum(a, &|it| it.cycles())?.max(sum(b, &|it| it.cycles())?)),
            Part::Refused(_) => None,
        }
    }

    /// Bytes that it moves.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Part::Straight(it) => Some(it.bytes),
            Part::Loop(it) => {
                let each = match &it.kind {
                    Kind::Pipelined(it) => it.bytes,
                    Kind::Serial(parts) => sum(parts, &|it| it.bytes())?,
                };
                Some(each.saturating_mul(it.trips.estimate))
            }
            Part::Either(a, b) => Some(sum(a, &|it| it.bytes())?.max(sum(b, &|it| it.bytes())?)),
            Part::Refused(_) => None,
        }
    }

    fn resources(&self) -> Resources {
        let all = |parts: &[Part]| {
            parts.iter().fold(Resources::default(), |sum, it| sum.and(it.resources()))
        };
        match self {
            Part::Straight(it) => it.resources,
            Part::Loop(it) => match &it.kind {
                Kind::Pipelined(it) => it.resources,
                Kind::Serial(parts) => all(parts),
            },
            Part::Either(a, b) => all(a).and(all(b)),
            Part::Refused(_) => Resources::default(),
        }
    }
}

impl LoopPlan {
    /// Cycles from its beginning to its end.
    pub fn cycles(&self) -> Option<u64> {
        let trips = self.trips.estimate;
        match &self.kind {
            Kind::Pipelined(it) => {
                let starts = trips.saturating_sub(1).saturating_mul(it.interval);
                Some(if trips == 0 { 0 } else { starts.saturating_add(it.depth) })
            }
            Kind::Serial(parts) => Some(sum(parts, &|it| it.cycles())?.saturating_mul(trips)),
        }
    }
}

struct Planner<'p> {
    program: &'p Program,
    analysis: &'p Analysis<'p>,
    kernel: &'p Kernel,
    device: &'p Device,
    given: &'p BTreeMap<String, u64>,
    declared: &'p BTreeSet<VarId>,
    memory: &'p BTreeSet<VarId>,
    /// Arrays on the chip.
    local: BTreeMap<String, u64>,
    /// How often loops run.
    rounds: BTreeMap<StmtId, u64>,
}

/// An array that turned out to lie in memory is an error: all is asked again.
type Result<T> = std::result::Result<T, VarId>;

impl Planner<'_> {
    fn parts(&mut self, list: &[StmtId]) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        let mut straight = Vec::new();
        for stmt in list {
            if !self.has_loops(*stmt) {
                straight.push(*stmt);
                continue;
            }
            self.straight(&mut straight, &mut parts)?;
            match &self.program.stmts[*stmt].kind {
                StmtKind::Block(inner) => parts.extend(self.parts(inner)?),
                StmtKind::Region(region) => {
                    let body: Vec<StmtId> =
                        self.program.regions[*region].body.into_iter().collect();
                    parts.extend(self.parts(&body)?);
                }
                StmtKind::If(_, then, other) => {
                    let then = self.parts(&[*then])?;
                    let other: Vec<StmtId> = other.iter().copied().collect();
                    let other = self.parts(&other)?;
                    parts.push(Part::Either(then, other));
                }
                StmtKind::For(it) => {
                    let mut init = it.init.to_vec();
                    self.straight(&mut init, &mut parts)?;
                    let made = self.a_loop(*stmt, it)?;
                    parts.push(made);
                }
                StmtKind::While(condition, body) | StmtKind::DoWhile(body, condition) => {
                    let (cond, body) = (Some(*condition), *body);
                    let it = For {
                        init: Box::new([]),
                        cond,
                        step: None,
                        body,
                        unroll: None,
                        lanes: false,
                    };
                    let made = self.a_loop(*stmt, &it)?;
                    parts.push(made);
                }
                _ => {
                    let span = self.program.stmts[*stmt].span;
                    let why = "a loop under a jump or a `switch`".to_owned();
                    parts.push(Part::Refused(Obstacle { why, span }));
                }
            }
        }
        self.straight(&mut straight, &mut parts)?;
        Ok(parts)
    }

    /// Whether there is a loop in a statement that is not short.
    fn has_loops(&self, stmt: StmtId) -> bool {
        let mut open = vec![Node::Stmt(stmt)];
        while let Some(part) = open.pop() {
            if let Node::Stmt(stmt) = part {
                match &self.program.stmts[stmt].kind {
                    StmtKind::For(it) if short_rounds(self.program, it).is_none() => return true,
                    StmtKind::While(..) | StmtKind::DoWhile(..) => return true,
                    _ => {}
                }
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        false
    }

    fn straight(&mut self, list: &mut Vec<StmtId>, parts: &mut Vec<Part>) -> Result<()> {
        let list = std::mem::take(list);
        if list.is_empty() {
            return Ok(());
        }
        let flow = Flow::new(self.program, self.declared, self.memory);
        match flow.straight(&list) {
            Ok(graph) => {
                let (problem, _) = graph.problem(self.device);
                let Some(schedule) = problem.schedule() else { return Ok(()) };
                self.note(&graph);
                let resources = graph.resources(self.device, u64::MAX >> 32, &schedule.starts);
                // Wires and registers alone take no time.
                let is_wired =
                    graph.nodes.iter().all(|it| matches!(it.op, Op::Input | Op::Carried));
                let cycles = if is_wired { 0 } else { schedule.depth };
                let bytes = graph.bytes();
                if cycles > 0 {
                    parts.push(Part::Straight(Straight { cycles, resources, bytes }));
                }
                Ok(())
            }
            Err(Stop::Again(var)) => Err(var),
            Err(Stop::Never(obstacle)) => {
                parts.push(Part::Refused(obstacle));
                Ok(())
            }
        }
    }

    fn note(&mut self, graph: &Graph) {
        for memory in &graph.memories {
            if let Some(bits) = memory.local {
                self.local.insert(memory.name.clone(), bits);
            }
        }
    }

    fn a_loop(&mut self, stmt: StmtId, it: &For) -> Result<Part> {
        let span = self.program.stmts[stmt].span;
        let carried = self.analysis.carried(stmt, self.given);
        let var = carried.var.map(|it| plain_name(self.program, it));
        let trips = carried.trips.clone();
        self.rounds.insert(stmt, trips.estimate);
        let kind = if self.has_loops(it.body) {
            Kind::Serial(self.parts(&[it.body])?)
        } else {
            match self.pipeline(stmt, it, &carried)? {
                Ok(pipeline) => Kind::Pipelined(Box::new(pipeline)),
                Err(obstacle) => Kind::Serial(vec![Part::Refused(obstacle)]),
            }
        };
        Ok(Part::Loop(LoopPlan { span, var, trips, kind }))
    }

    fn pipeline(
        &mut self,
        stmt: StmtId,
        it: &For,
        carried: &Carried,
    ) -> Result<std::result::Result<Pipeline, Obstacle>> {
        let mut flow = Flow::new(self.program, self.declared, self.memory);
        match flow.iteration(it, 1) {
            Ok(()) => {}
            Err(Stop::Again(var)) => return Err(var),
            Err(Stop::Never(obstacle)) => return Ok(Err(obstacle)),
        }
        let Closed { mut graph, accesses, written_out } = flow.close();
        let independent = self.kernel.launch.independent.contains(&stmt);
        let hidden = match &carried.memory {
            _ if independent => None,
            Ok(found) => {
                for dependence in found {
                    through_memory(&mut graph, &accesses, dependence);
                }
                None
            }
            Err(obstacle) => {
                anywhere(&mut graph, &accesses);
                let why = obstacle.reason.text().to_owned();
                Some(Obstacle { why, span: obstacle.span })
            }
        };
        graph.chips_meet();
        self.note(&graph);
        let (problem, ports) = graph.problem(self.device);
        let Some(schedule) = problem.schedule() else {
            let span = self.program.stmts[stmt].span;
            return Ok(Err(Obstacle { why: "an access that waits for itself".to_owned(), span }));
        };
        let why = match &schedule.bound {
            Bound::None => Why::Free,
            Bound::Port { port, uses } => {
                Why::Port(ports.get(*port).cloned().unwrap_or_default(), *uses)
            }
            Bound::Recurrence(circle) => {
                let mut found = self.recurrence(&graph, circle);
                if found.memory.is_some() {
                    let alias = self.alias(carried);
                    found.may_alias = alias.is_some();
                    found.assumed = hidden.or(alias);
                }
                Why::Recurrence(found)
            }
        };
        let mut operators = BTreeMap::new();
        for node in &graph.nodes {
            if let Op::Unit(unit, class) = node.op {
                *operators.entry((unit, class)).or_insert(0) += 1;
            }
        }
        let count = |memory: usize, writes: bool| {
            let is_it = |it: &&(Span, bool, usize, usize)| it.1 == writes && it.3 == memory;
            accesses.iter().filter(is_it).count() as u64
        };
        let memories = graph.memories.iter().enumerate();
        Ok(Ok(Pipeline {
            interval: schedule.interval,
            least: schedule.least,
            why,
            depth: schedule.depth,
            resources: graph.resources(self.device, schedule.interval, &schedule.starts),
            bytes: graph.bytes(),
            operators,
            accesses: memories
                .map(|(at, it)| (it.clone(), count(at, false), count(at, true)))
                .collect(),
            written_out,
            independent,
        }))
    }

    /// A dependence that is only feared: two pointers that may lead to the same memory.
    fn alias(&self, carried: &Carried) -> Option<Obstacle> {
        let found = carried.memory.as_ref().ok()?;
        let perhaps = found.iter().find(|it| it.may_alias)?;
        if found.iter().any(|it| !it.may_alias && it.kind == DependenceKind::Flow) {
            return None;
        }
        let name = |var: Option<VarId>| {
            var.map_or("memory".to_owned(), |it| format!("`{}`", plain_name(self.program, it)))
        };
        let (a, b) = (name(perhaps.first.var), name(perhaps.second.var));
        let why = format!("{a} and {b} may be the same memory");
        Some(Obstacle { why, span: perhaps.first.span })
    }

    fn recurrence(&self, graph: &Graph, circle: &[usize]) -> Recurrence {
        let mut steps = Vec::new();
        let (mut memory, mut variable, mut operators) = (None, None, Vec::new());
        let mut span = Span::NONE;
        for at in circle {
            let Some(node) = graph.nodes.get(*at) else { continue };
            let cycles = graph.delay(self.device, *at).ticks() as f64 / CYCLE as f64;
            let of =
                |it: usize| graph.memories.get(it).map(|it| it.name.clone()).unwrap_or_default();
            match node.op {
                Op::Input => {}
                Op::Carried => variable = Some(node.name.clone()),
                Op::Unit(unit, class) => {
                    operators.push((unit, class));
                    steps.push((format!("{} {}", class.word(), unit.word()), cycles));
                    span = node.span;
                }
                Op::Load(it) => {
                    memory = Some(of(it));
                    steps.push((format!("load of `{}`", of(it)), cycles));
                }
                Op::Store(it) => {
                    memory = Some(of(it));
                    steps.push((format!("store to `{}`", of(it)), cycles));
                    span = node.span;
                }
            }
        }
        let mut distance = 0;
        for (at, from) in circle.iter().enumerate() {
            let to = circle.get((at + 1) % circle.len().max(1)).copied().unwrap_or(*from);
            let between = graph.edges.iter().filter(|it| it.from == *from && it.to == to);
            distance += between.map(|it| it.distance).min().unwrap_or(0);
        }
        let operator = match (operators.as_slice(), &memory) {
            ([one], None) => Some(*one),
            (_, _) => None,
        };
        let (assumed, may_alias) = (None, false);
        Recurrence { steps, distance, memory, variable, assumed, may_alias, span, operator }
    }
}

/// Puts a dependence between iterations into a graph.
pub(crate) fn through_memory(
    graph: &mut Graph,
    accesses: &[(Span, bool, usize, usize)],
    it: &Dependence,
) {
    let of = |span: Span, writes: bool| {
        accesses.iter().filter(move |it| it.0 == span && it.1 == writes).map(|it| it.2)
    };
    let wait = match it.kind {
        DependenceKind::Flow => Wait::Written,
        DependenceKind::Anti | DependenceKind::Output => Wait::Order,
    };
    for from in of(it.first.span, it.first.writes) {
        for to in of(it.second.span, it.second.writes) {
            graph.edges.push(Edge { from, to, distance: it.distance, wait });
        }
    }
}

/// Nothing is known: any write may meet any access of the next iteration.
pub(crate) fn anywhere(graph: &mut Graph, accesses: &[(Span, bool, usize, usize)]) {
    for first in accesses {
        for second in accesses.iter().filter(|it| it.1 || first.1) {
            let wait = if first.1 && !second.1 { Wait::Written } else { Wait::Order };
            graph.edges.push(Edge { from: first.2, to: second.2, distance: 1, wait });
        }
    }
}
