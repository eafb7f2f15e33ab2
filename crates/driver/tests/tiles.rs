//! Arrays in the scratchpad of the simulated cluster: the same answers as on the host, and word of what was brought.
//!
//! Needs clang 19 and `ferry-narrow`; without them each test says so and ends.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test says what it needs from the machine"
)]
#![allow(clippy::indexing_slicing, reason = "tables of a test are as long as it says")]

#[path = "support/cluster.rs"]
mod cluster;
#[path = "support/pieces.rs"]
mod pieces;
mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use cluster::has_tools;
use support::{ferry, told};

/// Builds a program, and says what was said.
fn build(folder: &Path, text: &str, words: &[&str]) -> String {
    fs::write(folder.join("a.c"), text).expect("a file");
    let all = [&["cc", "--device", "riscv", "-O1", "-g", "a.c", "-o", "program"], words].concat();
    let built = ferry(&all, folder);
    assert!(built.status.success(), "{}", told(&built));
    told(&built)
}

fn run(folder: &Path, device: &str) -> Output {
    let mut command = Command::new(folder.join("program"));
    command.env("FERRY_DEVICE", device).env("OMP_TARGET_OFFLOAD", "MANDATORY");
    command.env("FERRY_INFO", "cycles").output().expect("the program runs")
}

/// Runs on both, compares, and gives what the cluster says of its regions.
fn compared(folder: &Path) -> String {
    let (here, there) = (run(folder, "cpu"), run(folder, "riscv"));
    assert!(here.status.success() && there.status.success(), "{}{}", told(&here), told(&there));
    let answer = |it: &Output| String::from_utf8_lossy(&it.stdout).into_owned();
    assert_eq!(answer(&here), answer(&there));
    String::from_utf8_lossy(&there.stderr).into_owned()
}

/// The line of the text that has a word, counted from 1.
fn line_of(text: &str, word: &str) -> usize {
    text.lines().position(|it| it.contains(word)).expect(word) + 1
}

#[test]
fn loops_of_all_kinds_give_the_hosts_answers() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = include_str!("programs/tiles.c");
    build(folder.path(), text, &[]);
    let said = compared(folder.path());
    let check = |word: &str, expect: &str| {
        // The directive stands before the loop.
        let at = format!("a.c:{}: ", line_of(text, word) - 1);
        let lines: Vec<&str> = said.lines().filter(|it| it.contains(&at)).collect();
        assert!(lines.iter().any(|it| it.contains(expect)), "{word}: {lines:#?}");
    };
    check("b[i + 1] = a[i] + a[i + 1]", "a, b: all");
    check("d[2 * i] += d[2 * i + 1]", "d: all");
    check("p[i].y += p[i].x", "p: all");
    check("b[i] = b[i] * 2 + i", "b: all");
    check("b[n - 1 - i] = a[i]", "a, b: all");
    check("a[i] = a[i] * 2 + b[i]", "two arrays overlap");
    check("c[i*n+j] *= 2", "a, b, c: all");
    check("c[i*m+j+m] += a[i*m+j]", "a, c: all, 1 tiles of 1 rounds");
    check("c[i*m+j+m] += a[i*m+j]", "a, c: all, 8 tiles of ");
    check("c[i*m+j] *= i + j", "fewer rounds than there are cores");
    check("whole[i][j] = i * j", "whole: all");
    check("inside[i] = i * i", "inside: none");
    check("y[i] += x[i]", "x, y: all, ");
}

/// Loops of a parallel region of their own.
const TEAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  int n = 3000, m = 48;
  int *a = malloc(sizeof(int) * n), *b = malloc(sizeof(int) * n), *c = calloc(m * m, sizeof(int)), *d = malloc(sizeof(int) * m * m);
  for (int i = 0; i < n; i++) a[i] = i % 17, b[i] = 0;
  for (int i = 0; i < m * m; i++) d[i] = i % 7;
  long sum = 0;
  int last = 0;
  #pragma omp target map(to: a[0:n], d[0:m*m]) map(tofrom: b[0:n], c[0:m*m], sum, last)
  {
    #pragma omp parallel
    {
      #pragma omp for
      for (int i = 0; i < n; i++) b[i] = a[i] * 3 + 1;
      #pragma omp for collapse(2)
      for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
          for (int k = 0; k < m; k++) c[i * m + j] += d[i * m + k] * d[k * m + j];
      #pragma omp for collapse(2) schedule(static)
      for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) c[i * m + j] = c[i * m + j] * 5 + d[i * m + j];
      #pragma omp for reduction(+: sum) lastprivate(last)
      for (int i = 0; i < n; i++) sum += (long)b[i] * i, last = b[i];
      /* Rounds of loops with the same schedule are the same thread's. */
      int own[1500], mine = 0;
      #pragma omp for schedule(static)
      for (int i = 0; i < n; i++) own[mine++] = a[i] + i, b[i] += a[i];
      mine = 0;
      #pragma omp for schedule(static)
      for (int i = 0; i < n; i++) b[i] ^= own[mine++];
      #pragma omp for nowait
      for (int i = 0; i < n; i++) b[i] += 2;
    }
    #pragma omp parallel num_threads(3) firstprivate(a)
    {
      int *p = a;
      #pragma omp for
      for (int i = 0; i < n; i++) b[i] = b[i] * 2 + p[i];
      a += 1;
      #pragma omp for
      for (int i = 0; i < n - 1; i++) b[i] = b[i] * 7 + a[i];
      #pragma omp parallel
      #pragma omp for
      for (int i = 0; i < n; i++) b[i] += 0;
      #pragma omp for
      for (int i = n - 1; i > 0; i -= 2) b[i] += i;
    }
    if (last < 0) {
      #pragma omp parallel
      #pragma omp for
      for (int i = 0; i < n; i++) b[i] = 0;
    }
  }
  long hash = 0;
  for (int i = 0; i < n; i++) hash = hash * 31 + b[i];
  for (int i = 0; i < m * m; i++) hash = hash * 31 + c[i];
  printf("%ld %ld %d\n", hash, sum, last);
}"#;

#[test]
fn loops_of_a_team_that_is_there_bring_their_arrays() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    build(folder.path(), TEAM, &[]);
    let said = compared(folder.path());
    let of_line = |word: &str| -> Option<String> {
        let at = format!("a.c:{}: ", line_of(TEAM, word) - 1);
        said.split("brought into the scratchpad of ").find(|it| it.contains(&at)).map(str::to_owned)
    };
    let check = |word: &str, expect: &str| {
        let found = of_line(word).unwrap_or_default();
        assert!(found.contains(expect), "{word}: {found} in {said}");
    };
    check("b[i] = a[i] * 3 + 1", "a, b: all, 8 tiles of 375 rounds");
    check("for (int i = 0; i < m; i++)", "c, d: all, 8 tiles of 6 rounds");
    check("sum += (long)b[i]", "b: all, ");
    check("own[mine++] = a[i] + i", "a, b: all, 8 tiles");
    check("b[i] ^= own[mine++]", "b: all, 8 tiles");
    check("b[i] = b[i] * 2 + p[i]", "b: all, 3 tiles");
    check("b[i] += i;", "b: all, 3 tiles");
    // Nobody waits behind it; threads have pointers of their own; rounds are dealt in another order.
    for word in ["b[i] += 2", "c[i * m + j] * 5"] {
        assert_eq!(of_line(word), None, "{word}: {said}");
    }
    assert!(!of_line("b[i] * 7 + a[i]").unwrap_or_default().contains("a, "), "{said}");
}

const LARGE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  int n = 300;
  int *a = malloc(sizeof(int) * n * n), *b = malloc(sizeof(int) * n * n), *c = calloc(n * n, sizeof(int));
  for (int i = 0; i < n * n; i++) a[i] = i % 17, b[i] = i % 5;
  #pragma omp target teams distribute parallel for map(to: a[0:n*n], b[0:n*n]) map(tofrom: c[0:n*n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < n; k++) c[i * n + j] += a[i * n + k] * b[k * n + j];
  long sum = 0;
  for (int i = 0; i < n * n; i++) sum += (long)c[i] * (i % 3 + 1);
  printf("%ld\n", sum);
}"#;

#[test]
fn what_does_not_fit_stays_outside_and_all_of_it_can_be_switched_off() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    // 360 kB of `b` do not fit, a few rows of `a` and `c` do.
    let report = build(folder.path(), LARGE, &["--ferry-report"]);
    assert!(report.contains("`a`, `c`: brought into the scratchpad by tiles"), "{report}");
    assert!(report.contains("`b`: brought into the scratchpad whole"), "{report}");
    let said = compared(folder.path());
    assert!(said.contains("a, b, c: those that move, "), "{said}");
    // The same is said without compiling, where it is asked.
    let explained = |words: &[&str]| told(&ferry(&[&["explain"], words].concat(), folder.path()));
    let asked = explained(&["--scratchpad", "a.c"]);
    assert!(asked.contains("`a`, `c`: brought into the scratchpad by tiles"), "{asked}");
    assert!(asked.contains("  tiles      line "), "{asked}");
    let asked = explained(&["--scratchpad", "--json", "a.c"]);
    assert!(asked.contains("`b`: brought into the scratchpad whole"), "{asked}");
    let asked = explained(&["a.c"]);
    assert!(!asked.contains("scratchpad"), "{asked}");
    let report = build(folder.path(), LARGE, &["--ferry-report", "--ferry-no-tiles"]);
    assert!(!report.contains("scratchpad"), "{report}");
    let said = compared(folder.path());
    assert!(!said.contains("scratchpad"), "{said}");
}

/// The host's own arrays: those that are read come into the scratchpad, those that are written stay where the host sees them.
#[test]
fn arrays_that_are_shared_with_the_host_are_brought_to_be_read() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = r#"
#include <stdio.h>
#include <stdlib.h>
#pragma omp requires unified_shared_memory
enum { N = 96 };
int main(void) {
  int *a = malloc(N * N * sizeof *a), *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
  for (int i = 0; i < N * N; i++) a[i] = i % 37 - 11;
  for (int i = 0; i < N; i++) x[i] = i % 5, y[i] = i;
  #pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++) {
    int sum = y[i];
    for (int j = 0; j < N; j++) sum += a[i * N + j] * x[j];
    y[i] = sum;
  }
  long sum = 0;
  for (int i = 0; i < N; i++) sum = sum * 3 % 1000003 + y[i];
  printf("%ld\n", sum);
  return 0;
}"#;
    build(folder.path(), text, &[]);
    let answer = |device: &str| {
        let ran = run(folder.path(), device);
        assert!(ran.status.success(), "{device}: {}", told(&ran));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    assert_eq!(answer("cpu"), answer("riscv:shared"));
    let said = told(&run(folder.path(), "riscv:shared"));
    assert!(said.contains("brought into the scratchpad"), "{said}");
    build(folder.path(), text, &["--ferry-no-tiles"]);
    assert_eq!(answer("cpu"), answer("riscv:shared"));
}

#[test]
fn arrays_that_cannot_be_brought_are_told_with_the_reason() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let check = |body: &str, expect: &str| {
        let text = format!(
            "#include <stdio.h>\nvoid note(int *);\n#pragma omp begin declare target\n\
             void note(int *p) {{ *p += 1; }}\n#pragma omp end declare target\n\
             int main(void) {{ int n = 50, a[50], at[50], *p = a;\n\
             for (int i = 0; i < n; i++) a[i] = i, at[i] = (i * 7) % 50;\n\
             #pragma omp target parallel for map(tofrom: a, at)\n\
             for (int i = 0; i < n; i++) {{ {body} }}\n\
             long sum = 0; for (int i = 0; i < n; i++) sum += a[i] * (i + 1); printf(\"%ld\\n\", sum); (void)p; }}"
        );
        let report = build(folder.path(), &text, &["--ferry-report"]);
        assert!(report.contains(expect), "{body}\n{report}");
        compared(folder.path());
    };
    check("a[at[i]] += 1;", "`a` stays outside of the scratchpad: the elements of a round");
    check("note(&a[i]);", "`a` stays outside of the scratchpad");
    check("_Pragma(\"omp atomic\") a[i % 3] += 1;", "an atomic access is made");
    check("a[i] = i; if (i > n) printf(\"%d\", i);", "does more than compute");
}

/// Numbers that look like chance and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Nests over arrays with subscripts that are lines over the counters, all within the arrays.
fn nests(seed: u64, count: usize) -> String {
    let mut chance = Chance(seed);
    let mut text = String::from(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         static long check(int *a, long n) { long h = 0; for (long i = 0; i < n; i++) h = h * 31 + a[i]; return h; }\n\
         int main(void) {\n",
    );
    for number in 0..count {
        let (rounds, inner) = (chance.below(400), chance.below(12));
        let (first, step) = (chance.below(4), 1 + chance.below(3));
        let (own, width) = (1 + chance.below(5), inner.max(1) + chance.below(3));
        let type_of = ["int", "long", "size_t"][chance.below(3) as usize];
        let room = 32768;
        // Written: width elements for each round. Read: all kinds of lines.
        let reads: Vec<String> = (0..1 + chance.below(3))
            .map(|_| {
                let (by_round, by_inner, on) =
                    (chance.below(8), chance.below(4), 8 + chance.below(40));
                match chance.below(3) {
                    0 => format!("a[{by_round} * i + {by_inner} * j + {on}]"),
                    1 => format!("a[{by_inner} * j + {on}]"),
                    _ => format!("b[{by_round} * i + {on} - {by_inner}]"),
                }
            })
            .collect();
        let target = format!("c[i * {width} + {}]", if own > 3 { "j" } else { "0" });
        let update = ["=", "+=", "^="][chance.below(3) as usize];
        let when = if chance.below(3) == 0 { "if ((i + j) % 3) " } else { "" };
        let (head, many) = match chance.below(3) {
            0 => (
                "omp target teams distribute parallel for map(to: a[0:room], b[0:room]) map(tofrom: c[0:room])",
                "",
            ),
            1 => (
                "omp target map(to: a[0:room], b[0:room]) map(tofrom: c[0:room])\n#pragma omp parallel\n#pragma omp for",
                "",
            ),
            _ => ("acc parallel loop copyin(a[0:room], b[0:room]) copy(c[0:room])", ""),
        };
        let bound = first + rounds * step;
        let _ = writeln!(
            text,
            "{{ enum {{ room = {room} }}; int *a = malloc(sizeof(int) * room), *b = malloc(sizeof(int) * room), *c = malloc(sizeof(int) * room);\n\
             for (int i = 0; i < room; i++) a[i] = i * 7 % 101, b[i] = i * 3 % 97, c[i] = i % 13;\n\
             int bound = {bound}, inner = {inner}; (void)bound; (void)inner;\n\
             #pragma {head}{many}\n\
             for ({type_of} i = {first}; i < bound; i += {step})\n\
               for (int j = 0; j < inner; j++) {{ {when}{target} {update} {} + (int)i; }}\n\
             printf(\"%d %ld\\n\", {number}, check(c, room)); free(a); free(b); free(c); }}",
            reads.join(" + ")
        );
    }
    text.push_str("return 0; }\n");
    text
}

#[test]
fn random_nests_give_the_hosts_answers() {
    if !has_tools() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut brought = 0;
    for seed in [1, 2] {
        build(folder.path(), &nests(seed, 24), &[]);
        let said = compared(folder.path());
        brought += said.lines().filter(|it| it.contains(": all, ")).count();
    }
    assert!(brought > 12, "only {brought} loops brought their arrays");
}
