//! How much of the data behind a pointer a region touches, told when the region is entered.
//!
//! In: a region and pointers of it. Out: an [`Extent`] for each: the first and the last element, as
//! sums over variables as they are at the entry; or the access that leaves it open.
//!
//! A section is stated only if the program itself touches both of its ends, so that all of it is one
//! object: the ends are accesses that are made on every way through the region, in the first or last
//! round of each loop around them. Those rounds are run under conditions ([`Part::guards`]); where
//! one does not hold, the part says nothing. Accesses that depend on a condition must lie inside.

use std::collections::BTreeSet;
use std::rc::Rc;

use ir::construct::{ClauseKind, Implicit, Leaf, Motion, Presence};
use ir::program::{ExprId, ExprKind, Program, RegionId, Typed, VarId};
use ir::region::{Attribute, Mapping, Origin, Region, RegionVar, Rule};
use ir::types::Ty;
use source::Span;

use crate::access::{Base, Context, Place, Step, Touch};
use crate::bounds;
use crate::dependence::Analysis;
use crate::poly::{Atom, Poly, Value};
use crate::scan::Scan;
use crate::sharing::private_items;
use crate::sum::Sum;
use crate::system::System;
use crate::walk;

/// What becomes of data behind a pointer that no clause of a region names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implied {
    /// The pointer.
    pub var: VarId,
    /// How the data come to the device, if it is known how many they are.
    pub motion: Motion,
    /// Whether they must be there already.
    pub presence: Presence,
    /// How many they are.
    pub extent: Extent,
}

/// What a region does behind a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All elements that it touches lie in these parts, and between them.
    Known(Vec<Part>),
    /// It cannot be told: the access, or the statement, that stood in the way.
    Unknown(Span),
}

/// Elements from `low` up to but not including `high`, both ends touched by the region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first.
    pub low: Sum,
    /// Behind the last.
    pub high: Sum,
    /// None of these is negative, or else the part is not there.
    pub guards: Vec<Sum>,
}

impl Part {
    /// As the section that it is: `0:n`.
    pub fn text(&self, program: &Program) -> String {
        format!("{}:{}", self.low.text(program), self.high.minus(&self.low).text(program))
    }
}

/// More parts than this are not worth comparing at run time.
const MAX_PARTS: usize = 3;
/// Loops around an access whose rounds are tried one by one.
const MAX_FREE: usize = 4;

/// A part while it is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    low: Poly,
    high: Poly,
    guards: BTreeSet<Poly>,
    /// Of the guards, those that are not about rounds that are run: if one fails, all that is said is wrong.
    believed: BTreeSet<Poly>,
}

/// A loop around an access: its counter and the last round, as a polynomial over outer counters.
pub(crate) struct Rounds {
    pub(crate) counter: Atom,
    pub(crate) last: Poly,
}

impl Analysis<'_> {
    /// What becomes of the data behind the pointers of a region that nothing names, if its rules
    /// bring them along.
    pub fn implied(&self, id: RegionId) -> Vec<Implied> {
        let program = self.program;
        let region = &program.regions[id];
        let rule = rule_for_arrays(program, region);
        let Implicit::Map(motion, presence) = rule else { return Vec::new() };
        let is_open = |it: &&RegionVar| is_open(program, region, it);
        let pointers: Vec<VarId> = region.vars.iter().filter(is_open).map(|it| it.var).collect();
        if !region.construct.rules.pointer_sections || pointers.is_empty() {
            return Vec::new();
        }
        let made = |(var, extent): (VarId, Extent)| {
            // What cannot change is not brought back; it may lie in memory that nobody may write.
            let motion = if is_read_only(program, var) { Motion::To } else { motion };
            Implied { var, motion, presence, extent }
        };
        let extents = self.extents(id, &pointers);
        pointers.into_iter().zip(extents).map(made).collect()
    }

    /// What is read and written in a region, in one walk over its body; none where it jumps: behind a jump nothing is
    /// certain to happen.
    pub(crate) fn accesses(&self, region: RegionId) -> Option<Rc<(Scan, walk::Body)>> {
        if let Some((of, known)) = &*self.walked.borrow()
            && *of == region
        {
            return known.clone();
        }
        let found = self.accesses_anew(region).map(Rc::new);
        self.walked.replace(Some((region, found.clone())));
        found
    }

    fn accesses_anew(&self, region: RegionId) -> Option<(Scan, walk::Body)> {
        let program = self.program;
        let region = &program.regions[region];
        let body = region.body?;
        let scan = Scan::new(program, body);
        if scan.has_jumps {
            return None;
        }
        let none = BTreeSet::new();
        let private: BTreeSet<Base> =
            private_items(program, &region.construct).into_iter().collect();
        let around = self.outline.around(body);
        let question = walk::Question {
            program,
            aliases: &self.aliases,
            effects: &self.effects,
            outline: &self.outline,
            stmt: body,
            form: None,
            scan: &scan,
            reduced: &none,
            private: &private,
            around: &around,
        };
        let done = walk::run_once(&question);
        Some((scan, done))
    }

    /// How much of the data behind each of these pointers the region touches.
    fn extents(&self, region: RegionId, pointers: &[VarId]) -> Vec<Extent> {
        let program = self.program;
        let it = &program.regions[region];
        let unknown = |span| vec![Extent::Unknown(span); pointers.len()];
        let Some(accesses) = self.accesses(region) else { return unknown(it.span) };
        let (scan, done) = accesses.as_ref();
        if let Some(obstacle) = done.obstacles.first() {
            return unknown(obstacle.span);
        }
        // What leads anywhere may lead to the data in question.
        let lost = |it: &&Touch| it.place.base == Base::Unknown;
        if let Some(touch) = done.touches.iter().find(lost) {
            return unknown(touch.span);
        }
        let one = |&pointer: &VarId| {
            let own = done.touches.iter().filter(|it| it.place.base == Base::Pointee(pointer));
            let touches: Vec<&Touch> = own.collect();
            let is_changed = scan.writes.contains_key(&pointer)
                || self.aliases.is_addressed(pointer)
                || touches.is_empty();
            match is_changed {
                true => Extent::Unknown(it.span),
                false => extent(program, region, pointer, &touches),
            }
        };
        pointers.iter().map(one).collect()
    }
}

/// What becomes of arrays that no clause names: the same as of data behind pointers.
fn rule_for_arrays(program: &Program, region: &Region) -> Implicit {
    let has_default =
        |it: &Region| it.construct.kinds().any(|it| matches!(it, ClauseKind::Default(..)));
    let own = region.construct.rules.mapping.aggregate.implicit;
    if has_default(region) {
        return own;
    }
    let parent = |it: &RegionId| program.regions[*it].parent;
    let around = std::iter::successors(region.parent, parent).map(|it| &program.regions[it]);
    around
        .filter(|it| it.construct.has(Leaf::DataRegion) && has_default(it))
        .map(|it| it.construct.rules.mapping.aggregate.implicit)
        .find(|it| *it != Implicit::NotApplicable)
        .unwrap_or(own)
}

/// Whether a variable is a pointer to plain data that nothing but the rule for pointers speaks of.
fn is_open(program: &Program, region: &Region, it: &RegionVar) -> bool {
    let by_rule = |it: &Attribute<Mapping>| {
        it.value == Mapping::PointerToMapped && it.origin == Origin::Rule(Rule::PointerDefault)
    };
    let types = &program.types;
    let Some(target) = types.pointee(program.vars[it.var].ty) else { return false };
    // Addresses that are copied lead nowhere.
    let leads_on = types.is_pointer(types.innermost_element(target));
    let is_used = it.pointee.read || it.pointee.written;
    matches!(it.mappings.as_slice(), [only] if by_rule(only))
        && is_used
        && !it.pointee.escapes
        && !leads_on
        && !is_device_address(program, region, it.var)
}

/// Whether a construct around gives the pointer the device's value.
fn is_device_address(program: &Program, region: &Region, var: VarId) -> bool {
    let parent = |it: &RegionId| program.regions[*it].parent;
    let names = |kind: &ClauseKind<Typed>| {
        if let ClauseKind::UseDevice(_, items) | ClauseKind::DevicePointer(items) = kind {
            items.iter().any(|&it| is_name(program, it, var))
        } else {
            false
        }
    };
    std::iter::successors(region.parent, parent)
        .any(|it| program.regions[it].construct.kinds().any(names))
}

fn is_read_only(program: &Program, var: VarId) -> bool {
    let target = program.types.pointee(program.vars[var].ty);
    target
        .is_some_and(|it| program.types.resolve(program.types.innermost_element(it)).quals.is_const)
}

pub(crate) fn extent(
    program: &Program,
    region: RegionId,
    pointer: VarId,
    touches: &[&Touch],
) -> Extent {
    let mut parts: Vec<Range> = Vec::new();
    let mut believed = BTreeSet::new();
    let (certain, perhaps): (Vec<&Touch>, Vec<&Touch>) =
        touches.iter().copied().partition(|it| it.context.iter().all(is_certain));
    for touch in certain {
        match range(program, pointer, touch) {
            Some(found) => {
                believed.extend(found.believed.iter().cloned());
                add(&mut parts, found);
            }
            None => return Extent::Unknown(touch.span),
        }
    }
    for touch in perhaps {
        let found = range(program, pointer, touch);
        if !found.is_some_and(|it| parts.iter().any(|part| part.covers(&it))) {
            return Extent::Unknown(touch.span);
        }
    }
    // Where something believed is wrong nothing is mapped: too little would be worse.
    for part in &mut parts {
        let guards = part.guards.iter().chain(&believed).cloned().collect();
        part.guards = without_implied(guards);
    }
    let first = touches.first().map_or(Span::NONE, |it| it.span);
    if parts.is_empty() || parts.len() > MAX_PARTS {
        return Extent::Unknown(first);
    }
    let told: Option<Vec<Part>> = parts.iter().map(|it| it.told(program, region)).collect();
    told.map_or(Extent::Unknown(first), Extent::Known)
}

/// Whether what is inside is done in each round that is known to be run.
fn is_certain(context: &Context) -> bool {
    matches!(context, Context::Loop(_, Some(_)))
}

fn add(parts: &mut Vec<Range>, found: Range) {
    if parts.iter().any(|it| it.covers(&found)) {
        return;
    }
    parts.retain(|it| !found.covers(it));
    for part in parts.iter_mut() {
        if part.guards == found.guards && part.widen(&found).is_some() {
            return;
        }
    }
    parts.push(found);
}

impl Range {
    /// Both in one, if it is known which end is lower and which higher.
    fn widen(&mut self, other: &Range) -> Option<()> {
        let low = other.low.sub(&self.low)?.as_constant()?;
        let high = other.high.sub(&self.high)?.as_constant()?;
        if low < 0 {
            self.low = other.low.clone();
        }
        if high > 0 {
            self.high = other.high.clone();
        }
        Some(())
    }

    /// Whether this part is there whenever the other is, and around it.
    fn covers(&self, other: &Range) -> bool {
        let system =
            System { zero: Vec::new(), at_least_zero: other.guards.iter().cloned().collect() };
        let holds = |poly: Option<Poly>| poly.is_some_and(|it| system.implies_at_least_zero(&it));
        self.guards.iter().all(|it| system.implies_at_least_zero(it))
            && holds(other.low.sub(&self.low))
            && holds(self.high.sub(&other.high))
    }

    fn told(&self, program: &Program, region: RegionId) -> Option<Part> {
        let mut guards = Vec::new();
        for guard in &self.guards {
            guards.push(Sum::of(guard).filter(|it| is_known(program, region, it))?);
        }
        let end = |poly| Sum::of(poly).filter(|it| is_known(program, region, it));
        Some(Part { low: end(&self.low)?, high: end(&self.high)?, guards })
    }
}

/// Whether an item is the variable.
fn is_name(program: &Program, item: ExprId, var: VarId) -> bool {
    if let ExprKind::Var(it) = program.exprs[item].kind { it == var } else { false }
}

/// Whether all variables of a sum have the same value in the region as where it is entered.
pub(crate) fn is_known(program: &Program, region: RegionId, sum: &Sum) -> bool {
    let region = &program.regions[region];
    let is_passed = |var: &VarId| {
        let found = region.vars.iter().find(|it| it.var == *var);
        found.is_some_and(|it| match it.mappings.as_slice() {
            [only] => match only.value {
                Mapping::FirstPrivate => true,
                Mapping::Map(..) => only.origin == Origin::Rule(Rule::ScalarDefault),
                Mapping::Private
                | Mapping::DevicePointer
                | Mapping::DeviceAddress
                | Mapping::PointerToMapped
                | Mapping::Declared => false,
            },
            _ => false,
        })
    };
    let is_combined = |var: &VarId| {
        region.construct.kinds().any(|it| {
            if let ClauseKind::Reduction(it) = it {
                it.items.iter().any(|&it| is_name(program, it, *var))
            } else {
                false
            }
        })
    };
    sum.terms.iter().flat_map(|it| &it.1).all(|it| is_passed(it) && !is_combined(it))
}

/// The elements that one access touches while its loops run.
fn range(program: &Program, pointer: VarId, touch: &Touch) -> Option<Range> {
    let by = element(program, pointer, touch)?;
    let facts = bounds::with_ranges(program, &touch.facts, [&by]);
    let system = System { zero: Vec::new(), at_least_zero: facts };
    let loops = rounds(touch)?;
    let (low, mut guards, mut believed) = end(&by, &loops, &system, false)?;
    let (high, more, others) = end(&by, &loops, &system, true)?;
    guards.extend(more);
    believed.extend(others);
    guards.extend(believed.iter().cloned());
    Some(Range { low, high: high.plus(1)?, guards: without_implied(guards), believed })
}

/// Those that do not follow from the others.
fn without_implied(mut guards: BTreeSet<Poly>) -> BTreeSet<Poly> {
    for guard in guards.clone() {
        let others = guards.iter().filter(|it| **it != guard).cloned().collect();
        let system = System { zero: Vec::new(), at_least_zero: others };
        if system.implies_at_least_zero(&guard) {
            guards.remove(&guard);
        }
    }
    guards
}

/// What a pointer leads to, and what an array is made of.
pub(crate) fn target(program: &Program, var: VarId) -> Option<Ty> {
    let ty = program.vars[var].ty;
    program.types.pointee(ty).or_else(|| program.types.element(ty))
}

/// Which element of the pointer's target, or of the array, the access is in.
fn element(program: &Program, pointer: VarId, touch: &Touch) -> Option<Poly> {
    let Place { path, anywhere: false, .. } = &touch.place else { return None };
    let target = target(program, pointer)?;
    let size = program.model.size_of(&program.types, target).ok()?;
    if touch.size? > size {
        return None;
    }
    let inside = match path.first() {
        Some(Step::Index { stride, .. }) if *stride == Some(size) => path.get(1..)?,
        Some(Step::Index { .. }) => return None,
        Some(Step::Field(..)) | None => path,
    };
    let stated = System { zero: Vec::new(), at_least_zero: touch.facts.as_ref().clone() };
    if !inside.iter().all(|it| bounds::stays_inside(&stated, it)) {
        return None;
    }
    match path.first() {
        Some(Step::Index { by, .. }) => Some(by.clone()),
        Some(Step::Field(..)) | None => Some(Poly::default()),
    }
}

/// The loops around an access, outermost first.
pub(crate) fn rounds(touch: &Touch) -> Option<Vec<Rounds>> {
    rounds_within(touch, None)
}

/// The same, where last rounds may follow the counter of the examined loop.
pub(crate) fn rounds_within(touch: &Touch, examined: Option<Atom>) -> Option<Vec<Rounds>> {
    let mut found: Vec<Rounds> = Vec::new();
    for context in touch.context.iter() {
        let Context::Loop(number, room) = context else { continue };
        let counter = Atom::of(Value::Trip(*number));
        let (step, room) = room.as_ref()?.divided_by(counter);
        let step = step.as_constant().filter(|it| *it < 0)?.checked_neg()?;
        let last = match room.as_constant() {
            Some(room) => Poly::constant(room.div_euclid(step)),
            None if step == 1 => room,
            // The last round would have to be divided for.
            None => return None,
        };
        let is_outer = |atom: Atom| {
            !atom.varies() || Some(atom) == examined || found.iter().any(|it| it.counter == atom)
        };
        if !last.atoms().all(is_outer) {
            return None;
        }
        found.push(Rounds { counter, last });
    }
    Some(found)
}

/// The smallest or largest value of `by`, what must not be negative so that it is reached, and what is believed not to
/// be.
fn end(
    by: &Poly,
    loops: &[Rounds],
    system: &System,
    largest: bool,
) -> Option<(Poly, BTreeSet<Poly>, BTreeSet<Poly>)> {
    // Innermost first: the last round of a loop may depend on outer counters.
    let mut value = by.clone();
    let mut believed = BTreeSet::new();
    let mut takes_last = vec![None; loops.len()];
    for (at, it) in loops.iter().enumerate().rev() {
        let (factor, rest) = value.divided_by(it.counter);
        if !factor.is_invariant() {
            return None;
        }
        if factor.as_constant() == Some(0) {
            continue;
        }
        let grows = if system.implies_at_least_zero(&factor) {
            true
        } else if system.implies_at_least_zero(&factor.negated()?) {
            false
        } else {
            // Distances between rows are hardly ever negative; if one is, nothing is said. A loop that counts down
            // has the distance with a minus.
            let goes_down = factor.terms().all(|it| it.1 < 0);
            believed.insert(if goes_down { factor.negated()? } else { factor.clone() });
            !goes_down
        };
        let is_last = grows == largest;
        *takes_last.get_mut(at)? = Some(is_last);
        value = if is_last { rest.add(&factor.mul(&it.last)?)? } else { rest };
    }
    if !value.is_invariant() {
        return None;
    }
    let free: Vec<usize> =
        (0..loops.len()).filter(|at| takes_last.get(*at).is_some_and(|it| it.is_none())).collect();
    if free.len() > MAX_FREE {
        return None;
    }
    // Of the rounds that do not matter to the value, those are chosen that can be run at all.
    let choices = 0..1usize << free.len();
    let guards = choices.filter_map(|choice| {
        let is_last = |at: usize| {
            let bit = free.iter().position(|it| *it == at);
            let chosen = takes_last.get(at).copied().flatten();
            chosen.unwrap_or_else(|| bit.is_some_and(|bit| choice >> bit & 1 == 1))
        };
        conditions(loops, is_last)
    });
    let guards = guards.min_by_key(BTreeSet::len)?;
    Some((value, guards, believed))
}

/// Whether a loop has as many rounds as it ever has in these rounds of the loops around it.
fn has_most_rounds(inner: &Rounds, loops: &[Rounds], is_last: impl Fn(usize) -> bool) -> bool {
    loops.iter().enumerate().all(|(at, outer)| {
        let (factor, _) = inner.last.divided_by(outer.counter);
        match factor.as_constant() {
            Some(0) => true,
            Some(factor) => (factor > 0) == is_last(at),
            None => false,
        }
    })
}

/// What must not be negative for these rounds to be run; nothing if they never are, or if they may not be while others
/// of the same loops are: then the farthest element is another one.
fn conditions(loops: &[Rounds], is_last: impl Fn(usize) -> bool) -> Option<BTreeSet<Poly>> {
    let mut values: Vec<(Atom, Poly)> = Vec::new();
    let mut guards = BTreeSet::new();
    let mut depending = BTreeSet::new();
    for (at, it) in loops.iter().enumerate() {
        let known = |atom: Atom| {
            let found = values.iter().find(|it| it.0 == atom);
            found.map_or_else(|| Poly::from(atom), |it| it.1.clone())
        };
        let last = it.last.replace(&known)?;
        match last.as_constant() {
            Some(it) if it < 0 => return None,
            Some(_) => {}
            // If this one is not run, none of the loop is.
            None if has_most_rounds(it, loops, &is_last) => _ = guards.insert(last.clone()),
            None => _ = depending.insert(last.clone()),
        }
        let value = if is_last(at) { last } else { Poly::default() };
        values.push((it.counter, value));
    }
    let system = System { zero: Vec::new(), at_least_zero: guards.iter().cloned().collect() };
    depending.iter().all(|it| system.implies_at_least_zero(it)).then_some(guards)
}
