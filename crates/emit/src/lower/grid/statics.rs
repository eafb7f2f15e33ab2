//! Variables of functions that outlive their calls.
//!
//! OpenCL C has none, and a kernel's own are not a thread's. In: a program. Out: the same, in which those that device
//! code declares are variables of the file, under names of their own. Those that a region gets from the host stay.

use ir::construct::Leaf;
use ir::program::{DeviceVar, Item, Program, StmtId, StmtKind, VarId, VarStorage};
use rustc_hash::FxHashSet;

/// Moves them; none if there are none.
pub(in crate::lower) fn moved_out(program: &Program) -> Option<Program> {
    let regions = program.regions.iter().map(|it| it.1);
    let leaving = regions.filter(|it| it.construct.has(Leaf::Offload));
    let captured: FxHashSet<VarId> = leaving
        .flat_map(|it| &it.vars)
        .filter(|it| !it.mappings.is_empty())
        .map(|it| it.var)
        .collect();
    let is_moved = |var: &VarId| {
        let it = &program.vars[*var];
        matches!(it.storage, VarStorage::LocalStatic(_))
            && program.types.lengths(it.ty).is_empty()
            && !captured.contains(var)
    };
    let found: Vec<(StmtId, VarId)> = program
        .stmts
        .iter()
        .filter_map(|(id, it)| match it.kind {
            StmtKind::Local(var) if is_moved(&var) => Some((id, var)),
            _ => None,
        })
        .collect();
    if found.is_empty() {
        return None;
    }
    let mut moved = program.clone();
    for (number, (stmt, var)) in found.into_iter().enumerate() {
        let name = moved.vars[var].name.map_or("", |it| moved.names.text(it)).to_owned();
        let name = moved.names.intern(&format!("__ferry_static{number}_{name}"));
        moved.stmts[stmt].kind = StmtKind::Empty;
        let it = &mut moved.vars[var];
        (it.name, it.storage, it.device) = (Some(name), VarStorage::Static, Some(DeviceVar::Enter));
        moved.items.push(Item::Var(var));
    }
    Some(moved)
}
