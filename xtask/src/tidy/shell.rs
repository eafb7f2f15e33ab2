//! Scripts run no command by backticks: in a text between double quotes they are a word that somebody meant to read.

use super::Finding;
use super::code::numbered;
use super::files::TextFile;

pub(super) fn check(file: &TextFile) -> Vec<Finding> {
    let is_script = file.path.ends_with(".sh") || file.text.starts_with("#!/usr/bin/env bash");
    if !is_script || file.is_test_data() {
        return Vec::new();
    }
    let has_command = |line: &str| {
        let is_comment = line.trim_start().starts_with('#');
        !is_comment && line.replace("\\`", "").contains('`')
    };
    numbered(&file.text)
        .filter(|(_, line)| has_command(line))
        .map(|(number, _)| {
            let text = "a command in backticks: write `$(…)`, or `\\``";
            Finding::error(&file.path, number, text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_backticks_is_found() {
        let count = |text: &str| check(&TextFile::new("scripts/setup", text)).len();
        let script = |line: &str| format!("#!/usr/bin/env bash\n{line}\n");
        assert_eq!(count(&script("needs=(\"flang:flang-19:compiles for `ferry fc`\")")), 1);
        assert_eq!(count(&script("echo \"for \\`ferry fc\\`\" # `so`")), 1);
        assert_eq!(count(&script("# `ferry fc`\necho \"\\`ferry fc\\`\"")), 0);
        assert_eq!(count("echo `date`\n"), 0, "no script");
    }
}
