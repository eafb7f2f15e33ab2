//! What stops a cluster, what it tells then, and programs that it refuses.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use std::process::Command;

use common::asm::*;
use common::{CODE, L1, config, one_core, with_code};
use proptest::prelude::*;
use sim::{Access, Cluster, Config, Fault, FaultKind, NoMemory, Stop};

#[track_caller]
fn fault(config: &Config, code: &Code) -> Box<Fault> {
    with_code(config, &code.0).run(&mut NoMemory, Some(100_000)).unwrap_err()
}

#[test]
fn a_fault_tells_core_instruction_and_registers() {
    let mut code = Code::default();
    code.li(A0, 0x1234_5678).li(A1, 0x6000_0000).op(lw(A2, A1, 8));
    let fault = fault(&one_core(&[]), &code);
    let (address, access) = (0x6000_0008, Access::Read);
    assert_eq!(fault.kind, FaultKind::Unmapped { address, bytes: 4, access });
    assert_eq!((fault.core, fault.pc), (0, CODE + 16));
    assert_eq!(fault.registers[A0 as usize], 0x1234_5678);
    let text = fault.to_string();
    let first = text.lines().next().unwrap();
    assert!(
        first.ends_with("pc 0x1c000010: read of 4 bytes at 0x60000008: nothing is there"),
        "{text}"
    );
    assert!(text.contains("a0 12345678"), "{text}");
    assert_eq!(fault.place, None);
}

#[test]
fn edges_of_memories_are_edges() {
    let last = L1 + 0x4_0000;
    for (width, bytes, address, fits) in [
        (WORD, 4, last - 4, true),
        (WORD, 4, last - 3, false),
        (HALF, 2, last - 1, false),
        (BYTE, 1, last - 1, true),
        (BYTE, 1, last, false),
        (WORD, 4, L1 - 4, false),
    ] {
        for is_store in [false, true] {
            let mut code = Code::default();
            let op = if is_store { store(width, A0, A1, 0) } else { load(width, A0, A1, 0) };
            code.li(A1, address).op(op).exit(ZERO);
            let mut cluster = with_code(&one_core(&[]), &code.0);
            let result = cluster.run(&mut NoMemory, Some(10_000)).map_err(|it| it.kind);
            let access = if is_store { Access::Write } else { Access::Read };
            let expect = match fits {
                true => Ok(Stop::Exited(0)),
                false => Err(FaultKind::Unmapped { address: u64::from(address), bytes, access }),
            };
            assert_eq!(result, expect);
        }
    }
}

#[test]
fn misaligned_accesses_are_faults_where_the_cluster_says_so() {
    let strict = one_core(&[("misaligned = \"split\"", "misaligned = \"fault\"")]);
    let mut code = Code::default();
    code.li(A1, L1).op(lw(A0, A1, 2));
    let (address, access) = (u64::from(L1) + 2, Access::Read);
    assert_eq!(fault(&strict, &code).kind, FaultKind::Misaligned { address, bytes: 4, access });
    // Atomic accesses are aligned everywhere.
    let mut code = Code::default();
    code.li(A1, L1 + 2).op(amoadd(A0, A1, A2));
    let access = Access::Atomic;
    let expect = FaultKind::Misaligned { address, bytes: 4, access };
    assert_eq!(fault(&one_core(&[]), &code).kind, expect);
}

#[test]
fn the_stack_pointer_stays_in_the_stack() {
    let (low, high) = (L1 + 0x1000, L1 + 0x1100);
    let set = |code: &mut Code| {
        code.li(SP, high).li(A0, low).op(csrw(STACK_LOW, A0)).li(A0, high).op(csrw(STACK_HIGH, A0));
    };
    // A function that calls itself without end.
    let mut code = Code::default();
    set(&mut code);
    let function = CODE + 4 * code.0.len() as u32;
    code.op(addi(SP, SP, -32)).op(sw(RA, SP, 28)).op(jal(RA, -8));
    let found = fault(&one_core(&[]), &code);
    assert_eq!(found.kind, FaultKind::StackOverflow { pointer: low - 32, low, high });
    assert_eq!(found.pc, function);
    // Down to the last byte is no fault; above the end is one.
    let mut code = Code::default();
    set(&mut code);
    code.op(addi(SP, SP, -256)).op(addi(SP, SP, 256)).op(addi(SP, SP, 16));
    let found = fault(&one_core(&[]), &code);
    assert_eq!(found.kind, FaultKind::StackOverflow { pointer: high + 16, low, high });
    // The embedder can set it too, for each core.
    let mut code = Code::default();
    code.li(SP, L1);
    let mut cluster = with_code(&config(&[]), &code.0);
    cluster.set_stack(3, low, high);
    assert_eq!(cluster.run(&mut NoMemory, None).unwrap_err().core, 3);
}

#[test]
fn what_is_no_instruction_here_is_illegal() {
    let no_float = one_core(&[("\"f\", ", "")]);
    let no_atomic = one_core(&[("\"a\", ", "")]);
    let no_multiply = one_core(&[("\"m\", ", "")]);
    let full = one_core(&[]);
    for (config, bits) in [
        (&full, 0xffff_ffff),
        (&full, 0x0000_0000),
        (&no_float, r(0x53, 0, 0, 1, 2, 3)),
        (&full, r(0x53, 1, 0, 1, 2, 3)),
        (&no_atomic, amoadd(A0, A1, A2)),
        (&no_multiply, mul(A0, A1, A2)),
        (&full, csrr(A0, 0x123)),
        (&full, csrw(MHARTID, A0)),
        (&full, csrw(CYCLE, A0)),
        (&no_float, csrr(A0, 3)),
        // Rounding modes that do not exist: written, and set in the register.
        (&full, r(0x53, 0, 5, 1, 2, 3)),
    ] {
        let found = fault(config, Code::default().op(NOP).op(bits));
        assert_eq!(found.pc, CODE + 4);
        let FaultKind::Illegal { bits: told } = found.kind else { panic!("{found}") };
        assert_eq!(told, if bits & 3 == 3 { bits } else { bits & 0xffff }, "{bits:#x}");
    }
    let mut code = Code::default();
    code.li(A0, 5).op(csrw(2, A0)).op(r(0x53, 0, 7, 1, 2, 3));
    assert_eq!(fault(&full, &code).kind, FaultKind::Illegal { bits: r(0x53, 0, 7, 1, 2, 3) });
}

#[test]
fn a_jump_to_where_no_code_is_stops_there() {
    for target in [0, L1, CODE + 0x1000, CODE - 4] {
        let mut code = Code::default();
        code.li(A0, target).op(jalr(ZERO, A0, 0));
        let found = fault(&one_core(&[]), &code);
        let (address, access) = (u64::from(target), Access::Fetch);
        assert_eq!(found.kind, FaultKind::Unmapped { address, bytes: 2, access });
        assert_eq!(found.pc, target);
    }
}

#[test]
fn reservations_in_the_scratchpad_are_refused_where_hardware_has_none() {
    let lr = amo(2, A0, A1, 0);
    let mut code = Code::default();
    code.li(A1, L1).op(lr).exit(ZERO);
    assert_eq!(
        fault(&one_core(&[]), &code).kind,
        FaultKind::NoReservations { address: u64::from(L1) }
    );
    let able = one_core(&[("reservations = false", "reservations = true")]);
    let stop = with_code(&able, &code.0).run(&mut NoMemory, None);
    assert_eq!(stop.unwrap(), Stop::Exited(0));
}

/// All cores add by `lr.w` and `sc.w`; nothing is lost.
#[test]
fn a_store_by_another_core_ends_a_reservation() {
    let able = config(&[("reservations = false", "reservations = true")]);
    for address in [L1, CODE + 0x1000] {
        let mut code = Code::default();
        code.li(A1, address).li(A3, 40);
        code.op(amo(2, A0, A1, 0)).op(addi(A0, A0, 1)).op(amo(3, A2, A1, A0));
        code.op(bne(A2, ZERO, -12)).op(addi(A3, A3, -1)).op(bne(A3, ZERO, -20));
        code.li(T0, 0x1020_4204).op(lw(A0, T0, 0)).exit(ZERO);
        let mut cluster = with_code(&able, &code.0);
        assert_eq!(cluster.run(&mut NoMemory, Some(1_000_000)).unwrap(), Stop::Exited(0));
        let mut sum = [0; 4];
        assert!(cluster.read(address, &mut sum));
        assert_eq!(u32::from_le_bytes(sum), 8 * 40);
    }
}

#[test]
fn registers_that_do_not_exist_are_refused() {
    for (op, access) in [
        (lw(A0, A1, 0x7f0), Access::Read),
        (sw(A0, A1, 0x7f0), Access::Write),
        (load(BYTE, A0, A1, 0), Access::Read),
        (store(HALF, A0, A1, 0), Access::Write),
        (sw(A0, A1, 4), Access::Write),
    ] {
        let mut code = Code::default();
        code.li(A1, 0x1020_3000).op(op);
        let found = fault(&one_core(&[]), &code);
        let is_right =
            matches!(&found.kind, FaultKind::NoRegister { access: it, .. } if *it == access);
        assert!(is_right, "{found}");
    }
}

#[test]
fn a_program_may_write_itself() {
    // An instruction that has run becomes `addi a0, a0, 5`, and runs again.
    let mut code = Code::default();
    code.li(A1, CODE + 4 * 4).li(A2, addi(A0, A0, 5));
    code.op(addi(A0, A0, 1)).op(bne(A3, ZERO, 20));
    code.op(sw(A2, A1, 0)).op(addi(A3, ZERO, 1)).op(FENCE_I).op(jal(ZERO, -20)).exit(A0);
    let stop = with_code(&one_core(&[]), &code.0).run(&mut NoMemory, Some(1000));
    assert_eq!(stop.unwrap(), Stop::Exited(6));
}

#[test]
fn control_registers_hold_what_they_can() {
    let all = u32::MAX;
    for (register, written, expect) in [
        (1, all, 0x1f),
        (2, all, 7),
        (3, all, 0xff),
        (0x340, all, all),
        (MSTATUS, 0x80, 0x80),
        (0x301, 0, 1 << 30 | 1 << 12 | 1 << 8 | 1 << 5 | 1 << 2 | 1),
        (EXTENSION, 0, 0),
    ] {
        let mut code = Code::default();
        code.li(A0, written).op(csrw(register, A0)).op(csrr(A1, register)).exit(A1);
        let stop = with_code(&one_core(&[]), &code.0).run(&mut NoMemory, None);
        assert_eq!(stop.unwrap(), Stop::Exited(expect), "{register:#x}");
    }
}

#[test]
fn a_cluster_can_start_again() {
    let mut code = Code::default();
    code.op(addi(A0, A0, 1)).li(T0, 0x1020_4204).op(lw(T1, T0, 0)).exit(A0);
    let mut cluster = with_code(&config(&[]), &code.0);
    assert_eq!(cluster.run(&mut NoMemory, None).unwrap(), Stop::Exited(1));
    let cycle = cluster.cycle();
    cluster.start(CODE);
    assert_eq!(cluster.run(&mut NoMemory, None).unwrap(), Stop::Exited(2), "registers stay");
    assert!(cluster.cycle() > cycle, "time goes on");
    assert_eq!(cluster.counters().iter().map(|it| it.cycles()).max(), Some(cluster.cycle()));
}

#[track_caller]
fn check_refused(config: &Config, file: &[u8], expect: &str) {
    let error = Cluster::new(config).load(file).unwrap_err().to_string();
    assert!(error.contains(expect), "{error}");
}

#[test]
fn programs_for_another_machine_are_refused_with_a_reason() {
    let config = one_core(&[]);
    let good = elf(CODE, &[0x13, 0, 0, 0], 0);
    Cluster::new(&config).load(&good).unwrap();
    let with = |at: usize, byte: u8| {
        let mut file = good.clone();
        file[at] = byte;
        file
    };
    check_refused(&config, b"#!/bin/sh\n", "not a readable program");
    check_refused(&config, &good[..100], "outside the file");
    check_refused(&config, &with(4, 2), "a 64-bit program");
    check_refused(&config, &with(5, 2), "big-endian");
    check_refused(&config, &with(18, 62), "another machine than RISC-V");
    check_refused(&config, &with(16, 3), "not linked to fixed addresses");
    check_refused(&one_core(&[(", \"c\"", "")]), &elf(CODE, &[0; 4], 1), "16 bits (extension `c`)");
    check_refused(&one_core(&[("\"f\", ", "")]), &elf(CODE, &[0; 4], 2), "single precision");
    check_refused(&config, &elf(CODE, &[0; 4], 4), "double precision");
    check_refused(&config, &elf(CODE, &[0; 4], 6), "quadruple");
    check_refused(&config, &elf(CODE, &[0; 4], 8), "RV32E");
    check_refused(&config, &elf(0x8000_0000, &[0; 4], 0), "4 bytes at 0x80000000 are not in");
    check_refused(&config, &elf(CODE + 0x7_fff0, &[0; 32], 0), "are not in the cluster's memory");
    check_refused(&config, &elf(L1, &[0; 4], 0), "code lies in l2");
}

const SOURCE: &str = "\
int *nowhere = (int *)0x60000000; volatile int got;
__attribute__((noinline)) int peek(int *from)
{
    return *from;
}
__attribute__((used)) void main(void)
{
    got = peek(nowhere);
}
__attribute__((naked)) void _start(void)
{
    __asm__(\"li sp, 0x10001000\\n j main\");
}
";

#[test]
fn a_fault_leads_to_the_source_line() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("peek.c"), folder.path().join("peek"));
    std::fs::write(&source, SOURCE).unwrap();
    for has_lines in [true, false] {
        let mut clang = Command::new("clang-19");
        clang.args(["--target=riscv32-unknown-elf", "-march=rv32imac", "-mabi=ilp32", "-O1"]);
        clang.args(["-nostdlib", "-static", "-fuse-ld=lld-19", "-Wl,--image-base=0x1c000000"]);
        clang.arg(if has_lines { "-g" } else { "-g0" }).arg(&source).arg("-o").arg(&program);
        let Ok(output) = clang.output() else {
            println!("skipped: there is no clang-19 here");
            return;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut cluster = Cluster::new(&one_core(&[]));
        cluster.load(&std::fs::read(&program).unwrap()).unwrap();
        assert!(cluster.symbol("main").is_some() && cluster.symbol("other").is_none());
        let fault = cluster.run(&mut NoMemory, Some(10_000)).unwrap_err();
        assert_eq!(fault.function.as_deref(), Some("peek"), "{fault}");
        let line = fault.place.as_ref().map(|it| (it.file.ends_with("peek.c"), it.line));
        assert_eq!(line, has_lines.then_some((true, 4)), "{fault}");
        assert_eq!(fault.to_string().contains("peek.c:4)"), has_lines);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a file says, it is refused or run; nothing panics.
    #[test]
    fn damaged_programs_do_no_harm(changes in prop::collection::vec((0usize..0x1040, any::<u8>()), 1..8)) {
        let mut code = Code::default();
        code.li(A1, L1).op(lw(A0, A1, 4)).op(amoadd(A2, A1, A0)).op(r(0x53, 0, 0, 1, 2, 3)).exit(A0);
        let bytes: Vec<u8> = code.0.iter().flat_map(|it| it.to_le_bytes()).collect();
        let mut file = elf(CODE, &bytes, 0);
        for (at, byte) in changes {
            // Mostly the headers and the code; between them are zeros.
            let at = if (84..0x1000).contains(&at) { at % 84 } else { at };
            if let Some(it) = file.get_mut(at) {
                *it = byte;
            }
        }
        let mut cluster = Cluster::new(&config(&[]));
        if cluster.load(&file).is_ok() {
            let _ = cluster.run(&mut NoMemory, Some(2000));
        }
    }

    /// How a run is cut into pieces makes no difference to anything.
    #[test]
    fn pieces_of_a_run_add_up_to_the_whole(
        draws in prop::collection::vec((any::<u8>(), 0u32..4, 0u32..24), 4..60),
        step in 1u64..40,
    ) {
        let mut code = Code::default();
        code.op(csrr(A0, MHARTID)).li(A1, L1).li(A2, CODE + 0x1000).li(A3, 6).op(addi(A4, A0, 3));
        for (what, register, word) in draws {
            let (rd, offset) = (A4 + register, 4 * word as i32);
            code.op(match what % 10 {
                0 | 1 => lw(rd, A1, offset),
                2 | 3 => sw(rd, A1, offset),
                4 => amoadd(rd, A1, A4),
                5 => add(rd, A4, A5),
                6 => r(0x33, 1, 5, rd, A5, A4),
                7 => lw(rd, A2, offset),
                8 => sw(rd, A2, offset),
                _ => bne(A4, A5, 4),
            });
        }
        let back = -4 * (code.0.len() as i32 - 8);
        code.op(addi(A3, A3, -1)).op(bne(A3, ZERO, back));
        code.li(T0, 0x1020_4204).op(lw(T1, T0, 0)).exit(A5);
        let mut config = config(&[]);
        // Asked a little out of order, which depends on the pieces.
        config.instruction_cache = None;
        let whole = {
            let mut cluster = with_code(&config, &code.0);
            prop_assert!(matches!(cluster.run(&mut NoMemory, Some(1_000_000)), Ok(Stop::Exited(_))));
            cluster
        };
        let mut pieces = with_code(&config, &code.0);
        let mut end = step;
        while pieces.run(&mut NoMemory, Some(end)).unwrap() == Stop::Paused {
            end += step;
        }
        prop_assert_eq!(pieces.counters(), whole.counters());
        let (mut one, mut other) = (vec![0; 128], vec![0; 128]);
        prop_assert!(pieces.read(L1, &mut one) && whole.read(L1, &mut other));
        prop_assert_eq!(one, other);
    }
}
