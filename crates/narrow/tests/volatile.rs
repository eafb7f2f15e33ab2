//! Volatile accesses to the host's memory: as many as are written, in that order, no wider and no narrower. Atomic ones: words are
//! changed by one access where the hardware can.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use std::path::Path;

use common::{BUFFERS, Model, config, inputs, link, tools_are_here};
use narrow::{Assign, Atomics, Hardware, Options};
use sim::{Cluster, HostMemory, Refusal, Stop};

const TEXT: &str = "
#include \"device.h\"
void __ferry_k_test(void *const *slots) {
    volatile int *p = slots[0];
    volatile short *h = slots[1];
    volatile char *c = slots[2];
    *p;
    *p = 1;
    *p = 2;
    p[1] = *p + *p;
    h[3] = (short)*c;
    *c = 5;
    for (int i = 0; i < 3; i++) c[8] = (char)i;
    for (int i = 0; i < 10; i++) h[10 + i];
}
";

/// Remembers how it was used.
#[derive(Default)]
struct Log(Vec<(char, u64, usize)>);

impl HostMemory for Log {
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Refusal> {
        self.0.push(('r', address, into.len()));
        into.fill(0);
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), Refusal> {
        self.0.push(('w', address, from.len()));
        Ok(())
    }

    fn update(&mut self, address: u64, change: &mut dyn FnMut(u32) -> u32) -> Result<u32, Refusal> {
        // What it makes of 12 is told instead of a length.
        self.0.push(('u', address, change(12) as usize));
        Ok(12)
    }
}

#[test]
fn volatile_accesses_are_all_there_and_in_order() {
    if !tools_are_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.c");
    std::fs::write(&file, TEXT).unwrap();
    let [p, h, c, _] = BUFFERS.map(|it| it.0);
    let mut expect =
        vec![('r', p, 4), ('w', p, 4), ('w', p, 4), ('r', p, 4), ('r', p, 4), ('w', p + 4, 4)];
    expect.extend([('r', c, 1), ('w', h + 6, 2), ('w', c, 1)]);
    expect.extend([('w', c + 8, 1); 3]);
    expect.extend((10..20).map(|it| ('r', h + 2 * it, 2)));
    for hardware in [Hardware::Mapped, Hardware::Csr, Hardware::Isa] {
        for (assign, level) in
            [(Assign::Points, 3), (Assign::None, 3), (Assign::Paper, 3), (Assign::Points, 0)]
        {
            let found = accesses(&file, hardware, assign, level);
            assert_eq!(found, expect, "{hardware:?}, {assign:?}, -O{level}");
        }
    }
}

/// What a kernel does with the host's memory.
fn accesses(
    file: &Path,
    hardware: Hardware,
    assign: Assign,
    level: u32,
) -> Vec<(char, u64, usize)> {
    accesses_with(file, &Options { hardware, assign, level, ..Options::default() })
}

fn accesses_with(file: &Path, options: &Options) -> Vec<(char, u64, usize)> {
    let (object, _) = narrow::compile(&inputs(file, Model::Host, &[]), options).unwrap();
    let mut config = config(options.hardware);
    config.extension.csr |= options.atomics == Some(Atomics::Csr);
    let mut cluster = Cluster::new(&config);
    cluster.load(&link(&object, "__ferry_k_test")).unwrap();
    let slots: Vec<u8> = BUFFERS.iter().flat_map(|it| it.0.to_le_bytes()).collect();
    assert!(cluster.write(cluster.symbol("slots").unwrap(), &slots));
    let mut log = Log::default();
    assert_eq!(cluster.run(&mut log, Some(1_000_000)).unwrap(), Stop::Exited(0));
    log.0
}

const WORDS: &str = "
#include \"device.h\"
void __ferry_k_test(void *const *slots) {
    int *p = slots[0];
    unsigned *u = slots[3];
    __atomic_fetch_add(p, 5, __ATOMIC_RELAXED);
    __atomic_fetch_sub(p + 1, 5, __ATOMIC_SEQ_CST);
    __atomic_fetch_and(p + 2, 9, __ATOMIC_ACQUIRE);
    __atomic_fetch_or(p + 3, 3, __ATOMIC_RELEASE);
    __atomic_fetch_xor(p + 4, 5, __ATOMIC_RELAXED);
    __atomic_fetch_max(u, 20u, __ATOMIC_RELAXED);
    __atomic_fetch_min(p + 5, -1, __ATOMIC_RELAXED);
    __atomic_exchange_n(p + 6, 44, __ATOMIC_ACQ_REL);
}
";

#[test]
fn words_of_the_host_are_changed_by_one_access_where_hardware_can() {
    if !tools_are_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.c");
    std::fs::write(&file, WORDS).unwrap();
    let [p, _, _, u] = BUFFERS.map(|it| it.0);
    let less = u32::MAX as usize;
    let expect = [
        ('u', p, 17),
        ('u', p + 4, 7),
        ('u', p + 8, 8),
        ('u', p + 12, 15),
        ('u', p + 16, 9),
        ('u', u, 20),
        ('u', p + 20, less),
        ('u', p + 24, 44),
    ];
    for hardware in [Hardware::Mapped, Hardware::Csr] {
        for level in [0, 3] {
            assert_eq!(
                accesses(&file, hardware, Assign::Points, level),
                expect,
                "{hardware:?}, -O{level}"
            );
        }
    }
    // Through a control register beside wide instructions, too.
    let beside =
        Options { hardware: Hardware::Isa, atomics: Some(Atomics::Csr), ..Options::default() };
    assert_eq!(accesses_with(&file, &beside), expect);
    // Under the lock it is a read and a write; so it is if a comparison of words needs the lock.
    let is_locked = |found: Vec<(char, u64, usize)>| found.iter().all(|it| it.0 != 'u');
    assert!(is_locked(accesses(&file, Hardware::Isa, Assign::Points, 3)));
    let compares = "int old = 1; __atomic_compare_exchange_n(p, &old, 2, 0, 5, 5);\n}\n";
    std::fs::write(&file, WORDS.trim_end().trim_end_matches('}').to_owned() + compares).unwrap();
    assert!(is_locked(accesses(&file, Hardware::Csr, Assign::Points, 3)));
}
