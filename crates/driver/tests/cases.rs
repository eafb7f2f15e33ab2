//! The golden cases under `tests/cases`, run with the `ferry` of this build.

fn main() -> std::process::ExitCode {
    cases::main(env!("CARGO_BIN_EXE_ferry"))
}
