//! `ferry-cpu-device`: the process that kernels of `cpu:separate` run in. Started by libferry alone.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(u8::try_from(device::separate::serve::main()).unwrap_or(1))
}
