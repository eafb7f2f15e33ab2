//! Circuits on floating-point numbers give what the processor gives, bit by bit, for 100,000 vectors each, or as many as
//! `FLOAT_VECTORS` says.
#![allow(missing_docs, clippy::panic, clippy::print_stderr, reason = "a test")]

use std::thread;

use rtl::circuit::Circuit;
use rtl::float::{self, DOUBLE, Order, SINGLE};

/// Numbers of all kinds: from the least to those that are none.
fn some(seed: &mut u64, bits: u32) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    let (exponent, fraction) = if bits == 32 { (8, 23) } else { (11, 52) };
    let (ones, sign) = ((1u64 << exponent) - 1, 1u64 << (bits - 1));
    let word = *seed & if bits == 32 { 0xffff_ffff } else { u64::MAX };
    match *seed >> 60 {
        0 => word & sign,
        1 => word & sign | ones << fraction,
        2 => word & !(ones << fraction),
        3 => word & sign | 1 << fraction,
        4..=8 => word & !(ones << fraction) | (ones / 2 - 2 + (*seed >> 40) % 5) << fraction,
        _ => word,
    }
}

/// A circuit, the bits of its operands, and what the processor gives.
type Operator = (&'static str, Circuit, u32, fn([u64; 3]) -> u64);

fn f(it: u64) -> f32 {
    f32::from_bits(it as u32)
}

fn d(it: u64) -> f64 {
    f64::from_bits(it)
}

/// A result that is no number has no payload.
fn s(it: f32) -> u64 {
    u64::from(if it.is_nan() { 0x7fc0_0000 } else { it.to_bits() })
}

fn l(it: f64) -> u64 {
    if it.is_nan() { 0x7ff8 << 48 } else { it.to_bits() }
}

fn operators() -> Vec<Operator> {
    vec![
        ("float +", float::add(SINGLE, false), 32, |[a, b, _]| s(f(a) + f(b))),
        ("float -", float::add(SINGLE, true), 32, |[a, b, _]| s(f(a) - f(b))),
        ("float *", float::multiply(SINGLE), 32, |[a, b, _]| s(f(a) * f(b))),
        ("float fma", float::fused(SINGLE), 32, |[a, b, c]| s(f(a).mul_add(f(b), f(c)))),
        ("float /", float::divide(SINGLE), 32, |[a, b, _]| s(f(a) / f(b))),
        ("float sqrt", float::sqrt(SINGLE), 32, |[a, _, _]| s(f(a).sqrt())),
        ("float <", float::compare(SINGLE, Order::Less), 32, |[a, b, _]| u64::from(f(a) < f(b))),
        ("float <=", float::compare(SINGLE, Order::LessOrEqual), 32, |[a, b, _]| {
            u64::from(f(a) <= f(b))
        }),
        ("float ==", float::compare(SINGLE, Order::Equal), 32, |[a, b, _]| u64::from(f(a) == f(b))),
        ("double +", float::add(DOUBLE, false), 64, |[a, b, _]| l(d(a) + d(b))),
        ("double -", float::add(DOUBLE, true), 64, |[a, b, _]| l(d(a) - d(b))),
        ("double *", float::multiply(DOUBLE), 64, |[a, b, _]| l(d(a) * d(b))),
        ("double fma", float::fused(DOUBLE), 64, |[a, b, c]| l(d(a).mul_add(d(b), d(c)))),
        ("double /", float::divide(DOUBLE), 64, |[a, b, _]| l(d(a) / d(b))),
        ("double sqrt", float::sqrt(DOUBLE), 64, |[a, _, _]| l(d(a).sqrt())),
        ("double <", float::compare(DOUBLE, Order::Less), 64, |[a, b, _]| u64::from(d(a) < d(b))),
        ("double <=", float::compare(DOUBLE, Order::LessOrEqual), 64, |[a, b, _]| {
            u64::from(d(a) <= d(b))
        }),
        ("double ==", float::compare(DOUBLE, Order::Equal), 64, |[a, b, _]| {
            u64::from(d(a) == d(b))
        }),
        ("float to double", float::convert(SINGLE, DOUBLE), 32, |[a, _, _]| l(f64::from(f(a)))),
        ("double to float", float::convert(DOUBLE, SINGLE), 64, |[a, _, _]| s(d(a) as f32)),
        ("float to int", float::to_integer(SINGLE, 32, true), 32, |[a, _, _]| {
            u64::from((f(a) as i32).cast_unsigned())
        }),
        ("float to long", float::to_integer(SINGLE, 64, true), 32, |[a, _, _]| {
            (f(a) as i64).cast_unsigned()
        }),
        ("double to int", float::to_integer(DOUBLE, 32, true), 64, |[a, _, _]| {
            u64::from((d(a) as i32).cast_unsigned())
        }),
        ("double to long", float::to_integer(DOUBLE, 64, true), 64, |[a, _, _]| {
            (d(a) as i64).cast_unsigned()
        }),
        ("double to unsigned", float::to_integer(DOUBLE, 32, false), 64, |[a, _, _]| {
            u64::from(d(a) as u32)
        }),
        ("int to float", float::from_integer(SINGLE, 32, true), 32, |[a, _, _]| {
            s((a as u32).cast_signed() as f32)
        }),
        ("long to double", float::from_integer(DOUBLE, 64, true), 64, |[a, _, _]| {
            l(a.cast_signed() as f64)
        }),
        ("unsigned long to float", float::from_integer(SINGLE, 64, false), 64, |[a, _, _]| {
            s(a as f32)
        }),
    ]
}

fn compare(vectors: u64) {
    let one = |(name, circuit, bits, native): Operator| {
        let mut seed = 0x1234_5678_9abc_def1;
        for _ in 0..vectors {
            let operands = [(); 3].map(|()| some(&mut seed, bits));
            let found = circuit.run(&operands.map(u128::from));
            assert_eq!(found, u128::from(native(operands)), "{name} {operands:x?}");
        }
        eprintln!("{name}: {vectors} vectors, all bits the same");
    };
    thread::scope(|scope| {
        for it in operators() {
            scope.spawn(move || one(it));
        }
    });
}

#[test]
fn operators_on_floats_round_as_the_processor_does() {
    let asked = std::env::var("FLOAT_VECTORS").ok().and_then(|it| it.parse().ok());
    compare(asked.unwrap_or(100_000));
}
