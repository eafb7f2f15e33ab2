//! Expressions.

use source::Span;

use super::Parser;
use super::operator::{self, Level};
use crate::ast::{BinaryOp, Designator, ExprId, ExprKind, Section, TypeNameId, UnaryOp};
use crate::scope::Binding;
use crate::token::TokenKind;

/// Which postfix and primary forms share a rule but not a name.
#[derive(Clone, Copy)]
enum SizeOrAlign {
    Size,
    Align,
}

impl Parser<'_> {
    /// ```text
    /// expression = assignment-expression {"," assignment-expression}
    /// ```
    pub fn expression(&mut self) -> ExprId {
        let start = self.span();
        let mut left = self.assignment_expression();
        while self.at(TokenKind::Comma) && !self.recovering {
            self.bump();
            let right = self.assignment_expression();
            left = self.expr(ExprKind::Binary(BinaryOp::Comma, left, right), self.since(start));
        }
        left
    }

    /// ```text
    /// assignment-expression = conditional-expression [assignment-operator assignment-expression]
    /// ```
    /// What may stand on the left is checked with the types.
    pub fn assignment_expression(&mut self) -> ExprId {
        let start = self.span();
        let left = self.conditional_expression();
        let Some(op) = operator::assignment(self.peek()) else { return left };
        if self.recovering || !self.enter() {
            return left;
        }
        self.bump();
        let right = self.assignment_expression();
        self.leave();
        self.expr(ExprKind::Assign(op, left, right), self.since(start))
    }

    /// ```text
    /// conditional-expression = binary-expression ["?" [expression] ":" conditional-expression]
    /// ```
    pub fn conditional_expression(&mut self) -> ExprId {
        if self.in_pragma && self.last_fault != self.at {
            self.recovering = false;
        }
        let start = self.span();
        let condition = self.binary_expression(Level::LOOSEST);
        if !self.at(TokenKind::Question) || self.recovering || !self.enter() {
            return condition;
        }
        self.bump();
        let middle = if self.at(TokenKind::Colon) { None } else { Some(self.expression()) };
        self.expect(TokenKind::Colon);
        let last = self.conditional_expression();
        self.leave();
        self.expr(ExprKind::Conditional(condition, middle, last), self.since(start))
    }

    /// ```text
    /// binary-expression = cast-expression {binary-operator cast-expression}
    /// ```
    fn binary_expression(&mut self, least: Level) -> ExprId {
        let start = self.span();
        let mut left = self.cast_expression();
        while let Some((level, op)) = operator::binary(self.peek()) {
            if level < least || self.recovering {
                break;
            }
            self.bump();
            let right = self.binary_expression(level.tighter());
            left = self.expr(ExprKind::Binary(op, left, right), self.since(start));
        }
        left
    }

    /// ```text
    /// cast-expression = "(" type-name ")" cast-expression | unary-expression
    /// ```
    pub(super) fn cast_expression(&mut self) -> ExprId {
        // Most expressions are names and numbers: they need no further level.
        let is_plain = matches!(self.peek(), TokenKind::Ident | TokenKind::Number);
        if is_plain {
            return self.postfix_expression();
        }
        if !self.enter() {
            return self.expr(ExprKind::Error, self.span());
        }
        let result = match self.peek() {
            TokenKind::LParen if self.starts_type_name_at(1) || self.at_cast_to_unknown() => {
                self.cast_or_compound()
            }
            TokenKind::LParen if self.sections && self.peek_at(1) == TokenKind::LBracket => {
                self.shaped()
            }
            kind => match operator::prefix(kind) {
                Some(op) => self.prefix_expression(op),
                None => self.unary_keyword(kind),
            },
        };
        self.leave();
        result
    }

    /// Whether a type name begins `ahead` tokens further.
    fn starts_type_name_at(&self, ahead: usize) -> bool {
        let token = self.token_at(ahead);
        self.starts_type(token) && !(self.in_pragma && self.peek_at(ahead).is_end())
    }

    /// Whether `(name) operand` stands here, with a name that only makes sense as a type.
    fn at_cast_to_unknown(&self) -> bool {
        self.peek_at(1) == TokenKind::Ident
            && self.peek_at(2) == TokenKind::RParen
            && matches!(self.peek_at(3), TokenKind::Ident | TokenKind::Number | TokenKind::Str)
            && self.scopes.get(self.token_at(1).name) == Binding::Unknown
    }

    /// `"(" type-name ")" (cast-expression | "{" initializer-list "}")`
    fn cast_or_compound(&mut self) -> ExprId {
        let start = self.span();
        let ((ty, operand), below) = self.measured(|p| {
            let ty = p.type_in_parens();
            if p.at(TokenKind::LBrace) {
                return (ty, None);
            }
            (ty, (!p.recovering).then(|| p.cast_expression()))
        });
        match operand {
            Some(operand) => self.expr_above(ExprKind::Cast(ty, operand), self.since(start), below),
            None if self.recovering => self.expr(ExprKind::Error, self.since(start)),
            None => {
                let literal = self.compound_literal(start, ty, below);
                self.postfix_operators(start, literal)
            }
        }
    }

    fn compound_literal(&mut self, start: Span, ty: TypeNameId, below: u32) -> ExprId {
        let (init, inside) = self.measured(Self::initializer);
        let kind = ExprKind::CompoundLiteral(ty, init);
        self.expr_above(kind, self.since(start), below.max(inside))
    }

    /// `"([" expression "]" {"[" expression "]"} ")" cast-expression`: a pointer seen as an array,
    /// in the lists of directives.
    fn shaped(&mut self) -> ExprId {
        let start = self.bump();
        let mut extents = Vec::new();
        while self.at(TokenKind::LBracket) && !self.recovering {
            let open = self.bump();
            extents.push(self.without_sections(Self::expression));
            self.expect_close(TokenKind::LBracket, open);
        }
        self.expect_close(TokenKind::LParen, start);
        let operand = self.cast_expression();
        self.expr(ExprKind::Shaped(extents.into(), operand), self.since(start))
    }

    /// `("+" | "-" | "!" | "~" | "*" | "&" | "++" | "--" | …) cast-expression`
    fn prefix_expression(&mut self, op: UnaryOp) -> ExprId {
        let start = self.bump();
        let operand = self.cast_expression();
        self.expr(ExprKind::Unary(op, operand), self.since(start))
    }

    /// ```text
    /// unary-expression = postfix-expression | prefix-operator cast-expression
    ///                  | ("sizeof" | "_Alignof") (unary-expression | "(" type-name ")")
    ///                  | "&&" label
    /// ```
    fn unary_keyword(&mut self, kind: TokenKind) -> ExprId {
        if kind == TokenKind::KwSizeof {
            return self.size_or_align(SizeOrAlign::Size);
        }
        if kind == TokenKind::KwAlignof {
            return self.size_or_align(SizeOrAlign::Align);
        }
        if kind == TokenKind::AmpAmp {
            return self.label_address();
        }
        self.postfix_expression()
    }

    fn size_or_align(&mut self, which: SizeOrAlign) -> ExprId {
        let start = self.bump();
        if self.at(TokenKind::LParen) && self.starts_type_name_at(1) {
            let paren = self.span();
            let (ty, below) = self.measured(Self::type_in_parens);
            if !self.at(TokenKind::LBrace) {
                let kind = match which {
                    SizeOrAlign::Size => ExprKind::SizeofType(ty),
                    SizeOrAlign::Align => ExprKind::AlignofType(ty),
                };
                return self.expr_above(kind, self.since(start), below);
            }
            let literal = self.compound_literal(paren, ty, below);
            let operand = self.postfix_operators(paren, literal);
            return self.size_or_align_of(which, operand, start);
        }
        let operand = self.cast_expression();
        self.size_or_align_of(which, operand, start)
    }

    fn size_or_align_of(&mut self, which: SizeOrAlign, operand: ExprId, start: Span) -> ExprId {
        let kind = match which {
            SizeOrAlign::Size => ExprKind::SizeofExpr(operand),
            SizeOrAlign::Align => ExprKind::AlignofExpr(operand),
        };
        self.expr(kind, self.since(start))
    }

    fn label_address(&mut self) -> ExprId {
        let start = self.bump();
        match self.ident() {
            Some(label) => self.expr(ExprKind::LabelAddr(label), self.since(start)),
            None => {
                self.expected("a label");
                self.expr(ExprKind::Error, start)
            }
        }
    }

    fn postfix_expression(&mut self) -> ExprId {
        let start = self.span();
        let primary = self.primary_expression();
        self.postfix_operators(start, primary)
    }

    /// ```text
    /// postfix-expression = primary-expression {"[" expression "]" | "(" [arguments] ")"
    ///                    | "." name | "->" name | "++" | "--"}
    /// ```
    fn postfix_operators(&mut self, start: Span, primary: ExprId) -> ExprId {
        let mut left = primary;
        while !self.recovering {
            let kind = match self.peek() {
                TokenKind::LBracket | TokenKind::LParen if !self.enter() => break,
                TokenKind::LBracket => self.index_or_section(left),
                TokenKind::LParen => self.call(left),
                TokenKind::Dot | TokenKind::Arrow => self.member(left),
                TokenKind::PlusPlus => {
                    self.bump();
                    ExprKind::Unary(UnaryOp::PostInc, left)
                }
                TokenKind::MinusMinus => {
                    self.bump();
                    ExprKind::Unary(UnaryOp::PostDec, left)
                }
                _ => break,
            };
            left = self.expr(kind, self.since(start));
        }
        left
    }

    fn member(&mut self, left: ExprId) -> ExprKind {
        let is_arrow = self.at(TokenKind::Arrow);
        self.bump();
        match self.ident() {
            Some(member) if is_arrow => ExprKind::Arrow(left, member),
            Some(member) => ExprKind::Member(left, member),
            None => {
                self.expected("the name of a member");
                ExprKind::Error
            }
        }
    }

    /// `"(" [assignment-expression {"," assignment-expression}] ")"`, one level deeper.
    fn call(&mut self, callee: ExprId) -> ExprKind {
        let open = self.bump();
        let args = self.without_sections(|p| p.arguments(open));
        self.leave();
        ExprKind::Call(callee, args)
    }

    fn arguments(&mut self, open: Span) -> Box<[ExprId]> {
        if self.eat(TokenKind::RParen) {
            return Box::default();
        }
        let mark = self.lists.exprs.len();
        loop {
            let arg = self.assignment_expression();
            self.lists.exprs.push(arg);
            if self.recovering || !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::LParen, open);
        self.lists.exprs.drain(mark..).collect()
    }

    /// `"[" expression "]"`; in the lists of directives also
    /// `"[" [expression] ":" [expression] [":" [expression]] "]"`.
    fn index_or_section(&mut self, base: ExprId) -> ExprKind {
        let open = self.bump();
        let allowed = self.sections;
        let kind = self.without_sections(|p| {
            let lower = (!allowed || !p.at(TokenKind::Colon)).then(|| p.expression());
            if let (Some(index), false) = (lower, allowed && p.at(TokenKind::Colon)) {
                return ExprKind::Index(base, index);
            }
            p.bump();
            let stops = |p: &Self| p.at(TokenKind::Colon) || p.at(TokenKind::RBracket);
            let length = (!stops(p)).then(|| p.expression());
            let has_stride_colon = p.eat(TokenKind::Colon);
            let stride = (has_stride_colon && !stops(p)).then(|| p.expression());
            let section = Section { base, lower, length, stride, has_stride_colon };
            ExprKind::Section(Box::new(section))
        });
        self.expect_close(TokenKind::LBracket, open);
        self.leave();
        kind
    }

    /// An item in a list of a directive: an expression without binary operators in which sections
    /// `a[lower:length:stride]` and shapes `([n][m])p` are accepted.
    pub fn list_item(&mut self) -> ExprId {
        if self.last_fault != self.at {
            self.recovering = false;
        }
        let outside = std::mem::replace(&mut self.sections, true);
        let item = self.cast_expression();
        self.sections = outside;
        item
    }

    fn without_sections<R>(&mut self, parse: impl FnOnce(&mut Self) -> R) -> R {
        let outside = std::mem::replace(&mut self.sections, false);
        let result = parse(self);
        self.sections = outside;
        result
    }

    /// ```text
    /// primary-expression = name | number | character | string {string}
    ///                    | "(" expression ")" | "(" block ")" | generic-selection | builtin
    /// ```
    fn primary_expression(&mut self) -> ExprId {
        let token = self.token();
        let kind = match token.kind {
            TokenKind::Ident => ExprKind::Name(token.name),
            TokenKind::Number => ExprKind::Number(token.name),
            TokenKind::Char => ExprKind::Char(token.name),
            TokenKind::Str => return self.string(),
            TokenKind::LParen => return self.parenthesised(),
            TokenKind::KwGeneric => return self.builtin(Self::generic_selection),
            TokenKind::KwBuiltinVaArg => return self.builtin(Self::va_arg),
            TokenKind::KwBuiltinOffsetof => return self.builtin(Self::offsetof),
            TokenKind::KwBuiltinTypesCompatible => return self.builtin(Self::types_compatible),
            TokenKind::KwBuiltinChooseExpr => return self.builtin(Self::choose_expr),
            TokenKind::KwBuiltinConvertVector => return self.builtin(Self::convert_vector),
            TokenKind::Error => {
                self.recovering = true;
                let span = self.bump();
                return self.expr(ExprKind::Error, span);
            }
            _ => {
                self.expected("an expression");
                return self.expr(ExprKind::Error, token.span());
            }
        };
        let span = self.bump();
        self.expr(kind, span)
    }

    /// `string {string}`
    pub(super) fn string(&mut self) -> ExprId {
        let start = self.span();
        if !self.at(TokenKind::Str) {
            self.expected("a string");
            return self.expr(ExprKind::Error, start);
        }
        let first = self.token().name;
        self.bump();
        if !self.at(TokenKind::Str) {
            return self.expr(ExprKind::Str(Box::new([first])), start);
        }
        let mut parts = vec![first];
        while self.at(TokenKind::Str) {
            parts.push(self.token().name);
            self.bump();
        }
        self.expr(ExprKind::Str(parts.into()), self.since(start))
    }

    /// `"(" expression ")"` or GNU `"(" block ")"`
    fn parenthesised(&mut self) -> ExprId {
        let open = self.bump();
        if self.at(TokenKind::LBrace) {
            let (block, below) = self.measured(|p| p.without_sections(Self::block));
            self.expect_close(TokenKind::LParen, open);
            return self.expr_above(ExprKind::StmtExpr(block), self.since(open), below);
        }
        let inner = self.expression();
        self.expect_close(TokenKind::LParen, open);
        self.expr(ExprKind::Paren(inner), self.since(open))
    }

    // ------------------------------------------------------------ forms that take types

    /// `keyword "(" … ")"`, with `parse` for what is inside.
    fn builtin(&mut self, parse: impl FnOnce(&mut Self) -> ExprKind) -> ExprId {
        let start = self.bump();
        let open = self.span();
        if !self.expect(TokenKind::LParen) {
            return self.expr(ExprKind::Error, start);
        }
        let (kind, below) = self.measured(|p| p.without_sections(parse));
        self.expect_close(TokenKind::LParen, open);
        self.expr_above(kind, self.since(start), below)
    }

    /// `assignment-expression {"," (type-name | "default") ":" assignment-expression}`
    fn generic_selection(&mut self) -> ExprKind {
        let control = self.assignment_expression();
        let mut choices = Vec::new();
        while self.eat(TokenKind::Comma) && !self.recovering {
            let ty = if self.eat(TokenKind::KwDefault) { None } else { Some(self.type_name()) };
            self.expect(TokenKind::Colon);
            choices.push((ty, self.assignment_expression()));
        }
        if choices.is_empty() {
            self.expect(TokenKind::Comma);
        }
        ExprKind::Generic(control, choices.into())
    }

    /// `assignment-expression "," type-name`
    fn va_arg(&mut self) -> ExprKind {
        let list = self.assignment_expression();
        self.expect(TokenKind::Comma);
        ExprKind::VaArg(list, self.type_name())
    }

    /// `type-name "," name {"." name | "[" expression "]"}`
    fn offsetof(&mut self) -> ExprKind {
        let ty = self.type_name();
        self.expect(TokenKind::Comma);
        let mut path = Vec::new();
        match self.ident() {
            Some(member) => path.push(Designator::Field(member)),
            None => self.expected("the name of a member"),
        }
        while !self.recovering {
            if self.eat(TokenKind::Dot) {
                match self.ident() {
                    Some(member) => path.push(Designator::Field(member)),
                    None => self.expected("the name of a member"),
                }
            } else if self.at(TokenKind::LBracket) {
                let open = self.bump();
                path.push(Designator::Index(self.expression()));
                self.expect_close(TokenKind::LBracket, open);
            } else {
                break;
            }
        }
        ExprKind::Offsetof(ty, path.into())
    }

    /// `type-name "," type-name`
    fn types_compatible(&mut self) -> ExprKind {
        let one = self.type_name();
        self.expect(TokenKind::Comma);
        ExprKind::TypesCompatible(one, self.type_name())
    }

    /// `assignment-expression "," assignment-expression "," assignment-expression`
    fn choose_expr(&mut self) -> ExprKind {
        let condition = self.assignment_expression();
        self.expect(TokenKind::Comma);
        let yes = self.assignment_expression();
        self.expect(TokenKind::Comma);
        ExprKind::ChooseExpr(condition, yes, self.assignment_expression())
    }

    /// `assignment-expression "," type-name`
    fn convert_vector(&mut self) -> ExprKind {
        let vector = self.assignment_expression();
        self.expect(TokenKind::Comma);
        ExprKind::ConvertVector(vector, self.type_name())
    }
}
