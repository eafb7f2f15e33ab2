//! Where the declarations of a file begin and end, read from its text alone.

use std::ops::Range;

/// The declarations and functions at file scope, each from its first word to its last byte.
pub(super) fn declarations(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start: Option<usize> = None;
    let (mut depth, mut at) = (0usize, 0usize);
    let mut last = b'\n';
    let mut is_body = false;
    while let Some(byte) = text.get(at).copied() {
        let next = text.get(at + 1).copied();
        match byte {
            b'/' if next == Some(b'*') => {
                let rest = text.get(at + 2..).unwrap_or_default();
                at += 3 + rest.windows(2).position(|it| it == b"*/").unwrap_or(rest.len());
                at += 1;
                continue;
            }
            b'/' if next == Some(b'/') => {
                at = line_end(text, at);
                continue;
            }
            b'#' if is_first_of_line(text, at) => {
                at = line_end(text, at);
                continue;
            }
            b'"' | b'\'' => {
                at += 1;
                while text.get(at).is_some_and(|it| *it != byte) {
                    at += if text.get(at) == Some(&b'\\') { 2 } else { 1 };
                }
            }
            _ => {}
        }
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let begin = *start.get_or_insert(at.min(text.len()));
        match byte {
            b'{' => {
                if depth == 0 {
                    is_body = last == b')';
                }
                depth += 1;
            }
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && is_body {
                    found.push(begin..at + 1);
                    start = None;
                    is_body = false;
                }
            }
            b';' if depth == 0 => {
                found.push(begin..at + 1);
                start = None;
            }
            _ => {}
        }
        last = byte;
        at += 1;
    }
    found
}

/// The end of a line, lines joined by backslashes counted as one.
fn line_end(text: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let Some(end) = rest.iter().position(|it| *it == b'\n') else { return text.len() };
        let line = rest.get(..end).unwrap_or_default();
        if !line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\") {
            return at + end;
        }
        at += end + 1;
    }
}

fn is_first_of_line(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let start = before.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
    before.get(start..).unwrap_or_default().trim_ascii().is_empty()
}

#[cfg(test)]
mod tests {
    use super::declarations;

    #[test]
    fn bodies_initialisers_and_comments_end_where_they_should() {
        let text = "/* a; */\nint x[] = { 1, 2 };\n#define A { ;\nint f(void)\n{ return ';'; }\n\
                    struct s { int a; } y; // int z;\nint g(int);\n";
        let parts: Vec<&str> =
            declarations(text.as_bytes()).into_iter().map(|it| &text[it]).collect();
        assert_eq!(
            parts,
            [
                "int x[] = { 1, 2 };",
                "int f(void)\n{ return ';'; }",
                "struct s { int a; } y;",
                "int g(int);"
            ]
        );
    }
}
