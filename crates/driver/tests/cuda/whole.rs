//! Programs of `tests/run` that run whole, with the driver of `driver.c` and a compiler that makes of their kernels code
//! for the host (`nvrtc.c`); what `ferry explain` tells of them is what `ferry cc` does.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use super::agreement::explained;
use super::{library, told};

/// Those whose kernels are made for CUDA alone, or whose groups wait for each other; few, as each takes some seconds.
pub(super) const PROGRAMS: &[&str] = &[
    "acc_kernels_rows",
    "crews_order",
    "crews_prefixes",
    "gang_memory",
    "grid_numbers",
    "groupprivate",
    "histograms",
    "levels_grid",
    "many_pieces",
    "mappers",
    "prefixes",
    "prefixes_tiles",
    "products",
    "reverse_offload",
    "reverse_offload_calls",
    "sums_of_parts",
    "target_indirect",
    "team_atomics",
];

/// What is wrong with a program that runs whole.
pub(super) fn runs(program: &Path) -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    fs::copy(library("cuda/driver.c"), path.join("libcuda.so.1")).expect("a copy");
    let built = Command::new(env!("CARGO_BIN_EXE_ferry"))
        .args(["cc", "--device", "cuda", "-O1", "-w", "--ferry-report=json", "-o", "program"])
        .arg(program)
        .arg("-lm")
        .env("FERRY_NVRTC", library("cuda/nvrtc.c"))
        .env("FERRY_CACHE", path.join("cache"))
        .env("ON_HOST", path)
        .current_dir(path)
        .output()
        .expect("ferry runs");
    if !built.status.success() {
        let logs = fs::read_dir(path).expect("the folder").flatten().map(|it| it.path());
        let logs = logs.filter(|it| it.extension().is_some_and(|it| it == "log"));
        let logs: String = logs.filter_map(|it| fs::read_to_string(it).ok()).collect();
        return Some(format!("{}{logs}", told(&built)));
    }
    if let Some(wrong) = explained(program.to_str()?, "cuda", "-O1", &built, path) {
        return Some(wrong);
    }
    let mut command = Command::new(path.join("program"));
    command.env("LD_LIBRARY_PATH", path).env("FERRY_DEVICE", "cuda").env("SMALL", "1");
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("OMP_DYNAMIC", "false");
    let ran = command.env_remove("FERRY_INFO").output().expect("the program runs");
    (!ran.status.success()).then(|| format!("{:?} {}", ran.status, told(&ran)))
}
