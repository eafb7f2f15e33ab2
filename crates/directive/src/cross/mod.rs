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

use crate::write::{Unwritable, clause_name, directive_name, standard};
use crate::{OPENACC, OPENMP};

/// The construct in the vocabulary of `dialect`.
pub(crate) fn restate(
    construct: &Construct<Spelled>,
    dialect: Dialect,
) -> Result<Construct<Spelled>, Unwritable> {
    let restated = match (construct.dialect, dialect) {
        (from, to) if from == to => return Ok(construct.clone()),
        (OPENACC, OPENMP) => to_openmp::restate(construct)?,
        (OPENMP, OPENACC) => to_openacc::restate(&switched(construct)?)?,
        _ => return Err(no_directive(construct, "it is an extension of another dialect")),
    };
    complete(construct, &restated)?;
    Ok(restated)
}

/// The construct with its switches set: what is on stands there plainly, what is off not at all.
fn switched(construct: &Construct<Spelled>) -> Result<Construct<Spelled>, Unwritable> {
    let mut set = construct.clone();
    set.clauses.clear();
    for clause in &construct.clauses {
        match clause.switch.as_deref() {
            None | Some("1") => set.clauses.push(Clause { switch: None, ..clause.clone() }),
            Some("0") => {}
            Some(other) => {
                let why = format!("whether it holds is not known from `{other}`");
                return Err(no_clause(&clause.kind, construct.dialect, why));
            }
        }
    }
    Ok(set)
}

/// Refuses a directive that lacks a clause it must have in its new dialect.
fn complete(from: &Construct<Spelled>, to: &Construct<Spelled>) -> Result<(), Unwritable> {
    let Some(standard) = standard(to.dialect) else { return Ok(()) };
    let rows = standard.heading(&to.leaves).map(|it| it.rows).unwrap_or_default();
    for needed in rows.iter().flat_map(|it| it.required) {
        let is_one =
            |kind: &ClauseKind<Spelled>| needed.iter().any(|it| (it.write)(kind).is_some());
        if !to.kinds().any(is_one) {
            let name = directive_name(to);
            let why =
                format!("{} needs a clause on `{name}` that is not given here", standard.name);
            return Err(no_directive(from, why));
        }
    }
    Ok(())
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
        let span = source::Span::NONE;
        self.to.clauses.push(Clause { kind, on, group: None, switch: None, span });
    }

    fn refuse(&self, kind: &ClauseKind<Spelled>, why: impl Into<String>) -> Result<(), Unwritable> {
        Err(no_clause(kind, self.from.dialect, why))
    }
}
