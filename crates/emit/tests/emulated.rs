//! Kernels in CUDA C++ that run on the host, each thread as a thread, and compute what the program says, bit by bit.
//!
//! The forms that only GPUs have are tried here with sizes that do and do not fit them; that they compile for GPUs
//! is tested with the driver. What threads of a group share is tried with a detector of races, and in OpenCL C too.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
#![allow(clippy::print_stderr, reason = "a test says what it needs from the machine")]

mod support;

use std::process::Command;

use support::whole_text;

const CUDA: &str = include_str!("emulated/cuda.h");
const OPENCL: &str = include_str!("emulated/opencl.h");

/// The program's text for CUDA, which has something to try, run by a function `int main()` that says
/// `same …` if all is well.
fn agrees(form: &str, program: &str, main: &str) {
    let source = in_cuda(form, program, main);
    same(&[("kernel.cpp", &source)], &[&["g++", "kernel.cpp"]]);
}

/// The same, and no two threads meet at an element without having met before; and the same in OpenCL C for devices whose
/// groups have memory of their own.
fn agrees_without_races(form: &str, program: &str, main: &str) {
    let source = in_cuda(form, program, main);
    same(&[("kernel.cpp", &source)], &[&["g++", "-fsanitize=thread", "kernel.cpp"]]);
    if Command::new("clang-19").arg("--version").output().is_err() {
        eprintln!("skipped: no compiler of OpenCL C (Debian: clang-19)");
        return;
    }
    let text = whole_text(emit::Grid::OpenCl, program);
    assert!(text.contains(form), "{text}");
    let head = text.lines().find(|it| it.starts_with("__kernel ")).unwrap();
    let name = head.split_once(" void ").unwrap().1.split('(').next().unwrap();
    let around = format!(
        "{CUDA}\n{OPENCL}\nextern \"C\" void {name}(long, long, long, long);\n\
         static void run(unsigned blocks, unsigned threads, const unsigned long *w)\n{{\n  \
         launch(blocks, threads, [=] {{ {name}(w[0], w[1], w[2], w[3]); }});\n}}\n{main}"
    );
    same(
        &[("kernel.cl", &text), ("around.cpp", &around)],
        &[
            &["clang-19", "-xcl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header", "-O1"],
            &["g++", "kernel.o", "around.cpp"],
        ],
    );
}

/// A program that runs the kernel that is in a text for CUDA.
fn in_cuda(form: &str, program: &str, main: &str) -> String {
    let text = whole_text(emit::Grid::Cuda, program);
    assert!(text.contains(form), "{text}");
    let head = text.lines().find(|it| it.contains("__launch_bounds__(")).unwrap();
    let name = head.split_once(") ").unwrap().1.split('(').next().unwrap();
    let slots = head.matches("__ferry_slot ").count();
    let slots: Vec<String> = (0..slots).map(|it| format!("{{ w[{it}] }}")).collect();
    let parts = if head.contains("__ferry_parts0") { ", w[4]" } else { "" };
    let slots = slots.join(", ");
    // The text has macros for words of C++, and so stands last.
    format!(
        "{CUDA}\nextern \"C\" void run(unsigned, unsigned, const unsigned long *);\n{main}\n{text}\n\
         extern \"C\" void run(unsigned blocks, unsigned threads, const unsigned long *w)\n{{\n  \
         launch(blocks, threads, [=] {{ {name}({slots}{parts}); }});\n}}\n"
    )
}

/// Builds a program from files, the last command last, and runs it: it says `same …`.
fn same(files: &[(&str, &str)], commands: &[&[&str]]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (name, text) in files {
        std::fs::write(path.join(name), text).unwrap();
    }
    for command in commands {
        let mut build = Command::new(command[0]);
        build.args(&command[1..]);
        match command[0] {
            // Contraction would make other numbers of both, but not the same.
            "g++" => {
                build.args("-std=c++20 -O1 -w -ffp-contract=off -pthread -o program".split(' '))
            }
            _ => build.args("-w -ffp-contract=off -c kernel.cl -o kernel.o".split(' ')),
        };
        let built = build.current_dir(path).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }
    // The race detector wants its addresses where they always are.
    let ran = Command::new("setarch").arg("-R").arg(path.join("program")).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    let complaint = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{told}{complaint}");
    // A main function that compares nothing says nothing.
    assert!(told.starts_with("same "), "{told}");
}

#[test]
fn rows_are_summed_up_in_order_by_bundles() {
    agrees(
        "_summands[",
        "void rows(const float *a, const float *x, float *y, int n) {
#pragma omp target teams distribute parallel for map(to: a[0:n*n], x[0:n]) map(from: y[0:n])
  for (int i = 0; i < n; i++) {
    float s = 0.5f;
    for (int j = 0; j < n; j++) s += a[i * n + j] * x[j];
    y[i] = s;
  }
}
",
        "#include <cstdio>
int main() {
  for (int n : { 1, 31, 65, 130 })
    for (unsigned threads : { 128u, 64u, 48u }) {
      std::vector<float> a(n * n), x(n), y(n + 1, -1.0f);
      for (int i = 0; i < n * n; i++) a[i] = (float)(i * 37 % 101) / 7 - 5;
      for (int i = 0; i < n; i++) x[i] = (float)(i * 13 % 29) / 3 - 2;
      const unsigned long words[] = { (unsigned long)n, (unsigned long)a.data(), (unsigned long)x.data(), (unsigned long)y.data() };
      run(2, threads, words);
      for (int i = 0; i < n; i++) {
        float s = 0.5f;
        for (int j = 0; j < n; j++) s += a[i * n + j] * x[j];
        if (s != y[i]) return printf(\"n %d, %u threads, row %d: %.9g, not %.9g\\n\", n, threads, i, y[i], s), 1;
      }
      if (y[n] != -1.0f) return puts(\"beyond the last\"), 1;
    }
  puts(\"same rows\");
}
",
    );
}

#[test]
fn rows_of_other_lengths_are_too() {
    agrees(
        "_summands[",
        "void sparse(const int *start, const float *value, double *y, int n) {
#pragma omp target teams distribute parallel for map(to: start[0:n+1], value[0:start[n]]) map(from: y[0:n])
  for (int i = 0; i < n; i++) {
    const double scale = i + 1;
    enum { ODD, EVEN } parity = i % 2 ? ODD : EVEN;
    const float *from = value + (parity == EVEN);
    double s = 0;
    for (int k = start[i]; k < start[i + 1]; k++) {
      const double v = from[k];
      s -= v * scale;
    }
    y[i] = s / scale;
  }
}
",
        "#include <cstdio>
int main() {
  const int n = 45;
  std::vector<int> start(n + 1);
  for (int i = 0; i < n; i++) start[i + 1] = start[i] + (i % 9 == 4 ? 200 : i % 5 == 0 ? 0 : i * 11 % 67);
  std::vector<float> value(start[n] + 1);
  std::vector<double> y(n, -1);
  for (int k = 0; k <= start[n]; k++) value[k] = (float)(k * 31 % 103) / 9 - 5;
  const unsigned long words[] = { (unsigned long)n, (unsigned long)start.data(), (unsigned long)value.data(), (unsigned long)y.data() };
  run(1, 128, words);
  for (int i = 0; i < n; i++) {
    const double scale = i + 1;
    double s = 0;
    for (int k = start[i]; k < start[i + 1]; k++) s -= (double)value[k + (i % 2 == 0)] * scale;
    if (s / scale != y[i]) return printf(\"row %d: %.17g, not %.17g\\n\", i, y[i], s / scale), 1;
  }
  puts(\"same rows\");
}
",
    );
}

#[test]
fn columns_are_summed_up_many_rows_at_a_time() {
    agrees(
        ">= 128L;",
        "void columns(const float *a, const float *x, float *y, int n) {
#pragma omp target teams distribute parallel for map(to: a[0:n*n], x[0:n]) map(from: y[0:n])
  for (int j = 0; j < n; j++) {
    float s = 0.5f;
    for (int i = 1; i <= n - 1; ++i) s += a[i * n + j] * x[i];
    y[j] = s;
  }
}
",
        "#include <cstdio>
int main() {
  for (int n : { 1, 2, 128, 129, 130, 300 }) {
    std::vector<float> a(n * n), x(n), y(n + 1, -1.0f);
    for (int i = 0; i < n * n; i++) a[i] = (float)(i * 37 % 101) / 7 - 5;
    for (int i = 0; i < n; i++) x[i] = (float)(i * 13 % 29) / 3 - 2;
    const unsigned long words[] = { (unsigned long)n, (unsigned long)a.data(), (unsigned long)x.data(), (unsigned long)y.data() };
    run(2, 32, words);
    for (int j = 0; j < n; j++) {
      float s = 0.5f;
      for (int i = 1; i < n; i++) s += a[i * n + j] * x[i];
      if (s != y[j]) return printf(\"n %d, column %d: %.9g, not %.9g\\n\", n, j, y[j], s), 1;
    }
    if (y[n] != -1.0f) return puts(\"beyond the last\"), 1;
  }
  puts(\"same columns\");
}
",
    );
}

#[test]
fn tiles_are_whole_or_not() {
    // The third loop is short, so that tiles have enough iterations in little time.
    agrees(
        "_staged[",
        "void product(const float *a, const float *b, float *c, int n) {
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:n*3], b[0:n*3]) map(from: c[0:n*n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float s = 1;
      for (int k = 0; k < 3; k++) s += a[i * 3 + k] * b[k * n + j];
      c[i * n + j] = s;
    }
}
",
        "#include <cstdio>
int main() {
  for (int n : { 1, 20, 65, 130, 533, 1453 })
    for (unsigned threads : { 128u, 48u }) {
      std::vector<float> a(n * 3), b(n * 3), c(n * n, -1.0f);
      for (int i = 0; i < n * 3; i++) a[i] = (float)(i * 37 % 101) / 7 - 5, b[i] = (float)(i * 13 % 29) / 3 - 2;
      const unsigned long words[] = { (unsigned long)n, (unsigned long)a.data(), (unsigned long)b.data(), (unsigned long)c.data(), 7, 7, 7, 7 };
      run(2, threads, words);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          float s = 1;
          for (int k = 0; k < 3; k++) s += a[i * 3 + k] * b[k * n + j];
          if (s != c[i * n + j]) return printf(\"%d, %d of %d: %.9g, not %.9g\\n\", i, j, n, c[i * n + j], s), 1;
        }
    }
  puts(\"same product\");
}
",
    );
}

#[test]
fn operands_of_tiles_lie_in_any_order() {
    // Both operands are transposed, one has another type, and a third is the same for the whole tile.
    agrees(
        "_staged[",
        "void product(const double *a, const int *b, const double *w, double *c, int m, int n, int l) {
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:m*l], b[0:n*l], w[0:l]) map(from: c[0:m*n])
  for (int j = n - 1; j >= 0; j--)
    for (int i = 0; i < m; i++) {
      double s = i - j;
      for (int k = 1; k <= l - 1; k++) {
        const double t = a[k * m + i] - b[j * l + k];
        if (t > 0) s += t * w[k];
      }
      c[i * n + j] = s;
    }
}
",
        "#include <cstdio>
int main() {
  const int sizes[][3] = { { 70, 33, 1 }, { 33, 70, 2 }, { 64, 128, 40 }, { 600, 900, 9 } };
  for (auto [m, n, l] : sizes)
    for (unsigned groups : { 1u, 7u }) {
      std::vector<double> a(m * l), w(l), c(m * n, -1.0);
      std::vector<int> b(n * l);
      for (int i = 0; i < m * l; i++) a[i] = i * 37 % 101 / 7.0 - 5;
      for (int i = 0; i < n * l; i++) b[i] = i * 13 % 29 - 14;
      for (int i = 0; i < l; i++) w[i] = i % 5 + 0.25;
      const unsigned long words[] = { (unsigned long)m, (unsigned long)l, (unsigned long)a.data(), (unsigned long)n, (unsigned long)b.data(), (unsigned long)w.data(), (unsigned long)c.data() };
      run(groups, 128, words);
      for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
          double s = i - j;
          for (int k = 1; k <= l - 1; k++) {
            const double t = a[k * m + i] - b[j * l + k];
            if (t > 0) s += t * w[k];
          }
          if (s != c[i * n + j]) return printf(\"%d, %d: %.9g, not %.9g\\n\", i, j, c[i * n + j], s), 1;
        }
    }
  puts(\"same products\");
}
",
    );
}

#[test]
fn transposed_elements_go_through_group_memory() {
    agrees(
        "_staged[",
        "void turn(const short *a, short *b, int m, int n) {
#pragma omp target teams distribute parallel for collapse(2) map(to: a[0:m*n]) map(from: b[0:m*n])
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      b[j * m + i] = a[i * n + j];
}
",
        "#include <cstdio>
int main() {
  const int sizes[][2] = { { 1, 1 }, { 31, 65 }, { 64, 32 }, { 100, 7 } };
  for (auto [m, n] : sizes)
    for (unsigned threads : { 128u, 48u }) {
      std::vector<short> a(m * n), b(m * n, -1);
      for (int i = 0; i < m * n; i++) a[i] = (short)(i * 31);
      const unsigned long words[] = { (unsigned long)m, (unsigned long)n, (unsigned long)a.data(), (unsigned long)b.data() };
      run(3, threads, words);
      for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
          if (b[j * m + i] != a[i * n + j]) return printf(\"%d, %d\\n\", i, j), 1;
    }
  puts(\"same elements\");
}
",
    );
}

#[test]
fn neighbours_share_what_they_look_at() {
    agrees(
        "_result = ",
        "enum { W = 3 };
void smooth(const int *in, int *out, int m, int n) {
#pragma omp target teams distribute parallel for collapse(2) map(to: in[0:(m+2)*(n+2)]) map(from: out[0:m*n])
  for (int y = 0; y < m; y++)
    for (int x = 0; x < n; x++) {
      int s = 0;
      for (int i = 0; i < W; i++)
        for (int j = 0; j < W; j++)
          s += in[(y + i) * (n + 2) + x + j] * (2 * i - j);
      out[y * n + x] = s;
    }
}
",
        "#include <cstdio>
int main() {
  const int sizes[][2] = { { 5, 9 }, { 1450, 1453 } };
  for (auto [m, n] : sizes) {
    std::vector<int> in((m + 2) * (n + 2)), out(m * n, -1);
    for (unsigned i = 0; i < in.size(); i++) in[i] = i * 31 % 17 - 8;
    const unsigned long words[] = { (unsigned long)m, (unsigned long)n, (unsigned long)in.data(), (unsigned long)out.data() };
    run(2, 128, words);
    for (int y = 0; y < m; y++)
      for (int x = 0; x < n; x++) {
        int s = 0;
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++)
            s += in[(y + i) * (n + 2) + x + j] * (2 * i - j);
        if (s != out[y * n + x]) return printf(\"%d, %d\\n\", y, x), 1;
      }
  }
  puts(\"same sums\");
}
",
    );
}

#[test]
fn sums_take_each_iteration_once() {
    // Whole numbers: their sum is the same in every order. Some iterations end early.
    agrees(
        "__ferry_kernel_is_last(",
        "long sum(const long *a, int begin, int n) {
  long s = 5;
#pragma omp target teams distribute parallel for reduction(+: s) map(to: a[0:n]) map(tofrom: s)
  for (int i = begin; i < n; i++) {
    if (a[i] % 5 == 0) continue;
    s += a[i] * i;
  }
  return s;
}
",
        "#include <cstdio>
int main() {
  unsigned long parts[521 + 8] = { 0 };
  for (int n : { 3, 4, 31, 64, 255, 256, 257, 511, 512, 513, 1000, 1030 })
    for (unsigned threads : { 32u, 7u }) {
      std::vector<long> a(n);
      long got = 5, wanted = 5;
      for (int i = 0; i < n; i++) a[i] = i * 37 % 101;
      for (int i = 3; i < n; i++) if (a[i] % 5) wanted += a[i] * i;
      const unsigned long words[] = { (unsigned long)&got, (unsigned long)n, (unsigned long)a.data(), 3, (unsigned long)parts };
      run(2, threads, words);
      if (got != wanted) return printf(\"n %d, %u threads: %ld, not %ld\\n\", n, threads, got, wanted), 1;
    }
  puts(\"same sums\");
}
",
    );
}

#[test]
fn sums_that_round_are_combined_by_the_last_group() {
    // Numbers whose sums are exact, so that the order makes no difference here.
    agrees(
        "__ferry_kernel_is_last(0",
        "double sum(const double *a, int begin, int n) {
  double s = 5;
#pragma omp target teams distribute parallel for reduction(+: s) map(to: a[0:n]) map(tofrom: s)
  for (int i = begin; i < n; i++) {
    if (a[i] < 0) continue;
    s += a[i];
  }
  return s;
}
",
        "#include <cstdio>
int main() {
  unsigned long parts[521 + 8] = { 0 };
  for (int n : { 3, 4, 31, 257, 1000 })
    for (unsigned blocks : { 1u, 2u, 5u }) {
      std::vector<double> a(n);
      double got = 5, wanted = 5;
      for (int i = 0; i < n; i++) a[i] = i * 37 % 101;
      for (int i = 3; i < n; i++) wanted += a[i];
      const unsigned long words[] = { (unsigned long)&got, (unsigned long)n, (unsigned long)a.data(), 3, (unsigned long)parts };
      run(blocks, 32, words);
      if (got != wanted || parts[0] != 0) return printf(\"n %d, %u blocks: %g, not %g\\n\", n, blocks, got, wanted), 1;
    }
  puts(\"same sums\");
}
",
    );
}

#[test]
fn inverse_roots_are_the_same_bits() {
    agrees(
        "= __ferry_inverse_root(",
        "# 1 \"/usr/include/math.h\" 1 3
float sqrtf(float);
# 2 \"f.c\" 2
void inverse(const float *x, const float *unused, float *y, int n) {
#pragma omp target teams distribute parallel for map(to: x[0:n]) map(to: unused[0:1]) map(from: y[0:n])
  for (int i = 0; i < n; i++) y[i] = 1.0f / sqrtf(x[i]) + 0 * unused[0];
}
",
        "#include <cstdio>
int main() {
  std::vector<float> x, y;
  for (unsigned long word = 0; word < 1ul << 32; word += 20011) x.push_back(bits<float>((unsigned)word));
  for (unsigned word : { 0u, 1u, 0x80000000u, 0x7f800000u, 0x697ffffeu, 0x3f7fffffu, 0x3effffffu, 0x007fffffu }) x.push_back(bits<float>(word));
  y.resize(x.size());
  const float nothing = 0;
  const unsigned long words[] = { x.size(), (unsigned long)x.data(), (unsigned long)&nothing, (unsigned long)y.data() };
  run(1, 32, words);
  for (unsigned i = 0; i < x.size(); i++) {
    const float expected = 1.0f / std::sqrt(x[i]);
    if (std::isnan(expected) ? !std::isnan(y[i]) : bits<unsigned>(expected) != bits<unsigned>(y[i]))
      return printf(\"of %.9g: %.9g, not %.9g\\n\", x[i], y[i], expected), 1;
  }
  puts(\"same roots\");
}
",
    );
}

/// Places that suit loads of four elements and places that do not, loops that are shorter than one such, and more
/// than one iteration for a thread.
const PAIRS: &str = "#include <cstdio>
#include <cmath>
int main() {
  for (int n : { 1, 15, 63, 64, 65, 200 })
    for (int off : { 0, 1, 4 }) {
      std::vector<float> x(n + 8), m(n + 8), got(n), wanted(n);
      for (int i = 0; i < n + 8; i++) x[i] = i * 37 % 101 / 7.0f, m[i] = i * 11 % 13 / 3.0f;
      const float *const from = x.data() + off, *const mass = m.data() + off;
      for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j < n; j++) {
          const float d = from[j] - from[i];
          const float inverse = 1.0f / std::sqrt(d * d + 1e-3f);
          sum += mass[j] * inverse * d;
        }
        wanted[i] = sum;
      }
      const unsigned long words[] = { (unsigned long)n, (unsigned long)from, (unsigned long)mass, (unsigned long)got.data() };
      run(2, 128, words);
      for (int i = 0; i < n; i++)
        if (bits<unsigned>(got[i]) != bits<unsigned>(wanted[i]))
          return printf(\"n %d, %d further, %d: %.9g, not %.9g\\n\", n, off, i, got[i], wanted[i]), 1;
    }
  puts(\"same sums\");
}
";

#[test]
fn elements_that_all_look_at_are_in_memory_of_the_group() {
    let program = "# 1 \"/usr/include/math.h\" 1 3
float sqrtf(float);
# 2 \"f.c\" 2
void pairs(const float *x, const float *m, float *y, int n) {
#pragma omp target teams distribute parallel for map(to: x[0:n], m[0:n]) map(from: y[0:n])
  for (int i = 0; i < n; i++) {
    float own = x[i], sum = 0;
    for (int j = 0; j < n; j++) {
      float d = x[j] - own;
      float inverse = 1.0f / sqrtf(d * d + 1e-3f);
      sum += m[j] * inverse * d;
    }
    y[i] = sum;
  }
}
";
    agrees("_staged[", program, PAIRS);
    agrees("= __ferry_inverse_root_of_large(", program, PAIRS);
    // What may be skipped may not be there.
    let skips = program.replace("sum += m[j]", "if (d > 0) sum += m[j]");
    let text = whole_text(emit::Grid::Cuda, &skips);
    assert!(!text.contains("_staged["), "{text}");
    // A number that may be small.
    let small = program.replace("1e-3f", "own");
    let text = whole_text(emit::Grid::Cuda, &small);
    assert!(text.contains("= __ferry_inverse_root("), "{text}");
}

#[test]
fn threads_of_a_team_share_its_variables() {
    agrees(
        "__ferry_kernel_shuffle(",
        "void turned(int n, const int *a, int *b, int *sums) {
#pragma omp target teams distribute map(to: a[0:n*64]) map(from: b[0:n*64], sums[0:n])
  for (int i = 0; i < n; i++) {
    int row[64], weights[3] = { 2, i, 5 }, count = 0, first = a[i * 64];
    int seen[5] = { 0 };
#pragma omp parallel for
    for (int j = 0; j < 64; j++) row[63 - j] = a[i * 64 + j];
    weights[1] += row[1];
    int *p = seen;
#pragma omp parallel for
    for (int j = 0; j < 64; j++) {
#pragma omp atomic
      p[row[j] & 3] += weights[j % 3];
    }
    p[4] = first;
#pragma omp parallel for reduction(+: count)
    for (int j = 0; j < 64; j++) count += row[j] * seen[j % 5];
#pragma omp parallel for
    for (int j = 0; j < 64; j++) b[i * 64 + j] = row[j] + first;
    sums[i] = count;
  }
}
",
        "#include <cstdio>
int main() {
  const int n = 5;
  std::vector<int> a(n * 64), b(n * 64), sums(n);
  for (int i = 0; i < n * 64; i++) a[i] = i * 37 % 101;
  for (unsigned threads : { 32u, 64u, 7u })
    for (unsigned blocks : { 1u, 2u, 9u }) {
      const unsigned long words[] = { (unsigned long)n, (unsigned long)a.data(), (unsigned long)b.data(), (unsigned long)sums.data() };
      run(blocks, threads, words);
      for (int i = 0; i < n; i++) {
        int weights[3] = { 2, i + a[i * 64 + 62], 5 }, seen[5] = {}, count = 0;
        for (int j = 0; j < 64; j++) seen[a[i * 64 + 63 - j] & 3] += weights[j % 3];
        seen[4] = a[i * 64];
        for (int j = 0; j < 64; j++) {
          count += a[i * 64 + 63 - j] * seen[j % 5];
          if (b[i * 64 + j] != a[i * 64 + 63 - j] + a[i * 64]) return printf(\"%u threads: %d of %d\\n\", threads, j, i), 1;
        }
        if (sums[i] != count) return printf(\"%u threads: row %d: %d, not %d\\n\", threads, i, sums[i], count), 1;
      }
    }
  puts(\"same teams\");
}
",
    );
}

#[test]
fn teams_run_their_code_once_each() {
    agrees(
        "__ferry_mine",
        "void counts(int n, const int *keys, int *bins, int *teams) {
#pragma omp target teams num_teams(6) map(to: keys[0:n]) map(tofrom: bins[0:16], teams[0:1])
  {
    int own[16] = { 0 };
#pragma omp distribute parallel for
    for (int i = 0; i < n; i++) {
#pragma omp atomic
      own[keys[i]]++;
    }
#pragma omp parallel for
    for (int i = 0; i < 17; i++) {
      if (i == 16) {
#pragma omp atomic
        teams[0] += 1;
      } else {
#pragma omp atomic
        bins[i] += own[i];
      }
    }
#pragma omp distribute
    for (int i = 0; i < 4; i++) {
#pragma omp parallel for
      for (int j = 0; j < 16; j++) {
#pragma omp atomic
        bins[j] += i;
      }
    }
  }
}
",
        "#include <cstdio>
int main() {
  const int n = 1001;
  std::vector<int> keys(n);
  for (int i = 0; i < n; i++) keys[i] = i * i % 16;
  for (unsigned blocks : { 1u, 4u, 9u }) {
    std::vector<int> bins(16), expected(16, 6);
    int teams = 0;
    for (int key : keys) expected[key]++;
    const unsigned long words[] = { (unsigned long)n, (unsigned long)keys.data(), (unsigned long)bins.data(), (unsigned long)&teams };
    run(blocks, 33, words);
    if (bins != expected || teams != 6) return printf(\"%u blocks: %d teams\\n\", blocks, teams), 1;
  }
  puts(\"same counts\");
}
",
    );
}

#[test]
fn parts_that_are_asked_for_are_read_where_they_are() {
    agrees_without_races(
        "__ferry_kernel_thread()",
        "void wide(int n, const double *restrict a, double *b, double *rest) {
#pragma acc parallel loop gang copyin(a[0:n]) copy(b[0:n], rest[0:1])
  for (int g = 1; g < n - 1; g += 16) {
#pragma acc cache(a[g - 1 : 18])
#pragma acc loop vector
    for (int i = g; i < g + 16; i++)
      if (i < n - 1) b[i] = a[i - 1] + 2 * a[i] + 4 * a[i + 1] + a[n - 1 - i];
    if (a[g] < 0) rest[0] = a[g];
  }
}
",
        "#include <cstdio>
int main() {
  for (int n : { 3, 18, 100 })
    for (unsigned threads : { 32u, 5u }) {
      /* No element beyond the last may be read. */
      double *a = (double *)malloc(n * 8), rest = 0;
      std::vector<double> b(n, -1.0);
      for (int i = 0; i < n; i++) a[i] = i * i % 13 + 0.25;
      const unsigned long words[] = { (unsigned long)n, (unsigned long)a, (unsigned long)b.data(), (unsigned long)&rest };
      run(2, threads, words);
      for (int i = 1; i < n - 1; i++) {
        const double sum = a[i - 1] + 2 * a[i] + 4 * a[i + 1] + a[n - 1 - i];
        if (b[i] != sum) return printf(\"n %d: %d is %g, not %g\\n\", n, i, b[i], sum), 1;
      }
      if (b[0] != -1 || b[n - 1] != -1) return puts(\"beyond\"), 1;
      free(a);
    }
  puts(\"same parts\");
}
",
    );
}

#[test]
fn parts_that_are_asked_for_are_written_in_rounds() {
    agrees_without_races(
        "__ferry_kernel_barrier()",
        "void rounds(int n, int rounds, int *restrict a, int *b) {
#pragma acc parallel loop gang copy(a[0:n]) copy(b[0:n])
  for (int g = 0; g < n; g += 16) {
#pragma acc cache(a[g : 16])
    for (int round = 0; round < rounds; round++) {
#pragma acc loop vector
      for (int i = g; i < g + 16; i++)
        if (i < n) b[i] = a[i] + (i > g ? a[i - 1] : 1);
#pragma acc loop vector
      for (int i = g; i < g + 16; i++)
        if (i < n && i != g + 5) a[i] += b[i];
    }
  }
}
",
        "#include <cstdio>
int main() {
  for (int n : { 1, 16, 37, 100 })
    for (unsigned threads : { 32u, 5u })
      for (unsigned blocks : { 1u, 3u }) {
        /* No element beyond the last may be used. */
        int *a = (int *)malloc(n * 4);
        std::vector<int> b(n), wanted(n), other(n);
        for (int i = 0; i < n; i++) a[i] = wanted[i] = i * i % 13;
        for (int g = 0; g < n; g += 16)
          for (int round = 0; round < 3; round++) {
            for (int i = g; i < g + 16 && i < n; i++) other[i] = wanted[i] + (i > g ? wanted[i - 1] : 1);
            for (int i = g; i < g + 16 && i < n; i++) if (i != g + 5) wanted[i] += other[i];
          }
        const unsigned long words[] = { (unsigned long)n, (unsigned long)a, (unsigned long)b.data(), 3 };
        run(blocks, threads, words);
        for (int i = 0; i < n; i++)
          if (a[i] != wanted[i] || b[i] != other[i])
            return printf(\"%d of %d, %u threads: %d, not %d\\n\", i, n, threads, a[i], wanted[i]), 1;
        free(a);
      }
  puts(\"same rounds\");
}
",
    );
}

#[test]
fn one_team_may_ask_for_parts_with_elements_in_common() {
    agrees_without_races(
        "__ferry_kernel_barrier()",
        "void shifted(int n, int add, int *restrict a, int *b) {
#pragma omp target map(tofrom: a[0:n]) map(from: b[0:n])
  for (int g = 0; g < n; g += 8) {
#pragma acc cache(a[g : 12])
#pragma omp parallel for
    for (int i = g; i < g + 12; i++)
      if (i < n) a[i] += add + i;
#pragma omp parallel for
    for (int i = g; i < g + 8; i++)
      if (i < n) b[i] = a[i + 1 < n ? i + 1 : i];
  }
}
",
        "#include <cstdio>
int main() {
  for (int n : { 1, 8, 41 })
    for (unsigned threads : { 32u, 5u }) {
      std::vector<int> a(n), b(n), wanted(n), other(n);
      for (int i = 0; i < n; i++) a[i] = wanted[i] = i * i % 13;
      for (int g = 0; g < n; g += 8) {
        for (int i = g; i < g + 12 && i < n; i++) wanted[i] += 7 + i;
        for (int i = g; i < g + 8 && i < n; i++) other[i] = wanted[i + 1 < n ? i + 1 : i];
      }
      const unsigned long words[] = { (unsigned long)n, (unsigned long)a.data(), (unsigned long)b.data(), 7 };
      run(2, threads, words);
      if (a != wanted || b != other) return printf(\"%d, %u threads\\n\", n, threads), 1;
    }
  puts(\"same parts\");
}
",
    );
}

#[test]
fn tiles_of_rows_that_are_asked_for_are_read_and_written() {
    agrees_without_races(
        "__ferry_kernel_barrier()",
        "void tiles(int n, int add, int (*restrict a)[24], const int (*restrict b)[24]) {
#pragma acc parallel loop gang collapse(2) copy(a[0:n][0:24]) copyin(b[0:n][0:24])
  for (int i = 0; i < n; i += 2)
    for (int j0 = 0; j0 < 24; j0 += 8) {
#pragma acc cache(a[i : 2][j0 : 8], b[i - 1 : 4][j0 - 1 : 10])
#pragma acc loop vector
      for (int k = 0; k < 16; k++) {
        const int row = i + k / 8, column = j0 + k % 8;
        if (row < n) {
          int sum = add;
          for (int r = row - 1; r <= row + 1; r++)
            for (int c = column - 1; c <= column + 1; c++)
              if (r >= 0 && r < n && c >= 0 && c < 24) sum += b[r][c];
          a[row][column] += sum;
        }
      }
#pragma acc loop vector
      for (int k = 0; k < 4; k++) {
        const int first = a[i][j0 + k];
        a[i][j0 + k] = a[i][j0 + 7 - k];
        a[i][j0 + 7 - k] = first;
      }
    }
}
",
        "#include <cstdio>
int main() {
  for (int n : { 1, 2, 7 })
    for (unsigned threads : { 32u, 3u }) {
      typedef int Row[24];
      Row *a = (Row *)malloc(n * sizeof(Row)), *b = (Row *)malloc(n * sizeof(Row));
      std::vector<int> wanted(n * 24);
      for (int i = 0; i < n * 24; i++) a[0][i] = i * i % 13, b[0][i] = i * 7 % 11;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < 24; j++) {
          int sum = 9;
          for (int r = i - 1; r <= i + 1; r++)
            for (int c = j - 1; c <= j + 1; c++)
              if (r >= 0 && r < n && c >= 0 && c < 24) sum += b[r][c];
          wanted[i * 24 + (i % 2 ? j : j / 8 * 8 + 7 - j % 8)] = a[i][j] + sum;
        }
      const unsigned long words[] = { (unsigned long)n, (unsigned long)a, (unsigned long)b, 9 };
      run(2, threads, words);
      for (int i = 0; i < n * 24; i++)
        if (a[0][i] != wanted[i]) return printf(\"%d of %d rows, %u threads: %d, not %d\\n\", i, n, threads, a[0][i], wanted[i]), 1;
      free(a), free(b);
    }
  puts(\"same tiles\");
}
",
    );
}

#[test]
fn loops_that_join_a_nest_run_each_round_once() {
    agrees(
        "_trips * __ferry_k",
        "void blocks(short (*restrict a)[5][33], const short *restrict x, int n, int m, int most) {
  int k;
#pragma omp target teams distribute parallel for private(k) map(tofrom: a[0:n]) map(to: x[0:33])
  for (int i = 0; i < n; i += 2) {
    for (int j = 4; j >= 5 - m; j--) {
      {
        for (k = 1; k <= most; k += 3)
          a[i][j][k] = a[i][j][k] * 3 + x[k] + i + 100 * j;
      }
    }
  }
}
",
        "#include <cstdio>
typedef short Block[5][33];
int main() {
  for (int n : { 0, 1, 6, 37 })
    for (int m : { 0, 1, 5 })
      for (int most : { 0, 1, 31, 32 })
        for (unsigned threads : { 128u, 7u }) {
          std::vector<short> a((n + 1) * 5 * 33), x(33);
          for (size_t i = 0; i < a.size(); i++) a[i] = (short)(i * 37 % 101);
          for (int i = 0; i < 33; i++) x[i] = (short)(i * 13 % 29);
          std::vector<short> b = a;
          Block *w = (Block *)b.data();
          const unsigned long words[] = { (unsigned long)n, (unsigned long)a.data(), (unsigned long)x.data(), (unsigned long)m, (unsigned long)most };
          run(2, threads, words);
          for (int i = 0; i < n; i += 2)
            for (int j = 4; j >= 5 - m; j--)
              for (int k = 1; k <= most; k += 3) w[i][j][k] = w[i][j][k] * 3 + x[k] + i + 100 * j;
          if (a != b) return printf(\"n %d, m %d, most %d, %u threads\\n\", n, m, most, threads), 1;
        }
  puts(\"same blocks\");
}
",
    );
}

#[test]
fn products_with_counters_and_sums_from_outside_have_tiles() {
    let directives = [
        [
            "#pragma omp target teams distribute parallel for collapse(2) private(j, k, s) \
             map(to: a[0:n*n], b[0:n*n]) map(from: c[0:n*n])",
            "",
            "",
        ],
        [
            "#pragma acc kernels copyin(a[0:n*n], b[0:n*n]) copyout(c[0:n*n])\n#pragma acc loop independent",
            "#pragma acc loop independent private(s)",
            "#pragma acc loop seq",
        ],
    ];
    for [outer, inner, seq] in directives {
        let program = format!(
            "void product(const short *restrict a, const short *restrict b, int *restrict c, int n) {{
  int i, j, k, s;
{outer}
  for (i = 0; i < n; i++)
{inner}
    for (j = 0; j < n; j++) {{
      s = 0;
{seq}
      for (k = 0; k < n; k++)
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }}
}}
"
        );
        agrees(
            "_staged[",
            &program,
            "#include <cstdio>
int main() {
  for (int n : { 1, 31, 70 })
    for (unsigned threads : { 128u, 256u, 48u }) {
      std::vector<short> a(n * n), b(n * n);
      std::vector<int> c(n * n, -1);
      for (int i = 0; i < n * n; i++) a[i] = i * 37 % 101 - 50, b[i] = i * 13 % 29 - 9;
      const unsigned long words[] = { (unsigned long)n, (unsigned long)a.data(), (unsigned long)b.data(), (unsigned long)c.data(), 7, 7, 7, 7 };
      run(2, threads, words);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
          int s = 0;
          for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
          if (c[i * n + j] != s) return printf(\"n %d, %u threads, %d %d: %d, not %d\\n\", n, threads, i, j, c[i * n + j], s), 1;
        }
    }
  puts(\"same products\");
}
",
        );
    }
}
