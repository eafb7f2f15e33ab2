//! Where the text of a pragma is written that a macro or `_Pragma` makes.
//!
//! In: a pragma of preprocessed text, the use of a macro on the line it came from, and the definitions that hold there.
//! Out: a [`Making`], the piece of a written file that says what the pragma says: the string of a `_Pragma`, in
//! code or in a definition, or the argument of a macro that makes a string of it. What goes other ways (strings with
//! escapes, words pasted together) is not found.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::align::{Alignment, closing};
use super::macros::Definition;
use super::tokens::{self, Token};
use super::{DEEPEST, Text, Worded};

/// What makes a pragma that is not written as a line of its own.
#[derive(Debug)]
pub struct Making {
    /// The file.
    pub file: Arc<str>,
    /// What makes it there: `_Pragma("…")`, or the use of a macro that makes one of its argument.
    pub whole: Range<usize>,
    /// The pragma's text in that.
    pub text: Range<usize>,
    /// Whether that text stands in a string.
    pub is_quoted: bool,
    /// Whether `whole` makes the pragma and nothing else.
    pub is_alone: bool,
    /// The word that a macro puts before the text.
    pub before: Option<(Arc<str>, Range<usize>)>,
    /// Whether it stands in a definition: all uses of that macro share it.
    pub is_shared: bool,
    /// Parameters of that definition.
    pub params: Vec<String>,
    /// Macros whose definitions say it, or lead there.
    pub names: Vec<String>,
    /// Macros that make a pragma of what they are given.
    pub helpers: Vec<String>,
    /// Where those names stand in files.
    pub uses: Vec<(Arc<str>, usize)>,
    pub(super) written: Rc<Text>,
    pub(super) aligned: Option<Aligned>,
}

/// How the printed pragma goes with its text.
#[derive(Debug)]
pub(super) struct Aligned {
    alignment: Alignment,
    /// Of the preprocessed text.
    tokens: Vec<Range<usize>>,
}

impl Making {
    /// Sees whether a printed pragma (without `#pragma`) can be what this makes.
    pub(super) fn align(&mut self, printed: &[Token<'_>], before: &[u8]) -> Option<()> {
        let skipped = match &self.before {
            Some(_) => {
                let word = printed.first()?;
                (word.text == before).then_some(1)?
            }
            None => 0,
        };
        let printed = printed.get(skipped..)?;
        let mut words = tokens::printed(&self.written.bytes, self.text.clone());
        for word in &mut words {
            word.is_param = self.params.iter().any(|it| it.as_bytes() == word.text);
        }
        let alignment = Alignment::of(&words, words.len(), printed)?;
        alignment.is_complete().then_some(())?;
        let tokens = printed.iter().map(|it| it.range.clone()).collect();
        self.aligned = Some(Aligned { alignment, tokens });
        Some(())
    }

    /// Remembers a macro that its text is given to.
    fn pass(&mut self, scope: &Scope, has_word: bool) {
        let list = if has_word { &mut self.names } else { &mut self.helpers };
        list.push(String::from_utf8_lossy(&scope.name).into_owned());
        let call = scope.call.as_ref();
        self.uses.extend(call.map(|(outer, at)| (Arc::clone(&outer.text.name), at.start)));
    }

    /// How a range of the preprocessed text is said in the text that makes it.
    pub(super) fn worded(&self, preprocessed: &[u8], range: &Range<usize>) -> Option<Worded> {
        let Aligned { alignment, tokens } = self.aligned.as_ref()?;
        let said = alignment.exact(tokens, range, preprocessed, &self.written.bytes)?;
        let text = String::from_utf8_lossy(self.written.bytes.get(said)?).into_owned();
        Some(Worded { text, params: self.params.clone() })
    }
}

/// A text in which macros are used: code, or the body of a definition in use.
#[derive(Debug)]
struct Scope {
    text: Rc<Text>,
    body: Range<usize>,
    /// Parameters and the arguments that stand for them, where the macro is used.
    args: Vec<(Vec<u8>, Range<usize>)>,
    /// The use: the scope it stands in and its bytes there. None for code.
    call: Option<(Rc<Scope>, Range<usize>)>,
    name: Vec<u8>,
}

impl Scope {
    fn argument(&self, name: &[u8]) -> Option<(&Rc<Scope>, Range<usize>)> {
        let found = self.args.iter().find(|it| it.0 == name)?;
        Some((&self.call.as_ref()?.0, found.1.clone()))
    }

    /// From this one outwards.
    fn chain(&self) -> impl Iterator<Item = &Scope> {
        std::iter::successors(Some(self), |it| it.call.as_ref().map(|it| &*it.0))
    }

    /// Whether the body is these bytes and nothing else.
    fn is_only(&self, range: &Range<usize>) -> bool {
        self.body == *range
    }

    fn tokens(&self, range: Range<usize>) -> Vec<Token<'_>> {
        tokens::printed(&self.text.bytes, range)
    }
}

/// Finds what makes pragmas in some written bytes.
pub(super) struct Maker<'a> {
    /// What a name stands for at the place that is asked about.
    pub(super) definition: &'a dyn Fn(&[u8]) -> Option<Definition>,
}

impl Maker<'_> {
    /// All that makes pragmas in a range of code, in the order in which they are made.
    pub(super) fn makings(&self, text: &Rc<Text>, range: Range<usize>) -> Vec<Making> {
        let scope = Scope {
            text: Rc::clone(text),
            body: range.clone(),
            args: Vec::new(),
            call: None,
            name: Vec::new(),
        };
        let mut found = Vec::new();
        self.scan(&Rc::new(scope), range, &mut found);
        found
    }

    fn scan(&self, scope: &Rc<Scope>, range: Range<usize>, found: &mut Vec<Making>) {
        if scope.chain().count() > DEEPEST {
            return;
        }
        let tokens = scope.tokens(range);
        let ends = closing(&tokens);
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let end = ends.get(at).copied().flatten();
            let here = at;
            at += 1;
            if !token.is_word() {
                continue;
            }
            if token.text == b"_Pragma" {
                let Some(all) = end.and_then(|it| tokens.get(here..it)) else { continue };
                at = here + all.len();
                found.extend(self.operator(scope, all));
            } else if let Some((outer, range)) = scope.argument(token.text) {
                self.scan(outer, range, found);
            } else if let Some((inner, next)) = self.enter(scope, &tokens, here, end) {
                at = next;
                let body = inner.body.clone();
                self.scan(&Rc::new(inner), body, found);
            }
        }
    }

    /// The definition that a word uses, and the token behind the use.
    fn enter(
        &self,
        scope: &Rc<Scope>,
        tokens: &[Token<'_>],
        at: usize,
        end: Option<usize>,
    ) -> Option<(Scope, usize)> {
        let token = tokens.get(at)?;
        if scope.chain().any(|it| it.name == token.text) {
            return None;
        }
        let definition = (self.definition)(token.text)?;
        let next = match definition.params {
            Some(_) => end?,
            None => at + 1,
        };
        let call = token.range.start..tokens.get(next - 1)?.range.end;
        let mut args = Vec::new();
        if let Some(params) = definition.params {
            let inside = tokens.get(at + 2..next - 1)?;
            let values = arguments(inside, params.len(), definition.is_variadic);
            args.extend(params.into_iter().zip(values));
        }
        let scope = Scope {
            text: definition.text,
            body: definition.body,
            args,
            call: Some((Rc::clone(scope), call)),
            name: token.text.to_vec(),
        };
        Some((scope, next))
    }

    /// What `_Pragma(…)` makes.
    fn operator(&self, scope: &Rc<Scope>, all: &[Token<'_>]) -> Option<Making> {
        let (first, last) = (all.first()?, all.last()?);
        let whole = first.range.start..last.range.end;
        let inside = all.get(2..all.len() - 1)?;
        match inside {
            [literal] if literal.text.first() == Some(&b'"') => quoted(scope, whole, literal),
            [word] => {
                let (outer, range) = scope.argument(word.text)?;
                let (call, is_alone) = (scope.call.as_ref()?.1.clone(), scope.is_only(&whole));
                let tokens = outer.tokens(range);
                let [literal] = tokens.as_slice() else { return None };
                let mut made = quoted(outer, call, literal)?;
                made.is_alone = is_alone;
                made.pass(scope, false);
                Some(made)
            }
            [hash, word] if hash.text == b"#" => {
                scope.argument(word.text)?;
                settle(scope, word.range.clone(), whole, true, None)
            }
            [name, open, words @ .., _] if open.text == b"(" && self.makes_string(name.text, 0) => {
                let range = words.first()?.range.start..words.last()?.range.end;
                settle(scope, range, whole, true, None)
            }
            _ => None,
        }
    }

    /// Whether a macro makes a string of its one argument.
    fn makes_string(&self, name: &[u8], depth: usize) -> bool {
        let Some(definition) = (self.definition)(name) else { return false };
        let Some([param]) = definition.params.as_deref() else { return false };
        let tokens = tokens::printed(&definition.text.bytes, definition.body.clone());
        match tokens.as_slice() {
            [hash, word] => hash.text == b"#" && word.text == param,
            [other, open, word, close] => {
                (open.text, close.text) == (b"(", b")")
                    && word.text == param
                    && depth < DEEPEST
                    && self.makes_string(other.text, depth + 1)
            }
            _ => false,
        }
    }
}

/// A pragma whose text is a string.
fn quoted(scope: &Scope, whole: Range<usize>, literal: &Token<'_>) -> Option<Making> {
    let inside = literal.range.start + 1..literal.range.end.checked_sub(1)?;
    let is_plain = literal.text.len() > 2 && !literal.text.contains(&b'\\');
    is_plain.then(|| making(scope, whole, inside, true))
}

/// A pragma whose text is made a string: the words themselves, or the argument that stands for them.
fn settle(
    scope: &Scope,
    range: Range<usize>,
    whole: Range<usize>,
    is_alone: bool,
    before: Option<(Arc<str>, Range<usize>)>,
) -> Option<Making> {
    let tokens = scope.tokens(range.clone());
    let (word, param) = match tokens.as_slice() {
        [param] => (None, param),
        [word, param] if before.is_none() => (Some(word), param),
        _ => return Some(Making { is_alone, before, ..making(scope, whole, range, false) }),
    };
    let Some((outer, argument)) = scope.argument(param.text) else {
        return Some(Making { is_alone, before, ..making(scope, whole, range, false) });
    };
    let before = before.or_else(|| Some((Arc::clone(&scope.text.name), word?.range.clone())));
    let is_alone = is_alone && scope.is_only(&whole);
    let mut made = settle(outer, argument, scope.call.as_ref()?.1.clone(), is_alone, before)?;
    made.pass(scope, word.is_some());
    Some(made)
}

fn making(scope: &Scope, whole: Range<usize>, text: Range<usize>, is_quoted: bool) -> Making {
    let lossy = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    let defined = || scope.chain().filter(|it| it.call.is_some());
    Making {
        file: Arc::clone(&scope.text.name),
        whole,
        text,
        is_quoted,
        is_alone: true,
        before: None,
        is_shared: scope.call.is_some(),
        params: scope.args.iter().map(|it| lossy(&it.0)).collect(),
        names: defined().map(|it| lossy(&it.name)).collect(),
        uses: defined()
            .filter_map(|it| it.call.as_ref())
            .map(|(outer, range)| (Arc::clone(&outer.text.name), range.start))
            .collect(),
        helpers: Vec::new(),
        written: Rc::clone(&scope.text),
        aligned: None,
    }
}

/// The arguments of a use, cut at commas.
pub(super) fn arguments(
    inside: &[Token<'_>],
    count: usize,
    is_variadic: bool,
) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let (mut depth, mut is_open) = (0usize, false);
    for token in inside {
        match token.text {
            b"(" => depth += 1,
            b")" => depth = depth.saturating_sub(1),
            b"," if depth == 0 && !(is_variadic && parts.len() >= count) => {
                is_open = false;
                continue;
            }
            _ => {}
        }
        match parts.last_mut().filter(|_| is_open) {
            Some(last) => last.end = token.range.end,
            None => parts.push(token.range.clone()),
        }
        is_open = true;
    }
    parts
}
