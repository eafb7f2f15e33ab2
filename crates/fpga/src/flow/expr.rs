//! Expressions as operations.

use ir::program::{BinaryOp, CastKind, ExprId, ExprKind, FunctionId, StepOp, UnaryOp};
use ir::types::{Ty, TypeKind};
use kernel::copy::callee_of;
use source::Span;

use super::{DEEPEST, End, Flow, Place, Result, Root, Stop, Sum, Value, refuse};
use crate::graph::{Class, Op, Unit};

impl Value {
    /// A constant.
    pub(super) fn number(value: i64) -> Value {
        let sum = Sum { terms: std::collections::BTreeMap::new(), constant: value };
        Value { node: None, constant: Some(value), sum: Some(sum), root: None }
    }

    /// A constant that is no integer.
    fn fixed() -> Value {
        Value { node: None, constant: None, sum: None, root: None }
    }
}

impl Sum {
    /// Both together, the other times a factor.
    fn plus(&self, other: &Sum, factor: i64) -> Option<Sum> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (node, by) in &other.terms {
            let entry = sum.terms.entry(*node).or_insert(0);
            *entry = entry.checked_add(by.checked_mul(factor)?)?;
        }
        sum.terms.retain(|_, it| *it != 0);
        Some(sum)
    }
}

/// Functions of the C library that are operators.
const FUNCTIONS: &[(&str, Unit)] = &[
    ("sqrt", Unit::Sqrt),
    ("fabs", Unit::Logic),
    ("fmax", Unit::Extreme),
    ("fmin", Unit::Extreme),
    ("exp", Unit::Function),
    ("exp2", Unit::Function),
    ("log", Unit::Function),
    ("log2", Unit::Function),
    ("log10", Unit::Function),
    ("pow", Unit::Function),
    ("sin", Unit::Function),
    ("cos", Unit::Function),
    ("tan", Unit::Function),
    ("tanh", Unit::Function),
    ("atan", Unit::Function),
    ("atan2", Unit::Function),
    ("floor", Unit::Convert),
    ("ceil", Unit::Convert),
    ("abs", Unit::Extreme),
    ("labs", Unit::Extreme),
];

impl Flow<'_> {
    pub(super) fn expr(&mut self, id: ExprId) -> Result<Value> {
        let expr = &self.program.exprs[id];
        let (ty, span) = (expr.ty, expr.span);
        match &expr.kind {
            ExprKind::Int(value) => Ok(Value::number(*value)),
            ExprKind::EnumConst(..) | ExprKind::Sizeof(_) | ExprKind::Alignof(_) => {
                let known = self.known(id);
                Ok(known.map_or_else(Value::fixed, Value::number))
            }
            ExprKind::Float(_) | ExprKind::WideInt(_) | ExprKind::Offsetof(..) => {
                Ok(Value::fixed())
            }
            ExprKind::Var(_) | ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member(..) => {
                if self.program.types.is_array(ty) {
                    return self.address(id);
                }
                let place = self.place(id)?;
                self.read(&place, ty, span)
            }
            ExprKind::AddrOf(of) => self.address(*of),
            ExprKind::Cast(CastKind::ArrayToPointer, of) => self.address(*of),
            ExprKind::Cast(_, of) => {
                let from = self.program.exprs[*of].ty;
                let value = self.expr(*of)?;
                Ok(self.converted(value, from, ty, span))
            }
            ExprKind::Unary(op, of) => {
                let value = self.expr(*of)?;
                self.unary(*op, value, ty, span)
            }
            ExprKind::Binary(op, a, b) => {
                let (left, right) = (self.expr(*a)?, self.expr(*b)?);
                let of = self.program.exprs[*a].ty;
                self.binary(*op, left, right, of, span)
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                let is_and = matches!(expr.kind, ExprKind::And(..));
                let left = self.expr(*a)?;
                if let Some(known) = left.constant {
                    return match (known != 0) == is_and {
                        true => self.expr(*b),
                        false => Ok(Value::number(i64::from(known != 0))),
                    };
                }
                let guard = self.bit(&left, span);
                self.guards.push(guard);
                let before = self.env.clone();
                let right = self.expr(*b)?;
                self.guards.pop();
                let then = std::mem::replace(&mut self.env, before);
                self.meet(guard, then, span);
                Ok(self.unit(Unit::Logic, Class::Int32, &[&left, &right], span))
            }
            ExprKind::Conditional(c, a, b) => self.conditional(*c, *a, *b, ty, span),
            ExprKind::Comma(a, b) => {
                self.expr(*a)?;
                self.expr(*b)
            }
            ExprKind::Assign(to, value) => {
                let value = self.expr(*value)?;
                if self.program.types.is_record(ty) {
                    return refuse("a record that is assigned as a whole", span);
                }
                let place = self.place(*to)?;
                self.assign(&place, value.clone(), ty, span)?;
                Ok(value)
            }
            ExprKind::AssignOp(op, to, by, within) => {
                let by = self.expr(*by)?;
                let place = self.place(*to)?;
                let old = self.read(&place, ty, span)?;
                let old = self.converted(old, ty, *within, span);
                let new = self.binary(*op, old, by, *within, span)?;
                let new = self.converted(new, *within, ty, span);
                self.assign(&place, new.clone(), ty, span)?;
                Ok(new)
            }
            ExprKind::Step(op, to) => {
                let place = self.place(*to)?;
                let old = self.read(&place, ty, span)?;
                let by = match op {
                    StepOp::PreInc | StepOp::PostInc => 1,
                    StepOp::PreDec | StepOp::PostDec => -1,
                };
                let new = self.binary(BinaryOp::Add, old.clone(), Value::number(by), ty, span)?;
                self.assign(&place, new.clone(), ty, span)?;
                Ok(match op {
                    StepOp::PreInc | StepOp::PreDec => new,
                    StepOp::PostInc | StepOp::PostDec => old,
                })
            }
            ExprKind::Call(callee, args) => {
                let Some(function) = callee_of(self.program, *callee) else {
                    return refuse("a call through a pointer", span);
                };
                if self.program.functions[function].body.is_none()
                    && operator(self.name_of(function)).is_none()
                {
                    let name = self.name_of(function);
                    return refuse(format!("a call of `{name}`, which is no operator"), span);
                }
                let mut values = Vec::new();
                for arg in args.clone() {
                    values.push(self.expr(arg)?);
                }
                self.call(function, values, ty, span)
            }
            ExprKind::StmtExpr(_) => refuse("statements in an expression", span),
            ExprKind::CompoundLiteral(_) => refuse("a compound literal", span),
            ExprKind::Str(_) => refuse("a string", span),
            ExprKind::Function(_)
            | ExprKind::LabelAddr(_)
            | ExprKind::VaArg(_)
            | ExprKind::ConvertVector(_)
            | ExprKind::Section(_)
            | ExprKind::Shaped(..)
            | ExprKind::Error => refuse("an expression that no operator computes", span),
        }
    }

    /// The value of a constant.
    fn known(&self, id: ExprId) -> Option<i64> {
        if let ExprKind::Sizeof(ty) = self.program.exprs[id].kind {
            let size = self.program.model.size_of(&self.program.types, ty).ok()?;
            return i64::try_from(size).ok();
        }
        kernel::count::constant(self.program, id)
    }

    // ---- places

    /// What an object is: a variable, an element that constants name, or memory.
    fn place(&mut self, id: ExprId) -> Result<Place> {
        let expr = &self.program.exprs[id];
        let span = expr.span;
        match &expr.kind {
            ExprKind::Var(var) => {
                let is_array = self.program.types.is_array(expr.ty);
                if is_array && (self.memory.contains(var) || !self.is_kernels(*var)) {
                    return Ok(Place::Memory { root: Root::Object(*var), at: Value::number(0) });
                }
                Ok(Place::Variable((*var, Vec::new())))
            }
            ExprKind::Member(of, _, field) => match self.place(*of)? {
                Place::Variable((var, mut steps)) => {
                    steps.push(u64::from(*field));
                    Ok(Place::Variable((var, steps)))
                }
                Place::Memory { root, at } => {
                    // Members lie apart, whatever the subscripts are.
                    let at = Value { sum: None, ..at };
                    Ok(Place::Memory { root, at })
                }
            },
            ExprKind::Index(base, index) => {
                let index = self.expr(*index)?;
                let base_type = self.program.exprs[*base].ty;
                if self.program.types.is_pointer(base_type) {
                    let pointer = self.expr(*base)?;
                    return self.moved(pointer, &index, base_type, span);
                }
                match self.place(*base)? {
                    Place::Variable((var, mut steps)) => match index.constant {
                        Some(at) if at >= 0 => {
                            if self.length(base_type).is_some_and(|it| at.unsigned_abs() >= it) {
                                return refuse("a subscript behind the end of an array", span);
                            }
                            steps.push(at.unsigned_abs());
                            Ok(Place::Variable((var, steps)))
                        }
                        Some(_) | None => Err(Stop::Again(var)),
                    },
                    Place::Memory { root, at } => {
                        let inner = self.program.types.element(base_type);
                        let count = inner.and_then(|it| self.elements(it)).unwrap_or(1);
                        let at = self.advanced(&at, &index, count, span);
                        Ok(Place::Memory { root, at })
                    }
                }
            }
            ExprKind::Deref(of) => {
                let ty = self.program.exprs[*of].ty;
                let pointer = self.expr(*of)?;
                self.moved(pointer, &Value::number(0), ty, span)
            }
            ExprKind::Cast(_, of) | ExprKind::Unary(UnaryOp::Plus, of) => self.place(*of),
            _ => refuse("an object that has no place", span),
        }
    }

    /// How many numbers an element that is an array has.
    fn elements(&self, ty: Ty) -> Option<i64> {
        match self.program.types.shape(ty) {
            TypeKind::Array(inner, ir::types::ArrayLen::Known(count)) => {
                i64::try_from(*count).ok()?.checked_mul(self.elements(*inner)?)
            }
            TypeKind::Array(..) => None,
            _ => Some(1),
        }
    }

    /// A place so many elements on.
    fn moved(&mut self, pointer: Value, index: &Value, ty: Ty, span: Span) -> Result<Place> {
        let root = pointer.root.unwrap_or(Root::Unknown);
        let inner = self.program.types.pointee(ty);
        let count = inner.and_then(|it| self.elements(it)).unwrap_or(1);
        // What a pointer of the kernel was set to is added to; one that comes from outside is where counting begins.
        let at = self.advanced(&pointer, index, count, span);
        Ok(Place::Memory { root, at })
    }

    /// A subscript further on: `at + index * count`.
    fn advanced(&mut self, at: &Value, index: &Value, count: i64, span: Span) -> Value {
        let sum = match (&at.sum, &index.sum) {
            (Some(a), Some(b)) => a.plus(b, count),
            (_, _) => None,
        };
        if index.constant == Some(0) {
            return Value { sum, ..at.clone() };
        }
        if let (None, Some(known)) = (at.node, index.constant) {
            let value = at.constant.and_then(|it| it.checked_add(known.checked_mul(count)?));
            return value.map_or_else(|| Value { sum: None, ..at.clone() }, Value::number);
        }
        let made = match (at.node, index.node) {
            (None, Some(_)) if at.constant == Some(0) => index.clone(),
            (_, _) => self.unit(Unit::Add, Class::Int64, &[at, index], span),
        };
        Value { sum, constant: None, root: None, ..made }
    }

    /// The address of an object.
    fn address(&mut self, id: ExprId) -> Result<Value> {
        let span = self.program.exprs[id].span;
        match self.place(id)? {
            Place::Memory { root, at } => {
                let node = match at.node {
                    Some(node) => node,
                    None => self.node(Op::Input, 64, String::new(), span),
                };
                Ok(Value { root: Some(root), node: Some(node), constant: None, sum: at.sum })
            }
            Place::Variable((var, _)) if self.program.types.is_array(self.program.vars[var].ty) => {
                Err(Stop::Again(var))
            }
            Place::Variable(_) => refuse("a variable whose address is taken", span),
        }
    }

    /// Whether a variable is one of the kernel's own, and not of the program around it.
    fn is_kernels(&self, var: ir::program::VarId) -> bool {
        self.own.contains(&var) || self.declared.contains(&var)
    }

    // ---- operators

    fn unary(&mut self, op: UnaryOp, value: Value, ty: Ty, span: Span) -> Result<Value> {
        let Some(class) = self.class(ty) else { return refuse("a value that is no number", span) };
        let is_float = matches!(class, Class::Float32 | Class::Float64);
        if let Some(known) = value.constant {
            match op {
                UnaryOp::Plus => return Ok(value),
                UnaryOp::Minus => return Ok(Value::number(known.wrapping_neg())),
                UnaryOp::Not => return Ok(Value::number(i64::from(known == 0))),
                UnaryOp::BitNot => return Ok(Value::number(!known)),
                UnaryOp::Real | UnaryOp::Imag => {}
            }
        }
        Ok(match op {
            // The sign of a floating number is one bit.
            UnaryOp::Plus => value,
            UnaryOp::Minus if is_float => value,
            UnaryOp::Minus => {
                let zero = Value::number(0);
                return self.binary(BinaryOp::Sub, zero, value, ty, span);
            }
            UnaryOp::Not | UnaryOp::BitNot => self.unit(Unit::Logic, Class::Int32, &[&value], span),
            UnaryOp::Real | UnaryOp::Imag => return refuse("a complex number", span),
        })
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        ty: Ty,
        span: Span,
    ) -> Result<Value> {
        let Some(class) = self.class(ty) else { return refuse("a value that is no number", span) };
        let is_float = matches!(class, Class::Float32 | Class::Float64);
        if let (Some(x), Some(y), false) = (a.constant, b.constant, is_float)
            && let Some(known) = computed(op, x, y)
        {
            return Ok(Value::number(known));
        }
        if self.program.types.is_pointer(ty) {
            return Ok(match op {
                BinaryOp::Add | BinaryOp::Sub => {
                    let inner = self.program.types.pointee(ty);
                    let count = inner.and_then(|it| self.elements(it)).unwrap_or(1);
                    let count = if op == BinaryOp::Sub { -count } else { count };
                    let root = a.root;
                    let made = self.advanced(&a, &b, count, span);
                    Value { root, ..made }
                }
                _ => self.unit(Unit::Compare, class, &[&a, &b], span),
            });
        }
        let power_of_two =
            |it: &Value| it.constant.is_some_and(|it| it > 0 && it.count_ones() == 1);
        let unit = match op {
            BinaryOp::Add | BinaryOp::Sub => Unit::Add,
            // Bits are wired.
            BinaryOp::Mul if !is_float && (power_of_two(&a) || power_of_two(&b)) => {
                return Ok(self.scaled(a, b));
            }
            BinaryOp::Mul if !is_float && (a.constant.is_some() || b.constant.is_some()) => {
                Unit::Add
            }
            BinaryOp::Mul => Unit::Multiply,
            BinaryOp::Div | BinaryOp::Rem if !is_float && power_of_two(&b) => Unit::Add,
            BinaryOp::Div | BinaryOp::Rem => Unit::Divide,
            BinaryOp::Shl | BinaryOp::Shr if b.constant.is_some() => {
                return Ok(Value { sum: None, constant: None, ..a });
            }
            BinaryOp::Shl | BinaryOp::Shr => Unit::Shift,
            BinaryOp::Lt
            | BinaryOp::Gt
            | BinaryOp::Le
            | BinaryOp::Ge
            | BinaryOp::Eq
            | BinaryOp::Ne => Unit::Compare,
            BinaryOp::BitAnd | BinaryOp::BitXor | BinaryOp::BitOr => Unit::Logic,
        };
        let sum = match (op, &a.sum, &b.sum) {
            (BinaryOp::Add, Some(x), Some(y)) if !is_float => x.plus(y, 1),
            (BinaryOp::Sub, Some(x), Some(y)) if !is_float => x.plus(y, -1),
            (BinaryOp::Mul, Some(x), Some(y)) if !is_float => match (a.constant, b.constant) {
                (Some(by), None) => Sum::default().plus(y, by),
                (None, Some(by)) => Sum::default().plus(x, by),
                (_, _) => None,
            },
            (_, _, _) => None,
        };
        if (a.constant == Some(0) && op == BinaryOp::Add)
            || (b.constant == Some(0) && op == BinaryOp::Sub)
        {
            let other = if a.constant == Some(0) { b } else { a };
            return Ok(other);
        }
        let made = self.unit(unit, class, &[&a, &b], span);
        if let (Unit::Compare, Some(node)) =
            (unit, made.node.and_then(|it| self.graph.nodes.get_mut(it)))
        {
            node.name = match op {
                BinaryOp::Lt | BinaryOp::Le => "<",
                BinaryOp::Gt | BinaryOp::Ge => ">",
                _ => "",
            }
            .to_owned();
        }
        let sum = sum.or(made.sum.clone());
        Ok(Value { sum, ..made })
    }

    /// A product with a power of two, which takes no operator.
    fn scaled(&mut self, a: Value, b: Value) -> Value {
        let (value, by) = match (a.constant, b.constant) {
            (Some(by), _) => (b, by),
            (None, by) => (a, by.unwrap_or(1)),
        };
        let sum = value.sum.as_ref().and_then(|it| Sum::default().plus(it, by));
        Value { sum, ..value }
    }

    fn converted(&mut self, value: Value, from: Ty, to: Ty, span: Span) -> Value {
        let (Some(a), Some(b)) = (self.class(from), self.class(to)) else { return value };
        let is_float = |it: Class| matches!(it, Class::Float32 | Class::Float64);
        match (is_float(a), is_float(b)) {
            (false, false) => value,
            (true, true) if a == b => value,
            (_, true) if value.node.is_none() => Value::fixed(),
            (_, false) if value.node.is_none() => Value { sum: None, constant: None, ..value },
            (_, true) => self.unit(Unit::Convert, b, &[&value], span),
            (true, false) => self.unit(Unit::Convert, a, &[&value], span),
        }
    }

    /// `c ? a : b`. The larger or smaller of two integers is one operator.
    fn conditional(
        &mut self,
        c: ExprId,
        a: Option<ExprId>,
        b: ExprId,
        ty: Ty,
        span: Span,
    ) -> Result<Value> {
        let condition = self.expr(c)?;
        if let Some(known) = condition.constant {
            return match (known != 0, a) {
                (true, Some(a)) => self.expr(a),
                (true, None) => Ok(condition),
                (false, _) => self.expr(b),
            };
        }
        let guard = self.bit(&condition, span);
        self.guards.push(guard);
        let before = self.env.clone();
        let first = match a {
            Some(a) => self.expr(a)?,
            None => condition.clone(),
        };
        let then = std::mem::replace(&mut self.env, before);
        let second = self.expr(b)?;
        self.guards.pop();
        self.meet(guard, then, span);
        let Some(class) = self.class(ty) else { return refuse("a value that is no number", span) };
        if let Some(extreme) = self.extreme(&condition, &first, &second, class, span) {
            return Ok(extreme);
        }
        Ok(self.select(guard, &first, &second, class, span))
    }

    /// Variables have what one of two ways has given them.
    fn meet(&mut self, guard: usize, then: super::Env, span: Span) {
        if then != self.env {
            let other = std::mem::take(&mut self.env);
            self.env = self.merge(guard, then, other, span);
        }
    }

    /// The larger or smaller of two values, if a comparison of just these two selects one of them: one operator, which takes
    /// the place of the comparison where nothing else needs that.
    fn extreme(
        &mut self,
        c: &Value,
        a: &Value,
        b: &Value,
        class: Class,
        span: Span,
    ) -> Option<Value> {
        let (node, x, y) = (c.node?, a.node?, b.node?);
        let compared: Vec<usize> =
            self.graph.edges.iter().filter(|it| it.to == node).map(|it| it.from).collect();
        let comparison = self.graph.nodes.get(node)?;
        let Op::Unit(Unit::Compare, of) = comparison.op else { return None };
        let is_less = match comparison.name.as_str() {
            "<" => true,
            ">" => false,
            _ => return None,
        };
        let is_first = match *compared.as_slice() {
            [p, q] if p != q && (p, q) == (x, y) => true,
            [p, q] if p != q && (q, p) == (x, y) => false,
            _ => return None,
        };
        if of != class {
            return None;
        }
        let name = if is_less == is_first { "min" } else { "max" };
        let is_used = self.graph.edges.iter().any(|it| it.from == node);
        let made = match is_used || self.guards.contains(&node) {
            true => self.unit(Unit::Extreme, class, &[a, b], span),
            false => {
                let place = self.graph.nodes.get_mut(node)?;
                (place.op, place.bits, place.span) =
                    (Op::Unit(Unit::Extreme, class), class.bits(), span);
                self.value_of(node)
            }
        };
        self.graph.nodes.get_mut(made.node?)?.name = name.to_owned();
        Some(made)
    }

    // ---- calls

    fn name_of(&self, function: FunctionId) -> &str {
        self.program.names.text(self.program.functions[function].name)
    }

    fn call(
        &mut self,
        function: FunctionId,
        args: Vec<Value>,
        ty: Ty,
        span: Span,
    ) -> Result<Value> {
        let it = &self.program.functions[function];
        let name = self.program.names.text(it.name);
        let Some(body) = it.body else {
            let (Some(unit), Some(class)) = (operator(name), self.class(ty)) else {
                return refuse(format!("a call of `{name}`, which is no operator"), span);
            };
            if unit == Unit::Logic {
                return Ok(args.into_iter().next().unwrap_or_else(Value::fixed));
            }
            let operands: Vec<&Value> = args.iter().collect();
            return Ok(self.unit(unit, class, &operands, span));
        };
        if self.calls >= DEEPEST {
            return refuse(format!("`{name}` calls itself"), span);
        }
        let params = it.params.clone();
        for (param, value) in params.iter().zip(args) {
            self.own.insert(*param);
            self.env.insert((*param, Vec::new()), value);
        }
        self.calls += 1;
        let end = self.list(&[body])?;
        self.calls -= 1;
        match (end, self.returned.take()) {
            (End::Return, Some(value)) => Ok(value),
            (End::Return | End::Through, None) => Ok(Value::fixed()),
            (_, _) => refuse(format!("`{name}` returns on some ways only"), span),
        }
    }
}

/// The operator that a function of the C library is.
fn operator(name: &str) -> Option<Unit> {
    let plain = name.strip_prefix("__builtin_").unwrap_or(name);
    let is_it = |it: &&(&str, Unit)| it.0 == plain || plain.strip_suffix('f') == Some(it.0);
    FUNCTIONS.iter().find(is_it).map(|it| it.1)
}

/// An operation on constants; none if C does not say what it gives.
fn computed(op: BinaryOp, x: i64, y: i64) -> Option<i64> {
    let truth = |it: bool| Some(i64::from(it));
    match op {
        BinaryOp::Add => x.checked_add(y),
        BinaryOp::Sub => x.checked_sub(y),
        BinaryOp::Mul => x.checked_mul(y),
        BinaryOp::Div => x.checked_div(y),
        BinaryOp::Rem => x.checked_rem(y),
        BinaryOp::Shl => x.checked_shl(u32::try_from(y).ok()?),
        BinaryOp::Shr => x.checked_shr(u32::try_from(y).ok()?),
        BinaryOp::Lt => truth(x < y),
        BinaryOp::Gt => truth(x > y),
        BinaryOp::Le => truth(x <= y),
        BinaryOp::Ge => truth(x >= y),
        BinaryOp::Eq => truth(x == y),
        BinaryOp::Ne => truth(x != y),
        BinaryOp::BitAnd => Some(x & y),
        BinaryOp::BitXor => Some(x ^ y),
        BinaryOp::BitOr => Some(x | y),
    }
}
