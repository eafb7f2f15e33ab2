//! `deepen`: a loop that is all of an iteration is shared too, where its rounds are proven independent.
//!
//! In: a shared loop whose iterations are each one loop, which the caller knows to be independent ([`super::Cores`]). Out:
//! both as dimensions of one shared loop, for passes that cut blocks of them.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{ExprId, Program, RegionId, StmtId, StmtKind as C, VarId};
use kernel::copy::Copier;
use kernel::{Block, Space, Stmt, StmtKind};
use rustc_hash::FxHashSet;
use source::Span;

use super::blocks::whole_code;
use super::nest::{counted, is_known, listed, mentions, replace_share};
use super::{Cx, Result};
use crate::dependence::Analysis;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    replace_share(cx, &mut |cx, share, _, span| {
        let Some(mut code) = whole_code(cx, share) else { return Ok(None) };
        let (mut share, mut out) = (share.clone(), Block::new());
        while let Some(only) = only_loop(cx.program, code)
            && let C::For(one) = cx.program.stmts[only].kind.clone()
            && cx.independent.contains(&cx.program.stmts[only].span)
            && let Some(mut dim) = counted(cx.program, &one)
            && let outer = share.dims.iter().map(|it| it.var).collect::<Vec<VarId>>()
            && let bounds = [dim.begin, dim.bound]
            && bounds.iter().all(|it| is_known(cx.program, cx.kernel, *it, &outer))
        {
            let follows = |it: &ExprId| mentions(cx.program, *it, |it| outer.contains(&it));
            dim.rectangular = !bounds.iter().any(follows);
            let ty = cx.program.vars[dim.var].ty.plain();
            let name = cx.build(span).name_of(dim.var);
            let name = name.rsplit('_').next().unwrap_or_default().to_owned();
            let var: VarId = cx.fresh(&name, ty, Space::Private, span, &mut out);
            let vars = [(dim.var, var)].into_iter().collect();
            code = Copier { vars, ..Copier::new(cx.program) }.stmt(one.body);
            dim.var = var;
            share.dims.push(dim);
        }
        if out.is_empty() {
            return Ok(None);
        }
        share.body = vec![Stmt::new(StmtKind::Code(code), span)];
        out.push(Stmt::new(StmtKind::Share(Box::new(share)), span));
        Ok(Some(out))
    })
}

/// The loop that code is, if it is one; nobody but lanes shares it.
fn only_loop(program: &Program, code: StmtId) -> Option<StmtId> {
    let mut code = code;
    loop {
        let list = listed(program, code);
        let [only] = list.as_slice() else { return None };
        let C::Region(id) = program.stmts[*only].kind else { return Some(*only) };
        let construct = &program.regions[id].construct;
        let is_free = construct.leaves.iter().all(|it| *it == Leaf::Simd);
        let owns = construct.kinds().any(|it| !matches!(it, ClauseKind::Collapse { .. }));
        code = program.regions[id].body.filter(|_| is_free && !owns)?;
    }
}

/// Where loops stand that are all of what a shared loop does, and whose rounds are independent. Which loops are shared
/// `program` says, which may be another one by now than was written.
pub fn independent(
    written: &Program,
    program: &Program,
    regions: &[RegionId],
    options: &crate::marks::Options,
) -> FxHashSet<Span> {
    let inside = regions.iter().flat_map(|it| std::iter::once(*it).chain(program.inside(*it)));
    let shared = inside.flat_map(|it| program.regions[it].loops.iter().map(|it| it.stmt));
    let shared: FxHashSet<Span> = shared.map(|it| program.stmts[it].span).collect();
    let is_shared = |it: &StmtId| {
        matches!(written.stmts[*it].kind, C::For(_)) && shared.contains(&written.stmts[*it].span)
    };
    // The directive's own are independent too, and others may have been given to other loops since.
    let mut bodies: Vec<StmtId> = written.stmts.iter().map(|it| it.0).filter(is_shared).collect();
    let program = written;
    let (mut analysis, mut found) = (None, FxHashSet::default());
    while let Some(body) = bodies.pop() {
        match &program.stmts[body].kind {
            C::Block(list) => bodies.extend(list.first().filter(|_| list.len() == 1)),
            C::Region(id) => bodies.extend(program.regions[*id].body),
            C::For(one) => {
                let analysis = analysis.get_or_insert_with(|| Analysis::new(program));
                if analysis.is_independent(body, options) {
                    found.insert(program.stmts[body].span);
                    bodies.push(one.body);
                }
            }
            _ => {}
        }
    }
    found
}
