//! Copies of what list items name where no directive of the host's compiler makes them: parts of
//! arrays, what pointers point to, and sums of teams that are counted.
//!
//! A copy lies in memory of its own, and the variable leads there: an array through its address, a
//! pointer by its value, both set so that the same subscripts find the copy.

use ir::construct::{ClauseKind, Construct, Leaf, ReductionOp, Spelled};
use ir::program::{ExprId, ExprKind, RegionId, Typed, VarId};
use ir::types::Ty;

use super::teams::release;
use super::unknown::lone;
use super::{Lowering, place};
use crate::c::{Out, Printer, Setting};

/// Memory that a copy was made in.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) memory: String,
}

/// A copy that is combined with the original.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    pub(super) kept: Kept,
    /// The original's elements, of the type of the copy's.
    original: String,
    count: String,
    op: ReductionOp<Typed>,
    ty: Ty,
}

/// The elements of an item.
struct Elements {
    /// The type of one that is not an array.
    ty: Ty,
    /// Address of the first.
    first: String,
    /// The same as a number, whatever memory it is in.
    at: String,
    bytes: String,
}

impl Lowering<'_> {
    /// Whether a clause for copies names a part of a variable, or what it points to.
    pub(super) fn names_part(&self, id: RegionId, var: VarId) -> bool {
        self.part_items(id).iter().any(|(item, _)| self.base(*item) == Some(var))
    }

    /// Items of clauses for copies that are more than a variable, and whether they have its values.
    pub(super) fn part_items(&self, id: RegionId) -> Vec<(ExprId, bool)> {
        let mut found = Vec::new();
        for kind in self.program.regions[id].construct.kinds() {
            let (items, is_copied) = match kind {
                ClauseKind::Private(items) => (items, false),
                ClauseKind::FirstPrivate { items, .. } => (items, true),
                _ => continue,
            };
            let is_part = |it: &&ExprId| !matches!(self.program.exprs[**it].kind, ExprKind::Var(_));
            found.extend(items.iter().filter(is_part).map(|it| (*it, is_copied)));
        }
        found
    }

    /// Takes items that are copied by hand out of the lists of a directive.
    pub(super) fn without_parts(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        construct: &mut Construct<Spelled>,
    ) {
        let texts: Vec<String> = self.part_items(id).iter().map(|it| printer.expr(it.0)).collect();
        construct.clauses.retain_mut(|it| match &mut it.kind {
            ClauseKind::Private(items) | ClauseKind::FirstPrivate { items, .. } => {
                items.retain(|it| !texts.contains(it));
                !items.is_empty()
            }
            _ => true,
        });
    }

    /// A construct that starts threads which have copies of parts of arrays: the threads, a block with
    /// the copies, and what deals iterations in it.
    pub(super) fn threads_with_parts(
        &self,
        printer: &Printer<'_>,
        id: RegionId,
        leaves: &[Leaf],
        out: &mut Out<'_>,
    ) {
        let region = &self.program.regions[id];
        let (first, rest) = leaves.split_at(1);
        let is_dealt = !rest.is_empty();
        let mut outer = self.fitted(printer, id, first);
        self.without_parts(printer, id, &mut outer);
        outer.clauses.retain(|it| !(is_dealt && matches!(it.kind, ClauseKind::Reduction(_))));
        let around = self.for_host(printer, id, &mut outer);
        out.beside(region.span);
        if let Some(pragma) = around.with(self.pragma(&outer)) {
            pragma.lines().for_each(|it| out.raw(it));
        }
        out.line("{");
        out.indented(|out| {
            let mut inside = printer.clone();
            let kept = self.own_parts(printer, &mut inside, id, out);
            if is_dealt {
                let mut inner = self.fitted(printer, id, rest);
                inner.clauses.retain(|it| {
                    let is_made =
                        matches!(it.kind, ClauseKind::Private(_) | ClauseKind::FirstPrivate { .. });
                    !is_made && it.on.is_none_or(|it| rest.contains(&it))
                });
                let around = self.for_host(&inside, id, &mut inner);
                around.put(self, &inside, id, self.pragma(&inner), out);
            } else if let Some(body) = region.body {
                inside.stmt(body, out);
            }
            out.leave();
            release(&kept, out);
        });
        out.line("}");
    }

    fn base(&self, item: ExprId) -> Option<VarId> {
        super::levels::base(self.program, item)
    }

    /// Copies of parts.
    pub(super) fn own_parts(
        &self,
        outside: &Printer<'_>,
        inside: &mut Printer<'_>,
        id: RegionId,
        out: &mut Out<'_>,
    ) -> Vec<Kept> {
        let mut kept = Vec::new();
        for (item, is_copied) in self.part_items(id) {
            let elements = self.elements(outside, item);
            let memory = self.own_memory(outside, inside, item, &elements, out);
            if is_copied {
                let Elements { first, bytes, .. } = &elements;
                out.line(&format!("__builtin_memcpy({memory}, {first}, {bytes});"));
            }
            kept.push(Kept { memory });
        }
        kept
    }

    /// Copies of what a region sums up, at the value where sums begin.
    pub(super) fn own_sums(
        &self,
        outside: &Printer<'_>,
        inside: &mut Printer<'_>,
        id: RegionId,
        out: &mut Out<'_>,
    ) -> Vec<Sum> {
        let mut sums = Vec::new();
        for kind in self.program.regions[id].construct.kinds() {
            let ClauseKind::Reduction(reduction) = kind else { continue };
            let items = reduction.items.iter();
            sums.extend(
                items.map(|it| self.own_part_sum(outside, inside, *it, &reduction.op, out)),
            );
        }
        sums
    }

    /// The copy of one item, at the value where sums begin.
    pub(super) fn own_part_sum(
        &self,
        outside: &Printer<'_>,
        inside: &mut Printer<'_>,
        item: ExprId,
        op: &ReductionOp<Typed>,
        out: &mut Out<'_>,
    ) -> Sum {
        let elements = self.elements(outside, item);
        let memory = self.own_memory(outside, inside, item, &elements, out);
        let Elements { ty, first, bytes, .. } = elements;
        let pointer = format!("({}{} *)", self.memory(), outside.type_name(ty));
        let count = format!("({bytes}) / sizeof({})", outside.type_name(ty));
        let at = format!("__ferry_at{}", self.fresh());
        let begins = self.begins(outside, &format!("({pointer}{memory})[{at}]"), ty, op);
        out.line(&format!("for (unsigned long {at} = 0; {at} < {count}; {at}++) {{ {begins} }}"));
        let kept = Kept { memory: format!("{pointer}{memory}") };
        Sum { kept, original: format!("{pointer}{first}"), count, op: op.clone(), ty }
    }

    /// Combines one copy with its original.
    pub(super) fn joins_part(&self, sum: &Sum) -> String {
        let at = format!("__ferry_at{}", self.fresh());
        let (a, b) = (format!("({})[{at}]", sum.original), format!("({})[{at}]", sum.kept.memory));
        let joins = self.joins(&self.printer(Setting::Alone), (&a, &b), sum.ty, &sum.op);
        format!("for (unsigned long {at} = 0; {at} < {}; {at}++) {{ {joins} }}", sum.count)
    }

    /// Adds copies to their originals, one team at a time.
    pub(super) fn combine(&self, id: RegionId, sums: &[Sum], out: &mut Out<'_>) {
        if sums.is_empty() {
            return;
        }
        let mut critical = lone(Leaf::Critical, Vec::new(), self.program.regions[id].span);
        critical.args = ir::construct::Args::<Spelled>::Name("__ferry_combine".to_owned());
        if let Some(pragma) = self.pragma(&critical) {
            out.raw(&pragma);
        }
        out.line("{");
        out.indented(|out| {
            sums.iter().for_each(|it| out.line(&self.joins_part(it)));
        });
        out.line("}");
    }

    fn elements(&self, printer: &Printer<'_>, item: ExprId) -> Elements {
        let types = &self.program.types;
        let of = |ty| types.innermost_element(ty);
        let bytes = format!("{}void *", self.memory());
        if let ExprKind::Var(var) = self.program.exprs[item].kind {
            let ty = of(self.program.vars[var].ty);
            let name = printer.var_name(var);
            let (at, size) = match printer.is_decayed(var) {
                true => (name.clone(), format!("sizeof(*__ref_{name})")),
                false => (format!("&{name}"), format!("sizeof({name})")),
            };
            return Elements {
                ty: ty.plain(),
                first: format!("({bytes}){at}"),
                at: format!("(__ferry_word){at}"),
                bytes: size,
            };
        }
        let place = place::of(printer, item);
        let ty = of(place.ty);
        Elements {
            ty: ty.plain(),
            first: format!("({bytes})&{}", place.first),
            at: format!("(__ferry_word)&{}", place.first),
            bytes: place.bytes(),
        }
    }

    /// Memory for the copy of an item, which its variable then leads to.
    fn own_memory(
        &self,
        outside: &Printer<'_>,
        inside: &mut Printer<'_>,
        item: ExprId,
        elements: &Elements,
        out: &mut Out<'_>,
    ) -> String {
        let number = self.fresh();
        let memory = format!("__ferry_part{number}");
        let word = self.memory();
        out.line(&format!("{word}void *{memory} = __builtin_malloc({} + 1);", elements.bytes));
        let Some(var) = self.base(item) else { return memory };
        let name = outside.var_name(var);
        let is_pointer =
            self.program.types.is_pointer(self.program.vars[var].ty) || outside.is_decayed(var);
        let own = format!("__ferry_own{number}");
        let is_whole = matches!(self.program.exprs[item].kind, ExprKind::Var(_));
        // How far the item lies behind the start of what its variable leads to.
        let shift = |start: &str, at: &str| match is_whole {
            true => memory.clone(),
            false => format!("({word}char *){memory} - ({at} - (__ferry_word){start})"),
        };
        if is_pointer {
            // Where a pointer of no value leads to says that as well as any.
            let ty = self.program.vars[var].ty;
            let declared = match self.memory().is_empty() || !self.program.types.is_pointer(ty) {
                true => format!("__typeof__({name}) {own}"),
                false => outside.declare(ty.plain(), &own),
            };
            out.line(&format!("{declared} = 0;"));
            inside.substitute(var, own.clone());
            let at = if is_whole { String::new() } else { self.elements(inside, item).at };
            out.line(&format!("{own} = (__typeof__({own}))({});", shift(&own, &at)));
        } else {
            let shifted = shift(&format!("&{name}"), &elements.at);
            let ty = match self.memory().is_empty() {
                true => format!("__typeof__({name}) *"),
                false => outside.declare_pointer(self.program.vars[var].ty, ""),
            };
            let declared = match self.memory().is_empty() {
                true => format!("{ty}{own}"),
                false => outside.declare_pointer(self.program.vars[var].ty, &own),
            };
            out.line(&format!("{declared} = ({ty})({shifted});"));
            inside.substitute(var, format!("(*{own})"));
        }
        memory
    }
}

/// Where a reduction begins: the value that changes nothing.
pub(super) fn begin(op: &ReductionOp<Typed>, ty: &str, is_floating: bool) -> String {
    let is_unsigned = format!("({ty})-1 > ({ty})0");
    let high_bit = format!("((__ferry_u64)1 << (sizeof({ty}) * 8 - 1))");
    match op {
        ReductionOp::Mul | ReductionOp::And => "1".to_owned(),
        ReductionOp::BitAnd => format!("({ty})-1"),
        ReductionOp::Min if is_floating => "__builtin_inf()".to_owned(),
        ReductionOp::Max if is_floating => "-__builtin_inf()".to_owned(),
        ReductionOp::Min => format!("({is_unsigned} ? ({ty})-1 : ({ty})({high_bit} - 1))"),
        ReductionOp::Max => format!("({is_unsigned} ? ({ty})0 : ({ty}){high_bit})"),
        ReductionOp::Add
        | ReductionOp::Sub
        | ReductionOp::BitOr
        | ReductionOp::BitXor
        | ReductionOp::Or
        | ReductionOp::User(_) => "0".to_owned(),
    }
}

pub(super) fn combined(op: &ReductionOp<Typed>, a: &str, b: &str) -> String {
    let operator = match op {
        ReductionOp::Add | ReductionOp::Sub | ReductionOp::User(_) => "+",
        ReductionOp::Mul => "*",
        ReductionOp::BitAnd => "&",
        ReductionOp::BitOr => "|",
        ReductionOp::BitXor => "^",
        ReductionOp::And => "&&",
        ReductionOp::Or => "||",
        ReductionOp::Min => return format!("{b} < {a} ? {b} : {a}"),
        ReductionOp::Max => return format!("{b} > {a} ? {b} : {a}"),
    };
    format!("{a} {operator} {b}")
}
