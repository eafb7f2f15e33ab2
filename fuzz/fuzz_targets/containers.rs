//! Device code as objects carry it: containers in a row, damaged in any way.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ferry_fuzz::containers(data));
