//! Programs that start on another machine (`--host`), whose regions run on this one.
//!
//! Needs GCC for 64-bit ARM, qemu, and the library for programs that start there (`scripts/hosts dev aarch64`); without
//! them a test says so and ends.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

#[path = "support/faults.rs"]
mod faults;
#[path = "support/machines.rs"]
mod machines;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use faults::WORK;
use machines::has_arm;
use support::{ferry, told};
use tempfile::TempDir;

/// What starts programs of ARM.
const EMULATOR: [&str; 3] = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"];

/// Whether programs can be built to start on ARM, and run.
fn has_all() -> bool {
    let target = Path::new(env!("CARGO_BIN_EXE_ferry")).parent().and_then(Path::parent);
    let library = |it: &Path| it.join("aarch64-unknown-linux-gnu/debug/libferry.a");
    let is_built = target.is_some_and(|it| library(it).exists());
    if !is_built {
        eprintln!("skipped: libferry for aarch64 is not built (scripts/hosts dev aarch64)");
    }
    is_built && has_arm()
}

/// Builds a program that starts on ARM, with its regions on this machine.
fn build(folder: &Path, source: &Path, more: &[&str]) -> Output {
    build_for("x86_64", folder, source, more)
}

/// The same for another device.
fn build_for(device: &str, folder: &Path, source: &Path, more: &[&str]) -> Output {
    let source = source.to_str().expect("a name");
    let line = ["cc", "--host", "aarch64", "--device", device, "-w", source, "-o", "a", "-lm"];
    ferry(&[&line, more].concat(), folder)
}

/// Runs it; regions must leave ARM.
fn run(folder: &Path) -> Output {
    let mut command = Command::new("timeout");
    command.arg("60").args(EMULATOR).arg("./a").current_dir(folder);
    command.env_remove("FERRY_DEVICE").env_remove("FERRY_INFO");
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("OMP_DYNAMIC", "false");
    command.output().expect("timeout runs")
}

/// What a program that starts on ARM prints.
fn printed(text: &str, more: &[&str]) -> Option<String> {
    if !has_all() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("a.c");
    fs::write(&source, text).expect("a file");
    let built = build(folder.path(), &source, more);
    assert!(built.status.success(), "{}", told(&built));
    let ran = run(folder.path());
    assert!(ran.status.success(), "{}", told(&ran));
    Some(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// A program of `tests/run`.
fn program(name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run");
    tests.join(name).with_extension("c")
}

/// Right on every device with its directives, and wrong without: here, too.
#[track_caller]
fn right(name: &str) {
    if !has_all() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let built = build(folder.path(), &program(name), &["-O1"]);
    assert!(built.status.success(), "{}", told(&built));
    let ran = run(folder.path());
    assert!(ran.status.success(), "{}", told(&ran));
}

#[test]
fn maps_and_pointers_in_data_reach_this_machine() {
    right("acc_pointers");
}

#[test]
fn variables_of_devices_reach_this_machine() {
    right("declare_local");
}

#[test]
fn reductions_come_back() {
    right("target_reductions");
}

#[test]
fn functions_have_addresses_of_this_machine() {
    right("function_pointers");
}

/// Each machine computes what the other does: the sign of plain `char` is that where the program starts, and a product and a
/// sum are two roundings on both.
#[test]
fn both_machines_compute_the_same() {
    let text = "#include <stdio.h>
int main(void) {
  volatile double a = 1.0 + 0x1p-30, b = 1.0 - 0x1p-30, c = -1.0;
  volatile signed char from = -1;
  for (int away = 0; away < 2; away++) {
    double rest = 0; int is_below = 0, here = -1;
#pragma omp target if(away) map(from: rest, is_below, here) map(to: a, b, c, from)
    { char x = from; is_below = x < 0; rest = a * b + c; here = !away; }
    printf(\"%d %d %a\\n\", here, is_below, rest);
  }
  return 0;
}
";
    let check = |flags: &[&str], expect: &str| {
        if let Some(found) = printed(text, flags) {
            assert_eq!(found, expect, "{flags:?}");
        }
    };
    check(&["-O2"], "1 0 0x0p+0\n0 0 0x0p+0\n");
    check(&["-O2", "-fsigned-char"], "1 1 0x0p+0\n0 1 0x0p+0\n");
}

/// `wchar_t` has no sign where the program starts, and none in its regions.
#[test]
fn wide_characters_are_those_where_the_program_starts() {
    if let Some(found) = printed(include_str!("support/wide.c"), &["-O1"]) {
        assert_eq!(found, "0 22 54 9 4 4294967295\n".repeat(2));
    }
}

/// Regions run as code of this machine, which does not know the instructions of the other.
#[test]
fn regions_run_on_this_machine() {
    let text = "#include <stdio.h>
#include <sys/utsname.h>
int main(void) {
  struct utsname here;
  char there[65];
  uname(&here);
#pragma omp target map(from: there)
  { struct utsname it; uname(&it); for (int i = 0; i < 65; i++) there[i] = it.machine[i]; }
  printf(\"%s %s\\n\", here.machine, there);
  return 0;
}
";
    if let Some(found) = printed(text, &[]) {
        assert_eq!(found, "aarch64 x86_64\n");
    }
}

/// A function is called by hand, on this machine and where the program has started; its data go there and back.
#[test]
fn functions_are_called_by_hand() {
    let text = "#include <ferry_call.h>
#include <stdio.h>
#include <sys/utsname.h>
struct job { int n; double sum, list[100]; char where[65]; };
#pragma omp begin declare target indirect
static void add(void *data, size_t size) {
  struct job *job = data;
  struct utsname here;
  uname(&here);
  if (size != sizeof *job) return;
  for (int i = 0; i < job->n; i++) job->sum += job->list[i] *= 2;
  for (int i = 0; i < 65; i++) job->where[i] = here.machine[i];
}
static void forget(void *data, size_t size) { if (size == sizeof(struct job)) ((struct job *)data)->sum = -1; }
#pragma omp end declare target
int main(void) {
  struct job job = { 100 };
  for (int i = 0; i < 100; i++) job.list[i] = i;
  for (int device = 0; device < 3; device++) {
    int status = ferry_call(device, add, &job, sizeof job);
    printf(\"%d %g %s\\n\", status, job.sum, job.where);
  }
  int status = ferry_call(0, forget, &job, sizeof job);
  printf(\"%d %g\\n\", status, job.sum);
  return 0;
}
";
    // There is one device, behind which comes the host.
    if let Some(found) = printed(text, &["-O1"]) {
        assert_eq!(found, "0 9900 x86_64\n0 29700 aarch64\n1 29700 aarch64\n0 -1\n");
    }
}

/// This machine as a device to which all goes by the link, through a relay.
const RELAYED: &str = "about = \"this machine\"\npackages = \"gcc\"\nis-tested = true\ncompiler = [\"gcc\"]\n\
    knows-gcc-flags = true\nflags = []\nlink = [\"-static\", \"-fopenmp\", \"-lm\"]\nrunner = [\"./relay\"]\n\
    shares-files = false\n";

/// A folder with a program that starts on ARM, with its regions on that device.
fn started_there(text: &str, device: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("m.toml"), RELAYED).expect("a file");
    fs::write(folder.path().join("a.c"), text).expect("a file");
    let built = build_for(device, folder.path(), Path::new("a.c"), &["-O1"]);
    assert!(built.status.success(), "{}", told(&built));
    folder
}

#[test]
fn faults_of_the_link_are_found_where_the_program_starts() {
    if !has_all() {
        return;
    }
    let folder = started_there(WORK, "remote:m.toml");
    faults::relay(folder.path());
    // An emulated program takes seconds where processors are short.
    faults::of_links(Duration::from_secs(40), |settings| {
        let mut command = Command::new("timeout");
        command.args(["-k", "1", "60"]).args(EMULATOR).arg("./a").current_dir(folder.path());
        command.env_remove("FERRY_DEVICE").env_remove("FERRY_INFO");
        command.envs(settings.iter().copied()).output().expect("timeout runs")
    });
}

#[test]
fn full_disks_are_told_where_the_program_starts() {
    if !has_all() {
        return;
    }
    let folder = started_there(WORK, "x86_64");
    let places = [("remote:x86_64", "/dev/shm"), ("remote:x86_64", "disk")];
    faults::of_disks(folder.path(), &places, &format!("{} ./a", EMULATOR.join(" ")));
}

#[test]
fn signals_to_the_process_of_a_device_are_found_where_the_program_starts() {
    if !has_all() {
        return;
    }
    let folder = started_there(&faults::lasting(), "x86_64");
    faults::of_processes("remote:x86_64", || {
        let [emulator, flags @ ..] = EMULATOR;
        let mut command = Command::new(emulator);
        command.args(flags).arg("./a").current_dir(folder.path());
        command
    });
}

#[test]
fn what_a_machine_lacks_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("a.c");
    fs::write(
        &source,
        "int main(void) { int x = 0;\n#pragma omp target map(x)\n  x = 1; return !x; }\n",
    )
    .expect("a file");
    let said = |host: &str, flags: &str, words: &[&str]| {
        let text = format!(
            "about = \"this machine\"\npackages = \"gcc\"\nis-tested = true\ncompiler = [\"gcc\"]\n\
             knows-gcc-flags = true\nflags = [{flags}]\nlink = []\nrunner = []\nshares-files = true\n"
        );
        fs::write(folder.path().join("m.toml"), text).expect("a file");
        let line = ["cc", "--host", host, "--device", "x86_64", "a.c", "-o", "a"];
        let built = ferry(&line, folder.path());
        let text = told(&built);
        assert_eq!(built.status.code(), Some(1), "{text}");
        for word in words {
            assert!(text.contains(word), "no `{word}` in {text}");
        }
    };
    said("nowhere", "", &["`remote:nowhere`", "`aarch64`"]);
    said("ve", "", &["`--host ve`", "flags of GCC", "`--device remote:ve`"]);
    said("m.toml", "\"-m32\"", &["`--host m.toml`", "64-bit addresses"]);
    said("m.toml", "", &["need `libferry.a`", "`lib/ferry/m`"]);
}
