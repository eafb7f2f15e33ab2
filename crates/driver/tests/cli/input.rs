//! Files that are not what one expects.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::support::{BAD, Folder, GOOD, Ran};

#[test]
fn a_missing_file_is_named() {
    Folder::new()
        .ferry(&["check", "nowhere.c"])
        .fails(1, &[])
        .says("error[F0001]: cannot read `nowhere.c`: No such file or directory\n\n");
}

#[test]
fn a_folder_is_no_file() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("src")).expect("made");
    for name in ["src", "src/"] {
        let help = "help: name the files: `src/*.c`";
        folder.ferry(&["check", name]).fails(1, &["F0002", "is a folder, not a C file", help]);
    }
}

#[test]
fn binaries_are_refused() {
    let folder = Folder::new();
    folder.write("a.c", b"\x7fELF\x02\x01\x01\0\0\0\0\0").write("b.i", b"int a;\0\0\0\0");
    for name in ["a.c", "b.i"] {
        let words = format!("`{name}` is a binary file, not C text");
        folder.ferry(&["check", name]).fails(1, &["error[F0003]", &words]);
    }
    let program = env!("CARGO_BIN_EXE_ferry");
    folder.ferry(&["check", program]).fails(1, &["F0003"]);
}

#[test]
fn huge_files_are_refused_at_once() {
    let folder = Folder::new();
    for name in ["huge.c", "huge.i"] {
        folder.sparse(name, 5 << 30);
        let start = Instant::now();
        let words = format!("`{name}` is too large: 5.0 GiB");
        folder.ferry(&["check", name]).fails(1, &["F0004", &words, "at most 4 GiB"]);
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn large_files_of_nothing_are_not_read_whole() {
    let folder = Folder::new();
    folder.sparse("zeros.i", 4_000_000_000);
    let start = Instant::now();
    folder.ferry(&["check", "zeros.i"]).fails(1, &["F0003"]);
    folder.ferry(&["check", "/dev/zero"]).fails(1, &["F0003"]);
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn latin_1_is_accepted_in_comments_and_strings() {
    let folder = Folder::new();
    let text = b"/* gr\xfc\xdfe */ const char *greeting = \"gr\xfc\xdfe\"; // \xe9t\xe9\n";
    folder.write("a.c", text).write("b.i", text);
    folder.ferry(&["check", "a.c", "b.i"]).is_clean();
}

#[test]
fn other_bytes_in_names_are_refused_at_their_place() {
    let folder = Folder::new();
    folder.write("a.c", b"int gr\xfcn;\n");
    folder.ferry(&["check", "a.c"]).fails(1, &["F0101", "not UTF-8", "a.c:1:5"]);
}

#[test]
fn names_may_be_utf_8() {
    let folder = Folder::new();
    folder.write("größe.c", "int größe = 1; int main(void) { return größe + x; }\n");
    folder.ferry(&["check", "größe.c"]).fails(1, &["`x` is not declared", "größe.c:1:48"]);
}

#[test]
fn line_ends_of_windows_and_a_byte_order_mark_are_no_fault() {
    let folder = Folder::new();
    let text = "\u{feff}int a;\r\nvoid f(void) {\r\n#pragma omp parallel \\\r\n  num_threads(2)\r\n \
                { a = 1; }\r\n}\r\n";
    folder.write("a.c", text).write("b.c", "int a;\r\nint b = c;\r\n");
    folder.ferry(&["check", "a.c"]).is_clean();
    folder.ferry(&["check", "b.c"]).fails(1, &["b.c:2:9", "2 | int b = c;\n"]);
}

#[test]
fn an_empty_file_is_a_program() {
    let folder = Folder::new();
    folder.write("a.c", "").write("b.i", "");
    folder.ferry(&["check", "a.c", "b.i"]).is_clean();
    assert_eq!(folder.ferry(&["explain", "a.c"]).is_clean().out, "a.c: 0 regions\n\n");
    assert_eq!(folder.ferry(&["print", "a.c"]).is_clean().out, "");
}

#[test]
fn a_name_may_begin_with_a_dash() {
    let folder = Folder::new();
    folder.write("-x.c", BAD);
    folder.ferry(&["check", "./-x.c"]).fails(1, &["`nothing` is not declared", "-x.c:1:25"]);
    folder.ferry(&["check", "-x.c"]).fails(2, &["named from its folder: ./-a.c"]);
}

#[test]
fn standard_input_is_a_file() {
    let folder = Folder::new();
    folder.ferry_fed(&["check", "-"], GOOD.as_bytes()).is_clean();
    folder.ferry_fed(&["check", "-"], BAD.as_bytes()).fails(1, &["F0401", "<stdin>:1:25"]);
    folder.ferry_fed(&["check", "-"], b"\0\0\0").fails(1, &["`standard input` is a binary file"]);
    folder.ferry(&["check", "-"]).is_clean();
}

#[test]
fn a_pipe_is_read_from_its_beginning() {
    let folder = Folder::new();
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo runs");
    assert!(made.success());
    let mut child = folder.command(&["check", "pipe"]);
    let child = child.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("ferry runs");
    std::fs::write(folder.path("pipe"), BAD).expect("written");
    let ran = Ran::of(child.wait_with_output().expect("ferry ends"));
    ran.fails(1, &["`nothing` is not declared"]);
}

#[test]
fn good_and_bad_files_are_all_reported() {
    let folder = Folder::new();
    folder.write("good.c", GOOD).write("bad.c", BAD);
    let ran = folder.ferry(&["check", "-s", "gone.c", "good.c", "bad.c"]);
    ran.fails(1, &["`gone.c`", "bad.c:1:25", "3 files, 0 regions: 2 errors, 0 warnings\n"]);
    let ran = folder.ferry(&["explain", "gone.c", "good.c", "bad.c"]);
    ran.fails(1, &["`gone.c`", "bad.c:1:25"]);
    assert!(ran.out.contains("good.c: 0 regions"), "{}", ran.out);
}

#[test]
fn a_file_named_twice_is_read_twice() {
    let folder = Folder::new();
    folder.write("bad.c", BAD);
    let once = folder.ferry(&["check", "bad.c"]).err;
    folder.ferry(&["check", "bad.c", "bad.c"]).fails(1, &[]).says(&once.repeat(2));
}

#[test]
fn deep_nesting_is_an_error_and_quick() {
    let (folder, deep) = (Folder::new(), 100_000);
    let texts = [
        format!("int a = {}1{};\n", "(".repeat(deep), ")".repeat(deep)),
        format!("void f(void) {{ {} {} }}\n", "{".repeat(deep), "}".repeat(deep)),
        format!("void f(void) {{ {} }}\n", "if (1) ".repeat(deep)),
        format!("int {}a{};\n", "(*".repeat(deep), ")".repeat(deep)),
        format!("int a = {}1;\n", "- ".repeat(deep)),
        format!("int a = {};\n", vec!["1"; deep].join("+")),
        format!("int a[] = {}1{};\n", "{".repeat(deep), "}".repeat(deep)),
        "(".repeat(deep),
        "{".repeat(deep),
        "struct a {".repeat(deep),
    ];
    for text in texts {
        folder.write("deep.i", &text);
        let start = Instant::now();
        for command in ["check", "explain", "print"] {
            folder.ferry(&[command, "deep.i"]).fails(1, &["error[F02"]);
        }
        let head: String = text.chars().take(40).collect();
        assert!(start.elapsed() < Duration::from_secs(20), "{head}: {:?}", start.elapsed());
    }
}

/// What is to be shown is looked for in the file that the text names, if that is a file.
#[test]
fn lines_of_pipes_devices_and_folders_are_not_opened() {
    let folder = Folder::new();
    folder.run("mkfifo", &["pipe"]);
    for name in ["pipe", "/dev/zero", "/dev/tty", "."] {
        let text = format!(
            "#line 3 \"{name}\"\nint f(int n) {{\n#pragma omp target parallel for\n\
             for (int i = 0; i < n; i++) ;\nreturn nothing; }}\n"
        );
        folder.write("a.c", &text).write("b.c", text.replace("nothing", "n"));
        for words in [
            &["check", "a.c"][..],
            &["check", "b.c"],
            &["explain", "b.c"],
            &["print", "b.c"],
            &["translate", "--to", "openacc", "b.c"],
            &["cc", "-c", "a.c"],
            &["cc", "-c", "b.c", "--ferry-report"],
        ] {
            let ran = folder.run("timeout", &[&["20", super::support::FERRY], words].concat());
            assert!(ran.status.is_some_and(|it| it < 3), "{name}: {words:?}: {ran:#?}");
        }
    }
}
