//! The argument of the memory-kind directive, an extension of OpenMP:
//! `memkind(fastmem : val : a, b, persistent : ref : c)`.
//!
//! A list of parts, each with a memory, `val` or `ref`, both or neither before its variables. The
//! comma before a new part is the comma of the list before it, so a part begins wherever a word
//! stands before a colon.

use ir::construct::{Args, MemoryBy, MemoryKind, Spelled};
use syntax::TokenKind;

use crate::Written;
use crate::cursor::{Read, Reader};
use crate::table::{ArgsRow, Choices};

/// `(fastmem : val : a, b, persistent : ref : c)`
pub(super) const MEMORY_KINDS: ArgsRow = ArgsRow {
    read: |r| r.parens(read),
    write,
    samples: &[
        "(a)",
        "(a, b)",
        "(val : a, b)",
        "(fastmem : a)",
        "(fastmem : val : a, b, persistent : ref : p, q)",
        "(a, scratchpad : val : b, ref : p)",
    ],
};

const BY: Choices<MemoryBy> = Choices {
    what: "a variable modifier",
    words: &[("val", MemoryBy::Value), ("ref", MemoryBy::Reference)],
};

fn read(r: &mut Reader<'_, '_>) -> Read<Args<Written>> {
    let mut parts = vec![part(r)?];
    while r.p.eat(TokenKind::Comma) {
        parts.push(part(r)?);
    }
    Ok(Args::Memory(parts))
}

/// Whether `word :` stands `n` tokens further.
fn at_modifier(r: &Reader<'_, '_>, n: usize) -> bool {
    r.p.word_at(n).is_some() && r.p.peek_at(n + 1) == TokenKind::Colon
}

/// Modifiers and variables, up to the comma before the next part.
fn part(r: &mut Reader<'_, '_>) -> Read<MemoryKind<Written>> {
    let mut part = MemoryKind { space: None, by: None, items: Vec::new() };
    if at_modifier(r, 0) && !r.at_choice(&BY) {
        part.space = Some(r.any_word("a memory")?);
        r.expect(TokenKind::Colon)?;
    }
    if at_modifier(r, 0) {
        part.by = Some(r.choice(&BY)?);
        r.expect(TokenKind::Colon)?;
    }
    part.items.push(r.item()?);
    while r.p.at(TokenKind::Comma) && !at_modifier(r, 1) {
        r.p.bump();
        part.items.push(r.item()?);
    }
    Ok(part)
}

fn write(args: &Args<Spelled>) -> Option<String> {
    let Args::Memory(parts) = args else { return None };
    let parts: Vec<String> = parts
        .iter()
        .map(|part| {
            let space = part.space.as_ref().map(|it| format!("{it} : ")).unwrap_or_default();
            let by = part.by.and_then(|it| BY.word(&it)).map(|it| format!("{it} : "));
            format!("{space}{}{}", by.unwrap_or_default(), part.items.join(", "))
        })
        .collect();
    Some(format!("({})", parts.join(", ")))
}
