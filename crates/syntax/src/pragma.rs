//! The seam between C and directives: who reads a pragma, and what it does to the statements near.
//!
//! The parser knows that a pragma is a line of tokens at a place where a declaration or statement
//! may stand. It asks a [`PragmaReader`] to read the line, and is told only the [`Shape`]:
//! whether the next statement belongs to it.

use crate::ast::PragmaId;

/// What a pragma does to the program text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Not a directive anyone knows: kept as it was written, like white space.
    Foreign,
    /// Stands alone, like an empty statement that does something.
    Standalone,
    /// Takes the statement (in a block) or declaration (at file scope) that follows as its body.
    Prefix,
    /// Takes all that follows as its body, up to the next pragma with shape [`Shape::Closes`] or
    /// the end of the enclosing block.
    Opens,
    /// Ends the nearest [`Shape::Opens`].
    Closes,
}

/// Reads pragmas while the parser runs.
///
/// `read` is called with the parser standing on the first token after `#pragma`; it may use every
/// public method of [`crate::Parser`] and must not go past the end of the line (the parser answers
/// [`crate::TokenKind::PragmaEnd`] there, as often as asked). What is left of the line is skipped.
/// What was read is kept by the reader, under the handle it was given.
pub trait PragmaReader {
    /// Reads one pragma.
    fn read(&mut self, parser: &mut crate::Parser<'_>, pragma: PragmaId) -> Shape;
}

/// Knows no directive: every pragma is [`Shape::Foreign`].
#[derive(Debug, Default)]
pub struct NoDirectives;

impl PragmaReader for NoDirectives {
    fn read(&mut self, _: &mut crate::Parser<'_>, _: PragmaId) -> Shape {
        Shape::Foreign
    }
}
