//! What `ferry cc --device hip` makes and what `libferry` asks of AMD's runtime, checked without a GPU.
//!
//! clang takes the kernels of every program of `tests/run`; where a piece is missing, the message says so.
//! With a runtime without a GPU (`hip/runtime.c`) calls are counted and crashes and lack of memory are told; programs
//! run there whole, with the text of their kernels compiled for the host (`hip/kernels.h`), and are right.
//!
//! `tests/run/cuda.txt` and `hip.txt` name the programs that are refused, and why: it is the same language. Needs clang-19 and
//! lld-19, and for programs with mathematics rocm-device-libs; without them the tests say so and end.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

#[path = "support/files.rs"]
mod both;
#[path = "support/built.rs"]
mod built;
#[path = "support/pieces.rs"]
mod pieces;
#[path = "support/programs.rs"]
mod programs;
mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use built::library;
use libtest_mimic::{Arguments, Failed, Trial};
use pieces::line_of;
use programs::{listed, programs};
use support::{ferry, told};

/// What is said of programs that are refused.
const LIST: &str = concat!(
    include_str!("../../../tests/run/cuda.txt"),
    include_str!("../../../tests/run/hip.txt")
);

/// Programs of `tests/run` that run upon the runtime without a GPU; others take long where every thread of a GPU is
/// one of the host.
const WHOLE: &[&str] = &[
    "acc_shapes",
    "critical_sums",
    "grid_arrays",
    "grid_memory",
    "grid_numbers",
    "levels_teams",
    "target_globals",
    "target_indirect",
    "target_triangle",
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let programs = programs();
    let mut trials = Vec::new();
    for (name, path) in &programs {
        let (path, excuse) = (path.clone(), listed(LIST).get(name.as_str()).copied());
        let compiled = path.clone();
        trials.push(Trial::test(format!("program::{name}"), move || {
            checked(compiles(&compiled, excuse))
        }));
        if WHOLE.contains(&name.as_str()) {
            trials.push(Trial::test(format!("whole::{name}"), move || {
                let text = fs::read_to_string(&path).expect("a program");
                checked(runs(&text))
            }));
        }
    }
    for (name, test) in OWN {
        trials.push(Trial::test(*name, move || checked(test())));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

type Test = fn() -> Option<String>;

/// Tests of the command itself; what is wrong, or nothing.
const OWN: &[(&str, Test)] = &[
    ("every_step_is_left_for_who_asks", every_step_is_left_for_who_asks),
    ("a_build_is_the_same_each_time", a_build_is_the_same_each_time),
    ("one_file_has_code_for_all_devices", one_file_has_code_for_all_devices),
    ("programs_of_several_files_run", programs_of_several_files_run),
    ("functions_and_variables_of_other_files_are_linked", they_are_linked),
    ("what_no_file_defines_is_named", what_is_missing_is_named),
    ("a_compiler_that_is_not_there_is_named", a_compiler_that_is_not_there_is_named),
    ("a_gpu_that_nobody_knows_is_named", a_gpu_that_nobody_knows_is_named),
    ("a_library_that_is_not_there_is_named", a_library_that_is_not_there_is_named),
    ("every_function_of_the_library_is_there", every_function_of_the_library_is_there),
    ("a_machine_without_a_gpu_says_so", a_machine_without_a_gpu_says_so),
    ("an_old_runtime_is_refused", an_old_runtime_is_refused),
    ("data_go_there_and_back", data_go_there_and_back),
    ("a_kernel_for_one_thread_gets_one", a_kernel_for_one_thread_gets_one),
    ("the_image_of_this_gpu_is_loaded", the_image_of_this_gpu_is_loaded),
    ("a_crash_is_told_with_its_region", a_crash_is_told_with_its_region),
    ("lack_of_memory_is_told", lack_of_memory_is_told),
    ("two_gpus_have_data_of_their_own", two_gpus_have_data_of_their_own),
    ("memory_of_all_kinds_is_there", memory_of_all_kinds_is_there),
];

fn checked(wrong: Option<String>) -> Result<(), Failed> {
    wrong.map_or(Ok(()), |it| Err(it.into()))
}

/// Whether there is a compiler, which is said where there is none.
fn has_compiler() -> bool {
    let line = line_of("doctor", "\"clang for AMD's GPUs\"");
    let is_there = line.contains("\"found\":\"");
    if !is_there {
        eprintln!("skipped: clang for AMD's GPUs is not there (Debian: clang-19, lld-19)");
    }
    is_there
}

/// Whether a build wants AMD's library and that is not here, which is said.
fn lacks_library(said: &str) -> bool {
    let lacks = said.contains("which AMD's device library has");
    if lacks {
        eprintln!("skipped: AMD's device library is not there (Debian: rocm-device-libs)");
    }
    lacks
}

/// What is wrong with how a program compiles; nothing if it is right.
fn compiles(program: &Path, excuse: Option<&str>) -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = program.to_str()?;
    let built =
        ferry(&["cc", "--device", "hip", "-O0", "-w", source, "-c", "-o", "a.o"], folder.path());
    let said = told(&built);
    match (built.status.success(), excuse) {
        (true, None) => None,
        (true, Some(excuse)) => Some(format!("compiles, though the list says: {excuse}")),
        (false, Some(excuse)) if said.contains("[F0710]") && said.contains(excuse) => None,
        (false, None) if lacks_library(&said) => None,
        (false, _) => Some(format!("does not compile: {said}")),
    }
}

const PROGRAM: &str = "
#include <stdio.h>
int twice(int x);
int main(void) {
    int sum = 0, a[100];
    for (int i = 0; i < 100; i++) a[i] = i;
    #pragma omp target teams distribute parallel for map(tofrom: a) reduction(+: sum)
    for (int i = 0; i < 100; i++) { a[i] += 1; sum += a[i]; }
    sum = twice(sum);
    printf(\"%d\\n\", sum);
    return sum != 2 * 5050;
}
";

const OTHER: &str = "
int twice(int x) {
    #pragma omp target map(tofrom: x)
    x *= 2;
    return x;
}
";

/// A folder with the program in two files, and what `ferry cc` says of a line about them.
fn build(line: &[&str]) -> (tempfile::TempDir, Output) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.c"), PROGRAM).expect("a file");
    fs::write(folder.path().join("b.c"), OTHER).expect("a file");
    let built = ferry(&[&["cc"], line].concat(), folder.path());
    (folder, built)
}

fn every_step_is_left_for_who_asks() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let line = ["--device", "hip,hip:gfx942", "--ferry-save-temps=left", "-c", "a.c"];
    let (folder, built) = build(&line);
    let left = |name: &str| fs::read(folder.path().join("left").join(name)).unwrap_or_default();
    // The number of the machine, and that of the GPU.
    let is_code = |name: &str, gpu: u8| {
        let code = left(name);
        code.get(18..20) == Some(&[224, 0]) && code.get(48) == Some(&gpu)
    };
    let is_right = left("a.hip").starts_with(b"// ferry: kernels in HIP")
        && is_code("a.gfx90a.hsaco", 0x3f)
        && is_code("a.gfx942.hsaco", 0x4c);
    (!is_right).then(|| told(&built))
}

fn a_build_is_the_same_each_time() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let line =
        ["--device", "hip", "-g", "--ferry-no-cache", "--ferry-save-temps=left", "-c", "a.c"];
    let (folder, built) = build(&line);
    let code = || fs::read(folder.path().join("left/a.gfx90a.hsaco")).unwrap_or_default();
    let first = code();
    ferry(&[&["cc"], line.as_slice()].concat(), folder.path());
    (first.is_empty() || first != code()).then(|| told(&built))
}

fn one_file_has_code_for_all_devices() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let line = ["--device", "cpu,cpu:separate,opencl,hip", "a.c", "b.c", "-o", "program"];
    let (folder, built) = build(&line);
    if !built.status.success() {
        return Some(told(&built));
    }
    let run = |device: &str| {
        let mut command = Command::new(folder.path().join("program"));
        command.env("FERRY_DEVICE", device).env("OMP_TARGET_OFFLOAD", "MANDATORY");
        command.output().expect("the program runs")
    };
    let devices = ["cpu", "cpu:separate"].map(run);
    devices.iter().find(|it| !it.status.success()).map(told)
}

/// What `ferry cc -c a.c` for a device says, with something in its environment.
fn refusal(program: &str, device: &str, setting: (&str, &str)) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.c"), program).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferry"));
    command.args(["cc", "--device", device, "-c", "a.c"]).current_dir(folder.path());
    command.env(setting.0, setting.1).env_remove("CC").env_remove("FERRY_CC");
    told(&command.output().expect("ferry runs"))
}

fn a_compiler_that_is_not_there_is_named() -> Option<String> {
    let said = refusal(OTHER, "hip", ("FERRY_HIP_CLANG", "/nowhere/clang"));
    let is_right = said.contains("FERRY_HIP_CLANG: `/nowhere/clang`: it is not there");
    let said = if is_right { refusal(OTHER, "hip", ("FERRY_HIP_CLANG", "cc")) } else { said };
    (!said.contains("FERRY_HIP_CLANG")).then_some(said)
}

fn a_gpu_that_nobody_knows_is_named() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let said = refusal(OTHER, "hip:gfx9999", ("LC_ALL", "C"));
    (!said.contains("clang does not know gfx9999")).then_some(said)
}

fn a_library_that_is_not_there_is_named() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let program = "#include <math.h>
    double f(double x) {
        #pragma omp target map(tofrom: x)
        x = sin(x) + sqrt(x);
        return x; }";
    let said = refusal(program, "hip", ("HIP_DEVICE_LIB_PATH", "/nowhere"));
    // What the processor computes itself needs none.
    let is_right = said.contains("uses `sin`, which AMD's device library has");
    (!is_right).then_some(said)
}

fn every_function_of_the_library_is_there() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    const LIBRARY: &str = include_str!("../../emit/src/c/library.txt");
    /// Those that take something else than numbers.
    const OTHER: &str = "printf fprintf __printf_chk __fprintf_chk malloc calloc free memcpy memmove memset memcmp \
                         strlen strcmp strcpy strncmp strchr strrchr \
                         strnlen strncpy strncat strcat strstr memchr sincos sincosf carg cexp clog csqrt cpow csin ccos creal crealf cimag cimagf cabs cabsf conj conjf";
    const THREE: &str = "fma fmaf";
    const TWO: &str = "atan2 fdim fmax fmin fmod hypot nextafter pow remainder copysign";
    let mut calls = String::new();
    for name in LIBRARY.lines().filter_map(|it| it.split_whitespace().next()) {
        let is_in = |list: &str| list.split(' ').any(|it| it == name || format!("{it}f") == name);
        calls.push_str(&match name {
            _ if is_in(OTHER) => continue,
            "nan" | "nanf" => format!("s += {name}(\"\");\n"),
            "frexp" | "frexpf" => format!("s += {name}(x, &k);\n"),
            "ldexp" | "ldexpf" | "scalbn" | "scalbnf" | "scalbln" | "scalblnf" => {
                format!("s += {name}(x, 3);\n")
            }
            "modf" => "s += modf(x, &whole);\n".to_owned(),
            "modff" => "s += modff(x, &wholef);\n".to_owned(),
            name if is_in(THREE) => format!("s += {name}(x, x, x);\n"),
            name if is_in(TWO) => format!("s += {name}(x, 2);\n"),
            name => format!("s += {name}(x);\n"),
        });
    }
    let program = format!(
        "#include <complex.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>
    double f(double x) {{
        double s = 0;
        #pragma omp target map(tofrom: s)
        {{
            int k; double whole; float wholef; char text[9] = \"a\";
            {calls}
            char *memory = malloc(10), *more = calloc(2, 3);
            strcpy(memory, text), memcpy(more, memory, 2), memmove(more, more + 1, 1), memset(more, 0, 1);
            s += strlen(memory) + strcmp(memory, more) + memcmp(memory, more, 1) + strncmp(text, more, 1);
            s += strchr(text, 'a') == strrchr(text, 'b');
            double complex z = x; float complex y = x;
            s += creal(z) + cimag(z) + cabs(z) + creal(conj(z)) + crealf(y) + cimagf(y) + cabsf(y) + crealf(conjf(y));
            printf(\"%g %s\\n\", s, text), fprintf(stderr, \"%g\\n\", s);
            free(memory), free(more);
        }}
        return s; }}"
    );
    let said = refusal(&program, "hip", ("LC_ALL", "C"));
    (!lacks_library(&said) && !said.contains("exit status: 0")).then_some(said)
}

fn a_machine_without_a_gpu_says_so() -> Option<String> {
    let line = line_of("devices", "\"hip\"");
    if !has_compiler() || !line.contains("libamdhip64") {
        return None;
    }
    let (folder, built) = build(&["--device", "hip", "a.c", "b.c", "-o", "program"]);
    if !built.status.success() {
        return Some(told(&built));
    }
    let mut command = Command::new(folder.path().join("program"));
    command.env("FERRY_DEVICE", "hip").env("OMP_TARGET_OFFLOAD", "MANDATORY");
    let ran = command.output().expect("the program runs");
    let said = told(&ran);
    let is_right = ran.status.code() == Some(1)
        && said.contains("AMD's runtime is not here")
        && said.contains("FERRY_DEVICE=cpu");
    (!is_right).then_some(said)
}

/// A program that ran without a GPU.
struct Ran {
    output: Output,
    /// What it asked of the runtime.
    calls: Vec<String>,
}

/// How kernels are run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kernels {
    /// Not at all.
    Idle,
    /// On the host.
    Whole,
}

/// Builds a program of some files for these devices and runs it with the runtime of `hip/runtime.c`; nothing
/// where a piece is missing.
fn with_runtime(
    files: &[(&str, &str)],
    devices: &str,
    kernels: Kernels,
    settings: &[(&str, &str)],
) -> Option<Ran> {
    if !has_compiler() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    let mut line = vec!["cc", "--device", devices, "-w", "--ferry-save-temps=left"];
    for (name, text) in files {
        fs::write(path.join(name), text).expect("a file");
        line.push(name);
    }
    fs::copy(library("hip/runtime.c"), path.join("libamdhip64.so")).expect("a copy");
    line.extend(["-lm", "-o", "program"]);
    let built = ferry(&line, path);
    if lacks_library(&told(&built)) {
        return None;
    }
    assert!(built.status.success(), "{}", told(&built));
    let mut command = Command::new(path.join("program"));
    if kernels == Kernels::Whole {
        let texts = files.iter().map(|(name, _)| {
            let text = path.join("left").join(Path::new(name).with_extension("hip"));
            fs::read_to_string(text).unwrap_or_default()
        });
        on_host(path, &texts.collect::<Vec<_>>());
        command.env("KERNELS", path.join("kernels.so"));
    }
    command.env("FERRY_DEVICE", "hip").env("OMP_TARGET_OFFLOAD", "MANDATORY");
    command.env("LD_LIBRARY_PATH", path).env("CALLS", path.join("calls"));
    command.envs(settings.iter().copied()).env_remove("FERRY_INFO");
    let output = command.output().expect("the program runs");
    let calls = fs::read_to_string(path.join("calls")).unwrap_or_default();
    Some(Ran { output, calls: calls.lines().map(str::to_owned).collect() })
}

/// Compiles the texts of kernels for the host: `kernels.so` in a folder, with a function `run_…` for each.
fn on_host(folder: &Path, texts: &[String]) {
    const CUDA: &str = include_str!("../../emit/tests/emulated/cuda.h");
    const HIP: &str = include_str!("hip/kernels.h");
    let mut objects = Vec::new();
    let is_linked = texts.iter().any(|it| it.contains("// ferry: needs other files\n"));
    for (number, text) in texts.iter().enumerate() {
        let linked = if is_linked { "#define __FERRY_LINKED\n" } else { "" };
        let mut source = format!("#define WARP 64\n{linked}{CUDA}\n{HIP}\n{text}\n");
        let heads = text.lines().filter(|it| it.contains("__global__ void __launch_bounds__"));
        for head in heads {
            let (name, parameters) =
                head.split_once(") ").and_then(|it| it.1.split_once('(')).expect("a head");
            let count = parameters.matches("__ferry_slot").count();
            let words: Vec<String> = (0..count).map(|it| format!("{{ w[{it}] }}")).collect();
            source.push_str(&format!(
                "extern \"C\" void run_{name}(unsigned blocks, unsigned threads, const unsigned long *w)\n\
                 {{ launch(blocks, threads, [=] {{ {name}({}); }}); }}\n",
                words.join(", ")
            ));
        }
        let file = folder.join(format!("kernels{number}.cpp"));
        fs::write(&file, source).expect("a file");
        objects.push(file);
    }
    let mut build = Command::new("g++");
    build.args(["-std=c++20", "-O0", "-w", "-fPIC", "-shared", "-pthread", "-ffp-contract=off"]);
    let built = build.args(objects).arg("-o").arg(folder.join("kernels.so")).output();
    let built = built.expect("g++ runs");
    assert!(built.status.success(), "{}", told(&built));
}

impl Ran {
    /// What is wrong if the calls that begin with one of `words` are not these.
    fn calls_are(&self, words: &[&str], expect: &[&str]) -> Option<String> {
        let is_meant = |it: &&str| words.iter().any(|word| it.starts_with(word));
        let calls: Vec<&str> = self.calls.iter().map(String::as_str).filter(is_meant).collect();
        let is_right = calls == expect && self.output.status.success();
        (!is_right).then(|| format!("{calls:?}, {}", told(&self.output)))
    }

    fn is_right(&self) -> Option<String> {
        (!self.output.status.success()).then(|| told(&self.output))
    }
}

/// What is wrong with a program that runs whole.
fn runs(program: &str) -> Option<String> {
    // Every thread is one of the host: blocks are a wave, of one multiprocessor.
    with_runtime(&[("a.c", program)], "hip", Kernels::Whole, &[("SMALL", "1")])?.is_right()
}

fn programs_of_several_files_run() -> Option<String> {
    let files = [("a.c", PROGRAM), ("b.c", OTHER)];
    let ran = with_runtime(&files, "hip:gfx942,hip:gfx90a", Kernels::Whole, &[])?;
    // Two code objects for gfx90a.
    ran.calls_are(&["load"], &["load 63", "load 63"])
}

fn they_are_linked() -> Option<String> {
    let files = [("a.c", both::MAIN), ("b.c", both::OTHER)];
    let ran = with_runtime(&files, "hip:gfx942,hip:gfx90a", Kernels::Whole, &[])?;
    // One code object for gfx90a.
    ran.calls_are(&["load"], &["load 63"])
}

fn what_is_missing_is_named() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    for (other, name) in both::lacking() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // Where the host has it too, devices do not.
        let host = "int scale; int twice(int x) { return x; }";
        for (file, text) in [("a.c", both::MAIN), ("b.c", other.as_str()), ("c.c", host)] {
            fs::write(folder.path().join(file), text).expect("a file");
        }
        let line =
            ["cc", "--device", "hip", "a.c", "b.c", "c.c", "-Wl,-z,muldefs", "-o", "program"];
        let said = told(&ferry(&line, folder.path()));
        if !said.contains(&format!("uses `{name}`, which no file defines for `hip`")) {
            return Some(format!("{name}: {said}"));
        }
    }
    None
}

fn an_old_runtime_is_refused() -> Option<String> {
    let ran = with_runtime(&[("a.c", OTHER_MAIN)], "hip", Kernels::Idle, &[("OLD", "1")])?;
    let said = told(&ran.output);
    (!said.contains("it is HIP 4.3, and 5.0 is needed")).then_some(said)
}

const OTHER_MAIN: &str = "int main(void) {
    int x = 1;
    #pragma omp target map(tofrom: x)
    x *= 2;
    return x != 2; }";

fn data_go_there_and_back() -> Option<String> {
    let program = "int a[1024], b[512]; int main(void) {
        for (int i = 0; i < 1024; i++) a[i] = i;
        #pragma omp target data map(tofrom: a) map(alloc: b)
        {
            #pragma omp target teams distribute parallel for
            for (int i = 0; i < 512; i++) b[i] = a[i] + a[i + 512];
            #pragma omp target teams distribute parallel for
            for (int i = 0; i < 1024; i++) a[i] = b[i % 512];
        }
        for (int i = 0; i < 1024; i++) if (a[i] != 2 * (i % 512) + 512) return 1;
        return 0; }";
    let ran = with_runtime(&[("a.c", program)], "hip", Kernels::Whole, &[])?;
    // The GPU has two multiprocessors; blocks have 128 threads.
    let words = ["memory", "in", "blocks", "threads", "kernel", "out", "back", "wait"];
    // Small pieces of memory are cut from one; nobody waits before the results are read.
    let expect = "memory 4194304,in 4096,blocks 4,threads 128,kernel 2,blocks 8,threads 128,kernel 2,\
                  out 4096,wait 0";
    ran.calls_are(&words, &expect.split(',').collect::<Vec<_>>())
}

fn a_kernel_for_one_thread_gets_one() -> Option<String> {
    let ran = with_runtime(&[("a.c", OTHER_MAIN)], "hip", Kernels::Whole, &[])?;
    ran.calls_are(&["blocks", "threads"], &["blocks 1", "threads 1"])
}

fn the_image_of_this_gpu_is_loaded() -> Option<String> {
    let files = [("a.c", OTHER_MAIN)];
    let settings = [("GPU", "gfx942:sramecc+:xnack-")];
    let ran = with_runtime(&files, "hip,hip:gfx942", Kernels::Whole, &settings)?;
    if let Some(wrong) = ran.calls_are(&["load"], &["load 76"]) {
        return Some(wrong);
    }
    let ran = with_runtime(&files, "hip", Kernels::Whole, &settings)?;
    let said = told(&ran.output);
    let is_right = !ran.output.status.success() && said.contains("`ferry cc --device hip");
    (!is_right).then_some(said)
}

fn a_crash_is_told_with_its_region() -> Option<String> {
    let ran = with_runtime(&[("a.c", OTHER_MAIN)], "hip", Kernels::Idle, &[("CRASH", "1")])?;
    let said = told(&ran.output);
    let is_right = ran.output.status.code() == Some(1)
        && said.contains("a.c:3:")
        && said.contains("`main:3` the kernel crashed: it used memory that is not there");
    (!is_right).then_some(said)
}

fn lack_of_memory_is_told() -> Option<String> {
    let program = "int a[1024]; int main(void) {
        #pragma omp target enter data map(to: a)
        return 0; }";
    let ran = with_runtime(&[("a.c", program)], "hip", Kernels::Idle, &[("MEMORY", "1000")])?;
    let said = told(&ran.output);
    let is_right = ran.output.status.code() == Some(1) && said.contains("4096");
    (!is_right).then_some(said)
}

fn two_gpus_have_data_of_their_own() -> Option<String> {
    let program = "#include <omp.h>
    int main(void) {
        int a[100], wrong = omp_get_num_devices() != 2, host = omp_get_initial_device();
        int *first = omp_target_alloc(sizeof a, 0), *second = omp_target_alloc(sizeof a, 1);
        for (int i = 0; i < 100; i++) a[i] = i;
        omp_target_memcpy(first, a, sizeof a, 0, 0, 0, host);
        #pragma omp target device(0) is_device_ptr(first)
        first[7] = 70;
        omp_target_memcpy(second, first, sizeof a, 0, 0, 1, 0);
        #pragma omp target device(1) is_device_ptr(second)
        second[8] = second[7] + 1;
        omp_target_memcpy(a, second, sizeof a, 0, 0, host, 1);
        omp_target_free(first, 0), omp_target_free(second, 1);
        return wrong || a[6] != 6 || a[7] != 70 || a[8] != 71; }";
    let settings = [("FERRY_DEVICE", "hip*2")];
    let ran = with_runtime(&[("a.c", program)], "hip", Kernels::Whole, &settings)?;
    ran.calls_are(&["gpu"], &["gpu 0", "gpu 1"])
}

fn memory_of_all_kinds_is_there() -> Option<String> {
    let program = "#include <omp.h>
    #include <string.h>
    void *llvm_omp_target_alloc_host(unsigned long, int), *llvm_omp_target_alloc_shared(unsigned long, int);
    void llvm_omp_target_free_host(void *, int), llvm_omp_target_free_shared(void *, int);
    int main(void) {
        omp_alloctrait_t traits[1] = {{omp_atk_pinned, omp_atv_true}};
        omp_allocator_handle_t pinned = omp_init_allocator(omp_default_mem_space, 1, traits);
        char *locked = omp_alloc(5000, pinned), text[100] = \"over there\", back[100] = \"\";
        int host = omp_get_initial_device();
        char *own = omp_target_alloc(200, 0);
        omp_target_memcpy(own, text, 100, 0, 0, 0, host);
        omp_target_memcpy(own, own, 100, 50, 0, 0, 0);
        omp_target_memcpy(back, own, 100, 0, 50, host, 0);
        char *both = llvm_omp_target_alloc_shared(10, 0), *here = llvm_omp_target_alloc_host(20, 0);
        if (!locked || !both || !here) return 1;
        #pragma omp target is_device_ptr(both, here)
        both[1] = here[1] = 7;
        int wrong = strcmp(text, back) || both[1] != 7 || here[1] != 7;
        llvm_omp_target_free_shared(both, 0), llvm_omp_target_free_host(here, 0);
        omp_target_free(own, 0), omp_free(locked, pinned);
        return wrong; }";
    let ran = with_runtime(&[("a.c", program)], "hip", Kernels::Whole, &[])?;
    let expect = "lock 8192,memory 4194304,in 100,within 100,within 100,out 100,memory 10,memory 20,back 0,\
                  back 0,unlock 0";
    let words = ["memory", "in", "within", "out", "back", "lock", "unlock"];
    ran.calls_are(&words, &expect.split(',').collect::<Vec<_>>())
}
