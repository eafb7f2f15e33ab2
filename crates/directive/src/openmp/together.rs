//! `taskloop` with `ompx_coexecute`: a loop that host and devices run together.
//!
//! It is the construct `target teams distribute parallel for` with that clause. What no clause names is what it is to a task. Clauses about the size and
//! order of tasks say nothing of the loop's meaning and go; those that need tasks of their own are refused.

use ir::construct::{ClauseKind, Construct, Leaf, Phase};
use source::Diagnostic;

use super::rules;
use crate::{directive_name, messages};

const NEEDS: &str = "on `taskloop` it says something beside `ompx_coexecute` only";
const ALONE: &str = "it is a clause of `target`, and of `taskloop` as a directive of its own";
const APART: &str = "devices run no tasks of the host: it cannot stand beside `ompx_coexecute`";

/// Makes the construct of what was written; what is wrong with it. `was_asked`: the clause stands there, though it may be switched off.
pub fn settle<P: Phase>(construct: &mut Construct<P>, was_asked: bool) -> Vec<Diagnostic> {
    if !construct.has(Leaf::Taskloop) {
        return Vec::new();
    }
    let name = directive_name(construct);
    let is_shared = construct.kinds().any(|it| matches!(it, ClauseKind::Coexecute));
    let is_combined = construct.leaves.len() > 1;
    let fault = |kind: &ClauseKind<P>| {
        let (word, is_wrong, why) = match kind {
            ClauseKind::Map(_) => ("map", !was_asked, NEEDS),
            ClauseKind::DefaultMap(..) => ("defaultmap", !was_asked, NEEDS),
            ClauseKind::Device(..) => ("device", !was_asked, NEEDS),
            ClauseKind::Coexecute => ("ompx_coexecute", is_combined, ALONE),
            ClauseKind::Nogroup(_) => ("nogroup", is_shared, APART),
            ClauseKind::InReduction(_) => ("in_reduction", is_shared, APART),
            ClauseKind::Induction(_) => ("induction", is_shared, APART),
            ClauseKind::Threadset(_) => ("threadset", is_shared, APART),
            ClauseKind::Transparent(_) => ("transparent", is_shared, APART),
            ClauseKind::Replayable(_) => ("replayable", is_shared, APART),
            _ => return None,
        };
        is_wrong.then_some((word, why))
    };
    let faults = construct.clauses.iter().filter_map(|it| {
        let (word, why) = fault(&it.kind)?;
        Some(messages::clause_not_allowed(word, &name, &[], Some(why), it.span))
    });
    let faults: Vec<Diagnostic> = faults.collect();
    if !is_shared && was_asked {
        let why = "where the host alone is to run the loop, leave the clause away";
        let word = "ompx_coexecute(0)";
        return vec![messages::clause_not_allowed(word, &name, &[], Some(why), construct.span)];
    }
    if !is_shared || !faults.is_empty() {
        return faults;
    }
    construct.leaves =
        vec![Leaf::Offload, Leaf::Teams, Leaf::Distribute, Leaf::Parallel, Leaf::For];
    construct.clauses.retain(|it| !is_about_tasks(&it.kind));
    construct.clauses.iter_mut().for_each(|it| it.on = None);
    construct.rules = rules::rules(construct);
    construct.rules.copies_like_tasks = true;
    faults
}

/// Whether a clause says how tasks are made, and nothing of what they do.
fn is_about_tasks<P: Phase>(kind: &ClauseKind<P>) -> bool {
    matches!(
        kind,
        ClauseKind::Grainsize(..)
            | ClauseKind::NumTasks(..)
            | ClauseKind::Priority(_)
            | ClauseKind::Final(_)
            | ClauseKind::Mergeable(_)
            | ClauseKind::Untied(_)
    )
}
