//! The DMA engine and the event unit.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use common::asm::*;
use common::{CODE, L1, config, one_core, with_code};
use sim::{
    Cluster, Config, Event, FaultKind, Observer, PrivateMemory, Refusal, Step, Stop, TextTrace,
    Wait,
};

const DMA: u32 = 0x1020_4400;
const EVENT_WAIT: u32 = 0x1020_4000;
const BARRIER: u32 = 0x1020_4200;
/// A buffer across a 4 GiB boundary.
const BUFFER: u64 = 0x0002_ffff_f000;
const BYTES: usize = 0x3000;

fn pattern() -> Vec<u8> {
    (0..BYTES).map(|it| (it * 7 + it / 256) as u8).collect()
}

fn host() -> PrivateMemory {
    let mut host = PrivateMemory::new();
    host.map(BUFFER, pattern());
    host.map_read_only(0x9_0000_0000, vec![1; 64]);
    host
}

/// `t0` has the address of the registers; leaves the transfer's number in `a0`.
fn transfer(code: &mut Code, from: u64, to: u64, bytes: u32) {
    code.li(T0, DMA);
    for (offset, value) in [
        (0, from as u32),
        (4, (from >> 32) as u32),
        (8, to as u32),
        (12, (to >> 32) as u32),
        (16, bytes),
    ] {
        code.li(T1, value).op(sw(T1, T0, offset));
    }
    code.op(lw(A0, T0, 0x20));
}

/// Waits for the transfer in `a0`.
fn wait(code: &mut Code) {
    code.op(sw(A0, T0, 0x28)).op(lw(A1, T0, 0x2c));
}

fn run(
    config: &Config,
    code: &Code,
    host: &mut PrivateMemory,
) -> (Result<u32, FaultKind>, Cluster) {
    let mut cluster = with_code(config, &code.0);
    let result = match cluster.run(host, Some(1_000_000)) {
        Ok(Stop::Exited(status)) => Ok(status),
        Ok(other) => panic!("{other:?}"),
        Err(fault) => Err(fault.kind),
    };
    (result, cluster)
}

#[test]
fn bytes_come_and_go_across_4_gib_at_any_alignment() {
    for (skip, bytes) in [(0, 0x2800), (1, 1), (3, 0x1001), (0xfff, 2), (5, 255)] {
        let mut code = Code::default();
        transfer(&mut code, BUFFER + skip, u64::from(L1) + 3, bytes);
        wait(&mut code);
        transfer(&mut code, u64::from(L1) + 3, BUFFER, bytes);
        wait(&mut code);
        let mut memory = host();
        let (result, cluster) = run(&one_core(&[]), code.exit(ZERO), &mut memory);
        assert_eq!(result, Ok(0));
        let expect = &pattern()[skip as usize..][..bytes as usize];
        assert_eq!(memory.bytes(BUFFER, bytes as usize).unwrap(), expect, "{skip} {bytes}");
        let counters = cluster.counters()[0];
        assert_eq!((counters.dma_transfers, counters.dma_bytes), (2, 2 * u64::from(bytes)));
        assert!(counters.sleeps.dma > u64::from(bytes) / 8);
    }
}

#[test]
fn a_transfer_takes_its_latency_and_eight_bytes_a_cycle() {
    let cycles = |bytes| {
        let mut code = Code::default();
        transfer(&mut code, BUFFER, u64::from(L1), bytes);
        wait(&mut code);
        run(&one_core(&[]), code.exit(ZERO), &mut host()).1.cycle()
    };
    assert_eq!(cycles(0x2000) - cycles(0x1000), 0x1000 / 8);
    assert_eq!(cycles(16) - cycles(8), 1);
}

#[test]
fn rows_with_distances_are_one_transfer() {
    let mut code = Code::default();
    code.li(T0, DMA).li(T1, 100).op(sw(T1, T0, 0x14)).li(T1, 16).op(sw(T1, T0, 0x18));
    code.li(T1, 5).op(sw(T1, T0, 0x1c));
    transfer(&mut code, BUFFER, u64::from(L1), 16);
    wait(&mut code);
    // The next one has one row again.
    transfer(&mut code, BUFFER + 1000, u64::from(L1) + 80, 16);
    wait(&mut code);
    let (result, cluster) = run(&one_core(&[]), code.exit(ZERO), &mut host());
    assert_eq!(result, Ok(0));
    let mut found = vec![0; 112];
    assert!(cluster.read(L1, &mut found));
    let from = pattern();
    let starts = [0, 100, 200, 300, 400, 1000];
    let mut expect: Vec<u8> = starts.iter().flat_map(|it| from[*it..it + 16].to_vec()).collect();
    expect.resize(112, 0);
    assert_eq!(found, expect);
}

#[test]
fn who_does_not_wait_sees_what_was_there_before() {
    let mut code = Code::default();
    code.li(A2, L1 + 0x1000);
    transfer(&mut code, BUFFER, u64::from(L1), 0x1004);
    code.op(lw(A3, A2, 0));
    wait(&mut code);
    code.op(lw(A4, A2, 0)).op(r(0x33, 0, 3, A0, A3, A4)).op(r(0x33, 0, 6, A0, A0, A3)).exit(A0);
    // `a3 < a4`, or `a3` itself, which was 0.
    assert_eq!(run(&one_core(&[]), &code, &mut host()).0, Ok(1));
}

#[test]
fn a_full_queue_makes_the_core_wait_and_loses_nothing() {
    let mut code = Code::default();
    for it in 0..6 {
        transfer(&mut code, BUFFER + 0x100 * it, u64::from(L1) + 0x100 * it, 0x100);
    }
    wait(&mut code);
    let (result, cluster) = run(&one_core(&[]), code.exit(A0), &mut host());
    assert_eq!(result, Ok(6), "numbers are in order");
    let mut found = vec![0; 0x600];
    assert!(cluster.read(L1, &mut found));
    assert_eq!(found, pattern()[..0x600]);
}

#[test]
fn channels_hide_each_others_latency() {
    let cycles = |channels: &str| {
        let mut code = Code::default();
        for it in 0..2 {
            transfer(&mut code, BUFFER + 0x100 * it, u64::from(L1) + 0x100 * it, 0x100);
        }
        wait(&mut code);
        run(&one_core(&[("channels = 1", channels)]), code.exit(A0), &mut host()).1.cycle()
    };
    let (one, two) = (cycles("channels = 1"), cycles("channels = 2"));
    assert!(two < one, "{two} with two, {one} with one");
}

#[test]
fn channels_share_the_path_to_memory() {
    let mut code = Code::default();
    for it in 0..2 {
        transfer(&mut code, BUFFER + 0x1000 * it, u64::from(L1) + 0x1000 * it, 0x1000);
    }
    wait(&mut code);
    let (_, cluster) =
        run(&one_core(&[("channels = 1", "channels = 2")]), code.exit(A0), &mut host());
    let cycles = cluster.cycle();
    assert!((0x2000 / 8..0x2000 / 8 + 200).contains(&cycles), "{cycles}");
}

#[test]
fn a_busy_engine_and_cores_share_the_banks() {
    let waits = |bytes| {
        let mut code = Code::default();
        transfer(&mut code, BUFFER, u64::from(L1), bytes);
        code.li(A2, L1 + 0x8000).li(A3, 400);
        code.op(lw(A4, A2, 0)).op(addi(A3, A3, -1)).op(bne(A3, ZERO, -8));
        wait(&mut code);
        run(&one_core(&[]), code.exit(ZERO), &mut host()).1.counters()[0].stalls.conflict
    };
    assert_eq!(waits(0), 0);
    let during = waits(0x2000);
    assert!((10..400).contains(&during), "{during}");
}

#[test]
fn transfers_of_nothing_and_waits_for_nothing_are_over_at_once() {
    let mut code = Code::default();
    transfer(&mut code, 0x66_0000_0000, 0, 0);
    wait(&mut code);
    code.li(A0, 99);
    wait(&mut code);
    code.op(lw(A2, T0, 0x24)).op(lw(A0, T0, 0x28)).op(add(A0, A0, A2)).exit(A0);
    let (result, cluster) = run(&one_core(&[]), &code, &mut host());
    assert_eq!(result, Ok(1), "done, and none is under way");
    assert_eq!(cluster.counters()[0].sleeps.dma, 0);
}

#[test]
fn a_refused_transfer_names_the_instruction_that_started_it() {
    let missing = 0x40_0000_0000;
    for (from, to, address, refusal) in [
        (missing, u64::from(L1), missing, Refusal::Unmapped),
        (u64::from(L1), missing, missing, Refusal::Unmapped),
        (u64::from(L1), 0x9_0000_0000, 0x9_0000_0000, Refusal::ReadOnly),
        (BUFFER, u64::from(L1) + 0x3_fff0, u64::from(L1) + 0x3_fff0, Refusal::Unmapped),
    ] {
        let mut code = Code::default();
        transfer(&mut code, from, to, 32);
        let start = CODE + 4 * (code.0.len() as u32 - 1);
        code.op(jal(ZERO, 0));
        let mut cluster = with_code(&one_core(&[]), &code.0);
        let fault = cluster.run(&mut host(), Some(10_000)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Transfer { id: 1, address, bytes: 32, refusal });
        assert_eq!(fault.pc, start);
    }
}

#[test]
fn an_engine_of_32_bits_says_so() {
    let mut code = Code::default();
    transfer(&mut code, BUFFER, u64::from(L1), 32);
    let narrow = one_core(&[("address-bits = 64", "address-bits = 32")]);
    let (result, _) = run(&narrow, &code, &mut host());
    assert_eq!(result, Err(FaultKind::TransferBeyond { address: BUFFER }));
}

#[test]
fn overlapping_bytes_move_forward_in_bursts() {
    let mut code = Code::default();
    transfer(&mut code, u64::from(L1), u64::from(L1) + 256, 768);
    wait(&mut code);
    let mut cluster = with_code(&one_core(&[]), &code.exit(ZERO).0);
    cluster.write(L1, &pattern()[..256]);
    cluster.run(&mut host(), None).unwrap();
    let mut found = vec![0; 1024];
    assert!(cluster.read(L1, &mut found));
    assert_eq!(found, pattern()[..256].repeat(4));
}

/// Everybody arrives at a barrier after some work; nobody leaves early.
#[test]
fn a_barrier_lets_all_go_on_together() {
    let mut code = Code::default();
    code.op(csrr(A0, MHARTID)).op(i(0x13, 1, A1, A0, 4)).op(addi(A1, A1, 1));
    code.op(addi(A1, A1, -1)).op(bne(A1, ZERO, -4));
    code.op(csrr(A2, CYCLE)).li(T0, BARRIER + 4).op(lw(T1, T0, 0)).op(csrr(A3, CYCLE));
    // Before and after, side by side in the scratchpad.
    code.op(i(0x13, 1, A0, A0, 3)).li(A4, L1).op(add(A4, A4, A0));
    code.op(sw(A2, A4, 0)).op(sw(A3, A4, 4)).op(lw(T1, T0, 0)).exit(ZERO);
    let mut config = config(&[]);
    config.instruction_cache = None;
    let (result, cluster) = run(&config, &code, &mut host());
    assert_eq!(result, Ok(0));
    let mut found = [0; 64];
    assert!(cluster.read(L1, &mut found));
    let words: Vec<u32> =
        found.chunks(4).map(|it| u32::from_le_bytes(it.try_into().unwrap())).collect();
    let last_before = words.iter().step_by(2).max().unwrap();
    let after: Vec<u32> = words.iter().skip(1).step_by(2).copied().collect();
    // Two instructions make the address; eleven cycles later all are awake.
    assert_eq!(after, [last_before + 3 + 11; 8]);
    assert!(cluster.counters()[0].sleeps.barrier > cluster.counters()[7].sleeps.barrier);
}

#[test]
fn a_barrier_can_be_for_some_cores_only() {
    let mut code = Code::default();
    // Cores from 3 on sleep; the others meet at barrier 2.
    code.op(csrr(A0, MHARTID)).li(A1, 3).op(r(0x33, 0, 3, A2, A0, A1)).op(bne(A2, ZERO, 12));
    code.op(WFI).op(jal(ZERO, 0));
    code.li(T0, BARRIER + 32).op(sw(A1, T0, 0)).op(lw(A3, T0, 0)).op(lw(T1, T0, 4)).exit(A3);
    assert_eq!(run(&config(&[]), &code, &mut host()).0, Ok(3));
}

#[test]
fn events_wake_those_they_are_for() {
    let mut code = Code::default();
    code.op(csrr(A0, MHARTID)).op(bne(A0, ZERO, 48)).li(T0, EVENT_WAIT);
    // Core 0 raises events 3 and 5 for cores 1 and 2, and waits for event 0.
    code.li(A1, 0b110).op(sw(A1, T0, 0x40 + 12)).op(sw(A1, T0, 0x40 + 20));
    code.op(lw(A2, T0, 0)).exit(A2);
    assert_eq!(code.0.len(), 13, "where the branch goes");
    // The others wait; core 2 then raises event 0 for core 0 with what it was told.
    code.li(T0, EVENT_WAIT).op(lw(A2, T0, 0)).li(A3, 2).op(beq(A0, A3, 8)).op(WFI);
    code.li(A1, 1).op(sw(A1, T0, 0x40)).op(WFI).op(jal(ZERO, -4));
    let (result, cluster) = run(&config(&[]), &code, &mut host());
    assert_eq!(result, Ok(1));
    assert!(
        matches!(cluster.register(2, 12), 0b1000 | 0b10_1000),
        "event 3, and 5 if it came in time"
    );
    assert_eq!(cluster.register(3, 12), 0, "nobody woke core 3");
}

#[test]
fn an_event_ends_one_wait() {
    let mut code = Code::default();
    code.li(T0, EVENT_WAIT).li(A1, 1).op(sw(A1, T0, 0x44)).op(lw(A2, T0, 0)).op(lw(A3, T0, 0));
    let mut cluster = with_code(&one_core(&[]), &code.0);
    let fault = cluster.run(&mut host(), None).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Deadlock { waiting: vec![(0, Wait::Event)] });
    assert_eq!(fault.registers[A2 as usize], 2, "the first wait was told of event 1");
    // It was there already: the wait took as long as the description says, and nobody slept.
    assert_eq!(cluster.counters()[0].stalls.event, 3);
}

#[test]
fn the_end_of_a_transfer_is_an_event_for_who_asks() {
    let mut code = Code::default();
    transfer(&mut code, BUFFER, u64::from(L1), 64);
    code.li(T0, EVENT_WAIT).li(A1, 1 << 16).op(sw(A1, T0, 4)).op(lw(A0, T0, 0)).exit(A0);
    assert_eq!(run(&one_core(&[]), &code, &mut host()).0, Ok(1 << 16));
}

#[test]
fn cores_that_wait_for_ever_are_reported() {
    // Core 5 does not come.
    let mut code = Code::default();
    code.op(csrr(A0, MHARTID)).li(A1, 5).op(beq(A0, A1, 20));
    code.li(T0, BARRIER + 4).op(lw(T1, T0, 0)).op(WFI).op(WFI);
    let mut cluster = with_code(&config(&[]), &code.0);
    let fault = cluster.run(&mut host(), None).unwrap_err();
    let FaultKind::Deadlock { waiting } = &fault.kind else { panic!("{fault}") };
    let expect: Vec<(u32, Wait)> =
        (0..8).map(|it| (it, if it == 5 { Wait::Event } else { Wait::Barrier(0) })).collect();
    assert_eq!(*waiting, expect);
    assert!(fault.to_string().contains("core 5 for an event"), "{fault}");
}

#[test]
fn a_core_that_fails_ends_the_wait_of_the_others() {
    let mut code = Code::default();
    code.op(csrr(A0, MHARTID)).li(A1, 6).op(beq(A0, A1, 16));
    code.li(T0, BARRIER + 4).op(lw(T1, T0, 0)).op(EBREAK);
    let mut cluster = with_code(&config(&[]), &code.0);
    let fault = cluster.run(&mut host(), None).unwrap_err();
    assert_eq!((fault.kind, fault.core), (FaultKind::Breakpoint, 6));
}

#[test]
fn who_starts_again_waits_for_nothing() {
    let mut code = Code::default();
    transfer(&mut code, BUFFER, u64::from(L1), 0x2000);
    transfer(&mut code, BUFFER, u64::from(L1), 0x2000);
    wait(&mut code);
    let again = CODE + 4 * code.0.len() as u32;
    // Longer than the transfers take.
    code.li(A3, 2000).op(addi(A3, A3, -1)).op(bne(A3, ZERO, -4)).exit(A3);
    for queue in ["queue-per-core = 2", "queue-per-core = 1"] {
        let mut cluster = with_code(&config(&[("queue-per-core = 2", queue)]), &code.0);
        assert_eq!(cluster.run(&mut host(), Some(300)).unwrap(), Stop::Paused);
        cluster.start(again);
        assert_eq!(cluster.run(&mut host(), None).unwrap(), Stop::Exited(0));
        let counters = cluster.counters();
        assert!(counters.iter().all(|it| it.instructions < 4200), "{counters:#?}");
        assert_eq!(counters.iter().map(|it| it.cycles()).max(), Some(cluster.cycle()));
    }
}

/// Looks on.
#[derive(Default)]
struct Log {
    steps: Vec<Step>,
    events: Vec<Event>,
}

impl Observer for Log {
    const LOOKS: bool = true;

    fn step(&mut self, step: &Step) {
        self.steps.push(*step);
    }

    fn event(&mut self, event: &Event) {
        self.events.push(*event);
    }
}

#[test]
fn a_trace_tells_every_instruction_and_event_and_changes_nothing() {
    let mut code = Code::default();
    transfer(&mut code, BUFFER, u64::from(L1), 64);
    wait(&mut code);
    code.li(T0, BARRIER + 4).op(lw(T1, T0, 0)).exit(ZERO);
    let config = config(&[("queue-per-core = 2", "queue-per-core = 1")]);
    let (_, plain) = run(&config, &code, &mut host());
    let mut traced = with_code(&config, &code.0);
    let mut log = Log::default();
    traced.run_observed(&mut host(), None, &mut log).unwrap();
    assert_eq!(traced.counters(), plain.counters());
    let instructions: u64 = traced.counters().iter().map(|it| it.instructions).sum();
    assert_eq!(log.steps.len() as u64, instructions);
    let count = |is: fn(&Event) -> bool| log.events.iter().filter(|it| is(it)).count();
    assert_eq!(count(|it| matches!(it, Event::TransferStarts { bytes: 64, from: BUFFER, .. })), 8);
    assert_eq!(count(|it| matches!(it, Event::TransferEnds { .. })), 8);
    assert_eq!(count(|it| matches!(it, Event::Sleeps { wait: Wait::Barrier(0), .. })), 8);
    assert_eq!(count(|it| matches!(it, Event::Sleeps { wait: Wait::Dma(_), .. })), 8);
    assert_eq!(
        count(|it| matches!(it, Event::Sleeps { .. })),
        count(|it| matches!(it, Event::Wakes { .. }))
    );
    for core in 0..8 {
        let times: Vec<u64> =
            log.steps.iter().filter(|it| it.core == core).map(|it| it.cycle).collect();
        assert!(times.is_sorted());
    }
}

#[test]
fn a_trace_can_be_read() {
    let mut code = Code::default();
    code.li(A1, L1).op(addi(A0, ZERO, 42)).op(sw(A0, A1, 0)).op(lw(A2, A1, 0)).exit(ZERO);
    let mut cluster = with_code(&one_core(&[]), &code.0);
    let mut trace = TextTrace { out: String::new() };
    cluster.run_observed(&mut host(), None, &mut trace).unwrap();
    let lines: Vec<&str> = trace.out.lines().collect();
    assert_eq!(lines[2], "         2 core 0 1c000008 addi a0=0x2a");
    assert_eq!(lines[3], "         3 core 0 1c00000c sw");
    assert_eq!(lines[4], "         4 core 0 1c000010 lw a2=0x2a");
}
