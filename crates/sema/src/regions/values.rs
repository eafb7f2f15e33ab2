//! Scalars that a region only reads, and that would be mapped: a copy of the value is the same.
//!
//! OpenACC's `kernels` maps scalars that no clause names, both ways, unless they are on the device already. A variable
//! of the function whose address nobody takes and that no directive names is never there, and what is not written needs no way
//! back: the region gets its value, as that of `parallel` does.

use ir::construct::{Motion, Presence};
use ir::program::{ExprKind, Program, RegionId, VarId, VarStorage};
use ir::region::{Attribute, Mapping, Origin, RegionVar, Rule};
use rustc_hash::FxHashSet;

/// Gives regions the values of such variables.
pub(super) fn apply(program: &mut Program) {
    let regions = program.regions.iter();
    let candidates: Vec<(RegionId, VarId)> = regions
        .flat_map(|(id, region)| region.vars.iter().map(move |it| (id, it)))
        .filter(|(_, it)| is_read_by_rule(it) && is_plain(program, it.var))
        .map(|(id, it)| (id, it.var))
        .collect();
    if candidates.is_empty() {
        return;
    }
    let seen = seen_elsewhere(program);
    for (id, var) in candidates.into_iter().filter(|it| !seen.contains(&it.1)) {
        let vars = &mut program.regions[id].vars;
        let origin = Origin::Rule(Rule::ScalarRead);
        for it in vars.iter_mut().filter(|it| it.var == var) {
            it.mappings = vec![Attribute { value: Mapping::FirstPrivate, origin }];
        }
    }
}

/// Whether a region maps a variable because it is a scalar, and does not change it.
fn is_read_by_rule(it: &RegionVar) -> bool {
    let [Attribute { value: Mapping::Map(Motion::ToFrom, Presence::Any, None), origin }] =
        it.mappings.as_slice()
    else {
        return false;
    };
    *origin == Origin::Rule(Rule::ScalarDefault) && !it.written
}

/// Whether only its function can name a variable, and nobody else changes it.
fn is_plain(program: &Program, var: VarId) -> bool {
    let var = &program.vars[var];
    matches!(var.storage, VarStorage::Param(_) | VarStorage::Local(_)) && !var.ty.quals.is_volatile
}

/// Variables whose address is taken, or that a clause or a declaration brings to devices.
fn seen_elsewhere(program: &Program) -> FxHashSet<VarId> {
    let addressed = program.exprs.iter().filter_map(|(_, it)| match it.kind {
        ExprKind::AddrOf(of) => match program.exprs[of].kind {
            ExprKind::Var(var) => Some(var),
            _ => None,
        },
        _ => None,
    });
    let is_named = |it: &&RegionVar| {
        it.mappings.iter().any(|it| {
            matches!(it.value, Mapping::Map(..) | Mapping::DeviceAddress)
                && !matches!(it.origin, Origin::Rule(_))
        })
    };
    let named = program.regions.iter().flat_map(|it| it.1.vars.iter().filter(is_named));
    addressed.chain(named.map(|it| it.var)).collect()
}
