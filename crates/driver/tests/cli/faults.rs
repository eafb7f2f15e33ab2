//! Programs that ask for data that are not there: a message with the variable and its line, and status 1.
//!
//! On every device that each machine has, shared memory or not.

use super::support::Folder;

/// A program whose `main` has this body, from line 3 on, ends with status 1 and says all of `words`; or
/// ends well if there are none.
#[track_caller]
fn check(body: &str, words: &[&str]) {
    let folder = Folder::new();
    let main = "int main(void) {";
    let text = format!("#include <stdlib.h>\n{main}\n{body}\n  return 0;\n}}\n");
    folder.write("a.c", text);
    let built = folder.ferry(&["cc", "-w", "--device", "cpu,cpu:separate", "a.c", "-o", "a"]);
    assert_eq!(built.status, Some(0), "{}", built.err);
    for device in ["cpu", "cpu:separate"] {
        let setting = format!("FERRY_DEVICE={device}");
        let ran = folder.run("env", &[&setting, "./a"]);
        assert_eq!(ran.status, Some(i32::from(!words.is_empty())), "{device}: {}", ran.err);
        for word in words {
            assert!(ran.err.contains(word), "{device}: no `{word}` in {}", ran.err);
        }
    }
}

const ARRAY: &str = "  int a[8] = { 0 }, *p = malloc(32);";

/// gcc crashes on it: what it is given without a word, it never comes back from.
#[test]
fn values_of_declared_reductions_that_the_host_compiler_crashes_on() {
    let folder = Folder::new();
    let text = |first: &str| {
        format!(
            "typedef struct {{ int x, y; }} pair;\n#pragma omp declare reduction(most : pair : omp_out = omp_in.x > \
             omp_out.x ? omp_in : omp_out) \\\n  initializer(omp_priv = {first})\nint main(void) {{\n  pair p = {{ 1, 2 }};\n\
             #pragma omp parallel for reduction(most : p)\n  for (int i = 0; i < 9; i++) if (i > p.x) p.x = i;\n  \
             return p.x != 8;\n}}\n"
        )
    };
    folder.write("a.c", text("(pair){ omp_orig.x, 0 }"));
    folder.ferry(&["check", "a.c"]).is_clean();
    let refused = folder.ferry(&["cc", "a.c", "-o", "a"]);
    refused.fails(1, &["F0702", "a.c:3", "compound literal", "call a function"]);
    // What is the same each time is an object of the file.
    folder.write("a.c", text("(pair){ 0, 0 }"));
    assert_eq!(folder.ferry(&["cc", "a.c", "-o", "a"]).status, Some(0));
    assert_eq!(folder.run("a", &[]).status, Some(0));
}

#[test]
fn data_that_must_be_present_and_are_not() {
    let present = format!("{ARRAY}\n#pragma acc serial present(a)\n  a[0] = 1;");
    check(&present, &["a.c:4:", "`a` (32 bytes", "is not mapped to the device"]);
    let region = format!("{ARRAY}\n#pragma acc data present(p[0:8])\n  ;");
    check(&region, &["a.c:4:", "`p[0:8]`", "is not mapped", "help: map p[0:8] before this"]);
    let default = format!("{ARRAY}\n#pragma acc serial default(present)\n  a[0] = 1;");
    check(&default, &["a.c:4:", "`a`", "is not mapped"]);
    let host = format!("{ARRAY}\n#pragma acc host_data use_device(p)\n  ;");
    check(&host, &["a.c:4:", "`p`", "is not mapped"]);
    let declared = format!("{ARRAY}\n  {{\n#pragma acc declare present(a)\n  }}");
    check(&declared, &["a.c:5:", "`a`", "is not mapped"]);
}

#[test]
fn updates_of_absent_data() {
    for clause in ["self(a)", "device(a[1:2])"] {
        let body = format!("{ARRAY}\n\n#pragma acc update {clause}");
        check(&body, &["a.c:5:", "`a", "is not mapped", "help: map a"]);
        check(&format!("{body} if_present"), &[]);
    }
}

#[test]
fn data_of_which_only_a_part_is_there() {
    let half = format!("{ARRAY}\n#pragma acc enter data copyin(a[0:4])");
    let words = ["a.c:5:", "is mapped in part only: `a[0:4]` (16 bytes"];
    for directive in [
        "enter data copyin(a)",
        "data copy(a[2:4])\n  ;",
        "data present(a)\n  ;",
        "data no_create(a)\n  ;",
        "update self(a[3:2])",
        "update device(a) if_present",
        "exit data copyout(a)",
        "exit data delete(a) finalize",
    ] {
        check(&format!("{half}\n#pragma acc {directive}"), &words);
    }
    check(&format!("{half}\n#pragma acc update self(a[1:3])"), &[]);
}

#[test]
fn what_asks_for_nothing_when_there_is_nothing() {
    for directive in [
        "exit data copyout(a)",
        "exit data delete(p[0:8]) finalize",
        "exit data detach(p)",
        "data no_create(a)\n  ;",
        "host_data use_device(p) if_present\n  ;",
        "host_data use_device(p) if(0)\n  ;",
    ] {
        check(&format!("{ARRAY}\n#pragma acc {directive}"), &[]);
    }
    check(
        "  int *p = 0;\n#pragma acc data copy(p[0:4])\n  ;\n#pragma acc host_data use_device(p)\n  ;",
        &[],
    );
}

#[test]
fn lengths_that_are_negative() {
    let length = "  int a[8] = { 0 }; volatile long n = -3; struct { int m, *p; } s = { -3, a };";
    for directive in [
        "omp target enter data map(to: a[0:n])",
        "omp target update to(a[0:n])",
        "omp target map(tofrom: a[0:n])\n  a[0] = 1;",
        "omp target data map(alloc: a[2:n])\n  ;",
        "acc enter data copyin(a[0:n])",
        "acc parallel copy(a[0:n])\n  a[0] = 1;",
        "acc exit data copyout(a[0:n])",
        "acc enter data copyin(a[0:n]) async(1)",
    ] {
        let body = format!("{length}\n#pragma {directive}\n#pragma acc wait");
        check(&body, &["a.c:4:", "`a[", "cannot have -12 bytes"]);
    }
}

#[test]
fn routines_that_get_lengths_that_nothing_has() {
    let wrong = "(size_t)-1";
    for (call, words) in [
        (
            "omp_target_memcpy(a, b, W, 0, 0, 0, 0)",
            ["omp_target_memcpy: 18446744073709551615 bytes"],
        ),
        (
            "omp_target_memcpy(a, b, 8, W, 0, 0, h)",
            ["omp_target_memcpy: 18446744073709551615 bytes"],
        ),
        ("omp_target_memcpy_async(a, b, W, 0, 0, 0, h, 0, 0)", ["18446744073709551615 bytes"]),
        ("!omp_target_memset(a, 1, W, 0)", ["omp_target_memset: 18446744073709551615 bytes"]),
        (
            "omp_target_memcpy_rect(a, b, 8, 2, v, z, z, v, v, 0, 0)",
            ["rectangle of 9223372036854775807 x 4 "],
        ),
        ("!!omp_target_alloc(W, 0)", ["omp_target_alloc"]),
    ] {
        let call = call.replace('W', wrong);
        let body = format!(
            "  char a[64], b[64]; int h = omp_get_initial_device();
  size_t v[2] = {{ 9223372036854775807, 4 }}, z[2] = {{ 0, 0 }};
  (void)h, (void)v, (void)z;
  int told = {call};
#pragma omp taskwait
  if (told != 0 && told != 22) return 3;
  return told == 0 ? 0 : 1;"
        );
        checked_routine(&body, &words);
    }
    for call in [
        "acc_copyin(a, W)",
        "acc_create(a, W)",
        "acc_delete(a, W)",
        "acc_update_self(a, W)",
        "acc_memcpy_to_device(b, a, W)",
        "acc_memcpy_from_device(a, b, W)",
        "acc_memcpy_device_async(a, b, W, 1)",
        "acc_map_data(a, b, W)",
    ] {
        let body = format!("  char a[64], b[64]; {};\n#pragma acc wait", call.replace('W', wrong));
        checked_routine(&body, &["18446744073709551615 bytes are more than any memory has"]);
    }
}

/// A program that calls a routine wrongly says all of `words`, and neither panics nor dies of a signal.
#[track_caller]
fn checked_routine(body: &str, words: &[&str]) {
    let folder = Folder::new();
    let head = "#include <stdlib.h>\n#include <omp.h>\n#include <openacc.h>\n";
    folder.write("a.c", format!("{head}int main(void) {{\n{body}\n  return 0;\n}}\n"));
    let built = folder.ferry(&["cc", "-w", "--device", "cpu,cpu:separate", "a.c", "-o", "a"]);
    assert_eq!(built.status, Some(0), "{}", built.err);
    for device in ["cpu", "cpu:separate"] {
        let ran = folder.run("env", &[&format!("FERRY_DEVICE={device}"), "./a"]);
        assert!(matches!(ran.status, Some(0 | 1)), "{device}: {body}: {ran:?}");
        assert!(!ran.err.contains("panicked") && !ran.err.contains("bug"), "{device}: {}", ran.err);
        assert!(words.iter().all(|it| ran.err.contains(it)), "{device}: {body}: {}", ran.err);
    }
}

#[test]
fn a_program_may_end_while_other_threads_use_devices() {
    let folder = Folder::new();
    let text = "#include <pthread.h>
#include <unistd.h>
#include <stdlib.h>
static int a[10];
static void *run(void *p) {
  for (;;) {
    int b[100] = { 0 };
#pragma omp target map(tofrom: a)
    a[1]++;
#pragma omp target enter data map(to: b)
#pragma omp target exit data map(from: b)
  }
  return p;
}
static void *end(void *p) { usleep(20000); exit(5); return p; }
int main(int count, char **words) {
  pthread_t t;
#pragma omp target enter data map(to: a)
  for (int i = 0; i < 4; i++) pthread_create(&t, 0, run, 0);
  if (count > 1) { pthread_create(&t, 0, end, 0); run(0); }
  usleep(20000);
  return 4;
}
";
    folder.write("a.c", text);
    let made = folder.ferry(&["cc", "--device", "cpu,cpu:separate", "a.c", "-o", "a", "-lpthread"]);
    assert_eq!(made.status, Some(0), "{}", made.err);
    for device in ["cpu", "cpu:copy", "cpu:separate"] {
        let setting = format!("FERRY_DEVICE={device}");
        for words in [&[][..], &["other"]] {
            for _ in 0..3 {
                let ran =
                    folder.run("env", &[&[&setting[..], "timeout", "25", "./a"], words].concat());
                let status = Some(if words.is_empty() { 4 } else { 5 });
                assert_eq!((ran.status, ran.err.as_str()), (status, ""), "{device} {words:?}");
            }
        }
    }
}

/// A program with the rights of its file's owner takes no code from the variables of whoever starts it.
#[test]
fn settings_choose_no_code_where_rights_are_not_the_users() {
    let folder = Folder::new();
    let code = "#include <unistd.h>
__attribute__((constructor)) static void begin(void) { write(2, \"taken\\n\", 6); }
";
    folder.write("code.c", code);
    let text = "#include <sys/auxv.h>
int main(void) {
  int a = 0;
#pragma omp target map(tofrom: a)
  a++;
  return getauxval(AT_SECURE) ? 10 + a : a;
}
";
    folder.write("a.c", text);
    assert_eq!(folder.run("cc", &["-shared", "-fPIC", "code.c", "-o", "code.so"]).status, Some(0));
    let built = folder.ferry(&["cc", "--device", "cpu,cpu:separate", "a.c", "-o", "a"]);
    assert_eq!(built.status, Some(0), "{}", built.err);
    // What stands for the process of `cpu:separate` says that it was started.
    folder.write("ferry-cpu-device", "#!/bin/sh\necho taken >&2\n");
    let code = folder.path("code.so").display().to_string();
    let own = folder.path("").display().to_string();
    let settings = [
        format!("OMP_TOOL_LIBRARIES={code}"),
        format!("ACC_PROFLIB={code}"),
        format!("FERRY_LIBEXEC={own}"),
    ];
    let run = |before: &[&str], device: &str| {
        let device = format!("FERRY_DEVICE={device}");
        let settings = settings.iter().map(String::as_str);
        let words: Vec<&str> = [device.as_str()].into_iter().chain(settings).collect();
        folder.run("env", &[&words[..], before, &["./a"]].concat())
    };
    let plain = run(&[], "cpu");
    assert!(plain.status == Some(1) && plain.err.contains("taken"), "{plain:?}");
    let is_root = folder.run("id", &["-u"]).out.trim() == "0";
    let modes =
        [["chmod", "755", "."], ["chmod", "755", "ferry-cpu-device"], ["chmod", "4755", "a"]];
    for [program, mode, file] in modes {
        assert_eq!(folder.run(program, &[mode, file]).status, Some(0));
    }
    for device in ["cpu", "cpu:separate"] {
        let other = ["setpriv", "--reuid=65534", "--clear-groups"];
        let ran = if is_root { run(&other, device) } else { run(&[], device) };
        if !is_root || ran.status.is_none_or(|it| it < 10) {
            let _ = std::io::Write::write_all(
                &mut std::io::stderr(),
                b"skipped: only root can have a program with other rights, on a file system that allows it\n",
            );
            return;
        }
        assert_eq!((ran.status, ran.err.as_str()), (Some(11), ""), "{device}");
    }
}
