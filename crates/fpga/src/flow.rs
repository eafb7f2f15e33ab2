//! Code without loops becomes a graph of operations.
//!
//! In: statements of a kernel that one thread runs, and which arrays lie in memory. Out: a [`Graph`] of them: each way of a
//! condition is computed and one of the values selected, writes under a condition are predicated, short loops with constant
//! bounds are written out, calls are replaced by what the function computes. Or what stands in the way ([`Obstacle`]).
//!
//! Variables are values, not places: an operand is the operation that last gave the variable its value, in this iteration or
//! in the one before. Arrays of the kernel whose subscripts are all constant are such variables too, element by element;
//! [`Flow::memory`] learns of those that are not.

mod expr;

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{ExprId, For, Init, Program, StmtId, StmtKind, VarId, VarStorage};
use ir::types::{ArrayLen, FloatKind, Ty, TypeKind};
use kernel::count::constant;
use source::Span;

use crate::graph::{Class, Edge, Graph, Memory, Node, Op, Unit, Wait};

/// Why code is no pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// What stands in the way, as a clause of a sentence.
    pub why: String,
    /// Where.
    pub span: Span,
}

pub(crate) type Result<T> = std::result::Result<T, Stop>;

/// Why a graph is not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It cannot be.
    Never(Obstacle),
    /// An array turned out to lie in memory: it is to be made anew.
    Again(VarId),
}

pub(crate) fn refuse<T>(why: impl Into<String>, span: Span) -> Result<T> {
    Err(Stop::Never(Obstacle { why: why.into(), span }))
}

/// A loop is written out if it runs at most so often.
pub(crate) const WRITTEN_OUT: u64 = opt::passes::Fabric::WRITTEN_OUT;
/// Graphs beyond this are not worth the time.
const MOST_NODES: usize = 20_000;
/// Calls within calls.
const DEEPEST: usize = 16;

/// A variable, or an element or member of one: which, by constant steps.
pub(crate) type Key = (VarId, Vec<u64>);

/// What an expression has come to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    /// The operation that gives it; none if it is constant.
    node: Option<usize>,
    /// Its value, if that is a constant integer.
    constant: Option<i64>,
    /// As a sum of operations times constants, if it is an integer.
    sum: Option<Sum>,
    /// Where it leads, if it is a pointer.
    root: Option<Root>,
}

/// Nodes with factors, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    terms: BTreeMap<usize, i64>,
    constant: i64,
}

/// What a pointer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root {
    /// A variable of the program.
    Object(VarId),
    /// What a pointer of the program led to when the kernel began.
    Pointee(VarId),
    /// Somewhere.
    Unknown,
}

/// A place that is read or written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Place {
    Variable(Key),
    Memory { root: Root, at: Value },
}

/// How the statements of a block end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Through,
    /// The rest of the iteration is left out.
    Continue,
    /// The loop is left.
    Break,
    Return,
}

type Env = BTreeMap<Key, Value>;

/// Makes a graph.
pub(crate) struct Flow<'p> {
    program: &'p Program,
    graph: Graph,
    env: Env,
    /// What variables had when the iteration began.
    carried: BTreeMap<Key, usize>,
    /// Arrays of the kernel that lie in memory.
    memory: &'p BTreeSet<VarId>,
    /// Numbers of memories.
    roots: BTreeMap<Root, usize>,
    /// Reads and writes in order: node, memory, where, and whether it writes.
    accesses: Vec<Access>,
    /// Nodes that decide whether code is run.
    guards: Vec<usize>,
    /// Nodes that decide whether the iteration is run.
    exits: Vec<usize>,
    /// Nodes that decide in an iteration whether there is another.
    breaks: Vec<usize>,
    /// Variables that the kernel declares.
    declared: &'p BTreeSet<VarId>,
    /// Functions whose calls are being replaced.
    calls: usize,
    /// What a function that is being replaced returns.
    returned: Option<Value>,
    /// Constants are followed through memory-less loops: rounds that were written out.
    pub(crate) written_out: u64,
    /// Variables that are declared in what is walked: no iteration sees another's.
    own: BTreeSet<VarId>,
}

#[derive(Clone, Debug)]
struct Access {
    node: usize,
    memory: usize,
    at: Option<Sum>,
    writes: bool,
    span: Span,
}

impl<'p> Flow<'p> {
    /// `declared`: variables of the kernel; `memory`: those of them that are arrays in memory.
    pub(crate) fn new(
        program: &'p Program,
        declared: &'p BTreeSet<VarId>,
        memory: &'p BTreeSet<VarId>,
    ) -> Flow<'p> {
        Flow {
            program,
            graph: Graph::default(),
            env: Env::new(),
            carried: BTreeMap::new(),
            memory,
            roots: BTreeMap::new(),
            accesses: Vec::new(),
            guards: Vec::new(),
            exits: Vec::new(),
            breaks: Vec::new(),
            declared,
            calls: 0,
            returned: None,
            written_out: 0,
            own: BTreeSet::new(),
        }
    }

    /// Statements that run once.
    pub(crate) fn straight(mut self, list: &[StmtId]) -> Result<Graph> {
        self.list(list)?;
        self.order();
        Ok(self.graph)
    }

    /// An iteration of a loop, or `times` of them one after the other; dependences through memory are the caller's.
    pub(crate) fn iteration(&mut self, it: &For, times: u64) -> Result<()> {
        for _ in 0..times.max(1) {
            if let Some(condition) = it.cond {
                let value = self.expr(condition)?;
                self.exits.extend(value.node);
            }
            match self.list(&[it.body])? {
                End::Through | End::Continue => {}
                End::Break | End::Return => {
                    let span = self.program.stmts[it.body].span;
                    return refuse("the loop is left in its first iteration", span);
                }
            }
            if let Some(step) = it.step {
                self.expr(step)?;
            }
        }
        Ok(())
    }

    /// Ends an iteration: what variables have now is what the next one finds.
    pub(crate) fn close(mut self) -> Closed {
        self.order();
        let carried = std::mem::take(&mut self.carried);
        for (key, first) in carried {
            let last = self.env.get(&key).and_then(|it| it.node);
            let is_same = self.env.get(&key).is_none_or(|it| it.node == Some(first));
            match last.filter(|_| !is_same) {
                Some(last) => self.graph.edges.push(Edge {
                    from: last,
                    to: first,
                    distance: 1,
                    wait: Wait::Value,
                }),
                None => {
                    if let Some(node) = self.graph.nodes.get_mut(first) {
                        node.op = Op::Input;
                    }
                }
            }
        }
        // Nothing is written before it is known that its iteration is run.
        let stores: Vec<usize> =
            self.accesses.iter().filter(|it| it.writes).map(|it| it.node).collect();
        for exit in &self.exits {
            let edge = |to: &usize| Edge { from: *exit, to: *to, distance: 0, wait: Wait::Value };
            self.graph.edges.extend(stores.iter().map(edge));
        }
        for exit in &self.breaks {
            let edge = |to: &usize| Edge { from: *exit, to: *to, distance: 1, wait: Wait::Value };
            self.graph.edges.extend(stores.iter().map(edge));
        }
        balance(&mut self.graph);
        let accesses = self.accesses.iter();
        let spans = accesses.map(|it| (it.span, it.writes, it.node, it.memory)).collect();
        Closed { graph: self.graph, accesses: spans, written_out: self.written_out }
    }

    /// Reads and writes of one memory within an iteration come in their order where they may meet.
    fn order(&mut self) {
        let unknown = self.roots.get(&Root::Unknown).copied();
        let mut edges = Vec::new();
        // Accesses so far, by their memory: those of others are met by what leads anywhere alone.
        let mut earlier: BTreeMap<usize, Vec<&Access>> = BTreeMap::new();
        for second in &self.accesses {
            let is_met = |memory: usize| {
                let anywhere = [memory, second.memory].iter().any(|it| Some(*it) == unknown);
                memory == second.memory || anywhere
            };
            let own = earlier.get(&second.memory).into_iter();
            let lists: Vec<&Vec<&Access>> = match unknown {
                None => own.collect(),
                Some(_) => earlier.iter().filter(|it| is_met(*it.0)).map(|it| it.1).collect(),
            };
            for first in lists.into_iter().flatten() {
                if !first.writes && !second.writes || !may_meet(first, second) {
                    continue;
                }
                let wait = match (first.writes, second.writes) {
                    (true, false) => Wait::Written,
                    (true, true) | (false, _) => Wait::Order,
                };
                edges.push(Edge { from: first.node, to: second.node, distance: 0, wait });
            }
            earlier.entry(second.memory).or_default().push(second);
        }
        self.graph.edges.extend(edges);
    }

    // ---- statements

    fn list(&mut self, list: &[StmtId]) -> Result<End> {
        for (at, stmt) in list.iter().enumerate() {
            let rest = list.get(at + 1..).unwrap_or_default();
            match self.stmt(*stmt, rest)? {
                Walked::On => {}
                Walked::Ended(end) => return Ok(end),
            }
        }
        Ok(End::Through)
    }

    fn stmt(&mut self, stmt: StmtId, rest: &[StmtId]) -> Result<Walked> {
        let span = self.program.stmts[stmt].span;
        let no = |why: &str| refuse(why, span);
        match &self.program.stmts[stmt].kind {
            StmtKind::Empty | StmtKind::Declaration(_) => Ok(Walked::On),
            StmtKind::Expr(e) => {
                self.expr(*e)?;
                Ok(Walked::On)
            }
            StmtKind::Local(var) => {
                self.local(*var)?;
                Ok(Walked::On)
            }
            StmtKind::Block(list) => {
                let list = list.clone();
                // What follows a block follows what is in it: a `continue` there leaves both.
                match self.list(&list)? {
                    End::Through => Ok(Walked::On),
                    end @ (End::Continue | End::Break | End::Return) => Ok(Walked::Ended(end)),
                }
            }
            StmtKind::If(condition, then, other) => self.branch(*condition, *then, *other, rest),
            StmtKind::For(it) => {
                self.written_out(it, span)?;
                Ok(Walked::On)
            }
            StmtKind::Continue => Ok(Walked::Ended(End::Continue)),
            StmtKind::Break => Ok(Walked::Ended(End::Break)),
            StmtKind::Return(value) => {
                self.returned = match value {
                    Some(value) => Some(self.expr(*value)?),
                    None => None,
                };
                Ok(Walked::Ended(End::Return))
            }
            StmtKind::Region(region) => {
                let Some(body) = self.program.regions[*region].body else { return Ok(Walked::On) };
                match self.list(&[body])? {
                    End::Through => Ok(Walked::On),
                    end @ (End::Continue | End::Break | End::Return) => Ok(Walked::Ended(end)),
                }
            }
            StmtKind::While(..) | StmtKind::DoWhile(..) => no("a loop whose end is not constant"),
            StmtKind::Switch(..) | StmtKind::Case(..) | StmtKind::Default(_) => no("a `switch`"),
            StmtKind::Label(..) | StmtKind::Goto(_) | StmtKind::GotoExpr(_) => no("a jump"),
            StmtKind::Asm(_) => no("assembly"),
            StmtKind::Error => no("an error"),
        }
    }

    /// `if (c) a else b; rest`: where one way leaves the iteration, the rest belongs to the other.
    fn branch(
        &mut self,
        condition: ExprId,
        then: StmtId,
        other: Option<StmtId>,
        rest: &[StmtId],
    ) -> Result<Walked> {
        let span = self.program.exprs[condition].span;
        let value = self.expr(condition)?;
        if let Some(known) = value.constant {
            let way = if known != 0 { Some(then) } else { other };
            return Ok(match way.map_or(Ok(End::Through), |it| self.list(&[it]))? {
                End::Through => Walked::On,
                end @ (End::Continue | End::Break | End::Return) => Walked::Ended(end),
            });
        }
        let guard = self.bit(&value, span);
        self.guards.push(guard);
        let before = self.env.clone();
        let first_end = self.list(&[then])?;
        let first_value = self.returned.take();
        let mut first = std::mem::replace(&mut self.env, before);
        let second_end = other.map_or(Ok(End::Through), |it| self.list(&[it]))?;
        let second_value = self.returned.take();
        let mut ended = None;
        match (first_end, second_end) {
            (End::Through, End::Through) => {}
            (a, b) => {
                if a == End::Break || b == End::Break {
                    self.breaks.push(guard);
                }
                // The way that goes on has the rest to itself.
                let (mut x, mut y) = (a, b);
                let (mut x_value, mut y_value) = (first_value, second_value);
                if y == End::Through {
                    y = self.list(rest)?;
                    y_value = self.returned.take();
                }
                if x == End::Through {
                    std::mem::swap(&mut self.env, &mut first);
                    x = self.list(rest)?;
                    x_value = self.returned.take();
                    std::mem::swap(&mut self.env, &mut first);
                }
                if let (Some(x), Some(y)) = (x_value, y_value) {
                    self.returned = Some(self.select(guard, &x, &y, Class::Int64, span));
                }
                let is_return = x == End::Return || y == End::Return;
                if is_return && x != y {
                    return refuse("a function that returns on some ways only", span);
                }
                ended = Some(if is_return { End::Return } else { End::Continue });
            }
        }
        self.guards.pop();
        let second = std::mem::take(&mut self.env);
        self.env = self.merge(guard, first, second, span);
        Ok(ended.map_or(Walked::On, Walked::Ended))
    }

    fn merge(&mut self, guard: usize, first: Env, second: Env, span: Span) -> Env {
        let keys: BTreeSet<&Key> = first.keys().chain(second.keys()).collect();
        let mut merged = Env::new();
        for key in keys {
            let value = match (first.get(key), second.get(key)) {
                (Some(a), Some(b)) if a == b => a.clone(),
                (Some(a), Some(b)) => {
                    let class = self.class(self.key_type(key)).unwrap_or(Class::Int64);
                    self.select(guard, a, b, class, span)
                }
                // The variable belongs to one way, or had a value before that only one way looked at.
                (Some(only), None) | (None, Some(only)) => match self.carried.get(key).copied() {
                    Some(first) if only.node != Some(first) => {
                        let before = self.value_of(first);
                        let class = self.class(self.key_type(key)).unwrap_or(Class::Int64);
                        let is_then = !second.contains_key(key);
                        let (a, b) =
                            if is_then { (only.clone(), before) } else { (before, only.clone()) };
                        self.select(guard, &a, &b, class, span)
                    }
                    Some(_) => only.clone(),
                    None if self.own.contains(&key.0) => only.clone(),
                    None => {
                        let before = self.begin(key.clone());
                        let class = self.class(self.key_type(key)).unwrap_or(Class::Int64);
                        let is_then = !second.contains_key(key);
                        let (a, b) =
                            if is_then { (only.clone(), before) } else { (before, only.clone()) };
                        self.select(guard, &a, &b, class, span)
                    }
                },
                (None, None) => continue,
            };
            merged.insert(key.clone(), value);
        }
        merged
    }

    /// A loop whose rounds follow each other in the graph.
    fn written_out(&mut self, it: &For, span: Span) -> Result<()> {
        for stmt in &it.init {
            self.list(&[*stmt])?;
        }
        let mut rounds = 0;
        loop {
            if let Some(condition) = it.cond {
                match self.expr(condition)?.constant {
                    Some(0) => break,
                    Some(_) => {}
                    None => return refuse("a loop whose end is not constant", span),
                }
            }
            rounds += 1;
            self.written_out += 1;
            if rounds > 4 * WRITTEN_OUT || it.cond.is_none() {
                return refuse("a loop of too many rounds", span);
            }
            match self.list(&[it.body])? {
                End::Through | End::Continue => {}
                End::Break | End::Return => return refuse("a loop that is left early", span),
            }
            if let Some(step) = it.step {
                self.expr(step)?;
            }
        }
        Ok(())
    }

    fn local(&mut self, var: VarId) -> Result<()> {
        let it = &self.program.vars[var];
        if matches!(it.storage, VarStorage::LocalStatic(_) | VarStorage::Extern) {
            return Ok(());
        }
        self.own.insert(var);
        self.env.retain(|key, _| key.0 != var);
        let Some(init) = it.init else { return Ok(()) };
        match &self.program.inits[init] {
            Init::Expr(value) => {
                let value = self.expr(*value)?;
                self.env.insert((var, Vec::new()), value);
            }
            Init::List(ty, elements) => {
                let (ty, elements, span) = (*ty, elements.clone(), it.span);
                for element in elements {
                    let Init::Expr(value) = self.program.inits[element.value] else {
                        return refuse("a variable with nested initial values", span);
                    };
                    let value = self.expr(value)?;
                    for at in element.first..=element.last.min(element.first + 4 * WRITTEN_OUT) {
                        self.assign(&self.part(var, at), value.clone(), ty, span)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn part(&self, var: VarId, at: u64) -> Place {
        match self.memory.contains(&var) {
            false => Place::Variable((var, vec![at])),
            true => {
                let at = Value::number(i64::try_from(at).unwrap_or(0));
                Place::Memory { root: Root::Object(var), at }
            }
        }
    }

    // ---- values

    /// What a variable has when the iteration begins.
    fn begin(&mut self, key: Key) -> Value {
        if let Some(node) = self.carried.get(&key) {
            return self.value_of(*node);
        }
        let ty = self.key_type(&key);
        let var = &self.program.vars[key.0];
        let (name, span) = (self.name(key.0), var.span);
        let bits = self.class(ty).map_or(64, Class::bits);
        let node = self.node(Op::Carried, bits, name, span);
        let root = self.program.types.is_pointer(ty).then_some(match key.1.is_empty() {
            true => Root::Pointee(key.0),
            false => Root::Unknown,
        });
        self.carried.insert(key.clone(), node);
        let value = Value { root, ..self.value_of(node) };
        self.env.insert(key, value.clone());
        value
    }

    fn value_of(&self, node: usize) -> Value {
        let sum = Sum { terms: BTreeMap::from([(node, 1)]), constant: 0 };
        Value { node: Some(node), constant: None, sum: Some(sum), root: None }
    }

    fn read(&mut self, place: &Place, ty: Ty, span: Span) -> Result<Value> {
        match place {
            Place::Variable(key) => match self.env.get(key) {
                Some(value) => Ok(value.clone()),
                None => Ok(self.begin(key.clone())),
            },
            Place::Memory { root, at } => {
                let Some(class) = self.class(ty) else {
                    return refuse("a value that is no number", span);
                };
                let memory = self.memory_of(*root);
                let node = self.node(Op::Load(memory), class.bits(), String::new(), span);
                self.uses(node, &[at]);
                self.guarded(node);
                let access = Access { node, memory, at: at.sum.clone(), writes: false, span };
                self.accesses.push(access);
                let root = self.program.types.is_pointer(ty).then_some(Root::Unknown);
                Ok(Value { root, ..self.value_of(node) })
            }
        }
    }

    fn assign(&mut self, place: &Place, value: Value, ty: Ty, span: Span) -> Result<()> {
        match place {
            Place::Variable(key) => {
                self.env.insert(key.clone(), value);
            }
            Place::Memory { root, at } => {
                let Some(class) = self.class(ty) else {
                    return refuse("a value that is no number", span);
                };
                let memory = self.memory_of(*root);
                let node = self.node(Op::Store(memory), class.bits(), String::new(), span);
                self.uses(node, &[at, &value]);
                self.guarded(node);
                let access = Access { node, memory, at: at.sum.clone(), writes: true, span };
                self.accesses.push(access);
            }
        }
        if self.graph.nodes.len() > MOST_NODES {
            return refuse("too much code for one iteration", span);
        }
        Ok(())
    }

    /// An access happens only if all conditions around it hold.
    fn guarded(&mut self, node: usize) {
        let edge = |from: &usize| Edge { from: *from, to: node, distance: 0, wait: Wait::Value };
        self.graph.edges.extend(self.guards.iter().map(edge));
    }

    fn memory_of(&mut self, root: Root) -> usize {
        if let Some(known) = self.roots.get(&root) {
            return *known;
        }
        let (name, local) = match root {
            Root::Object(var) => {
                let it = &self.program.vars[var];
                let is_own = self.memory.contains(&var);
                let size = self.program.model.size_of(&self.program.types, it.ty).unwrap_or(0);
                (self.name(var), is_own.then_some(size.saturating_mul(8)))
            }
            Root::Pointee(var) => (self.name(var), None),
            Root::Unknown => ("memory".to_owned(), None),
        };
        let number = self.graph.memories.len();
        self.graph.memories.push(Memory { name, local });
        self.roots.insert(root, number);
        number
    }

    pub(crate) fn name(&self, var: VarId) -> String {
        plain_name(self.program, var)
    }

    fn node(&mut self, op: Op, bits: u64, name: String, span: Span) -> usize {
        self.graph.nodes.push(Node { op, bits, name, span });
        self.graph.nodes.len() - 1
    }

    fn uses(&mut self, node: usize, operands: &[&Value]) {
        for from in operands.iter().filter_map(|it| it.node) {
            self.graph.edges.push(Edge { from, to: node, distance: 0, wait: Wait::Value });
        }
    }

    /// An operator and its operands.
    fn unit(&mut self, unit: Unit, class: Class, operands: &[&Value], span: Span) -> Value {
        let node = self.node(Op::Unit(unit, class), class.bits(), String::new(), span);
        self.uses(node, operands);
        self.value_of(node)
    }

    fn select(&mut self, guard: usize, a: &Value, b: &Value, class: Class, span: Span) -> Value {
        let guard = self.value_of(guard);
        let root = if a.root == b.root { a.root } else { a.root.or(b.root).map(|_| Root::Unknown) };
        let made = self.unit(Unit::Select, class, &[&guard, a, b], span);
        Value { root, ..made }
    }

    /// A value as a condition.
    fn bit(&mut self, value: &Value, span: Span) -> usize {
        match value.node {
            Some(node) => node,
            None => self.node(Op::Input, 1, String::new(), span),
        }
    }

    /// What an operator of a type works on; none for what is no number.
    fn class(&self, ty: Ty) -> Option<Class> {
        let types = &self.program.types;
        match types.shape(ty) {
            TypeKind::Bool => Some(Class::Int32),
            TypeKind::Pointer(_) => Some(Class::Int64),
            TypeKind::Float(kind) => match kind {
                FloatKind::Float
                | FloatKind::Float32
                | FloatKind::Float16
                | FloatKind::BFloat16 => Some(Class::Float32),
                FloatKind::Double | FloatKind::Float64 | FloatKind::Float32x => {
                    Some(Class::Float64)
                }
                FloatKind::LongDouble | FloatKind::Float128 | FloatKind::Float64x => None,
            },
            TypeKind::Int(_) | TypeKind::Enum(_) => {
                let bits = self.program.model.int_bits(types.integer_kind(ty)?);
                match bits {
                    0..=32 => Some(Class::Int32),
                    33..=64 => Some(Class::Int64),
                    _ => None,
                }
            }
            TypeKind::Error
            | TypeKind::Void
            | TypeKind::Complex(_)
            | TypeKind::ComplexInt(_)
            | TypeKind::Array(..)
            | TypeKind::Function(_)
            | TypeKind::Record(_)
            | TypeKind::Alias(_)
            | TypeKind::Atomic(_)
            | TypeKind::Vector(..)
            | TypeKind::VaList => None,
        }
    }

    fn key_type(&self, key: &Key) -> Ty {
        let types = &self.program.types;
        let mut ty = self.program.vars[key.0].ty;
        for step in &key.1 {
            ty = match types.shape(ty) {
                TypeKind::Array(element, _) => *element,
                TypeKind::Record(record) => {
                    let fields = types.records[*record].fields.as_ref();
                    let at = usize::try_from(*step).unwrap_or(usize::MAX);
                    fields.and_then(|it| it.get(at)).map_or(ty, |it| it.ty)
                }
                _ => ty,
            };
        }
        ty
    }

    /// How many elements an array has.
    fn length(&self, ty: Ty) -> Option<u64> {
        match self.program.types.shape(ty) {
            TypeKind::Array(_, ArrayLen::Known(count)) => Some(*count),
            _ => None,
        }
    }
}

/// Of the least or most of several integers the operand that waits for an earlier iteration is compared last: which of them
/// are compared first makes no difference.
fn balance(graph: &mut Graph) {
    let extreme = |graph: &Graph, at: usize| match graph.nodes.get(at).map(|it| it.op) {
        Some(Op::Unit(Unit::Extreme, class @ (Class::Int32 | Class::Int64))) => Some(class),
        _ => None,
    };
    let values = |graph: &Graph, at: usize, is_it: &dyn Fn(&Edge) -> usize| -> Vec<usize> {
        let edges = graph.edges.iter().enumerate();
        let found = edges.filter(|(_, it)| it.wait == Wait::Value && is_it(it) == at);
        found.map(|it| it.0).collect()
    };
    // Each turn moves an operand one comparison on; chains are no longer than there are comparisons.
    for _ in 0..graph.nodes.len() {
        let mut is_done = true;
        for outer in 0..graph.nodes.len() {
            if extreme(graph, outer).is_none() {
                continue;
            }
            let operands = values(graph, outer, &|it| it.to);
            let [a, b] = *operands.as_slice() else { continue };
            for (inner_edge, other_edge) in [(a, b), (b, a)] {
                let Some(inner) = graph.edges.get(inner_edge).map(|it| it.from) else { continue };
                let is_like = extreme(graph, inner) == extreme(graph, outer)
                    && graph.nodes.get(inner).map(|it| &it.name)
                        == graph.nodes.get(outer).map(|it| &it.name)
                    && values(graph, inner, &|it| it.from).len() == 1;
                let Some(other) = graph.edges.get(other_edge).map(|it| it.from) else { continue };
                if !is_like || inner == outer {
                    continue;
                }
                let reached = reached(graph, outer);
                if reached.contains(&other) {
                    continue;
                }
                let late = values(graph, inner, &|it| it.to).into_iter().find(|edge| {
                    graph.edges.get(*edge).is_some_and(|it| reached.contains(&it.from))
                });
                let Some(late) = late else { continue };
                // The two change places.
                if let Some(edge) = graph.edges.get_mut(late) {
                    edge.to = outer;
                }
                if let Some(edge) = graph.edges.get_mut(other_edge) {
                    edge.to = inner;
                }
                is_done = false;
                break;
            }
        }
        if is_done {
            break;
        }
    }
}

/// All that waits for a node, in whichever iteration.
fn reached(graph: &Graph, from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        for edge in graph.edges.iter().filter(|it| it.from == at) {
            if found.insert(edge.to) {
                open.push(edge.to);
            }
        }
    }
    found
}

enum Walked {
    On,
    Ended(End),
}

/// The graph of an iteration, and its accesses: where, whether it writes, which node, which memory.
pub(crate) struct Closed {
    pub(crate) graph: Graph,
    pub(crate) accesses: Vec<(Span, bool, usize, usize)>,
    pub(crate) written_out: u64,
}

/// A variable as the user calls it.
pub(crate) fn plain_name(program: &Program, var: VarId) -> String {
    let name = program.vars[var].name.map_or("?", |it| program.names.text(it));
    let made = name.strip_prefix("__ferry_k");
    let own = made.and_then(|it| it.split_once('_')).map_or(name, |it| it.1);
    own.to_owned()
}

/// Whether two accesses of one memory, or of which one leads anywhere, may reach the same place.
fn may_meet(a: &Access, b: &Access) -> bool {
    match (&a.at, &b.at) {
        (Some(x), Some(y)) if a.memory == b.memory => {
            x.terms != y.terms || x.constant == y.constant
        }
        (_, _) => true,
    }
}

/// How often a loop with constant bounds runs, if it may be written out.
pub(crate) fn short_rounds(program: &Program, it: &For) -> Option<u64> {
    let [first] = *it.init else { return None };
    let begin = match program.stmts[first].kind {
        StmtKind::Local(var) => match program.inits[program.vars[var].init?] {
            Init::Expr(value) => value,
            Init::List(..) => return None,
        },
        StmtKind::Expr(e) => match program.exprs[e].kind {
            ir::program::ExprKind::Assign(_, value) => value,
            _ => return None,
        },
        _ => return None,
    };
    let ir::program::ExprKind::Binary(_, _, bound) = program.exprs[it.cond?].kind else {
        return None;
    };
    let (begin, bound) = (constant(program, begin)?, constant(program, bound)?);
    let rounds = bound.abs_diff(begin).saturating_add(1);
    let most = if it.unroll.is_some() { 4 * WRITTEN_OUT } else { WRITTEN_OUT };
    (rounds <= most + 1).then_some(rounds)
}
