//! Which elements of arrays each round of a loop touches: what a device brings nearer, some rounds at a time.
//!
//! In: a loop whose rounds are shared among threads. Out: [`Tiles`]: arrays whose elements lie, in round `t`, between
//! lines `at + step * t` ([`Reach`]), sums over variables as they are at the entry; and the arrays of which that is not
//! known, each with the access that stood in the way.
//!
//! A reach may be too large, never too small: who uses it asks at run time whether all of it is there. That rounds may
//! run in any order is the program's word, but copies that are written back must not bring old values along: so
//! elements of one round must not be another's, which is asked at run time too ([`Array::writes`]), and what one array
//! holds must not be reached through another, as far as it is written.

use std::collections::BTreeSet;

use ir::program::{StmtId, VarId};
use source::Span;

use crate::access::{Base, Context, Step, Touch};
use crate::alias::Apart;
use crate::dependence::Analysis;
use crate::extent::{Rounds, rounds_within};
use crate::finding::{Obstacle, Reason};
use crate::poly::{Atom, Poly, Value};
use crate::scan::Scan;
use crate::sharing::Marked;
use crate::sum::Sum;
use crate::system::System;
use crate::{bounds, normal, reduction, walk};

/// What the rounds of a loop touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Arrays, and pointers to arrays, whose elements are known by round.
    pub arrays: Vec<Array>,
    /// The others, with the access or statement that stood in the way.
    pub left: Vec<Left>,
}

/// An array, or a pointer that leads to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name.
    pub var: VarId,
    /// Where its elements lie, in all accesses.
    pub reaches: Vec<Reach>,
    /// Whether something is written; then no element may be touched by two rounds.
    pub writes: bool,
    /// Every round writes all elements of its reach before it reads any of them.
    pub fills: bool,
    /// None of these is negative, or else nothing is said.
    pub guards: Vec<Sum>,
}

/// Elements from `low` up to but not including `high`, both for one round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The first.
    pub low: Line,
    /// Behind the last.
    pub high: Line,
}

/// A value that grows by the same with each round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// In the first round.
    pub at: Sum,
    /// How much it grows.
    pub step: Sum,
}

impl Array {
    /// Whether all rounds touch the same elements, as far as can be seen.
    pub fn is_still(&self) -> bool {
        let is_still = |it: &Line| it.step.terms.is_empty();
        self.reaches.iter().all(|it| is_still(&it.low) && is_still(&it.high))
    }
}

/// An array of which nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its name.
    pub var: VarId,
    /// Why.
    pub why: Why,
    /// The access.
    pub span: Span,
}

/// Why elements are not known by round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The subscript is no line over rounds.
    Subscript,
    /// All rounds write the same elements.
    Shared,
    /// It may be reached in other ways too, and something is written.
    MayAlias,
    /// The pointer itself is changed, or may be.
    Changed,
}

impl Why {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Why::Subscript => "the elements of a round are not known",
            Why::Shared => "all rounds write the same elements",
            Why::MayAlias => "it may be reached through another name, and something is written",
            Why::Changed => "the pointer itself may be changed",
        }
    }
}

/// More ranges of one array are not worth comparing at run time.
const MOST_REACHES: usize = 4;

impl Analysis<'_> {
    /// What the rounds of a loop touch; the statement that hides it, if one does.
    ///
    /// # Errors
    /// If nothing can be said of the loop as a whole.
    pub fn tiles(&self, stmt: StmtId) -> Result<Tiles, Obstacle> {
        let program = self.program;
        let span = program.stmts[stmt].span;
        let Some(form) = normal::loop_form(program, stmt) else {
            return Err(Obstacle::new(Reason::NotNormal, span));
        };
        if self.aliases.is_exposed(program, form.var) {
            return Err(Obstacle::new(Reason::CounterChanged, span));
        }
        let scan = Scan::new(program, stmt);
        let around = self.outline.around(stmt);
        let marked = Marked::new(program, self.outline.governing(stmt));
        let recognised = reduction::recognise(program, stmt, &scan, &form);
        let reduced: BTreeSet<VarId> =
            recognised.iter().chain(&marked.reductions).map(|it| it.0).collect();
        let question = walk::Question {
            program,
            aliases: &self.aliases,
            effects: &self.effects,
            outline: &self.outline,
            stmt,
            form: Some(&form),
            scan: &scan,
            reduced: &reduced,
            private: &marked.private,
            around: &around,
        };
        let body = walk::run(&question);
        if let Some(obstacle) = body.obstacles.first() {
            return Err(obstacle.clone());
        }
        // Scalars that pointers may lead to are changed behind their back.
        let hidden = body
            .scalars
            .iter()
            .find(|(var, uses)| uses.written.is_some() && self.aliases.is_exposed(program, **var));
        if let Some((_, uses)) = hidden {
            return Err(Obstacle::new(Reason::MayAlias, uses.written.unwrap_or(span)));
        }
        Ok(self.sorted(&scan, &body.touches))
    }

    /// Arrays that are known, and those that are not.
    fn sorted(&self, scan: &Scan, touches: &[Touch]) -> Tiles {
        let mut tiles = Tiles { arrays: Vec::new(), left: Vec::new() };
        let named: BTreeSet<VarId> = touches.iter().filter_map(|it| self.array(it)).collect();
        for var in named {
            let own: Vec<&Touch> =
                touches.iter().filter(|it| self.array(it) == Some(var)).collect();
            match self.known(scan, var, &own) {
                Ok(array) => tiles.arrays.push(array),
                Err((why, span)) => tiles.left.push(Left { var, why, span }),
            }
        }
        // What stays where it is must not be what was brought nearer.
        loop {
            let is_brought = |it: &Touch| {
                self.array(it).is_some_and(|var| tiles.arrays.iter().any(|it| it.var == var))
            };
            let (near, far): (Vec<&Touch>, Vec<&Touch>) =
                touches.iter().partition(|it| is_brought(it));
            let met = near.iter().find_map(|a| {
                let other = far.iter().find(|b| (a.writes || b.writes) && self.may_meet(a, b))?;
                Some((self.array(a)?, other.span))
            });
            let Some((var, span)) = met else { return tiles };
            tiles.arrays.retain(|it| it.var != var);
            tiles.left.push(Left { var, why: Why::MayAlias, span });
        }
    }

    fn may_meet(&self, a: &Touch, b: &Touch) -> bool {
        let apart = self.aliases.apart(self.program, (a.place.base, a.ty), (b.place.base, b.ty));
        matches!(apart, Apart::Same | Apart::Perhaps)
    }

    /// The array, or the pointer to one, that an access names.
    fn array(&self, touch: &Touch) -> Option<VarId> {
        let types = &self.program.types;
        match touch.place.base {
            Base::Pointee(var) => Some(var),
            Base::Var(var) if types.element(self.program.vars[var].ty).is_some() => Some(var),
            Base::Var(_) | Base::Held(_) | Base::Unknown | Base::Nowhere => None,
        }
    }

    fn known(&self, scan: &Scan, var: VarId, touches: &[&Touch]) -> Result<Array, (Why, Span)> {
        let program = self.program;
        let first = touches.first().map_or(Span::NONE, |it| it.span);
        let is_pointer = program.types.pointee(program.vars[var].ty).is_some();
        if scan.writes.contains_key(&var) || (is_pointer && self.aliases.is_exposed(program, var)) {
            return Err((Why::Changed, first));
        }
        let mut reaches: Vec<(Poly, Poly)> = Vec::new();
        let mut guards = BTreeSet::new();
        for touch in touches {
            let unknown = (Why::Subscript, touch.span);
            let found = self.reach(var, touch, &mut guards).ok_or(unknown)?;
            if !reaches.iter_mut().any(|it| widen(it, &found).is_some()) {
                reaches.push(found);
            }
        }
        if reaches.is_empty() || reaches.len() > MOST_REACHES {
            return Err((Why::Subscript, first));
        }
        let told = |poly: &Poly| line(poly);
        let told: Option<Vec<Reach>> = reaches
            .iter()
            .map(|(low, high)| Some(Reach { low: told(low)?, high: told(high)? }))
            .collect();
        let guards: Option<Vec<Sum>> = guards.iter().map(Sum::of).collect();
        let (Some(reaches), Some(guards)) = (told, guards) else {
            return Err((Why::Subscript, first));
        };
        let written = touches.iter().find(|it| it.writes);
        let is_whole = |it: &&Touch| it.size.is_some_and(|it| Some(it) == self.element_size(var));
        let fills =
            reaches.len() == 1 && touches.first().is_some_and(is_whole) && fills(scan, touches);
        let array = Array { var, reaches, writes: written.is_some(), fills, guards };
        match written {
            Some(it) if array.is_still() => Err((Why::Shared, it.span)),
            Some(_) | None => Ok(array),
        }
    }

    fn element_size(&self, var: VarId) -> Option<u64> {
        let program = self.program;
        let ty = program.vars[var].ty;
        let element = program.types.pointee(ty).or_else(|| program.types.element(ty))?;
        program.model.size_of(&program.types, element).ok()
    }

    /// The ends of what one access touches in a round, over the counter of the examined loop.
    fn reach(
        &self,
        var: VarId,
        touch: &Touch,
        guards: &mut BTreeSet<Poly>,
    ) -> Option<(Poly, Poly)> {
        let program = self.program;
        let size = self.element_size(var)?;
        let by = subscript(touch)?;
        let Some(Step::Index { stride, .. }) = touch.place.path.first() else { return None };
        if *stride != Some(size) || size == 0 || touch.size? > size {
            return None;
        }
        let stated = System { zero: Vec::new(), at_least_zero: touch.facts.as_ref().clone() };
        if !touch.place.path.iter().skip(1).all(|it| bounds::stays_inside(&stated, it)) {
            return None;
        }
        let facts = bounds::with_ranges(program, &touch.facts, [by]);
        let system = System { zero: Vec::new(), at_least_zero: facts };
        let loops = rounds_within(touch, Some(round()))?;
        let low = end(by, &loops, &system, false, guards)?;
        let high = end(by, &loops, &system, true, guards)?;
        Some((low, high.plus(1)?))
    }
}

/// The counter of the examined loop.
fn round() -> Atom {
    Atom::of(Value::Trip(0))
}

/// How many elements on from the first.
fn subscript(touch: &Touch) -> Option<&Poly> {
    match touch.place.path.first() {
        Some(Step::Index { by, .. }) if !touch.place.anywhere => Some(by),
        Some(Step::Index { .. } | Step::Field(..)) | None => None,
    }
}

/// The smallest or largest value over the loops inside; what is not known to be positive is believed, and asked.
fn end(
    by: &Poly,
    loops: &[Rounds],
    system: &System,
    largest: bool,
    guards: &mut BTreeSet<Poly>,
) -> Option<Poly> {
    let mut value = by.clone();
    // Innermost first: the last round of a loop may depend on outer counters.
    for it in loops.iter().rev() {
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
            guards.insert(factor.clone());
            true
        };
        value = if grows == largest { rest.add(&factor.mul(&it.last)?)? } else { rest };
    }
    Some(value)
}

/// Both in one, if it is known which end is lower and which higher.
fn widen(known: &mut (Poly, Poly), other: &(Poly, Poly)) -> Option<()> {
    let low = other.0.sub(&known.0)?.as_constant()?;
    let high = other.1.sub(&known.1)?.as_constant()?;
    if low < 0 {
        known.0 = other.0.clone();
    }
    if high > 0 {
        known.1 = other.1.clone();
    }
    Some(())
}

fn line(poly: &Poly) -> Option<Line> {
    let (step, at) = poly.divided_by(round());
    Some(Line { at: Sum::of(&at)?, step: Sum::of(&step)? })
}

/// Whether each round writes all elements between its first and last before it reads one: a write that is made in each
/// round of at most one loop, element by element, and whatever else touches the array does so behind it.
fn fills(scan: &Scan, touches: &[&Touch]) -> bool {
    let Some((first, rest)) = touches.split_first() else { return false };
    let is_certain = first.writes
        && !scan.has_jumps
        && first.context.iter().all(|it| matches!(it, Context::Loop(_, Some(_))));
    let is_whole = first.place.path.len() == 1;
    let Some(by) = subscript(first) else { return false };
    let inner = by.atoms().filter(|it| it.varies() && *it != round());
    let inner: BTreeSet<Atom> = inner.collect();
    let is_dense = match inner.iter().copied().collect::<Vec<_>>().as_slice() {
        [] => true,
        [one] => by.divided_by(*one).0.as_constant() == Some(1),
        _ => false,
    };
    let follows =
        |it: &&Touch| it.place == first.place && it.context.starts_with(first.context.as_slice());
    is_certain && is_whole && is_dense && rest.iter().all(follows)
}
