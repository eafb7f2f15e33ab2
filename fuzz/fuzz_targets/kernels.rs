//! Kernels that bytes describe, through all passes: they leave the same values as before, and break no law.

#![no_main]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a fault is to end the run")]

#[path = "../../crates/opt/tests/support/random.rs"]
mod random;
#[path = "../../crates/opt/tests/support/mod.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut random = random::Random::of(data);
    let text = random.program();
    let size = (1 + random.below(3), 1 + random.below(4));
    let Ok(module) = support::module(&text, true) else { return };
    let (first, told) = support::same(&module, size);
    if !first.starts_with("error") && !told.contains("refused") {
        assert_eq!(told, "", "{size:?}\n{first}\n{text}");
    }
});
