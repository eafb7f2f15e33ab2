//! Random programs give the same registers, flags and memory here and on `qemu-riscv32`.
//!
//! A program fills all registers, runs instructions drawn at random and writes what it has into a pipe. The same file
//! runs on both sides. `PROPTEST_CASES=5000` draws more; without qemu it says so and does nothing.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use std::process::Command;

use common::asm::{self, Code, ECALL};
use common::{CODE, config, run_like_linux};
use proptest::prelude::*;
use proptest::test_runner::{Config as Runs, TestCaseError, TestRunner};
use sim::{Cluster, NoMemory};

const QEMU: &str = "qemu-riscv32";

/// Memory of a program, from its first instruction: what registers begin with, what they hold at the end, and a
/// piece that loads and stores go to.
const DATA: u32 = CODE + 0x4000;
const INITIAL: u32 = DATA;
const FINAL: u32 = DATA + 0x200;
const SCRATCH: u32 = DATA + 0x400;
const SCRATCH_BYTES: u32 = 0x100;
const END: u32 = SCRATCH + SCRATCH_BYTES;

/// Registers that random instructions leave alone: bases of data, and of atomic accesses.
const BASE: u32 = 3;
const WORD_BASE: u32 = 4;

/// Numbers of floating point that are worth meeting, in single precision.
const SINGLES: [u32; 16] = [
    0x0000_0000,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    0x0000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0x4f00_0000,
    0xcf00_0000,
    0x3f00_0000,
    0x4b7f_ffff,
];
const DOUBLES: [u64; 12] = [
    0,
    1 << 63,
    0x3ff0_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    1,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x3e70_0000_0000_0000,
];

/// What an instruction is made of; every value is one.
type Draw = (u32, u32, i32);

fn bits(word: u32, from: u32, count: u32) -> u32 {
    word >> from & ((1 << count) - 1)
}

/// An instruction: one or more words, or two short ones in a word.
fn instruction((what, registers, immediate): Draw, out: &mut Vec<u32>) {
    let free = |it: u32| if matches!(it, BASE | WORD_BASE) { 20 + it } else { it };
    let rd = free(bits(registers, 0, 5));
    let (rs1, rs2, rs3) = (bits(registers, 5, 5), bits(registers, 10, 5), bits(registers, 15, 5));
    let imm = immediate << 20 >> 20;
    let pick = bits(what, 8, 8);
    let rounding = [0, 1, 2, 3, 4, 7][pick as usize % 6];
    let format = bits(what, 16, 1);
    let offset = (immediate as u32 % (SCRATCH_BYTES - 16)) as i32;
    let word = match what % 16 {
        0 | 1 => {
            let kinds = [
                (0, 0),
                (0x20, 0),
                (0, 1),
                (0, 2),
                (0, 3),
                (0, 4),
                (0, 5),
                (0x20, 5),
                (0, 6),
                (0, 7),
            ];
            let (funct7, funct3) = kinds[pick as usize % 10];
            asm::r(0x33, funct7, funct3, rd, rs1, rs2)
        }
        2 => asm::r(0x33, 1, pick % 8, rd, rs1, rs2),
        3 => asm::i(0x13, [0, 2, 3, 4, 6, 7][pick as usize % 6], rd, rs1, imm),
        4 => asm::r(
            0x13,
            [0, 0, 0x20][pick as usize % 3],
            [1, 5, 5][pick as usize % 3],
            rd,
            rs1,
            rs2,
        ),
        5 => asm::load([0, 1, 2, 4, 5][pick as usize % 5], rd, BASE, offset),
        6 => asm::store(pick % 3, rs2, BASE, offset),
        7 => {
            let kinds = [0, 1, 4, 8, 12, 16, 20, 24, 28];
            asm::amo(kinds[pick as usize % 9], rd, WORD_BASE, rs2)
        }
        8 => {
            // Over an instruction, so that it can be seen who took it.
            out.push(asm::branch([0, 1, 4, 5, 6, 7][pick as usize % 6], rs1, rs2, 8));
            asm::addi(rd, rd, imm)
        }
        9 => match pick % 3 {
            0 => asm::lui(rd, immediate as u32),
            1 => immediate as u32 & 0xffff_f000 | rd << 7 | 0x17,
            _ => asm::jal(rd, 4),
        },
        10 => match pick % 4 {
            0 => asm::i(0x07, 2 + format, rs3, BASE, offset),
            1 => asm::s(0x27, 2 + format, BASE, rs3, offset),
            // Rounding mode and flags: read, set, clear.
            2 => asm::i(0x73, 1 + rs2 % 3, rd, 0, 1 + (rs1 % 3) as i32),
            _ => asm::i(0x73, 5, rd, rs1 % 5, 2),
        },
        11 => {
            let opcode = [0x43, 0x47, 0x4b, 0x4f][bits(what, 20, 2) as usize];
            rs3 << 27
                | format << 25
                | rs2 << 20
                | rs1 << 15
                | rounding << 12
                | bits(registers, 0, 5) << 7
                | opcode
        }
        12 | 13 => {
            let rd = bits(registers, 0, 5);
            match bits(what, 20, 4) {
                kind @ 0..=3 => asm::r(0x53, kind << 2 | format, rounding, rd, rs1, rs2),
                4 => asm::r(0x53, 0x0b << 2 | format, rounding, rd, rs1, 0),
                5 => asm::r(0x53, 0x04 << 2 | format, pick % 3, rd, rs1, rs2),
                6 => asm::r(0x53, 0x05 << 2 | format, pick % 2, rd, rs1, rs2),
                7 => asm::r(0x53, 0x08 << 2 | format, rounding, rd, rs1, 1 - format),
                8 => asm::r(0x53, 0x1a << 2 | format, rounding, rd, rs1, rs2 % 2),
                9 => asm::r(0x53, 0x1e << 2, 0, rd, rs1, 0),
                kind => asm::r(0x53, (kind & 3) << 2 | format, rounding, rd, rs1, rs2),
            }
        }
        14 => match bits(what, 20, 3) {
            0 | 1 => asm::r(0x53, 0x14 << 2 | format, pick % 3, rd, rs1, rs2),
            2 | 3 => asm::r(0x53, 0x18 << 2 | format, rounding, rd, rs1, rs2 % 2),
            4 => asm::r(0x53, 0x1c << 2 | format, 1, rd, rs1, 0),
            _ => asm::r(0x53, 0x1c << 2, 0, rd, rs1, 0),
        },
        _ => {
            let pair = [
                short(what >> 8, registers, immediate),
                short(what >> 16, registers >> 16, immediate >> 8),
            ];
            pair[0] | pair[1] << 16
        }
    };
    out.push(word);
}

/// An instruction of 16 bits: arithmetic, or one that reads or writes the stack's words.
fn short(what: u32, registers: u32, immediate: i32) -> u32 {
    let imm = immediate as u32;
    let near = bits(registers, 0, 3);
    let other = bits(registers, 3, 3);
    let (high, low) = (imm >> 5 & 1, imm & 31);
    match what % 9 {
        0 => 1 << 0 | low << 2 | (8 + near) << 7 | high << 12,
        1 => 1 | low << 2 | (8 + near) << 7 | high << 12 | 2 << 13,
        2 if low != 0 => 1 | low << 2 | (8 + near) << 7 | high << 12 | 3 << 13,
        3 => 1 | low << 2 | near << 7 | (what >> 4 & 1) << 10 | 4 << 13,
        4 => 1 | low << 2 | near << 7 | 2 << 10 | high << 12 | 4 << 13,
        5 => 1 | other << 2 | (what >> 4 & 3) << 5 | near << 7 | 3 << 10 | 4 << 13,
        6 => 2 | low << 2 | (8 + near) << 7,
        7 => 2 | (8 + other) << 2 | (8 + near) << 7 | (what >> 4 & 1) << 12 | 4 << 13,
        _ => 1,
    }
}

/// The whole file.
fn program(draws: &[Draw], seed: &[u32]) -> Vec<u8> {
    let mut code = Code::default();
    // All registers from memory, the flags cleared.
    code.li(31, INITIAL);
    for register in 0..32 {
        code.op(asm::i(0x07, 3, register, 31, 8 * register as i32));
    }
    for register in 1..32 {
        code.op(asm::lw(register, 31, 0x100 + 4 * register as i32));
    }
    code.op(asm::csrw(3, 0));
    for draw in draws {
        instruction(*draw, &mut code.0);
    }
    // Everything into memory; `x31` gives way for the base, so its own value goes first, by another way.
    code.op(asm::sw(31, BASE, (FINAL as i32 + 0x100 + 4 * 31) - SCRATCH as i32));
    code.li(31, FINAL);
    for register in 0..32 {
        code.op(asm::s(0x27, 3, 31, register, 8 * register as i32));
    }
    for register in 1..31 {
        code.op(asm::sw(register, 31, 0x100 + 4 * register as i32));
    }
    code.op(asm::csrr(5, 3)).op(asm::sw(5, 31, 0x100));
    // write(1, FINAL, …); exit(0)
    code.li(10, 1).li(11, FINAL).li(12, END - FINAL).li(17, 64).op(ECALL);
    code.li(10, 0).li(17, 93).op(ECALL);
    assert!(code.0.len() * 4 <= (DATA - CODE) as usize);
    let mut bytes: Vec<u8> = code.0.iter().flat_map(|it| it.to_le_bytes()).collect();
    bytes.resize((END - CODE) as usize, 0);
    let mut put = |address: u32, value: &[u8]| {
        let at = (address - CODE) as usize;
        bytes[at..at + value.len()].copy_from_slice(value);
    };
    let random = |at: usize| seed[at % seed.len()].rotate_left(at as u32).wrapping_mul(0x9e37_79b1);
    for register in 0..32usize {
        let (number, choice) = (random(register), random(register + 64) % 4);
        let wide = u64::from(number) << 32 | u64::from(random(register + 32));
        let float = match choice {
            0 => DOUBLES[number as usize % DOUBLES.len()],
            1 => wide,
            2 => 0xffff_ffff_0000_0000 | u64::from(SINGLES[number as usize % SINGLES.len()]),
            _ => 0xffff_ffff_0000_0000 | u64::from(number),
        };
        put(INITIAL + 8 * register as u32, &float.to_le_bytes());
        let value = match register as u32 {
            BASE => SCRATCH,
            WORD_BASE => SCRATCH + 4 * (number % 60),
            _ if choice == 0 => [0, 1, u32::MAX, i32::MAX as u32, 1 << 31][number as usize % 5],
            _ => number,
        };
        put(INITIAL + 0x100 + 4 * register as u32, &value.to_le_bytes());
    }
    for at in 0..SCRATCH_BYTES / 4 {
        put(SCRATCH + 4 * at, &random(at as usize + 128).to_le_bytes());
    }
    // Flags: instructions of 16 bits, double precision.
    asm::elf(CODE, &bytes, 5)
}

/// What differs, by name.
fn differences(ours: &[u8], theirs: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    if ours.len() != theirs.len() {
        return vec![format!("{} bytes instead of {}", ours.len(), theirs.len())];
    }
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    for at in (0..ours.len()).step_by(4) {
        let (our, their) = (word(ours, at), word(theirs, at));
        if our != their {
            let name = match at {
                0..0x100 => format!("f{} word {}", at / 8, at / 4 % 2),
                0x100 => "fcsr".to_owned(),
                0x101..0x180 => format!("x{}", (at - 0x100) / 4),
                _ => format!("memory at {at:#x}"),
            };
            found.push(format!("{name} is {our:#010x}, in qemu {their:#010x}"));
        }
    }
    found
}

#[test]
fn random_programs_do_the_same_on_qemu() {
    if Command::new(QEMU).arg("--version").output().is_err() {
        println!("skipped: there is no {QEMU} here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program");
    let config = config(&[("count = 8", "count = 1"), ("\"f\",", "\"f\", \"d\",")]);
    let draws = prop::collection::vec(any::<Draw>(), 1..400);
    let seed = prop::collection::vec(any::<u32>(), 8);
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(48);
    let runs = Runs { cases, failure_persistence: None, ..Runs::default() };
    let result = TestRunner::new(runs).run(&(draws, seed), |(draws, seed)| {
        let program = program(&draws, &seed);
        let mut cluster = Cluster::new(&config);
        cluster.load(&program).unwrap();
        let (ours, status) =
            run_like_linux(&mut cluster, &mut NoMemory).map_err(TestCaseError::fail)?;
        prop_assert_eq!(status, 0);
        std::fs::write(&file, &program).unwrap();
        make_executable(&file);
        let theirs = Command::new(QEMU).arg(&file).output().unwrap();
        prop_assert!(theirs.status.success(), "qemu: {theirs:?}");
        let found = differences(&ours, &theirs.stdout);
        prop_assert!(found.is_empty(), "{}", found.join("\n"));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    println!("{cases} programs compared");
}

fn make_executable(file: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}
