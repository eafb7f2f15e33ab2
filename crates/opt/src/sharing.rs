//! Who shares the iterations of a loop, and what each of them has for itself, as directives say.

use std::collections::BTreeSet;

use ir::construct::{ClauseKind, Construct, Leaf, ReductionOp};
use ir::program::{ExprId, ExprKind, Program, RegionId, Typed, VarId};

use crate::access::Base;

/// The construct that starts those who share the iterations of a loop: its own, or one around it.
pub(crate) fn crew(program: &Program, id: RegionId) -> Option<RegionId> {
    let construct = &program.regions[id].construct;
    let starts = |it: &Construct<Typed>| {
        let for_loop = construct.has(Leaf::Loop);
        let is_lanes = !for_loop && !construct.has(Leaf::For) && !construct.has(Leaf::Distribute);
        let threads = construct.has(Leaf::For) || for_loop;
        let teams = construct.has(Leaf::Distribute) || for_loop;
        is_lanes && construct.has(Leaf::Simd)
            || threads && it.has(Leaf::Parallel)
            || teams && it.has(Leaf::Teams)
    };
    program.around(id).find(|it| starts(&program.regions[*it].construct))
}

/// What the directive of the loop says of variables.
#[derive(Default)]
pub(crate) struct Marked {
    pub(crate) private: BTreeSet<Base>,
    /// What pointers lead to of which each thread has a copy that begins with its values.
    pub(crate) filled: BTreeSet<VarId>,
    pub(crate) reductions: Vec<(VarId, ReductionOp<Typed>)>,
    /// Objects of which parts are combined: each thread has a copy of them.
    pub(crate) combined: BTreeSet<Base>,
}

impl Marked {
    pub(crate) fn new(program: &Program, governing: &[RegionId]) -> Marked {
        let mut marked = Marked::default();
        for region in governing.iter().map(|&it| &program.regions[it]) {
            marked.private.extend(private_items(program, &region.construct));
            for kind in region.construct.kinds() {
                if let ClauseKind::FirstPrivate { items, .. } = kind {
                    let objects = items.iter().filter_map(|&it| object(program, it));
                    marked.filled.extend(objects.filter_map(|it| {
                        if let Base::Pointee(var) = it { Some(var) } else { None }
                    }));
                }
                if let ClauseKind::Reduction(it) = kind {
                    let vars = it.items.iter().filter_map(|&it| item_var(program, it));
                    marked.reductions.extend(vars.map(|var| (var, it.op.clone())));
                    let parts = it.items.iter().filter(|&&it| is_part(program, it));
                    marked.combined.extend(parts.filter_map(|&it| object(program, it)));
                }
            }
        }
        marked
    }
}

/// What a construct makes private without a first or last value.
pub(crate) fn private_items(program: &Program, construct: &Construct<Typed>) -> Vec<Base> {
    let mut found = Vec::new();
    for kind in construct.kinds() {
        if let ClauseKind::Private(items) = kind {
            found.extend(items.iter().filter_map(|&it| object(program, it)));
        }
    }
    found
}

/// The object of which an item names all or a part.
fn object(program: &Program, item: ExprId) -> Option<Base> {
    let var = variable(program, item)?;
    let is_pointer = program.types.is_pointer(program.vars[var].ty);
    Some(if is_part(program, item) && is_pointer { Base::Pointee(var) } else { Base::Var(var) })
}

fn is_part(program: &Program, item: ExprId) -> bool {
    matches!(program.exprs[item].kind, ExprKind::Section(_))
}

fn item_var(program: &Program, item: ExprId) -> Option<VarId> {
    if let ExprKind::Var(var) = program.exprs[item].kind { Some(var) } else { None }
}

/// The variable of which an item names all or a part.
pub(crate) fn variable(program: &Program, item: ExprId) -> Option<VarId> {
    let mut at = item;
    loop {
        if let ExprKind::Var(var) = program.exprs[at].kind {
            return Some(var);
        } else if let ExprKind::Section(section) = &program.exprs[at].kind {
            at = section.base;
        } else {
            return None;
        }
    }
}
