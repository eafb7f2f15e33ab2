//! A compilation database: with which flags each file is compiled, once or several times.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Flags of the preprocessor for each way in which `file` is compiled.
pub(super) fn flags(database: &Path, file: &Path) -> Result<Vec<Vec<OsString>>, String> {
    let name = database.display();
    let text = fs::read_to_string(database)
        .map_err(|error| format!("cannot read `{name}`: {}", crate::report::reason(&error)))?;
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| format!("`{name}` is no compilation database: {error}"))?;
    let entries = value
        .as_array()
        .ok_or_else(|| format!("`{name}` is no compilation database: it is not a list"))?;
    let wanted = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let mut found = Vec::new();
    for entry in entries {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        let folder = PathBuf::from(text("directory"));
        let path = folder.join(text("file"));
        if path.canonicalize().unwrap_or(path) != wanted {
            continue;
        }
        let words: Vec<String> = match entry.get("arguments").and_then(Value::as_array) {
            Some(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None => split(text("command")),
        };
        let flags = preprocessor_flags(&words, &folder);
        if !found.contains(&flags) {
            found.push(flags);
        }
    }
    if found.is_empty() {
        return Err(format!("`{}` is not in `{name}`", file.display()));
    }
    Ok(found)
}

/// The flags that say what a text is; folders as seen from anywhere.
fn preprocessor_flags(words: &[String], folder: &Path) -> Vec<OsString> {
    let mut flags = Vec::new();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let takes_path = ["-I", "-isystem", "-iquote", "-idirafter", "-include"];
        if let Some(option) = takes_path.iter().find(|it| word.starts_with(**it)) {
            let path = match word.strip_prefix(option).filter(|it| !it.is_empty()) {
                Some(path) => Some(path.to_owned()),
                None => words.next().cloned(),
            };
            let Some(path) = path else { continue };
            flags.push(OsString::from(option));
            flags.push(folder.join(path).into_os_string());
        } else if word == "-D" || word == "-U" {
            flags.push(word.into());
            flags.extend(words.next().map(OsString::from));
        } else if ["-D", "-U", "-std=", "-m", "-ansi"].iter().any(|it| word.starts_with(it)) {
            flags.push(word.into());
        }
    }
    flags
}

/// The words of a command, as a shell would cut it.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(letter),
            (_, '\\') => word.get_or_insert_default().extend(letters.next()),
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '"' | '\'') => {
                word.get_or_insert_default();
                quote = Some(letter);
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_cut_as_a_shell_does() {
        let words = split(r#"cc -DA="x y" '-DB="z"' -I a\ b c.c"#);
        assert_eq!(words, ["cc", "-DA=x y", "-DB=\"z\"", "-I", "a b", "c.c"]);
    }

    #[test]
    fn only_what_the_preprocessor_asks_is_kept() {
        let words = ["cc", "-O2", "-Iinc", "-D", "N=1", "-c", "a.c", "-o", "a.o", "-std=c11"];
        let words: Vec<String> = words.map(str::to_owned).to_vec();
        let flags = preprocessor_flags(&words, Path::new("/src"));
        assert_eq!(flags, ["-I", "/src/inc", "-D", "N=1", "-std=c11"]);
    }
}
