//! `single`: one thread of one team runs the whole kernel, which becomes a statement of C.
//!
//! In: a kernel as outlined. Out: one whose body is code: leagues and teams have one member, shared loops are loops that
//! count from their first value to their bound, with a counter for each dimension and no division; what members combine is
//! combined once. A kernel is right with any number of groups and threads, so it is with one of each. The code is the body
//! of the kernel's region, where analyses find it. [`kernel::Launch::independent`] says which loops were shared by several.

use ir::construct::{ClauseKind, Leaf};
use ir::program::{
    BinaryOp, ExprId, ExprKind, For, Program, RegionId, StmtId, StmtKind as C, VarId,
};
use ir::walk::Part;
use kernel::build::Builder;
use kernel::walk::{How, uses};
use kernel::{
    Block, Crew, Dim, Launch, Loop, LoopKind, Range, Reduce, Scan, Share, Stmt, StmtKind, Who,
    intrinsic,
};
use rustc_hash::FxHashSet;
use source::Span;

use super::flatten::asks_for_several;
use super::{Cx, Result, refuse};

pub(super) fn run(cx: &mut Cx<'_>) -> Result<()> {
    let kernel = cx.kernel.clone();
    if let Some(span) = computed_length(cx.program, &kernel.body) {
        return refuse("the length of an array is known only when it runs", span);
    }
    let are_several =
        asks_for_several(cx.program, kernel.region) || any_order(cx.program, kernel.region);
    let declares = |it: &Stmt| match it.kind {
        StmtKind::Local(var) => Some(var),
        _ => None,
    };
    let mut single = Single {
        declared: kernel::walk::all(&kernel.body).into_iter().filter_map(declares).collect(),
        mentioned: mentioned(cx.program, &kernel.body),
        independent: Vec::new(),
        are_several,
        pieces: Vec::new(),
        build: cx.build(kernel.span),
    };
    let mut list = Vec::new();
    for crew in [kernel.threads, kernel.groups].into_iter().chain(kernel.all) {
        single.declare(crew, &mut list);
        single.one(crew, &mut list);
    }
    for stmt in &kernel.body {
        single.stmt(stmt, &mut list)?;
    }
    let independent = std::mem::take(&mut single.independent);
    let copies = |it: &Stmt| match &it.kind {
        StmtKind::Reduce(it) if it.elements.is_none() => Some(it.copy),
        _ => None,
    };
    let combined = kernel::walk::all(&kernel.body).into_iter().filter_map(copies).collect();
    let code = single.build.stmt(C::Block(list.into()));
    install(cx.program, kernel.region, code);
    cx.kernel.spaces.clear();
    cx.kernel.all = None;
    let joined = std::mem::take(&mut cx.kernel.launch.joined);
    cx.kernel.launch = Launch { independent, combined, joined, ..Launch::default() };
    cx.kernel.body = vec![Stmt::new(StmtKind::Code(code), kernel.span)];
    Ok(())
}

/// Makes code the body of a region, which is then nothing but a region that leaves the host.
pub(super) fn install(program: &mut Program, region: RegionId, code: StmtId) {
    let region = &mut program.regions[region];
    region.body = Some(code);
    region.loops.clear();
    region.construct.leaves.retain(|it| matches!(it, Leaf::Offload | Leaf::Kernels));
    region.vars.iter_mut().for_each(|it| it.sharing = None);
}

struct Single<'p> {
    build: Builder<'p>,
    /// Variables that expressions name: others need not be declared.
    mentioned: FxHashSet<VarId>,
    /// Variables that statements declare, or that have been declared.
    declared: FxHashSet<VarId>,
    /// Loops whose iterations several threads may run at once.
    independent: Vec<StmtId>,
    /// No construct asks for one team or one thread, or none promises an order to one.
    are_several: bool,
    /// Ranges of iterations that are all there are, and of which loops.
    pieces: Vec<(Range, Vec<Dim>)>,
}

/// Whether loops of a region have no order, whoever runs them.
fn any_order(program: &Program, region: RegionId) -> bool {
    let mut all = program.inside(region).into_iter().chain([region]);
    all.all(|it| {
        program.regions[it].loops.is_empty() || program.regions[it].construct.rules.any_order
    })
}

/// Where code of a kernel has an array of its own whose length is computed: no memory is built for such.
fn computed_length(program: &Program, body: &Block) -> Option<Span> {
    let codes = kernel::walk::all(body).into_iter().filter_map(|it| match it.kind {
        StmtKind::Code(code) => Some(uses(program, Part::Stmt(code)).1),
        _ => None,
    });
    let is_computed = |it: &VarId| program.types.is_vla(program.vars[*it].ty);
    codes.flatten().filter(is_computed).map(|it| program.vars[it].span).min()
}

/// All variables that expressions and code of a kernel name.
fn mentioned(program: &Program, body: &Block) -> FxHashSet<VarId> {
    let mut found = FxHashSet::default();
    let mut look = |part: Part| {
        let (named, declared) = uses(program, part);
        found.extend(named.into_iter().map(|it| it.var));
        found.extend(declared);
    };
    for stmt in kernel::walk::all(body) {
        if let StmtKind::Code(code) = stmt.kind {
            look(Part::Stmt(code));
        }
        stmt.kind.exprs().into_iter().for_each(|it| look(Part::Expr(it)));
    }
    for stmt in kernel::walk::all(body) {
        let share = match &stmt.kind {
            StmtKind::Share(it) => it,
            StmtKind::Scan(it) => &it.share,
            _ => continue,
        };
        let counts = share.pieces.is_none();
        found.extend(share.dims.iter().map(|it| it.var).filter(|_| counts));
    }
    found
}

impl Single<'_> {
    fn block(&mut self, block: &Block) -> Result<StmtId> {
        let mut list = Vec::new();
        for stmt in block {
            self.stmt(stmt, &mut list)?;
        }
        Ok(match list.as_slice() {
            [one] if !matches!(self.build.program.stmts[*one].kind, C::Local(_)) => *one,
            _ => self.build.stmt(C::Block(list.into())),
        })
    }

    fn stmt(&mut self, stmt: &Stmt, out: &mut Vec<StmtId>) -> Result<()> {
        self.build.span = stmt.span;
        let span = stmt.span;
        let kind = match &stmt.kind {
            StmtKind::Code(id) => {
                out.push(*id);
                return Ok(());
            }
            StmtKind::Local(var) => {
                if self.mentioned.contains(var) {
                    self.local(*var, out);
                }
                return Ok(());
            }
            StmtKind::Eval(e) => C::Expr(*e),
            StmtKind::Block(block) => {
                let block = self.block(block)?;
                if !matches!(&self.build.program.stmts[block].kind, C::Block(it) if it.is_empty()) {
                    out.push(block);
                }
                return Ok(());
            }
            StmtKind::If(condition, then, other) => {
                let then = self.block(then)?;
                let other = if other.is_empty() { None } else { Some(self.block(other)?) };
                C::If(*condition, then, other)
            }
            StmtKind::Loop(it) => self.c_loop(it, out)?,
            StmtKind::Switch(value, body) => C::Switch(*value, self.block(body)?),
            StmtKind::Case(low, high) => {
                let empty = self.build.stmt(C::Empty);
                C::Case(*low, *high, empty)
            }
            StmtKind::Default => {
                let empty = self.build.stmt(C::Empty);
                C::Default(empty)
            }
            StmtKind::Break => C::Break,
            StmtKind::Continue => C::Continue,
            StmtKind::Teams(it) => {
                self.lone(it.crew, it.teams, &it.body, span)?;
                let asked = it.teams.into_iter().chain(it.limit);
                self.evaluate(asked, out);
                return self.crew(it.crew, &it.body, out);
            }
            StmtKind::Parallel(it) => {
                self.lone(it.crew, it.threads, &it.body, span)?;
                let asked = it.threads.into_iter().chain(it.condition);
                self.evaluate(asked, out);
                return self.crew(it.crew, &it.body, out);
            }
            StmtKind::Share(it) => return self.share(it, span, out),
            StmtKind::On(Who::Primary, body) => {
                out.push(self.block(body)?);
                return Ok(());
            }
            StmtKind::On(Who::Numbered(number), body) => {
                let then = self.block(body)?;
                let none = self.build.type_of(*number);
                let none = self.build.int(0, none);
                let is_first = self.build.binary(BinaryOp::Eq, *number, none);
                C::If(is_first, then, None)
            }
            StmtKind::Barrier => return Ok(()),
            StmtKind::Shuffle(_) => return refuse("values that threads exchange", span),
            StmtKind::Reduce(it) => return self.reduce(it, out),
            StmtKind::Scan(it) => {
                let share = self.in_order(it, span);
                return self.share(&share, span, out);
            }
        };
        self.build.span = span;
        out.push(self.build.stmt(kind));
        Ok(())
    }

    /// Prefixes of iterations that run one after the other: the original has what those before have given.
    fn in_order(&mut self, it: &Scan, span: Span) -> Share {
        let mut body = Block::new();
        for prefix in &it.prefixes {
            body.push(Stmt::new(StmtKind::Local(prefix.copy), span));
            body.extend(prefix.begin.iter().cloned());
        }
        body.extend(it.share.body.iter().cloned());
        for prefix in &it.prefixes {
            let kept = prefix.join.other;
            let build = &mut self.build;
            let mut copied = |to: VarId, from: VarId| {
                let (to, from) = (build.var(to), build.var(from));
                Stmt::new(StmtKind::Eval(build.copy(to, from)), span)
            };
            if it.is_exclusive {
                body.push(Stmt::new(StmtKind::Local(kept), span));
                body.push(copied(kept, prefix.original));
                body.extend(prefix.combine.iter().cloned());
                body.push(copied(prefix.copy, kept));
            } else {
                body.extend(prefix.combine.iter().cloned());
                body.push(copied(prefix.copy, prefix.original));
            }
        }
        body.extend(it.using.iter().cloned());
        Share { body, ordered: true, ..it.share.clone() }
    }

    fn local(&mut self, var: VarId, out: &mut Vec<StmtId>) {
        out.push(self.build.stmt(C::Local(var)));
    }

    fn set(&mut self, var: VarId, value: ExprId) -> StmtId {
        let e = self.build.set(var, value);
        self.build.stmt(C::Expr(e))
    }

    /// Declares the numbers of a crew that nothing else declares.
    fn declare(&mut self, crew: Crew, out: &mut Vec<StmtId>) {
        for var in crew.vars() {
            if self.mentioned.contains(&var) && self.declared.insert(var) {
                self.local(var, out);
            }
        }
    }

    /// The first of a crew, and its only member.
    fn one(&mut self, crew: Crew, out: &mut Vec<StmtId>) {
        for (var, value) in [(crew.number, 0), (crew.count, 1)] {
            if self.mentioned.contains(&var) {
                let value = self.build.number(value);
                out.push(self.set(var, value));
            }
        }
    }

    fn crew(&mut self, crew: Crew, body: &Block, out: &mut Vec<StmtId>) -> Result<()> {
        let mut list = Vec::new();
        self.declare(crew, &mut list);
        self.one(crew, &mut list);
        for stmt in body {
            self.stmt(stmt, &mut list)?;
        }
        out.push(self.build.stmt(C::Block(list.into())));
        Ok(())
    }

    /// Whether a crew of which so many are asked for may have one member.
    fn lone(&self, crew: Crew, asked: Option<ExprId>, body: &Block, span: Span) -> Result<()> {
        let Some(asked) = asked else { return Ok(()) };
        let is_told = crew.vars().iter().any(|it| self.mentioned.contains(it));
        if kernel::count::constant(self.build.program, asked) == Some(1)
            || !is_told && self.is_only_shared(body)
        {
            return Ok(());
        }
        refuse("several teams or threads are asked for that do more than share loops", span)
    }

    /// Whether nobody can tell by how many code is run: it shares loops, gives variables of its own a value, and combines
    /// what loops have made of them.
    fn is_only_shared(&self, body: &Block) -> bool {
        let program = &self.build.program;
        let mut set: FxHashSet<VarId> = FxHashSet::default();
        let own: FxHashSet<VarId> = kernel::walk::all(body)
            .into_iter()
            .filter_map(|it| match it.kind {
                StmtKind::Local(var) => Some(var),
                _ => None,
            })
            .collect();
        let mut open: Vec<&Stmt> = body.iter().rev().collect();
        while let Some(stmt) = open.pop() {
            let value = match &stmt.kind {
                StmtKind::Local(_)
                | StmtKind::Share(_)
                | StmtKind::Reduce(_)
                | StmtKind::Barrier => None,
                StmtKind::Code(code) => match program.stmts[*code].kind {
                    C::Expr(e) => Some(e),
                    _ => return false,
                },
                StmtKind::Eval(e) => Some(*e),
                StmtKind::Block(body) => {
                    open.extend(body.iter().rev());
                    None
                }
                StmtKind::Parallel(it) => {
                    open.extend(it.body.iter().rev());
                    None
                }
                _ => return false,
            };
            let Some(value) = value else { continue };
            let ExprKind::Assign(to, value) = program.exprs[value].kind else { return false };
            let ExprKind::Var(var) = program.exprs[to].kind else { return false };
            let (used, _) = uses(program, Part::Expr(value));
            let is_plain = !has_effects(program, Part::Expr(value))
                && used.iter().all(|it| it.how == How::Named && !own.contains(&it.var));
            if !is_plain || !own.contains(&var) || !set.insert(var) {
                return false;
            }
        }
        true
    }

    /// What sizes and conditions do besides having a value.
    fn evaluate(&mut self, asked: impl Iterator<Item = ExprId>, out: &mut Vec<StmtId>) {
        for e in asked {
            let (used, _) = uses(self.build.program, Part::Expr(e));
            if used.iter().any(|it| it.how == How::Written)
                || has_effects(self.build.program, Part::Expr(e))
            {
                out.push(self.build.stmt(C::Expr(e)));
            }
        }
    }

    /// A loop of C, with the assignment before it as its first part if that sets what it counts.
    fn c_loop(&mut self, it: &Loop, out: &mut Vec<StmtId>) -> Result<C> {
        let span = self.build.span;
        let body = self.block(&it.body)?;
        self.build.span = span;
        let condition = match (it.kind, it.condition) {
            (LoopKind::After, Some(condition)) => return Ok(C::DoWhile(body, condition)),
            (LoopKind::Before | LoopKind::After, condition) => condition,
        };
        let sets = |program: &Program, stmt: StmtId| {
            let C::Expr(e) = program.stmts[stmt].kind else { return None };
            let ExprKind::Assign(to, _) = program.exprs[e].kind else { return None };
            let ExprKind::Var(var) = program.exprs[to].kind else { return None };
            Some(var)
        };
        let steps = it.step.and_then(|step| {
            let (used, _) = uses(self.build.program, Part::Expr(step));
            used.iter().find(|it| it.how == How::Written).map(|it| it.var)
        });
        let first = out
            .last()
            .copied()
            .filter(|it| steps.is_some() && sets(self.build.program, *it) == steps);
        if first.is_some() {
            out.pop();
        }
        let init = first.into_iter().collect();
        Ok(C::For(Box::new(For {
            init,
            cond: condition,
            step: it.step,
            body,
            unroll: None,
            lanes: false,
        })))
    }

    /// Iterations that a crew shares: all are run by its only member, in their order.
    fn share(&mut self, share: &Share, span: Span, out: &mut Vec<StmtId>) -> Result<()> {
        if let Some(pieces) = share.pieces {
            return self.in_pieces(share, pieces, span, out);
        }
        if let Some(within) = share.within
            && !self.pieces.iter().any(|(range, dims)| {
                *range == within && are_same(self.build.program, dims, &share.dims)
            })
        {
            return refuse("iterations of a loop that others have dealt", span);
        }
        let mut list = Vec::new();
        let numbers = self.mentioned.contains(&share.number);
        let number_type = self.build.number_type();
        let next = self.build.fresh("iterations", number_type);
        let counts = numbers || !share.last.is_empty();
        if counts {
            self.local(next, &mut list);
            let none = self.build.number(0);
            list.push(self.set(next, none));
        }
        let mut body = Vec::new();
        if counts {
            if numbers {
                let value = self.build.var(next);
                body.push(self.set(share.number, value));
            }
            let more = self.build.increment(next);
            body.push(self.build.stmt(C::Expr(more)));
        }
        // The last values of counters are looked at: they are not what ends the loop.
        let keeps = !share.last.is_empty();
        let mut counters = Vec::new();
        for dim in &share.dims {
            let counter = match keeps {
                true => {
                    let ty = self.build.program.vars[dim.var].ty;
                    let counter = self.build.fresh("counter", ty);
                    self.local(counter, &mut list);
                    counter
                }
                false => dim.var,
            };
            counters.push(counter);
        }
        let (inner_body, heads) = (share.body.clone(), share.dims.clone());
        for stmt in &inner_body {
            self.stmt(stmt, &mut body)?;
        }
        self.build.span = span;
        let mut code = self.build.stmt(C::Block(body.into()));
        let is_free = self.are_several && !share.ordered && !meets_others(self.build.program, code);
        for (dim, counter) in heads.iter().zip(counters).rev() {
            code = self.counted(dim, counter, code, keeps, &mut list)?;
            if is_free {
                self.independent.push(code);
            }
        }
        list.push(code);
        if keeps {
            let (ran, none) = (self.build.var(next), self.build.number(0));
            let ran = self.build.binary(BinaryOp::Ne, ran, none);
            let last = self.block(&share.last)?;
            list.push(self.build.stmt(C::If(ran, last, None)));
        }
        self.build.span = span;
        out.push(match list.as_slice() {
            [one] => *one,
            _ => self.build.stmt(C::Block(list.into())),
        });
        Ok(())
    }

    /// One loop of a nest.
    fn counted(
        &mut self,
        dim: &Dim,
        counter: VarId,
        code: StmtId,
        keeps: bool,
        outside: &mut Vec<StmtId>,
    ) -> Result<StmtId> {
        let body = match keeps {
            true => {
                let value = self.build.var(counter);
                let set = self.set(dim.var, value);
                self.build.stmt(C::Block([set, code].into()))
            }
            false => code,
        };
        let (begin, ty) = (dim.begin, self.build.program.vars[dim.var].ty.plain());
        let Some(common) = kernel::count::common(self.build.program, dim) else {
            return refuse("a loop that does not count", self.build.span);
        };
        let bound = match dim.rectangular && changes(self.build.program, code, dim.bound) {
            true => {
                let kept = self.build.fresh("bound", common);
                self.local(kept, outside);
                let value = self.build.cast(dim.bound, common);
                outside.push(self.set(kept, value));
                self.build.var(kept)
            }
            false => self.build.cast(dim.bound, common),
        };
        let written = self.build.program.exprs[begin].span;
        if written != Span::NONE {
            self.build.span = written;
        }
        let begin = self.build.cast(begin, ty);
        let first = self.set(counter, begin);
        let value = self.build.var(counter);
        let value = self.build.cast(value, common);
        let condition = kernel::count::goes_on(&mut self.build, dim, value, bound);
        let step = kernel::count::advance(&mut self.build, dim, counter);
        Ok(self.build.stmt(C::For(Box::new(For {
            init: Box::new([first]),
            cond: Some(condition),
            step: Some(step),
            body,
            unroll: None,
            lanes: false,
        }))))
    }

    /// A share whose members have iterations that follow each other: the only member has all of them.
    fn in_pieces(
        &mut self,
        share: &Share,
        pieces: Range,
        span: Span,
        out: &mut Vec<StmtId>,
    ) -> Result<()> {
        if pieces.vars().iter().any(|it| self.mentioned.contains(it)) || !share.last.is_empty() {
            return refuse("a team looks at which iterations it has", span);
        }
        if share.within.is_some() {
            return refuse("iterations of a loop that others have dealt", span);
        }
        self.pieces.push((pieces, share.dims.clone()));
        let mut list = Vec::new();
        for stmt in &share.body {
            self.stmt(stmt, &mut list)?;
        }
        self.pieces.pop();
        out.push(self.build.stmt(C::Block(list.into())));
        Ok(())
    }

    /// What the only member of a crew has is combined with the original.
    fn reduce(&mut self, it: &Reduce, out: &mut Vec<StmtId>) -> Result<()> {
        let combine = self.block(&it.combine)?;
        let Some(elements) = it.elements else {
            out.push(combine);
            return Ok(());
        };
        self.local(elements.index, out);
        let begin = self.build.number(elements.begin.cast_signed());
        let first = self.set(elements.index, begin);
        let (index, end) =
            (self.build.var(elements.index), self.build.number(elements.end.cast_signed()));
        let cond = Some(self.build.binary(BinaryOp::Lt, index, end));
        let step = Some(self.build.increment(elements.index));
        let init = Box::new([first]);
        out.push(self.build.stmt(C::For(Box::new(For {
            init,
            cond,
            step,
            body: combine,
            unroll: None,
            lanes: false,
        }))));
        Ok(())
    }
}

/// Whether loops run over the same iterations.
fn are_same(program: &Program, a: &[Dim], b: &[Dim]) -> bool {
    let is_same = |a: &Dim, b: &Dim| {
        let steps = match (a.step, b.step) {
            (Some(a), Some(b)) => super::tile::is_same(program, a, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        steps
            && a.test == b.test
            && a.descending == b.descending
            && a.rectangular
            && b.rectangular
            && super::tile::is_same(program, a.begin, b.begin)
            && super::tile::is_same(program, a.bound, b.bound)
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
}

/// Whether code calls functions or stores to memory that variables do not name.
fn has_effects(program: &Program, part: Part) -> bool {
    let mut open = vec![part];
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part {
            let to = match program.exprs[e].kind {
                ExprKind::Call(..) | ExprKind::StmtExpr(_) => return true,
                ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, ..) | ExprKind::Step(_, to) => {
                    to
                }
                _ => e,
            };
            if to != e && kernel::walk::object(program, to).is_none() {
                return true;
            }
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}

/// Whether code may change the value of an expression: it looks at memory, or at a variable that is set.
fn changes(program: &Program, code: StmtId, e: ExprId) -> bool {
    let set: FxHashSet<VarId> = uses(program, Part::Stmt(code))
        .0
        .into_iter()
        .filter(|it| it.how != How::Named)
        .map(|it| it.var)
        .collect();
    let mut open = vec![Part::Expr(e)];
    while let Some(part) = open.pop() {
        if let Part::Expr(e) = part {
            match program.exprs[e].kind {
                ExprKind::Var(var) if set.contains(&var) => return true,
                ExprKind::Deref(_)
                | ExprKind::Index(..)
                | ExprKind::Member(..)
                | ExprKind::Call(..)
                | ExprKind::StmtExpr(_) => return true,
                _ => {}
            }
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}

/// Whether code is made for iterations that run at once and meet: atomic accesses, locks, a turn that is waited for.
fn meets_others(program: &Program, code: StmtId) -> bool {
    let mut open = vec![Part::Stmt(code)];
    while let Some(part) = open.pop() {
        if let Part::Region(region) = part {
            let construct = &program.regions[region].construct;
            let is_loop = construct.leaves.iter().all(|it| matches!(it, Leaf::Simd | Leaf::Loop));
            let is_plain = !construct.kinds().any(|it| matches!(it, ClauseKind::Ordered(_)));
            if !is_loop || !is_plain {
                return true;
            }
        }
        if let Part::Expr(e) = part
            && let ExprKind::Call(callee, _) = program.exprs[e].kind
            && let Some(function) = kernel::copy::callee_of(program, callee)
            && intrinsic::ALL.contains(&program.names.text(program.functions[function].name))
        {
            return true;
        }
        program.parts(part, &mut |it| open.push(it));
    }
    false
}
