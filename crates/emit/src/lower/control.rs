//! Directives that prepare devices, let go of them, or set what is used by default: one call each.

use abi::control::{Action, UNSAID};
use ir::construct::{ClauseKind, Leaf};
use ir::program::RegionId;

use super::{Lowering, stub};
use crate::c::{Out, Printer};

impl Lowering<'_> {
    /// `__ferry_control(&place, action, "host,nvidia", number, queue);`
    pub(super) fn control(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let construct = &region.construct;
        let action = match construct.leaves.first() {
            Some(Leaf::Init) => Action::Init,
            Some(Leaf::Shutdown) => Action::Shutdown,
            _ => Action::Set,
        };
        if self.standalone {
            if action == Action::Set {
                self.not_standalone(region.span, "a choice of the device");
            }
            // A device is prepared when it is first used, and let go at the end.
            out.line(&format!("; /* {} */", self.quoted_directive(construct.span)));
            return;
        }
        self.state.borrow_mut().is_framed = true;
        let unsaid = || format!("(-{} - 1)", UNSAID.wrapping_add(1).unsigned_abs());
        let (mut types, mut number, mut queue) = ("0".to_owned(), unsaid(), unsaid());
        let mut condition = None;
        for kind in construct.kinds() {
            match kind {
                ClauseKind::DeviceTypes(list) => {
                    let list: Vec<&str> =
                        list.iter().map(|it| self.program.names.text(*it)).collect();
                    types =
                        stub::quoted(&if list.is_empty() { "*".into() } else { list.join(",") });
                }
                ClauseKind::DeviceNum(e) => number = printer.expr(*e),
                ClauseKind::DefaultAsync(e) => queue = printer.expr(*e),
                ClauseKind::If(e) => condition = Some(printer.expr(*e)),
                _ => {}
            }
        }
        out.beside(region.span);
        out.line("{");
        out.indented(|out| {
            stub::location(out, &self.at(id));
            let condition = condition.map_or_else(String::new, |it| format!("if ({it}) "));
            let name = abi::names::CONTROL;
            let action = action as i32;
            out.line(&format!("{condition}{name}(&__fi, {action}, {types}, {number}, {queue});"));
        });
        out.line("}");
    }
}
