//! Programs of `tests/run`, each on each device, and each a test of its own: right with its directives on every device
//! or refused there by name, and wrong without them.
//!
//! `host::NAME` builds a program as it stands, which must exit with 0 on the devices that every machine has, and with
//! directives switched off, where it must not - so that none can pass because nobody looked at them. One whose first
//! line says `syntax only` is about what is accepted, and is built once; one that says `also on LIST.` runs with those
//! devices too.
//!
//! Each of them also compares what `ferry explain --device` says of every region with what `ferry cc` does.
//!
//! `opencl::NAME`, `opencl_12::NAME`, `fpga_intel::NAME`, `fpga_rtl::NAME` and `riscv::NAME`: `tests/run/opencl.txt` names those that do not run on OpenCL
//! devices, and why, `opencl_12.txt` those that need more than version 1.2, `fpga_rtl.txt` the same for simulated hardware, `riscv.txt` for the simulated cluster, `remote.txt` for other machines (`aarch64::NAME`, some as `riscv64::NAME`
//! and `ppc64le::NAME`); a program that is not in it must be right. Needs a driver (PoCL serves every processor), the cluster's tools, or GCC for
//! those machines and qemu; without them the test says so and ends.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

#[path = "support/agreement.rs"]
mod agreement;
#[path = "support/cluster.rs"]
mod cluster;
#[path = "support/machines.rs"]
mod machines;
#[path = "support/pieces.rs"]
mod pieces;
#[path = "support/programs.rs"]
mod programs;
mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use agreement::explained;
use cluster::has_tools;
use libtest_mimic::{Arguments, Failed, Trial};
use machines::has_arm;
use pieces::line_of;
use programs::{listed, programs};
use support::{ferry, told};

/// Devices that need nothing but the machine itself.
const DEVICES: [&str; 2] = ["cpu", "cpu:separate"];

/// A device that not every machine has, and what is said of programs that do not run there.
struct Elsewhere {
    /// What its tests are called.
    name: &'static str,
    device: &'static str,
    list: &'static str,
    /// What every refusal of a program says.
    refusal: &'static str,
    /// Every program is run there, or every second, and so on.
    every: usize,
    /// What the driver is told by the environment.
    settings: &'static [(&'static str, &'static str)],
    /// Whether the machine has it, which is said where it has not.
    is_there: fn() -> bool,
}

/// What does not run with version 1.2 of OpenCL.
const OPENCL_12: &str = concat!(
    include_str!("../../../tests/run/opencl.txt"),
    include_str!("../../../tests/run/opencl_12.txt")
);

/// PoCL's compiler optimises kernels for `opencl` only: that is most of the time these tests take, and without it a fault that
/// optimisation hides is seen.
const AS_WRITTEN: &[(&str, &str)] = &[("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable")];

const ELSEWHERE: [Elsewhere; 9] = [
    Elsewhere {
        name: "opencl",
        device: "opencl",
        list: include_str!("../../../tests/run/opencl.txt"),
        refusal: "[F0710]",
        every: 1,
        settings: &[],
        is_there: has_driver,
    },
    // What runs there runs with nothing that came after version 1.2, too.
    Elsewhere {
        name: "opencl_12",
        device: "opencl:1.2",
        list: OPENCL_12,
        refusal: "[F0710]",
        every: 1,
        settings: AS_WRITTEN,
        is_there: has_driver,
    },
    // Regions as pipelines of an FPGA, which the driver emulates: the passes are the same for all vendors.
    Elsewhere {
        name: "fpga_intel",
        device: "fpga-intel",
        list: OPENCL_12,
        refusal: "[F0710]",
        every: 2,
        settings: AS_WRITTEN,
        is_there: has_driver,
    },
    Elsewhere {
        name: "fpga_xilinx",
        device: "fpga-xilinx",
        list: OPENCL_12,
        refusal: "[F0710]",
        every: 12,
        settings: AS_WRITTEN,
        is_there: has_driver,
    },
    Elsewhere {
        name: "fpga_rtl",
        device: "fpga-rtl",
        list: include_str!("../../../tests/run/fpga_rtl.txt"),
        refusal: "[F0737]",
        every: 1,
        settings: &[],
        is_there: || true,
    },
    Elsewhere {
        name: "riscv",
        device: "riscv",
        list: include_str!("../../../tests/run/riscv.txt"),
        refusal: "error",
        every: 1,
        settings: &[],
        is_there: has_tools,
    },
    Elsewhere {
        name: "aarch64",
        device: "remote:aarch64",
        list: include_str!("../../../tests/run/remote.txt"),
        refusal: "error",
        every: 1,
        settings: &[],
        is_there: has_arm,
    },
    // The same text and the same server, by other compilers.
    Elsewhere {
        name: "riscv64",
        device: "remote:riscv64",
        list: include_str!("../../../tests/run/remote.txt"),
        refusal: "error",
        every: 8,
        settings: &[],
        is_there: || {
            let packages = "gcc-riscv64-linux-gnu, libc6-dev-riscv64-cross, qemu-user";
            machines::has(&["riscv64-linux-gnu-gcc", "qemu-riscv64"], packages)
        },
    },
    Elsewhere {
        name: "ppc64le",
        device: "remote:ppc64le",
        list: include_str!("../../../tests/run/remote.txt"),
        refusal: "error",
        every: 12,
        settings: &[],
        is_there: || {
            let packages = "gcc-powerpc64le-linux-gnu, libc6-dev-ppc64el-cross, qemu-user";
            machines::has(&["powerpc64le-linux-gnu-gcc", "qemu-ppc64le"], packages)
        },
    },
];

/// What the lists say of programs that compile and are not right there.
const WRONG: [&str; 2] = ["it counts threads", "it takes long"];

/// What they say of one that is right or not, as the clock of a busy machine will have it.
const BY_CHANCE: &str = "it waits for the clock";

/// Programs that take passes long: `ferry explain` is asked what they become on the host only.
const SLOW: &[&str] = &["nests", "nests_grids"];

/// What they say of code that only a device's own compiler refuses, and its linker, which `ferry explain` does not ask.
const LATE: [&str; 4] = [
    "calls a function whose address is not of this program",
    "function clock: is not defined",
    "cannot compile this scope",
    "takes or gives a structure or a complex number by value",
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let programs = programs();
    let mut trials = Vec::new();
    for (number, (name, path)) in programs.iter().enumerate() {
        let source = path.clone();
        trials.push(Trial::test(format!("host::{name}"), move || checked(on_host(&source))));
        for elsewhere in ELSEWHERE.iter().filter(|it| number % it.every == it.every / 2) {
            let (path, excuse) = (path.clone(), listed(elsewhere.list).get(name.as_str()).copied());
            let test = format!("{}::{name}", elsewhere.name);
            trials.push(Trial::test(test, move || checked(there(elsewhere, &path, excuse))));
        }
    }
    trials.push(Trial::test("the_lists_name_programs", move || {
        let names = ELSEWHERE.iter().flat_map(|it| listed(it.list).into_keys());
        let stray = names.into_iter().find(|it| !programs.contains_key(*it));
        let none = programs.is_empty().then(|| "there are no programs".to_owned());
        checked(stray.map(|it| format!("`{it}` is not there")).or(none))
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn checked(wrong: Option<String>) -> Result<(), Failed> {
    wrong.map_or(Ok(()), |it| Err(it.into()))
}

fn has_driver() -> bool {
    let line = line_of("devices", "\"opencl\"");
    let is_there = line.contains("\"missing\":[]");
    if !is_there {
        eprintln!("skipped: no OpenCL driver is installed (Debian: pocl-opencl-icd)");
    }
    is_there
}

/// What is wrong with a program on devices of the machine itself; nothing if it is right.
fn on_host(program: &Path) -> Option<String> {
    let source = program.to_str()?;
    let text = fs::read_to_string(program).expect("a program");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let devices = DEVICES.join(",");
    let flags = [
        "cc",
        "--device",
        &devices,
        "-O1",
        "-Wall",
        "-Werror=unknown-pragmas",
        "--ferry-report=json",
        source,
        "-o",
        "with",
        "-lm",
    ];
    let built = ferry(&flags, folder.path());
    if !built.status.success() {
        return Some(format!("does not compile: {}", told(&built)));
    }
    if let Some(wrong) = explained(source, "cpu", "-O1", &built, folder.path()) {
        return Some(wrong);
    }
    let run = |name: &str, device: &str| {
        let mut command = Command::new(folder.path().join(name));
        command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("OMP_DYNAMIC", "false");
        command.env("FERRY_DEVICE", device);
        command.output().expect("the program runs")
    };
    let first = text.lines().next().unwrap_or_default();
    let more = first.split_once("also on ").and_then(|(_, it)| it.split_once('.')).map(|it| it.0);
    for device in DEVICES.into_iter().chain(more) {
        let with = run("with", device);
        if !with.status.success() {
            return Some(format!("is wrong on {device}: {}", told(&with)));
        }
    }
    if first.contains("syntax only") {
        return None;
    }
    // Calls of the API are still answered.
    let flags =
        ["cc", "-fno-openmp", "-fno-openacc", "-w", source, "-o", "without", "-Wl,-lgomp", "-lm"];
    let built = ferry(&flags, folder.path());
    if !built.status.success() {
        return Some(format!("does not compile without directives: {}", told(&built)));
    }
    run("without", "cpu").status.success().then(|| "is right without its directives too".to_owned())
}

/// What is wrong with a program on another device; nothing if it is right.
fn there(elsewhere: &Elsewhere, program: &Path, excuse: Option<&str>) -> Option<String> {
    if excuse == Some("it takes long") || !(elsewhere.is_there)() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let made = folder.path().join("program");
    let (source, made) = (program.to_str()?, made.to_str()?);
    let device = elsewhere.device;
    // Compilers of other machines hear of it, the others do not; that of the host has optimised the same for `host::NAME`.
    let level = if device.starts_with("remote") { "-O1" } else { "-O0" };
    let flags =
        ["cc", "--device", device, level, "-w", "--ferry-report=json", source, "-o", made, "-lm"];
    let built = ferry(&flags, folder.path());
    let is_slow = program.file_stem().is_some_and(|it| SLOW.iter().any(|slow| it == *slow));
    if !is_slow
        && !excuse.is_some_and(|it| LATE.contains(&it))
        && let Some(wrong) = explained(source, device, level, &built, folder.path())
    {
        return Some(wrong);
    }
    if !built.status.success() {
        let said = told(&built);
        return match excuse {
            Some(excuse) if said.contains(elsewhere.refusal) && said.contains(excuse) => None,
            _ => Some(format!("does not compile: {said}")),
        };
    }
    let mut command = Command::new(made);
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("OMP_DYNAMIC", "false");
    // Cores that wait for one another in a loop are told from those that work.
    command.env("FERRY_CYCLE_LIMIT", "20000000000").envs(elsewhere.settings.iter().copied());
    let ran = command.env("FERRY_DEVICE", device).output().expect("the program runs");
    match (ran.status.success(), excuse) {
        (true, None) | (_, Some(BY_CHANCE)) => None,
        (false, Some(excuse)) if WRONG.contains(&excuse) => None,
        (true, Some(excuse)) => Some(format!("runs, though the list says: {excuse}")),
        (false, _) => Some(format!("is wrong: {}", told(&ran))),
    }
}
