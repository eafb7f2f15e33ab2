//! What functions call, and what each region reaches through them.

use ir::program::{FunctionId, Program, RegionId};
use rustc_hash::FxHashSet;

use super::uses::Uses;

/// Fills the calls of functions and what regions reach.
pub(super) fn fill(program: &mut Program, uses: &Uses) {
    let functions: Vec<FunctionId> = program.functions.iter().map(|it| it.0).collect();
    for id in functions {
        if let Some(calls) = uses.calls.get(id.index()) {
            program.functions[id].calls = calls.iter().map(|it| it.0).collect();
        }
        if let Some(calls) = uses.indirect_calls.get(id.index()) {
            program.functions[id].indirect_calls.clone_from(calls);
        }
    }
    let regions: Vec<RegionId> = program.regions.iter().map(|it| it.0).collect();
    for id in regions {
        let used = uses.region(id);
        let mut reached: Vec<FunctionId> = used.calls.iter().map(|it| it.0).collect();
        let mut known: FxHashSet<FunctionId> = reached.iter().copied().collect();
        let mut indirect = used.indirect_calls.clone();
        let mut at = 0;
        while let Some(&function) = reached.get(at) {
            at += 1;
            let function = &program.functions[function];
            reached.extend(function.calls.iter().filter(|it| known.insert(**it)));
            indirect.extend(&function.indirect_calls);
        }
        let region = &mut program.regions[id];
        (region.reaches, region.indirect_calls) = (reached, indirect);
    }
}
