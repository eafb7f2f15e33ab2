//! Small arrays of a thread that can be kept in registers: loops whose counters choose their elements are written down
//! round by round, because registers have no addresses.
//!
//! In: a program. Out: those loops, and how many rounds each has at most. An array counts if it is small, is never handed
//! out as a whole, and each place that names an element says which once the counters of loops with constant bounds are
//! known. Bounds may follow outer counters. Loops that would become too long stay as they are.

use std::collections::BTreeMap;

use ir::program::{
    BinaryOp, CastKind, ExprId, ExprKind, For, Init, Program, StepOp, StmtId, StmtKind, UnaryOp,
    VarId,
};
use ir::types::{ArrayLen, Ty, TypeKind};
use ir::walk::Part;

/// Bytes of an array that registers have room for.
const MOST_BYTES: u64 = 512;
/// Rounds of a nest that are written down at most.
const MOST_ROUNDS: u64 = 512;

/// Stands for all rounds of a loop, however many the rounds of loops around it leave: a number would be taken at once, before
/// those are written down.
pub const ALL_ROUNDS: u32 = u32::MAX;

/// Loops to be written down round by round, and how many rounds at a time.
pub fn unrolled(program: &Program) -> BTreeMap<StmtId, u32> {
    let mut found = BTreeMap::new();
    for (_, function) in program.functions.iter() {
        let Some(body) = function.body else { continue };
        let mut search =
            Search { program, arrays: BTreeMap::new(), loops: Vec::new(), around: Vec::new() };
        search.part(Part::Stmt(body));
        search.decide(&mut found);
    }
    found
}

/// A loop that counts.
struct Counting {
    stmt: StmtId,
    counter: VarId,
    /// The least and the largest value of the counter.
    range: (i64, i64),
    rounds: u64,
    /// Loops whose counters its bounds name.
    follows: Vec<usize>,
    /// The counting loop around it.
    outer: Option<usize>,
}

/// What is known of an array.
struct Array {
    is_chosen: bool,
    /// Loops whose counters choose elements.
    loops: Vec<usize>,
}

struct Search<'p> {
    program: &'p Program,
    arrays: BTreeMap<VarId, Array>,
    loops: Vec<Counting>,
    /// Those around the place that is looked at.
    around: Vec<usize>,
}

impl Search<'_> {
    fn part(&mut self, part: Part) {
        let program = self.program;
        match part {
            Part::Stmt(id) => match &program.stmts[id].kind {
                StmtKind::For(it) => {
                    let Some(counting) = self.counting(id, it) else { return self.parts(part) };
                    self.loops.push(counting);
                    self.around.push(self.loops.len() - 1);
                    self.parts(part);
                    self.around.pop();
                }
                StmtKind::Local(var) => {
                    if self.is_small(program.vars[*var].ty) {
                        let array = Array { is_chosen: true, loops: Vec::new() };
                        self.arrays.insert(*var, array);
                    }
                    self.parts(part);
                }
                _ => self.parts(part),
            },
            Part::Expr(e) => self.expr(e),
            Part::Region(_) | Part::Local(_) | Part::Init(_) => self.parts(part),
        }
    }

    fn parts(&mut self, part: Part) {
        let mut inner = Vec::new();
        self.program.parts(part, &mut |it| inner.push(it));
        inner.into_iter().for_each(|it| self.part(it));
    }

    fn expr(&mut self, e: ExprId) {
        let program = self.program;
        match program.exprs[e].kind {
            // All of it.
            ExprKind::Var(var) => {
                if let Some(array) = self.arrays.get_mut(&var) {
                    array.is_chosen = false;
                }
            }
            ExprKind::Index(..) if !program.types.is_array(program.exprs[e].ty) => {
                let (mut base, mut indices) = (e, Vec::new());
                loop {
                    match program.exprs[base].kind {
                        ExprKind::Index(of, at) => {
                            indices.push(at);
                            base = of;
                        }
                        ExprKind::Cast(CastKind::ArrayToPointer, of) => base = of,
                        _ => break,
                    }
                }
                let ExprKind::Var(var) = program.exprs[base].kind else {
                    return self.parts(Part::Expr(e));
                };
                if !self.arrays.contains_key(&var) {
                    return self.parts(Part::Expr(e));
                }
                let named: Option<Vec<Vec<usize>>> =
                    indices.iter().map(|it| self.counters(*it)).collect();
                if let Some(array) = self.arrays.get_mut(&var) {
                    match named {
                        Some(named) => array.loops.extend(named.into_iter().flatten()),
                        None => array.is_chosen = false,
                    }
                }
                indices.into_iter().for_each(|it| self.expr(it));
            }
            _ => self.parts(Part::Expr(e)),
        }
    }

    /// Whether a type is that of an array that registers have room for.
    fn is_small(&self, ty: Ty) -> bool {
        let (types, model) = (&self.program.types, self.program.model);
        let TypeKind::Array(_, ArrayLen::Known(_)) = types.shape(ty) else { return false };
        model.size_of(types, ty).is_ok_and(|it| it <= MOST_BYTES)
    }

    /// The loops whose counters an expression is made of, if it is made of nothing else but constants.
    fn counters(&self, e: ExprId) -> Option<Vec<usize>> {
        match self.program.exprs[e].kind {
            ExprKind::Int(_) | ExprKind::EnumConst(..) => Some(Vec::new()),
            ExprKind::Var(var) => {
                let is_it = |it: &&usize| self.loops.get(**it).is_some_and(|it| it.counter == var);
                Some(vec![*self.around.iter().rev().find(is_it)?])
            }
            ExprKind::Cast(_, of) | ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, of) => {
                self.counters(of)
            }
            ExprKind::Binary(_, a, b) => Some([self.counters(a)?, self.counters(b)?].concat()),
            _ => None,
        }
    }

    /// The least and the largest value that an expression can have.
    fn range(&self, e: ExprId) -> Option<(i64, i64)> {
        match self.program.exprs[e].kind {
            ExprKind::Var(_) => {
                let [only] = *self.counters(e)?.as_slice() else { return None };
                self.loops.get(only).map(|it| it.range)
            }
            ExprKind::Cast(_, of) => self.range(of),
            ExprKind::Binary(BinaryOp::Add, a, b) => {
                let ((a, b), (c, d)) = (self.range(a)?, self.range(b)?);
                Some((a.checked_add(c)?, b.checked_add(d)?))
            }
            ExprKind::Binary(BinaryOp::Sub, a, b) => {
                let ((a, b), (c, d)) = (self.range(a)?, self.range(b)?);
                Some((a.checked_sub(d)?, b.checked_sub(c)?))
            }
            _ => kernel::count::constant(self.program, e).map(|it| (it, it)),
        }
    }

    /// A loop that counts by a constant between bounds that are known.
    fn counting(&self, stmt: StmtId, one: &For) -> Option<Counting> {
        let program = self.program;
        let [first] = one.init.as_ref() else { return None };
        let (counter, begin) = match program.stmts[*first].kind {
            StmtKind::Local(var) => match program.inits[program.vars[var].init?] {
                Init::Expr(e) => (var, e),
                Init::List(..) => return None,
            },
            StmtKind::Expr(e) => match program.exprs[e].kind {
                ExprKind::Assign(to, e) => match program.exprs[to].kind {
                    ExprKind::Var(var) => (var, e),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        let strip = |mut e: ExprId| {
            while let ExprKind::Cast(_, of) = program.exprs[e].kind {
                e = of;
            }
            e
        };
        let is_counter =
            |e: ExprId| matches!(program.exprs[strip(e)].kind, ExprKind::Var(it) if it == counter);
        let by = match program.exprs[one.step?].kind {
            ExprKind::Step(StepOp::PreInc | StepOp::PostInc, of) if is_counter(of) => 1,
            ExprKind::Step(StepOp::PreDec | StepOp::PostDec, of) if is_counter(of) => -1,
            ExprKind::AssignOp(op, to, by, _) if is_counter(to) => {
                let by = kernel::count::constant(program, by)?;
                match op {
                    BinaryOp::Add => by,
                    BinaryOp::Sub => by.checked_neg()?,
                    _ => return None,
                }
            }
            _ => return None,
        };
        let ExprKind::Binary(op, at, bound) = program.exprs[one.cond?].kind else { return None };
        if !is_counter(at) || by == 0 {
            return None;
        }
        let ((least, most), (low, high)) = (self.range(begin)?, self.range(bound)?);
        let range = match (op, by > 0) {
            (BinaryOp::Lt | BinaryOp::Ne, true) => (least, high.checked_sub(1)?),
            (BinaryOp::Le, true) => (least, high),
            (BinaryOp::Gt | BinaryOp::Ne, false) => (low.checked_add(1)?, most),
            (BinaryOp::Ge, false) => (low, most),
            _ => return None,
        };
        let length = range.1.checked_sub(range.0)?.checked_add(1)?.max(0);
        let rounds = u64::try_from(length).ok()?.div_ceil(by.unsigned_abs());
        let follows = [self.counters(begin)?, self.counters(bound)?].concat();
        let outer = self.around.last().copied();
        Some(Counting { stmt, counter, range, rounds, follows, outer })
    }

    fn decide(self, found: &mut BTreeMap<StmtId, u32>) {
        for array in self.arrays.values().filter(|it| it.is_chosen) {
            let mut chosen = vec![false; self.loops.len()];
            let mut open = array.loops.clone();
            while let Some(at) = open.pop() {
                let (Some(it), Some(is_chosen)) = (self.loops.get(at), chosen.get_mut(at)) else {
                    continue;
                };
                if !std::mem::replace(is_chosen, true) {
                    open.extend(&it.follows);
                }
            }
            let is_chosen = |at: usize| chosen.get(at).copied().unwrap_or_default();
            let rounds = |at: usize| {
                let mut all: u64 = 1;
                let mut next = Some(at);
                while let Some(it) = next.and_then(|it| self.loops.get(it).map(|one| (it, one))) {
                    if is_chosen(it.0) {
                        all = all.saturating_mul(it.1.rounds.max(1));
                    }
                    next = it.1.outer;
                }
                all
            };
            let all: Vec<usize> = (0..self.loops.len()).filter(|it| is_chosen(*it)).collect();
            if all.iter().any(|it| rounds(*it) > MOST_ROUNDS) {
                continue;
            }
            for it in all.iter().filter_map(|it| self.loops.get(*it)) {
                let rounds = match it.follows.is_empty() {
                    true => u32::try_from(it.rounds).unwrap_or(1).max(1),
                    false => ALL_ROUNDS,
                };
                found.insert(it.stmt, rounds);
            }
        }
    }
}
