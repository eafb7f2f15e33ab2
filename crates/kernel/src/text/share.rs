//! Shared loops in the text form.

use ir::program::{BinaryOp, ExprId, ExprKind, StepOp, StmtId, VarId};
use ir::region::LoopTest;
use ir::walk::Part;

use super::{Marker, Reader, Result, fail};
use crate::walk::{self, How};
use crate::{Block, Dim, Join, Prefix, Range, Scan, Schedule, Share};

impl Reader<'_> {
    /// A shared loop, without its body.
    pub(super) fn share(&mut self, marker: &Marker) -> Result<Share> {
        let options = self.options(marker, 2)?;
        self.shared(marker, options)
    }

    /// Prefixes, with what follows the marker.
    pub(super) fn scan(
        &mut self,
        marker: &Marker,
        list: &mut std::slice::Iter<'_, StmtId>,
    ) -> Result<Scan> {
        let mut options = self.options(marker, 2)?;
        let all = options.len();
        options.retain(|it| it.name != "__exclusive");
        let is_exclusive = options.len() < all;
        let mut share = self.shared(marker, options)?;
        share.body = self.body(list.next(), marker)?;
        let Some(uses) = self.next_marker("__uses", list) else {
            return fail("`__uses` follows what a scan gives", marker.span);
        };
        let using = self.body(list.next(), &uses)?;
        if let Some(last) = self.next_marker("__last", list) {
            share.last = self.body(list.next(), &last)?;
        }
        let mut prefixes = Vec::new();
        while let Some(it) = self.next_marker("__prefix", list) {
            let op = self.op(&it, 0)?;
            let (copy, original) = (self.var(&it, 1)?, self.var(&it, 2)?);
            let begin = self.body(list.next(), &it)?;
            let Some(combine) = self.next_marker("__combine", list) else {
                return fail("`__combine` follows what begins a prefix", it.span);
            };
            let combine = self.body(list.next(), &combine)?;
            let Some(join) = self.next_marker("__join", list) else {
                return fail("`__join` follows what combines a prefix", it.span);
            };
            let other = self.var(&join, 0)?;
            let join = Join { other, code: self.body(list.next(), &join)? };
            prefixes.push(Prefix { op, copy, original, begin, combine, join });
        }
        Ok(Scan { share, using, is_exclusive, prefixes })
    }

    fn shared(&mut self, marker: &Marker, options: Vec<Marker>) -> Result<Share> {
        let crew = self.crew(marker)?;
        let mut number = None;
        let mut share = Share {
            crew,
            dims: Vec::new(),
            within: None,
            schedule: Schedule::Blocks,
            ordered: false,
            pieces: None,
            number: crew.number,
            body: Block::new(),
            last: Block::new(),
        };
        for option in options {
            match option.name.as_str() {
                "__number" => number = Some(self.var(&option, 0)?),
                "__for" => {
                    let outer: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
                    share.dims.push(self.dim(&option, &outer)?);
                }
                "__chunks" => share.schedule = Schedule::RoundRobin(self.value(&option)?),
                "__ordered" => share.ordered = true,
                "__within" => share.within = Some(self.range(&option)?),
                "__pieces" => share.pieces = Some(self.range(&option)?),
                other => return fail(format!("`{other}` is no option here"), option.span),
            }
        }
        match number {
            Some(it) => share.number = it,
            None => return fail(format!("`{}` wants a `__number`", marker.name), marker.span),
        }
        Ok(share)
    }

    fn range(&self, marker: &Marker) -> Result<Range> {
        Ok(Range { begin: self.var(marker, 0)?, end: self.var(marker, 1)? })
    }

    /// `__for(i = begin, i < bound, i += step)`
    fn dim(&self, marker: &Marker, outer: &[VarId]) -> Result<Dim> {
        let wrong = || fail("`__for` wants `i = a, i < b, i += c`", marker.span);
        let [begin, test, step] = marker.args.as_slice() else { return wrong() };
        let kind = |e: ExprId| &self.program.exprs[self.strip(e)].kind;
        let named = |e: ExprId| {
            if let ExprKind::Var(var) = *kind(e) { Some(var) } else { None }
        };
        let ExprKind::Assign(to, begin) = *kind(*begin) else { return wrong() };
        let Some(var) = named(to) else { return wrong() };
        let ExprKind::Binary(op, left, bound) = *kind(*test) else { return wrong() };
        let test = match op {
            BinaryOp::Lt => LoopTest::Lt,
            BinaryOp::Le => LoopTest::Le,
            BinaryOp::Gt => LoopTest::Gt,
            BinaryOp::Ge => LoopTest::Ge,
            BinaryOp::Ne => LoopTest::Ne,
            BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Eq
            | BinaryOp::BitAnd
            | BinaryOp::BitXor
            | BinaryOp::BitOr => return wrong(),
        };
        let step = kind(*step);
        let (stepped, by, descending) = if let ExprKind::AssignOp(op, to, by, _) = *step
            && matches!(op, BinaryOp::Add | BinaryOp::Sub)
        {
            (to, Some(by), op == BinaryOp::Sub)
        } else if let ExprKind::Step(op, to) = *step {
            (to, None, matches!(op, StepOp::PreDec | StepOp::PostDec))
        } else {
            return wrong();
        };
        if named(left) != Some(var) || named(stepped) != Some(var) {
            return wrong();
        }
        let depends = |e: ExprId| {
            let (uses, _) = walk::uses(self.program, Part::Expr(e));
            uses.iter().any(|it| it.how == How::Named && outer.contains(&it.var))
        };
        let rectangular = !depends(begin) && !depends(bound);
        Ok(Dim { var, begin, bound, test, step: by, descending, rectangular })
    }
}
