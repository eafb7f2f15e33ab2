//! Whether two accesses reach the same memory in different iterations.
//!
//! In: the accesses of an iteration ([`crate::walk::Body`]). Out: nothing, if no two of them meet, else the verdict
//! that says which do. Each pair is asked twice, either access being the earlier one. The question becomes
//! a system of equations and inequalities ([`crate::system`]) over the trip counters of
//! both instances: subscripts are equal, dimension by dimension, bounds and conditions hold, and the
//! distance is at least one.
//!
//! What a subscript like `i * n + j` means is found by [`digits`]: if `j` is within `0..n`, it is
//! two subscripts.

use std::collections::BTreeSet;

use ir::program::{Program, VarId};
use ir::types::Ty;

use crate::access::{Base, Extent, Place, Step, Touch};
use crate::alias::Apart;
use crate::certain;
use crate::conditions;
use crate::dependence::{
    Access, Carried, DependenceKind, Fact, Finding, Obstacle, Reason, Verdict,
};
use crate::far;
use crate::poly::{Atom, Poly, Value};
use crate::system::{Answer, System};
use crate::walk::{Body, Question};

/// More pairs than this are not compared.
const MAX_PAIRS: usize = 40_000;
/// Distances up to this are told.
const MAX_DISTANCE: i128 = 16;
/// A bound below this is a number that the program states.
const STATED: i128 = 1 << 40;

/// An access, prepared for comparing.
struct Ready<'a> {
    touch: &'a Touch,
    /// What holds when it happens, the ranges of types included.
    facts: Vec<Poly>,
    /// For each step, whether what follows it stays inside of it.
    closed: Vec<bool>,
    /// For each step that is a subscript, its digits.
    digits: Vec<Digits>,
}

/// A subscript in parts: equal subscripts of equal radices have equal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Digits {
    radices: Vec<Poly>,
    digits: Vec<Poly>,
}

/// Compares all pairs.
pub(crate) fn compare(q: &Question<'_>, body: &Body, finding: &mut Finding) -> Result<(), Verdict> {
    let touches = distinct(&body.touches);
    let written = touches.iter().filter(|it| it.writes).count();
    if written * touches.len() > MAX_PAIRS {
        let obstacle = Obstacle::new(Reason::TooLarge, finding.span);
        return Err(Verdict::Unknown(obstacle));
    }
    let ready: Vec<Ready<'_>> = touches.iter().map(|it| Ready::new(q.program, it)).collect();
    let mut worst: Option<Verdict> = None;
    let mut met = Vec::new();
    let mut open = Vec::new();
    let mut compared = 0;
    for (at, a) in ready.iter().enumerate() {
        for b in ready.iter().skip(at) {
            if !a.touch.writes && !b.touch.writes {
                continue;
            }
            if is_followed(q, a.touch, b.touch) {
                continue;
            }
            compared += 1;
            match q.aliases.apart(q.program, a.side(), b.side()) {
                Apart::Different => {}
                Apart::Restrict(var) => note(finding, Fact::Restrict(var)),
                Apart::Known(x, y) => note(finding, Fact::PointsApart(x.min(y), x.max(y))),
                Apart::Perhaps => {
                    open.push((a.touch, b.touch));
                }
                Apart::Same => {
                    for (first, second) in [(a, b), (b, a)] {
                        if let Some(mut found) = meet(q.program, first, second) {
                            met.push((first.touch, second.touch));
                            make_certain(q, body, (first.touch, second.touch), &mut found);
                            keep_worst(&mut worst, found);
                        }
                    }
                }
            }
        }
    }
    if let Some(verdict) = worst {
        // Where pointers may be alike as well, that would have to be asked too.
        if let (Verdict::Carried(_), true, Some(room)) =
            (&verdict, open.is_empty(), &body.around.room)
        {
            let step = q.form.map_or(1, |it| it.step);
            finding.apart = far::of(&met, room, step).unwrap_or_default();
        }
        return Err(verdict);
    }
    if let Some((a, b)) = open.first() {
        finding.conditions = conditions::of(q.program, &open).unwrap_or_default();
        let mut obstacle = Obstacle::new(Reason::MayAlias, a.span);
        obstacle.other = Some(b.span);
        return Err(Verdict::Unknown(obstacle));
    }
    if compared > 0 {
        finding.facts.insert(0, Fact::Compared(compared));
    }
    Ok(())
}

/// Whether any two of these, all in one object, meet.
pub(crate) fn any_meet(program: &Program, touches: &[&Touch]) -> bool {
    let ready: Vec<Ready<'_>> = touches.iter().map(|it| Ready::new(program, it)).collect();
    ready.iter().any(|a| {
        let is_pair = |b: &&Ready<'_>| a.touch.writes || b.touch.writes;
        ready.iter().filter(is_pair).any(|b| meet(program, a, b).is_some())
    })
}

/// Whether the order of reads and writes was looked at when the body was walked: a scalar that is
/// accessed by its name, or an array that a directive combines.
fn is_followed(q: &Question<'_>, a: &Touch, b: &Touch) -> bool {
    let is_scalar = |it: &Touch| {
        let ty = it.ty.filter(|_| !it.place.anywhere && it.place.path.is_empty());
        ty.is_some_and(|it| q.program.types.is_scalar(it))
    };
    match (a.place.base, b.place.base) {
        (Base::Var(x), Base::Var(y)) if x == y => {
            q.reduced.contains(&x) || (is_scalar(a) && is_scalar(b))
        }
        _ => false,
    }
}

fn note(finding: &mut Finding, fact: Fact) {
    if !finding.facts.contains(&fact) {
        finding.facts.push(fact);
    }
}

/// Says of a dependence whether it is steady, and whether it is certain. Two writes may write the same
/// value: their order need not matter.
fn make_certain(q: &Question<'_>, body: &Body, pair: (&Touch, &Touch), found: &mut Verdict) {
    let Verdict::Carried(it) = found else { return };
    if q.scan.has_jumps {
        return;
    }
    it.steady = certain::is_steady(pair.0, pair.1, it.distance);
    if it.kind != DependenceKind::Output {
        it.certain = certain::meet(q.program, &body.around, pair.0, pair.1, it.distance);
    }
}

/// A certain dependence tells most, then a steady one, and a value that is passed on more than one that
/// is overwritten.
fn keep_worst(worst: &mut Option<Verdict>, found: Verdict) {
    let rank = |it: &Verdict| match it {
        Verdict::Carried(it) if it.certain => match it.kind {
            DependenceKind::Flow => 9,
            DependenceKind::Output => 8,
            DependenceKind::Anti => 7,
        },
        Verdict::Carried(it) if it.steady => match it.kind {
            DependenceKind::Flow => 6,
            DependenceKind::Output => 5,
            DependenceKind::Anti => 4,
        },
        Verdict::Carried(it) => match it.kind {
            DependenceKind::Flow => 3,
            DependenceKind::Output => 2,
            DependenceKind::Anti => 1,
        },
        Verdict::Unknown(_) => 0,
        Verdict::Parallel => -1,
    };
    if worst.as_ref().is_none_or(|it| rank(it) < rank(&found)) {
        *worst = Some(found);
    }
}

/// Accesses that differ in more than where they were written.
fn distinct(touches: &[Touch]) -> Vec<Touch> {
    let mut seen = BTreeSet::new();
    let is_new =
        |it: &&Touch| seen.insert((it.place.clone(), it.ty, it.writes, it.facts.as_ref().clone()));
    touches.iter().filter(is_new).cloned().collect()
}

impl<'a> Ready<'a> {
    fn new(program: &Program, touch: &'a Touch) -> Ready<'a> {
        let polys = touch.place.path.iter().filter_map(|it| match it {
            Step::Index { by, .. } => Some(by),
            Step::Field(..) => None,
        });
        let facts = with_ranges(program, &touch.facts, polys);
        let stated = System { zero: Vec::new(), at_least_zero: touch.facts.as_ref().clone() };
        let path = &touch.place.path;
        let mut closed = vec![fits(program, touch); path.len()];
        let mut is_closed = fits(program, touch);
        for (at, step) in path.iter().enumerate().rev() {
            if let Some(it) = closed.get_mut(at) {
                *it = is_closed;
            }
            is_closed &= stays_inside(&stated, step);
        }
        let system = System { zero: Vec::new(), at_least_zero: facts.clone() };
        let digits = path
            .iter()
            .map(|it| match it {
                Step::Index { by, .. } => split(by, &system),
                Step::Field(..) => Digits::default(),
            })
            .collect();
        Ready { touch, facts, closed, digits }
    }

    fn side(&self) -> (Base, Option<Ty>) {
        (self.touch.place.base, self.touch.ty)
    }

    fn access(&self) -> Access {
        let var = match self.touch.place.base {
            Base::Var(var) | Base::Pointee(var) => Some(var),
            Base::Held(_) | Base::Unknown | Base::Nowhere => None,
        };
        Access { var, writes: self.touch.writes, span: self.touch.span }
    }

    /// Whether its place is known but for trip counters.
    fn is_affine(&self) -> bool {
        let is_known = |by: &Poly| {
            by.terms().all(|(monomial, _)| {
                let is_varying = |it: &Atom| matches!(it.value, Value::Varying(_));
                !monomial.iter().any(is_varying)
                    && (monomial.len() < 2 || !monomial.iter().any(|it| it.varies()))
            })
        };
        !self.touch.place.anywhere
            && self.touch.place.path.iter().zip(&self.digits).all(|(step, digits)| match step {
                Step::Index { by, .. } => is_known(by) || !digits.radices.is_empty(),
                Step::Field(..) => true,
            })
    }
}

/// Facts, and what the types of variables in them and in other polynomials say besides.
pub(crate) fn with_ranges<'p>(
    program: &Program,
    facts: &[Poly],
    others: impl IntoIterator<Item = &'p Poly>,
) -> Vec<Poly> {
    let of_facts = facts.iter().flat_map(Poly::atoms);
    let atoms: BTreeSet<Atom> = others.into_iter().flat_map(Poly::atoms).chain(of_facts).collect();
    let mut facts = facts.to_vec();
    for atom in atoms {
        if let Value::Entry(var) = atom.value {
            facts.extend(range(program, var));
        }
    }
    facts
}

/// What the type of a variable says of its value.
fn range(program: &Program, var: VarId) -> Vec<Poly> {
    let Some(kind) = program.types.integer_kind(program.vars[var].ty) else { return Vec::new() };
    let (low, high) = program.model.int_range(kind);
    let value = Poly::atom(Value::Entry(var));
    let bounds = [value.plus(low.wrapping_neg()), Poly::constant(high).sub(&value)];
    bounds.into_iter().flatten().collect()
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

/// Whether a subscript is within the array it is written for, as C asks. Where numbers in the
/// program say otherwise it is taken for one that walks over several rows.
pub(crate) fn stays_inside(stated: &System, step: &Step) -> bool {
    let (by, len) = match step {
        Step::Field(..) => return true,
        Step::Index { within: None, .. } => return false,
        Step::Index { within: Some(Extent::Computed), .. } => return true,
        Step::Index { by, within: Some(Extent::Known(len)), .. } => (by, i128::from(*len)),
    };
    let at_most = |limit: i128| {
        Poly::constant(limit).sub(by).is_some_and(|it| stated.implies_at_least_zero(&it))
    };
    let at_least =
        |limit: i128| by.plus(-limit).is_some_and(|it| stated.implies_at_least_zero(&it));
    let is_over = at_most(STATED) && !at_most(len - 1);
    let is_under = at_least(-STATED) && !at_least(0);
    !is_over && !is_under
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

/// Whether `first` in one iteration and `second` in a later one may reach the same bytes.
fn meet(program: &Program, first: &Ready<'_>, second: &Ready<'_>) -> Option<Verdict> {
    let system = match compared(program, first, second) {
        Compared::Apart => return None,
        Compared::If(system) if system.answer() == Answer::Never => return None,
        Compared::If(system) => Some(system),
        Compared::Anywhere => None,
    };
    let kind = match (first.touch.writes, second.touch.writes) {
        (true, true) => DependenceKind::Output,
        (true, false) => DependenceKind::Flow,
        (false, true | false) => DependenceKind::Anti,
    };
    if !first.is_affine() || !second.is_affine() {
        let (unclear, other) = if first.is_affine() { (second, first) } else { (first, second) };
        let mut obstacle = Obstacle::new(Reason::Subscript, unclear.touch.span);
        obstacle.other = Some(other.touch.span);
        return Some(Verdict::Unknown(obstacle));
    }
    let distance = system.as_ref().and_then(distance);
    Some(Verdict::Carried(Carried {
        first: first.access(),
        second: second.access(),
        kind,
        distance,
        certain: false,
        steady: false,
    }))
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

/// When two places are the same.
enum Compared {
    /// Never: they are different members of a structure.
    Apart,
    /// If this has a solution.
    If(System),
    /// At any time: of one of them nothing is known but the object.
    Anywhere,
}

fn compared(program: &Program, first: &Ready<'_>, second: &Ready<'_>) -> Compared {
    let mut system = System::default();
    system.at_least_zero.extend(Poly::atom(Value::Distance).plus(-1));
    for (ready, side) in [(first, 1), (second, 2)] {
        system.at_least_zero.extend(ready.facts.iter().filter_map(|it| instance(it, side)));
    }
    let (a, b) = (&first.touch.place, &second.touch.place);
    if a.anywhere || b.anywhere {
        return Compared::Anywhere;
    }
    let mut at = 0;
    loop {
        match (a.path.get(at), b.path.get(at)) {
            (None, None) => return Compared::If(system),
            (Some(x), Some(y)) if alike(x, y) && first.is_closed(at) && second.is_closed(at) => {
                equate(&mut system, (x, first.digits.get(at)), (y, second.digits.get(at)));
            }
            (Some(Step::Field(record, i)), Some(Step::Field(other, j)))
                if record == other
                    && i != j
                    && first.is_closed(at)
                    && second.is_closed(at)
                    && are_apart(program, *record, *i, *j) =>
            {
                return Compared::Apart;
            }
            (_, _) => {
                overlap(program, &mut system, at, first, second);
                return Compared::If(system);
            }
        }
        at += 1;
    }
}

impl Ready<'_> {
    fn is_closed(&self, at: usize) -> bool {
        self.closed.get(at).copied().unwrap_or(false)
    }
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

fn equate(system: &mut System, x: (&Step, Option<&Digits>), y: (&Step, Option<&Digits>)) {
    let (Step::Index { by: a, .. }, Step::Index { by: b, .. }) = (x.0, y.0) else { return };
    let mut equal = |a: &Poly, b: &Poly| {
        let sides = (instance(a, 1), instance(b, 2));
        if let (Some(a), Some(b)) = sides
            && let Some(difference) = a.sub(&b)
        {
            system.zero.push(difference);
        }
    };
    equal(a, b);
    if let (Some(a), Some(b)) = (x.1, y.1)
        && a.radices == b.radices
        && !a.radices.is_empty()
    {
        a.digits.iter().zip(&b.digits).for_each(|(a, b)| equal(a, b));
    }
}

/// From step `at` on, the bytes of the two overlap.
fn overlap(
    program: &Program,
    system: &mut System,
    at: usize,
    first: &Ready<'_>,
    second: &Ready<'_>,
) {
    let bytes = |ready: &Ready<'_>, side| {
        let start = offset(program, &ready.touch.place, at)?;
        Some((instance(&start, side)?, i128::from(ready.touch.size?)))
    };
    let (Some((a, a_size)), Some((b, b_size))) = (bytes(first, 1), bytes(second, 2)) else {
        return;
    };
    let bounds = [
        a.plus(a_size - 1).and_then(|it| it.sub(&b)),
        b.plus(b_size - 1).and_then(|it| it.sub(&a)),
    ];
    system.at_least_zero.extend(bounds.into_iter().flatten());
}

/// Bytes from the place before step `at` to the end of the way.
pub(crate) fn offset(program: &Program, place: &Place, at: usize) -> Option<Poly> {
    let mut sum = Poly::default();
    for step in place.path.iter().skip(at) {
        let bytes = match step {
            Step::Index { by, stride, .. } => by.scaled(i128::from((*stride)?))?,
            Step::Field(record, field) => {
                let layout = program.model.record(&program.types, *record).ok()?;
                let it = layout.fields.get(*field as usize)?;
                if it.bit_width.is_some() {
                    return None;
                }
                Poly::constant(i128::from(it.offset))
            }
        };
        sum = sum.add(&bytes)?;
    }
    Some(sum)
}
