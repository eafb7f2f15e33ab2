//! A line with the macros in it written out, one step at a time: the words of a definition are nearer to what the
//! user has written than the text that the preprocessor makes in the end.

use super::align::closing;
use super::macros::Definition;
use super::made::arguments;
use super::tokens;

/// The line with each use of a macro replaced by the words of its definition; none if it uses none, or one whose
/// definition makes strings or new words.
pub(super) fn step(
    line: &[u8],
    definition: &dyn Fn(&[u8]) -> Option<Definition>,
) -> Option<Vec<u8>> {
    let tokens = tokens::printed(line, 0..line.len());
    let ends = closing(&tokens);
    let mut out = Vec::new();
    let (mut at, mut done) = (0usize, 0usize);
    while let Some(token) = tokens.get(at) {
        let here = at;
        at += 1;
        let Some(found) = token.is_word().then(|| definition(token.text)).flatten() else {
            continue;
        };
        let next = match (&found.params, ends.get(here).copied().flatten()) {
            (None, _) => here + 1,
            (Some(_), Some(end)) => end,
            (Some(_), None) => continue,
        };
        let inside = tokens.get(here + 2..next.saturating_sub(1)).unwrap_or_default();
        let params = found.params.as_deref().unwrap_or_default();
        let values = arguments(inside, params.len(), found.is_variadic);
        out.extend_from_slice(line.get(done..token.range.start)?);
        let mut body = found.body.start;
        let bytes = &found.text.bytes;
        for word in tokens::printed(bytes, found.body.clone()) {
            if word.text == b"#" {
                return None;
            }
            out.extend_from_slice(bytes.get(body..word.range.start)?);
            body = word.range.end;
            let value = params.iter().zip(&values).find(|it| it.0 == word.text).map(|it| it.1);
            out.extend_from_slice(match value {
                Some(value) => line.get(value.clone())?,
                None => word.text,
            });
        }
        done = tokens.get(next.checked_sub(1)?)?.range.end;
        at = next;
    }
    out.extend_from_slice(line.get(done..)?);
    (done > 0).then_some(out)
}
