//! Where the loops of a nest stand in the user's text, and what stands between them.

use ir::construct::Leaf;
use ir::program::{Program, RegionId, StmtId, StmtKind};

use super::transforms;

/// What stands where a loop is wanted.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) what: What,
    /// Statements before the loop, in the blocks around it.
    pub(super) pre: Vec<StmtId>,
    /// Statements behind it.
    pub(super) post: Vec<StmtId>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    For(StmtId),
    /// A transformation.
    Made(RegionId),
    Nothing(StmtId),
}

/// The loop that a statement is or holds.
pub(super) fn look(program: &Program, at: StmtId) -> Found {
    let mut found = Found { what: What::Nothing(at), pre: Vec::new(), post: Vec::new() };
    let mut at = at;
    loop {
        match &program.stmts[at].kind {
            StmtKind::For(_) => {
                found.what = What::For(at);
                return found;
            }
            StmtKind::Region(id) => {
                let inner = &program.regions[*id];
                if inner.construct.leaves.iter().any(|it| transforms(*it)) {
                    found.what = What::Made(*id);
                    return found;
                }
                match inner.body {
                    Some(body) if inner.construct.leaves.iter().all(|it| is_transparent(*it)) => {
                        at = body;
                    }
                    _ => return found,
                }
            }
            StmtKind::Block(list) => {
                let Some(place) = list.iter().position(|it| holds_loop(program, *it)) else {
                    return found;
                };
                let (before, rest) = list.split_at(place);
                let Some((inner, after)) = rest.split_first() else { return found };
                found.pre.extend(before);
                found.post.splice(0..0, after.iter().copied());
                at = *inner;
            }
            _ => return found,
        }
    }
}

/// Whether one of the first `count` loops is made by a transformation, or has others beside it.
pub(super) fn is_made(program: &Program, body: StmtId, count: usize) -> bool {
    let mut at = body;
    for level in 0..count {
        let found = look(program, at);
        if level > 0 && !(found.pre.is_empty() && found.post.is_empty()) {
            return true;
        }
        match found.what {
            What::Made(_) => return true,
            What::For(id) => match &program.stmts[id].kind {
                StmtKind::For(it) => at = it.body,
                _ => return false,
            },
            What::Nothing(_) => return false,
        }
    }
    false
}

fn holds_loop(program: &Program, stmt: StmtId) -> bool {
    match &program.stmts[stmt].kind {
        StmtKind::For(_) => true,
        StmtKind::Block(list) => list.iter().any(|it| holds_loop(program, *it)),
        StmtKind::Region(id) => {
            let region = &program.regions[*id];
            let leaves = &region.construct.leaves;
            leaves.iter().any(|it| transforms(*it))
                || (leaves.iter().all(|it| is_transparent(*it))
                    && region.body.is_some_and(|it| holds_loop(program, it)))
        }
        _ => false,
    }
}

/// Says something of what follows without changing what it is. What it says is lost in a nest that
/// is made anew, and says nothing of what the loops mean.
fn is_transparent(leaf: Leaf) -> bool {
    matches!(leaf, Leaf::Nothing | Leaf::Assume)
}
