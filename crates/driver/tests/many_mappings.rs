//! A million mappings in no order: time grows with their number.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use std::process::Command;

use support::{ferry, told};

/// Maps that many pieces of an array, shuffled, one by one and all at once, and lets them go in another order; prints the
/// time that took this process.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]), *order = malloc(n * sizeof *order);
  char *data = malloc(16L * n);
  unsigned state = 1;
  for (int i = 0; i < n; i++) order[i] = i;
  for (int i = n - 1; i > 0; i--) {
    state = state * 1664525u + 1013904223u;
    int j = state % (i + 1), t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
  clock_t begin = clock();
  for (int i = 0; i < n; i++) {
    char *it = data + 16L * order[i];
#pragma omp target enter data map(to : it[0 : 8])
  }
  for (int i = 0; i < n; i++) {
    char *it = data + 16L * order[(7L * i + 3) % n];
#pragma omp target exit data map(delete : it[0 : 8])
  }
#pragma omp target enter data map(iterator(i = 0 : n), to : data[16L * order[i] : 8])
#pragma omp target exit data map(iterator(i = 0 : n), delete : data[16L * order[i] : 8])
  printf("%ld", (long)((clock() - begin) / (CLOCKS_PER_SEC / 1000)));
}
"#;

#[test]
fn time_grows_with_the_number_of_mappings() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("many.c"), PROGRAM).unwrap();
    let built = ferry(
        &["cc", "-fopenmp", "--device", "cpu,cpu:separate", "many.c", "-o", "many"],
        folder.path(),
    );
    assert!(built.status.success(), "{}", told(&built));
    for device in ["cpu", "cpu:separate"] {
        let taken = |count: u32| {
            let run = Command::new(folder.path().join("many"))
                .arg(count.to_string())
                .env("FERRY_DEVICE", device)
                .output()
                .unwrap();
            assert!(run.status.success(), "{}", told(&run));
            String::from_utf8_lossy(&run.stdout).parse::<u64>().unwrap()
        };
        let (few, many) = (taken(25_000), taken(100_000));
        // Four times as many: caches miss more often, but the square would be sixteen times.
        assert!(many < few.max(20) * 9, "{device}: {few} ms became {many} ms");
    }
}
