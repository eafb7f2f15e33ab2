//! One thread at a time: atomic accesses and critical sections.
//!
//! Where the language has exchanges of all sizes, an atomic access is one, or a sum is the one
//! instruction that there is for it. Otherwise, and always for critical sections, the work is done
//! under one lock of the image; the lock is taken in a loop whose body does the work, so that threads
//! which run in step cannot wait for each other. Both ways must not meet at one variable: objects that are
//! too large to be exchanged are always locked, and if an access to a smaller one has a form that is not known, all are.

use ir::construct::{AtomicKind, ClauseKind, Leaf, MemoryOrder};
use ir::program::{BinaryOp, ExprId, ExprKind, RegionId, StepOp, StmtId, StmtKind};
use ir::types::FloatKind;

use crate::c::{Grid, Out, Printer};
use crate::lower::Lowering;

/// What an atomic statement does.
#[derive(Clone, Copy, Debug)]
struct Access {
    /// What is done to the object.
    change: Change,
    taken: Taken,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    /// `v = x`: the object.
    Read(ExprId),
    /// `x = value`
    Write(ExprId, ExprId),
    /// `x = x op value`; nothing for a value of 1.
    Update { object: ExprId, op: BinaryOp, value: Option<ExprId>, is_right: bool },
    /// `if (x op with) x = value`, or `if (with op x)`.
    Compare { object: ExprId, op: BinaryOp, with: ExprId, is_right: bool, value: ExprId },
}

/// A change that nobody looks at: it can be made to a copy that begins with what changes nothing, and that copy joined
/// with the object later.
pub(super) struct Blind {
    pub(super) object: ExprId,
    pub(super) join: Join,
    /// What the object is joined with.
    pub(super) operands: Vec<ExprId>,
}

/// How two values become one, in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    Add,
    Mul,
    And,
    Or,
    Xor,
    Min,
    Max,
}

/// Who takes something of an access.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    /// Takes the value before the change.
    before: Option<ExprId>,
    /// Takes the value after it.
    after: Option<ExprId>,
    /// Takes the value if a comparison does not hold.
    otherwise: Option<ExprId>,
    /// Takes whether a comparison holds.
    holds: Option<ExprId>,
}

impl Lowering<'_> {
    /// The body of a region, by one thread of the grid at a time.
    pub(super) fn locked(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let Some(body) = region.body else { return };
        out.beside(region.span);
        if region.construct.has(Leaf::Atomic)
            && self.exchanges()
            && let Some(access) = self.access(printer, id).filter(|it| self.fits(it))
        {
            // What others wrote before it is seen after it, if it is to order anything.
            let orders = region.construct.kinds().any(
                |it| matches!(it, ClauseKind::MemoryOrder(order) if *order != MemoryOrder::Relaxed),
            );
            let fence = orders.then_some("__threadfence();");
            out.line("{");
            fence.into_iter().for_each(|it| out.line(it));
            out.indented(|out| self.exchange(printer, access, out));
            fence.into_iter().for_each(|it| out.line(it));
            return out.line("}");
        }
        out.line("for (int __ferry_done = 0; !__ferry_done; )");
        out.line("if (__ferry_try())");
        out.line("{");
        out.indented(|out| {
            printer.stmt(body, out);
            out.leave();
            out.line("__ferry_give();");
            out.line("__ferry_done = 1;");
        });
        out.line("}");
    }

    /// What an atomic region changes without looking at it, if all such are exchanges.
    pub(super) fn blind(&self, printer: &Printer<'_>, id: RegionId) -> Option<Blind> {
        let access = self.access(printer, id).filter(|it| self.exchanges() && self.fits(it))?;
        let Taken { before: None, after: None, otherwise: None, holds: None } = access.taken else {
            return None;
        };
        match access.change {
            Change::Update { object, op, is_right, value } => {
                let join = match op {
                    BinaryOp::Add => Join::Add,
                    BinaryOp::Sub if !is_right => Join::Add,
                    BinaryOp::Mul => Join::Mul,
                    BinaryOp::BitAnd => Join::And,
                    BinaryOp::BitOr => Join::Or,
                    BinaryOp::BitXor => Join::Xor,
                    _ => return None,
                };
                // A sum is one instruction, or no better than others.
                let is_sum = value.is_none_or(|it| self.adds_alike(object, it));
                let is_fit = join != Join::Add || is_sum && !is_right;
                is_fit.then(|| Blind { object, join, operands: value.into_iter().collect() })
            }
            Change::Compare { object, op, with, is_right, value } => {
                let join = match (op, is_right) {
                    (BinaryOp::Lt, false) | (BinaryOp::Gt, true) => Join::Max,
                    (BinaryOp::Gt, false) | (BinaryOp::Lt, true) => Join::Min,
                    _ => return None,
                };
                // It is compared in its own type, with what it becomes.
                let ty = |it: ExprId| printer.type_name(self.program.exprs[it].ty.plain());
                let is_fit = printer.expr(with) == printer.expr(value) && ty(with) == ty(object);
                is_fit.then(|| Blind { object, join, operands: vec![with] })
            }
            Change::Read(_) | Change::Write(..) => None,
        }
    }

    /// Whether all atomic accesses of the program can be exchanges.
    pub(super) fn exchanges(&self) -> bool {
        let printer = self.printer(crate::c::Setting::Alone);
        let mut all = self.program.regions.iter().filter(|it| it.1.construct.has(Leaf::Atomic));
        self.grid.is_some_and(Grid::is_cpp)
            && all.all(|(id, _)| self.access(&printer, id).is_some())
    }

    /// Whether none of them takes the lock.
    pub(super) fn only_exchanges(&self) -> bool {
        let printer = self.printer(crate::c::Setting::Alone);
        let mut all = self.program.regions.iter().filter(|it| it.1.construct.has(Leaf::Atomic));
        self.exchanges()
            && all.all(|(id, _)| self.access(&printer, id).is_some_and(|it| self.fits(&it)))
    }

    /// What a statement does; nothing if it has another form.
    fn access(&self, printer: &Printer<'_>, id: RegionId) -> Option<Access> {
        let region = &self.program.regions[id];
        let kinds: Vec<AtomicKind> = region
            .construct
            .kinds()
            .filter_map(|it| if let ClauseKind::AtomicKind(kind) = it { Some(*kind) } else { None })
            .collect();
        let body = region.body?;
        let is_captured = kinds.contains(&AtomicKind::Capture);
        if kinds.contains(&AtomicKind::Compare) {
            return self.compared(printer, body);
        }
        if is_captured {
            return self.captured(printer, body);
        }
        if kinds.contains(&AtomicKind::Read) {
            let ExprKind::Assign(by, object) = self.kind(self.single(body)?) else { return None };
            let taken = Taken { before: Some(*by), ..Taken::default() };
            return Some(Access { change: Change::Read(self.peeled(*object)), taken });
        }
        let expr = self.single(body)?;
        let change = if kinds.contains(&AtomicKind::Write) {
            let ExprKind::Assign(object, value) = self.kind(expr) else { return None };
            Change::Write(*object, *value)
        } else {
            self.update(printer, expr)?
        };
        Some(Access { change, taken: Taken::default() })
    }

    /// Whether an object can be exchanged in one step.
    fn fits(&self, access: &Access) -> bool {
        let types = &self.program.types;
        let ty = self.program.exprs[object(access.change)].ty;
        let size = self.program.model.size_of(types, ty).unwrap_or(0);
        types.is_scalar(ty) && [1, 2, 4, 8].contains(&size)
    }

    /// Whether two expressions are the same object.
    fn is_same(&self, printer: &Printer<'_>, a: ExprId, b: ExprId) -> bool {
        printer.expr(self.peeled(a)) == printer.expr(self.peeled(b))
    }

    /// `v = x++`, `{ v = x; x += 1; }` and the like.
    fn captured(&self, printer: &Printer<'_>, body: StmtId) -> Option<Access> {
        if let Some(expr) = self.single(body) {
            let ExprKind::Assign(by, value) = self.kind(expr) else { return None };
            let value = self.peeled(*value);
            let is_old =
                matches!(self.kind(value), ExprKind::Step(StepOp::PostInc | StepOp::PostDec, _));
            return Some(Access {
                change: self.update(printer, value)?,
                taken: taken(*by, is_old),
            });
        }
        let StmtKind::Block(list) = &self.program.stmts[body].kind else { return None };
        let [first, second] = list.as_ref() else { return None };
        let change = |it| {
            self.update(printer, it).or_else(|| match self.kind(it) {
                ExprKind::Assign(object, value) => Some(Change::Write(*object, *value)),
                _ => None,
            })
        };
        for (taking, changing, is_old) in [(*first, *second, true), (*second, *first, false)] {
            if let Some(change) = self.single(changing).and_then(change)
                && let Some(by) = self.taker(printer, taking, object(change))
            {
                return Some(Access { change, taken: taken(by, is_old) });
            }
        }
        None
    }

    /// What takes the value of an object: which of two statements does so is told by what it names.
    fn taker(&self, printer: &Printer<'_>, stmt: StmtId, object: ExprId) -> Option<ExprId> {
        let ExprKind::Assign(by, value) = self.kind(self.single(stmt)?) else { return None };
        self.is_same(printer, *value, object).then_some(*by)
    }

    /// `if (x < e) x = e;`, `x = x == e ? d : x;` and the like, and what takes a value or the answer.
    fn compared(&self, printer: &Printer<'_>, body: StmtId) -> Option<Access> {
        if let Some(change) = self.comparison(printer, body) {
            return Some(Access { change, taken: Taken::default() });
        }
        if let Some(access) = self.comparison_or_else(printer, body) {
            return Some(access);
        }
        let StmtKind::Block(list) = &self.program.stmts[body].kind else { return None };
        let [first, second] = list.as_ref() else {
            let [only] = list.as_ref() else { return None };
            return self.compared(printer, *only);
        };
        for (taking, changing, is_old) in [(*first, *second, true), (*second, *first, false)] {
            if let Some(change) = self.comparison(printer, changing)
                && let Some(by) = self.taker(printer, taking, object(change))
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
        if !self.is_same(printer, condition, *holds) {
            return None;
        }
        let ExprKind::Assign(object, value) = self.kind(self.single(then)?) else { return None };
        let change = self.question(printer, *question, *object, *value)?;
        let otherwise = match other {
            Some(other) => Some(self.taker(printer, other, *object)?),
            None => None,
        };
        let taken = Taken { holds: Some(*holds), otherwise, ..Taken::default() };
        Some(Access { change, taken })
    }

    /// `if (x == e) x = d; else v = x;`
    fn comparison_or_else(&self, printer: &Printer<'_>, body: StmtId) -> Option<Access> {
        let StmtKind::If(condition, then, Some(other)) = self.program.stmts[body].kind else {
            return None;
        };
        let ExprKind::Assign(object, value) = self.kind(self.single(then)?) else { return None };
        let change = self.question(printer, condition, *object, *value)?;
        let otherwise = Some(self.taker(printer, other, *object)?);
        Some(Access { change, taken: Taken { otherwise, ..Taken::default() } })
    }

    /// `if (x < e) x = e;` or `x = x < e ? e : x;`
    fn comparison(&self, printer: &Printer<'_>, stmt: StmtId) -> Option<Change> {
        match &self.program.stmts[stmt].kind {
            StmtKind::Block(list) => match list.as_ref() {
                [only] => self.comparison(printer, *only),
                _ => None,
            },
            StmtKind::If(condition, then, None) => {
                let ExprKind::Assign(object, value) = self.kind(self.single(*then)?) else {
                    return None;
                };
                self.question(printer, *condition, *object, *value)
            }
            StmtKind::Expr(e) => {
                let ExprKind::Assign(object, chosen) = self.kind(*e) else { return None };
                let ExprKind::Conditional(condition, Some(value), kept) = self.kind(*chosen) else {
                    return None;
                };
                let is_kept = self.is_same(printer, *kept, *object);
                is_kept.then(|| self.question(printer, *condition, *object, *value)).flatten()
            }
            _ => None,
        }
    }

    /// A comparison with an object, which gets a value if it holds.
    fn question(
        &self,
        printer: &Printer<'_>,
        condition: ExprId,
        object: ExprId,
        value: ExprId,
    ) -> Option<Change> {
        let ExprKind::Binary(op, left, right) = self.kind(condition) else { return None };
        if !matches!(op, BinaryOp::Lt | BinaryOp::Gt | BinaryOp::Eq) {
            return None;
        }
        let (with, is_right) =
            match (self.is_same(printer, *left, object), self.is_same(printer, *right, object)) {
                (true, _) => (*right, false),
                (false, true) => (*left, true),
                (false, false) => return None,
            };
        Some(Change::Compare { object, op: *op, with, is_right, value })
    }

    fn update(&self, printer: &Printer<'_>, expr: ExprId) -> Option<Change> {
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
                let is_object = |it: ExprId| self.is_same(printer, it, *object);
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

    /// The access as one exchange.
    fn exchange(&self, printer: &Printer<'_>, access: Access, out: &mut Out<'_>) {
        let object = object(access.change);
        let ty = printer.type_name(self.program.exprs[object].ty.plain());
        let place = format!("&{}", printer.primary(object));
        let mut holds = String::new();
        let (done, after) = match access.change {
            Change::Read(_) => (format!("__ferry_read({place})"), None),
            Change::Write(_, value) => {
                let value = printer.primary(value);
                out.line(&format!("const {ty} __ferry_e = ({ty}){value};"));
                (format!("__ferry_change({place}, [=]({ty}) {{ return __ferry_e; }})"), None)
            }
            Change::Compare { op, with, is_right, value, .. } => {
                let (with, value) = (printer.primary(with), printer.primary(value));
                out.line(&format!("const auto __ferry_e = {with};"));
                out.line(&format!("const {ty} __ferry_d = ({ty}){value};"));
                let word = crate::c::operator(op);
                let question = |it: &str| match is_right {
                    true => format!("__ferry_e {word} {it}"),
                    false => format!("{it} {word} __ferry_e"),
                };
                holds = question("__ferry_was");
                let next = |it: &str| format!("{} ? __ferry_d : {it}", question(it));
                let done = format!(
                    "__ferry_change({place}, [=]({ty} __ferry_x) {{ return ({ty})({}); }})",
                    next("__ferry_x")
                );
                (done, Some(next("__ferry_was")))
            }
            Change::Update { op, value, is_right, .. } => {
                let value_text = value.map_or("1".to_owned(), |it| printer.primary(it));
                out.line(&format!("const auto __ferry_e = {value_text};"));
                let word = crate::c::operator(op);
                let next = |old: &str| match is_right {
                    true => format!("({ty})(__ferry_e {word} {old})"),
                    false => format!("({ty})({old} {word} __ferry_e)"),
                };
                let is_sum = !is_right && value.is_none_or(|it| self.adds_alike(object, it));
                let done = match op {
                    BinaryOp::Add if is_sum => format!("__ferry_add({place}, ({ty})__ferry_e)"),
                    BinaryOp::Sub if is_sum => {
                        format!("__ferry_add({place}, ({ty})-({ty})__ferry_e)")
                    }
                    _ => format!(
                        "__ferry_change({place}, [=]({ty} __ferry_x) {{ return {}; }})",
                        next("__ferry_x")
                    ),
                };
                (done, Some(next("__ferry_was")))
            }
        };
        let Taken { before, after: later, otherwise, holds: answer } = access.taken;
        if before.or(later).or(otherwise).or(answer).is_none() {
            return out.line(&format!("{done};"));
        }
        out.line(&format!("const {ty} __ferry_was = {done};"));
        if let Some(by) = before {
            out.line(&format!("{} = __ferry_was;", printer.expr(by)));
        }
        if let Some(by) = later {
            // What was written is what is there.
            let after = after.unwrap_or_else(|| "__ferry_e".to_owned());
            out.line(&format!("{} = {after};", printer.expr(by)));
        }
        if let Some(by) = answer {
            out.line(&format!("{} = {holds};", printer.expr(by)));
        }
        if let Some(by) = otherwise {
            out.line(&format!("if (!({holds})) {} = __ferry_was;", printer.expr(by)));
        }
    }

    /// Whether a value can be made of the object's type before it is added, with the same sum.
    fn adds_alike(&self, object: ExprId, value: ExprId) -> bool {
        let types = &self.program.types;
        let [object, value] = [object, value].map(|it| self.program.exprs[it].ty);
        let is_double =
            |ty| matches!(types.shape(ty), ir::types::TypeKind::Float(FloatKind::Double));
        match types.is_integer(object) {
            true => types.is_integer(value) && !types.is_bool(object),
            false => types.is_real_floating(object) && (is_double(object) || !is_double(value)),
        }
    }

    pub(super) fn kind(&self, expr: ExprId) -> &ExprKind {
        &self.program.exprs[self.peeled(expr)].kind
    }

    /// What is under conversions.
    pub(super) fn peeled(&self, expr: ExprId) -> ExprId {
        let mut expr = expr;
        while let ExprKind::Cast(_, inner) = self.program.exprs[expr].kind {
            expr = inner;
        }
        expr
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
}

fn object(change: Change) -> ExprId {
    match change {
        Change::Read(object)
        | Change::Write(object, _)
        | Change::Update { object, .. }
        | Change::Compare { object, .. } => object,
    }
}

/// What takes the value before a change, or the one after it.
fn taken(by: ExprId, is_old: bool) -> Taken {
    match is_old {
        true => Taken { before: Some(by), ..Taken::default() },
        false => Taken { after: Some(by), ..Taken::default() },
    }
}
