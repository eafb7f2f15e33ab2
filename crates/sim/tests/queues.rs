//! Hardware queues, and data caches that nobody keeps alike.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use common::asm::*;
use sim::{Cluster, Config, End, FaultKind, NoMemory, Stop, WritePolicy};

const CODE: u32 = 0x1400_0000;
const NEAR: u32 = 0x1080_0000;
/// Data in the accelerator's memory, behind the code.
const DATA: u32 = 0x1410_0000;
const EXIT: u32 = 0x1020_3000;
const CACHE: u32 = 0x1020_5000;
const QUEUE: u32 = 0x1022_0000;

fn config(cores: u32) -> Config {
    let mut config = Config::preset("keystone2-incoherent").unwrap();
    config.cores.count = cores;
    config
}

fn begin(config: &Config, code: &Code) -> Cluster {
    let mut cluster = Cluster::new(config);
    let bytes: Vec<u8> = code.0.iter().flat_map(|it| it.to_le_bytes()).collect();
    assert!(cluster.load_code(CODE, &bytes));
    cluster.start(CODE);
    cluster
}

fn run(cluster: &mut Cluster) -> Result<u32, FaultKind> {
    match cluster.run(&mut NoMemory, Some(1_000_000)) {
        Ok(Stop::Exited(status)) => Ok(status),
        Ok(other) => panic!("{other:?}"),
        Err(fault) => Err(fault.kind),
    }
}

/// Ends the program with what is in `a0`.
fn exit(code: &mut Code) {
    code.li(T0, EXIT).op(sw(A0, T0, 0));
}

fn store(code: &mut Code, at: u32, value: u32) {
    code.li(T0, at).li(T1, value).op(sw(T1, T0, 0));
}

fn flush(code: &mut Code, at: u32, bytes: u32, work: u32) {
    for (offset, value) in [(0, at), (4, bytes), (8, work)] {
        store(code, CACHE + offset, value);
    }
}

#[test]
fn descriptors_come_out_at_the_tail() {
    for (manager, queue) in [(0, 0), (0, 8191), (1, 7), (1, 8191)] {
        let at = QUEUE + 0x2_0000 * manager + 16 * queue;
        let mut code = Code::default();
        // 1 2 at the tail, 3 at the head: 2, 1, 3 come out, then nothing.
        for (offset, value) in [(4, 1), (4, 2), (0, 3)] {
            store(&mut code, at + offset, value);
        }
        code.li(T0, at).op(lw(A3, T0, 12)).li(A4, 0).li(T1, 16);
        for _ in 0..4 {
            code.op(lw(A1, T0, 8)).op(mul(A4, A4, T1)).op(add(A4, A4, A1));
        }
        code.op(add(A0, A4, A3));
        exit(&mut code);
        assert_eq!(run(&mut begin(&config(1), &code)), Ok(0x2130 + 3), "{manager} {queue}");
    }
}

#[test]
fn a_descriptor_is_in_one_queue() {
    for (first, second) in [(0x100, 0x100), (0x100, 0), (0, 0x100)] {
        let mut code = Code::default();
        store(&mut code, QUEUE + 4, first);
        store(&mut code, QUEUE + 0x2_0000, second);
        exit(&mut code);
        let descriptor = if first == 0 { first } else { second };
        assert_eq!(run(&mut begin(&config(1), &code)), Err(FaultKind::Queued { descriptor }));
    }
}

#[test]
fn the_host_has_the_other_end() {
    let mut code = Code::default();
    code.li(T0, QUEUE).op(lw(A0, T0, 8)).op(sw(A0, T0, 16));
    exit(&mut code);
    let mut cluster = begin(&config(1), &code);
    assert!(cluster.push((0, 0), End::Head, 0x500) && !cluster.push((0, 1), End::Tail, 0x500));
    assert!(!cluster.push((2, 0), End::Head, 0x600) && !cluster.push((0, 8192), End::Head, 0x600));
    assert_eq!(run(&mut cluster), Ok(0x500));
    assert_eq!((cluster.pop((0, 1)), cluster.pop((0, 1))), (Some(0x500), None));
}

#[test]
fn queues_that_are_not_there_are_no_registers() {
    let mut code = Code::default();
    code.li(T0, QUEUE).op(lw(A0, T0, 0));
    assert!(matches!(run(&mut begin(&config(1), &code)), Err(FaultKind::NoRegister { .. })));
    let mut without = config(1);
    without.queues = None;
    let mut code = Code::default();
    code.li(T0, QUEUE).op(lw(A0, T0, 8));
    assert!(matches!(run(&mut begin(&without, &code)), Err(FaultKind::NoRegister { .. })));
}

/// Core 0 reads the word, core 1 writes 7 and may write it back, core 0 may invalidate and reads again.
fn two(flushes: bool, invalidates: bool) -> Code {
    let mut code = Code::default();
    code.op(csrr(A2, MHARTID)).li(T2, DATA);
    let first = code.0.len();
    code.op(NOP).op(lw(A0, T2, 0));
    store(&mut code, NEAR, 1);
    code.li(T0, NEAR + 4).op(lw(A1, T0, 0)).op(beq(A1, ZERO, -4));
    if invalidates {
        flush(&mut code, DATA, 4, 2);
    }
    code.op(lw(A0, T2, 0));
    exit(&mut code);
    let second = code.0.len();
    code.li(T0, NEAR).op(lw(A1, T0, 0)).op(beq(A1, ZERO, -4));
    code.li(T1, 7).op(sw(T1, T2, 0));
    if flushes {
        flush(&mut code, DATA, 4, 1);
    }
    store(&mut code, NEAR + 4, 1);
    code.op(beq(ZERO, ZERO, 0));
    code.0[first] = bne(A2, ZERO, 4 * (second - first) as i32);
    code
}

#[test]
fn a_core_sees_what_was_written_back_and_invalidated() {
    for (flushes, invalidates, expected) in
        [(true, true, 7), (true, false, 0), (false, true, 0), (false, false, 0)]
    {
        let code = two(flushes, invalidates);
        assert_eq!(run(&mut begin(&config(2), &code)), Ok(expected));
        let mut checked = begin(&config(2), &code);
        checked.check_caches();
        let address = u64::from(DATA);
        let found = match (flushes, invalidates) {
            (true, true) => Ok(7),
            (true, false) => Err(FaultKind::OldCopy { address }),
            (false, _) => Err(FaultKind::NotFlushed { address, writer: 1 }),
        };
        assert_eq!(run(&mut checked), found);
    }
}

#[test]
fn what_is_written_through_needs_no_flush_but_old_copies_stay_old() {
    let mut config = config(2);
    config.data_cache.as_mut().unwrap().policy = WritePolicy::WriteThrough;
    assert_eq!(run(&mut begin(&config, &two(false, true))), Ok(7));
    assert_eq!(run(&mut begin(&config, &two(false, false))), Ok(0));
    let mut checked = begin(&config, &two(false, false));
    checked.check_caches();
    assert_eq!(run(&mut checked), Err(FaultKind::OldCopy { address: u64::from(DATA) }));
}

/// Each core writes its word of a line and writes it back, one after the other; the status has both.
#[test]
fn a_line_that_two_cores_write_loses_a_word() {
    let mut code = Code::default();
    code.op(csrr(A2, MHARTID)).li(T2, DATA);
    let branch = code.0.len();
    code.op(NOP).li(T1, 1).op(sw(T1, T2, 0));
    store(&mut code, NEAR, 1);
    code.li(T0, NEAR + 4).op(lw(A1, T0, 0)).op(beq(A1, ZERO, -4));
    flush(&mut code, DATA, 128, 3);
    code.op(lw(A0, T2, 0)).op(lw(A1, T2, 4)).op(add(A0, A0, A1));
    exit(&mut code);
    let second = code.0.len();
    code.li(T0, NEAR).op(lw(A1, T0, 0)).op(beq(A1, ZERO, -4));
    code.li(T1, 2).op(sw(T1, T2, 4));
    flush(&mut code, DATA, 128, 3);
    store(&mut code, NEAR + 4, 1);
    code.op(beq(ZERO, ZERO, 0));
    code.0[branch] = bne(A2, ZERO, 4 * (second - branch) as i32);
    assert_eq!(run(&mut begin(&config(2), &code)), Ok(1), "the second core's word is lost");
    let mut checked = begin(&config(2), &code);
    checked.check_caches();
    let shared = FaultKind::SharedLine { address: u64::from(DATA), other: 0 };
    assert_eq!(run(&mut checked), Err(shared));
}

#[test]
fn a_line_makes_room_and_is_written_back() {
    // Three lines of one set of two: the first is written back.
    let mut code = Code::default();
    for number in 0..3 {
        store(&mut code, DATA + 0x4000 * number, number + 5);
    }
    code.li(A0, 0);
    exit(&mut code);
    let mut cluster = begin(&config(1), &code);
    assert_eq!(run(&mut cluster), Ok(0));
    let word = |at: u32| {
        let mut bytes = [0; 4];
        assert!(cluster.read(at, &mut bytes));
        u32::from_le_bytes(bytes)
    };
    assert_eq!([word(DATA), word(DATA + 0x4000), word(DATA + 0x8000)], [5, 0, 0]);
}

#[test]
fn cores_with_such_caches_have_no_atomic_instructions() {
    let (_, text) = sim::PRESETS.into_iter().find(|it| it.0 == "keystone2-incoherent").unwrap();
    let error = Config::from_toml(&text.replace("[\"m\", ", "[\"m\", \"a\", ")).unwrap_err();
    assert!(error.to_string().contains("`a` needs memory that all see alike"), "{error}");
    let error = Config::from_toml(&text.replace("line = 128", "line = 256")).unwrap_err();
    assert!(error.to_string().contains("`data-cache.line` must be from 8 to 128"), "{error}");
    let error = Config::from_toml(&text.replace("managers = 2", "managers = 3")).unwrap_err();
    assert!(error.to_string().contains("`queues.managers`"), "{error}");
}
