//! Rules of use: where directives may stand and what their clauses may say.
//!
//! One file per family. Each reads the filled program and reports; none changes it. A rule is here
//! only if breaking it is certainly a fault: what depends on run time or on code that is not seen
//! is left alone.

mod atomics;
mod channels;
mod conflicts;
mod declared;
mod levels;
mod lists;
mod nesting;
mod numbers;
mod parts;
mod reductions;
mod stops;

use ir::program::Program;
use source::Diagnostics;

use super::uses::Uses;

/// Checks all rules.
pub(super) fn check(program: &Program, uses: &Uses, faults: &mut Diagnostics) {
    for (id, region) in program.regions.iter() {
        let construct = &region.construct;
        lists::check(program, construct, faults);
        lists::last_values(program, region, faults);
        numbers::check(program, construct, faults);
        conflicts::check(program, construct, faults);
        reductions::types(program, construct, faults);
        reductions::meeting(program, uses, id, faults);
        atomics::check(program, region, faults);
        parts::check(program, id, faults);
        stops::check(program, construct, faults);
    }
    for declaration in &program.declarations {
        lists::check(program, &declaration.construct, faults);
        numbers::check(program, &declaration.construct, faults);
        stops::check(program, &declaration.construct, faults);
    }
    channels::check(program, faults);
    nesting::check(program, faults);
    levels::check(program, uses, faults);
    declared::check(program, uses, faults);
}
