//! The parts of kernel statements, one step down.
//!
//! In: a statement. Out: its blocks, the expressions it evaluates itself, the variables it sets or declares.
//! Also, what expressions and serial code read, write and declare.

use ir::construct::ReductionOp;
use ir::program::{ExprId, ExprKind, Program, StmtKind as CodeKind, VarId};
use ir::walk::Part;

use crate::{Block, Crew, Prefix, Range, Scan, Schedule, Share, Stmt, StmtKind, Who};

impl StmtKind {
    /// The blocks in it, in the order of the text.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            StmtKind::Code(_)
            | StmtKind::Local(_)
            | StmtKind::Eval(_)
            | StmtKind::Case(..)
            | StmtKind::Default
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Barrier
            | StmtKind::Shuffle(_) => Vec::new(),
            StmtKind::Block(body) | StmtKind::Switch(_, body) | StmtKind::On(_, body) => vec![body],
            StmtKind::If(_, then, other) => vec![then, other],
            StmtKind::Loop(it) => vec![&it.body],
            StmtKind::Teams(it) => vec![&it.body],
            StmtKind::Parallel(it) => vec![&it.body],
            StmtKind::Share(it) => vec![&it.body, &it.last],
            StmtKind::Reduce(it) => {
                std::iter::once(&it.combine).chain(it.join.as_ref().map(|it| &it.code)).collect()
            }
            StmtKind::Scan(it) => {
                let own = [&it.share.body, &it.using, &it.share.last];
                let of_prefixes =
                    it.prefixes.iter().flat_map(|it| [&it.begin, &it.combine, &it.join.code]);
                own.into_iter().chain(of_prefixes).collect()
            }
        }
    }

    /// The same, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            StmtKind::Code(_)
            | StmtKind::Local(_)
            | StmtKind::Eval(_)
            | StmtKind::Case(..)
            | StmtKind::Default
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Barrier
            | StmtKind::Shuffle(_) => Vec::new(),
            StmtKind::Block(body) | StmtKind::Switch(_, body) | StmtKind::On(_, body) => vec![body],
            StmtKind::If(_, then, other) => vec![then, other],
            StmtKind::Loop(it) => vec![&mut it.body],
            StmtKind::Teams(it) => vec![&mut it.body],
            StmtKind::Parallel(it) => vec![&mut it.body],
            StmtKind::Share(it) => vec![&mut it.body, &mut it.last],
            StmtKind::Reduce(it) => {
                let join = it.join.as_mut().map(|it| &mut it.code);
                std::iter::once(&mut it.combine).chain(join).collect()
            }
            StmtKind::Scan(it) => {
                let Scan { share, using, prefixes, .. } = it.as_mut();
                let own = [&mut share.body, using, &mut share.last];
                let own = own.into_iter();
                let of_prefixes = prefixes.iter_mut().flat_map(|it| {
                    let Prefix { begin, combine, join, .. } = it;
                    [begin, combine, &mut join.code]
                });
                own.chain(of_prefixes).collect()
            }
        }
    }

    /// The expressions that it evaluates itself; those of its blocks and of serial code are not among them.
    pub fn exprs(&self) -> Vec<ExprId> {
        match self {
            StmtKind::Code(_)
            | StmtKind::Local(_)
            | StmtKind::Block(_)
            | StmtKind::Case(..)
            | StmtKind::Default
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Barrier
            | StmtKind::On(Who::Primary, _)
            | StmtKind::Reduce(_) => Vec::new(),
            StmtKind::Eval(e)
            | StmtKind::If(e, ..)
            | StmtKind::Switch(e, _)
            | StmtKind::On(Who::Numbered(e), _) => vec![*e],
            StmtKind::Shuffle(it) => std::iter::once(it.from).chain(it.far).collect(),
            StmtKind::Loop(it) => it.condition.into_iter().chain(it.step).collect(),
            StmtKind::Teams(it) => it.teams.into_iter().chain(it.limit).collect(),
            StmtKind::Parallel(it) => it.threads.into_iter().chain(it.condition).collect(),
            StmtKind::Share(it) => it.exprs(),
            StmtKind::Scan(it) => it.share.exprs(),
        }
    }

    /// The variables that it reads without an expression.
    pub fn reads(&self) -> Vec<VarId> {
        match self {
            StmtKind::Parallel(it) => it.limit.into_iter().collect(),
            StmtKind::Share(it) => it.reads(),
            StmtKind::Scan(it) => it
                .share
                .reads()
                .into_iter()
                .chain(it.prefixes.iter().map(|it| it.original))
                .collect(),
            StmtKind::Reduce(it) => {
                it.crew.vars().into_iter().chain(std::iter::once(it.copy)).collect()
            }
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
            | StmtKind::Teams(_)
            | StmtKind::On(..)
            | StmtKind::Barrier
            | StmtKind::Shuffle(_) => Vec::new(),
        }
    }

    /// The variables that it sets without an expression.
    pub fn sets(&self) -> Vec<VarId> {
        match self {
            StmtKind::Teams(it) => it.crew.vars().to_vec(),
            StmtKind::Parallel(it) => it.crew.vars().to_vec(),
            StmtKind::Share(it) => it.sets(),
            StmtKind::Scan(it) => it.share.sets(),
            StmtKind::Shuffle(it) => vec![it.to],
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
            | StmtKind::On(..)
            | StmtKind::Barrier
            | StmtKind::Reduce(_) => Vec::new(),
        }
    }

    /// What it is called in messages.
    pub fn word(&self) -> &'static str {
        match self {
            StmtKind::Code(_) => "code",
            StmtKind::Local(_) => "a variable",
            StmtKind::Eval(_) => "an expression",
            StmtKind::Block(_) => "a block",
            StmtKind::If(..) => "an `if`",
            StmtKind::Loop(_) => "a loop",
            StmtKind::Switch(..) => "a switch",
            StmtKind::Case(..) => "a case",
            StmtKind::Default => "a default",
            StmtKind::Break => "a break",
            StmtKind::Continue => "a continue",
            StmtKind::Teams(_) => "a league",
            StmtKind::Parallel(_) => "a parallel region",
            StmtKind::Share(_) => "a shared loop",
            StmtKind::On(..) => "code for one thread",
            StmtKind::Barrier => "a barrier",
            StmtKind::Shuffle(_) => "a shuffle",
            StmtKind::Reduce(_) => "a reduction",
            StmtKind::Scan(_) => "a scan",
        }
    }

    /// Whether there is such a statement in it; it is asked for itself too.
    pub fn any(&self, is_it: &impl Fn(&StmtKind) -> bool) -> bool {
        let mut open = vec![self];
        while let Some(kind) = open.pop() {
            if is_it(kind) {
                return true;
            }
            open.extend(kind.blocks().into_iter().flatten().map(|it| &it.kind));
        }
        false
    }
}

/// All statements of a block and of the blocks in it.
pub fn all(block: &Block) -> Vec<&Stmt> {
    let mut found = Vec::new();
    let mut open: Vec<&Stmt> = block.iter().rev().collect();
    while let Some(stmt) = open.pop() {
        found.push(stmt);
        open.extend(stmt.kind.blocks().into_iter().rev().flat_map(|it| it.iter().rev()));
    }
    found
}

impl Share {
    fn exprs(&self) -> Vec<ExprId> {
        let dims = self.dims.iter().flat_map(|it| [Some(it.begin), Some(it.bound), it.step]);
        let chunk = match self.schedule {
            Schedule::Blocks => None,
            Schedule::RoundRobin(chunk) => Some(chunk),
        };
        dims.flatten().chain(chunk).collect()
    }

    fn reads(&self) -> Vec<VarId> {
        let within = self.within.into_iter().flat_map(Range::vars);
        self.crew.vars().into_iter().chain(within).collect()
    }

    fn sets(&self) -> Vec<VarId> {
        let pieces = self.pieces.into_iter().flat_map(Range::vars);
        let counted = self.dims.iter().map(|it| it.var);
        pieces.chain(counted).chain(std::iter::once(self.number)).collect()
    }
}

impl Crew {
    /// Number and count.
    pub fn vars(self) -> [VarId; 2] {
        [self.number, self.count]
    }
}

impl Range {
    /// Begin and end.
    pub fn vars(self) -> [VarId; 2] {
        [self.begin, self.end]
    }
}

/// A variable that code names, and what is done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Which.
    pub var: VarId,
    /// What becomes of it.
    pub how: How,
    /// The expression that names it, or writes it.
    pub expr: ExprId,
}

/// What code does with a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Its value is read, or its place is computed with.
    Named,
    /// It, or a part of it, gets a value.
    Written,
    /// Its address is taken.
    Addressed,
}

/// What expressions and code under a part do with variables, in no particular order, and which they declare.
pub fn uses(program: &Program, part: Part) -> (Vec<Use>, Vec<VarId>) {
    let (mut found, mut declared) = (Vec::new(), Vec::new());
    let mut open = vec![part];
    while let Some(part) = open.pop() {
        if let Part::Expr(id) = part
            && let Some(expr) = program.exprs.find(id)
        {
            if let ExprKind::Var(var) = expr.kind {
                found.push(Use { var, how: How::Named, expr: id });
            } else if let ExprKind::Assign(to, _)
            | ExprKind::AssignOp(_, to, ..)
            | ExprKind::Step(_, to) = expr.kind
                && let Some(var) = object(program, to)
            {
                found.push(Use { var, how: How::Written, expr: id });
            } else if let ExprKind::AddrOf(of) = expr.kind
                && let Some(var) = object(program, of)
            {
                found.push(Use { var, how: How::Addressed, expr: id });
            }
        }
        if let Part::Stmt(id) = part
            && let Some(CodeKind::Asm(asm)) = program.stmts.find(id).map(|it| &it.kind)
        {
            for (_, to) in &asm.outputs {
                found.extend(object(program, *to).map(|var| Use {
                    var,
                    how: How::Written,
                    expr: *to,
                }));
            }
        }
        if let Part::Local(var) = part {
            declared.push(var);
        }
        program.parts(part, &mut |it| open.push(it));
    }
    (found, declared)
}

/// The variable that an object is, or is a part of.
pub fn object(program: &Program, id: ExprId) -> Option<VarId> {
    let mut id = id;
    loop {
        let expr = program.exprs.find(id)?;
        if let ExprKind::Var(var) = expr.kind {
            return Some(var);
        } else if let ExprKind::Member(of, ..) = expr.kind {
            id = of;
        } else if let ExprKind::Unary(ir::program::UnaryOp::Real | ir::program::UnaryOp::Imag, of) =
            expr.kind
        {
            id = of;
        } else if let ExprKind::Index(of, _) = expr.kind
            && program.exprs.find(of).is_some_and(|it| program.types.element(it.ty).is_some())
        {
            id = of;
        } else {
            return None;
        }
    }
}

/// How a way of combining is written.
pub fn op_word(op: &ReductionOp<ir::program::Typed>) -> &'static str {
    match op {
        ReductionOp::Add => "+",
        ReductionOp::Sub => "-",
        ReductionOp::Mul => "*",
        ReductionOp::BitAnd => "&",
        ReductionOp::BitOr => "|",
        ReductionOp::BitXor => "^",
        ReductionOp::And => "&&",
        ReductionOp::Or => "||",
        ReductionOp::Min => "min",
        ReductionOp::Max => "max",
        ReductionOp::User(_) => "user",
    }
}
