//! Views of Rust text in which comments, strings or tests are blanked out.
//!
//! In: the text of a file. Out: a text of the same lines, so that line numbers stay true. This is
//! a scanner for rules about words, not a parser: it knows comments, strings and characters only.

/// What a view keeps besides code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strings {
    Keep,
    Blank,
}

/// The text without comments and, as asked, without the contents of strings.
pub(super) fn code(text: &str, strings: Strings) -> String {
    let mut scanner = Scanner { rest: text, out: String::with_capacity(text.len()), strings };
    while scanner.step() {}
    scanner.out
}

/// The lines before the test module (`mod tests {`), which stands last in a file by our convention.
pub(super) fn before_tests(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let next_lines = code.lines().skip(1).chain([""]);
    let begins_tests = |line: &str, next: &str| {
        line.starts_with("#[cfg(test)]") && next.starts_with("mod ") && next.ends_with('{')
    };
    let lines = numbered(code).zip(next_lines);
    lines.take_while(move |((_, line), next)| !begins_tests(line, next)).map(|(line, _)| line)
}

/// Lines with their numbers from 1.
pub(super) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines())
}

struct Scanner<'a> {
    rest: &'a str,
    out: String,
    strings: Strings,
}

impl Scanner<'_> {
    /// Moves over one comment, literal or character of code; false at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.rest.chars().next() else { return false };
        let after_word =
            self.out.chars().next_back().is_some_and(|it| it == '_' || it.is_alphanumeric());
        if self.rest.starts_with("//") {
            let len = self.rest.find('\n').unwrap_or(self.rest.len());
            self.blank(len);
        } else if self.rest.starts_with("/*") {
            self.blank(block_comment(self.rest));
        } else if let Some(len) = raw_string(self.rest).filter(|_| !after_word) {
            self.string(len);
        } else if first == '"' {
            self.string(quoted(self.rest, '"'));
        } else if first == '\'' && is_character(self.rest) {
            self.string(quoted(self.rest, '\''));
        } else {
            self.keep(first.len_utf8());
        }
        true
    }

    fn string(&mut self, len: usize) {
        match self.strings {
            Strings::Keep => self.keep(len),
            Strings::Blank => self.blank(len),
        }
    }

    fn keep(&mut self, len: usize) {
        let (taken, rest) = self.rest.split_at(len);
        self.out.push_str(taken);
        self.rest = rest;
    }

    fn blank(&mut self, len: usize) {
        let (taken, rest) = self.rest.split_at(len);
        self.out.extend(taken.chars().map(|it| if it == '\n' { '\n' } else { ' ' }));
        self.rest = rest;
    }
}

/// Length of the block comment that begins here; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|it| !it.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Length of the raw string that begins here: `r"…"`, `r#"…"#`, `br"…"`, `cr"…"`.
fn raw_string(text: &str) -> Option<usize> {
    let body = text.strip_prefix(['b', 'c']).unwrap_or(text).strip_prefix('r')?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let body = body.trim_start_matches('#').strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let close = body.find(&end).map_or(body.len(), |it| it + end.len());
    Some(text.len() - body.len() + close)
}

/// Length of the literal between two quotes, which a backslash can hide.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, it) in text.char_indices().skip(1) {
        match it {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if it == quote => return at + quote.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// A quote begins a character, not a lifetime: `'a'`, `'\n'`, but not `'a`.
fn is_character(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    match chars.next() {
        Some('\\') => true,
        Some(_) => chars.next() == Some('\''),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, strings: Strings, expect: &str) {
        assert_eq!(code(text, strings), expect);
    }

    #[test]
    fn comments_are_blanked_and_lines_kept() {
        check("a // b\nc", Strings::Keep, "a     \nc");
        check("a /* b\n /* c */ d */ e", Strings::Keep, "a     \n              e");
    }

    #[test]
    fn strings_hide_comments() {
        check(r#"x("// no", y) // z"#, Strings::Keep, r#"x("// no", y)     "#);
        check(r#"x("a\"b", y)"#, Strings::Blank, "x(      , y)");
    }

    #[test]
    fn raw_strings_end_at_their_own_mark() {
        check("r#\"a\"b\"# c", Strings::Blank, "         c");
        check("for_r\"x\"", Strings::Blank, "for_r   ");
    }

    #[test]
    fn lifetimes_are_not_characters() {
        check("&'a str, '\"', '\\'' \"x\"", Strings::Blank, "&'a str,    ,         ");
    }

    #[test]
    fn open_ends_do_not_run_away() {
        for text in ["\"open", "/* open", "r#\"open", "'", "'\\"] {
            assert_eq!(code(text, Strings::Blank).len(), text.len(), "{text}");
        }
    }

    #[test]
    fn the_test_module_is_not_seen() {
        let lines: Vec<_> = before_tests("a\n#[cfg(test)]\nmod tests {\n}\n").collect();
        assert_eq!(lines, [(1, "a")]);
        let import = "#[cfg(test)]\nuse x;\n#[cfg(test)]\nmod tests;\ncode\n";
        assert_eq!(before_tests(import).count(), 5, "what follows an import is still code");
    }
}
