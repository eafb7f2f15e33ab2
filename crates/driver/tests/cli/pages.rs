//! Manual pages, completions, guide and README: what they tell is what the command does.

use std::fs;

use super::support::{Folder, root};

/// Every command that people use, in order.
const COMMANDS: [&str; 12] = [
    "bench",
    "c++",
    "cc",
    "check",
    "devices",
    "doctor",
    "emit",
    "explain",
    "fc",
    "print",
    "run",
    "translate",
];

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
    let commands = COMMANDS.map(|it| format!("ferry-{it}.1"));
    assert_eq!(pages, [&commands[..], &["ferry.1".to_owned()]].concat());
    for command in COMMANDS {
        let page = fs::read_to_string(folder.path(&format!("pages/man1/ferry-{command}.1")));
        // In the source of a page a dash is written `\-`.
        let page = page.expect("read").replace("\\-", "-");
        let help = folder.ferry(&[command, "--help"]).out;
        let known = options(&help);
        assert!(!known.is_empty(), "{help}");
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
        for command in COMMANDS {
            assert!(script.out.contains(command), "{shell}: {command}");
            for option in options(&folder.ferry(&[command, "--help"]).out) {
                let word = option.trim_start_matches("--");
                assert!(script.out.contains(word), "{shell} lacks {option}");
            }
        }
    }
    folder.ferry(&["completions", "csh"]).fails(2, &["invalid value 'csh'"]);
}

#[test]
fn the_guide_tells_every_option() {
    let guide = fs::read_to_string(root().join("docs/guide.md")).expect("read");
    for command in COMMANDS {
        assert!(guide.contains(&format!("`ferry {command}")), "{command}");
        for option in options(&Folder::new().ferry(&[command, "--help"]).out) {
            assert!(guide.contains(&option), "docs/guide.md lacks {option} of `{command}`");
        }
    }
}

#[test]
fn the_readme_shows_what_explain_says() {
    let readme = fs::read_to_string(root().join("README.md")).expect("read");
    let shown = readme.split_once("$ ferry explain ").expect("a transcript in README.md").1;
    let (file, shown) = shown.split_once('\n').expect("a line");
    let shown = shown.split_once("```").expect("its end").0;
    let mut command = Folder::new().command(&["explain", file]);
    let output = command.current_dir(root()).output().expect("ferry runs");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(shown.trim_end(), said.trim_end(), "the transcript in README.md is out of date");
}
