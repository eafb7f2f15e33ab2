//! `@file`: arguments from a file, by gcc's rules.
//!
//! White space separates words; single and double quotes hold them together; a backslash takes the
//! next character as it is, inside quotes too. A word `@name` in the file is a file again; one
//! that cannot be read stays a word, as gcc has it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// gcc gives up at this many files; so do we.
const MOST_FILES: usize = 2000;

/// The arguments with every response file put in its place.
pub(crate) fn expand(arguments: &[OsString]) -> Result<Vec<OsString>, String> {
    let mut pending: Vec<OsString> = arguments.iter().rev().cloned().collect();
    let mut expanded = Vec::new();
    let mut files = 0;
    while let Some(argument) = pending.pop() {
        let name = argument.as_bytes().strip_prefix(b"@").map(OsStr::from_bytes);
        match name.and_then(|it| fs::read(it).ok()) {
            None => expanded.push(argument),
            Some(_) if files == MOST_FILES => {
                let name = argument.display();
                return Err(format!(
                    "`{name}`: more than {MOST_FILES} response files, or a circle"
                ));
            }
            Some(text) => {
                files += 1;
                pending.extend(words(&text).into_iter().rev());
            }
        }
    }
    Ok(expanded)
}

fn words(text: &[u8]) -> Vec<OsString> {
    let mut found = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => word.get_or_insert_default().extend(bytes.next()),
            _ if quote == Some(byte) => quote = None,
            _ if quote.is_some() => word.get_or_insert_default().push(byte),
            b'\'' | b'"' => {
                quote = Some(byte);
                // Two quotes with nothing between them are a word.
                word.get_or_insert_default();
            }
            _ if byte.is_ascii_whitespace() || byte == 0x0b => found.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    found.extend(word);
    found.into_iter().map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(words(text.as_bytes()), expect, "{text}");
    }

    #[test]
    fn words_are_split_as_gcc_does() {
        check("-c a.c\n  -O2\t-g\n", &["-c", "a.c", "-O2", "-g"]);
        check("'-DX=\"a b\"' \"it's\"", &["-DX=\"a b\"", "it's"]);
        check(r#"a\ b "c\"d" 'e\'f'"#, &["a b", "c\"d", "e'f"]);
        check("'' x", &["", "x"]);
        check("-D'A B'=1", &["-DA B=1"]);
        check("", &[]);
        check("\\", &[""]);
    }

    #[test]
    fn files_may_name_files_and_a_circle_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let at = |name: &str| OsString::from(format!("@{}", path(name).display()));
        fs::write(path("inner"), "-g b.c").expect("written");
        fs::write(path("outer"), format!("-c @{} -O1", path("inner").display())).expect("written");
        let words = expand(&["x".into(), at("outer"), "@gone".into()]).expect("expanded");
        assert_eq!(words, ["x", "-c", "-g", "b.c", "-O1", "@gone"]);
        fs::write(path("circle"), format!("@{}", path("circle").display())).expect("written");
        assert!(expand(&[at("circle")]).is_err());
    }
}
