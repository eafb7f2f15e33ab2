//! The host compiler, which preprocesses: missing, broken, or with something to say.

use super::support::{DOUBTFUL, Folder, GOOD, Ran};

#[test]
fn a_compiler_that_fails_is_quoted_or_said_to_be_silent() {
    let folder = Folder::new();
    folder.write("a.c", GOOD);
    let words = ["F0007", "`false -E`, failed", "it said nothing (exit status: 1)"];
    folder.ferry(&["check", "--cc", "false", "a.c"]).fails(1, &words);
}

#[test]
fn a_compiler_that_is_not_there_can_be_named_or_installed() {
    let folder = Folder::new();
    folder.write("a.c", GOOD);
    let words = ["F0005", "`nonexistent-cc`: No such file", "help: install one", "`--cc` or `CC`"];
    folder.ferry(&["check", "--cc", "nonexistent-cc", "a.c"]).fails(1, &words);
    let output = folder.command(&["check", "a.c"]).env("CC", "nonexistent-cc").output();
    Ran::of(output.expect("ferry runs")).fails(1, &words);
}

#[test]
fn a_command_is_read_as_a_shell_would() {
    let folder = Folder::new();
    folder.write("a.c", "int size = SIZE + sizeof TEXT;\n");
    folder.ferry(&["check", "--cc", "cc -DSIZE=1 '-DTEXT=\"a b\"'", "a.c"]).is_clean();
    let words = ["F0006", "`gcc -m32 \"unbalanced` is not a command", "quoted as in a shell"];
    folder.ferry(&["check", "--cc", "gcc -m32 \"unbalanced", "a.c"]).fails(1, &words);
    folder.ferry(&["check", "--cc", "", "a.c"]).fails(1, &["F0006"]);
}

#[test]
fn an_empty_variable_is_none() {
    let folder = Folder::new();
    folder.write("a.c", GOOD);
    for value in ["", "  "] {
        let output = folder.command(&["check", "a.c"]).env("CC", value).output();
        Ran::of(output.expect("ferry runs")).is_clean();
    }
}

#[test]
fn the_option_comes_before_the_variable() {
    let folder = Folder::new();
    folder.write("a.c", GOOD);
    let output = folder.command(&["check", "--cc", "cc", "a.c"]).env("CC", "false").output();
    Ran::of(output.expect("ferry runs")).is_clean();
}

#[test]
fn a_missing_header_is_told_in_the_compilers_words() {
    let folder = Folder::new();
    folder.write("a.c", "#include \"nowhere.h\"\n");
    let ran = folder.ferry(&["check", "a.c"]);
    ran.fails(1, &["F0007", "a.c:1:10", "nowhere.h: No such file or directory"]);
}

#[test]
fn what_the_preprocessor_warns_of_is_passed_on() {
    let folder = Folder::new();
    folder.write("a.c", "#warning mind the gap\nint x;\n");
    folder.ferry(&["check", "a.c"]).fails(0, &["warning[F0008]", "mind the gap"]);
    folder.ferry(&["check", "--werror", "a.c"]).fails(1, &["error[F0008]"]);
}

#[test]
fn long_complaints_are_cut_and_said_to_be() {
    let folder = Folder::new();
    folder.write("a.c", "#error one\n".repeat(100));
    folder.ferry(&["check", "a.c"]).fails(1, &["#error one", "lines more"]);
}

/// A compiler with headers of the same names in its own path, as one in a prefix of its own has them.
const OTHERS: &str = "#!/bin/sh\nexec cc -isystem \"$(dirname \"$0\")/own\" \"$@\"\n";

#[test]
fn our_headers_come_before_those_of_any_compiler() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("own")).expect("made");
    for name in ["omp.h", "openacc.h"] {
        folder.write(&format!("own/{name}"), "int omp_get_thread_num(void);\n");
    }
    folder.write("other-cc", OTHERS);
    folder.run("chmod", &["+x", "other-cc"]);
    folder.write(
        "a.c",
        "#include <omp.h>\n#include <openacc.h>\nint a = omp_irc_success, b = acc_property_shared_memory_support;\n\
         int main(void) {\n#pragma omp target map(tofrom: a)\na = 0;\nreturn a; }\n",
    );
    let mut compilers = vec![folder.path("other-cc").display().to_string()];
    if folder.tool("clang-19", &["--version"]).is_some() {
        compilers.push("clang-19".to_owned());
    }
    for compiler in &compilers {
        folder.ferry(&["check", "--cc", compiler, "a.c"]).is_clean();
        folder
            .ferry(&["cc", "--ferry-cc", compiler, "-Wall", "-Wextra", "-pedantic", "-c", "a.c"])
            .is_clean();
    }
    // Folders that the environment names are searched as if by -I, and come behind all of these.
    let mut command = folder.command(&["cc", "-c", "a.c"]);
    Ran::of(command.env("CPATH", folder.path("own")).output().expect("ferry runs")).is_clean();
    // A header that the program brings is the program's business.
    let own = folder.ferry(&["cc", "-I", "own", "-c", "a.c"]);
    assert_eq!(own.status, Some(1), "{own:?}");
}

#[test]
fn a_text_of_ours_that_the_compiler_refuses_is_our_fault_and_said_to_be() {
    let folder = Folder::new();
    folder.write(
        "a.c",
        "int main(void) { int x = 1;\n#pragma omp target map(tofrom: x)\nx = 0;\nreturn x; }\n",
    );
    // It takes what people write, and fails on preprocessed text.
    let compiler = "#!/bin/sh\nfor word; do case $word in cpp-output) echo 'a.c:3:1: error: odd' >&2; exit 1;; esac; \
        done\nexec cc \"$@\"\n";
    folder.write("odd-cc", compiler);
    folder.run("chmod", &["+x", "odd-cc"]);
    let line = |device| {
        ["cc", "--ferry-no-cache", "--ferry-cc", "./odd-cc", "--device", device, "-c", "a.c"]
    };
    let words =
        ["error[F0709]", "`./odd-cc` refuses C that Ferry has made of `a.c:3`", "for the host"];
    let ran = folder.ferry(&line("cpu"));
    ran.fails(4, &words);
    ran.fails(
        4,
        &["a fault of Ferry", "please report", "--ferry-save-temps", "a.c:3:1: error: odd"],
    );
    assert!(ran.err.starts_with("error[F0709]"), "our words come first: {}", ran.err);
    folder.ferry(&line("cpu:separate")).fails(4, &["F0709", "devices with memory of their own"]);
    // What is wrong in the file as it is written is the user's.
    folder.write("b.c", "int f(int n) {\n#pragma omp target map(tofrom: n)\nn++;\nreturn n; }\n_Static_assert(0, \"no\");\n");
    let ran = folder.ferry(&["cc", "-c", "b.c"]);
    assert!(ran.status == Some(1) && !ran.err.contains("F0709"), "{ran:?}");
}

#[test]
fn flags_reach_the_preprocessor() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("inc dir")).expect("made");
    folder.write("inc dir/size.h", "#define SIZE 3\n");
    folder.write("a.c", "#include <size.h>\nint a[SIZE], b[N], c[M == 0 ? 1 : -1];\n");
    folder.ferry(&["check", "-Iinc dir", "-D", "N=2", "-DM=0", "a.c"]).is_clean();
    folder.ferry(&["check", "a.c", "--", "-I", "inc dir", "-DN=2", "-DM=0"]).is_clean();
    let undefined = folder.ferry(&["check", "-Iinc dir", "-DN=2", "-DM=0", "-UN", "a.c"]);
    undefined.fails(1, &["`N` is not declared"]);
}

#[test]
fn the_standard_is_the_compilers() {
    let folder = Folder::new();
    folder.write("b.c", "_Static_assert(__STDC_VERSION__ == 199901L, \"C99\");\n");
    folder.ferry(&["check", "--std", "c99", "b.c"]).is_clean();
    folder.ferry(&["check", "--std", "c11", "b.c"]).fails(1, &["F0465", "C99"]);
    folder.ferry(&["check", "--std", "c1x1", "b.c"]).fails(1, &["F0007", "c1x1"]);
}

#[test]
fn sizes_are_those_of_the_model() {
    let folder = Folder::new();
    folder.write("a.c", "_Static_assert(sizeof(long) == 4, \"long\");\n");
    folder.ferry(&["check", "a.c"]).fails(1, &["F0465"]);
    folder.ferry(&["check", "--model", "ilp32", "a.c"]).is_clean();
    folder.ferry(&["check", "--model", "llp64", "a.c"]).is_clean();
}

#[test]
fn both_standards_headers_are_found() {
    let folder = Folder::new();
    folder.write(
        "a.c",
        "#include <omp.h>\n#include <openacc.h>\nint f(void) {\n    \
         return omp_get_num_devices() + acc_get_num_devices(acc_device_default);\n}\n",
    );
    folder.ferry(&["check", "a.c"]).is_clean();
}

#[test]
fn warnings_about_headers_of_the_system_are_not_the_users() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("sys")).expect("made");
    let header = DOUBTFUL.replace("int main", "static inline int doubtful");
    folder.write("sys/doubtful.h", header).write("a.c", "#include <doubtful.h>\n");
    folder.ferry(&["check", "a.c", "--", "-isystem", "sys"]).is_clean();
    let own = folder.ferry(&["check", "-Isys", "a.c"]);
    assert_eq!(own.status, Some(0));
    assert!(own.err.contains("warning[F0480]") && own.err.contains("doubtful.h:1"), "{}", own.err);
}
