//! The programs that are timed.

use std::fmt::Write;

/// A small program behind many headers.
pub(crate) const HEADERS: &str = "\
#include <assert.h>
#include <complex.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <tgmath.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

int main(void) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; i++) sum += sqrt((double)i);
  printf(\"%f\\n\", sum);
  return 0;
}
";

/// About `lines` lines of the code that simulations are made of.
pub(crate) fn large(lines: usize) -> String {
    let mut text = String::from(
        "typedef unsigned long size_t;\n\
         double sqrt(double);\nint printf(const char *, ...);\nvoid *malloc(size_t);\nvoid free(void *);\n",
    );
    let mut number = 0;
    let mut written = 5;
    while written < lines {
        let unit = unit(number);
        written += unit.lines().count();
        text.push_str(&unit);
        number += 1;
    }
    text
}

/// A structure, a table and three functions, all named after `n`.
fn unit(n: usize) -> String {
    let (a, b, c) = (n % 7 + 1, n % 13 + 2, n % 5 + 3);
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "
struct cell{n} {{
  double value[{b}];
  int index, flags : {c};
  struct cell{n} *next;
}};

enum kind{n} {{ K{n}_A, K{n}_B = {a}, K{n}_C }};

static const double weights{n}[] = {{ 1.0, 0.5e-{a}, {b}.25, -{c}.0f }};

static inline double norm{n}(const double *x, int count) {{
  double sum = 0.0;
  for (int i = 0; i < count; i++) {{
    sum += x[i] * x[i] + weights{n}[i % 4];
  }}
  return sum > 1e-{b} ? sqrt(sum) : 0.0;
}}

int step{n}(struct cell{n} *cells, int n, double *restrict out, const double *restrict in) {{
  int changed = 0;
  double largest = 0.0;
#pragma omp target teams distribute parallel for map(tofrom: out[0:n]) map(to: in[0:n]) reduction(max: largest) firstprivate(changed)
  for (int i = 1; i < n - 1; i++) {{
    double left = in[i - 1], right = in[i + 1];
    out[i] = {a} * in[i] + 0.{b} * (left - right) / (double)(i + {c});
    if (out[i] > largest) largest = out[i];
  }}
#pragma omp parallel for schedule(static, {b}) collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < {b}; j++) cells[i].value[j] = out[i] * weights{n}[j & 3];
  for (struct cell{n} *it = cells; it; it = it->next) {{
    switch (it->flags) {{
    case K{n}_A: it->index += (int)norm{n}(it->value, {b}); break;
    case K{n}_B: it->index <<= 1; /* fall through */
    default: changed++, it->flags ^= {a};
    }}
  }}
  return changed + (largest > {c}.0);
}}

void report{n}(struct cell{n} *cells, int n) {{
  double *buffer = malloc(sizeof *buffer * (size_t)n);
  if (!buffer) return;
#pragma acc parallel loop copyout(buffer[0:n]) copyin(cells[0:n])
  for (int i = 0; i < n; ++i) buffer[i] = cells[i].value[0] + cells[i].index;
  while (n-- > 0) {{
    printf(\"%d: %g %s\\n\", n, buffer[n], buffer[n] < 0 ? \"negative\" : \"fine\");
  }}
  free(buffer);
}}
"
    );
    text
}
