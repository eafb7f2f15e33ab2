//! A simulator of a cluster of 32-bit RISC-V cores beside a host with 64-bit addresses.
//!
//! It runs programs, instruction by instruction, and tells how many cycles they take on a machine described by a
//! [`Config`]: in-order cores, a scratchpad in banks, a memory behind it, an instruction cache, a DMA engine, an event
//! unit, and three ways to reach the host's memory from registers of 32 bits. Time is approximate to the cycle:
//! what cores share is granted in the order of time, pipelines are a cost per instruction. The same input gives the
//! same cycles, always.
//!
//! ```
//! use sim::{Cluster, Config, NoMemory, Stop};
//!
//! let config = Config::preset("hero-paper").unwrap();
//! let mut cluster = Cluster::new(&config);
//! // li a0, 42; ecall
//! let code = [0x02a0_0513_u32, 0x0000_0073];
//! let bytes: Vec<u8> = code.iter().flat_map(|it| it.to_le_bytes()).collect();
//! assert!(cluster.load_code(0x1c00_0000, &bytes));
//! cluster.start(0x1c00_0000);
//! assert_eq!(cluster.run(&mut NoMemory, None), Ok(Stop::Call { core: 0 }));
//! assert_eq!(cluster.register(0, 10), 42);
//! ```
//!
//! Nothing here prints, reads files or knows the time. Registers of engines are listed in `peripheral`; a program ends
//! by writing one of them.

mod access;
mod banks;
mod cluster;
mod code;
mod config;
mod counters;
mod csr;
mod data_cache;
mod dma;
mod event;
mod execute;
mod fault;
mod float;
mod hart;
mod host;
mod icache;
mod isa;
mod peripheral;
mod program;
mod queues;
mod shared;
mod sleep;
mod trace;

pub use cluster::{Cluster, Stop};
pub use config::{
    Config, ConfigError, Cores, DataCache, Dma, Errors, Events, Extension, Host, InstructionCache,
    L1, L2, Letter, Misaligned, PRESETS, Queues, Timing, WritePolicy,
};
pub use counters::{Counters, Sleeps, Stalls, Wide};
pub use fault::{Access, Fault, FaultKind, NAMES, Place, Wait};
pub use host::{HostMemory, NoMemory, PrivateMemory, Refusal};
pub use program::{LoadError, note};
pub use queues::End;
pub use trace::{Event, Observer, Step, TextTrace, Unobserved};
