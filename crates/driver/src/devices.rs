//! `ferry devices`: what programs can run on here.

use std::collections::BTreeMap;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use abi::target::{Kind, Remote, TARGETS, Target};
use serde::Serialize;

use crate::cc::{amd, nvidia, remote, riscv, runtime};
use crate::report::{self, Stream};

/// The field names are the JSON report's; they are stable.
#[derive(Serialize)]
struct Device {
    /// For `--device` and FERRY_DEVICE.
    name: &'static str,
    about: String,
    /// What is missing; empty if it can be used.
    missing: Vec<&'static str>,
    /// Those that are here, by the names that their makers gave them.
    found: Vec<String>,
    /// Why there are none, or what keeps programs from being built for it, with the remedy.
    why: Option<String>,
}

pub(crate) fn run(json: bool) -> Result<ExitCode, String> {
    let mut text = String::new();
    let here = here();
    for Target { name, kind, .. } in &TARGETS {
        let device = device(name, *kind, &here);
        if json {
            // Strings under string keys: serialising them cannot fail.
            text.push_str(&serde_json::to_string(&device).unwrap_or_default());
            text.push('\n');
        } else {
            let state = match (device.missing.as_slice(), device.found.as_slice()) {
                ([], []) => "ready".to_owned(),
                ([], found) => format!("ready: {}", found.join(", ")),
                (missing, _) => format!("not found: {}", missing.join(", ")),
            };
            text.push_str(&format!("{name:<16}{}\n{:16}{state}\n", device.about, ""));
            for line in device.why.iter().flat_map(|it| it.lines()) {
                text.push_str(&format!("{:16}{}\n", "", line.trim()));
            }
        }
    }
    report::show(&text, Stream::Out)?;
    Ok(ExitCode::SUCCESS)
}

/// What stands for all that NVIDIA GPUs need to run programs.
const NVIDIA: &str = "the NVIDIA driver";

/// The same for AMD's.
const AMD: &str = "AMD's runtime (libamdhip64.so)";

/// What programs for the cluster are built with.
const CLUSTER: &str = "tools to compile for it";

/// What programs for other machines are built with and started by.
const OTHER: &str = "its compiler, or what starts programs there";

/// When regions of a device are waited for that works by itself.
const LEFT: &str = "waits for regions when results are read (FERRY_WAIT=always: at their end)";

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

/// What one kind of device answers: the names of those that are here, or why there are none.
type Here = BTreeMap<String, Result<Vec<String>, String>>;

/// Drivers that say nothing for so long are not waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// Asks drivers, in a process of its own: nothing of a kind that did not answer.
fn here() -> Here {
    let Some(helper) = runtime::find(runtime::SEPARATE_HELPER) else { return Here::new() };
    let mut command = Command::new(helper);
    command.arg("--found").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return Here::new() };
    let start = Instant::now();
    while child.try_wait().is_ok_and(|it| it.is_none()) {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let Ok(output) = child.wait_with_output() else { return Here::new() };
    let mut found = Here::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut parts = line.split('\t');
        let (Some(name), Some(state)) = (parts.next(), parts.next()) else { continue };
        let words: Vec<String> = parts.filter(|it| !it.is_empty()).map(str::to_owned).collect();
        let answer = if state == "yes" { Ok(words) } else { Err(words.join(" ")) };
        found.insert(name.to_owned(), answer);
    }
    found
}

fn device(name: &'static str, kind: Kind, here: &Here) -> Device {
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
        Kind::OpenCl => (
            format!("what OpenCL drivers offer, processors last; {LEFT}"),
            &["libferry.so", OPENCL],
        ),
        Kind::OpenCl12 => (
            "the same, with nothing that came after version 1.2".to_owned(),
            &["libferry.so", OPENCL],
        ),
        Kind::Fpga(_) => (kind.target().about.to_owned(), &["libferry.so", OPENCL]),
        Kind::Rtl => (kind.target().about.to_owned(), &["libferry.so"]),
        Kind::Cuda => (format!("NVIDIA GPUs; {LEFT}"), &["libferry.so", NVIDIA]),
        Kind::Hip => (format!("AMD's GPUs; {LEFT}"), &["libferry.so", AMD]),
        Kind::Riscv => {
            ("a simulated cluster of 32-bit RISC-V cores".to_owned(), &["libferry.so", CLUSTER])
        }
        Kind::RiscvShared => (
            "the same, whose cores reach the host's memory: nothing is copied".to_owned(),
            &["libferry.so", CLUSTER],
        ),
        Kind::Remote(Remote::Described) => (kind.target().about.to_owned(), &["libferry.so"]),
        Kind::Remote(_) => {
            (format!("{}, in a process of its own", kind.target().about), &["libferry.so", OTHER])
        }
    };
    let answer = here.get(name);
    let tools = needed.contains(&CLUSTER).then(|| riscv::Tools::find().map(|_| ()));
    let machine = kind.target().toolchain();
    let machine = machine.map(|it| remote::Machine::read(it).and_then(|it| it.find()).map(|_| ()));
    let tools = tools.or(machine);
    let is_there = |name: &str| match (name, answer) {
        (OPENCL | NVIDIA | AMD, Some(answer)) => answer.is_ok(),
        (OPENCL, None) => has_opencl(),
        (NVIDIA, None) => nvidia::has_driver(),
        (AMD, None) => amd::has_runtime(),
        (CLUSTER | OTHER, _) => tools.as_ref().is_some_and(Result::is_ok),
        (name, _) => runtime::find(name).is_some(),
    };
    let missing: Vec<&'static str> = needed.iter().copied().filter(|it| !is_there(it)).collect();
    let lacking = tools.and_then(Result::err);
    let refused = answer.and_then(|it| it.as_ref().err()).filter(|_| !missing.is_empty());
    let why = lacking.or_else(|| refused.cloned());
    let found = answer.and_then(|it| it.as_ref().ok()).cloned().unwrap_or_default();
    Device { name, about, missing, found, why }
}
