//! The built-in functions with a plain signature.
//!
//! A signature is the result followed by the parameters, one letter each: `v` void, `b` _Bool, `c`
//! char, `h` unsigned short, `i` int, `u` unsigned, `l`/`L` long, `q`/`Q` long long, `z` size_t, `x`
//! ptrdiff_t, `w` wchar_t, `f` float, `d` double, `e` long double, `g` _Float128, `X`/`Y`/`Z` complex
//! double, float, long double, `p`/`P` pointer to (const) void, `s`/`S` to (const) char, `I`, `D`,
//! `F`, `E`, `A` pointer to int, double, float, long double, char pointer, `U`, `m`/`M`, `n`/`N` to unsigned, (unsigned)
//! long, (unsigned) long long, `V` va_list, `.` more.

/// Library functions, which gcc knows under their own name and with `__builtin_` in front.
const LIBRARY: &[(&str, &str)] = &[
    ("v", "abort"),
    ("vi", "exit _exit _Exit"),
    (
        "ii",
        "abs isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace \
            isupper isxdigit tolower toupper toascii isascii putchar ffs",
    ),
    ("ll", "labs"),
    ("qq", "llabs"),
    ("il", "ffsl"),
    ("iq", "ffsll"),
    ("pz", "malloc alloca"),
    ("pzz", "calloc aligned_alloc"),
    ("ppz", "realloc"),
    ("vp", "free"),
    ("ppPz", "memcpy memmove mempcpy"),
    ("ppiz", "memset"),
    ("vpz", "bzero"),
    ("iPPz", "memcmp bcmp"),
    ("pPiz", "memchr"),
    ("zS", "strlen"),
    ("zSz", "strnlen"),
    ("ssS", "strcpy strcat stpcpy"),
    ("ssSz", "strncpy strncat stpncpy"),
    ("iSS", "strcmp strcasecmp"),
    ("iSSz", "strncmp strncasecmp"),
    ("sSi", "strchr strrchr index rindex"),
    ("sSS", "strstr strpbrk"),
    ("zSS", "strcspn strspn"),
    ("sS", "strdup"),
    ("sSz", "strndup"),
    ("iS.", "printf scanf"),
    ("ipS.", "fprintf fscanf"),
    ("isS.", "sprintf"),
    ("iSS.", "sscanf"),
    ("iszS.", "snprintf"),
    ("iSV", "vprintf vscanf"),
    ("ipSV", "vfprintf vfscanf"),
    ("isSV", "vsprintf"),
    ("iSSV", "vsscanf"),
    ("iszSV", "vsnprintf"),
    ("iS", "puts"),
    ("iSp", "fputs"),
    ("iip", "fputc putc"),
    ("zPzzp", "fwrite"),
];

/// Functions of one `double`: with `f` and `l` behind, of `float` and `long double`.
const MATH: &[(&str, &str)] = &[
    (
        "dd",
        "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp10 exp2 expm1 fabs \
            floor gamma j0 j1 lgamma log log10 log1p log2 logb nearbyint pow10 rint round roundeven \
            significand sin sinh sqrt tan tanh tgamma trunc y0 y1",
    ),
    ("ddd", "atan2 copysign drem fdim fmax fmin fmod hypot nextafter pow remainder scalb"),
    ("dddd", "fma"),
    ("dde", "nexttoward"),
    ("ddi", "ldexp scalbn"),
    ("ddl", "scalbln"),
    ("ddI", "frexp lgamma_r"),
    ("ddD", "modf"),
    ("dddI", "remquo"),
    ("did", "jn yn"),
    ("id", "ilogb finite isnan isinf"),
    ("ld", "lrint lround"),
    ("qd", "llrint llround"),
    ("dS", "nan nans"),
    ("vdDD", "sincos"),
    ("dX", "cabs carg cimag creal"),
    (
        "XX",
        "cacos cacosh casin casinh catan catanh ccos ccosh cexp clog clog10 conj cproj csin \
            csinh csqrt ctan ctanh",
    ),
    ("XXX", "cpow"),
];

/// Functions that exist with `__builtin_` in front only.
const COMPILER: &[(&str, &str)] = &[
    ("v", "unreachable trap cpu_init"),
    ("lll", "expect"),
    ("llld", "expect_with_probability"),
    ("pPz.", "assume_aligned"),
    ("vP.", "prefetch"),
    ("zPi", "object_size dynamic_object_size"),
    ("pu", "return_address frame_address"),
    ("pp", "extract_return_addr frob_return_addr"),
    ("pzz", "alloca_with_align"),
    ("pzzz", "alloca_with_align_and_max"),
    ("i", "va_arg_pack va_arg_pack_len LINE"),
    ("S", "FILE FUNCTION"),
    ("iS", "cpu_is cpu_supports"),
    ("hh", "bswap16"),
    ("uu", "bswap32"),
    ("LL", "bswap64"),
    ("iu", "clz ctz popcount parity"),
    ("iL", "clzl ctzl popcountl parityl"),
    ("iQ", "clzll ctzll popcountll parityll"),
    ("ii", "clrsb"),
    ("il", "clrsbl"),
    ("iq", "clrsbll"),
    ("d", "inf huge_val"),
    ("f", "inff huge_valf"),
    ("e", "infl huge_vall"),
    ("g", "inff128 huge_valf128"),
    ("gS", "nanf128 nansf128"),
    ("gg", "fabsf128"),
    ("ggg", "copysignf128"),
    ("ddi", "powi"),
    ("ffi", "powif"),
    ("eei", "powil"),
    ("biiI", "sadd_overflow ssub_overflow smul_overflow"),
    ("bllm", "saddl_overflow ssubl_overflow smull_overflow"),
    ("bqqn", "saddll_overflow ssubll_overflow smulll_overflow"),
    ("buuU", "uadd_overflow usub_overflow umul_overflow"),
    ("bLLM", "uaddl_overflow usubl_overflow umull_overflow"),
    ("bQQN", "uaddll_overflow usubll_overflow umulll_overflow"),
    ("ppPzz", "__memcpy_chk __memmove_chk __mempcpy_chk"),
    ("ppizz", "__memset_chk"),
    ("ssSz", "__strcpy_chk __strcat_chk __stpcpy_chk"),
    ("ssSzz", "__strncpy_chk __strncat_chk __stpncpy_chk"),
    ("iszizS.", "__snprintf_chk"),
    ("isizS.", "__sprintf_chk"),
    ("iszizSV", "__vsnprintf_chk"),
    ("isizSV", "__vsprintf_chk"),
    ("iiS.", "__printf_chk"),
    ("ipiS.", "__fprintf_chk"),
    ("iiSV", "__vprintf_chk"),
    ("ipiSV", "__vfprintf_chk"),
    ("vpp", "longjmp __clear_cache"),
    ("ip", "setjmp"),
    ("vp", "stack_restore"),
    ("p", "stack_save apply_args"),
    ("pppz", "apply"),
    ("ii", "eh_return_data_regno"),
    ("p", "thread_pointer"),
];

/// The signature of a built-in function.
pub(super) fn signature(name: &str) -> Option<&'static str> {
    if let Some(name) = name.strip_prefix("__builtin_") {
        // Thousands of instructions, which the headers around them give types to.
        if name.starts_with("ia32_") {
            return None;
        }
        return find(COMPILER, name).or_else(|| library(name));
    }
    library(name)
}

pub(super) fn is_noreturn(name: &str) -> bool {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    matches!(name, "abort" | "exit" | "_exit" | "_Exit" | "unreachable" | "trap" | "longjmp")
}

fn library(name: &str) -> Option<&'static str> {
    find(LIBRARY, name).or_else(|| find(MATH, name)).or_else(|| narrow(name))
}

fn find(table: &'static [(&str, &str)], name: &str) -> Option<&'static str> {
    table.iter().find(|it| it.1.split_whitespace().any(|it| it == name)).map(|it| it.0)
}

/// `sinf`, `sinl`: the signature of the relative, in `float` or `long double`.
fn narrow(name: &str) -> Option<&'static str> {
    let (base, is_float) = match (name.strip_suffix('f'), name.strip_suffix('l')) {
        (Some(base), _) => (base, true),
        (_, Some(base)) => (base, false),
        (None, None) => return None,
    };
    let wide = find(MATH, base)?;
    RELATIVES.iter().find(|it| it.0 == wide).map(|it| if is_float { it.1 } else { it.2 })
}

/// Signatures of [`MATH`] in `double`, `float` and `long double`.
const RELATIVES: &[(&str, &str, &str)] = &[
    ("dd", "ff", "ee"),
    ("ddd", "fff", "eee"),
    ("dddd", "ffff", "eeee"),
    ("dde", "ffe", "eee"),
    ("ddi", "ffi", "eei"),
    ("ddl", "ffl", "eel"),
    ("ddI", "ffI", "eeI"),
    ("ddD", "ffF", "eeE"),
    ("dddI", "fffI", "eeeI"),
    ("did", "fif", "eie"),
    ("id", "if", "ie"),
    ("ld", "lf", "le"),
    ("qd", "qf", "qe"),
    ("dS", "fS", "eS"),
    ("vdDD", "vfFF", "veEE"),
    ("dX", "fY", "eZ"),
    ("XX", "YY", "ZZ"),
    ("XXX", "YYY", "ZZZ"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relatives_follow_their_double() {
        assert_eq!(signature("sinf"), Some("ff"));
        assert_eq!(signature("__builtin_fmal"), Some("eeee"));
        assert_eq!(signature("__builtin_cabsf"), Some("fY"));
        assert_eq!(signature("modff"), Some("ffF"));
    }

    #[test]
    fn every_double_signature_has_relatives() {
        for (signature, _) in MATH {
            assert!(RELATIVES.iter().any(|it| it.0 == *signature), "{signature}");
        }
    }

    #[test]
    fn compiler_functions_need_their_prefix() {
        assert_eq!(signature("expect"), None);
        assert_eq!(signature("__builtin_expect"), Some("lll"));
        assert_eq!(signature("__builtin_nonsense"), None);
    }
}
