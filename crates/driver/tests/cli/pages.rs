//! Manual pages and completions: made from the command tree, so they know every option.

use std::fs;

use super::support::Folder;

/// The long options that `--help` shows.
fn options(help: &str) -> Vec<String> {
    let words = help.split(|it: char| !(it.is_alphanumeric() || it == '-'));
    let mut found: Vec<String> =
        words.filter(|it| it.starts_with("--") && it.len() > 2).map(str::to_owned).collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn manual_pages_tell_every_option() {
    let folder = Folder::new();
    folder.ferry(&["man", "pages/man1"]).is_clean();
    let mut pages: Vec<_> = fs::read_dir(folder.path("pages/man1"))
        .expect("made")
        .map(|it| it.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    pages.sort();
    assert_eq!(pages, ["ferry-check.1", "ferry-explain.1", "ferry-print.1", "ferry.1"]);
    for command in ["check", "explain", "print"] {
        let page = fs::read_to_string(folder.path(&format!("pages/man1/ferry-{command}.1")));
        // In the source of a page a dash is written `\-`.
        let page = page.expect("read").replace("\\-", "-");
        let help = folder.ferry(&[command, "--help"]).out;
        let known = options(&help);
        assert!(known.len() > 5, "{help}");
        for option in known {
            assert!(page.contains(&option), "ferry-{command}.1 lacks {option}");
        }
        assert!(page.contains("NO_COLOR"), "ferry-{command}.1 lacks the environment");
    }
}

#[test]
fn manual_pages_need_a_folder() {
    let folder = Folder::new();
    folder.write("file", "");
    folder.ferry(&["man", "file/man1"]).fails(1, &["cannot write to `file/man1`: Not a directory"]);
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn completions_know_every_option() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.ferry(&["completions", shell]);
        script.is_clean();
        for command in ["check", "explain", "print"] {
            assert!(script.out.contains(command), "{shell}: {command}");
            for option in options(&folder.ferry(&[command, "--help"]).out) {
                let word = option.trim_start_matches("--");
                assert!(script.out.contains(word), "{shell} lacks {option}");
            }
        }
    }
    folder.ferry(&["completions", "csh"]).fails(2, &["invalid value 'csh'"]);
}
