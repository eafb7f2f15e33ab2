//! Directives by which the user stops or warns whoever compiles.

use ir::construct::{ClauseKind, Construct, ErrorSeverity, ErrorTime, Leaf};
use ir::program::{ExprId, ExprKind, Program, Typed};
use source::Diagnostics;

use crate::regions::messages;

pub(super) fn check(program: &Program, construct: &Construct<Typed>, faults: &mut Diagnostics) {
    if construct.leaves != [Leaf::Error] {
        return;
    }
    let is_later = |it: &ClauseKind<Typed>| matches!(it, ClauseKind::At(ErrorTime::Execution));
    if construct.kinds().any(is_later) {
        return;
    }
    let warns = |it: &ClauseKind<Typed>| matches!(it, ClauseKind::Severity(ErrorSeverity::Warning));
    let text = construct.kinds().find_map(|it| match it {
        ClauseKind::Message(text) => spelled(program, *text),
        _ => None,
    });
    let is_warning = construct.kinds().any(warns);
    faults.push(messages::asked_to_stop(construct, text.as_deref(), is_warning));
}

/// The text of a literal, as written.
fn spelled(program: &Program, text: ExprId) -> Option<String> {
    match &program.exprs[text].kind {
        ExprKind::Str(pieces) => {
            Some(pieces.iter().map(|it| program.names.text(*it).trim_matches('"')).collect())
        }
        ExprKind::Cast(_, inner) => spelled(program, *inner),
        _ => None,
    }
}
