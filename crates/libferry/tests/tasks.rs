//! Programs with tasks, as users write them: `tests/tasks/*.c` and `*.cpp`.
//!
//! Lines at the top of each file say what to run and what to expect: `env:` one run each, `status:`, `stderr:` a text that must
//! occur, `flags:` for the compiler, `serial:` that the program without tasks prints the same. A run that expects nothing else must
//! succeed and print `passed`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Builds a program; `more` come last.
fn build(source: &Path, folder: &Path, more: &[&str]) -> PathBuf {
    let library = env::current_exe().unwrap().parent().unwrap().display().to_string();
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ferry");
    let program = folder.join("program");
    let (compiler, standard) = if source.extension().is_some_and(|it| it == "cpp") {
        ("c++", "-std=c++11")
    } else {
        ("cc", "-std=c11")
    };
    let mut command = Command::new(compiler);
    command
        .args([standard, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-g", "-O1", "-I"])
        .arg(headers);
    // Places in messages are as the compiler was given the file.
    command
        .current_dir(source.parent().unwrap())
        .arg(source.file_name().unwrap())
        .arg("-o")
        .arg(&program);
    command
        .args([format!("-L{library}"), format!("-Wl,-rpath,{library}")])
        .arg("-lferry")
        .args(more);
    let output = command.output().expect("a compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn run(program: &Path, settings: &str) -> Output {
    let mut command = Command::new("timeout");
    command.arg("120").arg(program);
    // Runners of tests put the folder of an older build first.
    command.env_remove("LD_LIBRARY_PATH").env_remove("FERRY_INFO");
    command.envs(settings.split_whitespace().filter_map(|it| it.split_once('=')));
    command.output().unwrap()
}

#[track_caller]
fn check(name: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tasks").join(name);
    let text = fs::read_to_string(&source).unwrap();
    let lines = |key: &str| {
        let key = format!("// {key}: ");
        text.lines().filter_map(|it| it.strip_prefix(&key).map(str::to_owned)).collect::<Vec<_>>()
    };
    let folder = tempfile::tempdir().unwrap();
    let flags = lines("flags").join(" ");
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let status: i32 = lines("status").first().map_or(0, |it| it.parse().unwrap());
    let try_one = |program: &Path, settings: &str| {
        let output = run(program, settings);
        let (out, err) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "{name}, {settings}:\n{out}{err}");
        for expected in lines("stderr") {
            assert!(err.contains(&expected), "{name}, {settings}: no `{expected}` in\n{err}");
        }
        assert!(status != 0 || out.contains("passed"), "{name}, {settings}:\n{out}{err}");
    };
    let program = build(&source, folder.path(), &flags);
    for settings in lines("env") {
        try_one(&program, &settings);
    }
    if !lines("serial").is_empty() {
        let flags = [&flags[..], &["-DFERRY_TASKS_SERIAL"]].concat();
        try_one(&build(&source, folder.path(), &flags), "");
    }
}

macro_rules! programs {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(concat!(stringify!($name), ".c"));
        }
    )*};
}

programs! {
    sum nested loops arguments threads stress crashed exited killed unflushed line old_copy unflushed_right line_right old_copy_right
    wrong wrong1 wrong2 wrong3 wrong4 wrong5 settings
}

#[test]
fn lambdas() {
    check("lambdas.cpp");
}

#[test]
fn a_trace_has_what_each_worker_has_done() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tasks/sum.c");
    let folder = tempfile::tempdir().unwrap();
    let program = build(&source, folder.path(), &[]);
    let file = folder.path().join("trace.json");
    let settings = format!("FERRY_TASKS_HOST=2 FERRY_TASKS_CORES=1 FERRY_TRACE={}", file.display());
    assert!(run(&program, &settings).status.success());
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.trim_end().ends_with('}'), "{text}");
    let mut all = 0;
    for worker in ["host worker 0", "accelerator core 0"] {
        let named = format!("\"ph\":\"C\",\"name\":\"{worker}\"");
        assert!(text.contains(&named), "{text}");
    }
    // Who runs how many is not known before.
    for tasks in text.split("\"tasks\":").skip(1) {
        let count: String = tasks.chars().take_while(char::is_ascii_digit).collect();
        all += count.parse::<u64>().unwrap();
    }
    assert!(all > 1, "{text}");
}
