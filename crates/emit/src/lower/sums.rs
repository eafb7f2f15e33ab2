//! Reductions where one thread runs the whole construct: a copy that begins with the value that changes nothing, and is
//! combined with the variable itself when the construct is done.
//!
//! In: a construct with such clauses that no compiler of directives is told of. Out: lines that make the copies, a printer
//! that names them, and lines that combine them ([`Alone`]). Records are reduced member by member, arrays element by element.
//!
//! A variable that the construct does nothing with but combine values into it needs no copy ([`needs_copy`]).

use ir::construct::{
    Clause, ClauseKind, Construct, Reduction, ReductionModifier, ReductionOp, Spelled,
};
use ir::program::{ExprId, ExprKind, RegionId, Typed};
use ir::types::{ArrayLen, Ty, TypeKind};

use super::Lowering;
use super::levels::needs_copy;
use super::parts::{Kept, begin, combined};
use super::teams::release;
use crate::c::{Out, Printer};

/// What is done when the construct is.
#[derive(Debug, Default)]
pub(super) struct Alone {
    joins: Vec<String>,
    kept: Vec<Kept>,
}

impl Alone {
    /// Combines the copies with their originals.
    pub(super) fn join(&self, out: &mut Out<'_>) {
        self.joins.iter().for_each(|it| out.line(it));
        release(&self.kept, out);
    }
}

impl Lowering<'_> {
    /// What a construct reduces and needs copies of, where one thread runs all of it.
    pub(super) fn reduced_alone(&self, id: RegionId) -> Vec<(ExprId, ReductionOp<Typed>)> {
        let mut found = Vec::new();
        for kind in self.program.regions[id].construct.kinds() {
            let it = match kind {
                // Prefixes are made in place.
                ClauseKind::Reduction(it) if it.modifier == Some(ReductionModifier::Inscan) => {
                    continue;
                }
                ClauseKind::Reduction(it) => it,
                ClauseKind::InReduction(it) if self.grid.is_some() => it,
                _ => continue,
            };
            let is_needed = |item: &&ExprId| needs_copy(self.program, id, **item, &it.op);
            let items = it.items.iter().filter(is_needed);
            found.extend(items.map(|item| (*item, it.op.clone())));
        }
        found
    }

    /// The copies.
    pub(super) fn own_reduced(
        &self,
        outside: &Printer<'_>,
        inside: &mut Printer<'_>,
        id: RegionId,
        out: &mut Out<'_>,
    ) -> Alone {
        let mut made = Alone::default();
        for (item, op) in self.reduced_alone(id) {
            self.own_sum_of(outside, inside, id, (item, &op), &mut made, out);
        }
        made
    }

    fn own_sum_of(
        &self,
        outside: &Printer<'_>,
        inside: &mut Printer<'_>,
        id: RegionId,
        (item, op): (ExprId, &ReductionOp<Typed>),
        made: &mut Alone,
        out: &mut Out<'_>,
    ) {
        let program = self.program;
        let span = program.exprs[item].span;
        let whole = match program.exprs[item].kind {
            ExprKind::Var(var) if !program.types.is_pointer(program.vars[var].ty) => Some(var),
            _ => None,
        };
        if let Some(var) = whole
            && !self.is_known(op, program.vars[var].ty)
            && let Some((construct, declared)) = self.declared_reduction(id, op, var)
        {
            match self.user_sum(outside, inside, var, construct, declared, out) {
                Some(line) => made.joins.push(line),
                None => self.not_for_grid(span, "a reduction of the user's own"),
            }
            return;
        }
        if matches!(op, ReductionOp::User(_)) {
            return self.not_for_grid(span, "a reduction of the user's own");
        }
        let Some(var) = whole.filter(|it| !program.types.is_vla(program.vars[*it].ty)) else {
            if self.grid.is_some() && whole.is_some() {
                let what = "a reduction of an array whose length is computed";
                return self.not_for_grid(span, what);
            }
            let sum = self.own_part_sum(outside, inside, item, op, out);
            made.joins.push(self.joins_part(&sum));
            made.kept.push(sum.kept);
            return;
        };
        let ty = program.vars[var].ty.plain();
        let original = outside.var_name(var);
        let own = match self.is_on_stack(var) {
            true => self.new_on_stack(outside, var),
            false => {
                let name = format!("__ferry_own{}", self.fresh());
                self.declare_own(outside, var, &name, "", out)
            }
        };
        out.line(&self.begins(outside, &own, ty, op));
        // An array that is named by its first element has only one dimension left in the name.
        let original = match outside.is_decayed(var) {
            true => format!("(*__ref_{original})"),
            false => original,
        };
        made.joins.push(self.joins(outside, (&original, &own), ty, op));
        inside.substitute(var, own);
        inside.undecay(var);
    }

    /// Whether values of the type are combined by the operator itself, member by member.
    fn is_known(&self, op: &ReductionOp<Typed>, ty: Ty) -> bool {
        let types = &self.program.types;
        !matches!(op, ReductionOp::User(_)) && types.is_arithmetic(types.innermost_element(ty))
    }

    /// Gives an object the value that changes nothing.
    pub(super) fn begins(
        &self,
        printer: &Printer<'_>,
        place: &str,
        ty: Ty,
        op: &ReductionOp<Typed>,
    ) -> String {
        let types = &self.program.types;
        self.each_number(printer, (place, ""), ty, &|(place, _), ty| {
            let is_floating = !types.is_integer(ty);
            format!("{place} = {};", begin(op, &printer.type_name(ty.plain()), is_floating))
        })
    }

    /// Combines an object with another, and leaves the result in the first.
    pub(super) fn joins(
        &self,
        printer: &Printer<'_>,
        places: (&str, &str),
        ty: Ty,
        op: &ReductionOp<Typed>,
    ) -> String {
        self.each_number(printer, places, ty, &|(to, from), _| {
            format!("{to} = {};", combined(op, to, from))
        })
    }

    /// A statement for each number in two objects of a type.
    fn each_number(
        &self,
        printer: &Printer<'_>,
        (a, b): (&str, &str),
        ty: Ty,
        of_number: &dyn Fn((&str, &str), Ty) -> String,
    ) -> String {
        let types = &self.program.types;
        match types.shape(ty) {
            TypeKind::Array(element, ArrayLen::Known(count)) => {
                let at = format!("__ferry_at{}", self.fresh());
                let (a, b) = (format!("{a}[{at}]"), format!("{b}[{at}]"));
                let inner = self.each_number(printer, (&a, &b), *element, of_number);
                format!("for (unsigned long {at} = 0; {at} < {count}; {at}++) {{ {inner} }}")
            }
            TypeKind::Record(record) => {
                let Some(fields) = &types.records[*record].fields else { return String::new() };
                let mut lines = Vec::new();
                for (at, field) in fields.iter().enumerate() {
                    let name =
                        u32::try_from(at).ok().and_then(|it| printer.field_name(*record, it));
                    let lines_of =
                        |a: &str, b: &str| self.each_number(printer, (a, b), field.ty, of_number);
                    match name {
                        Some(name) => {
                            lines.push(lines_of(&format!("{a}.{name}"), &format!("{b}.{name}")));
                        }
                        // Its members are reached through the record around it.
                        None if types.is_record(field.ty) => lines.push(lines_of(a, b)),
                        // Bits without a name.
                        None => {}
                    }
                }
                lines.join(" ")
            }
            _ => of_number((a, b), ty),
        }
    }
}

/// Records, for compilers of directives that know no reductions of them: each is declared where it is needed.
impl Lowering<'_> {
    /// Declarations of what a construct reduces member by member.
    pub(super) fn record_sums(&self, printer: &Printer<'_>, id: RegionId) -> Vec<String> {
        let mut lines = Vec::new();
        for (clause, at, op, ty) in self.records_reduced(id) {
            let mut joins = Vec::new();
            let [to, from, ..] = directive::REDUCTION_VARIABLES;
            self.join_terms(printer, (to, from), ty, op, &mut joins);
            let first = self.first_value(printer, ty, op);
            lines.push(directive::declared_reduction(
                &record_sum(id, clause, at),
                &printer.type_name(ty),
                &joins.join(", "),
                &first,
            ));
        }
        lines
    }

    /// Takes such items out of the clauses of a directive, and says by which declaration they are reduced.
    pub(super) fn name_record_sums(&self, id: RegionId, spelled: &mut Construct<Spelled>) {
        let (mut added, mut taken) = (Vec::new(), Vec::new());
        for (clause, at, ..) in self.records_reduced(id) {
            let Some(it) = spelled.clauses.get(clause) else { continue };
            let ClauseKind::Reduction(sum) = &it.kind else { continue };
            let Some(item) = sum.items.get(at) else { continue };
            let op = ReductionOp::User(record_sum(id, clause, at));
            let (modifier, original) = (sum.modifier, sum.original);
            let kind = Reduction { modifier, original, op, items: vec![item.clone()] };
            added.push(Clause { kind: ClauseKind::Reduction(kind), ..it.clone() });
            taken.push((clause, at));
        }
        for (clause, at) in taken.into_iter().rev() {
            if let Some(it) = spelled.clauses.get_mut(clause)
                && let ClauseKind::Reduction(sum) = &mut it.kind
            {
                sum.items.remove(at);
            }
        }
        spelled
            .clauses
            .retain(|it| !matches!(&it.kind, ClauseKind::Reduction(sum) if sum.items.is_empty()));
        spelled.clauses.extend(added);
    }

    /// Items that are records: which clause names them, at which place, how they are reduced, and their type.
    fn records_reduced(&self, id: RegionId) -> Vec<(usize, usize, &ReductionOp<Typed>, Ty)> {
        let construct = &self.program.regions[id].construct;
        let types = &self.program.types;
        let mut found = Vec::new();
        for (clause, it) in construct.clauses.iter().enumerate() {
            let ClauseKind::Reduction(sum) = &it.kind else { continue };
            for (at, item) in sum.items.iter().enumerate() {
                let ty = types.innermost_element(self.program.exprs[*item].ty).plain();
                if construct.rules.member_sums && types.is_record(ty) {
                    found.push((clause, at, &sum.op, ty));
                }
            }
        }
        found
    }

    /// Expressions that combine an object with another.
    fn join_terms(
        &self,
        printer: &Printer<'_>,
        (a, b): (&str, &str),
        ty: Ty,
        op: &ReductionOp<Typed>,
        terms: &mut Vec<String>,
    ) {
        let types = &self.program.types;
        match types.shape(ty) {
            TypeKind::Array(element, ArrayLen::Known(count)) => {
                let number = types.resolve(types.innermost_element(ty)).plain();
                let is_plain = types.is_arithmetic(number)
                    && !matches!(types.shape(number), TypeKind::Enum(_));
                if is_plain {
                    let name = self.joins_numbers(&printer.type_name(number), op);
                    let count = format!("sizeof({a}) / sizeof({})", printer.type_name(number));
                    return terms.push(format!("{name}(&{a}, &{b}, {count})"));
                }
                for at in 0..*count {
                    let (a, b) = (format!("{a}[{at}]"), format!("{b}[{at}]"));
                    self.join_terms(printer, (&a, &b), *element, op, terms);
                }
            }
            TypeKind::Record(record) => {
                for (at, field) in types.records[*record].fields.iter().flatten().enumerate() {
                    let name =
                        u32::try_from(at).ok().and_then(|it| printer.field_name(*record, it));
                    match name {
                        Some(name) => {
                            let (a, b) = (format!("{a}.{name}"), format!("{b}.{name}"));
                            self.join_terms(printer, (&a, &b), field.ty, op, terms);
                        }
                        None if types.is_record(field.ty) => {
                            self.join_terms(printer, (a, b), field.ty, op, terms);
                        }
                        None => {}
                    }
                }
            }
            _ => terms.push(format!("{a} = {}", combined(op, a, b))),
        }
    }

    /// A function that combines numbers that lie one behind the other.
    fn joins_numbers(&self, ty: &str, op: &ReductionOp<Typed>) -> String {
        let joins = combined(op, "__to[__at]", "__from[__at]");
        let mut state = self.state.borrow_mut();
        let begin = format!(
            "(void *__a, const void *__b, unsigned long __n)\n{{ {ty} *__to = __a; const {ty} *__from = __b; \
             for (unsigned long __at = 0; __at < __n; __at++) __to[__at] = {joins}; }}\n"
        );
        let head = "static __attribute__((unused)) void ";
        let known = state.declarations.iter().find_map(|it| {
            it.strip_suffix(&begin).and_then(|it| it.strip_prefix(head)).map(str::to_owned)
        });
        known.unwrap_or_else(|| {
            let name = format!("__ferry_joins{}", state.declarations.len());
            state.declarations.push(format!("{head}{name}{begin}"));
            name
        })
    }

    /// The value that changes nothing, as what an object is initialised with.
    fn first_value(&self, printer: &Printer<'_>, ty: Ty, op: &ReductionOp<Typed>) -> String {
        let types = &self.program.types;
        match types.shape(ty) {
            TypeKind::Array(element, ArrayLen::Known(count)) => {
                let first = self.first_value(printer, *element, op);
                format!("{{ [0 ... {}] = {first} }}", count.saturating_sub(1))
            }
            TypeKind::Record(record) => {
                let mut members = Vec::new();
                for (at, field) in types.records[*record].fields.iter().flatten().enumerate() {
                    let name =
                        u32::try_from(at).ok().and_then(|it| printer.field_name(*record, it));
                    let value = || self.first_value(printer, field.ty, op);
                    match name {
                        Some(name) => members.push(format!(".{name} = {}", value())),
                        // Its members are named as if they were those of the record around it.
                        None if types.is_record(field.ty) => {
                            let value = value();
                            let inner =
                                value.strip_prefix("{ ").and_then(|it| it.strip_suffix(" }"));
                            members.extend(inner.map(str::to_owned));
                        }
                        None => {}
                    }
                }
                format!("{{ {} }}", members.join(", "))
            }
            _ => begin(op, &printer.type_name(ty.plain()), !types.is_integer(ty)),
        }
    }
}

/// The name by which a record is reduced.
fn record_sum(id: RegionId, clause: usize, at: usize) -> String {
    format!("__ferry_join{}_{clause}_{at}", id.index())
}
