//! Real programs with a few tokens changed.
#![no_main]

const SEEDS: &[&str] = &[
    include_str!("../../examples/openmp/saxpy.c"),
    include_str!("../../examples/openmp/jacobi.c"),
    include_str!("../../examples/openmp/gemm.c"),
    include_str!("../../examples/openmp/nbody.c"),
    include_str!("../../examples/openmp/spmv.c"),
    include_str!("../../examples/openacc/saxpy.c"),
    include_str!("../../examples/openacc/jacobi.c"),
    include_str!("../../examples/openacc/gemm.c"),
    include_str!("../../examples/openacc/nbody.c"),
    include_str!("../../examples/openacc/spmv.c"),
    include_str!("../seeds/language.c"),
    include_str!("../seeds/directives.c"),
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| ferry_fuzz::front(&ferry_fuzz::mutate(data, SEEDS)));
