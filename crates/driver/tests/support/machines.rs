//! Whether programs can be compiled for other machines, and run.

use std::env;

/// False, with a word, where GCC for 64-bit ARM or qemu is missing.
pub(crate) fn has_arm() -> bool {
    let packages = "gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user";
    has(&["aarch64-linux-gnu-gcc", "qemu-aarch64"], packages)
}

/// False, with a word, where one of these programs is missing.
pub(crate) fn has(needed: &[&str], packages: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let is_here = |name: &str| env::split_paths(&path).any(|it| it.join(name).is_file());
    let missing = needed.iter().find(|it| !is_here(it));
    if let Some(name) = missing {
        eprintln!("skipped: `{name}` is not there (Debian: {packages})");
    }
    missing.is_none()
}
