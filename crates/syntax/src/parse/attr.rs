//! Attributes, in GNU's and in the standard's spelling.

use source::Span;

use super::Parser;
use crate::ast::{Attr, AttrArg, AttrId, Ident};
use crate::token::TokenKind;

impl Parser<'_> {
    /// Whether `[[` stands here.
    pub(super) fn at_standard_attribute(&self) -> bool {
        self.at(TokenKind::LBracket) && self.peek_at(1) == TokenKind::LBracket
    }

    /// Whether an attribute of either kind stands here.
    pub(super) fn at_attribute(&self) -> bool {
        self.at(TokenKind::KwAttribute) || self.at_standard_attribute()
    }

    /// `{"__attribute__" "((" list "))" | "[[" list "]]"}`
    pub(super) fn attributes_into(&mut self, list: &mut Vec<AttrId>) {
        while !self.recovering {
            if self.at(TokenKind::KwAttribute) {
                self.bump();
                self.attribute_list(TokenKind::LParen, TokenKind::RParen, list);
            } else if self.at_standard_attribute() {
                self.attribute_list(TokenKind::LBracket, TokenKind::RBracket, list);
            } else {
                return;
            }
        }
    }

    /// How many tokens the attributes that stand here have.
    pub(super) fn attributes_len(&self) -> usize {
        let (mut ahead, mut depth) = (0, 0usize);
        loop {
            match self.peek_at(ahead) {
                TokenKind::KwAttribute if depth == 0 => {}
                TokenKind::LBracket
                    if depth > 0 || self.peek_at(ahead + 1) == TokenKind::LBracket =>
                {
                    depth += 1;
                }
                TokenKind::LParen
                    if depth > 0
                        || ahead > 0 && self.peek_at(ahead - 1) == TokenKind::KwAttribute =>
                {
                    depth += 1;
                }
                TokenKind::RParen | TokenKind::RBracket if depth > 0 => depth -= 1,
                TokenKind::Eof | TokenKind::Semicolon | TokenKind::PragmaEnd => return ahead,
                _ if depth == 0 => return ahead,
                _ => {}
            }
            ahead += 1;
        }
    }

    /// `open open [attribute] {"," [attribute]} close close`
    fn attribute_list(&mut self, open: TokenKind, close: TokenKind, list: &mut Vec<AttrId>) {
        let (outer, inner) = (self.span(), self.peek_at(1));
        if !self.at(open) || inner != open {
            self.expected(if open == TokenKind::LParen { "`((`" } else { "`[[`" });
            return;
        }
        self.bump();
        let inner = self.bump();
        let is_standard = open == TokenKind::LBracket;
        while !self.at(close) && !self.recovering {
            if self.eat(TokenKind::Comma) {
                continue;
            }
            let Some(attr) = self.attribute(is_standard) else { break };
            list.push(attr);
            if !self.at(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(open, inner);
        self.expect_close(open, outer);
    }

    /// `[scope "::"] word ["(" arguments ")"]`
    fn attribute(&mut self, is_standard: bool) -> Option<AttrId> {
        let start = self.span();
        let mut ident = self.attribute_word()?;
        let mut scope = None;
        if is_standard && self.at(TokenKind::Colon) && self.peek_at(1) == TokenKind::Colon {
            self.bump();
            self.bump();
            scope = Some(ident);
            ident = self.attribute_word()?;
        }
        let args = self.at(TokenKind::LParen).then(|| self.attribute_arguments());
        let span = self.since(start);
        Some(self.tree.attrs.push(Attr { scope, ident, args, is_standard, span }))
    }

    fn attribute_word(&mut self) -> Option<Ident> {
        let word = self.word();
        if word.is_none() {
            self.expected("the name of an attribute");
        }
        word.map(|name| Ident { name, span: self.bump() })
    }

    fn attribute_arguments(&mut self) -> Box<[AttrArg]> {
        let mark = self.mark();
        let open = self.bump();
        let args = self.attribute_argument_list(open);
        // Some attributes take what is no C, such as a version or a property: nobody needs it.
        if !self.is_clean_since(mark) {
            self.reset(mark);
            self.skip_balanced();
            return Box::default();
        }
        args
    }

    fn attribute_argument_list(&mut self, open: Span) -> Box<[AttrArg]> {
        let mut args = Vec::new();
        while !self.at(TokenKind::RParen) && !self.recovering {
            args.push(if self.is_type_name_start() {
                AttrArg::Type(self.type_name())
            } else {
                AttrArg::Expr(self.assignment_expression())
            });
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::LParen, open);
        args.into()
    }
}
