//! Intel FPGA SDK for OpenCL.

use super::Words;

pub(super) const WORDS: Words = Words {
    defined: "INTELFPGA_CL",
    single: "__attribute__((max_global_work_dim(0))) ",
    unrolled: |rounds| format!("#pragma unroll {rounds}"),
    independent: Some("#pragma ivdep"),
    // Its compiler makes pipelines of all loops of such kernels.
    pipelined: None,
    registers: |_| " __attribute__((register))".to_owned(),
};
