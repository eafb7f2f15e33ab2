/* What the programs with directives and those in CUDA begin with: the same numbers in C and C++. */
#ifndef INPUTS_H
#define INPUTS_H

/* With -DSMALL all sizes are small: to check results where time does not matter. */
#ifdef SMALL
#define SIZED(full, small) (small)
#else
#define SIZED(full, small) (full)
#endif

/* Small whole numbers: sums are exact in any order. */
static inline int value(long i) { return (int)((unsigned)(i * 2654435761u) >> 28) - 8; }

/* A number that looks random. */
static inline unsigned mixed(unsigned x)
{
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

/* A permutation of the numbers below `count`, a power of two. */
static inline unsigned permuted(unsigned x, unsigned count)
{
  x = x * 2654435761u & (count - 1);
  x ^= x >> 7;
  x = x * 2246822519u & (count - 1);
  return x ^ x >> 5;
}

/* Where the rows of a sparse matrix begin: 1 to 31 elements each; returns how many there are in all. */
static inline int fill_rows(int count, int *row)
{
  row[0] = 0;
  for (int i = 0; i < count; i++)
    row[i + 1] = row[i] + 1 + (int)(mixed(i + 7) % 31);
  return row[count];
}

/* The columns of its elements: anywhere, or at most `reach` from the diagonal if that is not 0. */
static inline void fill_columns(int count, const int *row, int reach, int *column)
{
  for (int i = 0; i < count; i++)
    for (int e = row[i]; e < row[i + 1]; e++) {
      const int at = reach ? i - reach + (int)(mixed(e + 1) % (2 * reach + 1)) : (int)(mixed(e + 1) % count);
      column[e] = at < 0 ? 0 : at >= count ? count - 1 : at;
    }
}

/* A coordinate (0, 1 or 2) of an atom near its point of a cubic lattice with `side` points on an edge. */
static inline double lattice_place(int side, int atom, int axis)
{
  const int at = axis == 0 ? atom % side : axis == 1 ? atom / side % side : atom / side / side;
  return at + 0.3 * (mixed(3 * atom + axis) % 1000) / 1000;
}

/* One of the 63 other atoms in a box of 4 * 4 * 4 around an atom, across the borders too. */
static inline int lattice_neighbour(int side, int atom, int which)
{
  const int box = which < 42 ? which : which + 1;
  const int x = (atom % side + box % 4 - 2 + side) % side;
  const int y = (atom / side % side + box / 4 % 4 - 2 + side) % side;
  const int z = (atom / side / side + box / 16 - 2 + side) % side;
  return (z * side + y) * side + x;
}

#endif
