//! Variables of which each team, thread or lane has a copy: who makes it, where the standard written has no place for the
//! clause.

use std::collections::{BTreeMap, BTreeSet};

use ir::construct::{ClauseKind, Construct, Leaf, Motion, Presence, Spelled};
use ir::program::{ExprId, ExprKind, Program, RegionId, VarId};
use rustc_hash::FxHashMap;
use source::Span;

use super::maps::Maps;
use super::{Fate, Line, Plan, Translator, clause, codes};
use levels::base;

impl Translator<'_> {
    /// Items of a list that takes whole variables only. A part of what a pointer leads to becomes an array
    /// of the body.
    pub(super) fn whole(
        &self,
        items: &[ExprId],
        has_value: bool,
        to: &mut Construct<Spelled>,
        plan: &mut Plan,
    ) -> Vec<String> {
        let mut names = Vec::new();
        for item in items {
            let Some(var) = base(self.made, *item) else { continue };
            let is_whole = matches!(self.made.exprs[*item].kind, ExprKind::Var(_));
            if is_whole || self.made.types.is_array(self.made.vars[var].ty) {
                names.push(self.words.var(var));
            } else if !self.own_array(*item, var, has_value, to, plan) {
                let text = "a part of what a pointer leads to cannot be copied for each team; \
                            declare an array in the region";
                plan.remark(
                    Fate::Refused,
                    Some(codes::NO_COUNTERPART),
                    Some(self.words.expr(*item)),
                    text,
                );
            }
        }
        names
    }

    /// Declares the copy of a part in the body of a construct that is no loop.
    fn own_array(
        &self,
        item: ExprId,
        var: VarId,
        has_value: bool,
        to: &mut Construct<Spelled>,
        plan: &mut Plan,
    ) -> bool {
        let ExprKind::Section(section) = &self.made.exprs[item].kind else { return false };
        let starts_late = section.lower.is_some_and(|it| self.words.expr(it) != "0");
        let (Some(length), false) = (section.length, starts_late) else { return false };
        if !matches!(self.made.exprs[section.base].kind, ExprKind::Var(_))
            || to.has(Leaf::Distribute)
        {
            return false;
        }
        let (name, length) = (self.words.var(var), self.words.expr(length));
        let own = format!("ferry_own_{name}");
        let element = self.made.exprs[item].ty;
        let array = self.words.declare(element, &format!("{own}[{length}]"));
        let mut text = format!("{array};");
        if has_value {
            text.push_str(&format!(
                " for (size_t ferry_at = 0; ferry_at < ({length}); ++ferry_at) \
                 {own}[ferry_at] = {name}[ferry_at];"
            ));
            let mut maps = Maps::default();
            maps.add(Motion::To, Presence::Any, format!("{name}[0:{length}]"));
            to.clauses.extend(maps.clauses(self.profile()));
        }
        let pointer = self.words.declare(self.made.vars[var].ty, &name);
        text.push_str(&format!(" {pointer} = {own};"));
        plan.inside.push(Line::Statement(text));
        true
    }

    /// Copies that loops ask for which run in order: the directive around makes them, if several run it.
    pub(super) fn lift_copies(&self, id: RegionId, to: &mut Construct<Spelled>, plan: &mut Plan) {
        for &at in self.takers().get(&id).into_iter().flatten() {
            for var in self.unsaid(at, id) {
                let is_scalar = self.made.types.is_scalar(self.made.vars[var].ty);
                let shared = [Leaf::Teams, Leaf::Parallel, Leaf::For];
                let is_shared = shared.into_iter().any(|it| to.has(it));
                if is_scalar && !is_shared {
                    continue;
                }
                if !is_scalar && self.is_used_between(id, at, var) {
                    let text = format!(
                        "a loop that runs in order has its own `{}`, which is used outside of it too",
                        self.words.var(var)
                    );
                    plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), None, text);
                }
                to.clauses.push(clause(ClauseKind::Private(vec![self.words.var(var)])));
            }
        }
    }

    /// Copies of a loop that runs in order, of variables from outside of the body of another region: what
    /// counts it, and what its clauses name.
    fn unsaid(&self, id: RegionId, around: RegionId) -> Vec<VarId> {
        let region = &self.made.regions[id];
        let body = self.made.regions[around].body.map(|it| self.made.stmts[it].span);
        let is_outside =
            |var: VarId| body.is_none_or(|it| self.made.vars[var].span.start < it.start);
        let named = region.construct.clauses.iter().filter_map(|it| match &it.kind {
            ClauseKind::Private(items) => Some(items),
            _ => None,
        });
        let named = named.flatten().filter_map(|it| base(self.made, *it));
        let mut vars: Vec<VarId> = Vec::new();
        for var in region.loops.iter().map(|it| it.var).chain(named) {
            if is_outside(var) && !vars.contains(&var) {
                vars.push(var);
            }
        }
        vars
    }

    fn takers(&self) -> &Takers {
        self.takers.get_or_init(|| {
            let mut found = Takers::new();
            for (at, _) in self.made.regions.iter().filter(|it| self.parts(it.0).is_empty()) {
                if let Some(taker) = self.taker(at) {
                    found.entry(taker).or_default().push(at);
                }
            }
            found
        })
    }

    /// The nearest directive around that can make copies.
    fn taker(&self, id: RegionId) -> Option<RegionId> {
        self.made.around(id).skip(1).find(|it| !self.parts(*it).is_empty())
    }

    /// Whether a variable is used in the body of one region, but not in that of another inside it.
    pub(super) fn is_used_between(&self, outer: RegionId, inner: RegionId, var: VarId) -> bool {
        let span_of = |id: RegionId| {
            let region = &self.made.regions[id];
            region.body.map(|it| self.made.stmts[it].span)
        };
        let (Some(outer), Some(inner)) = (span_of(outer), span_of(inner)) else { return false };
        let uses = self.uses.get_or_init(|| uses(self.program));
        uses.get(&var).into_iter().flatten().any(|it| {
            it.start >= outer.start
                && it.end <= outer.end
                && !(it.start >= inner.start && it.end <= inner.end)
        })
    }
}

/// By the directive that makes them, the loops whose copies it makes.
pub(super) type Takers = BTreeMap<RegionId, Vec<RegionId>>;

/// Where each variable is used.
pub(super) type Uses = FxHashMap<VarId, Vec<Span>>;

/// Where variables are used, those in directives left out.
fn uses(program: &Program) -> Uses {
    let mut directives: Vec<Span> =
        program.regions.iter().map(|(_, it)| it.construct.span).collect();
    directives.sort_by_key(|it| it.start);
    // With each, the farthest end up to it: a directive that begins before a place and ends behind it is found by that.
    let mut farthest = 0;
    for it in &mut directives {
        farthest = farthest.max(it.end);
        it.end = farthest;
    }
    let is_in_directive = |span: Span| {
        let before = directives.partition_point(|it| it.start <= span.start);
        let last = before.checked_sub(1).and_then(|it| directives.get(it));
        last.is_some_and(|it| span.end <= it.end)
    };
    let mut found = Uses::default();
    for (_, it) in program.exprs.iter() {
        if let ExprKind::Var(var) = it.kind
            && !is_in_directive(it.span)
        {
            found.entry(var).or_default().push(it.span);
        }
    }
    found
}

/// A variable in several lists that make copies has one: with its value, if one of them says so.
pub(super) fn merge_copies(to: &mut Construct<Spelled>) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for it in &mut to.clauses {
        let items = match &mut it.kind {
            ClauseKind::Reduction(it) => {
                seen.extend(it.items.clone());
                continue;
            }
            ClauseKind::Private(items)
            | ClauseKind::FirstPrivate { items, .. }
            | ClauseKind::LastPrivate { items, .. } => items,
            _ => continue,
        };
        items.retain(|it| !seen.contains(it));
        seen.extend(items.clone());
    }
    to.clauses.retain(|it| match &it.kind {
        ClauseKind::Private(items)
        | ClauseKind::FirstPrivate { items, .. }
        | ClauseKind::LastPrivate { items, .. } => !items.is_empty(),
        _ => true,
    });
}
