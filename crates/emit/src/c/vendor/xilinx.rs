//! Vitis of AMD (Xilinx).

use super::Words;

/// Its compiler divides an array into so many parts at most.
const PARTS: u64 = 1024;

pub(super) const WORDS: Words = Words {
    defined: "__xilinx__",
    single: "__attribute__((reqd_work_group_size(1, 1, 1))) ",
    unrolled: |rounds| format!("__attribute__((opencl_unroll_hint({rounds})))"),
    // There is none for OpenCL C.
    independent: None,
    pipelined: Some("__attribute__((xcl_pipeline_loop(1)))"),
    registers: |elements| match elements {
        0..=PARTS => " __attribute__((xcl_array_partition(complete, 1)))".to_owned(),
        _ => format!(" __attribute__((xcl_array_partition(cyclic, {PARTS}, 1)))"),
    },
};
