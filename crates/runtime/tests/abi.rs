//! C programs that call the library as compiled programs do, by hand: `tests/c/*.c`.
//!
//! Lines at the top of each file say what to run and what to expect: `env:` one run each, `status:`,
//! `stderr:` a text that must occur. A run that expects nothing else must succeed and print `passed`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::env;
use std::fs;
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
    for variable in [
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
    unmapped crashed no_room own_memory corrupt_image nulls exit_inside forked no_device wrong_number out_of_memory bad_image setting information
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
