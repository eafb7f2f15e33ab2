# 0 "main.c"
# 0 "<built-in>"
# 0 "<command-line>"
# 1 "/usr/include/stdc-predef.h" 1 3 4
# 0 "<command-line>" 2
# 1 "main.c"
# 1 "h.h" 1

static inline int hdr(int a) { return ((a) + 1); }
# 2 "main.c" 2





int f(int *v, int n) {
 int x = ((n) > (100) ? (n) : (100)) + hdr(2);
                      int y = 3;
  x = ((n) > (y) ? (n) : (y))
             + c;
        
# 12 "main.c"
#pragma omp target teams distribute parallel for map(to: v[0:100]) num_teams(100)


  for (int i = 0; i < 100; i++) v[i] = ((v[i]) > (2) ? (v[i]) : (2)) + undeclared;
  
# 16 "main.c"
#pragma omp parallel for
# 16 "main.c"
  for (int i = 0; i < n; i++) v[i]++;
  
# 17 "main.c"
#pragma omp barrier
# 17 "main.c"
                         x = y; y = 2;
  x
   = 4;
  print("ä" "b\"c", 'x', 1.5e+3f, 100);
  return ((((x) > (y) ? (x) : (y))) > (100) ? (((x) > (y) ? (x) : (y))) : (100));
}
