//! Calls of the runtime that is left, its header and its macro.
//!
//! A call that has a counterpart for its arguments becomes that. Our header says the others that concern devices in the words of the other runtime, under their old names;
//! those that concern threads of the host stay what they are. In device code threads do not know of
//! themselves: calls there are refused.

use directive::Rewritten;
use ir::construct::Leaf;
use ir::program::ExprKind;
use source::Span;

use super::super::api::Calls;
use super::super::place::Pen;
use super::super::spot::is_our_header;
use super::super::{Fate, Remark, Target};
use super::{Descriptive, NO_CALL, THREADS};

impl Descriptive<'_, '_> {
    pub(super) fn calls(&self, pen: &mut Pen<'_>) {
        let calls = Calls::of(self.program);
        let has_header = pen.includes(&[directive::HEADER_OF_LEVELS, directive::HEADER_OF_TEAMS]);
        for (at, expr) in self.program.exprs.iter() {
            let ExprKind::Function(id) = expr.kind else { continue };
            let name = self.program.names.text(self.program.functions[id].name);
            if directive::ENVIRONMENT_CALLS.contains(&name) {
                calls.environment(at, true, pen);
            }
            let takes_newest = self.t.profile().takes_newest;
            if directive::is_newest_level_call(name)
                && !takes_newest
                && !self.is_in_header(expr.span)
            {
                let text =
                    "the runtime of the compiler that will read it has no such call".to_owned();
                let remark =
                    Remark { fate: Fate::Refused, clause: None, code: Some(NO_CALL), text };
                pen.record(
                    Target::Directive(expr.span),
                    format!("{name}()"),
                    Vec::new(),
                    vec![remark],
                );
            }
            if !directive::is_thread_call(name) || self.is_in_header(expr.span) {
                continue;
            }
            let is_inside = self.is_device_place(expr.span);
            let counterpart = |arguments: &[directive::Argument<'_>]| {
                directive::call_for_levels(name, arguments, calls.is_used(at))
                    .filter(|_| has_header && (!is_inside || name == directive::IS_ON_HOST))
                    .filter(|it| match it {
                        Rewritten::Call { head, .. } => {
                            takes_newest || !directive::is_newest_level_call(head)
                        }
                        Rewritten::Nothing => true,
                    })
            };
            if calls.rewrite(at, name, counterpart, pen) {
                continue;
            }
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
        let (header, plain) = (directive::BACK_HEADER, directive::HEADER_OF_LEVELS);
        pen.exchange_headers(directive::preprocessor_changes_back, header, plain);
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
        let place = self.locator.locate(span);
        place.is_none_or(|it| it.in_system_header || is_our_header(&it.file))
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
