//! Whether programs can be compiled for other machines, and run.

use std::env;

/// False, with a word, where GCC for 64-bit ARM or qemu is missing.
pub(crate) fn has_arm() -> bool {
    let needed = ["aarch64-linux-gnu-gcc", "qemu-aarch64"];
    let path = env::var_os("PATH").unwrap_or_default();
    let has = |name: &str| env::split_paths(&path).any(|it| it.join(name).is_file());
    let missing = needed.into_iter().find(|it| !has(it));
    if let Some(name) = missing {
        eprintln!(
            "skipped: `{name}` is not there (Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)"
        );
    }
    missing.is_none()
}
