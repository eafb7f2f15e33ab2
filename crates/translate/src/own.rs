//! Directives that stay in the standard they are written in: their loops are mapped otherwise.
//!
//! What the user wrote stays word for word, clause by clause, and what macros say is written out; only parts and clauses that the shape of the nest asks
//! for come and go.

use ir::construct::{Clause, ClauseKind, Construct, Reduction, ReductionOp, Schedule, Spelled};
use ir::program::{RegionId, Typed};
use source::Span;

use super::{Fate, Line, Plan, Translator, clause, codes};

impl Translator<'_> {
    /// What is to stand in the place of a directive of the standard that is written.
    pub(super) fn own(&self, id: RegionId) -> Plan {
        let Some(reshaped) = self.reshaped else { return Plan::default() };
        let region = &reshaped.program.regions[id];
        let mut plan = Plan { is_own: true, ..Plan::default() };
        self.mapped(id, &mut plan);
        if region.construct.leaves.is_empty() {
            return plan;
        }
        let mut head = self.directive(region.construct.leaves.clone(), region.construct.span);
        let mut kept: Vec<String> = Vec::new();
        for it in region.construct.clauses.iter().filter(|it| it.group.is_none()) {
            match it.span == Span::NONE {
                true => head.clauses.extend(self.own_clause(it)),
                false => kept.push(self.words.said(it.span)),
            }
        }
        // What is for some types of devices follows the word that says so.
        for (at, group) in (0u16..).zip(&region.construct.groups) {
            let types: Vec<&str> = group.types.iter().map(|it| self.made.names.text(*it)).collect();
            let types = if types.is_empty() { "*".to_owned() } else { types.join(", ") };
            kept.push(format!("device_type({types})"));
            let clauses = region.construct.clauses.iter().filter(|it| it.group == Some(at));
            kept.extend(clauses.map(|it| self.words.said(it.span)));
        }
        match directive::write(&head, self.request.to) {
            Ok(text) => {
                let words = std::iter::once(format!("#pragma {text}")).chain(kept);
                plan.lines.push(Line::Statement(words.collect::<Vec<_>>().join(" ")));
            }
            Err(why) => {
                plan.remark(Fate::Refused, Some(codes::NO_COUNTERPART), None, why.to_string());
            }
        }
        plan
    }

    /// Says of a directive whose loops are mapped otherwise what changed and why.
    pub(super) fn mapped(&self, id: RegionId, plan: &mut Plan) {
        let Some(reshaped) = self.reshaped else { return };
        if let Some(why) = reshaped.changed.get(&id) {
            if let Some(why) = why {
                plan.remark(Fate::Translated, Some(codes::MAPPED), None, why.clone());
            }
            self.dropped_sizes(id, plan);
        }
        for (_, why) in reshaped.left.iter().filter(|it| it.0 == id) {
            plan.remark(Fate::Translated, Some(codes::MAPPED_AS_WRITTEN), None, why.clone());
        }
    }

    /// Clauses that went with the shape they were for.
    fn dropped_sizes(&self, id: RegionId, plan: &mut Plan) {
        let (Some(reshaped), Some(written)) = (self.reshaped, self.program.regions.find(id)) else {
            return;
        };
        let made: &Construct<Typed> = &reshaped.program.regions[id].construct;
        for it in &written.construct.clauses {
            if made.clauses.iter().any(|other| other.span == it.span) {
                continue;
            }
            let is_size = matches!(
                it.kind,
                ClauseKind::NumTeams { .. }
                    | ClauseKind::ThreadLimit(_)
                    | ClauseKind::NumThreads { .. }
                    | ClauseKind::DistSchedule(_)
                    | ClauseKind::Schedule(_)
                    | ClauseKind::Simdlen(_)
                    | ClauseKind::Gang(_)
                    | ClauseKind::Worker(Some(_))
                    | ClauseKind::Vector(Some(_))
            );
            let words = Some(self.words.written(it.span));
            match is_size {
                true => {
                    let text = "it is for another mapping of the loops";
                    plan.remark(Fate::Approximated, Some(codes::SIZES), words, text);
                }
                false => {
                    let text = "the mapping of the loops says it otherwise, or has no need of it";
                    plan.remark(Fate::Redundant, None, words, text);
                }
            }
        }
    }

    /// A clause that nobody has written.
    fn own_clause(&self, it: &Clause<Typed>) -> Option<Clause<Spelled>> {
        let list = |items: &[ir::program::ExprId]| self.words.list(items);
        let kind = match &it.kind {
            ClauseKind::Private(items) => ClauseKind::Private(list(items)),
            ClauseKind::Reduction(it) => {
                let op = match &it.op {
                    ReductionOp::Add => ReductionOp::Add,
                    ReductionOp::Sub => ReductionOp::Sub,
                    ReductionOp::Mul => ReductionOp::Mul,
                    ReductionOp::BitAnd => ReductionOp::BitAnd,
                    ReductionOp::BitOr => ReductionOp::BitOr,
                    ReductionOp::BitXor => ReductionOp::BitXor,
                    ReductionOp::And => ReductionOp::And,
                    ReductionOp::Or => ReductionOp::Or,
                    ReductionOp::Min => ReductionOp::Min,
                    ReductionOp::Max => ReductionOp::Max,
                    ReductionOp::User(name) => {
                        ReductionOp::User(self.made.names.text(*name).to_owned())
                    }
                };
                let items = list(&it.items);
                ClauseKind::Reduction(Reduction { modifier: None, original: None, op, items })
            }
            ClauseKind::Collapse { count, .. } => {
                ClauseKind::Collapse { force: false, count: self.words.expr(*count) }
            }
            ClauseKind::Gang(_) => ClauseKind::Gang(Vec::new()),
            ClauseKind::Worker(_) => ClauseKind::Worker(None),
            ClauseKind::Vector(_) => ClauseKind::Vector(None),
            ClauseKind::Seq => ClauseKind::Seq,
            ClauseKind::Independent => ClauseKind::Independent,
            ClauseKind::Schedule(_) | ClauseKind::Nowait(_) => return share_clause(&it.kind),
            _ => return None,
        };
        Some(clause(kind))
    }

    /// Whether a region is one whose loops are mapped otherwise in the standard that is written.
    pub(super) fn is_own(&self, id: RegionId) -> bool {
        let Some(reshaped) = self.reshaped else { return false };
        let is_left = reshaped.left.iter().any(|it| it.0 == id);
        let region = reshaped.program.regions.find(id);
        region.is_some_and(|it| it.construct.dialect == self.request.to)
            && (reshaped.changed.contains_key(&id) || is_left)
    }

    /// Whether a construct stands for nothing any more.
    pub(super) fn is_merged(&self, id: RegionId) -> bool {
        self.reshaped.is_some_and(|it| {
            let region = it.program.regions.find(id);
            region.is_some_and(|it| it.construct.leaves.is_empty())
        })
    }
}

/// What a loop says that threads share while each runs the loop around it whole.
pub(super) fn share_clause(kind: &ClauseKind<Typed>) -> Option<Clause<Spelled>> {
    match kind {
        ClauseKind::Schedule(Schedule { kind, monotonic, simd, chunk: None }) => {
            let (kind, monotonic, simd) = (*kind, *monotonic, *simd);
            Some(clause(ClauseKind::Schedule(Schedule { kind, monotonic, simd, chunk: None })))
        }
        ClauseKind::Nowait(None) => Some(clause(ClauseKind::Nowait(None))),
        _ => None,
    }
}
