//! Options: wrong ones, and what the right ones change.

use super::support::{BAD, DOUBTFUL, Folder, GOOD, REGION, Ran};

#[test]
fn wrong_usage_has_a_status_of_its_own() {
    let folder = Folder::new();
    folder.write("a.c", GOOD);
    let wrong: &[(&[&str], &str)] = &[
        (&[], "Usage: ferry"),
        (&["check"], "<FILE>"),
        (&["explain"], "<FILE>"),
        (&["print"], "<FILE>"),
        (&["compile", "a.c"], "unrecognized subcommand 'compile'"),
        (&["check", "--fast", "a.c"], "unexpected argument '--fast'"),
        (&["check", "--jsn", "a.c"], "similar argument exists: '--json'"),
        (&["check", "a.c", "-std=c11"], "flags of the C compiler come last, after `--`"),
        (&["check", "-fopenmp", "a.c"], "flags of the C compiler come last, after `--`"),
        (&["chek", "a.c"], "similar subcommand exists: 'check'"),
        (&["check", "--json", "--sarif", "a.c"], "cannot be used with"),
        (&["check", "--model", "lp128", "a.c"], "[possible values: lp64, ilp32, llp64]"),
        (&["check", "--color", "sometimes", "a.c"], "invalid value 'sometimes'"),
        (&["check", "a.c", "-o"], "a value is required"),
        (&["print", "--json", "a.c"], "unexpected argument '--json'"),
    ];
    for (arguments, words) in wrong {
        let ran = folder.ferry(arguments);
        ran.fails(2, &[words]);
        assert_eq!(ran.out, "", "{arguments:?}");
    }
    assert_eq!(folder.names(), ["a.c"]);
}

#[test]
fn help_and_version_are_products() {
    let folder = Folder::new();
    let help = folder.ferry(&["--help"]);
    help.is_clean();
    for word in ["check", "explain", "print", "Exit status", "NO_COLOR"] {
        assert!(help.out.contains(word), "{word}");
    }
    assert!(!help.out.contains("completions"), "hidden commands are for packagers");
    let version = folder.ferry(&["--version"]);
    assert_eq!(version.is_clean().out, format!("ferry {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn colours_come_when_asked_for() {
    let folder = Folder::new();
    folder.write("a.c", BAD);
    let coloured = |arguments: &[&str], no_color: &str| {
        let output = folder.command(arguments).env("NO_COLOR", no_color).output();
        Ran::of(output.expect("ferry runs")).err.contains('\x1b')
    };
    assert!(!coloured(&["check", "a.c"], ""), "not a terminal");
    assert!(!coloured(&["check", "a.c"], "1"));
    assert!(coloured(&["check", "--color", "always", "a.c"], ""));
    assert!(coloured(&["check", "--color", "always", "a.c"], "1"), "an option is stronger");
    assert!(!coloured(&["check", "--color", "never", "a.c"], ""));
    assert!(coloured(&["explain", "--color", "always", "a.c"], ""));
}

#[test]
fn warnings_are_let_through_silenced_or_made_errors() {
    let folder = Folder::new();
    folder.write("a.c", DOUBTFUL).write("bad.c", BAD);
    let plain = folder.ferry(&["check", "a.c"]);
    plain.fails(0, &["warning[F0480]"]);
    folder.ferry(&["check", "-w", "a.c"]).is_clean();
    folder.ferry(&["check", "--werror", "a.c"]).fails(1, &["error[F0480]"]);
    folder.ferry(&["check", "-w", "bad.c"]).fails(1, &["error[F0401]"]);
    // As compilers do: what is not shown is not an error either.
    folder.ferry(&["check", "-w", "--werror", "a.c"]).is_clean();
}

#[test]
fn the_summary_counts() {
    let folder = Folder::new();
    folder.write("a.c", REGION).write("b.c", DOUBTFUL).write("c.c", BAD);
    let one = folder.ferry(&["check", "--summary", "a.c"]);
    one.fails(0, &[]).says("1 file, 1 region: 0 errors, 0 warnings\n");
    let all = folder.ferry(&["check", "-s", "a.c", "b.c", "c.c"]);
    assert!(all.err.ends_with("\n3 files, 1 region: 1 error, 1 warning\n"), "{}", all.err);
    let strict = folder.ferry(&["check", "-s", "--werror", "b.c"]);
    assert!(strict.err.ends_with("\n1 file, 0 regions: 1 error, 0 warnings\n"), "{}", strict.err);
    let json = folder.ferry(&["check", "-s", "--json", "a.c"]);
    json.says("1 file, 1 region: 0 errors, 0 warnings\n");
    assert_eq!(json.out, "");
}

#[test]
fn reports_for_programs_are_sound_json() {
    let folder = Folder::new();
    folder.write("a.c", REGION).write("bad.c", BAD);
    for command in ["check", "explain"] {
        let lines = folder.ferry(&[command, "--json", "a.c", "bad.c", "gone.c"]);
        assert_eq!(lines.status, Some(1));
        assert!(!lines.out.is_empty());
        for line in lines.out.lines() {
            serde_json::from_str::<serde_json::Value>(line).expect("a JSON value a line");
        }
        let log = folder.ferry(&[command, "--sarif", "a.c", "bad.c", "gone.c"]);
        let log: serde_json::Value = serde_json::from_str(&log.out).expect("one JSON value");
        assert_eq!(log["version"], "2.1.0");
        assert!(log["runs"][0]["results"].as_array().is_some_and(|it| !it.is_empty()));
    }
}
