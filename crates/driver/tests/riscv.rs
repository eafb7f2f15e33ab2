//! The simulated cluster from the command line: what only it does, and what it says when something is wrong.
//!
//! That programs give the same answer there as everywhere is tried in `everywhere.rs`. Needs clang 19 and `ferry-narrow`;
//! without them each test says so and ends.
#![allow(
    clippy::expect_used,
    clippy::panic,
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

/// Builds a program of these files in a folder.
fn build(folder: &Path, device: &str, files: &[(&str, &str)]) -> Output {
    let mut words = vec!["cc", "--device", device, "-O1", "-g", "-o", "program"];
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("a file");
        words.push(name);
    }
    ferry(&words, folder)
}

fn run(folder: &Path, settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(folder.join("program"));
    command.env("FERRY_DEVICE", "riscv").env("OMP_TARGET_OFFLOAD", "MANDATORY");
    command.envs(settings.iter().copied()).output().expect("the program runs")
}

/// Builds and runs; what was printed.
fn answer(files: &[(&str, &str)], settings: &[(&str, &str)]) -> Option<(bool, String)> {
    if !has_tools() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let built = build(folder.path(), "riscv", files);
    assert!(built.status.success(), "{}", told(&built));
    let ran = run(folder.path(), settings);
    Some((ran.status.success(), told(&ran)))
}

#[test]
fn structures_are_the_hosts_and_pointers_in_them_lead_there() {
    // An int before a pointer: 4 bytes of nothing lie between, on both sides.
    let text = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #pragma omp requires unified_shared_memory
    struct node { int key; struct node *next; long weight; char mark; };
    int main(void) {
      struct node *list = 0;
      for (int i = 0; i < 100; i++) {
        struct node *it = malloc(sizeof *it);
        it->key = i, it->next = list, it->weight = 1L << 40 | i, it->mark = -1;
        list = it;
      }
      long sum = 0;
      #pragma omp target map(tofrom: sum)
      for (struct node *it = list; it; it = it->next) {
        sum += it->weight + it->mark;
        it->key = -it->key;
      }
      int keys = 0;
      for (struct node *it = list; it; it = it->next) keys += it->key;
      printf("%ld %d\n", sum - (100L << 40), keys);
      return 0;
    }"#;
    let Some((_, said)) = answer(&[("a.c", text)], &[]) else { return };
    assert!(said.contains("4850 -4950"), "{said}");
}

#[test]
fn device_code_of_several_files_is_one_program() {
    let main = r#"
    #include <stdio.h>
    #pragma omp begin declare target
    extern long weights[4];
    long weigh(int n);
    #pragma omp end declare target
    int main(void) {
      long sum = 0;
      weights[2] = 1L << 33;
      #pragma omp target update to(weights)
      #pragma omp target parallel for reduction(+: sum) num_threads(4)
      for (int i = 0; i < 4; i++) sum += weigh(i);
      printf("%ld\n", sum);
      return 0;
    }"#;
    let other = r#"
    #pragma omp begin declare target
    long weights[4] = { 1, 2, 3, 4 };
    long weigh(int n) { return weights[n]; }
    #pragma omp end declare target
    "#;
    let Some((_, said)) = answer(&[("a.c", main), ("b.c", other)], &[]) else { return };
    assert!(said.contains("8589934599"), "{said}");
}

#[test]
fn a_wild_access_is_told_with_line_and_variable() {
    let text = r#"
    #include <stdlib.h>
    int main(void) {
      int *a = calloc(100, sizeof *a);
      #pragma omp target map(tofrom: a[0:100])
      a[100] = 1;
      return 0;
    }"#;
    let Some((is_right, said)) = answer(&[("a.c", text)], &[]) else { return };
    assert!(!is_right && said.contains("a.c:6") && said.contains("nothing is there"), "{said}");
}

#[test]
fn cores_that_wait_for_ever_are_found_by_a_limit() {
    let text = r#"
    int main(void) {
      int door = 0;
      #pragma omp target map(tofrom: door)
      while (*(volatile int *)&door == 0) ;
      return 0;
    }"#;
    let limit = [("FERRY_CYCLE_LIMIT", "100000")];
    let Some((is_right, said)) = answer(&[("a.c", text)], &limit) else { return };
    assert!(!is_right && said.contains("more than 100000 cycles"), "{said}");
    assert!(said.contains("core 0 is at 0x1c00"), "{said}");
    let Some((is_right, said)) = answer(&[("a.c", text)], &[("FERRY_CYCLE_LIMIT", "many")]) else {
        return;
    };
    assert!(!is_right && said.contains("FERRY_CYCLE_LIMIT: `many` is not allowed"), "{said}");
}

#[test]
fn a_run_tells_cycles_and_what_cores_waited_for() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = r#"
    #include <stdio.h>
    int main(void) {
      int a[64];
      #pragma omp target teams distribute parallel for map(from: a)
      for (int i = 0; i < 64; i++) a[i] = i * i;
      printf("%d\n", a[63]);
      return 0;
    }"#;
    fs::write(folder.path().join("a.c"), text).expect("a file");
    let ran = ferry(&["run", "--device", "riscv:hero-paper", "a.c"], folder.path());
    let said = told(&ran);
    assert!(ran.status.success() && said.contains("3969"), "{said}");
    assert!(said.contains(" cycles, ") && said.contains("host memory "), "{said}");
}

/// Rows of a matrix are brought into the scratchpad by hand, turned round, and sent to columns.
const BY_HAND: &str = r#"
#include <ferry_cluster.h>
#include <stdio.h>
#include <stdlib.h>
enum { ROWS = 24, COLUMNS = 40, WIDE = 3 };
int main(void) {
  int *from = malloc(sizeof(int) * ROWS * COLUMNS), *to = malloc(sizeof(int) * ROWS * COLUMNS);
  for (int i = 0; i < ROWS * COLUMNS; i++) from[i] = i, to[i] = -1;
  int too_much = 0;
  #pragma omp target map(to: from[0:ROWS * COLUMNS]) map(tofrom: to[0:ROWS * COLUMNS], too_much)
  {
    int __device *block = ferry_l1_malloc(sizeof(int) * ROWS * WIDE);
    int __device *row = ferry_l1_malloc(sizeof(int) * ROWS);
    for (int column = 0; column + WIDE <= COLUMNS; column += WIDE) {
      ferry_transfer in = ferry_dma_2d(block, from + column, sizeof(int) * WIDE, ROWS, sizeof(int) * WIDE, sizeof(int) * COLUMNS);
      ferry_dma_wait(in);
      for (int k = 0; k < WIDE; k++) {
        for (int i = 0; i < ROWS; i++) row[i] = 2 * block[i * WIDE + k];
        ferry_dma_wait(ferry_dma(to + (column + k) * ROWS, row, sizeof(int) * ROWS));
      }
    }
    ferry_dma_wait(ferry_dma(to, from, 0));
    ferry_l1_free(block);
    ferry_l1_free(row);
    ferry_l1_free(NULL);
    void *huge = ferry_l1_malloc(1ul << 45);
    too_much = huge != NULL;
    ferry_l1_free(huge);
  }
  long sum = 0;
  for (int i = 0; i < ROWS * COLUMNS; i++) sum += (long)to[i] * (i % 11 + 1);
  printf("%ld %d %d\n", sum, to[COLUMNS * ROWS - 1], too_much);
  return 0;
}"#;

#[test]
fn a_program_uses_the_scratchpad_by_hand_and_runs_everywhere() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let built = build(folder.path(), "cpu:copy,cpu:separate,riscv", &[("a.c", BY_HAND)]);
    assert!(built.status.success(), "{}", told(&built));
    let here = run(folder.path(), &[("FERRY_INFO", "cycles")]);
    let said = told(&here);
    assert!(here.status.success() && said.contains(", dma "), "{said}");
    let answer = String::from_utf8_lossy(&here.stdout).into_owned();
    assert!(answer.ends_with(" -1 0\n"), "{answer}");
    for device in ["cpu", "cpu:copy", "cpu:separate"] {
        let there = run(folder.path(), &[("FERRY_DEVICE", device)]);
        assert_eq!(String::from_utf8_lossy(&there.stdout), answer, "{device}: {}", told(&there));
    }
    // Without Ferry the header is enough.
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include/ferry");
    let include = format!("-I{}", include.display());
    let plain = Command::new("cc")
        .args([&include, "-O1", "a.c", "-o", "plain"])
        .current_dir(folder.path())
        .output()
        .expect("cc runs");
    assert!(plain.status.success(), "{}", told(&plain));
    let plain = Command::new(folder.path().join("plain")).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&plain.stdout), answer);
}

#[test]
fn wrong_use_of_the_scratchpad_is_told() {
    let check = |body: &str, expect: &str| {
        let text = format!(
            "#include <ferry_cluster.h>\nint main(void) {{ int a[4] = {{ 0 }};\n\
             #pragma omp target map(tofrom: a)\n{{ {body} }}\nreturn a[0]; }}"
        );
        let Some((is_right, said)) = answer(&[("a.c", &text)], &[]) else { return };
        assert!(!is_right && said.contains(expect), "{body}\n{said}");
    };
    check("char *p = ferry_l1_malloc(64); ferry_l1_free(p); ferry_l1_free(p);", "what is free");
    check("ferry_l1_free(a);", "not in the scratchpad");
    check("char *p = ferry_l1_malloc(64); ferry_dma(p, a, 1ul << 32);", "4 GiB");
    check(
        "char *p = ferry_l1_malloc(64); ferry_dma_wait(ferry_dma(p, a, 64));",
        "nothing is there",
    );
}

#[test]
fn what_the_cluster_cannot_do_is_refused_by_name() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let check = |device: &str, body: &str, expect: &str| {
        let text = format!("#include <complex.h>\nint main(void) {{ {body} return 0; }}");
        let built = build(folder.path(), device, &[("a.c", &text)]);
        let said = told(&built);
        assert!(!built.status.success() && said.contains(expect), "{body}\n{said}");
    };
    let real = "long double x = 1;\n#pragma omp target map(tofrom: x)\nx *= 2;\n";
    check("riscv", real, "`long double`");
    let missing = "int n = 0;\n#pragma omp target map(tofrom: n)\n{ extern int nowhere(int); n = nowhere(n); }\n";
    check("riscv", missing, "`nowhere`");
    let computed = "int n = 3; double s[n];\n#pragma omp target parallel for reduction(+: s) map(s)\n\
                    for (int i = 0; i < n; i++) s[i] += i;\n";
    check("riscv", computed, "a reduction of an array whose length is computed");
    // Tasks combine with the variable itself there, so nothing may depend on the copy that they should have.
    let tasks = |op: &str, code: &str| {
        format!(
            "int m = 40;\n#pragma omp target parallel map(tofrom: m)\n#pragma omp single\n\
             #pragma omp taskgroup task_reduction({op}: m)\n#pragma omp task in_reduction({op}: m)\n{code}\n"
        )
    };
    for (op, code) in [("max", "m = 12;"), ("+", "{ int k = m; m += k; }"), ("+", "m = 2 * m;")] {
        check("riscv", &tasks(op, code), "a task that does more with the variable of a reduction");
    }
    let loops = "int m = 40;\n#pragma omp target map(tofrom: m)\n#pragma omp taskloop reduction(max: m)\n\
                 for (int i = 0; i < 9; i++) m = i;\n";
    check("riscv", loops, "a task that does more with the variable of a reduction");
    let plain = "int n = 0;\n#pragma omp target map(tofrom: n)\nn++;\n";
    check("riscv:none.toml", plain, "name a TOML file");
}

#[test]
fn tasks_know_what_they_are() {
    let text = r#"
#include <omp.h>
#include <stdio.h>
int main(void) {
  int it[7] = { 0 };
#define KIND (omp_in_final() * 10 + omp_in_explicit_task())
#pragma omp target map(tofrom: it)
  {
    it[0] = KIND;
#pragma omp task final(it[0] == 0) shared(it)
    {
      it[1] = KIND;
#pragma omp task shared(it)
      it[2] = KIND;
#pragma omp parallel num_threads(2)
#pragma omp single
      it[3] = KIND;
    }
#pragma omp task if (0) shared(it)
    it[4] = KIND;
    it[5] = KIND;
#pragma omp taskloop final(1) shared(it)
    for (int i = 0; i < 4; i++) it[6] = KIND;
  }
  for (int i = 0; i < 7; i++) printf("%d ", it[i]);
  return 0;
}
"#;
    let Some(ran) = answer(&[("a.c", text)], &[]) else { return };
    assert!(ran.0 && ran.1.ends_with("0 11 11 0 1 0 11 "), "{}", ran.1);
}

/// What clang compiles and computes wrongly, or leaves to a library that is not there, is refused at the line of the directive.
#[test]
fn what_clang_gets_wrong_is_refused_with_its_line() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let check = |text: &str, line: usize, expect: &str| {
        let built = build(folder.path(), "riscv", &[("a.c", text)]);
        let said = told(&built);
        assert_eq!(built.status.code(), Some(1), "{text}\n{said}");
        assert!(said.contains(expect) && said.contains(&format!("a.c:{line}")), "{text}\n{said}");
        assert!(!said.contains("ld.lld") && !said.contains("__kmpc"), "{text}\n{said}");
    };
    for (construct, device) in [
        ("target parallel for num_threads(2)", "map(to: a) map(from: in) map(tofrom: s)"),
        ("target teams distribute parallel for", "map(to: a) map(from: in) map(tofrom: s)"),
    ] {
        for (kind, first, second) in
            [("inclusive", "s += a[i];", "in[i] = s;"), ("exclusive", "in[i] = s;", "s += a[i];")]
        {
            let text = format!(
                "int main(void) {{\n  int a[2] = {{ 1, 2 }}, in[2], s = 5;\n  #pragma omp {construct} \\\n    \
                 {device} reduction(inscan, +: s)\n  for (int i = 0; i < 2; i++) {{\n    {first}\n    \
                 #pragma omp scan {kind}(s)\n    {second}\n  }}\n  return s != 8 || in[0] + in[1] < 11;\n}}\n"
            );
            check(&text, 3, "inscan");
        }
    }
    for waits in ["depend(sink: i - 1)", "doacross(sink: i - 1)"] {
        let done = waits.split('(').next().expect("a word");
        let done = format!("{done}(source{})", if done == "doacross" { ":" } else { "" });
        let text = format!(
            "int main(void) {{\n  int g[4] = {{ 1 }};\n  #pragma omp target parallel for ordered(1) map(g)\n  \
             for (int i = 1; i < 4; i++) {{\n    #pragma omp ordered {waits}\n    g[i] = g[i - 1];\n    \
             #pragma omp ordered {done}\n  }}\n  return g[3] != 1;\n}}\n"
        );
        check(&text, 5, "iterations that wait for others");
    }
}

#[test]
fn a_word_of_the_host_is_changed_by_one_access() {
    let text = r#"
    #include <stdio.h>
    int main(void) {
      int sum = 0;
      #pragma omp target teams distribute parallel for map(tofrom: sum)
      for (int i = 0; i < 1000; i++) {
        #pragma omp atomic
        sum += i & 7;
      }
      printf("sum %d\n", sum);
      return 0;
    }"#;
    let info = [("FERRY_INFO", "cycles")];
    let Some((_, said)) = answer(&[("a.c", text)], &info) else { return };
    assert!(said.contains("sum 3500"), "{said}");
    // An access takes 120 cycles, and a few more where cores meet. Under a lock each word would be read and written.
    let waited = said.split_once(" host memory ").and_then(|it| it.1.split_once(','));
    let waited: u64 = waited.and_then(|it| it.0.parse().ok()).expect("a number");
    assert!((120_000..121_000).contains(&waited), "{said}");
}

#[test]
fn loops_across_4_gib_are_as_good_as_by_hand_where_memory_is_near() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let words = ["bench", "mixed-data-model", "--sizes", "8,32", "--places", "1"];
    let ran = ferry(&[&words[..], &["--cluster", "hero-paper"]].concat(), folder.path());
    assert!(ran.status.success(), "{}", told(&ran));
    let table = String::from_utf8_lossy(&ran.stdout).into_owned();
    let (_, direct) = table.split_once("\n\nLoops of one core").expect("two tables");
    loops_are_as_good_as_by_hand(direct, 16);
}

#[test]
fn the_bench_of_data_models_holds_what_is_claimed_of_size_8() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let words = ["bench", "mixed-data-model", "--sizes", "8", "--places", "2", "-o", "out"];
    let ran = ferry(&words, folder.path());
    let table = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{}", told(&ran));
    let written = fs::read_to_string(folder.path().join("out/mixed-data-model.md"));
    assert_eq!(written.expect("a table"), table);
    let figure = fs::read_to_string(folder.path().join("out/mixed-data-model.svg"));
    assert!(figure.expect("a figure").contains("covar"));
    let (kernels, direct) = table.split_once("\n\nLoops of one core").expect("two tables");
    let rows: Vec<&str> = kernels.lines().filter(|it| it.contains("| 8 |")).collect();
    assert_eq!(rows.len(), 8, "{table}");
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let cell = |index: usize| cells.get(index).copied().unwrap_or_default();
        let assigned: f64 = cell(4).trim_end_matches(" %").parse().expect(row);
        let none: f64 = cell(7).parse().expect(row);
        // The paper's figures are 22 per cent at most, and 1.4 times at least.
        assert!(assigned < 7.0 && none > 1.3, "{row}");
    }
    loops_are_as_good_as_by_hand(direct, 8);
}

/// Loops over the host's memory take little longer than by hand, and no kind of hardware is slower than a simpler one.
#[track_caller]
fn loops_are_as_good_as_by_hand(direct: &str, expected: usize) {
    let rows: Vec<&str> = direct.lines().skip_while(|it| !it.starts_with("|---")).skip(1).collect();
    assert_eq!(rows.len(), expected, "{direct}");
    for row in rows {
        let cells: Vec<f64> =
            row.split('|').skip(3).filter_map(|it| it.trim().parse().ok()).collect();
        let [mapped, one, csr, two, isa, three] = cells.as_slice() else { panic!("{row}") };
        assert!([one, two, three].iter().all(|it| **it < 1.1), "{row}");
        // Where code lies in the instruction cache makes a little difference.
        assert!(*isa <= csr * 1.01 && *csr <= mapped * 1.01, "{row}");
    }
}
