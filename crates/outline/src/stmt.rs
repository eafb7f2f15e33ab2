//! Statements: what concerns one thread alone stays C; what does not becomes statements of the kernel.
//!
//! Functions in which threads of a team meet, or that ask who runs them, stand in the place of their calls:
//! what they mean depends on where they are called.

use directive::CrewQuery;
use ir::construct::Leaf;
use ir::program::{
    BinaryOp, ExprId, ExprKind, FunctionId, Init, InitId, Program, StmtId, StmtKind as C, VarId,
};
use ir::types::Ty;
use ir::walk::Part;
use kernel::build::Builder;
use kernel::copy::{Copier, callee_of};
use kernel::{Block, Loop, LoopKind, Stmt, StmtKind};
use source::Span;

use crate::jumps::{Jumps, escapes};
use crate::{Env, Outliner, Result, Returns, refuse};

impl Outliner<'_> {
    /// One statement.
    pub(crate) fn stmt(&mut self, id: StmtId, out: &mut Block) -> Result<()> {
        let stmt = self.program.stmts[id].clone();
        let span = stmt.span;
        if !self.is_split(id) {
            let code = self.copied_stmt(id);
            out.push(Stmt::new(StmtKind::Code(code), span));
            return Ok(());
        }
        let kind = match &stmt.kind {
            C::Error | C::Empty | C::Declaration(_) | C::Asm(_) => return Ok(()),
            C::Block(list) => {
                let vars = self.env.vars.clone();
                let block = self.block(list)?;
                self.env.vars = vars;
                StmtKind::Block(block)
            }
            C::Local(var) => return self.local(*var, out),
            C::Expr(e) => {
                let value = self.value(*e, out)?;
                StmtKind::Eval(value)
            }
            C::If(c, then, other) => {
                let c = self.value(*c, out)?;
                let then = self.block(&[*then])?;
                let other = other.map(|it| self.block(&[it])).transpose()?.unwrap_or_default();
                StmtKind::If(c, then, other)
            }
            C::While(c, body) => {
                let body = self.loop_body(*body)?;
                self.c_loop(LoopKind::Before, Some(*c), None, body, span)?
            }
            C::DoWhile(body, c) => {
                let body = self.loop_body(*body)?;
                self.c_loop(LoopKind::After, Some(*c), None, body, span)?
            }
            C::For(it) => {
                let vars = self.env.vars.clone();
                let mut block = self.block_in(&it.init)?;
                let body = self.loop_body(it.body)?;
                let made = self.c_loop(LoopKind::Before, it.cond, it.step, body, span)?;
                block.push(Stmt::new(made, span));
                self.env.vars = vars;
                out.push(Stmt::new(StmtKind::Block(block), span));
                self.leave_again(id, span, out);
                return Ok(());
            }
            C::Switch(e, body) => {
                let e = self.value(*e, out)?;
                // Cases stand directly in it.
                let list = match &self.program.stmts[*body].kind {
                    C::Block(list) => list.to_vec(),
                    _ => vec![*body],
                };
                StmtKind::Switch(e, self.block(&list)?)
            }
            C::Case(low, high, body) => {
                out.push(Stmt::new(StmtKind::Case(*low, *high), span));
                return self.stmt(*body, out);
            }
            C::Default(body) => {
                out.push(Stmt::new(StmtKind::Default, span));
                return self.stmt(*body, out);
            }
            C::Label(..) | C::Goto(_) | C::GotoExpr(_) => return refuse("a jump to a label", span),
            C::Continue => StmtKind::Continue,
            C::Break => StmtKind::Break,
            C::Return(value) => return self.returned(id, *value, span, out),
            C::Region(region) => return self.region(*region, out),
        };
        out.push(Stmt::new(kind, span));
        self.leave_again(id, span, out);
        Ok(())
    }

    /// Statements in a scope of their own.
    pub(crate) fn block(&mut self, list: &[StmtId]) -> Result<Block> {
        let vars = self.env.vars.clone();
        let block = self.block_in(list);
        self.env.vars = vars;
        block
    }

    fn block_in(&mut self, list: &[StmtId]) -> Result<Block> {
        let mut block = Block::new();
        let mut at = 0;
        while let Some(it) = list.get(at) {
            let together = self.jumping(list, at);
            match together.filter(|it| it.len() > 1) {
                Some(several) => {
                    let span = self.program.stmts[*it].span;
                    let code = self.build(span).stmt(C::Block(several.into()));
                    self.stmt(code, &mut block)?;
                    at += several.len();
                }
                None => {
                    self.stmt(*it, &mut block)?;
                    at += 1;
                }
            }
        }
        Ok(block)
    }

    fn loop_body(&mut self, body: StmtId) -> Result<Block> {
        self.block(&[body])
    }

    /// A loop of C. A condition or step that is more than an expression is refused.
    fn c_loop(
        &mut self,
        kind: LoopKind,
        condition: Option<ExprId>,
        step: Option<ExprId>,
        body: Block,
        span: Span,
    ) -> Result<StmtKind> {
        let mut before = Block::new();
        let condition = condition.map(|it| self.value(it, &mut before)).transpose()?;
        let step = step.map(|it| self.value(it, &mut before)).transpose()?;
        if !before.is_empty() {
            return refuse(
                "a call in the head of a loop to a function in which threads meet",
                span,
            );
        }
        Ok(StmtKind::Loop(Box::new(Loop { kind, condition, step, body })))
    }

    /// A variable of the code. It has a value where the kernel says so, not where it is declared.
    fn local(&mut self, var: VarId, out: &mut Block) -> Result<()> {
        let (span, init) = (self.program.vars[var].span, self.program.vars[var].init);
        let is_static = matches!(
            self.program.vars[var].storage,
            ir::program::VarStorage::LocalStatic(_) | ir::program::VarStorage::Extern
        );
        if is_static {
            return Ok(());
        }
        let own = self.fresh_like(var, self.space_here(), span)?;
        self.declare(own, out);
        // Its own name is seen in its initialiser.
        self.env.vars.insert(var, own);
        match init {
            Some(init) => self.initialise(own, init, out),
            None => Ok(()),
        }
    }

    /// Gives a variable its initial value.
    pub(crate) fn initialise(&mut self, var: VarId, init: InitId, out: &mut Block) -> Result<()> {
        let (span, ty) = (self.program.vars[var].span, self.program.vars[var].ty);
        if let Init::Expr(value) = self.program.inits[init]
            && !self.program.types.is_array(ty)
        {
            let value = self.value(value, out)?;
            let e = self.build(span).set(var, value);
            self.eval(e, out);
            return Ok(());
        }
        let init = self.copied_init(init);
        let mut build = self.build(span);
        let first = build.fresh("first", ty);
        build.program.vars[first].init = Some(init);
        let declared = build.stmt(C::Local(first));
        let (to, from) = (build.var(var), build.var(first));
        let copy = build.copy(to, from);
        let copy = build.stmt(C::Expr(copy));
        let code = build.stmt(C::Block(Box::new([declared, copy])));
        out.push(Stmt::new(StmtKind::Code(code), span));
        Ok(())
    }

    /// `to = from` of variables of one type.
    pub(crate) fn copy_value(&mut self, to: VarId, from: VarId, out: &mut Block) {
        let span = self.program.vars[to].span;
        let mut build = self.build(span);
        let (to, from) = (build.var(to), build.var(from));
        let e = build.copy(to, from);
        self.eval(e, out);
    }

    fn returned(
        &mut self,
        id: StmtId,
        value: Option<ExprId>,
        span: Span,
        out: &mut Block,
    ) -> Result<()> {
        let Some(returns) = self.env.returns else {
            return refuse("a jump out of the region", span);
        };
        if let Some(value) = value {
            let value = self.value(value, out)?;
            let e = match returns.value {
                Some(var) => self.build(span).set(var, value),
                None => value,
            };
            self.eval(e, out);
        }
        if returns.end != Some(id) {
            self.set_number(returns.left, 1, span, out);
            out.push(Stmt::new(StmtKind::Break, span));
        }
        Ok(())
    }

    /// A loop or switch that a `return` has left is followed by what leaves the next.
    fn leave_again(&mut self, id: StmtId, span: Span, out: &mut Block) {
        let is_loop = matches!(
            self.program.stmts[id].kind,
            C::While(..) | C::DoWhile(..) | C::For(_) | C::Switch(..)
        );
        if let Some(returns) = self.env.returns.filter(|_| is_loop && has_return(self.program, id))
        {
            let left = self.build(span).var(returns.left);
            let leave = vec![Stmt::new(StmtKind::Break, span)];
            out.push(Stmt::new(StmtKind::If(left, leave, Block::new()), span));
        }
    }

    /// An expression; calls that stand for code are done before it.
    pub(crate) fn value(&mut self, id: ExprId, out: &mut Block) -> Result<ExprId> {
        if !self.calls_meeting(Part::Expr(id)) {
            return Ok(self.copied(id));
        }
        let expr = self.program.exprs[id].clone();
        let mut kind = expr.kind.clone();
        match kind {
            ExprKind::And(a, b) => return self.short_cut(a, b, true, expr.span, out),
            ExprKind::Or(a, b) => return self.short_cut(a, b, false, expr.span, out),
            ExprKind::Conditional(c, a, b) => return self.chosen((c, a, b), &expr, out),
            ExprKind::Comma(a, b) => {
                let first = self.value(a, out)?;
                self.eval(first, out);
                return self.value(b, out);
            }
            ExprKind::StmtExpr(_) | ExprKind::CompoundLiteral(_) => {
                return refuse(
                    "a call in a statement inside an expression, to a function in which threads meet",
                    expr.span,
                );
            }
            _ => {}
        }
        let mut failed = None;
        kind.operands_mut(&mut |it| match self.value(*it, out) {
            Ok(value) => *it = value,
            Err(refusal) => failed = Some(refusal),
        });
        if let Some(refusal) = failed {
            return Err(refusal);
        }
        if let ExprKind::Call(callee, args) = &kind
            && let Some(function) = callee_of(self.program, *callee)
        {
            if self.meets(function) {
                return self.inline(function, args, expr.span, out);
            }
            let env = self.env.clone();
            let threads = self.threads;
            if let Some(answer) = answer(self.program, &env, threads, function, args, expr.span) {
                return Ok(answer);
            }
        }
        Ok(self.build(expr.span).expr(kind, expr.ty))
    }

    /// A variable of the code that takes the value of an expression.
    fn temporary(&mut self, like: &str, ty: Ty, span: Span, out: &mut Block) -> VarId {
        let var = self.build(span).fresh(like, ty);
        self.spaces.push((var, self.space_here()));
        self.declare(var, out);
        var
    }

    /// `a && b` or `a || b`, in which `b` stands for code.
    fn short_cut(
        &mut self,
        a: ExprId,
        b: ExprId,
        is_and: bool,
        span: Span,
        out: &mut Block,
    ) -> Result<ExprId> {
        let int = self.build(span).int_type();
        let truth = self.temporary("truth", int, span, out);
        let set = |this: &mut Self, value: ExprId, out: &mut Block| {
            let mut build = this.build(span);
            let is_not = build.not(value);
            let value = build.not(is_not);
            let e = build.set(truth, value);
            this.eval(e, out);
        };
        let first = self.value(a, out)?;
        set(self, first, out);
        let mut block = Block::new();
        let second = self.value(b, &mut block)?;
        set(self, second, &mut block);
        let mut build = self.build(span);
        let first = build.var(truth);
        let goes_on = if is_and { first } else { build.not(first) };
        out.push(Stmt::new(StmtKind::If(goes_on, block, Block::new()), span));
        Ok(self.build(span).var(truth))
    }

    /// `c ? a : b`, in which `a` or `b` stand for code.
    fn chosen(
        &mut self,
        (c, a, b): (ExprId, Option<ExprId>, ExprId),
        whole: &ir::program::Expr,
        out: &mut Block,
    ) -> Result<ExprId> {
        let span = whole.span;
        let mut condition = self.value(c, out)?;
        if a.is_none() {
            // The value is its own condition.
            let ty = self.build(span).type_of(condition);
            let kept = self.temporary("kept", ty, span, out);
            let e = self.build(span).set(kept, condition);
            self.eval(e, out);
            condition = self.build(span).var(kept);
        }
        let is_void = self.program.types.is_void(whole.ty);
        let taken = match is_void {
            true => None,
            false => Some(self.temporary("taken", whole.ty.plain(), span, out)),
        };
        let arm = |this: &mut Self, value: Option<ExprId>| -> Result<Block> {
            let mut block = Block::new();
            let value = value.map_or(Ok(condition), |it| this.value(it, &mut block))?;
            let e = taken.map_or(value, |var| this.build(span).set(var, value));
            this.eval(e, &mut block);
            Ok(block)
        };
        let (then, other) = (arm(self, a)?, arm(self, Some(b))?);
        out.push(Stmt::new(StmtKind::If(condition, then, other), span));
        Ok(match taken {
            Some(var) => self.build(span).var(var),
            None => self.nothing(span),
        })
    }

    /// An expression without a value.
    fn nothing(&mut self, span: Span) -> ExprId {
        let mut build = self.build(span);
        let ty = build.program.types.get(ir::types::TypeKind::Void);
        let int = build.int_type();
        let zero = build.int(0, int);
        build.expr(ExprKind::Cast(ir::program::CastKind::Explicit, zero), ty)
    }

    /// The code of a function, in the place of a call; answers what it returns.
    fn inline(
        &mut self,
        function: FunctionId,
        args: &[ExprId],
        span: Span,
        out: &mut Block,
    ) -> Result<ExprId> {
        let it = self.program.functions[function].clone();
        let Some(body) = it.body else { return refuse("a call", span) };
        if self.inlining.contains(&function) {
            return refuse("a function that calls itself and in which threads meet", span);
        }
        if args.len() != it.params.len() {
            return refuse("a call with a variable number of arguments", span);
        }
        let mut inner = Env { vars: self.env.vars.clone(), ..self.env.clone() };
        for (param, arg) in it.params.iter().zip(args) {
            let own = self.fresh_like(*param, self.space_here(), span)?;
            self.declare(own, out);
            let e = self.build(span).set(own, *arg);
            self.eval(e, out);
            inner.vars.insert(*param, own);
        }
        let ty = self.program.types.callee(it.ty).map(|it| it.ret);
        let ty = ty.filter(|it| !self.program.types.is_void(*it));
        let value = match ty {
            Some(ty) => {
                let var = self.build(span).fresh("result", ty);
                self.spaces.push((var, self.space_here()));
                self.declare(var, out);
                Some(var)
            }
            None => None,
        };
        let left = self.number("left", self.space_here(), span, out);
        self.set_number(left, 0, span, out);
        let end = last_statement(self.program, body);
        inner.returns = Some(Returns { value, left, end });
        let outer = std::mem::replace(&mut self.env, inner);
        let around = std::mem::replace(&mut self.function, function);
        self.inlining.push(function);
        let block = self.block(&[body]);
        self.inlining.pop();
        self.function = around;
        self.env = outer;
        let block = block?;
        match returns_early(self.program, body, end) {
            true => {
                let never = {
                    let mut build = self.build(span);
                    let ty = build.int_type();
                    build.int(0, ty)
                };
                let once =
                    Loop { kind: LoopKind::After, condition: Some(never), step: None, body: block };
                out.push(Stmt::new(StmtKind::Loop(Box::new(once)), span));
            }
            false => out.push(Stmt::new(StmtKind::Block(block), span)),
        }
        Ok(match value {
            Some(value) => self.build(span).var(value),
            None => self.nothing(span),
        })
    }

    /// The same expression in terms of the kernel's variables.
    pub(crate) fn copied(&mut self, id: ExprId) -> ExprId {
        self.copier(&mut |it| it.expr(id))
    }

    /// The same of a statement; its labels are new ones, since it may stand in a kernel several times.
    pub(crate) fn copied_stmt(&mut self, id: StmtId) -> StmtId {
        let mut labels = rustc_hash::FxHashMap::default();
        for old in Jumps::of(self.program, id).labels {
            let mut label = self.program.labels[old].clone();
            let name = self.program.names.text(label.name);
            let name = format!("__ferry_k{}_{name}", self.program.labels.len());
            label.name = self.program.names.intern(&name);
            labels.insert(old, self.program.labels.push(label));
        }
        self.copier(&mut |it| {
            it.labels.clone_from(&labels);
            it.stmt(id)
        })
    }

    fn copied_init(&mut self, id: InitId) -> InitId {
        self.copier(&mut |it| it.init(id))
    }

    /// Copies with the variables and answers that hold here.
    pub(crate) fn copier<T>(&mut self, copy: &mut dyn FnMut(&mut Copier<'_>) -> T) -> T {
        let env = self.env.clone();
        let threads = self.threads;
        let calls = |program: &mut Program, function: FunctionId, args: &[ExprId]| {
            answer(program, &env, threads, function, args, Span::NONE)
        };
        let vars = self.env.vars.clone();
        let mut copier = Copier { vars, calls: &calls, ..Copier::new(self.program) };
        copy(&mut copier)
    }

    /// Whether a statement is more than one thread's own code, or leaves itself.
    fn is_split(&mut self, id: StmtId) -> bool {
        matches!(self.program.stmts[id].kind, C::Local(_))
            || escapes(self.program, self.function, id)
            || self.has_crew_code(Part::Stmt(id))
    }

    /// Whether there is a construct in a part that concerns others, or a call that stands for code.
    pub(crate) fn has_crew_code(&mut self, part: Part) -> bool {
        let mut open = vec![part];
        while let Some(part) = open.pop() {
            if let Part::Region(id) = part
                && self.is_of_crew(id)
            {
                return true;
            }
            if self.calls_one(part) {
                return true;
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        false
    }

    fn calls_meeting(&mut self, part: Part) -> bool {
        let mut open = vec![part];
        while let Some(part) = open.pop() {
            if self.calls_one(part) {
                return true;
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        false
    }

    fn calls_one(&mut self, part: Part) -> bool {
        if let Part::Expr(id) = part
            && let ExprKind::Call(callee, _) = self.program.exprs[id].kind
            && let Some(function) = callee_of(self.program, callee)
        {
            return self.meets(function);
        }
        false
    }

    /// Whether a function has constructs that concern others, or asks who runs it.
    fn meets(&mut self, function: FunctionId) -> bool {
        if let Some(known) = self.meets.get(&function) {
            return *known;
        }
        self.meets.insert(function, false);
        let Some(body) = self.program.functions[function].body else { return false };
        let mut open = vec![Part::Stmt(body)];
        let mut found = false;
        while let Some(part) = open.pop().filter(|_| !found) {
            if let Part::Region(id) = part {
                let construct = &self.program.regions[id].construct;
                let leaves = construct.leaves.iter();
                found |= !construct.goes_back() && leaves.clone().any(|it| concerns_others(*it));
            }
            if let Part::Expr(id) = part
                && let ExprKind::Call(callee, _) = self.program.exprs[id].kind
                && let Some(callee) = callee_of(self.program, callee)
            {
                found |= query(self.program, callee).is_some() || self.meets(callee);
            }
            self.program.parts(part, &mut |it| open.push(it));
        }
        self.meets.insert(function, found);
        found
    }
}

/// Whether threads of a team, or teams, take part in a construct together.
pub(crate) fn concerns_others(leaf: Leaf) -> bool {
    matches!(
        leaf,
        Leaf::Teams
            | Leaf::Distribute
            | Leaf::Parallel
            | Leaf::For
            | Leaf::Loop
            | Leaf::Sections
            | Leaf::Single
            | Leaf::Masked
            | Leaf::Master
            | Leaf::Scope
            | Leaf::Barrier
            | Leaf::Ordered
            | Leaf::OrderedPoint
            | Leaf::Scan
    )
}

fn has_return(program: &Program, id: StmtId) -> bool {
    returns_early(program, id, None)
}

/// Whether there is a `return` in a statement besides the one at its end.
fn returns_early(program: &Program, id: StmtId, end: Option<StmtId>) -> bool {
    let mut open = vec![Part::Stmt(id)];
    while let Some(part) = open.pop() {
        if let Part::Stmt(id) = part
            && matches!(program.stmts[id].kind, C::Return(_))
            && Some(id) != end
        {
            return true;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}

/// The last statement of a body, through braces.
fn last_statement(program: &Program, body: StmtId) -> Option<StmtId> {
    let mut at = body;
    while let C::Block(list) = &program.stmts[at].kind {
        at = *list.last()?;
    }
    Some(at)
}

/// How many threads a team that begins here has if nothing else is said: not more than the league lets it have.
pub(crate) fn most_threads(build: &mut Builder<'_>, env: &Env, threads: kernel::Crew) -> ExprId {
    let most = build.var(env.limit.unwrap_or(threads.count));
    let Some(wanted) = env.wanted else { return most };
    let (asked, zero) = (build.var(wanted), build.number(0));
    let is_set = build.binary(BinaryOp::Gt, asked, zero);
    let least = build.min(asked, most);
    build.either(is_set, least, most)
}

pub(crate) fn query(program: &Program, function: FunctionId) -> Option<CrewQuery> {
    let it = &program.functions[function];
    directive::crew_query(program.names.text(it.name)).filter(|_| it.body.is_none())
}

/// What a question about threads and teams is answered with.
fn answer(
    program: &mut Program,
    env: &Env,
    threads: kernel::Crew,
    function: FunctionId,
    args: &[ExprId],
    span: Span,
) -> Option<ExprId> {
    let query = query(program, function)?;
    let mut build = Builder { program, function, span };
    let int = build.int_type();
    let number = |build: &mut Builder<'_>, var: Option<VarId>, otherwise: i64| match var {
        Some(var) => {
            let e = build.var(var);
            build.cast(e, int)
        }
        None => build.int(otherwise, int),
    };
    let team = env.team;
    Some(match query {
        CrewQuery::ThreadNumber => number(&mut build, team.map(|it| it.number), 0),
        CrewQuery::Threads => number(&mut build, team.map(|it| it.count), 1),
        CrewQuery::TeamNumber => number(&mut build, env.teams.map(|it| it.number), 0),
        CrewQuery::Teams => number(&mut build, env.teams.map(|it| it.count), 1),
        CrewQuery::ThreadLimit => number(&mut build, Some(env.limit.unwrap_or(threads.count)), 1),
        CrewQuery::MostThreads if team.is_some() => build.int(1, int),
        CrewQuery::MostThreads => {
            let most = most_threads(&mut build, env, threads);
            build.cast(most, int)
        }
        CrewQuery::SetThreads => {
            let value = *args.first()?;
            let e = match env.wanted.filter(|_| team.is_none()) {
                Some(wanted) => {
                    let value = build.as_number(value);
                    build.set(wanted, value)
                }
                // Teams that begin here have one thread.
                None => value,
            };
            let ty = build.program.types.get(ir::types::TypeKind::Void);
            build.expr(ExprKind::Cast(ir::program::CastKind::Explicit, e), ty)
        }
        CrewQuery::Level => build.int(env.level, int),
        CrewQuery::InParallel | CrewQuery::ActiveLevel => match env.outer.or(team) {
            Some(team) => {
                let (count, one) = (build.var(team.count), build.number(1));
                build.binary(BinaryOp::Gt, count, one)
            }
            None => build.int(0, int),
        },
        CrewQuery::AncestorNumber | CrewQuery::TeamSize => {
            let level = *args.first()?;
            let is_size = query == CrewQuery::TeamSize;
            let outermost = env.outer.or(team);
            let none = build.int(-1, int);
            let inner = match env.level {
                0 => none,
                // Parallel regions inside another have one thread.
                _ => {
                    let level_here = build.int(env.level, int);
                    let is_within = build.binary(BinaryOp::Le, level, level_here);
                    let alone = build.int(i64::from(is_size), int);
                    let deeper = build.either(is_within, alone, none);
                    let var = outermost.map(|it| if is_size { it.count } else { it.number });
                    let first = number(&mut build, var, i64::from(is_size));
                    let one = build.int(1, int);
                    let is_first = build.binary(BinaryOp::Eq, level, one);
                    build.either(is_first, first, deeper)
                }
            };
            let zero = build.int(0, int);
            let is_outside = build.binary(BinaryOp::Eq, level, zero);
            let outside = build.int(i64::from(is_size), int);
            let known = build.either(is_outside, outside, inner);
            let is_negative = build.binary(BinaryOp::Lt, level, zero);
            build.either(is_negative, none, known)
        }
    })
}
