//! What cannot be compiled is refused by name, and nothing is written.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod common;

use std::process::{Command, Output};

use common::{Model, intermediate, tools_are_here};
use narrow::{Assign, Options};

/// Compiles a text, with line tables; the message.
#[track_caller]
fn refusal(text: &str) -> String {
    let work = tempfile::tempdir().unwrap();
    let file = work.path().join("a.c");
    std::fs::write(&file, format!("#include \"device.h\"\n{text}\n")).unwrap();
    let input = intermediate(&file, Model::Host, &["-g"]);
    match narrow::compile(&[input], &Options::default()) {
        Ok(_) => panic!("it was compiled: {text}"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn check(text: &str, parts: &[&str]) {
    if !tools_are_here() {
        return;
    }
    let message = refusal(text);
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[test]
fn a_function_of_the_host_is_not_called() {
    let text = "void __ferry_k_a(void *const *slots) {\n  void (*f)(int) = slots[0];\n  f(3);\n}";
    check(text, &["a.c:4: function __ferry_k_a", "not of this program", "the host gives it"]);
}

#[test]
fn an_unknown_function_gets_no_pointer_of_the_host() {
    let text = "void use(int *p);\nvoid __ferry_k_a(void *const *slots) {\n  use(slots[0]);\n}";
    check(text, &["a.c:4: ", "function __ferry_k_a", "gives use a pointer", "may be of the host"]);
}

#[test]
fn an_unknown_function_gets_no_long() {
    let text =
        "long far(long n);\nvoid __ferry_k_a(void *const *slots) { *(long *)slots[0] = far(1); }";
    check(text, &["function far", "64 bits", "size_t"]);
}

#[test]
fn an_unknown_function_gets_no_structure_and_no_complex_number() {
    let kernel = |ty: &str, name: &str| {
        format!(
            "{ty} {name}({ty} z);\nvoid __ferry_k_a(void *const *slots) {{ {ty} *z = slots[0]; *z = {name}(*z); }}"
        )
    };
    check(&kernel("double _Complex", "csqrt"), &["function csqrt", "by value"]);
    check(&kernel("float _Complex", "cexpf"), &["function cexpf", "by value"]);
    let pair = format!("typedef struct {{ float x, y; }} pair;\n{}", kernel("pair", "turn"));
    check(&pair, &["function turn", "by value"]);
    let real = "double cabs(double _Complex z);\nvoid __ferry_k_a(void *const *slots) { double _Complex *z = slots[0]; *z = cabs(*z); }";
    check(real, &["function cabs", "complex"]);
}

#[test]
fn types_that_differ_are_refused() {
    let kernel = |body: &str| format!("void __ferry_k_a(void *const *slots) {{ {body} }}");
    check(&kernel("*(__int128 *)slots[0] += 1;"), &["a.c:2: ", "__int128"]);
    check(&kernel("*(long double *)slots[0] += 1;"), &["a.c:2: ", "long double"]);
    check(&format!("_Thread_local int t; {}", kernel("t++;")), &["variable t", "each thread"]);
}

#[test]
fn assembly_with_wide_registers_is_refused() {
    let text =
        "void __ferry_k_a(void *const *slots) { __asm__ volatile(\"nop %0\" :: \"r\"(slots)); }";
    check(text, &["a.c:2: ", "nop", "registers have 32"]);
}

#[test]
fn kernels_have_one_form_and_must_be_there() {
    check("void __ferry_k_a(int n) { }", &["function __ferry_k_a", "void *const *slots"]);
    check("static int a; int f(void) { return a; }", &["no function begins with `__ferry_k_`"]);
}

#[test]
fn variable_arguments_of_structures_are_refused() {
    let text = "struct s { long a[4]; }; void f(int n, ...);\n\
                void __ferry_k_a(void *const *slots) { f(1, 2.0L); }";
    check(text, &["function __ferry_k_a", "variable number"]);
}

fn command(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ferry-narrow")).args(arguments).output().unwrap()
}

#[test]
fn wrong_usage_has_status_2() {
    for arguments in [
        &[][..],
        &["a.bc"],
        &["a.bc", "-o", "x", "--hardware", "magic"],
        &["a.bc", "-o", "x", "-O7"],
    ] {
        assert_eq!(command(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn damaged_inputs_are_named_and_leave_no_output() {
    let work = tempfile::tempdir().unwrap();
    let path = |name: &str| work.path().join(name).display().to_string();
    std::fs::write(path("a.bc"), b"BC\xc0\xdenonsense").unwrap();
    std::fs::write(path("b.ll"), b"define void @f() {").unwrap();
    std::fs::write(path("c.ll"), b"target triple = \"x86_64-linux-gnu\"").unwrap();
    for (input, part) in
        [("a.bc", "not LLVM's"), ("b.ll", "not LLVM's"), ("c.ll", "riscv64"), ("d.bc", "No such")]
    {
        let output = command(&[&path(input), "-o", &path("out.o")]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.starts_with("ferry-narrow: ") && message.contains(input), "{message}");
        assert!(message.contains(part), "{message}");
        assert!(!std::fs::exists(path("out.o")).unwrap());
    }
}

#[test]
fn the_command_writes_every_form_and_tells_of_accesses() {
    if !tools_are_here() {
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let path = |name: &str| work.path().join(name).display().to_string();
    let text = "void __ferry_k_a(void *const *slots) {\n  int *p = slots[0];\n  p[1] = p[0];\n}\n";
    std::fs::write(path("a.c"), text).unwrap();
    let (_, bytes) = intermediate(&work.path().join("a.c"), Model::Host, &["-g"]);
    std::fs::write(path("a.bc"), bytes).unwrap();
    for (form, start) in
        [("obj", &b"\x7fELF"[..]), ("asm", b"\t"), ("bc", b"BC"), ("ll", b"; ModuleID")]
    {
        let output = command(&[&path("a.bc"), "-o", &path("out"), "--emit", form, "--stats=json"]);
        assert!(output.status.success(), "{form}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(std::fs::read(path("out")).unwrap().starts_with(start), "{form}");
        let stats: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(stats["device"], 1, "{stats}");
        assert_eq!(stats["generic"], 2, "{stats}");
        assert_eq!(stats["left"][0]["line"], 3, "{stats}");
        assert!(
            stats["left"][0]["reason"].as_str().unwrap().contains("kernel __ferry_k_a"),
            "{stats}"
        );
    }
}

/// Compiles LLVM's own text; the message.
#[track_caller]
fn check_text(body: &str, part: &str) {
    let head = "target datalayout = \"e-m:e-p:64:64-i64:64-i128:128-n32:64-S128\"\n\
                target triple = \"riscv64-unknown-elf\"\n";
    let input = ("a.ll".to_owned(), format!("{head}{body}\n").into_bytes());
    for (level, assign) in [(0, Assign::None), (3, Assign::Points)] {
        let options = Options { level, assign, ..Options::default() };
        match narrow::compile(std::slice::from_ref(&input), &options) {
            Ok(_) => panic!("-O{level}: it was compiled: {body}"),
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains(part), "-O{level}: `{part}` is not in: {message}");
            }
        }
    }
}

#[test]
fn what_c_seldom_says_is_refused_too() {
    let kernel = |body: &str| format!("define void @__ferry_k_a(ptr %s) {{\n{body}\n}}");
    let label = "@g = global ptr blockaddress(@__ferry_k_a, %x)\n";
    check_text(&format!("{label}{}", kernel("br label %x\nx: ret void")), "label");
    check_text(&kernel("%v = va_arg ptr %s, i32\nret void"), "va_arg");
    let text =
        "%v = load <vscale x 2 x i32>, ptr %s\nstore <vscale x 2 x i32> %v, ptr %s\nret void";
    check_text(&kernel(text), "length");
    let chosen = "@f = ifunc void (), ptr @r\ndefine ptr @r() { ret ptr null }\n";
    check_text(&format!("{chosen}{}", kernel("call void @f()\nret void")), "f: neither");
}
