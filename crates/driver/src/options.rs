//! The command line: what can be asked, and how it is told in `--help` and the manual pages.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use abi::target::{Code, TARGETS};
use clap::builder::{PossibleValue, TypedValueParser as _};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

use crate::designs::{Given, given};

const AFTER: &str = "\
Exit status: 0 if nothing is wrong, 1 if an error was found, 2 for a wrong command line,
4 for a bug of ferry's own.

Environment:
  CC        the compiler that preprocesses (default: cc); --cc comes first
  NO_COLOR  no colours, whatever the terminal can do";

const AFTER_CC: &str = "\
Exit status: that of the host compiler where it fails, else 0, or 1 if an error was found.

Environment:
  FERRY_CC      the host compiler (default: CC if that is not ferry, then cc)
  FERRY_CACHE   folder for device builds (default: ferry in XDG_CACHE_HOME or ~/.cache)
  FERRY_DEVICE  at run time: the devices of the program, a list as for --device
  FERRY_HIP_CLANG, FERRY_NVRTC  the compilers for AMD's and NVIDIA's GPUs
  FERRY_RISCV_CLANG  clang 19, for the simulated cluster (default: clang-19)
  NO_COLOR      no colours, whatever the terminal can do";

const AFTER_LLVM: &str = "\
Exit status: that of the compiler where it fails, else 0, or 1 if an error was found.

Environment:
  FERRY_LLVM    folder of LLVM 19 (default: what PATH has, then /usr/lib/llvm-19)
  FERRY_CC      the host compiler for C files (default: CC if that is not ferry, then cc)
  FERRY_DEVICE  at run time: the devices of the program, a list as for --device
  FERRY_NVRTC   NVIDIA's compiler, whose mathematics GPUs use
  NO_COLOR      no colours, whatever the terminal can do";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "ferry",
    version,
    about = "Carries C programs with OpenMP and OpenACC directives to every device",
    after_help = AFTER,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Options {
    /// The command line of this process; a wrong one ends it, with words about what is wrong.
    pub(crate) fn of_this_process() -> Options {
        Options::try_parse().unwrap_or_else(|error| with_tip(error).exit())
    }
}

/// What `ferry COMMAND --help` says.
pub(crate) fn help_of(command: &str) -> String {
    use clap::CommandFactory;
    let mut tree = Options::command();
    tree.build();
    tree.find_subcommand_mut(command)
        .map_or_else(String::new, |it| it.render_long_help().to_string())
}

/// Who writes `-fopenmp` here means a flag of the compiler, not five of ours.
fn with_tip(mut error: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let is_short = matches!(
        error.get(ContextKind::InvalidArg),
        Some(ContextValue::String(word)) if !word.starts_with("--")
    );
    if error.kind() == ErrorKind::UnknownArgument && is_short {
        let tips = [
            "flags of the C compiler come last, after `--`: ferry check a.c -- -fopenmp",
            "a file whose name begins with a dash is named from its folder: ./-a.c",
        ];
        let tips = tips.map(clap::builder::StyledStr::from).to_vec();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// What `ferry bench` is asked.
#[derive(Debug, Args)]
pub(crate) struct BenchOptions {
    /// What to measure
    pub(crate) what: Benched,
    /// Leave the table and figures in this folder, named after what is measured (.md, .svg)
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) output: Option<PathBuf>,
    /// Sizes of the kernels
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "8,16,32,64,128",
          value_parser = clap::value_parser!(u16).range(4..=128).map(usize::from))]
    pub(crate) sizes: Vec<usize>,
    /// The cluster: a preset (hero-rtl, hero-paper, keystone2-like) or a TOML file
    #[arg(long, value_name = "NAME", default_value = "hero-rtl")]
    pub(crate) cluster: String,
    /// Type of loop variables
    #[arg(long, value_enum, default_value_t = Index::Int)]
    pub(crate) index: Index,
    /// Places of the buffers in the scratchpad, a bank apart, over which cycles are averaged
    #[arg(long, value_name = "COUNT", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) places: u32,
    /// Host workers (hybrid)
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) host: u32,
    /// Emulated accelerator cores (hybrid)
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub(crate) cores: u32,
    /// Runs of each program (hybrid, 6 if not said), size (memkind, 50) or construct (other-isa, 1000)
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(2..=10000))]
    pub(crate) runs: Option<u32>,
    /// How much work the programs have (hybrid)
    #[arg(long, value_name = "NUMBER", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) scale: u32,
    /// MiB of data that are copied (other-isa)
    #[arg(long, value_name = "NUMBER", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=16384))]
    pub(crate) mib: u32,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Benched {
    /// What pointers of two sizes cost
    MixedDataModel,
    /// What memory costs that each thread uses in parallel regions
    Memkind,
    /// What it gains that host and accelerator steal tasks from each other
    Hybrid,
    /// What regions, data and kernels take on other machines
    OtherIsa,
    /// What applications take as pipelines of FPGAs: emulated, simulated and modelled
    Fpga,
}

/// Types of loop variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Index {
    /// 32 bits
    Int,
    /// 64 bits on the host
    Long,
    /// The same without a sign
    SizeT,
}

impl Index {
    /// As C spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Index::Int => "int",
            Index::Long => "long",
            Index::SizeT => "size_t",
        }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read programs and report what is wrong with them
    ///
    /// Nothing is written but the report. Warnings do not change the exit status.
    #[command(after_help = AFTER)]
    Check(CheckOptions),
    /// Tell what each directive does: loops, data, and why
    ///
    /// For each region: the constructs it is made of, the loops in it and whether their iterations
    /// are independent, with what stood in the way; who would run them on which device; the data that moves,
    /// with copies that make no difference and the clause that does without; the functions it
    /// reaches, and each variable with its attribute and the clause or rule it comes from.
    #[command(after_help = AFTER)]
    Explain(ExplainOptions),
    /// Print a program as it was understood
    ///
    /// As C, the text compiles to the same program; as typed form, names are resolved and all
    /// conversions are written out; with --after, the kernels of its regions after a pass.
    #[command(after_help = AFTER)]
    Print(PrintOptions),
    /// Say directives of one standard in the words of the other
    ///
    /// Only directives change, and what must change with them: headers and calls of the other runtime. What
    /// has no counterpart is refused by name, and its file stays as it is. The exit status is 1 if
    /// something was refused.
    #[command(after_help = AFTER)]
    Translate(TranslateOptions),
    /// Write a program as kernels of a vendor's language and plain C that calls its API
    ///
    /// In a folder: each file as it was written, with calls in the place of its regions; its kernels beside it,
    /// with words on where each loop went; and ferry_host.c with the functions that are called. Nothing of Ferry is
    /// needed to build or run that. What cannot be done without libferry is refused by name, and nothing is written.
    #[command(after_help = AFTER)]
    Emit(EmitOptions),
    /// Compile and link, with the command line of gcc
    ///
    /// All options of the host compiler are understood or passed on to it; those below are Ferry's own. Flags of other
    /// compilers that name devices, versions or mandatory offload mean that here too; the rest of them is accepted with a
    /// warning. Directives are read in C files; C++ and Fortran files that ask for a device are LLVM 19's to compile (see `ferry c++`).
    /// Both standards are on; -fno-openmp and -fno-openacc switch one off. As `CC="ferry cc"` in a
    /// Makefile or with configure, or as `ferrycc` where one word is wanted.
    #[command(after_help = AFTER_CC, override_usage = "ferry cc [OPTIONS OF THE C COMPILER] [OPTIONS] FILE...")]
    Cc(CcOptions),
    /// Compile and link C++, with clang 19 underneath
    ///
    /// The command line is clang++'s, and options below are those of `ferry cc`. Directives of OpenMP are compiled by clang 19 for
    /// cpu, cpu:separate and cuda; C files among the inputs by Ferry itself. Programs run on libferry: devices, messages,
    /// FERRY_INFO, FERRY_TRACE and policy are as for C. As `CXX="ferry c++"`, or `ferryc++` where one word is wanted.
    #[command(name = "c++", after_help = AFTER_LLVM, override_usage = "ferry c++ [OPTIONS OF CLANG++] [OPTIONS] FILE...")]
    Cplusplus(CcOptions),
    /// Compile and link Fortran, with flang 19 underneath
    ///
    /// As `ferry c++`, for Fortran files and flang 19. OpenACC is refused by name. As `FC="ferry fc"`, or `ferryfc` where one word
    /// is wanted.
    #[command(after_help = AFTER_LLVM, override_usage = "ferry fc [OPTIONS OF FLANG] [OPTIONS] FILE...")]
    Fc(CcOptions),
    /// Compile a program and run it
    ///
    /// Says of each region where it runs, then becomes the program: status and signals are its own.
    /// Options are those of `ferry cc`; what comes after `--` is for the program.
    #[command(after_help = AFTER_CC, override_usage = "ferry run [OPTIONS] FILE... [-- ARGUMENTS]")]
    Run(CcOptions),
    /// Measure something that Ferry claims, again, on this machine
    ///
    /// mixed-data-model: seven kernels on the simulated cluster, with pointers of 32 bits and with those of the host. Needs
    /// what the device riscv needs: clang 19 with its linker, and ferry-narrow.
    ///
    /// hybrid: six programs with tasks on host workers, on emulated accelerator cores and on both.
    #[command(after_help = AFTER)]
    Bench(BenchOptions),
    /// List the devices that programs can run on here
    #[command(after_help = AFTER)]
    Devices {
        /// Report as JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Tell what Ferry finds on this machine, and what a missing piece would add
    ///
    /// The exit status is 1 if something is missing that every program needs.
    #[command(after_help = AFTER)]
    Doctor {
        /// Report as JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Write the manual pages to a folder
    #[command(hide = true)]
    Man {
        /// Where
        #[arg(value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// Print a completion script for a shell
    #[command(hide = true)]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

/// The programs, and how they are preprocessed.
#[derive(Clone, Debug, Args)]
pub(crate) struct Input {
    /// C files; `-` is standard input; `.i` files are taken as already preprocessed
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// The compiler that preprocesses, with options if it needs any
    #[arg(long, value_name = "COMMAND")]
    pub(crate) cc: Option<String>,

    /// Add a folder to the include path
    #[arg(short = 'I', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) include: Vec<OsString>,

    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=TEXT]")]
    pub(crate) define: Vec<OsString>,

    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME")]
    pub(crate) undefine: Vec<OsString>,

    /// The C standard, as the compiler knows it: c11, gnu17, …
    #[arg(long, value_name = "NAME")]
    pub(crate) std: Option<String>,

    /// Sizes of C types: those of the host, or another machine's
    #[arg(long, value_enum, default_value_t = Model::Lp64)]
    pub(crate) model: Model,

    /// Further flags for the compiler's preprocessor
    #[arg(last = true, value_name = "CC FLAGS")]
    pub(crate) flags: Vec<OsString>,
}

impl Input {
    /// A report must not take the place of the program it is about.
    pub(crate) fn refuse_overwriting(&self, output: Option<&Path>) -> Result<(), String> {
        let Some(output) = output.and_then(|it| it.canonicalize().ok()) else { return Ok(()) };
        let is_output =
            |it: &&PathBuf| it.is_file() && it.canonicalize().is_ok_and(|it| it == output);
        match self.files.iter().find(is_output) {
            Some(file) => Err(format!("`{}` is read: `-o` cannot write to it", file.display())),
            None => Ok(()),
        }
    }
}

/// How a report is written.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Report as JSON, one object a line
    #[arg(long, group = "format")]
    pub(crate) json: bool,

    /// Report as a SARIF 2.1.0 log
    #[arg(long, group = "format")]
    pub(crate) sarif: bool,

    /// Write the report to a file, which appears only when whole; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Colours in the report
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub(crate) color: Colour,
}

#[derive(Debug, Args)]
pub(crate) struct CheckOptions {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Say nothing of warnings
    #[arg(short = 'w', long)]
    pub(crate) no_warnings: bool,
    /// Count warnings as errors
    #[arg(long)]
    pub(crate) werror: bool,
    /// Say how many files, regions and findings there were
    #[arg(short, long)]
    pub(crate) summary: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainOptions {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) output: Output,

    /// Write one page that needs nothing but itself: source, loops, data drawn
    ///
    /// Other reports are then written only if they are asked for.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Devices for which to tell who would run the loops: cpu, gpu, h200, …, or files of profiles such as mine.toml
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "cpu,gpu")]
    pub(crate) profile: Vec<String>,

    /// Tell of each region what `ferry cc --device` makes of it, for each of these devices, or why it refuses the file:
    /// cpu, opencl, cuda, riscv, …
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) device: Vec<String>,

    /// Tell too which arrays a cluster (device riscv) brings into its scratchpad, and what keeps others outside
    #[arg(long)]
    pub(crate) scratchpad: bool,

    /// Tell instead what regions are as pipelines of an FPGA: stratix-v, arria-10, stratix-10, alveo-u250, cyclone-v, ecp5, or
    /// a file of such tables, mine.toml:NAME
    #[arg(long, value_name = "DEVICE", num_args = 0..=1, require_equals = true,
          default_missing_value = "stratix-v", conflicts_with = "sarif")]
    pub(crate) fpga: Option<String>,

    /// Search which designs of the pipelines are worth it, within what the device of --fpga has
    #[arg(long, requires = "fpga", conflicts_with = "after")]
    pub(crate) search: bool,

    /// Stop after this pass of those that make pipelines: single, units, lanes, counters, window, partial
    #[arg(long, value_name = "PASS", requires = "fpga", value_parser = pipelined())]
    pub(crate) after: Option<String>,

    /// The value of a variable in the bounds of loops, for estimates of --fpga
    #[arg(long, value_name = "NAME=VALUE", requires = "fpga", value_parser = given)]
    pub(crate) given: Vec<(String, u64)>,

    /// How far to believe directives that say that iterations are independent
    #[arg(long, value_enum, default_value_t = Believed::Verify, value_name = "HOW")]
    pub(crate) trust: Believed,
}

#[derive(Debug, Args)]
pub(crate) struct PrintOptions {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Print the typed form instead of C
    #[arg(long, group = "form")]
    pub(crate) typed: bool,
    /// Print the kernels of its regions instead, after a pass and those before it; `outline` makes them
    #[arg(long, group = "form", value_name = "PASS", value_parser = passes())]
    pub(crate) after: Option<String>,
    /// The device whose kernels --after prints
    #[arg(long, value_enum, default_value_t = Grids::Cuda, requires = "after", value_name = "NAME")]
    pub(crate) device: Grids,
    /// Write to a file, which appears only when whole; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TranslateOptions {
    #[command(flatten)]
    pub(crate) input: Input,
    /// The standard to write: openmp or openacc
    #[arg(long, value_name = "STANDARD")]
    pub(crate) to: String,
    /// The compiler that will read the result: openmp-5.2, openmp-4.5, clang, gcc, nvc; openacc-3.3, gcc-acc, nvc-acc
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Map loops anew for a device: cpu, gpu, h200, …, or a file of profiles such as mine.toml
    #[arg(long, value_name = "DEVICE")]
    pub(crate) optimize: Option<String>,
    /// Keep who runs which loop in FILE; what is pinned there is honoured
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "optimize")]
    pub(crate) mapping: Option<PathBuf>,
    /// How far to believe directives that say that iterations are independent
    #[arg(long, value_enum, default_value_t = Believed::Verify, value_name = "HOW")]
    pub(crate) trust: Believed,
    /// What becomes of the old directives
    #[arg(long, value_enum, default_value_t = KeepOld::None, value_name = "HOW")]
    pub(crate) keep: KeepOld,
    /// Change the files themselves
    #[arg(long, group = "where")]
    pub(crate) in_place: bool,
    /// Show the changes as a patch, and write nothing
    #[arg(long, group = "where")]
    pub(crate) diff: bool,
    /// Write the files below a folder
    #[arg(long, group = "where", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out_dir: Option<PathBuf>,
    /// Write the one file to another, which appears only when whole; `-` is standard output
    #[arg(short, long, group = "where", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Translate what can be, though something is refused
    #[arg(long)]
    pub(crate) partial: bool,
    /// Do at once what would be queued
    #[arg(long)]
    pub(crate) no_queues: bool,
    /// Leave out branches of `#if` that the flags do not reach: directives in them are refused
    #[arg(long)]
    pub(crate) no_branches: bool,
    /// Read each file as a compilation database says: all its entries, with their flags
    #[arg(short = 'p', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) database: Option<PathBuf>,
    /// How the report is written (on standard error)
    #[arg(long, value_enum, default_value_t = ReportForm::Text, value_name = "FORM")]
    pub(crate) report: ReportForm,
    /// Write the report to a file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report_file: Option<PathBuf>,
    /// Tell of every directive and clause, not only of those that are not simply translated
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EmitOptions {
    #[command(flatten)]
    pub(crate) input: Input,
    /// The language of the kernels, and the API that the host's side calls
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) dialect: Dialect,
    /// The folder to write to, made if it is not there (default: the name of the dialect; standard output for kernel)
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out_dir: Option<PathBuf>,
    /// Make pipelines of regions, each run by one work-item, for an FPGA: see `ferry explain --help`
    #[arg(long, value_name = "DEVICE", num_args = 0..=1, require_equals = true,
          default_missing_value = "stratix-v")]
    pub(crate) fpga: Option<String>,
    /// Build the designs that a search finds best: see `ferry explain --fpga --search`
    #[arg(long)]
    pub(crate) search: bool,
    /// The value of a variable in the bounds of loops, for --search
    #[arg(long, value_name = "NAME=VALUE", requires = "search", value_parser = given)]
    pub(crate) given: Vec<(String, u64)>,
    /// How far to believe directives that say that iterations are independent
    #[arg(long, value_enum, default_value_t = Believed::Verify, value_name = "HOW")]
    pub(crate) trust: Believed,
}

impl EmitOptions {
    /// Values of variables in the bounds of loops, if designs are searched for.
    pub(crate) fn searched(&self) -> Option<Given> {
        self.search.then(|| self.given.iter().cloned().collect())
    }
}

/// The passes that make pipelines by their names, in their order.
fn pipelined() -> clap::builder::PossibleValuesParser {
    let names = opt::passes::pipeline::PIPELINED.iter().map(|it| it.name);
    names.collect::<Vec<&str>>().into()
}

/// The passes over kernels by their names, in their order.
fn passes() -> clap::builder::PossibleValuesParser {
    use opt::passes::pipeline::{PASSES, PIPELINED};
    let names = PASSES.iter().chain(PIPELINED).map(|it| it.name);
    ["outline"].into_iter().chain(names).collect::<Vec<&str>>().into()
}

/// Devices that are grids of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Grids {
    /// NVIDIA's GPUs
    Cuda,
    /// OpenCL 2.0
    Opencl,
    /// OpenCL 1.2
    #[value(name = "opencl:1.2")]
    Opencl12,
    /// AMD's GPUs
    Hip,
}

impl From<Grids> for emit::Grid {
    fn from(it: Grids) -> emit::Grid {
        match it {
            Grids::Cuda => emit::Grid::Cuda,
            Grids::Opencl => emit::Grid::OpenCl,
            Grids::Opencl12 => emit::Grid::OpenCl12,
            Grids::Hip => emit::Grid::Hip,
        }
    }
}

/// Languages of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// That of a grid of threads.
    Grid(emit::Grid),
    /// Hardware.
    Verilog,
    /// None: kernels are spelt as they are.
    Module(emit::dialect::Language),
}

impl ValueEnum for Dialect {
    fn value_variants<'a>() -> &'a [Dialect] {
        static ALL: LazyLock<Vec<Dialect>> = LazyLock::new(|| {
            let of = |it: &abi::target::Target| match it.code {
                Code::Grids(grids) => grids,
                Code::Host | Code::Image | Code::Cluster | Code::Hardware | Code::Server => &[],
            };
            let mut all: Vec<Dialect> = Vec::new();
            for it in TARGETS.iter().flat_map(of).map(|it| Dialect::Grid(*it)) {
                all.extend(Some(it).filter(|it| !all.contains(it)));
            }
            all.push(Dialect::Verilog);
            all.extend(emit::dialect::LANGUAGES.iter().map(|it| Dialect::Module(*it)));
            all
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        use emit::Grid;
        let (name, about) = match self {
            Dialect::Grid(grid) => {
                let about = match grid {
                    Grid::Cuda => "CUDA C++, and the driver API",
                    Grid::OpenCl => "OpenCL C, and OpenCL 2.0",
                    Grid::OpenCl12 => "OpenCL C 1.2, and what every version of OpenCL since has",
                    Grid::Hip => "HIP for AMD's GPUs, and its module API",
                    Grid::Fpga(_) => {
                        "Pipelines in OpenCL C 1.2, with the words of the FPGA's vendor"
                    }
                };
                (grid.name(), about)
            }
            Dialect::Verilog => (
                "verilog",
                "Pipelines of an FPGA as hardware, for simulation: a module for each region, and no host's side",
            ),
            Dialect::Module(language) => (language.name, language.about),
        };
        Some(PossibleValue::new(name).help(about))
    }
}

/// Forms of a report of what became of directives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportForm {
    /// A line for each thing to know
    Text,
    /// One object a line for each directive
    Json,
    /// A SARIF 2.1.0 log
    Sarif,
    /// A page
    Html,
}

/// What becomes of directives that have been translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepOld {
    /// They go
    None,
    /// They stay as comments
    Comment,
    /// They stay for compilers of their standard
    Guard,
}

/// For help and manual pages; the words themselves are read by [`crate::cc`], by gcc's rules.
#[derive(Debug, Args)]
pub(crate) struct CcOptions {
    /// Devices to compile for: cpu, cpu:copy, cpu:separate, opencl, opencl:1.2, cuda (all GPUs from sm_70 on),
    /// cuda:sm_90 (this one, and later ones by way of their drivers), hip (AMD's gfx90a), hip:gfx942, riscv (a simulated
    /// cluster), riscv:mine.toml, riscv:shared, remote:aarch64 (another machine, with its own compiler), remote:ppc64le,
    /// remote:riscv64, remote:ve, remote:x86_64, remote:mine.toml, or a list such as cpu,cuda,hip
    #[arg(long, value_name = "LIST", default_value = "cpu")]
    pub(crate) device: String,

    /// Say of each region where it runs: text (on standard error), json or sarif
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true)]
    pub(crate) ferry_report: Option<Option<String>>,

    /// Keep who runs which loop in FILE; what is pinned there is honoured
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) mapping: Option<PathBuf>,

    /// Choose who runs which loop by the numbers of this device: cpu, or a file of profiles such as mine.toml
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub(crate) ferry_profile: String,

    /// How far to believe directives that say that iterations are independent
    #[arg(long, value_enum, default_value_t = Believed::Verify, value_name = "HOW")]
    pub(crate) trust: Believed,

    /// Leave every generated file, in DIR or in the current folder
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    pub(crate) ferry_save_temps: Option<Option<PathBuf>>,

    /// The host compiler, with options if it needs any
    #[arg(long, value_name = "COMMAND")]
    pub(crate) ferry_cc: Option<OsString>,

    /// The machine that the program starts on, if another than this one: aarch64, riscv64, ppc64le, mine.toml
    #[arg(long, value_name = "MACHINE")]
    pub(crate) host: Option<String>,

    /// Link the runtime into the program instead of libferry.so with its path
    #[arg(long)]
    pub(crate) ferry_static_runtime: bool,

    /// Leave mapped arrays outside of the scratchpad of a cluster
    #[arg(long)]
    pub(crate) ferry_no_tiles: bool,

    /// Build the designs for FPGAs that a search finds best, with values of variables in the bounds of loops
    #[arg(long, value_name = "NAME=VALUE,…", num_args = 0..=1, require_equals = true)]
    pub(crate) ferry_search: Option<Option<String>>,

    /// Build device code anew, and do not keep it
    #[arg(long)]
    pub(crate) ferry_no_cache: bool,

    /// Sources, objects, archives, and options of the C compiler
    #[arg(value_name = "FILE", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<OsString>,
}

/// How far the user's word on independence is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Believed {
    /// Always
    Trust,
    /// Unless the contrary is certain
    #[default]
    Verify,
    /// Unless anything is found that speaks against it
    Strict,
}

impl From<Believed> for opt::marks::Trust {
    fn from(it: Believed) -> opt::marks::Trust {
        match it {
            Believed::Trust => opt::marks::Trust::Trust,
            Believed::Verify => opt::marks::Trust::Verify,
            Believed::Strict => opt::marks::Trust::Strict,
        }
    }
}

/// Data models by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Model {
    /// 64-bit Unix: long and pointers have 64 bits
    Lp64,
    /// 32-bit: long and pointers have 32 bits
    Ilp32,
    /// 64-bit Windows: long has 32 bits, pointers 64
    Llp64,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// If a terminal will show it
    Auto,
    /// In any case
    Always,
    /// In no case
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_tree_is_sound() {
        use clap::CommandFactory;
        Options::command().debug_assert();
    }

    #[test]
    fn flags_after_the_dashes_go_to_the_compiler() {
        let options = Options::parse_from(["ferry", "check", "a.c", "-Iinc", "--", "-std=c11"]);
        let Command::Check(check) = options.command else { panic!("{options:?}") };
        assert_eq!(check.input.files, [PathBuf::from("a.c")]);
        assert_eq!(check.input.include, ["inc"]);
        assert_eq!(check.input.flags, ["-std=c11"]);
    }
}
