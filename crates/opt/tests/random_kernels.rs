//! Random kernels: as outlined and after each pass they leave the same values, break no law and have no race.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test"
)]

#[path = "support/random.rs"]
mod random;
mod support;

use random::Random;

#[test]
fn passes_keep_the_meaning_of_random_kernels() {
    keep_the_meaning(0);
}

#[test]
fn passes_keep_the_meaning_of_other_random_kernels() {
    keep_the_meaning(1);
}

/// Of the kernels whose seed is this or so many twos more.
fn keep_the_meaning(first: usize) {
    let (mut refused, mut apart) = (0, 0);
    let many = std::env::var("FERRY_RANDOM_KERNELS").ok().and_then(|it| it.parse().ok());
    let many: u64 = many.unwrap_or(2000);
    for seed in (0..many).skip(first).step_by(2) {
        let mut random = Random::seeded(seed);
        let text = random.program();
        let size = (1 + random.below(3), 1 + random.below(4));
        let module = match support::module(&text, true) {
            Ok(module) => module,
            Err(wrong) if wrong.starts_with("not outlined") => {
                refused += 1;
                continue;
            }
            Err(wrong) => panic!("seed {seed}: {wrong}\n{text}"),
        };
        // Every other one shares all loops that may be.
        let (first, told) = support::same(&module, size, seed / 2 % 2 == 1);
        assert!(!first.starts_with("error"), "seed {seed}, {size:?}: {first}\n{text}");
        if told.contains("refused") {
            refused += 1;
            continue;
        }
        assert_eq!(told, "", "seed {seed}, {size:?}\n{first}\n{text}");
        let (first, told) = support::pipelined(&module);
        match told.contains("refused") && !told.contains("breaks the law") {
            true => apart += 1,
            false => assert_eq!(told, "", "seed {seed}, by one thread\n{first}\n{text}"),
        }
    }
    let many = many / 2;
    println!("{apart} of {many} kernels are no pipelines");
    assert!(apart * 2 < many, "{apart} of {many} kernels are no pipelines");
    println!("{refused} of {many} kernels are refused");
    assert!(refused * 4 < many, "{refused} of {many} kernels are refused");
}

#[test]
fn blocks_keep_the_meaning_of_random_nests() {
    let many = std::env::var("FERRY_RANDOM_KERNELS").ok().and_then(|it| it.parse().ok());
    let many: u64 = many.unwrap_or(400);
    let mut blocked = 0;
    for seed in 0..many {
        let mut random = Random::seeded(seed);
        let text = random.blocks();
        let module = support::module(&text, true).unwrap_or_else(|it| panic!("{it}\n{text}"));
        let (told, chosen) = support::same_for_cores(&module, (1, 2));
        assert_eq!(told, "", "seed {seed}\n{text}\n{chosen}");
        blocked += u64::from(!chosen.trim_end().ends_with("as it is"));
    }
    println!("{blocked} of {many} nests are cut into blocks");
    assert!(blocked * 2 > many, "{blocked} of {many} nests are cut into blocks");
}

#[test]
fn bytes_describe_kernels() {
    let mut random = Random::seeded(7);
    for _ in 0..40 {
        let bytes: Vec<u8> = (0..200).map(|_| random.below(256) as u8).collect();
        let mut described = Random::of(&bytes);
        let text = described.program();
        let module = support::module(&text, true).unwrap_or_else(|it| panic!("{it}\n{text}"));
        let (first, told) = support::same(&module, (2, 3), true);
        assert_eq!(told, "", "{first}\n{text}");
    }
}
