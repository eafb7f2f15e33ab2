//! OpenACC 3.3, with the modifiers of 3.4, the older words, and OpenARC's channel clauses.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a row answers for the kind it knows; all others are not its business"
)]

mod args;
mod clauses;
mod directives;
mod forms;
mod rules;

use crate::OPENACC;
use crate::table::Standard;

/// OpenACC.
pub(crate) static STANDARD: Standard = Standard {
    dialect: OPENACC,
    name: "OpenACC",
    sentinel: "acc",
    directives: directives::ALL,
    clauses: clauses::ALL,
    underscores_join: false,
    names_part: |_, _| false,
    extension_prefix: None,
    forbids: |_, _| None,
    rules: rules::rules,
};
