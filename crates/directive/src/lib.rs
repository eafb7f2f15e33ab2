//! Spellings of constructs: the text of a directive to and from [`ir::construct::Construct`].
//!
//! In: the parser, standing on the first word after `#pragma` ([`Directives`] is the
//! [`PragmaReader`] that it asks). Out: one construct per directive, with the implicit rules of its
//! standard filled in; and, with [`write()`], the text of a construct in a dialect.
//!
//! Each standard is one table of directives and one of clauses ([`table`]); reading and writing go
//! through the same rows. Not here: what names mean and where a directive may stand (crate `sema`).

mod advise;
mod api;
#[allow(clippy::wildcard_enum_match_arm, reason = "only what has other words there is named")]
mod cross;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the tokens it takes")]
mod cursor;
mod flags;
mod host;
mod messages;
mod openacc;
mod openarc;
mod openmp;
mod read;
mod selector;
mod spell;
#[allow(clippy::wildcard_enum_match_arm, reason = "only what has dimensions is named")]
mod subscript;
mod suggest;
mod table;
mod translation;
mod unread;
mod vocabulary;
mod write;

pub use advise::{data_region, map_clause};
pub use api::{
    Argument, ENVIRONMENT_CALLS, HEADER_OF_LEVELS, HEADER_OF_TEAMS, Rewritten, call_for_levels,
    call_for_teams, environment, keeps, names_runtime,
};
pub use flags::{Meaning, for_devices, foreign, switched_devices};
pub use host::{
    ALLOCATOR_CALLS, ALLOCATOR_TYPE, CLOCK_LINKER_FLAGS, DEFAULT_DEVICE, EVENT_TYPE,
    GROUP_ALLOCATORS, HEADERS, HOST_DIALECT, HOST_LIBRARY, IS_ON_HOST, LACKING_ROUTINES, LANES,
    MOST_THREADS, PREPROCESSOR_FLAGS, RUNTIME_SYMBOLS, SET_DEFAULT_DEVICE, STANDALONE_ROUTINES,
    STATIC_LINKER_FLAGS, STORAGE_CALLS, Switch, TEAM_NUMBER, THREAD_ALLOCATOR, alone_sum,
    asks_devices, declared_reduction, fewer_threads, fit_for_clang, generated_flags,
    host_compiler_flags, host_linker_flags, is_directive_word, is_refused_in_teams,
    preprocessor_flags, switch, version_flags, without_directives,
};
pub use host::{CrewQuery, alone_answer, alone_number, asks_final, crew_query};
pub use openmp::settle;
pub use selector::{
    MatchRule, Trait, match_rule, memory_order, named_construct, requirement, selector_trait,
    takes_body,
};
pub use spell::spell;
pub use suggest::nearest;
pub use translation::{
    BACK_HEADER, BACK_HEADER_TEXT, CHOOSE_DEVICE, CREATE_ZERO, DESCRIPTIVE, DETACH, DETACH_ALL,
    DEVICE_CALLS, DEVICE_CALLS_WITHOUT, LET_GO, LET_OUT, LEVEL_CALLS_LIMITED, LEVEL_CALLS_WITHOUT,
    MACRO_OF_LEVELS, MACRO_OF_TEAMS, PRESCRIPTIVE, QUEUE_NONE, QUEUE_TOKEN, QUEUE_UNNAMED,
    RETURN_TO_DEVICE, SET_DEFAULT_QUEUE, SET_DEVICE_TYPE, STANDARD_WORDS, TRANSLATED,
    TRANSLATION_HEADER, TRANSLATION_HEADER_TEXT, attaches, device_type, directives_in, ends_data,
    is_for_devices, is_given, is_level_call, is_newest_level_call, is_of_levels, is_thread_call,
    named_in, preprocessor_changes, preprocessor_changes_back, replaced_on_devices,
    standard_called, value_of_macro,
};
pub use unread::{Mark, SWITCHED_OFF, asked_on, concerns_devices};
pub use vocabulary::{Phrase, Term, vocabulary};
pub use write::{Unwritable, clause_name, directive_name, write};

use ir::construct::{Construct, Dialect, Phase};
use syntax::Parser;
use syntax::ast::{ExprId, InitId, PragmaId, TypeNameId};
use syntax::pragma::{PragmaReader, Shape};

/// OpenMP.
pub const OPENMP: Dialect = Dialect(0);
/// OpenACC.
pub const OPENACC: Dialect = Dialect(1);
/// OpenARC's extension directives.
pub const OPENARC: Dialect = Dialect(2);

/// The variables that a user's reduction or induction speaks of: the two that are combined, the
/// private copy and the original; the value that is followed, its step and its position.
pub const REDUCTION_VARIABLES: [&str; 7] =
    ["omp_out", "omp_in", "omp_priv", "omp_orig", "omp_var", "omp_step", "omp_idx"];

/// As written: expressions, types and initialisers are handles into the syntax tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written;

impl Phase for Written {
    type Expr = ExprId;
    type Type = TypeNameId;
    type Init = InitId;
    type Name = source::Name;
}

/// Reads the directives of a translation unit while it is parsed, and keeps them.
#[derive(Debug, Default)]
pub struct Directives {
    table: Vec<Option<Construct<Written>>>,
    off: Vec<Dialect>,
}

impl Directives {
    /// None yet.
    pub fn new() -> Directives {
        Directives::default()
    }

    /// None yet, and none ever of the standards in `off`: their pragmas are comments.
    pub fn without(off: &[Dialect]) -> Directives {
        Directives { table: Vec::new(), off: off.to_vec() }
    }

    /// What a pragma says; nothing for one that is no directive or could not be understood.
    pub fn get(&self, pragma: PragmaId) -> Option<&Construct<Written>> {
        self.table.get(pragma.index())?.as_ref()
    }

    /// All directives, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = (PragmaId, &Construct<Written>)> {
        (0u32..)
            .zip(&self.table)
            .filter_map(|(at, it)| Some((PragmaId::from_index(at), it.as_ref()?)))
    }
}

impl PragmaReader for Directives {
    fn read(&mut self, parser: &mut Parser<'_>, pragma: PragmaId) -> Shape {
        let (dialect, standard) = match parser.word().map(|it| parser.text(it)) {
            Some("omp" | "ompx") => (OPENMP, &openmp::STANDARD),
            Some("acc") => (OPENACC, &openacc::STANDARD),
            Some("openarc") => (OPENACC, &openarc::STANDARD),
            _ => return Shape::Foreign,
        };
        if self.off.contains(&dialect) {
            return Shape::Foreign;
        }
        parser.bump();
        let Some((construct, shape)) = read::pragma(parser, standard) else {
            return Shape::Foreign;
        };
        if self.table.len() <= pragma.index() {
            self.table.resize(pragma.index() + 1, None);
        }
        if let Some(place) = self.table.get_mut(pragma.index()) {
            *place = Some(construct);
        }
        shape
    }
}
