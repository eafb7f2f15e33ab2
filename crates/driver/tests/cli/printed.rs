//! `ferry print` gives back the same program: the examples are built from their printed text, run,
//! and compared with the originals.

use std::path::Path;
use std::process::Command;

use super::support::{BAD, Folder, examples};

/// Builds `source` and runs it; gives what it printed.
fn run(folder: &Folder, source: &Path, flag: &str, program: &str) -> String {
    let program = folder.path(program);
    let mut build = Command::new("cc");
    build.args(["-w", "-O1", flag, "-x", "c"]).arg(source).arg("-o").arg(&program).arg("-lm");
    let built = build.output().expect("cc runs");
    assert!(
        built.status.success(),
        "{}: {}",
        source.display(),
        String::from_utf8_lossy(&built.stderr)
    );
    // One thread: sums are then the same to the last digit. Small: the answer is checked, not the speed.
    let ran = Command::new(&program).arg("200").env("OMP_NUM_THREADS", "1").output();
    let ran = ran.expect("it runs");
    assert!(ran.status.success(), "{}: {ran:?}", source.display());
    String::from_utf8(ran.stdout).expect("UTF-8")
}

#[test]
fn printed_examples_compute_the_same() {
    for example in examples() {
        let folder = Folder::new();
        let path = example.to_str().expect("UTF-8");
        let flag = if path.contains("openacc") { "-fopenacc" } else { "-fopenmp" };
        folder.ferry(&["print", "-o", "printed.i", path]).is_clean();
        let original = run(&folder, &example, flag, "original");
        let printed = run(&folder, &folder.path("printed.i"), flag, "printed");
        assert!(!original.is_empty(), "{path} prints its result");
        assert_eq!(printed, original, "{path}");
    }
}

#[test]
fn printing_what_was_printed_changes_nothing() {
    for example in examples() {
        let folder = Folder::new();
        folder.ferry(&["print", "-o", "a.i", example.to_str().expect("UTF-8")]).is_clean();
        let again = folder.ferry(&["print", "a.i"]);
        assert_eq!(
            again.is_clean().out,
            std::fs::read_to_string(folder.path("a.i")).expect("read")
        );
    }
}

#[test]
fn broken_programs_are_not_printed() {
    let folder = Folder::new();
    folder.write("a.c", "int f(void) { return (1; }\n").write("b.c", BAD);
    let ran = folder.ferry(&["print", "a.c"]);
    ran.fails(1, &["F0203"]);
    assert_eq!(ran.out, "");
    let typed = folder.ferry(&["print", "--typed", "b.c"]);
    typed.fails(1, &["F0401"]);
    assert_eq!(typed.out, "");
}

#[test]
fn the_typed_form_of_every_program_keeps_its_laws() {
    let folder = Folder::new();
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run");
    let mut count = 0;
    for entry in std::fs::read_dir(programs).expect("programs").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|it| it == "c") {
            let typed = folder.ferry(&["print", "--typed", path.to_str().expect("UTF-8")]);
            assert!(!typed.err.contains("F0999"), "{}: {}", path.display(), typed.err);
            assert!(typed.out.contains("@main"), "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 100, "{count} programs");
}
