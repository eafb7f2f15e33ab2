//! Make, autoconf, CMake and pkg-config take `ferry cc` for a compiler. Those that are not on this
//! machine are skipped, with a word.

use std::fs;
use std::os::unix::fs::symlink;

use super::support::{FERRY, Folder, root};

const MAIN: &str = "\
#include <stdio.h>
int twice(int);
int main(void) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 10; i++) sum += twice(i);
    printf(\"%d\\n\", sum);
    return sum != 90;
}
";
const TWICE: &str = "int twice(int n) { return 2 * n; }\n";

fn project() -> Folder {
    let folder = Folder::new();
    folder.write("main.c", MAIN).write("twice.c", TWICE);
    symlink(FERRY, folder.path("ferrycc")).expect("a link");
    folder
}

/// Says so if a tool is not here.
fn has(folder: &Folder, tool: &str) -> bool {
    let is_there = folder.tool(tool, &["--version"]).is_some();
    if !is_there {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "skipped: `{tool}` is not on this machine");
    }
    is_there
}

#[test]
fn make_builds_in_parallel_with_dependences() {
    let folder = project();
    if !has(&folder, "make") {
        return;
    }
    let mut objects = String::new();
    for number in 0..12 {
        folder.write(
            &format!("f{number}.c"),
            format!("#include \"n.h\"\nint f{number}(void) {{ return N; }}\n"),
        );
        objects.push_str(&format!(" f{number}.o"));
    }
    folder.write("n.h", "#define N 1\n");
    folder.write("Makefile", format!("CFLAGS = -O1 -MMD -MP\nprogram: main.o twice.o{objects}\n\t$(CC) $^ -o $@\n-include *.d\n"));
    let cc = format!("CC={FERRY} cc");
    let made = folder.run("make", &["-j8", &cc]);
    assert_eq!((made.status, made.err.as_str()), (Some(0), ""), "{made:?}");
    assert_eq!(folder.run("program", &[]).out, "90\n");
    assert!(folder.run("make", &[&cc]).out.contains("up to date"));
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    fs::File::options()
        .append(true)
        .open(folder.path("n.h"))
        .and_then(|it| it.set_modified(later))
        .expect("touched");
    let again = folder.run("make", &["-j4", &cc]).out;
    assert_eq!(again.matches("-c -o f").count(), 12, "what includes it is made anew: {again}");
    assert!(!again.contains("-o main.o"), "{again}");
}

#[test]
fn the_one_word_name_is_the_compiler() {
    let folder = project();
    let ran = folder.run("ferrycc", &["main.c", "twice.c", "-o", "program"]);
    assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(folder.run("program", &[]).out, "90\n");
}

#[test]
fn configure_scripts_accept_it() {
    let folder = project();
    if !has(&folder, "autoconf") {
        return;
    }
    folder.write(
        "configure.ac",
        "AC_INIT([demo],[1])\nAC_PROG_CC\nAC_OPENMP\nAC_CHECK_HEADERS([unistd.h nowhere.h])\n\
         AC_CHECK_FUNCS([printf no_such_function])\nAC_CHECK_SIZEOF([long])\nAC_SEARCH_LIBS([cos],[m])\n\
         AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
    );
    folder.write("Makefile.in", "CC = @CC@\nprogram: main.c twice.c\n\t$(CC) @CFLAGS@ @OPENMP_CFLAGS@ main.c twice.c -o $@ @LIBS@\n");
    assert_eq!(folder.run("autoconf", &[]).status, Some(0));
    let configured = folder.run("sh", &["./configure", &format!("CC={FERRY} cc")]);
    assert_eq!(configured.status, Some(0), "{configured:?}");
    for line in [
        "whether the compiler supports GNU C... yes",
        "OpenMP... none needed",
        "for unistd.h... yes",
        "for nowhere.h... no",
        "for no_such_function... no",
        "size of long... 8",
    ] {
        assert!(configured.out.contains(line), "{line}: {}", configured.out);
    }
    assert_eq!(folder.run("make", &[]).status, Some(0));
    assert_eq!(folder.run("program", &[]).out, "90\n");
}

#[test]
fn cmake_takes_it_for_gcc() {
    let folder = project();
    if !has(&folder, "cmake") {
        return;
    }
    folder.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\nproject(demo C)\nfind_package(OpenMP REQUIRED)\n\
         add_library(twice STATIC twice.c)\nadd_executable(program main.c)\n\
         target_link_libraries(program twice OpenMP::OpenMP_C)\n\
         message(STATUS \"id ${CMAKE_C_COMPILER_ID}\")\n",
    );
    let compiler = format!("-DCMAKE_C_COMPILER={}", folder.path("ferrycc").display());
    let made = folder.run("cmake", &["-S", ".", "-B", "build", &compiler]);
    assert_eq!(made.status, Some(0), "{made:?}");
    assert!(made.out.contains("id GNU"), "{}", made.out);
    let built = folder.run("cmake", &["--build", "build", "-j4"]);
    assert_eq!(built.status, Some(0), "{built:?}");
    assert_eq!(folder.run("build/program", &[]).out, "90\n");
}

/// An installation as `make install` makes it, of the program under test.
fn installed(folder: &Folder) -> bool {
    let prefix = folder.path("usr").display().to_string();
    let root = root().canonicalize().expect("the repository").display().to_string();
    let ferry = format!("ferry={FERRY}");
    let line = [
        "-C",
        &root,
        "install-files",
        &format!("PREFIX={prefix}"),
        &ferry,
        &format!("stage={prefix}-stage"),
    ];
    let ran = folder.run("make", &line);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    true
}

#[test]
fn an_installation_has_what_build_systems_look_for() {
    let folder = project();
    if !has(&folder, "make") || !installed(&folder) {
        return;
    }
    for name in
        ["bin/ferry", "bin/ferrycc", "lib/pkgconfig/ferry.pc", "lib/cmake/Ferry/FerryConfig.cmake"]
    {
        assert!(folder.path("usr").join(name).exists(), "{name}");
    }
    let ran = folder.run("usr/bin/ferrycc", &["main.c", "twice.c", "-o", "program"]);
    assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    if has(&folder, "pkg-config") {
        let path = format!("--with-path={}", folder.path("usr/lib/pkgconfig").display());
        let flags = folder.run("pkg-config", &[&path, "--libs", "--cflags", "ferry"]);
        assert!(flags.out.contains("-lferry") && flags.out.contains("include/ferry"), "{flags:?}");
    }
    if has(&folder, "cmake") {
        let file = folder.path("usr/lib/cmake/Ferry/FerryToolchain.cmake");
        folder.write(
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.16)\nproject(demo C)\nfind_package(Ferry REQUIRED)\n\
             add_executable(program main.c twice.c)\n\
             message(STATUS \"compiler ${CMAKE_C_COMPILER} ferry ${Ferry_VERSION}\")\n",
        );
        let toolchain = format!("-DCMAKE_TOOLCHAIN_FILE={}", file.display());
        let made = folder.run("cmake", &["-S", ".", "-B", "build", &toolchain]);
        assert_eq!(made.status, Some(0), "{made:?}");
        assert!(made.out.contains("usr/bin/ferrycc ferry 0."), "{}", made.out);
        assert_eq!(folder.run("cmake", &["--build", "build"]).status, Some(0));
        assert_eq!(folder.run("build/program", &[]).out, "90\n");
    }
}
