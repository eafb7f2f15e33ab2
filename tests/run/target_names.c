/* Names and lengths of the function around a region are those of that function. */
#include <stdio.h>
#include <string.h>
#include <assert.h>
#include <omp.h>
int __args = 3;
int seven(void){ return 7; }
static int calls; int len(void){ calls++; return 4; }
int main(void){
  int on_device = 0;
#pragma omp target map(from: on_device)
  on_device = !omp_is_initial_device();
  int n = 5; int a[n]; (void)a; int bad = 0;
  size_t sz = 0;
#pragma omp target map(from: sz)
  sz = sizeof a;
  if (sz != 5*sizeof(int)) { bad++; printf("sz %zu\n", sz); }
  typedef double row[len()];
  n = 9;
  size_t s2 = 0, s3=0;
#pragma omp target map(from: s2, s3)
  { row r; r[3] = 1; s2 = sizeof r + (size_t)r[3] - 1; s3 = sizeof(row); }
  if (s2 != 4*sizeof(double) || s3 != s2 || calls != 1) { bad++; printf("s2 %zu %zu calls %d\n", s2,s3, calls); }
  int got = 0;
#pragma omp target map(from: got)
  got = __args;
  if (got != 3) { bad++; printf("args %d\n", got); }
  char name[32] = "";
#pragma omp target map(from: name)
  strcpy(name, __func__);
  if (strcmp(name, "main")) { bad++; printf("func %s\n", name); }
  return bad || !on_device;
}
