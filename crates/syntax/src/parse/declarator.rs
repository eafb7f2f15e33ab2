//! Declarators: names, and what is derived from the base type around them.

use source::Span;

use super::Parser;
use super::specs::Where;
use crate::ast::{
    ArrayPart, ArraySize, AsmId, AttrId, Declarator, DeclaratorId, Derived, Ident, Param,
    ParamKind, Params, Quals, SpecsId,
};
use crate::messages;
use crate::token::TokenKind;

/// Whether a declarator has a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// It must.
    Named,
    /// It may: a parameter.
    Either,
    /// It must not: a type name.
    Abstract,
}

/// The most parts one declarator may have; whoever walks a type needs a frame for each.
const MAX_PARTS: usize = super::MAX_DEPTH as usize;

/// A declarator as far as it is read.
#[derive(Default)]
struct Draft {
    name: Option<Ident>,
    /// From the name outwards.
    parts: Vec<Derived>,
    attrs: Vec<AttrId>,
}

impl Parser<'_> {
    /// ```text
    /// declarator = {"*" {qualifier | attribute}} (name | "(" declarator ")") {array | parameters}
    /// ```
    pub(super) fn declarator(&mut self, naming: Naming) -> DeclaratorId {
        let start = self.span();
        let mut draft = Draft::default();
        self.declarator_into(&mut draft, naming);
        if draft.parts.len() > MAX_PARTS {
            draft.parts.truncate(1);
            if !std::mem::replace(&mut self.reported_depth, true) {
                self.faults.push(messages::nested_too_deeply(start));
            }
        }
        let declarator = Declarator {
            name: draft.name,
            parts: draft.parts.into(),
            attrs: draft.attrs.into(),
            asm_label: None,
            span: if self.prev_span().end >= start.start { self.since(start) } else { start },
        };
        self.tree.declarators.push(declarator)
    }

    /// A declarator without a name, as in a cast.
    pub(super) fn abstract_declarator(&mut self) -> DeclaratorId {
        self.declarator(Naming::Abstract)
    }

    fn declarator_into(&mut self, draft: &mut Draft, naming: Naming) {
        if !self.enter() {
            return;
        }
        let mut pointers = Vec::new();
        if self.at_attribute() {
            self.attributes_into(&mut draft.attrs);
        }
        while self.at(TokenKind::Star) {
            self.bump();
            let mut attrs = Vec::new();
            let quals = self.qualifiers(&mut attrs);
            if pointers.len() <= MAX_PARTS {
                pointers.push(Derived::Pointer(quals, attrs.into()));
            }
        }
        match self.peek() {
            TokenKind::Ident if naming != Naming::Abstract => draft.name = self.ident(),
            TokenKind::LParen if self.opens_group(naming) => {
                let open = self.bump();
                self.declarator_into(draft, naming);
                self.expect_close(TokenKind::LParen, open);
            }
            _ if naming == Naming::Named => self.expected("a name"),
            _ => {}
        }
        if self.at_standard_attribute() {
            self.attributes_into(&mut draft.attrs);
        }
        while !self.recovering {
            let part = match self.peek() {
                TokenKind::LBracket => Derived::Array(Box::new(self.array_part())),
                TokenKind::LParen => Derived::Function(Box::new(self.parameters())),
                _ => break,
            };
            if draft.parts.len() <= MAX_PARTS {
                draft.parts.push(part);
            }
        }
        if draft.parts.len() <= MAX_PARTS {
            draft.parts.extend(pointers.into_iter().rev());
        }
        self.leave();
    }

    /// Whether a parenthesis holds a declarator rather than parameters.
    fn opens_group(&self, naming: Naming) -> bool {
        if naming == Naming::Named {
            return true;
        }
        match self.peek_at(1) {
            TokenKind::Star | TokenKind::LParen | TokenKind::LBracket | TokenKind::KwAttribute => {
                true
            }
            TokenKind::Ident => {
                naming == Naming::Either && !self.scopes.is_type(self.token_at(1).name)
            }
            _ => false,
        }
    }

    /// `{"const" | "volatile" | "restrict" | "_Atomic" | attribute}`
    fn qualifiers(&mut self, attrs: &mut Vec<AttrId>) -> Quals {
        let mut quals = Quals::default();
        loop {
            match self.peek() {
                TokenKind::KwConst => quals.is_const = true,
                TokenKind::KwVolatile => quals.is_volatile = true,
                TokenKind::KwRestrict => quals.is_restrict = true,
                TokenKind::KwAtomic => quals.is_atomic = true,
                TokenKind::KwAttribute if !self.recovering => {
                    self.attributes_into(attrs);
                    continue;
                }
                _ => return quals,
            }
            self.bump();
        }
    }

    /// `"[" {"static" | qualifier} ["*" | assignment-expression] "]"`
    fn array_part(&mut self) -> ArrayPart {
        let open = self.bump();
        let mut attrs = Vec::new();
        let mut is_static = self.eat(TokenKind::KwStatic);
        let quals = self.qualifiers(&mut attrs);
        is_static |= self.eat(TokenKind::KwStatic);
        let size = if self.at(TokenKind::RBracket) {
            ArraySize::Unknown
        } else if self.at(TokenKind::Star) && self.peek_at(1) == TokenKind::RBracket {
            self.bump();
            ArraySize::Star
        } else {
            ArraySize::Expr(self.assignment_expression())
        };
        self.expect_close(TokenKind::LBracket, open);
        ArrayPart { quals, is_static, size, span: self.since(open) }
    }

    /// `"(" [parameter {"," parameter} ["," "..."] | name {"," name}] ")"`
    fn parameters(&mut self) -> Params {
        let open = self.bump();
        let mut variadic = false;
        let kind = if self.at(TokenKind::RParen) {
            ParamKind::Unspecified
        } else if self.at(TokenKind::KwVoid) && self.peek_at(1) == TokenKind::RParen {
            self.bump();
            ParamKind::List(Box::default())
        } else if self.at_old_parameter() {
            ParamKind::Names(self.old_parameters())
        } else {
            let list = self.scoped(|p| p.parameter_list(&mut variadic));
            ParamKind::List(list)
        };
        self.expect_close(TokenKind::LParen, open);
        Params { kind, variadic, span: self.since(open) }
    }

    fn at_old_parameter(&self) -> bool {
        self.at(TokenKind::Ident)
            && !self.is_type_name_start()
            && matches!(self.peek_at(1), TokenKind::Comma | TokenKind::RParen)
    }

    fn old_parameters(&mut self) -> Box<[Ident]> {
        let mut names = Vec::new();
        while let Some(name) = self.ident() {
            names.push(name);
            if !self.eat(TokenKind::Comma) {
                return names.into();
            }
        }
        self.expected("a name");
        names.into()
    }

    fn parameter_list(&mut self, variadic: &mut bool) -> Box<[Param]> {
        let mut params = Vec::new();
        loop {
            if self.eat(TokenKind::Ellipsis) {
                *variadic = true;
                break;
            }
            let (specs, declarator) = self.parameter_declaration();
            params.push(Param { specs, declarator });
            if self.recovering || !self.eat(TokenKind::Comma) {
                break;
            }
        }
        params.into()
    }

    /// `specifiers (declarator | abstract-declarator) {attribute}`; the name is declared.
    pub fn parameter_declaration(&mut self) -> (SpecsId, DeclaratorId) {
        if self.in_pragma && self.last_fault != self.at {
            self.recovering = false;
        }
        let specs = self.specifiers(Where::Parameter);
        let declarator = self.declarator(Naming::Either);
        self.declarator_tail(declarator, None);
        if let Some(name) = self.name_of(declarator) {
            self.declare(name);
        }
        (specs, declarator)
    }

    /// What a declarator declares.
    pub fn name_of(&self, declarator: DeclaratorId) -> Option<Ident> {
        self.tree.declarators[declarator].name
    }

    /// `["__asm__" "(" string ")"] {attribute}` behind a declarator.
    pub(super) fn declarator_tail(&mut self, declarator: DeclaratorId, label: Option<AsmId>) {
        if label.is_none() && !self.at_attribute() {
            return;
        }
        let mut attrs = Vec::new();
        self.attributes_into(&mut attrs);
        let span = self.prev_span();
        let declarator = &mut self.tree.declarators[declarator];
        declarator.span = declarator.span.to(Span { start: declarator.span.start, end: span.end });
        declarator.asm_label = label.or(declarator.asm_label);
        if !attrs.is_empty() {
            attrs.splice(0..0, declarator.attrs.iter().copied());
            declarator.attrs = attrs.into();
        }
    }

    /// The parameters, if the name itself is a function.
    pub(super) fn function_part(&self, declarator: DeclaratorId) -> Option<&Params> {
        match self.tree.declarators[declarator].parts.first() {
            Some(Derived::Function(params)) => Some(params),
            Some(Derived::Pointer(..) | Derived::Array(_)) | None => None,
        }
    }
}
