//! Files in languages that are not read, where LLVM is not there to compile them: what asks for a device in them is told,
//! never silent. What LLVM compiles is in `native.rs`.

use super::support::{Folder, Ran};

const REGION: &str = "\
#include <cstdio>
template <class T> T twice(T x) { return x + x; }
int main() {
    int x = 20;
#pragma omp target map(tofrom: x)
    x = twice(x) + 2;
#pragma acc parallel copy(x)
    x += 0;
    std::printf(\"%d\\n\", x);
    return 0;
}
";

const FORTRAN: &str = "\
program p
  integer :: x
  x = 41
  !$omp target map(tofrom: x)
  x = x + 1
  !$omp end target
  print *, x
end program
";

/// `ferry` where LLVM is not installed.
fn ferry(folder: &Folder, arguments: &[&str]) -> Ran {
    let mut command = folder.command(arguments);
    Ran::of(command.env("FERRY_LLVM", folder.path(".")).output().expect("ferry runs"))
}

fn run(folder: &Folder, program: &str, policy: &str) -> Ran {
    let mut command = std::process::Command::new(folder.path(program));
    command.env("OMP_TARGET_OFFLOAD", policy).env_remove("FERRY_DEVICE").env_remove("FERRY_INFO");
    Ran::of(command.output().expect("it runs"))
}

/// A program with a region that nobody read runs, but not where offload is mandatory.
#[track_caller]
fn is_noted(folder: &Folder, program: &str, place: &str) {
    let free = run(folder, program, "DEFAULT");
    assert_eq!((free.status, free.out.trim()), (Some(0), "42"), "{free:?}");
    let bound = run(folder, program, "MANDATORY");
    bound.fails(1, &["offload is mandatory", "not read", place, "help: "]);
    assert_eq!(bound.out, "", "it has not begun");
}

#[test]
fn regions_in_files_of_cplusplus_are_told_when_they_are_compiled_and_when_they_must_offload() {
    let folder = Folder::new();
    folder.write("a.cpp", REGION);
    let words =
        ["warning[F0045]", "C++ files are not read", "`target`", "a.cpp:5", "1 more", "help: "];
    ferry(&folder, &["cc", "a.cpp", "-lstdc++", "-o", "a"]).fails(0, &words);
    is_noted(&folder, "a", "a.cpp:5: target");
    // With the host's own threads, by way of an archive, and from assembly.
    ferry(&folder, &["cc", "-fopenmp", "-c", "a.cpp", "-o", "a.o"]).fails(0, &words);
    assert_eq!(folder.run("ar", &["rc", "liba.a", "a.o"]).status, Some(0));
    folder.write("c.c", "extern int dummy;\n");
    ferry(&folder, &["cc", "c.c", "-L.", "-la", "-lstdc++", "-o", "b"]).is_clean();
    is_noted(&folder, "b", "a.cpp:5: target");
    ferry(&folder, &["cc", "-S", "a.cpp", "-o", "a.s"]).fails(0, &words);
    ferry(&folder, &["cc", "a.s", "-lstdc++", "-o", "c"]).is_clean();
    is_noted(&folder, "c", "a.cpp:7: parallel");
}

#[test]
fn all_names_of_files_and_options_that_say_cplusplus_are_known() {
    let folder = Folder::new();
    for name in ["a.cc", "a.cxx", "a.C", "a.c++"] {
        folder.write(name, REGION);
        ferry(&folder, &["cc", "-c", name, "-o", "a.o"]).fails(0, &["F0045", name]);
    }
    folder.write("plain.c", REGION);
    ferry(&folder, &["cc", "-c", "-x", "c++", "plain.c", "-o", "a.o"]).fails(0, &["F0045"]);
    ferry(&folder, &["cc", "-Werror", "-c", "a.cc"]).fails(1, &["error[F0045]"]);
    ferry(&folder, &["cc", "-fno-openmp", "-fno-openacc", "-c", "a.cc"]).is_clean();
    folder.write(
        "host.cpp",
        "int f() { int n = 0;\n#pragma omp parallel for reduction(+ : n)\n\
        for (int i = 0; i < 9; i++) n += i;\nreturn n; }\n",
    );
    ferry(&folder, &["cc", "-c", "host.cpp"]).is_clean();
    // Directives of headers count, as those of a macro do.
    folder
        .write("inner.hpp", "inline void f(int &x) {\n#pragma omp target map(tofrom: x)\nx++; }\n");
    folder.write("outer.cpp", "#include \"inner.hpp\"\n");
    ferry(&folder, &["cc", "-c", "outer.cpp"]).fails(0, &["F0045", "inner.hpp:2"]);
    folder.write("macro.cpp", "#define DO _Pragma(\"omp target\")\nvoid f() { DO { } }\n");
    ferry(&folder, &["cc", "-c", "macro.cpp"]).fails(0, &["F0045", "macro.cpp"]);
}

#[test]
fn reports_tell_of_regions_that_are_not_read() {
    let folder = Folder::new();
    folder.write("a.cpp", REGION);
    let report = ferry(&folder, &["cc", "--ferry-report", "-w", "-c", "a.cpp"]);
    report.fails(
        0,
        &["a.cpp:5: target: runs on the host: directives of its language are not read\n"],
    );
    let report = ferry(&folder, &["cc", "--ferry-report=json", "-w", "-c", "a.cpp"]);
    assert!(report.out.contains("\"outcome\":\"unread\",\"devices\":[]"), "{report:?}");
    ferry(&folder, &["run", "a.cpp", "-lstdc++"]).fails(0, &["F0045", "runs on the host"]);
}

#[test]
fn a_region_in_a_fortran_file_is_told() {
    let folder = Folder::new();
    folder.write("a.f90", FORTRAN);
    if folder.tool("gfortran", &["--version"]).is_none() {
        println!("skipped: gfortran is not on this machine");
        return;
    }
    let words = ["warning[F0045]", "Fortran files are not read", "a.f90:4"];
    ferry(&folder, &["cc", "a.f90", "-lgfortran", "-o", "a"]).fails(0, &words);
    is_noted(&folder, "a", "a.f90:4: target");
}

#[test]
fn commands_that_read_programs_say_that_another_language_is_not_read() {
    let folder = Folder::new();
    folder.write("a.cpp", REGION).write("a.f90", FORTRAN);
    let commands: [&[&str]; 5] = [
        &["check"],
        &["explain"],
        &["print"],
        &["translate", "--to", "openacc"],
        &["emit", "--dialect", "cuda"],
    ];
    for command in commands {
        for (file, words) in [("a.cpp", "`a.cpp` is C++"), ("a.f90", "`a.f90` is Fortran")] {
            folder.ferry(&[command, &[file]].concat()).fails(1, &["F0009", words, "help: "]);
        }
    }
    assert_eq!(folder.names(), ["a.cpp", "a.f90"], "nothing is written");
}
