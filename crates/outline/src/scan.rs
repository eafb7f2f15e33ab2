//! Prefixes: loops whose iterations give something, and use what those before them have given.
//!
//! A crew computes them together. One thread alone, and nests whose bounds follow each other, run iteration after
//! iteration.

use ir::construct::{ClauseKind, Leaf, ReductionModifier, ReductionOp};
use ir::program::{ExprKind, RegionId, StmtId, StmtKind as C, Typed, VarId};
use kernel::{Block, Crew, Dim, Join, Prefix, Scan, Schedule, Share, Space, Stmt, StmtKind};
use rustc_hash::FxHashMap;

use crate::data::Copies;
use crate::{Outliner, Result, refuse};

/// Loops whose iterations a crew goes through together.
pub(crate) struct Loops<'a> {
    pub(crate) crew: Crew,
    /// Takes the number of an iteration.
    pub(crate) number: VarId,
    pub(crate) dims: &'a [Dim],
    pub(crate) copies: &'a Copies,
    /// Variables as they are outside of the loop.
    pub(crate) outside: &'a FxHashMap<VarId, VarId>,
}

impl Outliner<'_> {
    /// A loop with prefixes that a crew computes together.
    pub(crate) fn scan(
        &mut self,
        id: RegionId,
        body: StmtId,
        scanned: &[(ReductionOp<Typed>, VarId)],
        loops: &Loops<'_>,
        out: &mut Block,
    ) -> Result<()> {
        let span = self.program.stmts[body].span;
        let (before, after, is_exclusive) = self.halves(body)?;
        let (giving, using) = if is_exclusive { (after, before) } else { (before, after) };
        let vars = self.env.vars.clone();
        let mut prefixes = Vec::new();
        for (op, var) in scanned {
            let original = vars.get(var).copied().unwrap_or(*var);
            let copy = self.fresh_like(*var, Space::Private, span)?;
            let other = self.fresh_like(*var, Space::Private, span)?;
            self.env.vars.insert(*var, copy);
            let code = |it| vec![Stmt::new(StmtKind::Code(it), span)];
            prefixes.push(Prefix {
                op: op.clone(),
                copy,
                original,
                begin: code(self.begin_sum(id, op, copy, original, span)?),
                combine: code(self.join_sum(id, op, original, copy, span)?),
                join: Join { other, code: code(self.join_sum(id, op, copy, other, span)?) },
            });
        }
        let (is_shared, is_ordered) = (self.env.is_shared, self.env.is_ordered);
        (self.env.is_shared, self.env.is_ordered) = (true, false);
        let mut body = Block::new();
        self.begin_iteration(loops.copies, loops.number, &mut body);
        let inner = self.block(&giving)?;
        body.push(self.once(inner, span));
        let inner = self.block(&using)?;
        let using = vec![self.once(inner, span)];
        (self.env.is_shared, self.env.is_ordered) = (is_shared, is_ordered);
        let mut last = self.end_last(loops.copies, loops.number);
        self.keep_counters(id, loops.dims, loops.outside, &mut last);
        self.env.vars = vars;
        let share = Share {
            crew: loops.crew,
            dims: loops.dims.to_vec(),
            within: None,
            schedule: Schedule::Blocks,
            ordered: false,
            pieces: None,
            number: loops.number,
            body,
            last,
        };
        let scan = Scan { share, using, is_exclusive, prefixes };
        out.push(Stmt::new(StmtKind::Scan(Box::new(scan)), span));
        Ok(())
    }

    /// What stands before and behind the place where prefixes are made, and whether what stands before it is what uses them.
    fn halves(&self, body: StmtId) -> Result<(Vec<StmtId>, Vec<StmtId>, bool)> {
        let span = self.program.stmts[body].span;
        let C::Block(list) = self.program.stmts[body].kind.clone() else {
            return refuse("a body without a place where prefixes are made", span);
        };
        let scan_of = |it: &StmtId| match self.program.stmts[*it].kind {
            C::Region(id) if self.program.regions[id].construct.has(Leaf::Scan) => Some(id),
            _ => None,
        };
        let at = list.iter().position(|it| scan_of(it).is_some());
        let Some((at, scan)) = at.and_then(|at| Some((at, scan_of(list.get(at)?)?))) else {
            return refuse("a body without a place where prefixes are made", span);
        };
        let is_exclusive = self.program.regions[scan]
            .construct
            .kinds()
            .any(|it| matches!(it, ClauseKind::Exclusive(_)));
        let (before, after) = (list.get(..at), list.get(at + 1..));
        let list = |it: Option<&[StmtId]>| it.unwrap_or_default().to_vec();
        Ok((list(before), list(after), is_exclusive))
    }

    /// What a construct makes prefixes of.
    pub(crate) fn scanned(&self, id: RegionId) -> Result<Vec<(ReductionOp<Typed>, VarId)>> {
        let mut found = Vec::new();
        for clause in &self.program.regions[id].construct.clauses {
            let ClauseKind::Reduction(it) = &clause.kind else { continue };
            if it.modifier != Some(ReductionModifier::Inscan) {
                continue;
            }
            for item in &it.items {
                let ExprKind::Var(var) = self.program.exprs[*item].kind else {
                    return refuse("prefixes of a part of an array", clause.span);
                };
                found.push((it.op.clone(), var));
            }
        }
        Ok(found)
    }

    /// The body of an iteration that is cut in two where prefixes are made: iterations run in order, and the
    /// original holds what those before it have given.
    pub(crate) fn prefixes(
        &mut self,
        id: RegionId,
        body: StmtId,
        scanned: &[(ReductionOp<Typed>, VarId)],
        out: &mut Block,
    ) -> Result<()> {
        let span = self.program.stmts[body].span;
        let (before, after, is_exclusive) = self.halves(body)?;
        let (before, after) = (before.as_slice(), after.as_slice());
        let vars = self.env.vars.clone();
        let mut sums = Vec::new();
        for (op, var) in scanned {
            let original = vars.get(var).copied().unwrap_or(*var);
            let copy = self.fresh_like(*var, Space::Private, span)?;
            self.declare(copy, out);
            self.env.vars.insert(*var, copy);
            sums.push((op, original, copy));
        }
        let begin = |this: &mut Self, out: &mut Block| -> Result<()> {
            for (op, original, copy) in &sums {
                let code = this.begin_sum(id, op, *copy, *original, span)?;
                out.push(Stmt::new(StmtKind::Code(code), span));
            }
            Ok(())
        };
        let join = |this: &mut Self, out: &mut Block| -> Result<()> {
            for (op, original, copy) in &sums {
                let code = this.join_sum(id, op, *original, *copy, span)?;
                out.push(Stmt::new(StmtKind::Code(code), span));
            }
            Ok(())
        };
        let show = |this: &mut Self, out: &mut Block| {
            sums.iter().for_each(|(_, original, copy)| this.copy_value(*copy, *original, out));
        };
        match is_exclusive {
            false => {
                begin(self, out)?;
                self.statements(before, out)?;
                join(self, out)?;
                show(self, out);
                self.statements(after, out)?;
            }
            true => {
                show(self, out);
                self.statements(before, out)?;
                begin(self, out)?;
                self.statements(after, out)?;
                join(self, out)?;
            }
        }
        self.env.vars = vars;
        Ok(())
    }
}
