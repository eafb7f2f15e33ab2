// run: check
// Sections that are mapped or combined are one piece of memory; updates may leave elements out. A `loop` has last values of its
// counters only.
struct cell { int a, b[3]; };
union either { int a; float b; };

int grid[12][15], row[40];
struct cell cells[9];
union either eithers[4];

void refused(int n) {
#pragma omp target data map(to : grid[1:3][2:4])
  ;
#pragma omp target data map(to : grid[1:3][2])
  ;
#pragma omp target enter data map(to : cells[1:3].a)
#pragma omp target data map(to : row[0:5:2])
  ;
#pragma acc data copy(grid[n:2][0:14])
  ;
#pragma omp parallel for reduction(+ : grid[0:2][0:3])
  for (int i = 0; i < n; i++)
    grid[0][0]++;
}

void last(int n) {
  int i, j = 0;
#pragma omp parallel loop lastprivate(i, j)
  for (i = 0; i < n; i++)
    j = i;
}

void taken(int n, int **rows, int (*wide)[15]) {
#pragma omp target data map(to : grid[1:3][:], cells[1:1].a, eithers[0:2].a, cells[2].b[0:2])
  ;
#pragma omp target data map(to : grid[n:1][2:4], grid[0:n][2], row[0:1:2], wide[0:n][0:15])
  ;
#pragma acc data copy(rows[0:n][2:4])
  ;
#pragma omp target update to(grid[1:3][2:4], cells[1:3].a, grid[1:3][2], row[0:5:2])
}
