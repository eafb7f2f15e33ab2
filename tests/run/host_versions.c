// Regions that the host runs take the host's variants and directives; on devices they take the device's.
#include <omp.h>
#include <stdio.h>

static int failures;

static void expect(int got, int wanted, const char *what)
{
  if (got != wanted) {
    printf("wrong: %s: %d, not %d\n", what, got, wanted);
    failures++;
  }
}

#pragma omp begin declare target
static int there(int x) { return x + 100; }
#pragma omp declare variant(there) match(device = { kind(nohost) })
static int place(int x) { return x + 1; }
static int through(int x) { return place(x) * 2; }

static int at_home(int x) { return x + 7; }
#pragma omp declare variant(at_home) match(device = { kind(host) })
static int home(int x) { return x + 70; }

static int inner(int x) { return x; }
#ifdef _OPENMP
#pragma omp begin declare variant match(device = { kind(nohost) })
static int inner(int x) { return -x; }
#pragma omp end declare variant
#endif

/* Variants may come before the function that they replace. */
#ifdef _OPENMP
#pragma omp begin declare variant match(device = { kind(nohost) })
static int early(int x) { return x + 40; }
int early_global(int x) { return x * 20; }
#pragma omp end declare variant
#pragma omp begin declare variant match(construct = { parallel })
static int early(int x) { return x + 400; }
#pragma omp end declare variant
#endif
static int early(int x) { return x + 4; }
int early_global(int x) { return x * 2; }

static int always(int x) { return x * 3; }
#pragma omp declare variant(always) match(implementation = { vendor(score(2) : unknown) })
#pragma omp declare variant(always) match(user = { condition(1) })
static int chosen(int x) { return x; }
#pragma omp end declare target

static void where_it_runs(int leaves)
{
  int a = 0, b = 0, c = 0, d = 0, e = 0;
#pragma omp target map(from : a, b, c, d, e) if (leaves)
  {
    a = place(1);
    b = home(1);
    c = inner(5);
    d = through(1);
    e = chosen(4);
  }
  expect(a, leaves ? 101 : 2, "a call");
  expect(b, leaves ? 71 : 8, "a variant for the host");
  expect(c, leaves ? -5 : 5, "a variant by its name");
  expect(d, leaves ? 202 : 4, "through a function");
  expect(e, 12, "a choice that is the same everywhere");
  expect(through(1), 4, "the host's own call");
}

static void variants_first(int leaves)
{
  int a = 0, b = 0, c = 0;
#pragma omp target map(from : a, b) if (leaves)
  {
    a = early(1);
    b = early_global(1);
  }
  expect(a, leaves ? 41 : 5, "a variant before its function");
  expect(b, leaves ? 20 : 2, "one that all files see");
#pragma omp parallel num_threads(2) reduction(max : c)
  c = early(1);
  expect(c, 401, "one for a construct");
  expect(early(1) + early_global(1), 7, "the functions themselves");
}

static void on_the_host(void)
{
  int a = 0, c = 0, device = omp_get_initial_device();
#pragma omp target map(from : a, c) device(device)
  {
    a = place(1);
    c = omp_is_initial_device() ? inner(5) : 0;
  }
  expect(a, 2, "the device that is the host");
  expect(c, 5, "it knows where it is");
}

/* The loop runs wherever its directive says; the sum tells which one that was. */
static void directives(int leaves)
{
  int step = 10, marks[4] = { 0 };
#pragma omp target map(tofrom : marks) if (leaves)
  {
    int by = 1;
#pragma omp metadirective when(device = { kind(nohost) } : parallel for firstprivate(by)) \
    otherwise(parallel for firstprivate(by, step))
    for (int i = 0; i < 4; i++) marks[i] += by;
#pragma omp metadirective when(device = { kind(nohost) } : nothing) otherwise(parallel for if (parallel : step > 3))
    for (int i = 0; i < 4; i++) marks[i] += place(0);
  }
  for (int i = 0; i < 4; i++) expect(marks[i], leaves ? 101 : 2, "a loop with a chosen directive");

  int single = 0;
#pragma omp target map(tofrom : single) if (leaves)
  {
#pragma omp begin metadirective when(device = { kind(host) } : parallel num_threads(1)) otherwise(single)
    single += inner(1);
#pragma omp end metadirective
  }
  expect(single, leaves ? -1 : 1, "a block with a chosen directive");
}

static void dispatched(int leaves)
{
  int a = 0, b = 0;
#pragma omp target map(from : a, b) if (leaves)
  {
#pragma omp dispatch
    a = place(3);
#pragma omp dispatch novariants(1)
    b = place(3);
  }
  expect(a, leaves ? 103 : 4, "a dispatched call");
  expect(b, 4, "one without variants");
}

int main(void)
{
  for (int leaves = 0; leaves < 2; leaves++) {
    where_it_runs(leaves);
    variants_first(leaves);
    directives(leaves);
    dispatched(leaves);
  }
  on_the_host();
  int far = 0;
#pragma omp target map(from : far)
  far = !omp_is_initial_device();
  expect(far, 1, "a region leaves the host");
  printf(failures ? "FAILED\n" : "passed\n");
  return failures != 0;
}
