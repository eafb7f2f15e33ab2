//! Programs of `tests/native`, C++ and Fortran, each built by `ferry c++` or `ferry fc` and run on each device that every
//! machine has: right there, and wrong where no region leaves the host. For GPUs their device code is made, as far as that
//! goes without one.
//!
//! Needs clang 19, flang 19 and libomp; `scripts/setup tests` installs them. Without them only the tests of what is said
//! then have anything to do.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Failed, Trial};
use support::{ferry, told};

/// Devices that programs are built for and run on.
const BUILT_FOR: &str = "cpu,cpu:separate";
const DEVICES: [&str; 4] = ["cpu", "cpu*2", "cpu:copy", "cpu:separate"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    let has_llvm = ["clang++-19", "flang-new-19"].iter().all(|it| runs(it));
    if has_llvm {
        for file in programs() {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            trials.push(Trial::test(format!("program::{name}"), move || run(&file)));
        }
        type Test = fn() -> Result<(), Failed>;
        let all: [(&str, Test); 13] = [
            ("several_languages_are_one_program", several_languages),
            ("several_languages_with_cmake", with_cmake),
            ("several_languages_with_make", with_make),
            ("archives_and_separate_links", archives),
            ("a_missing_map_is_told", missing_map),
            ("verdicts_are_told", verdicts),
            ("barriers_of_few_threads_on_gpus", barriers),
            ("mathematics_of_pip_on_gpus", mathematics),
            ("machine_code_where_the_assembler_is", machine_code),
            ("library_of_fortran_on_gpus_is_refused", library_of_fortran),
            ("cc_hands_regions_over", by_cc),
            ("openacc_is_refused", openacc),
            ("devices_that_cannot_be_are_refused", devices),
        ];
        trials.extend(all.map(|(name, test)| Trial::test(name, test)));
    } else {
        eprintln!(
            "skipped: clang 19 and flang 19 are not here (Debian: clang-19 flang-19 libomp-19-dev)"
        );
    }
    trials.push(Trial::test("without_llvm", without_llvm));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|it| it.status.success())
}

fn folder_of_programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/native")
}

fn programs() -> Vec<PathBuf> {
    let files = fs::read_dir(folder_of_programs()).expect("tests/native");
    let mut files: Vec<PathBuf> = files.flatten().map(|it| it.path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "cpp" || it == "f90"));
    files.sort();
    files
}

/// The command for a file.
fn command(file: &Path) -> &'static str {
    if file.extension().is_some_and(|it| it == "f90") { "fc" } else { "c++" }
}

fn path(of: &Path) -> &str {
    of.to_str().expect("a plain path")
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn check(is_right: bool, output: &Output) -> Result<(), Failed> {
    if is_right { Ok(()) } else { Err(told(output).into()) }
}

/// Builds, and must succeed in silence.
fn builds(arguments: &[&str], folder: &Path) -> Result<(), Failed> {
    let built = ferry(arguments, folder);
    check(built.status.success() && built.stderr.is_empty(), &built)
}

/// A program on a device.
fn on(program: &Path, device: &str) -> Output {
    let mut command = Command::new(program);
    command.env("FERRY_DEVICE", device).env_remove("FERRY_INFO").env("OMP_NUM_THREADS", "4");
    command.output().expect("it runs")
}

/// Right on every device; not where there is none.
fn is_right(program: &Path) -> Result<(), Failed> {
    for device in DEVICES {
        let ran = on(program, device);
        let is_right = ran.status.success() && ran.stdout == b"right\n" && ran.stderr.is_empty();
        check(is_right, &ran)
            .map_err(|it| format!("on {device}: {}", it.message().unwrap_or_default()))?;
    }
    let ran = on(program, "none");
    check(!ran.status.success(), &ran)
}

/// Built for all devices; right on those that every machine has.
fn run(file: &Path) -> Result<(), Failed> {
    let folder = scratch();
    let at = folder.path();
    let all = format!("cuda:sm_90,{BUILT_FOR}");
    let words = |devices| {
        [
            command(file),
            "-O2",
            "--device",
            devices,
            "--ferry-save-temps=saved",
            path(file),
            "-o",
            "program",
        ]
    };
    let built = ferry(&words(&all), at);
    if String::from_utf8_lossy(&built.stderr).contains("NVRTC or nvcc") {
        eprintln!("skipped in part: NVRTC is not on this machine");
        builds(&words(BUILT_FOR), at)?;
    } else {
        check(built.status.success() && built.stderr.is_empty(), &built)?;
        is_complete(&at.join("saved"))?;
    }
    is_right(&at.join("program"))
}

/// Assembly for a GPU has the kernels, what is said of them, and needs nothing that is not there.
fn is_complete(folder: &Path) -> Result<(), Failed> {
    let saved = fs::read_dir(folder).expect("what was saved").flatten().map(|it| it.path());
    let texts: Vec<String> = saved
        .filter(|it| it.extension().is_some_and(|it| it == "ptx"))
        .map(|it| fs::read_to_string(it).expect("a text"))
        .collect();
    let all = texts.concat();
    let needed = [
        ".target sm_90",
        ".entry __omp_offloading_",
        "_kernel_environment",
        "__omp_rtl_device_environment",
    ];
    if let Some(missing) = needed.iter().find(|it| !all.contains(**it)) {
        return Err(format!("`{missing}` is not in the assembly").into());
    }
    for line in all.lines().filter_map(|it| it.strip_prefix(".extern .func")) {
        let name = line.trim().rsplit(')').next().unwrap_or_default().trim();
        let is_of_cuda = ["vprintf", "malloc", "free", "__assertfail"].contains(&name);
        if !is_of_cuda && !defines(&all, name) {
            return Err(format!("nobody defines `{name}`").into());
        }
    }
    Ok(())
}

/// Whether assembly has a function of that name for others.
fn defines(text: &str, name: &str) -> bool {
    text.lines().any(|it| {
        let word = it.trim_end_matches('(').trim_end().rsplit([' ', ')']).next();
        it.starts_with(".visible .func") && word == Some(name)
    })
}

/// The files of a program in three languages.
fn mixed(name: &str) -> String {
    path(&folder_of_programs().join("mixed").join(name)).to_owned()
}

fn several_languages() -> Result<(), Failed> {
    let folder = scratch();
    let (main, part, fill) = (mixed("main.c"), mixed("part.cpp"), mixed("fill.f90"));
    let at = folder.path();
    builds(&["c++", "-O1", "--device", BUILT_FOR, &main, &part, &fill, "-o", "program"], at)?;
    is_right(&at.join("program"))?;
    // Each by its own command, for the processor alone, linked by each.
    builds(&["cc", "-O1", "-c", &main, "-o", "main.o"], at)?;
    builds(&["c++", "-O1", "-c", &part, "-o", "part.o"], at)?;
    builds(&["fc", "-O1", "-c", &fill, "-o", "fill.o"], at)?;
    for linker in ["c++", "cc"] {
        builds(&[linker, "main.o", "part.o", "fill.o", "-o", linker], at)?;
        let ran = on(&at.join(linker), "cpu");
        check(ran.status.success() && ran.stdout == b"right\n", &ran)?;
    }
    Ok(())
}

/// A name for `ferry` that says which compiler it is.
fn alias(folder: &Path, name: &str) -> String {
    let link = folder.join(name);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ferry"), &link).expect("a link");
    path(&link).to_owned()
}

fn tool(program: &str, arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(program);
    for name in ["CC", "CXX", "FC", "CFLAGS", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "FERRY_DEVICE"] {
        command.env_remove(name);
    }
    command.args(arguments).current_dir(folder).output().expect("it runs")
}

fn with_cmake() -> Result<(), Failed> {
    let folder = scratch();
    let at = folder.path();
    let (main, part, fill) = (mixed("main.c"), mixed("part.cpp"), mixed("fill.f90"));
    let text = format!(
        "cmake_minimum_required(VERSION 3.16)\nproject(demo C CXX Fortran)\n\
         add_library(parts STATIC \"{part}\" \"{fill}\")\nadd_executable(program \"{main}\")\n\
         target_link_libraries(program parts)\n"
    );
    fs::write(at.join("CMakeLists.txt"), text).expect("written");
    let compilers = [("C", "ferrycc"), ("CXX", "ferryc++"), ("Fortran", "ferryfc")];
    let mut words = vec!["-S".to_owned(), ".".to_owned(), "-B".to_owned(), "build".to_owned()];
    for (language, name) in compilers {
        words.push(format!("-DCMAKE_{language}_COMPILER={}", alias(at, name)));
        words.push(format!("-DCMAKE_{language}_FLAGS=--device={BUILT_FOR}"));
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let made = tool("cmake", &words, at);
    check(made.status.success(), &made)?;
    let built = tool("cmake", &["--build", "build"], at);
    check(built.status.success(), &built)?;
    is_right(&at.join("build/program"))
}

fn with_make() -> Result<(), Failed> {
    let folder = scratch();
    let at = folder.path();
    let ferry = env!("CARGO_BIN_EXE_ferry");
    for (name, from) in [("main.c", "main.c"), ("part.cpp", "part.cpp"), ("fill.f90", "fill.f90")] {
        fs::copy(mixed(from), at.join(name)).expect("copied");
    }
    let text = format!(
        "CC = {ferry} cc\nCXX = {ferry} c++\nFC = {ferry} fc\nFLAGS = -O1 --device {BUILT_FOR}\n\
         program: main.o part.o fill.o\n\t$(FC) $^ -o $@\n\
         %.o: %.c\n\t$(CC) $(FLAGS) -c $<\n%.o: %.cpp\n\t$(CXX) $(FLAGS) -MMD -c $<\n%.o: %.f90\n\t$(FC) $(FLAGS) -c $<\n"
    );
    fs::write(at.join("Makefile"), text).expect("written");
    let made = tool("make", &[], at);
    check(made.status.success(), &made)?;
    check(at.join("part.d").is_file(), &made)?;
    is_right(&at.join("program"))
}

fn archives() -> Result<(), Failed> {
    let folder = scratch();
    let at = folder.path();
    let sums = folder_of_programs().join("globals.cpp");
    builds(
        &["c++", "-O1", "--device", BUILT_FOR, "-Dmain=entry", "-c", path(&sums), "-o", "part.o"],
        at,
    )?;
    let packed = tool("ar", &["rc", "libparts.a", "part.o"], at);
    check(packed.status.success(), &packed)?;
    fs::write(at.join("main.cpp"), "int entry();\nint main() { return entry(); }\n")
        .expect("written");
    builds(&["c++", "main.cpp", "-L.", "-lparts", "-o", "program"], at)?;
    is_right(&at.join("program"))
}

/// What is not mapped is not there: on the device with memory of its own that is seen, and told with its place.
fn missing_map() -> Result<(), Failed> {
    let folder = scratch();
    let at = folder.path();
    let text = "#include <cstdio>\n#include <vector>\nstruct Holder { double *data; };\nint main() {\n  \
                std::vector<double> v(1000, 1.0);\n  Holder h{v.data()};\n#pragma omp target map(to : h)\n  \
                h.data[3] = 2;\n  std::printf(\"%g\\n\", v[3]);\n}\n";
    fs::write(at.join("a.cpp"), text).expect("written");
    builds(&["c++", "--device", BUILT_FOR, "a.cpp", "-o", "program"], at)?;
    let ran = on(&at.join("program"), "cpu:separate");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let is_told = ["a.cpp:7", "crashed", "help: "].iter().all(|it| said.contains(it));
    check(ran.status.code() == Some(1) && is_told, &ran)?;
    // Information is as for C.
    let mut command = Command::new(at.join("program"));
    let ran = command.env("FERRY_DEVICE", "cpu").env("FERRY_INFO", "1").output().expect("it runs");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    check(
        ran.status.success() && said.contains("a.cpp:7") && said.contains("region main:7"),
        &ran,
    )?;
    let mut command = Command::new(at.join("program"));
    command.env("FERRY_DEVICE", "none").env("OMP_TARGET_OFFLOAD", "MANDATORY");
    let ran = command.output().expect("it runs");
    check(ran.status.code() == Some(1), &ran)
}

fn verdicts() -> Result<(), Failed> {
    let folder = scratch();
    let at = folder.path();
    let text = "template <typename T> void unused(T *p) {\n#pragma omp target\n  p[0] = 1;\n}\nvoid f(int *p, int n) {\n\
                #pragma omp target data map(tofrom : p[0 : n])\n  {\n#pragma omp target teams distribute parallel for\n  \
                for (int i = 0; i < n; i++) p[i]++;\n  }\n}\n";
    fs::write(at.join("a.cpp"), text).expect("written");
    let told = ferry(&["c++", "--device", BUILT_FOR, "--ferry-report", "-c", "a.cpp"], at);
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    let expected = [
        "a.cpp:2: target: is not compiled for devices: its compiler has made no kernel of it",
        "a.cpp:6: target data: serves cpu and cpu:separate",
        "a.cpp:8: target teams distribute parallel for: runs on cpu and cpu:separate: its body is a kernel",
    ];
    check(told.status.success() && expected.iter().all(|it| said.contains(it)), &told)
}

/// The assembly for a GPU of a C++ text, built with these variables of the environment.
fn assembly(text: &str, variables: &[(&str, &Path)]) -> Result<String, Failed> {
    let folder = scratch();
    let at = folder.path();
    fs::write(at.join("a.cpp"), text).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferry"));
    command.args([
        "c++",
        "-O2",
        "--device",
        "cuda:sm_90",
        "--ferry-save-temps=saved",
        "a.cpp",
        "-o",
        "program",
    ]);
    command.env_remove("CUDA_HOME").env_remove("CUDA_PATH").current_dir(at);
    command.envs(variables.iter().copied());
    let built = command.output().expect("ferry runs");
    check(built.status.success() && built.stderr.is_empty(), &built)?;
    let saved =
        fs::read_dir(at.join("saved")).expect("what was saved").flatten().map(|it| it.path());
    let texts = saved.filter(|it| it.extension().is_some_and(|it| it == "ptx"));
    Ok(texts.map(|it| fs::read_to_string(it).expect("a text")).collect())
}

/// Where a parallel region has a part of the threads, its barriers wait for these alone.
fn barriers() -> Result<(), Failed> {
    let program = |clause: &str| {
        format!(
            "int main() {{\n  int a[64] = {{0}};\n#pragma omp target map(a)\n#pragma omp parallel {clause}\n  {{\n\
             #pragma omp for\n    for (int i = 0; i < 64; i++) a[i] = i;\n#pragma omp for\n    \
             for (int i = 0; i < 64; i++) a[i] += a[63 - i];\n  }}\n  return a[0] != 63;\n}}\n"
        )
    };
    for (clause, is_part) in [("num_threads(8)", true), ("", false)] {
        let text = assembly(&program(clause), &[])?;
        let parts = ["bar.warp.sync %", "barrier.sync 7, %"];
        // Without the clause all threads of the block meet.
        let is_right =
            parts.iter().all(|it| text.contains(it)) == is_part && text.contains("bar.sync");
        if !is_right {
            return Err(format!("`{clause}`: its barriers are others\n{text}").into());
        }
    }
    Ok(())
}

/// The library of mathematical functions that pip installs becomes part of the kernels.
fn mathematics() -> Result<(), Failed> {
    let folder = scratch();
    let library = folder.path().join("nvidia/cuda_nvcc/nvvm/libdevice");
    fs::create_dir_all(&library).expect("a folder");
    let text = "double __nv_sin(double x) { return x * 1234.5; }\n";
    fs::write(folder.path().join("lib.c"), text).expect("written");
    let words =
        ["--target=nvptx64-nvidia-cuda", "-nogpulib", "-O1", "-emit-llvm", "-c", "lib.c", "-o"];
    let output = library.join("libdevice.10.bc");
    let made =
        tool("clang++-19", &[&["-x", "c"], &words[..], &[path(&output)]].concat(), folder.path());
    check(made.status.success(), &made)?;
    let program = "#include <cmath>\nint main() {\n  double x = 2;\n#pragma omp target map(x)\n  x = std::sin(x);\n  \
                   return x < 0;\n}\n";
    let text = assembly(program, &[("PYTHONPATH", folder.path())])?;
    // 1234.5
    let is_part = text.contains("0d40934A0000000000") && !text.contains("nv_sin");
    if is_part { Ok(()) } else { Err(text.into()) }
}

/// Where NVIDIA's assembler is installed a program for a GPU that was named has its machine code beside the assembly.
fn machine_code() -> Result<(), Failed> {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch();
    let at = folder.path();
    fs::create_dir(at.join("bin")).expect("a folder");
    let assembler = at.join("bin/ptxas");
    let script =
        "#!/bin/sh\n[ \"$1\" = --version ] && exit\necho \"$1 $(grep -c entry $2)\" > $4\n";
    fs::write(&assembler, script).expect("written");
    fs::set_permissions(&assembler, fs::Permissions::from_mode(0o755)).expect("a program");
    fs::write(
        at.join("a.cpp"),
        "int main() {\n  int x = 0;\n#pragma omp target map(x)\n  x = 1;\n  return x != 1;\n}\n",
    )
    .expect("written");
    for (device, expected) in [("cuda:sm_90", Some("-arch=sm_90 1\n")), ("cuda", None)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferry"));
        let saved = format!("--ferry-save-temps={}", device.replace(':', "_"));
        command.args(["c++", "--device", device, &saved, "a.cpp", "-o", "program"]);
        let built = command.env("CUDA_HOME", at).current_dir(at).output().expect("ferry runs");
        check(built.status.success() && built.stderr.is_empty(), &built)?;
        let saved = fs::read_dir(at.join(device.replace(':', "_"))).expect("what was saved");
        let saved: Vec<PathBuf> = saved.flatten().map(|it| it.path()).collect();
        let of =
            |ending: &str| saved.iter().find(|it| it.extension().is_some_and(|it| it == ending));
        let made = of("cubin").map(|it| fs::read_to_string(it).expect("a text"));
        if made.as_deref() != expected || of("ptx").is_none() {
            return Err(format!("{device}: {made:?} in {saved:?}").into());
        }
    }
    Ok(())
}

/// What no GPU has is told when the program is linked.
fn library_of_fortran() -> Result<(), Failed> {
    let folder = scratch();
    let at = folder.path();
    let text = "program p\n  integer, allocatable :: a(:), b(:)\n  allocate (a(10), b(10))\n  b = 1\n  !$omp target map(a, b)\n  \
                a = b\n  !$omp end target\n  if (a(3) /= 1) stop 1\nend program\n";
    fs::write(at.join("a.f90"), text).expect("written");
    let told = ferry(&["fc", "--device", "cuda:sm_90,cpu", "a.f90", "-o", "program"], at);
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    let is_told =
        ["`_FortranAAssign`", "not there for `cuda`", "help: "].iter().all(|it| said.contains(it));
    check(told.status.code() == Some(1) && is_told, &told)?;
    builds(&["fc", "--device", "cpu", "a.f90", "-o", "program"], at)?;
    let ran = on(&at.join("program"), "cpu");
    check(ran.status.success(), &ran)
}

/// `ferry cc` on a C++ or Fortran file that asks for a device.
fn by_cc() -> Result<(), Failed> {
    let folder = scratch();
    let at = folder.path();
    let file = folder_of_programs().join("globals.cpp");
    builds(&["cc", "-O1", "--device", BUILT_FOR, path(&file), "-o", "program"], at)?;
    is_right(&at.join("program"))?;
    let file = folder_of_programs().join("arrays.f90");
    builds(&["cc", "-O1", "--device", BUILT_FOR, "-c", path(&file), "-o", "arrays.o"], at)?;
    builds(&["fc", "arrays.o", "-o", "other"], at)?;
    is_right(&at.join("other"))
}

fn openacc() -> Result<(), Failed> {
    let folder = scratch();
    let at = folder.path();
    fs::write(
        at.join("a.f90"),
        "program p\n  integer :: i\n  !$acc parallel\n  i = 1\n  !$acc end parallel\nend program\n",
    )
    .expect("written");
    fs::write(
        at.join("a.cpp"),
        "void f(int *p) {\n#pragma acc parallel copy(p[0 : 1])\n  p[0] = 1;\n}\n",
    )
    .expect("written");
    for (command, file, place) in [("fc", "a.f90", "a.f90:3"), ("c++", "a.cpp", "a.cpp:2")] {
        let told = ferry(&[command, "-c", file], at);
        let said = String::from_utf8_lossy(&told.stderr).into_owned();
        let is_told = ["F0046", "OpenACC", place, "help: "].iter().all(|it| said.contains(it));
        check(told.status.code() == Some(1) && is_told, &told)?;
        builds(&[command, "-fno-openacc", "-c", file], at)?;
    }
    Ok(())
}

fn devices() -> Result<(), Failed> {
    let folder = scratch();
    let at = folder.path();
    fs::write(at.join("a.cpp"), "void f(int *p) {\n#pragma omp target\n  p[0] = 1;\n}\n")
        .expect("written");
    for device in ["opencl", "hip", "riscv"] {
        let told = ferry(&["c++", "--device", device, "-c", "a.cpp"], at);
        let said = String::from_utf8_lossy(&told.stderr).into_owned();
        check(
            told.status.code() == Some(1) && said.contains(&format!("not for `{device}`")),
            &told,
        )?;
    }
    Ok(())
}

/// Without LLVM the commands say what to install, and nothing else needs it.
fn without_llvm() -> Result<(), Failed> {
    let folder = scratch();
    let at = folder.path();
    fs::write(at.join("a.cpp"), "int main() { return 0; }\n").expect("written");
    fs::write(at.join("a.c"), "int main(void) { return 0; }\n").expect("written");
    let without = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferry"));
        command.args(arguments).current_dir(at).env("FERRY_LLVM", at).env("LC_ALL", "C");
        command.output().expect("ferry runs")
    };
    for (command, package) in [("c++", "clang-19"), ("fc", "flang-19")] {
        let told = without(&[command, "a.cpp"]);
        let said = String::from_utf8_lossy(&told.stderr).into_owned();
        check(
            told.status.code() == Some(1) && said.contains(&format!("apt install {package}")),
            &told,
        )?;
        let help = without(&[command, "--help"]);
        check(
            help.status.success() && String::from_utf8_lossy(&help.stdout).contains("--device"),
            &help,
        )?;
    }
    let built = without(&["cc", "a.c"]);
    check(built.status.success(), &built)?;
    let built = without(&["cc", "-c", "a.cpp"]);
    check(built.status.success(), &built)
}
