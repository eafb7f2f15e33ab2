//! Spellings of tokens that are not simply what stands in the text: hidden line ends, letters
//! beyond ASCII, bytes that are no text at all, and strings inside strings.

use std::borrow::Cow;

/// Whether a character may stand in a name.
pub(crate) fn is_letter(it: char) -> bool {
    it.is_alphanumeric()
        || it == '_'
        || it == '$'
        || it == '\u{200C}'
        || it == '\u{200D}'
        || is_mark(it)
}

/// Combining marks that names of many scripts need.
fn is_mark(it: char) -> bool {
    matches!(it, '\u{300}'..='\u{36F}' | '\u{900}'..='\u{DFF}' | '\u{E31}'..='\u{E4E}' | '\u{1AB0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// The character that starts here, if the bytes are one.
pub(crate) fn char_at(text: &[u8], at: usize) -> Option<char> {
    let bytes = text.get(at..text.len().min(at + 4))?;
    let valid = match std::str::from_utf8(bytes) {
        Ok(valid) => valid,
        Err(fault) => std::str::from_utf8(bytes.get(..fault.valid_up_to())?).ok()?,
    };
    valid.chars().next()
}

/// A spelling without hidden line ends. Bytes that are not UTF-8 become octal escapes, which mean
/// the same wherever such a byte may stand: in a literal.
pub(crate) fn clean(bytes: &[u8], is_line: bool) -> Cow<'_, str> {
    if !bytes.contains(&b'\\')
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\{byte:03o}"));
        }
    }
    if text.contains('\n') {
        let join = if is_line { " " } else { "" };
        text = text.replace("\\\r\n", join).replace("\\\n", join);
    }
    Cow::Owned(text)
}

/// The text inside the string of `_Pragma`: `\"` and `\\` lose their backslash.
pub(crate) fn destringize(inside: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(inside.len());
    let mut rest = inside.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match (byte, rest.peek()) {
            (b'\\', Some(&next @ (b'"' | b'\\'))) => {
                plain.push(next);
                rest.next();
            }
            _ => plain.push(byte),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_no_text_becomes_its_escape() {
        assert_eq!(clean(b"\"caf\xE9\"", false), "\"caf\\351\"");
        assert_eq!(clean("\"café\"".as_bytes(), false), "\"café\"");
    }

    #[test]
    fn hidden_line_ends_vanish() {
        assert_eq!(clean(b"ab\\\ncd\\\r\nef", false), "abcdef");
        assert_eq!(clean(b"a\\\nb", true), "a b");
    }

    #[test]
    fn strings_lose_one_level_of_quoting() {
        assert_eq!(destringize(br#"message(\"a\\n\")"#), br#"message("a\n")"#);
        assert_eq!(destringize(br"a\n"), br"a\n");
    }

    #[test]
    fn letters_of_all_scripts_make_names() {
        assert!("aZ9_$éπ名".chars().all(is_letter));
        assert!(!"“\u{A0}+".chars().any(is_letter));
        assert_eq!(char_at("π".as_bytes(), 0), Some('π'));
        assert_eq!(char_at(b"\xFF", 0), None);
    }
}
