//! `asm`: statements, labels of declarators, and texts at file scope.

use super::Parser;
use crate::ast::{Asm, AsmId, AsmOperand, ExprId, Ident};
use crate::token::TokenKind;

impl Parser<'_> {
    /// ```text
    /// asm = "__asm__" {"volatile" | "goto" | "inline"} "(" string
    ///       [":" [operands] [":" [operands] [":" [strings] [":" [labels]]]]] ")"
    /// ```
    pub(super) fn asm(&mut self) -> AsmId {
        let start = self.bump();
        let (mut is_volatile, mut is_goto, mut is_inline) = (false, false, false);
        loop {
            match self.peek() {
                TokenKind::KwVolatile => is_volatile = true,
                TokenKind::KwGoto => is_goto = true,
                TokenKind::KwInline => is_inline = true,
                _ => break,
            }
            self.bump();
        }
        let open = self.span();
        self.expect(TokenKind::LParen);
        let template = self.string();
        let mut colons = 0;
        let outputs = self.asm_section(&mut colons, Self::asm_operand);
        let inputs = self.asm_section(&mut colons, Self::asm_operand);
        let clobbers: Box<[ExprId]> = self.asm_section(&mut colons, |p| Some(p.string()));
        let labels: Box<[Ident]> = self.asm_section(&mut colons, Self::asm_label);
        self.expect_close(TokenKind::LParen, open);
        let span = self.since(start);
        self.tree.asms.push(Asm {
            is_volatile,
            is_goto,
            is_inline,
            template,
            colons,
            outputs,
            inputs,
            clobbers,
            labels,
            span,
        })
    }

    /// `[":" [item {"," item}]]`
    fn asm_section<T>(
        &mut self,
        colons: &mut u8,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Box<[T]> {
        let mut items = Vec::new();
        if self.recovering || !self.eat(TokenKind::Colon) {
            return items.into();
        }
        *colons += 1;
        if matches!(self.peek(), TokenKind::Colon | TokenKind::RParen) {
            return items.into();
        }
        while let Some(read) = item(self) {
            items.push(read);
            if self.recovering || !self.eat(TokenKind::Comma) {
                break;
            }
        }
        items.into()
    }

    /// `["[" name "]"] string "(" expression ")"`
    fn asm_operand(&mut self) -> Option<AsmOperand> {
        let mut name = None;
        if self.at(TokenKind::LBracket) {
            let open = self.bump();
            name = self.word().map(|name| Ident { name, span: self.bump() });
            self.expect_close(TokenKind::LBracket, open);
        }
        let constraint = self.string();
        let open = self.span();
        if !self.expect(TokenKind::LParen) {
            return None;
        }
        let value = self.expression();
        self.expect_close(TokenKind::LParen, open);
        Some(AsmOperand { name, constraint, value })
    }

    fn asm_label(&mut self) -> Option<Ident> {
        let label = self.ident();
        if label.is_none() {
            self.expected("a label");
        }
        label
    }
}
