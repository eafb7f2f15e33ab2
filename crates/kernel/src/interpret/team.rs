//! Kernel statements: by one thread, and by the threads of a team together.
//!
//! Statements in which nobody meets others are run by one thread after the other. In the rest all threads that take
//! part go from statement to statement together, so it is known who is at a barrier and who is not.

use rustc_hash::FxHashMap;

use super::{Cx, Error, Flow, Form, Frame, Machine, Order, Result, Team, Thread, fail};
use crate::{
    Block, Crew, Kernel, Loop, LoopKind, Parallel, Reduce, Scan, Share, Shuffle, Space, Stmt,
    StmtKind, Teams, Who,
};

/// Threads of a team, and what they have in common.
struct Group<'a, 'm> {
    m: &'a mut Machine<'m>,
    kernel: &'m Kernel,
    team: Team,
    threads: Vec<Thread>,
}

/// Threads that left a block, and how.
type Left = Vec<(usize, Flow)>;

impl<'m> Machine<'m> {
    pub(super) fn launch(&mut self, kernel: &'m Kernel, form: Form) -> Result<()> {
        self.depth = 0;
        let (groups, threads) = match form {
            Form::Outlined => (1, 1),
            Form::Spmd => (self.groups, self.threads),
        };
        for group in 0..groups {
            self.group(kernel, &kernel.body, group, group, threads, None, &[])?;
        }
        Ok(())
    }

    /// Runs code by a team from its beginning to its end.
    #[allow(clippy::too_many_arguments, reason = "what a team begins with")]
    fn group(
        &mut self,
        kernel: &'m Kernel,
        body: &'m Block,
        team: u64,
        group: u64,
        threads: u64,
        crew: Option<(Crew, u64)>,
        uniform: &[(ir::program::VarId, Vec<u8>, Vec<bool>)],
    ) -> Result<()> {
        let group_size = (self.groups, self.threads);
        let thread = |number| Thread { number, frames: vec![Frame::default()], exempt: 0 };
        let mut all = Group {
            m: self,
            kernel,
            team: Team { number: team, epoch: 0, group: FxHashMap::default(), size: 1 },
            threads: (0..threads).map(thread).collect(),
        };
        for at in 0..all.threads.len() {
            let number = at as u64;
            all.by(at, |cx| {
                let launched = [
                    (kernel.threads.number, number),
                    (kernel.threads.count, group_size.1),
                    (kernel.groups.number, group),
                    (kernel.groups.count, group_size.0),
                ];
                let all = kernel.all.map(|it| {
                    let number = group * group_size.1 + number;
                    [(it.number, number), (it.count, group_size.0 * group_size.1)]
                });
                for (var, value) in launched.into_iter().chain(all.into_iter().flatten()) {
                    cx.declare(var)?;
                    cx.set_number(var, value)?;
                }
                for (var, bytes, known) in uniform {
                    let at = cx.declare(*var)?;
                    let who = cx.access();
                    cx.m.memory.write(at, bytes, known, who)?;
                }
                if let Some((crew, count)) = crew {
                    for (var, value) in [(crew.number, team), (crew.count, count)] {
                        cx.declare(var)?;
                        cx.set_number(var, value)?;
                    }
                }
                Ok(())
            })?;
        }
        let mut active: Vec<usize> = (0..all.threads.len()).collect();
        let mut left = Left::new();
        all.block(body, &mut active, &mut left)?;
        if !left.is_empty() {
            return fail("a jump leaves the kernel");
        }
        all.end();
        Ok(())
    }
}

impl<'m> Group<'_, 'm> {
    /// What one thread does.
    fn by<T>(&mut self, at: usize, run: impl FnOnce(&mut Cx<'_, 'm>) -> Result<T>) -> Result<T> {
        let Some(thread) = self.threads.get_mut(at) else { return fail("no such thread") };
        run(&mut Cx { m: &mut *self.m, kernel: self.kernel, team: &mut self.team, thread })
    }

    /// Gives memory back.
    fn end(&mut self) {
        for thread in self.threads.drain(..) {
            for frame in thread.frames {
                let named = frame.alive.into_iter().map(|it| it.1);
                named.chain(frame.unnamed).for_each(|it| self.m.memory.free(it));
            }
        }
        #[allow(clippy::iter_over_hash_type, reason = "the order does not matter")]
        for at in self.team.group.values() {
            self.m.memory.free(*at);
        }
    }

    /// In the order in which threads run.
    fn ordered(&self, active: &[usize]) -> Vec<usize> {
        let mut list = active.to_vec();
        list.sort_unstable();
        if self.m.order == Order::Backward {
            list.reverse();
        }
        list
    }

    /// Statements in a scope of their own.
    fn block(&mut self, block: &'m [Stmt], active: &mut Vec<usize>, left: &mut Left) -> Result<()> {
        let mut marks = Vec::new();
        for at in active.iter() {
            marks.push((*at, self.by(*at, |cx| Ok(cx.mark()))?));
        }
        self.list(block, active, left)?;
        for (at, mark) in marks {
            self.by(at, |cx| {
                cx.release(mark);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn list(&mut self, list: &'m [Stmt], active: &mut Vec<usize>, left: &mut Left) -> Result<()> {
        let mut rest = list;
        while let Some((first, others)) = rest.split_first() {
            if meets(&first.kind) {
                let done = self.stmt(first, active, left);
                Cx::at(done, first.span)?;
                rest = others;
                continue;
            }
            let alone = rest.iter().take_while(|it| !meets(&it.kind)).count();
            let (run, others) = rest.split_at(alone);
            for at in self.ordered(active) {
                let flow = self.by(at, |cx| cx.list(run))?;
                if flow != Flow::Next {
                    active.retain(|it| *it != at);
                    left.push((at, flow));
                }
            }
            rest = others;
        }
        Ok(())
    }

    /// A statement in which threads meet.
    fn stmt(&mut self, stmt: &'m Stmt, active: &mut Vec<usize>, left: &mut Left) -> Result<()> {
        if active.is_empty() {
            return Ok(());
        }
        self.m.step()?;
        match &stmt.kind {
            StmtKind::Block(body) => self.block(body, active, left),
            StmtKind::If(c, then, other) => {
                let mut yes = Vec::new();
                for at in self.ordered(active) {
                    if self.by(at, |cx| cx.condition(*c))? {
                        yes.push(at);
                    }
                }
                let mut no: Vec<usize> =
                    active.iter().copied().filter(|it| !yes.contains(it)).collect();
                self.block(then, &mut yes, left)?;
                self.block(other, &mut no, left)?;
                yes.extend(no);
                *active = yes;
                Ok(())
            }
            StmtKind::Loop(it) => self.rounds(it, active, left),
            StmtKind::Switch(e, body) => {
                let mut waiting = Vec::new();
                for at in self.ordered(active) {
                    let value = self.by(at, |cx| cx.eval(*e)?.int())?;
                    waiting.push((at, entry(body, value)));
                }
                let mut inside = Vec::new();
                let mut gone = Left::new();
                for (position, stmt) in body.iter().enumerate() {
                    let begins = waiting.iter().filter(|it| it.1 == Some(position));
                    inside.extend(begins.map(|it| it.0));
                    self.list(std::slice::from_ref(stmt), &mut inside, &mut gone)?;
                }
                inside.extend(waiting.iter().filter(|it| it.1.is_none()).map(|it| it.0));
                for (at, flow) in gone {
                    if flow == Flow::Break {
                        inside.push(at);
                    } else {
                        left.push((at, flow));
                    }
                }
                *active = inside;
                Ok(())
            }
            StmtKind::Barrier => self.meet(active, "the barrier"),
            StmtKind::Shuffle(it) => self.shuffle(it, active),
            StmtKind::Parallel(it) => self.parallel(it, active),
            StmtKind::Teams(it) => self.teams(it, active),
            StmtKind::Share(it) => self.share(it, active),
            StmtKind::Reduce(it) => self.reduce(it, active),
            StmtKind::Scan(it) => self.scan(it, active),
            StmtKind::On(..) => fail("threads meet in code for one of them"),
            StmtKind::Code(_)
            | StmtKind::Local(_)
            | StmtKind::Eval(_)
            | StmtKind::Case(..)
            | StmtKind::Default
            | StmtKind::Break
            | StmtKind::Continue => Ok(()),
        }
    }

    /// All threads of the team are there.
    fn meet(&mut self, active: &[usize], what: &str) -> Result<()> {
        self.all_reach(active, what)?;
        self.team.epoch += 1;
        Ok(())
    }

    fn all_reach(&self, active: &[usize], what: &str) -> Result<()> {
        let (some, all) = (active.len(), self.threads.len());
        if some == all { Ok(()) } else { fail(format!("{some} of {all} threads reach {what}")) }
    }

    /// All give before anyone gets.
    fn shuffle(&mut self, it: &'m Shuffle, active: &[usize]) -> Result<()> {
        self.all_reach(active, "the shuffle")?;
        let mut given = Vec::new();
        for at in 0..self.threads.len() {
            given.push(self.by(at, |cx| {
                let far = it.far.map(|it| cx.eval(it)?.int()).transpose()?;
                let far = far.map(|it| usize::try_from(it).unwrap_or(usize::MAX));
                let from = cx.place(it.from)?;
                let size = cx.size_of(from.ty)?;
                Ok((far, cx.bytes(from.at, size)?))
            })?);
        }
        let lanes = usize::try_from(it.lanes).unwrap_or(usize::MAX).max(1);
        for at in 0..self.threads.len() {
            let Some((far, own)) = given.get(at) else { return fail("no such thread") };
            let behind = match far {
                Some(far) => at.checked_add(*far).filter(|it| it / lanes == at / lanes),
                None => Some(at / lanes * lanes),
            };
            let (bytes, known) =
                behind.and_then(|it| given.get(it)).map_or(own, |it| &it.1).clone();
            self.by(at, |cx| {
                let to = cx.address_of(it.to)?;
                cx.put_bytes(to, &bytes, &known)
            })?;
        }
        Ok(())
    }

    fn rounds(&mut self, it: &'m Loop, active: &mut Vec<usize>, left: &mut Left) -> Result<()> {
        let mut inside = std::mem::take(active);
        let mut is_first = true;
        loop {
            if let Some(condition) = it.condition
                && !(is_first && it.kind == LoopKind::After)
            {
                for at in self.ordered(&inside) {
                    if !self.by(at, |cx| cx.condition(condition))? {
                        inside.retain(|it| *it != at);
                        active.push(at);
                    }
                }
            }
            is_first = false;
            if inside.is_empty() {
                return Ok(());
            }
            self.m.step()?;
            let mut gone = Left::new();
            self.block(&it.body, &mut inside, &mut gone)?;
            for (at, flow) in gone {
                match flow {
                    Flow::Break => active.push(at),
                    Flow::Continue => inside.push(at),
                    Flow::Next | Flow::Return(_) | Flow::Goto(_) => left.push((at, flow)),
                }
            }
            if let Some(step) = it.step {
                for at in self.ordered(&inside) {
                    self.by(at, |cx| cx.eval(step).map(|_| ()))?;
                }
            }
        }
    }

    /// The one thread that runs what a team has not begun to share.
    fn alone(&self, active: &[usize], what: &str) -> Result<()> {
        if self.threads.len() == 1 && active == [0] {
            Ok(())
        } else {
            fail(format!("{what} by several threads"))
        }
    }

    fn parallel(&mut self, it: &'m Parallel, active: &[usize]) -> Result<()> {
        self.alone(active, "a parallel region")?;
        let all = self.m.threads;
        let count = self.by(0, |cx| {
            let most = it.limit.map_or(Ok(all), |it| cx.number(it))?.clamp(1, all);
            let asked = match it.threads {
                Some(e) => u64::try_from(cx.eval(e)?.int()?).unwrap_or(u64::MAX),
                None => most,
            };
            let is_wanted = it.condition.map_or(Ok(true), |it| cx.condition(it))?;
            Ok(if is_wanted { asked.clamp(1, most) } else { 1 })
        })?;
        let outer = self.by(0, |cx| {
            let frame = cx.thread.frames.last();
            Ok(frame.map(|it| it.alive.clone()).unwrap_or_default())
        })?;
        self.team.size = count as usize;
        for number in 1..count {
            self.threads.push(Thread { number, frames: vec![Frame::default()], exempt: 0 });
            let at = self.threads.len() - 1;
            for (var, from) in &outer {
                let is_uniform = self.kernel.space(*var) == Some(Space::Uniform);
                self.by(at, |cx| {
                    let own = cx.declare(*var)?;
                    if is_uniform {
                        let size = cx.size_of(cx.program().vars[*var].ty)?;
                        cx.copy(own, *from, size)?;
                    }
                    Ok(())
                })?;
            }
        }
        let mut marks = Vec::new();
        for at in 0..self.threads.len() {
            marks.push(self.by(at, |cx| Ok(cx.mark()))?);
            let is_launched = it.crew.number == self.kernel.threads.number;
            self.by(at, |cx| {
                for (var, value) in [(it.crew.number, at as u64), (it.crew.count, count)] {
                    let is_own = is_launched && var == it.crew.number;
                    if !is_own {
                        cx.declare(var)?;
                    }
                    cx.set_number(var, value)?;
                }
                Ok(())
            })?;
        }
        self.team.epoch += 1;
        let mut inside: Vec<usize> = (0..self.threads.len()).collect();
        let mut left = Left::new();
        self.block(&it.body, &mut inside, &mut left)?;
        if !left.is_empty() {
            return fail("a jump leaves a parallel region");
        }
        self.team.epoch += 1;
        for thread in self.threads.drain(1..) {
            let frames = thread.frames.into_iter();
            frames.flat_map(|it| it.alive).for_each(|it| self.m.memory.free(it.1));
        }
        self.team.size = 1;
        let mark = marks.first().copied().unwrap_or_default();
        self.by(0, |cx| {
            cx.release(mark);
            Ok(())
        })
    }

    fn teams(&mut self, it: &'m Teams, active: &[usize]) -> Result<()> {
        self.alone(active, "a league")?;
        let asked = match it.teams {
            Some(e) => self.by(0, |cx| cx.eval(e)?.int())?,
            None => i128::from(self.m.groups),
        };
        let count = u64::try_from(asked).unwrap_or(1).max(1);
        let kernel = self.kernel;
        let outer = self.by(0, |cx| {
            let frame = cx.thread.frames.last();
            let alive = frame.map(|it| it.alive.clone()).unwrap_or_default();
            let who = cx.access();
            let mut found = Vec::new();
            for (var, at) in alive {
                if kernel.launched().contains(&var) {
                    continue;
                }
                let size = cx.size_of(cx.program().vars[var].ty)?;
                let (bytes, mut known) = cx.m.memory.read(at, size, who)?;
                // Each team has its own of the others.
                if kernel.space(var) != Some(Space::Uniform) {
                    known.fill(false);
                }
                found.push((var, bytes, known));
            }
            Ok(found)
        })?;
        for team in 0..count {
            let group = team % self.m.groups;
            let crew = Some((it.crew, count));
            self.m.group(kernel, &it.body, team, group, 1, crew, &outer)?;
        }
        Ok(())
    }

    /// A shared loop in which threads meet, or whose iterations run in order.
    fn share(&mut self, it: &'m Share, active: &[usize]) -> Result<()> {
        let mut order = Vec::new();
        let mut dealt = Vec::new();
        for at in self.ordered(active) {
            let own = self.by(at, |cx| cx.dealt(it))?;
            order.extend(own.pieces.iter().map(|piece| (*piece, dealt.len())));
            dealt.push((at, own));
        }
        order.sort_unstable();
        if !it.ordered && dealt.len() > 1 {
            return fail("threads meet in a loop that they share");
        }
        for (piece, whose) in order {
            let Some((at, own)) = dealt.get(whose) else { continue };
            let (at, total) = (*at, own.values.len() as u64);
            if let Some(range) = it.pieces {
                self.by(at, |cx| {
                    cx.set_number(range.begin, piece.0)?;
                    cx.set_number(range.end, piece.1)
                })?;
                self.iteration(it, at, piece.1 == total)?;
                continue;
            }
            for number in piece.0..piece.1 {
                self.by(at, |cx| cx.begin_iteration(it, own, number))?;
                self.iteration(it, at, number + 1 == total)?;
            }
        }
        Ok(())
    }

    fn iteration(&mut self, it: &'m Share, at: usize, is_last: bool) -> Result<()> {
        let is_last: &[&Block] = if is_last { &[&it.body, &it.last] } else { &[&it.body] };
        for body in is_last {
            let (mut active, mut left) = (vec![at], Left::new());
            self.block(body, &mut active, &mut left)?;
            if left.iter().any(|it| it.1 != Flow::Continue) {
                return fail("a jump leaves a shared loop");
            }
        }
        // The next one begins when this has ended.
        self.team.epoch += 1;
        Ok(())
    }

    /// Iterations run in their order, threads take turns.
    fn scan(&mut self, it: &'m Scan, active: &[usize]) -> Result<()> {
        self.meet(active, "a scan")?;
        let order = self.ordered(active);
        let Some(first) = order.first() else { return Ok(()) };
        let own = self.by(*first, |cx| cx.dealt(&it.share))?;
        let total = own.values.len() as u64;
        for (number, at) in (0..total).zip(order.iter().cycle()) {
            self.by(*at, |cx| cx.prefix(it, &own, number))?;
            self.team.epoch += 1;
        }
        Ok(())
    }

    fn reduce(&mut self, it: &'m Reduce, active: &[usize]) -> Result<()> {
        if !it.is_league {
            self.meet(active, "a reduction")?;
        }
        let mut order = Vec::new();
        for at in active {
            order.push((self.by(*at, |cx| cx.number(it.crew.number))?, *at));
        }
        order.sort_unstable();
        for (_, at) in order {
            self.by(at, |cx| {
                // Teams and groups combine while no other does.
                let is_alone = it.is_league || Some(it.crew) == cx.kernel.all;
                cx.thread.exempt += u32::from(is_alone);
                let flow = cx.combine(it);
                cx.thread.exempt -= u32::from(is_alone);
                match flow? {
                    Flow::Next => Ok(()),
                    Flow::Break | Flow::Continue | Flow::Return(_) | Flow::Goto(_) => {
                        fail("a jump leaves what combines")
                    }
                }
            })?;
            self.team.epoch += 1;
        }
        Ok(())
    }
}

impl<'m> Cx<'_, 'm> {
    /// What a reduction does with one copy.
    fn combine(&mut self, it: &'m Reduce) -> Result<Flow> {
        let Some(elements) = it.elements else { return self.singles(&it.combine) };
        let mark = self.mark();
        let at = self.declare(elements.index)?;
        let ty = self.program().vars[elements.index].ty;
        for index in elements.begin..elements.end {
            let place = super::object::Place { at, ty, bits: None };
            self.store(&place, &super::value::Value::Int(i128::from(index)))?;
            match self.singles(&it.combine)? {
                Flow::Next => {}
                flow @ (Flow::Break | Flow::Continue | Flow::Return(_) | Flow::Goto(_)) => {
                    return Ok(flow);
                }
            }
        }
        self.release(mark);
        Ok(Flow::Next)
    }

    /// An iteration of a scan.
    fn prefix(&mut self, it: &'m Scan, own: &super::share::Dealt, number: u64) -> Result<()> {
        let mark = self.mark();
        self.begin_iteration(&it.share, own, number)?;
        for prefix in &it.prefixes {
            self.declare(prefix.copy)?;
            self.iteration(&prefix.begin)?;
        }
        self.iteration(&it.share.body)?;
        for prefix in &it.prefixes {
            let size = self.size_of(self.program().vars[prefix.copy].ty)?;
            let (copy, original) =
                (self.address_of(prefix.copy)?, self.address_of(prefix.original)?);
            let who = self.access();
            let (before, known) = self.m.memory.read(original, size, who)?;
            self.iteration(&prefix.combine)?;
            match it.is_exclusive {
                true => self.m.memory.write(copy, &before, &known, who)?,
                false => self.copy(copy, original, size)?,
            }
        }
        self.iteration(&it.using)?;
        if number + 1 == own.values.len() as u64 {
            self.iteration(&it.share.last)?;
        }
        self.release(mark);
        Ok(())
    }

    /// Statements in which nobody meets others, in a scope of their own.
    pub(super) fn singles(&mut self, block: &[Stmt]) -> Result<Flow> {
        let mark = self.mark();
        let flow = self.list(block);
        self.release(mark);
        flow
    }

    fn list(&mut self, list: &[Stmt]) -> Result<Flow> {
        for stmt in list {
            let flow = self.single(stmt).map_err(|it| match it.span {
                source::Span::NONE => Error { span: stmt.span, ..it },
                _ => it,
            })?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    /// A statement in which nobody meets others.
    fn single(&mut self, stmt: &Stmt) -> Result<Flow> {
        self.m.step()?;
        match &stmt.kind {
            StmtKind::Code(id) => self.run_code(*id).map(|()| Flow::Next),
            StmtKind::Local(var) => {
                match self.kernel.space(*var) {
                    Some(Space::Group) => self.group_address(*var)?,
                    Some(Space::Private | Space::Uniform) | None => self.declare(*var)?,
                };
                Ok(Flow::Next)
            }
            StmtKind::Eval(e) => self.eval(*e).map(|_| Flow::Next),
            StmtKind::Block(body) => self.singles(body),
            StmtKind::If(c, then, other) => {
                if self.condition(*c)? {
                    self.singles(then)
                } else {
                    self.singles(other)
                }
            }
            StmtKind::Loop(it) => self.loops(it),
            StmtKind::Switch(e, body) => {
                let value = self.eval(*e)?.int()?;
                let Some(from) = entry(body, value) else { return Ok(Flow::Next) };
                Ok(match self.singles(body.get(from..).unwrap_or_default())? {
                    Flow::Break => Flow::Next,
                    flow @ (Flow::Next | Flow::Continue | Flow::Return(_) | Flow::Goto(_)) => flow,
                })
            }
            StmtKind::Case(..) | StmtKind::Default => Ok(Flow::Next),
            StmtKind::Break => Ok(Flow::Break),
            StmtKind::Continue => Ok(Flow::Continue),
            StmtKind::On(who, body) => {
                let number = match who {
                    Who::Primary => 0,
                    Who::Numbered(e) => self.eval(*e)?.int()?,
                };
                if number != i128::from(self.thread.number) {
                    return Ok(Flow::Next);
                }
                self.singles(body)
            }
            StmtKind::Share(it) => self.share(it),
            StmtKind::Teams(_)
            | StmtKind::Parallel(_)
            | StmtKind::Barrier
            | StmtKind::Shuffle(_)
            | StmtKind::Reduce(_)
            | StmtKind::Scan(_) => fail(format!("{} is met by one thread alone", stmt.kind.word())),
        }
    }

    fn loops(&mut self, it: &Loop) -> Result<Flow> {
        let mut is_asked = it.kind == LoopKind::Before;
        loop {
            if let Some(condition) = it.condition
                && is_asked
                && !self.condition(condition)?
            {
                return Ok(Flow::Next);
            }
            is_asked = true;
            self.m.step()?;
            match self.singles(&it.body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                flow @ (Flow::Return(_) | Flow::Goto(_)) => return Ok(flow),
            }
            if let Some(step) = it.step {
                self.eval(step)?;
            }
        }
    }
}

/// Whether threads meet in a statement, or have to take turns.
fn meets(kind: &StmtKind) -> bool {
    kind.any(&|it| match it {
        StmtKind::Teams(_)
        | StmtKind::Parallel(_)
        | StmtKind::Barrier
        | StmtKind::Shuffle(_)
        | StmtKind::Reduce(_)
        | StmtKind::Scan(_) => true,
        StmtKind::Share(it) => it.ordered,
        StmtKind::Code(_)
        | StmtKind::Local(_)
        | StmtKind::Eval(_)
        | StmtKind::Block(_)
        | StmtKind::If(..)
        | StmtKind::Loop(_)
        | StmtKind::Switch(..)
        | StmtKind::Case(..)
        | StmtKind::Default
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::On(..) => false,
    })
}

/// Where a switch begins for a value.
fn entry(body: &[Stmt], value: i128) -> Option<usize> {
    let case = body.iter().position(
        |it| matches!(it.kind, StmtKind::Case(low, high) if low <= value && value <= high),
    );
    case.or_else(|| body.iter().position(|it| it.kind == StmtKind::Default))
}
