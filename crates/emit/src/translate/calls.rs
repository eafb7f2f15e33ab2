//! Calls of the runtime of the standard that is left, its header and its macro.
//!
//! Our header says them in the words of the other runtime, under their old names; so calls, types and
//! constants stay as they are and the header that declared them is exchanged.

use std::sync::Arc;

use ir::program::ExprKind;
use source::Span;

use super::place::Pen;
use super::{Fate, Remark, Target, Translator, codes};

impl Translator<'_> {
    pub(super) fn calls(&self, pen: &mut Pen<'_>) {
        for (_, expr) in self.program.exprs.iter() {
            let ExprKind::Function(id) = expr.kind else { continue };
            let name = self.program.names.text(self.program.functions[id].name);
            if !directive::is_level_call(name) {
                continue;
            }
            let refused = directive::LEVEL_CALLS_WITHOUT.contains(&name);
            let (fate, code, text) = match refused {
                true => (Fate::Refused, Some(codes::NO_CALL), "the other runtime has no such call"),
                false => (Fate::Translated, None, "by the header"),
            };
            let remarks = vec![Remark { fate, clause: None, code, text: text.to_owned() }];
            pen.record(Target::Directive(expr.span), format!("{name}()"), Vec::new(), remarks);
        }
        for (file, text) in pen.files() {
            self.header_lines(&file, &text, pen);
        }
    }

    /// Exchanges the header, and lets what its standard's macro guards hold for the other standard.
    fn header_lines(&self, file: &Arc<str>, text: &[u8], pen: &mut Pen<'_>) {
        let mut start = 0usize;
        for line in text.split_inclusive(|it| *it == b'\n') {
            let words = String::from_utf8_lossy(line).into_owned();
            for (at, old, new) in directive::preprocessor_changes(&words) {
                let range = start + at..start + at + old.len();
                if new.contains(directive::TRANSLATION_HEADER) {
                    pen.includes_header();
                }
                pen.change(file, range, new.clone());
                let remarks = vec![Remark {
                    fate: Fate::Translated,
                    clause: None,
                    code: None,
                    text: "outside of directives".to_owned(),
                }];
                pen.record(Target::Directive(Span::NONE), old, vec![new], remarks);
            }
            start += line.len();
        }
    }
}
