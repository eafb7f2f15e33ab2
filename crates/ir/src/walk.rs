//! The parts of expressions and statements, one step down.
//!
//! In: one node. Out: a call for each handle directly in it, in the order of evaluation or writing.
//! Going further is the caller's, with a stack of its own: user programs nest deeply.

use crate::construct::{ClauseKind, Leaf};
use crate::program::{
    Declaration, ExprId, ExprKind, FunctionId, Init, InitId, OffsetStep, Program, RegionId, StmtId,
    StmtKind, Typed, VarId,
};
use crate::types::{ArrayLen, Ty, TypeKind, Types};
use source::Span;

/// What a node refers to directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// An expression in it.
    Expr(ExprId),
    /// A statement in it.
    Stmt(StmtId),
    /// A variable that begins to exist in it, initialiser and type included.
    Local(VarId),
    /// An initialiser in it.
    Init(InitId),
    /// A region in it.
    Region(RegionId),
}

impl ExprKind {
    /// The parts of an expression. Lengths in the types that it names are parts too.
    pub fn parts(&self, types: &Types, each: &mut impl FnMut(Part)) {
        match self {
            ExprKind::Error
            | ExprKind::Int(_)
            | ExprKind::WideInt(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::EnumConst(..)
            | ExprKind::Var(_)
            | ExprKind::Function(_)
            | ExprKind::Alignof(_)
            | ExprKind::LabelAddr(_) => {}
            ExprKind::Unary(_, e)
            | ExprKind::Deref(e)
            | ExprKind::AddrOf(e)
            | ExprKind::Step(_, e)
            | ExprKind::Cast(_, e)
            | ExprKind::Member(e, ..)
            | ExprKind::VaArg(e)
            | ExprKind::ConvertVector(e) => each(Part::Expr(*e)),
            ExprKind::Binary(_, a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::Assign(a, b)
            | ExprKind::AssignOp(_, a, b, _)
            | ExprKind::Comma(a, b)
            | ExprKind::Index(a, b) => {
                each(Part::Expr(*a));
                each(Part::Expr(*b));
            }
            ExprKind::Conditional(c, a, b) => {
                each(Part::Expr(*c));
                a.iter().for_each(|&a| each(Part::Expr(a)));
                each(Part::Expr(*b));
            }
            ExprKind::Call(callee, args) => {
                each(Part::Expr(*callee));
                args.iter().for_each(|&it| each(Part::Expr(it)));
            }
            ExprKind::Sizeof(ty) => lengths(types, *ty, each),
            ExprKind::Offsetof(_, path) => {
                for step in path {
                    if let OffsetStep::Index(index) = step {
                        each(Part::Expr(*index));
                    }
                }
            }
            ExprKind::CompoundLiteral(var) => each(Part::Local(*var)),
            ExprKind::StmtExpr(body) => each(Part::Stmt(*body)),
            ExprKind::Section(it) => {
                each(Part::Expr(it.base));
                let bounds = [it.lower, it.length, it.stride];
                bounds.into_iter().flatten().for_each(|it| each(Part::Expr(it)));
            }
            ExprKind::Shaped(shape, e) => {
                shape.iter().for_each(|&it| each(Part::Expr(it)));
                each(Part::Expr(*e));
            }
        }
    }
}

impl Program {
    /// The expression under conversions.
    pub fn peeled(&self, expr: ExprId) -> ExprId {
        let mut expr = expr;
        while let ExprKind::Cast(_, inner) = self.exprs[expr].kind {
            expr = inner;
        }
        expr
    }

    /// Whether two expressions are written alike.
    pub fn is_alike(&self, a: ExprId, b: ExprId) -> bool {
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        let (mut kind, mut other) = (self.exprs[a].kind.clone(), self.exprs[b].kind.clone());
        // Without what they are made of, which is compared by itself.
        kind.operands_mut(&mut |it| of_a.push(std::mem::replace(it, a)));
        other.operands_mut(&mut |it| of_b.push(std::mem::replace(it, a)));
        let types = &self.types;
        let is_cast = matches!(kind, ExprKind::Cast(..));
        let [one, two] = [a, b].map(|it| types.resolve(self.exprs[it].ty).plain());
        kind == other
            && (!is_cast || one == two)
            && of_a.len() == of_b.len()
            && of_a.iter().zip(&of_b).all(|(a, b)| self.is_alike(*a, *b))
    }
}

impl ExprKind {
    /// The expressions directly in it that are operands, to be changed: not those of types and
    /// statements in it.
    pub fn operands_mut(&mut self, each: &mut impl FnMut(&mut ExprId)) {
        match self {
            ExprKind::Error
            | ExprKind::Int(_)
            | ExprKind::WideInt(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::EnumConst(..)
            | ExprKind::Var(_)
            | ExprKind::Function(_)
            | ExprKind::Sizeof(_)
            | ExprKind::Alignof(_)
            | ExprKind::CompoundLiteral(_)
            | ExprKind::StmtExpr(_)
            | ExprKind::LabelAddr(_) => {}
            ExprKind::Unary(_, e)
            | ExprKind::Deref(e)
            | ExprKind::AddrOf(e)
            | ExprKind::Step(_, e)
            | ExprKind::Cast(_, e)
            | ExprKind::Member(e, ..)
            | ExprKind::VaArg(e)
            | ExprKind::ConvertVector(e) => each(e),
            ExprKind::Binary(_, a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::Assign(a, b)
            | ExprKind::AssignOp(_, a, b, _)
            | ExprKind::Comma(a, b)
            | ExprKind::Index(a, b) => {
                each(a);
                each(b);
            }
            ExprKind::Conditional(c, a, b) => {
                each(c);
                a.iter_mut().for_each(&mut *each);
                each(b);
            }
            ExprKind::Call(callee, args) => {
                each(callee);
                args.iter_mut().for_each(each);
            }
            ExprKind::Offsetof(_, path) => {
                for step in path {
                    if let OffsetStep::Index(index) = step {
                        each(index);
                    }
                }
            }
            ExprKind::Section(it) => {
                each(&mut it.base);
                let bounds = [&mut it.lower, &mut it.length, &mut it.stride];
                bounds.into_iter().flatten().for_each(each);
            }
            ExprKind::Shaped(shape, e) => {
                shape.iter_mut().for_each(&mut *each);
                each(e);
            }
        }
    }
}

impl StmtKind {
    /// The parts of a statement.
    pub fn parts(&self, each: &mut impl FnMut(Part)) {
        match self {
            StmtKind::Error
            | StmtKind::Empty
            | StmtKind::Goto(_)
            | StmtKind::Continue
            | StmtKind::Break
            | StmtKind::Return(None)
            | StmtKind::Declaration(_) => {}
            StmtKind::Block(stmts) => stmts.iter().for_each(|&it| each(Part::Stmt(it))),
            StmtKind::Local(var) => each(Part::Local(*var)),
            StmtKind::Expr(e) | StmtKind::GotoExpr(e) | StmtKind::Return(Some(e)) => {
                each(Part::Expr(*e));
            }
            StmtKind::If(c, then, other) => {
                each(Part::Expr(*c));
                each(Part::Stmt(*then));
                other.iter().for_each(|&it| each(Part::Stmt(it)));
            }
            StmtKind::While(c, body) | StmtKind::Switch(c, body) => {
                each(Part::Expr(*c));
                each(Part::Stmt(*body));
            }
            StmtKind::DoWhile(body, c) => {
                each(Part::Stmt(*body));
                each(Part::Expr(*c));
            }
            StmtKind::For(it) => {
                it.init.iter().for_each(|&it| each(Part::Stmt(it)));
                [it.cond, it.step].into_iter().flatten().for_each(|it| each(Part::Expr(it)));
                each(Part::Stmt(it.body));
            }
            StmtKind::Case(_, _, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => {
                each(Part::Stmt(*body));
            }
            StmtKind::Asm(asm) => {
                let operands = asm.outputs.iter().chain(&asm.inputs);
                operands.for_each(|it| each(Part::Expr(it.1)));
            }
            StmtKind::Region(region) => each(Part::Region(*region)),
        }
    }
}

impl Init {
    /// The parts of an initialiser.
    pub fn parts(&self, each: &mut impl FnMut(Part)) {
        match self {
            Init::Expr(e) => each(Part::Expr(*e)),
            Init::List(_, elements) => elements.iter().for_each(|it| each(Part::Init(it.value))),
        }
    }
}

impl Program {
    /// A region and those around it, from the inside out.
    pub fn around(&self, id: RegionId) -> impl Iterator<Item = RegionId> + '_ {
        std::iter::successors(Some(id), |it| self.regions[*it].parent)
    }

    /// The declarations in the scope of a place that directives in its function or at file scope make, in order.
    pub fn declarations_seen(&self, from: Span) -> impl Iterator<Item = (usize, &Declaration)> {
        self.declarations.iter().enumerate().filter(move |(at, it)| {
            let Some(function) = it.within else { return true };
            let is_before = it.construct.span.start < from.start;
            is_before && self.block_of(function, *at).is_some_and(|it| it.contains(from))
        })
    }

    /// The block of a function in which a declaration stands.
    fn block_of(&self, function: FunctionId, declaration: usize) -> Option<Span> {
        let body = self.functions[function].body?;
        let is_it = |it: &StmtId| matches!(self.stmts[*it].kind, StmtKind::Declaration(at) if at as usize == declaration);
        let mut open = vec![Part::Stmt(body)];
        while let Some(part) = open.pop() {
            if let Part::Stmt(id) = part
                && let StmtKind::Block(stmts) = &self.stmts[id].kind
                && stmts.iter().any(is_it)
            {
                return Some(self.stmts[id].span);
            }
            self.parts(part, &mut |it| open.push(it));
        }
        None
    }

    /// Whether teams share the iterations of a loop though it names only threads or lanes: no loop around it or inside it is
    /// theirs, and all of them would run it whole.
    pub fn implies_teams(&self, id: RegionId) -> bool {
        let names = |id: RegionId, is_it: fn(&ClauseKind<Typed>) -> bool| {
            self.regions[id].construct.kinds().any(is_it)
        };
        let is_team = |it: &ClauseKind<Typed>| matches!(it, ClauseKind::Gang(_));
        let is_less =
            |it: &ClauseKind<Typed>| matches!(it, ClauseKind::Worker(_) | ClauseKind::Vector(_));
        let is_seq = |it: &ClauseKind<Typed>| matches!(it, ClauseKind::Seq);
        let start = self.around(id).find(|it| {
            let construct = &self.regions[*it].construct;
            construct.has(Leaf::Offload) || construct.has(Leaf::Kernels)
        });
        let Some(start) = start.map(|it| (it, &self.regions[it].construct)) else { return false };
        let shares =
            |it: RegionId| self.regions[it].construct.has(Leaf::Loop) && !names(it, is_seq);
        let mut around = self.around(id).skip(1).take_while(|it| *it != start.0);
        start.1.has(Leaf::Teams)
            && start.1.rules.redundant_teams
            && names(id, is_less)
            && !names(id, is_team)
            && !names(id, is_seq)
            && !around.any(shares)
            && (id == start.0 || !shares(start.0))
            && !self.inside(id).into_iter().any(|it| names(it, is_team))
    }

    /// Regions inside a region, in the order of the text.
    pub fn inside(&self, id: RegionId) -> Vec<RegionId> {
        let is_inside = |it: &RegionId| self.around(*it).skip(1).any(|it| it == id);
        let mut found: Vec<RegionId> =
            self.regions.iter().map(|it| it.0).filter(is_inside).collect();
        found.sort_by_key(|it| self.regions[*it].span.start);
        found
    }

    /// The parts of a part; nothing for a handle that is out of range.
    pub fn parts(&self, part: Part, each: &mut impl FnMut(Part)) {
        match part {
            Part::Expr(id) => {
                self.exprs.find(id).into_iter().for_each(|it| it.kind.parts(&self.types, each));
            }
            Part::Stmt(id) => self.stmts.find(id).into_iter().for_each(|it| it.kind.parts(each)),
            Part::Local(id) => {
                if let Some(var) = self.vars.find(id) {
                    lengths(&self.types, var.ty, each);
                    var.init.into_iter().for_each(|it| each(Part::Init(it)));
                }
            }
            Part::Init(id) => self.inits.find(id).into_iter().for_each(|it| it.parts(each)),
            Part::Region(id) => {
                let body = self.regions.find(id).and_then(|it| it.body);
                body.into_iter().for_each(|it| each(Part::Stmt(it)));
            }
        }
    }
}

impl Program {
    /// Whether there is such an expression somewhere within a part.
    pub fn any_expr(&self, within: Part, is_it: impl Fn(&ExprKind) -> bool) -> bool {
        let mut open = vec![within];
        while let Some(part) = open.pop() {
            if let Part::Expr(id) = part
                && self.exprs.find(id).is_some_and(|it| is_it(&it.kind))
            {
                return true;
            }
            self.parts(part, &mut |it| open.push(it));
        }
        false
    }
}

/// All regions in a statement.
pub fn regions_in(program: &Program, stmt: StmtId) -> Vec<RegionId> {
    let mut found = Vec::new();
    let mut open = vec![Part::Stmt(stmt)];
    while let Some(part) = open.pop() {
        if let Part::Region(id) = part {
            found.push(id);
        }
        program.parts(part, &mut |it| open.push(it));
    }
    found
}

fn lengths(types: &Types, ty: Ty, each: &mut impl FnMut(Part)) {
    types.lengths(ty).into_iter().for_each(|it| each(Part::Expr(it)));
}

impl Types {
    /// The lengths that are computed when a type is reached.
    pub fn lengths(&self, ty: Ty) -> Vec<ExprId> {
        let mut found = Vec::new();
        let mut ty = ty;
        loop {
            let shape = self.shape(ty);
            if let TypeKind::Array(element, len) = shape {
                if let ArrayLen::Variable(Some(len)) = len {
                    found.push(*len);
                }
                ty = *element;
            } else if let TypeKind::Pointer(to) = shape {
                ty = *to;
            } else {
                return found;
            }
        }
    }
}
