//! C programs that call the library as compiled programs do, by hand: `tests/c/*.c`.
//!
//! Lines at the top of each file say what to run and what to expect: `env:` one run each, `status:`,
//! `stderr:` a text that must occur. A run that expects nothing else must succeed and print `passed`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where cargo has put the shared library that belongs to this test.
fn library_folder() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn compile(arguments: &[&str]) {
    let gcc =
        Command::new("cc").args(["-std=gnu11", "-Wall", "-g", "-O1"]).args(arguments).output();
    let gcc = gcc.expect("a C compiler");
    assert!(gcc.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&gcc.stderr));
}

/// Builds the program with its image inside; `flags` come last.
fn build(source: &Path, folder: &Path, flags: &[&str]) -> PathBuf {
    let (program, image) = (folder.join("program"), folder.join("image.so"));
    let (source, image) = (source.to_str().unwrap(), image.to_str().unwrap());
    compile(&["-DDEVICE_UNIT", "-fopenmp", "-shared", "-fPIC", "-Wno-unused", source, "-o", image]);
    let define = format!("-DIMAGE=\"{image}\"");
    let library = library_folder().display().to_string();
    let (search, rpath) = (format!("-L{library}"), format!("-Wl,-rpath,{library}"));
    let mut arguments = vec![source, "-o", program.to_str().unwrap(), &define, &search, &rpath];
    arguments.extend(["-fno-builtin-omp_is_initial_device", "-lferry"]);
    arguments.extend(flags);
    compile(&arguments);
    program
}

fn run(program: &Path, settings: &str) -> Output {
    let mut command = Command::new(program);
    // Runners of tests put the folder of an older build first.
    for variable in [
        "LD_LIBRARY_PATH",
        "FERRY_LIBEXEC",
        "FERRY_DEVICE_MEMORY",
        "FERRY_DEVICE",
        "FERRY_INFO",
        "FERRY_TRACE",
        "OMP_TARGET_OFFLOAD",
    ] {
        command.env_remove(variable);
    }
    command.envs(settings.split_whitespace().filter_map(|it| it.split_once('=')));
    command.output().unwrap()
}

#[track_caller]
fn check(name: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/c/{name}.c"));
    let text = fs::read_to_string(&source).unwrap();
    let lines = |key: &str| {
        let key = format!("// {key}: ");
        text.lines().filter_map(|it| it.strip_prefix(&key).map(str::to_owned)).collect::<Vec<_>>()
    };
    let folder = tempfile::tempdir().unwrap();
    let flags = lines("flags").join(" ");
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let program = build(&source, folder.path(), &flags);
    let status: i32 = lines("status").first().map_or(0, |it| it.parse().unwrap());
    for settings in lines("env") {
        let output = run(&program, &settings);
        let (out, err) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "{name}, {settings}:\n{out}{err}");
        for expected in lines("stderr") {
            assert!(err.contains(&expected), "{name}, {settings}: no `{expected}` in\n{err}");
        }
        assert!(status != 0 || out.contains("passed"), "{name}, {settings}:\n{out}{err}");
    }
}

macro_rules! programs {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name));
        }
    )*};
}

programs! {
    counts params attach overlap present strided mapper globals threads stress million routines
    unmapped overrun crashed no_room own_memory corrupt_image nulls exit_inside exit_order forked forked_inside forked_often
    acc_devices acc_queues acc_data acc_memory acc_attach acc_prof
    newer
    no_device wrong_number out_of_memory bad_image setting information tool explicit pause
}

#[test]
fn a_trace_is_json_with_an_event_per_region_and_copy() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/information.c");
    let folder = tempfile::tempdir().unwrap();
    let program = build(&source, folder.path(), &[]);
    let trace = folder.path().join("trace.json");
    let output = run(&program, &format!("FERRY_DEVICE=cpu:copy FERRY_TRACE={}", trace.display()));
    assert!(output.status.success());
    let trace: serde_json::Value = serde_json::from_slice(&fs::read(trace).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let categories: Vec<&str> = events.iter().filter_map(|it| it["cat"].as_str()).collect();
    assert_eq!(categories, ["copy to device", "copy to host", "region", "region"]);
    assert_eq!(events[0]["name"], "a");
    assert_eq!(events[0]["args"]["place"], "t.c:12:1");
}

fn program(name: &str, folder: &Path, flags: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/c/{name}.c"));
    build(&source, folder, flags)
}

#[test]
fn wrong_use_of_memory_ends_with_a_message_that_names_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let program = program("memory_wrong", folder.path(), &[]);
    let always = [
        ("allocator", "is memory of `omp_high_bw_mem_alloc` and is given back to allocator 0x"),
        ("none", "is not the beginning of memory that an allocator has given"),
        (
            "memory",
            "there are no 101 bytes of low-latency memory for an allocator of at most 100 bytes",
        ),
        ("handle", "there is no allocator 0x4d"),
        ("default", "there is no allocator 0x12345678"),
        ("alignment", "alignment 48 is no power of two"),
        ("destroyed", "there is no allocator 0x"),
        ("trait", "trait `pool_size` cannot be 0"),
    ];
    let checked = [
        ("overrun", "byte 1 behind the end of the 50 bytes at"),
        ("twice", "are given back again: omp_free, called at"),
        ("late", "byte 7 of the 50 bytes at"),
    ];
    let cases = always.iter().flat_map(|it| [("0", it), ("1", it)]);
    for (mode, (case, expected)) in cases.chain(checked.iter().map(|it| ("1", it))) {
        let output = Command::new(&program)
            .arg(case)
            .env_remove("LD_LIBRARY_PATH")
            .env("FERRY_MEMORY_CHECK", mode)
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{case}, {mode}: {err}");
        assert!(err.contains(expected), "{case}, {mode}: {err}");
        // The last is found where nothing is called.
        assert!(*case == "late" || err.contains("program+0x"), "{case}, {mode}: {err}");
    }
    for mode in ["0", "1"] {
        let output = run(&program, &format!("FERRY_MEMORY_CHECK={mode}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// There nobody knows files and names by an address; the address is told.
#[test]
fn wrong_use_of_memory_names_an_address_in_programs_without_shared_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let archive = library_folder().join("libferry.a");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/memory_wrong.c");
    let [source, archive, at] = [&source, &archive, &program].map(|it| it.to_str().unwrap());
    compile(&["-static", "-s", source, archive, "-lm", "-w", "-o", at]);
    for (mode, case) in [("0", "allocator"), ("0", "memory"), ("1", "overrun"), ("1", "twice")] {
        let output = Command::new(&program).arg(case).env("FERRY_MEMORY_CHECK", mode).output();
        let output = output.unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{case}: {err}");
        assert!(err.contains(", called at 0x"), "{case}: {err}");
    }
}

/// The loader has a place for variables of threads that is the same for all, or not: both ways lead to what a thread keeps.
#[test]
fn threads_find_their_memory_whenever_the_library_is_loaded() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/late_memory.c");
    let folder = tempfile::tempdir().unwrap();
    let library = library_folder().join("libferry.so");
    let late = folder.path().join("late");
    compile(&["-pthread", source.to_str().unwrap(), "-o", late.to_str().unwrap(), "-ldl"]);
    let at_once = build(&source, folder.path(), &["-DAT_ONCE", "-pthread", "-ldl"]);
    for program in [late, at_once] {
        let output = Command::new(&program).arg(&library).env_remove("LD_LIBRARY_PATH").output();
        let output = output.unwrap();
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && out.contains("passed"), "{output:?}");
    }
}

#[test]
fn the_environment_names_the_default_allocator() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("default.c");
    let text = "#include <stdint.h>\n#include <stdio.h>\ntypedef uintptr_t handle;\n\
         extern void *omp_alloc(size_t, handle); extern handle omp_get_default_allocator(void);\n\
         int main(void) { handle it = omp_get_default_allocator();\n\
         printf(\"%d %d %d\", it == 4, (uintptr_t)omp_alloc(5, 0) % 4096 == 0, omp_alloc(500, 0) == 0); }\n";
    fs::write(&source, text).unwrap();
    let program = build(&source, folder.path(), &[]);
    let answers = |value: &str| {
        let output = run(&program, &format!("OMP_ALLOCATOR={value}"));
        assert!(output.status.success());
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    assert!(answers("omp_high_bw_mem_alloc").0.starts_with("1 "));
    let traits = "omp_default_mem_space:alignment=4096,pool_size=100,fallback=null_fb";
    assert_eq!(answers(traits).0, "0 1 1");
    let (_, said) = answers("omp_fast_space");
    assert!(said.contains("OMP_ALLOCATOR=omp_fast_space is not understood and ignored"), "{said}");
}

/// Kills that a test of every day makes; `FERRY_KILLS` asks for more.
const KILLS: usize = 40;

#[test]
fn data_that_persist_survive_kills_whole() {
    let folder = tempfile::tempdir().unwrap();
    let program = program("persistent", folder.path(), &[]);
    let data = folder.path().join("data");
    let start = |steps: &str| {
        let mut command = Command::new(&program);
        command.arg(steps).env_remove("LD_LIBRARY_PATH").env("FERRY_PERSISTENT", &data);
        command.stdout(std::process::Stdio::piped());
        command
    };
    let kills = env::var("FERRY_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(KILLS);
    let (mut seed, mut told) = (std::process::id() as u64, 0_i64);
    for round in 0..kills {
        let mut child = start("0").spawn().unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(std::time::Duration::from_micros(2000 + (seed >> 33) % 20_000));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let Some(first) = text.lines().next() else { continue };
        let found: i64 = first.strip_prefix("found ").expect(&text).parse().unwrap();
        // The number that was told last counts, or the one that was being told.
        assert!(
            found == told || found == told + 1,
            "round {round}: {told} was told, {found} is found"
        );
        // A line that was cut off has not been told.
        let whole = text.rsplit_once('\n').map_or("", |it| it.0);
        told = whole.lines().skip(1).last().map_or(found, |it| it.parse().unwrap());
    }
    let output = start("1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.starts_with("found "), "{text}");
    assert!(told > 0, "no commit was ever reached");
}

#[test]
fn data_that_cannot_persist_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let (first, other) = (folder.path().join("one"), folder.path().join("two"));
    fs::create_dir(&first).unwrap();
    fs::create_dir(&other).unwrap();
    let now = program("persistent", &first, &[]);
    let larger = program("persistent", &other, &["-DWORDS=4000"]);
    let data = folder.path().join("data");
    #[track_caller]
    fn refused(program: &Path, data: &Path, expected: &str) {
        let output = run_with(program, data);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(err.contains(expected) && err.contains("persistent.c:20: `"), "{err}");
        assert!(err.contains("help: "), "{err}");
    }
    fn run_with(program: &Path, data: &Path) -> Output {
        let mut command = Command::new(program);
        command
            .arg("1")
            .env_remove("LD_LIBRARY_PATH")
            .env("FERRY_PERSISTENT", data)
            .output()
            .unwrap()
    }
    assert!(run_with(&now, &data).status.success());
    refused(&larger, &data, "holds 24000 bytes, and the variable has 32000 now");
    refused(&now, Path::new("/proc/nowhere"), "making `/proc/nowhere` failed");
    // No room: a file of unlimited size cannot be made on a device of one that is full.
    if Path::new("/dev/full").exists() {
        let full = folder.path().join("full");
        fs::create_dir(&full).unwrap();
        std::os::unix::fs::symlink("/dev/full", full.join("many.0.data")).unwrap();
        refused(&now, &full, "failed");
    }
    let file = data.join("many.0.data");
    let good = fs::read(&file).unwrap();
    let mut bad = good.clone();
    for byte in bad.iter_mut().skip(4096).step_by(28_672).take(2) {
        *byte ^= 1;
    }
    fs::write(&file, bad).unwrap();
    refused(&now, &data, "is damaged");
    fs::write(&file, &good).unwrap();
    let mut running = Command::new(&now)
        .arg("0")
        .env_remove("LD_LIBRARY_PATH")
        .env("FERRY_PERSISTENT", &data)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    refused(&now, &data, "another program uses");
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(run_with(&now, &data).status.success());
}

#[test]
fn libraries_come_and_go() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/late.c");
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("late");
    let library = library.to_str().unwrap();
    let built = build(&source, folder.path(), &["-DLATE_LIBRARY", "-shared", "-fPIC"]);
    fs::rename(&built, library).unwrap();
    let define = format!("-DLIBRARY=\"{library}\"");
    let program = build(&source, folder.path(), &[&define]);
    for settings in ["FERRY_DEVICE=cpu", "FERRY_DEVICE=cpu:copy"] {
        let output = run(&program, settings);
        let out = String::from_utf8_lossy(&output.stdout);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && out.contains("passed"), "{settings}:\n{out}{err}");
    }
}

#[test]
fn a_tool_may_come_in_a_library() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let folder = tempfile::tempdir().unwrap();
    let program = build(&sources.join("information.c"), folder.path(), &[]);
    let tool = folder.path().join("tool.so");
    let (tool, source) = (tool.to_str().unwrap(), sources.join("tool_library.c"));
    compile(&["-shared", "-fPIC", source.to_str().unwrap(), "-o", tool]);
    let settings = format!("FERRY_DEVICE=cpu OMP_TOOL_LIBRARIES=/no/such.so:{tool}");
    let output = run(&program, &settings);
    let err = String::from_utf8_lossy(&output.stderr);
    let expected = [
        "`/no/such.so` cannot be loaded and is passed over",
        "tool: kind 1 endpoint 1 on device 0",
        "tool: kind 1 endpoint 2 on device 0",
        "tool: end",
    ];
    let mut rest = &*err;
    for line in expected {
        rest = &rest[rest.find(line).unwrap_or_else(|| panic!("no `{line}` in\n{err}"))..];
    }
    let output = run(&program, &format!("{settings} OMP_TOOL=disabled"));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("tool"));
}

/// What routines say of wrong arguments; each ends the program.
#[test]
fn wrong_arguments_end_the_program_with_a_message() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/acc_wrong.c");
    let text = fs::read_to_string(&source).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let program = build(&source, folder.path(), &[]);
    let cases: Vec<(&str, &str)> =
        text.lines().filter_map(|it| it.strip_prefix("// case ")?.split_once(": ")).collect();
    assert!(cases.len() > 5);
    for (case, expected) in cases {
        let output = run(&program, &format!("FERRY_DEVICE=cpu:copy CASE={case}"));
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "case {case}:\n{err}");
        assert!(err.starts_with(&format!("ferry: error: {expected}")), "case {case}:\n{err}");
        assert!(err.contains("\n  help: "), "case {case}:\n{err}");
    }
}

/// What the environment says of the first device.
#[test]
fn the_environment_chooses_the_first_device() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/acc_environment.c");
    let folder = tempfile::tempdir().unwrap();
    let program = build(&source, folder.path(), &[]);
    for (settings, expected) in [
        ("FERRY_DEVICE=cpu*3", "type 4 number 0 0 0"),
        ("FERRY_DEVICE=cpu*3 ACC_DEVICE_NUM=2", "type 4 number 2 2 2"),
        ("FERRY_DEVICE=cpu*3 ACC_DEVICE_TYPE=HOST", "type 2 number 0 3 3"),
        ("FERRY_DEVICE=cpu*3 ACC_DEVICE_TYPE=not_host ACC_DEVICE_NUM=1", "type 4 number 1 1 1"),
        ("FERRY_DEVICE=none ACC_DEVICE_TYPE=default", "type 2 number 0 0 0"),
    ] {
        let output = run(&program, settings);
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{settings}: {output:?}");
        assert_eq!(out.trim(), expected, "{settings}");
    }
    for (settings, expected) in [
        ("FERRY_DEVICE=cpu ACC_DEVICE_TYPE=abacus", "there is no type of devices `abacus`"),
        ("FERRY_DEVICE=cpu ACC_DEVICE_TYPE=nvidia", "there is no device of type `nvidia`"),
        ("FERRY_DEVICE=cpu ACC_DEVICE_NUM=1", "ACC_DEVICE_NUM: there is no device `1`"),
        ("FERRY_DEVICE=cpu ACC_DEVICE_NUM=x", "ACC_DEVICE_NUM: there is no device `x`"),
        ("FERRY_DEVICE=cpu ACC_DEVICE_TYPE=host ACC_DEVICE_NUM=1", "there is no device `1`"),
    ] {
        let output = run(&program, settings);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{settings}:\n{err}");
        assert!(err.contains(expected) && err.contains("help: "), "{settings}:\n{err}");
    }
}

#[test]
fn a_profiling_tool_may_come_in_a_library() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let folder = tempfile::tempdir().unwrap();
    let program = build(&sources.join("acc_wrong.c"), folder.path(), &[]);
    let tool = folder.path().join("tool.so");
    let (tool, source) = (tool.to_str().unwrap(), sources.join("acc_prof_library.c"));
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ferry");
    let include = format!("-I{}", include.display());
    compile(&["-shared", "-fPIC", &include, source.to_str().unwrap(), "-o", tool]);
    let settings = format!("FERRY_DEVICE=cpu:copy CASE=4 ACC_PROFLIB=/no/such.so;{tool}");
    let output = run(&program, &settings);
    let err = String::from_utf8_lossy(&output.stderr);
    let expected = [
        "`/no/such.so` cannot be loaded and is passed over",
        "tool: error 10: the range of 16 byte",
        "ferry: error: acc_copyin: the range of 16 bytes",
        "alloc - 16\n",
        "enter { -:0-0 acc_copyin:0-0 construct 15 device 0 queue -2\n",
        "create - 8\n",
        "shutdown {",
        "} shutdown\nend\n",
        "tool: right",
    ];
    let mut rest = &*err;
    for line in expected {
        rest = &rest[rest.find(line).unwrap_or_else(|| panic!("no `{line}` in\n{err}"))..];
    }
}

/// Every function that our headers declare can be linked with, by its address.
#[test]
fn every_declared_routine_is_there() {
    every_routine_is_there("omp.h", "omp_", 100);
    every_routine_is_there("openacc.h", "acc_", 80);
    every_routine_is_there("acc_prof.h", "acc_prof_", 2);
    every_routine_is_there("ferry_cluster.h", "ferry_", 4);
}

fn every_routine_is_there(header_name: &str, prefix: &str, at_least: usize) {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ferry");
    let header = fs::read_to_string(include.join(header_name)).unwrap();
    let names: Vec<&str> = header
        .split(';')
        .filter_map(|it| it.trim_start().strip_prefix("extern "))
        .chain(header.split("\nextern ").skip(1))
        .filter_map(|it| it.split('(').next()?.rsplit([' ', '*']).next())
        .filter(|it| it.starts_with(prefix))
        .collect();
    assert!(names.len() > at_least, "{names:?}");
    let folder = tempfile::tempdir().unwrap();
    let list: String = names.iter().map(|it| format!("    (void *){it},\n")).collect();
    let text = format!(
        "#include <{header_name}>\n#include <stdio.h>\nvoid *const all[] = {{\n{list}}};\n\
         int main(void) {{ for (unsigned i = 0; i < sizeof all / sizeof *all; i++)\n\
         if (!all[i]) return 1; puts(\"passed\"); }}\n"
    );
    let source = folder.path().join("all.c");
    fs::write(&source, text).unwrap();
    let program = folder.path().join("all");
    let library = library_folder().display().to_string();
    compile(&[
        "-fopenmp",
        "-D__FERRY__=1",
        &format!("-I{}", include.display()),
        source.to_str().unwrap(),
        "-o",
        program.to_str().unwrap(),
        &format!("-L{library}"),
        &format!("-Wl,-rpath,{library}"),
        "-lferry",
    ]);
    assert_eq!(run(&program, "FERRY_DEVICE=cpu").stdout, b"passed\n");
}

/// The library under the name that programs of clang ask for, as `make dropin` links it.
fn dropin(folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let built = folder.join("dropin");
    let archive = library_folder().join("libferry.a");
    let linked = Command::new(root.join("scripts/dropin")).arg(archive).arg(&built).output();
    let linked = linked.expect("scripts/dropin");
    assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
    built
}

/// Builds a program with a compiler of LLVM, against its own library, and runs it on ours.
fn run_on_dropin(compiler: &str, source: &str, links_with_ours: bool) -> Option<(String, String)> {
    /// Where that compiler's own libraries are.
    const LIBRARIES: &str = "/usr/lib/llvm-19/lib";
    if Command::new(compiler).arg("--version").output().is_err() {
        let _ = writeln!(io::stdout(), "skipped: there is no {compiler}");
        return None;
    }
    if !Path::new(LIBRARIES).join("libomp.so").exists() {
        let _ = writeln!(io::stdout(), "skipped: {compiler} is there without its libomp-19-dev");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let dropin = dropin(folder.path());
    let program = folder.path().join("program");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(source);
    let mut build = Command::new(compiler);
    build.args(["-g", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", "-nogpulib"]);
    if links_with_ours {
        build.arg(format!("-L{}", dropin.display()));
    }
    let built = build.arg(source).arg("-o").arg(&program).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let output = Command::new(&program)
        .env("LD_LIBRARY_PATH", format!("{}:{LIBRARIES}", dropin.display()))
        .env("LIBOMPTARGET_INFO", "16")
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{out}{err}");
    Some((out, err))
}

#[test]
fn programs_of_clang_run_on_the_dropin() {
    let Some((out, err)) = run_on_dropin("clang-19", "clang.c", false) else { return };
    assert_eq!(out, "opened\nregion\n4950 on device 0 of 4\n", "{err}");
    assert!(err.contains("Launching kernel __omp_offloading_"), "{err}");
    assert!(!err.contains("no version information"), "{err}");
}

#[test]
fn programs_of_flang_link_with_and_run_on_the_dropin() {
    let Some((out, err)) = run_on_dropin("flang-new-19", "flang.f90", true) else { return };
    assert_eq!(out.trim(), "4950", "{err}");
    assert!(err.contains("Launching kernel __omp_offloading_"), "{err}");
}

/// The routines that a header of ours declares.
fn declared(header: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ferry").join(header);
    let text = fs::read_to_string(path).unwrap();
    let code: String = text.split("/*").filter_map(|it| it.split("*/").last()).collect();
    let statements = code.split(';').filter(|it| it.contains("extern ") && it.ends_with(')'));
    let names = statements.filter_map(|it| {
        let before = it.rsplit("extern ").next()?.split('(').next()?;
        Some(before.rsplit([' ', '*', '\n']).next()?.to_owned())
    });
    names.filter(|it| it.starts_with("omp_") || it.starts_with("acc_")).collect()
}

/// A program that takes the address of each routine, linked in two ways.
#[track_caller]
fn links(header: &str, at_least: usize) {
    let names = declared(header);
    assert!(names.len() >= at_least, "{header}: {names:?}");
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("all.c");
    let taken: Vec<String> = names.iter().map(|it| format!("(void *){it}")).collect();
    let text = format!(
        "#include <{header}>\n#include <stdio.h>\nvoid *all[] = {{{}}};\n\
         int main(void) {{ int n = 0; for (unsigned i = 0; i < sizeof all / sizeof *all; i++) \
         n += all[i] != 0; printf(\"%d\\n\", n); return 0; }}\n",
        taken.join(", ")
    );
    fs::write(&source, text).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ferry");
    let include = format!("-I{}", root.display());
    let library = library_folder();
    let (search, rpath) =
        (format!("-L{}", library.display()), format!("-Wl,-rpath,{}", library.display()));
    let archive = library.join("libferry.a").display().to_string();
    let ways: [&[&str]; 2] = [
        &[&search, &rpath, "-lferry", "-fopenmp"],
        &[&archive, "-fopenmp", "-lpthread", "-ldl", "-lm"],
    ];
    for flags in ways {
        let program = folder.path().join("all");
        let mut arguments = vec![include.as_str(), source.to_str().unwrap(), "-o"];
        arguments.push(program.to_str().unwrap());
        arguments.extend(flags);
        compile(&arguments);
        let output = run(&program, "");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), names.len().to_string());
    }
}

#[test]
fn every_routine_of_our_headers_is_in_both_libraries() {
    links("omp.h", 120);
    links("openacc.h", 70);
}
