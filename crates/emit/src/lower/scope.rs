//! Data that declarations in functions tie to a scope: on the device from the declaration until the scope
//! is left, by whichever way.
//!
//! In: a declaration in a function. Out: C text for its place: a call that begins the life of the data,
//! and a variable whose end, which the host's compiler sees to, ends it. Variables of a function that
//! outlive its calls stay on the device from the first call on.

use ir::construct::{ClauseKind, Construct, Leaf};
use ir::program::{Declaration, ExprId, Typed, VarStorage};

use super::entries;
use super::stub::{self, At};
use super::{Lowering, place};
use crate::c::{Out, Printer};

impl Lowering<'_> {
    /// What stands in the place of a declaration about data of a function; none if it is not one.
    pub(super) fn scope_data(
        &self,
        printer: &Printer<'_>,
        declaration: &Declaration,
    ) -> Option<String> {
        let function = declaration.within.filter(|_| declaration.construct.has(Leaf::Declare))?;
        let mut out = Out::placed(self.place);
        if self.is_device {
            return Some(out.into_text());
        }
        let construct = &declaration.construct;
        let at = self.at_construct(construct, None, function);
        for stays in [false, true] {
            let keeps = |it: &ExprId| self.stays(printer, *it) == Some(stays);
            self.scope(printer, &only(construct, keeps), stays, &at, &mut out);
        }
        Some(out.into_text())
    }

    fn scope(
        &self,
        printer: &Printer<'_>,
        construct: &Construct<Typed>,
        stays: bool,
        at: &At,
        out: &mut Out<'_>,
    ) {
        let entries = entries::of_scope(printer, &self.mappers, construct);
        if entries.list.is_empty() {
            return;
        }
        let number = {
            let mut state = self.state.borrow_mut();
            state.is_framed = true;
            state.fresh += 1;
            state.fresh
        };
        out.beside(construct.span);
        if !stays {
            out.line(&format!(
                "struct __ferry_scope __fg{number} __attribute__((cleanup(__ferry_leave))) = {{ 0 }};"
            ));
        }
        out.line("{");
        out.indented(|out| {
            self.location(out, at);
            let tables = self.tables(out, &entries, at, construct.span);
            let device = stub::device(printer, &construct.clauses, self.device_words());
            out.line(&match stays {
                true => self.data_call_text(abi::names::DATA_BEGIN, &device, &tables, at),
                false => self.scope_text(&format!("__fg{number}"), &device, &tables, at),
            });
        });
        out.line("}");
    }

    /// Whether the variable behind an item outlives the calls of its function; none if it is on the
    /// device by declaration.
    fn stays(&self, printer: &Printer<'_>, item: ExprId) -> Option<bool> {
        let var = &self.program.vars[place::of(printer, item).root?];
        match var.storage {
            _ if var.device.is_some() => None,
            VarStorage::LocalStatic(_) => Some(true),
            VarStorage::Param(_)
            | VarStorage::Local(_)
            | VarStorage::Global
            | VarStorage::Extern
            | VarStorage::Static => Some(false),
        }
    }
}

/// The construct with those items of its data clauses that `keeps` agrees to.
fn only(construct: &Construct<Typed>, keeps: impl Fn(&ExprId) -> bool) -> Construct<Typed> {
    let mut part = construct.clone();
    for clause in &mut part.clauses {
        if let ClauseKind::Map(ir::construct::Map { items, .. })
        | ClauseKind::DeviceResident(items) = &mut clause.kind
        {
            items.retain(&keeps);
        }
    }
    part
}
