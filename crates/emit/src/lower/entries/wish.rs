//! What the items of clauses ask for.
//!
//! In: clauses, or the mappings that a region found for its variables. Out: one [`Wish`] per item: the
//! bytes it names and the map type it asks for.

use abi::MapType;
use ir::construct::{
    ClauseKind, Construct, CopyEnd, IteratorVar, Leaf, Map, MapFlags, Motion, OnAbsent, Presence,
    Rules, Transfer,
};
use ir::program::{ExprId, ExprKind, Program, Typed, VarId};
use ir::region::{Attribute, Mapping, Origin, Region, Rule};
use source::Span;

use super::Repeat;
use super::value::is_constant;
use crate::c::Printer;
use crate::lower::mapper::Mappers;
use crate::lower::place::{self, Place};

/// What one clause item asks for.
#[derive(Clone)]
pub(super) struct Wish {
    pub(super) place: Place,
    pub(super) bits: MapType,
    pub(super) name: String,
    pub(super) mapper: Option<String>,
    pub(super) repeats: Vec<Repeat>,
    /// Its lengths were computed here, and what is not there has a negative one.
    pub(super) is_computed: bool,
}

impl Wish {
    /// The size of all of it, checked when the program runs.
    pub(super) fn size(&self) -> String {
        self.place.size(self.is_computed)
    }

    /// Whether both speak of the same bytes.
    fn is_same_place(&self, other: &Wish) -> bool {
        self.place.first == other.place.first
            && self.place.bytes() == other.place.bytes()
            && self.repeats == other.repeats
    }
}

/// Wishes for the same bytes are one, which asks for all that they ask for.
pub(super) fn merged(wishes: Vec<Wish>) -> Vec<Wish> {
    let mut list: Vec<Wish> = Vec::new();
    for wish in wishes {
        match list.iter_mut().find(|it| it.is_same_place(&wish)) {
            Some(before) => {
                let both = before.bits.0 & wish.bits.0;
                let weak = MapType::OPTIONAL | MapType::IMPLICIT;
                before.bits = (before.bits | wish.bits).without(weak) | MapType(both & weak.0);
            }
            None => list.push(wish),
        }
    }
    list
}

/// What a region's mapping of a variable or a part of it asks for.
pub(super) fn wishes(
    printer: &Printer<'_>,
    mappers: &Mappers,
    region: &Region,
    var: VarId,
    mapping: &Attribute<Mapping>,
) -> Vec<Wish> {
    let Mapping::Map(motion, presence, part) = &mapping.value else { return Vec::new() };
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
    let rules = &region.construct.rules;
    let mut bits = motion_bits(*motion, *presence, flags, rules) | implied(&mapping.origin);
    // A part of an array of which each has its own: made of the host's values, not of those that may be
    // on the device.
    if *motion == Motion::To && mapping.origin == Origin::Rule(Rule::CombinedClause) {
        bits = MapType::PRIVATE | MapType::TO | MapType::IMPLICIT;
    }
    // What cannot change is not brought back; it may lie in memory that nobody may write.
    if bits.has(MapType::IMPLICIT) && is_constant(program, var) {
        bits = bits.without(MapType::FROM);
    }
    let place = match part {
        Some(item) => place::of(printer, *item),
        None => Place::whole(printer, var),
    };
    let name = match part {
        // What is computed here was never written.
        Some(_) if mapping.origin == Origin::Rule(Rule::Touched) => printer.declared_name(var),
        Some(item) => printer.as_written().expr(*item),
        None => printer.declared_name(var),
    };
    let mapper = mappers.of(program, map.and_then(|it| it.mapper), place.ty, region.construct.span);
    let iterators = map.map(|it| &*it.iterators).unwrap_or_default();
    let repeats = repeats(printer, iterators);
    let is_computed = mapping.origin == Origin::Rule(Rule::Touched);
    with_spines(Wish { place, bits, name, mapper, repeats, is_computed })
}

/// A variable as a whole.
pub(super) fn whole_wish(printer: &Printer<'_>, var: VarId, bits: MapType) -> Wish {
    let place = Place::whole(printer, var);
    let name = printer.declared_name(var);
    Wish { place, bits, name, mapper: None, repeats: Vec::new(), is_computed: false }
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
    let mut bits = motion_bits(motion, map.presence, map.flags, &construct.rules);
    if construct.kinds().any(|it| matches!(it, ClauseKind::Finalize)) {
        bits |= MapType::DELETE;
    }
    let (mappers, mapper) = ((mappers, construct.span), map.mapper);
    let wishes = items(printer, mappers, &map.items, bits, mapper, &map.iterators);
    let as_mapped = map.items.iter().map(|it| is_as_mapped(printer.program(), *it));
    let wishes = wishes.into_iter().zip(as_mapped).map(|(mut wish, as_mapped)| {
        // What is behind the pointer leaves as it was entered.
        if as_mapped && construct.has(Leaf::ExitData) && construct.rules.declared_shapes {
            wish.bits |= MapType::OBJECT;
        }
        wish
    });
    wishes.flat_map(with_spines).collect()
}

/// Variables of a function that live on the device while the function runs.
pub(super) fn resident_wishes(
    printer: &Printer<'_>,
    construct: &Construct<Typed>,
    list: &[ExprId],
) -> Vec<Wish> {
    let flags = MapFlags::default();
    let bits = motion_bits(Motion::Alloc, Presence::Any, flags, &construct.rules);
    items(printer, (&Mappers::default(), construct.span), list, bits, None, &[])
}

pub(super) fn transfer_wishes(
    printer: &Printer<'_>,
    mappers: &Mappers,
    construct: &Construct<Typed>,
    transfer: &Transfer<Typed>,
) -> Vec<Wish> {
    let mut bits = if transfer.to_device { MapType::TO } else { MapType::FROM };
    let is_required =
        transfer.presence == Presence::Required || construct.rules.on_absent == OnAbsent::Error;
    if is_required {
        bits |= MapType::PRESENT;
    }
    if construct.rules.whole_presence {
        bits |= MapType::WHOLE;
    }
    let (mappers, mapper) = ((mappers, construct.span), transfer.mapper);
    let wishes = items(printer, mappers, &transfer.items, bits, mapper, &transfer.iterators);
    let as_mapped = transfer.items.iter().map(|it| is_as_mapped(printer.program(), *it));
    let wishes = wishes.into_iter().zip(as_mapped).map(|(mut wish, as_mapped)| {
        if as_mapped {
            wish.bits |= MapType::OBJECT;
        }
        wish
    });
    // The rows are moved; the pointers to them differ between host and device.
    wishes.map(with_rows).collect()
}

/// Whether the item stands for all that is mapped behind a pointer: a section without a length.
fn is_as_mapped(program: &Program, item: ExprId) -> bool {
    let ExprKind::Section(section) = &program.exprs[item].kind else { return false };
    section.length.is_none() && program.types.is_pointer(program.exprs[section.base].ty)
}

fn items(
    printer: &Printer<'_>,
    (mappers, from): (&Mappers, Span),
    items: &[ExprId],
    bits: MapType,
    mapper: Option<source::Name>,
    iterators: &[IteratorVar<Typed>],
) -> Vec<Wish> {
    let one = |item: &ExprId| {
        let place = place::of(printer, *item);
        let mapper = mappers.of(printer.program(), mapper, place.ty, from);
        Wish {
            place,
            bits,
            name: printer.as_written().expr(*item),
            mapper,
            repeats: repeats(printer, iterators),
            is_computed: false,
        }
    };
    items.iter().map(one).collect()
}

/// The user's iterators as loops.
fn repeats(printer: &Printer<'_>, iterators: &[IteratorVar<Typed>]) -> Vec<Repeat> {
    iterators.iter().map(|it| Repeat::of(printer, it)).collect()
}

/// Repeated for each of the rows that it speaks of.
fn with_rows(mut wish: Wish) -> Wish {
    let loops = wish.place.rows.iter().map(|it| Repeat::up_to(&it.number, &it.count));
    let loops: Vec<Repeat> = loops.collect();
    wish.repeats.extend(loops);
    wish
}

/// Storage for the pointers to its rows, which nothing is copied to or from, and the rows.
fn with_spines(wish: Wish) -> Vec<Wish> {
    let copies = MapType::TO | MapType::FROM | MapType::ALWAYS | MapType::ZERO;
    let mut list: Vec<Wish> = Vec::new();
    for rows in &wish.place.rows {
        let place = (*rows.spine).clone();
        let spine = Wish { place, bits: wish.bits.without(copies), mapper: None, ..wish.clone() };
        list.push(with_rows(spine));
    }
    list.push(with_rows(wish));
    list
}

fn motion_bits(motion: Motion, presence: Presence, flags: MapFlags, rules: &Rules) -> MapType {
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
    if flags.zero {
        bits |= MapType::ZERO;
    }
    bits |= match presence {
        Presence::Any => MapType::ALLOC,
        Presence::Required => MapType::PRESENT,
        Presence::Optional => MapType::OPTIONAL,
    };
    if rules.holds_data || flags.hold {
        bits |= MapType::HOLD;
    }
    if rules.whole_presence {
        bits |= MapType::WHOLE;
    }
    if rules.counts_attachments {
        bits |= MapType::DETACH;
    }
    bits
}

/// What a rule maps tolerates that only a part of it is there.
pub(super) fn implied(origin: &Origin) -> MapType {
    match origin {
        Origin::Clause(_) => MapType::ALLOC,
        Origin::Rule(Rule::Touched) => MapType::IMPLICIT | MapType::EXACT,
        Origin::Enclosing(..) | Origin::Declared(_) | Origin::Rule(_) => MapType::IMPLICIT,
    }
}
