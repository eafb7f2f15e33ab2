//! Volatile accesses to the host's memory: as many as are written, in that order, no wider and no narrower.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use common::{BUFFERS, Model, config, inputs, link, tools_are_here};
use narrow::{Hardware, Options};
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
    let wide = inputs(&file, Model::Host, &[]);
    for hardware in [Hardware::Mapped, Hardware::Csr, Hardware::Isa] {
        for (assign, level) in [(true, 3), (false, 3), (true, 0)] {
            let options = Options { hardware, assign, level, ..Options::default() };
            let (object, _) = narrow::compile(&wide, &options).unwrap();
            let mut cluster = Cluster::new(&config(hardware));
            cluster.load(&link(&object, "__ferry_k_test")).unwrap();
            let slots: Vec<u8> = BUFFERS.iter().flat_map(|it| it.0.to_le_bytes()).collect();
            assert!(cluster.write(cluster.symbol("slots").unwrap(), &slots));
            let mut log = Log::default();
            assert_eq!(cluster.run(&mut log, Some(1_000_000)).unwrap(), Stop::Exited(0));
            assert_eq!(log.0, expect, "{hardware:?}, assign {assign}, -O{level}");
        }
    }
}
