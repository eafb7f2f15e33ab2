//! Device code for the simulated cluster: from device text to bitcode, and from all bitcode of a program to its image.
//!
//! The text is the one that devices with memory of their own get. It is compiled as the host lays out data, with
//! pointers of 64 bits; `ferry-narrow` makes a program of 32 bits of it, together with the cluster's own runtime, whose
//! C lies in `runtime/`. What cluster that is for is decided at the link: a description ([`sim::Config`]), which the image
//! brings along.

mod doubts;
pub(crate) mod program;
mod tools;

use std::fs;
use std::path::Path;

use abi::cluster::TRIPLE;
use abi::image::ImageKind;
use cache::Key;
use sim::{Config, PRESETS};

use self::program::{Machine, Model, Request};
use self::tools::Asked;
pub(crate) use self::tools::{Compiler, Tools};
use super::bundle::Code;
use super::compile::Job;
use super::gpus::has_lines;
use super::image::Part;
use super::numbers::Numbers;
use super::toolchain::{Program, Texts, Toolchain};
use super::{Context, Failure};
use crate::report::reason;

/// The cluster that is meant where none is named.
pub(crate) const USUAL: &str = "hero-rtl";

/// clang, `ferry-narrow` and the cluster's own runtime.
pub(crate) struct Cluster;

impl Toolchain for Cluster {
    fn compile(
        &self,
        cx: &Context<'_>,
        job: &Job<'_>,
        texts: &Texts<'_>,
        numbers: &Numbers,
    ) -> Result<Vec<Code>, Failure> {
        let text = texts.device.filter(|_| cx.arguments.targets.has_cluster());
        let Some(text) = text else { return Ok(Vec::new()) };
        let text = texts.cluster.unwrap_or(text);
        cx.save(&job.input.path, "riscv.c", text)?;
        let code = bitcode(cx, &job.input.path, text, numbers)?;
        cx.save(&job.input.path, "riscv.bc", &code.bytes)?;
        Ok(vec![code])
    }

    fn owns(&self, code: &Code) -> bool {
        code.triple == TRIPLE && matches!(code.kind, ImageKind::Object | ImageKind::Bitcode)
    }

    fn link(
        &self,
        cx: &Context<'_>,
        parts: Vec<Part>,
        program: &Program<'_>,
    ) -> Result<Vec<Code>, Failure> {
        Ok(vec![link(cx, &parts, program.output)?])
    }
}

/// Compiles a device text to bitcode, in its container's terms.
fn bitcode(
    cx: &Context<'_>,
    source: &Path,
    text: &[u8],
    numbers: &Numbers,
) -> Result<Code, Failure> {
    let tools = Tools::find().map_err(|why| Failure::told(&why))?;
    let mut words = program::compile_words(Model::Host);
    words.extend(directive::generated_flags(&cx.arguments.off).iter().map(|it| (*it).to_owned()));
    // Results are those of the host, which rounds after each operation unless it is told otherwise.
    let is_fused = numbers.is_contraction_asked;
    words.push(format!("-ffp-contract={}", if is_fused { "fast" } else { "off" }));
    // The last word counts.
    let char = if numbers.char_signed { "-fsigned-char" } else { "-funsigned-char" };
    words.push(char.to_owned());
    words.extend(numbers.wraps.is_some().then(|| "-fwrapv".to_owned()));
    words.extend(numbers.aliases.is_some().then(|| "-fno-strict-aliasing".to_owned()));
    if has_lines(cx.arguments) {
        words.push("-gline-tables-only".to_owned());
    }
    let text = String::from_utf8_lossy(text);
    if let Some(what) = doubts::about(&text) {
        return Err(Failure::told(&format!(
            "`{}`: device code has {what}\n  help: compile for other devices (`--device cpu`)",
            source.display()
        )));
    }
    let text = directive::fit_for_clang(&text).into_bytes();
    let text = text.as_slice();
    let mut key = Key::new("riscv bitcode").with(tools.about().as_bytes());
    for word in &words {
        key = key.with(word.as_bytes());
    }
    let bytes = cx.cache.get(&key.with(text), || {
        let folder = cx.folder("riscv")?;
        let made = tools.clang(&words, ["-x", "cpp-output"], text, &folder);
        made.map_err(|said| refused(source, &said))
    })?;
    let arch = String::new();
    Ok(Code { kind: ImageKind::Bitcode, triple: TRIPLE.to_owned(), arch, bytes })
}

/// What is wrong with a device text for the cluster, in words for its user.
pub(super) fn doubts(text: &[u8]) -> Option<String> {
    doubts::about(&String::from_utf8_lossy(text))
}

/// A text of ours that clang does not take.
fn refused(source: &Path, said: &str) -> Failure {
    let words = format!(
        "{}{}\n  help: `--ferry-save-temps` leaves the text as a .device.c file; other devices \
         (`--device cpu`) are not concerned\n",
        super::error_line(&format!(
            "clang refuses the device code of `{}` for riscv",
            source.display()
        )),
        said.trim_end()
    );
    Failure { said: words.into_bytes(), status: 1 }
}

/// The description of a cluster: a preset's, or that in a file.
pub(crate) fn cluster(name: &str) -> Result<(Config, String), String> {
    let preset = PRESETS.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
    let text = match preset {
        Some(text) => text,
        None => fs::read_to_string(name).map_err(|error| {
            let names = PRESETS.map(|it| it.0).join("`, `");
            format!(
                "`riscv:{name}`: cannot read the cluster's description: {}\n  help: name a TOML file, or one of \
                 `{names}`",
                reason(&error)
            )
        })?,
    };
    let config = Config::from_toml(&text).map_err(|why| format!("`riscv:{name}`: {why}"))?;
    Ok((config, text))
}

/// The image of a program, if it has code for the cluster.
fn link(cx: &Context<'_>, parts: &[Part], output: &Path) -> Result<Code, Failure> {
    let tools = Tools::find().map_err(|why| Failure::told(&why))?;
    let name = cx.arguments.targets.cluster.as_deref().unwrap_or(USUAL);
    let (config, description) = cluster(name).map_err(|why| Failure::told(&why))?;
    let machine = Machine::of(&config).map_err(|why| Failure::told(&why))?;
    let mut key = Key::new("riscv image").with(tools.about().as_bytes());
    for text in [program::runtime().as_str(), program::START, &description] {
        key = key.with(text.as_bytes());
    }
    for part in parts {
        key = key.with(&part.code.bytes);
    }
    let image = cx.cache.get(&key, || {
        let folder = cx.folder("riscv")?;
        let bitcode: Vec<&[u8]> = parts.iter().map(|it| it.code.bytes.as_slice()).collect();
        let request = Request { machine, config: &config, description: &description, bitcode };
        request.build(&tools, &folder).map_err(|asked| said(&asked, parts, &folder))
    })?;
    cx.save(output, "riscv.elf", &image)?;
    let (triple, arch) = (TRIPLE.to_owned(), String::new());
    Ok(Code { kind: ImageKind::Object, triple, arch, bytes: image })
}

/// What a tool said, in the user's names, and what to do about functions that are missing.
fn said(asked: &Asked, parts: &[Part], folder: &Path) -> Failure {
    let mut text = asked.said.trim_end().to_owned();
    for (number, part) in parts.iter().enumerate() {
        let path = folder.join(program::bitcode_name(number)).display().to_string();
        text = text.replace(&path, &format!("device code of {}", part.name));
    }
    let mut missing: Vec<&str> = text
        .lines()
        .filter_map(|it| it.split_once("undefined symbol: "))
        .map(|it| it.1.trim())
        .collect();
    missing.sort_unstable();
    missing.dedup();
    if !missing.is_empty() {
        let names: Vec<String> = missing.iter().map(|it| format!("`{it}`")).collect();
        let files: Vec<&str> = parts.iter().map(|it| it.name.as_str()).collect();
        return Failure::told(&format!(
            "device code of {} uses {}, which the cluster does not have\n  help: define it in a file that is compiled \
             with `ferry cc` for the same `--device`, and declare it for devices; or compile for other devices \
             (`--device cpu`)",
            files.join(", "),
            names.join(", ")
        ));
    }
    let line = super::error_line(&format!("{} the device code for riscv failed", asked.doing));
    let (help, status) = match asked.is_ours {
        true => ("this is a bug of Ferry, please report it", 4),
        false => ("compile for other devices (`--device cpu`)", 1),
    };
    Failure { said: format!("{line}{text}\n  help: {help}\n").into_bytes(), status }
}
