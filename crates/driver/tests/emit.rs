//! What `ferry emit` writes: programs that need nothing of ours.
//!
//! Every program of `tests/run` is written in each dialect. In OpenCL it is built with the host's compiler and the
//! OpenCL library alone, run, and right: one half of them in 2.0, the other in 1.2, as what they have in common is most of
//! the time that a driver takes. In CUDA the host's side runs upon a driver without a GPU (`cuda/driver.c`), for
//! which NVRTC compiles the kernels. In HIP clang compiles the kernels for a GPU of AMD, and the host's compiler
//! reads the host's side. What is refused is listed: in the lists of `cc` for each device, and in
//! `tests/run/standalone.txt`. Where a piece is missing, the test says so and ends.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

#[path = "support/built.rs"]
mod built;
#[path = "support/pieces.rs"]
mod pieces;
#[path = "support/programs.rs"]
mod programs;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use built::{built_once, library};
use libtest_mimic::{Arguments, Failed, Trial};
use pieces::line_of;
use programs::{listed, programs};
use support::{ferry, told};

/// What is said of programs that are refused, for each dialect.
const REFUSED: [(&str, &str); 4] = [
    ("opencl", include_str!("../../../tests/run/opencl.txt")),
    ("opencl:1.2", OPENCL_12),
    ("cuda", include_str!("../../../tests/run/cuda.txt")),
    (
        "hip",
        concat!(
            include_str!("../../../tests/run/cuda.txt"),
            include_str!("../../../tests/run/hip.txt")
        ),
    ),
];
const OPENCL_12: &str = concat!(
    include_str!("../../../tests/run/opencl.txt"),
    include_str!("../../../tests/run/opencl_12.txt")
);
const STANDALONE: &str = include_str!("../../../tests/run/standalone.txt");

/// Excuses of programs that are written, and wrong.
const WRITTEN: [&str; 2] = ["it counts threads", "it looks at line numbers"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let programs = programs();
    let mut trials = Vec::new();
    for (dialect, list) in REFUSED {
        for (number, (name, path)) in programs.iter().enumerate() {
            let excuses = [list, STANDALONE].map(|it| listed(it).get(name.as_str()).copied());
            let path = path.clone();
            let is_run = match dialect {
                "opencl" => number % 2 == 0,
                "opencl:1.2" => number % 2 == 1,
                _ => true,
            };
            trials.push(Trial::test(format!("{dialect}::{name}"), move || {
                checked(program(dialect, &[], &path, &excuses, is_run))
            }));
        }
    }
    // Pipelines that one work-item runs: some programs; `everywhere.rs` has all.
    for (name, path) in programs.iter().step_by(12) {
        let excuses = [OPENCL_12, STANDALONE].map(|it| listed(it).get(name.as_str()).copied());
        let path = path.clone();
        trials.push(Trial::test(format!("fpga::{name}"), move || {
            checked(program("fpga-intel", &["--fpga=alveo-u250"], &path, &excuses, true))
        }));
    }
    trials.push(Trial::test("the_list_names_programs", move || {
        let stray = listed(STANDALONE).into_keys().find(|it| !programs.contains_key(*it));
        checked(stray.map(|it| format!("`{it}` is not there")))
    }));
    for (name, test) in OWN {
        trials.push(Trial::test(*name, move || checked(test())));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

type Test = fn() -> Option<String>;

/// Tests of the command itself; what is wrong, or nothing.
const OWN: &[(&str, Test)] = &[
    ("lines_without_directives_stay_as_they_are", lines_stay),
    ("files_share_what_is_mapped", files_share_what_is_mapped),
    ("kernels_say_where_loops_went", kernels_say_where_loops_went),
    ("a_driver_is_asked_for_little", a_driver_is_asked_for_little),
    ("pipelines_are_run_by_one_work_item", pipelines_are_run_by_one_work_item),
    ("pipelines_are_hardware", pipelines_are_hardware),
    ("sources_are_not_overwritten", sources_are_not_overwritten),
    ("a_directive_of_a_header_is_refused", a_directive_of_a_header_is_refused),
    ("data_that_must_be_there_are_missed", data_that_must_be_there_are_missed),
];

fn checked(wrong: Option<String>) -> Result<(), Failed> {
    wrong.map_or(Ok(()), |it| Err(it.into()))
}

/// What is wrong with a program in a dialect; nothing if it is right, or refused as its lists say.
fn program(
    dialect: &str,
    more: &[&str],
    path: &Path,
    excuses: &[Option<&str>; 2],
    is_run: bool,
) -> Option<String> {
    if is_run && !has(dialect) {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let words = [&["emit", "--dialect", dialect, path.to_str()?, "-o", "out"], more].concat();
    let made = ferry(&words, folder.path());
    let said = told(&made);
    let is_written = |it: &&&str| WRITTEN.contains(*it);
    if !made.status.success() {
        let [cannot, not_alone] = excuses;
        let is_known = cannot.is_some_and(|it| said.contains("[F0710]") && said.contains(it))
            || not_alone.is_some_and(|it| said.contains("[F0720]") && said.contains(it));
        let left = folder.path().join("out").exists();
        return (!is_known || left).then(|| format!("refused: {said}"));
    }
    let refusals = excuses.iter().flatten().filter(|it| !is_written(it));
    if let Some(excuse) = refusals.into_iter().next() {
        return Some(format!("written, though a list says: {excuse}"));
    }
    let stem = path.file_stem()?.to_str()?;
    match dialect {
        "opencl" | "opencl:1.2" | "fpga-intel" | "fpga-xilinx" if !is_run => None,
        "opencl" | "opencl:1.2" | "fpga-intel" | "fpga-xilinx" => {
            let built = build(folder.path(), &[&format!("out/{stem}.c")]);
            if !built.status.success() {
                return Some(format!("does not compile: {}", told(&built)));
            }
            let mut run = Command::new(folder.path().join("program"));
            // PoCL's compiler optimises the same kernels for `everywhere.rs`: that is most of the time.
            run.env("OMP_DYNAMIC", "false").env("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable");
            let ran = run.output().expect("the program runs");
            let excuse = excuses.iter().flatten().find(is_written);
            match (ran.status.success(), excuse) {
                (true, None) | (false, Some(_)) => None,
                (true, Some(excuse)) => Some(format!("right, though a list says: {excuse}")),
                (false, None) => Some(format!("wrong: {}", told(&ran))),
            }
        }
        "cuda" => {
            let built = build_for_cuda(folder.path(), &[&format!("out/{stem}.c")]);
            if !built.status.success() {
                return Some(format!("does not compile: {}", told(&built)));
            }
            let ran = run_on_driver(folder.path(), &[]);
            // Kernels do nothing there; but they were compiled, or the driver was not asked at all.
            let said = told(&ran);
            said.contains("NVRTC").then(|| format!("the kernels do not compile: {said}"))
        }
        _ => {
            let file = format!("out/{stem}.c.hip");
            // Some programs have none.
            let has_kernels = folder.path().join(&file).exists();
            if let Some(wrong) = has_kernels.then(|| hip_kernels(folder.path(), &file)).flatten() {
                return Some(format!("the kernels do not compile: {wrong}"));
            }
            let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emit");
            let mut gcc = Command::new("cc");
            gcc.args(["-w", "-fopenmp", "-fsyntax-only", "-I"]).arg(headers);
            gcc.arg(format!("out/{stem}.c")).arg("out/ferry_host.c").current_dir(folder.path());
            let read = gcc.output().expect("cc runs");
            (!read.status.success()).then(|| format!("is not read: {}", told(&read)))
        }
    }
}

/// Whether the pieces are there that a dialect is tested with; what is missing is said.
fn has(dialect: &str) -> bool {
    let missing = match dialect {
        "opencl" | "opencl:1.2" | "fpga-intel" | "fpga-xilinx" => {
            let line = line_of("devices", "\"opencl\"");
            let has_header = Path::new("/usr/include/CL/cl.h").exists();
            (!line.contains("\"missing\":[]") || !has_header)
                .then_some("OpenCL (Debian: pocl-opencl-icd, ocl-icd-opencl-dev)")
        }
        "cuda" => nvrtc().is_none().then_some("NVRTC (scripts/setup fetches it)"),
        _ => {
            let clang = Command::new("clang-19").arg("--version").output();
            clang.is_err().then_some("clang-19")
        }
    };
    if let Some(missing) = missing {
        eprintln!("skipped: {missing} is not there");
    }
    missing.is_none()
}

/// The folder of NVRTC, as `ferry` finds it.
fn nvrtc() -> Option<PathBuf> {
    let line = line_of("doctor", "\"piece\":\"NVRTC\"");
    let found = line.split_once("\"found\":\"")?.1;
    let at = found.find('/')?;
    let path = found.get(at..)?.split(['"', ' ', ')', ',']).next()?;
    Some(Path::new(path).parent()?.to_owned())
}

/// Builds `program` in a folder with the host's compiler and OpenCL, and nothing else.
fn build(folder: &Path, sources: &[&str]) -> Output {
    let mut gcc = Command::new("cc");
    gcc.args(["-O0", "-w", "-fopenmp"]).args(sources).arg(host_side(folder, &[]));
    gcc.args(["-o", "program", "-lOpenCL", "-lm"]).current_dir(folder);
    gcc.output().expect("cc runs")
}

/// What all programs of a dialect have in common, compiled.
fn host_side(folder: &Path, words: &[&str]) -> PathBuf {
    let files = ["c", "h"].map(|it| folder.join(format!("out/ferry_host.{it}")));
    built_once(&files, &[&["-O1", "-w", "-fopenmp", "-c"], words].concat())
}

/// The same for CUDA, with a driver without a GPU.
fn build_for_cuda(folder: &Path, sources: &[&str]) -> Output {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    fs::copy(library("cuda/driver.c"), folder.join("libcuda.so.1")).expect("a copy");
    let folder_of_nvrtc = nvrtc().unwrap_or_default();
    let files = fs::read_dir(&folder_of_nvrtc).into_iter().flatten().flatten();
    let library = files.map(|it| it.path()).find(|it| {
        it.file_name().is_some_and(|it| it.to_string_lossy().starts_with("libnvrtc.so"))
    });
    let mut gcc = Command::new("cc");
    let headers = here.join("emit");
    let headers = headers.to_str().expect("a name");
    gcc.args(["-O0", "-w", "-fopenmp", "-I", headers]).args(sources);
    gcc.arg(host_side(folder, &["-I", headers]));
    gcc.args(["-o", "program", "libcuda.so.1"]).args(library);
    gcc.arg("-lm").arg(format!("-Wl,-rpath,$ORIGIN:{}", folder_of_nvrtc.display()));
    gcc.current_dir(folder).output().expect("cc runs")
}

/// Runs `program` with that driver, which writes down what it is asked.
fn run_on_driver(folder: &Path, settings: &[(&str, &str)]) -> Output {
    // A program may wait for what kernels do, which there is nothing.
    let mut run = Command::new("timeout");
    run.arg("30")
        .arg(folder.join("program"))
        .current_dir(folder)
        .env("LD_LIBRARY_PATH", folder)
        .env("CALLS", folder.join("calls"));
    run.envs(settings.iter().copied()).output().expect("the program runs")
}

/// Compiles kernels for a GPU of AMD; what clang says, if it does not.
fn hip_kernels(folder: &Path, file: &str) -> Option<String> {
    let mut clang = Command::new("clang-19");
    clang.args(["-x", "hip", "--offload-arch=gfx90a", "-nogpuinc", "-nogpulib"]);
    clang.args(["--offload-device-only", "-std=c++20", "-fno-builtin", "-w", "-O1", "-S", file]);
    let made = clang.args(["-o", "kernels.s"]).current_dir(folder).output().expect("clang-19 runs");
    (!made.status.success()).then(|| told(&made))
}

/// Writes a program of several files in a dialect.
fn written(dialect: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, Output) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let mut words = vec!["emit", "--dialect", dialect, "-o", "out"];
    words.extend(files.iter().map(|it| it.0).filter(|it| it.ends_with(".c")));
    let made = ferry(&words, folder.path());
    (folder, made)
}

const ODD: &str = "\
#include <stdio.h>
#define N 10 /* how many
   there are */
#define SUM(array, to) do { for (int k = 0; k < N; k++) to += array[k]; } while (0)
int main(void) {
  int a[N], sum = 0; // unchanged, N
  for (int i = 0; i < N; i++) a[i] = i; /* a comment
  that goes on */ int b = 1;
#ifdef NOWHERE
#pragma omp parallel for
#else
#pragma omp target teams distribute parallel for \\
    map(tofrom: a)
#endif
  for (int i = 0; i < N; i++) {
    a[i] += b; } /* this one
  too */ int c = N;
#pragma omp target map(tofrom: sum) map(to: a)
  SUM(a,
      sum);
  if (c != N) return 2;
  printf(\"%d\\n\", sum);
  return sum != 55;
}
";

fn lines_stay() -> Option<String> {
    let (folder, made) = written("opencl", &[("odd.c", ODD)]);
    let text = fs::read_to_string(folder.path().join("out/odd.c")).unwrap_or_default();
    let unchanged =
        ["#define N 10 /* how many\n   there are */", "int a[N], sum = 0; // unchanged, N\n"];
    if let Some(missing) = unchanged.iter().find(|it| !text.contains(**it)) {
        return Some(format!("`{missing}` is gone from\n{text}\n{}", told(&made)));
    }
    if text.contains("\n# ") || text.contains("NOWHERE") {
        return Some(format!("something is left in\n{text}"));
    }
    if !has("opencl") {
        return None;
    }
    let built = build(folder.path(), &["out/odd.c"]);
    if !built.status.success() {
        return Some(format!("{}\n{text}", told(&built)));
    }
    let ran = Command::new(folder.path().join("program")).output().expect("the program runs");
    (!ran.status.success()).then(|| told(&ran))
}

const MAIN: &str = "\
void enter(int *a, int n), leave(int *a, int n);
int main(void) {
  int a[8] = { 0 };
  enter(a, 8);
#pragma omp target map(present, tofrom: a)
  a[3] = 7;
  int before = a[3];
  leave(a, 8);
  return !(before == 0 && a[3] == 7);
}
";

const DATA: &str = "\
void enter(int *a, int n) {
#pragma omp target enter data map(to: a[0:n])
}
void leave(int *a, int n) {
#pragma omp target exit data map(from: a[0:n])
}
";

fn files_share_what_is_mapped() -> Option<String> {
    if !has("opencl") {
        return None;
    }
    let (folder, made) = written("opencl", &[("main.c", MAIN), ("data.c", DATA)]);
    let built = build(folder.path(), &["out/main.c", "out/data.c"]);
    if !built.status.success() {
        return Some(format!("{}\n{}", told(&made), told(&built)));
    }
    let needs = Command::new("ldd").arg(folder.path().join("program")).output().expect("ldd runs");
    if String::from_utf8_lossy(&needs.stdout).contains("libferry") {
        return Some(told(&needs));
    }
    let ran = Command::new(folder.path().join("program")).output().expect("the program runs");
    (!ran.status.success()).then(|| told(&ran))
}

const NEST: &str = "\
void rows(int n, const double *m, double *sums) {
#pragma omp target teams distribute map(to: m[0:n*n]) map(from: sums[0:n])
  for (int row = 0; row < n; row++) {
    double sum = 0;
#pragma omp parallel for reduction(+: sum)
    for (int col = 0; col < n; col++) sum += m[row * n + col];
    sums[row] = sum;
  }
#pragma omp target teams distribute parallel for map(tofrom: sums[0:n])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) sums[i] *= 2;
}
";

fn kernels_say_where_loops_went() -> Option<String> {
    let (folder, made) = written("cuda", &[("nest.c", NEST)]);
    let text = fs::read_to_string(folder.path().join("out/nest.cu")).unwrap_or_default();
    let words = [
        "nest.c:2, in `rows`:",
        "line 3, loop over row: to blocks",
        "line 6, loop over col: to the threads of its block",
        "line 10, loop over i: to all threads of all blocks",
        "line 11, loop over k: in order",
        "rows_l2(",
        "rows_l9(",
    ];
    let missing = words.iter().find(|it| !text.contains(**it))?;
    Some(format!("`{missing}` is not in\n{text}\n{}", told(&made)))
}

const ADDS: &str = "\
#include <stdio.h>
int main(void) {
  int x = 3, y = 4;
#pragma omp target map(tofrom: x) map(to: y)
  x += y;
  printf(\"%d\\n\", x);
  return x != 7;
}
";

fn a_driver_is_asked_for_little() -> Option<String> {
    if !has("cuda") {
        return None;
    }
    let (folder, made) = written("cuda", &[("adds.c", ADDS)]);
    let built = build_for_cuda(folder.path(), &["out/adds.c"]);
    if !built.status.success() {
        return Some(format!("{}\n{}", told(&made), told(&built)));
    }
    // The driver adds what the second argument of a kernel leads to.
    let ran = run_on_driver(folder.path(), &[("SUMS", "1")]);
    let calls = fs::read_to_string(folder.path().join("calls")).unwrap_or_default();
    let expected = "stream 1\ncode 0\nmemory 256\nin 4\nmemory 256\nin 4\nblocks 160\nkernel 2\nout 4\nwait 0\n";
    (!ran.status.success() || calls != expected).then(|| format!("{}\n{calls}", told(&ran)))
}

/// A sum in registers, a table in place, a nest; and what several teams do, which stays as it is.
const PIPELINES: &str = "\
float a[1003];
int t[20][30], u[20][30];
int main(void) {
  float s = 1;
  int teams = 0, wrong = 0;
  for (int i = 0; i < 1003; i++) a[i] = i & 7;
#pragma acc parallel loop num_gangs(1) num_workers(1) vector_length(1) reduction(+: s) copyin(a)
  for (int i = 0; i < 1003; i++) s += a[i];
#pragma acc parallel loop copy(a)
  for (int i = 0; i < 1003; i++) a[i] += 1;
  for (int j = 0; j < 30; j++) t[0][j] = u[0][j] = j * 3 % 7;
#pragma omp target map(tofrom: t)
  for (int i = 1; i < 20; i++)
    for (int j = 1; j < 30; j++) {
      int x = t[i][j - 1] - 1, y = t[i - 1][j], z = t[i - 1][j - 1] + (i * j) % 5, best = x > y ? x : y;
      t[i][j] = best > z ? best : z;
    }
  for (int i = 1; i < 20; i++)
    for (int j = 1; j < 30; j++) {
      int x = u[i][j - 1] - 1, y = u[i - 1][j], z = u[i - 1][j - 1] + (i * j) % 5, best = x > y ? x : y;
      u[i][j] = best > z ? best : z;
    }
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 30; j++) wrong += t[i][j] != u[i][j];
#pragma omp target teams num_teams(3) map(tofrom: teams)
  {
#pragma omp atomic
    teams++;
  }
  return wrong || s != 3504 || a[6] != 7 || teams != 3;
}
";

/// What vendors of FPGAs are told of them: by dialect, under the macro of their compiler.
const VENDORS: &[(&str, &str, &[&str])] = &[
    ("opencl:1.2", "OTHERS", &["void main_l7(", "s_partial[8];"]),
    (
        "fpga-intel",
        "INTELFPGA_CL",
        &[
            "__attribute__((max_global_work_dim(0))) void main_l7(__global void *ferry_a",
            "s_partial[8] __attribute__((register));",
            "#pragma unroll 8\n",
            "#pragma ivdep\n",
        ],
    ),
    (
        "fpga-xilinx",
        "__xilinx__",
        &[
            "__attribute__((reqd_work_group_size(1, 1, 1))) void main_l7(__global void *ferry_a",
            "s_partial[8] __attribute__((xcl_array_partition(complete, 1)));",
            "__attribute__((opencl_unroll_hint(8)))\n",
            "__attribute__((xcl_pipeline_loop(1)))\n",
        ],
    ),
];

fn pipelines_are_run_by_one_work_item() -> Option<String> {
    VENDORS.iter().find_map(|it| vendor(it).map(|wrong| format!("{}: {wrong}", it.0)))
}

fn vendor((dialect, defined, words): &(&str, &str, &[&str])) -> Option<String> {
    if !has(dialect) {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("pipelines.c"), PIPELINES).expect("a file");
    let told_to = ["emit", "--dialect", dialect, "--fpga", "pipelines.c", "-o", "out"];
    let made = ferry(&told_to, folder.path());
    let text = fs::read_to_string(folder.path().join("out/pipelines.cl")).unwrap_or_default();
    let said = told(&made);
    let is_told = said.matches("[F0736]").count() == 1 && said.contains("pipelines.c:25");
    let lacks = words.iter().chain(&["t_0"]).find(|it| !text.contains(**it));
    if !is_told || lacks.is_some() {
        return Some(format!("lacks {lacks:?}: {said}\n{text}"));
    }
    // No vendor's compiler is here: clang reads what only they are meant to see.
    let mut clang = Command::new("clang-19");
    clang.args(["-x", "cl", "-cl-std=CL1.2", "-target", "spir64", "-w", "-fsyntax-only"]);
    clang.arg(format!("-D{defined}")).arg("out/pipelines.cl").current_dir(folder.path());
    if let Some(wrong) = clang.output().ok().filter(|it| !it.status.success()) {
        return Some(format!("is no OpenCL C with `{defined}`: {}", told(&wrong)));
    }
    let built = build(folder.path(), &["out/pipelines.c"]);
    if !built.status.success() {
        return Some(format!("does not compile: {}", told(&built)));
    }
    let ran = Command::new(folder.path().join("program")).output().expect("the program runs");
    (!ran.status.success()).then(|| format!("wrong: {}\n{text}", told(&ran)))
}

fn pipelines_are_hardware() -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("pipelines.c"), PIPELINES).expect("a file");
    let words = ["emit", "--dialect", "verilog", "pipelines.c", "-o", "out"];
    let made = ferry(&words, folder.path());
    let said = told(&made);
    let is_told = said.matches("[F0737]").count() == 1 && said.contains("pipelines.c:25");
    if !made.status.success() || !is_told {
        return Some(said);
    }
    for (name, words) in [
        ("main_l7", ["module float32_add_", "`s`", "// block"]),
        ("main_l9", ["the address of `a`", "interval 1,", "module main_l9("]),
        ("main_l12", ["the address of `t`", "interval 1,", "module main_l12("]),
    ] {
        let file = format!("out/{name}.v");
        let text = fs::read_to_string(folder.path().join(&file)).unwrap_or_default();
        if let Some(lacks) = words.iter().find(|it| !text.contains(**it)) {
            return Some(format!("{file} lacks `{lacks}`: {said}\n{text}"));
        }
        // Where it is installed, a simulator reads it.
        let mut read = Command::new("iverilog");
        read.args(["-g2012", "-t", "null", &file]).current_dir(folder.path());
        if let Some(wrong) = read.output().ok().filter(|it| !it.status.success()) {
            return Some(format!("{file} is no Verilog: {}", told(&wrong)));
        }
    }
    None
}

fn sources_are_not_overwritten() -> Option<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("adds.c"), ADDS).expect("a file");
    let made = ferry(&["emit", "--dialect", "cuda", "adds.c", "-o", "."], folder.path());
    let stays = fs::read_to_string(folder.path().join("adds.c")).is_ok_and(|it| it == ADDS);
    (made.status.code() != Some(1) || !stays).then(|| told(&made))
}

fn a_directive_of_a_header_is_refused() -> Option<String> {
    let header =
        "static void twice(int *x) {\n#pragma omp target map(tofrom: x[0:1])\n  *x *= 2;\n}\n";
    let source = "#include \"twice.h\"\nint main(void) { int x = 1; twice(&x); return x != 2; }\n";
    let (folder, made) = written("cuda", &[("twice.h", header), ("uses.c", source)]);
    let said = told(&made);
    let is_right = said.contains("[F0721]") && said.contains("twice.h:2");
    (!is_right || folder.path().join("out").exists()).then_some(said)
}

const MISSING: &str = "\
int main(void) {
  int a[4] = { 0 };
#pragma omp target map(present, tofrom: a)
  a[0] = 1;
  return 0;
}
";

fn data_that_must_be_there_are_missed() -> Option<String> {
    if !has("opencl") {
        return None;
    }
    let (folder, _) = written("opencl", &[("missing.c", MISSING)]);
    let built = build(folder.path(), &["out/missing.c"]);
    if !built.status.success() {
        return Some(told(&built));
    }
    let ran = Command::new(folder.path().join("program")).output().expect("the program runs");
    let said = told(&ran);
    let is_right =
        ran.status.code() == Some(1) && said.contains("missing.c:3: `a` is not on the device");
    (!is_right).then_some(said)
}
