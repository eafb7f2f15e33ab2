//! Statements of C, jumps into the middle of them included.

use ir::construct::Leaf;
use ir::program::{ExprId, LabelId, RegionId, StmtId, StmtKind};
use ir::walk::Part;

use super::value::Value;
use super::{Cx, Flow, Result, fail};

/// What is looked for by a jump: statements before it are not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seek {
    Label(LabelId),
    /// The value of a switch.
    Case(i128),
    Default,
}

impl Cx<'_, '_> {
    /// Runs a statement; with `seek`, from the place that is looked for, which is taken away when it is found.
    pub(super) fn code(&mut self, id: StmtId, seek: &mut Option<Seek>) -> Result<Flow> {
        let span = self.program().stmts[id].span;
        Self::at(self.m.enter(), span)?;
        let flow = self.run(id, seek);
        self.m.depth -= 1;
        Self::at(flow, span)
    }

    fn run(&mut self, id: StmtId, seek: &mut Option<Seek>) -> Result<Flow> {
        if seek.is_some_and(|it| !self.contains(id, it)) {
            return Ok(Flow::Next);
        }
        let program = self.program();
        match &program.stmts[id].kind {
            StmtKind::Empty | StmtKind::Declaration(_) => Ok(Flow::Next),
            StmtKind::Block(list) => {
                let mark = self.mark();
                let flow = self.sequence(id, list, seek);
                self.release(mark);
                flow
            }
            StmtKind::Local(var) => {
                let at = self.declare(*var)?;
                if let Some(init) = program.vars[*var].init {
                    self.initialise(at, program.vars[*var].ty, init)?;
                }
                Ok(Flow::Next)
            }
            StmtKind::Expr(e) => {
                self.eval(*e)?;
                Ok(Flow::Next)
            }
            StmtKind::If(c, then, other) => {
                let takes_then = match *seek {
                    Some(it) => self.contains(*then, it),
                    None => self.condition(*c)?,
                };
                match (takes_then, other) {
                    (true, _) => self.code(*then, seek),
                    (false, Some(other)) => self.code(*other, seek),
                    (false, None) => Ok(Flow::Next),
                }
            }
            StmtKind::While(c, body) => self.rounds(Some(*c), None, *body, false, seek),
            StmtKind::DoWhile(body, c) => self.rounds(Some(*c), None, *body, true, seek),
            StmtKind::For(it) => {
                let mark = self.mark();
                let mut begun = Ok(Flow::Next);
                for init in &it.init {
                    if seek.is_none() && begun.is_ok() {
                        begun = self.code(*init, &mut None);
                    }
                }
                let flow = begun.and_then(|_| self.rounds(it.cond, it.step, it.body, false, seek));
                self.release(mark);
                flow
            }
            StmtKind::Switch(e, body) => {
                if seek.is_none() {
                    let value = self.eval(*e)?.int()?;
                    *seek = [Seek::Case(value), Seek::Default]
                        .into_iter()
                        .find(|it| self.contains(*body, *it));
                    if seek.is_none() {
                        return Ok(Flow::Next);
                    }
                }
                Ok(match self.code(*body, seek)? {
                    Flow::Break => Flow::Next,
                    flow @ (Flow::Next | Flow::Continue | Flow::Return(_) | Flow::Goto(_)) => flow,
                })
            }
            StmtKind::Case(low, high, body) => {
                if matches!(*seek, Some(Seek::Case(it)) if *low <= it && it <= *high) {
                    *seek = None;
                }
                self.code(*body, seek)
            }
            StmtKind::Default(body) => {
                if *seek == Some(Seek::Default) {
                    *seek = None;
                }
                self.code(*body, seek)
            }
            StmtKind::Label(label, body) => {
                if *seek == Some(Seek::Label(*label)) {
                    *seek = None;
                }
                self.code(*body, seek)
            }
            StmtKind::Goto(label) => Ok(Flow::Goto(*label)),
            StmtKind::Continue => Ok(Flow::Continue),
            StmtKind::Break => Ok(Flow::Break),
            StmtKind::Return(value) => {
                let value = value.map(|it| self.eval(it)).transpose()?;
                Ok(Flow::Return(value.unwrap_or(Value::Void)))
            }
            StmtKind::Region(region) => self.construct(*region, seek),
            StmtKind::Error | StmtKind::GotoExpr(_) | StmtKind::Asm(_) => {
                fail("a statement that is not interpreted")
            }
        }
    }

    /// Statements of a block, jumps inside it included.
    fn sequence(&mut self, id: StmtId, list: &[StmtId], seek: &mut Option<Seek>) -> Result<Flow> {
        let mut rest = list.iter();
        while let Some(stmt) = rest.next() {
            // What is jumped over lives all the same.
            if seek.is_some()
                && let StmtKind::Local(var) = self.program().stmts[*stmt].kind
            {
                let frame = self.thread.frames.last();
                if !frame.is_some_and(|it| it.alive.iter().any(|it| it.0 == var)) {
                    self.declare(var)?;
                }
                continue;
            }
            match self.code(*stmt, seek)? {
                Flow::Next => {}
                Flow::Goto(label) if self.contains(id, Seek::Label(label)) => {
                    *seek = Some(Seek::Label(label));
                    rest = list.iter();
                }
                flow @ (Flow::Break | Flow::Continue | Flow::Return(_) | Flow::Goto(_)) => {
                    return Ok(flow);
                }
            }
        }
        Ok(Flow::Next)
    }

    fn rounds(
        &mut self,
        condition: Option<ExprId>,
        step: Option<ExprId>,
        body: StmtId,
        is_after: bool,
        seek: &mut Option<Seek>,
    ) -> Result<Flow> {
        let mut is_asked = !is_after && seek.is_none();
        loop {
            if let Some(condition) = condition
                && is_asked
                && !self.condition(condition)?
            {
                return Ok(Flow::Next);
            }
            is_asked = true;
            self.m.step()?;
            match self.code(body, seek)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                flow @ (Flow::Return(_) | Flow::Goto(_)) => return Ok(flow),
            }
            if let Some(step) = step {
                self.eval(step)?;
            }
        }
    }

    pub(super) fn condition(&mut self, e: ExprId) -> Result<bool> {
        self.eval(e)?.truth()
    }

    /// A directive that concerns the thread alone.
    fn construct(&mut self, id: RegionId, seek: &mut Option<Seek>) -> Result<Flow> {
        let region = &self.program().regions[id];
        let leaves = &region.construct.leaves;
        if leaves.iter().any(|it| matches!(it, Leaf::Barrier | Leaf::Parallel | Leaf::Teams)) {
            return fail("a construct in serial code concerns others");
        }
        let Some(body) = region.body else { return Ok(Flow::Next) };
        let is_exempt = leaves.iter().any(|it| matches!(it, Leaf::Atomic | Leaf::Critical));
        self.thread.exempt += u32::from(is_exempt);
        let flow = self.code(body, seek);
        self.thread.exempt -= u32::from(is_exempt);
        flow
    }

    /// `({ … })`: where control goes, and the value of the last expression.
    pub(super) fn statements(&mut self, id: StmtId) -> Result<(Flow, Value)> {
        let StmtKind::Block(list) = &self.program().stmts[id].kind else {
            return fail("an expression of no block");
        };
        let mark = self.mark();
        let mut answer = Ok((Flow::Next, Value::Void));
        for (at, stmt) in list.iter().enumerate() {
            let is_last = at + 1 == list.len();
            answer = if let StmtKind::Expr(e) = self.program().stmts[*stmt].kind
                && is_last
            {
                self.eval(e).map(|it| (Flow::Next, it))
            } else {
                self.code(*stmt, &mut None).map(|it| (it, Value::Void))
            };
            if !matches!(answer, Ok((Flow::Next, _))) {
                break;
            }
        }
        self.release(mark);
        answer
    }

    /// Whether what is looked for is in a statement.
    fn contains(&self, id: StmtId, seek: Seek) -> bool {
        let program = self.program();
        let mut open = vec![(Part::Stmt(id), true)];
        while let Some((part, is_outermost)) = open.pop() {
            let mut inner = is_outermost;
            if let Part::Stmt(id) = part {
                match (&program.stmts[id].kind, seek) {
                    (StmtKind::Label(label, _), Seek::Label(it)) if *label == it => return true,
                    (StmtKind::Case(low, high, _), Seek::Case(it))
                        if is_outermost && *low <= it && it <= *high =>
                    {
                        return true;
                    }
                    (StmtKind::Default(_), Seek::Default) if is_outermost => return true,
                    // Its cases are its own.
                    (StmtKind::Switch(..), _) => inner = false,
                    _ => {}
                }
            }
            if matches!(part, Part::Stmt(_) | Part::Region(_)) {
                program.parts(part, &mut |it| open.push((it, inner)));
            }
        }
        false
    }
}
