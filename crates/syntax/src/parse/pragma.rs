//! Pragmas: where they stand, who reads them, and what of the text they take with them.
//!
//! The one pragma that changes what C itself means, `pack`, is understood here.

use source::Name;

use super::Parser;
use crate::ast::{Decl, DeclId, DeclKind, Pragma, PragmaId, Stmt, StmtId, StmtKind};
use crate::messages;
use crate::pragma::Shape;
use crate::token::TokenKind;

/// The state of `#pragma pack`.
#[derive(Debug, Default)]
pub(super) struct Pack {
    now: Option<u32>,
    pushed: Vec<(Option<Name>, Option<u32>)>,
}

impl Pack {
    /// The largest alignment of members.
    pub(super) fn now(&self) -> Option<u32> {
        self.now
    }

    /// Takes back the last push, or the last one with this name.
    fn pop(&mut self, name: Option<Name>) {
        let last = match name {
            Some(_) => self.pushed.iter().rposition(|(it, _)| *it == name),
            None => self.pushed.len().checked_sub(1),
        };
        if let Some(last) = last {
            self.now = self.pushed.drain(last..).next().and_then(|(_, before)| before);
        }
    }
}

impl Parser<'_> {
    /// Reads the pragma that stands here and goes on behind its line.
    fn pragma(&mut self) -> (PragmaId, Shape) {
        let token = self.token();
        let pragma = Pragma { shape: Shape::Foreign, span: token.span(), text: token.name };
        let id = self.tree.pragmas.push(pragma);
        self.at += 1;
        let first = self.at;
        let outside = (self.recovering, self.sections);
        (self.in_pragma, self.recovering, self.sections) = (true, false, false);
        let shape = match self.reader.take() {
            Some(reader) => {
                let shape = reader.read(self, id);
                self.reader = Some(reader);
                shape
            }
            None => Shape::Foreign,
        };
        if shape == Shape::Foreign {
            self.at = first;
            self.pack_pragma();
        }
        while !self.at_end() {
            self.at += 1;
        }
        let end = self.span();
        if self.at(TokenKind::PragmaEnd) {
            self.at += 1;
        }
        self.in_pragma = false;
        (self.recovering, self.sections) = outside;
        let pragma = &mut self.tree.pragmas[id];
        pragma.shape = shape;
        pragma.span = pragma.span.to(end);
        (id, shape)
    }

    /// `"pack" "(" ["push" | "pop"] ["," name] ["," number] ")"`
    fn pack_pragma(&mut self) {
        if self.word().is_none_or(|word| self.text(word) != "pack") {
            return;
        }
        let start = self.bump();
        if !self.eat(TokenKind::LParen) {
            return self.report(messages::bad_pack(self.since(start)));
        }
        let action = self.word().map(|word| self.text(word).to_owned());
        match action.as_deref() {
            Some("push" | "pop") => {
                self.bump();
            }
            Some(_) => return self.report(messages::bad_pack(self.span())),
            None => {}
        }
        let is_alone = self.at(TokenKind::RParen);
        if action.is_some() {
            self.eat(TokenKind::Comma);
        }
        let name = self.ident().map(|it| it.name);
        if name.is_some() {
            self.eat(TokenKind::Comma);
        }
        let number = match self.peek() {
            TokenKind::Number => {
                let text = self.text(self.token().name);
                let value = text.parse::<u32>().ok().filter(|it| it.is_power_of_two() && *it <= 16);
                if value.is_none() && text != "0" {
                    return self.report(messages::bad_pack(self.span()));
                }
                self.bump();
                Some(value)
            }
            _ => None,
        };
        if !self.at(TokenKind::RParen) {
            return self.report(messages::bad_pack(self.span()));
        }
        match action.as_deref() {
            Some("push") => self.pack.pushed.push((name, self.pack.now)),
            Some(_) => self.pack.pop(name),
            None => {}
        }
        match number {
            Some(value) => self.pack.now = value,
            None if action.is_none() && is_alone => self.pack.now = None,
            None => {}
        }
    }

    /// A pragma in a block, or where a statement is wanted.
    pub(super) fn pragma_statement(&mut self, is_wanted: bool) -> StmtId {
        let start = self.span();
        let (id, shape) = self.pragma();
        let ends = self.at(TokenKind::RBrace) || self.at_end();
        let body = match shape {
            Shape::Prefix if ends => {
                let span = self.tree.pragmas[id].span;
                self.fault(messages::directive_without_statement("statement", span));
                self.recovering = false;
                None
            }
            Shape::Prefix => Some(self.nested_item()),
            // White space does not take the place of a statement.
            Shape::Foreign if is_wanted && !ends => Some(self.statement()),
            Shape::Foreign | Shape::Standalone | Shape::Opens | Shape::Closes => None,
        };
        let span = self.since(start);
        self.tree.stmts.push(Stmt { kind: StmtKind::Pragma(id, body), span })
    }

    /// What a directive takes as its body: one level deeper, since directives pile up.
    fn nested_item(&mut self) -> StmtId {
        if !self.enter() {
            return self.skipped_statement();
        }
        // Advice to another compiler does not come between a directive and its statement.
        let body = match self.at(TokenKind::Pragma) {
            true => self.pragma_statement(true),
            false => self.block_item(),
        };
        self.leave();
        body
    }

    /// A pragma at file scope.
    pub(super) fn pragma_declaration(&mut self) -> DeclId {
        let start = self.span();
        let (id, shape) = self.pragma();
        let body = match shape {
            Shape::Prefix if self.at_end() => {
                let span = self.tree.pragmas[id].span;
                self.fault(messages::directive_without_statement("declaration", span));
                self.recovering = false;
                None
            }
            Shape::Prefix if self.enter() => {
                let body = self.external_declaration();
                self.leave();
                Some(body)
            }
            Shape::Prefix | Shape::Foreign | Shape::Standalone | Shape::Opens | Shape::Closes => {
                None
            }
        };
        let span = self.since(start);
        self.tree.decls.push(Decl { kind: DeclKind::Pragma(id, body), span })
    }

    /// Pragmas where none belongs: foreign ones are white space, others are a fault.
    pub(super) fn stray_pragmas(&mut self) {
        while self.at(TokenKind::Pragma) {
            self.stray_pragma();
        }
    }

    pub(super) fn stray_pragma(&mut self) {
        let (id, shape) = self.pragma();
        if shape != Shape::Foreign && !self.recovering {
            let span = self.tree.pragmas[id].span;
            self.report(messages::directive_in_expression(span));
        }
    }

    /// A pragma follows a token of the kind `before`. Where no statement can begin it is in the
    /// way, and is taken out of it.
    #[cold]
    pub(super) fn pragma_behind(&mut self, before: TokenKind) {
        if self.recovering {
            return;
        }
        match before {
            // A statement may begin here, or whoever reads the list asks for stray pragmas.
            TokenKind::Semicolon
            | TokenKind::LBrace
            | TokenKind::RBrace
            | TokenKind::RParen
            | TokenKind::Colon
            | TokenKind::KwElse
            | TokenKind::KwDo
            | TokenKind::Pragma
            | TokenKind::PragmaEnd
            | TokenKind::Error => {}
            // Behind these a semicolon may have been forgotten, which is the better message.
            TokenKind::RBracket
            | TokenKind::Number
            | TokenKind::Char
            | TokenKind::Str
            | TokenKind::PlusPlus
            | TokenKind::MinusMinus => self.skip_toolchain_pragmas(),
            kind if kind.is_word() => self.skip_toolchain_pragmas(),
            _ => self.stray_pragmas(),
        }
    }

    /// Skips pragmas that speak to a compiler about its warnings.
    fn skip_toolchain_pragmas(&mut self) {
        while self.at(TokenKind::Pragma)
            && self
                .word_at(1)
                .is_some_and(|word| matches!(self.text(word), "GCC" | "clang" | "STDC"))
        {
            self.stray_pragma();
        }
    }
}
