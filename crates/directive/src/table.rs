//! What a standard is made of: rows of directives and rows of clauses.
//!
//! A directive row says how it is spelt, which leaves it stands for, what it does to the text
//! around it and which clauses it takes; a clause row says how it is spelt, how often it may stand,
//! and how it is read and written. Combined directives are sequences of rows. One more directive
//! or clause is one more row: reader, writer, suggestions and the property tests all walk these.

use ir::construct::{Args, ClauseKind, Construct, Dialect, Leaf, Rules, Spelled};
use syntax::pragma::Shape;

use crate::Written;
use crate::cursor::{Read, Reader};

/// One standard.
pub(crate) struct Standard {
    pub(crate) dialect: Dialect,
    /// How messages call it.
    pub(crate) name: &'static str,
    /// The word after `#pragma`.
    pub(crate) sentinel: &'static str,
    pub(crate) directives: &'static [&'static DirectiveRow],
    pub(crate) clauses: &'static [&'static ClauseRow],
    /// `target_data` is `target data`.
    pub(crate) underscores_join: bool,
    /// Whether a clause may begin with this word as the name of the part it is for:
    /// `if(parallel: …)`.
    pub(crate) names_part: fn(clause: &str, word: &str) -> bool,
    /// Words that begin so are clauses of extensions, kept by name.
    pub(crate) extension_prefix: Option<&'static str>,
    /// Why a clause that one of its parts takes may not stand on a combined directive.
    pub(crate) forbids: fn(&[&'static DirectiveRow], &'static ClauseRow) -> Option<&'static str>,
    /// The implicit rules of a construct.
    pub(crate) rules: fn(&Construct<Written>) -> Rules,
}

/// One directive, or one part of combined directives.
pub(crate) struct DirectiveRow {
    /// Its spellings, the present one first; words are separated by single spaces.
    pub(crate) words: &'static [&'static str],
    pub(crate) leaves: &'static [Leaf],
    pub(crate) shape: ShapeRule,
    pub(crate) args: Option<ArgsRow>,
    /// The clauses it takes, as lists that rows share.
    pub(crate) clauses: &'static [&'static [&'static ClauseRow]],
    /// Of each list at least one must stand.
    pub(crate) required: &'static [&'static [&'static ClauseRow]],
    /// What is required is often left out, and everybody knows what is meant: a warning will do.
    pub(crate) forgives: bool,
    /// First leaves of the parts that may follow it in a combined directive.
    pub(crate) then: &'static [Leaf],
    /// Where rows share a spelling: this one is meant if one of these words follows.
    pub(crate) if_followed_by: &'static [&'static str],
}

/// What most rows are like; to be filled up with `..DIRECTIVE`.
pub(crate) const DIRECTIVE: DirectiveRow = DirectiveRow {
    words: &[],
    leaves: &[],
    shape: ShapeRule::Is(Shape::Prefix),
    args: None,
    clauses: &[],
    required: &[],
    forgives: false,
    then: &[],
    if_followed_by: &[],
};

/// What a directive does to the text around it.
#[derive(Clone, Copy)]
pub(crate) enum ShapeRule {
    Is(Shape),
    /// Its arguments and clauses decide.
    Ask(fn(&Construct<Written>) -> Shape),
}

/// What stands directly behind a directive's words.
#[derive(Clone, Copy)]
pub(crate) struct ArgsRow {
    /// Called with the parser behind the words; takes its parentheses itself.
    pub(crate) read: fn(&mut Reader<'_, '_>) -> Read<Args<Written>>,
    /// The text, parentheses included; nothing if this row cannot say it.
    pub(crate) write: fn(&Args<Spelled>) -> Option<String>,
    /// Texts for tests.
    pub(crate) samples: &'static [&'static str],
}

/// One clause.
pub(crate) struct ClauseRow {
    pub(crate) word: &'static str,
    /// Other spellings, accepted and not written.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) often: Often,
    pub(crate) read: ReadClause,
    /// What follows the word: nothing, or parentheses and what they hold. `None` if the kind is
    /// not spelt with this clause.
    pub(crate) write: fn(&ClauseKind<Spelled>) -> Option<String>,
    /// Clauses behind it hold for these device types only.
    pub(crate) opens_group: bool,
    /// May stand in such a group.
    pub(crate) per_device: bool,
    /// May have a subscript: see [`crate::subscript`].
    pub(crate) has_dimensions: bool,
    /// What may stand in the parentheses, for tests; a row without parentheses has `""`.
    pub(crate) samples: fn() -> Vec<&'static str>,
}

/// What most rows are like; to be filled up with `..CLAUSE`.
pub(crate) const CLAUSE: ClauseRow = ClauseRow {
    word: "",
    aliases: &[],
    often: Often::Any,
    read: ReadClause::Bare(|| ClauseKind::Seq),
    write: |_| None,
    opens_group: false,
    per_device: false,
    has_dimensions: false,
    samples: Vec::new,
};

/// Words that stand for the values of an enumeration.
pub(crate) struct Choices<T: 'static> {
    /// What they are, for messages: "a schedule kind".
    pub(crate) what: &'static str,
    /// The words; of two for one value the first is written.
    pub(crate) words: &'static [(&'static str, T)],
}

impl<T: PartialEq> Choices<T> {
    /// How a value is written.
    pub(crate) fn word(&self, value: &T) -> Option<&'static str> {
        self.words.iter().find(|(_, it)| it == value).map(|(word, _)| *word)
    }
}

/// How often a clause may stand on one directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Often {
    Any,
    Once,
    /// Once for each part of a combined directive that it names.
    OncePerPart,
    /// Once, counted together with all others of this name.
    OneOf(&'static str),
}

/// How a clause is read.
#[derive(Clone, Copy)]
pub(crate) enum ReadClause {
    /// `nowait`
    Bare(fn() -> ClauseKind<Written>),
    /// `read`, `read(1)`: what it says, and a constant that may switch it off.
    Switch(fn() -> ClauseKind<Written>),
    /// `if(…)`; called inside the parentheses.
    Args(fn(&mut Reader<'_, '_>) -> Read<ClauseKind<Written>>),
    /// `ordered`, `ordered(2)`
    Maybe(fn() -> ClauseKind<Written>, fn(&mut Reader<'_, '_>) -> Read<ClauseKind<Written>>),
    /// Called behind the word; takes parentheses itself, if it wants any.
    Own(fn(&mut Reader<'_, '_>) -> Read<ClauseKind<Written>>),
}

impl ClauseRow {
    /// Whether it is spelt so.
    pub(crate) fn is_spelt(&self, word: &str) -> bool {
        self.word == word || self.aliases.contains(&word)
    }
}

impl DirectiveRow {
    /// The clauses it takes.
    pub(crate) fn clauses(&self) -> impl Iterator<Item = &'static ClauseRow> + use<> {
        self.clauses.iter().flat_map(|it| it.iter().copied())
    }

    /// How it is written.
    pub(crate) fn name(&self) -> &'static str {
        self.words.first().copied().unwrap_or_default()
    }
}

/// The rows that make a directive, from the outside in; never empty.
#[derive(Clone)]
pub(crate) struct Heading {
    pub(crate) rows: Vec<&'static DirectiveRow>,
}

impl Heading {
    /// How the user would write it.
    pub(crate) fn name(&self) -> String {
        self.rows.iter().map(|it| it.name()).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn leaves(&self) -> Vec<Leaf> {
        self.rows.iter().flat_map(|it| it.leaves).copied().collect()
    }

    /// Every clause that may stand on it, each once.
    pub(crate) fn clauses(&self, standard: &Standard) -> Vec<&'static ClauseRow> {
        let mut all: Vec<&'static ClauseRow> = Vec::new();
        for row in self.rows.iter().flat_map(|it| it.clauses()) {
            let is_new = !all.iter().any(|it| std::ptr::eq(*it, row));
            if is_new && (standard.forbids)(&self.rows, row).is_none() {
                all.push(row);
            }
        }
        all
    }

    /// What it does to the text around it.
    pub(crate) fn shape(&self, construct: &Construct<Written>) -> Shape {
        match self.rows.first().map(|it| it.shape) {
            Some(ShapeRule::Is(shape)) => shape,
            Some(ShapeRule::Ask(ask)) => ask(construct),
            None => Shape::Foreign,
        }
    }
}

impl Standard {
    /// The rows that stand for these leaves, longest parts first; nothing if there are none or they
    /// may not be combined so.
    pub(crate) fn heading(&self, leaves: &[Leaf]) -> Option<Heading> {
        let mut rows: Vec<&'static DirectiveRow> = Vec::new();
        let mut rest = leaves;
        while !rest.is_empty() {
            let fits = |it: &&&'static DirectiveRow| {
                rest.starts_with(it.leaves)
                    && rows.last().is_none_or(|before| self.may_follow(before, it))
            };
            let row = self.directives.iter().filter(fits).max_by_key(|it| it.leaves.len())?;
            rows.push(row);
            rest = rest.get(row.leaves.len()..)?;
        }
        (!rows.is_empty()).then_some(Heading { rows })
    }

    /// The rows that are together spelt so.
    pub(crate) fn rows_named(&self, name: &str) -> Option<Vec<&'static DirectiveRow>> {
        self.headings().into_iter().find(|it| it.name() == name).map(|it| it.rows)
    }

    /// Whether `next` may stand behind `before` in a combined directive.
    pub(crate) fn may_follow(&self, before: &DirectiveRow, next: &DirectiveRow) -> bool {
        next.leaves.first().is_some_and(|leaf| before.then.contains(leaf))
    }

    /// Every legal sequence of rows, for tests and for messages.
    pub(crate) fn headings(&self) -> Vec<Heading> {
        let mut done = Vec::new();
        let mut open: Vec<Heading> =
            self.directives.iter().map(|row| Heading { rows: vec![row] }).collect();
        while let Some(heading) = open.pop() {
            if let Some(last) = heading.rows.last() {
                for next in self.directives.iter().filter(|it| self.may_follow(last, it)) {
                    let mut longer = heading.clone();
                    longer.rows.push(next);
                    open.push(longer);
                }
            }
            done.push(heading);
        }
        done
    }
}

/// Makes the rows of a clause table, and [`ClauseRow`]s of all of them in a list.
///
/// `NAME word often how` where `how` is one of
/// `bare(kind)`, `switch(kind)`, `expr(Kind)`, `maybe_expr(Kind)`, `exprs(Kind)`, `items(Kind)`,
/// `choice(Kind, CHOICES)`, or `custom(read, write, [samples])`.
macro_rules! clauses {
    ($($(#[$doc:meta])* $name:ident $word:literal $($alias:literal)*
       $often:ident $(($label:literal))?,
       $how:ident($($arg:tt)*);)*) => {
        use $crate::table::Often::*;
        $($(#[$doc])*
        pub(super) static $name: $crate::table::ClauseRow = $crate::table::ClauseRow {
            word: $word,
            aliases: &[$($alias),*],
            often: $often $(($label))?,
            ..$crate::table::clause_how!($how($($arg)*))
        };)*

        /// All of them.
        pub(super) static ALL: &[&$crate::table::ClauseRow] = &[$(&$name),*];
    };
}
pub(crate) use clauses;

/// How one clause is read and written; see [`clauses`].
macro_rules! clause_how {
    (bare($($kind:tt)*)) => {
        $crate::table::ClauseRow {
            read: $crate::table::ReadClause::Bare(|| ClauseKind::$($kind)*),
            write: |kind| (*kind == ClauseKind::$($kind)*).then(String::new),
            samples: || vec![""],
            ..$crate::table::CLAUSE
        }
    };
    (switch($($kind:tt)*)) => {
        $crate::table::ClauseRow {
            read: $crate::table::ReadClause::Switch(|| ClauseKind::$($kind)*),
            write: |kind| (*kind == ClauseKind::$($kind)*).then(String::new),
            samples: || vec!["", "$e"],
            ..$crate::table::CLAUSE
        }
    };
    (expr($kind:ident)) => {
        $crate::table::ClauseRow {
            read: $crate::table::ReadClause::Args(|r| Ok(ClauseKind::$kind(r.expr()?))),
            write: |kind| {
                let ClauseKind::$kind(expr) = kind else { return None };
                Some(format!("({expr})"))
            },
            samples: || vec!["$e"],
            ..$crate::table::CLAUSE
        }
    };
    (maybe_expr($kind:ident)) => {
        $crate::table::ClauseRow {
            read: $crate::table::ReadClause::Maybe(
                || ClauseKind::$kind(None),
                |r| Ok(ClauseKind::$kind(Some(r.expr()?))),
            ),
            write: |kind| {
                let ClauseKind::$kind(expr) = kind else { return None };
                Some(expr.as_ref().map(|it| format!("({it})")).unwrap_or_default())
            },
            samples: || vec!["", "$e"],
            ..$crate::table::CLAUSE
        }
    };
    (exprs($kind:ident)) => {
        $crate::table::ClauseRow {
            read: $crate::table::ReadClause::Args(|r| Ok(ClauseKind::$kind(r.exprs()?))),
            write: |kind| {
                let ClauseKind::$kind(list) = kind else { return None };
                Some(format!("({})", list.join(", ")))
            },
            samples: || vec!["$e", "$e, $e"],
            ..$crate::table::CLAUSE
        }
    };
    (items($kind:ident)) => {
        $crate::table::ClauseRow {
            read: $crate::table::ReadClause::Args(|r| Ok(ClauseKind::$kind(r.items()?))),
            write: |kind| {
                let ClauseKind::$kind(list) = kind else { return None };
                Some(format!("({})", list.join(", ")))
            },
            samples: || vec!["$l"],
            ..$crate::table::CLAUSE
        }
    };
    (choice($kind:ident, $choices:path)) => {
        $crate::table::ClauseRow {
            read: $crate::table::ReadClause::Args(|r| Ok(ClauseKind::$kind(r.choice(&$choices)?))),
            write: |kind| {
                let ClauseKind::$kind(value) = kind else { return None };
                $choices.word(value).map(|it| format!("({it})"))
            },
            samples: || $choices.words.iter().map(|it| it.0).collect(),
            ..$crate::table::CLAUSE
        }
    };
    (custom($read:expr, $write:expr, [$($sample:literal),*])) => {
        $crate::table::ClauseRow {
            read: $read,
            write: $write,
            samples: || vec![$($sample),*],
            ..$crate::table::CLAUSE
        }
    };
    (per_device($how:ident($($arg:tt)*))) => {
        $crate::table::ClauseRow {
            per_device: true,
            ..$crate::table::clause_how!($how($($arg)*))
        }
    };
    (level($how:ident($($arg:tt)*))) => {
        $crate::table::ClauseRow {
            has_dimensions: true,
            ..$crate::table::clause_how!(per_device($how($($arg)*)))
        }
    };
    (group($read:expr, $write:expr, [$($sample:literal),*])) => {
        $crate::table::ClauseRow {
            opens_group: true,
            ..$crate::table::clause_how!(custom($read, $write, [$($sample),*]))
        }
    };
}
pub(crate) use clause_how;

/// `&[&A, &B]`, written as a table.
macro_rules! rows {
    ($($row:ident)*) => {
        &[$(&$row),*]
    };
}
pub(crate) use rows;
