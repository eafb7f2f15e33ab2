//! What the host's compiler is told about numbers, and how that reaches every device.
//!
//! In: the flags of a command line, and the text. Out: [`Numbers`], which every device's compiler is told in its own
//! words; and the flags that a device has no words for, which are refused by name.
//!
//! A flag that allows inexact results is followed by giving exact ones. One that demands something must be followed.

use ir::layout::{self, DataModel};

use abi::target::Kind;

/// What a flag is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// A product and a sum may be rounded once.
    Contraction(bool),
    /// Divisions and roots may be a little wrong, and tiny numbers zero.
    Fast(bool),
    /// Inexact results are allowed, or are no longer: devices never make use of it.
    Freedom,
    /// What all devices do.
    Always,
    /// Plain `char` is signed.
    Char(bool),
    /// Overflow of signed integers wraps.
    Wraps(bool),
    /// Objects of one type may be read as another.
    Aliases(bool),
    /// What only the host's own compiler does, or no longer.
    HostOnly(&'static str, bool),
}

use About::{Aliases, Always, Char, Contraction, Fast, Freedom, HostOnly, Wraps};

const TRAPS: &str = "the program is to end where signed integers overflow";
const SINGLE: &str = "constants without a suffix have another type";
const ENUMS: &str = "enumerations have other sizes";
const FIELDS: &str = "bit-fields of plain `int` have no sign";
const RECORDS: &str = "records are laid out otherwise";
const LONG_DOUBLE: &str = "`long double` has another size";
const WIDE: &str = "`wchar_t` has another size";
const ROUNDING: &str = "the program may change how numbers are rounded";
const LETTERS: &str = "strings have other bytes";
const NARROW: &str = "pointers have 32 bits";

const OPENCL: &str = "opencl";

/// All flags about numbers; one that ends with `=` begins them.
const TABLE: &[(&str, About)] = &[
    ("-ffp-contract=fast", Contraction(true)),
    ("-ffp-contract=on", Contraction(false)),
    ("-ffp-contract=off", Contraction(false)),
    ("-ffast-math", Fast(true)),
    ("-fno-fast-math", Fast(false)),
    ("-funsafe-math-optimizations", Fast(true)),
    ("-fno-unsafe-math-optimizations", Fast(false)),
    ("-ffinite-math-only", Freedom),
    ("-fno-finite-math-only", Freedom),
    ("-fsigned-zeros", Freedom),
    ("-fno-signed-zeros", Freedom),
    ("-freciprocal-math", Freedom),
    ("-fno-reciprocal-math", Freedom),
    ("-fassociative-math", Freedom),
    ("-fno-associative-math", Freedom),
    ("-fmath-errno", Freedom),
    ("-fno-math-errno", Freedom),
    ("-ftrapping-math", Freedom),
    ("-fno-trapping-math", Freedom),
    ("-fsignaling-nans", Freedom),
    ("-fno-signaling-nans", Freedom),
    ("-fcx-limited-range", Freedom),
    ("-fno-cx-limited-range", Freedom),
    ("-fcx-fortran-rules", Freedom),
    ("-mfma", Freedom),
    ("-mno-fma", Freedom),
    ("-mfpmath=", Freedom),
    ("-mdaz-ftz", Freedom),
    ("-mrecip", Freedom),
    ("-mrecip=", Freedom),
    ("-fexcess-precision=", Always),
    ("-ffloat-store", Always),
    ("-fno-float-store", Always),
    ("-fno-rounding-math", HostOnly(ROUNDING, false)),
    ("-frounding-math", HostOnly(ROUNDING, true)),
    ("-funsigned-char", Char(false)),
    ("-fno-signed-char", Char(false)),
    ("-fsigned-char", Char(true)),
    ("-fno-unsigned-char", Char(true)),
    ("-fwrapv", Wraps(true)),
    ("-fno-strict-overflow", Wraps(true)),
    ("-fno-wrapv", Wraps(false)),
    ("-fstrict-overflow", Wraps(false)),
    ("-fno-strict-aliasing", Aliases(true)),
    ("-fstrict-aliasing", Aliases(false)),
    ("-ftrapv", HostOnly(TRAPS, true)),
    ("-fno-trapv", HostOnly(TRAPS, false)),
    ("-fsingle-precision-constant", HostOnly(SINGLE, true)),
    ("-fno-single-precision-constant", HostOnly(SINGLE, false)),
    ("-fshort-enums", HostOnly(ENUMS, true)),
    ("-fno-short-enums", HostOnly(ENUMS, false)),
    ("-funsigned-bitfields", HostOnly(FIELDS, true)),
    ("-fno-signed-bitfields", HostOnly(FIELDS, true)),
    ("-fsigned-bitfields", HostOnly(FIELDS, false)),
    ("-fno-unsigned-bitfields", HostOnly(FIELDS, false)),
    ("-mms-bitfields", HostOnly(RECORDS, true)),
    ("-mno-ms-bitfields", HostOnly(RECORDS, false)),
    ("-fpack-struct", HostOnly(RECORDS, true)),
    ("-fpack-struct=", HostOnly(RECORDS, true)),
    ("-fno-pack-struct", HostOnly(RECORDS, false)),
    ("-mlong-double-64", HostOnly(LONG_DOUBLE, true)),
    ("-mlong-double-128", HostOnly(LONG_DOUBLE, true)),
    ("-mlong-double-80", HostOnly(LONG_DOUBLE, false)),
    ("-fshort-wchar", HostOnly(WIDE, true)),
    ("-fno-short-wchar", HostOnly(WIDE, false)),
    ("-fexec-charset=", HostOnly(LETTERS, true)),
    ("-fwide-exec-charset=", HostOnly(LETTERS, true)),
    ("-m32", HostOnly(NARROW, true)),
    ("-mx32", HostOnly(NARROW, true)),
    ("-m64", HostOnly(NARROW, false)),
];

/// What is asked of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// A product and a sum may become one operation that rounds once: what gcc does by default, but not with the
    /// standards of ISO.
    pub(crate) contracts: bool,
    /// And the user has said so.
    pub(crate) is_contraction_asked: bool,
    /// Divisions and roots may be a little wrong, and tiny numbers zero.
    pub(crate) is_fast: bool,
    /// Plain `char` is signed.
    pub(crate) char_signed: bool,
    /// Overflow of signed integers wraps: the flag that says so.
    pub(crate) wraps: Option<String>,
    /// Objects of one type may be read as another: the flag that says so.
    pub(crate) aliases: Option<String>,
    /// The program starts on 64-bit ARM.
    starts_on_arm: bool,
    /// Flags that only the host's own compiler follows, and what they mean.
    host_only: Vec<(String, &'static str)>,
    /// The flag that changes the sign of plain `char`.
    char_flag: Option<String>,
}

impl Numbers {
    /// The last flag about a thing decides; a word about contraction wins over the standard.
    pub(crate) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Numbers {
        let mut numbers = Numbers {
            contracts: true,
            is_contraction_asked: false,
            is_fast: false,
            char_signed: layout::LP64.char_signed,
            wraps: None,
            aliases: None,
            starts_on_arm: false,
            host_only: Vec::new(),
            char_flag: None,
        };
        let (mut is_iso, mut said, mut is_of_level) = (false, None, false);
        for word in words {
            let standard = word.strip_prefix("-std=").or_else(|| word.strip_prefix("--std="));
            if let Some(standard) = standard {
                is_iso = !standard.starts_with("gnu");
            } else if word == "-ansi" {
                is_iso = true;
            } else if word.starts_with("-O") {
                is_of_level = word == "-Ofast";
            }
            let fits = |row: &&(&str, About)| match row.0.ends_with('=') {
                true => word.starts_with(row.0),
                false => word == row.0,
            };
            let Some((_, about)) = TABLE.iter().find(fits) else { continue };
            match *about {
                Contraction(it) => said = Some(it),
                Fast(it) => {
                    numbers.is_fast = it;
                    is_of_level &= it;
                }
                Freedom | Always => {}
                Char(it) => {
                    numbers.char_signed = it;
                    numbers.char_flag = Some(word.to_owned());
                }
                Wraps(it) => numbers.wraps = it.then(|| word.to_owned()),
                Aliases(it) => numbers.aliases = it.then(|| word.to_owned()),
                HostOnly(why, it) => {
                    numbers.host_only.retain(|before| before.1 != why);
                    if it {
                        numbers.host_only.push((word.to_owned(), why));
                    }
                }
            }
        }
        numbers.is_fast |= is_of_level;
        numbers.contracts = said.unwrap_or(!is_iso || numbers.is_fast);
        numbers.is_contraction_asked = said.unwrap_or(numbers.is_fast);
        numbers
    }

    /// The same for a text, which may forbid contraction by a pragma.
    #[must_use]
    pub(crate) fn in_text(mut self, text: &[u8]) -> Numbers {
        if forbids_contraction(text) {
            (self.contracts, self.is_contraction_asked) = (false, false);
        }
        self
    }

    /// The same for a program that starts on 64-bit ARM, or does not.
    #[must_use]
    pub(crate) fn starting(self, starts_on_arm: bool) -> Numbers {
        Numbers { starts_on_arm, ..self }
    }

    /// How data are laid out.
    pub(crate) fn model(&self) -> &'static DataModel {
        let is_narrow = |flag: &str| self.host_only.iter().any(|it| it.0 == flag);
        match (is_narrow("-m32"), is_narrow("-mx32"), self.char_signed) {
            (true, ..) => &layout::ILP32_X86,
            (_, true, _) => &layout::ILP32,
            (_, _, true) if self.starts_on_arm => &layout::LP64_ARM_SIGNED_CHAR,
            (_, _, false) if self.starts_on_arm => &layout::LP64_ARM,
            (_, _, true) => &layout::LP64,
            (_, _, false) => &layout::LP64_UNSIGNED_CHAR,
        }
    }

    /// A flag that one of these devices has no words for: what to say of it.
    pub(crate) fn refused(&self, kinds: &[Kind]) -> Option<String> {
        kinds.iter().find_map(|it| match it {
            Kind::Cpu | Kind::CpuCopy | Kind::CpuSeparate => None,
            Kind::OpenCl | Kind::OpenCl12 | Kind::Fpga(_) => self.refused_by(OPENCL, false),
            Kind::Cuda => self.refused_by("cuda", false),
            Kind::Hip => self.refused_by("hip", true),
            Kind::Riscv | Kind::RiscvShared => self.refused_by("riscv", true),
            // Integers of hardware wrap.
            Kind::Remote(_) | Kind::Rtl => self.refused_by(it.target().name, true),
        })
    }

    /// The same for one device, whose compiler knows flags of gcc or does not.
    pub(crate) fn refused_by(&self, device: &str, knows_flags: bool) -> Option<String> {
        let said = |flag: &str, why: &str| {
            format!(
                "`{flag}` does not reach `{device}`: {why}, and its compiler cannot be told\n  help: leave `{flag}` \
                 out for files with regions, or compile for `--device cpu`"
            )
        };
        if let Some((flag, why)) = self.host_only.first() {
            return Some(said(flag, why));
        }
        if knows_flags {
            return None;
        }
        if let Some(flag) = &self.wraps {
            return Some(said(flag, "signed integers are to wrap"));
        }
        // NVIDIA's compiler never takes it otherwise.
        if let Some(flag) = self.aliases.as_ref().filter(|_| device == OPENCL) {
            return Some(said(flag, "objects may be read as another type"));
        }
        let is_other = self.char_signed != layout::LP64.char_signed;
        let flag = self.char_flag.as_deref().filter(|_| is_other)?;
        Some(said(flag, "plain `char` has another sign there"))
    }
}

/// Whether a text has `#pragma STDC FP_CONTRACT OFF`: contraction is allowed nowhere then, as it need not be used where
/// it is.
fn forbids_contraction(text: &[u8]) -> bool {
    let words = ["pragma", "STDC", "FP_CONTRACT", "OFF"];
    text.split(|it| *it == b'\n').any(|line| {
        let line = line.trim_ascii_start();
        line.starts_with(b"#")
            && std::str::from_utf8(line.get(1..).unwrap_or_default())
                .is_ok_and(|it| it.split_whitespace().eq(words))
    })
}

#[cfg(test)]
mod tests {
    use abi::target::{Remote, Vendor};

    use super::*;

    fn numbers(line: &str) -> Numbers {
        Numbers::of(line.split_whitespace())
    }

    #[test]
    fn contraction_follows_the_last_word_and_then_the_standard() {
        let check =
            |line: &str, wanted: bool| assert_eq!(numbers(line).contracts, wanted, "{line}");
        check("-O2", true);
        check("-std=gnu11", true);
        check("-std=c11", false);
        check("--std=c99", false);
        check("-ansi", false);
        check("-std=c11 -std=gnu17", true);
        check("-std=c11 -ffp-contract=fast", true);
        check("-std=c11 -ffast-math", true);
        check("-ffp-contract=off", false);
        check("-ffp-contract=off -ffp-contract=fast", true);
        check("-Ofast -ffp-contract=on", false);
    }

    #[test]
    fn fast_is_what_the_last_flag_says() {
        let check = |line: &str, wanted: bool| assert_eq!(numbers(line).is_fast, wanted, "{line}");
        check("-Ofast", true);
        check("-Ofast -O2", false);
        check("-O2 -Ofast", true);
        check("-Ofast -fno-fast-math", false);
        check("-ffast-math -O2", true);
        check("-funsafe-math-optimizations", true);
    }

    #[test]
    fn a_pragma_forbids_contraction() {
        let check = |text: &str, wanted: bool| {
            let found = numbers("-ffp-contract=fast").in_text(text.as_bytes());
            assert_eq!((found.contracts, found.is_contraction_asked), (wanted, wanted), "{text}");
        };
        check("int x;\n  #  pragma STDC  FP_CONTRACT OFF\nint y;\n", false);
        check("#pragma STDC FP_CONTRACT ON\n", true);
        check("#pragma STDC FENV_ACCESS OFF\n", true);
        check("char *s = \"#pragma STDC FP_CONTRACT OFF\";\n", true);
    }

    #[test]
    fn every_flag_reaches_every_device_or_is_refused_by_name() {
        let others = [Kind::Riscv, Kind::RiscvShared, Kind::Remote(Remote::Described), Kind::Rtl];
        let like_opencl = [Kind::OpenCl, Kind::OpenCl12, Kind::Fpga(Vendor::Intel)];
        let kinds = [like_opencl.as_slice(), &[Kind::Cuda, Kind::Hip], &others].concat();
        for (flag, about) in TABLE {
            let flag = format!("{flag}{}", if flag.ends_with('=') { "x" } else { "" });
            let found = numbers(&flag);
            let refused = |kind: Kind| found.refused(&[kind]);
            assert_eq!(
                found.refused(&[Kind::Cpu, Kind::CpuCopy, Kind::CpuSeparate]),
                None,
                "{flag}"
            );
            for kind in kinds.iter().copied() {
                let is_gpu = kind != Kind::Hip && !others.contains(&kind);
                let wanted = match about {
                    HostOnly(_, is_on) => *is_on,
                    Char(signed) => is_gpu && *signed != layout::LP64.char_signed,
                    Wraps(is_on) => is_gpu && *is_on,
                    Aliases(is_on) => *is_on && like_opencl.contains(&kind),
                    Contraction(_) | Fast(_) | Freedom | Always => false,
                };
                let said = refused(kind);
                assert_eq!(said.is_some(), wanted, "{flag} {kind:?}");
                assert!(said.is_none_or(|it| it.contains(&format!("`{flag}`"))), "{flag}");
            }
        }
        assert_eq!(numbers("-fwrapv -fno-wrapv -ftrapv -fno-trapv").refused(&kinds), None);
    }

    #[test]
    fn flags_decide_how_data_are_laid_out() {
        let check = |line: &str, name: &str| assert_eq!(numbers(line).model().name, name, "{line}");
        check("-O2", "lp64");
        check("-funsigned-char", "lp64-unsigned-char");
        check("-funsigned-char -fsigned-char", "lp64");
        check("-m32", "ilp32-x86");
        check("-m32 -m64", "lp64");
        let on_arm = |line: &str| numbers(line).starting(true).model().name;
        assert_eq!(on_arm("-O2 -funsigned-char"), "lp64-arm");
        assert_eq!(on_arm("-funsigned-char -fsigned-char"), "lp64-arm-signed-char");
    }
}
