//! Functions that gcc has built in, and what its headers make constants and macros of, in the languages of grids.
//!
//! What has the name of a function of the C library is that function; the texts beside this file have the rest.

use ir::program::{Function, FunctionId};

use super::super::Lowering;
use crate::c::Grid;
use crate::c::library::known;

const PREFIX: &str = "__builtin_";

/// What the texts have, or the compilers themselves.
const EVERYWHERE: &[&str] = &[
    "inf inff huge_val huge_valf nan nanf",
    "isnan isnanf isinf isinff isinf_sign isfinite finite finitef isnormal signbit signbitf fpclassify",
    "isgreater isgreaterequal isless islessequal islessgreater isunordered iseqsig",
    "popcount popcountl popcountll parity parityl parityll clz clzl clzll ctz ctzl ctzll",
    "ffs ffsl ffsll clrsb clrsbl clrsbll bswap16 bswap32 bswap64",
    "expect expect_with_probability assume_aligned prefetch unreachable trap",
    "add_overflow sub_overflow mul_overflow",
    "sadd_overflow saddl_overflow saddll_overflow uadd_overflow uaddl_overflow uaddll_overflow",
    "ssub_overflow ssubl_overflow ssubll_overflow usub_overflow usubl_overflow usubll_overflow",
    "smul_overflow smull_overflow smulll_overflow umul_overflow umull_overflow umulll_overflow",
    "powi powif complex object_size dynamic_object_size",
    "__memset_chk __memcpy_chk __memmove_chk __strcpy_chk __strncpy_chk __strcat_chk __strncat_chk",
];

/// What clang has for all its targets.
const OF_CLANG: [&str; 2] = ["__sync_", "__atomic_"];

/// What texts in OpenCL C need that call one of them.
const OPENCL: &str = include_str!("builtins.cl");

/// And those in CUDA C++; for HIP the compiler has them.
const CUDA: &str = include_str!("builtins.cu");

/// What a function that is built in is called without the prefix, if a library has it too.
pub(super) fn library_name(function: &Function, name: &str) -> Option<String> {
    let plain = name.strip_prefix(PREFIX).unwrap_or(name);
    let is_of_library = function.is_builtin && known(plain) && !has(plain);
    is_of_library.then(|| plain.to_owned())
}

fn has(plain: &str) -> bool {
    EVERYWHERE.iter().any(|it| it.split(' ').any(|it| it == plain))
}

/// Whether a grid has a function that is built in.
pub(super) fn is_there(grid: Grid, function: &Function, name: &str) -> bool {
    let is_of_clang = match grid {
        Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) | Grid::Hip => {
            OF_CLANG.iter().any(|it| name.starts_with(it))
        }
        Grid::Cuda => false,
    };
    let is_ours = name.strip_prefix(PREFIX).is_some_and(has);
    let is_of_kernels = kernel::intrinsic::ALL.contains(&name);
    is_ours || is_of_kernels || is_of_clang || library_name(function, name).is_some()
}

impl Lowering<'_> {
    /// What stands before the functions of a text because it uses these.
    pub(super) fn builtins(&self, grid: Grid, functions: &[FunctionId]) -> &'static str {
        let is_one = |id: &FunctionId| {
            let function = &self.program.functions[*id];
            let name = self.program.names.text(function.name);
            function.is_builtin && name.strip_prefix(PREFIX).is_some_and(has)
        };
        if !functions.iter().any(is_one) {
            return "";
        }
        match grid {
            Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) => OPENCL,
            Grid::Cuda => CUDA,
            Grid::Hip => "",
        }
    }
}
