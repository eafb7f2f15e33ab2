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
