//! Tasks that host workers and accelerator cores run, whoever is free: `async`, `finish`, `forasync` and buffers that both
//! sides see (`ferry_tasks.h`).
//!
//! - [`ffi`]: what C calls; [`loops`]: loops as tasks
//! - [`pool`], [`task`], [`finish`]: host workers, what they run, what they wait for
//! - [`deque`], [`newest`], [`count`], [`idle`], [`sync`]: the cores of that, which `tests/interleave` runs in all orders
//! - [`hardware`], [`cluster`], [`core`]: the emulated accelerator: queues, processes, what a core does
//! - [`cross`], [`gate`]: work that crosses sides, and whether that pays
//! - [`memory`], [`view`], [`check`]: buffers, how a process sees them, what checking mode finds
//! - [`settings`], [`report`]: the environment, and what users read

mod check;
mod cluster;
mod core;
mod count;
mod cross;
mod deque;
pub mod ffi;
mod finish;
mod gate;
mod hardware;
mod idle;
mod loops;
mod memory;
mod newest;
mod pool;
mod report;
mod settings;
mod sync;
mod task;
mod trace;
mod view;
