//! The `ferry-narrow` command: files in, one file out.
//!
//! Exit status: 0, 1 for what cannot be compiled, 2 for wrong usage. The output is written whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use narrow::{Assign, Atomics, Emit, Hardware, Options, Stats};

/// Compiles programs of a 64-bit host for a 32-bit accelerator that shares its memory.
///
/// Inputs are LLVM 19's bitcode or text for riscv64, of all files of the program and its runtime, made by
///
///   clang-19 --target=riscv64-unknown-elf -march=rv64imafd -mabi=lp64d -fsigned-char -O2
///            -Xclang -disable-llvm-passes -ffreestanding -emit-llvm -c FILE.c
///
/// or for riscv32 (-march=rv32imaf -mabi=ilp32f), where all pointers have 32 bits already.
#[derive(Parser)]
#[command(name = "ferry-narrow", version, verbatim_doc_comment)]
struct Arguments {
    /// Files of LLVM's intermediate code (.bc, .ll)
    #[arg(required = true)]
    input: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// What to write
    #[arg(long, value_enum, default_value_t = Emit::Obj)]
    emit: Emit,
    /// How the cores reach addresses of 64 bits
    #[arg(long, value_enum, default_value_t = Hardware::Mapped)]
    hardware: Hardware,
    /// How words of the host's memory are changed (default: as --hardware does; lock with isa)
    #[arg(long, value_enum, value_name = "HOW")]
    atomics: Option<Atomics>,
    /// How it is found out which pointers are the accelerator's own
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Assign::Points)]
    assign: Assign,
    /// Leave every pointer generic, as if nothing were known of it: `--assign none`
    #[arg(long, conflicts_with = "assign")]
    no_assign: bool,
    /// Functions whose names begin so are kernels: `void kernel(void *const *slots)`
    #[arg(long, value_name = "PREFIX", default_value = "__ferry_k_")]
    kernels: Vec<String>,
    /// Instruction set of the cores
    #[arg(long, value_name = "ISA", default_value = "rv32imaf")]
    march: String,
    /// How much to optimise
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(0..=3))]
    level: u32,
    /// Stop the program (`ebreak`) where a pointer of the host is taken for one of the accelerator
    #[arg(long)]
    check: bool,
    /// Keep line tables (they are kept where the inputs have them)
    #[arg(short = 'g')]
    _debug: bool,
    /// Tell how many accesses are generic, and why
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, default_missing_value = "text",
          require_equals = true)]
    stats: Option<Form>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Json,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "ferry-narrow: {message}");
            ExitCode::from(1)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let mut inputs = Vec::new();
    for path in &arguments.input {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
        inputs.push((name, bytes));
    }
    let options = Options {
        level: arguments.level,
        hardware: arguments.hardware,
        atomics: arguments.atomics,
        assign: if arguments.no_assign { Assign::None } else { arguments.assign },
        kernels: arguments.kernels.clone(),
        march: arguments.march.clone(),
        emit: arguments.emit,
        check: arguments.check,
    };
    let (bytes, stats) = narrow::compile(&inputs, &options).map_err(|it| it.to_string())?;
    write_whole(&arguments.output, &bytes)?;
    report(arguments.stats, &stats)
}

/// Through a file beside it, so that nobody ever sees half of it.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let name = path.display();
    let fail = |error: std::io::Error| format!("{name}: {error}");
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let mut file =
        tempfile::NamedTempFile::new_in(folder.unwrap_or_else(|| Path::new("."))).map_err(fail)?;
    file.write_all(bytes).map_err(fail)?;
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(permissions).map_err(fail)?;
    file.persist(path).map(|_| ()).map_err(|error| fail(error.error))
}

fn report(form: Option<Form>, stats: &Stats) -> Result<(), String> {
    let text = match form {
        None => return Ok(()),
        Some(Form::Text) => stats.text(),
        Some(Form::Json) => {
            let json = serde_json::to_string_pretty(stats).map_err(|it| it.to_string())?;
            format!("{json}\n")
        }
    };
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| error.to_string())
}
