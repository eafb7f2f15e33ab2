//! Code without loops as operators: values, not places.
//!
//! The same shapes as in the estimates (`flow`), with what each operator computes exactly: each way of a condition is computed
//! and one value selected, accesses under a condition are guarded, short loops with constant bounds are written out.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{
    BinaryOp, CastKind, ExprId, ExprKind, For, FunctionId, Init, Program, StepOp, StmtId, StmtKind,
    UnaryOp, VarId, VarStorage,
};
use ir::types::{FloatKind, Ty, TypeKind};
use kernel::copy::callee_of;
use rtl::block::{Act, Function, Number, NumberKind, Operand};
use source::Span;

use super::block::{About, Block, Node, class};
use super::places::Place;
use crate::flow::{Obstacle, WRITTEN_OUT};
use crate::graph::Unit;

/// Blocks beyond this are not worth the time.
const MOST_NODES: usize = 4000;

pub(super) type Result<T> = std::result::Result<T, Obstacle>;

pub(super) fn refuse<T>(why: impl Into<String>, span: Span) -> Result<T> {
    Err(Obstacle { why: why.into(), span })
}

/// A variable, or an element of one: which, by constant steps.
pub(super) type Key = (VarId, Vec<u64>);

/// A value with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Value {
    pub(super) at: Operand,
    pub(super) number: Number,
}

/// Registers between blocks.
#[derive(Debug, Default)]
pub(super) struct Registers {
    pub(super) numbers: Vec<Number>,
    pub(super) keys: BTreeMap<Key, usize>,
    /// Addresses of objects of the program.
    pub(super) objects: BTreeMap<VarId, usize>,
    /// Arrays of the kernel that are memories on the chip.
    pub(super) chips: BTreeMap<VarId, usize>,
    /// An array that turned out to be one.
    pub(super) wanted: Option<VarId>,
    /// Arrays that stand for channels.
    pub(super) channels: BTreeMap<VarId, usize>,
}

impl Registers {
    pub(super) fn fresh(&mut self, number: Number) -> usize {
        self.numbers.push(number);
        self.numbers.len() - 1
    }
}

/// Makes one block.
pub(super) struct Data<'p> {
    pub(super) program: &'p Program,
    pub(super) registers: &'p mut Registers,
    /// Variables that the kernel declares: all others are the program's.
    pub(super) declared: &'p BTreeSet<VarId>,
    /// Variables of the program that code may reach by other ways than by name.
    pub(super) in_memory: &'p BTreeSet<VarId>,
    pub(super) block: Block,
    pub(super) env: BTreeMap<Key, Value>,
    begun: BTreeMap<usize, usize>,
    pub(super) guard: Option<Operand>,
    /// Variables that come to life in what is walked.
    pub(super) own: BTreeSet<VarId>,
    /// Accesses in their order: where, whether it writes, and the node.
    pub(super) accesses: Vec<(Span, bool, usize)>,
    /// Nodes that give 1 or 0.
    truths: BTreeSet<usize>,
    /// Functions whose code is walked in the place of their calls.
    pub(super) calls: Vec<FunctionId>,
}

impl<'p> Data<'p> {
    pub(super) fn new(
        program: &'p Program,
        registers: &'p mut Registers,
        declared: &'p BTreeSet<VarId>,
        in_memory: &'p BTreeSet<VarId>,
    ) -> Data<'p> {
        Data {
            program,
            registers,
            declared,
            in_memory,
            block: Block::default(),
            env: BTreeMap::new(),
            begun: BTreeMap::new(),
            guard: None,
            own: BTreeSet::new(),
            accesses: Vec::new(),
            truths: BTreeSet::new(),
            calls: Vec::new(),
        }
    }

    /// What the block leaves in registers; a loop's own variables are nobody's afterwards.
    pub(super) fn close(mut self) -> (Block, Vec<(Span, bool, usize)>) {
        for (key, value) in std::mem::take(&mut self.env) {
            if self.block.is_loop && self.own.contains(&key.0) {
                continue;
            }
            let register = self.register(&key, value.number);
            let begun = self.begun.get(&register).map(|it| Operand::Node(*it));
            if begun != Some(value.at) {
                self.block.sets.push((register, value.at));
            }
        }
        (self.block, self.accesses)
    }

    fn register(&mut self, key: &Key, number: Number) -> usize {
        if let Some(known) = self.registers.keys.get(key) {
            return *known;
        }
        let fresh = self.registers.fresh(number);
        self.registers.keys.insert(key.clone(), fresh);
        fresh
    }

    /// Fetches a variable of the program: the registers of its address and of its value.
    pub(super) fn fetch(&mut self, (address, register, span): (usize, usize, Span)) {
        let number = self.registers.numbers.get(register).copied().unwrap_or(Number::ADDRESS);
        let at = self.begin(address, span);
        let value = self.load(at, number, span);
        self.block.sets.push((register, value));
    }

    /// Puts it back.
    pub(super) fn put_back(&mut self, (address, register, span): (usize, usize, Span)) {
        let number = self.registers.numbers.get(register).copied().unwrap_or(Number::ADDRESS);
        let (at, value) = (self.begin(address, span), self.begin(register, span));
        self.store(at, Value { at: value, number }, span);
    }

    // ---- nodes

    pub(super) fn node(&mut self, node: Node) -> Operand {
        self.block.nodes.push(node);
        Operand::Node(self.block.nodes.len() - 1)
    }

    pub(super) fn begin(&mut self, register: usize, span: Span) -> Operand {
        if let Some(known) = self.begun.get(&register) {
            return Operand::Node(*known);
        }
        let number = self.registers.numbers.get(register).copied().unwrap_or(Number::ADDRESS);
        let at = self.node(Node {
            act: Act::Begin(register),
            operands: Vec::new(),
            of: number,
            gives: number,
            guard: None,
            about: About { base: None, unit: None, span },
        });
        self.begun.insert(register, self.block.nodes.len() - 1);
        at
    }

    pub(super) fn compute(
        &mut self,
        function: Function,
        operands: &[Operand],
        (of, gives): (Number, Number),
        unit: Option<Unit>,
        span: Span,
    ) -> Operand {
        let known: Option<Vec<u64>> = operands
            .iter()
            .map(|it| match it {
                Operand::Constant(value) => Some(*value),
                Operand::Node(_) => None,
            })
            .collect();
        if let Some(values) = known {
            return Operand::Constant(rtl::run::computed(function, &values, of, gives));
        }
        let is_of_result = match function {
            Function::Convert => !of.is_float(),
            function => function == Function::Select,
        };
        let class = class(if is_of_result { gives } else { of });
        let unit = unit.map(|it| (it, class));
        let act = Act::Compute(function);
        self.node(Node {
            act,
            operands: operands.to_vec(),
            of,
            gives,
            guard: None,
            about: About { base: None, unit, span },
        })
    }

    /// An operator that gives 1 or 0.
    pub(super) fn asked(
        &mut self,
        function: Function,
        operands: &[Operand],
        of: Number,
        span: Span,
    ) -> Operand {
        let unit = match function {
            Function::Less | Function::LessOrEqual | Function::Equal => Some(Unit::Compare),
            Function::And | Function::Or => Some(Unit::Logic),
            // One bit is turned.
            _ => None,
        };
        let at = self.compute(function, operands, (of, Number::TRUTH), unit, span);
        if let Operand::Node(node) = at {
            self.truths.insert(node);
        }
        at
    }

    /// Where a condition around holds, and this one too.
    pub(super) fn both(&mut self, a: Option<Operand>, b: Operand, span: Span) -> Operand {
        match a {
            None => b,
            Some(a) => self.asked(Function::And, &[a, b], Number::TRUTH, span),
        }
    }

    /// 1 or 0.
    pub(super) fn truth(&mut self, value: Value, is_turned: bool, span: Span) -> Operand {
        let is_truth = matches!(value.at, Operand::Node(it) if self.truths.contains(&it));
        let turn = |it: &mut Self, at: Operand| {
            it.asked(Function::Xor, &[at, Operand::Constant(1)], Number::TRUTH, span)
        };
        match (is_truth, is_turned) {
            (true, false) => value.at,
            (true, true) => turn(self, value.at),
            (false, _) => {
                let zero = Operand::Constant(0);
                let is_zero = self.asked(Function::Equal, &[value.at, zero], value.number, span);
                if is_turned { is_zero } else { turn(self, is_zero) }
            }
        }
    }

    /// The smaller or larger of two integers, if a comparison of just these two selects one of them.
    fn extreme(&mut self, yes: Operand, a: Value, b: Value, span: Span) -> Option<Operand> {
        let Operand::Node(node) = yes else { return None };
        let compared = self.block.nodes.get(node)?;
        let is_order = matches!(compared.act, Act::Compute(Function::Less | Function::LessOrEqual));
        if !is_order || compared.of != a.number || a.number.is_float() {
            return None;
        }
        let function = match *compared.operands.as_slice() {
            [p, q] if (p, q) == (a.at, b.at) => Function::Least,
            [p, q] if (q, p) == (a.at, b.at) => Function::Most,
            _ => return None,
        };
        let types = (a.number, a.number);
        Some(self.compute(function, &[a.at, b.at], types, Some(Unit::Extreme), span))
    }

    // ---- types

    pub(super) fn number(&self, ty: Ty) -> Option<Number> {
        number(self.program, ty)
    }

    pub(super) fn number_at(&self, ty: Ty, span: Span) -> Result<Number> {
        match self.number(ty) {
            Some(number) => Ok(number),
            None => refuse("a value that is no number", span),
        }
    }

    pub(super) fn size(&self, ty: Ty, span: Span) -> Result<u64> {
        match self.program.model.size_of(&self.program.types, ty) {
            Ok(size) => Ok(size),
            Err(_) => refuse("an object whose size is not constant", span),
        }
    }

    fn is_bool(&self, ty: Ty) -> bool {
        matches!(self.program.types.shape(ty), TypeKind::Bool)
    }

    fn key_type(&self, key: &Key) -> Ty {
        let mut ty = self.program.vars[key.0].ty;
        for step in &key.1 {
            ty = match self.program.types.shape(ty) {
                TypeKind::Record(record) => {
                    let fields = self.program.types.records[*record].fields.as_deref();
                    let field = fields.and_then(|it| it.get(usize::try_from(*step).ok()?));
                    field.map_or(ty, |it| it.ty)
                }
                _ => self.program.types.element(ty).unwrap_or(ty),
            };
        }
        ty
    }

    // ---- statements

    pub(super) fn list(&mut self, list: &[StmtId]) -> Result<()> {
        list.iter().try_for_each(|it| self.stmt(*it))
    }

    pub(super) fn stmt(&mut self, stmt: StmtId) -> Result<()> {
        let span = self.program.stmts[stmt].span;
        if self.block.nodes.len() > MOST_NODES {
            return refuse("too much code for one iteration", span);
        }
        match &self.program.stmts[stmt].kind {
            StmtKind::Empty | StmtKind::Declaration(_) => Ok(()),
            StmtKind::Expr(e) => self.expr(*e).map(|_| ()),
            StmtKind::Local(var) => self.local(*var),
            StmtKind::Block(list) => self.list(&list.clone()),
            StmtKind::If(condition, then, other) => {
                let (condition, then, other) = (*condition, *then, *other);
                let value = self.expr(condition)?;
                let yes = self.truth(value, false, span);
                if let Operand::Constant(known) = yes {
                    let way = if known != 0 { Some(then) } else { other };
                    return way.map_or(Ok(()), |it| self.stmt(it));
                }
                let no = self.truth(value, true, span);
                let around = self.guard;
                let before = self.env.clone();
                self.guard = Some(self.both(around, yes, span));
                self.stmt(then)?;
                let first = std::mem::replace(&mut self.env, before);
                self.guard = Some(self.both(around, no, span));
                other.map_or(Ok(()), |it| self.stmt(it))?;
                self.guard = around;
                self.merge(yes, first, span)
            }
            StmtKind::For(it) => self.written_out(&it.clone(), span),
            StmtKind::Region(region) => {
                let body = self.program.regions[*region].body;
                body.map_or(Ok(()), |it| self.stmt(it))
            }
            StmtKind::While(..) | StmtKind::DoWhile(..) => {
                refuse("a loop whose end is not constant", span)
            }
            StmtKind::Continue | StmtKind::Break | StmtKind::Return(_) => {
                refuse("code that leaves a loop or the kernel early", span)
            }
            StmtKind::Switch(..) | StmtKind::Case(..) | StmtKind::Default(_) => {
                refuse("a `switch`", span)
            }
            StmtKind::Label(..) | StmtKind::Goto(_) | StmtKind::GotoExpr(_) => {
                refuse("a jump", span)
            }
            StmtKind::Asm(_) => refuse("assembly", span),
            StmtKind::Error => refuse("an error", span),
        }
    }

    /// Variables have what one of two ways has given them; `self.env` is that of the other.
    pub(super) fn merge(
        &mut self,
        yes: Operand,
        first: BTreeMap<Key, Value>,
        span: Span,
    ) -> Result<()> {
        let second = std::mem::take(&mut self.env);
        let keys: BTreeSet<Key> = first.keys().chain(second.keys()).cloned().collect();
        let mut merged = BTreeMap::new();
        for key in keys {
            let (a, b) = (first.get(&key).copied(), second.get(&key).copied());
            let value = match (a, b) {
                (Some(a), Some(b)) if a == b => a,
                // Declared in one of the ways.
                (Some(only), None) | (None, Some(only)) if self.own.contains(&key.0) => only,
                (a, b) => {
                    let (a, b) = match (a, b) {
                        (Some(a), Some(b)) => (a, b),
                        (a, b) => {
                            let before = self.before(&key, span)?;
                            (a.unwrap_or(before), b.unwrap_or(before))
                        }
                    };
                    let types = (a.number, a.number);
                    let unit = Some(Unit::Select);
                    let at = self.compute(Function::Select, &[yes, a.at, b.at], types, unit, span);
                    Value { at, number: a.number }
                }
            };
            merged.insert(key, value);
        }
        self.env = merged;
        Ok(())
    }

    /// What a variable has when the block begins.
    pub(super) fn before(&mut self, key: &Key, span: Span) -> Result<Value> {
        let number = self.number_at(self.key_type(key), span)?;
        let register = self.register(key, number);
        Ok(Value { at: self.begin(register, span), number })
    }

    fn written_out(&mut self, it: &For, span: Span) -> Result<()> {
        self.list(&it.init)?;
        for _ in 0..=4 * WRITTEN_OUT {
            let Some(condition) = it.cond else { return refuse("a loop without an end", span) };
            match self.expr(condition)?.at {
                Operand::Constant(0) => return Ok(()),
                Operand::Constant(_) => {}
                Operand::Node(_) => return refuse("a loop whose end is not constant", span),
            }
            self.stmt(it.body)?;
            if let Some(step) = it.step {
                self.expr(step)?;
            }
        }
        refuse("a loop of too many rounds", span)
    }

    fn local(&mut self, var: VarId) -> Result<()> {
        let it = &self.program.vars[var];
        if !matches!(it.storage, VarStorage::Local(_) | VarStorage::Param(_)) {
            return refuse("a variable that outlives the kernel", it.span);
        }
        self.own.insert(var);
        self.env.retain(|key, _| key.0 != var);
        let Some(init) = it.init else { return Ok(()) };
        match self.program.inits[init] {
            Init::Expr(value) => {
                let value = self.expr(value)?;
                self.env.insert((var, Vec::new()), value);
                Ok(())
            }
            Init::List(..) => refuse("a variable with several initial values", it.span),
        }
    }

    // ---- expressions

    pub(super) fn convert(&mut self, value: Value, to: Number, span: Span) -> Value {
        if value.number == to {
            return value;
        }
        let is_wired = !value.number.is_float() && !to.is_float();
        let unit = (!is_wired).then_some(Unit::Convert);
        let types = (value.number, to);
        let at = self.compute(Function::Convert, &[value.at], types, unit, span);
        Value { at, number: to }
    }

    pub(super) fn converted(&mut self, value: Value, to: Ty, span: Span) -> Result<Value> {
        if self.is_bool(to) {
            let at = self.truth(value, false, span);
            let truth = Value { at, number: Number::TRUTH };
            let number = self.number_at(to, span)?;
            return Ok(self.convert(truth, number, span));
        }
        let number = self.number_at(to, span)?;
        Ok(self.convert(value, number, span))
    }

    pub(super) fn expr(&mut self, id: ExprId) -> Result<Value> {
        let expr = &self.program.exprs[id];
        let (ty, span) = (expr.ty, expr.span);
        match &expr.kind {
            ExprKind::Int(value) => {
                let number = self.number_at(ty, span)?;
                let at = Operand::Constant(value.cast_unsigned() & number.mask());
                Ok(Value { at, number })
            }
            ExprKind::EnumConst(..) | ExprKind::Sizeof(_) | ExprKind::Alignof(_) => {
                let number = self.number_at(ty, span)?;
                let known = match expr.kind {
                    ExprKind::Sizeof(of) => self.size(of, span)?,
                    _ => match kernel::count::constant(self.program, id) {
                        Some(known) => known.cast_unsigned(),
                        None => return refuse("a constant that is not known", span),
                    },
                };
                Ok(Value { at: Operand::Constant(known & number.mask()), number })
            }
            ExprKind::Float(name) => self.float(self.program.names.text(*name), ty, span),
            ExprKind::Var(_) | ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member(..) => {
                let place = self.place(id)?;
                if self.program.types.is_array(ty) {
                    return match place {
                        Place::Memory(at) => Ok(Value { at, number: Number::ADDRESS }),
                        Place::Variable(_) | Place::Chip(..) | Place::Channel(_) => {
                            refuse("an array whose address is taken", span)
                        }
                    };
                }
                self.read(&place, ty, span)
            }
            ExprKind::AddrOf(of) | ExprKind::Cast(CastKind::ArrayToPointer, of) => {
                match self.place(*of)? {
                    Place::Memory(at) => Ok(Value { at, number: Number::ADDRESS }),
                    Place::Variable(_) | Place::Chip(..) | Place::Channel(_) => {
                        refuse("a variable whose address is taken", span)
                    }
                }
            }
            ExprKind::Cast(_, of) => {
                let value = self.expr(*of)?;
                self.converted(value, ty, span)
            }
            ExprKind::Unary(op, of) => {
                let (op, value) = (*op, self.expr(*of)?);
                self.unary(op, value, ty, span)
            }
            ExprKind::Binary(op, a, b) => {
                let (op, a, b) = (*op, *a, *b);
                let (left, right) = (self.expr(a)?, self.expr(b)?);
                self.binary(op, (left, self.program.exprs[a].ty), right, span)
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                let is_and = matches!(expr.kind, ExprKind::And(..));
                let (a, b) = (*a, *b);
                let left = self.expr(a)?;
                let known = self.truth(left, false, span);
                let ask = if is_and { known } else { self.truth(left, true, span) };
                if ask == Operand::Constant(0) {
                    return Ok(Value { at: known, number: Number::TRUTH });
                }
                let around = self.guard;
                self.guard = Some(self.both(around, ask, span));
                let before = self.env.clone();
                let right = self.expr(b)?;
                self.guard = around;
                if self.env != before {
                    return refuse("an operand that changes variables on some ways only", span);
                }
                let right = self.truth(right, false, span);
                let function = if is_and { Function::And } else { Function::Or };
                let at = self.asked(function, &[known, right], Number::TRUTH, span);
                Ok(Value { at, number: Number::TRUTH })
            }
            ExprKind::Conditional(c, a, b) => {
                let (c, a, b) = (*c, *a, *b);
                let condition = self.expr(c)?;
                let yes = self.truth(condition, false, span);
                let Some(a) = a else { return refuse("a condition without a value", span) };
                if let Operand::Constant(known) = yes {
                    return self.expr(if known != 0 { a } else { b });
                }
                let no = self.truth(condition, true, span);
                let (around, before) = (self.guard, self.env.clone());
                self.guard = Some(self.both(around, yes, span));
                let first = self.expr(a)?;
                self.guard = Some(self.both(around, no, span));
                let second = self.expr(b)?;
                self.guard = around;
                if self.env != before {
                    return refuse("an operand that changes variables on some ways only", span);
                }
                let at = self.extreme(yes, first, second, span).unwrap_or_else(|| {
                    let types = (first.number, first.number);
                    let operands = [yes, first.at, second.at];
                    self.compute(Function::Select, &operands, types, Some(Unit::Select), span)
                });
                Ok(Value { at, number: first.number })
            }
            ExprKind::Comma(a, b) => {
                let (a, b) = (*a, *b);
                self.expr(a)?;
                self.expr(b)
            }
            ExprKind::Assign(to, value) => {
                let (to, value) = (*to, *value);
                let value = self.expr(value)?;
                let place = self.place(to)?;
                self.assign(&place, value, span);
                Ok(value)
            }
            ExprKind::AssignOp(op, to, by, within) => {
                let (op, to, by, within) = (*op, *to, *by, *within);
                let by = self.expr(by)?;
                let place = self.place(to)?;
                let old = self.read(&place, ty, span)?;
                let old = self.converted(old, within, span)?;
                let new = self.binary(op, (old, within), by, span)?;
                let new = self.converted(new, ty, span)?;
                self.assign(&place, new, span);
                Ok(new)
            }
            ExprKind::Step(op, to) => {
                let (op, to) = (*op, *to);
                let place = self.place(to)?;
                let old = self.read(&place, ty, span)?;
                if old.number.is_float() || self.is_bool(ty) {
                    return refuse("a step of what is no integer", span);
                }
                let by = match op {
                    StepOp::PreInc | StepOp::PostInc => BinaryOp::Add,
                    StepOp::PreDec | StepOp::PostDec => BinaryOp::Sub,
                };
                let one = Value { at: Operand::Constant(1), number: old.number };
                let new = self.binary(by, (old, ty), one, span)?;
                self.assign(&place, new, span);
                Ok(match op {
                    StepOp::PreInc | StepOp::PreDec => new,
                    StepOp::PostInc | StepOp::PostDec => old,
                })
            }
            ExprKind::Call(callee, args) => {
                let Some(function) = callee_of(self.program, *callee) else {
                    return refuse("a call through a pointer", span);
                };
                let mut values = Vec::new();
                for arg in args.clone() {
                    values.push(self.expr(arg)?);
                }
                self.call(function, &values, span)
            }
            _ => refuse("an expression that no operator computes", span),
        }
    }

    fn float(&self, text: &str, ty: Ty, span: Span) -> Result<Value> {
        let number = self.number_at(ty, span)?;
        let plain = text.trim_end_matches(['f', 'F', 'l', 'L']);
        let is_hex = text.starts_with("0x") || text.starts_with("0X");
        let bits = match number.bits {
            _ if is_hex => None,
            32 => plain.parse::<f32>().ok().map(|it| u64::from(it.to_bits())),
            _ => plain.parse::<f64>().ok().map(f64::to_bits),
        };
        match bits {
            Some(bits) => Ok(Value { at: Operand::Constant(bits), number }),
            None => refuse("a constant that cannot be read", span),
        }
    }

    fn unary(&mut self, op: UnaryOp, value: Value, ty: Ty, span: Span) -> Result<Value> {
        let number = value.number;
        let types = (number, number);
        let at = match op {
            UnaryOp::Plus => return Ok(value),
            UnaryOp::Minus if number.is_float() => {
                self.compute(Function::Negate, &[value.at], types, None, span)
            }
            UnaryOp::Minus => {
                let zero = Value { at: Operand::Constant(0), number };
                return self.binary(BinaryOp::Sub, (zero, ty), value, span);
            }
            UnaryOp::Not => {
                let at = self.truth(value, true, span);
                return Ok(Value { at, number: Number::TRUTH });
            }
            UnaryOp::BitNot => {
                let ones = Operand::Constant(number.mask());
                self.compute(Function::Xor, &[value.at, ones], types, Some(Unit::Logic), span)
            }
            UnaryOp::Real | UnaryOp::Imag => return refuse("a complex number", span),
        };
        Ok(Value { at, number })
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        (a, of): (Value, Ty),
        b: Value,
        span: Span,
    ) -> Result<Value> {
        if self.program.types.is_pointer(of) {
            let inner = self.program.types.pointee(of).unwrap_or(of);
            let offset = Number { bits: 64, kind: NumberKind::Signed };
            match op {
                BinaryOp::Add => {
                    let at = self.moved(a.at, b, self.size(inner, span)?, span);
                    return Ok(Value { at, number: Number::ADDRESS });
                }
                BinaryOp::Sub if b.number == Number::ADDRESS => {
                    let size = Operand::Constant(self.size(inner, span)?.max(1));
                    let (types, unit) = ((offset, offset), Some(Unit::Add));
                    let far = self.compute(Function::Sub, &[a.at, b.at], types, unit, span);
                    let is_power = matches!(size, Operand::Constant(it) if it.is_power_of_two());
                    let unit = if is_power { Unit::Add } else { Unit::Divide };
                    let at = self.compute(Function::Div, &[far, size], types, Some(unit), span);
                    return Ok(Value { at, number: offset });
                }
                BinaryOp::Sub => {
                    let by = self.convert(b, offset, span);
                    let (types, unit) = ((offset, offset), Some(Unit::Add));
                    let zero = Operand::Constant(0);
                    let back = self.compute(Function::Sub, &[zero, by.at], types, unit, span);
                    let by = Value { at: back, number: offset };
                    let at = self.moved(a.at, by, self.size(inner, span)?, span);
                    return Ok(Value { at, number: Number::ADDRESS });
                }
                // Addresses are compared as numbers.
                _ => {}
            }
        }
        let number = a.number;
        let is_float = number.is_float();
        let power = |it: Operand| matches!(it, Operand::Constant(it) if it.is_power_of_two());
        let constant = |it: Operand| matches!(it, Operand::Constant(_));
        let is_order = match op {
            BinaryOp::Lt => Some((Function::Less, [a.at, b.at])),
            BinaryOp::Gt => Some((Function::Less, [b.at, a.at])),
            BinaryOp::Le => Some((Function::LessOrEqual, [a.at, b.at])),
            BinaryOp::Ge => Some((Function::LessOrEqual, [b.at, a.at])),
            BinaryOp::Eq | BinaryOp::Ne => Some((Function::Equal, [a.at, b.at])),
            _ => None,
        };
        if let Some((function, operands)) = is_order {
            let mut at = self.asked(function, &operands, number, span);
            if op == BinaryOp::Ne {
                at = self.asked(Function::Xor, &[at, Operand::Constant(1)], Number::TRUTH, span);
            }
            return Ok(Value { at, number: Number::TRUTH });
        }
        let (function, unit) = match op {
            BinaryOp::Add => (Function::Add, Some(Unit::Add)),
            BinaryOp::Sub => (Function::Sub, Some(Unit::Add)),
            BinaryOp::Mul if !is_float && (power(a.at) || power(b.at)) => (Function::Mul, None),
            BinaryOp::Mul if !is_float && (constant(a.at) || constant(b.at)) => {
                (Function::Mul, Some(Unit::Add))
            }
            BinaryOp::Mul => (Function::Mul, Some(Unit::Multiply)),
            BinaryOp::Div if !is_float && power(b.at) => (Function::Div, Some(Unit::Add)),
            BinaryOp::Rem if !is_float && power(b.at) => (Function::Rem, Some(Unit::Add)),
            BinaryOp::Div => (Function::Div, Some(Unit::Divide)),
            BinaryOp::Rem => (Function::Rem, Some(Unit::Divide)),
            BinaryOp::Shl => (Function::Left, (!constant(b.at)).then_some(Unit::Shift)),
            BinaryOp::Shr => (Function::Right, (!constant(b.at)).then_some(Unit::Shift)),
            BinaryOp::BitAnd => (Function::And, Some(Unit::Logic)),
            BinaryOp::BitXor => (Function::Xor, Some(Unit::Logic)),
            _ => (Function::Or, Some(Unit::Logic)),
        };
        let at = self.compute(function, &[a.at, b.at], (number, number), unit, span);
        Ok(Value { at, number })
    }
}

/// A type of numbers, if it is one.
pub(super) fn number(program: &Program, ty: Ty) -> Option<Number> {
    let types = &program.types;
    match types.shape(ty) {
        TypeKind::Bool => Some(Number { bits: 8, kind: NumberKind::Unsigned }),
        TypeKind::Pointer(_) => Some(Number::ADDRESS),
        TypeKind::Float(FloatKind::Float | FloatKind::Float32) => {
            Some(Number { bits: 32, kind: NumberKind::Float })
        }
        TypeKind::Float(FloatKind::Double | FloatKind::Float64 | FloatKind::Float32x) => {
            Some(Number { bits: 64, kind: NumberKind::Float })
        }
        TypeKind::Int(_) | TypeKind::Enum(_) => {
            let kind = types.integer_kind(ty)?;
            let bits = program.model.int_bits(kind);
            let is_signed = program.model.int_signed(kind);
            let kind = if is_signed { NumberKind::Signed } else { NumberKind::Unsigned };
            (bits <= 64).then_some(Number { bits, kind })
        }
        _ => None,
    }
}
