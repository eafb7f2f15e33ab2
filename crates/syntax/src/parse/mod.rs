//! The parser: one recursive function per rule of the grammar, over a list of tokens.
//!
//! No function fails: what is not understood is reported and becomes an `Error` node. After a
//! fault the parser is *recovering*: further faults are not reported until the statement or
//! declaration that holds it has been skipped, so that one mistake gives one message. Every loop
//! ends when it makes no progress, and nesting and height of the tree are limited, so that any
//! text is parsed in linear time and bounded stack.
//!
//! Not here: what names mean beyond being types ([`crate::scope`] knows that much).

mod asm;
mod attr;
mod decl;
mod declarator;
mod expr;
mod operator;
mod pragma;
mod record;
mod recover;
mod specs;
mod stmt;

use source::{Diagnostic, Diagnostics, Name, Severity, Span};

use crate::ast::{Expr, ExprId, ExprKind, Ident, StmtId, Tree};
use crate::lex;
use crate::messages;
use crate::pragma::PragmaReader;
use crate::scope::{Binding, Scopes};
use crate::token::{Token, TokenKind};

/// How deep brackets, blocks, operators and declarators may nest. Chosen so that a thread with
/// Rust's usual 2 MiB of stack is enough.
pub(crate) const MAX_DEPTH: u32 = 400;

/// How high the tree of an expression may grow by long chains such as `1 + 1 + …`, and how long a
/// chain of `else if` may be. Those who walk the tree need a frame or two for each level.
pub(crate) const MAX_HEIGHT: u32 = 10_000;

/// More errors than this are not shown.
const MAX_ERRORS: usize = 100;

/// What became of a text.
#[derive(Debug)]
pub struct Parsed {
    /// The program, with `Error` nodes for what was not understood.
    pub tree: Tree,
    /// What is wrong with it, in the order of the text.
    pub diagnostics: Diagnostics,
}

/// Parses a preprocessed text whose first byte has the address `base`.
pub fn parse(text: &[u8], base: u32, reader: &mut dyn PragmaReader) -> Parsed {
    let (lexed, end) = lex::lex(text, base);
    let tree = Tree { names: lexed.names, ..Tree::default() };
    let mut parser = Parser {
        scopes: Scopes::new(tree.names.len()),
        tokens: lexed.tokens,
        end,
        at: 0,
        tree,
        faults: lexed.faults,
        reader: Some(reader),
        recovering: false,
        last_fault: usize::MAX,
        skips: 0,
        in_pragma: false,
        sections: false,
        depth: 0,
        reported_depth: false,
        heights: Vec::new(),
        tallest: 0,
        pack: pragma::Pack::default(),
        lists: Lists::default(),
    };
    parser.translation_unit();
    let Parser { tree, faults, end, .. } = parser;
    Parsed { tree, diagnostics: in_order(faults, end.span()) }
}

/// Sorts by place and cuts off after [`MAX_ERRORS`].
fn in_order(mut faults: Vec<Diagnostic>, end: Span) -> Diagnostics {
    faults.sort_by_key(|it| it.primary.as_ref().map(|label| label.span.start));
    let mut diagnostics = Diagnostics::new();
    for fault in faults {
        let is_error = fault.severity == Severity::Error;
        if is_error && diagnostics.errors() == MAX_ERRORS {
            let place = fault.primary.map_or(end, |label| label.span);
            diagnostics.push(messages::too_many_errors(place));
            break;
        }
        diagnostics.push(fault);
    }
    diagnostics
}

/// Runs `work` on a thread whose stack is large enough for anyone who walks the highest tree that
/// [`parse`] makes. Falls back to the present stack where no such thread can be had.
pub fn with_stack<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    const STACK: usize = 512 << 20;
    let work = std::sync::Mutex::new(Some(work));
    let take = || work.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
    let done = std::thread::scope(|scope| {
        let run = || take().map(|work| work());
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).ok()?;
        match thread.join() {
            Ok(done) => done,
            Err(payload) => std::panic::resume_unwind(payload),
        }
    });
    match (done, take()) {
        (Some(done), _) => done,
        (None, Some(work)) => work(),
        #[allow(clippy::unreachable, reason = "`work` is taken once: by the thread, or here")]
        (None, None) => unreachable!("the work was taken and gave nothing"),
    }
}

/// The state of the parser; what a [`PragmaReader`] is given.
///
/// Inside a pragma the parser does not go past the end of the line: it answers
/// [`TokenKind::PragmaEnd`] there as often as it is asked.
pub struct Parser<'t> {
    tokens: Vec<Token>,
    /// The end of the file: the last token, which everyone behind it sees too.
    end: Token,
    at: usize,
    tree: Tree,
    faults: Vec<Diagnostic>,
    scopes: Scopes,
    /// Absent while it reads.
    reader: Option<&'t mut dyn PragmaReader>,
    /// A fault was reported in the present statement or declaration.
    recovering: bool,
    /// Token at which the last fault was reported.
    last_fault: usize,
    /// How often text was skipped, or supplied, to go on after a fault.
    skips: usize,
    in_pragma: bool,
    /// `a[lo:len]` and `([n])p` are accepted here.
    sections: bool,
    depth: u32,
    reported_depth: bool,
    /// Height of each expression's tree, beside the arena.
    heights: Vec<u32>,
    /// Height of the highest expression since [`Parser::measured`] began.
    tallest: u32,
    pack: pragma::Pack,
    lists: Lists,
}

/// Lists under construction, kept to be used again: most nodes need one, and few are long.
#[derive(Default)]
struct Lists {
    exprs: Vec<ExprId>,
    stmts: Vec<StmtId>,
}

/// A point to come back to: see [`Parser::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    at: usize,
    faults: usize,
    scopes: usize,
    recovering: bool,
    last_fault: usize,
}

/// The tokens.
impl Parser<'_> {
    fn token(&self) -> Token {
        self.token_at(0)
    }

    #[inline]
    fn token_at(&self, ahead: usize) -> Token {
        self.tokens.get(self.at + ahead).copied().unwrap_or(self.end)
    }

    /// What stands here.
    #[inline]
    pub fn peek(&self) -> TokenKind {
        self.tokens.get(self.at).map_or(TokenKind::Eof, |it| it.kind)
    }

    /// What stands `n` tokens further; inside a pragma never what is behind its end.
    pub fn peek_at(&self, n: usize) -> TokenKind {
        if !self.in_pragma {
            return self.tokens.get(self.at + n).map_or(TokenKind::Eof, |it| it.kind);
        }
        let ahead = self.tokens.get(self.at..).unwrap_or_default().iter().take(n + 1);
        let mut kind = TokenKind::Eof;
        for token in ahead {
            kind = token.kind;
            if kind.is_end() {
                break;
            }
        }
        kind
    }

    /// Whether this stands here.
    #[inline]
    pub fn at(&self, kind: TokenKind) -> bool {
        self.peek() == kind
    }

    /// Whether the pragma, or the file, ends here.
    pub fn at_end(&self) -> bool {
        self.peek().is_end()
    }

    /// Where the present token stands.
    #[inline]
    pub fn span(&self) -> Span {
        self.token().span()
    }

    /// Where the token before this one stands.
    pub fn prev_span(&self) -> Span {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.map_or(Span::NONE, Token::span)
    }

    /// From `start` to the token before this one.
    #[inline]
    fn since(&self, start: Span) -> Span {
        let end = self.prev_span().end;
        Span { start: start.start, end: end.max(start.start) }
    }

    /// The spelling of a name or keyword that stands here.
    pub fn word(&self) -> Option<Name> {
        self.word_at(0)
    }

    /// The spelling of a name or keyword `n` tokens further.
    pub fn word_at(&self, n: usize) -> Option<Name> {
        self.peek_at(n).is_word().then(|| self.token_at(n).name)
    }

    /// The spelling of a word, number, character or string that stands here.
    pub fn spelling(&self) -> Option<Name> {
        let token = self.token();
        let has_spelling =
            matches!(token.kind, TokenKind::Number | TokenKind::Char | TokenKind::Str);
        (has_spelling || token.kind.is_word()).then_some(token.name)
    }

    /// The letters of a name.
    pub fn text(&self, name: Name) -> &str {
        self.tree.names.text(name)
    }

    /// The name spelt so.
    pub fn intern(&mut self, text: &str) -> Name {
        self.tree.names.intern(text)
    }

    /// Goes on to the next token and gives the place of the one left behind; the end of a pragma
    /// or file is never passed.
    #[inline]
    pub fn bump(&mut self) -> Span {
        let token = self.token();
        if !token.kind.is_end() {
            self.at += 1;
            if self.at(TokenKind::Pragma) {
                self.pragma_behind(token.kind);
            }
        }
        token.span()
    }

    /// Takes this token if it stands here.
    #[inline]
    pub fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Takes a name if one stands here. Keywords are not names.
    pub fn ident(&mut self) -> Option<Ident> {
        let token = self.token();
        (token.kind == TokenKind::Ident).then(|| Ident { name: token.name, span: self.bump() })
    }

    /// A point to come back to with [`Parser::reset`], as long as the same scopes are open.
    pub fn mark(&self) -> Mark {
        Mark {
            at: self.at,
            faults: self.faults.len(),
            scopes: self.scopes.mark(),
            recovering: self.recovering,
            last_fault: self.last_fault,
        }
    }

    /// Goes back to `mark`; reports and declarations made since are forgotten, nodes stay unused.
    pub fn reset(&mut self, mark: Mark) {
        self.at = mark.at;
        self.faults.truncate(mark.faults);
        self.scopes.undo(mark.scopes);
        self.recovering = mark.recovering;
        self.last_fault = mark.last_fault;
    }

    /// Whether nothing was reported since `mark`.
    pub fn is_clean_since(&self, mark: Mark) -> bool {
        self.faults.len() == mark.faults && self.recovering == mark.recovering
    }
}

/// The tree and the scopes.
impl Parser<'_> {
    /// What was parsed so far.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// What was parsed so far, to add to.
    pub fn tree_mut(&mut self) -> &mut Tree {
        &mut self.tree
    }

    /// Declares a variable, function, parameter or constant: from here on the name is no type.
    pub fn declare(&mut self, ident: Ident) {
        self.scopes.set(ident.name, Binding::Value);
    }

    /// Declares a type: from here on the name is one.
    pub fn declare_typedef(&mut self, ident: Ident) {
        self.scopes.set(ident.name, Binding::Type);
    }

    /// Runs `body` in a scope of its own.
    pub fn scoped<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.open();
        let result = body(self);
        self.scopes.close();
        result
    }

    /// Makes an expression.
    fn expr(&mut self, kind: ExprKind, span: Span) -> ExprId {
        let below = self.height_below(&kind);
        self.expr_above(kind, span, below)
    }

    /// Makes an expression over parts whose highest is `below`.
    fn expr_above(&mut self, kind: ExprKind, span: Span, below: u32) -> ExprId {
        let height = below + 1;
        let (kind, height) = if height > MAX_HEIGHT {
            self.fault(messages::expression_too_long(span));
            (ExprKind::Error, 1)
        } else {
            (kind, height)
        };
        let id = self.tree.exprs.push(Expr { kind, span });
        // Readers of pragmas may have added expressions of their own.
        self.heights.resize(id.index(), 1);
        self.heights.push(height);
        self.tallest = self.tallest.max(height);
        id
    }

    fn height(&self, id: ExprId) -> u32 {
        self.heights.get(id.index()).copied().unwrap_or(1)
    }

    fn height_below(&self, kind: &ExprKind) -> u32 {
        match kind {
            ExprKind::Unary(_, a)
            | ExprKind::Paren(a)
            | ExprKind::SizeofExpr(a)
            | ExprKind::AlignofExpr(a)
            | ExprKind::Member(a, _)
            | ExprKind::Arrow(a, _) => self.height(*a),
            ExprKind::Binary(_, a, b) | ExprKind::Assign(_, a, b) | ExprKind::Index(a, b) => {
                self.height(*a).max(self.height(*b))
            }
            ExprKind::Conditional(a, b, c) => {
                let middle = b.map_or(0, |it| self.height(it));
                self.height(*a).max(middle).max(self.height(*c))
            }
            ExprKind::Call(callee, args) => {
                let args = args.iter().map(|it| self.height(*it)).max();
                self.height(*callee).max(args.unwrap_or(0))
            }
            ExprKind::Shaped(_, a) => self.height(*a),
            ExprKind::Section(section) => self.height(section.base),
            // These are made with `measured`, or have nothing below.
            ExprKind::Error
            | ExprKind::Name(_)
            | ExprKind::Number(_)
            | ExprKind::Char(_)
            | ExprKind::Str(_)
            | ExprKind::Cast(..)
            | ExprKind::CompoundLiteral(..)
            | ExprKind::SizeofType(_)
            | ExprKind::AlignofType(_)
            | ExprKind::Generic(..)
            | ExprKind::StmtExpr(_)
            | ExprKind::LabelAddr(_)
            | ExprKind::VaArg(..)
            | ExprKind::Offsetof(..)
            | ExprKind::TypesCompatible(..)
            | ExprKind::ChooseExpr(..)
            | ExprKind::ConvertVector(..) => 0,
        }
    }

    /// Runs `parse` and tells how high the highest expression is that it made.
    fn measured<R>(&mut self, parse: impl FnOnce(&mut Self) -> R) -> (R, u32) {
        let outside = std::mem::take(&mut self.tallest);
        let result = parse(self);
        let inside = std::mem::replace(&mut self.tallest, outside);
        self.tallest = self.tallest.max(inside);
        (result, inside)
    }
}
