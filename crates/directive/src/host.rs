//! What a host compiler must be told so that its preprocessor leaves directives fit to read.

/// Switches both standards on, so that macros in their pragmas are expanded, and names the versions
/// that Ferry reads: OpenMP 5.2 and OpenACC 3.3.
pub const PREPROCESSOR_FLAGS: &[&str] = &[
    "-fopenmp",
    "-fopenacc",
    "-U_OPENMP",
    "-D_OPENMP=202111",
    "-U_OPENACC",
    "-D_OPENACC=202211",
    "-D__FERRY__=1",
];

/// The headers of both standards' APIs, which Ferry brings along.
pub const HEADERS: &[&str] = &["omp.h", "openacc.h"];

/// Whether a pragma that begins with this word is ours to read.
pub fn is_directive_word(word: &str) -> bool {
    matches!(word, "omp" | "ompx" | "acc" | "openarc" | "unroll")
}
