//! Where values are: variables, elements of memory, of memories on the chip, and of channels.

use ir::program::{ExprId, ExprKind, VarId};
use ir::types::{ArrayLen, Ty, TypeKind};
use rtl::block::{Act, Function, Number, NumberKind, Operand};
use source::Span;

use super::block::{About, Node};
use super::data::{Data, Key, Result, Value, refuse};
use crate::graph::Unit;

/// A place that is read or written.
pub(super) enum Place {
    Variable(Key),
    Memory(Operand),
    /// An element of a memory on the chip.
    Chip(usize, Operand),
    /// The next element of a channel.
    Channel(usize),
}

impl Data<'_> {
    pub(super) fn place(&mut self, id: ExprId) -> Result<Place> {
        let expr = &self.program.exprs[id];
        let span = expr.span;
        match &expr.kind {
            ExprKind::Var(var) => {
                let is_own = self.own.contains(var) || self.declared.contains(var);
                let is_object = self.program.types.is_array(expr.ty)
                    || self.program.types.is_record(expr.ty)
                    || self.in_memory.contains(var);
                if let Some(channel) = self.registers.channels.get(var) {
                    return Ok(Place::Channel(*channel));
                }
                if let Some(chip) = self.registers.chips.get(var) {
                    return Ok(Place::Chip(*chip, Operand::Constant(0)));
                }
                if is_object && !is_own {
                    return Ok(Place::Memory(self.object(*var, span)));
                }
                Ok(Place::Variable((*var, Vec::new())))
            }
            ExprKind::Index(base, index) => {
                let (base, index) = (*base, *index);
                let base_type = self.program.exprs[base].ty;
                let by = self.expr(index)?;
                if self.program.types.is_pointer(base_type) {
                    let Some(inner) = self.program.types.pointee(base_type) else {
                        return refuse("a pointer to nothing", span);
                    };
                    let pointer = self.expr(base)?;
                    return Ok(Place::Memory(self.moved(
                        pointer.at,
                        by,
                        self.size(inner, span)?,
                        span,
                    )));
                }
                match self.place(base)? {
                    Place::Variable((var, mut steps)) => {
                        let length = match self.program.types.shape(base_type) {
                            TypeKind::Array(_, ArrayLen::Known(length)) => *length,
                            _ => 0,
                        };
                        match by.at {
                            Operand::Constant(at) if at < length => {
                                steps.push(at);
                                Ok(Place::Variable((var, steps)))
                            }
                            Operand::Constant(_) => {
                                refuse("a subscript behind the end of an array", span)
                            }
                            Operand::Node(_) => {
                                self.registers.wanted = Some(var);
                                refuse("an array of the kernel's own that lies in memory", span)
                            }
                        }
                    }
                    Place::Chip(chip, at) => {
                        let mut inner = self.program.types.element(base_type).unwrap_or(base_type);
                        let whole = self.size(inner, span)?;
                        while let Some(element) = self.program.types.element(inner) {
                            inner = element;
                        }
                        let each = self.size(inner, span)?.max(1);
                        Ok(Place::Chip(chip, self.moved(at, by, whole / each, span)))
                    }
                    // Which element that is was proven: the next.
                    Place::Channel(channel) => Ok(Place::Channel(channel)),
                    Place::Memory(at) => {
                        let inner = self.program.types.element(base_type).unwrap_or(base_type);
                        Ok(Place::Memory(self.moved(at, by, self.size(inner, span)?, span)))
                    }
                }
            }
            ExprKind::Deref(of) => Ok(Place::Memory(self.expr(*of)?.at)),
            ExprKind::Member(base, record, member) => {
                let (base, record, member) = (*base, *record, *member);
                let layout = self.program.model.record(&self.program.types, record);
                let places = layout.map(|it| it.fields.get(member as usize).copied());
                let Ok(Some(place)) = places else {
                    return refuse("a record whose size is not constant", span);
                };
                if place.bit_width.is_some() {
                    return refuse("a bit-field", span);
                }
                match self.place(base)? {
                    Place::Variable(_) if self.program.types.records[record].is_union => {
                        refuse("a `union` of the kernel's own", span)
                    }
                    Place::Variable((var, mut steps)) => {
                        steps.push(u64::from(member));
                        Ok(Place::Variable((var, steps)))
                    }
                    Place::Chip(..) | Place::Channel(_) => {
                        refuse("an array of records on the chip", span)
                    }
                    Place::Memory(at) => {
                        let one = Value { at: Operand::Constant(1), number: Number::ADDRESS };
                        Ok(Place::Memory(self.moved(at, one, place.offset, span)))
                    }
                }
            }
            _ => refuse("an object that has no place", span),
        }
    }

    /// The register that an address counts from.
    fn base(&self, at: Operand) -> Option<usize> {
        let Operand::Node(node) = at else { return None };
        let node = self.block.nodes.get(node)?;
        match node.act {
            Act::Begin(register) => Some(register),
            Act::Compute(Function::Add) => self.base(*node.operands.first()?),
            _ => None,
        }
    }

    /// The address of an object of the program.
    pub(super) fn object(&mut self, var: VarId, span: Span) -> Operand {
        let register = match self.registers.objects.get(&var) {
            Some(known) => *known,
            None => {
                let fresh = self.registers.fresh(Number::ADDRESS);
                self.registers.objects.insert(var, fresh);
                fresh
            }
        };
        self.begin(register, span)
    }

    /// An address so many elements on.
    pub(super) fn moved(&mut self, at: Operand, by: Value, size: u64, span: Span) -> Operand {
        let by = self.convert(by, Number { bits: 64, kind: NumberKind::Signed }, span);
        let types = (Number::ADDRESS, Number::ADDRESS);
        // Bits are wired; sums of few of them are counted with the sum that follows.
        let size = Operand::Constant(size);
        let far = self.compute(Function::Mul, &[by.at, size], types, None, span);
        match far {
            Operand::Constant(0) => at,
            far => self.compute(Function::Add, &[at, far], types, Some(Unit::Add), span),
        }
    }

    pub(super) fn read(&mut self, place: &Place, ty: Ty, span: Span) -> Result<Value> {
        let number = self.number_at(ty, span)?;
        match place {
            Place::Variable(key) => match self.env.get(key) {
                Some(value) => Ok(*value),
                None => {
                    let value = self.before(key, span)?;
                    Ok(value)
                }
            },
            Place::Memory(at) => {
                let at = self.load(*at, number, span);
                self.accesses.push((span, false, self.block.nodes.len() - 1));
                Ok(Value { at, number })
            }
            Place::Chip(chip, at) => {
                let at = self.node(Node {
                    act: Act::Look(*chip),
                    operands: vec![*at],
                    of: Number::ADDRESS,
                    gives: number,
                    guard: self.guard,
                    about: About { base: None, unit: None, span },
                });
                self.accesses.push((span, false, self.block.nodes.len() - 1));
                Ok(Value { at, number })
            }
            Place::Channel(channel) => {
                let at = self.node(Node {
                    act: Act::Pop(*channel),
                    operands: Vec::new(),
                    of: number,
                    gives: number,
                    guard: self.guard,
                    about: About { base: None, unit: None, span },
                });
                Ok(Value { at, number })
            }
        }
    }

    pub(super) fn load(&mut self, at: Operand, number: Number, span: Span) -> Operand {
        self.node(Node {
            act: Act::Load,
            operands: vec![at],
            of: Number::ADDRESS,
            gives: number,
            guard: self.guard,
            about: About { base: self.base(at), unit: None, span },
        })
    }

    pub(super) fn store(&mut self, at: Operand, value: Value, span: Span) {
        self.node(Node {
            act: Act::Store,
            operands: vec![at, value.at],
            of: value.number,
            gives: value.number,
            guard: self.guard,
            about: About { base: self.base(at), unit: None, span },
        });
    }

    pub(super) fn assign(&mut self, place: &Place, value: Value, span: Span) {
        match place {
            Place::Variable(key) => {
                self.env.insert(key.clone(), value);
            }
            Place::Memory(at) => {
                self.store(*at, value, span);
                self.accesses.push((span, true, self.block.nodes.len() - 1));
            }
            Place::Chip(chip, at) => {
                self.node(Node {
                    act: Act::Keep(*chip),
                    operands: vec![*at, value.at],
                    of: value.number,
                    gives: value.number,
                    guard: self.guard,
                    about: About { base: None, unit: None, span },
                });
                self.accesses.push((span, true, self.block.nodes.len() - 1));
            }
            Place::Channel(channel) => {
                self.node(Node {
                    act: Act::Push(*channel),
                    operands: vec![value.at],
                    of: value.number,
                    gives: value.number,
                    guard: self.guard,
                    about: About { base: None, unit: None, span },
                });
            }
        }
    }
}
