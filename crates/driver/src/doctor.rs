//! `ferry doctor`: what Ferry finds on this machine, and what a missing piece would add.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use cache::Cache;
use serde::Serialize;

use crate::cc::host::{self, Host};
use crate::cc::{amd, nvidia, remote, riscv, runtime};
use crate::input;
use crate::report::{self, Stream};

/// The field names are the JSON report's; they are stable.
#[derive(Serialize)]
struct Finding {
    piece: &'static str,
    /// Where it is, or its version; none if it is missing.
    found: Option<String>,
    /// What it is for.
    adds: &'static str,
    /// Whether every program needs it.
    required: bool,
    /// Which part of it is missing, and the remedy, where that is known.
    lacking: Option<String>,
}

pub(crate) fn run(json: bool) -> Result<ExitCode, String> {
    let findings = findings();
    let mut text = String::new();
    for finding in &findings {
        if json {
            // Strings under string keys: serialising them cannot fail.
            text.push_str(&serde_json::to_string(finding).unwrap_or_default());
            text.push('\n');
            continue;
        }
        let Finding { piece, found, adds, required, lacking } = finding;
        text.push_str(&match (found, required) {
            (Some(found), _) => format!("ok       {piece}: {found}\n"),
            (None, true) => format!("MISSING  {piece}: needed for {adds}\n"),
            (None, false) => format!("absent   {piece}: it would add {adds}\n"),
        });
        for line in lacking.iter().flat_map(|it| it.lines()) {
            text.push_str(&format!("         {}\n", line.trim()));
        }
    }
    if !json {
        text.push_str("memory\n");
        for line in memory::topology::Machine::here().draw().lines() {
            text.push_str(&format!("         {line}\n"));
        }
    }
    report::show(&text, Stream::Out)?;
    let is_lacking = findings.iter().any(|it| it.required && it.found.is_none());
    Ok(ExitCode::from(u8::from(is_lacking)))
}

fn findings() -> Vec<Finding> {
    let shown = |path: &Path| path.display().to_string();
    let library = |name: &str| runtime::find(name).map(|it| shown(&it));
    let compiler = Host::find(None, false).ok();
    let version = compiler.as_ref().and_then(version);
    let tool = |name: &str| {
        let path = host::on_path(
            &compiler.as_ref().map_or_else(|| OsString::from(name), |it| it.tool(name)),
        );
        path.map(|it| shown(&it))
    };
    let threads = format!("lib{}.so", directive::HOST_LIBRARY);
    let finding =
        |piece, found, adds, required| Finding { piece, found, adds, required, lacking: None };
    let optional = |piece, found: Result<String, String>, adds| {
        let (found, lacking) = match found {
            Ok(found) => (Some(found), None),
            Err(why) => (None, Some(why)),
        };
        Finding { piece, found, adds, required: false, lacking }
    };
    let machine = |name: &str| remote::Machine::read(name).and_then(|it| it.find());
    vec![
        finding("C compiler", version, "preprocessing and compiling", true),
        finding(
            "its threads library",
            compiler.as_ref().and_then(|it| it.file(&threads)),
            "parallel regions",
            true,
        ),
        finding(
            "Ferry's headers",
            input::own_headers().map(|it| shown(&it)),
            "the API of both standards",
            true,
        ),
        finding("libferry.so", library("libferry.so"), "running regions on devices", true),
        finding("libferry.a", library("libferry.a"), "`--ferry-static-runtime`", false),
        finding(
            runtime::SEPARATE_HELPER,
            library(runtime::SEPARATE_HELPER),
            "the device cpu:separate",
            false,
        ),
        finding(
            "objcopy",
            tool("objcopy"),
            "device code in object files (all devices but cpu)",
            false,
        ),
        optional(
            "NVRTC",
            nvidia::Compiler::find().map(|it| it.about()),
            "compiling for the device cuda; `pip install nvidia-cuda-nvrtc-cu12`",
        ),
        optional(
            "clang for AMD's GPUs",
            amd::Compiler::find().map(|it| it.about()),
            "compiling for the device hip; packages clang-19, lld-19 and rocm-device-libs, or ROCm",
        ),
        optional(
            "tools for the cluster",
            riscv::Tools::find().map(|it| it.about()),
            "compiling for the device riscv; packages clang-19, lld-19, llvm-19-dev, gcc-riscv64-unknown-elf, \
             picolibc-riscv64-unknown-elf",
        ),
        optional(
            "GCC for 64-bit ARM",
            machine("aarch64"),
            "the device remote:aarch64; packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user",
        ),
        optional(
            "GCC for 64-bit POWER",
            machine("ppc64le"),
            "the device remote:ppc64le; packages gcc-powerpc64le-linux-gnu, libc6-dev-ppc64el-cross, qemu-user",
        ),
        optional(
            "GCC for 64-bit RISC-V",
            machine("riscv64"),
            "the device remote:riscv64; packages gcc-riscv64-linux-gnu, libc6-dev-riscv64-cross, qemu-user",
        ),
        optional(
            "NEC's compiler",
            machine("ve"),
            "the device remote:ve, which nobody has tried; NEC's SDK",
        ),
        optional(
            "GCC for 64-bit x86",
            machine("x86_64"),
            "the device remote:x86_64, for programs that start on other machines; package gcc-x86-64-linux-gnu, or gcc",
        ),
        finding(
            "cache",
            Cache::of_user(true).folder().map(shown),
            "device builds that are kept; set FERRY_CACHE or HOME",
            false,
        ),
    ]
}

fn version(host: &Host) -> Option<String> {
    let text = String::from_utf8_lossy(host.version()).into_owned();
    let line = text.lines().next()?;
    Some(format!("{} ({line})", host.name()))
}
