//! The same programs with pointers of 32 bits all along, which the assigned ones are measured against.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test"
)]

mod common;

use common::{Model, OnHost, folder, inputs, run, run_flat, same, tools_are_here};
use narrow::{Assign, Hardware, Options};

const KERNELS: [&str; 7] = ["gemm", "mm2", "mm3", "atax", "bicg", "conv2d", "covar"];

/// Cycles with pointers assigned, and without, for one of 32-bit code, of each kernel of a program.
fn ratios(program: &str, kernels: &[&str], flags: &[&str]) -> Vec<(String, f64, f64)> {
    let file = folder("programs").join(program);
    let options = Options { hardware: Hardware::Csr, ..Options::default() };
    let (flat, stats) = narrow::compile(&inputs(&file, Model::Device, flags), &options).unwrap();
    assert_eq!(stats.generic(), 0);
    let (assigned, _) = narrow::compile(&inputs(&file, Model::Host, flags), &options).unwrap();
    let none = Options { assign: Assign::None, ..options };
    let (generic, _) = narrow::compile(&inputs(&file, Model::Host, flags), &none).unwrap();
    let host = OnHost::new(&file, flags);
    let one = |kernel: String| {
        let [before, after] = host.run(&kernel);
        let flat = run_flat(&flat, &kernel, &before);
        same(&flat.buffers, &after, &kernel);
        let [assigned, generic] =
            [&assigned, &generic].map(|it| run(it, &kernel, Hardware::Csr, &before));
        same(&assigned.buffers, &after, &kernel);
        same(&generic.buffers, &after, &kernel);
        let ratio = |it: u64| it as f64 / flat.cycles as f64;
        let (with, without) = (ratio(assigned.cycles), ratio(generic.cycles));
        println!("{kernel}: {} cycles, assigned {with:.4}, without {without:.2}", flat.cycles);
        (kernel, with, without)
    };
    kernels.iter().map(|it| one(format!("__ferry_k_{it}"))).collect()
}

#[test]
fn assigned_kernels_take_hardly_longer_than_32_bit_ones() {
    if !tools_are_here() {
        return;
    }
    for (kernel, with, without) in ratios("kernels.c", &KERNELS, &["-DN=32"]) {
        assert!(with < 1.05, "{kernel}: {with:.3} of the cycles with 32 bits");
        assert!(without > 1.2, "{kernel}: {without:.3} without assignment");
    }
}

#[test]
fn loops_over_long_take_hardly_longer_than_32_bit_ones() {
    if !tools_are_here() {
        return;
    }
    for (kernel, with, _) in ratios("kernels.c", &KERNELS, &["-DN=32", "-DCOUNT=long"]) {
        assert!(with < 1.12, "{kernel}: {with:.3} of the cycles with 32 bits");
    }
}

#[test]
fn accesses_to_the_host_in_a_loop_cost_little_more_than_a_32_bit_address() {
    if !tools_are_here() {
        return;
    }
    for (kernel, with, _) in ratios("direct.c", &["test"], &["-DN=32"]) {
        assert!(with < 1.30, "{kernel}: {with:.3} of the cycles with 32 bits");
    }
}
