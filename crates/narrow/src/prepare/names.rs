//! Functions that are known by name.

use crate::llvm::Module;

/// Whether a function is part of the runtime: what is measured without assignment is the user's code.
pub(crate) fn is_runtime(name: &str) -> bool {
    ["__kmpc_", "ferry_", "ferry."].iter().any(|it| name.starts_with(it))
}

/// Functions of the C library with `long` in their type, and their twins with `long long`: the library has a
/// `long` of 32 bits. LLVM calls the same ones where it has a word of its own for them.
const LONG_TWINS: [(&str, &str); 10] = [
    ("lround", "llround"),
    ("lroundf", "llroundf"),
    ("lrint", "llrint"),
    ("lrintf", "llrintf"),
    ("labs", "llabs"),
    ("ldiv", "lldiv"),
    ("llvm.lround.i64.f32", "llvm.llround.i64.f32"),
    ("llvm.lround.i64.f64", "llvm.llround.i64.f64"),
    ("llvm.lrint.i64.f32", "llvm.llrint.i64.f32"),
    ("llvm.lrint.i64.f64", "llvm.llrint.i64.f64"),
];

/// Functions of the libraries with numbers of 64 bits.
const OF_LONG_LONG: [&str; 30] = [
    "llround",
    "llroundf",
    "llrint",
    "llrintf",
    "llabs",
    "__divdi3",
    "__udivdi3",
    "__moddi3",
    "__umoddi3",
    "__muldi3",
    "__ashldi3",
    "__lshrdi3",
    "__ashrdi3",
    "__fixdfdi",
    "__fixsfdi",
    "__fixunsdfdi",
    "__fixunssfdi",
    "__floatdidf",
    "__floatdisf",
    "__floatundidf",
    "__floatundisf",
    "__negdi2",
    "__popcountdi2",
    "__clzdi2",
    "__ctzdi2",
    "__bswapdi2",
    "__ffsdi2",
    "__paritydi2",
    "__cmpdi2",
    "__ucmpdi2",
];

/// Whether an external function takes numbers of 64 bits as such.
pub(crate) fn is_library_number_function(name: &str) -> bool {
    OF_LONG_LONG.contains(&name)
}

/// Functions of the library that take a complex number and give a real one: nothing in their type tells.
const OF_COMPLEX: [&str; 8] =
    ["cabs", "cabsf", "carg", "cargf", "cimag", "cimagf", "creal", "crealf"];

/// Whether an external function takes a complex number, which looks like two real ones.
pub(crate) fn takes_complex_number(name: &str) -> bool {
    OF_COMPLEX.contains(&name)
}

/// Whether it is one that the compiler calls for complex numbers: it takes real ones, and its result is handed over alike.
pub(crate) fn is_complex_arithmetic(name: &str) -> bool {
    ["__mulsc3", "__muldc3", "__divsc3", "__divdc3"].contains(&name)
}

/// `long` of the host is `long long` of the library.
pub(super) fn rename_number_functions(module: Module) {
    for (long, twin) in LONG_TWINS {
        let Some(function) = module.function(long) else { continue };
        if function.is_declaration() && function.value_type().result().is_integer() {
            match module.function(twin) {
                Some(other) => function.replace_by(other),
                None => function.set_name(twin),
            }
        }
    }
}
