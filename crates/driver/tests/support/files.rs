//! A program of two files whose device code needs each other.

/// It needs functions and variables of the other.
pub(crate) const MAIN: &str = "
#pragma omp begin declare target
int twice(int x);
int counted(void);
extern int scale, table[4];
#pragma omp end declare target
int main(void) {
    int a[100], wrong = 0, last = 0;
    #pragma omp target teams distribute parallel for map(from: a)
    for (int i = 0; i < 100; i++) a[i] = twice(i) * scale + table[i % 4];
    for (int i = 0; i < 100; i++) wrong |= a[i] != 2 * i * 3 + i % 4 * 10;
    scale = 5;
    #pragma omp target update to(scale)
    #pragma omp target teams distribute parallel for map(from: a)
    for (int i = 0; i < 100; i++) { a[i] = scale; counted(); }
    for (int i = 0; i < 100; i++) wrong |= a[i] != 5;
    #pragma omp target map(from: last)
    last = counted();
    return wrong || last != 101;
}
";

/// It has those, and some that are its own.
pub(crate) const OTHER: &str = "
#pragma omp begin declare target
int scale = 3;
int table[4] = {0, 10, 20, 30};
static int count;
static int helper(int x) { return x + x; }
int twice(int x) { return helper(x); }
int counted(void) {
    int now;
    #pragma omp atomic capture
    now = ++count;
    return now;
}
#pragma omp end declare target
";

/// The other file without something that the first one uses, and what that is.
pub(crate) fn lacking() -> Vec<(String, &'static str)> {
    // Threads would have to share the loop, which callers do not know.
    let sharing = OTHER.replace(
        "return helper(x);",
        "int s = 0;\n#pragma omp parallel for reduction(+: s)\nfor (int i = 0; i < 2; i++) s += x;\nreturn s;",
    );
    vec![
        (OTHER.replace("int scale = 3;", ""), "scale"),
        (OTHER.replace("twice", "thrice"), "twice"),
        (sharing, "twice"),
    ]
}
