//! `programs`: makes random programs that know their own results, and runs them on devices. `USAGE` says how.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a command-line tool"
)]

use programs::check::Check;
use programs::run::{Outcome, Setting};
use programs::{file, generate};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const USAGE: &str = "\
usage: programs run [--ferry PATH] [--device LIST] [--count N] [--seed FIRST] [--family NAME,…] [--keep FOLDER]
                    [--per-file N] [--jobs N] [--limit SECONDS] [-- OPTIONS OF ferry cc]
       programs show SEED… [--family NAME,…]
       programs families

A program is one C function with a seed of its own; programs FIRST, FIRST + 1, … are run, --per-file of them in one file.
Devices are named as FERRY_DEVICE names them: cpu,cpu:separate,opencl,opencl:1.2,riscv,cuda; none runs all on the host.
Programs that fail are kept in FOLDER/DEVICE, each as a file that begins with how to repeat it.";

/// The words of the command line.
struct Options {
    words: Vec<String>,
    named: BTreeMap<String, String>,
    rest: Vec<String>,
}

impl Options {
    fn read() -> Result<Options, String> {
        let mut it = Options { words: Vec::new(), named: BTreeMap::new(), rest: Vec::new() };
        let known =
            ["ferry", "device", "count", "seed", "family", "keep", "per-file", "jobs", "limit"];
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            if word == "--" {
                it.rest = words.collect();
                break;
            }
            let Some(name) = word.strip_prefix("--") else {
                it.words.push(word);
                continue;
            };
            if !known.contains(&name) {
                return Err(format!("no option `{word}`"));
            }
            it.named.insert(name.into(), words.next().ok_or(format!("`{word}` needs a value"))?);
        }
        Ok(it)
    }

    fn text(&self, name: &str, default: &str) -> String {
        self.named.get(name).map_or(default, |it| it).to_string()
    }

    fn number(&self, name: &str, default: u64) -> Result<u64, String> {
        self.named.get(name).map_or(Ok(default), |it| {
            it.parse().map_err(|_| format!("--{name} `{it}` is no number"))
        })
    }

    fn families(&self) -> Result<Vec<String>, String> {
        let chosen: Vec<String> = self
            .named
            .get("family")
            .map_or(Vec::new(), |it| it.split(',').map(String::from).collect());
        match chosen.iter().find(|it| !programs::names().any(|name| name == **it)) {
            Some(it) => Err(format!("no family `{it}`; `programs families` lists them")),
            None => Ok(chosen),
        }
    }
}

fn main() -> ExitCode {
    let result = Options::read().map_err(Into::into).and_then(|it| command(&it));
    match result {
        Ok(code) => code,
        Err(why) => {
            eprintln!("programs: {why}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn command(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    match options.words.first().map(String::as_str) {
        Some("run") => run(options),
        Some("show") => {
            let only = options.families()?;
            let mut all = Vec::new();
            for it in &options.words[1..] {
                all.push(generate(it.parse().map_err(|_| format!("`{it}` is no seed"))?, &only));
            }
            print!("{}", file::text(&all.iter().collect::<Vec<_>>()));
            Ok(ExitCode::SUCCESS)
        }
        Some("families") => {
            programs::names().for_each(|it| println!("{it}"));
            Ok(ExitCode::SUCCESS)
        }
        _ => Err("what is to be done?".into()),
    }
}

/// Checks as files can hold them: no two that declare the same name.
fn files(checks: &[Check], most: usize) -> Vec<Vec<&Check>> {
    let mut all: Vec<Vec<&Check>> = Vec::new();
    for it in checks {
        let fits = |file: &Vec<&Check>| {
            file.len() < most
                && !file
                    .iter()
                    .any(|other| other.claims.iter().any(|name| it.claims.contains(name)))
        };
        match all.last_mut() {
            Some(last) if fits(last) => last.push(it),
            _ => all.push(vec![it]),
        }
    }
    all
}

fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    let only = options.families()?;
    let (first, count) = (options.number("seed", 1)?, options.number("count", 200)?);
    let checks: Vec<Check> = (first..first + count).map(|seed| generate(seed, &only)).collect();
    let files = files(&checks, options.number("per-file", 20)?.max(1) as usize);
    let keep = PathBuf::from(options.text("keep", "fuzz/artifacts/programs"));
    let family =
        if only.is_empty() { String::new() } else { format!(" --family {}", only.join(",")) };
    let mut failed = false;
    for device in options.text("device", "cpu,cpu:separate").split(',') {
        let folder = std::env::temp_dir().join(format!(
            "ferry-programs-{}-{}",
            std::process::id(),
            device.replace(':', "-")
        ));
        fs::create_dir_all(&folder)?;
        let setting = Setting {
            ferry: options.text("ferry", "target/debug/ferry").into(),
            device: device.into(),
            options: options.rest.clone(),
            folder: folder.clone(),
            limit: Duration::from_secs(options.number("limit", 60)?),
        };
        let found = all(&setting, &files, options.number("jobs", 1)?.max(1) as usize);
        fs::remove_dir_all(&folder)?;
        failed |= report(&setting, &found?, &keep.join(device.replace(':', "-")), &family)?;
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

type Found<'a> = Vec<(&'a Check, Outcome)>;

/// Runs all files, some at a time, and tells how far it is.
fn all<'a>(
    setting: &Setting,
    files: &[Vec<&'a Check>],
    jobs: usize,
) -> Result<Found<'a>, Box<dyn Error>> {
    let state = Mutex::new((0, Vec::new(), None::<std::io::Error>));
    let (start, terminal) = (Instant::now(), std::io::stderr().is_terminal());
    let total: usize = files.iter().map(Vec::len).sum();
    let work = || {
        loop {
            let Ok(mut it) = state.lock() else { return };
            let Some(file) = files.get(it.0).filter(|_| it.2.is_none()) else { return };
            it.0 += 1;
            drop(it);
            let result = setting.run(file);
            let Ok(mut it) = state.lock() else { return };
            match result {
                Ok(outcomes) => it.1.extend(file.iter().copied().zip(outcomes)),
                Err(why) => it.2 = Some(why),
            }
            let bad =
                it.1.iter()
                    .filter(|it| !matches!(it.1, Outcome::Right | Outcome::Refused(_)))
                    .count();
            let end = if terminal { '\r' } else { '\n' };
            eprint!(
                "{}: {} of {total} programs, {bad} failed, {:.0} s{end}",
                setting.device,
                it.1.len(),
                start.elapsed().as_secs_f64()
            );
            let _ = std::io::stderr().flush();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(work);
        }
    });
    if terminal {
        eprintln!();
    }
    let (_, mut found, why) = state.into_inner().map_err(|_| "a thread ended")?;
    if let Some(why) = why {
        return Err(format!("{}: {why}", setting.ferry.display()).into());
    }
    found.sort_by_key(|it: &(&Check, Outcome)| it.0.seed);
    Ok(found)
}

/// Prints what became of the programs, keeps those that failed; says whether any did.
fn report(
    setting: &Setting,
    found: &Found,
    keep: &std::path::Path,
    family: &str,
) -> Result<bool, Box<dyn Error>> {
    let device = &setting.device;
    let mut counts = [0_usize; 5];
    let mut table: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    for (check, outcome) in found {
        let (kind, what, why) = match outcome {
            Outcome::Right => (0, "", ""),
            Outcome::Wrong(why) => (1, "wrong", why.as_str()),
            Outcome::Ended(why) => (2, "ended", why.as_str()),
            Outcome::NotCompiled(why) => (3, "not compiled", why.as_str()),
            Outcome::Refused(why) => (4, "refused", why.as_str()),
        };
        counts[kind] += 1;
        table.entry(check.family).or_default()[kind] += 1;
        if kind == 0 {
            continue;
        }
        let first = why
            .lines()
            .find(|it| it.contains("error") || it.contains("right is"))
            .or(why.lines().next());
        println!(
            "{device}: seed {} ({}): {what}: {}",
            check.seed,
            check.family,
            first.unwrap_or("")
        );
        fs::create_dir_all(keep)?;
        let path = keep.join(format!("{}-{}.c", check.family, check.seed));
        let mut text = format!(
            "// ferry cc --device {} -w FILE -o x -lm && FERRY_DEVICE={device} ./x {}\n// programs run --device {device} --count 1 --seed {}{family}\n// {what}:\n",
            setting.target(),
            setting.memory(),
            check.seed
        );
        for line in why.lines().take(40) {
            text += &format!("//   {line}\n");
        }
        fs::write(path, text + &file::text(&[check]))?;
    }
    println!(
        "\n{device}: {} programs: {} right, {} wrong, {} ended early, {} not compiled, {} refused by name",
        found.len(),
        counts[0],
        counts[1],
        counts[2],
        counts[3],
        counts[4]
    );
    for (family, it) in &table {
        if it[1..].iter().any(|it| *it > 0) {
            println!(
                "  {family:20} {:5} right {:5} wrong {:5} ended {:5} not compiled {:5} refused",
                it[0], it[1], it[2], it[3], it[4]
            );
        }
    }
    Ok(counts[1..4].iter().any(|it| *it > 0))
}
