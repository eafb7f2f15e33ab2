//! Words of the languages of grids that are plain names in C.
//!
//! A variable, member, tag or label that is called like one of them gets another name in such a text. So do those that
//! are called like a function of the C library: that function may have a shorter name there, as `sinf` is `sin`.

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use super::{Grid, library};

/// Keywords of OpenCL C, and names that every text has.
const OPENCL: &[&str] = &[
    "global local constant private generic kernel pipe read_only write_only read_write uniform",
    "bool true false half quad uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t",
    "sampler_t event_t clk_event_t queue_t reserve_id_t ndrange_t clk_profiling_info cl_mem_fence_flags",
    "image1d_t image1d_array_t image1d_buffer_t image2d_t image2d_array_t image2d_depth_t image2d_array_depth_t",
    "image2d_msaa_t image2d_array_msaa_t image2d_msaa_depth_t image2d_array_msaa_depth_t image3d_t",
    "vec_step kernel_exec addrspace_cast asm typeof complex imaginary auto_type",
    "memory_order memory_scope atomic_int atomic_uint atomic_long atomic_ulong atomic_float atomic_double atomic_flag",
    "atomic_intptr_t atomic_uintptr_t atomic_size_t atomic_ptrdiff_t",
    "barrier mem_fence work_group_barrier atomic_work_item_fence memory_order_seq_cst memory_scope_device",
    "atomic_cmpxchg atomic_xchg atomic_inc get_global_id get_global_size get_group_id get_num_groups get_local_id",
    "get_local_size isnan isinf isfinite isnormal signbit popcount clz ctz mul_hi astype",
];

/// Keywords of C++, and names that CUDA and HIP have in every text.
const CPP: &[&str] = &[
    "alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class compl concept const_cast",
    "consteval constexpr constinit co_await co_return co_yield decltype delete dynamic_cast explicit export false",
    "friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public",
    "reinterpret_cast requires static_assert static_cast template this thread_local throw true try typeid typename",
    "typeof using virtual wchar_t xor xor_eq std restrict",
    "threadIdx blockIdx blockDim gridDim warpSize dim3 size_t ptrdiff_t clock_t clock assert",
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t nullptr_t",
    "__shared__ __device__ __global__ __host__ __constant__ __managed__ __grid_constant__ __launch_bounds__",
    "__forceinline__ __noinline__ __restrict__ __align__ __builtin_align__ __location__ __cudart_builtin__",
    "__half __half2 __nv_bfloat16 cudaStream_t cudaError_t cudaError hipError_t hipStream_t",
    "atomicCAS atomicExch atomicAdd atomicMin atomicMax atomicAnd atomicOr atomicXor",
    "j0 j1 jn y0 y1 yn min max rsqrt saturate signbit isnan isinf isfinite",
];

/// Macros of the C library's headers, which some compilers have without them.
const MACROS: &str = "INFINITY NAN HUGE_VAL HUGE_VALF HUGE_VALL MAXFLOAT NULL EOF linux unix I \
                      FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL FP_ILOGB0 FP_ILOGBNAN FP_FAST_FMA FP_FAST_FMAF \
                      CHAR_BIT CHAR_MIN CHAR_MAX SCHAR_MIN SCHAR_MAX UCHAR_MAX SHRT_MIN SHRT_MAX USHRT_MAX INT_MIN \
                      INT_MAX UINT_MAX LONG_MIN LONG_MAX ULONG_MAX LLONG_MIN LLONG_MAX ULLONG_MAX SIZE_MAX \
                      ATOMIC_VAR_INIT ATOMIC_FLAG_INIT";

/// The words of texts in OpenCL C.
static OF_OPENCL: LazyLock<FxHashSet<&str>> = LazyLock::new(|| words(OPENCL));
/// The words of texts in C++.
static OF_CPP: LazyLock<FxHashSet<&str>> = LazyLock::new(|| words(CPP));

/// What begins the names of others.
const BEGINNINGS: &[&str] =
    &["M_", "FLT_", "DBL_", "LDBL_", "HALF_", "CLK_", "cl_khr_", "cl_intel_"];

/// What types of several numbers begin with; a count follows.
const VECTORS: &[&str] = &[
    "char",
    "uchar",
    "short",
    "ushort",
    "int",
    "uint",
    "long",
    "ulong",
    "longlong",
    "ulonglong",
    "float",
    "double",
    "half",
];

/// A name of the user's as the text has it.
pub(super) fn word(grid: Option<Grid>, name: &str) -> Cow<'_, str> {
    match grid.is_some_and(|it| is_reserved(it, name)) {
        true => Cow::Owned(format!("__ferry_w_{name}")),
        false => Cow::Borrowed(name),
    }
}

/// Whether a name means something in the language of a grid.
pub(crate) fn is_reserved(grid: Grid, name: &str) -> bool {
    let own = if grid.is_cpp() { &OF_CPP } else { &OF_OPENCL };
    own.contains(name)
        || BEGINNINGS.iter().any(|it| name.starts_with(it))
        || is_vector(name)
        || library::known(name)
}

/// Those of a language, and macros, which all have.
fn words(language: &[&'static str]) -> FxHashSet<&'static str> {
    language.iter().chain([&MACROS]).flat_map(|it| it.split_whitespace()).collect()
}

/// `float4`, `uint3`
fn is_vector(name: &str) -> bool {
    let plain = name.trim_end_matches(|it: char| it.is_ascii_digit());
    let count = name.get(plain.len()..).unwrap_or_default();
    matches!(count, "1" | "2" | "3" | "4" | "8" | "16") && VECTORS.contains(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_language_are_no_names_there() {
        let check = |name: &str, opencl: bool, cuda: bool| {
            let found = (is_reserved(Grid::OpenCl12, name), is_reserved(Grid::Cuda, name));
            assert_eq!(found, (opencl, cuda), "{name}");
        };
        check("vec_step", true, false);
        check("image2d_t", true, false);
        check("class", false, true);
        check("threadIdx", false, true);
        for both in ["bool", "M_PI", "NAN", "float4", "exp", "memcpy", "DBL_MAX"] {
            check(both, true, true);
        }
        for neither in ["x", "float5", "floats", "m_pi", "printed", "int32", "sum"] {
            check(neither, false, false);
        }
        assert_eq!(word(Some(Grid::Hip), "this"), "__ferry_w_this");
        assert_eq!(word(None, "this"), "this");
    }
}
