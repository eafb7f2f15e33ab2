//! What the kernels of `kernels.c` compute, in plain Rust.

/// Matrices that a kernel is given: `size * size` numbers each.
pub(super) type Matrices = Vec<Vec<i32>>;

/// How many matrices every kernel is given.
pub(super) const MATRICES: usize = 7;

/// Small numbers, so that sums do not overflow; other ones in each matrix.
pub(super) fn start(size: usize) -> Matrices {
    let number = |which: usize, at: usize| ((at * 7 + which * 5) % 13) as i32 - 6;
    (0..MATRICES).map(|which| (0..size * size).map(|at| number(which, at)).collect()).collect()
}

fn at(matrix: &[i32], size: usize, row: usize, column: usize) -> i32 {
    matrix.get(row * size + column).copied().unwrap_or(0)
}

/// One element of each row and column.
fn each(size: usize, of: impl Fn(usize, usize) -> i32) -> Vec<i32> {
    (0..size * size).map(|it| of(it / size, it % size)).collect()
}

fn sum(size: usize, of: impl Fn(usize) -> i32) -> i32 {
    (0..size).map(of).sum()
}

fn product(size: usize, a: &[i32], b: &[i32]) -> Vec<i32> {
    each(size, |i, j| sum(size, |k| at(a, size, i, k) * at(b, size, k, j)))
}

/// A vector where the matrix for it is.
fn vector(matrix: &[i32], of: Vec<i32>) -> Vec<i32> {
    of.into_iter().chain(matrix.iter().skip(matrix.len().isqrt()).copied()).collect()
}

/// What a kernel leaves; `None` if it is not one of them.
pub(super) fn after(kernel: &str, size: usize, mut all: Matrices) -> Option<Matrices> {
    let rows = |a: &[i32], x: &[i32]| -> Vec<i32> {
        (0..size).map(|i| sum(size, |j| at(a, size, i, j) * at(x, size, 0, j))).collect()
    };
    let columns = |a: &[i32], x: &[i32]| -> Vec<i32> {
        (0..size).map(|j| sum(size, |i| at(a, size, i, j) * at(x, size, 0, i))).collect()
    };
    let [a, b, c, d, e, f, g] = all.as_mut_slice() else { return None };
    match kernel {
        "2mm" => {
            *c = product(size, a, b).iter().map(|it| 3 * it).collect();
            let made = product(size, c, d);
            *e = made.iter().zip(e.iter()).map(|(new, old)| 2 * old + new).collect();
        }
        "3mm" => {
            *e = product(size, a, b);
            *f = product(size, c, d);
            *g = product(size, e, f);
        }
        "atax" => {
            *c = vector(c, rows(a, b));
            *d = vector(d, columns(a, c));
        }
        "bicg" => {
            *c = vector(c, rows(a, b));
            *e = vector(e, columns(a, d));
        }
        "conv2d" => {
            let weights = [2, 5, -8, -3, 6, -9, 4, 7, 1];
            let inner = 1..size - 1;
            *b = each(size, |i, j| match inner.contains(&i) && inner.contains(&j) {
                true => {
                    let near = |it: usize| at(a, size, i + it / 3 - 1, j + it % 3 - 1);
                    weights.iter().enumerate().map(|(it, weight)| weight * near(it)).sum()
                }
                // The kernel copies whole rows out; what stands beside is not looked at.
                false => at(b, size, i, j),
            });
        }
        "covar" => {
            let mean: Vec<i32> = (0..size)
                .map(|j| sum(size, |i| at(a, size, i, j)) / i32::try_from(size).unwrap_or(1))
                .collect();
            let centred = each(size, |i, j| at(a, size, i, j) - at(&mean, size, 0, j));
            *b = each(size, |p, q| {
                sum(size, |i| at(&centred, size, i, p) * at(&centred, size, i, q))
            });
        }
        "gemm" => {
            let made = product(size, a, b);
            *c = made.iter().zip(c.iter()).map(|(new, old)| 2 * old + 3 * new).collect();
        }
        _ => return None,
    }
    Some(all)
}

/// Whether an element of a result means something: a convolution has no value at the rim.
pub(super) fn is_compared(kernel: &str, size: usize, which: usize, index: usize) -> bool {
    let inner = 1..size - 1;
    kernel != "conv2d"
        || which != 1
        || inner.contains(&(index / size)) && inner.contains(&(index % size))
}
