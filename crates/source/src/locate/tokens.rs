//! C text cut into pieces, coarsely: just enough to recognise the same piece in two texts.
//!
//! In: bytes. Out: the ranges of words, numbers, literals and single punctuation bytes; comments,
//! blanks and spliced line ends fall away. Preprocessed text is cut by [`printed`], written text by
//! [`written`], which leaves out other people's directives. Real lexing is not done here.

use std::ops::Range;

use crate::lines::{Lines, offset};

/// A piece of text and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a [u8],
    pub(super) range: Range<usize>,
    /// Whether it is known to stand for something else.
    pub(super) is_param: bool,
}

impl Token<'_> {
    /// Whether a macro could have this name.
    pub(super) fn is_word(&self) -> bool {
        self.text.first().is_some_and(|it| is_word_start(*it))
    }

    /// Whether a printed token can be this one as it stands.
    pub(super) fn is_same(&self, printed: &Token<'_>) -> bool {
        self.text == printed.text && !self.is_param
    }
}

/// The tokens of a range of preprocessed text.
pub(super) fn printed(text: &[u8], range: Range<usize>) -> Vec<Token<'_>> {
    let mut scanner =
        Scanner { text, at: range.start, end: range.end.min(text.len()), fresh: true };
    std::iter::from_fn(|| scanner.next()).collect()
}

/// The tokens of written text from the line `first` on, as far as `keep_on` says; it is asked at
/// each new line, with the number of that line and the depth of open parentheses.
///
/// Directives are left out, but for a pragma on the first line: that is what we are asked about.
/// Also answers how many of the tokens stand on the first line and those spliced to it.
pub(super) fn written<'a>(
    text: &'a [u8],
    lines: &Lines,
    first: u32,
    comment: bool,
    keep_on: impl Fn(u32, u32) -> bool,
) -> (Vec<Token<'a>>, usize) {
    let start = lines.full(first).start;
    let mut scanner = Scanner { text, at: start, end: text.len(), fresh: true };
    if comment {
        scanner.skip_block_comment();
    }
    let mut tokens: Vec<Token<'a>> = Vec::new();
    let mut own = None;
    let mut depth = 0u32;
    while let Some(token) = scanner.next() {
        if scanner.fresh {
            let line = lines.line_of(offset(token.range.start));
            if line != first {
                own.get_or_insert(tokens.len());
                if !keep_on(line, depth) {
                    break;
                }
            }
            if token.text == b"#" {
                let is_pragma = scanner.rest().trim_ascii_start().starts_with(b"pragma");
                if line != first || !is_pragma {
                    scanner.skip_directive();
                    continue;
                }
            }
        }
        match token.text {
            b"(" => depth += 1,
            b")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        tokens.push(token);
    }
    let own = own.unwrap_or(tokens.len());
    (tokens, own)
}

/// The lines (from 0) of a written text that begin inside a block comment.
pub(super) fn lines_in_comments(text: &[u8], lines: &Lines) -> Vec<Range<u32>> {
    let mut found = Vec::new();
    let mut scanner = Scanner { text, at: 0, end: text.len(), fresh: true };
    while let Some(byte) = scanner.rest().first().copied() {
        let start = scanner.at;
        match byte {
            b'/' if scanner.rest().starts_with(b"/*") => {
                scanner.at += 2;
                scanner.skip_block_comment();
                let first = lines.line_of(offset(start)) + 1;
                let last = lines.line_of(offset(scanner.at.saturating_sub(1)));
                if first <= last {
                    found.push(first..last + 1);
                }
            }
            b'/' if scanner.rest().starts_with(b"//") => scanner.skip_line(),
            b'"' | b'\'' => scanner.skip_literal(byte),
            _ => {
                let next = scanner.rest().get(1..).unwrap_or_default();
                scanner.at += 1 + memchr::memchr3(b'/', b'"', b'\'', next).unwrap_or(next.len());
            }
        }
    }
    found
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    end: usize,
    /// Whether the token just read is the first of its line.
    fresh: bool,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    /// The next token; sets `fresh`.
    fn next(&mut self) -> Option<Token<'a>> {
        self.fresh = self.at == 0 || self.text.get(self.at - 1) == Some(&b'\n');
        loop {
            let rest = self.rest();
            match *rest.first()? {
                b'\n' => {
                    self.fresh = true;
                    self.at += 1;
                }
                b'\\' if rest.starts_with(b"\\\n") => self.at += 2,
                b'\\' if rest.starts_with(b"\\\r\n") => self.at += 3,
                b'/' if rest.starts_with(b"/*") => {
                    self.at += 2;
                    self.skip_block_comment();
                }
                b'/' if rest.starts_with(b"//") => self.skip_line(),
                byte if byte.is_ascii_whitespace() || byte == 0x0b => self.at += 1,
                _ => break,
            }
        }
        let start = self.at;
        self.skip_token();
        let range = start..self.at;
        Some(Token { text: self.text.get(range.clone())?, range, is_param: false })
    }

    fn skip_token(&mut self) {
        let rest = self.rest();
        match rest.first().copied() {
            Some(byte) if is_word_start(byte) => {
                self.at += rest.iter().take_while(|it| is_word(**it)).count();
            }
            Some(byte) if byte.is_ascii_digit() || is_fraction(rest) => {
                let mut before = byte;
                let continues = |it: &&u8| {
                    let sign =
                        matches!(**it, b'+' | b'-') && matches!(before, b'e' | b'E' | b'p' | b'P');
                    before = **it;
                    sign || **it == b'.' || is_word(**it)
                };
                self.at += rest.iter().take_while(continues).count();
            }
            Some(quote @ (b'"' | b'\'')) => self.skip_literal(quote),
            Some(_) => self.at += 1,
            None => {}
        }
    }

    /// Past a literal, or to the end of its line where it is not closed.
    fn skip_literal(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.rest().first().copied() {
            match byte {
                b'\n' => return,
                b'\\' => self.at = (self.at + 2).min(self.end),
                _ => self.at += 1,
            }
            if byte == quote {
                return;
            }
        }
    }

    fn skip_block_comment(&mut self) {
        let rest = self.rest();
        self.at += memchr::memmem::find(rest, b"*/").map_or(rest.len(), |it| it + 2);
    }

    /// To the end of this line and of those spliced to it.
    fn skip_line(&mut self) {
        loop {
            let rest = self.rest();
            let Some(length) = memchr::memchr(b'\n', rest) else {
                self.at = self.end;
                return;
            };
            let line = rest.get(..length).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            self.at += length;
            if !line.ends_with(b"\\") {
                return;
            }
            self.at += 1;
        }
    }

    /// Past the rest of a directive: a comment in it may run on over lines.
    fn skip_directive(&mut self) {
        loop {
            let before = self.at;
            if self.next().is_none() {
                return;
            }
            if self.fresh {
                // The token belongs to the next line already; go back before it.
                let skipped = self.text.get(before..self.at).unwrap_or_default();
                let line_end = memchr::memrchr(b'\n', skipped).map_or(0, |it| it + 1);
                self.at = before + line_end;
                return;
            }
        }
    }
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

fn is_word(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit()
}

fn is_fraction(text: &[u8]) -> bool {
    matches!(text, [b'.', digit, ..] if digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(tokens: &[Token<'_>]) -> String {
        let texts: Vec<_> = tokens.iter().map(|it| String::from_utf8_lossy(it.text)).collect();
        texts.join(" ")
    }

    #[track_caller]
    fn check_printed(text: &str, expect: &str) {
        assert_eq!(show(&printed(text.as_bytes(), 0..text.len())), expect, "{text}");
    }

    #[test]
    fn text_falls_into_pieces() {
        check_printed("a+=b_1 /* c */->d;", "a + = b_1 - > d ;");
        check_printed("1.5e+3f .5 0x1p-2 x.y", "1.5e+3f .5 0x1p-2 x . y");
        check_printed(r#"f("a\"b", '\'')"#, r#"f ( "a\"b" , '\'' )"#);
        check_printed("a \\\n b // c \\\n d\ne", "a b e");
        check_printed("\"open\nx /* open", "\"open x");
        check_printed("\\", "\\");
    }

    #[track_caller]
    fn check_written(text: &str, first: u32, expect: &str) {
        let lines = Lines::of(text.as_bytes());
        let comments = lines_in_comments(text.as_bytes(), &lines);
        let comment = comments.iter().any(|it| it.contains(&first));
        let (tokens, _) = written(text.as_bytes(), &lines, first, comment, |line, depth| {
            line <= first || depth > 0
        });
        assert_eq!(show(&tokens), expect, "{text}");
    }

    #[test]
    fn written_lines_run_on_while_a_parenthesis_is_open() {
        check_written("a = f(b,\n c) + d;\ne;", 0, "a = f ( b , c ) + d ;");
        check_written("a;\nb;", 0, "a ;");
        check_written("f(\n#define X 1 \\\n 2\n y);", 0, "f ( y ) ;");
        check_written("#pragma a \\\n b\nc;", 0, "# pragma a b");
        check_written("#if X /* a\n b */\nc;\nd;", 2, "c ;");
    }

    #[test]
    fn a_comment_may_have_begun_on_an_earlier_line() {
        check_written("int a; /* it's\n don't */ b;\nc;", 1, "b ;");
        check_written("\"/*\"\nb;", 1, "b ;");
    }
}
