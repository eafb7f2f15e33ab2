//! Whatever the tokens, parsing ends, and what it makes fits the text.

mod common;

use proptest::prelude::*;
use syntax::pragma::NoDirectives;

use common::Words;

/// Pieces of programs, most of them where they do not belong.
const PIECES: &[&str] = &[
    "int ",
    "x ",
    "T ",
    "typedef int T;",
    "struct s ",
    "enum ",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ":",
    "?",
    "=",
    "*",
    "&&",
    "+",
    "1 ",
    "\"s\" ",
    "'c' ",
    "if",
    "else ",
    "for",
    "while",
    "do ",
    "case ",
    "default",
    "return ",
    "goto ",
    "sizeof",
    "_Generic",
    "({",
    "})",
    "...",
    ".a",
    "->a",
    "__attribute__((",
    "))",
    "[[",
    "]]",
    "asm",
    "__label__ ",
    "typeof(",
    "_Atomic",
    "static ",
    "\n#pragma dir prefix\n",
    "\n#pragma dir items a[0:(\n",
    "\n#pragma pack(push, 1)\n",
    "\n#pragma x\n",
    "_Pragma(\"dir prefix\")",
    "@",
    "\0",
    "\u{201C}",
    "'",
    "\"",
    "/*",
    "\\",
    "\n",
    "\n# 1 \"a.c\"\n",
    "void f(void) {",
    "__extension__ ",
    "_Static_assert(",
    "__builtin_offsetof(",
    "__builtin_va_arg(",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_soup_of_tokens_is_digested(choice in prop::collection::vec(0..PIECES.len(), 0..80)) {
        let text: String = choice.iter().filter_map(|it| PIECES.get(*it).copied()).collect();
        let parsed = syntax::parse(text.as_bytes(), 7, &mut Words::default());
        let end = 7 + text.len() as u32;
        for (_, it) in parsed.tree.exprs.iter() {
            prop_assert!(it.span.start <= it.span.end && it.span.end <= end, "{text:?}");
        }
        for (_, it) in parsed.tree.stmts.iter() {
            prop_assert!(it.span.start <= it.span.end && it.span.end <= end, "{text:?}");
        }
    }

    #[test]
    fn any_bytes_are_digested(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let parsed = syntax::parse(&bytes, 0, &mut NoDirectives);
        prop_assert!(parsed.diagnostics.errors() <= 101);
    }
}
