//! Calls of the runtime that is left, its header and its macro.
//!
//! Our header says those that concern devices in the words of the other runtime, under their old names;
//! those that concern threads of the host stay what they are. In device code threads do not know of
//! themselves: calls there are refused.

use ir::construct::Leaf;
use ir::program::ExprKind;
use source::Span;

use super::super::place::Pen;
use super::super::{Fate, Remark, Target};
use super::{Descriptive, NO_CALL, THREADS};

impl Descriptive<'_, '_> {
    pub(super) fn calls(&self, pen: &mut Pen<'_>) {
        for (_, expr) in self.program.exprs.iter() {
            let ExprKind::Function(id) = expr.kind else { continue };
            let name = self.program.names.text(self.program.functions[id].name);
            if !directive::is_thread_call(name) || self.is_in_header(expr.span) {
                continue;
            }
            let is_inside = self.is_device_place(expr.span);
            let (fate, code, text) = if is_inside && name != directive::IS_ON_HOST {
                (Fate::Refused, Some(THREADS), "threads of devices do not know of themselves")
            } else if directive::DEVICE_CALLS_WITHOUT.contains(&name) {
                (Fate::Refused, Some(NO_CALL), "the other runtime has no such call")
            } else if directive::DEVICE_CALLS.contains(&name) {
                (Fate::Translated, None, "by the header")
            } else {
                continue;
            };
            let remarks = vec![Remark { fate, clause: None, code, text: text.to_owned() }];
            pen.record(Target::Directive(expr.span), format!("{name}()"), Vec::new(), remarks);
        }
        pen.exchange_headers(directive::preprocessor_changes_back, directive::BACK_HEADER);
    }

    /// Where device code calls what only threads can answer.
    pub(super) fn refused_calls(&self) -> Vec<Span> {
        let mut found = Vec::new();
        for (_, expr) in self.program.exprs.iter() {
            let ExprKind::Function(id) = expr.kind else { continue };
            let name = self.program.names.text(self.program.functions[id].name);
            let is_refused = directive::is_thread_call(name) && name != directive::IS_ON_HOST;
            if is_refused && self.is_device_place(expr.span) {
                found.push(expr.span);
            }
        }
        found
    }

    fn is_in_header(&self, span: Span) -> bool {
        self.locator.locate(span).is_none_or(|it| it.in_system_header)
    }

    /// Whether a place is in device code.
    fn is_device_place(&self, span: Span) -> bool {
        let holds = |outer: Span| outer.start <= span.start && span.end <= outer.end;
        let in_function = self.on_device.iter().any(|it| {
            let body = self.program.functions[*it].body;
            body.is_some_and(|it| holds(self.program.stmts[it].span))
        });
        in_function
            || self.program.regions.iter().any(|(_, it)| {
                it.construct.has(Leaf::Offload)
                    && it.body.is_some_and(|it| holds(self.program.stmts[it].span))
            })
    }
}
