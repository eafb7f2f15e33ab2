// Arrays of a function: implicit copies, copies that nobody looks at, arrays that are filled whole.
#include <stdio.h>

static int table[6][7];

static int sum_of(const int *values, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += values[i] * (i + 1);
    return sum;
}

static int work(int seed) {
    int input[40], scratch[40], output[40], half[40];
    for (int i = 0; i < 40; i++) {
        input[i] = seed + i;
        scratch[i] = -1;
        output[i] = -2;
        half[i] = -3;
    }
#pragma omp target map(tofrom: input, scratch, output)
    for (int i = 0; i < 40; i++) {
        scratch[i] = input[i] * 2;
        output[i] = scratch[i] + 1;
    }
    // Every other element keeps what the host wrote.
#pragma omp target map(tofrom: half)
    for (int i = 0; i < 40; i += 2)
        half[i] = i;
#pragma omp target
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 7; j++)
            table[i][j] = i * j + input[i];
    int check = sum_of(input, 40) + sum_of(output, 40) + sum_of(half, 40);
    for (int i = 0; i < 6; i++)
        check += sum_of(table[i], 7);
    return check;
}

int main(void) {
    for (int seed = 0; seed < 3; seed++)
        printf("%d\n", work(seed));
    return 0;
}
