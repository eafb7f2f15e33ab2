//! Calls: functions of the program become part of the block that calls them, some of the library are operators.

use ir::program::{FunctionId, StmtId, StmtKind};
use ir::walk::Part;
use rtl::block::{Function, Number, NumberKind, Operand};
use source::Span;

use super::data::{Data, Result, Value, refuse};
use crate::graph::Unit;

impl Data<'_> {
    /// What a call gives; 0 where that is nothing.
    pub(super) fn call(
        &mut self,
        function: FunctionId,
        values: &[Value],
        span: Span,
    ) -> Result<Value> {
        let called = &self.program.functions[function];
        let name = self.program.names.text(called.name);
        let Some(body) = called.body else {
            let plain = name.strip_prefix("__builtin_").unwrap_or(name);
            return match self.library(plain, values, span) {
                Some(value) => Ok(value),
                None => refuse(format!("a call of `{name}`, which is no operator"), span),
            };
        };
        if self.calls.contains(&function) {
            return refuse(format!("`{name}`, which calls itself"), span);
        }
        let params = called.params.clone();
        if params.len() != values.len() {
            return refuse(format!("a call of `{name}` with other arguments than it takes"), span);
        }
        let (own, guard) = (self.own.clone(), self.guard);
        for (param, value) in params.iter().zip(values) {
            self.own.insert(*param);
            self.env.insert((*param, Vec::new()), *value);
        }
        self.calls.push(function);
        let given = self.ending(&[body])?;
        self.calls.pop();
        // What it has declared is nobody's any more.
        self.guard = guard;
        let gone: Vec<_> = self.own.difference(&own).copied().collect();
        self.env.retain(|key, _| !gone.contains(&key.0));
        self.own = own;
        Ok(given.unwrap_or(Value { at: Operand::Constant(0), number: Number::TRUTH }))
    }

    /// Runs code at the end of a function: what it returns. Where only one way of a condition returns, what follows belongs
    /// to the other.
    fn ending(&mut self, list: &[StmtId]) -> Result<Option<Value>> {
        let Some((first, rest)) = list.split_first() else { return Ok(None) };
        let span = self.program.stmts[*first].span;
        if !self.returns(*first) {
            self.stmt(*first)?;
            return self.ending(rest);
        }
        match &self.program.stmts[*first].kind {
            StmtKind::Return(None) => Ok(None),
            StmtKind::Return(Some(value)) => self.expr(*value).map(Some),
            StmtKind::Block(inner) => {
                let all: Vec<StmtId> = inner.iter().chain(rest).copied().collect();
                self.ending(&all)
            }
            StmtKind::If(condition, then, other) => {
                let (condition, then, other) = (*condition, *then, *other);
                let value = self.expr(condition)?;
                let yes = self.truth(value, false, span);
                let way = |it: Option<StmtId>| -> Vec<StmtId> {
                    it.into_iter().chain(rest.iter().copied()).collect()
                };
                if let Operand::Constant(known) = yes {
                    return self.ending(&way(if known != 0 { Some(then) } else { other }));
                }
                let no = self.truth(value, true, span);
                let (around, before) = (self.guard, self.env.clone());
                self.guard = Some(self.both(around, yes, span));
                let first = self.ending(&way(Some(then)))?;
                let env = std::mem::replace(&mut self.env, before);
                self.guard = Some(self.both(around, no, span));
                let second = self.ending(&way(other))?;
                self.guard = around;
                self.merge(yes, env, span)?;
                let (Some(a), Some(b)) = (first, second) else { return Ok(first.or(second)) };
                Ok(Some(self.selected(yes, a, b, span)))
            }
            _ => refuse("a function that returns out of a loop", span),
        }
    }

    /// Whether a statement may return.
    fn returns(&self, stmt: StmtId) -> bool {
        let mut open = vec![Part::Stmt(stmt)];
        while let Some(part) = open.pop() {
            if let Part::Stmt(id) = part
                && matches!(self.program.stmts[id].kind, StmtKind::Return(_))
            {
                return true;
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        false
    }

    /// Functions of the library that are operators.
    fn library(&mut self, name: &str, values: &[Value], span: Span) -> Option<Value> {
        match (name, values) {
            ("sqrt" | "sqrtf", [it]) => {
                let types = (it.number, it.number);
                let at = self.compute(Function::Sqrt, &[it.at], types, Some(Unit::Sqrt), span);
                Some(Value { at, number: it.number })
            }
            ("fabs" | "fabsf", [it]) => {
                let types = (it.number, it.number);
                let at = self.compute(Function::Absolute, &[it.at], types, None, span);
                Some(Value { at, number: it.number })
            }
            (kernel::intrinsic::INFINITY, []) => {
                let number = Number { bits: 64, kind: NumberKind::Float };
                Some(Value { at: Operand::Constant(f64::INFINITY.to_bits()), number })
            }
            ("fmax" | "fmaxf", [a, b]) => Some(self.extreme_float(*a, *b, [b.at, a.at], span)),
            ("fmin" | "fminf", [a, b]) => Some(self.extreme_float(*a, *b, [a.at, b.at], span)),
            ("abs" | "labs" | "llabs", [it]) => {
                let (zero, types) = (Operand::Constant(0), (it.number, it.number));
                let less = self.asked(Function::Less, &[it.at, zero], it.number, span);
                let add = Some(Unit::Add);
                let turned = self.compute(Function::Sub, &[zero, it.at], types, add, span);
                let turned = Value { at: turned, number: it.number };
                Some(self.selected(less, turned, *it, span))
            }
            _ => None,
        }
    }

    /// The first of two numbers where these are in order or the second is none, else the second.
    fn extreme_float(&mut self, a: Value, b: Value, ordered: [Operand; 2], span: Span) -> Value {
        let is_ordered = self.asked(Function::LessOrEqual, &ordered, a.number, span);
        let is_number = self.asked(Function::Equal, &[b.at, b.at], b.number, span);
        let one = Operand::Constant(1);
        let is_none = self.asked(Function::Xor, &[is_number, one], Number::TRUTH, span);
        let first = self.asked(Function::Or, &[is_ordered, is_none], Number::TRUTH, span);
        self.selected(first, a, b, span)
    }

    fn selected(&mut self, yes: Operand, a: Value, b: Value, span: Span) -> Value {
        let types = (a.number, a.number);
        let unit = Some(Unit::Select);
        let at = self.compute(Function::Select, &[yes, a.at, b.at], types, unit, span);
        Value { at, number: a.number }
    }
}
