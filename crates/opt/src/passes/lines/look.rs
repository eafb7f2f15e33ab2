//! Which elements of arrays an iteration of a nest looks at, and what is known of its counters where it does.
//!
//! In: the loops of a nest and the statements of its body. Out: [`Seen`]: each load as distances from the counters, one for
//! each way of conditions inside its subscripts; elements that every iteration looks at; arrays that are stored to, and those
//! whose accesses are not all understood.

use std::collections::{BTreeMap, BTreeSet};

use ir::program::{ExprId, ExprKind, Init, Program, StmtId, StmtKind as C, UnaryOp, VarId};
use ir::region::LoopTest;
use ir::walk::Part;
use kernel::Dim;

use super::super::facts::Fact;
use super::super::poly::{Poly, Terms, constant, difference, number, product, sum, variable};
use super::super::window::is_plain_store;

/// Ways of conditions inside the subscripts of one access.
const MOST_WAYS: usize = 8;

/// Elements that differ in constants along the loops of a nest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The array, or the pointer to it.
    pub(super) root: VarId,
    /// Subscripts without what makes the difference.
    pub(super) subs: Vec<Poly>,
    /// A subscript holds several counters: columns are not told from rows.
    pub(super) is_linear: bool,
}

/// How far an element is from the counters, loop by loop.
pub(super) type Point = Vec<i64>;

/// Elements that every iteration looks at.
pub(super) type Certain = BTreeSet<(Key, Point)>;

/// Conditions, and whether they hold.
pub(super) type Conditions = Vec<(ExprId, bool)>;

/// A load in one way of the conditions in its subscripts.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// Conditions of the subscripts, and whether they hold.
    pub(super) conditions: Conditions,
    pub(super) key: Key,
    pub(super) point: Point,
    /// Each counter is so far from its first and from its last value at least.
    pub(super) room: Vec<(i64, i64)>,
}

/// A load.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) expr: ExprId,
    pub(super) root: VarId,
    pub(super) ways: Vec<Way>,
    /// The statement of the body, by number.
    pub(super) at: usize,
}

/// What is found.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) loads: Vec<Load>,
    /// Elements that every iteration looks at.
    pub(super) certain: BTreeSet<(Key, Point)>,
    /// Arrays with accesses of another kind.
    pub(super) odd: BTreeSet<VarId>,
    /// Arrays that are stored to.
    pub(super) stored: BTreeSet<VarId>,
    /// Something else is stored to.
    pub(super) stores_anywhere: bool,
    /// The first statement that stores.
    pub(super) first_store: usize,
    /// It stores after it has looked at all that it looks at.
    pub(super) is_plain: bool,
}

/// The loops, and their first and last values.
pub(super) struct Look<'a> {
    pub(super) terms: Terms<'a>,
    pub(super) dims: &'a [Dim],
    pub(super) ends: Vec<(Poly, Poly)>,
}

/// What the loops of a nest begin and end with; none if that is not known.
pub(super) fn ends(terms: &Terms<'_>, dims: &[Dim]) -> Option<Vec<(Poly, Poly)>> {
    let of = |it: &Dim| {
        let (begin, bound) = (terms.poly(it.begin)?, terms.poly(it.bound)?);
        let last = match it.test {
            LoopTest::Lt => difference(bound, &constant(1))?,
            LoopTest::Le => bound,
            LoopTest::Gt | LoopTest::Ge | LoopTest::Ne => return None,
        };
        let counts = |it: &Poly| it.keys().flatten().any(|var| terms.counters.contains(var));
        (!counts(&begin) && !counts(&last)).then_some((begin, last))
    };
    dims.iter().map(of).collect()
}

impl Look<'_> {
    /// All accesses of the body's statements.
    pub(super) fn body(&self, list: &[StmtId]) -> Seen {
        let mut walk = Walk { look: self, seen: Seen::default(), at: 0, path: Vec::new() };
        walk.seen.first_store = list.len();
        let program = self.terms.program;
        let mut certain = BTreeSet::new();
        for (at, stmt) in list.iter().enumerate() {
            walk.at = at;
            let before = (walk.seen.stored.len(), walk.seen.stores_anywhere);
            walk.stmt(*stmt, &mut certain);
            let after = (walk.seen.stored.len(), walk.seen.stores_anywhere);
            if before != after && walk.seen.first_store == list.len() {
                walk.seen.first_store = at;
                let plain =
                    matches!(program.stmts[*stmt].kind, C::Expr(e) if is_plain_store(program, e));
                walk.seen.is_plain = plain;
            }
        }
        walk.seen.certain = certain;
        walk.seen
    }

    /// How far counters are from their ends where facts hold, and the value of those that have only one.
    fn room(&self, facts: &[Fact]) -> (Vec<(i64, i64)>, Vec<Option<Poly>>) {
        let counters = self.terms.counters;
        let (mut room, mut pinned) = (Vec::new(), Vec::new());
        for (counter, (begin, last)) in counters.iter().zip(&self.ends) {
            let (mut low, mut high, mut value) = (0, 0, None);
            // Each turn a fact that takes the end itself away may make room for another.
            for _ in 0..=facts.len() {
                for fact in facts {
                    let (Fact::AtLeast(poly) | Fact::Not(poly)) = fact;
                    let Some((sign, rest)) = split(poly, *counter) else { continue };
                    // What the counter is compared with: it is there that the polynomial is zero.
                    let Some(at) = product(&rest, &constant(-sign)) else { continue };
                    let far =
                        |a: &Poly, b: &Poly| difference(a.clone(), b).and_then(|it| number(&it));
                    let (above, below) = (far(&at, begin), far(last, &at));
                    match fact {
                        Fact::AtLeast(_) if sign > 0 => {
                            low = above.map_or(low, |it| low.max(it));
                            if below == Some(high) {
                                value = Some(at);
                            }
                        }
                        Fact::AtLeast(_) => {
                            high = below.map_or(high, |it| high.max(it));
                            if above == Some(low) {
                                value = Some(at);
                            }
                        }
                        Fact::Not(_) => {
                            low += i64::from(above == Some(low));
                            high += i64::from(below == Some(high));
                        }
                    }
                }
            }
            room.push((low, high));
            pinned.push(value);
        }
        (room, pinned)
    }

    /// Subscripts as a key and distances.
    fn placed(&self, root: VarId, mut subs: Vec<Poly>) -> Option<(Key, Point)> {
        let counters = self.terms.counters;
        let mut point: Vec<Option<i64>> = vec![None; counters.len()];
        let mut is_linear = false;
        for sub in &mut subs {
            // The counters of a subscript, with what they are multiplied by.
            let mut strides = Vec::new();
            for (at, counter) in counters.iter().enumerate() {
                let mut stride = Poly::new();
                for (vars, by) in sub.iter().filter(|it| it.0.contains(counter)) {
                    let others: Vec<VarId> =
                        vars.iter().filter(|it| *it != counter).copied().collect();
                    if others.len() + 1 != vars.len()
                        || others.iter().any(|it| counters.contains(it))
                    {
                        return None;
                    }
                    stride.insert(others, *by);
                }
                if let [(vars, by)] = *stride.iter().collect::<Vec<_>>() {
                    strides.push((at, vars.clone(), *by));
                } else if !stride.is_empty() {
                    return None;
                }
            }
            is_linear |= strides.len() > 1 || strides.iter().any(|it| !it.1.is_empty());
            // Large strides first: what is left over belongs to smaller ones.
            strides.sort_by_key(|it| std::cmp::Reverse((it.1.len(), it.2)));
            let only = strides.len() == 1;
            for (at, vars, by) in strides {
                if by <= 0 || point.get(at)?.is_some() {
                    return None;
                }
                let have = sub.get(&vars).copied().unwrap_or(0);
                let far = match only {
                    true => have.div_euclid(by),
                    false => have.checked_add(by / 2)?.div_euclid(by),
                };
                *point.get_mut(at)? = Some(far);
                *sub = sum(std::mem::take(sub), &Poly::from([(vars, -far.checked_mul(by)?)]))?;
            }
        }
        let point = point.into_iter().collect::<Option<Point>>()?;
        Some((Key { root, subs, is_linear }, point))
    }
}

/// A polynomial as a counter once, with its sign, and the rest.
fn split(poly: &Poly, counter: VarId) -> Option<(i64, Poly)> {
    let sign = *poly.get(&vec![counter])?;
    let mut rest = poly.clone();
    rest.remove(&vec![counter]);
    let is_free = rest.keys().flatten().all(|it| *it != counter);
    (sign.abs() == 1 && is_free).then_some((sign, rest))
}

struct Walk<'l, 'a> {
    look: &'l Look<'a>,
    seen: Seen,
    at: usize,
    /// What holds here.
    path: Vec<Fact>,
}

/// A subscript in one way of the conditions in it.
type Subscript = (Conditions, Poly);

impl Walk<'_, '_> {
    fn program(&self) -> &Program {
        self.look.terms.program
    }

    fn under(
        &mut self,
        condition: ExprId,
        holds: bool,
        certain: &mut Certain,
        inside: &mut dyn FnMut(&mut Self, &mut Certain),
    ) {
        let known = self.path.len();
        let mut facts = Vec::new();
        self.look.terms.facts(condition, holds, &mut facts);
        self.path.extend(facts);
        inside(self, certain);
        self.path.truncate(known);
    }

    fn stmt(&mut self, stmt: StmtId, certain: &mut BTreeSet<(Key, Point)>) {
        let program = self.look.terms.program;
        match &program.stmts[stmt].kind {
            C::Empty | C::Declaration(_) => {}
            C::Expr(e) => self.expr(*e, certain),
            C::Local(var) => match program.vars[*var].init.map(|it| &program.inits[it]) {
                None => {}
                Some(Init::Expr(value)) => self.expr(*value, certain),
                Some(Init::List(..)) => self.unknown(Part::Stmt(stmt)),
            },
            C::Block(list) => list.iter().for_each(|it| self.stmt(*it, certain)),
            C::If(c, then, other) => {
                self.expr(*c, certain);
                let (mut a, mut b) = (BTreeSet::new(), BTreeSet::new());
                self.under(*c, true, &mut a, &mut |it, certain| it.stmt(*then, certain));
                if let Some(other) = other {
                    self.under(*c, false, &mut b, &mut |it, certain| it.stmt(*other, certain));
                }
                certain.extend(a.intersection(&b).cloned());
            }
            _ => self.unknown(Part::Stmt(stmt)),
        }
    }

    /// Arrays in it are left alone; what it stores to is not known.
    fn unknown(&mut self, part: Part) {
        let program = self.look.terms.program;
        let mut open = vec![part];
        while let Some(part) = open.pop() {
            if let Part::Expr(e) = part {
                match program.exprs[e].kind {
                    ExprKind::Var(var) => {
                        self.seen.odd.insert(var);
                    }
                    ExprKind::Assign(to, _)
                    | ExprKind::AssignOp(_, to, ..)
                    | ExprKind::Step(_, to)
                        if !matches!(program.exprs[to].kind, ExprKind::Var(_)) =>
                    {
                        self.seen.stores_anywhere = true;
                    }
                    ExprKind::Call(callee, _) => self.call(callee),
                    _ => {}
                }
            }
            program.parts(part, &mut |it| open.push(it));
        }
    }

    fn call(&mut self, callee: ExprId) {
        let program = self.program();
        let function = kernel::copy::callee_of(program, callee);
        let stores = function.is_none_or(|it| program.functions[it].body.is_some());
        self.seen.stores_anywhere |= stores;
    }

    /// What is stored to: the array, and its subscripts are walked.
    fn store(&mut self, to: ExprId, certain: &mut BTreeSet<(Key, Point)>) {
        let program = self.look.terms.program;
        let mut base = to;
        while let ExprKind::Index(of, index) = program.exprs[base].kind {
            self.expr(index, certain);
            base = of;
        }
        match program.exprs[base].kind {
            ExprKind::Var(_) if base == to => {}
            ExprKind::Var(var) => {
                self.seen.stored.insert(var);
                self.seen.stores_anywhere |= !program.types.is_array(program.vars[var].ty);
            }
            _ => {
                self.seen.stores_anywhere = true;
                self.unknown(Part::Expr(base));
            }
        }
    }

    fn expr(&mut self, e: ExprId, certain: &mut BTreeSet<(Key, Point)>) {
        let program = self.look.terms.program;
        match &program.exprs[e].kind {
            ExprKind::Assign(to, value) => {
                self.expr(*value, certain);
                self.store(*to, certain);
            }
            ExprKind::AssignOp(_, to, value, _) => {
                self.expr(*value, certain);
                self.store(*to, certain);
            }
            ExprKind::Step(_, to) => self.store(*to, certain),
            ExprKind::Conditional(c, a, b) => {
                let (c, a, b) = (*c, *a, *b);
                self.expr(c, certain);
                let (mut x, mut y) = (BTreeSet::new(), BTreeSet::new());
                if let Some(a) = a {
                    self.under(c, true, &mut x, &mut |it, certain| it.expr(a, certain));
                }
                self.under(c, false, &mut y, &mut |it, certain| it.expr(b, certain));
                certain.extend(x.intersection(&y).cloned());
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                let holds = matches!(program.exprs[e].kind, ExprKind::And(..));
                let (a, b) = (*a, *b);
                self.expr(a, certain);
                let perhaps = &mut BTreeSet::new();
                self.under(a, holds, perhaps, &mut |it, certain| it.expr(b, certain));
            }
            ExprKind::Call(callee, args) => {
                self.call(*callee);
                args.iter().for_each(|it| self.expr(*it, certain));
            }
            ExprKind::AddrOf(_) | ExprKind::StmtExpr(_) | ExprKind::CompoundLiteral(_) => {
                self.unknown(Part::Expr(e));
            }
            ExprKind::Index(..) if program.types.is_scalar(program.exprs[e].ty) => {
                self.load(e, certain);
            }
            // A row, not an element.
            ExprKind::Index(..) => self.unknown(Part::Expr(e)),
            ExprKind::Var(var) if !program.types.is_scalar(program.exprs[e].ty) => {
                self.seen.odd.insert(*var);
            }
            _ => {
                let mut parts = Vec::new();
                program.parts(Part::Expr(e), &mut |it| parts.push(it));
                for part in parts {
                    match part {
                        Part::Expr(e) => self.expr(e, certain),
                        other => self.unknown(other),
                    }
                }
            }
        }
    }

    fn load(&mut self, e: ExprId, certain: &mut BTreeSet<(Key, Point)>) {
        let program = self.look.terms.program;
        let (mut base, mut subs) = (e, Vec::new());
        while let ExprKind::Index(of, index) = program.exprs[base].kind {
            self.expr(index, certain);
            subs.push(index);
            base = of;
        }
        subs.reverse();
        let ExprKind::Var(root) = program.exprs[base].kind else {
            self.expr(base, certain);
            return;
        };
        let ty = program.exprs[e].ty;
        let terms = &self.look.terms;
        let stays = program.types.is_array(program.vars[root].ty)
            || !terms.changed.contains(&root) && (terms.own)(root);
        let ways = match stays && program.types.is_arithmetic(ty) && !ty.quals.is_volatile {
            true => self.ways(root, &subs),
            false => None,
        };
        let Some(ways) = ways else {
            self.seen.odd.insert(root);
            return;
        };
        if let [only] = ways.as_slice() {
            certain.insert((only.key.clone(), only.point.clone()));
        }
        self.seen.loads.push(Load { expr: e, root, ways, at: self.at });
    }

    /// The elements that a load may mean.
    fn ways(&self, root: VarId, subs: &[ExprId]) -> Option<Vec<Way>> {
        let mut all: Vec<(Conditions, Vec<Poly>)> = vec![(Vec::new(), Vec::new())];
        for sub in subs {
            let mut found = Vec::new();
            self.subscript(*sub, &mut Vec::new(), &mut found)?;
            let mut next = Vec::new();
            for (conditions, polys) in &all {
                for (more, poly) in &found {
                    let conditions = [conditions.clone(), more.clone()].concat();
                    next.push((conditions, [polys.clone(), vec![poly.clone()]].concat()));
                }
            }
            all = next;
            if all.len() > MOST_WAYS {
                return None;
            }
        }
        let mut ways = Vec::new();
        let mut shared: Option<Vec<Poly>> = None;
        for (conditions, polys) in all {
            let mut facts = self.path.clone();
            conditions.iter().for_each(|it| self.look.terms.facts(it.0, it.1, &mut facts));
            let (room, pinned) = self.look.room(&facts);
            ways.push((conditions, polys, room, pinned));
        }
        let mut made = Vec::new();
        for (conditions, polys, room, pinned) in &ways {
            let polys = self.unpinned(polys, pinned)?;
            shared.get_or_insert_with(|| polys.clone());
            let (key, point) = self.look.placed(root, polys)?;
            made.push(Way { conditions: conditions.clone(), key, point, room: room.clone() });
        }
        Some(made)
    }

    /// Subscripts without a counter, in terms of one that has only one value here.
    fn unpinned(&self, polys: &[Poly], pinned: &[Option<Poly>]) -> Option<Vec<Poly>> {
        let counters = self.look.terms.counters;
        let has = |poly: &Poly, var: &VarId| poly.keys().flatten().any(|it| it == var);
        let missing = |var: &&VarId| !polys.iter().any(|it| has(it, var));
        let mut open: Vec<VarId> = counters.iter().filter(missing).copied().collect();
        let mut made = polys.to_vec();
        for poly in &mut made {
            if counters.iter().any(|it| has(poly, it)) {
                continue;
            }
            let found = open.iter().position(|counter| {
                let at = counters.iter().position(|it| it == counter);
                let value = at.and_then(|it| pinned.get(it)).cloned().flatten();
                let far = value.and_then(|it| difference(poly.clone(), &it));
                far.is_some_and(|it| number(&it).is_some())
            });
            let Some(found) = found else { continue };
            let counter = open.remove(found);
            let at = counters.iter().position(|it| *it == counter)?;
            let value = pinned.get(at).cloned().flatten()?;
            *poly = sum(difference(poly.clone(), &value)?, &variable(counter))?;
        }
        Some(made)
    }

    /// A subscript, in each way of the conditions in it.
    fn subscript(
        &self,
        e: ExprId,
        conditions: &mut Vec<(ExprId, bool)>,
        out: &mut Vec<Subscript>,
    ) -> Option<()> {
        let program = self.program();
        match program.exprs[e].kind {
            ExprKind::Conditional(c, Some(a), b) if self.is_told(c) => {
                for (holds, e) in [(true, a), (false, b)] {
                    conditions.push((c, holds));
                    self.subscript(e, conditions, out)?;
                    conditions.pop();
                }
                Some(())
            }
            ExprKind::Cast(_, of)
                if matches!(program.exprs[of].kind, ExprKind::Conditional(..)) =>
            {
                self.subscript(of, conditions, out)
            }
            _ => {
                out.push((conditions.clone(), self.look.terms.poly(e)?));
                Some(())
            }
        }
    }

    /// Whether a condition is a comparison of what stays and counters.
    fn is_told(&self, c: ExprId) -> bool {
        let program = self.program();
        match program.exprs[c].kind {
            ExprKind::Binary(_, a, b) => {
                self.look.terms.poly(a).is_some() && self.look.terms.poly(b).is_some()
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => self.is_told(a) && self.is_told(b),
            ExprKind::Unary(UnaryOp::Not, of) => self.is_told(of),
            _ => false,
        }
    }
}

/// Distances that are looked at, with the least and the most of each loop.
pub(super) fn hull<'p>(points: impl Iterator<Item = &'p Point>) -> Vec<(i64, i64)> {
    let mut hull: Vec<(i64, i64)> = Vec::new();
    for point in points {
        hull.resize(point.len(), (i64::MAX, i64::MIN));
        for (it, far) in hull.iter_mut().zip(point) {
            *it = (it.0.min(*far), it.1.max(*far));
        }
    }
    hull
}

/// Loads by the group that they belong to.
pub(super) fn grouped(seen: &Seen) -> BTreeMap<Key, Vec<usize>> {
    let mut groups: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (at, load) in seen.loads.iter().enumerate() {
        if let Some(first) = load.ways.first()
            && load.ways.iter().all(|it| it.key == first.key)
        {
            groups.entry(first.key.clone()).or_default().push(at);
        }
    }
    groups
}
