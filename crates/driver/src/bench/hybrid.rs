//! `ferry bench hybrid`: what it gains that host workers and accelerator cores steal tasks from each other.
//!
//! Six programs (`hybrid.c`), built with tasks and without (serial elision), on the host alone, on emulated cores alone and on both.
//! Times are means of several runs with their 95 % interval (Student's t); every result is compared with that of the serial
//! program, bit by bit. The figures are those of the paper on HC-K2H.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::{cluster, hybrid_chart};
use crate::cc::riscv::Compiler;
use crate::options::BenchOptions;
use crate::progress::Progress;
use crate::report::{self, Stream, reason};

const TEXT: &str = include_str!("hybrid.c");
const PROGRAMS: [&str; 6] = ["nbody", "series", "matmul", "uts", "cholesky", "stencil"];

/// Runs of each program, if nobody says.
const RUNS: u32 = 6;

/// Quantiles of Student's t for 95 %, from one degree of freedom on.
const STUDENT: [f64; 12] =
    [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179];

/// Runs of one program in one way.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    times: Vec<f64>,
    /// Tasks of the host, steals, crossings, flushes of the host; of all runs.
    host_tasks: f64,
    steals: f64,
    crossings: f64,
    flushes: f64,
}

impl Sample {
    pub(super) fn mean(&self) -> f64 {
        self.times.iter().sum::<f64>() / self.times.len().max(1) as f64
    }

    /// Half of the 95 % interval.
    fn interval(&self) -> f64 {
        let (mean, number) = (self.mean(), self.times.len());
        let Some(freedom) = number.checked_sub(2) else { return 0.0 };
        let squares: f64 = self.times.iter().map(|it| (it - mean).powi(2)).sum();
        let student = STUDENT.get(freedom).copied().unwrap_or(1.96);
        student * (squares / (number as f64 - 1.0) / number as f64).sqrt()
    }
}

/// One line of a figure: a program, and a value for each number of workers.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: &'static str,
    /// Value, and half of its interval.
    pub(super) values: Vec<(f64, f64)>,
}

/// A figure.
pub(super) struct Figure {
    pub(super) title: String,
    pub(super) columns: Vec<String>,
    pub(super) lines: Vec<Line>,
}

pub(super) fn run(options: &BenchOptions) -> Result<ExitCode, String> {
    let folder = tempfile::Builder::new()
        .prefix("ferry-bench-")
        .tempdir()
        .map_err(|error| format!("cannot make a temporary folder: {}", reason(&error)))?;
    let bench = Bench { folder: folder.path(), options };
    bench.build("serial", &["-DFERRY_TASKS_SERIAL"])?;
    bench.build("tasks", &[])?;
    let mut figures = bench.figures()?;
    let simulated = match Compiler::find() {
        Ok(tools) => {
            figures.extend(cluster::figures(&tools, folder.path())?);
            String::new()
        }
        Err(why) => format!("\nno cycles of the simulated cluster: {why}\n"),
    };
    let mut table = format!(
        "{} host workers, {} emulated accelerator cores, {} processors; means of {} runs with 95 % intervals; speed-up against serial elision\n",
        options.host,
        options.cores,
        std::thread::available_parallelism().map_or(1, usize::from),
        options.runs.unwrap_or(RUNS)
    );
    for figure in &figures {
        table.push_str(&text(figure));
    }
    table.push_str(&simulated);
    report::show(&table, Stream::Out)?;
    if let Some(folder) = &options.output {
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text)
                .map_err(|error| format!("cannot write `{}`: {}", path.display(), reason(&error)))
        };
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make `{}`: {}", folder.display(), reason(&error)))?;
        write("hybrid.md", &table)?;
        write("hybrid.svg", &hybrid_chart::draw(&figures))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A figure as a table.
fn text(figure: &Figure) -> String {
    let mut text = format!("\n{}\n\n| |", figure.title);
    for column in &figure.columns {
        // Writing to a string cannot fail.
        let _ = write!(text, " {column} |");
    }
    let _ = writeln!(text, "\n|---|{}", "---:|".repeat(figure.columns.len()));
    for line in &figure.lines {
        let _ = write!(text, "| {} |", line.name);
        for (value, interval) in &line.values {
            let _ = match *interval > 0.0 {
                true => write!(text, " {value:.2} ± {interval:.2} |"),
                false => write!(text, " {value:.2} |"),
            };
        }
        text.push('\n');
    }
    text
}

struct Bench<'a> {
    folder: &'a Path,
    options: &'a BenchOptions,
}

/// Who runs the tasks.
#[derive(Clone, Copy, Debug)]
struct Workers {
    host: u32,
    cores: u32,
    /// All of it is begun on a core, and nothing crosses.
    is_alone: bool,
    is_fifo: bool,
}

impl Bench<'_> {
    fn build(&self, name: &str, words: &[&str]) -> Result<(), String> {
        let source = self.folder.join("hybrid.c");
        fs::write(&source, TEXT)
            .map_err(|error| format!("cannot write a program: {}", reason(&error)))?;
        let ferry =
            env::current_exe().map_err(|error| format!("cannot find ferry: {}", reason(&error)))?;
        let output = Command::new(ferry)
            .args(["cc", "-O3"])
            .args(words)
            .arg(&source)
            .arg("-o")
            .arg(self.folder.join(name))
            .arg("-lm")
            .output()
            .map_err(|error| format!("cannot run ferry: {}", reason(&error)))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// One run: nanoseconds, the result, and what was done.
    fn once(
        &self,
        build: &str,
        program: &str,
        workers: Workers,
    ) -> Result<(f64, String, [f64; 6]), String> {
        let mut command = Command::new(self.folder.join(build));
        command.args([
            program,
            &self.options.scale.to_string(),
            if workers.is_alone { "cores" } else { "host" },
        ]);
        command.env("FERRY_TASKS_HOST", workers.host.to_string());
        command.env("FERRY_TASKS_CORES", workers.cores.to_string());
        command.env("FERRY_TASKS_QUEUES", if workers.is_fifo { "fifo" } else { "lifo" });
        command.env("FERRY_TASKS_CROSS", if workers.is_alone { "never" } else { "gate" });
        let output = command
            .output()
            .map_err(|error| format!("cannot run a program: {}", reason(&error)))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut words = said.split_whitespace();
        let (time, sum) = (words.next().and_then(|it| it.parse().ok()), words.next());
        let (Some(time), Some(sum), true) = (time, sum, output.status.success()) else {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`{program}` with {workers:?} failed\n{said}{error}"));
        };
        let mut facts = [0.0; 6];
        for (to, word) in facts.iter_mut().zip(words) {
            *to = word.parse().unwrap_or(0.0);
        }
        Ok((time, sum.to_owned(), facts))
    }

    /// Several runs, whose results are those of the serial program.
    fn sample(
        &self,
        build: &str,
        program: &str,
        workers: Workers,
        expected: &str,
    ) -> Result<Sample, String> {
        let mut sample = Sample::default();
        for _ in 0..self.options.runs.unwrap_or(RUNS) {
            let (time, sum, [host_tasks, _, steals, crossings, flushes, _]) =
                self.once(build, program, workers)?;
            if sum != expected {
                return Err(format!(
                    "`{program}` with {workers:?} gives {sum}, the serial program {expected}"
                ));
            }
            sample.times.push(time);
            sample.host_tasks += host_tasks;
            sample.steals += steals;
            sample.crossings += crossings;
            sample.flushes += flushes;
        }
        Ok(sample)
    }

    fn figures(&self) -> Result<Vec<Figure>, String> {
        let (host, cores) = (self.options.host, self.options.cores);
        let alone = |cores, is_fifo| Workers { host: 1, cores, is_alone: true, is_fifo };
        let both = |workers: u32| Workers {
            host: workers.min(host),
            cores: workers.saturating_sub(host),
            is_alone: false,
            is_fifo: false,
        };
        let names = |range: std::ops::RangeInclusive<u32>| {
            range.map(|it| it.to_string()).collect::<Vec<_>>()
        };
        let mut queues = figure(
            "Figure 4: a deque on host workers, hardware queues on cores, as many of each",
            &[],
        );
        queues.columns = ["deque", "FIFO queues", "LIFO queues"].map(str::to_owned).to_vec();
        let mut six_a = figure("Figure 6a: cores alone", &names(1..=cores));
        let mut six_b =
            figure("Figure 6b: host workers, then cores as well", &names(1..=host + cores));
        let mut seven_a =
            figure("Figure 7a: steals across, per cent of all", &names(1..=host + cores));
        let mut seven_b = figure(
            "Figure 7b: flushes of the host for each of its tasks",
            &names(1..=host + cores),
        );
        let steps = 1 + 3 + cores + host + cores;
        let mut progress = Progress::new("measuring", PROGRAMS.len() * steps as usize);
        for name in PROGRAMS {
            let mut step = || progress.step(Path::new(name));
            step();
            let (_, expected, _) = self.once("serial", name, both(1))?;
            let serial = self.sample("serial", name, both(1), &expected)?;
            let speed = |it: &Sample| {
                let times = serial.mean() / it.mean();
                let error = (serial.interval() / serial.mean()).hypot(it.interval() / it.mean());
                (times, times * error)
            };
            let mut measured = |workers: Workers| {
                step();
                self.sample("tasks", name, workers, &expected)
            };
            let mut line = Line { name, values: Vec::new() };
            for workers in [both(host), alone(host, true), alone(host, false)] {
                line.values.push(speed(&measured(workers)?));
            }
            queues.lines.push(line);
            let mut line = Line { name, values: Vec::new() };
            for number in 1..=cores {
                line.values.push(speed(&measured(alone(number, false))?));
            }
            six_a.lines.push(line);
            let [mut b, mut across, mut flushes] =
                [(); 3].map(|()| Line { name, values: Vec::new() });
            for workers in 1..=host + cores {
                let it = measured(both(workers))?;
                b.values.push(speed(&it));
                across
                    .values
                    .push((100.0 * it.crossings / (it.crossings + it.steals).max(1.0), 0.0));
                flushes.values.push((it.flushes / it.host_tasks.max(1.0), 0.0));
            }
            six_b.lines.push(b);
            seven_a.lines.push(across);
            seven_b.lines.push(flushes);
        }
        progress.clear();
        Ok(vec![queues, six_a, six_b, seven_a, seven_b])
    }
}

fn figure(title: &str, columns: &[String]) -> Figure {
    Figure { title: title.to_owned(), columns: columns.to_vec(), lines: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        let sample = Sample { times: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], ..Sample::default() };
        // Standard deviation 1.8708, by the root of 6, by 2.571.
        assert!((sample.mean() - 3.5).abs() < 1e-9 && (sample.interval() - 1.9636).abs() < 1e-3);
        let one = Sample { times: vec![1.0], ..Sample::default() };
        assert!(one.interval().abs() < 1e-9);
    }
}
