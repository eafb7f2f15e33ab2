/* Directives of both standards, in many shapes. */
typedef struct { int n; double *data; } vec;
int omp_get_thread_num(void);
int g;
double fast[64], *kept;
#pragma omp memkind(fastmem : val : fast, persistent : ref : kept)
#pragma omp declare target(kept)
#pragma omp threadprivate(g)
#pragma omp declare reduction(maxabs : double : omp_out = omp_in > omp_out ? omp_in : omp_out) initializer(omp_priv = 0)
#pragma omp declare mapper(deep : vec v) map(to: v.n) map(tofrom: v.data[0:v.n])
#pragma omp declare simd uniform(n) linear(i:1) notinbranch
double f(double *a, int i, int n);
#pragma acc routine seq
double h(double x);
#pragma omp requires unified_shared_memory
#pragma omp begin declare target device_type(any)
int k(int x) { return x; }
#pragma omp end declare target
void run(int n, double *a, double *restrict b, vec v) {
  double s = 0, last, t[100];
#pragma omp target teams distribute parallel for simd collapse(2) map(to: b[0:n]) map(always, tofrom: a[0:n:2]) reduction(+: s) schedule(static, 4) if(target: n > 10) num_teams(4) thread_limit(64)
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= n - 1; j += 2) { s += a[i] * b[j]; }
#pragma omp target data map(mapper(deep), tofrom: v) use_device_ptr(a)
  {
#pragma omp target update to(a[0:n]) from(b[1:n-1])
#pragma omp target enter data map(to: t) nowait depend(inout: t[0])
#pragma omp parallel private(s) firstprivate(n) shared(t, last) num_threads(4) default(none)
    {
#pragma omp for ordered lastprivate(conditional: last)
      for (int i = n; i > 0; --i) {
#pragma omp ordered
        last = i;
      }
#pragma omp sections
      {
#pragma omp section
        { t[0] = 1; }
      }
#pragma omp single copyprivate(s)
#pragma omp task depend(iterator(int i = 0:n), in: t[i]) priority(1) untied
      t[1] = f(t, 0, n);
#pragma omp taskwait
#pragma omp critical (name)
      s++;
#pragma omp atomic compare capture
      { s = t[2]; if (t[2] == 0) { t[2] = 1; } }
#pragma omp barrier
    }
  }
#pragma omp metadirective when(device={kind(gpu)}: target teams loop) otherwise(parallel for)
  for (int i = 0; i < n; i++) a[i] = i;
#pragma omp tile sizes(4, 4)
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] += b[j];
#pragma acc data copyin(b[0:n]) copyout(zero: t) create(v.data[0:n]) present(a)
  {
#pragma acc parallel loop gang(static:4) worker vector_length(128) num_gangs(2, 3) private(v) reduction(max: s) async(1) wait(devnum: 0 : queues: 1, 2) device_type(nvidia) num_workers(4)
    for (int i = 0; i < n; i++) {
#pragma acc loop vector independent
      for (int j = 0; j < n; j++) {
#pragma acc atomic update
        t[j] += a[i];
      }
#pragma acc cache(readonly: b[0:4])
    }
#pragma acc kernels loop tile(*, 8) collapse(force: 2) if(n > 4) self
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i] = b[j];
#pragma acc update self(t[0:10]) if_present
#pragma acc wait(1) async(2)
#pragma acc host_data use_device(a)
    h(*a);
  }
#pragma acc exit data delete(b) finalize
#pragma openarc transform window(a[0:10], b[0:10])
  for (int i = 0; i < n; i++) a[i] = 0;
}
