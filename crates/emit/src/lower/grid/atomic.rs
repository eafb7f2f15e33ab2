//! One thread at a time: atomic accesses and critical sections.
//!
//! Where the language has exchanges of all sizes, an atomic access is one, or a sum is the one
//! instruction that there is for it. Otherwise, and always for critical sections, the work is done
//! under one lock of the image; the lock is taken in a loop whose body does the work, so that threads
//! which run in step cannot wait for each other. Both ways must not meet at one variable: if one
//! access of a program needs the lock, all take it.

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
    /// The variable that takes its value.
    taken: Option<Taken>,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    /// `v = x`: the object.
    Read(ExprId),
    /// `x = value`
    Write(ExprId, ExprId),
    /// `x = x op value`; nothing for a value of 1.
    Update { object: ExprId, op: BinaryOp, value: Option<ExprId>, is_right: bool },
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    by: ExprId,
    /// The value before the change, not the one after it.
    is_old: bool,
}

impl Lowering<'_> {
    /// The body of a region, by one thread of the grid at a time.
    pub(super) fn locked(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let Some(body) = region.body else { return };
        out.beside(region.span);
        if region.construct.has(Leaf::Atomic)
            && self.exchanges()
            && let Some(access) = self.access(printer, id)
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

    /// What an atomic region updates without looking at it, and how, if all such are exchanges.
    pub(super) fn bare_update(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
    ) -> Option<(ExprId, BinaryOp)> {
        let access = self.access(printer, id).filter(|_| self.exchanges())?;
        match (access.change, access.taken) {
            (Change::Update { object, op, is_right: false, .. }, None) => Some((object, op)),
            _ => None,
        }
    }

    /// Whether all atomic accesses of the program can be exchanges.
    pub(super) fn exchanges(&self) -> bool {
        let printer = self.printer(crate::c::Setting::Alone);
        let mut all = self.program.regions.iter().filter(|it| it.1.construct.has(Leaf::Atomic));
        self.grid.is_some_and(Grid::is_cpp)
            && all.all(|(id, _)| self.access(&printer, id).is_some())
    }

    /// What a statement does; nothing if it has another form, or another size.
    fn access(&self, printer: &Printer<'_>, id: RegionId) -> Option<Access> {
        let region = &self.program.regions[id];
        let kinds: Vec<AtomicKind> = region
            .construct
            .kinds()
            .filter_map(|it| if let ClauseKind::AtomicKind(kind) = it { Some(*kind) } else { None })
            .collect();
        let body = region.body?;
        let access = if kinds.contains(&AtomicKind::Compare) {
            return None;
        } else if kinds.contains(&AtomicKind::Capture) {
            self.captured(printer, body)?
        } else if kinds.contains(&AtomicKind::Read) {
            let ExprKind::Assign(by, object) = self.kind(self.single(body)?) else { return None };
            let taken = Some(Taken { by: *by, is_old: true });
            Access { change: Change::Read(self.peeled(*object)), taken }
        } else if kinds.contains(&AtomicKind::Write) {
            let ExprKind::Assign(object, value) = self.kind(self.single(body)?) else {
                return None;
            };
            Access { change: Change::Write(*object, *value), taken: None }
        } else {
            Access { change: self.update(printer, self.single(body)?)?, taken: None }
        };
        let object = object(access.change);
        let types = &self.program.types;
        let ty = self.program.exprs[object].ty;
        let size = self.program.model.size_of(types, ty).ok()?;
        (types.is_scalar(ty) && [1, 2, 4, 8].contains(&size)).then_some(access)
    }

    /// `v = x++`, `{ v = x; x += 1; }` and the like.
    fn captured(&self, printer: &Printer<'_>, body: StmtId) -> Option<Access> {
        if let Some(expr) = self.single(body) {
            let ExprKind::Assign(by, value) = self.kind(expr) else { return None };
            let value = self.peeled(*value);
            let is_old =
                matches!(self.kind(value), ExprKind::Step(StepOp::PostInc | StepOp::PostDec, _));
            let taken = Some(Taken { by: *by, is_old });
            return Some(Access { change: self.update(printer, value)?, taken });
        }
        let StmtKind::Block(list) = &self.program.stmts[body].kind else { return None };
        let [first, second] = list.as_ref() else { return None };
        let (first, second) = (self.single(*first)?, self.single(*second)?);
        let change = |it| {
            self.update(printer, it).or_else(|| match self.kind(it) {
                ExprKind::Assign(object, value) => Some(Change::Write(*object, *value)),
                _ => None,
            })
        };
        // Which of the two takes the value is told by what it names.
        let takes = |it: ExprId, change: Change| match self.kind(it) {
            ExprKind::Assign(by, value) => {
                let names = |it| printer.expr(self.peeled(it));
                (names(*value) == names(object(change))).then_some(*by)
            }
            _ => None,
        };
        for (taking, changing, is_old) in [(first, second, true), (second, first, false)] {
            if let Some(change) = change(changing)
                && let Some(by) = takes(taking, change)
            {
                return Some(Access { change, taken: Some(Taken { by, is_old }) });
            }
        }
        None
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
                let is_object = |it: ExprId| printer.expr(self.peeled(it)) == printer.expr(*object);
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
        let (done, after) = match access.change {
            Change::Read(_) => (format!("__ferry_read({place})"), None),
            Change::Write(_, value) => {
                let value = printer.primary(value);
                out.line(&format!("const {ty} __ferry_e = ({ty}){value};"));
                (format!("__ferry_change({place}, [=]({ty}) {{ return __ferry_e; }})"), None)
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
        match access.taken {
            None => out.line(&format!("{done};")),
            Some(Taken { by, is_old }) => {
                let by = printer.expr(by);
                match (is_old, after) {
                    (false, Some(after)) => {
                        out.line(&format!("const {ty} __ferry_was = {done};"));
                        out.line(&format!("{by} = {after};"));
                    }
                    // What was written is what is there.
                    (false, None) => {
                        out.line(&format!("{done};"));
                        out.line(&format!("{by} = __ferry_e;"));
                    }
                    (true, _) => out.line(&format!("{by} = {done};")),
                }
            }
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
        Change::Read(object) | Change::Write(object, _) | Change::Update { object, .. } => object,
    }
}
