//! The runner itself, tried on a small program in place of `ferry`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use libtest_mimic::Arguments;
use tempfile::TempDir;

use super::{Mode, tests};

/// A folder of cases and a program that prints its arguments and fails on `--fail`.
struct Bench(TempDir);

impl Bench {
    fn new(files: &[(&str, &str)]) -> Bench {
        let bench = Bench(tempfile::tempdir().unwrap());
        let program = "#!/bin/sh\necho \"$@\"\n[ \"$1\" != fail ] || { echo bad >&2; exit 1; }\n";
        fs::write(bench.program(), program).unwrap();
        fs::set_permissions(bench.program(), fs::Permissions::from_mode(0o755)).unwrap();
        for (name, text) in files {
            let path = bench.folder().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        bench
    }

    fn program(&self) -> std::path::PathBuf {
        self.0.path().join("program")
    }

    fn folder(&self) -> std::path::PathBuf {
        self.0.path().join("cases")
    }

    fn passes(&self, mode: Mode) -> bool {
        let arguments = Arguments { quiet: true, test_threads: Some(1), ..Arguments::default() };
        let tests = tests(&self.program(), &self.folder(), mode);
        !libtest_mimic::run(&arguments, tests).has_failed()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder().join(name)).unwrap()
    }

    fn has(&self, name: &str) -> bool {
        Path::exists(&self.folder().join(name))
    }
}

#[test]
fn blessing_writes_what_comparing_then_accepts() {
    let bench = Bench::new(&[("area/a.c", "// run: check -- -DX\nint x;\n")]);
    assert!(!bench.passes(Mode::Compare), "a missing golden file is a failure");
    assert!(bench.passes(Mode::Bless));
    assert_eq!(bench.read("area/a.expect"), "exit status: 0\n--- stdout\ncheck a.c -- -DX\n");
    assert!(bench.passes(Mode::Compare));
    fs::write(bench.folder().join("area/a.expect"), "exit status: 0\n").unwrap();
    assert!(!bench.passes(Mode::Compare), "a difference is a failure");
}

#[test]
fn several_run_lines_have_numbered_goldens() {
    let bench = Bench::new(&[("a.c", "// run: check\n// run: fail % twice %\n")]);
    assert!(bench.passes(Mode::Bless));
    assert_eq!(bench.read("a.1.expect"), "exit status: 0\n--- stdout\ncheck a.c\n");
    let failed = "exit status: 1\n--- stdout\nfail a.c twice a.c\n--- stderr\nbad\n";
    assert_eq!(bench.read("a.2.expect"), failed);
}

#[test]
fn a_golden_without_a_run_line_is_refused() {
    let golden = "exit status: 0\n--- stdout\ncheck a.c\n";
    let bench = Bench::new(&[("a.c", "// run: check\n"), ("a.expect", golden), ("a.2.expect", "")]);
    assert!(!bench.passes(Mode::Compare));
    assert!(bench.passes(Mode::Bless));
    assert!(!bench.has("a.2.expect") && bench.has("a.expect"));
}

#[test]
fn a_case_must_say_what_to_run() {
    assert!(!Bench::new(&[("a.c", "int x;\n")]).passes(Mode::Bless));
    assert!(!Bench::new(&[("a.c", "// run:\n")]).passes(Mode::Bless));
    assert!(!Bench::new(&[("a.c", "// run: 'open\n")]).passes(Mode::Bless));
}

#[test]
fn a_missing_folder_is_a_failure() {
    assert!(!Bench::new(&[]).passes(Mode::Compare));
}
