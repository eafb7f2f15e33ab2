//! A program and its printed form do the same: both are built by the host compiler and run.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed test may say so by a panic"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use directive::Directives;
use emit::c::{Out, Printer, Selection, Setting};
use source::{Severity, SourceMap};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn cc() -> Command {
    Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

/// The whole program as C from its typed form.
fn printed(path: &Path, flags: &[&str]) -> String {
    let text = run(cc().arg("-E").args(flags).arg(path));
    assert!(text.status.success(), "{}", path.display());
    let mut map = SourceMap::new();
    let file = map.add_preprocessed(path.to_string_lossy(), text.stdout).unwrap();
    let mut directives = Directives::new();
    let parsed = syntax::parse(map.bytes(file), map.base(file), &mut directives);
    let checked = sema::check(parsed.tree, &directives, &ir::layout::LP64);
    let found = parsed.diagnostics.iter().chain(checked.diagnostics.iter());
    let errors: Vec<_> = found.filter(|it| it.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{}: {errors:?}", path.display());
    let printer = Printer::new(&checked.program, Setting::Alone);
    let mut out = Out::new();
    printer.unit(&Selection::all(&checked.program), &mut out);
    out.into_text()
}

fn check(path: &Path, flags: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("printed.c");
    fs::write(&text, printed(path, flags)).unwrap();
    let mut outputs = Vec::new();
    for (name, file) in [("original", path), ("printed", text.as_path())] {
        let program = folder.path().join(name);
        let mut compile = cc();
        compile.args(["-w", "-O1", "-pthread"]).args(flags).arg(file).arg("-o").arg(&program);
        let built = run(compile.arg("-lm"));
        let faults = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{} ({name}): {faults}", path.display());
        let ran = run(&mut Command::new(&program));
        outputs.push((ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned()));
    }
    let (original, printed) = (&outputs[0], &outputs[1]);
    assert_eq!(original.0, Some(0), "{}: {}", path.display(), original.1);
    assert_eq!(original, printed, "{}", path.display());
}

fn check_folder(folder: &Path, flags: &[&str]) {
    let files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|it| it.extension() == Some("c".as_ref())).collect();
    files.sort();
    assert!(!files.is_empty(), "{}", folder.display());
    files.iter().for_each(|it| check(it, flags));
}

#[test]
fn own_programs() {
    check_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs"), &[]);
}

#[test]
fn programs_with_directives() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/parallel");
    check_folder(&folder, &["-fopenmp"]);
}

#[test]
fn examples_in_one_standard() {
    check_folder(&root().join("examples/openmp"), &["-fopenmp"]);
}

#[test]
fn examples_in_the_other() {
    check_folder(&root().join("examples/openacc"), &["-fopenacc"]);
}
