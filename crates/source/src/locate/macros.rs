//! What macros stand for, as their definitions are written.
//!
//! In: preprocessed text in which definitions stand in their places (`cc -E -dD`), and the written files. Out: the
//! [`Definition`] of a name at a place of that text.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::Text;
use super::tokens::{self, Token};
use crate::lines::{Lines, offset};

/// Where each name is defined and undefined in a preprocessed text.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// By name, in the order of the text: the byte, and the line from 0 if it is a definition.
    list: HashMap<Vec<u8>, Vec<(usize, Option<u32>)>>,
}

/// What a name stands for.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) text: Rc<Text>,
    /// Parameters of a macro that takes arguments; the last takes all that are left if it is variadic.
    pub(super) params: Option<Vec<Vec<u8>>>,
    pub(super) is_variadic: bool,
    /// Bytes of the written text.
    pub(super) body: Range<usize>,
}

impl Definitions {
    pub(super) fn of(text: &[u8], lines: &Lines) -> Definitions {
        let mut list: HashMap<Vec<u8>, Vec<(usize, Option<u32>)>> = HashMap::new();
        for line in 0..lines.count() {
            let content = lines.content(line, text);
            if text.get(content.start) != Some(&b'#') {
                continue;
            }
            let words = tokens::printed(text, content.clone());
            let [_, word, name, ..] = words.as_slice() else { continue };
            let found = match word.text {
                b"define" => Some(line),
                b"undef" => None,
                _ => continue,
            };
            list.entry(name.text.to_vec()).or_default().push((content.start, found));
        }
        Definitions { list }
    }

    /// The line (from 0) of the definition that holds at a byte.
    pub(super) fn line_at(&self, name: &[u8], at: usize) -> Option<u32> {
        let all = self.list.get(name)?;
        let index = all.partition_point(|it| it.0 <= at).checked_sub(1)?;
        all.get(index)?.1
    }
}

impl Definition {
    /// Reads the definition that stands on a line (from 0) of a written file.
    pub(super) fn read(text: &Rc<Text>, line: u32, name: &[u8]) -> Option<Definition> {
        let range = logical_line(text, line);
        let tokens = tokens::printed(&text.bytes, range);
        let [hash, define, own, rest @ ..] = tokens.as_slice() else { return None };
        if (hash.text, define.text, own.text) != (b"#", b"define", name) {
            return None;
        }
        let takes_arguments =
            rest.first().filter(|it| it.text == b"(" && it.range.start == own.range.end);
        let (params, body) = match takes_arguments {
            None => (None, rest),
            Some(_) => {
                let end = rest.iter().position(|it| it.text == b")")?;
                (Some(rest.get(1..end)?), rest.get(end + 1..)?)
            }
        };
        let is_variadic = params.is_some_and(|it| it.iter().any(|it| it.text == b"."));
        let params = params.map(names);
        let body = match (body.first(), body.last()) {
            (Some(first), Some(last)) => first.range.start..last.range.end,
            _ => own.range.end..own.range.end,
        };
        Some(Definition { text: Rc::clone(text), params, is_variadic, body })
    }
}

/// The names of parameters; `...` alone is `__VA_ARGS__`.
fn names(list: &[Token<'_>]) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for part in list.split(|it| it.text == b",") {
        match part {
            [word, ..] if word.is_word() => found.push(word.text.to_vec()),
            [_, ..] => found.push(b"__VA_ARGS__".to_vec()),
            [] => {}
        }
    }
    found
}

/// The bytes of a line and of those spliced to it.
pub(super) fn logical_line(text: &Text, first: u32) -> Range<usize> {
    let start = text.lines.full(first).start;
    let mut line = first;
    loop {
        let content = text.lines.content(line, &text.bytes);
        let is_spliced = text.bytes.get(content.clone()).is_some_and(|it| it.ends_with(b"\\"));
        if !is_spliced || line >= offset(text.bytes.len()) {
            return start..content.end;
        }
        line += 1;
    }
}
