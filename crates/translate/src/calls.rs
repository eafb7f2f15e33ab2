//! Calls of the runtime of the standard that is left, its header and its macro.
//!
//! A call that has a counterpart for its arguments becomes that ([`super::api`]). Our header says the others in
//! the words of the other runtime, under their old names; so those calls, types and constants stay as they
//! are and the header that declared them is exchanged.

use ir::program::ExprKind;

use super::api::Calls;
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
        let calls = Calls::of(self.program);
        let has_header = pen.includes(&[directive::HEADER_OF_LEVELS, directive::HEADER_OF_TEAMS]);
        for (at, expr) in self.program.exprs.iter() {
            let ExprKind::Function(id) = expr.kind else { continue };
            let name = self.program.names.text(self.program.functions[id].name);
            if directive::ENVIRONMENT_CALLS.contains(&name) {
                calls.environment(at, false, pen);
            }
            // What has a body is our header's, of an earlier translation.
            let is_made = self.program.functions[id].body.is_some();
            if !directive::is_level_call(name) || is_made || pen.is_ours(expr.span) {
                continue;
            }
            let counterpart = |arguments: &[directive::Argument<'_>]| {
                let is_kept = directive::keeps(name).is_some_and(|it| self.has_call(it));
                let has_mapped = self.profile().has_mapped_pointer;
                directive::call_for_teams(name, arguments, has_mapped)
                    .filter(|_| has_header && !is_kept)
            };
            if calls.rewrite(at, name, counterpart, pen) {
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
        let (header, plain) = (directive::TRANSLATION_HEADER, directive::HEADER_OF_TEAMS);
        pen.exchange_headers(directive::preprocessor_changes, header, plain);
    }
}
