//! `units`: rows of a nest run side by side, in copies of the whole pipeline.
//!
//! In: nests of at least two loops whose iterations do not meet by the word of directives, and how many units the device is to
//! have. Out: the outermost loop counts groups of rows, and the innermost does what all rows of a group do there. What
//! `lanes` says of groups holds here too. Units may then have lanes.

use super::lanes::{Along, side_by_side};
use super::{Cx, Result};

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let units = cx.fabric.units;
    side_by_side(cx, units, Along::Outermost);
    Ok(())
}
