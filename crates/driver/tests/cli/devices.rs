//! Which devices a program sees that is not told: those it was built for and that are here, in their order.
//!
//! OpenCL stands for what is not here: it is told to look for drivers where there are none.

use super::support::{Folder, Ran};

/// Tells how many devices there are, which is the default one, and whether a region there has memory of its own.
const ASKS: &str = "#include <stdio.h>
#include <omp.h>
#include <openacc.h>
int main(void) {
  int own = 1, there = 0;
#pragma omp target map(to: own) map(from: there)
  { own = 2; there = !omp_is_initial_device(); }
  printf(\"%d devices, default %d, %s, offloaded %d; not host %d, opencl %d, type %d\\n\",
         omp_get_num_devices(), omp_get_default_device(), own == 1 ? \"apart\" : \"shared\", there,
         acc_get_num_devices(acc_device_not_host), acc_get_num_devices(acc_device_opencl),
         acc_get_device_type() == acc_device_not_host);
  return 0;
}
";

/// The program, built for these devices.
fn built(devices: &str) -> Folder {
    let folder = Folder::new();
    folder.write("a.c", ASKS);
    let made = folder.ferry(&["cc", "-w", "--device", devices, "a.c", "-o", "a"]);
    assert_eq!(made.status, Some(0), "{}", made.err);
    folder
}

/// The program, run with these settings where there is no OpenCL.
fn run(folder: &Folder, settings: &[&str]) -> Ran {
    let plain = ["-u", "FERRY_DEVICE", "-u", "FERRY_INFO", "OCL_ICD_VENDORS=/nowhere/at/all"];
    folder.run("env", &[&plain, settings, &["./a"]].concat())
}

#[test]
fn a_program_runs_on_the_device_it_was_built_for() {
    let ran = run(&built("cpu:separate"), &["OMP_TARGET_OFFLOAD=MANDATORY"]);
    let expect = "1 devices, default 0, apart, offloaded 1; not host 1, opencl 0, type 1\n";
    assert_eq!((ran.out.as_str(), ran.err.as_str()), (expect, ""));
    let ran = run(&built("cpu"), &[]);
    let expect = "1 devices, default 0, shared, offloaded 1; not host 1, opencl 0, type 1\n";
    assert_eq!((ran.out.as_str(), ran.err.as_str()), (expect, ""));
}

#[test]
fn several_devices_are_numbered_in_the_order_of_the_list() {
    for (devices, kind) in [("cpu,cpu:separate", "shared"), ("cpu:separate,cpu", "apart")] {
        let folder = built(devices);
        let ran = run(&folder, &[]);
        let expect =
            format!("2 devices, default 0, {kind}, offloaded 1; not host 2, opencl 0, type 1\n");
        assert_eq!((ran.out, ran.err), (expect, String::new()), "{devices}");
        let other = if kind == "shared" { "apart" } else { "shared" };
        for setting in ["OMP_DEFAULT_DEVICE=1", "ACC_DEVICE_NUM=1"] {
            let ran = run(&folder, &[setting]);
            assert!(ran.out.contains(&format!("default 1, {other},")), "{setting}: {}", ran.out);
        }
        let ran = run(&folder, &["ACC_DEVICE_NUM=2"]);
        assert!(ran.status == Some(1) && ran.err.contains("ACC_DEVICE_NUM"), "{}", ran.err);
        let ran = run(&folder, &["FERRY_DEVICE=cpu:separate*3"]);
        assert!(ran.out.starts_with("3 devices, default 0, apart"), "{}", ran.out);
    }
    for odd in ["OMP_DEFAULT_DEVICE=first", "OMP_DEFAULT_DEVICE=-7"] {
        let ran = run(&built("cpu:separate"), &[odd]);
        assert!(
            ran.out.contains("default 0") && ran.err.contains("OMP_DEFAULT_DEVICE"),
            "{odd}: {}",
            ran.err
        );
    }
    let ran = run(&built("cpu:separate*2"), &[]);
    assert!(ran.out.starts_with("2 devices, default 0, apart"), "{}", ran.out);
}

#[test]
fn a_device_that_is_not_here_is_said_once_and_refused_where_offload_must_happen() {
    let folder = built("opencl");
    let ran = run(&folder, &[]);
    let expect = "1 devices, default 0, shared, offloaded 1; not host 1, opencl 0, type 1\n";
    assert_eq!(ran.out, expect);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.contains("runs on `cpu`") && ran.err.contains("`opencl`: "), "{}", ran.err);
    let ran = run(&folder, &["OMP_TARGET_OFFLOAD=MANDATORY"]);
    let words = ["a.c:6:", "must be offloaded", "`opencl`", "help: set FERRY_DEVICE=cpu"];
    assert_eq!((ran.status, ran.out.as_str()), (Some(1), ""), "{}", ran.err);
    assert!(words.iter().all(|it| ran.err.contains(it)), "{}", ran.err);
    let ran = run(&folder, &["OMP_TARGET_OFFLOAD=MANDATORY", "FERRY_DEVICE=cpu"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), (expect, ""));
    let ran = run(&folder, &["OMP_TARGET_OFFLOAD=DISABLED"]);
    assert!(ran.out.starts_with("0 devices") && ran.err.is_empty(), "{}{}", ran.out, ran.err);
}

#[test]
fn what_comes_next_in_the_list_is_used_instead() {
    let ran = run(&built("opencl,cpu:separate"), &["OMP_TARGET_OFFLOAD=MANDATORY"]);
    assert!(ran.out.starts_with("1 devices, default 0, apart"), "{}", ran.out);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.contains("runs on `cpu:separate`; not here is `opencl`"), "{}", ran.err);
    // What comes later in the list is not missed.
    let ran = run(&built("cpu,opencl"), &[]);
    assert_eq!(ran.err, "");
}

#[test]
fn files_that_were_built_for_different_devices_run_where_all_of_them_can() {
    let folder = Folder::new();
    folder.write("a.c", ASKS);
    let other = "void f(int *x) {\n#pragma omp target map(x[0:1])\n  *x += 1;\n}\n";
    folder.write("b.c", other);
    for (first, second, kind) in [
        ("cpu:separate", "cpu", "shared"),
        ("cpu,cpu:separate", "cpu:separate", "apart"),
        ("cpu:separate", "opencl,cpu:separate", "apart"),
    ] {
        for (file, devices) in [("a.c", first), ("b.c", second)] {
            let made = folder.ferry(&["cc", "-w", "-c", "--device", devices, file]);
            assert_eq!(made.status, Some(0), "{}", made.err);
        }
        let made = folder.ferry(&["cc", "a.o", "b.o", "-o", "a"]);
        assert_eq!(made.status, Some(0), "{}", made.err);
        let ran = run(&folder, &[]);
        let expect = format!("1 devices, default 0, {kind}");
        assert!(ran.out.starts_with(&expect), "{first} and {second}: {}{}", ran.out, ran.err);
        let is_said = ran.err.contains("its files are built for different devices");
        assert_eq!(is_said, second == "cpu", "{}", ran.err);
    }
}

/// A program for `cpu:separate`, run with these settings; a hang is status 124.
fn separate(text: &str, settings: &[&str]) -> Ran {
    let folder = Folder::new();
    folder.write("a.c", text);
    let made = folder.ferry(&["cc", "-w", "--device", "cpu:separate", "a.c", "-o", "a"]);
    assert_eq!(made.status, Some(0), "{}", made.err);
    let plain = ["60", "env", "-u", "FERRY_DEVICE", "-u", "FERRY_INFO"];
    folder.run("timeout", &[&plain, settings, &["./a"]].concat())
}

#[test]
fn a_device_that_never_greets_is_given_up() {
    use std::os::unix::fs::PermissionsExt;
    let helpers = Folder::new();
    helpers.write("ferry-cpu-device", "#!/bin/sh\nexec sleep 1000\n");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(helpers.path("ferry-cpu-device"), mode).expect("a script");
    let setting = format!("FERRY_LIBEXEC={}", helpers.path("").display());
    let ran = separate(ASKS, &[&setting, "FERRY_DEVICE=cpu:separate"]);
    ran.fails(1, &["ferry-cpu-device", "does not answer", "for its greeting"]);
}

/// The kernel stops its own process, as one that hangs would be.
#[test]
fn a_device_without_a_sign_of_life_is_given_up() {
    let text = "#include <signal.h>
int main(void) {
  int x = 0;
#pragma omp target map(tofrom: x)
  { x = 1; raise(SIGSTOP); }
  return 0;
}
";
    separate(text, &[]).fails(1, &["no sign of life", "waited for", "a.c:4"]);
}

/// Longer than it may be silent.
#[test]
fn a_kernel_computes_as_long_as_it_likes() {
    let text = "#include <stdio.h>
#include <time.h>
int main(void) {
  int x = 0;
#pragma omp target map(tofrom: x)
  { time_t end = time(0) + 9; while (time(0) < end) x ^= 1; x = 42; }
  printf(\"%d\\n\", x);
  return 0;
}
";
    let ran = separate(text, &[]);
    assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (Some(0), "42\n", ""));
}

#[test]
fn odd_settings_are_errors_that_say_what_is_allowed() {
    let odd = [
        ("FERRY_INFO", "loud", "0, 1, cycles"),
        ("FERRY_WAIT", "never", "always"),
        ("FERRY_DEVICE_MEMORY", "4G", "a number, 1 or more"),
        ("FERRY_COPY_THREADS", "0", "from 1 to"),
        ("FERRY_CYCLE_LIMIT", "-1", "a number"),
        ("FERRY_KERNEL_TIMEOUT", "1.5", "a number from 1"),
        ("FERRY_CACHE", "here", "all of its path"),
        ("FERRY_LIBEXEC", "/nowhere/at/all", "a folder that is there"),
    ];
    let folder = built("cpu");
    for (name, value, allowed) in odd {
        let words = [name, value, allowed];
        let setting = format!("{name}={value}");
        run(&folder, &[&setting]).fails(1, &words);
        let mut command = folder.command(&["check", "a.c"]);
        Ran::of(command.env(name, value).output().expect("ferry runs")).fails(1, &words);
    }
    assert_eq!(run(&folder, &["FERRY_INFO=", "FERRY_DEVICE_MEMORY= 4096 "]).status, Some(0));
}
