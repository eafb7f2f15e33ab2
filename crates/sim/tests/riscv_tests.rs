//! The public tests of the instruction set, where a checkout of them is at hand.
//!
//! `RISCV_TESTS=…/riscv-tests cargo test -p sim --test riscv_tests` builds each with clang and runs it. Without the
//! variable, or without clang, it says so and does nothing.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{config, run_like_linux};
use sim::{Cluster, NoMemory};

/// Groups of tests, with the architecture they are built for.
const GROUPS: [(&str, &str, &str); 6] = [
    ("rv32ui", "rv32i_zicsr_zifencei", "ilp32"),
    ("rv32um", "rv32im_zicsr", "ilp32"),
    ("rv32ua", "rv32ima_zicsr", "ilp32"),
    ("rv32uf", "rv32imaf_zicsr", "ilp32f"),
    ("rv32ud", "rv32imafd_zicsr", "ilp32d"),
    ("rv32uc", "rv32imac_zicsr", "ilp32"),
];

/// What the tests expect of the system they run on.
const ENVIRONMENT: &str = r#"
#define RVTEST_RV32U
#define RVTEST_RV64U
#define RVTEST_RV32UF .macro init; csrwi fcsr, 0; .endm
#define RVTEST_RV64UF .macro init; csrwi fcsr, 0; .endm
#define TESTNUM gp
#define RVTEST_CODE_BEGIN .text; .globl _start; _start: li gp, 0
#define RVTEST_CODE_END unimp
#define RVTEST_PASS li a0, 0; li a7, 93; ecall
#define RVTEST_FAIL mv a0, gp; li a7, 93; ecall
#define RVTEST_DATA_BEGIN .align 4
#define RVTEST_DATA_END
"#;

fn build(
    suite: &Path,
    source: &Path,
    (march, mabi): (&str, &str),
    out: &Path,
) -> Result<(), String> {
    let folder = out.parent().unwrap();
    let mut clang = Command::new("clang-19");
    clang.args([
        "--target=riscv32-unknown-elf",
        "-nostdlib",
        "-static",
        "-fuse-ld=lld-19",
        "-mno-relax",
    ]);
    clang.arg(format!("-march={march}")).arg(format!("-mabi={mabi}"));
    clang.arg("-I").arg(folder).arg("-I").arg(suite.join("isa/macros/scalar"));
    // One segment, so that a program may write itself.
    clang.args(["-Wl,-N", "-Wl,-Ttext=0x1c000000"]).arg(source).arg("-o").arg(out);
    let output = clang.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).lines().take(2).collect()),
    }
}

/// The tests that the suite itself runs for a group: some files are for 64 bits only.
fn listed(folder: &Path) -> Vec<String> {
    let list = std::fs::read_to_string(folder.join("Makefrag")).unwrap().replace("\\\n", " ");
    let line = list.lines().find(|it| it.contains("_sc_tests ="));
    let names = line.and_then(|it| it.split('=').nth(1)).unwrap_or("");
    names.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_public_tests_of_the_instruction_set_pass() {
    let Some(suite) = std::env::var_os("RISCV_TESTS").map(PathBuf::from) else {
        println!("skipped: RISCV_TESTS does not name a checkout of riscv-tests");
        return;
    };
    if Command::new("clang-19").arg("--version").output().is_err() {
        println!("skipped: there is no clang-19 here");
        return;
    }
    let config = config(&[("count = 8", "count = 1"), ("\"f\",", "\"f\", \"d\",")]);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("riscv_test.h"), ENVIRONMENT).unwrap();
    let mut failures = Vec::new();
    let mut passed = 0;
    for (group, march, mabi) in GROUPS {
        let names = listed(&suite.join("isa").join(group));
        assert!(!names.is_empty(), "no tests in {group}");
        let before = passed;
        for test in &names {
            let name = format!("{group}/{test}");
            let source = suite.join("isa").join(group).join(format!("{test}.S"));
            let program = folder.path().join("program");
            if let Err(error) = build(&suite, &source, (march, mabi), &program) {
                failures.push(format!("{name}: not built: {error}"));
                continue;
            }
            let mut cluster = Cluster::new(&config);
            cluster.load(&std::fs::read(&program).unwrap()).unwrap();
            match run_like_linux(&mut cluster, &mut NoMemory) {
                Ok((_, 0)) => passed += 1,
                Ok((_, test)) => failures.push(format!("{name}: test {test} fails")),
                Err(error) => failures.push(format!("{name}: {error}")),
            }
        }
        println!("{group}: {} of {} pass", passed - before, names.len());
    }
    println!("{passed} pass");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
