//! C as written: lexer, parser, tree and printer.
//!
//! Input is the output of a C preprocessor; output is a [`ast::Tree`] and diagnostics, always both.
//! Of types this crate knows only which names are typedefs, and of pragmas only that they are runs
//! of tokens: whoever knows their meaning implements [`pragma::PragmaReader`] and is called with
//! the parser at the pragma's first token, while the scopes around it are still open.

pub mod ast;
mod expand;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the tokens it takes")]
mod lex;
pub mod literal;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the tokens it takes")]
mod messages;
#[allow(clippy::wildcard_enum_match_arm, reason = "a rule names the tokens it takes")]
mod parse;
pub mod pragma;
pub mod print;
mod scope;
mod spelling;
mod token;

pub use expand::expand_pragmas;
// Faults that those who resolve names may meet too: one fault, one message.
pub use messages::{nested_function, unknown_type_name};
pub use parse::{Mark, Parsed, Parser, parse, with_stack};
pub use token::{Token, TokenKind};
