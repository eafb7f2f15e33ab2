//! Times ferry: the front end, what offloading and mappings cost, loops in regions, the simulated cluster, allocators.
//!
//! `bench [--quick] [--only PART] [--cases NAME,…] FERRY [CC]`, PART one of those in [`PARTS`], NAME a kernel or
//! nest of it. Whatever is compared runs turn about, so that a busy moment of the machine meets all; ratios are what
//! matters. Prints Markdown tables. Never a test: times are not verdicts.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

mod allocators;
mod cluster;
mod front;
mod layouts;
mod loops;
mod mapping;
mod measure;
mod nests;
mod overheads;
mod samples;
mod shapes;
mod sizes;
mod tasks;
mod texts;

use std::error::Error;
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: bench [--quick] [--only PART] [--cases NAME,…] FERRY [CC]";

type Part = fn(&Tools) -> Result<(), Box<dyn Error>>;

/// What can be timed by itself; without a choice all of it is.
const PARTS: [(&str, Part); 11] = [
    ("front", front::run),
    ("overheads", overheads::run),
    ("mapping", mapping::run),
    ("loops", loops::against_host),
    ("kernels", loops::against_each_other),
    ("sizes", sizes::run),
    ("nests", nests::run),
    ("mapping-quality", shapes::run),
    ("sim", cluster::run),
    ("allocators", allocators::run),
    ("tasks", tasks::run),
];

/// The programs that are compared.
struct Tools {
    ferry: String,
    cc: String,
    /// A compiler of the same offload interface; absent where it is not installed.
    clang: Option<String>,
    /// Only to see that it works.
    quick: bool,
    /// Kernels and nests to time; all if none is named.
    cases: Vec<String>,
}

impl Tools {
    /// Those of the kernels or nests of a part that are to be timed; an error for names that it does not have.
    fn chosen<'a, T>(
        &self,
        all: impl Iterator<Item = &'a T>,
        name: fn(&T) -> &str,
    ) -> Result<Vec<&'a T>, String> {
        let all: Vec<&T> = all.collect();
        if let Some(it) = self.cases.iter().find(|it| !all.iter().any(|one| name(one) == **it)) {
            let names: Vec<&str> = all.iter().map(|it| name(it)).collect();
            return Err(format!("no case `{it}` in this part; there are {}", names.join(", ")));
        }
        let is_wanted =
            |it: &&T| self.cases.is_empty() || self.cases.iter().any(|one| one == name(it));
        Ok(all.into_iter().filter(is_wanted).collect())
    }
}

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let quick = args.first().is_some_and(|it| it == "--quick");
    if quick {
        args.remove(0);
    }
    let (Ok(only), Ok(cases)) = (word(&mut args, "--only"), word(&mut args, "--cases")) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let cases: Vec<String> = cases.iter().flat_map(|it| it.split(',')).map(str::to_owned).collect();
    let is_chosen = |it: &&(&str, Part)| only.as_deref().is_none_or(|only| only == it.0);
    let parts: Vec<_> = PARTS.iter().filter(is_chosen).collect();
    if parts.is_empty() {
        let names: Vec<&str> = PARTS.iter().map(|it| it.0).collect();
        eprintln!("{USAGE}\nPART is one of {}", names.join(", "));
        return ExitCode::from(2);
    }
    let mut args = args.into_iter();
    let Some(ferry) = args.next() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let cc = args.next().or_else(|| std::env::var("CC").ok()).unwrap_or_else(|| "cc".to_owned());
    // Some of what is compiled lies in other folders.
    let ferry = std::fs::canonicalize(&ferry)
        .map_or(ferry, |it| it.into_os_string().to_string_lossy().into_owned());
    let tools = Tools { ferry, cc, clang: clang(), quick, cases };
    let done = parts.iter().try_for_each(|it| it.1(&tools));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(1)
        }
    }
}

/// The word behind an option, if that comes next.
fn word(args: &mut Vec<String>, option: &str) -> Result<Option<String>, ()> {
    if args.first().is_none_or(|it| it != option) {
        return Ok(None);
    }
    args.remove(0);
    if args.is_empty() { Err(()) } else { Ok(Some(args.remove(0))) }
}

/// `CLANG`, or the version whose offload interface is ours.
fn clang() -> Option<String> {
    let name = std::env::var("CLANG").unwrap_or_else(|_| "clang-19".to_owned());
    let found = Command::new(&name).arg("--version").output().is_ok_and(|it| it.status.success());
    found.then_some(name)
}

/// Runs a compiler; its messages are the user's to read.
fn compile(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{command:?} failed").into()),
    }
}
