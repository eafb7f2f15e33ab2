//! Device code of several files: what the compiler makes of each, and what the driver is asked to link.

use std::fs;
use std::path::Path;

use super::{has_compiler, run_with_driver};
use crate::support::{ferry, told};

/// Tests, by their names.
pub(super) const OWN: &[(&str, super::Test)] = &[
    ("functions_and_variables_of_other_files_are_linked", they_are_linked),
    ("files_that_need_no_others_stand_alone", they_stand_alone),
    ("members_of_libraries_are_linked", members_are_linked),
    ("what_no_file_defines_is_named", what_is_missing_is_named),
];

const MAIN: &str = "
#pragma omp begin declare target
int twice(int x);
extern int scale, table[4];
#pragma omp end declare target
int main(void) {
    int a[100];
    #pragma omp target teams distribute parallel for map(from: a)
    for (int i = 0; i < 100; i++) a[i] = twice(i) * scale + table[i % 4];
    return 0;
}
";

const OTHER: &str = "
#pragma omp begin declare target
int scale = 3;
int table[4] = {0, 10, 20, 30};
static int helper(int x) { return x + x; }
int twice(int x) { return helper(x); }
#pragma omp end declare target
";

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

fn they_are_linked() -> Option<String> {
    let files = [("a.c", MAIN), ("b.c", OTHER)];
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
    let compiled = built(path, &[("a.c", MAIN), ("b.c", OTHER)], &["-c", "b.c"]);
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
    // Threads would have to share the loop, which callers do not know.
    let sharing = OTHER.replace(
        "return helper(x);",
        "int s = 0;\n#pragma omp parallel for reduction(+: s)\nfor (int i = 0; i < 2; i++) s += x;\nreturn s;",
    );
    let others = [OTHER.replace("int scale = 3;", ""), OTHER.replace("twice", "thrice"), sharing];
    for (other, name) in others.iter().zip(["scale", "twice", "twice"]) {
        // Where the host has it too, devices do not.
        let files =
            [("a.c", MAIN), ("b.c", other), ("c.c", "int scale; int twice(int x) { return x; }")];
        let line = ["a.c", "b.c", "c.c", "-Wl,-z,muldefs", "-o", "program"];
        let folder = tempfile::tempdir().expect("a temporary folder");
        match built(folder.path(), &files, &line) {
            Err(said) if said.contains(&format!("uses `{name}`, which no file defines")) => {}
            said => return Some(format!("{name}: {said:?}")),
        }
    }
    None
}
