//! Device code of several files: what the compiler makes of each, and what the driver is asked to link.

use std::fs;
use std::path::Path;

use super::{has_compiler, run_with_driver};
use crate::both::{MAIN, OTHER, lacking};
use crate::support::{ferry, told};

/// Tests, by their names.
pub(super) const OWN: &[(&str, super::Test)] = &[
    ("functions_and_variables_of_other_files_are_linked", they_are_linked),
    ("files_that_need_no_others_stand_alone", they_stand_alone),
    ("members_of_libraries_are_linked", members_are_linked),
    ("what_no_file_defines_is_named", what_is_missing_is_named),
];

/// A file that has what others may need, and needs nobody.
const ALONE: &str = "
#pragma omp declare target
int twice(int x) { return x + x; }
#pragma omp end declare target
int main(void) {
    int y = 1;
    #pragma omp target map(tofrom: y)
    y = twice(y);
    return 0;
}
";

/// Builds `program` of files; what was said if that fails.
fn built(folder: &Path, files: &[(&str, &str)], line: &[&str]) -> Result<(), String> {
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("a file");
    }
    let built = ferry(&[&["cc", "--device", "cuda,cuda:sm_80"], line].concat(), folder);
    if built.status.success() { Ok(()) } else { Err(told(&built)) }
}

/// What is wrong if the driver is not asked to load and link this: its GPUs take machine code, which is kind 0.
fn loads(files: &[(&str, &str)], line: &[&str], expect: &[&str]) -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    if let Err(said) = built(folder.path(), files, line) {
        return Some(said);
    }
    let ran = run_with_driver(folder.path(), &[]);
    ran.calls_are(&["part", "linked", "code", "text"], expect)
}

/// The program where kernels do not run.
fn unchecked() -> String {
    MAIN.replace("return wrong || last != 101;", "return 0;")
}

fn they_are_linked() -> Option<String> {
    let main = unchecked();
    let files = [("a.c", main.as_str()), ("b.c", OTHER)];
    loads(&files, &["a.c", "b.c", "-o", "program"], &["part 0", "part 0", "linked 2"])
}

fn they_stand_alone() -> Option<String> {
    let other = "int f(int x) {\n#pragma omp target map(tofrom: x)\nx++;\nreturn x; }";
    let files = [("a.c", ALONE), ("b.c", other)];
    loads(&files, &["a.c", "b.c", "-o", "program"], &["code 0", "code 0"])
}

fn members_are_linked() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    let compiled = built(path, &[("a.c", &unchecked()), ("b.c", OTHER)], &["-c", "b.c"]);
    let mut archiver = std::process::Command::new("ar");
    archiver.args(["rc", "libb.a", "b.o"]).current_dir(path).status().expect("ar runs");
    let linked = compiled.and_then(|()| built(path, &[], &["a.c", "-L.", "-lb", "-o", "program"]));
    if let Err(said) = linked {
        return Some(said);
    }
    let ran = run_with_driver(path, &[]);
    ran.calls_are(&["part", "linked", "code", "text"], &["part 0", "part 0", "linked 2"])
}

fn what_is_missing_is_named() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    for (other, name) in lacking() {
        // Where the host has it too, devices do not.
        let files = [
            ("a.c", MAIN),
            ("b.c", other.as_str()),
            ("c.c", "int scale; int twice(int x) { return x; }"),
        ];
        let line = ["a.c", "b.c", "c.c", "-Wl,-z,muldefs", "-o", "program"];
        let folder = tempfile::tempdir().expect("a temporary folder");
        match built(folder.path(), &files, &line) {
            Err(said) if said.contains(&format!("uses `{name}`, which no file defines")) => {}
            said => return Some(format!("{name}: {said:?}")),
        }
    }
    None
}
