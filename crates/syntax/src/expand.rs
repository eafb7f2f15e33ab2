//! Macros in pragmas that the preprocessor left alone.
//!
//! A preprocessor expands macros only in the pragmas it knows; what a newer standard or another
//! compiler's directive says stays as written. In: the text that `cc -E -dD` gave, where each
//! definition stands in its place. Out: the same text with macros expanded in the lines whose
//! first word the caller claims. Every other byte stays; a text without such lines is returned as
//! it came, after one look.
//!
//! This is C's macro expansion (arguments, `#`, `##`, variadic macros, no macro inside itself) on
//! one line at a time: an argument list does not go on in the next line.

use rustc_hash::{FxHashMap, FxHashSet};

/// A line whose expansion grows past this many tokens is left as it was written.
const MOST_TOKENS: usize = 1 << 16;

/// Expands macros in the pragmas whose first word `is_claimed`.
pub fn expand_pragmas(text: Vec<u8>, is_claimed: fn(&str) -> bool) -> Vec<u8> {
    if needs_expansion(&text, is_claimed) { rewrite(&text, is_claimed) } else { text }
}

/// Whether a claimed pragma holds a word that is a macro's name anywhere in the text.
fn needs_expansion(text: &[u8], is_claimed: fn(&str) -> bool) -> bool {
    let mut words: FxHashSet<&[u8]> = FxHashSet::default();
    for line in lines(text) {
        if let Some(rest) = claimed_pragma(line, is_claimed) {
            words.extend(tokens(rest).filter(|it| is_word(it)));
        }
    }
    let is_wanted = |line| definition(line).is_some_and(|it| words.contains(it.name));
    !words.is_empty() && lines(text).any(is_wanted)
}

fn rewrite(text: &[u8], is_claimed: fn(&str) -> bool) -> Vec<u8> {
    let mut macros = Macros::default();
    let mut out = Vec::with_capacity(text.len());
    for line in lines(text) {
        if let Some(definition) = definition(line) {
            macros.insert(definition.name, definition.into_macro());
        } else if let Some(name) = directive(line, b"undef").and_then(|it| tokens(it).next()) {
            macros.remove(name);
        } else if let Some(rest) = claimed_pragma(line, is_claimed) {
            let head = line.len() - rest.len();
            if let Some(expanded) = expand(rest, &macros) {
                out.extend_from_slice(line.get(..head).unwrap_or_default());
                out.extend_from_slice(&expanded);
                if line.ends_with(b"\n") {
                    out.push(b'\n');
                }
                continue;
            }
        }
        out.extend_from_slice(line);
    }
    out
}

type Macros<'t> = FxHashMap<&'t [u8], Macro<'t>>;

/// What a name stands for.
struct Macro<'t> {
    /// Parameters of a function-like macro; the last is `__VA_ARGS__` if it takes more.
    params: Option<Vec<&'t [u8]>>,
    is_variadic: bool,
    body: Vec<Token<'t>>,
}

/// A token and whether blanks stand in front of it.
#[derive(Clone, Debug)]
struct Token<'t> {
    text: std::borrow::Cow<'t, [u8]>,
    has_space: bool,
    /// Met inside its own expansion: it stays as it is for good.
    is_painted: bool,
}

// ---------------------------------------------------------------- lines

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&it| it == b'\n')
}

/// What stands after `# word` in a line, if it is such a line.
fn directive<'t>(line: &'t [u8], word: &[u8]) -> Option<&'t [u8]> {
    let rest = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
    let rest = rest.strip_prefix(word)?;
    rest.first().is_none_or(|it| it.is_ascii_whitespace()).then_some(rest)
}

/// What stands after a claimed pragma's first word.
fn claimed_pragma(line: &[u8], is_claimed: fn(&str) -> bool) -> Option<&[u8]> {
    let rest = directive(line, b"pragma")?.trim_ascii_start();
    let length = rest.iter().take_while(|it| is_word_byte(**it)).count();
    let (word, rest) = rest.split_at_checked(length)?;
    // A pragma that defines a macro itself means the name, not what the name stands for.
    let defines = directive(rest, b"define").is_some();
    (!defines && is_claimed(std::str::from_utf8(word).ok()?)).then_some(rest)
}

struct Definition<'t> {
    name: &'t [u8],
    rest: &'t [u8],
}

fn definition(line: &[u8]) -> Option<Definition<'_>> {
    let rest = directive(line, b"define")?.trim_ascii_start();
    let length = rest.iter().take_while(|it| is_word_byte(**it)).count();
    let (name, rest) = rest.split_at_checked(length)?;
    (!name.is_empty()).then_some(Definition { name, rest })
}

impl<'t> Definition<'t> {
    fn into_macro(self) -> Macro<'t> {
        // Parameters follow the name without a blank between.
        let Some(rest) = self.rest.strip_prefix(b"(") else {
            return Macro { params: None, is_variadic: false, body: spaced_tokens(self.rest) };
        };
        let end = rest.iter().position(|&it| it == b')').unwrap_or(rest.len());
        let (list, body) = rest.split_at_checked(end).unwrap_or((rest, b""));
        let mut params: Vec<&[u8]> = tokens(list).filter(|it| *it != b",").collect();
        let mut is_variadic = false;
        if params.last() == Some(&b"...".as_slice()) {
            is_variadic = true;
            params.pop();
            // `args...` names the rest; `...` alone calls it `__VA_ARGS__`.
            let is_named = list
                .trim_ascii_end()
                .strip_suffix(b"...")
                .is_some_and(|it| it.trim_ascii_end().last().is_some_and(|it| is_word_byte(*it)));
            if !is_named {
                params.push(b"__VA_ARGS__");
            }
        }
        let body = spaced_tokens(body.strip_prefix(b")").unwrap_or(body));
        Macro { params: Some(params), is_variadic, body }
    }
}

// ---------------------------------------------------------------- tokens

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn is_word(token: &[u8]) -> bool {
    token.first().is_some_and(|it| is_word_byte(*it) && !it.is_ascii_digit())
}

fn tokens(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        let (token, tail) = rest.split_at_checked(token_length(rest))?;
        rest = tail;
        (!token.is_empty()).then_some(token)
    })
}

fn spaced_tokens(text: &[u8]) -> Vec<Token<'_>> {
    let mut list = Vec::new();
    let mut rest = text;
    loop {
        let trimmed = rest.trim_ascii_start();
        let has_space = trimmed.len() < rest.len();
        let (token, tail) = trimmed.split_at_checked(token_length(trimmed)).unwrap_or_default();
        if token.is_empty() {
            return list;
        }
        list.push(Token { text: token.into(), has_space, is_painted: false });
        rest = tail;
    }
}

/// Words, numbers and literals whole; of punctuation only what expansion must tell apart.
fn token_length(text: &[u8]) -> usize {
    let Some(&first) = text.first() else { return 0 };
    if first == b'"' || first == b'\'' {
        return literal_length(text, first);
    }
    let starts_number =
        first.is_ascii_digit() || (first == b'.' && text.get(1).is_some_and(u8::is_ascii_digit));
    if starts_number {
        let mut before = first;
        let ends = |byte: u8| {
            let is_sign =
                matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E' | b'p' | b'P');
            before = byte;
            !(is_word_byte(byte) || byte == b'.' || is_sign)
        };
        return text.iter().copied().position(ends).unwrap_or(text.len());
    }
    if is_word_byte(first) {
        let end = text.iter().position(|it| !is_word_byte(*it)).unwrap_or(text.len());
        // `L"…"` is one literal.
        return match (text.get(..end), text.get(end)) {
            (Some(b"L" | b"u" | b"U" | b"u8"), Some(&quote @ (b'"' | b'\''))) => {
                end + literal_length(text.get(end..).unwrap_or_default(), quote)
            }
            _ => end,
        };
    }
    if text.starts_with(b"...") {
        return 3;
    }
    if text.starts_with(b"##") { 2 } else { 1 }
}

fn literal_length(text: &[u8], quote: u8) -> usize {
    let mut is_escaped = false;
    for (index, &byte) in text.iter().enumerate().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if byte == b'\\' {
            is_escaped = true;
        } else if byte == quote {
            return index + 1;
        }
    }
    text.len()
}

// ---------------------------------------------------------------- expansion

/// What is still to be read: tokens, and the ends of expansions that are being read again.
enum Pending<'t> {
    Token(Token<'t>),
    EndOf(&'t [u8]),
}

/// The text with macros expanded; none if that would grow without bounds.
fn expand(text: &[u8], macros: &Macros<'_>) -> Option<Vec<u8>> {
    let mut budget = MOST_TOKENS;
    let expanded = expand_tokens(spaced_tokens(text), macros, &mut budget)?;
    Some(join(&expanded))
}

fn join(tokens: &[Token<'_>]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    for token in tokens {
        // Words that came to stand side by side stay two words.
        let touch = out.last().is_some_and(|it| is_word_byte(*it))
            && token.text.first().is_some_and(|it| is_word_byte(*it));
        if token.has_space || touch {
            out.push(b' ');
        }
        out.extend_from_slice(&token.text);
    }
    out
}

fn expand_tokens<'t>(
    tokens: Vec<Token<'t>>,
    macros: &Macros<'t>,
    budget: &mut usize,
) -> Option<Vec<Token<'t>>> {
    let mut pending: Vec<Pending<'t>> = tokens.into_iter().rev().map(Pending::Token).collect();
    let mut active: Vec<&'t [u8]> = Vec::new();
    let mut out = Vec::new();
    while let Some(next) = pending.pop() {
        let mut token = match next {
            Pending::EndOf(name) => {
                active.retain(|it| *it != name);
                continue;
            }
            Pending::Token(token) => token,
        };
        *budget = budget.checked_sub(1)?;
        let found = macros.get_key_value(token.text.as_ref());
        let Some((&name, definition)) = found.filter(|_| !token.is_painted) else {
            out.push(token);
            continue;
        };
        if active.contains(&name) {
            token.is_painted = true;
            out.push(token);
            continue;
        }
        let replacement = match &definition.params {
            None => substitute(definition, &[], macros, budget)?,
            Some(params) => {
                let count = params.len();
                let Some(args) =
                    arguments(&mut pending, &mut active, count, definition.is_variadic)
                else {
                    out.push(token);
                    continue;
                };
                substitute(definition, &args, macros, budget)?
            }
        };
        active.push(name);
        pending.push(Pending::EndOf(name));
        for (index, mut it) in replacement.into_iter().enumerate().rev() {
            if index == 0 {
                it.has_space = token.has_space;
            }
            pending.push(Pending::Token(it));
        }
    }
    Some(out)
}

/// The arguments after a function-like macro's name; none if no `(` follows or it is not closed.
fn arguments<'t>(
    pending: &mut Vec<Pending<'t>>,
    active: &mut Vec<&'t [u8]>,
    count: usize,
    is_variadic: bool,
) -> Option<Vec<Vec<Token<'t>>>> {
    let next = pending.iter().rposition(|it| matches!(it, Pending::Token(_)))?;
    let Some(Pending::Token(open)) = pending.get(next) else { return None };
    if open.text.as_ref() != b"(" || !is_closed(pending, next) {
        return None;
    }
    let mut args: Vec<Vec<Token<'t>>> = vec![Vec::new()];
    let mut depth = 0usize;
    while let Some(it) = pending.pop() {
        let token = match it {
            Pending::EndOf(name) => {
                active.retain(|it| *it != name);
                continue;
            }
            Pending::Token(token) => token,
        };
        let is_rest = is_variadic && args.len() == count;
        match token.text.as_ref() {
            b"(" => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            b")" => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            b"," if depth == 1 && !is_rest => {
                args.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = args.last_mut() {
            last.push(token);
        }
    }
    Some(args)
}

fn is_closed(pending: &[Pending<'_>], open: usize) -> bool {
    let mut depth = 0usize;
    for it in pending.get(..=open).unwrap_or_default().iter().rev() {
        let Pending::Token(token) = it else { continue };
        match token.text.as_ref() {
            b"(" => depth += 1,
            b")" if depth == 1 => return true,
            b")" => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// The body with arguments in place of parameters, `#` and `##` done.
fn substitute<'t>(
    definition: &Macro<'t>,
    args: &[Vec<Token<'t>>],
    macros: &Macros<'t>,
    budget: &mut usize,
) -> Option<Vec<Token<'t>>> {
    let params = definition.params.as_deref().unwrap_or_default();
    let argument = |token: &Token<'t>| {
        let index = params.iter().position(|it| *it == token.text.as_ref())?;
        Some(args.get(index).cloned().unwrap_or_default())
    };
    let mut out: Vec<Token<'t>> = Vec::new();
    let mut body = definition.body.iter().peekable();
    let mut pastes = false;
    while let Some(token) = body.next() {
        let is_function = definition.params.is_some();
        if token.text.as_ref() == b"##" && !out.is_empty() {
            pastes = true;
            continue;
        }
        if is_function
            && token.text.as_ref() == b"#"
            && let Some(arg) = body.peek().and_then(|it| argument(it))
        {
            body.next();
            let text = stringize(&arg);
            out.push(Token { text: text.into(), has_space: token.has_space, is_painted: false });
            continue;
        }
        let is_pasted = pastes || body.peek().is_some_and(|it| it.text.as_ref() == b"##");
        let mut list = match argument(token) {
            Some(arg) if is_pasted => arg,
            Some(arg) => expand_tokens(arg, macros, budget)?,
            None => vec![token.clone()],
        };
        if let Some(first) = list.first_mut() {
            first.has_space = token.has_space;
        }
        *budget = budget.checked_sub(list.len())?;
        if std::mem::take(&mut pastes) && !list.is_empty() {
            let right = list.remove(0);
            if let Some(left) = out.last_mut() {
                left.text.to_mut().extend_from_slice(&right.text);
                left.is_painted = false;
            }
        }
        out.extend(list);
    }
    Some(out)
}

fn stringize(tokens: &[Token<'_>]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for (index, token) in tokens.iter().enumerate() {
        if token.has_space && index > 0 {
            out.push(b' ');
        }
        let is_literal = matches!(token.text.last(), Some(b'"' | b'\''));
        for &byte in token.text.iter() {
            if is_literal && matches!(byte, b'"' | b'\\') {
                out.push(b'\\');
            }
            out.push(byte);
        }
    }
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let expanded = expand_pragmas(text.as_bytes().to_vec(), |it| it == "mine");
        assert_eq!(String::from_utf8(expanded).expect("UTF-8"), expect);
    }

    #[test]
    fn only_claimed_pragmas_are_touched() {
        check(
            "#define N 4\n#pragma other f(N)\nint N;\n",
            "#define N 4\n#pragma other f(N)\nint N;\n",
        );
        check("#define N 4\n#pragma mine f(N)\nN\n", "#define N 4\n#pragma mine f(4)\nN\n");
    }

    #[test]
    fn a_pragma_that_defines_a_macro_keeps_its_name() {
        let text = "#define N 4\n#pragma mine #define N 4\n";
        check(text, text);
    }

    #[test]
    fn a_definition_holds_from_its_line_until_undef() {
        check(
            "#pragma mine N\n#define N 4\n#pragma mine N\n#undef N\n#pragma mine N",
            "#pragma mine N\n#define N 4\n#pragma mine 4\n#undef N\n#pragma mine N",
        );
    }

    #[test]
    fn arguments_are_expanded_and_nested() {
        check(
            "#define N 4\n#define SQ(x) ((x) * (x))\n#pragma mine sizes(SQ(N), SQ (SQ(2)))\n",
            "#define N 4\n#define SQ(x) ((x) * (x))\n#pragma mine sizes(((4) * (4)), ((((2) * (2))) * (((2) * (2)))))\n",
        );
        check("#define F(x) x\n#pragma mine F f(F\n", "#define F(x) x\n#pragma mine F f(F\n");
    }

    #[test]
    fn a_macro_does_not_expand_inside_itself() {
        check("#define a a[0]\n#pragma mine (a)\n", "#define a a[0]\n#pragma mine (a[0])\n");
        check(
            "#define x y\n#define y x\n#pragma mine x y\n",
            "#define x y\n#define y x\n#pragma mine x y\n",
        );
    }

    #[test]
    fn pasting_stringizing_and_variadic_macros_work() {
        check(
            "#define CAT(a, b) a ## b\n#define foobar 7\n#pragma mine CAT(foo, bar)\n",
            "#define CAT(a, b) a ## b\n#define foobar 7\n#pragma mine 7\n",
        );
        check(
            "#define S(x) #x\n#pragma mine message(S(a  \"b\"))\n",
            "#define S(x) #x\n#pragma mine message(\"a \\\"b\\\"\")\n",
        );
        check(
            "#define V(f, ...) f(__VA_ARGS__)\n#pragma mine V(map, a, b[0:2])\n",
            "#define V(f, ...) f(__VA_ARGS__)\n#pragma mine map(a, b[0:2])\n",
        );
        check(
            "#define V(f, r...) f(r)\n#pragma mine V(map, a, b)\n",
            "#define V(f, r...) f(r)\n#pragma mine map(a, b)\n",
        );
    }

    #[test]
    fn expansion_without_end_leaves_the_line_alone() {
        let mut text = String::from("#define a0 x x\n");
        for level in 1..40 {
            text += &format!("#define a{level} a{0} a{0}\n", level - 1);
        }
        text += "#pragma mine a39\n";
        check(&text.clone(), &text);
    }
}
