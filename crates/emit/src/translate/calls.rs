//! Calls of the runtime of the standard that is left, its header and its macro.
//!
//! Our header says them in the words of the other runtime, under their old names; so calls, types and
//! constants stay as they are and the header that declared them is exchanged.

use ir::program::ExprKind;

use super::place::Pen;
use super::{Fate, Remark, Target, Translator, codes};

impl Translator<'_> {
    /// Whether the program calls a function of that runtime which the answer holds for.
    pub(super) fn has_call(&self, is_it: fn(&str) -> bool) -> bool {
        self.program.exprs.iter().any(|(_, it)| match it.kind {
            ExprKind::Function(id) => {
                is_it(self.program.names.text(self.program.functions[id].name))
            }
            _ => false,
        })
    }

    pub(super) fn calls(&self, pen: &mut Pen<'_>) {
        for (_, expr) in self.program.exprs.iter() {
            let ExprKind::Function(id) = expr.kind else { continue };
            let name = self.program.names.text(self.program.functions[id].name);
            if !directive::is_level_call(name) || pen.is_ours(expr.span) {
                continue;
            }
            let limit = directive::LEVEL_CALLS_LIMITED.iter().find(|it| it.0 == name);
            let (fate, code, text) = if directive::LEVEL_CALLS_WITHOUT.contains(&name) {
                (Fate::Refused, Some(codes::NO_CALL), "the other runtime has no such call")
            } else if let Some((_, limit)) = limit {
                (Fate::Approximated, Some(codes::KNOWS_LESS), *limit)
            } else {
                (Fate::Translated, None, "by the header")
            };
            let remarks = vec![Remark { fate, clause: None, code, text: text.to_owned() }];
            pen.record(Target::Directive(expr.span), format!("{name}()"), Vec::new(), remarks);
        }
        pen.exchange_headers(directive::preprocessor_changes, directive::TRANSLATION_HEADER);
    }
}
