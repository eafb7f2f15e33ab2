// run: check
void fill(int n, double a[n][n]) {
#pragma acc parallel copyout(a[0:n]) num_gangs[0](n / 8) num_gangs[1](n / 8) \
                     num_workers[0](8) num_workers[1](8)
    {
#pragma acc loop gang[1] worker[1]
        for (int i = 0; i < n; i++) {
#pragma acc loop gang[0] worker[0] tile[0](8)
            for (int j = 0; j < n; j++) a[i][j] = i + j;
        }
    }
}
