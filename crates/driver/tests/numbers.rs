//! What the host's compiler is told about numbers holds on every device, or is refused by name.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

#[path = "support/cluster.rs"]
mod cluster;
#[path = "support/pieces.rs"]
mod pieces;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use cluster::has_tools;
use pieces::line_of;
use support::{ferry, told};

/// Ends with 0 if sums of products are rounded twice, with 1 if once.
const ROUNDED: &str = "
PRAGMA
int main(void) {
    double a[64], b[64], c[64], o[64];
    int once = 0;
    for (int i = 0; i < 64; i++) {
        a[i] = 1.0 / (i + 3), b[i] = 1.0 / (i + 7);
        volatile double product = a[i] * b[i];
        c[i] = -product;
    }
    #pragma omp target teams distribute parallel for map(to: a, b, c) map(from: o)
    for (int i = 0; i < 64; i++) { WITHIN o[i] = c[i] + a[i] * b[i]; }
    for (int i = 0; i < 64; i++) once |= o[i] != 0;
    return once;
}
";

fn build(folder: &Path, device: &str, flags: &[&str], text: &str) -> Result<(), String> {
    fs::write(folder.join("a.c"), text).expect("a file");
    let words = [&["cc", "--device", device, "-w", "a.c", "-o", "a"], flags].concat();
    let built = ferry(&words, folder);
    if built.status.success() { Ok(()) } else { Err(told(&built)) }
}

/// How a program ends on a device.
fn ends(device: &str, flags: &[&str], text: &str) -> Option<i32> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    build(folder.path(), device, flags, text).expect("it compiles");
    let mut command = Command::new(folder.path().join("a"));
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY").env("FERRY_DEVICE", device);
    command.output().expect("the program runs").status.code()
}

fn devices() -> Vec<&'static str> {
    let line = line_of("devices", "\"opencl\"");
    let mut devices = vec!["cpu", "cpu:separate"];
    match line.contains("\"missing\":[]") {
        true => devices.extend(["opencl", "opencl:1.2"]),
        false => eprintln!("skipped: no OpenCL driver is installed (Debian: pocl-opencl-icd)"),
    }
    if has_tools() {
        devices.push("riscv");
    }
    devices
}

#[test]
fn products_and_sums_are_rounded_as_the_flags_say() {
    let plain = ROUNDED.replace("PRAGMA", "").replace("WITHIN", "");
    let of_file = ROUNDED.replace("PRAGMA", "#pragma STDC FP_CONTRACT OFF").replace("WITHIN", "");
    let of_block =
        ROUNDED.replace("PRAGMA", "").replace("WITHIN", "\n#pragma STDC FP_CONTRACT OFF\n");
    let ways: [(&[&str], &str); 5] = [
        (&["-ffp-contract=off"], &plain),
        (&["-ffp-contract=fast", "-ffp-contract=on"], &plain),
        (&["-std=c11"], &plain),
        (&[], &of_file),
        (&["-ffp-contract=fast"], &of_block),
    ];
    for device in devices() {
        for (flags, text) in ways {
            // Where the processor can do both at once.
            let flags = [flags, &["-O2"]].concat();
            assert_eq!(ends(device, &flags, text), Some(0), "{device} {flags:?}");
        }
    }
}

#[test]
fn plain_char_is_what_the_flags_say() {
    let text = "
        int main(void) {
            char c = 0; int wide = 0, letter = 0, number = 0;
            #pragma omp target map(from: wide, letter, number) map(to: c)
            { char own = c; own -= 1; wide = own; letter = '\\377'; number = (char)200; }
            return wide == 255 && letter == 255 && number == 200 ? 3 : wide == -1 && letter == -1 ? 4 : 5;
        }";
    for device in devices() {
        let signed = ends(device, &["-funsigned-char", "-fsigned-char"], text);
        assert_eq!(signed, Some(4), "{device}");
        if !device.starts_with("opencl") {
            assert_eq!(ends(device, &["-funsigned-char"], text), Some(3), "{device}");
        }
    }
}

#[test]
fn what_a_device_cannot_be_told_is_refused_by_name() {
    let text =
        "int main(void) { int x = 0;\n#pragma omp target map(tofrom: x)\nx = 1;\nreturn x; }";
    let folder = tempfile::tempdir().expect("a temporary folder");
    for flag in [
        "-ftrapv",
        "-fshort-enums",
        "-fsingle-precision-constant",
        "-frounding-math",
        "-fpack-struct=1",
    ] {
        let said = build(folder.path(), "opencl", &[flag], text).expect_err(flag);
        assert!(said.contains(&format!("`{flag}` does not reach `opencl`")), "{said}");
        assert!(said.contains("help: "), "{said}");
    }
    for flag in ["-fwrapv", "-fno-strict-overflow", "-funsigned-char", "-fno-strict-aliasing"] {
        let said = build(folder.path(), "opencl", &[flag], text).expect_err(flag);
        assert!(said.contains(&format!("`{flag}` does not reach `opencl`")), "{said}");
        assert_eq!(build(folder.path(), "cpu,cpu:separate", &[flag], text), Ok(()), "{flag}");
    }
    for flag in [
        "-ffast-math",
        "-Ofast",
        "-fno-math-errno",
        "-fexcess-precision=fast",
        "-mfma",
        "-fopenmp-simd",
    ] {
        assert_eq!(build(folder.path(), "opencl", &[flag], text), Ok(()), "{flag}");
    }
    // A file without regions is the host's alone.
    assert_eq!(
        build(folder.path(), "opencl", &["-ftrapv"], "int main(void) { return 0; }"),
        Ok(())
    );
}

#[test]
fn texts_that_are_written_say_it_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = ROUNDED.replace("PRAGMA", "").replace("WITHIN", "");
    fs::write(folder.path().join("a.c"), &text).expect("a file");
    let emit = |dialect: &str, flags: &[&str]| {
        let words = [&["emit", "--dialect", dialect, "-o", "out", "a.c"], flags].concat();
        let made = ferry(&words, folder.path());
        (made.status.success(), told(&made))
    };
    let kernels = |ending: &str| {
        fs::read_to_string(folder.path().join("out").join(format!("a{ending}"))).expect("kernels")
    };
    let ways = [
        ("opencl", ".cl", "#pragma OPENCL FP_CONTRACT OFF"),
        ("opencl:1.2", ".cl", "#pragma OPENCL FP_CONTRACT OFF"),
        ("cuda", ".cu", "--fmad=false"),
        ("hip", ".c.hip", "#pragma clang fp contract(off)"),
    ];
    for (dialect, ending, word) in ways {
        let (is_made, said) = emit(dialect, &[]);
        assert!(is_made && !kernels(ending).contains(word), "{dialect} {said}");
        for flags in [&["--std", "c11"][..], &["--", "-ffp-contract=off"]] {
            let (is_made, said) = emit(dialect, flags);
            assert!(is_made && kernels(ending).contains(word), "{dialect} {flags:?} {said}");
        }
        let (is_made, said) = emit(dialect, &["--", "-fwrapv"]);
        assert!(!is_made && said.contains("`-fwrapv` does not reach"), "{said}");
    }
}

/// Constants of `long double`, which devices have not, and a type.
const NOT_EVERYWHERE: [&str; 6] =
    ["HUGE_VALL", "LDBL_EPSILON", "LDBL_MAX", "LDBL_MIN", "LDBL_TRUE_MIN", "bool"];

/// `tests/run` has every constant of the headers, so that each device compiles it; functions that are macros, too.
#[test]
fn every_macro_of_the_headers_is_in_a_program() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let macros = |text: &str| -> BTreeMap<String, String> {
        let file = folder.path().join("a.c");
        fs::write(&file, text).expect("a file");
        let cc = Command::new("cc").args(["-std=gnu17", "-dM", "-E"]).arg(&file).output();
        let said = String::from_utf8_lossy(&cc.expect("a compiler").stdout).into_owned();
        let named = said.lines().filter_map(|it| it.strip_prefix("#define ")?.split_once(' '));
        named.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    let own = macros("");
    let programs = [
        include_str!("../../../tests/run/header_constants.c"),
        include_str!("../../../tests/run/header_words.c"),
    ];
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let words: BTreeSet<&str> =
        programs.iter().flat_map(|it| it.split(|it| !is_word(it))).collect();
    let mut missing = Vec::new();
    for header in ["float.h", "limits.h", "math.h", "stdbool.h", "stdint.h", "inttypes.h"] {
        for (name, value) in macros(&format!("#include <{header}>\n")) {
            let name = name.split('(').next().unwrap_or_default();
            let is_hidden = name.starts_with('_') || own.get(name) == Some(&value);
            if !is_hidden && !words.contains(name) && !NOT_EVERYWHERE.contains(&name) {
                missing.push(format!("{name} of {header}"));
            }
        }
    }
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "{missing:?}");
}
