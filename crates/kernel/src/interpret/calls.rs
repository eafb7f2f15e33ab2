//! Calls: functions with bodies, intrinsics of kernels, and what the library computes.

use ir::layout::FloatFormat;
use ir::program::{ExprId, ExprKind, FunctionId};
use ir::types::Ty;

use super::value::{Scalar, Value, round};
use super::{Cx, Flow, Frame, Result, fail};
use crate::intrinsic;

impl Cx<'_, '_> {
    /// The address of a function that an expression names.
    pub(super) fn callee(&mut self, id: ExprId) -> Result<Value> {
        let kind = &self.program().exprs[id].kind;
        if let ExprKind::Deref(inner) | ExprKind::Cast(_, inner) = kind {
            return self.eval(*inner);
        }
        let ExprKind::Function(function) = kind else { return self.eval(id) };
        let at = match self.m.functions.get(function) {
            Some(at) => *at,
            None => self.m.allocate(&[0])?,
        };
        self.m.functions.insert(*function, at);
        Ok(Value::Int(i128::from(at)))
    }

    pub(super) fn call(&mut self, callee: ExprId, args: &[ExprId], ty: Ty) -> Result<Value> {
        let function = match crate::copy::callee_of(self.program(), callee) {
            Some(function) => function,
            None => {
                let at = self.callee(callee)?.int()? as u64;
                let mut known = self.m.functions.iter();
                match known.find(|it| *it.1 == at) {
                    Some((function, _)) => *function,
                    None => return fail("a call of what is no function"),
                }
            }
        };
        let mut values = Vec::new();
        for arg in args {
            values.push((self.eval(*arg)?, self.program().exprs[*arg].ty));
        }
        match self.program().functions[function].body {
            Some(_) => self.function(function, values),
            None => self.builtin(function, &values, ty),
        }
    }

    /// A function with a body.
    fn function(&mut self, id: FunctionId, args: Vec<(Value, Ty)>) -> Result<Value> {
        let function = &self.program().functions[id];
        let Some(body) = function.body else { return Ok(Value::Void) };
        self.m.enter()?;
        self.thread.frames.push(Frame::default());
        let answer = self.called(&function.params, args, body);
        self.release(0);
        if let Some(frame) = self.thread.frames.pop() {
            frame.unnamed.into_iter().for_each(|it| self.m.memory.free(it));
        }
        self.m.depth -= 1;
        answer
    }

    fn called(
        &mut self,
        params: &[ir::program::VarId],
        args: Vec<(Value, Ty)>,
        body: ir::program::StmtId,
    ) -> Result<Value> {
        for (param, (value, _)) in params.iter().zip(args) {
            let at = self.declare(*param)?;
            let ty = self.program().vars[*param].ty;
            self.store(&super::object::Place { at, ty, bits: None }, &value)?;
        }
        match self.code(body, &mut None)? {
            Flow::Return(value) => Ok(value),
            Flow::Next => Ok(Value::Void),
            Flow::Break | Flow::Continue | Flow::Goto(_) => fail("a jump out of a function"),
        }
    }

    /// A function that is known by its name.
    fn builtin(&mut self, id: FunctionId, args: &[(Value, Ty)], ty: Ty) -> Result<Value> {
        let program = self.program();
        let name = program.names.text(program.functions[id].name);
        let int = |at: usize| match args.get(at) {
            Some((value, _)) => value.int(),
            None => fail("an argument is missing"),
        };
        match name {
            intrinsic::COPY | intrinsic::LOAD_LINES | intrinsic::STORE_LINES => {
                self.copy(int(0)? as u64, int(1)? as u64, int(2)? as u64)?;
                return Ok(Value::Void);
            }
            intrinsic::LEAVE => {
                let (word, from, size) = (int(0)? as u64, int(1)? as u64, int(2)? as u64);
                let place = int(3)? as u64;
                let left = self.m.memory.read(from, size, self.access())?;
                self.m.left.insert((word, place), left);
                return Ok(Value::Void);
            }
            intrinsic::TAKE => {
                let (word, to, size) = (int(0)? as u64, int(1)? as u64, int(2)? as u64);
                let group = int(3)? as u64;
                let who = self.access();
                match self.m.left.get(&(word, group)) {
                    Some((bytes, known)) if bytes.len() as u64 == size => {
                        self.m.memory.write(to, bytes, known, who)?;
                    }
                    _ => return fail(format!("group {group} has left nothing of {size} bytes")),
                }
                return Ok(Value::Void);
            }
            intrinsic::IS_LAST => {
                let count = self.m.counts.entry(int(0)? as u64).or_default();
                *count += 1;
                let is_last = *count == self.m.groups;
                if is_last {
                    *count = 0;
                    // What others did before they asked has been done.
                    self.m.memory.order();
                }
                return Ok(Value::Int(i128::from(is_last)));
            }
            // Groups run one after the other.
            intrinsic::TICKET => {
                let ticket = self.m.tickets;
                self.m.tickets = (ticket + 1) % self.m.groups;
                return Ok(Value::Int(i128::from(ticket)));
            }
            intrinsic::POST => {
                self.m.posts.insert(int(0)? as u64);
                return Ok(Value::Void);
            }
            intrinsic::AWAIT => {
                let place = int(0)? as u64;
                if !self.m.posts.contains(&place) {
                    return fail(format!("nobody tells that place {place} is ready"));
                }
                self.m.memory.order();
                return Ok(Value::Void);
            }
            intrinsic::FORGET => {
                self.m.posts.remove(&(int(0)? as u64));
                return Ok(Value::Void);
            }
            intrinsic::QUOTIENT => {
                let Some(value) = (int(0)? as u64).checked_div(int(1)? as u64) else {
                    return fail("a division by zero".to_owned());
                };
                return Ok(Value::Int(i128::from(value)));
            }
            intrinsic::INFINITY => return Ok(Value::Float(f64::INFINITY)),
            // Groups run one after the other, and so do threads.
            intrinsic::TRY_LOCK => {
                self.thread.exempt += 1;
                return Ok(Value::Int(1));
            }
            intrinsic::UNLOCK => {
                self.thread.exempt = self.thread.exempt.saturating_sub(1);
                return Ok(Value::Void);
            }
            _ => {}
        }
        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
        match plain {
            "memcpy" | "memmove" => {
                self.copy(int(0)? as u64, int(1)? as u64, int(2)? as u64)?;
                return Ok(Value::Int(int(0)?));
            }
            "memset" => {
                let size = usize::try_from(int(2)?).unwrap_or(0);
                let who = self.access();
                let byte = int(1)? as u8;
                let known = vec![true; size];
                self.m.memory.write(int(0)? as u64, &vec![byte; size], &known, who)?;
                return Ok(Value::Int(int(0)?));
            }
            "abs" | "labs" | "llabs" => return Ok(Value::Int(int(0)?.abs())),
            "expect" => return Ok(Value::Int(int(0)?)),
            _ => {}
        }
        let mut numbers = Vec::new();
        for (value, from) in args {
            let from = self.scalar(*from)?;
            if let Value::Float(it) = value.convert(from, Scalar::Float(FloatFormat::Double))? {
                numbers.push(it);
            }
        }
        let to = self.scalar(ty)?;
        match math(plain, &numbers) {
            Some(value) => {
                let format = if let Scalar::Float(it) = to { it } else { FloatFormat::Double };
                Value::Float(round(value, format)).convert(Scalar::Float(format), to)
            }
            None => fail(format!("`{name}` has no body and is not known")),
        }
    }
}

/// What functions of `math.h` compute; those for `float` end with an `f`.
fn math(name: &str, args: &[f64]) -> Option<f64> {
    let one = |name: &str, a: f64| -> Option<f64> {
        Some(match name {
            "sqrt" => a.sqrt(),
            "fabs" => a.abs(),
            "sin" => a.sin(),
            "cos" => a.cos(),
            "tan" => a.tan(),
            "exp" => a.exp(),
            "log" => a.ln(),
            "floor" => a.floor(),
            "ceil" => a.ceil(),
            "trunc" => a.trunc(),
            "round" => a.round(),
            _ => return None,
        })
    };
    let two = |name: &str, a: f64, b: f64| -> Option<f64> {
        Some(match name {
            "pow" => a.powf(b),
            "fmin" => a.min(b),
            "fmax" => a.max(b),
            "fmod" => a % b,
            "atan2" => a.atan2(b),
            _ => return None,
        })
    };
    let known = |name: &str| match args {
        [] if matches!(name, "huge_val" | "inf") => Some(f64::INFINITY),
        [a] => one(name, *a),
        [a, b] => two(name, *a, *b),
        [a, b, c] if name == "fma" => Some(a.mul_add(*b, *c)),
        _ => None,
    };
    known(name).or_else(|| known(name.strip_suffix('f')?))
}
