//! `ferry bench`: [`hybrid`] has a file of its own; the rest is `mixed-data-model`: what it costs that host and accelerator have pointers of different size.
//!
//! Seven kernels run on the simulated cluster: as a program with pointers of 32 bits only, and as programs of the host's
//! data model, with and without proof of which pointers stay in the accelerator, for the three ways in which hardware makes
//! addresses of 64 bits. Cycles are counted by the kernels, from the first copy in to the last copy out, and are the mean
//! over places of the buffers in the scratchpad. Every result is compared with what plain Rust computes ([`known`]). Then
//! [`direct`]: loops over the host's memory beside the same by hand. `ferry bench memkind` is in [`memkind`], `other-isa` in [`other_isa`], `fpga` in
//! [`fpga`].

mod chart;
mod cluster;
mod direct;
mod fpga;
mod hybrid;
mod hybrid_chart;
mod known;
mod memkind;
mod other_isa;
mod other_isa_chart;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use sim::{Cluster, Config, PrivateMemory, Stop};

use crate::cc::riscv::program::{Machine, Model, Request, compile_words};
use crate::cc::riscv::{self, Tools};
use crate::options::{BenchOptions, Benched};
use crate::progress::Progress;
use crate::report::{self, Stream, reason};

/// The kernels.
const KERNELS: [&str; 7] = ["2mm", "3mm", "atax", "bicg", "conv2d", "covar", "gemm"];

const TEXT: &str = include_str!("kernels.c");

/// Stacks of the cores, so that three matrices of the largest size fit beside them.
const STACK: u32 = 0x1000;

/// What a program is compared with, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Build {
    name: &'static str,
    model: Model,
    assigns: bool,
    hardware: &'static str,
}

const BASELINE: Build =
    Build { name: "32 bits", model: Model::Cores, assigns: true, hardware: "mapped" };

/// With assignment, then without, for the three kinds of hardware.
const BUILDS: [Build; 6] = [
    Build { name: "mapped", model: Model::Host, assigns: true, hardware: "mapped" },
    Build { name: "csr", model: Model::Host, assigns: true, hardware: "csr" },
    Build { name: "isa", model: Model::Host, assigns: true, hardware: "isa" },
    Build { name: "mapped, none", model: Model::Host, assigns: false, hardware: "mapped" },
    Build { name: "csr, none", model: Model::Host, assigns: false, hardware: "csr" },
    Build { name: "isa, none", model: Model::Host, assigns: false, hardware: "isa" },
];

/// Mean cycles of a kernel: those of the baseline, and of each of [`BUILDS`] over them.
#[derive(Clone, Debug)]
struct Row {
    kernel: &'static str,
    size: usize,
    cycles: f64,
    ratios: Vec<f64>,
}

/// Runs the bench that was asked for.
pub(crate) fn run(options: &BenchOptions) -> Result<ExitCode, String> {
    match options.what {
        Benched::MixedDataModel => mixed_data_model(options),
        Benched::Memkind => memkind::run(options),
        Benched::Hybrid => hybrid::run(options),
        Benched::OtherIsa => other_isa::run(options),
        Benched::Fpga => fpga::run(options),
    }
}

fn mixed_data_model(options: &BenchOptions) -> Result<ExitCode, String> {
    let tools = Tools::find()?;
    let (config, description) = riscv::cluster(&options.cluster)?;
    let steps = 1 + BUILDS.len() + direct::BUILDS.len();
    let mut progress = Progress::new("measuring", options.sizes.len() * steps);
    let (mut rows, mut direct) = (Vec::new(), Vec::new());
    for size in options.sizes.iter().copied() {
        let bench =
            Bench { tools: &tools, config: &config, description: &description, options, size };
        let mut measure = |build: Build| {
            progress.step(Path::new(&format!("{} at size {size}", build.name)));
            bench.measure(build)
        };
        let baseline = measure(BASELINE)?;
        let builds = BUILDS.map(&mut measure).into_iter().collect::<Result<Vec<_>, _>>()?;
        for (index, kernel) in KERNELS.into_iter().enumerate() {
            let of = |cycles: &[f64]| cycles.get(index).copied().unwrap_or(f64::NAN);
            let cycles = of(&baseline);
            let ratios = builds.iter().map(|it| of(it) / cycles).collect();
            rows.push(Row { kernel, size, cycles, ratios });
        }
        direct.extend(direct::measure(&bench, &mut progress)?);
    }
    progress.clear();
    let table = format!("{}\n{}", table(&rows, options), direct::table(&direct));
    report::show(&table, Stream::Out)?;
    if let Some(folder) = &options.output {
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text)
                .map_err(|error| format!("cannot write `{}`: {}", path.display(), reason(&error)))
        };
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make `{}`: {}", folder.display(), reason(&error)))?;
        write("mixed-data-model.md", &table)?;
        write("mixed-data-model.svg", &chart::draw(&rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One size.
struct Bench<'a> {
    tools: &'a Tools,
    config: &'a Config,
    description: &'a str,
    options: &'a BenchOptions,
    size: usize,
}

impl Bench<'_> {
    /// Mean cycles of each kernel.
    fn measure(&self, build: Build) -> Result<Vec<f64>, String> {
        let index = format!("-DINDEX={}", self.options.index.name());
        let loaded = self.loaded(build, TEXT, &[index])?;
        let places = self.options.places;
        KERNELS
            .into_iter()
            .map(|kernel| {
                let mut sum = 0;
                for place in 0..places {
                    sum += self.once(&loaded, build, kernel, places_of(place))?;
                }
                Ok(sum as f64 / f64::from(places))
            })
            .collect()
    }

    /// A cluster with a program.
    fn loaded(&self, build: Build, text: &str, more: &[String]) -> Result<Cluster, String> {
        let image = self.image(build, text, more)?;
        let mut loaded = Cluster::new(self.config);
        loaded.load(&image).map_err(|error| error.to_string())?;
        Ok(loaded)
    }

    /// A program of this text, compiled with these words.
    fn image(&self, build: Build, text: &str, more: &[String]) -> Result<Vec<u8>, String> {
        let folder = tempfile::Builder::new()
            .prefix("ferry-bench-")
            .tempdir()
            .map_err(|error| format!("cannot make a temporary folder: {}", reason(&error)))?;
        let Build { model, assigns, hardware, .. } = build;
        let mut words = compile_words(model);
        words.extend(directive::generated_flags(&[]).iter().map(|it| (*it).to_owned()));
        words.push(format!("-DN={}", self.size));
        words.extend_from_slice(more);
        let compiled = self.tools.clang(&words, ["-x", "c"], text.as_bytes(), folder.path());
        let bitcode = compiled.map_err(|said| format!("clang refuses the kernels: {said}"))?;
        let best = Machine::of(self.config)?;
        let atomics = None;
        let machine = Machine { hardware, atomics, assigns, model, stack: Some(STACK), ..best };
        let (config, description) = (self.config, self.description);
        let request = Request { machine, config, description, bitcode: vec![&bitcode] };
        request.build(self.tools, folder.path()).map_err(|asked| asked.into_text())
    }

    /// One run: what the kernel counts.
    fn once(
        &self,
        loaded: &Cluster,
        build: Build,
        kernel: &str,
        places: u32,
    ) -> Result<u64, String> {
        let start = known::start(self.size);
        let (cycles, found) = self.run(loaded, build.model, kernel, &start, places)?;
        let expected = known::after(kernel, self.size, start).unwrap_or_default();
        for (which, (expected, found)) in expected.iter().zip(&found).enumerate() {
            for (index, (want, have)) in expected.iter().zip(found).enumerate() {
                if known::is_compared(kernel, self.size, which, index) && want != have {
                    return Err(format!(
                        "{kernel} at size {} ({}) is wrong: element {index} of matrix {which}",
                        self.size, build.name
                    ));
                }
            }
        }
        Ok(cycles)
    }

    /// Where a matrix lies.
    fn address(&self, model: Model, which: usize) -> u64 {
        let bytes = (self.size * self.size * 4).next_multiple_of(64) as u64 + 64;
        let base = match model {
            // Matrix 3 lies across a multiple of 4 GiB.
            Model::Host => 0x7f13_0000_0000 - 3 * bytes - bytes / 2 / 64 * 64,
            Model::Cores => 0x8000_0000,
        };
        base + which as u64 * bytes
    }

    /// Runs a kernel that finds these matrices, and the word in its last slot: what it counts, and the matrices after it.
    fn run(
        &self,
        loaded: &Cluster,
        model: Model,
        kernel: &str,
        start: &known::Matrices,
        last: u32,
    ) -> Result<(u64, known::Matrices), String> {
        let mut cluster = loaded.clone();
        let mut memory = PrivateMemory::new();
        let address = |which: usize| self.address(model, which);
        for (which, matrix) in start.iter().enumerate() {
            memory.map(address(which), matrix.iter().flat_map(|it| it.to_le_bytes()).collect());
        }
        let slots = (0..known::MATRICES).map(address).chain([u64::from(last)]);
        let slots: Vec<u8> = match model {
            Model::Host => slots.flat_map(u64::to_le_bytes).collect(),
            Model::Cores => slots.flat_map(|it| (it as u32).to_le_bytes()).collect(),
        };
        let symbol =
            |name: &str| loaded.symbol(name).ok_or_else(|| format!("the program has no `{name}`"));
        let function = symbol(&format!("__ferry_k_{kernel}"))?;
        let is_ready = cluster.write(symbol(abi::cluster::SLOTS)?, &slots)
            && cluster.write(symbol(abi::cluster::KERNEL)?, &function.to_le_bytes());
        if !is_ready {
            return Err("the program's variables are not in its memory".to_owned());
        }
        cluster.start(symbol(abi::cluster::START)?);
        match cluster.run(&mut memory, Some(10_000_000_000)) {
            Ok(Stop::Exited(_)) => {}
            Ok(other) => return Err(format!("{kernel} stopped: {other:?}")),
            Err(fault) => return Err(format!("{kernel} failed: {fault}")),
        }
        let left = |(which, matrix): (usize, &Vec<i32>)| {
            let found = memory.bytes(address(which), matrix.len() * 4).unwrap_or_default();
            let (words, _) = found.as_chunks::<4>();
            words.iter().map(|it| i32::from_le_bytes(*it)).collect()
        };
        let found = start.iter().enumerate().map(left).collect();
        let mut cycles = [0; 4];
        match cluster.read(symbol("ferry_bench_cycles")?, &mut cycles) {
            true => Ok((u64::from(u32::from_le_bytes(cycles)), found)),
            false => Err("no cycles".to_owned()),
        }
    }
}

/// By how many banks each of the buffers is moved, in four bits for each: how cores get in each other's way depends on where
/// buffers lie beside one another, and beside the stack. The first bank takes each of 16 places in turn, the others look random.
fn places_of(place: u32) -> u32 {
    let mixed = place.wrapping_mul(0x9e37_79b9) >> 20;
    mixed & 0xff0 | place & 15
}

/// Markdown.
fn table(rows: &[Row], options: &BenchOptions) -> String {
    let mut text = format!(
        "Cycles on cluster `{}`, loops over `{}`, mean over {} places of the buffers; 32 bits: pointers of 32 bits only. \
         Others: more than that in per cent with assignment, times that without.\n\n| kernel | size | 32 bits | mapped | csr \
         | isa | mapped, none | csr, none | isa, none |\n|---|---|---|---|---|---|---|---|---|\n",
        options.cluster,
        options.index.name(),
        options.places
    );
    let line = |text: &mut String, head: &str, ratios: &[f64]| {
        text.push_str(head);
        for (build, ratio) in BUILDS.iter().zip(ratios) {
            // Writing to a string cannot fail.
            let _ = match build.assigns {
                true => write!(text, " {:+.2} % |", (ratio - 1.0) * 100.0),
                false => write!(text, " {ratio:.2} |"),
            };
        }
        text.push('\n');
    };
    for Row { kernel, size, cycles, ratios } in rows {
        line(&mut text, &format!("| {kernel} | {size} | {cycles:.0} |"), ratios);
    }
    for size in &options.sizes {
        let of_size: Vec<&Row> = rows.iter().filter(|it| it.size == *size).collect();
        let mean = |index: usize| {
            let all = of_size.iter().filter_map(|it| it.ratios.get(index));
            all.sum::<f64>() / of_size.len() as f64
        };
        let means: Vec<f64> = (0..BUILDS.len()).map(mean).collect();
        line(&mut text, &format!("| mean | {size} | |"), &means);
    }
    text
}
