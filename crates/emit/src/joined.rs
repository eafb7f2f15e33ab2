//! Which loops may combine values into which variables in any order, by directives as they were written.
//!
//! Levels and outlines take directives of loops away that one thread runs in order; what their `reduction` allows stays known.

use ir::construct::ClauseKind;
use ir::program::{ExprKind, Program, StmtKind};
use ir::walk::Part;
use kernel::Kernel;

/// Adds to kernels what the reductions of the written program allow.
pub(crate) fn keep(written: &Program, kernels: &mut [Kernel]) {
    let mut joined = Vec::new();
    for (_, region) in written.regions.iter() {
        let items = region.construct.kinds().filter_map(|it| match it {
            ClauseKind::Reduction(it) => Some(&it.items),
            _ => None,
        });
        let vars: Vec<_> = items
            .flatten()
            .filter_map(|it| match written.exprs[written.peeled(*it)].kind {
                ExprKind::Var(var) => Some(var),
                _ => None,
            })
            .collect();
        let Some(body) = region.body.filter(|_| !region.loops.is_empty() && !vars.is_empty())
        else {
            continue;
        };
        let mut open = vec![Part::Stmt(body)];
        while let Some(part) = open.pop() {
            if let Part::Stmt(stmt) = part
                && let StmtKind::For(_) = written.stmts[stmt].kind
            {
                let span = written.stmts[stmt].span;
                joined.extend(vars.iter().map(|it| (span, *it)));
            }
            written.parts(part, &mut |it| open.push(it));
        }
    }
    kernels.iter_mut().for_each(|it| it.launch.joined.extend(joined.iter().copied()));
}
