//! Constructs: leagues, teams, shared loops, and what threads of a team do together.

use ir::construct::{BindLevel, ClauseKind, GangArg, Leaf};
use ir::program::{BinaryOp, ExprId, ExprKind, RegionId, StmtKind as C, VarId};
use ir::region::{RegionVar, Sharing};
use kernel::count::constant;
use kernel::{Block, Crew, Parallel, Range, Schedule, Share, Space, Stmt, StmtKind, Teams, Who};
use source::Span;

use crate::data::Copies;
use crate::share::Deal;
use crate::stmt::concerns_others;
use crate::{Outliner, Result, comes_as_value, leaves_host, refuse, transform};

impl Outliner<'_> {
    /// Whether a construct is more than the code of one thread, where it stands.
    pub(crate) fn is_of_crew(&self, id: RegionId) -> bool {
        let construct = &self.program.regions[id].construct;
        let leaves = &construct.leaves;
        // What the host runs is one thread's call.
        if construct.goes_back() {
            return false;
        }
        match self.env.is_team_level() {
            // What threads share is the first thread's alone.
            true => leaves.iter().any(|it| {
                matches!(
                    it,
                    Leaf::Teams | Leaf::Distribute | Leaf::Parallel | Leaf::Loop | Leaf::Barrier
                )
            }),
            false => leaves.iter().any(|it| concerns_others(*it)),
        }
    }

    /// A construct inside the region.
    pub(crate) fn region(&mut self, id: RegionId, out: &mut Block) -> Result<()> {
        let leaves: Vec<Leaf> = self.program.regions[id].construct.leaves.clone();
        let region = &self.program.regions[id];
        let span = region.construct.span;
        if region.construct.goes_back() {
            return self.alone(id, &leaves, out);
        }
        // Advice about memory, of which passes have their own opinion.
        if matches!(leaves.as_slice(), [Leaf::Cache | Leaf::Nothing]) && region.body.is_none() {
            return Ok(());
        }
        if leaves.iter().any(|it| leaves_host(*it)) {
            return refuse("a region that leaves the host inside another", span);
        }
        self.construct(id, &leaves, out)
    }

    /// The parts of a construct that are left.
    pub(crate) fn construct(
        &mut self,
        id: RegionId,
        leaves: &[Leaf],
        out: &mut Block,
    ) -> Result<()> {
        let span = self.program.regions[id].construct.span;
        let env = self.env.clone();
        let mut block = Block::new();
        let done = self.parts(id, leaves, span, &mut block);
        self.env = env;
        done?;
        out.push(Stmt::new(StmtKind::Block(block), span));
        Ok(())
    }

    fn parts(&mut self, id: RegionId, leaves: &[Leaf], span: Span, out: &mut Block) -> Result<()> {
        let is_shared = matches!(
            leaves,
            [
                Leaf::For
                    | Leaf::Loop
                    | Leaf::Sections
                    | Leaf::Single
                    | Leaf::Scope
                    | Leaf::Barrier,
                ..
            ]
        );
        if self.env.is_shared && is_shared && self.bound(id) != BindLevel::Thread {
            return refuse(
                "something that threads share inside of iterations that they share",
                span,
            );
        }
        match leaves {
            [] => {
                let sums = self.reduced(id, self.threads, self.space_here(), false, out)?;
                self.privatise(id, out)?;
                self.body(id, out)?;
                sums.into_iter().for_each(|it| self.combined(it, span, out));
                Ok(())
            }
            [Leaf::Teams, rest @ ..] => self.teams(id, rest, span, out),
            [Leaf::Distribute, Leaf::Parallel, Leaf::For, rest @ ..] if is_lanes(rest) => {
                self.both(id, span, out)
            }
            [Leaf::Distribute, rest @ ..] if is_lanes(rest) => self.distribute(id, span, out),
            [Leaf::Loop, rest @ ..] if is_lanes(rest) => match self.bound(id) {
                // Loops inside have the threads.
                BindLevel::Teams if self.has_threads_inside(id) => self.distribute(id, span, out),
                BindLevel::Teams => self.both(id, span, out),
                BindLevel::Parallel if self.env.is_team_level() => {
                    self.parallel_with(id, span, out, |this, _, body| {
                        this.threads_loop(id, false, span, body)
                    })
                }
                BindLevel::Parallel => self.threads_loop(id, true, span, out),
                BindLevel::Thread => self.alone(id, leaves, out),
            },
            [Leaf::Parallel, rest @ ..] => self.parallel(id, rest, span, out),
            [Leaf::For, rest @ ..] if is_lanes(rest) && !self.env.is_team_level() => {
                self.threads_loop(id, true, span, out)
            }
            [Leaf::Sections] if !self.env.is_team_level() => self.sections(id, true, span, out),
            [Leaf::Single] if !self.env.is_team_level() => self.single(id, span, out),
            [Leaf::Masked | Leaf::Master, rest @ ..] if !self.env.is_team_level() => {
                self.masked(id, rest, span, out)
            }
            [Leaf::Scope] if !self.env.is_team_level() => self.scope(id, span, out),
            [Leaf::Barrier] => {
                self.barrier(span, out);
                Ok(())
            }
            [Leaf::Ordered] if self.env.is_ordered => self.body(id, out),
            // What is chosen while the program runs, and advice around constructs.
            [Leaf::Metadirective | Leaf::BeginMetadirective] => self.body(id, out),
            [Leaf::Nothing | Leaf::Assume] if self.has_others_inside(id) => self.body(id, out),
            // Iterations run in order.
            [Leaf::OrderedPoint] if self.env.is_ordered => Ok(()),
            _ if self.has_others_inside(id) => {
                refuse("a construct in which threads of the team meet", span)
            }
            _ => self.alone(id, leaves, out),
        }
    }

    /// The level of a loop that names none in its own name.
    fn bound(&self, id: RegionId) -> BindLevel {
        let said = self.program.regions[id].construct.kinds().find_map(|it| match it {
            ClauseKind::Bind(level) => Some(*level),
            _ => None,
        });
        said.unwrap_or(match (self.env.team, self.env.teams) {
            // In iterations that threads share it is one thread's; in those that teams share their threads have it.
            (Some(_), _) if self.env.is_shared => BindLevel::Thread,
            (Some(_), _) => BindLevel::Parallel,
            (None, Some(_)) if self.env.is_dealt => BindLevel::Parallel,
            (None, Some(_)) => BindLevel::Teams,
            (None, None) => BindLevel::Thread,
        })
    }

    /// Whether a construct that one thread runs has something inside that others take part in.
    fn has_others_inside(&self, id: RegionId) -> bool {
        self.program.inside(id).into_iter().any(|it| self.is_of_crew(it))
    }

    /// Whether threads share something inside a construct.
    fn has_threads_inside(&self, id: RegionId) -> bool {
        // A nest has iterations for all threads: sums inside are each one's own.
        let is_nest = self.program.regions[id].loops.len() > 1;
        self.program.inside(id).into_iter().any(|it| {
            let construct = &self.program.regions[it].construct;
            let bound = construct.kinds().find_map(|it| match it {
                ClauseKind::Bind(level) => Some(*level),
                _ => None,
            });
            let sums = construct.kinds().any(|it| matches!(it, ClauseKind::Reduction(_)));
            let is_open = construct.has(Leaf::Loop) && bound.is_none() && !(is_nest && sums);
            construct.has(Leaf::Parallel) || bound == Some(BindLevel::Parallel) || is_open
        })
    }

    fn body(&mut self, id: RegionId, out: &mut Block) -> Result<()> {
        match self.program.regions[id].body {
            Some(body) => {
                let block = self.block(&[body])?;
                out.extend(block);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// A construct that means to a thread what it means to a thread alone.
    fn alone(&mut self, id: RegionId, leaves: &[Leaf], out: &mut Block) -> Result<()> {
        let span = self.program.regions[id].construct.span;
        let mut copy = self.copier(&mut |it| it.region(id));
        if self.program.regions[copy].construct.leaves != leaves {
            let mut region = self.program.regions[copy].clone();
            region.construct.leaves = leaves.to_vec();
            copy = self.program.regions.push(region);
        }
        let code = self.build(span).stmt(C::Region(copy));
        out.push(Stmt::new(StmtKind::Code(code), span));
        Ok(())
    }

    /// Two numbers that say that there is one.
    fn crew_of_one(
        &mut self,
        like: (&str, &str),
        space: Space,
        span: Span,
        out: &mut Block,
    ) -> Crew {
        let number = self.number(like.0, space, span, out);
        let count = self.number(like.1, space, span, out);
        self.set_number(number, 0, span, out);
        self.set_number(count, 1, span, out);
        Crew { number, count }
    }

    fn teams(&mut self, id: RegionId, rest: &[Leaf], span: Span, out: &mut Block) -> Result<()> {
        let construct = self.program.regions[id].construct.clone();
        let (mut counts, mut limit, mut condition) = (Vec::new(), None, None);
        for clause in construct.clauses.iter().filter(|it| it.group.is_none()) {
            match &clause.kind {
                ClauseKind::NumTeams { counts: asked, .. } => counts = asked.clone(),
                ClauseKind::ThreadLimit(it) => limit = Some(*it),
                ClauseKind::If(it)
                    if clause.on == Some(Leaf::Teams) || construct.leaves == [Leaf::Teams] =>
                {
                    condition = Some(*it);
                }
                _ => {}
            }
        }
        // Those of the region itself are computed on the host.
        match construct.leaves.iter().any(|it| leaves_host(*it)) {
            true => {
                if !counts.iter().all(|it| self.is_given(*it)) {
                    if counts.len() > 1 {
                        return refuse("teams in several dimensions that nobody counts", span);
                    }
                    counts.clear();
                }
                limit = limit.filter(|it| self.is_given(*it));
                if condition.is_some_and(|it| !self.is_given(it)) {
                    return refuse("a condition of teams that nobody computes", span);
                }
            }
            false => {
                counts = counts.into_iter().map(|it| self.copied(it)).collect();
                limit = limit.map(|it| self.copied(it));
                condition = condition.map(|it| self.copied(it));
            }
        }
        if let Some(condition) = condition {
            let all = self.groups.count;
            let mut build = self.build(span);
            if counts.is_empty() {
                counts.push(build.var(all));
            }
            for count in &mut counts {
                let (asked, one) = (build.as_number(*count), build.number(1));
                *count = build.either(condition, asked, one);
            }
        }
        let mut teams = self.all_teams(&counts, span);
        let mut build = self.build(span);
        // Where teams that were not counted run code that is not shared, one is as good as many.
        if construct.rules.redundant_teams && teams.is_none() && rest.is_empty() {
            teams = Some(build.number(1));
        }
        let crew = Crew { number: build.fresh_number("team"), count: build.fresh_number("teams") };
        self.spaces.push((crew.number, Space::Uniform));
        self.spaces.push((crew.count, Space::Uniform));
        let mut body = Block::new();
        self.env.teams = Some(crew);
        self.env.dimensions = self.dimensions(crew, &counts, span, &mut body);
        self.limit_threads(limit.or(self.env.asked_limit), span, &mut body);
        if let Some(region) = self.region {
            self.begin_wanted(region, span, &mut body);
        }
        self.own_values(self.region.unwrap_or(id), &mut body)?;
        let sums = self.reduced(id, crew, Space::Group, true, &mut body)?;
        match rest {
            [] => {
                self.privatise(id, &mut body)?;
                self.body(id, &mut body)?;
            }
            rest => self.construct(id, rest, &mut body)?,
        }
        for it in sums {
            body.push(Stmt::new(StmtKind::Reduce(Box::new(it)), span));
        }
        let teams = Teams { crew, teams, limit: None, body };
        out.push(Stmt::new(StmtKind::Teams(Box::new(teams)), span));
        Ok(())
    }

    /// How many teams there are in all dimensions.
    fn all_teams(&mut self, counts: &[ExprId], span: Span) -> Option<ExprId> {
        if let [count] = counts {
            return Some(*count);
        }
        let mut all: Option<ExprId> = None;
        for count in counts {
            let count = self.some_teams(*count, span);
            all = Some(match all {
                Some(others) => self.build(span).binary(BinaryOp::Mul, others, count),
                None => count,
            });
        }
        all
    }

    /// A number of teams that is asked for: at least one.
    fn some_teams(&mut self, count: ExprId, span: Span) -> ExprId {
        let mut build = self.build(span);
        let count = build.as_number(count);
        let (zero, one) = (build.number(0), build.number(1));
        let long = build.program.types.get(ir::types::TypeKind::Int(ir::types::IntKind::Long));
        let (signed, none) = (build.cast(count, long), build.cast(zero, long));
        let is_some = build.binary(BinaryOp::Gt, signed, none);
        build.either(is_some, count, one)
    }

    /// The teams along each dimension, where there are several: numbers grow along the first.
    fn dimensions(
        &mut self,
        crew: Crew,
        counts: &[ExprId],
        span: Span,
        out: &mut Block,
    ) -> Vec<Crew> {
        let mut made = Vec::new();
        let mut rest = crew.number;
        for count in counts.iter().filter(|_| counts.len() > 1) {
            let asked = self.some_teams(*count, span);
            let all = self.number("teams", Space::Uniform, span, out);
            let e = self.build(span).set(all, asked);
            self.eval(e, out);
            let mut along = |this: &mut Self, like: &str, op: BinaryOp| {
                let var = this.number(like, Space::Uniform, span, out);
                let mut build = this.build(span);
                let (whole, by) = (build.var(rest), build.var(all));
                let value = build.binary(op, whole, by);
                let e = build.set(var, value);
                this.eval(e, out);
                var
            };
            let number = along(self, "team", BinaryOp::Rem);
            rest = along(self, "rest", BinaryOp::Div);
            made.push(Crew { number, count: all });
        }
        made
    }

    /// The teams that share a loop.
    fn teams_of(&mut self, id: RegionId, span: Span, out: &mut Block) -> Crew {
        let Some(crew) = self.env.teams else {
            return self.crew_of_one(("team", "teams"), self.team_space(), span, out);
        };
        let dimension = self.program.regions[id].construct.kinds().find_map(|it| match it {
            ClauseKind::Gang(args) => args.iter().find_map(|it| match it {
                GangArg::Dim(it) => constant(self.program, *it),
                GangArg::Static(_) | GangArg::Num(..) => None,
            }),
            _ => None,
        });
        let at = usize::try_from(dimension.unwrap_or(1).saturating_sub(1)).unwrap_or(0);
        self.env.dimensions.get(at).copied().unwrap_or(crew)
    }

    /// How many threads a team may have: not more than there are, and than are asked for.
    pub(crate) fn limit_threads(&mut self, limit: Option<ExprId>, span: Span, out: &mut Block) {
        let Some(limit) = limit else { return };
        let most = self.number("limit", Space::Uniform, span, out);
        let all = self.threads.count;
        let mut build = self.build(span);
        // Evaluated twice; it is a constant or an argument.
        let asked = build.as_number(limit);
        let all = build.var(all);
        let least = build.min(asked, all);
        let (zero, one) = (build.number(0), build.number(1));
        let is_some = build.binary(BinaryOp::Gt, least, zero);
        let value = build.either(is_some, least, one);
        let e = build.set(most, value);
        self.eval(e, out);
        self.env.limit = Some(most);
    }

    /// Refuses a loop of teams whose last iteration replaces a value that others begin with: no team knows whether all
    /// have begun.
    fn check_first_values(&self, id: RegionId, span: Span) -> Result<()> {
        let values: Vec<VarId> = match self.region.map(|it| &self.program.regions[it].vars) {
            Some(vars) => vars.iter().filter(|it| comes_as_value(it)).map(|it| it.var).collect(),
            None => Vec::new(),
        };
        let region = &self.program.regions[id];
        let is_replaced = |it: &RegionVar| {
            let sharing = it.sharing.as_ref().map(|it| &it.value);
            matches!(sharing, Some(Sharing::FirstLastPrivate | Sharing::Linear))
                && !values.contains(&it.var)
                && !region.loops.iter().any(|one| one.var == it.var)
        };
        match self.env.teams.is_some() && region.vars.iter().any(is_replaced) {
            true => refuse("the last iteration of its teams replaces what others begin with", span),
            false => Ok(()),
        }
    }

    /// `distribute`: a team's iterations, by its first thread until that asks for more.
    fn distribute(&mut self, id: RegionId, span: Span, out: &mut Block) -> Result<()> {
        self.check_first_values(id, span)?;
        let crew = self.teams_of(id, span, out);
        let sums = self.teams_sums(id, crew, out)?;
        let copies = self.privatise(id, out)?;
        let schedule = self.team_schedule(id);
        let deal = Deal { crew, space: self.team_space(), schedule, within: None };
        self.deal(id, deal, &copies, out)?;
        self.combine(sums, span, out);
        Ok(())
    }

    /// Where variables of a loop that teams share lie: a thread that has such a loop for itself has them, too.
    fn team_space(&self) -> Space {
        if self.env.is_team_level() { Space::Uniform } else { Space::Private }
    }

    /// What a loop of teams combines, if its league does not.
    fn teams_sums(
        &mut self,
        id: RegionId,
        crew: Crew,
        out: &mut Block,
    ) -> Result<Vec<kernel::Reduce>> {
        match self.program.regions[id].construct.has(Leaf::Teams) {
            true => Ok(Vec::new()),
            false => {
                let sums = self.reduced(id, crew, Space::Group, true, out)?;
                let span = self.program.regions[id].construct.span;
                match self.env.is_team_level() || sums.is_empty() {
                    true => Ok(sums),
                    false => {
                        refuse("what teams combine inside of iterations that threads share", span)
                    }
                }
            }
        }
    }

    /// `distribute parallel for`: teams get pieces, and their threads the iterations of a piece.
    fn both(&mut self, id: RegionId, span: Span, out: &mut Block) -> Result<()> {
        self.check_first_values(id, span)?;
        let crew = self.teams_of(id, span, out);
        if !self.scanned(id)?.is_empty() {
            return refuse("prefixes over iterations that teams share", span);
        }
        let sums = self.teams_sums(id, crew, out)?;
        let schedule = self.team_schedule(id);
        let space = self.team_space();
        let number = self.number("piece", space, span, out);
        let vars = self.env.vars.clone();
        let dims = match transform::are_changed(self.program, id) {
            true => self.transformed(id, space, out)?.dims,
            false => self.dims(id, space, out)?,
        };
        self.env.vars = vars;
        let begin = self.number("begin", space, span, out);
        let end = self.number("end", space, span, out);
        let range = Range { begin, end };
        let mut body = Block::new();
        self.parallel_with(id, span, &mut body, |this, crew, body| {
            let copies = this.privatise(id, body)?;
            let schedule = this.schedule(id, span);
            let deal = Deal { crew, space: Space::Private, schedule, within: Some(range) };
            this.deal(id, deal, &copies, body)
        })?;
        let share = Share {
            crew,
            dims,
            within: None,
            schedule,
            ordered: false,
            pieces: Some(range),
            number,
            body,
            last: Block::new(),
        };
        out.push(Stmt::new(StmtKind::Share(Box::new(share)), span));
        self.combine(sums, span, out);
        Ok(())
    }

    fn parallel(&mut self, id: RegionId, rest: &[Leaf], span: Span, out: &mut Block) -> Result<()> {
        self.parallel_with(id, span, out, |this, _, body| match rest {
            [] => {
                this.privatise(id, body)?;
                this.body(id, body)
            }
            [Leaf::For | Leaf::Loop, lanes @ ..] if is_lanes(lanes) => {
                this.threads_loop(id, false, span, body)
            }
            [Leaf::Sections] => this.sections(id, false, span, body),
            [Leaf::Masked | Leaf::Master, ..] => this.construct(id, rest, body),
            _ => refuse("this combination of constructs", span),
        })
    }

    /// A parallel region, and what its construct combines.
    fn parallel_with(
        &mut self,
        id: RegionId,
        span: Span,
        out: &mut Block,
        inside: impl FnOnce(&mut Self, Crew, &mut Block) -> Result<()>,
    ) -> Result<()> {
        let construct = self.program.regions[id].construct.clone();
        let is_kernel = construct.leaves.iter().any(|it| leaves_host(*it));
        let (mut threads, mut condition) = (None, None);
        for clause in construct.clauses.iter().filter(|it| it.group.is_none()) {
            match &clause.kind {
                ClauseKind::NumThreads { counts, .. } => threads = counts.first().copied(),
                // Of a region that left the host it was true.
                ClauseKind::If(it)
                    if clause.on == Some(Leaf::Parallel) || clause.on.is_none() && !is_kernel =>
                {
                    condition = Some(*it);
                }
                _ => {}
            }
        }
        let env = self.env.clone();
        if !env.is_team_level() {
            // A team inside a team has one thread.
            let crew = self.crew_of_one(("thread", "threads"), Space::Private, span, out);
            self.env.outer = env.outer.or(env.team);
            self.env.team = Some(crew);
            self.env.level += 1;
            self.env.is_lone = true;
            self.env.is_ordered = false;
            self.env.is_shared = false;
            let mut body = Block::new();
            let sums = self.reduced(id, crew, Space::Private, false, &mut body)?;
            inside(self, crew, &mut body)?;
            sums.into_iter().for_each(|it| self.combined(it, span, &mut body));
            self.env = env;
            out.push(Stmt::new(StmtKind::Block(body), span));
            return Ok(());
        }
        let threads = match threads {
            Some(it) => Some(self.value(it, out)?),
            None => {
                let (env, threads) = (self.env.clone(), self.threads);
                env.wanted.map(|_| crate::stmt::most_threads(&mut self.build(span), &env, threads))
            }
        };
        let condition = condition.map(|it| self.value(it, out)).transpose()?;
        let number = self.threads.number;
        let count = self.build(span).fresh_number("threads");
        self.spaces.push((count, Space::Uniform));
        let crew = Crew { number, count };
        self.env.team = Some(crew);
        self.env.level += 1;
        self.env.is_lone = false;
        let mut body = Block::new();
        let sums = self.reduced(id, crew, Space::Private, false, &mut body)?;
        inside(self, crew, &mut body)?;
        for it in sums {
            body.push(Stmt::new(StmtKind::Reduce(Box::new(it)), span));
        }
        let limit = env.limit;
        self.env = env;
        let made = Parallel { crew, threads, condition, limit, body };
        out.push(Stmt::new(StmtKind::Parallel(Box::new(made)), span));
        Ok(())
    }

    /// A loop that threads share. `is_own`: what it combines is its own matter, and so is who waits.
    fn threads_loop(
        &mut self,
        id: RegionId,
        is_own: bool,
        span: Span,
        out: &mut Block,
    ) -> Result<()> {
        let Some(crew) = self.env.team else {
            return refuse("a shared loop without threads", span);
        };
        let sums = match is_own {
            true => self.reduced(id, crew, Space::Private, false, out)?,
            false => Vec::new(),
        };
        let copies = self.privatise(id, out)?;
        let schedule = self.schedule(id, span);
        let deal = Deal { crew, space: Space::Private, schedule, within: None };
        self.deal(id, deal, &copies, out)?;
        self.combine(sums, span, out);
        if is_own {
            self.wait(id, span, out);
        }
        Ok(())
    }

    fn combine(&mut self, sums: Vec<kernel::Reduce>, span: Span, out: &mut Block) {
        for it in sums {
            match self.env.is_lone {
                true => self.combined(it, span, out),
                false => out.push(Stmt::new(StmtKind::Reduce(Box::new(it)), span)),
            }
        }
    }

    pub(crate) fn barrier(&mut self, span: Span, out: &mut Block) {
        if !self.env.is_team_level() && !self.env.is_lone {
            out.push(Stmt::new(StmtKind::Barrier, span));
        }
    }

    /// The end of a construct that threads share: they wait unless it says that they do not.
    fn wait(&mut self, id: RegionId, span: Span, out: &mut Block) {
        let is_free = |it: &ClauseKind<_>| match it {
            ClauseKind::Nowait(None) => true,
            ClauseKind::Nowait(Some(it)) => {
                matches!(self.program.exprs[*it].kind, ExprKind::Int(value) if value != 0)
            }
            _ => false,
        };
        if !self.program.regions[id].construct.kinds().any(is_free) {
            self.barrier(span, out);
        }
    }

    /// Sections: a loop over their numbers, of which each does another thing.
    fn sections(&mut self, id: RegionId, is_own: bool, span: Span, out: &mut Block) -> Result<()> {
        let Some(crew) = self.env.team else { return refuse("sections without threads", span) };
        let sums = match is_own {
            true => self.reduced(id, crew, Space::Private, false, out)?,
            false => Vec::new(),
        };
        let copies = self.privatise(id, out)?;
        let body = self.program.regions[id].body;
        let list = match body.map(|it| self.program.stmts[it].kind.clone()) {
            Some(C::Block(list)) => list,
            Some(_) | None => body.into_iter().collect(),
        };
        // Code before the first that is marked is one too.
        let mut bodies: Vec<Block> = Vec::new();
        for stmt in &list {
            match self.program.stmts[*stmt].kind {
                C::Region(inner) if self.program.regions[inner].construct.has(Leaf::Section) => {
                    let mut block = Block::new();
                    self.body(inner, &mut block)?;
                    bodies.push(block);
                }
                _ => {
                    if bodies.is_empty() {
                        bodies.push(Block::new());
                    }
                    let mut block = bodies.pop().unwrap_or_default();
                    self.stmt(*stmt, &mut block)?;
                    bodies.push(block);
                }
            }
        }
        let number = self.number("section", Space::Private, span, out);
        let var = self.number("at", Space::Private, span, out);
        let mut build = self.build(span);
        let (begin, bound) =
            (build.number(0), build.number(i64::try_from(bodies.len()).unwrap_or(0)));
        let chunk = build.number(1);
        let mut block = Block::new();
        for (at, body) in bodies.into_iter().enumerate() {
            let mut build = self.build(span);
            let (index, this) = (build.var(var), build.number(i64::try_from(at).unwrap_or(0)));
            let is_this = build.binary(BinaryOp::Eq, index, this);
            block.push(Stmt::new(StmtKind::If(is_this, body, Block::new()), span));
        }
        let last = self.end_last(&copies, number);
        let dim = kernel::Dim {
            var,
            begin,
            bound,
            test: ir::region::LoopTest::Lt,
            step: None,
            descending: false,
            rectangular: true,
        };
        let share = Share {
            crew,
            dims: vec![dim],
            within: None,
            schedule: Schedule::RoundRobin(chunk),
            ordered: false,
            pieces: None,
            number,
            body: block,
            last,
        };
        out.push(Stmt::new(StmtKind::Share(Box::new(share)), span));
        self.combine(sums, span, out);
        if is_own {
            self.wait(id, span, out);
        }
        Ok(())
    }

    /// One thread runs the body; the others may get values from it.
    fn single(&mut self, id: RegionId, span: Span, out: &mut Block) -> Result<()> {
        let items: Vec<ExprId> = self.program.regions[id]
            .construct
            .kinds()
            .filter_map(|it| match it {
                ClauseKind::CopyPrivate(items) => Some(items.clone()),
                _ => None,
            })
            .flatten()
            .collect();
        let mut given = Vec::new();
        for item in items {
            let ExprKind::Var(var) = self.program.exprs[item].kind else {
                return refuse("a part of an object that one thread gives to the others", span);
            };
            let var = self.env.vars.get(&var).copied().unwrap_or(var);
            if !self.env.is_lone {
                let shared = self.fresh_like(var, Space::Group, span)?;
                self.declare(shared, out);
                given.push((var, shared));
            }
        }
        self.privatise(id, out)?;
        let mut body = Block::new();
        self.body(id, &mut body)?;
        if self.env.is_lone {
            out.extend(body);
            return Ok(());
        }
        for (var, shared) in &given {
            self.copy_value(*shared, *var, &mut body);
        }
        out.push(Stmt::new(StmtKind::On(Who::Primary, body), span));
        if !given.is_empty() {
            self.barrier(span, out);
            for (var, shared) in &given {
                let mut build = self.build(span);
                let (to, from) = (build.var(*var), build.var(*shared));
                let e = build.copy(to, from);
                self.eval(e, out);
            }
            // The next one may give something else.
            self.barrier(span, out);
            return Ok(());
        }
        self.wait(id, span, out);
        Ok(())
    }

    fn masked(&mut self, id: RegionId, rest: &[Leaf], span: Span, out: &mut Block) -> Result<()> {
        let filter = self.program.regions[id].construct.kinds().find_map(|it| match it {
            ClauseKind::Filter(thread) => Some(*thread),
            _ => None,
        });
        let filter = filter.map(|it| self.value(it, out)).transpose()?;
        let mut body = Block::new();
        match rest {
            [] => self.body(id, &mut body)?,
            rest if self.has_others_inside(id) => {
                let _ = rest;
                return refuse("this combination of constructs", span);
            }
            rest => self.alone(id, rest, &mut body)?,
        }
        let who = match filter {
            Some(filter) => Who::Numbered(self.build(span).as_number(filter)),
            None => Who::Primary,
        };
        if self.env.is_lone {
            let mut build = self.build(span);
            let zero = build.number(0);
            match who {
                Who::Primary => out.extend(body),
                Who::Numbered(thread) => {
                    let is_it = build.binary(BinaryOp::Eq, thread, zero);
                    out.push(Stmt::new(StmtKind::If(is_it, body, Block::new()), span));
                }
            }
            return Ok(());
        }
        out.push(Stmt::new(StmtKind::On(who, body), span));
        Ok(())
    }

    fn scope(&mut self, id: RegionId, span: Span, out: &mut Block) -> Result<()> {
        let Some(crew) = self.env.team else { return refuse("a scope without threads", span) };
        let sums = self.reduced(id, crew, Space::Private, false, out)?;
        let _: Copies = self.privatise(id, out)?;
        self.body(id, out)?;
        self.combine(sums, span, out);
        self.wait(id, span, out);
        Ok(())
    }
}

fn is_lanes(leaves: &[Leaf]) -> bool {
    matches!(leaves, [] | [Leaf::Simd])
}
