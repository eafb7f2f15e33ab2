//! Iterations that a thread takes in stretches: along the last loop of a nest, while the others stand.
//!
//! In: a nest whose iterations are dealt to threads. Out: one loop over stretches, and in it a loop
//! along each, which counts in the type of the user's variable, so that compilers see what lies side by
//! side in memory. How long stretches are is the device's choice: one iteration where threads run in
//! step, all that a thread has of a row on a processor (the text that kernels begin with says so).

use ir::construct::Leaf;
use ir::program::{ExprId, ExprKind, RegionId, VarId};
use ir::region::Sharing;
use ir::walk::Part;

use super::deal::{counters, product};
use super::{Code, Maker, Nest, User};
use crate::c::Out;

impl Maker<'_, '_> {
    /// Puts a nest so; `who` of `of` takes it. Answers whether it has the form.
    pub(super) fn put_stretches(
        &self,
        nest: &Nest,
        (who, of): (&str, &str),
        last: &[String],
        out: &mut Out<'_>,
    ) -> bool {
        let Some((along, outer)) = nest.loops.split_last() else { return false };
        let (Some(user), [before]) = (&along.user, along.before.as_slice()) else { return false };
        if nest.loops.iter().any(|it| it.check.is_some() || it.user.is_none()) {
            return false;
        }
        let [all, at, end, run] = ["all", "at", "end", "run"].map(|it| self.name(it));
        let [base, off, start, row] = ["base", "off", "start", "row"].map(|it| self.name(it));
        out.line(&format!("const unsigned long {all} = {};", product(&nest.loops)));
        out.line(&format!("const unsigned long {end} = __ferry_end({who}, {of}, {all});"));
        out.line(&format!(
            "for (unsigned long {at} = __ferry_begin({who}, {of}, {all}), {run}; {at} < {end}; {at} += {run})"
        ));
        let ty = self.lowering.program.vars[user.var].ty.plain();
        let value = user.value(self.outside, &along.counter);
        let from_start = User { first: start.clone(), ..user.clone() };
        out.line("{");
        out.indented(|out| {
            let length = &along.end;
            match outer.is_empty() {
                true => out.line(&format!("const unsigned long {base} = {at};")),
                false => {
                    out.line(&format!(
                        "const unsigned long {row} = __ferry_quotient({at}, {length});"
                    ));
                    out.line(&format!(
                        "const unsigned long {base} = __ferry_rest({at}, {length});"
                    ));
                }
            }
            out.line(&format!(
                "{run} = __ferry_run({of}, {end} - {at}, {length} - {base}, {});",
                user.step
            ));
            counters(outer, &row).iter().for_each(|it| out.line(it));
            outer.iter().flat_map(|it| &it.before).for_each(|it| out.line(it));
            let first = user.value(self.outside, &base);
            out.line(&format!("const {} = {first};", self.outside.declare(ty, &start)));
            let free = if self.is_free(&nest.body) { "_free" } else { "" };
            out.line(&format!("__ferry_along{free}({off}, {run})"));
            out.line("{");
            out.indented(|out| {
                out.line(&format!("const unsigned long {} = {base} + {off};", along.counter));
                out.line(&before.replacen(&value, &from_start.value(self.outside, &off), 1));
                self.put_dealt(nest, last, out);
            });
            out.line("}");
        });
        out.line("}");
        true
    }

    /// Whether iterations meet nowhere, so that several may be computed at once: that they may run side by
    /// side is known; memory that they would then share are copies that a thread has but one of.
    fn is_free(&self, body: &Code) -> bool {
        let program = self.lowering.program;
        let Code::Stmt(body) = body else { return false };
        let is_scalar = |var: VarId| program.types.is_scalar(program.vars[var].ty);
        let region = &program.regions[self.region];
        let has_copy = |sharing: &Sharing| match sharing {
            Sharing::Shared | Sharing::ThreadPrivate => false,
            Sharing::Private
            | Sharing::FirstPrivate
            | Sharing::LastPrivate
            | Sharing::FirstLastPrivate
            | Sharing::Reduction(_)
            | Sharing::Linear => true,
        };
        let copies = region
            .vars
            .iter()
            .filter(|it| it.sharing.as_ref().is_some_and(|it| has_copy(&it.value)));
        let mut own: Vec<VarId> = copies.map(|it| it.var).collect();
        let mut lent: Vec<VarId> = Vec::new();
        let mut open = vec![Part::Stmt(*body)];
        while let Some(part) = open.pop() {
            match part {
                Part::Local(var) => own.push(var),
                Part::Region(id) if !self.is_plain_region(id) => return false,
                Part::Expr(e) if !self.is_plain(e) => return false,
                Part::Expr(e) => {
                    if let ExprKind::AddrOf(of) = program.exprs[e].kind
                        && let ExprKind::Var(var) = program.exprs[of].kind
                    {
                        lent.push(var);
                    }
                }
                _ => {}
            }
            program.parts(part, &mut |it| open.push(it));
        }
        own.iter().all(|it| is_scalar(*it) && !lent.contains(it))
    }

    fn is_plain_region(&self, id: RegionId) -> bool {
        let leaves = &self.lowering.program.regions[id].construct.leaves;
        leaves.iter().all(|it| *it == Leaf::Simd)
    }

    fn is_plain(&self, e: ExprId) -> bool {
        match &self.lowering.program.exprs[e].kind {
            ExprKind::Call(callee, _) => self.lowering.is_mathematical(*callee),
            ExprKind::StmtExpr(_) | ExprKind::VaArg(_) | ExprKind::CompoundLiteral(_) => false,
            _ => true,
        }
    }
}
