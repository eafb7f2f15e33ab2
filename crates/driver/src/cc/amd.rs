//! A compiler for AMD's GPUs: clang with its linker, ROCm's or another, and AMD's library of functions for
//! devices where it is installed.
//!
//! In: a text in HIP, options, an architecture. Out: a code object, which AMD's runtime loads, or what the
//! compiler said. Neither needs a GPU or that runtime. No header of AMD's is read: the texts bring what they
//! need, so that all compilers make the same of them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libloading::Library;

use super::host;
use crate::input;

/// The compiler.
pub(crate) struct Compiler {
    clang: PathBuf,
    /// Its linker.
    linker: PathBuf,
    /// As it says itself.
    version: String,
    /// The folder of AMD's library, if there is one.
    library: Option<PathBuf>,
}

/// What to say where there is none.
const ABSENT: &str = "compiling for `hip` needs clang (17 or newer) with its linker `ld.lld`, and none was found\n  \
                      help: install ROCm, or the packages clang-19 and lld-19 (no GPU is needed); or set \
                      FERRY_HIP_CLANG to a clang";

/// Compilers of the system, those first that the texts are tested with.
const NAMES: &[&str] = &["clang-19", "clang-20", "clang-21", "clang-18", "clang-17", "clang"];

/// Older ones do not know all that the texts use.
const OLDEST: u32 = 17;

/// What AMD's runtime may be called, as programs look for it.
const RUNTIMES: [&str; 4] =
    ["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"];

impl Compiler {
    /// The one that the environment names, or the first that is found.
    pub(crate) fn find() -> Result<Compiler, String> {
        if let Some(named) = named("FERRY_HIP_CLANG") {
            let found = host::on_path(named.as_os_str()).ok_or("it is not there".to_owned());
            let opened = found.and_then(Compiler::open);
            return opened.map_err(|why| format!("FERRY_HIP_CLANG: `{}`: {why}", named.display()));
        }
        let in_rocm =
            |it: PathBuf| ["llvm/bin/clang", "lib/llvm/bin/clang"].map(|tail| it.join(tail));
        let installed = rocm().into_iter().flat_map(in_rocm);
        let named = NAMES.iter().filter_map(|it| host::on_path(OsStr::new(it)));
        let mut lacking = None;
        for clang in installed.filter(|it| it.is_file()).chain(named) {
            match Compiler::open(clang.clone()) {
                Ok(compiler) => return Ok(compiler),
                Err(why) => lacking = lacking.or(Some(format!("`{}`: {why}", clang.display()))),
            }
        }
        let lacking = lacking.map_or_else(String::new, |it| format!("\n  note: {it}"));
        Err(format!("{ABSENT}{lacking}"))
    }

    fn open(clang: PathBuf) -> Result<Compiler, String> {
        let asked = |word: &str| {
            let mut command = Command::new(&clang);
            command.arg(word).stdout(Stdio::piped()).stderr(Stdio::null());
            let told = input::fed(&mut command, None);
            told.map(|it| String::from_utf8_lossy(&it.stdout).into_owned())
        };
        let told = asked("--version").map_err(|error| error.to_string())?;
        let version = told.lines().next().unwrap_or_default().to_owned();
        let number = version.split_once("clang version ").map(|it| it.1);
        let number = number.and_then(|it| it.split('.').next()?.parse::<u32>().ok());
        match number {
            Some(number) if number >= OLDEST => {}
            Some(number) => return Err(format!("clang {number} is too old: {OLDEST} is needed")),
            None => return Err("it does not say that it is clang".to_owned()),
        }
        let linker = asked("--print-prog-name=ld.lld").unwrap_or_default();
        let Some(linker) = host::on_path(&OsString::from(linker.trim())) else {
            let package = number.map_or_else(String::new, |it| format!("-{it}"));
            return Err(format!("it has no linker `ld.lld`; the package lld{package} has it"));
        };
        Ok(Compiler { clang, linker, version, library: library() })
    }

    /// What tells it from others, for the cache and for reports.
    pub(crate) fn about(&self) -> String {
        let library = match &self.library {
            Some(folder) => format!("AMD's device library in {}", folder.display()),
            None => "without AMD's device library (package rocm-device-libs)".to_owned(),
        };
        format!("{} ({}), {library}", self.version, self.clang.display())
    }

    /// The folder of AMD's library, if that has what a GPU needs.
    pub(crate) fn library_for(&self, arch: &str) -> Option<&Path> {
        let number = arch.strip_prefix("gfx")?;
        let folder = self.library.as_deref()?;
        folder.join(format!("oclc_isa_version_{number}.bc")).is_file().then_some(folder)
    }

    /// Compiles a text for a GPU, `gfx90a`. An error is what the compiler said.
    pub(crate) fn compile(
        &self,
        text: &[u8],
        options: &[String],
        arch: &str,
        scratch: &Path,
    ) -> Result<Vec<u8>, String> {
        let output = scratch.join("kernels");
        let mut command = Command::new(&self.clang);
        command.args(["-x", "hip", "--offload-device-only", "--no-gpu-bundle-output"]);
        command.arg(format!("--offload-arch={arch}")).args(["-nostdinc", "-nogpuinc"]);
        match self.library_for(arch) {
            Some(folder) => command.arg(format!("--rocm-device-lib-path={}", folder.display())),
            // What is missing is told by the linker.
            None => command.arg("-nogpulib"),
        };
        // Nothing in the product shall tell where it was made.
        command.args(["-fuse-cuid=none", "-fdebug-compilation-dir=."]).args(options);
        command.args(["-", "-o"]).arg(&output);
        made(command, Some(text), &output)
    }

    /// Links what was compiled to be linked, which is LLVM's own code still.
    pub(crate) fn link(
        &self,
        parts: &[&[u8]],
        arch: &str,
        scratch: &Path,
    ) -> Result<Vec<u8>, String> {
        let output = scratch.join("kernels");
        let mut command = Command::new(&self.linker);
        command.args(["-flavor", "gnu", "-m", "elf64_amdgpu", "--no-undefined", "-shared"]);
        command.args(["-plugin-opt=O3", "--lto-CGO3", "-plugin-opt=-amdgpu-internalize-symbols"]);
        let mut words = arch.split(':');
        command.arg(format!("-plugin-opt=mcpu={}", words.next().unwrap_or_default()));
        // `xnack-` is `-xnack` there.
        let settings: Vec<String> = words
            .filter_map(|it| {
                let (name, sign) = it.split_at_checked(it.len().checked_sub(1)?)?;
                Some(format!("{sign}{name}"))
            })
            .collect();
        if !settings.is_empty() {
            command.arg(format!("-plugin-opt=-mattr={}", settings.join(",")));
        }
        for (number, part) in parts.iter().enumerate() {
            let file = scratch.join(format!("{number}.bc"));
            fs::write(&file, part).map_err(|error| error.to_string())?;
            command.arg(file);
        }
        command.arg("-o").arg(&output);
        made(command, None, &output)
    }
}

/// What a command writes to a file, or what it says.
fn made(mut command: Command, text: Option<&[u8]>, output: &Path) -> Result<Vec<u8>, String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = input::fed(&mut command, text).map_err(|error| error.to_string())?;
    if !ran.status.success() {
        return Err(String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned());
    }
    fs::read(output).map_err(|error| error.to_string())
}

/// Whether programs can use GPUs here: AMD's runtime can be opened.
#[allow(unsafe_code, reason = "a library that is opened to see whether it is there")]
pub(crate) fn has_runtime() -> bool {
    // SAFETY: opening the library runs its initialisers, which every program that uses it does.
    RUNTIMES.iter().any(|it| unsafe { Library::new(*it) }.is_ok())
}

fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|it| !it.is_empty()).map(PathBuf::from)
}

/// Where ROCm may be.
fn rocm() -> Vec<PathBuf> {
    named("ROCM_PATH").into_iter().chain([PathBuf::from("/opt/rocm")]).collect()
}

/// Where AMD's library is: where the environment says, and nowhere else then.
fn library() -> Option<PathBuf> {
    let is_there = |it: &PathBuf| it.join("ocml.bc").is_file();
    if let Some(folder) = named("HIP_DEVICE_LIB_PATH") {
        return Some(folder).filter(is_there);
    }
    let system = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
    let roots =
        rocm().into_iter().chain([system, "/usr/lib".into(), "/usr".into()].map(PathBuf::from));
    roots.map(|it| it.join("amdgcn/bitcode")).find(is_there)
}
