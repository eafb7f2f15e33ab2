//! Shared loops: which iterations there are, and whose they are.

use ir::program::BinaryOp;
use ir::region::LoopTest;

use super::object::Place;
use super::value::Value;
use super::{Cx, Flow, Result, fail};
use crate::{Block, Dim, Schedule, Share};

/// The iterations of a nest, and those that one of the crew gets.
#[derive(Debug)]
pub(super) struct Dealt {
    /// The values of the variables that count, for each iteration.
    pub(super) values: Vec<Vec<Value>>,
    /// Numbers from the first up to the second, which is not one of them.
    pub(super) pieces: Vec<(u64, u64)>,
}

/// Iterations that a loop may have here.
const MOST: usize = 1 << 20;

impl Cx<'_, '_> {
    /// What the thread gets of a shared loop.
    pub(super) fn dealt(&mut self, share: &Share) -> Result<Dealt> {
        let mut values = Vec::new();
        self.nest(&share.dims, &mut Vec::new(), &mut values)?;
        let total = values.len() as u64;
        let (low, high) = match share.within {
            Some(it) => (self.number(it.begin)?, self.number(it.end)?.min(total)),
            None => (0, total),
        };
        let (me, count) = (self.number(share.crew.number)?, self.number(share.crew.count)?);
        if count == 0 {
            return fail("a crew of nobody");
        }
        let length = high.saturating_sub(low);
        let mut pieces = Vec::new();
        match share.schedule {
            Schedule::Blocks => {
                let (each, more) = (length / count, length % count);
                let begin = low + me * each + me.min(more);
                let end = begin + each + u64::from(me < more);
                if me < count && begin < end {
                    pieces.push((begin, end));
                }
            }
            Schedule::RoundRobin(chunk) => {
                let chunk = u64::try_from(self.eval(chunk)?.int()?).unwrap_or(1).max(1);
                let mut begin = low.saturating_add(me.saturating_mul(chunk));
                while begin < high {
                    pieces.push((begin, begin.saturating_add(chunk).min(high)));
                    begin = begin.saturating_add(chunk.saturating_mul(count));
                }
            }
        }
        Ok(Dealt { values, pieces })
    }

    /// All iterations of the loops that are left.
    fn nest(
        &mut self,
        dims: &[Dim],
        outer: &mut Vec<Value>,
        found: &mut Vec<Vec<Value>>,
    ) -> Result<()> {
        let Some((dim, rest)) = dims.split_first() else {
            if found.len() >= MOST {
                return fail("a shared loop has too many iterations");
            }
            found.push(outer.clone());
            return Ok(());
        };
        let program = self.program();
        let at = self.address_of(dim.var)?;
        let place = Place { at, ty: program.vars[dim.var].ty, bits: None };
        let own = self.scalar(place.ty)?;
        let begin = self.eval(dim.begin)?;
        let bound = self.eval(dim.bound)?;
        let step = dim.step.map(|it| self.eval(it)).transpose()?;
        let mut value = begin.convert(self.scalar(program.exprs[dim.begin].ty)?, own)?;
        loop {
            self.m.step()?;
            let is_in = match (&value, &bound) {
                (Value::Int(a), Value::Int(b)) => holds(dim.test, a.cmp(b)),
                _ => return fail("a shared loop counts no integers"),
            };
            if !is_in {
                return Ok(());
            }
            self.store(&place, &value)?;
            outer.push(value.clone());
            let inner = self.nest(rest, outer, found);
            outer.pop();
            inner?;
            let op = if dim.descending { BinaryOp::Sub } else { BinaryOp::Add };
            let by = step.clone().unwrap_or(Value::Int(1));
            let size = match program.types.pointee(place.ty) {
                Some(to) => i128::from(self.size_of(to)?),
                None => 1,
            };
            let by = Value::Int(by.int()?.wrapping_mul(size));
            value = super::value::arith(op, &value, &by, own)?;
        }
    }

    /// Sets what a body finds of its iteration.
    pub(super) fn begin_iteration(
        &mut self,
        share: &Share,
        dealt: &Dealt,
        number: u64,
    ) -> Result<()> {
        self.set_number(share.number, number)?;
        let values = dealt.values.get(number as usize).map(Vec::as_slice).unwrap_or_default();
        for (dim, value) in share.dims.iter().zip(values) {
            let at = self.address_of(dim.var)?;
            let place = Place { at, ty: self.program().vars[dim.var].ty, bits: None };
            self.store(&place, value)?;
        }
        Ok(())
    }

    /// A shared loop in which nobody meets others.
    pub(super) fn share(&mut self, share: &Share) -> Result<Flow> {
        let dealt = self.dealt(share)?;
        let total = dealt.values.len() as u64;
        for (begin, end) in &dealt.pieces {
            if let Some(range) = share.pieces {
                self.set_number(range.begin, *begin)?;
                self.set_number(range.end, *end)?;
                self.iteration(&share.body)?;
                if *end == total {
                    self.iteration(&share.last)?;
                }
                continue;
            }
            for number in *begin..*end {
                self.begin_iteration(share, &dealt, number)?;
                self.iteration(&share.body)?;
                if number + 1 == total {
                    self.iteration(&share.last)?;
                }
            }
        }
        Ok(Flow::Next)
    }

    /// A body that `continue` ends.
    pub(super) fn iteration(&mut self, body: &Block) -> Result<()> {
        self.m.step()?;
        match self.singles(body)? {
            Flow::Next | Flow::Continue => Ok(()),
            Flow::Break | Flow::Return(_) | Flow::Goto(_) => fail("a jump leaves a shared loop"),
        }
    }
}

fn holds(test: LoopTest, order: std::cmp::Ordering) -> bool {
    match test {
        LoopTest::Lt => order.is_lt(),
        LoopTest::Le => order.is_le(),
        LoopTest::Gt => order.is_gt(),
        LoopTest::Ge => order.is_ge(),
        LoopTest::Ne => order.is_ne(),
    }
}
