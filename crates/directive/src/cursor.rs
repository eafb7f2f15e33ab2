//! Moving along the text of a directive: words, lists, modifiers, and the way on after a fault.
//!
//! A [`Reader`] wraps the parser. Its methods either give what they are asked for or have reported
//! why not and answer [`Reported`]; whoever reads a clause passes that on, and the frame in
//! [`crate::read`] goes on behind the clause.

use ir::construct::{IteratorVar, Leaf};
use source::{Name, Span};
use syntax::ast::{ExprId, Ident};
use syntax::{Parser, TokenKind};

use crate::table::{Choices, Standard};
use crate::{Written, messages};

/// A fault that the user has been told of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported;

/// What was read, or nothing because of a fault that has been reported.
pub(crate) type Read<T> = Result<T, Reported>;

/// Reads one directive.
pub(crate) struct Reader<'a, 'p> {
    pub(crate) p: &'a mut Parser<'p>,
    pub(crate) standard: &'static Standard,
    /// The clause or directive being read, as written, and where: for messages.
    pub(crate) what: String,
    pub(crate) what_span: Span,
    /// The leaves of the directive being read.
    pub(crate) leaves: Vec<Leaf>,
    /// How many directives inside clauses are open.
    pub(crate) depth: u32,
}

/// Words and punctuation.
impl Reader<'_, '_> {
    /// The word that stands here, or nothing.
    pub(crate) fn word(&self) -> &str {
        self.word_at(0)
    }

    /// The word `n` tokens further, or nothing.
    pub(crate) fn word_at(&self, n: usize) -> &str {
        self.p.word_at(n).map(|it| self.p.text(it)).unwrap_or_default()
    }

    /// Takes `word` if it stands here.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.word() == word;
        if found {
            self.p.bump();
        }
        found
    }

    /// Takes `word :` if it stands here.
    pub(crate) fn eat_word_colon(&mut self, word: &str) -> bool {
        let found = self.word() == word && self.p.peek_at(1) == TokenKind::Colon;
        if found {
            self.p.bump();
            self.p.bump();
        }
        found
    }

    /// How a message names what stands here.
    pub(crate) fn found(&self) -> String {
        match self.p.spelling() {
            Some(name) => format!("`{}`", self.p.text(name)),
            None => self.p.peek().describe().to_owned(),
        }
    }

    /// Takes this token or reports that it is missing.
    pub(crate) fn expect(&mut self, kind: TokenKind) -> Read<Span> {
        if self.p.at(kind) { Ok(self.p.bump()) } else { Err(self.expected(kind.describe())) }
    }

    /// Reports that something else should stand here.
    pub(crate) fn expected(&mut self, what: &str) -> Reported {
        let found = self.found();
        self.report(messages::expected(what, &found, self.p.span(), &self.what, self.what_span))
    }

    pub(crate) fn report(&mut self, fault: source::Diagnostic) -> Reported {
        self.p.report(fault);
        Reported
    }

    /// Any word, keywords included.
    pub(crate) fn any_word(&mut self, what: &str) -> Read<Name> {
        match self.p.word() {
            Some(name) => {
                self.p.bump();
                Ok(name)
            }
            None => Err(self.expected(what)),
        }
    }

    /// A name that is no keyword.
    pub(crate) fn ident(&mut self, what: &str) -> Read<Ident> {
        match self.p.ident() {
            Some(ident) => Ok(ident),
            None => Err(self.expected(what)),
        }
    }

    /// One of the words of `choices`.
    pub(crate) fn choice<T: Copy>(&mut self, choices: &Choices<T>) -> Read<T> {
        let Some(name) = self.p.word() else { return Err(self.expected(choices.what)) };
        let word = self.p.text(name);
        if let Some((_, value)) = choices.words.iter().find(|(it, _)| *it == word) {
            self.p.bump();
            return Ok(*value);
        }
        let known: Vec<&str> = choices.words.iter().map(|it| it.0).collect();
        let fault = messages::unknown_choice(choices.what, word, &known, self.p.span(), &self.what);
        Err(self.report(fault))
    }

    /// Whether one of the words of `choices` stands here.
    pub(crate) fn at_choice<T>(&self, choices: &Choices<T>) -> bool {
        choices.words.iter().any(|(it, _)| *it == self.word())
    }
}

/// Lists and expressions.
impl Reader<'_, '_> {
    /// What `parse` gives, if it had nothing to complain about.
    pub(crate) fn clean<T>(&mut self, parse: impl FnOnce(&mut Parser<'_>) -> T) -> Read<T> {
        if self.p.at_end() || self.p.at(TokenKind::RParen) {
            return Err(self.expected("an expression"));
        }
        let mark = self.p.mark();
        let result = parse(self.p);
        if self.p.is_clean_since(mark) { Ok(result) } else { Err(Reported) }
    }

    /// An expression without a comma.
    pub(crate) fn expr(&mut self) -> Read<ExprId> {
        self.clean(|p| p.assignment_expression())
    }

    /// A variable, array section, member or the like.
    pub(crate) fn item(&mut self) -> Read<ExprId> {
        self.clean(|p| p.list_item())
    }

    /// `read`, then more of the same after commas.
    pub(crate) fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut list = vec![read(self)?];
        while self.p.eat(TokenKind::Comma) {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// `a, b[0:n], s.m`
    pub(crate) fn items(&mut self) -> Read<Vec<ExprId>> {
        if self.p.at(TokenKind::RParen) || self.p.at_end() {
            return Err(self.expected("a list of variables"));
        }
        self.list(Self::item)
    }

    /// `e, e`
    pub(crate) fn exprs(&mut self) -> Read<Vec<ExprId>> {
        self.list(Self::expr)
    }

    /// `(` … `)` around what `read` takes.
    pub(crate) fn parens<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.expect(TokenKind::LParen)?;
        let result = read(self)?;
        self.expect(TokenKind::RParen)?;
        Ok(result)
    }

    /// Whether a `:` follows before the parenthesis around ends, outside further brackets and not
    /// as part of `? :`. That is what tells modifiers from the first items of a list.
    pub(crate) fn colon_ahead(&mut self) -> bool {
        let mark = self.p.mark();
        let (mut depth, mut questions) = (0usize, 0usize);
        let found = loop {
            match self.p.peek() {
                kind if kind.is_end() => break false,
                TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => depth += 1,
                TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => {
                    let Some(less) = depth.checked_sub(1) else { break false };
                    depth = less;
                }
                TokenKind::Question if depth == 0 => questions += 1,
                TokenKind::Colon if depth == 0 => match questions.checked_sub(1) {
                    Some(less) => questions = less,
                    None => break true,
                },
                _ => {}
            }
            self.p.bump();
        };
        self.p.reset(mark);
        found
    }

    /// Modifiers up to and with the colon behind them, if there is one: `always, close, to :`.
    /// `read` takes one modifier.
    pub(crate) fn modifiers(&mut self, mut read: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        if !self.colon_ahead() {
            return Ok(());
        }
        loop {
            read(self)?;
            // Commas between map modifiers were once optional.
            self.p.eat(TokenKind::Comma);
            if self.p.eat(TokenKind::Colon) {
                return Ok(());
            }
        }
    }

    /// Reports the word that stands here as no modifier of this clause.
    pub(crate) fn unknown_modifier(&mut self, known: &[&str]) -> Reported {
        if self.p.word().is_none() {
            return self.expected("a modifier");
        }
        let fault =
            messages::unknown_choice("a modifier", self.word(), known, self.p.span(), &self.what);
        self.report(fault)
    }

    /// `iterator(T i = begin : end : step, …)`, from behind the word; the names stay declared.
    pub(crate) fn iterators(&mut self) -> Read<Vec<IteratorVar<Written>>> {
        self.parens(|r| r.list(Self::iterator))
    }

    fn iterator(&mut self) -> Read<IteratorVar<Written>> {
        let is_typed = self.p.is_type_name_start() && self.p.peek_at(1) != TokenKind::Equal;
        let ty = if is_typed { Some(self.clean(|p| p.type_name())?) } else { None };
        let ident = self.ident("the iterator's name")?;
        self.expect(TokenKind::Equal)?;
        let begin = self.expr()?;
        self.expect(TokenKind::Colon)?;
        let end = self.expr()?;
        let step = if self.p.eat(TokenKind::Colon) { Some(self.expr()?) } else { None };
        self.p.declare(ident);
        Ok(IteratorVar { ty, name: ident.name, begin, end, step })
    }

    /// Where the parenthesis that stands here is closed; nothing if it is not.
    pub(crate) fn closing(&mut self) -> Option<Span> {
        let mark = self.p.mark();
        let mut depth = 0usize;
        let found = loop {
            match self.p.peek() {
                kind if kind.is_end() => break None,
                TokenKind::LParen => depth += 1,
                TokenKind::RParen => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        break Some(self.p.span());
                    }
                }
                _ => {}
            }
            self.p.bump();
        };
        self.p.reset(mark);
        found
    }

    /// Goes on to the token at `place`, or the end.
    pub(crate) fn skip_to(&mut self, place: Span) {
        while !self.p.at_end() && self.p.span().start < place.start {
            self.p.bump();
        }
    }

    /// Goes on to the end of the line.
    pub(crate) fn skip_line(&mut self) {
        while !self.p.at_end() {
            self.p.bump();
        }
    }
}
