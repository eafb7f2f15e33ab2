//! Device code on OpenCL drivers that needs more than a program of one file: calls whose sizes are checked, functions and
//! variables of other files.
//!
//! That programs of `tests/run` give the same answer there as everywhere is tried in `everywhere.rs`. Needs a driver (PoCL
//! serves every processor); without one the tests say so and end.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

#[path = "support/files.rs"]
mod both;
#[path = "support/pieces.rs"]
mod pieces;
mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use both::{MAIN, OTHER, lacking};
use pieces::line_of;
use support::{ferry, told};

fn has_driver() -> bool {
    line_of("devices", "\"opencl\"").contains("\"missing\":[]")
}

/// Builds `program` of two files for OpenCL devices, the second in an archive; what was said if that fails.
fn of_two_files(folder: &Path, main: &str, other: &str) -> Result<(), String> {
    fs::write(folder.join("a.c"), main).expect("a file");
    fs::write(folder.join("b.c"), other).expect("a file");
    let compiled = ferry(&["cc", "--device", "opencl", "-c", "b.c"], folder);
    if !compiled.status.success() {
        return Err(told(&compiled));
    }
    let mut archiver = Command::new("ar");
    archiver.args(["rc", "libb.a", "b.o"]).current_dir(folder).status().expect("ar runs");
    let line = ["cc", "--device", "opencl", "a.c", "-L.", "-lb", "-o", "program"];
    let built = ferry(&line, folder);
    if built.status.success() { Ok(()) } else { Err(told(&built)) }
}

#[test]
fn calls_whose_sizes_are_checked_are_right_on_opencl() {
    if !has_driver() {
        eprintln!("skipped: no OpenCL driver is installed (Debian: pocl-opencl-icd)");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run/grid_memory.c");
    let source = source.to_str().expect("a path");
    // What some distributions give without being asked.
    let line = ["cc", "--device", "opencl", "-O2", "-D_FORTIFY_SOURCE=2", "-w", source, "-o", "p"];
    let built = ferry(&line, folder.path());
    assert!(built.status.success(), "{}", told(&built));
    for device in ["opencl", "opencl:1.2"] {
        let mut command = Command::new(folder.path().join("p"));
        command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("FERRY_DEVICE", device);
        let ran = command.output().expect("the program runs");
        assert!(ran.status.success(), "{device}: {}", told(&ran));
    }
}

#[test]
fn functions_and_variables_of_other_files_are_linked_on_opencl() {
    if !has_driver() {
        eprintln!("skipped: no OpenCL driver is installed (Debian: pocl-opencl-icd)");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(of_two_files(folder.path(), MAIN, OTHER), Ok(()));
    // What the driver has linked is taken from the cache the second time.
    for _ in 0..2 {
        let mut command = Command::new(folder.path().join("program"));
        command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("FERRY_DEVICE", "opencl");
        let ran = command.output().expect("the program runs");
        assert!(ran.status.success(), "{}", told(&ran));
    }
}

/// A function of another file hands a region back, and so does the file that calls it.
#[test]
fn functions_of_other_files_reach_the_host_on_opencl() {
    if !has_driver() {
        eprintln!("skipped: no OpenCL driver is installed (Debian: pocl-opencl-icd)");
        return;
    }
    let head = "#include <omp.h>\n#pragma omp requires reverse_offload\n#pragma omp begin declare target\nint other(int);\n\
                #pragma omp end declare target\n";
    let back = "#pragma omp target device(ancestor: 1) map(tofrom: own)\n  own += omp_is_initial_device() ?";
    let main = format!(
        "{head}int main(void) {{\n  int x = 1, y = 0;\n#pragma omp target map(tofrom: x, y)\n  {{\n  int own = x;\n{back} 10 : 0;\n  \
         x = own;\n  y = other(x);\n  }}\n  return !(x == 11 && y == 1011);\n}}\n"
    );
    let other = format!(
        "{head}#pragma omp begin declare target\nint other(int x) {{\n  int own = x;\n{back} 1000 : 0;\n  return own;\n}}\n\
         #pragma omp end declare target\n"
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    of_two_files(folder.path(), &main, &other).expect("it is built");
    let mut command = Command::new(folder.path().join("program"));
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("FERRY_DEVICE", "opencl");
    let ran = command.output().expect("the program runs");
    assert!(ran.status.success(), "{}", told(&ran));
}

#[test]
fn what_no_file_defines_for_opencl_is_named() {
    for (other, name) in lacking() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // Where the host has it too, devices do not.
        let host = "int scale; int twice(int x) { return x; }";
        for (file, text) in [("a.c", MAIN), ("b.c", other.as_str()), ("c.c", host)] {
            fs::write(folder.path().join(file), text).expect("a file");
        }
        let line = ["cc", "--device", "opencl", "a.c", "b.c", "c.c", "-Wl,-z,muldefs", "-o", "p"];
        let said = told(&ferry(&line, folder.path()));
        let is_right = said.contains(&format!("uses `{name}`, which no file defines for `opencl`"));
        assert!(is_right, "{said}");
    }
}

/// Calls a function of the host, of which devices know nothing.
const STRAY: &str = "static int one(int x) { return x + 1; }
#pragma omp declare target
static int two(int x) { return x + 2; }
static int (*known)(int) = two;
#pragma omp end declare target
int main(void) {
  int (*volatile which)(int) = one, result = 0;
  int (*chosen)(int) = which;
#pragma omp target map(tofrom: result)
  result = known(1) + chosen(1);
  return result != 0;
}
";

#[test]
fn a_pointer_that_leads_to_no_function_of_the_device_is_a_fault_on_opencl() {
    if !has_driver() {
        eprintln!("skipped: no OpenCL driver is installed (Debian: pocl-opencl-icd)");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.c"), STRAY).expect("a file");
    let built = ferry(&["cc", "--device", "opencl", "a.c", "-o", "p"], folder.path());
    assert!(built.status.success(), "{}", told(&built));
    for device in ["opencl", "opencl:1.2"] {
        let mut command = Command::new(folder.path().join("p"));
        command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("FERRY_DEVICE", device);
        let said = told(&command.output().expect("the program runs"));
        assert!(said.contains("a.c:9:"), "{device}: {said}");
        assert!(said.contains("called a function of which the device knows nothing"), "{said}");
    }
}

/// Ends in one of three ways, or not at all.
const ENDS: &str = "#include <assert.h>
#include <stdlib.h>
int main(int count, char **words) {
  int how = count > 1 ? atoi(words[1]) : 0, result = 0;
#pragma omp target map(tofrom: result)
  {
    assert(how != 1);
    if (how == 2) abort();
    if (how == 3) {
#pragma omp error at(execution) message(\"too \" \"much\")
    }
    result = how + 1;
  }
  return result != 1;
}
";

#[test]
fn a_kernel_that_ends_the_program_says_why_on_opencl() {
    if !has_driver() {
        eprintln!("skipped: no OpenCL driver is installed (Debian: pocl-opencl-icd)");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.c"), ENDS).expect("a file");
    let built = ferry(&["cc", "--device", "opencl", "a.c", "-o", "p"], folder.path());
    assert!(built.status.success(), "{}", told(&built));
    let ways = [
        ("1", "a.c:7: Assertion `how != 1' failed.", "an assertion failed"),
        ("2", "", "abort() was called"),
        ("3", "error directive: too much", "an `error` directive was reached"),
    ];
    for device in ["opencl", "opencl:1.2"] {
        let run = |how: &str| {
            let mut command = Command::new(folder.path().join("p"));
            command.arg(how).env("OMP_TARGET_OFFLOAD", "MANDATORY").env("FERRY_DEVICE", device);
            command.output().expect("the program runs")
        };
        assert!(run("0").status.success(), "{device}: {}", told(&run("0")));
        for (how, said, why) in ways {
            let ran = run(how);
            let all = told(&ran);
            assert!(!ran.status.success() && all.contains("a.c:5:"), "{device}: {all}");
            assert!(all.contains(said) && all.contains(why), "{device}: {all}");
        }
    }
}
