//! What a region means: its loops, its variables and how they are shared, what it reaches.
//!
//! In: a program whose regions hold only their construct, body and place. Out: the same regions,
//! filled; declarations applied to the variables and functions they name; and what is wrong with
//! the use of directives. The order matters: clauses mean what shapes make of them, so shapes come
//! first; a loop variable is private, so loops come before uses; a task asks how a variable is shared around it, so outer regions come before inner ones.
//!
//! The rules of both standards are those of the construct model: where they differ, a field of the
//! construct says so. What cannot be decided is not reported.

mod calls;
mod constant;
mod declare;
mod items;
mod loops;
mod mapping;
mod messages;
mod pointees;
mod rules;
mod shapes;
mod sharing;
mod spelling;
mod uses;
mod values;
mod walk;

pub(crate) use messages::{is_thread_local, places};

use ir::program::{Program, RegionId, VarId, VarStorage};
use source::Diagnostics;

/// Fills all regions of `program`.
pub(crate) fn fill(program: &mut Program, faults: &mut Diagnostics) {
    declare::apply(program);
    shapes::apply(program, faults);
    let outer_first = outer_first(program);
    let inner_first: Vec<RegionId> = outer_first.iter().rev().copied().collect();
    loops::fill(program, &inner_first, faults);
    let mut uses = uses::collect(program);
    for &id in &outer_first {
        let vars = sharing::vars(program, &uses, id, faults);
        uses.index_vars(id, &vars);
        program.regions[id].vars = vars;
    }
    values::apply(program);
    calls::fill(program, &uses);
    rules::check(program, &uses, faults);
}

/// All regions, each after the one around it.
fn outer_first(program: &Program) -> Vec<RegionId> {
    let mut list: Vec<RegionId> = program.regions.iter().map(|it| it.0).collect();
    list.sort_by_cached_key(|&it| (ancestors(program, program.regions[it].parent).count(), it));
    list
}

/// The regions around, from the inside out, `first` among them.
fn ancestors(program: &Program, first: Option<RegionId>) -> impl Iterator<Item = RegionId> {
    std::iter::successors(first, |&it| program.regions[it].parent)
}

/// Whether there is one of it for the whole run.
pub(crate) fn has_static_storage(program: &Program, var: VarId) -> bool {
    match program.vars[var].storage {
        VarStorage::Global
        | VarStorage::Extern
        | VarStorage::Static
        | VarStorage::LocalStatic(_) => true,
        VarStorage::Param(_) | VarStorage::Local(_) => false,
    }
}
