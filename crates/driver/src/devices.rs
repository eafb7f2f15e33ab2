//! `ferry devices`: what programs can run on here.

use std::process::ExitCode;

use serde::Serialize;

use crate::cc::device::{KINDS, Kind};
use crate::cc::{amd, nvidia, runtime};
use crate::report::{self, Stream};

/// The field names are the JSON report's; they are stable.
#[derive(Serialize)]
struct Device {
    /// For `--device` and FERRY_DEVICE.
    name: &'static str,
    about: String,
    /// What is missing; empty if it can be used.
    missing: Vec<&'static str>,
}

pub(crate) fn run(json: bool) -> Result<ExitCode, String> {
    let mut text = String::new();
    for (name, kind) in KINDS {
        let device = device(name, *kind);
        if json {
            // Strings under string keys: serialising them cannot fail.
            text.push_str(&serde_json::to_string(&device).unwrap_or_default());
            text.push('\n');
        } else {
            let state = match device.missing.as_slice() {
                [] => "ready".to_owned(),
                missing => format!("not found: {}", missing.join(", ")),
            };
            text.push_str(&format!("{name:<14}{}\n{:14}{state}\n", device.about, ""));
        }
    }
    report::show(&text, Stream::Out)?;
    Ok(ExitCode::SUCCESS)
}

/// What stands for all that NVIDIA GPUs need to run programs.
const NVIDIA: &str = "the NVIDIA driver";

/// The same for AMD's.
const AMD: &str = "AMD's runtime (libamdhip64.so)";

/// What stands for all that OpenCL needs.
const OPENCL: &str = "an OpenCL driver";

/// Whether there is an OpenCL driver: the places where all of them leave a word.
fn has_opencl() -> bool {
    let folder =
        std::env::var_os("OCL_ICD_VENDORS").unwrap_or_else(|| "/etc/OpenCL/vendors".into());
    let names = std::fs::read_dir(folder);
    names.is_ok_and(|mut it| {
        it.any(|it| it.is_ok_and(|it| it.path().extension().is_some_and(|it| it == "icd")))
    })
}

fn device(name: &'static str, kind: Kind) -> Device {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (about, needed): (String, &[&'static str]) = match kind {
        Kind::Cpu => (
            format!("the processor, {cores} threads, shares memory with the host"),
            &["libferry.so"],
        ),
        Kind::CpuCopy => (
            format!("the processor, {cores} threads, works on copies of mapped data"),
            &["libferry.so"],
        ),
        Kind::CpuSeparate => (
            format!(
                "the processor, {cores} threads, memory of its own: what is not mapped is not there"
            ),
            &["libferry.so", runtime::SEPARATE_HELPER],
        ),
        Kind::OpenCl => {
            ("what OpenCL drivers offer, processors last".to_owned(), &["libferry.so", OPENCL])
        }
        Kind::OpenCl12 => (
            "the same, with nothing that came after version 1.2".to_owned(),
            &["libferry.so", OPENCL],
        ),
        Kind::Cuda => ("NVIDIA GPUs".to_owned(), &["libferry.so", NVIDIA]),
        Kind::Hip => ("AMD's GPUs".to_owned(), &["libferry.so", AMD]),
        Kind::Riscv => ("a simulated cluster of 32-bit RISC-V cores".to_owned(), &["libferry.so"]),
        Kind::RiscvShared => (
            "the same, whose cores reach the host's memory: nothing is copied".to_owned(),
            &["libferry.so"],
        ),
    };
    let is_there = |name: &str| match name {
        OPENCL => has_opencl(),
        NVIDIA => nvidia::has_driver(),
        AMD => amd::has_runtime(),
        name => runtime::find(name).is_some(),
    };
    let missing = needed.iter().copied().filter(|it| !is_there(it)).collect();
    Device { name, about, missing }
}
