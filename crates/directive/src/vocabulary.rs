//! Everything a dialect can say, as text: for property tests and for those who list directives.

use ir::construct::Dialect;

use crate::write::standard;

/// One directive and what may stand on it.
#[derive(Clone, Debug)]
pub struct Phrase {
    /// Its words, after the sentinel.
    pub directive: String,
    /// Texts that may stand directly behind them; empty if nothing may.
    pub args: &'static [&'static str],
    /// The clauses it takes.
    pub clauses: Vec<Term>,
    /// Of each list at least one clause (by its place in `clauses`) must stand.
    pub required: Vec<Vec<usize>>,
}

/// One clause.
#[derive(Clone, Debug)]
pub struct Term {
    /// How it is written.
    pub word: &'static str,
    /// What may stand in its parentheses; `""` is without parentheses. `$e` is an expression, `$l`
    /// a list of variables and sections, `$v` a variable.
    pub samples: Vec<&'static str>,
    /// Clauses with the same text here exclude one another; nothing for those that may be repeated.
    pub counted_as: Option<&'static str>,
    /// Clauses behind it are for some types of devices.
    pub opens_group: bool,
    /// May stand there.
    pub per_device: bool,
}

/// Every directive of a dialect, combined ones included.
pub fn vocabulary(dialect: Dialect) -> Vec<Phrase> {
    let Some(standard) = standard(dialect) else { return Vec::new() };
    let phrase = |heading: crate::table::Heading| {
        let rows = heading.clauses(standard);
        let place = |row| rows.iter().position(|it| std::ptr::eq(*it, row));
        let required = heading.rows.iter().flat_map(|it| it.required);
        Phrase {
            directive: heading.name(),
            args: heading.rows.last().and_then(|it| it.args).map_or(&[], |it| it.samples),
            required: required
                .map(|any| any.iter().filter_map(|row| place(*row)).collect())
                .collect(),
            clauses: rows
                .iter()
                .map(|row| Term {
                    word: row.word,
                    opens_group: row.opens_group,
                    per_device: row.per_device,
                    samples: (row.samples)(),
                    counted_as: match row.often {
                        crate::table::Often::Any => None,
                        crate::table::Often::Once | crate::table::Often::OncePerPart => {
                            Some(row.word)
                        }
                        crate::table::Often::OneOf(name) => Some(name),
                    },
                })
                .collect(),
        }
    };
    standard.headings().into_iter().map(phrase).collect()
}
