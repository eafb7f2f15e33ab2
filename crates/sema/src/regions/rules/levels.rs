//! Levels of parallelism: wider ones outside, each once; functions stay within theirs.

use ir::construct::{Clause, ClauseKind, Construct, GangArg, Leaf};
use ir::program::{Level, Program, Typed};
use ir::region::Region;
use source::{Diagnostics, Span};

use crate::regions::uses::Uses;
use crate::regions::{ancestors, messages};

/// A level that a clause names.
#[derive(Clone, Copy)]
struct Dealt {
    level: Level,
    /// A dimension is named: several loops may be dealt to teams, one per dimension.
    has_dim: bool,
    span: Span,
}

fn dealt(construct: &Construct<Typed>) -> Vec<Dealt> {
    let clauses = construct.clauses.iter().filter(|it| it.group.is_none());
    let levels = clauses.filter_map(|it| {
        let (level, has_dim) = match &it.kind {
            ClauseKind::Gang(args) => {
                (Level::Team, args.iter().any(|it| matches!(it, GangArg::Dim(_))))
            }
            ClauseKind::Worker(_) => (Level::Thread, false),
            ClauseKind::Vector(_) => (Level::Lane, false),
            _ => return None,
        };
        Some(Dealt { level, has_dim, span: it.span })
    });
    levels.collect()
}

pub(super) fn check(program: &Program, uses: &Uses, faults: &mut Diagnostics) {
    for (id, region) in program.regions.iter() {
        if !region.construct.has(Leaf::Loop) {
            continue;
        }
        let own = dealt(&region.construct);
        if own.is_empty() {
            continue;
        }
        nested(program, region, &own, faults);
        routine(program, region, &own, faults);
        sizes(program, region, faults);
        for &(callee, call) in &uses.region(id).calls {
            let Some(level) = program.functions[callee].device.level else { continue };
            let clash = own.iter().find(|it| level != Level::Seq && it.level >= level);
            if let Some(it) = clash {
                let fault = messages::call_inside_level(program, callee, call, (it.level, it.span));
                faults.push(fault);
            }
        }
    }
    for &(callee, call) in &uses.host_calls_of_device_functions {
        faults.push(messages::no_host_version(program, callee, call));
    }
}

/// Loops around must be dealt to wider levels.
fn nested(program: &Program, region: &Region, own: &[Dealt], faults: &mut Diagnostics) {
    let begins = |it: &Region| it.construct.has(Leaf::Offload) || it.construct.has(Leaf::Kernels);
    if begins(region) {
        return;
    }
    let around = || ancestors(program, region.parent).map(|it| &program.regions[it]);
    // There the compiler deals loops out as it sees fit anyway.
    let is_hint = around().find(|it| begins(it)).is_some_and(|it| it.construct.has(Leaf::Kernels));
    for outer in around() {
        if outer.construct.has(Leaf::Loop) {
            for outer_level in dealt(&outer.construct) {
                let clash = own.iter().find(|it| {
                    it.level <= outer_level.level
                        && !(it.level == outer_level.level && (it.has_dim || outer_level.has_dim))
                });
                if let Some(it) = clash {
                    if is_hint && it.level == outer_level.level {
                        faults.push(messages::level_again(it.level, it.span, outer_level.span));
                        return;
                    }
                    faults.push(messages::level_inside(
                        (region, it.level, it.span),
                        (outer, outer_level.level, outer_level.span),
                    ));
                    return;
                }
            }
        }
        if begins(outer) {
            return;
        }
    }
}

/// A loop of a routine may not use more than the routine was declared for.
fn routine(program: &Program, region: &Region, own: &[Dealt], faults: &mut Diagnostics) {
    let runs = |it: &Region| it.construct.has(Leaf::Offload) || it.construct.has(Leaf::Kernels);
    if runs(region) || ancestors(program, region.parent).any(|it| runs(&program.regions[it])) {
        return;
    }
    let Some(allowed) = program.functions[region.function].device.level else { return };
    if let Some(it) = own.iter().find(|it| it.level < allowed) {
        let own = (it.level, it.span);
        faults.push(messages::level_of_routine(program, region.function, own, allowed));
    }
    let is_reduction = |it: &&Clause<Typed>| matches!(it.kind, ClauseKind::Reduction(_));
    let teams = own.iter().find(|it| it.level == Level::Team);
    if let (Some(teams), Some(clause)) = (teams, region.construct.clauses.iter().find(is_reduction))
    {
        faults.push(messages::reduction_of_routine(program, region, clause.span, teams.span));
    }
}

/// Where the region says how many there are, its loops do not.
fn sizes(program: &Program, region: &Region, faults: &mut Diagnostics) {
    let runs = |it: &&Region| it.construct.has(Leaf::Offload) || it.construct.has(Leaf::Kernels);
    let around = ancestors(program, region.parent).map(|it| &program.regions[it]);
    let Some(outer) = std::iter::once(region).chain(around).find(runs) else { return };
    if outer.construct.has(Leaf::Kernels) {
        return;
    }
    for clause in &region.construct.clauses {
        let says_how_many = match &clause.kind {
            ClauseKind::Gang(args) => args.iter().any(|it| matches!(it, GangArg::Num(..))),
            ClauseKind::Worker(args) | ClauseKind::Vector(args) => args.is_some(),
            _ => false,
        };
        if says_how_many {
            faults.push(messages::size_of_level(&region.construct, outer, clause));
        }
    }
}
