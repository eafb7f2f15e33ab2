//! Records and enumerations.

use source::Span;

use super::Parser;
use super::declarator::Naming;
use super::specs::Where;
use crate::ast::{
    AttrId, Declarator, DeclaratorId, EnumConstant, EnumId, EnumSpec, Field, Ident, Member,
    RecordId, RecordSpec,
};
use crate::messages;
use crate::token::TokenKind;

impl Parser<'_> {
    /// ```text
    /// record = ("struct" | "union") {attribute} (name | [name] "{" {member} "}") {attribute}
    /// ```
    pub(super) fn record(&mut self) -> RecordId {
        let is_union = self.at(TokenKind::KwUnion);
        let start = self.bump();
        let mut attrs = Vec::new();
        self.attributes_into(&mut attrs);
        let tag = self.ident();
        let members = self.at(TokenKind::LBrace).then(|| self.members(&mut attrs));
        if tag.is_none() && members.is_none() {
            self.expected("a tag or `{`");
        }
        let pack = if members.is_some() { self.pack.now() } else { None };
        let span = self.since(start);
        let record = RecordSpec { is_union, tag, members, attrs: attrs.into(), pack, span };
        self.tree.records.push(record)
    }

    fn members(&mut self, attrs: &mut Vec<AttrId>) -> Box<[Member]> {
        let open = self.span();
        if !self.enter() {
            self.skip_balanced();
            return Box::default();
        }
        self.bump();
        let mut members = Vec::new();
        while !self.at(TokenKind::RBrace) && !self.at_end() {
            let before = self.at;
            self.member_into(&mut members);
            if self.at == before {
                self.bump();
            }
        }
        self.leave();
        self.expect_close(TokenKind::LBrace, open);
        self.attributes_into(attrs);
        members.into()
    }

    /// ```text
    /// member = specifiers [field {"," field}] ";" | static-assert | ";"
    /// ```
    fn member_into(&mut self, members: &mut Vec<Member>) {
        match self.peek() {
            TokenKind::Semicolon => {
                self.bump();
            }
            TokenKind::Pragma => self.stray_pragma(),
            TokenKind::KwStaticAssert => {
                let (condition, text) = self.static_assert();
                members.push(Member::StaticAssert(condition, text));
            }
            _ => {
                let specs = self.specifiers(Where::Member);
                let fields = self.fields();
                if self.at(TokenKind::RBrace) && !self.recovering {
                    let after = self.prev_span().after();
                    self.report(messages::last_member_open(after));
                } else {
                    self.expect_semicolon("after this member");
                }
                members.push(Member::Fields(specs, fields));
            }
        }
    }

    fn fields(&mut self) -> Box<[Field]> {
        let mut fields = Vec::new();
        if matches!(self.peek(), TokenKind::Semicolon | TokenKind::RBrace) {
            return Box::default();
        }
        while !self.recovering {
            fields.push(self.field());
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        fields.into()
    }

    /// `[declarator] [":" constant-expression] {attribute}`
    fn field(&mut self) -> Field {
        let declarator =
            if self.at(TokenKind::Colon) { self.unnamed() } else { self.declarator(Naming::Named) };
        let width = self.eat(TokenKind::Colon).then(|| self.conditional_expression());
        self.declarator_tail(declarator, None);
        Field { declarator, width }
    }

    fn unnamed(&mut self) -> DeclaratorId {
        let (parts, attrs) = (Box::default(), Box::default());
        let span = self.prev_span().after();
        self.tree.declarators.push(Declarator { name: None, parts, attrs, asm_label: None, span })
    }

    /// ```text
    /// enumeration = "enum" {attribute} (name | [name] "{" constant {"," constant} [","] "}")
    ///               {attribute}
    /// ```
    pub(super) fn enumeration(&mut self) -> EnumId {
        let start = self.bump();
        let mut attrs = Vec::new();
        self.attributes_into(&mut attrs);
        let tag = self.ident();
        let constants = self.at(TokenKind::LBrace).then(|| {
            let open = self.bump();
            let constants = self.constants(open);
            self.attributes_into(&mut attrs);
            constants
        });
        if tag.is_none() && constants.is_none() {
            self.expected("a tag or `{`");
        }
        let span = self.since(start);
        self.tree.enums.push(EnumSpec { tag, constants, attrs: attrs.into(), span })
    }

    fn constants(&mut self, open: Span) -> Box<[EnumConstant]> {
        let mut constants = Vec::new();
        loop {
            self.stray_pragmas();
            let Some(ident) = self.ident() else { break };
            constants.push(self.constant(ident));
            if self.recovering || !self.eat(TokenKind::Comma) {
                break;
            }
        }
        if constants.is_empty() {
            self.expected("the name of a constant");
        }
        self.stray_pragmas();
        if !self.at(TokenKind::RBrace) {
            // The names that follow are no more than names: go on behind the list.
            self.expect_close(TokenKind::LBrace, open);
            self.skip_to_close(TokenKind::RBrace);
        }
        self.eat(TokenKind::RBrace);
        constants.into()
    }

    /// `name {attribute} ["=" constant-expression]`; declared behind its value.
    fn constant(&mut self, ident: Ident) -> EnumConstant {
        let mut attrs = Vec::new();
        self.attributes_into(&mut attrs);
        let value = self.eat(TokenKind::Equal).then(|| self.conditional_expression());
        self.declare(ident);
        EnumConstant { ident, attrs: attrs.into(), value }
    }
}
