//! `deepen`: a loop that is all of an iteration is shared too, where its rounds are proven independent.
//!
//! In: a shared loop whose iterations are each one loop, which the caller knows to be independent ([`super::Cores`]). Out:
//! both as dimensions of one shared loop, for passes that cut blocks of them.

use ir::program::{StmtKind as C, VarId};
use kernel::copy::Copier;
use kernel::{Block, Space, Stmt, StmtKind};

use super::blocks::whole_code;
use super::nest::{counted, is_known, listed, replace_share};
use super::{Cx, Result};

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    replace_share(cx, &mut |cx, share, _, span| {
        let Some(mut code) = whole_code(cx, share) else { return Ok(None) };
        let (mut share, mut out) = (share.clone(), Block::new());
        while let [only] = listed(cx.program, code).as_slice()
            && let C::For(one) = cx.program.stmts[*only].kind.clone()
            && cx.independent.contains(&cx.program.stmts[*only].span)
            && let Some(mut dim) = counted(cx.program, &one)
            && [dim.begin, dim.bound].iter().all(|it| is_known(cx.program, cx.kernel, *it, &[]))
        {
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
