//! Cases that a 32-bit device beside a 64-bit host is easily wrong in, as whole programs on the simulated cluster: each gives the
//! host's answer, or is told by name. `docs/narrow.md` has the list of all of them, with the tests of other crates.
//!
//! Needs clang 19 and `ferry-narrow`; without them each test says so and ends.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]

#[path = "support/cluster.rs"]
mod cluster;
#[path = "support/pieces.rs"]
mod pieces;
mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use cluster::has_tools;
use support::{ferry, told};

/// Devices that programs are compiled for.
const DEVICES: &str = "cpu:copy,riscv";

/// Compiles a text, with more words; what was said if it is refused.
fn compile(folder: &Path, text: &str, output: &str, more: &[&str]) -> Result<(), String> {
    let source = format!("{output}.c");
    fs::write(folder.join(&source), text).expect("a file");
    let mut words = vec!["cc", "--device", DEVICES, "-O1", "-g", &source, "-o", output];
    words.extend(more);
    let built = ferry(&words, folder);
    if built.status.success() { Ok(()) } else { Err(told(&built)) }
}

fn run(folder: &Path, settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(folder.join("program"));
    command.env("OMP_TARGET_OFFLOAD", "MANDATORY").envs(settings.iter().copied());
    command.output().expect("the program runs")
}

/// The program prints the same on the host, on a device with memory of its own, and on the cluster; what it prints.
#[track_caller]
fn is_the_same_everywhere(folder: &Path) -> String {
    let answers = ["cpu", "cpu:copy", "riscv"].map(|device| {
        let ran = run(folder, &[("FERRY_DEVICE", device)]);
        assert!(ran.status.success(), "{device}: {}", told(&ran));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    });
    let [host, copies, cluster] = answers;
    assert_eq!(host, copies);
    assert_eq!(host, cluster);
    host
}

/// A program of this text; what it prints everywhere.
#[track_caller]
fn check(text: &str, more: &[&str]) -> Option<String> {
    if !has_tools() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    compile(folder.path(), text, "program", more).expect("it compiles");
    Some(is_the_same_everywhere(folder.path()))
}

/// What the cluster says of a program that fails there.
#[track_caller]
fn failure(text: &str) -> Option<String> {
    if !has_tools() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    compile(folder.path(), text, "program", &[]).expect("it compiles");
    let ran = run(folder.path(), &[("FERRY_DEVICE", "riscv")]);
    assert!(!ran.status.success(), "{}", told(&ran));
    Some(told(&ran))
}

#[test]
fn constructs_give_the_hosts_answers() {
    let Some(said) = check(include_str!("programs/constructs.c"), &[]) else { return };
    assert!(said.contains("threads 12:") && said.contains("nests "), "{said}");
}

#[test]
fn copies_of_all_sizes_between_all_memories_are_right_with_and_without_the_engine() {
    let text = include_str!("programs/copies.c");
    let Some(said) = check(text, &[]) else { return };
    // An engine that reaches 32 bits only is left alone.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let preset = sim::PRESETS.iter().find(|it| it.0 == "hero-paper").expect("a preset").1;
    let old = preset.replace("address-bits = 64", "address-bits = 32");
    assert_ne!(old, preset);
    fs::write(folder.path().join("old.toml"), old).expect("a file");
    fs::write(folder.path().join("program.c"), text).expect("a file");
    for (device, has_engine) in [("riscv:hero-paper", true), ("riscv:old.toml", false)] {
        let words = ["cc", "--device", device, "-O1", "program.c", "-o", "program"];
        let built = ferry(&words, folder.path());
        assert!(built.status.success(), "{}", told(&built));
        let ran = run(folder.path(), &[("FERRY_DEVICE", "riscv"), ("FERRY_INFO", "cycles")]);
        assert_eq!(String::from_utf8_lossy(&ran.stdout), said);
        let account = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(account.contains(", dma "), has_engine, "{account}");
    }
}

/// A function that calls itself until there is no stack.
const DEEP: &str = "
#include <omp.h>
#pragma omp begin declare target
int deep(int n, volatile int *way) {
  volatile int here[16];
  here[n & 15] = n;
  *way = n;
  return n < 0 ? 0 : deep(n + 1, way) + here[n & 15];
}
#pragma omp end declare target
";

#[test]
fn recursion_without_end_stops_at_the_end_of_the_stack() {
    let text = format!(
        "{DEEP}int main(void) {{ int way = 0, sum = 0;\n#pragma omp target map(tofrom: way, sum)\n\
         sum = deep(0, &way);\nreturn sum; }}"
    );
    let Some(said) = failure(&text) else { return };
    assert!(said.contains("core 0") && said.contains("in deep"), "{said}");
    assert!(said.contains("left the stack"), "{said}");
}

#[test]
fn a_core_that_fails_is_told_though_others_wait_for_it() {
    // Each core has a stack of its own.
    let text = format!(
        "{DEEP}int main(void) {{ int way = 0, sum = 0;\n#pragma omp target map(tofrom: way, sum)\n\
         #pragma omp parallel num_threads(8)\n{{ if (omp_get_thread_num() == 5) sum = deep(0, &way);\n\
         #pragma omp barrier\n}}\nreturn sum; }}"
    );
    let Some(said) = failure(&text) else { return };
    assert!(said.contains("core 5") && said.contains("left the stack"), "{said}");
    let wild = "#include <omp.h>\nint main(void) { int a[4] = {0};\n#pragma omp target map(tofrom: a)\n\
                #pragma omp parallel num_threads(8)\n{ int me = omp_get_thread_num();\n\
                if (me == 3) a[me * 100000] = 1;\n#pragma omp barrier\n}\nreturn a[0]; }";
    let Some(said) = failure(wild) else { return };
    assert!(said.contains("core 3") && said.contains("nothing is there"), "{said}");
}

#[test]
fn the_scratchpad_runs_out_and_is_whole_again() {
    let text = r#"
    #include <ferry_cluster.h>
    #include <stdio.h>
    int main(void) {
      int is[6] = {0};
      #pragma omp target map(tofrom: is)
      {
        void *blocks[400];
        int n = 0;
        while (n < 400 && (blocks[n] = ferry_l1_malloc(1000))) n++;
        is[0] = n > 10 && n < 400 && !ferry_l1_malloc(2000);
        for (int i = 0; i < n; i += 2) ferry_l1_free(blocks[i]);
        is[1] = !ferry_l1_malloc(2000);
        for (int i = 1; i < n; i += 2) ferry_l1_free(blocks[i]);
        char *all = ferry_l1_malloc(1008 * n - 8);
        is[2] = all != NULL;
        ferry_l1_free(all);
        char *one = ferry_l1_malloc(0), *two = ferry_l1_malloc(0);
        is[3] = one && two && one != two;
        ferry_l1_free(two);
        ferry_l1_free(one);
        is[4] = !ferry_l1_malloc(~0ul) && !ferry_l1_malloc(1ul << 32);
        is[5] = (one = ferry_l1_malloc(100)) != NULL;
        ferry_l1_free(one);
      }
      for (int i = 0; i < 6; i++) printf("%d", is[i]);
      return 0;
    }"#;
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    compile(folder.path(), text, "program", &[]).expect("it compiles");
    let ran = run(folder.path(), &[("FERRY_DEVICE", "riscv")]);
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "111111", "{}", told(&ran));
}

#[test]
fn pointers_of_both_memories_are_printed_whole() {
    let text = r#"
    #include <ferry_cluster.h>
    #include <stdio.h>
    int main(void) {
      int a[4] = {0};
      #pragma omp target map(tofrom: a)
      {
        int *near = ferry_l1_malloc(64);
        printf("%p %p %s %ld\n", (void *)a, (void *)near, "text", 1L << 40);
        ferry_l1_free(near);
      }
      return 0;
    }"#;
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    compile(folder.path(), text, "program", &[]).expect("it compiles");
    let ran = run(folder.path(), &[("FERRY_DEVICE", "riscv")]);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let words: Vec<&str> = said.split_whitespace().collect();
    let [host, near, "text", "1099511627776"] = words.as_slice() else {
        unreachable!("{}", told(&ran))
    };
    let number = |it: &str| u64::from_str_radix(it.trim_start_matches("0x"), 16).expect("a number");
    assert!(number(host) >> 32 != 0 && number(near) >> 28 == 1, "{said}");
}

#[test]
fn threads_of_the_host_take_turns_and_numbers_are_the_same_to_the_last_bit() {
    let text = r#"
    #include <pthread.h>
    #include <stdio.h>
    static void *work(void *which) {
      int *a = which;
      for (int round = 0; round < 20; round++) {
        #pragma omp target teams distribute parallel for map(tofrom: a[0:64])
        for (int i = 0; i < 64; i++) a[i] += i + round;
      }
      return 0;
    }
    int main(void) {
      static int a[2][64];
      pthread_t threads[2];
      for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, a[i]);
      for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
      float x[50], sum = 0;
      double y[50];
      for (int i = 0; i < 50; i++) x[i] = 1.0f / (i + 3), y[i] = 1.0 / (i + 3);
      #pragma omp target map(tofrom: x, y, sum)
      for (int i = 0; i < 50; i++) {
        x[i] = x[i] * 1.1f + x[(i + 7) % 50] / 3.0f;
        y[i] = y[i] * 1.1 - y[(i + 7) % 50] / 3.0;
        sum += x[i] - sum * 0.25f;
      }
      long total = 0;
      for (int i = 0; i < 64; i++) total += a[0][i] * (i + 1) + a[1][i];
      printf("%ld %a %a %a\n", total, x[30], y[20], sum);
      return 0;
    }"#;
    // What one processor rounds once others must not round twice.
    let Some(said) = check(text, &["-pthread", "-ffp-contract=off"]) else { return };
    assert!(said.starts_with("2194880 "), "{said}");
    // Without a device the host does it all.
    let folder = tempfile::tempdir().expect("a temporary folder");
    compile(folder.path(), text, "program", &["-pthread", "-ffp-contract=off"])
        .expect("it compiles");
    let ran = run(folder.path(), &[("OMP_TARGET_OFFLOAD", "DISABLED")]);
    assert_eq!(String::from_utf8_lossy(&ran.stdout), said);
}

#[test]
fn a_second_program_on_the_cluster_is_refused_by_name() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = "int bump(int n) {\n#pragma omp target map(tofrom: n)\nn += 5;\nreturn n; }";
    compile(folder.path(), library, "libbump.so", &["-fPIC", "-shared"]).expect("it compiles");
    let text = "#include <stdio.h>\nint bump(int);\nint main(void) { int n = 1;\n\
                #pragma omp target map(tofrom: n)\nn *= 3;\nprintf(\"%d\\n\", bump(n)); return 0; }";
    let here = format!("-Wl,-rpath,{}", folder.path().display());
    compile(folder.path(), text, "program", &["-L.", "-lbump", &here]).expect("it compiles");
    for device in ["cpu", "cpu:copy"] {
        let ran = run(folder.path(), &[("FERRY_DEVICE", device)]);
        assert_eq!(String::from_utf8_lossy(&ran.stdout), "8\n", "{device}: {}", told(&ran));
    }
    let ran = run(folder.path(), &[("FERRY_DEVICE", "riscv")]);
    let said = told(&ran);
    assert!(!ran.status.success() && said.contains("has another program already"), "{said}");
}

#[test]
fn a_function_of_the_host_is_refused_by_name() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "#pragma omp requires unified_shared_memory\nstruct op { int (*run)(int); };\n\
                static int twice(int n) { return 2 * n; }\nint main(void) { struct op it = { twice }, *p = &it; int n = 4;\n\
                #pragma omp target map(tofrom: n)\nn = p->run(n);\nreturn n; }";
    let said = compile(folder.path(), text, "program", &[]).expect_err("it is refused");
    assert!(
        said.contains("program.c:6") && said.contains("address is not of this program"),
        "{said}"
    );
}
