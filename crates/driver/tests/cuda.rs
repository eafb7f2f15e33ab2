//! What `ferry cc --device cuda` makes and what `libferry` asks of the driver, checked without a GPU.
//!
//! NVIDIA's compiler takes the kernels of every program of `tests/run`, for three generations of GPUs;
//! where a piece is missing, the message says so. With a driver that does everything as late as
//! it may (`cuda/driver.c`) calls are counted, order is checked, crashes and lack of memory are told; with a compiler
//! that makes of kernels code for the host (`cuda/nvrtc.c`) programs run there whole, and are right.
//!
//! `tests/run/cuda.txt` names the programs that are refused, and why; one that is not in it must
//! compile. Needs NVRTC (`scripts/setup` fetches it); without it the tests say so and end.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

#[path = "support/agreement.rs"]
mod agreement;
#[path = "support/files.rs"]
mod both;
#[path = "support/built.rs"]
mod built;
#[path = "cuda/files.rs"]
mod files;
#[path = "cuda/left.rs"]
mod left;
#[path = "cuda/nowait.rs"]
mod nowait;
#[path = "support/pieces.rs"]
mod pieces;
#[path = "support/programs.rs"]
mod programs;
mod support;
#[path = "cuda/whole.rs"]
mod whole;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use built::library;
use libtest_mimic::{Arguments, Failed, Trial};
use pieces::line_of;
use programs::{listed, programs};
use support::{ferry, told};

/// What is said of programs that are refused.
const LIST: &str = include_str!("../../../tests/run/cuda.txt");

/// Volta, Ampere and Hopper, and assembly for all: programs take turns, as NVIDIA's compiler takes most of the time.
const GPUS: [&str; 4] = ["cuda:sm_90", "cuda", "cuda:sm_70", "cuda:sm_80"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let programs = programs();
    let mut trials: Vec<Trial> = programs
        .iter()
        .zip(GPUS.iter().cycle())
        .map(|((name, path), gpu)| {
            let (path, excuse) = (path.clone(), listed(LIST).get(name.as_str()).copied());
            Trial::test(format!("program::{name}"), move || checked(compiles(&path, gpu, excuse)))
        })
        .collect();
    for (name, path) in programs.iter().filter(|(name, _)| whole::PROGRAMS.contains(&name.as_str()))
    {
        let path = path.clone();
        trials.push(Trial::test(format!("whole::{name}"), move || checked(whole::runs(&path))));
    }
    trials.push(Trial::test("the_list_names_programs", move || {
        let stray = listed(LIST).into_keys().find(|it| !programs.contains_key(*it));
        checked(stray.map(|it| format!("`{it}` is not there")))
    }));
    for (name, test) in OWN.iter().chain(nowait::OWN).chain(left::OWN).chain(files::OWN) {
        trials.push(Trial::test(*name, move || checked(test())));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

type Test = fn() -> Option<String>;

/// Tests of the command itself; what is wrong, or nothing.
const OWN: &[(&str, Test)] = &[
    ("every_step_is_left_for_who_asks", every_step_is_left_for_who_asks),
    ("one_file_has_code_for_all_devices", one_file_has_code_for_all_devices),
    ("programs_of_several_files_have_one_image_of_each_kind", several_files),
    ("a_compiler_that_is_not_there_is_named", a_compiler_that_is_not_there_is_named),
    ("a_machine_without_a_gpu_says_so", a_machine_without_a_gpu_says_so),
    ("a_region_waits_once", a_region_waits_once),
    ("data_that_stay_are_waited_for_once", data_that_stay_are_waited_for_once),
    ("a_crash_is_told_with_its_region", a_crash_is_told_with_its_region),
    ("memory_that_is_only_kept_is_given_up", memory_that_is_only_kept_is_given_up),
    ("threads_do_not_mix_their_data", threads_do_not_mix_their_data),
    ("copies_of_other_threads_are_waited_for", copies_of_other_threads_are_waited_for),
    ("data_stay_until_the_kernel_is_done", data_stay_until_the_kernel_is_done),
    ("the_last_who_holds_data_copies_them", the_last_who_holds_data_copies_them),
    ("gpus_copy_to_each_other", gpus_copy_to_each_other),
    ("the_best_image_is_loaded", the_best_image_is_loaded),
    ("a_grid_is_as_large_as_its_loops", a_grid_is_as_large_as_its_loops),
    ("blocks_are_small_where_more_of_them_fit", blocks_are_small_where_more_of_them_fit),
    ("memory_of_pinned_allocators_is_locked", memory_of_pinned_allocators_is_locked),
    ("large_copies_go_in_pieces", large_copies_go_in_pieces),
    ("threads_copy_large_things_at_once", threads_copy_large_things_at_once),
    ("a_crash_before_a_large_copy_is_told", a_crash_before_a_large_copy_is_told),
    ("parts_of_sums_have_a_place_in_each_stream", parts_of_sums),
    ("memory_of_the_host_is_used_where_the_gpu_reaches_it", unified_memory),
];

fn checked(wrong: Option<String>) -> Result<(), Failed> {
    wrong.map_or(Ok(()), |it| Err(it.into()))
}

/// Whether there is a compiler, which is said where there is none.
fn has_compiler() -> bool {
    let line = line_of("doctor", "\"piece\":\"NVRTC\"");
    let is_there = line.contains("\"found\":\"");
    if !is_there {
        eprintln!("skipped: NVRTC is not there (scripts/setup fetches it)");
    }
    is_there
}

/// What is wrong with how a program compiles; nothing if it is right.
fn compiles(program: &Path, gpu: &str, excuse: Option<&str>) -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = program.to_str()?;
    let built =
        ferry(&["cc", "--device", gpu, "-O0", "-w", source, "-c", "-o", "a.o"], folder.path());
    let said = told(&built);
    match (built.status.success(), excuse) {
        (true, None) => None,
        (true, Some(excuse)) => Some(format!("compiles, though the list says: {excuse}")),
        (false, Some(excuse)) if said.contains("[F0710]") && said.contains(excuse) => None,
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

fn run(folder: &Path, device: &str) -> Output {
    let mut command = Command::new(folder.join("program"));
    command.env("FERRY_DEVICE", device).env("OMP_TARGET_OFFLOAD", "MANDATORY");
    command.output().expect("the program runs")
}

fn every_step_is_left_for_who_asks() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let line = ["--device", "cuda,cuda:sm_90", "--ferry-save-temps=left", "-c", "a.c"];
    let (folder, built) = build(&line);
    let left = |name: &str| fs::read(folder.path().join("left").join(name)).unwrap_or_default();
    let is_right = left("a.cu").starts_with(b"//")
        && String::from_utf8_lossy(&left("a.sm_70.ptx")).contains(".target sm_70")
        && left("a.sm_90.cubin").starts_with(b"\x7fELF")
        && left("a.sm_70.cubin").is_empty();
    (!is_right).then(|| told(&built))
}

fn one_file_has_code_for_all_devices() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let line = ["--device", "cpu,cpu:separate,opencl,cuda", "a.c", "b.c", "-o", "program"];
    let (folder, built) = build(&line);
    if !built.status.success() {
        return Some(told(&built));
    }
    let devices = ["cpu", "cpu:separate"].map(|it| run(folder.path(), it));
    devices.iter().find(|it| !it.status.success()).map(told)
}

fn several_files() -> Option<String> {
    if !has_compiler() {
        return None;
    }
    let line = ["--device", "cuda,cuda:sm_80", "a.c", "b.c", "-o", "program"];
    let (folder, built) = build(&line);
    if !built.status.success() {
        return Some(told(&built));
    }
    let program = fs::read(folder.path().join("program")).expect("the program");
    // Each file's kernels are in the image of each kind: assembly tells by its words.
    let count = program.windows(13).filter(|it| it == b".target sm_70").count();
    (count != 2).then(|| format!("{count} pieces of assembly"))
}

fn a_compiler_that_is_not_there_is_named() -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("b.c"), OTHER).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferry"));
    command.args(["cc", "--device", "cuda", "-c", "b.c"]).current_dir(folder.path());
    command.env("FERRY_NVRTC", "/nowhere/libnvrtc.so.12").env_remove("CC").env_remove("FERRY_CC");
    let told_of = told(&command.output().expect("ferry runs"));
    (!told_of.contains("FERRY_NVRTC: `/nowhere/libnvrtc.so.12`")).then_some(told_of)
}

fn a_machine_without_a_gpu_says_so() -> Option<String> {
    let line = line_of("devices", "\"cuda\"");
    if !has_compiler() || !line.contains("the NVIDIA driver") {
        return None;
    }
    let (folder, built) = build(&["--device", "cuda", "a.c", "b.c", "-o", "program"]);
    if !built.status.success() {
        return Some(told(&built));
    }
    let ran = run(folder.path(), "cuda");
    let said = told(&ran);
    let is_right = ran.status.code() == Some(1)
        && said.contains("there is no NVIDIA driver here")
        && said.contains("FERRY_DEVICE=cpu");
    (!is_right).then_some(said)
}

/// A program that ran with a driver without a GPU.
struct Ran {
    output: Output,
    /// What it asked of the driver.
    calls: Vec<String>,
}

/// Builds a program for these devices and runs it with the driver of `cuda/driver.c`; nothing where
/// there is no compiler.
fn with_driver(program: &str, devices: &str, settings: &[(&str, &str)]) -> Option<Ran> {
    if !has_compiler() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    fs::write(path.join("a.c"), program).expect("a file");
    let built = ferry(&["cc", "--device", devices, "a.c", "-o", "program"], path);
    assert!(built.status.success(), "{}", told(&built));
    Some(run_with_driver(path, settings))
}

/// Runs `program` in a folder with the driver of `cuda/driver.c`.
fn run_with_driver(path: &Path, settings: &[(&str, &str)]) -> Ran {
    for name in ["libcuda.so", "libcuda.so.1"] {
        fs::copy(library("cuda/driver.c"), path.join(name)).expect("a copy");
    }
    let mut command = Command::new(path.join("program"));
    command.env("FERRY_DEVICE", "cuda*2").env("OMP_TARGET_OFFLOAD", "MANDATORY");
    command.env("LD_LIBRARY_PATH", path).env("CALLS", path.join("calls"));
    command.env_remove("FERRY_INFO").envs(settings.iter().copied());
    let output = command.output().expect("the program runs");
    let calls = fs::read_to_string(path.join("calls")).unwrap_or_default();
    Ran { output, calls: calls.lines().map(str::to_owned).collect() }
}

impl Ran {
    /// What is wrong if the calls that begin with one of `words` are not these.
    fn calls_are(&self, words: &[&str], expect: &[&str]) -> Option<String> {
        let is_meant = |it: &&str| words.iter().any(|word| it.starts_with(word));
        let calls: Vec<&str> = self.calls.iter().map(String::as_str).filter(is_meant).collect();
        let is_right = calls == expect && self.output.status.success();
        (!is_right).then(|| format!("{calls:?}, {}", told(&self.output)))
    }
}

const COPIES: &[&str] = &["in", "kernel", "out", "wait", "peer", "no peer"];

fn a_region_waits_once() -> Option<String> {
    let program = "int a[1024]; int main(void) {
        #pragma omp target teams distribute parallel for map(tofrom: a)
        for (int i = 0; i < 1024; i++) a[i]++;
        return 0; }";
    let ran = with_driver(program, "cuda", &[])?;
    ran.calls_are(COPIES, &["in 4096", "kernel 1", "out 4096", "wait 0"])
}

fn data_that_stay_are_waited_for_once() -> Option<String> {
    let program = "int a[1024], b[512]; int main(void) {
        #pragma omp target enter data map(to: a, b)
        #pragma omp target
        a[0] = b[0];
        #pragma omp target exit data map(from: a) map(delete: b)
        return 0; }";
    let ran = with_driver(program, "cuda", &[])?;
    let expect = ["in 4096", "in 2048", "kernel 2", "out 4096", "wait 0"];
    ran.calls_are(COPIES, &expect)
}

fn a_crash_is_told_with_its_region() -> Option<String> {
    let program = "int a[1024]; int main(void) {
        #pragma omp target map(tofrom: a)
        a[0] = 1;
        return 0; }";
    let ran = with_driver(program, "cuda", &[("CRASH", "1")])?;
    let said = told(&ran.output);
    let is_right = ran.output.status.code() == Some(1)
        && said.contains("a.c:2:")
        && said.contains("`main:2` the kernel crashed: it used memory that is not there");
    (!is_right).then_some(said)
}

fn memory_that_is_only_kept_is_given_up() -> Option<String> {
    let program = "#include <stdlib.h>
    int main(void) {
        char *a = malloc(90 << 20);
        for (int i = 0; i < 2; i++) {
            #pragma omp target enter data map(alloc: a[0:20 << 20])
            #pragma omp target exit data map(delete: a[0:20 << 20])
        }
        #pragma omp target enter data map(alloc: a[0:90 << 20])
        #pragma omp target exit data map(delete: a[0:90 << 20])
        return 0; }";
    let ran = with_driver(program, "cuda", &[("MEMORY", "104857600")])?;
    let expect = ["memory 20971520", "no memory 94371840", "back 0", "memory 94371840", "back 0"];
    ran.calls_are(&["memory", "no memory", "back"], &expect)
}

fn threads_do_not_mix_their_data() -> Option<String> {
    // What one thread has mapped, others find: `shared` is there once for all of them.
    let program = "#include <omp.h>
    int shared[100];
    int main(void) {
        int wrong = 0;
        for (int round = 1; round < 50; round++) {
            shared[0] = round;
            #pragma omp parallel for num_threads(8) schedule(dynamic) reduction(+: wrong)
            for (int k = 0; k < 40; k++) {
                int own[500];
                for (int i = 0; i < 500; i++) own[i] = k * 1000 + i;
                #pragma omp target map(tofrom: own) map(to: shared)
                own[0] += shared[0];
                own[0] -= round;
                for (int i = 0; i < 500; i++) wrong += own[i] != k * 1000 + i;
            }
        }
        return wrong != 0; }";
    let ran = with_driver(program, "cuda", &[("SUMS", "1")])?;
    (!ran.output.status.success()).then(|| told(&ran.output))
}

/// Two threads, the second of which comes while the first starts its kernel, or waits for it, which takes
/// long; its own number must be `expect` then, and that of the first 1.
fn beside_a_kernel(late: &str, first: &str, second: &str, expect: i32) -> Option<String> {
    let program = format!(
        "#include <omp.h>
    #include <unistd.h>
    int shared[64] = {{1}}, other[64] = {{1000}}, own[2][64];
    int main(void) {{
        #pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 0) {{
            {first}
        }} else {{
            {second}
        }}
        return own[0][0] != 1 || own[1][0] != {expect}; }}"
    );
    // A kernel takes as long as its caller waits.
    let settings = [("SUMS", "1"), ("LATE", late), ("FERRY_WAIT", "always")];
    let ran = with_driver(&program, "cuda", &settings)?;
    (!ran.output.status.success()).then(|| told(&ran.output))
}

fn copies_of_other_threads_are_waited_for() -> Option<String> {
    let first = "
            int *mine = own[0];
            #pragma omp target map(tofrom: mine[0:64]) map(to: shared)
            mine[0] += shared[0];";
    let second = "
            usleep(50000);
            int *mine = own[1];
            #pragma omp target map(tofrom: mine[0:64]) map(to: shared)
            mine[0] += shared[0];";
    beside_a_kernel("launch", first, second, 1)
}

fn data_stay_until_the_kernel_is_done() -> Option<String> {
    let first = "
            usleep(20000);
            int *mine = own[0];
            #pragma omp target map(tofrom: mine[0:64]) map(to: shared)
            mine[0] += shared[0];";
    // Who lets go of data last gives their memory to others.
    let second = "
            #pragma omp target data map(to: shared)
            usleep(60000);
            #pragma omp target data map(to: other)
            usleep(100000);";
    beside_a_kernel("wait", first, second, 0)
}

fn the_last_who_holds_data_copies_them() -> Option<String> {
    let first = "
            #pragma omp target enter data map(to: own, shared)
            #pragma omp target map(tofrom: own) map(to: shared)
            own[0][0] += shared[0];";
    let second = "
            usleep(50000);
            #pragma omp target exit data map(release: own)";
    beside_a_kernel("wait", first, second, 0)
}

fn gpus_copy_to_each_other() -> Option<String> {
    let program = "#include <omp.h>
    #include <string.h>
    int main(void) {
        char text[100] = \"over there\", back[100] = \"\";
        int host = omp_get_initial_device();
        void *one = omp_target_alloc(100, 0), *other = omp_target_alloc(100, 1);
        omp_target_memcpy(one, text, 100, 0, 0, 0, host);
        omp_target_memcpy(other, one, 100, 0, 0, 1, 0);
        omp_target_memcpy(back, other, 100, 0, 0, host, 1);
        return strcmp(text, back); }";
    let ran = with_driver(program, "cuda", &[])?;
    ran.calls_are(&["in", "out", "peer", "no peer"], &["in 100", "peer 100", "out 100"])
}

/// 64 MiB and a little more, which begin at an odd address.
const LARGE: &str = "#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
    enum { LEN = (64 << 20) + 3 };
    int main(void) {
        unsigned char *a = (unsigned char *)malloc(LEN + 1) + 1;
        for (long i = 0; i < LEN; i++) a[i] = i * 7 + (i >> 20);
        #pragma omp target enter data map(to: a[0:LEN])
        for (long i = 0; i < LEN; i++) a[i] = 0;
        #pragma omp target update from(a[0:LEN])
        for (long i = 0; i < LEN; i++) if (a[i] != (unsigned char)(i * 7 + (i >> 20))) return 1;
        /* Threads of ours do not keep a child from its end. */
        pid_t child = fork();
        if (!child) exit(0);
        int status = 1;
        waitpid(child, &status, 0);
        return status; }";

fn large_copies_go_in_pieces() -> Option<String> {
    let ran = with_driver(LARGE, "cuda", &[("FERRY_COPY_THREADS", "3")])?;
    let mut expect = vec!["in 1048576"; 64];
    expect.push("in 3");
    expect.extend(vec!["out 1048576"; 64]);
    expect.push("out 3");
    if let Some(wrong) = ran.calls_are(&["in", "out"], &expect) {
        return Some(wrong);
    }
    let ran = with_driver(LARGE, "cuda", &[("FERRY_COPY_THREADS", "1")])?;
    if let Some(wrong) = ran.calls_are(&["in", "out"], &["in 67108867", "out 67108867"]) {
        return Some(wrong);
    }
    let ran = with_driver(LARGE, "cuda", &[("FERRY_COPY_THREADS", "two")])?;
    let said = told(&ran.output);
    let is_right = ran.output.status.code() == Some(1)
        && said.contains("FERRY_COPY_THREADS: `two` is not allowed");
    (!is_right).then_some(said)
}

fn threads_copy_large_things_at_once() -> Option<String> {
    let program = "#include <stdlib.h>
    enum { LEN = (23 << 20) + 5 };
    int main(void) {
        int wrong = 0;
        #pragma omp parallel num_threads(4) reduction(+: wrong)
        for (int round = 1; round < 4; round++) {
            unsigned *a = malloc(LEN);
            unsigned seed = 1000003u * round + (unsigned)(unsigned long)a;
            for (long i = 0; i < LEN / 4; i++) a[i] = (unsigned)i * 2654435761u + seed;
            #pragma omp target enter data map(to: a[0:LEN / 4])
            for (long i = 0; i < LEN / 4; i++) a[i] = 0;
            #pragma omp target exit data map(from: a[0:LEN / 4])
            for (long i = 0; i < LEN / 4; i++) wrong += a[i] != (unsigned)i * 2654435761u + seed;
            free(a);
        }
        return wrong != 0; }";
    let ran = with_driver(program, "cuda", &[("FERRY_COPY_THREADS", "2")])?;
    let in_pieces = ran.calls.iter().any(|it| it == "in 1048576");
    (!in_pieces || !ran.output.status.success()).then(|| told(&ran.output))
}

fn a_crash_before_a_large_copy_is_told() -> Option<String> {
    let program = "char a[65 << 20]; int main(void) {
        #pragma omp target map(tofrom: a)
        a[0] = 1;
        return 0; }";
    let ran = with_driver(program, "cuda", &[("CRASH", "1"), ("FERRY_COPY_THREADS", "2")])?;
    let said = told(&ran.output);
    let is_right = ran.output.status.code() == Some(1)
        && said.contains("`main:2` the kernel crashed: it used memory that is not there");
    (!is_right).then_some(said)
}

fn memory_of_pinned_allocators_is_locked() -> Option<String> {
    let program = "#include <omp.h>
    int main(void) {
        omp_alloctrait_t traits[2] = {{omp_atk_pinned, omp_atv_true}, {omp_atk_alignment, 4096}};
        omp_allocator_handle_t pinned = omp_init_allocator(omp_default_mem_space, 2, traits);
        int *plain = omp_alloc(5000, omp_default_mem_alloc);
        int *a = omp_alloc(400000, pinned), *b = omp_calloc(1000, 8, pinned);
        if (!plain || !a || !b || (unsigned long)a % 4096 || b[5]) return 1;
        a[7] = 7;
        #pragma omp target map(tofrom: a[0:100000])
        { }
        a = omp_realloc(a, 800000, pinned, pinned);
        int wrong = a[7] != 7;
        omp_free(a, pinned);
        omp_free(b, omp_null_allocator);
        omp_free(plain, omp_default_mem_alloc);
        omp_destroy_allocator(pinned);
        return wrong; }";
    let ran = with_driver(program, "cuda", &[])?;
    // Whole pages; what grows is locked before what was there is given back.
    let expect = ["lock 401408", "lock 8192", "lock 802816", "unlock 0", "unlock 0", "unlock 0"];
    ran.calls_are(&["lock", "unlock"], &expect)
}

fn parts_of_sums() -> Option<String> {
    let program = "int main(void) {
        double s = 0, a[4096] = {0};
        long count = 0;
        #pragma omp target data map(to: a)
        for (int round = 0; round < 3; round++) {
            #pragma omp target teams distribute parallel for reduction(+: s)
            for (int i = 0; i < 4096; i++) s += a[i];
            #pragma omp target teams distribute parallel for reduction(+: count)
            for (int i = 0; i < 4096; i++) count += a[i] > 0;
        }
        return 0; }";
    let ran = with_driver(program, "cuda", &[])?;
    // The place is made once.
    let rounds =
        ["fill 16384", "kernel 3", "kernel 3", "kernel 3", "kernel 3", "kernel 3", "kernel 3"];
    ran.calls_are(&["fill", "kernel"], &rounds)
}

fn unified_memory() -> Option<String> {
    let program = "#include <stdlib.h>
    #pragma omp requires unified_shared_memory
    int main(void) {
        int *a = malloc(64 * sizeof *a), *b = malloc(sizeof *b);
        a[0] = 1, b[0] = 10;
        #pragma omp target map(tofrom: a[0:64])
        a[0] += b[0];
        #pragma omp target nowait map(tofrom: a[0:64])
        a[0] += b[0];
        #pragma omp taskwait
        return a[0] != 21; }";
    let ran = with_driver(program, "cuda", &[("SUMS", "1"), ("UNIFIED", "1")])?;
    let wrong = ran.calls_are(&["in", "out", "kernel"], &["kernel 2", "kernel 2"]);
    // Where it does not, that is said, and the processor does it.
    let ran = with_driver(program, "cuda", &[("SUMS", "1")])?;
    let said = told(&ran.output);
    let is_told = said.contains("requires `unified_shared_memory`, which device `cuda`");
    wrong.or_else(|| (!is_told || !ran.output.status.success()).then_some(said))
}

fn a_grid_is_as_large_as_its_loops() -> Option<String> {
    let program = "#include <stdlib.h>
    int main(int argc, char **argv) {
        int n = 999 + argc, m = 5, *a = calloc(n * m, sizeof *a), *bound = &n;
        #pragma omp target teams distribute parallel for map(tofrom: a[0:n * m])
        for (int i = 0; i < n; i++) a[i]++;
        #pragma omp target teams distribute parallel for collapse(2) map(tofrom: a[0:n * m])
        for (int i = n - 1; i >= 0; i -= 2)
            for (int j = 0; j < m; j++) a[i * m + j]++;
        #pragma omp target teams distribute parallel for map(tofrom: a[0:n * m]) map(to: bound[0:1])
        for (int i = 0; i < *bound; i++) a[i]++;
        #pragma omp target teams distribute map(tofrom: a[0:n * m])
        for (int i = m; i >= 0; i--)
            #pragma omp parallel for
            for (int j = i; j < n; j += 3) a[i * 700 + j / 3] = 0;
        return 0; }";
    let ran = with_driver(program, "cuda", &[])?;
    // Blocks have 128 threads; the GPU of the driver has ten multiprocessors, on each of which eight run at once. A
    // triangle of teams and threads has as many iterations as at both ends of its rows.
    ran.calls_are(&["blocks"], &["blocks 8", "blocks 20", "blocks 80", "blocks 32"])
}

fn blocks_are_small_where_more_of_them_fit() -> Option<String> {
    let program = "#include <stdlib.h>
    int main(void) {
        int n = 30000, *a = calloc(n, sizeof *a);
        #pragma omp target teams distribute parallel for map(tofrom: a[0:n])
        for (int i = 0; i < n; i++) a[i]++;
        return 0; }";
    let large = with_driver(program, "cuda", &[])?.calls_are(&["blocks"], &["blocks 118"]);
    let small = with_driver(program, "cuda", &[("FEW_REGISTERS", "1")])?;
    large.or_else(|| small.calls_are(&["blocks"], &["blocks 235"]))
}

fn the_best_image_is_loaded() -> Option<String> {
    let program = "int main(void) {
        #pragma omp target
        { }
        return 0; }";
    // The driver's GPUs are of the kind sm_86.
    for (devices, expect) in
        [("cuda", "text 0"), ("cuda,cuda:sm_80", "code 0"), ("cuda,cuda:sm_90", "text 0")]
    {
        let ran = with_driver(program, devices, &[])?;
        if let Some(wrong) = ran.calls_are(&["text", "code"], &[expect]) {
            return Some(format!("{devices}: {wrong}"));
        }
    }
    let ran = with_driver(program, "cuda:sm_90", &[])?;
    let said = told(&ran.output);
    let is_right = !ran.output.status.success() && said.contains("`ferry cc --device cuda`");
    (!is_right).then_some(said)
}
