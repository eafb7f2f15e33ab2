//! Statements and blocks.

use source::Span;

use super::{MAX_HEIGHT, Parser};
use crate::ast::{AttrId, ExprId, For, ForInit, Ident, Stmt, StmtId, StmtKind};
use crate::messages;
use crate::scope::Binding;
use crate::token::TokenKind;

/// What stands in front of a statement's colon.
enum Label {
    Name(Ident, Box<[AttrId]>),
    Case(ExprId, Option<ExprId>),
    Default,
}

impl Parser<'_> {
    fn stmt(&mut self, kind: StmtKind, start: Span) -> StmtId {
        let span = self.since(start);
        self.tree.stmts.push(Stmt { kind, span })
    }

    /// ```text
    /// block = "{" {block-item} "}"
    /// ```
    pub(super) fn block(&mut self) -> StmtId {
        let open = self.bump();
        let mark = self.lists.stmts.len();
        self.scoped(|p| {
            while !p.at(TokenKind::RBrace) && !p.at(TokenKind::Eof) {
                let before = p.at;
                let item = p.block_item();
                p.lists.stmts.push(item);
                if p.recovering {
                    p.skip_statement();
                }
                if p.at == before {
                    p.at += 1;
                }
            }
        });
        self.expect_close(TokenKind::LBrace, open);
        let items: Box<[StmtId]> = self.lists.stmts.drain(mark..).collect();
        self.stmt(StmtKind::Block(items), open)
    }

    /// ```text
    /// block-item = declaration | statement | pragma | "__label__" name {"," name} ";"
    /// ```
    pub(super) fn block_item(&mut self) -> StmtId {
        match self.peek() {
            TokenKind::Pragma => self.pragma_statement(false),
            TokenKind::KwLabel => self.local_labels(),
            _ if self.at_declaration() => self.declaration_statement(),
            _ => self.statement(),
        }
    }

    fn declaration_statement(&mut self) -> StmtId {
        let start = self.span();
        let declaration = self.declaration();
        self.stmt(StmtKind::Decl(declaration), start)
    }

    /// Whether a declaration begins here, in a block.
    fn at_declaration(&self) -> bool {
        match self.peek() {
            TokenKind::KwStaticAssert => true,
            TokenKind::Ident => self.at_type_of_declaration(),
            TokenKind::KwExtension => {
                let mut ahead = 1;
                while self.peek_at(ahead) == TokenKind::KwExtension {
                    ahead += 1;
                }
                self.starts_specs(self.token_at(ahead))
                    || self.peek_at(ahead) == TokenKind::KwStaticAssert
            }
            TokenKind::KwAttribute | TokenKind::LBracket if self.at_attribute() => {
                let next = self.token_at(self.attributes_len());
                self.starts_specs(next)
            }
            _ => self.starts_specs(self.token()),
        }
    }

    /// Whether a name stands here that is, or most likely was meant to be, a type.
    fn at_type_of_declaration(&self) -> bool {
        let name = self.token().name;
        let next = self.peek_at(1);
        match self.scopes.get(name) {
            Binding::Type | Binding::UnknownType => next != TokenKind::Colon,
            Binding::Value => next == TokenKind::Ident,
            // `unknown *p;` as a product would be of no use.
            Binding::Unknown => {
                next == TokenKind::Ident
                    || next == TokenKind::Star
                        && self.peek_at(2) == TokenKind::Ident
                        && matches!(
                            self.peek_at(3),
                            TokenKind::Semicolon
                                | TokenKind::Equal
                                | TokenKind::Comma
                                | TokenKind::LBracket
                        )
            }
        }
    }

    /// `"__label__" name {"," name} ";"`
    fn local_labels(&mut self) -> StmtId {
        let start = self.bump();
        let mut labels = Vec::new();
        while let Some(label) = self.ident() {
            labels.push(label);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        if labels.is_empty() {
            self.expected("a label");
        }
        self.expect_semicolon("after `__label__`");
        self.stmt(StmtKind::LocalLabels(labels.into()), start)
    }

    /// A statement as the body of another. A declaration there is refused, but read.
    fn body(&mut self) -> StmtId {
        self.scoped(Self::body_statement)
    }

    fn body_statement(&mut self) -> StmtId {
        if self.at(TokenKind::Pragma) {
            return self.pragma_statement(true);
        }
        if self.at_declaration() && !self.recovering {
            self.report(messages::declaration_as_body(self.span()));
            return self.declaration_statement();
        }
        self.statement()
    }

    /// ```text
    /// statement = {label} (block | selection | iteration | jump | asm | [expression] ";")
    /// ```
    pub(super) fn statement(&mut self) -> StmtId {
        if !self.enter() {
            return self.skipped_statement();
        }
        let statement = if self.at_label() { self.labelled() } else { self.unlabelled() };
        self.leave();
        statement
    }

    /// Stands for a statement that is too deep to be read.
    pub(super) fn skipped_statement(&mut self) -> StmtId {
        let start = self.span();
        if self.at(TokenKind::LBrace) {
            self.skip_balanced();
            self.recovering = self.at(TokenKind::Eof);
        } else {
            self.skip_statement();
        }
        self.stmt(StmtKind::Error, start)
    }

    fn unlabelled(&mut self) -> StmtId {
        let start = self.span();
        let kind = match self.peek() {
            TokenKind::Pragma => return self.pragma_statement(true),
            TokenKind::LBrace => return self.block(),
            TokenKind::KwIf => return self.scoped(Self::if_statement),
            TokenKind::KwAttribute | TokenKind::LBracket if self.at_attribute() => {
                return self.attributed_statement();
            }
            TokenKind::Semicolon => {
                self.bump();
                StmtKind::Empty
            }
            TokenKind::KwWhile => self.scoped(|parser| {
                parser.bump();
                let condition = parser.condition();
                StmtKind::While(condition, parser.body())
            }),
            TokenKind::KwSwitch => self.scoped(|parser| {
                parser.bump();
                let value = parser.condition();
                StmtKind::Switch(value, parser.body())
            }),
            TokenKind::KwDo => self.scoped(Self::do_statement),
            TokenKind::KwFor => self.scoped(Self::for_statement),
            TokenKind::KwGoto => self.goto_statement(),
            TokenKind::KwContinue => {
                self.bump();
                self.expect_semicolon("after `continue`");
                StmtKind::Continue
            }
            TokenKind::KwBreak => {
                self.bump();
                self.expect_semicolon("after `break`");
                StmtKind::Break
            }
            TokenKind::KwReturn => {
                self.bump();
                let value = (!self.at(TokenKind::Semicolon)).then(|| self.expression());
                self.expect_semicolon("after this `return`");
                StmtKind::Return(value)
            }
            TokenKind::KwAsm => {
                let asm = self.asm();
                self.expect_semicolon("after `__asm__`");
                StmtKind::Asm(asm)
            }
            TokenKind::KwElse => {
                self.fault(messages::else_without_if(start));
                self.bump();
                self.recovering = false;
                StmtKind::Error
            }
            TokenKind::RBrace => {
                self.expected("a statement");
                self.recovering = false;
                StmtKind::Error
            }
            _ => {
                let value = self.expression();
                let is_broken = self.recovering;
                self.expect_semicolon("after this expression");
                if is_broken { StmtKind::Error } else { StmtKind::Expr(value) }
            }
        };
        self.stmt(kind, start)
    }

    /// `{attribute} (";" | statement)`
    fn attributed_statement(&mut self) -> StmtId {
        let start = self.span();
        let mut attrs = Vec::new();
        self.attributes_into(&mut attrs);
        if self.eat(TokenKind::Semicolon) {
            return self.stmt(StmtKind::Attributes(attrs.into()), start);
        }
        // Hints such as `[[likely]]` say nothing about what the statement does.
        self.body()
    }

    // ------------------------------------------------------------ labels

    fn at_label(&self) -> bool {
        match self.peek() {
            TokenKind::Ident => self.peek_at(1) == TokenKind::Colon,
            TokenKind::KwCase | TokenKind::KwDefault => true,
            _ => false,
        }
    }

    /// `label {label} [statement | declaration]`
    ///
    /// Tables of a thousand cases are common, so labels in a row do not count as nesting.
    fn labelled(&mut self) -> StmtId {
        let mut labels = Vec::new();
        while self.at_label() && !self.recovering {
            let start = self.span();
            let label = self.label();
            labels.push((start, label));
        }
        if labels.len() > MAX_HEIGHT as usize {
            let (start, _) = labels.swap_remove(0);
            self.fault(messages::chain_too_long(start));
            labels.clear();
        }
        let start = self.span();
        let mut statement = match self.peek() {
            _ if self.recovering => {
                self.skip_statement();
                self.stmt(StmtKind::Error, start)
            }
            // C23: a label may be the last thing in a block.
            TokenKind::RBrace => {
                let span = self.prev_span().after();
                self.tree.stmts.push(Stmt { kind: StmtKind::Empty, span })
            }
            TokenKind::Pragma => self.pragma_statement(true),
            _ if self.at_declaration() => self.declaration_statement(),
            _ => self.unlabelled(),
        };
        for (start, label) in labels.into_iter().rev() {
            let kind = match label {
                Label::Name(name, attrs) => StmtKind::Label(name, attrs, statement),
                Label::Case(low, high) => StmtKind::Case(low, high, statement),
                Label::Default => StmtKind::Default(statement),
            };
            statement = self.stmt(kind, start);
        }
        statement
    }

    /// `name ":" {attribute} | "case" constant-expression ["..." constant-expression] ":"
    /// | "default" ":"`
    fn label(&mut self) -> Label {
        if let Some(name) = self.ident() {
            self.expect(TokenKind::Colon);
            let mut attrs = Vec::new();
            if self.at(TokenKind::KwAttribute) {
                self.attributes_into(&mut attrs);
            }
            return Label::Name(name, attrs.into());
        }
        if self.eat(TokenKind::KwDefault) {
            self.expect(TokenKind::Colon);
            return Label::Default;
        }
        self.bump();
        let low = self.conditional_expression();
        let high = self.eat(TokenKind::Ellipsis).then(|| self.conditional_expression());
        self.expect(TokenKind::Colon);
        Label::Case(low, high)
    }

    // ------------------------------------------------------------ selection and iteration

    /// `"(" expression ")"`; a forgotten `)` in front of the body is forgiven.
    fn condition(&mut self) -> ExprId {
        let open = self.span();
        self.expect(TokenKind::LParen);
        let condition = self.expression();
        self.close_head(open);
        condition
    }

    /// The `)` in front of a body.
    fn close_head(&mut self, open: Span) {
        if !self.eat(TokenKind::RParen) {
            self.expect_close(TokenKind::LParen, open);
            self.skip_to_close(TokenKind::RParen);
            let found = self.eat(TokenKind::RParen);
            self.recovering = !found && !self.at(TokenKind::LBrace);
        }
    }

    /// ```text
    /// if = "if" "(" expression ")" statement ["else" statement]
    /// ```
    /// A chain of `else if` is one row, however long.
    fn if_statement(&mut self) -> StmtId {
        let mut rungs = Vec::new();
        let mut last = None;
        loop {
            let start = self.bump();
            let condition = self.condition();
            if self.recovering {
                self.skip_statement();
            }
            let then = self.body();
            rungs.push((start, condition, then));
            if !self.at(TokenKind::KwElse) {
                break;
            }
            self.bump();
            if !self.at(TokenKind::KwIf) {
                last = Some(self.body());
                break;
            }
        }
        if rungs.len() > MAX_HEIGHT as usize + 1
            && let Some(&(start, ..)) = rungs.first()
        {
            self.fault(messages::chain_too_long(start));
            self.recovering = false;
            return self.stmt(StmtKind::Error, start);
        }
        for (start, condition, then) in rungs.into_iter().rev() {
            last = Some(self.stmt(StmtKind::If(condition, then, last), start));
        }
        match last {
            Some(statement) => statement,
            None => self.stmt(StmtKind::Error, self.prev_span()),
        }
    }

    /// `"do" statement "while" "(" expression ")" ";"`
    fn do_statement(&mut self) -> StmtKind {
        let start = self.bump();
        let body = self.body();
        if !self.eat(TokenKind::KwWhile) {
            let fault = messages::missing(
                TokenKind::KwWhile,
                self.prev_span().after(),
                "after the body of `do`",
            );
            self.fault(fault.label(start, "this `do`"));
            return StmtKind::Error;
        }
        let condition = self.condition();
        self.expect_semicolon("after `do … while (…)`");
        StmtKind::DoWhile(body, condition)
    }

    /// `"for" "(" (declaration | [expression] ";") [expression] ";" [expression] ")" statement`
    fn for_statement(&mut self) -> StmtKind {
        self.bump();
        let open = self.span();
        self.expect(TokenKind::LParen);
        let init = self.for_init();
        let is_end = |p: &Self| p.at(TokenKind::Semicolon) || p.recovering;
        let cond = (!is_end(self)).then(|| self.expression());
        if !self.recovering {
            self.expect(TokenKind::Semicolon);
        }
        let is_end = self.at(TokenKind::RParen) || self.recovering;
        let step = (!is_end).then(|| self.expression());
        self.close_head(open);
        if self.recovering {
            self.skip_statement();
            return StmtKind::Error;
        }
        let body = self.body();
        StmtKind::For(Box::new(For { init, cond, step, body }))
    }

    fn for_init(&mut self) -> ForInit {
        if self.eat(TokenKind::Semicolon) {
            return ForInit::Nothing;
        }
        if !self.at_declaration() {
            let value = self.expression();
            self.expect(TokenKind::Semicolon);
            return ForInit::Expr(value);
        }
        let skips = self.skips;
        let declaration = self.declaration();
        // The declaration found its own way on, to a `;` that is not the one sought here.
        self.recovering |= self.skips != skips;
        ForInit::Decl(declaration)
    }

    // ------------------------------------------------------------ jumps

    /// `"goto" (name | "*" expression) ";"`
    fn goto_statement(&mut self) -> StmtKind {
        self.bump();
        let kind = if self.eat(TokenKind::Star) {
            StmtKind::GotoExpr(self.expression())
        } else if let Some(label) = self.ident() {
            StmtKind::Goto(label)
        } else {
            self.expected("a label");
            StmtKind::Error
        };
        self.expect_semicolon("after this `goto`");
        kind
    }
}
