//! What the user has written, as a shape.

use super::Shape;
use crate::marks::LoopTree;

/// The shape that directives give to a nest; none if they leave the levels open.
pub(super) fn shape(tree: &LoopTree, root: usize) -> Option<Shape> {
    let mut shape = Shape::default();
    let mut is_named = false;
    let nest = tree.nest(root);
    let has = |pick: fn(crate::marks::Levels) -> bool| {
        nest.iter().any(|it| tree.loop_at(*it).is_some_and(|it| pick(it.said.levels)))
    };
    let (has_teams, has_threads) = (has(|it| it.teams), has(|it| it.threads));
    for &at in &nest {
        let Some(mark) = tree.loop_at(at) else { continue };
        let levels = mark.said.levels;
        is_named |= !levels.is_none();
        // Lanes are the threads where nobody names those.
        let is_thread = levels.threads || levels.lanes && !has_threads && has_teams;
        if levels.teams || !has_teams && is_thread {
            shape.outer.push(at);
        } else if is_thread {
            shape.split.push(at);
        }
        if levels.lanes {
            shape.lanes.push(at);
        }
    }
    is_named.then_some(shape)
}
