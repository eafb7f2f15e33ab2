//! Cycles of single instructions and accesses, counted by hand.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use common::asm::*;
use common::{CODE, L1, config, one_core, with_code};
use sim::{Cluster, Config, Counters, PrivateMemory, Stop};

/// A buffer of the host, above 4 GiB.
const BUFFER: u64 = 0x7f12_3400_0000;

fn host() -> PrivateMemory {
    let mut host = PrivateMemory::new();
    host.map(BUFFER, (0..=255).collect());
    // Where an address of 32 bits that is nobody's goes.
    host.map(0x8000_0000, vec![7; 64]);
    host
}

/// Runs to the end.
#[track_caller]
fn finish(cluster: &mut Cluster, host: &mut PrivateMemory) -> u32 {
    match cluster.run(host, Some(1_000_000)) {
        Ok(Stop::Exited(status)) => status,
        Ok(other) => panic!("{other:?}"),
        Err(fault) => panic!("{fault}"),
    }
}

/// Cycles of `body` on one core, after `setup`.
#[track_caller]
fn cycles(config: &Config, setup: &[u32], body: &[u32]) -> u64 {
    let mut code = Code::default();
    code.ops(setup).op(NOP).op(csrr(A6, CYCLE)).ops(body).op(csrr(A7, CYCLE));
    // The reading itself takes a cycle.
    code.op(r(0x33, 0x20, 0, A6, A7, A6)).op(addi(A6, A6, -1)).exit(A6);
    let mut cluster = with_code(config, &code.0);
    u64::from(finish(&mut cluster, &mut host()))
}

#[track_caller]
fn check(setup: &[u32], body: &[u32], expect: u64) {
    assert_eq!(cycles(&one_core(&[]), setup, body), expect);
}

fn base(register: u32, address: u32) -> Vec<u32> {
    li(register, address).to_vec()
}

#[test]
fn arithmetic_takes_a_cycle_and_jumps_take_more() {
    check(&[], &[addi(A0, A0, 1)], 1);
    check(&[], &[mul(A0, A0, A1)], 1);
    check(&[], &[bne(ZERO, ZERO, 8), NOP], 2);
    check(&[], &[beq(ZERO, ZERO, 8), NOP], 3);
    check(&[], &[jal(ZERO, 8), NOP], 2);
    // Jumps behind itself; the base was written long before, or just now.
    let target = base(A0, CODE + 4 * 6);
    check(&target, &[jalr(ZERO, A0, 0), NOP, NOP], 3);
    let target = base(A0, CODE + 4 * 7);
    check(&target, &[addi(A0, A0, 0), jalr(ZERO, A0, 0), NOP, NOP], 5);
}

#[test]
fn a_long_instruction_across_two_words_takes_two_fetches() {
    const SHORT_NOP: u32 = 1;
    let across = [SHORT_NOP | NOP << 16, NOP >> 16 | SHORT_NOP << 16];
    // Over the first short one: three cycles, one more, and two instructions.
    check(&[], &[beq(ZERO, ZERO, 6), across[0], across[1]], 3 + 1 + 2);
    // To a short one at the same place there is no more.
    let short = SHORT_NOP | SHORT_NOP << 16;
    check(&[], &[beq(ZERO, ZERO, 6), short], 3 + 1);
}

#[test]
fn long_arithmetic_takes_its_time() {
    check(&[], &[r(0x33, 1, 1, A0, A1, A2)], 5); // mulh
    check(&[addi(A1, ZERO, -1)], &[r(0x33, 1, 5, A0, A2, A1)], 3); // divu by 2^32 - 1
    check(&[addi(A1, ZERO, 1)], &[r(0x33, 1, 5, A0, A2, A1)], 3 + 31); // divu by 1
    check(&[addi(A1, ZERO, -1)], &[r(0x33, 1, 4, A0, A2, A1)], 3 + 31); // div by -1
    check(&[], &[r(0x53, 0x0c, 0, 1, 2, 3)], 11); // fdiv.s
    check(&[], &[r(0x53, 0x2c, 0, 1, 2, 0)], 11); // fsqrt.s
    check(&[], &[r(0x53, 0, 0, 1, 2, 3), r(0x53, 0, 0, 4, 5, 6)], 2); // two sums
    check(&[], &[r(0x53, 0, 0, 1, 2, 3), r(0x53, 0, 0, 4, 1, 6)], 3); // the second needs the first
}

#[test]
fn control_registers_cost_what_the_preset_says() {
    let masked = [mask_interrupts(A0)];
    assert_eq!(cycles(&one_core(&[]), &[], &masked), 1);
    assert_eq!(cycles(&one_core(&[("status-csr = 1", "status-csr = 4")]), &[], &masked), 4);
    check(&[], &[csrw(0x340, A0)], 1);
    check(&[], &[FENCE_I], 2);
}

#[test]
fn loads_are_waited_for_by_those_that_use_them() {
    let near = base(A1, L1);
    check(&near, &[lw(A0, A1, 0)], 1);
    check(&near, &[sw(A0, A1, 0)], 1);
    check(&near, &[lw(A0, A1, 0), add(A2, A0, A0)], 3);
    check(&near, &[lw(A0, A1, 0), NOP, add(A2, A0, A0)], 3);
    check(&near, &[lw(A0, A1, 0), sw(A0, A1, 4)], 3);
    check(&near, &[lw(A0, A1, 0), addi(A0, ZERO, 1)], 2);
}

#[test]
fn far_memory_and_crossed_words_take_longer() {
    check(&base(A1, CODE), &[lw(A0, A1, 0)], 1 + 15);
    check(&base(A1, 0x8000_0000), &[lw(A0, A1, 0)], 1 + 15);
    let config = one_core(&[("[host]\nlatency = 15", "[host]\nlatency = 120")]);
    assert_eq!(cycles(&config, &base(A1, 0x8000_0000), &[sw(A0, A1, 0)]), 121);
    // A bank each: no more than one cycle for the second word.
    check(&base(A1, L1), &[lw(A0, A1, 1)], 2);
    check(&base(A1, L1), &[load(HALF, A0, A1, 1)], 1);
    check(&base(A1, L1), &[load(HALF, A0, A1, 3)], 2);
}

/// Table 2 of the paper, and the same with what the register transfer level does.
#[test]
fn wide_accesses_cost_what_the_paper_says() {
    let high = (BUFFER >> 32) as u32;
    let mut setup = base(A1, BUFFER as u32);
    setup.extend(base(A2, high));
    setup.extend(base(T0, 0x1020_0bf8));
    let word_by_register = [mask_interrupts(A4), sw(A2, T0, 0), lw(A0, A1, 0), csrw(MSTATUS, A4)];
    let pair_by_register = [
        mask_interrupts(A4),
        sw(A2, T0, 0),
        lw(A0, A1, 0),
        sw(A2, T0, 0),
        lw(A3, A1, 4),
        csrw(MSTATUS, A4),
    ];
    let word_by_csr = [csrw(EXTENSION, A2), lw(A0, A1, 0)];
    let pair_by_csr = [csrw(EXTENSION, A2), lw(A0, A1, 0), csrw(EXTENSION, A2), lw(A3, A1, 4)];
    let word_by_instruction = [wide_load(WORD, A0, A1, A2)];
    let pair_by_instruction = [wide_load(PAIR, A4, A1, A2)];
    let latency = 1 + 15;
    for (body, extra, accesses) in [
        (&word_by_register[..], 3, 1),
        (&pair_by_register, 4, 2),
        (&word_by_csr, 1, 1),
        (&pair_by_csr, 2, 2),
        (&word_by_instruction, 1, 1),
        (&pair_by_instruction, 1, 1),
    ] {
        check(&setup, body, accesses * latency + extra);
    }
    let slow = one_core(&[("status-csr = 1", "status-csr = 4")]);
    assert_eq!(cycles(&slow, &setup, &word_by_register), latency + 9);
    assert_eq!(cycles(&slow, &setup, &pair_by_register), 2 * latency + 10);
    // An upper half of 0 costs the sequence, not the way out.
    let mut near = base(A1, L1);
    near.extend(base(A2, 0));
    near.extend(base(T0, 0x1020_0bf8));
    check(&near, &word_by_register, 1 + 3);
    check(&near, &word_by_csr, 1 + 1);
    check(&near, &word_by_instruction, 1 + 1);
}

/// Each core loads a word a hundred times; `stride` words lie between cores.
fn conflicts(stride: u32) -> (u64, Vec<Counters>) {
    let mut config = config(&[]);
    config.instruction_cache = None;
    let mut code = Code::default();
    code.op(csrr(A0, MHARTID))
        .li(A1, 4 * stride)
        .op(mul(A1, A1, A0))
        .li(A2, L1)
        .op(add(A1, A1, A2));
    code.li(A3, 100);
    code.op(lw(A4, A1, 0)).op(addi(A3, A3, -1)).op(bne(A3, ZERO, -8));
    // All meet before one ends the program.
    code.li(T0, 0x1020_4204).op(lw(T1, T0, 0)).exit(ZERO);
    let mut cluster = with_code(&config, &code.0);
    finish(&mut cluster, &mut host());
    (cluster.cycle(), cluster.counters())
}

#[test]
fn a_bank_serves_one_core_in_a_cycle() {
    let (spread, counters) = conflicts(1);
    assert_eq!(counters.iter().map(|it| it.conflicts).sum::<u64>(), 0, "a bank for each core");
    let (same, counters) = conflicts(16);
    let waits: Vec<u64> = counters.iter().map(|it| it.stalls.conflict).collect();
    // A round of the loop takes 5 cycles, 8 cores need the bank 8 of them: all wait, and equally.
    assert!(same > spread + 250, "{spread} and {same} cycles");
    let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
    assert!(most - least <= 20, "{waits:?}");
}

#[test]
fn instructions_are_fetched_once_and_shared() {
    let config = config(&[]);
    let mut code = Code::default();
    code.li(A3, 50).ops(&[NOP; 20]).op(addi(A3, A3, -1)).op(bne(A3, ZERO, -84));
    code.li(T0, 0x1020_4204).op(lw(T1, T0, 0)).exit(ZERO);
    let mut cluster = with_code(&config, &code.0);
    finish(&mut cluster, &mut host());
    let misses: u64 = cluster.counters().iter().map(|it| it.fetch_misses).sum();
    let lines = (4 * code.0.len() as u64).div_ceil(16);
    assert!((lines - 1..=lines).contains(&misses), "{misses} misses of {lines} lines");
    assert!(cluster.counters().iter().all(|it| it.stalls.fetch >= 15 * (lines - 2)));
}

#[test]
fn lines_that_were_replaced_are_fetched_again() {
    // Room for four lines; the loop has eight.
    let mut config = config(&[("size = 0x1000\nways = 4", "size = 64\nways = 1")]);
    config.cores.count = 1;
    let mut code = Code::default();
    code.op(addi(A3, ZERO, 5)).ops(&[NOP; 3]);
    code.ops(&[NOP; 30]).op(addi(A3, A3, -1)).op(bne(A3, ZERO, -124)).exit(ZERO);
    let mut cluster = with_code(&config, &code.0);
    finish(&mut cluster, &mut host());
    let misses = cluster.counters()[0].fetch_misses;
    assert_eq!(misses, 1 + 5 * 8 + 1, "what is before, five rounds, what is behind");
}

#[test]
fn all_cycles_are_accounted_for_and_every_run_is_the_same() {
    for (name, _) in sim::PRESETS {
        let config = Config::preset(name).unwrap();
        let has_atomics = config.cores.extensions.contains(&sim::Letter::A);
        // Cores without atomic instructions ask a queue.
        let agree = if has_atomics { amoadd(A6, A2, A4) } else { lw(A6, T2, 8) };
        let run = || {
            let mut code = Code::default();
            code.op(csrr(A0, MHARTID)).li(A2, config.l1.base).li(A5, config.l2.base);
            code.li(T2, 0x1022_0000);
            code.li(A3, 60).op(addi(A4, A0, 1));
            code.ops(&[
                agree,
                lw(A7, A2, 4),
                add(A7, A7, A6),
                sw(A7, A2, 8),
                lw(T1, A5, 0),
                r(0x33, 1, 4, T1, A7, A4),
                r(0x53, 0x68, 0, 1, A7, 0),
                r(0x53, 0, 0, 2, 1, 1),
                addi(A3, A3, -1),
                bne(A3, ZERO, -36),
            ]);
            code.li(T0, 0x1020_4204).op(lw(T1, T0, 0)).op(lw(T1, T0, 0)).exit(ZERO);
            let bytes: Vec<u8> = code.0.iter().flat_map(|it| it.to_le_bytes()).collect();
            let mut cluster = Cluster::new(&config);
            assert!(cluster.load_code(config.l2.base, &bytes));
            cluster.start(config.l2.base);
            finish(&mut cluster, &mut host());
            let mut sum = [0; 4];
            assert!(cluster.read(config.l1.base, &mut sum));
            let expected = if has_atomics { 60 * 36 } else { 0 };
            assert_eq!(u32::from_le_bytes(sum), expected, "no sum is lost");
            (cluster.cycle(), cluster.counters())
        };
        let (cycle, counters) = run();
        let latest = counters.iter().map(Counters::cycles).max().unwrap();
        assert_eq!(latest, cycle, "{name}: {counters:#?}");
        assert_eq!(run(), (cycle, counters), "{name}");
    }
}

#[test]
fn a_run_that_pauses_takes_the_same_cycles() {
    let mut code = Code::default();
    code.op(csrr(A0, MHARTID)).li(A2, L1).li(A3, 200);
    code.ops(&[amoadd(A6, A2, A0), lw(A7, A2, 4), addi(A3, A3, -1), bne(A3, ZERO, -12)]);
    code.li(T0, 0x1020_4204).op(lw(T1, T0, 0)).exit(ZERO);
    let config = config(&[]);
    let mut whole = with_code(&config, &code.0);
    finish(&mut whole, &mut host());
    let mut pieces = with_code(&config, &code.0);
    let mut end = 7;
    while pieces.run(&mut host(), Some(end)).unwrap() == Stop::Paused {
        end += 7;
    }
    assert_eq!(pieces.counters(), whole.counters());
}
