//! What atomic constructs do to their object, and which changes nobody looks at.
//!
//! In: a construct and the statement in it. Out: an [`Access`], if the statement has one of the forms that the standards
//! name; [`Blind`], if it joins the object with a value and takes nothing of it: such changes can be made to a copy that
//! begins with what changes nothing, and the copy joined with the object later.

use ir::construct::{AtomicKind, ClauseKind, ReductionOp};
use ir::program::{BinaryOp, ExprId, ExprKind, Program, RegionId, StepOp, StmtId, StmtKind, Typed};
use ir::types::{FloatKind, TypeKind};

/// What an atomic statement does.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// What is done to the object.
    pub change: Change,
    /// What is taken of it.
    pub taken: Taken,
}

/// What is done to an object.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// `v = x`: the object.
    Read(ExprId),
    /// `x = value`
    Write(ExprId, ExprId),
    /// `x = x op value`; nothing for a value of 1.
    Update {
        /// `x`
        object: ExprId,
        /// The operator.
        op: BinaryOp,
        /// The other operand.
        value: Option<ExprId>,
        /// The object stands on the right of it.
        is_right: bool,
    },
    /// `if (x op with) x = value`, or `if (with op x)`.
    Compare {
        /// `x`
        object: ExprId,
        /// The comparison.
        op: BinaryOp,
        /// What it is compared with.
        with: ExprId,
        /// The object stands on the right of it.
        is_right: bool,
        /// What it becomes.
        value: ExprId,
    },
}

/// A change that nobody looks at.
#[derive(Clone, Debug)]
pub struct Blind {
    /// What is changed.
    pub object: ExprId,
    /// How it is joined with a value, in any order.
    pub op: ReductionOp<Typed>,
    /// What the object is joined with.
    pub operands: Vec<ExprId>,
}

/// Who takes something of an access.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    /// Takes the value before the change.
    pub before: Option<ExprId>,
    /// Takes the value after it.
    pub after: Option<ExprId>,
    /// Takes the value if a comparison does not hold.
    pub otherwise: Option<ExprId>,
    /// Takes whether a comparison holds.
    pub holds: Option<ExprId>,
}

/// Reads statements.
struct Reader<'p> {
    program: &'p Program,
}

/// What an atomic construct does; nothing if its statement has another form.
pub fn access(program: &Program, id: RegionId) -> Option<Access> {
    Reader { program }.access(id)
}

/// What devices do to an integer of four or eight bytes by one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Makes it the smaller of itself and a value.
    Min,
    /// The larger.
    Max,
    /// `x & value`
    And,
    /// `x | value`
    Or,
    /// `x ^ value`
    Xor,
    /// Makes it one value if it equals another.
    CompareAndSwap,
}

/// The instruction for a change, if there is one: sums are others' to look at ([`adds_alike`]).
pub fn instruction(program: &Program, change: &Change) -> Option<Instruction> {
    let types = &program.types;
    let ty = |it: ExprId| types.resolve(program.exprs[it].ty).plain();
    let object = change.object();
    let size = program.model.size_of(types, program.exprs[object].ty).ok();
    let is_whole = |it: ExprId| matches!(types.shape(program.exprs[it].ty), TypeKind::Int(_));
    if !matches!(size, Some(4 | 8)) || !is_whole(object) || types.is_bool(program.exprs[object].ty)
    {
        return None;
    }
    match *change {
        Change::Update { op, value: Some(value), .. } if is_whole(value) => match op {
            BinaryOp::BitAnd => Some(Instruction::And),
            BinaryOp::BitOr => Some(Instruction::Or),
            BinaryOp::BitXor => Some(Instruction::Xor),
            _ => None,
        },
        // It is compared in its own type.
        Change::Compare { op, with, is_right, value, .. } if ty(with) == ty(object) => {
            let is_same = program.is_alike(program.peeled(with), program.peeled(value));
            match (op, is_right) {
                (BinaryOp::Eq, _) => Some(Instruction::CompareAndSwap),
                (BinaryOp::Lt, false) | (BinaryOp::Gt, true) if is_same => Some(Instruction::Max),
                (BinaryOp::Gt, false) | (BinaryOp::Lt, true) if is_same => Some(Instruction::Min),
                _ => None,
            }
        }
        Change::Read(_) | Change::Write(..) | Change::Update { .. } | Change::Compare { .. } => {
            None
        }
    }
}

/// What an atomic construct changes without looking at it.
pub fn blind(program: &Program, id: RegionId) -> Option<Blind> {
    let access = access(program, id)?;
    let Taken { before: None, after: None, otherwise: None, holds: None } = access.taken else {
        return None;
    };
    match access.change {
        Change::Update { object, op, is_right, value } => {
            let op = match op {
                BinaryOp::Add => ReductionOp::Add,
                BinaryOp::Sub if !is_right => ReductionOp::Add,
                BinaryOp::Mul => ReductionOp::Mul,
                BinaryOp::BitAnd => ReductionOp::BitAnd,
                BinaryOp::BitOr => ReductionOp::BitOr,
                BinaryOp::BitXor => ReductionOp::BitXor,
                _ => return None,
            };
            // A sum is one instruction, or no better than others.
            let is_sum = value.is_none_or(|it| adds_alike(program, object, it));
            let is_fit = op != ReductionOp::Add || is_sum && !is_right;
            is_fit.then(|| Blind { object, op, operands: value.into_iter().collect() })
        }
        Change::Compare { object, op, with, is_right, value } => {
            let op = match (op, is_right) {
                (BinaryOp::Lt, false) | (BinaryOp::Gt, true) => ReductionOp::Max,
                (BinaryOp::Gt, false) | (BinaryOp::Lt, true) => ReductionOp::Min,
                _ => return None,
            };
            // It is compared in its own type, with what it becomes.
            let types = &program.types;
            let ty = |it: ExprId| types.resolve(program.exprs[it].ty).plain();
            let [a, b] = [with, value].map(|it| program.peeled(it));
            let is_fit = program.is_alike(a, b) && ty(with) == ty(object);
            is_fit.then(|| Blind { object, op, operands: vec![with] })
        }
        Change::Read(_) | Change::Write(..) => None,
    }
}

/// Whether a value can be made of the object's type before it is added, with the same sum.
pub fn adds_alike(program: &Program, object: ExprId, value: ExprId) -> bool {
    let types = &program.types;
    let [object, value] = [object, value].map(|it| program.exprs[it].ty);
    let is_double = |ty| matches!(types.shape(ty), TypeKind::Float(FloatKind::Double));
    match types.is_integer(object) {
        true => types.is_integer(value) && !types.is_bool(object),
        false => types.is_real_floating(object) && (is_double(object) || !is_double(value)),
    }
}

impl Reader<'_> {
    /// What a statement does; nothing if it has another form.
    fn access(&self, id: RegionId) -> Option<Access> {
        let region = &self.program.regions[id];
        let kinds: Vec<AtomicKind> = region
            .construct
            .kinds()
            .filter_map(|it| if let ClauseKind::AtomicKind(kind) = it { Some(*kind) } else { None })
            .collect();
        let body = region.body?;
        let is_captured = kinds.contains(&AtomicKind::Capture);
        if kinds.contains(&AtomicKind::Compare) {
            return self.compared(body);
        }
        if is_captured {
            return self.captured(body);
        }
        if kinds.contains(&AtomicKind::Read) {
            let ExprKind::Assign(by, object) = self.kind(self.single(body)?) else { return None };
            let taken = Taken { before: Some(*by), ..Taken::default() };
            return Some(Access { change: Change::Read(self.program.peeled(*object)), taken });
        }
        let expr = self.single(body)?;
        let change = if kinds.contains(&AtomicKind::Write) {
            let ExprKind::Assign(object, value) = self.kind(expr) else { return None };
            Change::Write(*object, *value)
        } else {
            self.update(expr)?
        };
        Some(Access { change, taken: Taken::default() })
    }

    /// `v = x++`, `{ v = x; x += 1; }` and the like.
    fn captured(&self, body: StmtId) -> Option<Access> {
        if let Some(expr) = self.single(body) {
            let ExprKind::Assign(by, value) = self.kind(expr) else { return None };
            let value = self.program.peeled(*value);
            let is_old =
                matches!(self.kind(value), ExprKind::Step(StepOp::PostInc | StepOp::PostDec, _));
            return Some(Access { change: self.update(value)?, taken: taken(*by, is_old) });
        }
        let StmtKind::Block(list) = &self.program.stmts[body].kind else { return None };
        let [first, second] = list.as_ref() else { return None };
        let change = |it| {
            self.update(it).or_else(|| match self.kind(it) {
                ExprKind::Assign(object, value) => Some(Change::Write(*object, *value)),
                _ => None,
            })
        };
        for (taking, changing, is_old) in [(*first, *second, true), (*second, *first, false)] {
            if let Some(change) = self.single(changing).and_then(change)
                && let Some(by) = self.taker(taking, change.object())
            {
                return Some(Access { change, taken: taken(by, is_old) });
            }
        }
        None
    }

    /// What takes the value of an object: which of two statements does so is told by what it names.
    fn taker(&self, stmt: StmtId, object: ExprId) -> Option<ExprId> {
        let ExprKind::Assign(by, value) = self.kind(self.single(stmt)?) else { return None };
        self.is_same(*value, object).then_some(*by)
    }

    /// `if (x < e) x = e;`, `x = x == e ? d : x;` and the like, and what takes a value or the answer.
    fn compared(&self, body: StmtId) -> Option<Access> {
        if let Some(change) = self.comparison(body) {
            return Some(Access { change, taken: Taken::default() });
        }
        if let Some(access) = self.comparison_or_else(body) {
            return Some(access);
        }
        let StmtKind::Block(list) = &self.program.stmts[body].kind else { return None };
        let [first, second] = list.as_ref() else {
            let [only] = list.as_ref() else { return None };
            return self.compared(*only);
        };
        for (taking, changing, is_old) in [(*first, *second, true), (*second, *first, false)] {
            if let Some(change) = self.comparison(changing)
                && let Some(by) = self.taker(taking, change.object())
            {
                return Some(Access { change, taken: taken(by, is_old) });
            }
        }
        // `r = x == e; if (r) x = d; else v = x;`
        let ExprKind::Assign(holds, question) = self.kind(self.single(*first)?) else {
            return None;
        };
        let StmtKind::If(condition, then, other) = self.program.stmts[*second].kind else {
            return None;
        };
        if !self.is_same(condition, *holds) {
            return None;
        }
        let ExprKind::Assign(object, value) = self.kind(self.single(then)?) else { return None };
        let change = self.question(*question, *object, *value)?;
        let otherwise = match other {
            Some(other) => Some(self.taker(other, *object)?),
            None => None,
        };
        let taken = Taken { holds: Some(*holds), otherwise, ..Taken::default() };
        Some(Access { change, taken })
    }

    /// `if (x == e) x = d; else v = x;`
    fn comparison_or_else(&self, body: StmtId) -> Option<Access> {
        let StmtKind::If(condition, then, Some(other)) = self.program.stmts[body].kind else {
            return None;
        };
        let ExprKind::Assign(object, value) = self.kind(self.single(then)?) else { return None };
        let change = self.question(condition, *object, *value)?;
        let otherwise = Some(self.taker(other, *object)?);
        Some(Access { change, taken: Taken { otherwise, ..Taken::default() } })
    }

    /// `if (x < e) x = e;` or `x = x < e ? e : x;`
    fn comparison(&self, stmt: StmtId) -> Option<Change> {
        match &self.program.stmts[stmt].kind {
            StmtKind::Block(list) => match list.as_ref() {
                [only] => self.comparison(*only),
                _ => None,
            },
            StmtKind::If(condition, then, None) => {
                let ExprKind::Assign(object, value) = self.kind(self.single(*then)?) else {
                    return None;
                };
                self.question(*condition, *object, *value)
            }
            StmtKind::Expr(e) => {
                let ExprKind::Assign(object, chosen) = self.kind(*e) else { return None };
                let ExprKind::Conditional(condition, Some(value), kept) = self.kind(*chosen) else {
                    return None;
                };
                let is_kept = self.is_same(*kept, *object);
                is_kept.then(|| self.question(*condition, *object, *value)).flatten()
            }
            _ => None,
        }
    }

    /// A comparison with an object, which gets a value if it holds.
    fn question(&self, condition: ExprId, object: ExprId, value: ExprId) -> Option<Change> {
        let ExprKind::Binary(op, left, right) = self.kind(condition) else { return None };
        if !matches!(op, BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Eq) {
            return None;
        }
        let (with, is_right) = match (self.is_same(*left, object), self.is_same(*right, object)) {
            (true, _) => (*right, false),
            (false, true) => (*left, true),
            (false, false) => return None,
        };
        Some(Change::Compare { object, op: *op, with, is_right, value })
    }

    fn update(&self, expr: ExprId) -> Option<Change> {
        match self.kind(expr) {
            ExprKind::Step(op, object) => {
                let op = match op {
                    StepOp::PreInc | StepOp::PostInc => BinaryOp::Add,
                    StepOp::PreDec | StepOp::PostDec => BinaryOp::Sub,
                };
                Some(Change::Update { object: *object, op, value: None, is_right: false })
            }
            ExprKind::AssignOp(op, object, value, _) => {
                let (object, value) = (*object, Some(*value));
                Some(Change::Update { object, op: *op, value, is_right: false })
            }
            ExprKind::Assign(object, value) => {
                let ExprKind::Binary(op, left, right) = self.kind(*value) else { return None };
                let is_object = |it: ExprId| self.is_same(it, *object);
                let (value, is_right) = match (is_object(*left), is_object(*right)) {
                    (true, _) => (*right, false),
                    (false, true) => (*left, true),
                    (false, false) => return None,
                };
                Some(Change::Update { object: *object, op: *op, value: Some(value), is_right })
            }
            _ => None,
        }
    }

    /// The one expression of a statement, braces around it or not.
    fn single(&self, body: StmtId) -> Option<ExprId> {
        match &self.program.stmts[body].kind {
            StmtKind::Expr(expr) => Some(*expr),
            StmtKind::Block(list) => match list.as_ref() {
                [only] => self.single(*only),
                _ => None,
            },
            _ => None,
        }
    }

    fn kind(&self, expr: ExprId) -> &ExprKind {
        &self.program.exprs[self.program.peeled(expr)].kind
    }

    /// Whether two expressions are the same object.
    fn is_same(&self, a: ExprId, b: ExprId) -> bool {
        let [a, b] = [a, b].map(|it| self.program.peeled(it));
        self.program.is_alike(a, b)
    }
}

impl Change {
    /// What is changed or read.
    pub fn object(self) -> ExprId {
        match self {
            Change::Read(object)
            | Change::Write(object, _)
            | Change::Update { object, .. }
            | Change::Compare { object, .. } => object,
        }
    }
}

/// What takes the value before a change, or the one after it.
fn taken(by: ExprId, is_old: bool) -> Taken {
    match is_old {
        true => Taken { before: Some(by), ..Taken::default() },
        false => Taken { after: Some(by), ..Taken::default() },
    }
}
