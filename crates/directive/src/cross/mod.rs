//! Says a construct of one standard in the vocabulary of the other, where that has the same words.
//!
//! In: a construct as read from one dialect. Out: the construct that the direct counterpart in the
//! other dialect would be read as, ready for its writer; or [`Unwritable`] with the reason.
//! Only what is direct is said: whatever needs to know types, the code inside, or a device, is
//! refused. In particular the implicit rules of the two standards differ (see
//! [`ir::construct::Rules`]): who replaces a directive in a program must first make explicit what
//! was implied. That is translation, and not done here.

mod to_openacc;
mod to_openmp;

use ir::construct::{Args, Clause, ClauseKind, Construct, Dialect, Leaf, Spelled};

use crate::write::{Unwritable, clause_name, directive_name};
use crate::{OPENACC, OPENMP};

/// The construct in the vocabulary of `dialect`.
pub(crate) fn restate(
    construct: &Construct<Spelled>,
    dialect: Dialect,
) -> Result<Construct<Spelled>, Unwritable> {
    match (construct.dialect, dialect) {
        (from, to) if from == to => Ok(construct.clone()),
        (OPENACC, OPENMP) => to_openmp::restate(construct),
        (OPENMP, OPENACC) => to_openacc::restate(construct),
        _ => Err(no_directive(construct, "it is an extension of another dialect")),
    }
}

/// A directive without counterpart.
fn no_directive(construct: &Construct<Spelled>, why: impl Into<String>) -> Unwritable {
    Unwritable { what: directive_name(construct), why: why.into() }
}

/// A clause without counterpart.
fn no_clause(kind: &ClauseKind<Spelled>, from: Dialect, why: impl Into<String>) -> Unwritable {
    let what = clause_name(kind, from).unwrap_or("clause").to_owned();
    Unwritable { what, why: why.into() }
}

/// The counterpart under construction.
struct Restated<'c> {
    from: &'c Construct<Spelled>,
    to: Construct<Spelled>,
}

impl<'c> Restated<'c> {
    fn new(from: &'c Construct<Spelled>, dialect: Dialect, leaves: Vec<Leaf>) -> Restated<'c> {
        let to = Construct {
            dialect,
            leaves,
            args: Args::None,
            clauses: Vec::new(),
            groups: Vec::new(),
            rules: from.rules,
            span: from.span,
        };
        Restated { from, to }
    }

    /// Adds a clause for the whole directive.
    fn say(&mut self, kind: ClauseKind<Spelled>) {
        self.say_on(None, kind);
    }

    /// Adds a clause for one part.
    fn say_on(&mut self, on: Option<Leaf>, kind: ClauseKind<Spelled>) {
        self.to.clauses.push(Clause { kind, on, group: None, span: source::Span::NONE });
    }

    fn refuse(&self, kind: &ClauseKind<Spelled>, why: impl Into<String>) -> Result<(), Unwritable> {
        Err(no_clause(kind, self.from.dialect, why))
    }
}
