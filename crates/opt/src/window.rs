//! Which elements of arrays a part of a loop touches, as sums over where that part begins and ends.
//!
//! In: a region whose outermost loop runs from one variable to another, both as they are at the entry. Out: a
//! [`Window`] for each array, or pointer to data, whose elements follow those two. Of what is written, parts of
//! the loop that lie side by side have windows that do not meet.

use ir::program::{Program, RegionId, VarId};

use crate::access::{Base, Touch};
use crate::dependence::Analysis;
use crate::extent::{Extent, Part, extent, target};
use crate::sum::Sum;

/// What a part of a loop touches of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The array, or the pointer.
    pub var: VarId,
    /// The first element.
    pub low: Sum,
    /// Behind the last.
    pub high: Sum,
    /// What else must not be negative; does not depend on the part.
    pub guards: Vec<Sum>,
    /// Bytes of an element.
    pub size: u64,
    /// Whether some are written.
    pub is_written: bool,
}

impl Analysis<'_> {
    /// The windows of a region whose outermost loop runs from `begin` up to `bound`, step by step.
    pub fn windows(&self, region: RegionId, [begin, bound]: [VarId; 2]) -> Vec<Window> {
        let program = self.program;
        let Some(accesses) = self.accesses(region) else { return Vec::new() };
        let (scan, done) = accesses.as_ref();
        // What leads anywhere may lead to the data in question.
        let is_lost = |it: &Touch| matches!(it.place.base, Base::Unknown | Base::Held(_));
        if !done.obstacles.is_empty() || done.touches.iter().any(is_lost) {
            return Vec::new();
        }
        let window = |var: VarId| {
            let is_pointer = program.types.is_pointer(program.vars[var].ty);
            let base = if is_pointer { Base::Pointee(var) } else { Base::Var(var) };
            let touches: Vec<&Touch> =
                done.touches.iter().filter(|it| it.place.base == base).collect();
            let is_moved = is_pointer && scan.writes.contains_key(&var);
            if touches.is_empty() || is_moved || self.aliases.is_addressed(var) && is_pointer {
                return None;
            }
            let Extent::Known(parts) = extent(program, region, var, &touches) else { return None };
            let [part] = parts.as_slice() else { return None };
            let is_written = touches.iter().any(|it| it.writes);
            let size = program.model.size_of(&program.types, target(program, var)?).ok()?;
            of_part(part, [begin, bound], is_written).map(|(guards, low, high)| Window {
                var,
                low,
                high,
                guards,
                size,
                is_written,
            })
        };
        let vars = program.regions[region].vars.iter().map(|it| it.var);
        vars.filter(|it| is_of_elements(program, *it)).filter_map(window).collect()
    }
}

fn is_of_elements(program: &Program, var: VarId) -> bool {
    let ty = program.vars[var].ty;
    program.types.is_pointer(ty) || program.types.is_array(ty) && !program.types.is_vla(ty)
}

/// What must hold, and both ends; none if they do not follow the part of the loop, or if windows of parts side by side may meet
/// where they must not.
fn of_part(
    part: &Part,
    [begin, bound]: [VarId; 2],
    is_written: bool,
) -> Option<(Vec<Sum>, Sum, Sum)> {
    let mentions = |sum: &Sum, var: VarId| sum.terms.iter().any(|it| it.1.contains(&var));
    let follows = |sum: &Sum| mentions(sum, begin) || mentions(sum, bound);
    let mut guards = Vec::new();
    for guard in &part.guards {
        if !follows(guard) {
            guards.push(guard.clone());
            continue;
        }
        // That there are iterations is so for each part.
        let rest: Vec<_> = guard.terms.iter().filter(|it| !it.1.is_empty()).collect();
        let is_count = rest.len() == 2
            && rest.iter().any(|it| it.0 == 1 && it.1 == [bound])
            && rest.iter().any(|it| it.0 == -1 && it.1 == [begin]);
        if !is_count || guard.constant() < -1 {
            return None;
        }
    }
    let (low, high) = (&part.low, &part.high);
    if mentions(low, bound) || mentions(high, begin) || !follows(low) || !follows(high) {
        return None;
    }
    let at_begin = |sum: &Sum| {
        let terms = sum.terms.iter().map(|(factor, vars)| {
            let named = vars.iter().map(|it| if *it == bound { begin } else { *it });
            let mut vars: Vec<VarId> = named.collect();
            vars.sort_by_key(|it| it.index());
            (*factor, vars)
        });
        Sum { terms: terms.collect() }
    };
    let reach = at_begin(high).minus(&at_begin(low));
    let is_apart = reach.terms.iter().all(|it| it.1.is_empty()) && reach.constant() <= 0;
    (!is_written || is_apart).then(|| (guards, low.clone(), high.clone()))
}
