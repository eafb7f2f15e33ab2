//! What the items of clauses ask for.
//!
//! In: clauses, or the mappings that a region found for its variables. Out: one [`Wish`] per item: the
//! bytes it names and the map type it asks for.

use abi::MapType;
use ir::construct::{
    ClauseKind, Construct, CopyEnd, IteratorVar, Leaf, Map, MapFlags, Motion, Presence, Transfer,
};
use ir::program::{ExprId, Typed, VarId};
use ir::region::{Attribute, Mapping, Origin, Region};

use super::value::is_constant;
use crate::c::Printer;
use crate::lower::mapper::Mappers;
use crate::lower::place::{self, Place};

/// What one clause item asks for.
pub(super) struct Wish {
    pub(super) place: Place,
    pub(super) bits: MapType,
    pub(super) name: String,
    pub(super) mapper: Option<String>,
    pub(super) iterators: Vec<IteratorVar<Typed>>,
}

pub(super) fn wish(
    printer: &Printer<'_>,
    mappers: &Mappers,
    region: &Region,
    var: VarId,
    mapping: &Attribute<Mapping>,
) -> Option<Wish> {
    let Mapping::Map(motion, presence, part) = &mapping.value else { return None };
    let program = printer.program();
    let clause = match mapping.origin {
        Origin::Clause(at) => region.construct.clauses.get(at as usize),
        Origin::Enclosing(..) | Origin::Declared(_) | Origin::Rule(_) => None,
    };
    let map = clause.and_then(|it| match &it.kind {
        ClauseKind::Map(map) => Some(map),
        _ => None,
    });
    let flags = map.map(|it| it.flags).unwrap_or_default();
    let hold = region.construct.rules.holds_data;
    let mut bits = motion_bits(*motion, *presence, flags, hold) | implied(&mapping.origin);
    // What cannot change is not brought back; it may lie in memory that nobody may write.
    if bits.has(MapType::IMPLICIT) && is_constant(program, var) {
        bits = bits.without(MapType::FROM);
    }
    let place = match part {
        Some(item) => place::of(printer, *item),
        None => Place {
            root: Some(var),
            first: printer.var_name(var),
            pointers: Vec::new(),
            dims: Vec::new(),
            is_member: false,
            ty: program.vars[var].ty,
        },
    };
    let name = match part {
        Some(item) => printer.as_written().expr(*item),
        None => printer.declared_name(var),
    };
    let mapper = mappers.of(program, map.and_then(|it| it.mapper), place.ty);
    let iterators = map.map(|it| it.iterators.clone()).unwrap_or_default();
    Some(Wish { place, bits, name, mapper, iterators })
}

/// A variable as a whole.
pub(super) fn whole_wish(printer: &Printer<'_>, var: VarId, bits: MapType) -> Wish {
    let place = Place {
        root: Some(var),
        first: printer.var_name(var),
        pointers: Vec::new(),
        dims: Vec::new(),
        is_member: false,
        ty: printer.program().vars[var].ty,
    };
    let name = printer.declared_name(var);
    Wish { place, bits, name, mapper: None, iterators: Vec::new() }
}

pub(super) fn map_wishes(
    printer: &Printer<'_>,
    mappers: &Mappers,
    construct: &Construct<Typed>,
    map: &Map<Typed>,
) -> Vec<Wish> {
    let motion = match map.motion {
        Motion::Unsaid if construct.has(Leaf::EnterData) => Motion::To,
        Motion::Unsaid if construct.has(Leaf::ExitData) => Motion::From,
        Motion::Unsaid => Motion::ToFrom,
        other => other,
    };
    let hold = construct.rules.holds_data;
    let bits = motion_bits(motion, map.presence, map.flags, hold);
    items(printer, mappers, &map.items, bits, map.mapper, &map.iterators)
}

pub(super) fn transfer_wishes(
    printer: &Printer<'_>,
    mappers: &Mappers,
    transfer: &Transfer<Typed>,
) -> Vec<Wish> {
    let mut bits = if transfer.to_device { MapType::TO } else { MapType::FROM };
    if transfer.presence == Presence::Required {
        bits |= MapType::PRESENT;
    }
    items(printer, mappers, &transfer.items, bits, transfer.mapper, &transfer.iterators)
}

fn items(
    printer: &Printer<'_>,
    mappers: &Mappers,
    items: &[ExprId],
    bits: MapType,
    mapper: Option<source::Name>,
    iterators: &[IteratorVar<Typed>],
) -> Vec<Wish> {
    let one = |item: &ExprId| {
        let place = place::of(printer, *item);
        let mapper = mappers.of(printer.program(), mapper, place.ty);
        Wish {
            place,
            bits,
            name: printer.as_written().expr(*item),
            mapper,
            iterators: iterators.to_vec(),
        }
    };
    items.iter().map(one).collect()
}

fn motion_bits(motion: Motion, presence: Presence, flags: MapFlags, hold: bool) -> MapType {
    let mut bits = match motion {
        Motion::Unsaid | Motion::ToFrom => MapType::TO | MapType::FROM,
        Motion::To => MapType::TO,
        Motion::From => MapType::FROM,
        Motion::Alloc | Motion::Release => MapType::ALLOC,
        Motion::Delete => MapType::DELETE,
    };
    if flags.delete {
        bits |= MapType::DELETE;
    }
    let always = match flags.always_at {
        None => flags.always,
        Some(CopyEnd::Start) => bits.has(MapType::TO),
        Some(CopyEnd::End) => bits.has(MapType::FROM),
    };
    if always {
        bits |= MapType::ALWAYS;
    }
    if flags.close {
        bits |= MapType::CLOSE;
    }
    if presence == Presence::Required {
        bits |= MapType::PRESENT;
    }
    if hold || flags.hold {
        bits |= MapType::HOLD;
    }
    bits
}

/// What a rule maps tolerates that only a part of it is there.
pub(super) fn implied(origin: &Origin) -> MapType {
    match origin {
        Origin::Clause(_) => MapType::ALLOC,
        Origin::Enclosing(..) | Origin::Declared(_) | Origin::Rule(_) => MapType::IMPLICIT,
    }
}
