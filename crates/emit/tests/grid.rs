//! What device constructs become for a grid of threads, as text. That it compiles and runs is tested with
//! the driver.

#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

mod support;

use emit::Grid;
use support::{on_grid, whole_text};

#[test]
fn threads_share_the_iterations_of_one_nest() {
    insta::assert_snapshot!(on_grid(
        Grid::OpenCl,
        "double f(const double *a, int n, int m) {
  double s = 0;
  int last;
#pragma omp target teams distribute parallel for collapse(2) reduction(+:s) lastprivate(last) map(to: a[0:n*m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      s += a[i * m + j];
      last = j;
    }
  return s + last;
}
"
    ));
}

/// Functions that print, and streams.
const PRINTING: &str = "typedef struct file FILE;
extern FILE *stdout, *stderr;
int printf(const char *, ...);
int fprintf(FILE *, const char *, ...);
int __printf_chk(int, const char *, ...);
int __fprintf_chk(FILE *, int, const char *, ...);
";

#[test]
fn what_goes_to_a_stream_of_the_system_is_printed() {
    let text = on_grid(
        Grid::OpenCl,
        &format!(
            "{PRINTING}void f(int n) {{
#pragma omp target
  {{
    printf(\"a %d\", n);
    fprintf(stderr, \"b %d\", n);
    __printf_chk(1, \"c %d\", n);
    __fprintf_chk(stdout, 1, \"d %d\", n);
  }}
}}
"
        ),
    );
    for word in ["a", "b", "c", "d"] {
        assert!(text.contains(&format!(" printf(\"{word} %d\", n)")), "{text}");
    }
}

#[test]
fn what_goes_to_another_stream_is_refused() {
    let body = "void f(FILE *to) {\n#pragma omp target\n  fprintf(to, \"a\");\n}\n";
    let said = on_grid(Grid::OpenCl, &format!("{PRINTING}{body}"));
    assert!(said.starts_with("F0710: `fprintf` to other streams"), "{said}");
}

#[test]
fn one_thread_runs_what_is_not_one_loop() {
    insta::assert_snapshot!(on_grid(
        Grid::OpenCl,
        "int f(int *a, int n) {
  int count = 0;
#pragma omp target map(tofrom: a[0:n], count)
  {
    int t = 3;
#pragma omp parallel for firstprivate(t) reduction(+:count)
    for (int i = 0; i < n; i++) {
      t += a[i];
#pragma omp atomic
      a[0] += t;
      count++;
    }
  }
  return count;
}
"
    ));
}

#[test]
fn variables_lie_in_one_block() {
    insta::assert_snapshot!(on_grid(
        Grid::OpenCl,
        "#pragma omp begin declare target
static int table[3] = { 1, 2, 3 };
int *kernel;
static int look(int i) { return table[i] + *kernel; }
#pragma omp end declare target
int f(int i) {
  int got;
#pragma omp target map(from: got)
  got = look(i);
  return got;
}
"
    ));
}

#[test]
fn what_a_grid_has_not_is_refused_by_name() {
    insta::assert_snapshot!(on_grid(
        Grid::OpenCl,
        "static int own;
#pragma omp threadprivate(own)
int g(int n) { return n < 2 ? 1 : g(n - 1) + g(n - 2) + own; }
int f(int n, int (*h)(int)) {
  long double wide = 1;
  int got = 0;
#pragma omp target map(tofrom: got, wide)
  {
    double rows[n];
    rows[0] = wide;
    _Atomic int hits = n;
    void *label = &&end;
    got = h(n) + g(n) + (int)rows[0] + hits + (label != 0);
  end:;
  }
  return got;
}
"
    ));
}

#[test]
fn cuda_has_the_same_kernels_in_its_words() {
    insta::assert_snapshot!(on_grid(
        Grid::Cuda,
        "#pragma omp begin declare target
static const int table[4] = { 1, [2] = 3 };
struct pair { int left; union { float middle; int bits; }; };
static int look(int i, struct pair *p) { return table[i] + p->bits; }
#pragma omp end declare target
double f(const double *a, int n, int m, float scale) {
  double s = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+:s) map(to: a[0:n*m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      struct pair class = { .bits = 7 };
      void *p = (void *)a;
      const double *q = p + 8 * (i * m + j);
      s += scale * *q + look(i % 4, &class);
    }
  return s;
}
"
    ));
}

#[test]
fn rare_numbers_are_refused_by_their_own_names() {
    for name in ["_Float16", "_Float32", "_Float64", "_Float128", "long double"] {
        let text = format!(
            "void f({name} *a) {{\n#pragma omp target map(tofrom: a[0:9])\n  for (int i = 0; i < 9; i++) a[i] += 1;\n}}\n"
        );
        let said = on_grid(Grid::OpenCl, &text);
        assert!(said.contains(&format!("`{name}` cannot be compiled")), "{said}");
    }
}

#[test]
fn what_is_no_cpp_is_refused_for_cuda() {
    insta::assert_snapshot!(on_grid(
        Grid::Cuda,
        "int other(int);
void f(int *a, int n) {
#pragma omp target map(tofrom: a[0:n])
  {
    for (int i = 0; i < n; i++)
      a[i] = ({ if (a[i] < 0) break; a[i] + 1; });
    long double wide = a[1];
    a[3] = (int)wide + other(3);
  }
}
"
    ));
}

#[test]
fn teams_run_together_and_share_loops_for_threads() {
    let text = "void f(const float *a, const float *x, float *y, int n) {
#pragma omp target teams distribute map(to: a[0:n*n], x[0:n]) map(from: y[0:n])
  for (int i = 0; i < n; i++) {
    float s = 0;
#pragma omp parallel for reduction(+:s)
    for (int j = 0; j < n; j++)
      s += a[i * n + j] * x[j];
    y[i] = s;
  }
}
";
    insta::assert_snapshot!("team_opencl", on_grid(Grid::OpenCl, text));
    insta::assert_snapshot!("team_cuda", on_grid(Grid::Cuda, text));
}

/// A variable whose address is lent.
const LENT: &str = "#pragma omp declare target
void set(int *p);
void set(int *p) { *p = 3; }
#pragma omp end declare target
void f(int *a, int n, int t) {
#pragma omp target teams distribute firstprivate(t) map(tofrom: a[0:n*n])
  for (int i = 0; i < n; i++) {
    set(&t);
#pragma omp parallel for
    for (int j = 0; j < n; j++)
      a[i * n + j] = t;
  }
}
";

#[test]
fn code_that_would_differ_from_thread_to_thread_is_for_one() {
    // One of several copies would be changed.
    insta::assert_snapshot!(on_grid(Grid::Cuda, LENT));
}

#[test]
fn the_address_of_a_teams_variable_is_that_of_the_one_it_has() {
    let own = LENT.replace("firstprivate(t) ", "").replace("set(&t)", "int t = i; set(&t)");
    let text = on_grid(Grid::Cuda, &own);
    let (before, _) = text.rsplit_once("set(&__ferry_k").unwrap();
    let (_, condition) = before.rsplit_once("if (").unwrap();
    assert!(condition.contains("_thread == 0UL)"), "{text}");
    assert!(before.contains("__shared__ int __ferry_k"), "{text}");
}

#[test]
fn atomic_accesses_are_exchanges() {
    insta::assert_snapshot!(on_grid(
        Grid::Cuda,
        "void f(int *a, float *b, unsigned char *c, double d, int n) {
#pragma omp target teams distribute parallel for map(tofrom: a[0:n], b[0:n], c[0:n])
  for (int i = 0; i < n; i++) {
    int v, w;
#pragma omp atomic
    a[0] += i;
#pragma omp atomic
    a[4] -= i;
#pragma omp atomic
    b[0] -= d;
#pragma omp atomic
    c[0] = c[0] * 3;
#pragma omp atomic capture
    v = a[1]++;
#pragma omp atomic capture
    { b[1] = 2 - b[1]; d = b[1]; }
#pragma omp atomic read seq_cst
    w = a[2];
#pragma omp atomic write
    a[3] = v + w;
  }
}
"
    ));
}

#[test]
fn groups_add_to_their_own_bins_while_those_are_few() {
    insta::assert_snapshot!(on_grid(
        Grid::Cuda,
        "void count(const unsigned *key, unsigned *bin, double *seen, int n, unsigned bins) {
#pragma omp target teams distribute parallel for map(to: key[0:n]) map(tofrom: bin[0:bins], seen[0:bins])
  for (int i = 0; i < n; i++) {
    unsigned b = key[i] & (bins - 1);
#pragma omp atomic
    bin[b]++;
    // Somebody looks at this one.
    if (seen[b] < 1)
#pragma omp atomic
      seen[b] += 0.5;
  }
}
"
    ));
}

#[test]
fn other_levels_are_chosen_for_a_grid_than_for_cores() {
    // Cores would have threads on i and lanes on j: on a grid, memory would be touched far apart.
    let text = on_grid(
        Grid::Cuda,
        "void f(const float *restrict in, float *restrict out, int n) {
#pragma acc kernels copyin(in[0:n*n]) copy(out[0:n*n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      out[i * n + j] = 2 * in[i * n + j];
}
float g(const float *a, float *y, int n) {
#pragma acc parallel loop gang copyin(a[0:n*n]) copyout(y[0:n])
  for (int i = 0; i < n; i++) {
    float s = 0;
#pragma acc loop vector reduction(+:s)
    for (int j = 0; j < n; j++)
      s += a[i * n + j];
    y[i] = s;
  }
}
",
    );
    let (f, g) = text.split_once("_g_l").unwrap();
    assert!(f.contains("__ferry_kernel_quotient("), "{f}");
    assert!(
        g.contains("= __ferry_kernel_group();") && g.contains("__ferry_kernel_shuffle("),
        "{g}"
    );
}

#[test]
fn arrays_of_computed_length_are_pointers_to_their_parts() {
    insta::assert_snapshot!(on_grid(
        Grid::OpenCl,
        "double f(int n, long long m) {
  double a[n][m][2], (*p)[m] = 0;
  long long sum = 5;
#pragma omp target map(tofrom: a, sum) map(to: p[0:n])
  {
    a[1][2][0] = (*p)[3];
    sum += sizeof a + (p + 1)[0][0] + 7ll;
  }
  return sum;
}
"
    ));
}

#[test]
fn complex_numbers_are_records_where_there_are_none() {
    insta::assert_snapshot!(on_grid(
        Grid::Cuda,
        "void f(double _Complex *z, float _Complex w, double x) {
#pragma omp target map(tofrom: z[0:4]) map(to: w)
  {
    z[0] = z[1] * w + 2.0i;
    z[2] += x;
    __imag__ z[3] = __real__ w;
    x = z[0];
  }
}
"
    ));
}

#[test]
fn one_thread_combines_in_the_users_way() {
    insta::assert_snapshot!(on_grid(
        Grid::OpenCl,
        "typedef struct { int low; } range;
#pragma omp declare reduction(hull : range : omp_out.low = omp_in.low < omp_out.low ? omp_in.low : omp_out.low) \\
  initializer(omp_priv = omp_orig)
int f(int n) {
  range r = { 5 };
#pragma omp target parallel for reduction(hull: r) map(tofrom: r)
  for (int i = 0; i < n; i++)
    r.low = -i;
  return r.low;
}
"
    ));
}

const NEEDING: &str = "#pragma omp begin declare target
int twice(int);
extern int scale;
#pragma omp end declare target
void f(int *a, int n) {
#pragma omp target teams distribute parallel for map(tofrom: a[0:n])
  for (int i = 0; i < n; i++) {
    a[i] = twice(a[i]) * scale;
  }
}
";

#[test]
fn texts_say_what_they_need_and_have() {
    let text = on_grid(Grid::OpenCl, NEEDING);
    for line in [
        "#define __ferry_g_scale (*(__ferry_t_scale *)__ferry_where_scale())",
        "// ferry: needs other files",
        "// ferry: uses scale",
        "// ferry: uses twice",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let has = "#pragma omp begin declare target
int thrice(int);
int scale = 3;
static int own(int x) { return thrice(x); }
int twice(int x) { return own(x) + x; }
int shared(int x) {
  #pragma omp parallel for reduction(+: x)
  for (int i = 0; i < 9; i++) x += i;
  return x;
}
#pragma omp end declare target
";
    let text = on_grid(Grid::OpenCl, has);
    for line in [
        "__ferry_shared int __ferry_f_twice(int x)",
        "static int __ferry_f_own(int x)",
        "static int __ferry_f_shared(int x)",
        "void *__ferry_where_scale(void)",
        "// ferry: is for other files",
        "// ferry: has twice thrice\n// ferry: has scale",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn files_that_do_not_agree_on_atomic_accesses_are_not_linked() {
    let locks = NEEDING.replace(
        "a[i] = twice",
        "#pragma omp atomic
    wide += 1;
    a[i] = twice",
    );
    let locks = format!("double _Complex wide;\n#pragma omp declare target(wide)\n{locks}");
    for grid in [Grid::Cuda, Grid::Hip] {
        let said = on_grid(grid, &locks);
        assert!(
            said.starts_with("F0710: `twice`, which is in another file, beside atomic"),
            "{said}"
        );
    }
    // There all of them take one lock.
    let text = on_grid(Grid::OpenCl, &locks);
    assert!(text.contains("// ferry: uses twice"), "{text}");
}

#[test]
fn advice_to_keep_data_near_does_not_keep_threads_from_a_loop() {
    let text = on_grid(
        Grid::Cuda,
        "void f(const float *x, float *y) {
#pragma acc parallel loop copyin(x[0:1026]) copyout(y[0:1024])
  for (int i = 0; i < 1024; i++) {
    #pragma acc cache(x[i:3])
    y[i] = x[i] + x[i + 1] + x[i + 2];
  }
}
",
    );
    assert!(text.contains("__launch_bounds__(128)"), "{text}");
}

/// How many registers a thread may have follows from how many blocks a multiprocessor of the profile has room for then.
#[test]
fn threads_with_many_loads_have_the_registers_for_them() {
    let sums = |body: &str| {
        on_grid(
            Grid::Cuda,
            &format!(
                "void f(int n, const float *a, const float *x, const float *z, float *y) {{
#pragma omp target teams distribute parallel for map(to: a[0:n*n], x[0:n], z[0:n]) map(from: y[0:n])
  for (int j = 0; j < n; j++) {{
    float s = 0;
    for (int i = 0; i < n; i++) {{ {body} }}
    y[j] = s;
  }}
}}
"
            ),
        )
    };
    let few = sums("s += a[i * n + j] * x[i];");
    assert!(few.contains("__launch_bounds__(128, 2)"), "all registers of a unit: {few}");
    let more = sums("s += a[i * n + j] * x[i] * z[i];");
    assert!(more.contains("__launch_bounds__(128, 4)"), "half of them: {more}");
}

/// A tile of a team, in the language's memory for it.
const TILED: &str = "void turn(int n, const double *a, double *b) {
#pragma omp target teams distribute map(to: a[0:n*32]) map(from: b[0:n*32])
  for (int i = 0; i < n; i++) {
    double row[32];
    const double first = a[i * 32];
#pragma omp parallel for
    for (int j = 0; j < 32; j++)
      row[31 - j] = a[i * 32 + j];
#pragma omp parallel for
    for (int j = 0; j < 32; j++)
      b[i * 32 + j] = row[j] + first;
  }
}
";

#[test]
fn what_threads_of_a_team_share_is_in_memory_of_their_group() {
    insta::assert_snapshot!(on_grid(Grid::Cuda, TILED));
    let text = on_grid(Grid::OpenCl, TILED);
    // Of groups of one thread it is the thread's.
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let declares =
        |it: &str| lines.iter().any(|line| line.starts_with(it) && line.contains("_row"));
    assert!(declares("double __local") && declares("double __ferry"), "{text}");
}

#[test]
fn what_does_not_fit_there_is_left_to_one_thread() {
    let text = on_grid(Grid::OpenCl, &TILED.replace("row[32]", "row[32000]"));
    assert!(
        text.starts_with(
            "note: on `opencl` one thread runs it: the variables of its teams take more memory than a group has"
        ),
        "{text}"
    );
}

#[test]
fn what_a_thread_has_for_itself_by_name_is_no_reason_for_one_thread() {
    let allocator = "enum allocator { last = 8 };\n";
    let asked = "double row[32];\n#pragma omp allocate(row) allocator(last)\n";
    let text =
        on_grid(Grid::Cuda, &format!("{allocator}{}", TILED.replace("double row[32];", asked)));
    // Its first thread uses it, wherever it lies.
    assert!(text.contains("__launch_bounds__(128)"), "{text}");
}

#[test]
fn arrays_of_teams_lie_in_memory_of_their_group() {
    let program = |allocate: &str| {
        on_grid(
            Grid::Cuda,
            &format!(
                "enum allocator {{ team = 7 }};
void f(int n, int *a) {{
#pragma omp target teams distribute map(tofrom: a[0:n*8])
  for (int i = 0; i < n; i++) {{
    int list[4];
{allocate}
    list[1] = i;
#pragma omp parallel for
    for (int j = 0; j < 8; j++)
      a[i * 8 + j] += list[1];
  }}
}}
"
            ),
        )
    };
    for allocate in ["", "#pragma omp allocate(list) allocator(team)"] {
        let text = program(allocate);
        assert!(
            text.lines().any(|it| it.contains("__shared__") && it.contains("list[4]")),
            "{text}"
        );
    }
}

#[test]
fn a_part_that_is_asked_for_stays_advice() {
    for grid in [Grid::Cuda, Grid::Hip, Grid::OpenCl] {
        let text = on_grid(
            grid,
            "void f(int n, const double *restrict a, double *restrict b) {
#pragma acc parallel loop gang copyin(a[0:n]) copy(b[0:n])
  for (int g = 0; g < n; g += 16) {
#pragma acc cache(a[g : 16])
#pragma acc loop vector
    for (int i = g; i < g + 16; i++)
      if (i < n) b[i] = a[i];
  }
}
",
        );
        let told = format!("on `{}` `cache` stays advice: passes choose", grid.device());
        assert!(text.contains(&told), "{told}: {text}");
        assert!(!text.contains("one thread runs it"), "{text}");
    }
}

#[test]
fn groups_change_sums_atomically_where_they_have_no_memory_of_the_launch() {
    let text = |reduction: &str, body: &str| {
        on_grid(
            Grid::Hip,
            &format!(
                "double f(int n, const double *a) {{
  double s = 0;
#pragma omp target teams distribute parallel for reduction({reduction} : s) map(to: a[0:n]) map(tofrom: s)
  for (int i = 0; i < n; i++) {body}
  return s;
}}
"
            ),
        )
    };
    let sum = text("+", "s += a[i];");
    assert!(sum.contains("__ferry_add(&"), "{sum}");
    let most = text("max", "if (a[i] > s) s = a[i];");
    assert!(most.contains("__ferry_change(&"), "{most}");
    let any = text("||", "s = s || a[i];");
    assert!(any.contains("__ferry_kernel_try_lock()"), "{any}");
    for text in [sum, most] {
        assert!(!text.contains("__ferry_kernel_try_lock()"), "{text}");
    }
}

/// Pointers to variables of all kinds, a table, a string, a function that is told of its thread, and one lock.
const POINTERS: &str = "struct pair { double *at; int n; };
int printf(const char *, ...);
int count;
#pragma omp declare target(count)
static void both(double *x, const char *word, int n) {
  int *p = &n;
  x[0] += word[*p];
}
double f(double *a, struct pair *all, int n) {
  const int table[2] = { 3, 4 };
  double s = 0;
#pragma omp target teams distribute parallel for reduction(+:s) map(a[0:n], all[0:1], all[0].at[0:n])
  for (int i = 0; i < n; i++) {
    double pair[2] = { a[i], all->at[i] }, alone[2] = { 1, 2 };
    both(pair, \"ab\", table[i & 1] - 3);
    printf(\"%d\", i);
    s += pair[0] * alone[i & 1];
#pragma omp atomic
    count++;
  }
  return s;
}
";

#[test]
fn pointers_of_opencl_12_lead_to_the_memory_of_the_device() {
    insta::assert_snapshot!("pointers_opencl_12", on_grid(Grid::OpenCl12, POINTERS));
    let text = whole_text(Grid::OpenCl12, POINTERS);
    assert!(text.starts_with(abi::image::OPENCL_12), "{text}");
    // `pair` and `n`, of which pointers are taken, in groups of one thread and in others; not `alone`, and not the sum.
    assert!(text.contains(&format!("{}64ul\n", abi::image::OPENCL_STACK)), "{text}");
}

#[test]
fn what_a_text_for_opencl_12_lacks_is_said_in_its_place_or_is_an_error() {
    let lent = "int g(int *);
#pragma omp declare target
int g(int *it) { return *it; }
#pragma omp end declare target
void f(int *a, int n) {
#pragma omp target teams distribute parallel for map(from: a[0:n])
  for (int i = 0; i < n; i++)
    a[i] = g(&i);
}
";
    // What counts is in memory that pointers lead to.
    assert!(on_grid(Grid::OpenCl12, lent).contains("__stack"), "{lent}");
    assert!(on_grid(Grid::OpenCl, lent).contains("__kernel"));
    let text = "#pragma omp declare target
int g(int n) { return n > 1 ? n * g(n - 1) : 1; }
#pragma omp end declare target
void f(int *a, int n) {
#pragma omp target teams distribute parallel for map(from: a[0:n])
  for (int i = 0; i < n; i++)
    a[i] = g(i);
}
";
    let said = on_grid(Grid::OpenCl12, text);
    assert!(said.starts_with("F0710: "), "{said}");
    let said = whole_text(Grid::OpenCl12, text);
    let expected = [abi::image::OPENCL_12, abi::image::OPENCL_12_LACKS, "t.c:2: "].concat();
    assert!(said.starts_with(&expected), "{said}");
}

#[test]
fn loops_after_each_other_in_one_region_are_kernels_of_their_own() {
    let text = on_grid(
        Grid::Cuda,
        "void f(int n, const double *a, double *b, double *s) {
  int steps = 0;
#pragma acc kernels copyin(a[0:n]) copy(b[0:n], s[0:n], steps)
  {
#pragma acc loop independent
    for (int i = 0; i < n; i++)
      b[i] = a[n - 1 - i];
    steps++;
#pragma acc loop independent
    for (int i = 0; i < n; i++)
      s[i] = b[n - 1 - i];
  }
}
void g(int n, const double *a, double *b, double *s) {
  int t = 0;
#pragma acc kernels copyin(a[0:n]) copy(b[0:n], s[0:n]) async(1)
  {
#pragma acc loop independent
    for (int i = 0; i < n; i++)
      b[i] = a[n - 1 - i];
#pragma acc loop independent
    for (int i = 0; i < n; i++)
      s[i] = b[n - 1 - i];
  }
}
void h(int n, double *b, double *s) {
  int t = 0;
#pragma acc parallel copy(b[0:n], s[0:n]) private(t) async(n + 1)
  {
#pragma acc loop gang
    for (int i = 0; i < n; i++)
      b[i] = 1;
#pragma acc loop gang
    for (int i = 0; i < n; i++)
      t = 2, s[i] = b[n - 1 - i] + t;
  }
#pragma acc parallel copy(b[0:n], s[0:n]) if(n > 3)
  {
#pragma acc loop gang
    for (int i = 0; i < n; i++)
      b[i] = 1;
#pragma acc loop gang
    for (int i = 0; i < n; i++)
      s[i] = b[n - 1 - i];
  }
}
",
    );
    let kernels: Vec<&str> =
        text.lines().filter(|it| it.contains("extern \"C\" __global__")).collect();
    // What has a condition is one kernel.
    assert_eq!(kernels.len(), 3 + 2 + 2 + 1, "{text}");
}

#[test]
fn one_loop_that_teams_share_has_all_of_them() {
    let text = |before: &str, after: &str| {
        let text = format!(
            "void f(int n, int m, double (*a)[100], const double *p, double *q, double *s) {{
#pragma acc parallel copyin(a[0:n], p[0:100]) copy(q[0:n], s[0:1])
  {{
    double w = p[0];
    {before}
#pragma acc loop gang
    for (int i = 0; i < n; i++) {{
      double sum = 0;
#pragma acc loop vector reduction(+: sum)
      for (int j = 0; j < 100; j++)
        sum += a[i][j] * p[j];
      q[i] = sum * w;
    }}
    {after}
  }}
}}
"
        );
        on_grid(Grid::Cuda, &text)
    };
    let has_all = |text: &str| {
        let teams = text.lines().find_map(|it| it.split_once("_teams = "));
        teams.is_some_and(|it| it.1.ends_with("_groups;"))
    };
    assert!(has_all(&text("", "")));
    assert!(has_all(&text("if (w > 3) w = 3;", "")));
    // Others would see it done by each of them, or rounds of a loop are not to be mixed.
    assert!(!has_all(&text("s[0] += w;", "")));
    assert!(!has_all(&text("", "s[0] = q[0];")));
    assert!(!has_all(&text("for (int t = 0; t < m; t++)", "")));
    assert!(!has_all(&text("if (w > 3)", "")));
}

#[test]
fn independent_loops_join_a_nest_where_threads_side_by_side_gain() {
    let text = |grid: Grid, directive: &str, loops: &str| {
        let text = format!(
            "int omp_get_thread_num(void);
void f(int n, int m, double (*restrict a)[100], const double *restrict x, double *restrict y, int (*b)[4]) {{
#pragma omp target {directive} map(tofrom: a[0:n], y[0:n], b[0:n]) map(to: x[0:n])
  for (int i = 0; i < n; i++)
    {loops}
}}
"
        );
        on_grid(grid, &text)
    };
    let joins = |directive: &str, loops: &str| {
        let text = text(Grid::Cuda, directive, loops);
        !text.contains("for (int j = ")
    };
    let row = "for (int j = 0; j < 100; j++) a[i][j] += x[i];";
    for directive in [
        "teams distribute parallel for",
        "teams loop",
        "parallel for",
        "teams distribute parallel for simd",
        "teams distribute parallel for schedule(static, 1)",
    ] {
        assert!(joins(directive, row), "{directive}");
        assert!(
            joins(directive, "{ for (int j = 1; j < m; j += 2) a[i][j] = x[j]; }"),
            "{directive}"
        );
        // Each sum needs the one before it.
        let sums = "for (int j = 1; j < m; j++) a[i][j] += a[i][j - 1];";
        assert!(!joins(directive, sums), "{directive}");
        // Something else is done for each row.
        let two = "{ y[i] = 0; for (int j = 0; j < 100; j++) a[i][j] += x[i]; }";
        assert!(!joins(directive, two), "{directive}");
        // Rows are of different lengths.
        assert!(!joins(directive, "for (int j = 0; j < i; j++) a[i][j] += x[i];"), "{directive}");
        // The rounds of one iteration are so few that its thread has them soon.
        assert!(!joins(directive, "for (int j = 0; j < 4; j++) b[i][j] += 1;"), "{directive}");
        // Threads side by side have neighbours already.
        let columns = "for (int j = 0; j < 100; j++) a[j][i] += x[j];";
        assert!(!joins(directive, columns), "{directive}");
    }
    // Somebody asks who runs an iteration, or wants the last one's value.
    let asks = "for (int j = 0; j < 100; j++) a[i][j] += omp_get_thread_num();";
    assert!(!joins("teams distribute parallel for", asks));
    let last = "for (int j = 0; j < 100; j++) m = j, a[i][j] += x[i];";
    assert!(!joins("teams distribute parallel for lastprivate(m)", last));
    // OpenCL devices may be processors, whose caches want the rows of a thread.
    let cl = text(Grid::OpenCl, "teams distribute parallel for", row);
    assert!(cl.contains("for (int j = "), "{cl}");
}
