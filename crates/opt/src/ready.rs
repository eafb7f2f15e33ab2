//! Accesses prepared for comparing, and what was once found out of them.
//!
//! In: the accesses of one loop's body. Out: for any two of them, whether they may reach the same bytes in
//! different iterations ([`Compared`]). Bodies have many accesses and few subscripts: facts, subscripts, differences of
//! subscripts and whole systems are kept by number, so that each is worked out once.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use ir::program::Program;
use ir::types::Ty;
use rustc_hash::FxHashMap;

use crate::access::{Base, Extent, Step, Touch};
use crate::alias::{Aliases, Apart};
use crate::bounds::{stays_inside, with_ranges};
use crate::finding::Access;
use crate::poly::{Atom, Poly, Value};
use crate::system::{Answer, System};

/// Distances up to this are told.
const MAX_DISTANCE: i128 = 16;

/// An access, prepared for comparing.
pub(crate) struct Ready<'a> {
    pub(crate) touch: &'a Touch,
    /// It is a scalar that is accessed by its name.
    pub(crate) is_scalar: bool,
    /// Whether its place is known but for trip counters.
    pub(crate) is_affine: bool,
    /// What holds when it happens, the ranges of types included: the number of the list.
    facts: usize,
    /// Its object and type, by number.
    side: usize,
    steps: Vec<ReadyStep>,
}

/// A step of the way to an access.
struct ReadyStep {
    /// Whether what follows stays inside of it.
    is_closed: bool,
    /// For a subscript, its number.
    index: Option<usize>,
    /// For a subscript that is a number, that.
    number: Option<i128>,
}

/// A subscript under certain facts.
struct Index {
    /// As the earlier and the later instance see it.
    sides: [Option<Poly>; 2],
    radices: Vec<Poly>,
    /// Its digits, likewise.
    digits: Vec<[Option<Poly>; 2]>,
    is_affine: bool,
}

/// A subscript in parts: equal subscripts of equal radices have equal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Digits {
    radices: Vec<Poly>,
    digits: Vec<Poly>,
}

/// When two places are the same.
pub(crate) enum Compared {
    /// Never: they are different members of a structure, or elements that are told apart by numbers.
    Apart,
    /// If this has a solution.
    If(Rc<Met>),
    /// At any time: of one of them nothing is known but the object.
    Anywhere,
}

/// Whether a system has solutions, and at which distances.
pub(crate) struct Met {
    pub(crate) answer: Answer,
    system: System,
    distance: OnceCell<Option<u64>>,
}

impl Met {
    /// The distance, if there is only one.
    pub(crate) fn distance(&self) -> Option<u64> {
        *self.distance.get_or_init(|| distance(&self.system))
    }
}

/// A system: facts of both accesses, what is zero and what is not negative besides, all by number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Key {
    facts: (usize, usize),
    zero: Vec<usize>,
    at_least_zero: Vec<usize>,
}

/// Values by number, each once.
struct Numbered<T> {
    list: Vec<T>,
    known: FxHashMap<T, usize>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Numbered<T> {
        Numbered { list: Vec::new(), known: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    fn number(&mut self, value: T) -> usize {
        if let Some(&it) = self.known.get(&value) {
            return it;
        }
        let number = self.list.len();
        self.list.push(value.clone());
        self.known.insert(value, number);
        number
    }
}

/// What was found out of the accesses of one body.
pub(crate) struct Table<'a> {
    program: &'a Program,
    facts: Numbered<Vec<Poly>>,
    /// Facts as the earlier and the later instance see them.
    instances: FxHashMap<(usize, u8), Rc<Vec<Poly>>>,
    indices: Vec<Index>,
    known_indices: FxHashMap<(usize, Poly), usize>,
    /// Whether a subscript is within its array, by facts.
    inside: FxHashMap<(usize, Poly, Option<Extent>), bool>,
    sides: Numbered<(Base, Option<Ty>)>,
    apart: FxHashMap<(usize, usize), Apart>,
    polys: Numbered<Poly>,
    /// What is zero if two subscripts are equal; nothing if they never are.
    equal: FxHashMap<(usize, usize), Option<Rc<Vec<usize>>>>,
    answers: FxHashMap<Key, Rc<Met>>,
}

impl<'p> Table<'p> {
    pub(crate) fn new(program: &'p Program) -> Table<'p> {
        Table {
            program,
            facts: Numbered::default(),
            instances: FxHashMap::default(),
            indices: Vec::new(),
            known_indices: FxHashMap::default(),
            inside: FxHashMap::default(),
            sides: Numbered::default(),
            apart: FxHashMap::default(),
            polys: Numbered::default(),
            equal: FxHashMap::default(),
            answers: FxHashMap::default(),
        }
    }

    pub(crate) fn ready<'a>(&mut self, touch: &'a Touch) -> Ready<'a> {
        let program = self.program;
        let place = &touch.place;
        let polys = place.path.iter().filter_map(|it| match it {
            Step::Index { by, .. } => Some(by),
            Step::Field(..) => None,
        });
        let facts = self.facts.number(with_ranges(program, &touch.facts, polys));
        let stated = self.facts.number(touch.facts.as_ref().clone());
        let mut is_closed = fits(program, touch);
        let mut is_affine = !place.anywhere;
        let mut steps = Vec::with_capacity(place.path.len());
        for step in place.path.iter().rev() {
            let mut ready = ReadyStep { is_closed, index: None, number: None };
            if let Step::Index { by, .. } = step {
                let index = self.index(facts, by);
                is_affine &= self.indices.get(index).is_some_and(|it| it.is_affine);
                ready.index = Some(index);
                ready.number = by.as_constant();
            }
            steps.push(ready);
            is_closed = is_closed && self.stays_inside(stated, step);
        }
        steps.reverse();
        let ty = touch.ty.filter(|_| !place.anywhere && place.path.is_empty());
        let is_scalar = ty.is_some_and(|it| program.types.is_scalar(it));
        let side = self.sides.number((place.base, touch.ty));
        Ready { touch, is_scalar, is_affine, facts, side, steps }
    }

    fn index(&mut self, facts: usize, by: &Poly) -> usize {
        if let Some(&it) = self.known_indices.get(&(facts, by.clone())) {
            return it;
        }
        let list = self.facts.list.get(facts).cloned().unwrap_or_default();
        let Digits { radices, digits } =
            split(by, &System { zero: Vec::new(), at_least_zero: list });
        let sides = |it: &Poly| [instance(it, 1), instance(it, 2)];
        let number = self.indices.len();
        self.indices.push(Index {
            sides: sides(by),
            is_affine: is_known(by) || !radices.is_empty(),
            radices,
            digits: digits.iter().map(sides).collect(),
        });
        self.known_indices.insert((facts, by.clone()), number);
        number
    }

    fn stays_inside(&mut self, stated: usize, step: &Step) -> bool {
        let Step::Index { by, within, .. } = step else { return true };
        let key = (stated, by.clone(), *within);
        if let Some(&it) = self.inside.get(&key) {
            return it;
        }
        let list = self.facts.list.get(stated).cloned().unwrap_or_default();
        let is_inside = stays_inside(&System { zero: Vec::new(), at_least_zero: list }, step);
        self.inside.insert(key, is_inside);
        is_inside
    }

    /// Whether two accesses are of different objects.
    pub(crate) fn apart(&mut self, aliases: &Aliases, a: &Ready<'_>, b: &Ready<'_>) -> Apart {
        let side = |it: &Ready<'_>| (it.touch.place.base, it.touch.ty);
        let known = self.apart.entry((a.side, b.side));
        *known.or_insert_with(|| aliases.apart(self.program, side(a), side(b)))
    }

    /// When `first` in one iteration and `second` in a later one are at the same place.
    pub(crate) fn compared(&mut self, first: &Ready<'_>, second: &Ready<'_>) -> Compared {
        let (a, b) = (&first.touch.place, &second.touch.place);
        if a.anywhere || b.anywhere {
            return Compared::Anywhere;
        }
        let mut key = Key { facts: (first.facts, second.facts), ..Key::default() };
        let mut at = 0;
        loop {
            let is_closed = first.is_closed(at) && second.is_closed(at);
            match (a.path.get(at), b.path.get(at)) {
                (None, None) => break,
                (Some(x), Some(y)) if is_closed && alike(x, y) => {
                    let index = |it: &Ready<'_>| it.steps.get(at).and_then(|it| it.index);
                    if let (Some(x), Some(y)) = (index(first), index(second)) {
                        let Some(zero) = self.equal(x, y) else { return Compared::Apart };
                        key.zero.extend(zero.iter());
                    }
                }
                (Some(Step::Field(record, i)), Some(Step::Field(other, j)))
                    if record == other
                        && i != j
                        && is_closed
                        && are_apart(self.program, *record, *i, *j) =>
                {
                    return Compared::Apart;
                }
                (_, _) => {
                    let bounds = overlap(self.program, at, first.touch, second.touch);
                    key.at_least_zero.extend(bounds.into_iter().map(|it| self.polys.number(it)));
                    break;
                }
            }
            at += 1;
        }
        Compared::If(self.answered(key))
    }

    /// What is zero if two subscripts are equal, the first in the earlier instance; nothing if they never are.
    fn equal(&mut self, x: usize, y: usize) -> Option<Rc<Vec<usize>>> {
        if let Some(known) = self.equal.get(&(x, y)) {
            return known.clone();
        }
        let found = self.differences(x, y).map(|it| {
            Rc::new(it.into_iter().map(|it| self.polys.number(it)).collect::<Vec<usize>>())
        });
        self.equal.insert((x, y), found.clone());
        found
    }

    fn differences(&self, x: usize, y: usize) -> Option<Vec<Poly>> {
        let (Some(a), Some(b)) = (self.indices.get(x), self.indices.get(y)) else {
            return Some(Vec::new());
        };
        let mut pairs = vec![(&a.sides, &b.sides)];
        if a.radices == b.radices && !a.radices.is_empty() {
            pairs.extend(a.digits.iter().zip(&b.digits));
        }
        let mut found = Vec::new();
        for ([earlier, _], [_, later]) in pairs {
            let (Some(earlier), Some(later)) = (earlier, later) else { continue };
            let Some(difference) = earlier.sub(later) else { continue };
            match difference.as_constant() {
                Some(0) => {}
                Some(_) => return None,
                None => found.push(difference),
            }
        }
        Some(found)
    }

    fn answered(&mut self, key: Key) -> Rc<Met> {
        if let Some(known) = self.answers.get(&key) {
            return Rc::clone(known);
        }
        let mut system = System::default();
        system.at_least_zero.extend(Poly::atom(Value::Distance).plus(-1));
        for (facts, side) in [(key.facts.0, 1), (key.facts.1, 2)] {
            system.at_least_zero.extend(self.instances(facts, side).iter().cloned());
        }
        let polys = |list: &[usize]| -> Vec<Poly> {
            list.iter().filter_map(|it| self.polys.list.get(*it).cloned()).collect()
        };
        system.zero.extend(polys(&key.zero));
        system.at_least_zero.extend(polys(&key.at_least_zero));
        let met = Rc::new(Met { answer: system.answer(), system, distance: OnceCell::new() });
        self.answers.insert(key, Rc::clone(&met));
        met
    }

    fn instances(&mut self, facts: usize, side: u8) -> Rc<Vec<Poly>> {
        let list = self.facts.list.get(facts).map(Vec::as_slice).unwrap_or_default();
        let made = || Rc::new(list.iter().filter_map(|it| instance(it, side)).collect());
        Rc::clone(self.instances.entry((facts, side)).or_insert_with(made))
    }
}

impl Ready<'_> {
    pub(crate) fn access(&self) -> Access {
        let var = match self.touch.place.base {
            Base::Var(var) | Base::Pointee(var) => Some(var),
            Base::Held(_) | Base::Unknown | Base::Nowhere => None,
        };
        Access { var, writes: self.touch.writes, span: self.touch.span }
    }

    fn is_closed(&self, at: usize) -> bool {
        self.steps.get(at).is_some_and(|it| it.is_closed)
    }
}

/// Whether two accesses to one object have different numbers for subscripts.
pub(crate) fn is_apart_by_numbers(a: &Ready<'_>, b: &Ready<'_>) -> bool {
    let (x, y) = (&a.touch.place, &b.touch.place);
    if x.anywhere || y.anywhere {
        return false;
    }
    let paths = x.path.iter().zip(&y.path);
    for ((a, b), (x, y)) in a.steps.iter().zip(&b.steps).zip(paths) {
        if !a.is_closed || !b.is_closed || !alike(x, y) {
            return false;
        }
        if let (Some(a), Some(b)) = (a.number, b.number)
            && a != b
        {
            return true;
        }
    }
    false
}

/// Whether a subscript is known but for trip counters.
fn is_known(by: &Poly) -> bool {
    by.terms().all(|(monomial, _)| {
        let is_varying = |it: &Atom| matches!(it.value, Value::Varying(_));
        !monomial.iter().any(is_varying)
            && (monomial.len() < 2 || !monomial.iter().any(|it| it.varies()))
    })
}

/// Whether an access is no larger than what the way to it leads to.
fn fits(program: &Program, touch: &Touch) -> bool {
    let Some(ty) = touch.ty else { return false };
    let target = match touch.place.path.last() {
        Some(Step::Index { element, .. }) => *element,
        Some(Step::Field(record, field)) => {
            let fields = program.types.records[*record].fields.as_deref().unwrap_or_default();
            match fields.get(*field as usize) {
                Some(it) => it.ty,
                None => return false,
            }
        }
        None => return true,
    };
    if ty.plain() == target.plain() {
        return true;
    }
    let size = |ty| program.model.size_of(&program.types, ty).ok();
    match (size(ty), size(target)) {
        (Some(access), Some(target)) => access <= target,
        _ => false,
    }
}

/// Splits `q * n + r` with `0 <= r < n` into `q` and `r`, again and again.
fn split(by: &Poly, system: &System) -> Digits {
    let mut found = Digits { radices: Vec::new(), digits: Vec::new() };
    let mut rest = by.clone();
    while let Some((radix, quotient, digit)) = split_once(&rest, system) {
        found.radices.push(radix);
        found.digits.push(digit);
        rest = quotient;
    }
    found.digits.push(rest);
    found
}

fn split_once(by: &Poly, system: &System) -> Option<(Poly, Poly, Poly)> {
    let factors: BTreeSet<Atom> = by
        .terms()
        .filter(|(monomial, _)| monomial.iter().any(|it| it.varies()))
        .flat_map(|(monomial, _)| monomial.iter().copied().filter(|it| !it.varies()))
        .collect();
    // A number as radix is of use only where symbols are above it: else the system sees it itself.
    let numbers: BTreeSet<i128> = if factors.is_empty() {
        BTreeSet::new()
    } else {
        by.terms().filter(|it| !it.0.is_empty() && it.1 > 1).map(|it| it.1).collect()
    };
    for radix in numbers {
        let Some((quotient, digit)) = by.divided_by_number(radix) else { continue };
        let radix = Poly::constant(radix);
        if is_digit(&digit, &radix, system) {
            return Some((radix, quotient, digit));
        }
    }
    for factor in factors {
        for offset in [0, 1, -1, 2, -2] {
            // n = m - offset: the radix is then m = n + offset.
            let shift = |atom: Atom| {
                let plain = Poly::from(atom);
                if atom == factor { plain.plus(-offset).unwrap_or(plain) } else { plain }
            };
            let Some(shifted) = by.replace(&shift) else { continue };
            let (quotient, digit) = shifted.divided_by(factor);
            // Back to what it was.
            let unshift = |atom: Atom| {
                let plain = Poly::from(atom);
                if atom == factor { plain.plus(offset).unwrap_or(plain) } else { plain }
            };
            let back = (quotient.replace(&unshift), digit.replace(&unshift));
            let (Some(quotient), Some(digit)) = back else { continue };
            let Some(radix) = Poly::from(factor).plus(offset) else { continue };
            if is_digit(&digit, &radix, system) {
                return Some((radix, quotient, digit));
            }
        }
    }
    None
}

/// Whether `0 <= digit < radix`.
fn is_digit(digit: &Poly, radix: &Poly, system: &System) -> bool {
    let below = radix.sub(digit).and_then(|it| it.plus(-1));
    system.implies_at_least_zero(digit) && below.is_some_and(|it| system.implies_at_least_zero(&it))
}

/// The distance, if there is only one.
fn distance(system: &System) -> Option<u64> {
    let apart = Poly::atom(Value::Distance);
    for distance in 1..=MAX_DISTANCE {
        let mut here = system.clone();
        here.zero.push(apart.plus(-distance)?);
        if here.answer() == Answer::Perhaps {
            let mut beyond = system.clone();
            beyond.at_least_zero.push(apart.plus(-distance - 1)?);
            let is_only = beyond.answer() == Answer::Never;
            return if is_only { u64::try_from(distance).ok() } else { None };
        }
    }
    None
}

/// One value as the earlier or the later instance sees it.
fn instance(poly: &Poly, side: u8) -> Option<Poly> {
    poly.replace(&|atom: Atom| {
        if !atom.varies() {
            return Poly::from(atom);
        }
        if atom.value == Value::Trip(0) {
            let earlier = Poly::from(Atom { side: 1, ..atom });
            let distance = Poly::atom(Value::Distance);
            return if side == 1 { earlier } else { earlier.add(&distance).unwrap_or(earlier) };
        }
        Poly::from(Atom { side, ..atom })
    })
}

/// Whether two steps count the same things, or are the same member.
fn alike(x: &Step, y: &Step) -> bool {
    match (x, y) {
        (Step::Index { element: a, stride: x, .. }, Step::Index { element: b, stride: y, .. }) => {
            a == b || (x.is_some() && x == y)
        }
        (Step::Field(a, x), Step::Field(b, y)) => (a, x) == (b, y),
        (Step::Index { .. }, Step::Field(..)) | (Step::Field(..), Step::Index { .. }) => false,
    }
}

/// Different members of a structure do not overlap; of a union they do, and bit-fields may.
fn are_apart(program: &Program, record: ir::types::RecordId, i: u32, j: u32) -> bool {
    let record = &program.types.records[record];
    let fields = record.fields.as_deref().unwrap_or_default();
    let is_bit_field = |at: u32| fields.get(at as usize).is_none_or(|it| it.bits.is_some());
    !record.is_union && !is_bit_field(i) && !is_bit_field(j)
}

/// What is not negative if the bytes of two accesses overlap from step `at` on.
fn overlap(program: &Program, at: usize, first: &Touch, second: &Touch) -> Vec<Poly> {
    let bytes = |touch: &Touch, side| {
        let start = touch.place.offset(program, at)?;
        Some((instance(&start, side)?, i128::from(touch.size?)))
    };
    let (Some((a, a_size)), Some((b, b_size))) = (bytes(first, 1), bytes(second, 2)) else {
        return Vec::new();
    };
    let bounds = [
        a.plus(a_size - 1).and_then(|it| it.sub(&b)),
        b.plus(b_size - 1).and_then(|it| it.sub(&a)),
    ];
    bounds.into_iter().flatten().collect()
}
