//! One thread at a time: atomic accesses and critical sections.
//!
//! Where the language has exchanges of all sizes, an atomic access is one, or a sum is the one
//! instruction that there is for it. Otherwise, and always for critical sections, the work is done
//! under one lock of the image; the lock is taken in a loop whose body does the work, so that threads
//! which run in step cannot wait for each other. Both ways must not meet at one variable: objects that are
//! too large to be exchanged are always locked, and if an access to a smaller one has a form that is not known, all are.

use ir::construct::{ClauseKind, Leaf, MemoryOrder};
use ir::program::{BinaryOp, ExprId, ExprKind, RegionId};
use opt::atomic::{self, Access, Change, Instruction, Taken};

use crate::c::{Grid, Out, Printer};
use crate::lower::Lowering;

impl Lowering<'_> {
    /// The body of a region, by one thread of the grid at a time.
    pub(super) fn locked(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let Some(body) = region.body else { return };
        out.beside(region.span);
        if region.construct.has(Leaf::Atomic)
            && self.exchanges()
            && let Some(access) = atomic::access(self.program, id).filter(|it| self.fits(it))
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

    /// Whether all atomic accesses of the program can be exchanges.
    pub(super) fn exchanges(&self) -> bool {
        let mut all = self.program.regions.iter().filter(|it| it.1.construct.has(Leaf::Atomic));
        self.grid.is_some_and(Grid::is_cpp)
            && all.all(|(id, _)| atomic::access(self.program, id).is_some())
    }

    /// Whether none of them takes the lock.
    pub(super) fn only_exchanges(&self) -> bool {
        let mut all = self.program.regions.iter().filter(|it| it.1.construct.has(Leaf::Atomic));
        self.exchanges()
            && all.all(|(id, _)| atomic::access(self.program, id).is_some_and(|it| self.fits(&it)))
    }

    /// Whether an object can be exchanged in one step.
    fn fits(&self, access: &Access) -> bool {
        let types = &self.program.types;
        let ty = self.program.exprs[access.change.object()].ty;
        let size = self.program.model.size_of(types, ty).unwrap_or(0);
        types.is_scalar(ty) && [1, 2, 4, 8].contains(&size)
    }

    /// The access as one exchange.
    fn exchange(&self, printer: &Printer<'_>, access: Access, out: &mut Out<'_>) {
        let object = access.change.object();
        let single = atomic::instruction(self.program, &access.change).map(instruction);
        let Taken { before, after: later, otherwise, holds: answer } = access.taken;
        let is_blind = before.or(later).or(otherwise).or(answer).is_none();
        let ty = printer.type_name(self.program.exprs[object].ty.plain());
        let place = format!("&{}", printer.primary(object));
        let mut holds = String::new();
        let (done, after) = match access.change {
            Change::Read(_) => (format!("__ferry_read({place})"), None),
            Change::Write(_, value) => {
                let value = printer.primary(value);
                out.line(&format!("const {ty} __ferry_e = ({ty}){value};"));
                let done = match is_blind {
                    true => format!("__ferry_write({place}, ({ty})__ferry_e)"),
                    false => format!("__ferry_change({place}, [=]({ty}) {{ return __ferry_e; }})"),
                };
                (done, None)
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
                let done = match single {
                    Some(name) if op == BinaryOp::Eq => {
                        format!("{name}({place}, __ferry_e, __ferry_d)")
                    }
                    Some(name) => format!("{name}({place}, __ferry_d)"),
                    None => format!(
                        "__ferry_change({place}, [=]({ty} __ferry_x) {{ return ({ty})({}); }})",
                        next("__ferry_x")
                    ),
                };
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
                let is_sum = !is_right
                    && value.is_none_or(|it| atomic::adds_alike(self.program, object, it));
                let done = match op {
                    _ if let Some(name) = single => format!("{name}({place}, ({ty})__ferry_e)"),
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
        if is_blind {
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

    pub(super) fn kind(&self, expr: ExprId) -> &ExprKind {
        &self.program.exprs[self.peeled(expr)].kind
    }

    /// What is under conversions.
    pub(super) fn peeled(&self, expr: ExprId) -> ExprId {
        self.program.peeled(expr)
    }
}

/// What the text before a program calls an instruction.
fn instruction(it: Instruction) -> &'static str {
    match it {
        Instruction::Min => "__ferry_least",
        Instruction::Max => "__ferry_most",
        Instruction::And => "__ferry_and",
        Instruction::Or => "__ferry_or",
        Instruction::Xor => "__ferry_xor",
        Instruction::CompareAndSwap => "__ferry_swap",
    }
}
