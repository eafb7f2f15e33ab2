//! Code that uses elements of an array of which a clause makes copies, and none of these: where they lie nobody says.

use ir::program::{ExprId, ExprKind, Program, RegionId, VarId};
use ir::walk::Part;
use source::Diagnostics;

use crate::regions::{constant, items, messages};

/// A part of an array, with as many dimensions as are constants.
struct Copied {
    var: VarId,
    /// First element and the one behind the last, by dimension.
    dims: Vec<Option<(i128, i128)>>,
    item: ExprId,
}

pub(super) fn check(program: &Program, id: RegionId, faults: &mut Diagnostics) {
    let region = &program.regions[id];
    let Some(body) = region.body else { return };
    for item in items::all(&region.construct).filter(|it| it.role.makes_copy()) {
        let Some(copied) = copied(program, item.expr) else { continue };
        let mut open = vec![Part::Stmt(body)];
        while let Some(part) = open.pop() {
            if let Part::Region(inner) = part
                && copies(program, inner, copied.var)
            {
                continue;
            }
            if let Part::Expr(expr) = part
                && let Some(index) = outside(program, expr, &copied)
            {
                let (used, item) = (&program.exprs[expr], &program.exprs[copied.item]);
                faults.push(messages::outside_of_copy(used.span, index, item.span));
            }
            program.parts(part, &mut |it| open.push(it));
        }
    }
}

/// Whether a construct has copies of its own of a variable.
fn copies(program: &Program, id: RegionId, var: VarId) -> bool {
    let mut all = items::all(&program.regions[id].construct).filter(|it| it.role.makes_copy());
    all.any(|it| items::base(program, it.expr) == Some(var))
}

fn copied(program: &Program, item: ExprId) -> Option<Copied> {
    let mut dims = Vec::new();
    let mut at = item;
    loop {
        at = match &program.exprs[at].kind {
            ExprKind::Section(it) => {
                let lower = it.lower.map_or(Some(0), |it| constant::int(program, it));
                let length = it.length.and_then(|it| constant::int(program, it));
                let range = || Some((lower?, lower?.checked_add(length?)?));
                dims.push(range().filter(|_| it.stride.is_none()));
                it.base
            }
            ExprKind::Index(base, index) => {
                let index = constant::int(program, *index);
                dims.push(index.and_then(|it| Some((it, it.checked_add(1)?))));
                *base
            }
            ExprKind::Cast(_, inner) => *inner,
            ExprKind::Var(var) => {
                dims.reverse();
                let var = *var;
                return dims.iter().any(Option::is_some).then_some(Copied { var, dims, item });
            }
            _ => return None,
        };
    }
}

/// The subscript of an element that certainly is in no copy.
fn outside(program: &Program, expr: ExprId, copied: &Copied) -> Option<i128> {
    let ExprKind::Index(base, index) = &program.exprs[expr].kind else { return None };
    let index = constant::int(program, *index)?;
    let (mut at, mut depth) = (*base, 0);
    loop {
        at = match &program.exprs[at].kind {
            ExprKind::Index(base, _) => {
                depth += 1;
                *base
            }
            ExprKind::Cast(_, inner) => *inner,
            ExprKind::Var(var) if *var == copied.var => break,
            _ => return None,
        };
    }
    let (first, end) = (*copied.dims.get(depth)?)?;
    (index < first || index >= end).then_some(index)
}
