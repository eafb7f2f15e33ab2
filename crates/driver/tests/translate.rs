//! Programs of `tests/run` in the words of the other standard: each is translated, built and run on a
//! device with memory of its own, and must be as right as it was. A second translation changes nothing.
#![allow(clippy::expect_used, reason = "a test says what it needs from the machine")]

mod support;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::{ferry, told};

/// A copy of a program in a folder of its own.
fn copied(name: &str) -> (tempfile::TempDir, PathBuf) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run").join(name);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = folder.path().join(name);
    fs::copy(source, &copy).expect("a program of tests/run");
    (folder, copy)
}

#[track_caller]
fn check(name: &str, to: &str, profile: &str) {
    let (folder, copy) = copied(name);
    let before = fs::read_to_string(&copy).expect("text");
    let arguments = ["translate", "--to", to, "--profile", profile, "--in-place", name];
    let made = ferry(&arguments, folder.path());
    assert!(made.status.success(), "{name} to {to}: {}", told(&made));
    let after = fs::read_to_string(&copy).expect("text");
    assert_ne!(before, after, "{name}: something was to be translated");
    let again = ferry(&arguments, folder.path());
    assert!(again.status.success(), "{name} again: {}", told(&again));
    assert_eq!(after, fs::read_to_string(&copy).expect("text"), "{name}: the second time");
    let flags = ["cc", "--device", "cpu:separate", "-O1", "-w", name, "-o", "made", "-lm"];
    let built = ferry(&flags, folder.path());
    assert!(built.status.success(), "{name} to {to} does not compile: {}\n{after}", told(&built));
    let run = Command::new(folder.path().join("made"))
        .env("OMP_TARGET_OFFLOAD", "MANDATORY")
        .env("FERRY_DEVICE", "cpu:separate")
        .output()
        .expect("the program runs");
    assert!(run.status.success(), "{name} to {to} is wrong: {}\n{after}", told(&run));
}

#[test]
fn levels_become_teams_of_threads() {
    for name in [
        "levels_kernels.c",
        "levels_loops.c",
        "levels_macros.c",
        "levels_order.c",
        "levels_calls.c",
        "levels_own.c",
        "acc_rows.c",
        "acc_extents.c",
    ] {
        check(name, "openmp", "clang");
    }
}

/// The programs of a folder below `tests`.
fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
    let entries = fs::read_dir(folder).expect("a folder of tests");
    let mut found: Vec<PathBuf> = entries.map(|it| it.expect("an entry").path()).collect();
    found.retain(|it| it.extension().is_some_and(|it| it == "c"));
    found.sort();
    found
}

#[test]
fn what_is_translated_stays_as_it_is() {
    let mut changed = 0;
    for program in programs("cases/translate").into_iter().chain(programs("run")) {
        let name = program.file_name().and_then(|it| it.to_str()).expect("a name");
        let is_long = program.parent().is_some_and(|it| it.ends_with("run"));
        // The others of that folder are of one standard, or for one host.
        if is_long && !["acc_", "levels_", "mixed_"].iter().any(|it| name.starts_with(it)) {
            continue;
        }
        for (to, profile) in [
            ("openmp", "clang"),
            ("openmp", "gcc"),
            ("openmp", "openmp-4.5"),
            ("openacc", "openacc-3.3"),
        ] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let copy = folder.path().join(name);
            fs::copy(&program, &copy).expect("a copy");
            let before = fs::read(&copy).expect("bytes");
            // A file in which something is refused stays as it is.
            let arguments = ["translate", "--to", to, "--profile", profile, "--in-place", name];
            ferry(&arguments, folder.path());
            let once = fs::read(&copy).expect("bytes");
            changed += usize::from(once != before);
            let again = ferry(&arguments, folder.path());
            let twice = fs::read(&copy).expect("bytes");
            let (once, twice) = (String::from_utf8_lossy(&once), String::from_utf8_lossy(&twice));
            assert_eq!(once, twice, "{name} to {to} for {profile}: {}", told(&again));
        }
    }
    assert!(changed > 20, "{changed}: most of them have something to translate");
}

#[test]
fn a_header_keeps_what_is_for_other_programs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let header = "#ifdef FIRST\n#pragma acc routine seq\nint f(int);\n#else\n\
                  #pragma acc routine seq\nint g(int);\n#endif\n";
    fs::write(folder.path().join("both.h"), header).expect("written");
    let first = "#define FIRST\n#include \"both.h\"\nint f(int x) { return x; }\n";
    fs::write(folder.path().join("first.c"), first).expect("written");
    let second = "#include \"both.h\"\nint g(int x) { return x; }\n";
    fs::write(folder.path().join("second.c"), second).expect("written");
    let text = || fs::read_to_string(folder.path().join("both.h")).expect("text");
    let made = ferry(&["translate", "--to", "openmp", "--in-place", "first.c"], folder.path());
    assert!(made.status.success(), "{}", told(&made));
    assert!(told(&made).contains("both.h:5: approximated [F0817]"), "{}", told(&made));
    assert_eq!(
        (text().matches("acc routine").count(), text().matches("omp declare").count()),
        (1, 1)
    );
    let made = ferry(&["translate", "--to", "openmp", "--in-place", "second.c"], folder.path());
    assert!(made.status.success(), "{}", told(&made));
    assert_eq!(
        (text().matches("acc routine").count(), text().matches("omp declare").count()),
        (0, 2)
    );
}

#[test]
fn what_has_come_back_needs_no_header_of_the_standard_between() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "#include <omp.h>\nint f(int n) {\n    int x = n;\n\
                #pragma omp target map(tofrom: x) device(n)\n    x++;\n\
                \x20   return x + omp_get_num_devices();\n}\n";
    fs::write(folder.path().join("a.c"), text).expect("written");
    for to in ["openacc", "openmp"] {
        let made = ferry(&["translate", "--to", to, "--in-place", "a.c"], folder.path());
        assert!(made.status.success(), "{}", told(&made));
    }
    let read = Command::new("cc")
        .args(["-E", "-fopenmp", "a.c"])
        .current_dir(folder.path())
        .output()
        .expect("a compiler");
    assert!(read.status.success(), "{}", told(&read));
    let headers = String::from_utf8_lossy(&read.stdout).into_owned();
    assert!(headers.contains("ferry_acc.h") && !headers.contains("openacc.h"), "{headers}");
}

#[test]
fn queues_come_back_as_queues() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/back/queues.c");
    let before = fs::read_to_string(&source).expect("a program");
    for profile in ["clang", "gcc"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::copy(&source, folder.path().join("q.c")).expect("a copy");
        let profile = format!("--profile={profile}");
        for to in [vec!["--to=openmp", &profile], vec!["--to=openacc"]] {
            let mut arguments = vec!["translate", "--in-place", "q.c"];
            arguments.extend(to);
            let made = ferry(&arguments, folder.path());
            assert!(made.status.success(), "{}", told(&made));
        }
        let text = fs::read_to_string(folder.path().join("q.c")).expect("the translation");
        let words = |text: &str, of: &str| {
            let found = text.lines().filter_map(|it| it.find(of).map(|at| it[at..].to_owned()));
            found.collect::<Vec<String>>()
        };
        for of in ["async", "#pragma acc wait", "#include"] {
            assert_eq!(words(&before, of), words(&text, of), "{text}");
        }
        assert!(!text.contains("omp"), "{text}");
        for device in ["cpu", "cpu:separate"] {
            let flags = ["cc", "--device", device, "-O1", "q.c", "-o", "made"];
            let built = ferry(&flags, folder.path());
            assert!(built.status.success(), "{}", told(&built));
            let mut run = Command::new(folder.path().join("made"));
            let run = run.env("FERRY_DEVICE", device).output().expect("the program runs");
            assert!(run.status.success(), "{}\n{text}", told(&run));
        }
    }
}

#[test]
fn calls_that_a_compiler_does_not_have_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "#include \"ferry_acc.h\"\nint f(int *a, int queue) {\n\
                #pragma omp target map(from: a[0:1])\n    a[0] = 1;\n\
                \x20   return acc_wait_any(1, &queue);\n}\n";
    fs::write(folder.path().join("a.c"), text).expect("written");
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ferry");
    let headers = headers.to_str().expect("a path");
    for (profile, is_refused) in [("gcc-acc", true), ("openacc-3.3", false)] {
        let arguments =
            ["translate", "--to=openacc", "--profile", profile, "-I", headers, "--diff", "a.c"];
        let made = ferry(&arguments, folder.path());
        assert_eq!(made.status.success(), !is_refused, "{profile}: {}", told(&made));
        let is_told = told(&made).contains("a.c:5: refused [F0815]");
        assert_eq!(is_told, is_refused, "{profile}: {}", told(&made));
    }
}

#[test]
fn both_versions_stay_whole_and_stay_as_they_are() {
    let text = "#include <openacc.h>\n#include <stdlib.h>\n#define N 20\n\
                #pragma acc routine gang\nvoid fill(int *a) {\n#pragma acc loop gang\n\
                for (int i = 0; i < N; i++) a[i] = i;\n}\n\
                #pragma acc routine seq\nint sq(int v) { return v * v; }\n\
                int main(void) {\n    int *a = malloc(N * sizeof *a), *d = acc_malloc(8), bad = 0;\n\
                #pragma acc parallel num_gangs(4) copyout(a[0:N])\n    fill(a);\n\
                #pragma acc kernels copy(a[0:N])\n    {\n        for (int i = 0; i < N; i++) a[i] = sq(a[i]);\n    }\n\
                \x20   for (int i = 0; i < N; i++) bad += a[i] != i * i;\n    acc_free(d);\n    return bad;\n}\n";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let read = || fs::read_to_string(folder.path().join("a.c")).expect("text");
    fs::write(folder.path().join("a.c"), text).expect("written");
    let there = ["translate", "--to=openmp", "--profile=gcc", "--keep=guard", "--in-place", "a.c"];
    let made = ferry(&there, folder.path());
    assert!(made.status.success(), "{}", told(&made));
    let once = read();
    for flags in [vec!["-fopenmp"], vec!["-fopenacc"], vec!["-fopenmp", "-fopenacc"]] {
        let mut gcc = Command::new("gcc");
        gcc.args(&flags).args(["-Wno-unknown-pragmas", "a.c", "-o", "a"]);
        let compiled = gcc.current_dir(folder.path()).output().expect("a compiler");
        assert!(compiled.status.success(), "{flags:?}: {}\n{once}", told(&compiled));
        let run = Command::new(folder.path().join("a")).output().expect("the program runs");
        assert!(run.status.success(), "{flags:?}: {}\n{once}", told(&run));
    }
    let again = ferry(&there, folder.path());
    assert!(again.status.success(), "{}", told(&again));
    assert_eq!(once, read());
    let back =
        ferry(&["translate", "--to=openacc", "--keep=guard", "--in-place", "a.c"], folder.path());
    assert!(back.status.success(), "{}", told(&back));
    assert_eq!(once, read());
}

#[test]
fn what_a_header_declares_is_said_there_for_all() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("written");
    };
    fs::create_dir(folder.path().join("inc")).expect("a folder");
    let header = "#pragma omp declare target\ndouble sq(double x);\n#pragma omp end declare target\n\
                  #ifdef _OPENMP\n#include <omp.h>\n#endif\n";
    write("inc/k.h", header);
    let call = "#include \"k.h\"\nint main(void) {\n    double x = 3;\n\
                #pragma omp target map(tofrom: x)\n    x = sq(x);\n    return x != 9;\n}\n";
    write("a.c", call);
    write("b.c", "#include \"k.h\"\ndouble sq(double x) { return x * x; }\n");
    let out = ["translate", "--to=openacc", "--out-dir=out", "-Iinc", "a.c", "b.c"];
    let made = ferry(&out, folder.path());
    assert!(made.status.success(), "{}", told(&made));
    let text = fs::read_to_string(folder.path().join("out/inc/k.h")).expect("the header");
    assert!(text.contains("#pragma acc routine seq\ndouble sq(double x);"), "{text}");
    let flags = ["cc", "--device=cpu:separate", "-w", "-Iout/inc", "out/a.c", "out/b.c", "-o", "a"];
    let built = ferry(&flags, folder.path());
    assert!(built.status.success(), "{}", told(&built));
    let mut run = Command::new(folder.path().join("a"));
    let run = run.env("FERRY_DEVICE", "cpu:separate").output().expect("the program runs");
    assert!(run.status.success(), "{}", told(&run));
}

/// A header that two files read in different ways, as each knows more or less of what it declares.
#[test]
fn readings_of_a_header_that_know_more_or_less_agree() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).expect("written");
    };
    let header = "#pragma omp declare target\nextern double rate;\ndouble scaled(double x);\n\
                  #pragma omp end declare target\n";
    write("v.h", header);
    let call = "#include \"v.h\"\nint main(void) {\n    double a[10];\n    rate = 3;\n\
                #pragma omp target update to(rate)\n\
                #pragma omp target teams distribute parallel for map(from: a)\n\
                \x20   for (int i = 0; i < 10; i++) a[i] = scaled(i);\n    return a[3] != 9;\n}\n";
    write("main.c", call);
    // Here both are defined, and the variable has a first value.
    write(
        "f.c",
        "#include \"v.h\"\ndouble rate = 2;\ndouble scaled(double x) { return rate * x; }\n",
    );
    for files in [["main.c", "f.c"], ["f.c", "main.c"]] {
        let mut out = vec!["translate", "--to=openacc", "--out-dir=out"];
        out.extend(files);
        let made = ferry(&out, folder.path());
        assert!(made.status.success(), "{}", told(&made));
        let text = fs::read_to_string(folder.path().join("out/v.h")).expect("the header");
        assert!(text.contains("#pragma acc declare copyin(rate)"), "{text}");
        assert!(text.contains("#pragma acc routine seq\ndouble scaled(double x);"), "{text}");
        assert!(!text.contains("#pragma omp"), "{text}");
        let flags = ["cc", "--device=cpu:separate", "-w", "out/main.c", "out/f.c", "-o", "a"];
        let built = ferry(&flags, folder.path());
        assert!(built.status.success(), "{}", told(&built));
        let mut run = Command::new(folder.path().join("a"));
        run.env("FERRY_DEVICE", "cpu:separate").env("OMP_TARGET_OFFLOAD", "MANDATORY");
        let run = run.output().expect("the program runs");
        assert!(run.status.success(), "{}\n{text}", told(&run));
    }
}

/// Code that no reading meets stays as it is; `--partial` writes the rest of the file.
#[test]
fn a_part_of_a_file_is_translated_on_request() {
    let text = "#if USE_MPI\n#error no mpi here\n#endif\nvoid f(int n, float *restrict a) {\n\
                #pragma acc parallel loop copy(a[0:n])\n    for (int i = 0; i < n; i++) {\n#if USE_MPI\n\
                \x20       a[i] += 2;\n#else\n        a[i] += 1;\n#endif\n    }\n\
                #pragma acc parallel loop copy(a[0:n])\n    for (int i = 0; i < n; i++) a[i] *= 2;\n}\n\
                int main(void) {\n    float a[3] = { 1, 2, 3 };\n    f(3, a);\n\
                \x20   return a[0] != 4 || a[2] != 8;\n}\n";
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.c"), text).expect("written");
    let whole = ["translate", "--to=openmp", "--profile=gcc", "--out-dir=out", "a.c"];
    let refused = ferry(&whole, folder.path());
    assert_eq!(refused.status.code(), Some(1), "{}", told(&refused));
    assert!(told(&refused).contains("refused [F0817]"), "{}", told(&refused));
    assert!(!folder.path().join("out").exists(), "nothing is written");
    let mut partial = whole.to_vec();
    partial.push("--partial");
    let made = ferry(&partial, folder.path());
    assert!(told(&made).contains("a.c:8") || told(&made).contains("a.c:7"), "{}", told(&made));
    let new = fs::read_to_string(folder.path().join("out/a.c")).expect("a file");
    assert_eq!(new.matches("#pragma omp target teams").count(), 2, "{new}");
    assert_eq!(new.matches("#pragma acc").count(), 0, "{new}");
    assert!(
        new.contains("#if USE_MPI\n        a[i] += 2;\n#else"),
        "what was not read stays: {new}"
    );
    let built = ferry(&["cc", "--device=cpu:separate", "-w", "out/a.c", "-o", "a"], folder.path());
    assert!(built.status.success(), "{}\n{new}", told(&built));
    let run = Command::new(folder.path().join("a"))
        .env("FERRY_DEVICE", "cpu:separate")
        .env("OMP_TARGET_OFFLOAD", "MANDATORY")
        .output()
        .expect("the program runs");
    assert!(run.status.success(), "{}\n{new}", told(&run));
}

#[test]
fn standard_input_is_translated_to_standard_output() {
    let text = "#ifdef WIDE\n#define N 64\n#else\n#define N 32\n#endif\nvoid f(int *a) {\n\
                #pragma acc parallel loop copy(a[0:N])\n    for (int i = 0; i < N; i++) a[i]++;\n}\n";
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferry"));
    command.args(["translate", "--to=openmp", "-"]).stdin(Stdio::piped());
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ferry runs");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("written");
    let made = child.wait_with_output().expect("ferry ends");
    assert!(made.status.success(), "{}", told(&made));
    let new = "#pragma omp target teams distribute parallel for simd map(tofrom: a[0:N])";
    let expected = text.replace("#pragma acc parallel loop copy(a[0:N])", new);
    assert_eq!(String::from_utf8_lossy(&made.stdout), expected);
}

/// A file for compilers of both standards calls the routines of that which compiles it.
#[test]
fn a_compiler_of_one_standard_gets_its_own_routines() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "#include <openacc.h>\n#include <stdlib.h>\nint main(void) {\n    int x = 1;\n\
                \x20   acc_copyin(&x, sizeof x);\n#pragma acc parallel present(x)\n    x++;\n\
                \x20   acc_copyout(&x, sizeof x);\n    return x != 2;\n}\n";
    fs::write(folder.path().join("a.c"), text).expect("written");
    let arguments =
        ["translate", "--to=openmp", "--profile=gcc", "--keep=guard", "--in-place", "a.c"];
    let made = ferry(&arguments, folder.path());
    assert!(made.status.success(), "{}", told(&made));
    for (flag, routine) in [("-fopenacc", "acc_copyin"), ("-fopenmp", "omp_get_default_device")] {
        let compiled = Command::new("gcc")
            .args([flag, "a.c", "-o", "a"])
            .current_dir(folder.path())
            .output()
            .expect("a compiler");
        assert!(compiled.status.success(), "{flag}: {}", told(&compiled));
        let run = Command::new(folder.path().join("a")).output().expect("the program runs");
        assert!(run.status.success(), "{flag}: {}", told(&run));
        let names = Command::new("nm").args(["-u", "a"]).current_dir(folder.path()).output();
        let names = names.expect("nm runs");
        assert!(told(&names).contains(routine), "{flag}: {}", told(&names));
    }
}

#[test]
fn mixed_programs_become_programs_of_one_standard() {
    check("mixed_data.c", "openmp", "clang");
    let (folder, copy) = copied("mixed_data.c");
    let arguments =
        ["translate", "--to", "openmp", "--profile=clang", "--in-place", "mixed_data.c"];
    let made = ferry(&arguments, folder.path());
    assert!(made.status.success(), "{}", told(&made));
    let text = fs::read_to_string(copy).expect("text");
    assert!(!text.contains("#pragma acc"), "{text}");
}

#[test]
fn a_file_with_something_refused_stays_as_it_is() {
    let (folder, copy) = copied("acc_life.c");
    let before = fs::read(&copy).expect("bytes");
    let made = ferry(&["translate", "--to", "openmp", "--in-place", "acc_life.c"], folder.path());
    assert_eq!(made.status.code(), Some(1), "{}", told(&made));
    assert!(told(&made).contains("refused [F08"), "{}", told(&made));
    assert_eq!(before, fs::read(&copy).expect("bytes"));
}

#[test]
fn each_way_a_file_is_compiled_is_translated() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "#ifdef WIDE\r\n#pragma acc parallel loop copy(a[0:64])\r\n#else\r\n\
                #pragma acc serial copy(a[0:64])\r\n#endif\r\n";
    let source =
        format!("void f(int *a) {{\r\n{text}for (int i = 0; i < 64; i++) a[i] = i;\r\n}}\r\n");
    fs::write(folder.path().join("a.c"), &source).expect("written");
    let place = folder.path().display();
    let entry = |flag: &str| {
        format!("{{\"directory\":\"{place}\",\"file\":\"a.c\",\"command\":\"cc {flag} -c a.c\"}}")
    };
    let database = format!("[{},{}]", entry("-DWIDE"), entry("-UWIDE"));
    fs::write(folder.path().join("compile_commands.json"), database).expect("written");
    let one = ferry(&["translate", "--to", "openmp", "--no-branches", "a.c"], folder.path());
    assert!(told(&one).contains("F0817"), "{}", told(&one));
    let both = ["translate", "--to", "openmp", "-p", "compile_commands.json", "a.c"];
    let both = ferry(&both, folder.path());
    assert!(both.status.success(), "{}", told(&both));
    let expected = source
        .replace(
            "#pragma acc parallel loop copy(a[0:64])",
            "#pragma omp target teams distribute parallel for simd map(tofrom: a[0:64])",
        )
        .replace("#pragma acc serial copy(a[0:64])", "#pragma omp target map(tofrom: a[0:64])");
    assert_eq!(String::from_utf8_lossy(&both.stdout), expected);
    let sought = ferry(&["translate", "--to", "openmp", "-v", "a.c"], folder.path());
    assert!(sought.status.success(), "{}", told(&sought));
    assert_eq!(String::from_utf8_lossy(&sought.stdout), expected);
    assert!(told(&sought).contains("a.c: read with `-DWIDE` too"), "{}", told(&sought));
}

#[test]
fn definitions_in_headers_are_changed_once_for_all_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let header = "#define EACH _Pragma(\"acc parallel loop\") for\n";
    let source =
        "#include \"each.h\"\nvoid f(int a[8]) {\n  EACH (int i = 0; i < 8; i++) a[i] = i;\n}\n";
    let other = source.replace("a[8]", "b[8]").replace("a[i] = i", "b[i] = 1");
    let write =
        |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("text");
    write("each.h", header);
    write("a.c", source);
    write("b.c", &other);
    let arguments = ["translate", "--to", "openmp", "--profile=gcc", "--in-place", "a.c", "b.c"];
    let made = ferry(&arguments, folder.path());
    assert!(!made.status.success(), "`a` and `b` are mapped by name: {}", told(&made));
    assert_eq!(read("each.h"), header);
    // Where the words agree, so do the files.
    write("b.c", source);
    let made = ferry(&arguments, folder.path());
    assert!(made.status.success(), "{}", told(&made));
    assert!(
        read("each.h").starts_with("#define EACH _Pragma(\"omp target teams"),
        "{}",
        read("each.h")
    );
    assert_eq!((read("a.c"), read("b.c")), (source.to_owned(), source.to_owned()));
}

#[test]
fn wrong_words_are_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("a.c"), "int x;\n").expect("written");
    for (arguments, words) in [
        (["--to", "cuda", "a.c", "--diff"], "say openmp or openacc"),
        (["--to", "openmp", "a.c", "--profile=msvc"], "no profile `msvc`"),
        (["--to", "openmp", "a.c", "-pnothing.json"], "cannot read `nothing.json`"),
        (["--to", "openmp", "missing.c", "--diff"], "missing.c"),
    ] {
        let made = ferry(&[&["translate"], arguments.as_slice()].concat(), folder.path());
        assert_eq!(made.status.code(), Some(1), "{arguments:?}: {}", told(&made));
        assert!(told(&made).contains(words), "{arguments:?}: {}", told(&made));
    }
}

/// Translates a program with its loops mapped for a device, builds and runs it; a second time changes nothing.
#[track_caller]
fn check_mapped(name: &str, device: &str, profile: &str) -> String {
    let (folder, copy) = copied(name);
    let arguments = [
        "translate",
        "--to=openmp",
        "--profile",
        profile,
        "--optimize",
        device,
        "--in-place",
        name,
    ];
    let made = ferry(&arguments, folder.path());
    assert!(made.status.success(), "{name} for {device}: {}", told(&made));
    assert!(told(&made).contains("[F0850]"), "{name}: loops are mapped: {}", told(&made));
    let after = fs::read_to_string(&copy).expect("text");
    let again = ferry(&arguments, folder.path());
    assert!(again.status.success(), "{name} again: {}", told(&again));
    assert_eq!(after, fs::read_to_string(&copy).expect("text"), "{name}: the second time");
    let flags = ["cc", "--device", "cpu:separate", "-O1", "-w", name, "-o", "made", "-lm"];
    let built = ferry(&flags, folder.path());
    assert!(built.status.success(), "{name} does not compile: {}\n{after}", told(&built));
    let run = Command::new(folder.path().join("made"))
        .env("OMP_TARGET_OFFLOAD", "MANDATORY")
        .env("FERRY_DEVICE", "cpu:separate")
        .output()
        .expect("the program runs");
    assert!(run.status.success(), "{name} for {device} is wrong: {}\n{after}", told(&run));
    after
}

#[test]
fn programs_are_right_with_their_loops_mapped_for_a_device() {
    let names =
        ["levels_kernels.c", "levels_loops.c", "nested_threads.c", "mapped_loops.c", "products.c"];
    for name in names {
        check_mapped(name, "cpu", "gcc");
        check_mapped(name, "gpu", "clang");
    }
    let gpu = check_mapped("mapped_loops.c", "gpu", "gcc");
    assert!(gpu.contains("distribute parallel for simd collapse(2)"), "{gpu}");
}

#[test]
fn threads_that_run_a_loop_whole_share_the_one_inside() {
    let cpu = check_mapped("products.c", "cpu", "gcc");
    assert_eq!(cpu.matches("omp target parallel map(").count(), 3, "{cpu}");
    assert_eq!(cpu.matches("omp for schedule(static) nowait").count(), 4, "{cpu}");
    // Only one of the standards has words for it.
    let (folder, copy) = copied("products.c");
    let arguments = ["translate", "--to=openacc", "--optimize=cpu", "--in-place", "products.c"];
    let made = ferry(&arguments, folder.path());
    assert!(made.status.success(), "{}", told(&made));
    assert!(!told(&made).contains("whole in each thread"), "{}", told(&made));
    assert!(!fs::read_to_string(&copy).expect("text").contains("nowait"));
}

#[test]
fn what_is_mapped_for_a_device_stays_as_it_is() {
    // A loop that is to be in order, and teams of two dimensions, have no words in the other standard: there they may change.
    let lost = [("meaning.c", "openmp", "gpu"), ("acc_dimensions.c", "openmp", "gpu")];
    let mut changed = 0;
    for program in programs("cases/translate").into_iter().chain(programs("run")) {
        let name = program.file_name().and_then(|it| it.to_str()).expect("a name");
        let is_long = program.parent().is_some_and(|it| it.ends_with("run"));
        let chosen = ["acc_", "control", "levels_", "mapped_", "mixed_", "nested_", "products"];
        if is_long && !chosen.iter().any(|it| name.starts_with(it)) {
            continue;
        }
        for (to, device) in
            [("openmp", "cpu"), ("openmp", "gpu"), ("openacc", "cpu"), ("openacc", "gpu")]
        {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let copy = folder.path().join(name);
            fs::copy(&program, &copy).expect("a copy");
            let before = fs::read(&copy).expect("bytes");
            let arguments = ["translate", "--to", to, "--optimize", device, "--in-place", name];
            let made = ferry(&arguments, folder.path());
            // A file in which something is refused stays as it is.
            if !made.status.success() {
                continue;
            }
            let once = fs::read(&copy).expect("bytes");
            changed += usize::from(once != before);
            let again = ferry(&arguments, folder.path());
            assert!(again.status.success(), "{name} to {to} for {device}: {}", told(&again));
            let twice = fs::read(&copy).expect("bytes");
            let (once, twice) = (String::from_utf8_lossy(&once), String::from_utf8_lossy(&twice));
            if lost.contains(&(name, to, device)) {
                assert_ne!(once, twice, "{name} stays now: take it off the list");
                continue;
            }
            assert_eq!(once, twice, "{name} to {to} for {device}: {}", told(&again));
        }
    }
    assert!(changed > 40, "{changed}: most of them have something to change");
}

#[test]
fn host_code_keeps_the_names_of_its_header() {
    check("allocate.c", "openacc", "openacc-3.3");
}

#[test]
fn a_profile_of_the_users_own_decides() {
    let (folder, _) = copied("mapped_loops.c");
    // Threads cost nothing and there are very many: rows are shared by the threads of a team.
    let text = "[many]\nlike = \"gpu\"\nslots = 100000000\nbusy = 100000000\nfed = 100000000\nfork = 0.0\n";
    fs::write(folder.path().join("mine.toml"), text).expect("a file");
    let arguments = ["translate", "--to=openmp", "--optimize=mine.toml", "mapped_loops.c"];
    let mine = ferry(&arguments, folder.path());
    assert!(mine.status.success(), "{}", told(&mine));
    let gpu = ["translate", "--to=openmp", "--optimize=gpu", "mapped_loops.c"];
    let gpu = ferry(&gpu, folder.path());
    assert_ne!(mine.stdout, gpu.stdout, "{}", told(&mine));
    fs::write(folder.path().join("mine.toml"), "[a]\nlike = \"cpu\"\n[b]\nlike = \"a\"\n")
        .expect("a file");
    let both = ferry(&arguments, folder.path());
    assert!(told(&both).contains("say which, as in `mine.toml:a`"), "{}", told(&both));
    let one = ["translate", "--to=openmp", "--optimize=mine.toml:b", "mapped_loops.c"];
    assert!(ferry(&one, folder.path()).status.success());
    let none = ["translate", "--to=openmp", "--optimize=nothing", "mapped_loops.c"];
    let none = ferry(&none, folder.path());
    assert!(told(&none).contains("there is no profile `nothing`; there are"), "{}", told(&none));
}

#[test]
fn decisions_are_kept_and_pins_are_honoured() {
    let (folder, _) = copied("mapped_loops.c");
    let arguments =
        ["translate", "--to=openmp", "--optimize=gpu", "--mapping=m.toml", "mapped_loops.c"];
    let free = ferry(&arguments, folder.path());
    assert!(free.status.success(), "{}", told(&free));
    let path = folder.path().join("m.toml");
    let written = fs::read_to_string(&path).expect("decisions");
    assert!(written.contains("device = \"gpu\""), "{written}");
    let head = written.find("\n[\"mapped_loops.c:sweep:").expect("a nest of the file");
    let (before, nest) = written.split_at(head + 1);
    let names: Vec<&str> = nest.split('"').filter(|it| it.contains("i:")).take(1).collect();
    let [outer] = names.as_slice() else { panic!("{nest}") };
    let lines = nest.lines().map(|line| match line.split_once(" = ") {
        Some(("teams" | "threads", _)) => {
            format!("{} = [\"{outer}\"]", &line[..line.find(' ').unwrap_or(0)])
        }
        Some(("pinned", _)) => "pinned = true".to_owned(),
        _ => line.to_owned(),
    });
    let mut changed = 0;
    let lines: Vec<String> = lines
        .zip(nest.lines())
        .map(|(new, old)| {
            // Of the first nest alone.
            changed += u32::from(old.starts_with("[\""));
            if changed == 1 { new } else { old.to_owned() }
        })
        .collect();
    fs::write(&path, format!("{before}{}\n", lines.join("\n"))).expect("a file");
    let pinned = ferry(&arguments, folder.path());
    assert!(pinned.status.success(), "{}", told(&pinned));
    assert!(told(&pinned).contains("teams and threads on i: pinned"), "{}", told(&pinned));
    assert_ne!(free.stdout, pinned.stdout, "{}", told(&pinned));
    let wrong = fs::read_to_string(&path).expect("decisions").replace(outer, "nobody:1");
    fs::write(&path, wrong).expect("a file");
    let refused = ferry(&arguments, folder.path());
    assert_eq!(refused.status.code(), Some(1), "{}", told(&refused));
    assert!(told(&refused).contains("F0708"), "{}", told(&refused));
}
