//! C files: some checks, what they share, and a `main` that runs all of them or one.

use crate::check::Check;
use std::fmt::Write;

/// What every file begins with.
const BEGIN: &str = r#"#include <float.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <openacc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shared, host, failed;
static const char *running = "begin";

static void same(const char *what, long long got, long long want) {
  if (got == want) return;
  failed = 1;
  printf("%s: %s is %lld, right is %lld\n", running, what, got, want);
}

static void exact(const char *what, double got, double want) {
  if (got == want ? signbit(got) == signbit(want) : got != got && want != want) return;
  failed = 1;
  printf("%s: %s is %.17g, right is %.17g\n", running, what, got, want);
}

"#;

/// What every file ends with, after the table of its checks.
const END: &str = r#"
// How the memory of the device is: told by the first argument (shared, separate, or host where no device runs regions).
static void begin(const char *told) {
  int probe = 0, seen = 0, there = 1, acc = 1;
#pragma omp target data map(to: probe)
  {
    probe = 1;
#pragma omp target map(to: probe) map(from: seen)
    seen = probe;
  }
#pragma omp target map(from: there)
  there = omp_is_initial_device();
#pragma acc serial copyout(acc)
  acc = acc_on_device(acc_device_host);
  shared = seen;
  host = there;
  if (!told) return;
  same("the device shares memory", shared, strcmp(told, "separate") != 0);
  same("OpenMP regions run on the host", there, strcmp(told, "host") == 0);
  same("OpenACC regions run on the host", acc != 0, strcmp(told, "host") == 0);
  shared = strcmp(told, "separate") != 0;
  host = strcmp(told, "host") == 0;
}

// [shared|separate|host [SEED]]
int main(int count, char **word) {
  begin(count > 1 ? word[1] : NULL);
  for (unsigned k = 0; k < sizeof checks / sizeof *checks; k++) {
    if (count > 2 && strcmp(word[2], checks[k].seed)) continue;
    running = checks[k].name;
    checks[k].run();
    fflush(stdout);
  }
  puts(failed ? "FAILED" : "ok");
  return failed;
}
"#;

/// One file with all of `checks`.
pub fn text(checks: &[&Check]) -> String {
    let mut text = String::from(BEGIN);
    for it in checks {
        let Check { seed, family, top, body, .. } = it;
        let _ = write!(
            text,
            "// ---- seed {seed}: {family}\n{top}static void check_{seed}(void) {{\n{body}}}\n\n"
        );
    }
    text.push_str(
        "static const struct { const char *seed, *name; void (*run)(void); } checks[] = {\n",
    );
    for Check { seed, family, .. } in checks {
        let _ = writeln!(text, "  {{\"{seed}\", \"seed {seed} ({family})\", check_{seed}}},");
    }
    text.push_str("};\n");
    text + END
}
