//! Kernels in files: `tests/kernel/*/*.k` say at their top what is done with them, `.expect` files what comes out.
//!
//! A line `// run: COMMAND` at the top asks for one thing; `groups=2 threads=4` behind it say how kernels are run.
//! - `verify`, `verify-spmd`: which laws are broken.
//! - `interpret`, `interpret-spmd`: the values of the file's variables afterwards, or what the kernel does wrong.
//! - `pipelined`: the same with the passes that make a pipeline, by one thread. All other files that say `same` are run so
//!   too: what they leave must not change.
//! - `wide`: the same, and what passes have chosen that put iterations side by side.
//! - `chosen`: what passes that make a pipeline have chosen, one iteration after the other.
//! - `same`: the kernel is run as it is, and after each pass by the same threads; all must leave the same values.
//! - `cores`: the same with the passes for cores; what they have chosen is told.
//!
//! A file holds the text form of kernels, or with a first line `// from: c` C whose regions are outlined.
//! `BLESS=1` rewrites the golden files. What is written of kernels is tested with the printers (`tests/kernel/text`).

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod support;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use kernel::interpret::Form;
use kernel::verify::{verify, verify_spmd};
use libtest_mimic::{Arguments, Trial};
use support::{
    after_all, chosen, chosen_wide, faults, module, pipelined, same, same_for_cores, values,
};

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernel");
    let mut files: Vec<PathBuf> = Vec::new();
    let mut open = vec![folder.clone()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("text") {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "k") {
                files.push(path);
            }
        }
    }
    files.sort();
    let tests = files.into_iter().map(|path| {
        let name = path.strip_prefix(&folder).unwrap().with_extension("");
        Trial::test(name.display().to_string(), move || Ok(check(&path)?))
    });
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, tests.collect()).exit_code()
}

fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|it| it.to_string())?;
    let lines: Vec<&str> = text.lines().map_while(|it| it.strip_prefix("// ")).collect();
    let is_c = lines.contains(&"from: c");
    let mut actual = String::new();
    for line in lines.iter().filter_map(|it| it.strip_prefix("run: ")) {
        let answer = match module(&text, is_c) {
            Ok(module) => done(&module, line),
            Err(wrong) => wrong,
        };
        // What a wrong kernel leaves says nothing of passes.
        if (line.starts_with("same") || line.starts_with("deep ")) && answer.starts_with("error") {
            return Err(format!("`{line}`: as it is written: {answer}"));
        }
        actual.push_str(&format!("// {line}\n{}\n", answer.trim_end()));
    }
    let golden = path.with_extension("expect");
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    if actual == expected {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some_and(|it| it == "1") {
        return std::fs::write(&golden, actual).map_err(|it| it.to_string());
    }
    let diff = similar::TextDiff::from_lines(&expected, &actual);
    Err(format!("{}\n{}", golden.display(), diff.unified_diff()))
}

fn number(line: &str, word: &str, other: u64) -> u64 {
    let said = line.split(' ').find_map(|it| it.strip_prefix(word)?.strip_prefix('='));
    said.and_then(|it| it.parse().ok()).unwrap_or(other)
}

fn done(module: &kernel::Module, line: &str) -> String {
    let size = (number(line, "groups", 2), number(line, "threads", 4));
    match line.split(' ').next().unwrap_or_default() {
        "verify" => faults(verify(module)),
        "verify-spmd" => faults(verify_spmd(module)),
        "interpret" => values(module, Form::Outlined, size),
        "interpret-spmd" => values(module, Form::Spmd, size),
        said @ ("same" | "deep") => {
            let deep = said == "deep";
            let (first, told) = same(module, size, deep);
            let mut told =
                if told.is_empty() { "the same after all passes\n".to_owned() } else { told };
            let alone = same(module, (size.0, 1), deep).1;
            if !alone.is_empty() {
                told.push_str(&format!("by groups of one thread:\n{alone}"));
            }
            // A kernel that is no pipeline is refused, not changed.
            let pipelined = pipelined(module).1;
            if !pipelined.contains("refused: ") || pipelined.contains("breaks the law") {
                told.push_str(&pipelined);
            }
            format!("{first}{told}")
        }
        "wide" => {
            let (first, told) = pipelined(module);
            let told = if told.is_empty() { "the same after all passes\n" } else { &told };
            format!("{first}{told}{}", chosen_wide(module))
        }
        "pipelined" => {
            let (first, told) = pipelined(module);
            let told = if told.is_empty() { "the same after all passes\n" } else { &told };
            format!("{first}{told}")
        }
        said @ ("notes" | "deep-notes") => notes(module, size.1, said == "deep-notes"),
        "chosen" => chosen(module),
        "cores" => {
            let (told, chosen) = same_for_cores(module, size);
            let told =
                if told.is_empty() { "the same after all passes for cores\n" } else { &told };
            format!("{chosen}{told}")
        }
        other => format!("`{other}` is not known"),
    }
}

/// What passes have chosen for each kernel.
fn notes(module: &kernel::Module, threads: u64, deep: bool) -> String {
    let made = match after_all(module, threads, deep) {
        Ok(made) => made,
        Err(refused) => return refused,
    };
    let told = |it: &kernel::Kernel| match it.launch.notes.as_slice() {
        [] => "nothing chosen\n".to_owned(),
        notes => format!("{}\n", notes.join("; ")),
    };
    made.kernels.iter().map(told).collect()
}
