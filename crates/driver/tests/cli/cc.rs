//! `ferry cc`: its command line is gcc's.

use std::fs;

use super::support::{DOUBTFUL, Folder, GOOD, REGION, Ran};

/// A program that tells how it was compiled.
const TELLS: &str = r#"
#include <stdio.h>
#ifndef WORD
#define WORD "none"
#endif
int main(void) {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 10; i++) sum += i;
    printf("%s %d %ld %s\n", WORD, sum, __STDC_VERSION__,
#ifdef __OPTIMIZE__
           "fast"
#else
           "slow"
#endif
    );
    return 0;
}
"#;

#[test]
fn a_program_is_compiled_linked_and_run() {
    let folder = Folder::new();
    folder.write("a.c", TELLS);
    folder.ferry(&["cc", "a.c"]).is_clean();
    assert_eq!(folder.names(), ["a.c", "a.out"], "nothing else is left");
    assert_eq!(folder.run("a.out", &[]).is_clean().out, "none 45 201710 slow\n");
    let flags = ["cc", "-O2", "-std=c99", "-DWORD=\"a b\"", "-Wall", "-g", "a.c", "-o", "b"];
    folder.ferry(&flags).is_clean();
    assert_eq!(folder.run("b", &[]).is_clean().out, "a b 45 199901 fast\n");
}

#[test]
fn each_way_to_stop_is_gccs() {
    let folder = Folder::new();
    folder.write("a.c", TELLS).write("b.c", "int b(void) { return 1; }\n");
    folder.ferry(&["cc", "-c", "a.c", "b.c"]).is_clean();
    assert_eq!(folder.names(), ["a.c", "a.o", "b.c", "b.o"]);
    folder.ferry(&["cc", "-S", "b.c", "-o", "-.s"]).is_clean();
    assert!(folder.read("-.s").contains(".globl"), "{}", folder.read("-.s"));
    let text = folder.ferry(&["cc", "-E", "-P", "b.c"]);
    assert_eq!(text.is_clean().out, "int b(void) { return 1; }\n");
    folder.ferry(&["cc", "-E", "a.c", "-o", "a.i"]).is_clean();
    folder.ferry(&["cc", "a.i", "-o", "from-i"]).is_clean();
    assert_eq!(folder.run("from-i", &[]).out, "none 45 201710 slow\n");
    folder.ferry(&["cc", "-fsyntax-only", "b.c"]).is_clean();
    let macros = folder.ferry(&["cc", "-dM", "-E", "b.c"]).out;
    for line in ["#define _OPENMP 202111", "#define _OPENACC 202211", "#define __FERRY__ 1"] {
        assert!(macros.lines().any(|it| it == line), "{line}");
    }
    let macros = folder.ferry(&["cc", "-fno-openmp", "-dM", "-E", "b.c"]).out;
    assert!(!macros.contains("_OPENMP"), "{macros}");
}

#[test]
fn standard_input_needs_a_language() {
    let folder = Folder::new();
    let program = b"int main(void) { return 7; }\n";
    folder.ferry_fed(&["cc", "-x", "c", "-", "-o", "a"], program).is_clean();
    assert_eq!(folder.run("a", &[]).status, Some(7));
    let text = folder.ferry_fed(&["cc", "-E", "-P", "-"], program);
    assert_eq!(text.is_clean().out.as_bytes(), program);
    folder.ferry_fed(&["cc", "-c", "-"], program).fails(1, &["`-x` required"]);
    let region = b"int f(int n) {\n#pragma omp parallel\nn++;\nreturn n; }\n";
    folder.ferry_fed(&["cc", "-x", "c", "-c", "-", "-o", "r.o"], region).is_clean();
    assert_eq!(folder.names(), ["a", "r.o"]);
}

#[test]
fn questions_are_answered_as_the_host_compiler_does() {
    let folder = Folder::new();
    let questions = [
        "-dumpmachine",
        "-dumpversion",
        "-print-prog-name=ld",
        "-print-file-name=libc.so",
        "-print-search-dirs",
    ];
    for question in questions {
        let answer = folder.ferry(&["cc", question]);
        assert_eq!(answer.is_clean().out, folder.run("cc", &[question]).out, "{question}");
    }
    let version = folder.ferry(&["cc", "--version"]).out;
    let host = folder.run("cc", &["--version"]).out;
    assert!(version.starts_with(&host), "{version}");
    assert!(version.ends_with(&format!("ferry cc {}\n", env!("CARGO_PKG_VERSION"))), "{version}");
    let help = folder.ferry(&["cc", "--help"]);
    assert!(help.is_clean().out.contains("--ferry-save-temps"), "{}", help.out);
}

#[test]
fn commands_are_shown_when_asked_for() {
    let folder = Folder::new();
    folder.write("a.c", GOOD);
    let shown = folder.ferry(&["cc", "-###", "a.c", "-o", "a"]);
    assert_eq!(shown.status, Some(0));
    assert!(shown.err.contains("cc1") && shown.err.contains("collect2"), "{}", shown.err);
    assert_eq!(folder.names(), ["a.c"], "nothing is done");
    let verbose = folder.ferry(&["cc", "-v", "a.c", "-o", "a"]);
    assert_eq!(verbose.status, Some(0));
    assert!(verbose.err.contains("COLLECT_GCC_OPTIONS"), "{}", verbose.err);
    assert!(folder.ferry(&["cc", "-v"]).err.contains("Target:"));
}

#[test]
fn wrong_lines_end_as_with_gcc() {
    let folder = Folder::new();
    folder.write("a.c", GOOD).write("b.c", GOOD).write("lib.o", "");
    let before = folder.names();
    let wrong: &[(&[&str], &str)] = &[
        (&[], "no input files"),
        (&["-c", "a.c", "b.c", "-o", "x.o"], "cannot specify `-o`"),
        (&["-E", "a.c", "b.c", "-o", "x.i"], "cannot specify `-o`"),
        (&["a.c", "-o"], "`-o` needs a value"),
        (&["-c", "a.c", "-o", "a.c"], "same as output file"),
        (&["-c", "gone.c"], "gone.c: No such file or directory"),
        (&["gone.o", "-o", "x"], "gone.o"),
        (&["--device", "gpu", "a.c"], "no device is called `gpu`"),
        (&["--ferry-report=xml", "a.c"], "`text`, `json` or `sarif`"),
        (&["-c", "-x", "basic", "a.c"], "`basic`"),
        (&["-c", "a.c", "-o", "no/folder/a.o"], "cannot write `no/folder/a.o`"),
        (&["--ferry-cc", "no-such-cc", "a.c"], "cannot run the host compiler `no-such-cc`"),
        (&["-c", "-fno-such-flag", "a.c"], "-fno-such-flag"),
    ];
    for (arguments, words) in wrong {
        folder.ferry(&[&["cc"], *arguments].concat()).fails(1, &[words]);
        assert_eq!(folder.names(), before, "{arguments:?}");
    }
    let unused = folder.ferry(&["cc", "-c", "a.c", "lib.o"]);
    unused.fails(0, &["lib.o: linker input file unused because linking not done"]);
}

#[test]
fn response_files_are_read_with_gccs_quoting() {
    let folder = Folder::new();
    folder
        .write("my file.c", TELLS)
        .write("args", "-O1 'my file.c' \"-DWORD=\\\"it's\\\"\"\n-o out @more");
    folder.write("more", "-std=gnu11");
    folder.ferry(&["cc", "@args"]).is_clean();
    assert_eq!(folder.run("out", &[]).out, "it's 45 201112 fast\n");
}

#[test]
fn odd_names_are_only_names() {
    let folder = Folder::new();
    let names = ["a b.c", "it's.c", "quo\"te.c", "dol$ar.c", "-dash.c", "comma,.c", "ü.c"];
    for name in names {
        folder.write(name, "int f(int n) {\n#pragma omp parallel\nn++;\nreturn n; }\n");
        let file = if name.starts_with('-') { format!("./{name}") } else { name.to_owned() };
        folder.ferry(&["cc", "-c", &file, "-o", "out dir.o", "-MD", "-MF", "x y.d"]).is_clean();
        let host = folder.run("cc", &["-c", &file, "-o", "out dir.o", "-MD", "-MF", "host.d"]);
        assert_eq!(host.status, Some(0));
        assert_eq!(folder.read("x y.d"), folder.read("host.d"), "{name}");
    }
}

#[test]
fn dependences_are_written_as_gcc_writes_them() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("src")).expect("a folder");
    fs::create_dir_all(folder.path("out")).expect("a folder");
    folder
        .write("src/h.h", "#define H 1\n")
        .write("src/a.c", "#include <stddef.h>\n#include \"h.h\"\nint h = H;\n");
    let lines: &[&[&str]] = &[
        &["-MD", "-c", "src/a.c"],
        &["-MMD", "-c", "src/a.c"],
        &["-MD", "-c", "src/a.c", "-o", "out/b.o"],
        &["-MMD", "-MP", "-c", "src/a.c", "-o", "out/b.o"],
        &["-MD", "-MF", "out/x.d", "-MT", "$(T)", "-c", "src/a.c"],
        &["-MD", "-MQ", "$(T)", "-MT", "u", "-MP", "-c", "src/a.c"],
        &["-Wp,-MD,out/w.d", "-c", "src/a.c", "-o", "out/b.o"],
        &["-MD", "-shared", "-fPIC", "src/a.c", "-o", "out/lib.so"],
        &["-MD", "-shared", "-fPIC", "src/a.c"],
        &["-MMD", "-S", "src/a.c"],
    ];
    let collect = || {
        let mut found = Vec::new();
        for place in [".", "out"] {
            for entry in fs::read_dir(folder.path(place)).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.extension().is_some_and(|it| it == "d") {
                    found.push((path.clone(), fs::read_to_string(&path).expect("read")));
                    fs::remove_file(path).expect("removed");
                }
            }
        }
        found.sort();
        found
    };
    for line in lines {
        folder.ferry(&[&["cc"], *line].concat()).is_clean();
        let ours = collect();
        assert_eq!(folder.run("cc", line).status, Some(0));
        assert_eq!(ours, collect(), "{line:?}");
        assert_eq!(ours.len(), 1, "{line:?}");
    }
    for line in [&["-M", "src/a.c"][..], &["-MM", "src/a.c"], &["-MM", "-MT", "x", "src/a.c"]] {
        let ours = folder.ferry(&[&["cc"], line].concat());
        assert_eq!(ours.is_clean().out, folder.run("cc", line).out, "{line:?}");
    }
    folder.ferry(&["cc", "-MM", "src/a.c", "-MF", "m.d"]).is_clean();
    assert_eq!(folder.read("m.d"), "a.o: src/a.c src/h.h\n");
}

#[test]
fn flags_for_the_preprocessor_reach_it_once() {
    let folder = Folder::new();
    for name in ["i", "q", "s", "after"] {
        fs::create_dir(folder.path(name)).expect("a folder");
        folder.write(&format!("{name}/{name}.h"), format!("#define {name}_H 1\n"));
    }
    folder.write("forced.h", "#define FORCED 1\n");
    let uses = "#include <i.h>\n#include \"q.h\"\n#include <s.h>\n#include <after.h>\n\
        int main(void) { int n = i_H + q_H + s_H + after_H + FORCED + VALUE;\n\
        #pragma omp parallel num_threads(VALUE)\n\
        n += 0;\n\
        return n - 5 - VALUE + GONE; }\n";
    folder.write("a.c", uses);
    let line = [
        "cc",
        "-I",
        "i",
        "-iquoteq",
        "-isystem",
        "s",
        "-idirafter",
        "after",
        "-include",
        "forced.h",
        "-DVALUE=2",
        "-DGONE=1",
        "-UGONE",
        "-Xpreprocessor",
        "-DGONE=0",
        "-Wp,-DX,-DY",
        "a.c",
        "-o",
        "a",
    ];
    folder.ferry(&line).is_clean();
    assert_eq!(folder.run("a", &[]).status, Some(0));
}

#[test]
fn warnings_are_the_host_compilers_and_ours_are_about_directives() {
    let folder = Folder::new();
    folder.write("a.c", DOUBTFUL);
    let plain = folder.ferry(&["cc", "-c", "a.c"]);
    plain.fails(0, &["-Wint-conversion"]);
    assert!(!plain.err.contains("F0480"), "told once: {}", plain.err);
    folder.ferry(&["cc", "-w", "-c", "a.c"]).is_clean();
    folder.ferry(&["cc", "-Werror", "-c", "a.c"]).fails(1, &["-Werror=int-conversion"]);
    folder.write("w.c", "#warning mind the gap\n#pragma omp parallel\nint x;\n");
    let twice = folder.ferry(&["cc", "-c", "w.c"]);
    assert!(twice.err.matches("#warning").count() <= 2, "{}", twice.err);
    folder.write(
        "d.c",
        "void f(int n) {\n#pragma omp paralel for\nfor (int i = 0; i < n; i++) ;\n}\n",
    );
    folder.ferry(&["cc", "-c", "d.c"]).fails(1, &["d.c:2", "paralel", "parallel"]);
    folder.ferry(&["cc", "-fno-openmp", "-c", "d.c"]).is_clean();
}

#[test]
fn a_directive_that_needs_a_device_is_never_ignored() {
    let folder = Folder::new();
    let program = "\
int main(void) {
    int n = 0;
#pragma omp target data map(tofrom: n)
    {
#pragma omp target map(tofrom: n)
#pragma omp parallel
#pragma omp atomic
        n++;
#pragma omp target update from(n)
    }
    return n < 1;
}
";
    folder.write("a.c", program).write("region.c", REGION);
    let report = folder.ferry(&["cc", "--ferry-report", "-c", "a.c"]);
    let verdicts = [
        "a.c:3: target data in main(): serves cpu: ",
        "a.c:5: target in main(): runs on cpu: its body is a kernel",
        "a.c:6: parallel in main(): runs on cpu: it is part of the kernel around it",
        "a.c:9: target update in main(): serves cpu: ",
    ];
    report.fails(0, &verdicts);
    let report = folder.ferry(&["cc", "--ferry-report", "-c", "region.c"]);
    report
        .fails(0, &["region.c:2: target teams distribute parallel for in scale(): runs on cpu: "]);
    let separate = folder.ferry(&["cc", "--device", "cpu:separate", "--ferry-report", "-c", "a.c"]);
    separate.fails(0, &["runs on cpu, cpu:copy and cpu:separate"]);
}

#[test]
fn regions_get_a_verdict_in_three_forms() {
    let folder = Folder::new();
    folder.write("a.c", TELLS);
    let text = folder.ferry(&["cc", "--ferry-report", "-c", "a.c"]);
    text.fails(0, &["a.c:8: parallel for in main(): runs on the host: "]);
    let json = folder.ferry(&["cc", "--ferry-report=json", "-c", "a.c"]);
    let json: serde_json::Value = serde_json::from_str(&json.is_clean().out).expect("one line");
    assert_eq!((&json["line"], &json["function"]), (&8.into(), &"main".into()));
    assert_eq!(json["outcome"], "host");
    let sarif = folder.ferry(&["cc", "--ferry-report=sarif", "-c", "a.c"]);
    let sarif: serde_json::Value = serde_json::from_str(&sarif.is_clean().out).expect("a log");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "F0901");
}

#[test]
fn the_host_compiler_is_never_ferry_itself() {
    let folder = Folder::new();
    folder.write("a.c", GOOD);
    for value in ["ferry cc", "ccache ferrycc", &format!("{} cc", super::support::FERRY)] {
        let output = folder.command(&["cc", "-c", "a.c"]).env("CC", value).output();
        super::support::Ran::of(output.expect("ferry runs")).is_clean();
    }
    let output = folder.command(&["cc", "-c", "a.c"]).env("CC", "false").output();
    assert!(!output.expect("ferry runs").status.success(), "another CC is taken");
    let mut both = folder.command(&["cc", "-c", "a.c"]);
    let output = both.env("CC", "false").env("FERRY_CC", "cc").output();
    super::support::Ran::of(output.expect("ferry runs")).is_clean();
}

#[test]
fn run_becomes_the_program() {
    let folder = Folder::new();
    folder.write(
        "a.c",
        "#include <stdio.h>\nint main(int c, char **v) { puts(v[c - 1]); return c; }\n",
    );
    folder
        .write("dies.c", "#include <stdlib.h>\nint main(void) { abort(); }\n")
        .write("p.c", TELLS);
    let ran = folder.ferry(&["run", "-O1", "a.c", "--", "one", "-two"]);
    assert_eq!((ran.status, ran.out.as_str()), (Some(3), "-two\n"), "{ran:?}");
    let ran = folder.ferry(&["run", "p.c"]);
    ran.fails(0, &["p.c:8: parallel for in main(): runs on the host"]);
    assert_eq!(ran.out, "none 45 201710 slow\n");
    assert_eq!(folder.ferry(&["run", "dies.c"]).status, None, "died of its signal");
    folder.ferry(&["run"]).fails(1, &["no input files"]);
    folder.ferry(&["run", "-c", "a.c"]).fails(1, &["`ferry cc`"]);
    folder.ferry(&["run", "gone.c"]).fails(1, &["gone.c"]);
    assert_eq!(folder.names(), ["a.c", "dies.c", "p.c"]);
}

#[test]
fn doctor_and_devices_tell_what_is_there() {
    let folder = Folder::new();
    let devices = folder.ferry(&["devices"]);
    assert!(devices.is_clean().out.contains("cpu:separate"), "{}", devices.out);
    for line in folder.ferry(&["devices", "--json"]).out.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("JSON");
    }
    let doctor = folder.ferry(&["doctor"]);
    assert!(doctor.out.contains("ok       C compiler: "), "{}", doctor.out);
    assert_eq!(doctor.status == Some(0), !doctor.out.contains("MISSING"), "{}", doctor.out);
}

#[test]
fn what_the_cluster_lacks_is_said_with_its_remedy() {
    let folder = Folder::new();
    for words in [&["devices"][..], &["doctor"]] {
        let mut command = folder.command(words);
        let ran = command.env("FERRY_RISCV_CLANG", "/nowhere/clang").output().expect("ferry runs");
        let ran = Ran::of(ran);
        for word in ["`/nowhere/clang`", "set FERRY_RISCV_CLANG"] {
            assert!(ran.out.contains(word), "{words:?}: `{word}` is missing in {}", ran.out);
        }
    }
}

#[test]
fn devices_are_called_by_the_names_of_their_makers() {
    let folder = Folder::new();
    let told = folder.ferry(&["devices", "--json"]);
    for line in told.is_clean().out.lines() {
        let device: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let is_missing = device["missing"].as_array().is_some_and(|it| !it.is_empty());
        if device["name"] == "opencl" && !is_missing {
            assert!(device["found"].as_array().is_some_and(|it| !it.is_empty()), "{line}");
        }
    }
    let mut command = folder.command(&["devices"]);
    command.env("OCL_ICD_VENDORS", "/nowhere/at/all");
    let ran = Ran::of(command.output().expect("ferry runs"));
    assert!(ran.out.contains("not found: an OpenCL driver"), "{}", ran.out);
}
