//! `lines`: rows of arrays that the iterations of a nest look at stay on the chip.
//!
//! In: nests of at least two loops whose iterations do not meet by the word of directives, counting up by ones between bounds
//! that stay, in which elements of an array a constant distance apart along the loops are looked at (a stencil of any number
//! of dimensions), where loads of one array take turns. Out: one loop that counts all iterations, and some before the first of
//! each row and the first row: each loads one new element, which then passes all places from which the nest looks at it:
//! registers between neighbours, a memory on the chip from one row to the next.
//!
//! Elements are loaded only where the nest looks at them, or at elements before and behind them. Loads under conditions are
//! part of it where their conditions keep them among elements that every iteration looks at: `i > 0 ? i - 1 : 0`.
//!
//! Left alone: arrays that the nest stores to, rows whose length has no constant limit, what does not fit on the chip.

mod chain;
mod look;

use std::collections::BTreeSet;

use ir::program::{Program, StmtId, StmtKind as C, VarId, VarStorage};
use ir::types::{ArrayLen, TypeKind};
use ir::walk::Part;
use kernel::Dim;
use kernel::walk::{How, uses};
use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{code_of, for_of, free_nest, jumps, loops, replace};
use super::poly::{Terms, difference, number};
use super::window::listed;
use super::{Cx, Result};
use crate::dependence::Analysis;
use look::{Key, Look, Point, Seen};

/// Elements of a row that registers lie between.
const WIDEST: i64 = 64;
/// Larger memories are not made.
const MOST_ELEMENTS: i64 = 1 << 22;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let Some(code) = code_of(cx).filter(|_| cx.fabric.reads > 0) else { return Ok(()) };
    let mut replaced = FxHashMap::default();
    let mut notes = Vec::new();
    let mut gone: FxHashSet<StmtId> = FxHashSet::default();
    // Outermost first: what is inside is part of the nest.
    for stmt in loops(cx.program, code).into_iter().rev() {
        if gone.contains(&stmt) {
            continue;
        }
        let Some((nest, said)) = nest(cx, stmt) else { continue };
        notes.extend(said);
        let Some(nest) = nest else { continue };
        gone.extend(loops(cx.program, stmt));
        for group in &nest.groups {
            notes.push(told(&plain_name(cx.program, group.key.root), group));
        }
        if let Some((made, one)) = chain::made(cx, stmt, &nest) {
            cx.kernel.launch.independent.push(one);
            replaced.insert(stmt, made);
        }
    }
    if !replaced.is_empty() {
        replace(cx, replaced);
    }
    cx.kernel.launch.notes.extend(notes);
    Ok(())
}

fn told(name: &str, group: &Group) -> String {
    let places = group.places.len();
    let kept: i64 = group.gaps.iter().map(|it| if it.is_row() { it.room } else { 0 }).sum();
    match kept {
        0 => format!("an element of `{name}` is loaded once for {places} places"),
        _ => format!(
            "an element of `{name}` is loaded once for {places} places; {kept} of them stay on the chip"
        ),
    }
}

/// A nest that is worth it.
struct Nest {
    dims: Vec<Dim>,
    body: StmtId,
    /// So many iterations come before the first of each loop.
    before: Vec<i64>,
    groups: Vec<Group>,
}

/// Elements of one array.
struct Group {
    key: Key,
    /// Distances of what each iteration may look at, the last element first.
    places: Vec<Point>,
    /// Those that every iteration looks at.
    certain: Vec<Point>,
    /// The least and the most distance in each loop: of all, and of those that every iteration looks at.
    all: Vec<(i64, i64)>,
    sure: Vec<(i64, i64)>,
    /// What lies before each place: the first one's is behind the newest element.
    gaps: Vec<Gap>,
    loads: Vec<look::Load>,
}

/// Iterations between two places.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Gap {
    /// How many of each loop.
    far: Point,
    /// In all, if that is constant.
    length: Option<i64>,
    /// No more than this.
    room: i64,
}

impl Gap {
    /// Whether it reaches over the end of a row.
    fn is_row(&self) -> bool {
        self.far.split_last().is_some_and(|it| it.1.iter().any(|it| *it != 0))
    }
}

/// A nest whose elements are worth keeping, and what stands in the way of others.
fn nest(cx: &Cx<'_>, stmt: StmtId) -> Option<(Option<Nest>, Vec<String>)> {
    let program = &*cx.program;
    let (levels, body) = free_nest(cx, stmt)?;
    let dims: Vec<Dim> = levels.into_iter().map(|it| it.2).collect();
    if dims.len() < 2 || jumps(program, body) || has_long_loops(program, body) {
        return None;
    }
    let analysis = Analysis::new(program);
    let (used, declared) = uses(program, Part::Stmt(body));
    let mut changed: FxHashSet<VarId> =
        used.iter().filter(|it| it.how != How::Named).map(|it| it.var).collect();
    changed.extend(declared);
    let own = |var: VarId| {
        matches!(program.vars[var].storage, VarStorage::Local(_) | VarStorage::Param(_))
            && !analysis.aliases.is_exposed(program, var)
    };
    let counters: Vec<VarId> = dims.iter().map(|it| it.var).collect();
    if counters.iter().any(|it| changed.contains(it)) {
        return None;
    }
    let terms = Terms { program, counters: &counters, changed: &changed, own: &own };
    let ends = look::ends(&terms, &dims)?;
    let look = Look { terms, dims: &dims, ends };
    let seen = look.body(&listed(program, body));
    let (mut groups, mut said) = (Vec::new(), Vec::new());
    let name = |var: VarId| plain_name(program, var);
    for (key, loads) in look::grouped(&seen) {
        let root = key.root;
        let all = seen.loads.iter().filter(|it| it.root == root).count() as u64;
        if all <= cx.fabric.reads {
            continue;
        }
        match group(&look, &seen, key, &loads) {
            Ok(group) => groups.extend(group),
            Err(why) => said.push(format!("loads of `{}` take turns: {why}", name(root))),
        }
    }
    let mut before: Vec<i64> = vec![0; dims.len()];
    for group in &groups {
        for (it, (low, high)) in before.iter_mut().zip(&group.all) {
            *it = (*it).max(high - low);
        }
    }
    let mut bytes = 0u64;
    let mut fitting = Vec::new();
    for mut group in groups {
        let root = name(group.key.root);
        let Some(rows) = rows(&look, &group, &before) else {
            said.push(format!(
                "loads of `{root}` take turns: the length of a row has no constant limit"
            ));
            continue;
        };
        let Some(gaps) = gaps(&group, &rows) else { continue };
        group.gaps = gaps;
        let first = group.loads.first().map(|it| program.exprs[it.expr].ty)?;
        let size = program.model.size_of(&program.types, first).ok()?;
        let elements: i64 = group.gaps.iter().map(|it| it.room).sum();
        let more = size.saturating_mul(elements.unsigned_abs());
        if bytes.saturating_add(more) > cx.fabric.memory {
            said.push(format!("loads of `{root}` take turns: rows do not fit on the chip"));
            continue;
        }
        bytes += more;
        fitting.push(group);
    }
    // Groups that were left out may have asked for more iterations than others need: too many are no fault.
    if !pays(&look, &seen, cx.fabric.reads, &fitting, &before) {
        for group in fitting.drain(..) {
            let root = name(group.key.root);
            said.push(format!(
                "loads of `{root}` take turns: iterations before the first would take longer"
            ));
        }
    }
    let made = (!fitting.is_empty()).then_some(Nest { dims, body, before, groups: fitting });
    Some((made, said))
}

/// Whether iterations before the first, and then one element in each, take less time than loads that take turns, where that is
/// known.
fn pays(look: &Look<'_>, seen: &Seen, reads: u64, groups: &[Group], before: &[i64]) -> bool {
    let most = groups.iter().map(|it| {
        let all = seen.loads.iter().filter(|load| load.root == it.key.root).count() as u64;
        all.div_ceil(reads.max(1))
    });
    let turns = most.max().unwrap_or(1);
    let (mut own, mut all) = (1u64, 1u64);
    for ((begin, last), before) in look.ends.iter().zip(before) {
        let Some(far) = difference(last.clone(), begin).and_then(|it| number(&it)) else {
            return true;
        };
        let count = far.saturating_add(1).max(0).unsigned_abs();
        own = own.saturating_mul(count);
        all = all.saturating_mul(count.saturating_add(before.unsigned_abs()));
    }
    own == 0 || all < own.saturating_mul(turns)
}

/// Whether loops in it are not written out.
fn has_long_loops(program: &Program, body: StmtId) -> bool {
    loops(program, body).into_iter().any(|it| for_of(program, it).is_some())
        || has_other_loops(program, body)
}

fn has_other_loops(program: &Program, body: StmtId) -> bool {
    let mut open = vec![Part::Stmt(body)];
    while let Some(part) = open.pop() {
        if let Part::Stmt(stmt) = part
            && matches!(program.stmts[stmt].kind, C::While(..) | C::DoWhile(..))
        {
            return true;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}

/// Loads of a key as a group; none if each iteration needs only one element once.
fn group(
    look: &Look<'_>,
    seen: &Seen,
    key: Key,
    numbers: &[usize],
) -> std::result::Result<Option<Group>, &'static str> {
    let program = look.terms.program;
    let all: Vec<look::Load> =
        numbers.iter().filter_map(|it| seen.loads.get(*it)).cloned().collect();
    let ways = || all.iter().flat_map(|it| &it.ways);
    let points: BTreeSet<Point> = ways().map(|it| it.point.clone()).collect();
    if all.len() < 2 {
        return Ok(None);
    }
    let root = key.root;
    if seen.stored.contains(&root) || seen.odd.contains(&root) {
        return Err("the nest stores to it, or looks at it in another way");
    }
    let is_array = program.types.is_array(program.vars[root].ty);
    let is_first =
        all.iter().all(|it| it.at < seen.first_store || it.at == seen.first_store && seen.is_plain);
    if !is_first && (!is_array || seen.stores_anywhere) {
        return Err("it is looked at behind a store that may change it");
    }
    let certain: Vec<Point> =
        seen.certain.iter().filter(|it| it.0 == key).map(|it| it.1.clone()).collect();
    if certain.is_empty() {
        return Err("it is looked at under conditions only");
    }
    let sure = look::hull(certain.iter());
    let is_kept = |way: &look::Way| {
        let near = |from: &[(i64, i64)]| {
            way.point
                .iter()
                .zip(from)
                .zip(&way.room)
                .all(|((at, (low, high)), room)| at + room.0 >= *low && at - room.1 <= *high)
        };
        match key.is_linear {
            false => near(&sure),
            true => certain.iter().any(|it| {
                let one: Vec<(i64, i64)> = it.iter().map(|it| (*it, *it)).collect();
                near(&one)
            }),
        }
    };
    if !ways().all(is_kept) {
        return Err("a condition does not keep it among elements that every iteration looks at");
    }
    // A load that has to be written down for other elements is one without conditions in its subscripts.
    if !all.iter().any(|it| it.ways.len() == 1) {
        return Err("all its subscripts have conditions");
    }
    let all_ends = look::hull(points.iter());
    let places: Vec<Point> = points.into_iter().rev().collect();
    Ok(Some(Group { key, places, certain, all: all_ends, sure, gaps: Vec::new(), loads: all }))
}

/// Iterations of each loop, those before the first too: how many if that is constant, and no more than how many.
fn rows(look: &Look<'_>, group: &Group, before: &[i64]) -> Option<Vec<(Option<i64>, i64)>> {
    let program = look.terms.program;
    let mut found = Vec::new();
    // The first loop's iterations are never counted.
    found.push((None, 0));
    let mut ty = program.vars[group.key.root].ty;
    let mut lengths = Vec::new();
    for _ in &group.key.subs {
        lengths.push(match program.types.shape(ty) {
            TypeKind::Array(_, ArrayLen::Known(length)) => i64::try_from(*length).ok(),
            _ => None,
        });
        ty = program.types.element(ty).or_else(|| program.types.pointee(ty))?;
    }
    for at in 1..look.dims.len() {
        let ((begin, last), more) = (look.ends.get(at)?, *before.get(at)?);
        let exact = difference(last.clone(), begin).and_then(|it| number(&it));
        if let Some(far) = exact {
            let count = far.checked_add(1)?.max(0).checked_add(more)?;
            found.push((Some(count), count));
            continue;
        }
        if group.key.is_linear {
            return None;
        }
        // What the array has along this loop, less what the places take.
        let counter = look.terms.counters.get(at)?;
        let sub =
            group.key.subs.iter().position(|it| it.keys().flatten().any(|it| it == counter))?;
        let stride = group.key.subs.get(sub)?.get(&vec![*counter])?;
        let (low, high) = group.sure.get(at)?;
        let length = (*lengths.get(sub)?)?.checked_add(stride - 1)?.checked_div(*stride)?;
        found.push((None, length.checked_sub(high - low)?.max(0).checked_add(more)?));
    }
    found.iter().all(|it| it.1 <= MOST_ELEMENTS).then_some(found)
}

/// What lies between the places of a group.
fn gaps(group: &Group, rows: &[(Option<i64>, i64)]) -> Option<Vec<Gap>> {
    let mut from: Point = group.all.iter().map(|it| it.1).collect();
    let mut gaps = Vec::new();
    for place in &group.places {
        let far: Point = from.iter().zip(place).map(|(a, b)| a - b).collect();
        let (mut length, mut room) = (Some(0i64), 0i64);
        for (far, (exact, most)) in far.iter().zip(rows) {
            // From one loop to the next inside.
            length =
                length.zip(*exact).and_then(|(sum, it)| sum.checked_mul(it)).or(match length {
                    Some(0) => Some(0),
                    _ => None,
                });
            length = length.and_then(|it| it.checked_add(*far));
            room = room.max(0).checked_mul(*most)?.checked_add(*far)?;
            if room > MOST_ELEMENTS {
                return None;
            }
        }
        gaps.push(Gap { far, length, room: length.unwrap_or(room) });
        from.clone_from(place);
    }
    let is_right = |it: &Gap| it.is_row() && it.room > 0 || !it.is_row() && it.room <= WIDEST;
    gaps.iter().all(is_right).then_some(gaps)
}

/// A variable as the user calls it.
fn plain_name(program: &Program, var: VarId) -> String {
    let name = program.vars[var].name.map_or("?", |it| program.names.text(it));
    let made = name.strip_prefix("__ferry_k").and_then(|it| it.split_once('_'));
    made.map_or(name, |it| it.1).to_owned()
}
