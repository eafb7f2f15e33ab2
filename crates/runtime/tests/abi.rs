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
    compile(&["-DDEVICE_UNIT", "-shared", "-fPIC", "-Wno-unused", source, "-o", image]);
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
    for variable in ["FERRY_DEVICE", "FERRY_INFO", "FERRY_TRACE", "OMP_TARGET_OFFLOAD"] {
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

programs! { counts params attach overlap present strided mapper globals }
