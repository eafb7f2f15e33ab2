//! The catalogue of faults of lexer and parser, one function each.
//!
//! `F01xx` are faults of the text as a row of tokens, `F02xx` of its grammar.

use source::{Diagnostic, Span};

use crate::token::TokenKind;

// ---------------------------------------------------------------- F01xx: tokens

pub(crate) fn stray_text(bytes: &[u8], span: Span) -> Diagnostic {
    let what = match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().count() == 1 && !text.contains(char::is_control) => {
            format!("stray `{text}` in the program")
        }
        Ok(_) if bytes.iter().all(|&it| it == 0) => "null characters in the program".to_owned(),
        Ok(text) if !text.contains(char::is_control) => format!("stray `{text}` in the program"),
        Ok(_) => "stray control characters in the program".to_owned(),
        Err(_) => "bytes that are not UTF-8 outside of a string".to_owned(),
    };
    Diagnostic::error("F0101", what).at(span, "")
}

pub(crate) fn unterminated_comment(span: Span) -> Diagnostic {
    Diagnostic::error("F0102", "this comment is never closed").at(span, "starts here")
}

pub(crate) fn unterminated_literal(kind: TokenKind, span: Span) -> Diagnostic {
    let (what, quote) = match kind {
        TokenKind::Char => ("character constant", '\''),
        _ => ("string", '"'),
    };
    Diagnostic::error("F0103", format!("this {what} is not closed on its line"))
        .at(span, format!("a closing `{quote}` is missing"))
}

pub(crate) fn empty_character_constant(span: Span) -> Diagnostic {
    Diagnostic::error("F0104", "empty character constant").at(span, "")
}

pub(crate) fn bad_pragma_operator(span: Span) -> Diagnostic {
    Diagnostic::error("F0105", "`_Pragma` takes one string in parentheses").at(span, "")
}

// ---------------------------------------------------------------- F02xx: grammar

pub(crate) fn expected(what: &str, found: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0201", format!("expected {what}, found {found}")).at(span, "")
}

/// `after` is where the missing token should have been.
pub(crate) fn missing(what: TokenKind, after: Span, context: &str) -> Diagnostic {
    let what = what.describe();
    Diagnostic::error("F0202", format!("expected {what} {context}")).at(after, "missing here")
}

pub(crate) fn unclosed(
    open: TokenKind,
    opened: Span,
    close: TokenKind,
    found: &str,
    at: Span,
) -> Diagnostic {
    let (open, close) = (open.describe(), close.describe());
    Diagnostic::error("F0203", format!("expected {close}, found {found}"))
        .at(at, "")
        .label(opened, format!("this {open} is not closed"))
}

/// A word stands where a type is expected.
pub fn unknown_type_name(name: &str, span: Span) -> Diagnostic {
    let fault = Diagnostic::error("F0204", format!("unknown type name `{name}`")).at(span, "");
    match header_of(name) {
        Some(header) => fault.help(format!("`{name}` is declared in <{header}>: include it")),
        None => fault,
    }
}

/// Headers of types that are often used without them.
fn header_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "size_t" | "ptrdiff_t" | "wchar_t" | "max_align_t" => "stddef.h",
        "int8_t" | "int16_t" | "int32_t" | "int64_t" | "uint8_t" | "uint16_t" | "uint32_t"
        | "uint64_t" | "intptr_t" | "uintptr_t" | "intmax_t" | "uintmax_t" => "stdint.h",
        "bool" => "stdbool.h",
        "FILE" | "fpos_t" => "stdio.h",
        "va_list" => "stdarg.h",
        "time_t" | "clock_t" => "time.h",
        "complex" => "complex.h",
        "jmp_buf" => "setjmp.h",
        "div_t" | "ldiv_t" | "lldiv_t" => "stdlib.h",
        "ssize_t" | "off_t" | "pid_t" | "mode_t" | "uid_t" | "gid_t" | "u_int" | "u_char" => {
            "sys/types.h"
        }
        "pthread_t" | "pthread_mutex_t" | "pthread_attr_t" => "pthread.h",
        "sigset_t" | "sig_atomic_t" => "signal.h",
        "wint_t" => "wchar.h",
        _ => return None,
    })
}

pub(crate) fn missing_type(span: Span) -> Diagnostic {
    Diagnostic::warning("F0205", "this declaration has no type")
        .at(span, "taken to be `int`")
        .help("write `int`")
}

pub(crate) fn conflicting_types(span: Span) -> Diagnostic {
    Diagnostic::error("F0206", "these type keywords do not make a type").at(span, "")
}

pub(crate) fn two_storage_classes(span: Span) -> Diagnostic {
    Diagnostic::error("F0207", "more than one storage class").at(span, "")
}

pub(crate) fn unsupported_keyword(word: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0208", format!("`{word}` types are not supported")).at(span, "")
}

/// A function is defined inside a function.
pub fn nested_function(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0209", format!("function `{name}` is defined inside another function"))
        .at(span, "")
        .note("functions inside functions are an extension that only GCC knows")
        .help(format!("move `{name}` to file scope, or close the function before it with `}}`"))
}

pub(crate) fn nested_too_deeply(span: Span) -> Diagnostic {
    Diagnostic::error("F0210", "nested too deeply")
        .at(span, "deeper than this the text is not read")
        .note(format!("at most {} levels are accepted", crate::parse::MAX_DEPTH))
}

pub(crate) fn expression_too_long(span: Span) -> Diagnostic {
    Diagnostic::error("F0211", "this expression has too many operators in one row")
        .at(span, "")
        .note(format!("at most {} are accepted", crate::parse::MAX_HEIGHT))
        .help("split it into several statements")
}

pub(crate) fn chain_too_long(span: Span) -> Diagnostic {
    Diagnostic::error("F0220", "too many labels or `else if` in one row")
        .at(span, "the first is here")
        .note(format!("at most {} are accepted", crate::parse::MAX_HEIGHT))
}

pub(crate) fn directive_in_expression(span: Span) -> Diagnostic {
    Diagnostic::error("F0212", "a directive cannot stand inside an expression or declaration")
        .at(span, "")
}

pub(crate) fn directive_without_statement(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("F0213", format!("expected a {what} after this directive")).at(span, "")
}

pub(crate) fn too_many_errors(span: Span) -> Diagnostic {
    Diagnostic::error("F0214", "too many errors; the rest are not shown").at(span, "")
}

pub(crate) fn unmatched_brace(span: Span) -> Diagnostic {
    Diagnostic::error("F0215", "this `}` closes nothing").at(span, "")
}

pub(crate) fn else_without_if(span: Span) -> Diagnostic {
    Diagnostic::error("F0216", "`else` without `if`").at(span, "")
}

pub(crate) fn bad_pack(span: Span) -> Diagnostic {
    Diagnostic::warning("F0217", "this `#pragma pack` is not understood and has no effect")
        .at(span, "")
        .help("write `pack(n)`, `pack(push, n)`, `pack(pop)` or `pack()`")
}

pub(crate) fn body_without_function(span: Span) -> Diagnostic {
    Diagnostic::error("F0218", "a body without a function")
        .at(span, "")
        .note("only a declarator with a parameter list can be followed by a body")
}

pub(crate) fn last_member_open(after: Span) -> Diagnostic {
    Diagnostic::warning("F0221", "the last member is not closed with `;`").at(after, "missing here")
}

pub(crate) fn declaration_as_body(span: Span) -> Diagnostic {
    Diagnostic::error("F0219", "a declaration cannot be the body of a statement")
        .at(span, "")
        .help("put it in braces")
}
