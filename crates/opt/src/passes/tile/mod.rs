//! `tile`: groups compute tiles of a nest, threads tiles of those in registers, and what is used by whole rows or columns
//! lies in the memory of the group.
//!
//! In: a loop that all threads share, of at least two dimensions, whose iterations loop over elements of which some are the
//! same for all rows of a tile and some for all columns: products of matrices and what is like them, of any type, layout and
//! size. Each iteration adds up in the order of the program, so its numbers are the same. Elements are brought in the order
//! in which they lie in memory, and iterations beyond the end of a row or column compute what nobody stores.

mod code;

use ir::program::{ExprId, ExprKind, Program, StmtId, VarId};
use ir::walk::Part;
use kernel::{Dim, Share, Stmt, StmtKind};
use rustc_hash::FxHashSet;
use source::Span;

use super::nest::{
    Nest, guarded_code, is_contiguous, is_known, mentions, replace_share, size_of, stores, taken,
};
use super::{Cx, Groups, Result};

/// Bytes of registers that a thread has for what its iterations have of their own.
const REGISTERS: u64 = 256;

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    replace_share(cx, &mut |cx, share, set, span| {
        let Some(plan) = plan(cx, share, set) else { return Ok(None) };
        let made = code::tiles(cx, share.clone(), &plan, span)?;
        plan.tell(cx);
        Ok(Some(made))
    })
}

/// Rows and columns of threads that a group is.
fn threads(groups: Groups) -> Option<[u32; 2]> {
    let all = u32::try_from(groups.most_threads).ok()?;
    let columns = 1 << all.checked_ilog2()?.div_ceil(2);
    (all >= 4 && all.is_power_of_two()).then_some([all / columns, columns])
}

/// How a group's tile is made.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Rows and columns of threads.
    threads: [u32; 2],
    /// Rows and columns of iterations of a thread.
    each: [u32; 2],
}

impl Sizes {
    /// From the smallest tiles to the largest. `own`: bytes that an iteration has of its own.
    fn all(threads: [u32; 2], own: u64) -> [Sizes; 3] {
        [2, 4, 8].map(|rows: u32| {
            let mut columns = rows;
            while columns > 2 && own * u64::from(rows * columns) > REGISTERS {
                columns /= 2;
            }
            Sizes { threads, each: [rows, columns] }
        })
    }

    /// Rows and columns of iterations of a tile.
    fn tile(self) -> [u32; 2] {
        let ([down, across], [rows, columns]) = (self.threads, self.each);
        [down * rows, across * columns]
    }
}

/// How a nest is tiled.
struct Plan {
    nest: Nest,
    /// Which of the dimensions have the rows and the columns.
    rows: usize,
    columns: usize,
    /// From the smallest tiles to the largest.
    sizes: [Sizes; 3],
    /// What lies in the memory of the group; what stands there several times is there once.
    staged: Vec<Staged>,
    /// Which iterations there are, if not all.
    guard: Option<Guard>,
}

/// A condition on rows and columns: the variable of one dimension compared with what follows the other.
#[derive(Clone, Copy, Debug)]
struct Guard {
    condition: ExprId,
    inner: VarId,
    outer: VarId,
}

impl Guard {
    /// Only if iterations that are not there look at nothing but what is staged: others look at it too, or it is not brought.
    fn find(
        cx: &Cx<'_>,
        condition: ExprId,
        pair: [VarId; 2],
        nest: &Nest,
        staged: &[Staged],
    ) -> Option<Guard> {
        let program = &*cx.program;
        let ExprKind::Binary(_, at, end) = program.exprs[condition].kind else { return None };
        let at = match program.exprs[at].kind {
            ExprKind::Cast(_, of) => of,
            _ => at,
        };
        let ExprKind::Var(inner) = program.exprs[at].kind else { return None };
        let [row, column] = pair;
        let outer = if inner == row { column } else { row };
        let is_pair = pair.contains(&inner) && is_known(program, cx.kernel, end, &[outer]);
        let is_staged = |e: ExprId| staged.iter().any(|it| it.places.contains(&e));
        let mut code = nest.before.iter().chain(&nest.body);
        let looks_elsewhere = code.any(|it| looks_elsewhere(program, *it, &is_staged));
        (is_pair && !looks_elsewhere).then_some(Guard { condition, inner, outer })
    }
}

/// Whether code looks at memory other than what is staged.
fn looks_elsewhere(program: &Program, code: StmtId, is_staged: &dyn Fn(ExprId) -> bool) -> bool {
    let mut open = vec![Part::Stmt(code)];
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part {
            if is_staged(e) {
                continue;
            }
            if matches!(program.exprs[e].kind, ExprKind::Index(..) | ExprKind::Deref(_)) {
                return true;
            }
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}

impl Plan {
    /// Says what was chosen, and how it wants to be launched.
    fn tell(&self, cx: &mut Cx<'_>) {
        let [.., large] = self.sizes;
        let [down, across] = large.threads;
        let [rows, columns] = large.tile();
        // Tiles at the edges have fewer iterations: twice as many groups as whole tiles need.
        cx.kernel.launch.spread = Some([2 * down * across, rows * columns, cx.groups.many]);
        let tiles: Vec<String> =
            self.sizes.iter().map(|it| format!("{} x {}", it.tile()[0], it.tile()[1])).collect();
        cx.kernel.launch.notes.push(format!(
            "tiles of {} iterations, by how many there are, with operands in group memory",
            tiles.join(", ")
        ));
    }
}

/// An operand in the memory of the group.
#[derive(Clone, Debug)]
struct Staged {
    /// It in terms of what is known before an iteration begins.
    value: ExprId,
    /// Where it stands.
    places: Vec<ExprId>,
    /// It changes with the rows, or with the columns.
    side: Side,
    /// Neighbours in memory are neighbours in the rounds of the inner loop.
    is_along_rounds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Rows,
    Columns,
    Neither,
}

fn plan(cx: &mut Cx<'_>, share: &Share, set: &FxHashSet<VarId>) -> Option<Plan> {
    let (code, guards) = guarded_code(share)?;
    let threads = threads(cx.groups)?;
    let nest = Nest::find(cx.program, cx.kernel, code, &taken(share, set))?;
    let bounds = |it: &Dim| [Some(it.begin), Some(it.bound), it.step];
    let all = share.dims.iter().chain(std::iter::once(&nest.rounds)).flat_map(bounds);
    let dims: Vec<VarId> = share.dims.iter().map(|it| it.var).collect();
    if !all.flatten().all(|it| is_known(cx.program, cx.kernel, it, &dims)) {
        return None;
    }
    let count = dims.len();
    let pairs = (0..count).rev().flat_map(|c| (0..count).rev().map(move |r| (r, c)));
    let stores: Vec<ExprId> = nest.after.iter().flat_map(|it| stores(cx.program, *it)).collect();
    let mut found: Option<(bool, usize, usize, Vec<Staged>)> = None;
    for (rows, columns) in pairs.filter(|(r, c)| r != c) {
        let (Some(row), Some(column)) = (dims.get(rows), dims.get(columns)) else { continue };
        let Some(staged) = staged(cx.program, &nest, *row, *column) else { continue };
        let is_beside = stores.iter().any(|it| is_contiguous(cx.program, *it, *column));
        if found.as_ref().is_none_or(|it| is_beside && !it.0) {
            found = Some((is_beside, rows, columns, staged));
        }
    }
    let (_, rows, columns, staged) = found?;
    let pair = [*dims.get(rows)?, *dims.get(columns)?];
    let guard = match guards.as_slice() {
        [] => None,
        [guard] => Some(Guard::find(cx, *guard, pair, &nest, &staged)?),
        _ => return None,
    };
    let own = nest.own.iter().map(|it| size_of(cx.program, cx.program.vars[*it].ty)).sum();
    let sizes = Sizes::all(threads, own);
    Some(Plan { nest, rows, columns, sizes, staged, guard })
}

/// What goes to the memory of the group, if rows and columns of a tile both have something in common.
fn staged(program: &Program, nest: &Nest, row: VarId, column: VarId) -> Option<Vec<Staged>> {
    let rounds = &nest.rounds;
    // The rounds are the same for the whole tile.
    let varies = |e: ExprId| mentions(program, e, |it| it == row || it == column);
    if varies(rounds.begin) || varies(rounds.bound) {
        return None;
    }
    let mut staged: Vec<Staged> = Vec::new();
    for load in &nest.loads {
        let has = |var: VarId| mentions(program, load.value, |it| it == var);
        if !has(rounds.var) {
            continue;
        }
        let side = match (has(row), has(column)) {
            (true, false) => Side::Rows,
            (false, true) => Side::Columns,
            (false, false) => Side::Neither,
            // Nobody else uses it.
            (true, true) => return None,
        };
        let is_along_rounds = is_contiguous(program, load.value, rounds.var);
        match staged.iter_mut().find(|it| is_same(program, it.value, load.value)) {
            Some(same) => same.places.push(load.expr),
            None => staged.push(Staged {
                value: load.value,
                places: vec![load.expr],
                side,
                is_along_rounds,
            }),
        }
    }
    let has = |side: Side| staged.iter().any(|it| it.side == side);
    (has(Side::Rows) && has(Side::Columns)).then_some(staged)
}

/// Whether two expressions are the same in all their parts.
pub(super) fn is_same(program: &Program, a: ExprId, b: ExprId) -> bool {
    if a == b {
        return true;
    }
    let (mut one, mut other) = (program.exprs[a].clone(), program.exprs[b].clone());
    let parts = |kind: &mut ExprKind| {
        let mut found = Vec::new();
        kind.operands_mut(&mut |it| found.push(std::mem::replace(it, a)));
        found
    };
    let (ones, others) = (parts(&mut one.kind), parts(&mut other.kind));
    one.kind == other.kind
        && one.ty == other.ty
        && ones.len() == others.len()
        && ones.into_iter().zip(others).all(|(a, b)| is_same(program, a, b))
}

fn at(span: Span, kind: StmtKind) -> Stmt {
    Stmt::new(kind, span)
}
