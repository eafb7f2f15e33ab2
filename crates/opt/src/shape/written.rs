//! What the user has written, as a shape.

use super::Shape;
use super::cost::Model;
use crate::profile::Kind;

/// The shape that directives give to a nest; none if they leave the levels open.
pub(super) fn shape(model: &Model<'_>, root: usize) -> Option<Shape> {
    let tree = model.tree;
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
        // Lanes are the threads where nobody names those, unless teams are.
        let teams_are = model.terms.teams_are_threads && model.profile.kind == Kind::Cores;
        let lanes_are = !has_threads && has_teams && !teams_are;
        let is_thread = levels.threads || levels.lanes && lanes_are;
        if levels.whole {
            shape.whole.push(at);
        } else if levels.teams || !has_teams && is_thread {
            shape.outer.push(at);
        } else if is_thread {
            shape.split.push(at);
        }
        if levels.lanes {
            shape.lanes.push(at);
        }
    }
    // Whoever runs a loop whole without sharing one inside does nothing else by it.
    if shape.outer.is_empty() {
        shape.whole.clear();
    }
    is_named.then_some(shape)
}
