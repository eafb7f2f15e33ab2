//! Data that could stay on the device: copied for one region after another although the host leaves it alone.
//!
//! In: the whole program. Out: [`Kept`]: a variable, the regions that copy it, and the statements that a data
//! region would have to stand around: a loop in whose rounds it is copied again and again, or statements
//! that follow each other. Nothing between them may touch it, nor leave the statements, nor change what says how much
//! is copied.

use std::collections::BTreeMap;

use ir::construct::{ClauseKind, Leaf, Motion};
use ir::program::{ExprId, ExprKind, RegionId, StmtId, StmtKind, VarId};
use ir::region::Origin;
use ir::walk::Part;

use super::uses::{self, Side, Use, Uses};
use super::{Shape, Transfer};
use crate::access::Base;
use crate::dependence::Analysis;

/// Data that a data region around some statements would copy once.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The variable, or the pointer that leads to the data.
    pub var: VarId,
    /// As one of the regions maps it.
    pub transfer: Transfer,
    /// The regions that copy it, in the order of the text.
    pub regions: Vec<RegionId>,
    /// The first and the last statement that the data region is to stand around; the same for a loop.
    pub around: (StmtId, StmtId),
    /// They are one loop, whose rounds copy again and again.
    pub is_loop: bool,
    /// What that data region must copy.
    pub motion: Motion,
}

/// More data than this is not followed at a time.
const MOST: usize = 64;
/// More comparisons than this are not made for one loop.
const MOST_PAIRS: usize = 1 << 18;

/// Data on the way through a block.
struct Open {
    transfer: Transfer,
    shape: Shape,
    /// Variables that say how much it is, and where.
    rests_on: Vec<VarId>,
    regions: Vec<RegionId>,
    first: StmtId,
    last: StmtId,
    goes: bool,
    returns: bool,
}

impl Analysis<'_> {
    /// What could stay on the device, over the whole program, in the order of the text.
    pub fn kept(&self) -> Vec<Kept> {
        let mut found = Vec::new();
        for (id, function) in self.program.functions.iter() {
            let Some(body) = function.body else { continue };
            let is_host = !function.device.declared && !self.outline.has_labels(id);
            if is_host && self.outline.has_regions(id) {
                self.kept_in(body, &mut found);
            }
        }
        // A data region around a loop serves the regions that follow each other in it; around an outer loop, those of an
        // inner one.
        let spans = |it: &Kept| self.program.stmts[it.around.0].span;
        let is_served = |it: &Kept, by: &Kept| {
            let (inner, outer) = (spans(it), spans(by));
            it.var == by.var && by.is_loop && outer.start < inner.start && inner.end <= outer.end
        };
        let loops: Vec<Kept> = found.iter().filter(|it| it.is_loop).cloned().collect();
        found.retain(|it| !loops.iter().any(|by| is_served(it, by)));
        found.sort_by_key(|it| spans(it).start);
        found
    }

    fn kept_in(&self, body: StmtId, found: &mut Vec<Kept>) {
        let mut stack = vec![body];
        while let Some(stmt) = stack.pop() {
            let kind = &self.program.stmts[stmt].kind;
            if let StmtKind::For(_) | StmtKind::While(..) | StmtKind::DoWhile(..) = kind {
                let kept = self.kept_through(stmt);
                found.extend(kept);
            }
            if let StmtKind::Block(stmts) = kind {
                self.kept_between(stmts, found);
            }
            if let StmtKind::Region(id) = kind {
                // Only data regions run their bodies on the host, once.
                if self.program.regions[*id].construct.leaves != [Leaf::DataRegion] {
                    continue;
                }
            }
            let mut parts = Vec::new();
            self.program.parts(Part::Stmt(stmt), &mut |it| parts.push(it));
            for part in parts {
                match part {
                    Part::Stmt(it) => stack.push(it),
                    Part::Region(it) => stack.extend(self.program.regions[it].body),
                    Part::Expr(_) | Part::Local(_) | Part::Init(_) => {}
                }
            }
        }
    }

    /// The copies of a region that could be spared.
    fn open(&self, id: RegionId, stmt: StmtId) -> Vec<Open> {
        let region = &self.program.regions[id];
        let is_certain = !region.construct.clauses.iter().any(|it| {
            matches!(it.kind, ClauseKind::If(_) | ClauseKind::Device(..) | ClauseKind::SelfExec(_))
        });
        if !uses::offloads(&region.construct) || !is_certain {
            return Vec::new();
        }
        let body = region.body.map(Part::Stmt);
        let there = self.uses(body.as_slice(), Side::Device);
        let mut found = Vec::new();
        for transfer in self.transfers(id) {
            let (goes, returns) = uses::copied(transfer.motion);
            let Some(shape) = self.plain(id, &transfer) else { continue };
            let Some(rests_on) = self.rests_on(&transfer) else { continue };
            // The whole of a scalar is not worth a word.
            let is_scalar = shape.dims.as_ref().is_some_and(Vec::is_empty);
            // What the device writes for itself alone, the next region must not see.
            let object = (shape.base, Some(shape.element));
            let is_scratch = !returns && self.touches(&there, object, true);
            if !is_scalar && !is_scratch && (goes || returns) {
                // Of its copies only those count that somebody needs.
                let (goes, returns) = uses::copied(transfer.enough);
                let regions = vec![id];
                let (first, last) = (stmt, stmt);
                found.push(Open { transfer, shape, rests_on, regions, first, last, goes, returns });
            }
        }
        found
    }

    /// The variables that say how much is copied; none if something else does.
    fn rests_on(&self, it: &Transfer) -> Option<Vec<VarId>> {
        let mut vars = vec![it.var];
        for part in &it.inferred {
            let sums = [&part.low, &part.high];
            vars.extend(sums.into_iter().flat_map(|it| it.terms.iter()).flat_map(|it| &it.1));
        }
        let mut stack: Vec<ExprId> = it.item.into_iter().collect();
        while let Some(id) = stack.pop() {
            let kind = &self.program.exprs[id].kind;
            if let ExprKind::Var(var) = *kind {
                vars.push(var);
            } else if let ExprKind::Call(..) | ExprKind::Deref(_) | ExprKind::Index(..) = kind {
                return None;
            }
            kind.parts(&self.program.types, &mut |part| {
                if let Part::Expr(it) = part {
                    stack.push(it);
                }
            });
        }
        Some(vars)
    }

    /// Statements that follow each other.
    fn kept_between(&self, stmts: &[StmtId], found: &mut Vec<Kept>) {
        let mut open: BTreeMap<VarId, Open> = BTreeMap::new();
        for &stmt in stmts {
            let region = self.region_of(stmt);
            let news = region.map_or_else(Vec::new, |id| self.open(id, stmt));
            if news.is_empty() && open.is_empty() {
                continue;
            }
            let uses = self.uses(&[Part::Stmt(stmt)], Side::Host);
            let leaves = self.outline.leaves(stmt);
            let declares = matches!(self.program.stmts[stmt].kind, StmtKind::Local(_));
            let ends = |it: &Open, own: bool| {
                leaves || declares || !self.lets_alone(it, &uses, if own { region } else { None })
            };
            let ended: Vec<VarId> = open
                .iter()
                .filter(|(var, it)| {
                    let same = news.iter().find(|new| new.transfer.var == **var);
                    match same {
                        Some(new) => !is_same(self, it, new) || ends(it, true),
                        None => ends(it, false),
                    }
                })
                .map(|it| *it.0)
                .collect();
            for var in ended {
                found.extend(open.remove(&var).and_then(closed));
            }
            for new in news {
                let is_followed = open.contains_key(&new.transfer.var) || open.len() < MOST;
                if !is_followed || ends(&new, true) {
                    continue;
                }
                if let Some(it) = open.get_mut(&new.transfer.var) {
                    it.regions.extend(new.regions);
                    it.last = stmt;
                    it.goes |= new.goes;
                    it.returns |= new.returns;
                } else {
                    open.insert(new.transfer.var, new);
                }
            }
        }
        found.extend(open.into_values().filter_map(closed));
    }

    /// All rounds of a loop.
    fn kept_through(&self, stmt: StmtId) -> Vec<Kept> {
        if self.outline.returns(stmt) {
            return Vec::new();
        }
        let mut open: BTreeMap<VarId, Option<Open>> = BTreeMap::new();
        for id in self.regions_run_by(stmt) {
            for new in self.open(id, stmt) {
                let entry = open.entry(new.transfer.var);
                let known = entry.or_insert(None);
                match known {
                    Some(it) if is_same(self, it, &new) => {
                        it.regions.extend(new.regions);
                        it.goes |= new.goes;
                        it.returns |= new.returns;
                    }
                    // A second way to name it: nothing is said.
                    Some(it) => it.regions.clear(),
                    None => *known = Some(new),
                }
            }
        }
        if open.is_empty() {
            return Vec::new();
        }
        let uses = self.uses(&[Part::Stmt(stmt)], Side::Host);
        if uses.list.len().saturating_mul(open.len()) > MOST_PAIRS {
            return Vec::new();
        }
        let is_kept = |it: &Open| {
            !it.regions.is_empty()
                && (it.goes || it.returns)
                && !uses.is_open_for(self, it)
                && uses.list.iter().all(|one| self.is_let_alone(it, one, &it.regions))
        };
        let kept = open.into_values().flatten().filter(is_kept);
        kept.map(|it| it.kept(true)).collect()
    }

    /// Whether a statement that is run while data stays on the device does nothing to it, the copies of `own` set
    /// aside.
    fn lets_alone(&self, it: &Open, uses: &Uses, own: Option<RegionId>) -> bool {
        let own: Vec<RegionId> = own.into_iter().collect();
        !uses.is_open_for(self, it) && uses.list.iter().all(|one| self.is_let_alone(it, one, &own))
    }

    fn is_let_alone(&self, it: &Open, one: &Use, own: &[RegionId]) -> bool {
        let base = it.shape.base;
        let is_own = one.base == base && one.by.is_some_and(|by| own.contains(&by));
        let object = (base, Some(it.shape.element));
        // What the device does not change, the host may look at.
        let matters = one.writes || it.returns;
        let is_changed = |var: &VarId| {
            let rests = Base::Var(*var);
            one.writes && rests != base && self.may_be(one, (rests, None))
        };
        (is_own || !matters || !self.may_be(one, object)) && !it.rests_on.iter().any(is_changed)
    }

    /// Regions for a device that a loop runs in each of its rounds or some of them, without those of regions in it
    /// that hold data themselves.
    fn regions_run_by(&self, stmt: StmtId) -> Vec<RegionId> {
        let mut found = Vec::new();
        let mut stack = vec![Part::Stmt(stmt)];
        while let Some(part) = stack.pop() {
            if let Part::Region(id) = part {
                if uses::offloads(&self.program.regions[id].construct) {
                    found.push(id);
                }
                continue;
            }
            if let Part::Expr(_) = part {
                continue;
            }
            let at = stack.len();
            self.program.parts(part, &mut |it| stack.push(it));
            stack.get_mut(at..).into_iter().for_each(<[_]>::reverse);
        }
        found
    }

    fn region_of(&self, stmt: StmtId) -> Option<RegionId> {
        if let StmtKind::Region(id) = self.program.stmts[stmt].kind { Some(id) } else { None }
    }
}

impl Uses {
    fn is_open_for(&self, of: &Analysis<'_>, it: &Open) -> bool {
        let is_hidden = |var: &VarId| of.is_hidden(Base::Var(*var));
        self.is_open && !(of.is_hidden(it.shape.base) && it.rests_on.iter().all(is_hidden))
    }
}

/// Whether two regions name the same data in the same way.
fn is_same(of: &Analysis<'_>, a: &Open, b: &Open) -> bool {
    let by_clause = |it: &Open| matches!(it.transfer.origin, Origin::Clause(_));
    let is_alike = a.transfer.inferred == b.transfer.inferred
        && (!a.transfer.inferred.is_empty() || a.shape.dims.is_some() && a.shape == b.shape);
    is_alike && (by_clause(a) == by_clause(b) || of.is_hidden(a.shape.base))
}

/// What was copied at least twice.
fn closed(it: Open) -> Option<Kept> {
    let is_again = it.regions.len() > 1 && it.goes;
    is_again.then(|| it.kept(false))
}

impl Open {
    fn kept(self, is_loop: bool) -> Kept {
        let motion = match (self.goes, self.returns) {
            (true, false) => Motion::To,
            (false, true) => Motion::From,
            (true, true) | (false, false) => Motion::ToFrom,
        };
        Kept {
            var: self.transfer.var,
            transfer: self.transfer,
            regions: self.regions,
            around: (self.first, self.last),
            is_loop,
            motion,
        }
    }
}
