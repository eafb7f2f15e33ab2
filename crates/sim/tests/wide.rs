//! Addresses of 64 bits: the extension register, its control register, wide loads and stores.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use common::asm::*;
use common::{CODE, L1, config, one_core, with_code};
use sim::{Cluster, Config, FaultKind, HostMemory, PrivateMemory, Refusal, Stop};

const REGISTER: u32 = 0x1020_0bf8;
/// Two buffers with the same lower half, one that looks like the scratchpad, one across a 4 GiB boundary.
const FIRST: u64 = 0x7f12_8000_0000;
const SECOND: u64 = 0x0001_8000_0000;
const LOOKS_NEAR: u64 = 0x0005_1000_0000;
const ACROSS: u64 = 0x0002_ffff_ff00;

fn host() -> PrivateMemory {
    let mut host = PrivateMemory::new();
    host.map(FIRST, vec![0x11; 64]);
    host.map(SECOND, vec![0x22; 64]);
    host.map(LOOKS_NEAR, vec![0x33; 64]);
    host.map(ACROSS, (0..=255).cycle().take(512).map(|it: u8| it.wrapping_mul(7)).collect());
    host
}

/// How an address of 64 bits is made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Register,
    Csr,
    Instruction,
}

const ALL: [By; 3] = [By::Instruction, By::Csr, By::Register];

/// Loads `width` from `address` into `a0`; by an instruction, a pair goes into `a0` and `a1`.
fn wide(by: By, code: &mut Code, width: u32, address: u64) {
    code.li(A2, address as u32).li(A3, (address >> 32) as u32).li(T0, REGISTER);
    match by {
        By::Register => {
            code.op(mask_interrupts(T1)).op(sw(A3, T0, 0)).op(load(width, A0, A2, 0));
            code.op(csrw(MSTATUS, T1));
        }
        By::Csr => {
            code.op(csrw(EXTENSION, A3)).op(load(width, A0, A2, 0));
        }
        By::Instruction => {
            code.op(wide_load(width, A0, A2, A3));
        }
    }
}

fn wide_store_of(by: By, code: &mut Code, width: u32, address: u64, value: u32) {
    code.li(A2, address as u32).li(A3, (address >> 32) as u32).li(T0, REGISTER).li(A4, value);
    match by {
        By::Register => {
            code.op(mask_interrupts(T1)).op(sw(A3, T0, 0)).op(store(width, A4, A2, 0));
            code.op(csrw(MSTATUS, T1));
        }
        By::Csr => {
            code.op(csrw(EXTENSION, A3)).op(store(width, A4, A2, 0));
        }
        By::Instruction => {
            code.op(wide_store(width, A4, A2, A3));
        }
    }
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

/// What the program finds in `a0`.
#[track_caller]
fn value(config: &Config, code: &mut Code) -> u32 {
    code.exit(A0);
    run(config, code, &mut host()).0.unwrap()
}

#[test]
fn every_way_reaches_the_same_memory_and_costs_less_the_more_it_changes() {
    let mut cycles = Vec::new();
    for by in ALL {
        for (address, expect) in
            [(FIRST, 0x1111_1111), (SECOND, 0x2222_2222), (LOOKS_NEAR, 0x3333_3333)]
        {
            let mut code = Code::default();
            wide(by, &mut code, WORD, address);
            assert_eq!(value(&one_core(&[]), &mut code), expect, "{by:?} {address:#x}");
        }
        let mut code = Code::default();
        wide(by, &mut code, WORD, FIRST);
        code.exit(A0);
        let (_, cluster) = run(&one_core(&[]), &code, &mut host());
        cycles.push(cluster.cycle());
        let counted = cluster.counters()[0].wide;
        let expect = [by == By::Register, by == By::Csr, by == By::Instruction].map(u64::from);
        assert_eq!([counted.register, counted.csr, counted.instruction], expect);
    }
    assert!(cycles.is_sorted(), "{cycles:?}");
}

#[test]
fn widths_have_their_signs() {
    let mut memory = host();
    memory.write(FIRST, &[0x80, 0xff, 0x7f, 0x80]).unwrap();
    for by in ALL {
        for (width, expect) in
            [(0, 0xffff_ff80), (1, 0xffff_ff80), (2, 0x807f_ff80), (4, 0x80), (5, 0xff80)]
        {
            let mut code = Code::default();
            wide(by, &mut code, width, FIRST);
            code.exit(A0);
            let found = run(&one_core(&[]), &code, &mut memory).0.unwrap();
            assert_eq!(found, expect, "{by:?} width {width}");
        }
        for (width, expect) in [(BYTE, 0x2222_2278), (HALF, 0x2222_5678), (WORD, 0x1234_5678)] {
            let mut code = Code::default();
            wide_store_of(by, &mut code, width, SECOND, 0x1234_5678);
            code.exit(ZERO);
            let mut memory = host();
            run(&one_core(&[]), &code, &mut memory).0.unwrap();
            let found = memory.bytes(SECOND, 4).unwrap();
            assert_eq!(u32::from_le_bytes(found.try_into().unwrap()), expect, "{by:?} {width}");
        }
    }
}

#[test]
fn a_pair_of_registers_moves_64_bits() {
    let mut code = Code::default();
    wide(By::Instruction, &mut code, PAIR, ACROSS + 0x80);
    code.li(A2, FIRST as u32).li(A3, (FIRST >> 32) as u32);
    code.op(wide_store(PAIR, A0, A2, A3)).exit(ZERO);
    let mut memory = host();
    run(&one_core(&[]), &code, &mut memory).0.unwrap();
    let expect = memory.bytes(ACROSS + 0x80, 8).unwrap().to_vec();
    assert_eq!(memory.bytes(FIRST, 8).unwrap(), expect);
}

#[test]
fn an_odd_pair_is_no_instruction() {
    for odd in [wide_load(PAIR, A1, A2, A3), wide_store(PAIR, A1, A2, A3)] {
        let (result, _) = run(&one_core(&[]), Code::default().op(odd), &mut host());
        assert_eq!(result, Err(FaultKind::Illegal { bits: odd }));
    }
}

#[test]
fn an_upper_half_of_zero_is_an_ordinary_address() {
    for by in ALL {
        let mut code = Code::default();
        code.li(A1, L1).li(A4, 77).op(sw(A4, A1, 16));
        wide(by, &mut code, WORD, u64::from(L1) + 16);
        assert_eq!(value(&one_core(&[]), &mut code), 77, "{by:?}");
    }
}

#[test]
fn the_extension_is_gone_after_one_access() {
    for by in [By::Register, By::Csr] {
        let mut code = Code::default();
        code.li(A1, L1).li(A4, 55).op(sw(A4, A1, 0));
        wide(by, &mut code, WORD, LOOKS_NEAR);
        // The same lower half again: now it is the scratchpad.
        code.op(lw(A0, A2, 0));
        assert_eq!(value(&one_core(&[]), &mut code), 55, "{by:?}");
    }
}

#[test]
fn while_it_is_set_every_access_leaves_even_to_the_register_itself() {
    let mut code = Code::default();
    code.li(A3, 9).li(T0, REGISTER).op(sw(A3, T0, 0)).op(sw(A3, T0, 0)).exit(A0);
    let (result, _) = run(&one_core(&[]), &code, &mut host());
    let address = 9 << 32 | u64::from(REGISTER);
    assert!(
        matches!(result, Err(FaultKind::Unmapped { address: it, .. }) if it == address),
        "{result:?}"
    );
}

#[test]
fn what_a_cluster_lacks_is_refused() {
    for (by, from, to) in [
        (By::Register, "register = true", "register = false"),
        (By::Csr, "csr = true", "csr = false"),
        (By::Instruction, "instructions = true", "instructions = false"),
    ] {
        let mut code = Code::default();
        wide(by, &mut code, WORD, FIRST);
        let (result, _) = run(&one_core(&[(from, to)]), code.exit(A0), &mut host());
        let is_refused =
            matches!(result, Err(FaultKind::Illegal { .. } | FaultKind::NoRegister { .. }));
        assert!(is_refused, "{by:?}: {result:?}");
    }
}

/// At every offset, in every memory, by every width and way: what bytes say.
#[test]
fn misaligned_accesses_find_their_bytes() {
    let pattern: Vec<u8> = (0..32).map(|it: u8| it.wrapping_mul(9) + 1).collect();
    let (near, code_place) = (u64::from(L1) + 64, u64::from(CODE) + 0x1000);
    let run = |code: &Code| {
        let mut cluster = with_code(&one_core(&[]), &code.0);
        cluster.write(L1 + 64, &pattern);
        cluster.write(CODE + 0x1000, &pattern);
        let mut memory = host();
        memory.write(FIRST, &pattern).unwrap();
        let stop = cluster.run(&mut memory, None).unwrap();
        (stop, cluster, memory)
    };
    for start in [near, code_place, FIRST] {
        for (by, offset) in ALL.into_iter().flat_map(|by| (0..8).map(move |it| (by, it))) {
            for (width, bytes) in [(HALF, 2), (WORD, 4)] {
                let what = format!("{by:?}, {start:#x} + {offset}, {bytes} bytes");
                let mut code = Code::default();
                wide(by, &mut code, width, start + offset);
                let (found, ..) = run(code.exit(A0));
                let mut expect = [0; 4];
                let from = &pattern[offset as usize..][..bytes];
                expect[..bytes].copy_from_slice(from);
                let expect = match width {
                    HALF => u32::from_le_bytes(expect) as i16 as u32,
                    _ => u32::from_le_bytes(expect),
                };
                assert_eq!(found, Stop::Exited(expect), "{what}");
                let mut code = Code::default();
                wide_store_of(by, &mut code, width, start + offset, 0x8899_aabb);
                let (_, cluster, memory) = run(code.exit(ZERO));
                let mut expect = pattern.clone();
                expect[offset as usize..][..bytes]
                    .copy_from_slice(&0x8899_aabb_u32.to_le_bytes()[..bytes]);
                let mut found = vec![0; 32];
                match start == FIRST {
                    true => found.copy_from_slice(memory.bytes(FIRST, 32).unwrap()),
                    false => assert!(cluster.read(start as u32, &mut found)),
                }
                assert_eq!(found, expect, "{what}, stored");
            }
        }
    }
}

/// A core that failed with the extension set starts again without.
#[test]
fn a_fault_leaves_no_extension_behind() {
    for by in [By::Register, By::Csr] {
        let mut code = Code::default();
        wide(by, &mut code, WORD, 0x40_0000_0000);
        let again = CODE + 4 * code.0.len() as u32;
        code.li(A1, L1).li(A4, 66).op(sw(A4, A1, 0)).op(lw(A0, A1, 0)).exit(A0);
        let mut cluster = with_code(&one_core(&[]), &code.0);
        assert!(cluster.run(&mut host(), None).is_err(), "nothing is there");
        cluster.start(again);
        assert_eq!(cluster.run(&mut host(), None).unwrap(), Stop::Exited(66), "{by:?}");
    }
}

#[test]
fn an_access_across_4_gib_carries_where_the_hardware_does() {
    let boundary = 0x0003_0000_0000;
    for (address, width) in [(boundary - 2, WORD), (boundary - 1, HALF)] {
        let mut expect = [0; 4];
        let bytes = if width == WORD { 4 } else { 2 };
        host().read(address, &mut expect[..bytes]).unwrap();
        let expect = match width {
            HALF => u32::from_le_bytes(expect) as i16 as u32,
            _ => u32::from_le_bytes(expect),
        };
        let carries = one_core(&[("carry = false", "carry = true")]);
        for by in ALL {
            let mut code = Code::default();
            wide(by, &mut code, width, address);
            assert_eq!(value(&carries, &mut code), expect, "{by:?} {address:#x}");
        }
        // As in HERO: the second half is looked for at the beginning of the same 4 GiB.
        let mut code = Code::default();
        wide(By::Register, &mut code, width, address);
        let (result, _) = run(&one_core(&[]), code.exit(A0), &mut host());
        assert!(matches!(result, Err(FaultKind::Unmapped { .. })), "{result:?}");
        let mut code = Code::default();
        wide(By::Instruction, &mut code, width, address);
        assert_eq!(value(&one_core(&[]), &mut code), expect, "instructions carry always");
    }
    let mut expect = [0; 8];
    host().read(boundary - 4, &mut expect).unwrap();
    let mut code = Code::default();
    wide(By::Instruction, &mut code, PAIR, boundary - 4);
    code.op(r(0x33, 0, 4, A0, A0, A1));
    let both = u32::from_le_bytes(expect[..4].try_into().unwrap())
        ^ u32::from_le_bytes(expect[4..].try_into().unwrap());
    assert_eq!(value(&one_core(&[]), &mut code), both, "64 bits across the boundary");
}

#[test]
fn cores_have_an_extension_each() {
    // Even cores read one buffer, odd ones the other, all at once, many times.
    let mut code = Code::default();
    code.op(csrr(T1, MHARTID)).op(i(0x13, 7, A5, T1, 1)).li(A2, FIRST as u32);
    code.li(A3, (FIRST >> 32) as u32).li(A4, (SECOND >> 32) as u32).li(T0, REGISTER);
    code.op(beq(A5, ZERO, 8)).op(addi(A3, A4, 0)).li(A6, 0).li(A7, 50);
    code.ops(&[
        sw(A3, T0, 0),
        lw(A0, A2, 0),
        add(A6, A6, A0),
        addi(A7, A7, -1),
        bne(A7, ZERO, -16),
    ]);
    // Each leaves its sum in the scratchpad.
    code.li(A1, L1).op(i(0x13, 1, T1, T1, 2)).op(add(A1, A1, T1)).op(sw(A6, A1, 0));
    code.li(T0, 0x1020_4204).op(lw(A0, T0, 0)).exit(ZERO);
    let (result, cluster) = run(&config(&[]), &code, &mut host());
    assert_eq!(result, Ok(0));
    for core in 0..8 {
        let mut sum = [0; 4];
        assert!(cluster.read(L1 + 4 * core, &mut sum));
        let each: u32 = if core % 2 == 0 { 0x1111_1111 } else { 0x2222_2222 };
        assert_eq!(u32::from_le_bytes(sum), each.wrapping_mul(50), "core {core}");
    }
}

#[test]
fn what_the_host_refuses_stops_the_core_or_is_recorded() {
    let mut memory = host();
    memory.map_read_only(0x9_0000_0000, vec![1; 16]);
    for by in ALL {
        for address in [0, 0x40_0000_0000, 0xffff_8000_0000_0000, FIRST + 62] {
            let mut code = Code::default();
            wide(by, &mut code, WORD, address);
            let (result, _) = run(&one_core(&[]), code.exit(A0), &mut memory);
            let is_named = matches!(result, Err(FaultKind::Unmapped { address: it, bytes: 4, .. }) if it == address);
            assert!(is_named, "{by:?} {address:#x}: {result:?}");
        }
        let mut code = Code::default();
        wide_store_of(by, &mut code, WORD, 0x9_0000_0000, 5);
        let (result, _) = run(&one_core(&[]), code.exit(A0), &mut memory);
        assert_eq!(result, Err(FaultKind::ReadOnly { address: 0x9_0000_0000 }), "{by:?}");
    }
    let records = one_core(&[("errors = \"fault\"", "errors = \"record\"")]);
    let mut code = Code::default();
    code.li(A0, 123);
    wide(By::Register, &mut code, WORD, 0x40_0000_0000);
    code.op(addi(A5, A0, 0)).op(lw(A0, T0, 4)).op(lw(A1, T0, 4));
    code.op(i(0x13, 1, A0, A0, 4)).op(add(A0, A0, A1)).op(add(A0, A0, A5));
    let (result, _) = run(&records, code.exit(A0), &mut memory);
    assert_eq!(result, Ok(0x10), "it reads 0; the bit is there once");
}

#[test]
fn atomic_accesses_reach_every_memory() {
    for (address, is_host) in
        [(u64::from(L1), false), (u64::from(CODE) + 0x1000, false), (FIRST, true)]
    {
        let mut code = Code::default();
        code.li(A2, address as u32).li(A3, (address >> 32) as u32).li(A4, 3);
        code.li(A1, 100);
        code.op(csrw(EXTENSION, A3))
            .op(amoadd(A0, A2, A4))
            .op(addi(A1, A1, -1))
            .op(bne(A1, ZERO, -12));
        code.li(T0, 0x1020_4204).op(lw(A0, T0, 0)).exit(ZERO);
        let mut memory = host();
        memory.write(FIRST, &[0; 4]).unwrap();
        let (result, cluster) = run(&config(&[]), &code, &mut memory);
        assert_eq!(result, Ok(0));
        let mut sum = [0; 4];
        match is_host {
            true => memory.read(address, &mut sum).unwrap(),
            false => assert!(cluster.read(address as u32, &mut sum)),
        }
        assert_eq!(u32::from_le_bytes(sum), 8 * 100 * 3, "{address:#x}");
    }
}

/// Memory that says how it was used.
struct Counting {
    updates: u32,
}

impl HostMemory for Counting {
    fn read(&mut self, _: u64, into: &mut [u8]) -> Result<(), Refusal> {
        into.fill(0);
        Ok(())
    }

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), Refusal> {
        Ok(())
    }

    fn update(&mut self, _: u64, change: &mut dyn FnMut(u32) -> u32) -> Result<u32, Refusal> {
        self.updates += 1;
        change(40);
        Ok(40)
    }
}

#[test]
fn atomic_accesses_to_the_host_are_one_call() {
    let mut code = Code::default();
    code.li(A2, 0x8000_0000).li(A4, 3).op(amoadd(A0, A2, A4)).exit(A0);
    let mut cluster = with_code(&one_core(&[]), &code.0);
    let mut memory = Counting { updates: 0 };
    assert_eq!(cluster.run(&mut memory, None).unwrap(), Stop::Exited(40));
    assert_eq!(memory.updates, 1);
}

/// Words of a program that reads a word of the host and changes another, and of a handler behind it that counts in the
/// scratchpad and reads a third; with `masks` the program masks interrupts as it must.
fn interrupted(by: By, masks: bool) -> (Vec<u32>, u32) {
    let mut code = Code::default();
    wide(by, &mut code, WORD, FIRST);
    wide_store_of(by, &mut code, WORD, SECOND, 0x44);
    code.exit(A0);
    if !masks {
        code.0.iter_mut().filter(|it| **it == mask_interrupts(T1)).for_each(|it| *it = NOP);
        code.0.iter_mut().filter(|it| **it == csrw(MSTATUS, T1)).for_each(|it| *it = NOP);
    }
    let handler = CODE + 4 * code.0.len() as u32;
    // What the core was about to do with its control register it does afterwards.
    if by == By::Csr {
        code.op(csrr(RA, EXTENSION)).op(csrw(EXTENSION, ZERO));
    }
    code.li(A1, L1).op(lw(A5, A1, 0)).op(addi(A5, A5, 1)).op(sw(A5, A1, 0));
    code.li(A5, LOOKS_NEAR as u32).li(A6, (LOOKS_NEAR >> 32) as u32).li(A7, REGISTER);
    match by {
        By::Register => code.op(sw(A6, A7, 0)).op(lw(A1, A5, 0)),
        By::Csr => code.op(csrw(EXTENSION, A6)).op(lw(A1, A5, 0)).op(csrw(EXTENSION, RA)),
        By::Instruction => code.op(wide_load(WORD, A1, A5, A6)),
    };
    code.op(MRET);
    (code.0, handler)
}

/// Interrupts a program at each of its cycles; how often it was interrupted, how often it would not be, and whether all was as without.
fn interrupt_everywhere(by: By, masks: bool) -> (u32, u32, bool) {
    let (code, handler) = interrupted(by, masks);
    let (mut taken, mut refused, mut is_right) = (0, 0, true);
    for cycle in 1.. {
        let (mut cluster, mut host) = (with_code(&one_core(&[]), &code), host());
        if cluster.run(&mut host, Some(cycle)).unwrap() != Stop::Paused {
            break;
        }
        let is_taken = cluster.interrupt(0, handler);
        (taken, refused) = (taken + u32::from(is_taken), refused + u32::from(!is_taken));
        let end = cluster.run(&mut host, Some(1_000_000));
        let (mut count, mut written) = ([0; 4], [0; 4]);
        assert!(cluster.read(L1, &mut count));
        host.read(SECOND, &mut written).unwrap();
        is_right &= end.is_ok_and(|it| it == Stop::Exited(0x1111_1111))
            && u32::from_le_bytes(count) == u32::from(is_taken)
            && u32::from_le_bytes(written) == 0x44;
    }
    (taken, refused, is_right)
}

#[test]
fn an_interrupt_between_the_halves_of_an_access_does_no_harm() {
    for by in ALL {
        let (taken, refused, is_right) = interrupt_everywhere(by, true);
        assert!(is_right && taken > 0, "{by:?}: {taken} taken");
        assert_eq!(refused > 0, by == By::Register, "{by:?}: {refused} refused");
    }
    // Where they are not masked, one finds the register set.
    let (_, refused, is_right) = interrupt_everywhere(By::Register, false);
    assert!(refused == 0 && !is_right);
}

#[test]
fn an_interrupt_comes_back_with_interrupts_as_they_were() {
    let mut code = Code::default();
    code.op(NOP).op(csrr(A0, MSTATUS)).exit(A0);
    let handler = CODE + 4 * code.0.len() as u32;
    code.op(csrr(A1, MEPC)).op(csrr(A2, MSTATUS)).op(MRET);
    let mut cluster = with_code(&one_core(&[]), &code.0);
    assert!(cluster.interrupt(0, handler));
    assert!(!cluster.interrupt(0, handler), "one is being handled");
    assert!(!cluster.interrupt(1, handler), "there is one core");
    let Stop::Exited(status) = cluster.run(&mut host(), None).unwrap() else { panic!() };
    assert_eq!((status & 8, cluster.register(0, 12) & 8), (8, 0));
    assert_eq!(cluster.register(0, 11), CODE);
}
