//! Real programs with a few tokens changed.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ferry_fuzz::front(&ferry_fuzz::mutate(data)));
