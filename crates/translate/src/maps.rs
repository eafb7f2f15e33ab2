//! How the variables of a construct come to the device, as clauses: those only that differ from what the standard
//! written does by itself.

use std::collections::BTreeSet;

use ir::construct::{ClauseKind, Construct, Leaf, Map, MapFlags, Motion, Presence, Spelled};
use ir::program::{ExprId, ExprKind, RegionId, Typed};
use ir::region::{Mapping, Origin, Pointee, RegionVar, Rule};

use super::gathered::Gathered;
use super::{Fate, Plan, Translator, clause, codes};
use levels::base;

/// Parts of arrays that take more to say are the user's to name.
const LONGEST: usize = 480;

/// Maps, gathered by what they do.
#[derive(Debug, Default)]
pub(super) struct Maps {
    list: Gathered,
    pub(super) pointers: Vec<String>,
    pub(super) addresses: Vec<String>,
    /// Variables that are summed up.
    sums: Vec<String>,
    /// Storage that is filled with zeros if it is new.
    pub(super) zeros: Vec<(ExprId, Motion)>,
    /// Tied to the region whatever others release.
    pub(super) holds: bool,
    /// Copied even if others use it.
    always: BTreeSet<String>,
}

impl Maps {
    /// Adds an item; one that is there already gets the copies of both.
    pub(super) fn add(&mut self, motion: Motion, presence: Presence, item: String) {
        let motion = self.list.find(&item).map_or(motion, |it| both(motion, it.0));
        self.list.put(motion, presence, item);
    }

    /// Takes an item away.
    pub(super) fn take(&mut self, item: &str) -> Option<Motion> {
        self.list.take(item)
    }

    pub(super) fn clauses(self, profile: &super::Profile) -> Vec<ir::construct::Clause<Spelled>> {
        let mut clauses = Vec::new();
        for (motion, presence, items) in self.list.groups() {
            let presence = if profile.has_present { presence } else { Presence::Any };
            let (always, others): (Vec<String>, Vec<String>) =
                items.into_iter().partition(|it| self.always.contains(it));
            for (always, items) in [(false, others), (true, always)] {
                let flags = MapFlags { hold: self.holds, always, ..MapFlags::default() };
                let (mapper, iterators) = (None, Vec::new());
                let map = Map { motion, presence, flags, mapper, iterators, items };
                if !map.items.is_empty() {
                    clauses.push(clause(ClauseKind::Map(map)));
                }
            }
        }
        if !self.pointers.is_empty() {
            clauses.push(clause(ClauseKind::DevicePointer(self.pointers)));
        }
        if !self.addresses.is_empty() {
            clauses.push(clause(ClauseKind::HasDeviceAddr(self.addresses)));
        }
        clauses
    }
}

/// The copies of both.
fn both(one: Motion, other: Motion) -> Motion {
    match (one, other) {
        (Motion::Alloc | Motion::Unsaid, it) | (it, Motion::Alloc | Motion::Unsaid) => it,
        (Motion::To, Motion::To) => Motion::To,
        (Motion::From, Motion::From) => Motion::From,
        (Motion::Release, it) | (it, Motion::Release) => it,
        (Motion::Delete, _) | (_, Motion::Delete) => Motion::Delete,
        _ => Motion::ToFrom,
    }
}

impl Translator<'_> {
    /// What a data clause says besides what is copied where.
    pub(super) fn modifiers(
        &self,
        map: &Map<Typed>,
        span: source::Span,
        list: &mut Maps,
        plan: &mut Plan,
    ) {
        let written = || Some(self.words.written(span));
        if map.flags.always && map.flags.always_at.is_some() && map.motion == Motion::ToFrom {
            let text = "data is copied always both ways, or neither";
            plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), written(), text);
        } else if map.flags.always {
            if map.items.iter().any(|it| self.rows(*it).is_some()) {
                let text = "rows of an array of pointers are copied if nobody else uses them";
                plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), written(), text);
            }
            list.always.extend(map.items.iter().map(|it| self.words.expr(*it)));
        }
        if map.flags.capture {
            let text = "where host and device share memory they share this";
            plan.remark(Fate::Approximated, Some(codes::ADVICE), written(), text);
        } else if map.flags.readonly {
            plan.remark(Fate::Redundant, None, written(), "nothing depends on it");
        }
    }

    /// How the variables of a construct come to the device, where the standard written has another rule.
    pub(super) fn maps(&self, id: RegionId, to: &mut Construct<Spelled>, plan: &mut Plan) {
        let region = &self.made.regions[id];
        let mut list = Maps::default();
        for it in &region.construct.clauses {
            if let ClauseKind::Map(map) = &it.kind {
                self.modifiers(map, it.span, &mut list, plan);
            }
        }
        for var in &region.vars {
            for mapping in &var.mappings {
                self.mapping(id, var, &mapping.value, mapping.origin, &mut list, plan);
            }
        }
        let is_combined = to.has(Leaf::Distribute);
        list.sums.retain(|_| !is_combined);
        for name in std::mem::take(&mut list.sums) {
            list.add(Motion::ToFrom, Presence::Any, name);
        }
        for kind in region.construct.kinds() {
            if let ClauseKind::Attach(items) = kind {
                for item in items {
                    let name = self.words.expr(*item);
                    list.add(Motion::Alloc, Presence::Any, format!("{name}[:0]"));
                }
            }
        }
        // A number that no clause names would be each thread's own.
        let is_number = |it: &ExprId| {
            let expr = &self.made.exprs[*it];
            self.made.types.is_arithmetic(expr.ty) && matches!(expr.kind, ExprKind::Var(_))
        };
        let zeros = list.zeros.iter().map(|it| it.0).filter(is_number);
        let numbers: Vec<String> = zeros.map(|it| self.words.expr(it)).collect();
        self.fill_with_zeros(&mut list, plan);
        numbers.into_iter().for_each(|it| list.add(Motion::Alloc, Presence::Any, it));
        to.clauses.extend(list.clauses(self.profile()));
    }

    fn mapping(
        &self,
        id: RegionId,
        var: &RegionVar,
        mapping: &Mapping,
        origin: Origin,
        list: &mut Maps,
        plan: &mut Plan,
    ) {
        let region = &self.made.regions[id];
        let types = &self.made.types;
        let ty = self.made.vars[var.var].ty;
        let name = || self.words.var(var.var);
        match (mapping, origin) {
            (Mapping::Map(motion, presence, item), Origin::Clause(at)) => {
                let item_text = item.map_or_else(name, |it| self.words.expr(it));
                let clause = region.construct.clauses.get(at as usize);
                let named = match clause.map(|it| &it.kind) {
                    Some(ClauseKind::Map(map)) => map,
                    // Named for another reason: it comes along by the rule of the other standard too.
                    _ => return,
                };
                let written = clause.map(|it| self.words.written(it.span));
                if named.flags.zero {
                    let is_it = |it: &&ExprId| base(self.made, **it) == Some(var.var);
                    let item = item.as_ref().or_else(|| named.items.iter().find(is_it));
                    list.zeros.extend(item.map(|it| (*it, *motion)));
                    return;
                }
                if *presence == Presence::Required && self.made.vars[var.var].device.is_some() {
                    let text = "it exists on devices by its declaration";
                    plan.remark(Fate::Redundant, None, written, text);
                    return;
                }
                if *presence == Presence::Optional && !types.is_pointer(ty) {
                    let text =
                        "absent data is always made; only what pointers lead to is left alone";
                    plan.remark(Fate::Refused, Some(codes::MADE_IF_ABSENT), written, text);
                    return;
                }
                if *presence == Presence::Optional {
                    // A pointer that no clause names is used as it is if nothing is there.
                    let text = "pointers that no clause names are treated so";
                    plan.remark(Fate::Redundant, None, written, text);
                    return;
                }
                let motion = if *presence == Presence::Required { Motion::Alloc } else { *motion };
                match item {
                    Some(item) => self.map_item(*item, motion, *presence, list, plan),
                    None => list.add(motion, *presence, item_text),
                }
            }
            (Mapping::Map(_, presence, item), Origin::Enclosing(..) | Origin::Declared(_)) => {
                // A scalar would be copied; arrays, and what pointers lead to, are found there.
                let is_scalar = types.is_scalar(ty) && !types.is_pointer(ty);
                let is_object = types.is_pointer(ty) && item.is_none();
                if *presence != Presence::Optional && (is_scalar || is_object) {
                    list.add(Motion::Alloc, Presence::Any, name());
                }
                if let Some(item) = item {
                    self.name_again(*item, origin, list, plan);
                }
            }
            (Mapping::Map(motion, _, Some(item)), Origin::Rule(Rule::Touched)) => {
                let part = self.words.expr(*item);
                if part.len() > LONGEST {
                    let text =
                        "what the region touches of it takes long to say; name it in a clause";
                    plan.remark(Fate::Refused, Some(codes::TOUCHED), Some(name()), text);
                    return;
                }
                let has_numbers = part.bytes().any(|it| matches!(it, b'2'..=b'9'));
                list.add(*motion, Presence::Any, part);
                let text = match has_numbers {
                    true => {
                        "it is mapped as far as the region touches it, in numbers where it may have macros"
                    }
                    false => "it is mapped as far as the region touches it",
                };
                plan.remark(Fate::Translated, Some(codes::TOUCHED), Some(name()), text);
            }
            (Mapping::Map(..), Origin::Rule(Rule::ReductionMapped)) => list.sums.push(name()),
            (Mapping::Map(..), Origin::Rule(Rule::CombinedClause)) => {}
            (Mapping::Map(_, Presence::Required, _), Origin::Rule(_)) => {
                list.add(Motion::Alloc, Presence::Required, name());
            }
            (Mapping::Map(motion, ..), Origin::Rule(_)) if types.is_scalar(ty) => {
                if var.written {
                    list.add(*motion, Presence::Any, name());
                }
            }
            // By its own rules the region would have brought it along.
            (Mapping::PointerToMapped, Origin::Rule(_))
                if region.construct.rules.pointer_sections && var.pointee != Pointee::UNTOUCHED =>
            {
                let text = "how much of what it leads to is touched is not known: it must be on the device by then, or be \
                            named in a clause";
                plan.remark(Fate::Approximated, Some(codes::NOT_LOOKED_FOR), Some(name()), text);
            }
            (Mapping::DevicePointer, _) => list.pointers.push(name()),
            (Mapping::DeviceAddress, _) => list.addresses.push(name()),
            (
                Mapping::Map(..)
                | Mapping::FirstPrivate
                | Mapping::Private
                | Mapping::PointerToMapped
                | Mapping::Declared,
                _,
            ) => {}
        }
    }
}
