//! What the tests of the simulator share: clusters, encodings and a small system for programs.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "each test uses a part of it"
)]

pub(crate) mod asm;

use sim::{Cluster, Config, HostMemory, PRESETS, Stop};

/// Where programs begin.
pub(crate) const CODE: u32 = 0x1c00_0000;
/// The scratchpad.
pub(crate) const L1: u32 = 0x1000_0000;

/// The first preset, with words of it replaced.
#[track_caller]
pub(crate) fn config(changes: &[(&str, &str)]) -> Config {
    let mut text = PRESETS[0].1.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "no `{from}` in the preset");
        text = text.replacen(from, to, 1);
    }
    Config::from_toml(&text).unwrap()
}

/// One core without an instruction cache, so that cycles can be counted by hand.
pub(crate) fn one_core(changes: &[(&str, &str)]) -> Config {
    let mut config = config(changes);
    config.cores.count = 1;
    config.instruction_cache = None;
    config
}

/// A cluster that is about to run these instructions on all cores.
#[track_caller]
pub(crate) fn with_code(config: &Config, code: &[u32]) -> Cluster {
    let mut cluster = Cluster::new(config);
    let bytes: Vec<u8> = code.iter().flat_map(|it| it.to_le_bytes()).collect();
    assert!(cluster.load_code(CODE, &bytes), "the code does not fit");
    cluster.start(CODE);
    cluster
}

/// What a program has written and its status, if it asks like a program of Linux: `write` and `exit`.
///
/// # Errors
/// The fault, as text; or that it took too long.
pub(crate) fn run_like_linux(
    cluster: &mut Cluster,
    host: &mut dyn HostMemory,
) -> Result<(Vec<u8>, u32), String> {
    const WRITE: u32 = 64;
    const EXIT: u32 = 93;
    let mut output = Vec::new();
    loop {
        match cluster.run(host, Some(50_000_000)).map_err(|it| it.to_string())? {
            Stop::Exited(status) => return Ok((output, status)),
            Stop::Paused => return Err("it does not end".to_owned()),
            Stop::Call { core } => {
                let argument = |number| cluster.register(core, number);
                let (call, buffer, len) = (argument(17), argument(11), argument(12));
                match call {
                    EXIT => return Ok((output, argument(10))),
                    WRITE => {
                        let mut bytes = vec![0; len as usize];
                        if !cluster.read(buffer, &mut bytes) {
                            return Err(format!("write of {len} bytes at {buffer:#x}"));
                        }
                        output.extend(bytes);
                        cluster.set_register(core, 10, len);
                    }
                    _ => return Err(format!("no such call: {call}")),
                }
            }
        }
    }
}
