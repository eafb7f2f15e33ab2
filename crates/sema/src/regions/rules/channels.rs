//! Channels between regions: one region writes, a later one reads, and both are inside of what declares the channel.

use ir::construct::{Channel, ClauseKind, Construct};
use ir::program::{ExprId, ExprKind, Program, RegionId, Typed, VarId};
use ir::region::Region;
use source::{Diagnostics, Span};

use crate::regions::messages::channels as messages;

/// A clause about a channel.
struct End {
    var: VarId,
    channel: Channel,
    span: Span,
}

pub(super) fn check(program: &Program, faults: &mut Diagnostics) {
    for (id, region) in program.regions.iter() {
        for end in ends(program, &region.construct) {
            match end.channel {
                Channel::Own => both_ends(program, &end, |it| is_inside(program, it, id), faults),
                Channel::In | Channel::Out => one_end(program, region, &end, faults),
            }
        }
    }
    for declaration in &program.declarations {
        let is_inside = |it: RegionId| {
            declaration.within.is_none_or(|within| program.regions[it].function == within)
        };
        for end in ends(program, &declaration.construct) {
            both_ends(program, &end, is_inside, faults);
        }
    }
}

fn ends(program: &Program, construct: &Construct<Typed>) -> Vec<End> {
    let mut found = Vec::new();
    for clause in &construct.clauses {
        if let ClauseKind::Map(map) = &clause.kind
            && let Some(channel) = map.flags.channel
        {
            let end =
                |it: &ExprId| Some(End { var: named(program, *it)?, channel, span: clause.span });
            found.extend(map.items.iter().filter_map(end));
        }
    }
    found
}

/// The variable that an item of a list is, or is part of.
fn named(program: &Program, item: ExprId) -> Option<VarId> {
    match &program.exprs[item].kind {
        ExprKind::Var(var) => Some(*var),
        ExprKind::Section(section) => named(program, section.base),
        ExprKind::Index(inner, _) | ExprKind::Cast(_, inner) => named(program, *inner),
        _ => None,
    }
}

fn is_inside(program: &Program, id: RegionId, outer: RegionId) -> bool {
    let mut at = program.regions[id].parent;
    while let Some(region) = at {
        if region == outer {
            return true;
        }
        at = program.regions[region].parent;
    }
    false
}

/// A region at one end: there is a channel, and the region goes only one way.
fn one_end(program: &Program, region: &Region, end: &End, faults: &mut Diagnostics) {
    let declares = |construct: &Construct<Typed>| {
        ends(program, construct).iter().any(|it| it.channel == Channel::Own && it.var == end.var)
    };
    let mut around = region.parent;
    let mut is_declared = program.declarations.iter().any(|it| declares(&it.construct));
    while let Some(outer) = around {
        is_declared |= declares(&program.regions[outer].construct);
        around = program.regions[outer].parent;
    }
    let name = program.vars[end.var].name.map_or("", |it| program.names.text(it));
    if !is_declared {
        faults.push(messages::undeclared(name, end.span));
    }
    let Some(used) = region.vars.iter().find(|it| it.var == end.var) else { return };
    let is_array = program.types.is_array(program.vars[end.var].ty);
    let (read, written) = match is_array {
        true => (used.read, used.written),
        false => (used.pointee.read, used.pointee.written),
    };
    match end.channel {
        Channel::In if written => faults.push(messages::wrong_way(name, true, end.span)),
        Channel::Out if read => faults.push(messages::wrong_way(name, false, end.span)),
        Channel::In | Channel::Out | Channel::Own => {}
    }
}

/// A channel has one region that writes, and later one that reads.
fn both_ends(
    program: &Program,
    channel: &End,
    is_inside: impl Fn(RegionId) -> bool,
    faults: &mut Diagnostics,
) {
    let (mut readers, mut writers) = (Vec::new(), Vec::new());
    for (_, region) in program.regions.iter().filter(|it| is_inside(it.0)) {
        for end in ends(program, &region.construct).iter().filter(|it| it.var == channel.var) {
            match end.channel {
                Channel::In => readers.push(end.span),
                Channel::Out => writers.push(end.span),
                Channel::Own => {}
            }
        }
    }
    let why = match (writers.as_slice(), readers.as_slice()) {
        ([], _) => "nobody writes it",
        (_, []) => "nobody reads it",
        ([writer], [reader]) if writer.start < reader.start => return,
        ([_], [_]) => "it is read before it is written",
        ([_, _, ..], _) => "several regions write it",
        (_, [_, _, ..]) => "several regions read it",
    };
    let name = program.vars[channel.var].name.map_or("", |it| program.names.text(it));
    faults.push(messages::ends(name, why, channel.span));
}
