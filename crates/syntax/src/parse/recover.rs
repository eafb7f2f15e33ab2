//! Reporting faults, and finding the way on after one.

use source::{Diagnostic, Severity, Span};

use super::{MAX_DEPTH, Parser};
use crate::messages;
use crate::token::TokenKind;

impl Parser<'_> {
    /// Reports something a reader of pragmas found.
    pub fn report(&mut self, fault: Diagnostic) {
        self.faults.push(fault);
    }

    /// Reports a fault of the grammar, unless it is a consequence of the one before.
    pub(super) fn fault(&mut self, fault: Diagnostic) {
        if fault.severity != Severity::Error {
            self.faults.push(fault);
            return;
        }
        let is_new = if self.in_pragma { self.last_fault != self.at } else { !self.recovering };
        // Text that the lexer could not read has been reported.
        if is_new && !self.at(TokenKind::Error) {
            self.faults.push(fault);
        }
        self.last_fault = self.at;
        self.recovering = true;
    }

    /// Reports that something else should stand here.
    pub(super) fn expected(&mut self, what: &str) {
        let fault = messages::expected(what, &self.found(), self.span());
        self.fault(fault);
    }

    /// How a message names the present token.
    fn found(&self) -> String {
        match self.spelling() {
            Some(name) => {
                let text = self.text(name);
                let short: String = text.chars().take(40).collect();
                let dots = if short.len() < text.len() { "…" } else { "" };
                format!("`{short}{dots}`")
            }
            None => self.peek().describe().to_owned(),
        }
    }

    /// Takes this token, or reports that it is missing.
    pub(super) fn expect(&mut self, kind: TokenKind) -> bool {
        let found = self.eat(kind);
        if !found {
            self.expected(kind.describe());
        }
        found
    }

    /// Takes the bracket that closes the one at `opened`, or reports that it is missing.
    pub(super) fn expect_close(&mut self, open: TokenKind, opened: Span) -> bool {
        let close = closing(open);
        let found = self.eat(close);
        if !found {
            let fault = messages::unclosed(open, opened, close, &self.found(), self.span());
            self.fault(fault);
        }
        found
    }

    /// Takes the semicolon that ends a statement or declaration. Where it was forgotten at the
    /// end of a line nothing is skipped.
    pub(super) fn expect_semicolon(&mut self, context: &str) {
        self.skips += usize::from(self.recovering || !self.at(TokenKind::Semicolon));
        if self.eat(TokenKind::Semicolon) {
            self.recovering = false;
            return;
        }
        if self.recovering {
            return self.skip_statement();
        }
        if self.at(TokenKind::Error) {
            self.recovering = true;
            return self.skip_statement();
        }
        let after = self.prev_span().after();
        self.fault(messages::missing(TokenKind::Semicolon, after, context));
        let token = self.token();
        let goes_on = token.kind != TokenKind::Eof && token.starts_line
            || token.kind == TokenKind::RBrace
            || token.kind.is_keyword();
        if goes_on {
            self.recovering = false;
        } else {
            self.skip_statement();
        }
    }

    /// Skips to behind the next `;`, or to before the `}` that closes the block around.
    pub(super) fn skip_statement(&mut self) {
        loop {
            match self.peek() {
                TokenKind::Semicolon => {
                    self.bump();
                    break;
                }
                TokenKind::RBrace | TokenKind::Eof | TokenKind::PragmaEnd | TokenKind::Pragma => {
                    break;
                }
                TokenKind::LBrace => {
                    self.skip_balanced();
                    // A block ends a statement unless something goes on behind it.
                    if !matches!(
                        self.peek(),
                        TokenKind::Semicolon
                            | TokenKind::Comma
                            | TokenKind::RParen
                            | TokenKind::RBracket
                            | TokenKind::KwElse
                            | TokenKind::KwWhile
                            | TokenKind::Equal
                            | TokenKind::Dot
                    ) {
                        break;
                    }
                }
                TokenKind::LParen | TokenKind::LBracket => self.skip_balanced(),
                _ => {
                    self.bump();
                }
            }
        }
        self.recovering = self.at(TokenKind::Eof);
    }

    /// Skips to before the bracket that closes what is open here; a `)` is not sought beyond a
    /// brace.
    pub(super) fn skip_to_close(&mut self, close: TokenKind) {
        loop {
            match self.peek() {
                kind if kind == close => return,
                TokenKind::Eof | TokenKind::PragmaEnd | TokenKind::RBrace => return,
                TokenKind::LBrace if close != TokenKind::RBrace => return,
                TokenKind::LBrace | TokenKind::LParen | TokenKind::LBracket => {
                    let before = self.at;
                    self.skip_balanced();
                    if self.at == before {
                        return;
                    }
                }
                TokenKind::Pragma => return,
                _ => self.at += 1,
            }
        }
    }

    /// Skips a bracket and all up to and with the one that closes it; any other token alone.
    pub fn skip_balanced(&mut self) {
        // A stack of brackets is not needed: braces outweigh the others, so that a forgotten `)`
        // does not eat the function.
        let open = self.peek();
        let is_brace = open == TokenKind::LBrace;
        if !matches!(open, TokenKind::LBrace | TokenKind::LParen | TokenKind::LBracket) {
            self.bump();
            return;
        }
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let is_loop_head = before.is_some_and(|it| it.kind == TokenKind::KwFor);
        let (mut braces, mut others) = (0usize, 0usize);
        loop {
            match self.peek() {
                TokenKind::Eof => return,
                TokenKind::PragmaEnd if self.in_pragma => return,
                // Brackets on the line of a pragma belong to it alone.
                TokenKind::Pragma => {
                    while !self.at_end() {
                        self.at += 1;
                    }
                }
                TokenKind::LBrace => braces += 1,
                TokenKind::RBrace if braces == 0 => return,
                TokenKind::RBrace => {
                    braces -= 1;
                    if braces == 0 && is_brace {
                        self.at += 1;
                        return;
                    }
                }
                TokenKind::LParen | TokenKind::LBracket if !is_brace && braces == 0 => others += 1,
                TokenKind::RParen | TokenKind::RBracket if !is_brace && braces == 0 => {
                    others = others.saturating_sub(1);
                    if others == 0 {
                        self.at += 1;
                        return;
                    }
                }
                TokenKind::Semicolon if !is_brace && braces == 0 && !is_loop_head => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Goes one level deeper, if that is allowed. Each success is matched by a [`Parser::leave`].
    pub(super) fn enter(&mut self) -> bool {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            return true;
        }
        if !self.reported_depth {
            self.reported_depth = true;
            self.faults.push(messages::nested_too_deeply(self.span()));
        }
        self.recovering = true;
        false
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// The bracket that closes this one.
fn closing(open: TokenKind) -> TokenKind {
    match open {
        TokenKind::LParen => TokenKind::RParen,
        TokenKind::LBracket => TokenKind::RBracket,
        _ => TokenKind::RBrace,
    }
}
