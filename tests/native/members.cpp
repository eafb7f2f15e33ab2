// Members of records, pointers that are attached, mappers, references and data that stay.
#include <omp.h>

#include <cstdio>
#include <cstdlib>

struct Field {
  int n;
  double *data;
  double scale;
};
#pragma omp declare mapper(whole : Field f) map(f, f.data[0 : f.n])

struct Grid {
  int width, height;
  float *cells;
  Grid(int w, int h) : width(w), height(h), cells(new float[w * h]) {
    for (int i = 0; i < w * h; i++)
      cells[i] = 1;
    float *c = cells;
#pragma omp target enter data map(to : c[0 : w * h])
    (void)c;
  }
  ~Grid() {
    float *c = cells;
#pragma omp target exit data map(delete : c[0 : width * height])
    delete[] c;
  }
  void add(float &by) {
    float *c = cells;
    int w = width, h = height;
#pragma omp target teams distribute parallel for collapse(2) firstprivate(w, h) map(to : by)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        c[y * w + x] += by;
  }
  float at(int x, int y) {
    float *c = cells + y * width + x;
#pragma omp target update from(c[0 : 1])
    return *c;
  }
};

int main() {
  int faults = 0;
  Field f = {1000, (double *)malloc(1000 * sizeof(double)), 2};
  for (int i = 0; i < f.n; i++)
    f.data[i] = i;
#pragma omp target teams distribute parallel for map(mapper(whole), tofrom : f)
  for (int i = 0; i < f.n; i++)
    f.data[i] *= f.scale;
  for (int i = 0; i < f.n; i++)
    faults += f.data[i] != 2.0 * i;
#pragma omp target data map(tofrom : f.data[0 : f.n])
  {
    double *p = f.data;
    int n = f.n;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++)
      p[i] += 1;
#pragma omp target data use_device_ptr(p)
    {
#pragma omp target is_device_ptr(p)
      p[0] = 77;
    }
  }
  faults += f.data[0] != 77 || f.data[999] != 1999;
  {
    Grid grid(33, 17);
    float by = 2;
    grid.add(by);
    by = 3;
    grid.add(by);
    faults += grid.at(32, 16) != 6 || grid.at(5, 0) != 6;
    faults += !omp_target_is_present(grid.cells, omp_get_default_device());
  }
  free(f.data);
  int on_host = 1;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  faults += on_host;
  printf(faults ? "wrong: %d\n" : "right\n", faults);
  return faults != 0;
}
