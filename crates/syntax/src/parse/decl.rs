//! Declarations, function definitions and initialisers.

use source::Span;

use super::Parser;
use super::declarator::Naming;
use super::specs::Where;
use crate::ast::{
    Decl, DeclId, DeclKind, DeclaratorId, Derived, Designator, ExprId, FunctionDef, Ident, Init,
    InitDeclarator, InitId, InitItem, ParamKind, SpecsId, Storage,
};
use crate::messages;
use crate::token::TokenKind;

impl Parser<'_> {
    /// ```text
    /// translation-unit = {external-declaration}
    /// ```
    pub(super) fn translation_unit(&mut self) {
        while !self.at(TokenKind::Eof) {
            let before = self.at;
            let item = self.external_declaration();
            self.tree.items.push(item);
            if self.at == before {
                self.at += 1;
            }
            self.recovering = false;
        }
    }

    /// ```text
    /// external-declaration = function-definition | declaration | asm-declaration | pragma | ";"
    /// ```
    pub(super) fn external_declaration(&mut self) -> DeclId {
        let start = self.span();
        match self.peek() {
            TokenKind::Pragma => self.pragma_declaration(),
            TokenKind::RBrace => {
                self.fault(messages::unmatched_brace(start));
                self.bump();
                self.recovering = false;
                self.tree.decls.push(Decl { kind: DeclKind::Error, span: start })
            }
            _ => self.declaration(),
        }
    }

    /// ```text
    /// declaration = specifiers [init-declarator {"," init-declarator}] ";"
    ///             | specifiers declarator {declaration} block
    ///             | static-assert | asm-declaration | ";"
    /// ```
    pub(super) fn declaration(&mut self) -> DeclId {
        let start = self.span();
        let kind = match self.peek() {
            TokenKind::Semicolon => {
                self.bump();
                DeclKind::Empty
            }
            TokenKind::KwStaticAssert => {
                let (condition, text) = self.static_assert();
                DeclKind::StaticAssert(condition, text)
            }
            TokenKind::KwAsm => {
                let asm = self.asm();
                self.expect_semicolon("after `__asm__`");
                DeclKind::Asm(asm)
            }
            _ => self.declare_or_define(),
        };
        let span = self.since(start);
        self.tree.decls.push(Decl { kind, span })
    }

    fn declare_or_define(&mut self) -> DeclKind {
        let specs = self.specifiers(Where::Declaration);
        if self.eat(TokenKind::Semicolon) {
            return DeclKind::Declare(specs, Box::default());
        }
        if self.at_next_declaration() {
            self.expect_semicolon("after this declaration");
            return DeclKind::Declare(specs, Box::default());
        }
        let mut declarators = Vec::new();
        while !self.recovering {
            let declarator = self.declarator(Naming::Named);
            if declarators.is_empty() && !self.recovering && self.at_function_body(declarator) {
                return self.function_definition(specs, declarator);
            }
            declarators.push(self.init_declarator(specs, declarator));
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        let is_broken = self.recovering;
        self.expect_semicolon("after this declaration");
        if is_broken && declarators.is_empty() {
            return DeclKind::Error;
        }
        DeclKind::Declare(specs, declarators.into())
    }

    /// `declarator ["__asm__" "(" string ")"] {attribute} ["=" initializer]`
    fn init_declarator(&mut self, specs: SpecsId, declarator: DeclaratorId) -> InitDeclarator {
        let label = self.at(TokenKind::KwAsm).then(|| self.asm());
        self.declarator_tail(declarator, label);
        self.refuse_untyped_parameters(declarator);
        self.declare_as(specs, declarator);
        let init = self.eat(TokenKind::Equal).then(|| self.initializer());
        InitDeclarator { declarator, init }
    }

    /// Makes the name known, as a type or as something else.
    fn declare_as(&mut self, specs: SpecsId, declarator: DeclaratorId) {
        if let Some(name) = self.name_of(declarator) {
            if self.tree.specs[specs].storage == Some(Storage::Typedef) {
                self.declare_typedef(name);
            } else {
                self.declare(name);
            }
        }
    }

    /// `f(size_t)` without that type looks like an old-style list, which has no place here.
    fn refuse_untyped_parameters(&mut self, declarator: DeclaratorId) {
        let names = match self.function_part(declarator).map(|it| &it.kind) {
            Some(ParamKind::Names(names)) => names.first().copied(),
            Some(ParamKind::Unspecified | ParamKind::List(_)) | None => None,
        };
        if let (Some(name), false) = (names, self.recovering) {
            self.unknown_type(name);
        }
    }

    // ------------------------------------------------------------ functions

    /// Whether the declarator just read is that of a function whose definition goes on here.
    fn at_function_body(&self, declarator: DeclaratorId) -> bool {
        if self.at(TokenKind::LBrace) {
            return true;
        }
        let is_old = self
            .function_part(declarator)
            .is_some_and(|it| matches!(it.kind, ParamKind::Names(_) | ParamKind::Unspecified));
        let mut ahead = 0;
        if self.at_attribute() {
            ahead = self.attributes_len();
            if self.peek_at(ahead) == TokenKind::LBrace {
                return true;
            }
        }
        is_old && ahead == 0 && self.starts_specs(self.token())
    }

    /// `specifiers declarator {declaration} block`
    fn function_definition(&mut self, specs: SpecsId, declarator: DeclaratorId) -> DeclKind {
        let place = self.tree.declarators[declarator].span;
        self.declarator_tail(declarator, None);
        if self.function_part(declarator).is_none() {
            self.fault(messages::body_without_function(self.span()));
            self.skip_balanced();
            self.recovering = false;
            return DeclKind::Error;
        }
        self.declare_as(specs, declarator);
        if !self.scopes.is_file_scope() {
            return self.nested_function(declarator, place);
        }
        self.scoped(|p| {
            p.declare_parameters(declarator);
            let mut old_params = Vec::new();
            while p.starts_specs(p.token()) {
                let before = p.at;
                old_params.push(p.declaration());
                if p.at == before {
                    break;
                }
            }
            if !p.at(TokenKind::LBrace) {
                p.expected("the body of the function");
                p.skip_statement();
                return DeclKind::Error;
            }
            let body = p.block();
            let old_params = old_params.into();
            DeclKind::Function(Box::new(FunctionDef { specs, declarator, old_params, body }))
        })
    }

    /// GCC alone has these; one error, and the whole of it is skipped.
    fn nested_function(&mut self, declarator: DeclaratorId, place: Span) -> DeclKind {
        let name = self.name_of(declarator).map(|it| self.text(it.name).to_owned());
        self.fault(messages::nested_function(&name.unwrap_or_default(), place));
        while !matches!(self.peek(), TokenKind::LBrace | TokenKind::RBrace) && !self.at_end() {
            self.bump();
        }
        if self.at(TokenKind::LBrace) {
            self.skip_balanced();
        }
        self.recovering = false;
        DeclKind::Error
    }

    /// Parameters are names of the body's scope too.
    fn declare_parameters(&mut self, declarator: DeclaratorId) {
        let names: Vec<Ident> = match self.tree.declarators[declarator].parts.first() {
            Some(Derived::Function(params)) => match &params.kind {
                ParamKind::Unspecified => Vec::new(),
                ParamKind::Names(names) => names.to_vec(),
                ParamKind::List(list) => {
                    list.iter().filter_map(|it| self.name_of(it.declarator)).collect()
                }
            },
            Some(Derived::Pointer(..) | Derived::Array(_)) | None => Vec::new(),
        };
        for name in names {
            self.declare(name);
        }
    }

    /// `"_Static_assert" "(" constant-expression ["," string] ")" ";"`
    pub(super) fn static_assert(&mut self) -> (ExprId, Option<ExprId>) {
        self.bump();
        let open = self.span();
        self.expect(TokenKind::LParen);
        let condition = self.conditional_expression();
        let text = self.eat(TokenKind::Comma).then(|| self.string());
        self.expect_close(TokenKind::LParen, open);
        self.expect_semicolon("after `_Static_assert(…)`");
        (condition, text)
    }

    // ------------------------------------------------------------ initialisers

    /// ```text
    /// initializer = assignment-expression | "{" [item {"," item} [","]] "}"
    /// ```
    pub fn initializer(&mut self) -> InitId {
        if !self.at(TokenKind::LBrace) {
            let value = self.assignment_expression();
            return self.tree.inits.push(Init::Expr(value));
        }
        let open = self.span();
        if !self.enter() {
            self.skip_balanced();
            return self.tree.inits.push(Init::List(Box::default(), self.since(open)));
        }
        self.bump();
        let mut items = Vec::new();
        loop {
            self.stray_pragmas();
            if self.at(TokenKind::RBrace) || self.recovering {
                break;
            }
            items.push(self.init_item());
            if self.recovering || !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.leave();
        self.stray_pragmas();
        if !self.eat(TokenKind::RBrace) {
            self.expect_close(TokenKind::LBrace, open);
            self.skip_to_close(TokenKind::RBrace);
            self.eat(TokenKind::RBrace);
        }
        let span = self.since(open);
        self.tree.inits.push(Init::List(items.into(), span))
    }

    /// `[designator {designator} ["="] | name ":"] initializer`
    fn init_item(&mut self) -> InitItem {
        let mut designators = Vec::new();
        if self.at(TokenKind::Ident) && self.peek_at(1) == TokenKind::Colon {
            designators.extend(self.ident().map(Designator::Field));
            self.bump();
        }
        while !self.recovering {
            match self.peek() {
                TokenKind::Dot => {
                    self.bump();
                    match self.ident() {
                        Some(member) => designators.push(Designator::Field(member)),
                        None => self.expected("the name of a member"),
                    }
                }
                TokenKind::LBracket => designators.push(self.index_designator()),
                _ => break,
            }
        }
        if !designators.is_empty() {
            // GNU's old form `[0] 1` has no `=`.
            self.eat(TokenKind::Equal);
        }
        InitItem { designators: designators.into(), value: self.initializer() }
    }

    /// `"[" constant-expression ["..." constant-expression] "]"`
    fn index_designator(&mut self) -> Designator {
        let open = self.bump();
        let low = self.conditional_expression();
        let high = self.eat(TokenKind::Ellipsis).then(|| self.conditional_expression());
        self.expect_close(TokenKind::LBracket, open);
        match high {
            Some(high) => Designator::Range(low, high),
            None => Designator::Index(low),
        }
    }
}
