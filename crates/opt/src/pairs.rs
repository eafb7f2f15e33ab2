//! Whether two accesses reach the same memory in different iterations.
//!
//! In: the accesses of an iteration ([`crate::walk::Body`]). Out: nothing, if no two of them meet, else the verdict
//! that says which do. Each pair is asked twice, either access being the earlier one. The question becomes
//! a system of equations and inequalities ([`crate::system`]) over the trip counters of
//! both instances: subscripts are equal, dimension by dimension, bounds and conditions hold, and the
//! distance is at least one.
//!
//! How accesses are prepared, and what a subscript like `i * n + j` means, is in [`crate::ready`].

use std::collections::BTreeSet;

use ir::program::Program;

use crate::access::{Base, Touch};
use crate::alias::Apart;
use crate::certain::{self, Certain};
use crate::conditions;
use crate::far;
use crate::finding::{Carried, DependenceKind, Fact, Finding, Obstacle, Reason, Verdict};
use crate::ready::{Compared, Ready, Table, is_apart_by_numbers};
use crate::system::Answer;
use crate::walk::{Body, Question};

/// More pairs than this are not compared.
const MAX_PAIRS: usize = 40_000;

/// Compares all pairs.
pub(crate) fn compare(q: &Question<'_>, body: &Body, finding: &mut Finding) -> Result<(), Verdict> {
    let touches = distinct(&body.touches);
    let written = touches.iter().filter(|it| it.writes).count();
    if written * touches.len() > MAX_PAIRS {
        let obstacle = Obstacle::new(Reason::TooLarge, finding.span);
        return Err(Verdict::Unknown(obstacle));
    }
    let mut table = Table::new(q.program);
    let ready: Vec<Ready<'_>> = touches.iter().map(|it| table.ready(it)).collect();
    let known = Certain::new(q.program, &body.around);
    let mut worst: Option<Verdict> = None;
    let mut met = Vec::new();
    let mut open = Vec::new();
    let mut compared = 0;
    for (at, a) in ready.iter().enumerate() {
        for b in ready.iter().skip(at) {
            if !a.touch.writes && !b.touch.writes {
                continue;
            }
            if is_followed(q, a, b) {
                continue;
            }
            compared += 1;
            match table.apart(q.aliases, a, b) {
                Apart::Different => {}
                Apart::Restrict(var) => note(finding, Fact::Restrict(var)),
                Apart::Known(x, y) => note(finding, Fact::PointsApart(x.min(y), x.max(y))),
                Apart::Perhaps => {
                    open.push((a.touch, b.touch));
                }
                Apart::Same if is_apart_by_numbers(a, b) => {}
                Apart::Same => {
                    for (first, second) in [(a, b), (b, a)] {
                        if let Some(mut found) = meet(&mut table, first, second) {
                            met.push((first.touch, second.touch));
                            make_certain(q, &known, (first.touch, second.touch), &mut found);
                            keep_worst(&mut worst, found);
                        }
                    }
                }
            }
        }
    }
    finding.unsure = conditions::with_terms(q.program, &open).unwrap_or_default();
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

/// Two accesses that may reach the same memory in different iterations.
pub(crate) struct Meeting<'t> {
    /// The one in the earlier iteration.
    pub(crate) first: &'t Touch,
    /// The one in the later iteration.
    pub(crate) second: &'t Touch,
    /// How many iterations lie between them, if that is always the same.
    pub(crate) distance: Option<u64>,
    /// It is not known whether their objects are the same.
    pub(crate) may_alias: bool,
}

/// All pairs that meet; nothing if there are too many to compare.
pub(crate) fn meetings<'t>(q: &Question<'_>, touches: &'t [Touch]) -> Option<Vec<Meeting<'t>>> {
    let written = touches.iter().filter(|it| it.writes).count();
    if written * touches.len() > MAX_PAIRS {
        return None;
    }
    let mut table = Table::new(q.program);
    let ready: Vec<Ready<'_>> = touches.iter().map(|it| table.ready(it)).collect();
    let mut found = Vec::new();
    for (at, (a, first)) in ready.iter().zip(touches).enumerate() {
        for (b, second) in ready.iter().zip(touches).skip(at) {
            if !first.writes && !second.writes || is_followed(q, a, b) {
                continue;
            }
            let may_alias = match table.apart(q.aliases, a, b) {
                Apart::Different | Apart::Restrict(_) | Apart::Known(..) => continue,
                Apart::Same if is_apart_by_numbers(a, b) => continue,
                Apart::Same => false,
                Apart::Perhaps => true,
            };
            let ways = [(a, b, first, second), (b, a, second, first)];
            for (a, b, first, second) in
                ways.into_iter().take(if std::ptr::eq(a, b) { 1 } else { 2 })
            {
                if may_alias {
                    found.push(Meeting { first, second, distance: None, may_alias });
                    continue;
                }
                let distance = match meet(&mut table, a, b) {
                    None => continue,
                    Some(Verdict::Carried(it)) => it.distance,
                    Some(Verdict::Unknown(_) | Verdict::Parallel) => None,
                };
                found.push(Meeting { first, second, distance, may_alias });
            }
        }
    }
    Some(found)
}

/// Whether any two of these, all in one object, meet.
pub(crate) fn any_meet(program: &Program, touches: &[&Touch]) -> bool {
    let mut table = Table::new(program);
    let ready: Vec<Ready<'_>> = touches.iter().map(|it| table.ready(it)).collect();
    ready.iter().any(|a| {
        let is_pair = |b: &&Ready<'_>| a.touch.writes || b.touch.writes;
        let mut pairs = ready.iter().filter(is_pair);
        pairs.any(|b| !is_apart_by_numbers(a, b) && meet(&mut table, a, b).is_some())
    })
}

/// Whether the order of reads and writes was looked at when the body was walked: a scalar that is
/// accessed by its name, or an array that a directive combines.
fn is_followed(q: &Question<'_>, a: &Ready<'_>, b: &Ready<'_>) -> bool {
    match (a.touch.place.base, b.touch.place.base) {
        (Base::Var(x), Base::Var(y)) if x == y => {
            q.reduced.contains(&x) || (a.is_scalar && b.is_scalar)
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
fn make_certain(
    q: &Question<'_>,
    known: &Certain<'_>,
    pair: (&Touch, &Touch),
    found: &mut Verdict,
) {
    let Verdict::Carried(it) = found else { return };
    if q.scan.has_jumps {
        return;
    }
    it.steady = certain::is_steady(pair.0, pair.1, it.distance);
    if it.kind != DependenceKind::Output {
        it.certain = known.meet(pair.0, pair.1, it.distance);
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

/// Whether `first` in one iteration and `second` in a later one may reach the same bytes.
fn meet(table: &mut Table<'_>, first: &Ready<'_>, second: &Ready<'_>) -> Option<Verdict> {
    let met = match table.compared(first, second) {
        Compared::Apart => return None,
        Compared::If(met) if met.answer == Answer::Never => return None,
        Compared::If(met) => Some(met),
        Compared::Anywhere => None,
    };
    let kind = match (first.touch.writes, second.touch.writes) {
        (true, true) => DependenceKind::Output,
        (true, false) => DependenceKind::Flow,
        (false, true | false) => DependenceKind::Anti,
    };
    if !first.is_affine || !second.is_affine {
        let (unclear, other) = if first.is_affine { (second, first) } else { (first, second) };
        let mut obstacle = Obstacle::new(Reason::Subscript, unclear.touch.span);
        obstacle.other = Some(other.touch.span);
        return Some(Verdict::Unknown(obstacle));
    }
    let distance = met.and_then(|it| it.distance());
    Some(Verdict::Carried(Carried {
        first: first.access(),
        second: second.access(),
        kind,
        distance,
        certain: false,
        steady: false,
    }))
}
