//! The same programs with pointers of 32 bits all along, which the assigned ones are measured against.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use common::{Model, folder, inputs, on_the_host, run, run_flat, same, tools_are_here};
use narrow::{Hardware, Options};

const KERNELS: [&str; 7] = ["gemm", "mm2", "mm3", "atax", "bicg", "conv2d", "covar"];

#[test]
fn assigned_kernels_take_hardly_longer_than_32_bit_ones() {
    if !tools_are_here() {
        return;
    }
    let file = folder("programs").join("kernels.c");
    let flags = ["-DN=32"];
    let options = Options { hardware: Hardware::Csr, ..Options::default() };
    let (flat, stats) =
        narrow::compile(&inputs(&file, Model::Device, &flags), &options).unwrap();
    assert_eq!(stats.generic(), 0);
    let (assigned, _) = narrow::compile(&inputs(&file, Model::Host, &flags), &options).unwrap();
    let none = Options { assign: false, ..options };
    let (generic, _) = narrow::compile(&inputs(&file, Model::Host, &flags), &none).unwrap();
    for kernel in KERNELS.map(|it| format!("__ferry_k_{it}")) {
        let [before, after] = on_the_host(&file, &kernel, &flags);
        let flat = run_flat(&flat, &kernel, &before);
        same(&flat.buffers, &after, &kernel);
        let [assigned, generic] =
            [&assigned, &generic].map(|it| run(it, &kernel, Hardware::Csr, &before));
        same(&assigned.buffers, &after, &kernel);
        let ratio = |it: u64| it as f64 / flat.cycles as f64;
        let (with, without) = (ratio(assigned.cycles), ratio(generic.cycles));
        println!("{kernel}: {} cycles, assigned {with:.4}, without {without:.2}", flat.cycles);
        assert!(with < 1.05, "{kernel}: {with:.3} of the cycles with 32 bits");
        assert!(without > 1.2, "{kernel}: {without:.3} without assignment");
    }
}
