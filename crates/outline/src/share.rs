//! Loops whose iterations are dealt to threads or teams.

use ir::construct::{ClauseKind, ScheduleKind};
use ir::program::{ExprId, ExprKind, RegionId, StmtId, VarId};
use kernel::{Block, Crew, Dim, Range, Schedule, Share, Space, Stmt, StmtKind};
use source::Span;

use crate::data::Copies;
use crate::scan::Loops;
use crate::{Outliner, Result, refuse, transform};

/// Whose turn iterations are, and what is known of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deal {
    pub(crate) crew: Crew,
    /// Where variables of the loop lie.
    pub(crate) space: Space,
    pub(crate) schedule: Schedule,
    /// Only these iterations are dealt.
    pub(crate) within: Option<Range>,
}

impl Outliner<'_> {
    /// The iterations of a construct's loops, each with the body.
    pub(crate) fn deal(
        &mut self,
        id: RegionId,
        deal: Deal,
        copies: &Copies,
        out: &mut Block,
    ) -> Result<()> {
        let region = self.program.regions[id].clone();
        let span = region.construct.span;
        let vars = self.env.vars.clone();
        let number = self.number("iteration", deal.space, span, out);
        let made = match transform::are_changed(self.program, id) {
            true => Some(self.transformed(id, deal.space, out)?),
            false => None,
        };
        let dims = match &made {
            Some(made) => made.dims.clone(),
            None => self.dims(id, deal.space, out)?,
        };
        let is_perfect = self.is_perfect(id);
        let body = region.loops.last().map(|it| match is_perfect {
            true => self.plain(it.body),
            false => it.body,
        });
        let scanned = self.scanned(id)?;
        let is_ordered = !scanned.is_empty()
            || region.construct.kinds().any(|it| matches!(it, ClauseKind::Ordered(_)));
        if let (false, false, Some(body), None) =
            (scanned.is_empty(), self.env.is_lone, body, &made)
            && self.is_perfect(id)
            && dims.iter().all(|it| it.rectangular)
        {
            let loops = Loops { crew: deal.crew, number, dims: &dims, copies, outside: &vars };
            self.scan(id, body, &scanned, &loops, out)?;
            self.env.vars = vars;
            return Ok(());
        }
        let mut block = Block::new();
        self.begin_iteration(copies, number, &mut block);
        let around = self.env.clone();
        self.env.is_ordered = is_ordered;
        self.env.is_shared = !self.env.is_team_level() && !self.env.is_lone;
        self.env.is_dealt = self.env.is_team_level();
        // What a `continue` leaves is the iteration.
        match (&made, body, scanned.is_empty()) {
            (Some(made), _, true) => block.extend(self.transformed_body(made)?),
            (None, Some(body), true) => block.extend(self.iteration(id, body, &dims)?),
            (None, Some(body), false) if self.is_perfect(id) => {
                self.prefixes(id, body, &scanned, &mut block)?;
            }
            (None, None, _) => return refuse("no loop", span),
            (_, _, false) => return refuse("prefixes of a nest that is more than its loops", span),
        }
        (self.env.is_ordered, self.env.is_shared) = (around.is_ordered, around.is_shared);
        self.env.is_dealt = around.is_dealt;
        let mut last = self.end_last(copies, number);
        match &made {
            Some(made) => self.transformed_ends(made, &mut last),
            None => self.keep_counters(id, &dims, &vars, &mut last),
        }
        self.env.vars = vars;
        let Deal { crew, mut schedule, within, .. } = deal;
        // One thread runs them in their order.
        let is_ordered = is_ordered && !self.env.is_lone;
        if self.env.is_lone {
            schedule = Schedule::Blocks;
        }
        let share = Share {
            crew,
            dims,
            within,
            schedule,
            ordered: is_ordered,
            pieces: None,
            number,
            body: block,
            last,
        };
        out.push(Stmt::new(StmtKind::Share(Box::new(share)), span));
        Ok(())
    }

    /// The loops of a construct, whose variables become the kernel's.
    pub(crate) fn dims(&mut self, id: RegionId, space: Space, out: &mut Block) -> Result<Vec<Dim>> {
        let region = self.program.regions[id].clone();
        let span = region.construct.span;
        if region.loops.is_empty() {
            return refuse("other directives change its loops", span);
        }
        let mut dims = Vec::new();
        for it in &region.loops {
            let begin = self.value(it.begin, out)?;
            let bound = self.value(it.bound, out)?;
            let step = it.step.map(|it| self.value(it, out)).transpose()?;
            let var = self.fresh_like(it.var, space, it.span)?;
            self.declare(var, out);
            self.env.vars.insert(it.var, var);
            let (test, descending, rectangular) = (it.test, it.descending, it.rectangular);
            dims.push(Dim { var, begin, bound, test, step, descending, rectangular });
        }
        Ok(dims)
    }

    /// Whether a variable that counts keeps what it has after the loop.
    pub(crate) fn is_kept(&self, id: RegionId, var: VarId) -> bool {
        let is_it =
            |it: &ExprId| matches!(self.program.exprs[*it].kind, ExprKind::Var(v) if v == var);
        self.program.regions[id].construct.kinds().any(|kind| match kind {
            ClauseKind::LastPrivate { items, .. } => items.iter().any(is_it),
            _ => false,
        })
    }

    /// Variables that count and keep what they have after the loop.
    pub(crate) fn keep_counters(
        &mut self,
        id: RegionId,
        dims: &[Dim],
        outside: &rustc_hash::FxHashMap<VarId, VarId>,
        last: &mut Block,
    ) {
        let region = self.program.regions[id].clone();
        let kept: Vec<bool> = region.loops.iter().map(|it| self.is_kept(id, it.var)).collect();
        for ((it, dim), kept) in region.loops.iter().zip(dims).zip(kept) {
            if !kept {
                continue;
            }
            let original = outside.get(&it.var).copied().unwrap_or(it.var);
            let next = self.next_value(dim);
            let e = self.build(it.span).set(original, next);
            self.eval(e, last);
        }
    }

    pub(crate) fn statements(&mut self, list: &[StmtId], out: &mut Block) -> Result<()> {
        list.iter().try_for_each(|it| self.stmt(*it, out))
    }

    /// How threads share a loop.
    pub(crate) fn schedule(&mut self, id: RegionId, span: Span) -> Schedule {
        let found = self.program.regions[id].construct.kinds().find_map(|it| match it {
            ClauseKind::Schedule(it) => Some((it.kind, it.chunk)),
            _ => None,
        });
        let one = |this: &mut Self| this.build(span).number(1);
        match found {
            // Neighbours in turn: what they use lies side by side.
            None => Schedule::RoundRobin(one(self)),
            Some((ScheduleKind::Static | ScheduleKind::Auto | ScheduleKind::Runtime, None)) => {
                Schedule::Blocks
            }
            Some((ScheduleKind::Dynamic | ScheduleKind::Guided, None)) => {
                Schedule::RoundRobin(one(self))
            }
            Some((_, Some(chunk))) => self.round_robin(chunk),
        }
    }

    /// How teams share a loop.
    pub(crate) fn team_schedule(&mut self, id: RegionId) -> Schedule {
        let found = self.program.regions[id].construct.kinds().find_map(|it| match it {
            ClauseKind::DistSchedule(chunk) => *chunk,
            _ => None,
        });
        found.map_or(Schedule::Blocks, |it| self.round_robin(it))
    }

    fn round_robin(&mut self, chunk: ExprId) -> Schedule {
        let chunk = self.copied(chunk);
        let span = self.program.exprs[chunk].span;
        Schedule::RoundRobin(self.build(span).as_number(chunk))
    }
}
