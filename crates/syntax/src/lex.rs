//! From bytes to tokens.
//!
//! In: the text a preprocessor wrote. Out: all tokens of it, in one list that ends with
//! [`TokenKind::Eof`]. Line markers and other `#` lines are skipped (the source map reads the
//! markers); a `#pragma` line, and equally an operator `_Pragma("…")` that the preprocessor left,
//! is a [`TokenKind::Pragma`], its tokens, and a [`TokenKind::PragmaEnd`].
//!
//! Anything else is left to the parser: what a number or a string means is read from its spelling.

use source::{Diagnostic, Name, Names, Span};

use crate::messages;
use crate::spelling::{char_at, clean, destringize, is_letter};
use crate::token::{Token, TokenKind, names_with_keywords, word_kind};

/// What the lexer made of a text.
pub(crate) struct Lexed {
    pub(crate) tokens: Vec<Token>,
    pub(crate) names: Names,
    pub(crate) faults: Vec<Diagnostic>,
}

/// More faults than anybody reads are not worth their memory.
const MAX_FAULTS: usize = 101;

/// Reads a text whose first byte has the address `base`. The last token is given once more.
pub(crate) fn lex(text: &[u8], base: u32) -> (Lexed, Token) {
    let mut names = names_with_keywords();
    let nothing = names.intern("");
    let out = Lexed { tokens: Vec::with_capacity(text.len() / 4), names, faults: Vec::new() };
    let start = if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let mut lexer = Lexer {
        text,
        utf8: std::str::from_utf8(text).ok(),
        at: start,
        place: Place::At(base),
        out,
        nothing,
        in_pragma: false,
        starts_line: true,
    };
    lexer.run();
    if lexer.in_pragma {
        lexer.end_pragma();
    }
    let start = lexer.span(text.len(), text.len()).start;
    let end = Token { start, len: 0, name: nothing, kind: TokenKind::Eof, starts_line: true };
    lexer.out.tokens.push(end);
    (lexer.out, end)
}

/// Bytes that continue a name or a number; bytes of UTF-8 sequences are checked later.
const fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[allow(clippy::indexing_slicing, reason = "computed when compiling: a fault would show there")]
const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = continues_word(byte as u8);
        byte += 1;
    }
    table
};

#[inline]
fn is_word_byte(byte: u8) -> bool {
    WORD.get(usize::from(byte)).copied().unwrap_or(false)
}

/// Where the tokens of a text stand.
#[derive(Clone, Copy)]
enum Place {
    /// One behind the other, from this address.
    At(u32),
    /// All here: the text is the inside of a string that held escapes.
    All(Span),
}

struct Lexer<'t> {
    text: &'t [u8],
    /// The same text, if it is valid UTF-8 as a whole.
    utf8: Option<&'t str>,
    at: usize,
    place: Place,
    out: Lexed,
    nothing: Name,
    in_pragma: bool,
    starts_line: bool,
}

impl Lexer<'_> {
    #[inline]
    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        match self.place {
            Place::At(base) => Span::new(
                base.saturating_add(start as u32),
                base.saturating_add(end.max(start) as u32),
            ),
            Place::All(span) => span,
        }
    }

    #[inline]
    fn push(&mut self, kind: TokenKind, start: usize) {
        self.push_named(kind, start, self.nothing);
    }

    #[inline]
    fn push_named(&mut self, kind: TokenKind, start: usize, name: Name) {
        let (start, len) = match self.place {
            Place::At(base) => {
                (base.saturating_add(start as u32), (self.at.saturating_sub(start)) as u32)
            }
            Place::All(span) => (span.start, span.len() as u32),
        };
        let starts_line = std::mem::replace(&mut self.starts_line, false);
        self.out.tokens.push(Token { start, len, name, kind, starts_line });
    }

    fn report(&mut self, fault: Diagnostic) {
        if self.out.faults.len() < MAX_FAULTS {
            self.out.faults.push(fault);
        }
    }

    fn run(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | 0x0B | 0x0C => self.at += 1,
                b'\n' => self.newline(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => self.word(),
                b'0'..=b'9' => self.number(),
                b'.' if self.byte(1).is_ascii_digit() => self.number(),
                b'"' | b'\'' => self.literal(self.at),
                b'#' if self.starts_line && !self.in_pragma => self.hash_line(1),
                b'%' if self.starts_line && !self.in_pragma && self.byte(1) == b':' => {
                    self.hash_line(2);
                }
                b'/' if self.byte(1) == b'/' => self.skip_line(),
                b'/' if self.byte(1) == b'*' => self.block_comment(),
                b'\\' => self.backslash(),
                _ => self.punctuator(byte),
            }
        }
    }

    fn newline(&mut self) {
        if self.in_pragma {
            self.end_pragma();
        }
        self.at += 1;
        self.starts_line = true;
    }

    fn end_pragma(&mut self) {
        self.in_pragma = false;
        self.push(TokenKind::PragmaEnd, self.at);
    }

    /// Length of a backslash and the line end it hides, if that is what stands at `at`.
    fn splice_at(&self, at: usize) -> usize {
        match self.text.get(at..) {
            Some([b'\\', b'\n', ..]) => 2,
            Some([b'\\', b'\r', b'\n', ..]) => 3,
            _ => 0,
        }
    }

    /// To the end of the line, continuation lines included; the line end itself stays.
    fn skip_line(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => return,
                b'\\' => self.at += self.splice_at(self.at).max(1),
                _ => self.at += 1,
            }
        }
    }

    fn block_comment(&mut self) {
        let start = self.at;
        self.at += 2;
        loop {
            match self.text.get(self.at..) {
                Some([b'*', b'/', ..]) => {
                    self.at += 2;
                    return;
                }
                Some([_, ..]) => self.at += 1,
                Some([]) | None => break,
            }
        }
        self.report(messages::unterminated_comment(self.span(start, start + 2)));
    }

    fn backslash(&mut self) {
        let splice = self.splice_at(self.at);
        if splice > 0 {
            self.at += splice;
        } else if matches!(self.byte(1), b'u' | b'U') {
            self.word();
        } else {
            self.stray();
        }
    }

    /// Bytes that belong to no token: one fault and one token for the whole run.
    fn stray(&mut self) {
        let start = self.at;
        self.at += 1;
        while let Some(&byte) = self.text.get(self.at) {
            let is_stray = match byte {
                b'\n' | b'\t' | b'\r' | b' ' | 0x0B | 0x0C => false,
                b'@' | b'`' | 0..=0x1F | 0x7F => true,
                _ => false,
            };
            if !is_stray {
                break;
            }
            self.at += 1;
        }
        self.stray_range(start);
    }

    fn stray_range(&mut self, start: usize) {
        let bytes = self.text.get(start..self.at).unwrap_or_default();
        self.report(messages::stray_text(bytes, self.span(start, self.at)));
        self.push(TokenKind::Error, start);
    }

    // ------------------------------------------------------------ lines that begin with `#`

    fn hash_line(&mut self, hash: usize) {
        let start = self.at;
        self.at += hash;
        self.blanks();
        let word = self.at;
        while is_word_byte(self.byte(0)) {
            self.at += 1;
        }
        if self.text.get(word..self.at) != Some(b"pragma") {
            self.skip_line();
            return;
        }
        let after = self.at;
        self.skip_line();
        let text = clean(self.text.get(after..self.at).unwrap_or_default(), true);
        let name = self.out.names.intern(text.trim());
        self.at = after;
        self.push_named(TokenKind::Pragma, start, name);
        self.in_pragma = true;
    }

    fn blanks(&mut self) {
        loop {
            match self.byte(0) {
                b' ' | b'\t' => self.at += 1,
                b'\\' if self.splice_at(self.at) > 0 => self.at += self.splice_at(self.at),
                _ => return,
            }
        }
    }

    /// `_Pragma("…")` that the preprocessor left. The lexer stands behind the word.
    fn pragma_operator(&mut self, start: usize) {
        let back = self.at;
        let white = |lexer: &mut Self| {
            while matches!(lexer.byte(0), b' ' | b'\t' | b'\n' | b'\r') {
                lexer.at += 1;
            }
        };
        white(self);
        let opens = self.byte(0) == b'(';
        self.at += 1;
        white(self);
        if self.byte(0) == b'L' {
            self.at += 1;
        }
        let quote = self.at;
        let is_string = opens && self.byte(0) == b'"' && self.quoted_end(quote).is_some();
        let inside_end = self.quoted_end(quote).unwrap_or(quote);
        self.at = inside_end + 1;
        white(self);
        if !is_string || self.byte(0) != b')' {
            self.at = back;
            self.report(messages::bad_pragma_operator(self.span(start, back)));
            self.push(TokenKind::Error, start);
            return;
        }
        self.at += 1;
        let end = self.at;
        let inside = self.text.get(quote + 1..inside_end).unwrap_or_default();
        let place = match self.place {
            Place::At(_) if inside.contains(&b'\\') => Place::All(self.span(start, end)),
            place => place,
        };
        let plain = destringize(inside);
        let name = self.out.names.intern(clean(&plain, true).trim());
        self.push_named(TokenKind::Pragma, start, name);
        let nothing = Lexed { tokens: Vec::new(), names: Names::new(), faults: Vec::new() };
        let out = std::mem::replace(&mut self.out, nothing);
        // Without escapes the tokens are where the string says: lex the text up to its end.
        let (text, at) = match place {
            Place::At(_) => (self.text.get(..inside_end).unwrap_or_default(), quote + 1),
            Place::All(_) => (&*plain, 0),
        };
        let mut inner = Lexer {
            text,
            utf8: None,
            at,
            place,
            out,
            nothing: self.nothing,
            in_pragma: true,
            starts_line: false,
        };
        inner.run();
        if inner.in_pragma {
            inner.end_pragma();
        }
        self.out = inner.out;
        self.starts_line = true;
    }

    /// Position of the quote that closes the literal whose opening quote is at `open`.
    fn quoted_end(&self, open: usize) -> Option<usize> {
        let quote = self.text.get(open).copied()?;
        let mut at = open + 1;
        loop {
            match self.text.get(at).copied()? {
                b'\n' => return None,
                b'\\' => at += self.splice_at(at).max(2),
                byte if byte == quote => return Some(at),
                _ => at += 1,
            }
        }
    }

    // ------------------------------------------------------------ words and literals

    fn word(&mut self) {
        let start = self.at;
        let mut high = 0;
        while let Some(&byte) = self.text.get(self.at) {
            if !is_word_byte(byte) {
                break;
            }
            high |= byte;
            self.at += 1;
        }
        let next = self.byte(0);
        if high >= 0x80 || next == b'\\' {
            return self.unusual_word(start);
        }
        if matches!(next, b'"' | b'\'') && self.is_literal_prefix(start) {
            return self.literal(start);
        }
        let name = self.intern(start);
        match word_kind(name) {
            TokenKind::KwPragma => self.pragma_operator(start),
            kind => self.push_named(kind, start, name),
        }
    }

    fn is_literal_prefix(&self, start: usize) -> bool {
        let prefix = self.text.get(start..self.at);
        matches!(prefix, Some(b"L" | b"u" | b"U")) || prefix == Some(b"u8")
    }

    /// Names the text from `start` to here.
    #[inline]
    fn intern(&mut self, start: usize) -> Name {
        if let Some(text) = self.utf8.and_then(|text| text.get(start..self.at)) {
            return self.out.names.intern(text);
        }
        let bytes = self.text.get(start..self.at).unwrap_or_default();
        self.out.names.intern(&clean(bytes, false))
    }

    /// A word with `\u` escapes, letters beyond ASCII, or a line end hidden in it.
    fn unusual_word(&mut self, start: usize) {
        self.at = start;
        let mut spelling = String::new();
        loop {
            let splice = self.splice_at(self.at);
            if splice > 0 {
                self.at += splice;
            } else if let Some((letter, len)) = self.letter() {
                spelling.push(letter);
                self.at += len;
            } else {
                break;
            }
        }
        if self.at == start {
            // Not a letter of any script: skip the whole character, or one broken byte.
            self.at += char_at(self.text, start).map_or(1, |it| it.len_utf8());
            while self.at < self.text.len() && self.byte(0) >= 0x80 && self.letter().is_none() {
                self.at += char_at(self.text, self.at).map_or(1, |it| it.len_utf8());
            }
            return self.stray_range(start);
        }
        let name = self.out.names.intern(&spelling);
        self.push_named(word_kind(name), start, name);
    }

    /// The letter, digit or universal character name at this point, and its length in the text.
    fn letter(&self) -> Option<(char, usize)> {
        match self.byte(0) {
            b'\\' => {
                let digits = match self.byte(1) {
                    b'u' => 4,
                    b'U' => 8,
                    _ => return None,
                };
                let hex = self.text.get(self.at + 2..self.at + 2 + digits)?;
                let value = u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?;
                Some((char::from_u32(value).filter(|it| is_letter(*it))?, 2 + digits))
            }
            byte if byte >= 0x80 => {
                let letter = char_at(self.text, self.at).filter(|it| is_letter(*it))?;
                Some((letter, letter.len_utf8()))
            }
            byte if continues_word(byte) => Some((char::from(byte), 1)),
            _ => None,
        }
    }

    /// A preprocessing number: its spelling decides later what it is.
    fn number(&mut self) {
        let start = self.at;
        let mut spliced = false;
        self.at += 1;
        loop {
            match self.byte(0) {
                b'+' | b'-' => {
                    let before = self.text.get(self.at - 1).copied().unwrap_or(0);
                    if !matches!(before, b'e' | b'E' | b'p' | b'P') {
                        break;
                    }
                }
                b'.' => {}
                b'\'' if self.byte(1).is_ascii_alphanumeric() && self.byte(1) != b'u' => {}
                b'\\' if self.splice_at(self.at) > 0 => {
                    spliced = true;
                    self.at += self.splice_at(self.at) - 1;
                }
                byte if is_word_byte(byte) && byte < 0x80 => {}
                _ => break,
            }
            self.at += 1;
        }
        let name = if spliced {
            let bytes = self.text.get(start..self.at).unwrap_or_default();
            self.out.names.intern(&clean(bytes, false))
        } else {
            self.intern(start)
        };
        self.push_named(TokenKind::Number, start, name);
    }

    /// A string or character constant that begins, prefix included, at `start`.
    fn literal(&mut self, start: usize) {
        let open = self.at;
        let quote = self.byte(0);
        let kind = if quote == b'"' { TokenKind::Str } else { TokenKind::Char };
        let Some(close) = self.quoted_end(open) else {
            return self.unterminated_literal(start, quote, kind);
        };
        self.at = close + 1;
        let bytes = self.text.get(start..self.at).unwrap_or_default();
        if kind == TokenKind::Char && close == open + 1 {
            self.report(messages::empty_character_constant(self.span(start, self.at)));
            return self.push(TokenKind::Error, start);
        }
        let name = if bytes.contains(&b'\n') {
            self.out.names.intern(&clean(bytes, false))
        } else {
            self.intern(start)
        };
        self.push_named(kind, start, name);
    }

    fn unterminated_literal(&mut self, start: usize, quote: u8, kind: TokenKind) {
        self.skip_line();
        while self.at > start + 1 && self.text.get(self.at - 1) == Some(&b'\r') {
            self.at -= 1;
        }
        self.report(messages::unterminated_literal(kind, self.span(start, self.at)));
        // What was written most likely goes to the end of the line; a `)` or `;` may be inside.
        let mut spelling =
            clean(self.text.get(start..self.at).unwrap_or_default(), false).into_owned();
        if spelling.ends_with('\\') {
            spelling.push('\\');
        }
        spelling.push(char::from(quote));
        let name = self.out.names.intern(&spelling);
        self.push_named(TokenKind::Error, start, name);
    }

    // ------------------------------------------------------------ punctuators

    fn punctuator(&mut self, byte: u8) {
        use TokenKind as T;
        let (next, third) = (self.byte(1), self.byte(2));
        let (kind, len) = match byte {
            b'(' => (T::LParen, 1),
            b')' => (T::RParen, 1),
            b'[' => (T::LBracket, 1),
            b']' => (T::RBracket, 1),
            b'{' => (T::LBrace, 1),
            b'}' => (T::RBrace, 1),
            b',' => (T::Comma, 1),
            b';' => (T::Semicolon, 1),
            b'?' => (T::Question, 1),
            b'~' => (T::Tilde, 1),
            b'.' if next == b'.' && third == b'.' => (T::Ellipsis, 3),
            b'.' => (T::Dot, 1),
            b':' if next == b'>' => (T::RBracket, 2),
            b':' => (T::Colon, 1),
            b'!' if next == b'=' => (T::NotEqual, 2),
            b'!' => (T::Not, 1),
            b'=' if next == b'=' => (T::EqualEqual, 2),
            b'=' => (T::Equal, 1),
            b'+' if next == b'+' => (T::PlusPlus, 2),
            b'+' if next == b'=' => (T::PlusEqual, 2),
            b'+' => (T::Plus, 1),
            b'-' if next == b'>' => (T::Arrow, 2),
            b'-' if next == b'-' => (T::MinusMinus, 2),
            b'-' if next == b'=' => (T::MinusEqual, 2),
            b'-' => (T::Minus, 1),
            b'*' if next == b'=' => (T::StarEqual, 2),
            b'*' => (T::Star, 1),
            b'/' if next == b'=' => (T::SlashEqual, 2),
            b'/' => (T::Slash, 1),
            b'%' if next == b'=' => (T::PercentEqual, 2),
            b'%' if next == b'>' => (T::RBrace, 2),
            b'%' if next == b':' && self.text.get(self.at + 2..self.at + 4) == Some(b"%:") => {
                (T::HashHash, 4)
            }
            b'%' if next == b':' => (T::Hash, 2),
            b'%' => (T::Percent, 1),
            b'&' if next == b'&' => (T::AmpAmp, 2),
            b'&' if next == b'=' => (T::AmpEqual, 2),
            b'&' => (T::Amp, 1),
            b'|' if next == b'|' => (T::PipePipe, 2),
            b'|' if next == b'=' => (T::PipeEqual, 2),
            b'|' => (T::Pipe, 1),
            b'^' if next == b'=' => (T::CaretEqual, 2),
            b'^' => (T::Caret, 1),
            b'<' if next == b'<' && third == b'=' => (T::LessLessEqual, 3),
            b'<' if next == b'<' => (T::LessLess, 2),
            b'<' if next == b'=' => (T::LessEqual, 2),
            b'<' if next == b':' => (T::LBracket, 2),
            b'<' if next == b'%' => (T::LBrace, 2),
            b'<' => (T::Less, 1),
            b'>' if next == b'>' && third == b'=' => (T::GreaterGreaterEqual, 3),
            b'>' if next == b'>' => (T::GreaterGreater, 2),
            b'>' if next == b'=' => (T::GreaterEqual, 2),
            b'>' => (T::Greater, 1),
            b'#' if next == b'#' => (T::HashHash, 2),
            b'#' => (T::Hash, 1),
            _ => return self.stray(),
        };
        let start = self.at;
        self.at += len;
        self.push(kind, start);
    }
}
