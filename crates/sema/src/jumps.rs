//! Jumps past the declaration of an array of variable length.
//!
//! Such a declaration computes a size when it is reached; to come into its scope in another way is
//! refused. The declarations in scope at a place are a chain, innermost first: a jump is fine if
//! the chain at its target is a part of the chain at its start. The scopes keep the chain's head.

use ir::program::LabelId;
use rustc_hash::FxHashMap;
use source::Span;

use crate::Cx;
use crate::messages;

/// A declaration of variable size, by its place in [`Jumps`].
pub(crate) type Sized = u32;

/// What a function's jumps and labels have in scope.
#[derive(Debug, Default)]
pub(crate) struct Jumps {
    /// Each declaration of variable size, with the one before it in scope.
    declared: Vec<(Option<Sized>, Span)>,
    labels: FxHashMap<LabelId, Option<Sized>>,
    gotos: Vec<(LabelId, Option<Sized>, Span)>,
}

impl Jumps {
    /// The declaration that is in scope at `to` but not at `from`.
    fn entered(&self, from: Option<Sized>, to: Option<Sized>) -> Option<Span> {
        let wanted = to?;
        let mut at = from;
        while let Some(here) = at {
            if here == wanted {
                return None;
            }
            at = self.declared.get(here as usize)?.0;
        }
        self.declared.get(wanted as usize).map(|it| it.1)
    }
}

impl Cx<'_> {
    /// A declaration of variable size comes into scope.
    pub(crate) fn note_variable_size(&mut self, span: Span) {
        let Some(body) = &mut self.function else { return };
        let declared = &mut body.jumps.declared;
        let next = declared.len() as Sized;
        declared.push((self.scopes.sized(), span));
        self.scopes.set_sized(next);
    }

    pub(crate) fn note_label(&mut self, label: LabelId) {
        let at = self.scopes.sized();
        if let Some(body) = &mut self.function {
            body.jumps.labels.insert(label, at);
        }
    }

    pub(crate) fn note_goto(&mut self, label: LabelId, span: Span) {
        let at = self.scopes.sized();
        if let Some(body) = &mut self.function {
            body.jumps.gotos.push((label, at, span));
        }
    }

    /// A `case` or `default` here, of a `switch` that had `from` in scope.
    pub(crate) fn check_case_jump(&mut self, from: Option<Sized>, span: Span) {
        let at = self.scopes.sized();
        let entered = self.function.as_ref().and_then(|it| it.jumps.entered(from, at));
        if let Some(declared) = entered {
            self.report(messages::jump_into_scope("`switch` jumps", span, declared));
        }
    }

    /// At the end of a function, when all labels are known.
    pub(crate) fn check_jumps(&mut self) {
        let Some(body) = &mut self.function else { return };
        let jumps = std::mem::take(&mut body.jumps);
        for (label, from, span) in &jumps.gotos {
            let to = jumps.labels.get(label).copied().flatten();
            if let Some(declared) = jumps.entered(*from, to) {
                self.report(messages::jump_into_scope("`goto` jumps", *span, declared));
            }
        }
    }
}
