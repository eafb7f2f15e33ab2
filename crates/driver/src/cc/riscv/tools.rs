//! What device code for the cluster is made with: clang 19, its linker, `ferry-narrow`, and libraries of 32-bit RISC-V.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::{host, runtime};
use crate::input;

/// What to say where one is missing.
const ABSENT: &str = "compiling for `riscv` needs clang 19 with its linker, and ferry-narrow";

/// The program that makes 32-bit code.
pub(crate) const NARROW: &str = "ferry-narrow";

/// Where picolibc, a C library for machines without a system, keeps its libraries.
const PICOLIBC: &str = "/usr/lib/picolibc/riscv64-unknown-elf/lib";

/// clang and its linker: what makes programs of C for such cores.
pub(crate) struct Compiler {
    clang: PathBuf,
    linker: PathBuf,
    version: String,
}

/// The tools.
pub(crate) struct Tools {
    compiler: Compiler,
    narrow: PathBuf,
}

/// A tool that failed.
pub(crate) struct Asked {
    /// What it was doing: `linking`.
    pub(super) doing: &'static str,
    /// Its words.
    pub(super) said: String,
    /// What it was given is not the user's.
    pub(super) is_ours: bool,
}

impl Asked {
    pub(super) fn ours(doing: &'static str, said: String) -> Asked {
        Asked { doing, said, is_ours: true }
    }

    pub(super) fn file(doing: &'static str, path: &Path, why: &str) -> Asked {
        let said = format!("`{}`: {why}", path.display());
        Asked { doing, said, is_ours: false }
    }

    /// In one text.
    pub(crate) fn into_text(self) -> String {
        format!("{} the device code failed: {}", self.doing, self.said)
    }
}

fn lacking(what: &str, help: &str) -> String {
    format!("{ABSENT}: {what} was not found\n  help: {help}")
}

impl Compiler {
    /// Both, or what is missing and what to do about it.
    pub(crate) fn find() -> Result<Compiler, String> {
        let named = env::var_os("FERRY_RISCV_CLANG").filter(|it| !it.is_empty());
        let what = named.as_ref().map_or_else(
            || "clang-19".to_owned(),
            |it| format!("`{}`, which FERRY_RISCV_CLANG names,", it.display()),
        );
        let clang = named.unwrap_or_else(|| "clang-19".into());
        let clang = host::on_path(&clang).ok_or_else(|| {
            lacking(&what, "install the packages clang-19 and lld-19, or set FERRY_RISCV_CLANG")
        })?;
        let asked = |word: &str| {
            let mut command = Command::new(&clang);
            command.arg(word).stdout(Stdio::piped()).stderr(Stdio::null());
            let told = input::fed(&mut command, None);
            told.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default()
        };
        let version = asked("--version").lines().next().unwrap_or_default().to_owned();
        let linker = asked("--print-prog-name=ld.lld");
        let linker = host::on_path(&OsString::from(linker.trim()))
            .or_else(|| host::on_path(OsStr::new("ld.lld-19")));
        let linker =
            linker.ok_or_else(|| lacking("its linker `ld.lld`", "install the package lld-19"))?;
        Ok(Compiler { clang, linker, version })
    }

    /// Compiles a text in this language; an error is what clang said.
    pub(crate) fn clang(
        &self,
        words: &[String],
        language: [&str; 2],
        text: &[u8],
        folder: &Path,
    ) -> Result<Vec<u8>, String> {
        let output = folder.join("compiled");
        let mut command = Command::new(&self.clang);
        command.args(words).args(language).args(["-", "-o"]).arg(&output);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let ran = input::fed(&mut command, Some(text)).map_err(|error| error.to_string())?;
        if !ran.status.success() {
            return Err(String::from_utf8_lossy(&ran.stderr).into_owned());
        }
        fs::read(&output).map_err(|error| error.to_string())
    }

    pub(crate) fn link(&self, words: &[OsString]) -> Result<(), Asked> {
        run(&self.linker, words, "linking")
    }
}

impl Tools {
    /// All of them, or what is missing and what to do about it.
    pub(crate) fn find() -> Result<Tools, String> {
        let compiler = Compiler::find()?;
        let narrow = runtime::find(NARROW).or_else(|| host::on_path(OsStr::new(NARROW)));
        let narrow = narrow.ok_or_else(|| {
            lacking(
                NARROW,
                "build it with `cargo build -p narrow`, which needs the package llvm-19-dev, and leave it beside ferry",
            )
        })?;
        Ok(Tools { compiler, narrow })
    }

    /// What tells them from others, for the cache and for reports.
    pub(crate) fn about(&self) -> String {
        let Tools { compiler: Compiler { clang, version, .. }, narrow } = self;
        // A new build of it may make other code.
        let changed = fs::metadata(narrow).and_then(|it| it.modified()).ok();
        let stamp = changed.and_then(|it| it.duration_since(std::time::UNIX_EPOCH).ok());
        let stamp = stamp.map_or(0, |it| it.as_nanos());
        format!("{version} ({}), {} ({stamp:x})", clang.display(), narrow.display())
    }

    /// Compiles a text in this language; an error is what clang said.
    pub(crate) fn clang(
        &self,
        words: &[String],
        language: [&str; 2],
        text: &[u8],
        folder: &Path,
    ) -> Result<Vec<u8>, String> {
        self.compiler.clang(words, language, text, folder)
    }

    pub(super) fn narrow(&self, words: &[OsString]) -> Result<(), Asked> {
        run(&self.narrow, words, "narrowing")
    }

    pub(super) fn link(&self, words: &[OsString]) -> Result<(), Asked> {
        self.compiler.link(words)
    }

    /// Libraries with functions that the compiler calls, and mathematics; those that are there.
    pub(super) fn libraries(&self, arch: &str, abi: &str) -> Vec<PathBuf> {
        // The libraries come for fewer kinds of cores than there are; atomics make no difference.
        let kind = arch.replacen("rv32ima", "rv32im", 1);
        let mut found = Vec::new();
        let folder = Path::new(PICOLIBC).join(&kind).join(abi);
        // Mathematics is in it too.
        found.push(folder.join("libc.a"));
        let mut command = Command::new("riscv64-unknown-elf-gcc");
        command.args([&format!("-march={kind}"), &format!("-mabi={abi}")]);
        command.arg("-print-libgcc-file-name").stdout(Stdio::piped()).stderr(Stdio::null());
        if let Ok(ran) = input::fed(&mut command, None) {
            found.push(PathBuf::from(String::from_utf8_lossy(&ran.stdout).trim()));
        }
        found.retain(|it| it.is_file());
        found
    }
}

fn run(program: &Path, words: &[OsString], doing: &'static str) -> Result<(), Asked> {
    let mut command = Command::new(program);
    command.args(words).stdout(Stdio::null()).stderr(Stdio::piped());
    match input::fed(&mut command, None) {
        Ok(ran) if ran.status.success() => Ok(()),
        Ok(ran) => {
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            Err(Asked { doing, said, is_ours: false })
        }
        Err(error) => Err(Asked { doing, said: error.to_string(), is_ours: false }),
    }
}
