//! Writes a construct as the text of a directive, in the dialect it came from or another one.
//!
//! The rows that read a clause also write it. In its own dialect every construct has a text, and
//! reading that again gives an equal construct. In another dialect what means the same is written;
//! what has no spelling there is refused with the reason. Decisions about what to write instead are
//! not made here.

use std::fmt;

use ir::construct::{
    Args, Clause, ClauseKind, Construct, DeviceGroup, Dialect, Leaf, Phase, Spelled,
};

use crate::table::{ClauseRow, Heading, Standard};
use crate::{OPENACC, OPENARC, OPENMP, cross, openacc, openarc, openmp};

/// Why a construct has no text in a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable {
    /// What cannot be said, as the user spelt it.
    pub what: String,
    /// Why.
    pub why: String,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be written: {}", self.what, self.why)
    }
}

/// The tables of a dialect.
pub(crate) fn standard(dialect: Dialect) -> Option<&'static Standard> {
    match dialect {
        OPENMP => Some(&openmp::STANDARD),
        OPENACC => Some(&openacc::STANDARD),
        OPENARC => Some(&openarc::STANDARD),
        _ => None,
    }
}

/// The text after `#pragma `.
pub fn write(construct: &Construct<Spelled>, dialect: Dialect) -> Result<String, Unwritable> {
    let Some(standard) = standard(dialect) else {
        return Err(Unwritable {
            what: "directive".into(),
            why: "the dialect is not known".into(),
        });
    };
    let construct = cross::restate(construct, dialect)?;
    Ok(format!("{} {}", standard.sentinel, directive(&construct, standard)?))
}

/// A directive without its sentinel.
pub(crate) fn directive(
    construct: &Construct<Spelled>,
    standard: &Standard,
) -> Result<String, Unwritable> {
    let refuse = |why: String| Unwritable { what: directive_name(construct), why };
    let Some(heading) = standard.heading(&construct.leaves) else {
        return Err(refuse(format!("{} has no such directive", standard.name)));
    };
    let mut text = heading.name();
    match heading.rows.last().and_then(|it| it.args) {
        Some(row) => match (row.write)(&construct.args) {
            Some(args) => text.push_str(&args),
            None => return Err(refuse(format!("{} has no such argument", standard.name))),
        },
        None if construct.args == Args::None => {}
        None => return Err(refuse(format!("{} takes no argument there", standard.name))),
    }
    let allowed = heading.clauses(standard);
    // Clauses for every device stand before the first group.
    for clause in construct.clauses.iter().filter(|it| it.group.is_none()) {
        text.push(' ');
        text.push_str(&write_clause(clause, &heading, &allowed, standard)?);
    }
    for (at, group) in (0u16..).zip(&construct.groups) {
        text.push(' ');
        text.push_str(&write_group(group, &allowed, standard)?);
        for clause in construct.clauses.iter().filter(|it| it.group == Some(at)) {
            text.push(' ');
            text.push_str(&write_clause(clause, &heading, &allowed, standard)?);
        }
    }
    Ok(text)
}

/// The clause that opens a group.
fn write_group(
    group: &DeviceGroup<Spelled>,
    allowed: &[&'static ClauseRow],
    standard: &Standard,
) -> Result<String, Unwritable> {
    let kind = ClauseKind::DeviceTypes(group.types.clone());
    let opener = allowed.iter().filter(|it| it.opens_group);
    let written = opener.filter_map(|it| Some((it.word, (it.write)(&kind)?))).next();
    match written {
        Some((word, args)) => Ok(format!("{word}{args}")),
        None => Err(Unwritable {
            what: group.types.join(", "),
            why: format!("{} has no clauses for one type of device", standard.name),
        }),
    }
}

/// One clause, by the first row that can say it.
pub(crate) fn write_clause(
    clause: &Clause<Spelled>,
    heading: &Heading,
    allowed: &[&'static ClauseRow],
    standard: &Standard,
) -> Result<String, Unwritable> {
    if let ClauseKind::Extension(name, args) = &clause.kind {
        let args = args.as_ref().map(|it| format!("({})", it.join(", "))).unwrap_or_default();
        return Ok(format!("{name}{args}"));
    }
    let found = allowed
        .iter()
        .filter(|it| !it.opens_group)
        .find_map(|it| Some((it.word, (it.write)(&clause.kind)?)));
    let Some((word, mut args)) = found else {
        return Err(Unwritable {
            what: clause_name(&clause.kind, standard.dialect).unwrap_or("clause").to_owned(),
            why: format!("`{}` has no such clause in {}", heading.name(), standard.name),
        });
    };
    if let Some(switch) = &clause.switch {
        args = format!("({switch})");
    }
    let Some(on) = clause.on else { return Ok(format!("{word}{args}")) };
    let part = standard.directives.iter().find(|it| it.leaves == [on]);
    let inside = args.strip_prefix('(');
    let part = part.filter(|it| (standard.names_part)(word, it.name()));
    match (part, inside) {
        (Some(part), Some(inside)) => {
            let separator = if has_modifiers(inside) { ',' } else { ':' };
            Ok(format!("{word}({}{separator} {inside}", part.name()))
        }
        _ => Err(Unwritable {
            what: word.to_owned(),
            why: format!("{} cannot say for which part it is", standard.name),
        }),
    }
}

/// Whether a colon stands in the arguments outside of brackets, strings and `? :`.
fn has_modifiers(args: &str) -> bool {
    let (mut depth, mut questions) = (0usize, 0usize);
    let mut in_string = false;
    for letter in args.chars() {
        match letter {
            '"' => in_string = !in_string,
            _ if in_string => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '?' if depth == 0 => questions += 1,
            ':' if depth == 0 && questions == 0 => return true,
            ':' if depth == 0 => questions -= 1,
            _ => {}
        }
    }
    false
}

/// How the user would write the directive, without arguments and clauses: `target teams`.
pub fn directive_name<P: Phase>(construct: &Construct<P>) -> String {
    leaves_name(&construct.leaves, construct.dialect)
}

/// How a dialect calls a directive made of these leaves.
pub(crate) fn leaves_name(leaves: &[Leaf], dialect: Dialect) -> String {
    let heading = standard(dialect).and_then(|it| it.heading(leaves));
    heading.map_or_else(|| "directive".to_owned(), |it| it.name())
}

/// How a dialect calls a clause.
pub fn clause_name(kind: &ClauseKind<Spelled>, dialect: Dialect) -> Option<&'static str> {
    let clauses = standard(dialect)?.clauses;
    clauses.iter().find(|it| (it.write)(kind).is_some()).map(|it| it.word)
}
