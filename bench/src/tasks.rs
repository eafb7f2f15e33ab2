//! What a task and a scope cost by themselves: Fibonacci numbers with `ferry_tasks.h`, rayon, OpenMP's tasks (alone, and with
//! libferry in the program) and oneTBB.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::samples::{Samples, cell, ratio};
use crate::{Tools, compile};

const FILES: [(&str, &str); 4] = [
    ("fib.h", include_str!("../tasks/fib.h")),
    ("ferry.c", include_str!("../tasks/ferry.c")),
    ("gomp.c", include_str!("../tasks/gomp.c")),
    ("tbb.cpp", include_str!("../tasks/tbb.cpp")),
];
/// Name in the programs, and in words.
const ROWS: [(&str, &str); 5] = [
    ("ferry", "ferry, `async` in a scope"),
    ("rayon", "rayon, `join`"),
    ("gomp", "libgomp, `task` and `taskwait`"),
    ("gomp-ferry", "the same with libferry in the program"),
    ("tbb", "oneTBB, `task_group`"),
];
const ROUNDS: usize = 7;
const N: u32 = 27;
const TASKS: f64 = 317_810.0;

pub(crate) fn run(tools: &Tools) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text)?;
    }
    let at = |name: &str| folder.path().join(name);
    let build = |compiler: &str, words: &[&str], from: &str, to: &str| {
        let mut command = Command::new(compiler);
        compile(command.args(words).arg("-O2").arg(at(from)).arg("-o").arg(at(to)))
    };
    build(&tools.ferry, &["cc"], "ferry.c", "ferry")?;
    build(&tools.cc, &["-fopenmp", "-DNAME=\"gomp\""], "gomp.c", "gomp")?;
    build(&tools.ferry, &["cc", "-fopenmp", "-DNAME=\"gomp-ferry\""], "gomp.c", "gomp-ferry")?;
    let mut tbb = Command::new("c++");
    tbb.args(["-std=c++17", "-O2"]).arg(at("tbb.cpp")).arg("-o").arg(at("tbb")).arg("-ltbb");
    let has_tbb = tbb.output().is_ok_and(|it| it.status.success());
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in [1, all] {
        let samples = measure(folder.path(), threads, has_tbb)?;
        let ferry = samples.least("ferry");
        println!("| nanoseconds, {threads} workers | median | least | least / ferry's |");
        println!("|---|---:|---:|---:|");
        for (name, words) in ROWS {
            let (median, least) = (samples.median(name), samples.least(name));
            let times = cell(ratio(least, ferry), 2);
            println!("| {words} | {} | {} | {times} |", cell(median, 1), cell(least, 1));
        }
        println!();
    }
    Ok(())
}

fn measure(folder: &Path, threads: usize, has_tbb: bool) -> Result<Samples, Box<dyn Error>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut samples = Samples::default();
    let number = threads.to_string();
    for _ in 0..ROUNDS {
        for name in ["ferry", "gomp", "gomp-ferry", "tbb"] {
            if name != "tbb" || has_tbb {
                let mut command = Command::new(folder.join(name));
                for variable in ["FERRY_TASKS_HOST", "OMP_NUM_THREADS", "THREADS"] {
                    command.env(variable, &number);
                }
                samples.gather(&mut command)?;
            }
        }
        for _ in 0..5 {
            let begin = Instant::now();
            let result = pool.install(|| fib(N));
            let time = begin.elapsed().as_nanos() as f64 / TASKS;
            if result != 196_418 {
                return Err("rayon's result is wrong".into());
            }
            samples.add("rayon", time);
        }
    }
    Ok(samples)
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (x, y) = rayon::join(|| fib(n - 1), || fib(n - 2));
    x + y
}
