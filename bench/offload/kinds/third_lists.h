/* Those of third.c with lists, keys, strings and graphs. */
#ifndef THIRD_LISTS_H
#define THIRD_LISTS_H

#include "kinds.h"

/* One iteration of k-means: the nearest group of each point, then the new centres. */
static void groups(void)
{
  if (!is_wanted("groups"))
    return;
  enum { N = SIZED(1 << 19, 1000), DIM = 4, K = 13 };
  float(*point)[DIM] = malloc(sizeof *point * N), centre[K][DIM], moved[K][DIM];
  double total[K][DIM];
  int many[K];
  FILL(point[0], N * DIM);
  for (int i = 0; i < K * DIM; i++)
    ((float *)centre)[i] = (int)(mixed(i) % 16) - 8;
#pragma omp target data map(to: point[0:N], centre) map(alloc: total, many) map(from: moved)
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int k = 0; k < K; k++) {
        many[k] = 0;
        for (int c = 0; c < DIM; c++)
          total[k][c] = 0;
      }
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        int best = 0;
        float least = 1e30f;
        for (int k = 0; k < K; k++) {
          float d = 0;
          for (int c = 0; c < DIM; c++)
            d += (point[i][c] - centre[k][c]) * (point[i][c] - centre[k][c]);
          if (d < least)
            least = d, best = k;
        }
#pragma omp atomic
        many[best]++;
        for (int c = 0; c < DIM; c++) {
#pragma omp atomic
          total[best][c] += point[i][c];
        }
      }
#pragma omp target teams distribute parallel for collapse(2)
      for (int k = 0; k < K; k++)
        for (int c = 0; c < DIM; c++)
          moved[k][c] = many[k] > 0 ? total[k][c] / many[k] : centre[k][c];
    }
  }
  SUM_SIZES((float *)moved, K * DIM);
  tell_rounded("groups", sum);
  free(point);
}

/* Keys go in the order of four of their bits: counts for parts of the list, their sums, places. */
static void sorting_step(void)
{
  if (!is_wanted("sorting_step"))
    return;
  enum { PART = 256, PARTS = SIZED(1 << 14, 40), N = PART * PARTS, DIGITS = 16, SHIFT = 8 };
  unsigned *key = malloc(sizeof *key * N), *sorted = malloc(sizeof *sorted * N);
  int *count = malloc(sizeof *count * DIGITS * PARTS), *place = malloc(sizeof *place * DIGITS * PARTS);
  for (int i = 0; i < N; i++)
    key[i] = mixed(i) >> 8;
#pragma omp target data map(to: key[0:N]) map(alloc: count[0:DIGITS * PARTS], place[0:DIGITS * PARTS]) \
  map(from: sorted[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int p = 0; p < PARTS; p++) {
        int mine[DIGITS] = { 0 };
        for (int i = p * PART; i < (p + 1) * PART; i++)
          mine[key[i] >> SHIFT & (DIGITS - 1)]++;
        for (int d = 0; d < DIGITS; d++)
          count[d * PARTS + p] = mine[d];
      }
#pragma omp target
      {
        int before = 0;
#pragma omp parallel for reduction(inscan, +: before)
        for (int i = 0; i < DIGITS * PARTS; i++) {
          place[i] = before;
#pragma omp scan exclusive(before)
          before += count[i];
        }
      }
#pragma omp target teams distribute parallel for
      for (int p = 0; p < PARTS; p++) {
        int next[DIGITS];
        for (int d = 0; d < DIGITS; d++)
          next[d] = place[d * PARTS + p];
        for (int i = p * PART; i < (p + 1) * PART; i++)
          sorted[next[key[i] >> SHIFT & (DIGITS - 1)]++] = key[i];
      }
    }
  }
  SUM(sorted, N);
  tell("sorting_step", sum);
  free(key), free(sorted), free(count), free(place);
}

/* A sparse matrix as a list of its elements, with a vector. */
static void triples(void)
{
  if (!is_wanted("triples"))
    return;
  enum { N = SIZED(1 << 18, 300) };
  int *first = malloc(sizeof *first * (N + 1));
  const int all = fill_rows(N, first);
  int *row = malloc(sizeof *row * all), *column = malloc(sizeof *column * all);
  double *a = malloc(sizeof *a * all), *x = malloc(sizeof *x * N), *y = malloc(sizeof *y * N);
  for (int i = 0; i < N; i++)
    for (int e = first[i]; e < first[i + 1]; e++)
      row[e] = i;
  fill_columns(N, first, 1000, column);
  FILL(a, all);
  FILL(x, N);
#pragma acc data copyin(row[0:all], column[0:all], a[0:all], x[0:N]) copyout(y[0:N])
  {
    MEASURE {
#pragma acc parallel loop
      for (int i = 0; i < N; i++)
        y[i] = 0;
#pragma acc parallel loop
      for (int e = 0; e < all; e++) {
#pragma acc atomic update
        y[row[e]] += a[e] * x[column[e]];
      }
    }
  }
  SUM(y, N);
  tell("triples", sum);
  free(first), free(row), free(column), free(a), free(x), free(y);
}

/* The connected parts of a graph: all take the least number, until none changes. */
static void islands(void)
{
  if (!is_wanted("islands"))
    return;
  enum { N = SIZED(1 << 19, 500), EDGES = N };
  int *from = malloc(sizeof *from * EDGES), *to = malloc(sizeof *to * EDGES);
  int *least = malloc(sizeof *least * N), *last = malloc(sizeof *last * N);
  for (int e = 0; e < EDGES; e++)
    from[e] = mixed(e) % N, to[e] = mixed(EDGES + e) % N;
#pragma omp target data map(to: from[0:EDGES], to[0:EDGES]) map(from: least[0:N]) map(alloc: last[0:N])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++)
        least[i] = last[i] = i;
      int changed = 1;
      while (changed) {
        changed = 0;
#pragma omp target teams distribute parallel for
        for (int e = 0; e < EDGES; e++) {
          const int a = last[from[e]], b = last[to[e]];
          if (a < b) {
#pragma omp atomic compare
            if (a < least[to[e]]) { least[to[e]] = a; }
          } else if (b < a) {
#pragma omp atomic compare
            if (b < least[from[e]]) { least[from[e]] = b; }
          }
        }
#pragma omp target teams distribute parallel for reduction(|: changed) map(tofrom: changed)
        for (int i = 0; i < N; i++) {
          const int found = least[least[i]];
          changed |= found != last[i];
          last[i] = found;
        }
#pragma omp target teams distribute parallel for
        for (int i = 0; i < N; i++)
          least[i] = last[i];
      }
    }
  }
  SUM(least, N);
  tell("islands", sum);
  free(from), free(to), free(least), free(last);
}

struct node {
  int key, value, left, right;
};

/* Where node `number` of a tree in the order of its levels lies. */
static unsigned tree_place(unsigned number, unsigned count) { return permuted(number, count); }

/* The greatest key of a tree that is not above what is looked for. */
static void tree(void)
{
  if (!is_wanted("tree"))
    return;
  enum { LEVELS = SIZED(20, 8), N = 1 << LEVELS, QUERIES = SIZED(1000003, 500) };
  struct node *at = malloc(sizeof *at * N);
  int *query = malloc(sizeof *query * QUERIES), *answer = malloc(sizeof *answer * QUERIES);
  for (int level = 0, i = 1; level < LEVELS; level++)
    for (; i < 2 << level; i++) {
      const int step = N >> level, key = (i - (1 << level)) * step + step / 2;
      const int is_last = level == LEVELS - 1;
      at[tree_place(i, N)] = (struct node){ 3 * key, i % 1000, is_last ? -1 : (int)tree_place(2 * i, N),
                                            is_last ? -1 : (int)tree_place(2 * i + 1, N) };
    }
  const int root = tree_place(1, N);
  for (int i = 0; i < QUERIES; i++)
    query[i] = mixed(i) % (3 * N);
#pragma omp target data map(to: at[0:N], query[0:QUERIES]) map(from: answer[0:QUERIES])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < QUERIES; i++) {
        int found = -1;
        for (int n = root; n >= 0;) {
          const struct node here = at[n];
          if (here.key == query[i]) {
            found = here.value;
            break;
          }
          if (here.key < query[i])
            found = here.value;
          n = here.key < query[i] ? here.right : here.left;
        }
        answer[i] = found;
      }
    }
  }
  SUM(answer, QUERIES);
  tell("tree", sum);
  free(at), free(query), free(answer);
}

/* Words are counted in a table with open addressing. */
static void hashes(void)
{
  if (!is_wanted("hashes"))
    return;
  enum { N = SIZED(1 << 20, 800), TABLE = SIZED(1 << 20, 1024) };
  unsigned *key = malloc(sizeof *key * N), *slot = malloc(sizeof *slot * TABLE);
  int *count = malloc(sizeof *count * TABLE);
  for (int i = 0; i < N; i++)
    key[i] = 1 + mixed(i) % (N / 2);
#pragma omp target data map(to: key[0:N]) map(from: slot[0:TABLE], count[0:TABLE])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int h = 0; h < TABLE; h++)
        slot[h] = 0, count[h] = 0;
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        const unsigned k = key[i];
        unsigned h = k * 2654435761u % TABLE;
        for (;;) {
          unsigned old;
#pragma omp atomic compare capture
          {
            old = slot[h];
            if (slot[h] == 0) { slot[h] = k; }
          }
          if (old == 0 || old == k)
            break;
          h = (h + 1) % TABLE;
        }
#pragma omp atomic update
        count[h]++;
      }
    }
  }
  double sum = 0;
  for (int h = 0; h < TABLE; h++)
    sum += (double)count[h] * (slot[h] % 1000) + (slot[h] > 0);
  tell("hashes", sum);
  free(key), free(slot), free(count);
}

/* How often a word of eight letters is in a text, with at most two others in it. */
static void letters(void)
{
  if (!is_wanted("letters"))
    return;
  enum { N = SIZED(1 << 25, 5000), LENGTH = 8 };
  char *text = malloc(N + LENGTH);
  const char word[LENGTH + 1] = "GATTACAG";
  for (int i = 0; i < N + LENGTH; i++)
    text[i] = "ACGT"[mixed(i) >> 9 & 3];
  long found = 0;
#pragma acc data copyin(text[0:N + LENGTH], word)
  {
    MEASURE {
      found = 0;
#pragma acc parallel loop reduction(+: found) copy(found)
      for (long i = 0; i < N; i++) {
        int wrong = 0;
        for (int k = 0; k < LENGTH && wrong <= 2; k++)
          if (text[i + k] != word[k])
            wrong++;
        if (wrong <= 2)
          found++;
      }
    }
  }
  tell("letters", found);
  free(text);
}

/* In how many ways queens stand on a board: each iteration has the first four rows. */
static void queens(void)
{
  if (!is_wanted("queens"))
    return;
  enum { N = SIZED(13, 7), BEGINS = N * N * N * N };
  long ways = 0;
  MEASURE {
    ways = 0;
#pragma omp target teams distribute parallel for reduction(+: ways) map(tofrom: ways) schedule(static, 1)
    for (int begin = 0; begin < BEGINS; begin++) {
      unsigned column[N + 1], left[N + 1], right[N + 1], open[N + 1];
      column[0] = left[0] = right[0] = 0;
      int row = 0, valid = 1;
      for (int rest = begin; row < 4; row++, rest /= N) {
        const unsigned bit = 1u << rest % N;
        if (bit & (column[row] | left[row] | right[row])) {
          valid = 0;
          break;
        }
        column[row + 1] = column[row] | bit;
        left[row + 1] = (left[row] | bit) << 1;
        right[row + 1] = (right[row] | bit) >> 1;
      }
      if (!valid)
        continue;
      const unsigned full = (1u << N) - 1;
      open[row] = full & ~(column[row] | left[row] | right[row]);
      while (row >= 4) {
        if (open[row] == 0) {
          row--;
          continue;
        }
        const unsigned bit = open[row] & -open[row];
        open[row] ^= bit;
        if (row == N - 1) {
          ways++;
          continue;
        }
        column[row + 1] = column[row] | bit;
        left[row + 1] = (left[row] | bit) << 1;
        right[row + 1] = (right[row] | bit) >> 1;
        row++;
        open[row] = full & ~(column[row] | left[row] | right[row]);
      }
    }
  }
  tell("queens", ways);
}

/* How many of some molecules are alike, by the bits that they have in common. */
static void fingerprints(void)
{
  if (!is_wanted("fingerprints"))
    return;
  enum { N = SIZED(3001, 20), MANY = SIZED(5003, 70), WORDS = 32 };
  unsigned(*a)[WORDS] = malloc(sizeof *a * N), (*b)[WORDS] = malloc(sizeof *b * MANY);
  int *like = malloc(sizeof *like * N);
  for (int i = 0; i < N * WORDS; i++)
    a[0][i] = mixed(i) | mixed(i / WORDS % 50);
  for (int i = 0; i < MANY * WORDS; i++)
    b[0][i] = mixed(i + 12345) | mixed(i / WORDS % 70);
#pragma omp target data map(to: a[0:N], b[0:MANY]) map(from: like[0:N])
  {
    MEASURE {
#pragma omp target teams distribute
      for (int i = 0; i < N; i++) {
        int mine = 0;
#pragma omp parallel for reduction(+: mine)
        for (int j = 0; j < MANY; j++) {
          int both = 0, any = 0;
          for (int k = 0; k < WORDS; k++) {
            both += __builtin_popcount(a[i][k] & b[j][k]);
            any += __builtin_popcount(a[i][k] | b[j][k]);
          }
          if (100 * both >= 62 * any)
            mine++;
        }
        like[i] = mine;
      }
    }
  }
  SUM(like, N);
  tell("fingerprints", sum);
  free(a), free(b), free(like);
}

/* A sparse triangular system from a grid; what depends on nothing that is open goes together. */
static void levels(void)
{
  if (!is_wanted("levels"))
    return;
  enum { G = SIZED(191, 20), N = G * G, LEVELS = 2 * G - 1 };
  int *first = malloc(sizeof *first * (N + 1)), *column = malloc(sizeof *column * 2 * N);
  int *start = malloc(sizeof *start * (LEVELS + 1)), *order = malloc(sizeof *order * N);
  double *a = malloc(sizeof *a * 2 * N), *diagonal = malloc(sizeof *diagonal * N);
  double *b = malloc(sizeof *b * N), *x = malloc(sizeof *x * N);
  int all = 0;
  for (int i = 0; i < N; i++) {
    first[i] = all;
    if (i >= G)
      column[all++] = i - G;
    if (i % G > 0)
      column[all++] = i - 1;
    diagonal[i] = 9 + value(i);
    b[i] = value(i + 3);
  }
  first[N] = all;
  for (int e = 0; e < all; e++)
    a[e] = 0.0625 * value(e);
  for (int level = 0, many = 0; level < LEVELS; level++) {
    start[level] = many;
    for (int i = level < G ? 0 : level - G + 1; i <= level && i < G; i++)
      order[many++] = i * G + level - i;
  }
  start[LEVELS] = N;
#pragma acc data copyin(first[0:N + 1], column[0:all], a[0:all], diagonal[0:N], b[0:N], order[0:N]) copyout(x[0:N])
  {
    MEASURE {
      for (int level = 0; level < LEVELS; level++) {
        const int from = start[level], to = start[level + 1];
#pragma acc parallel loop
        for (int k = from; k < to; k++) {
          const int i = order[k];
          double s = b[i];
          for (int e = first[i]; e < first[i + 1]; e++)
            s -= a[e] * x[column[e]];
          x[i] = s / diagonal[i];
        }
      }
    }
  }
  SUM_SIZES(x, N);
  tell_rounded("levels", sum);
  free(first), free(column), free(start), free(order), free(a), free(diagonal), free(b), free(x);
}

/* The best local alignment of a short sequence with each of many. */
static void alignments(void)
{
  if (!is_wanted("alignments"))
    return;
  enum { MANY = SIZED(20001, 60), QUERY = 64 };
  int *first = malloc(sizeof *first * (MANY + 1)), *best = malloc(sizeof *best * MANY);
  first[0] = 0;
  for (int t = 0; t < MANY; t++)
    first[t + 1] = first[t] + 40 + mixed(t) % 64;
  unsigned char *target = malloc(first[MANY]), query[QUERY];
  for (int i = 0; i < first[MANY]; i++)
    target[i] = mixed(i) % 4;
  for (int i = 0; i < QUERY; i++)
    query[i] = mixed(i + 77) % 4;
#pragma omp target data map(to: first[0:MANY + 1], target[0:first[MANY]], query) map(from: best[0:MANY])
  {
    MEASURE {
#pragma omp target teams distribute parallel for
      for (int t = 0; t < MANY; t++) {
        short row[QUERY + 1] = { 0 };
        int most = 0;
        for (int i = first[t]; i < first[t + 1]; i++) {
          short corner = 0;
          for (int j = 1; j <= QUERY; j++) {
            int score = corner + (target[i] == query[j - 1] ? 5 : -4);
            corner = row[j];
            if (row[j] - 7 > score)
              score = row[j] - 7;
            if (row[j - 1] - 7 > score)
              score = row[j - 1] - 7;
            if (score < 0)
              score = 0;
            row[j] = score;
            if (score > most)
              most = score;
          }
        }
        best[t] = most;
      }
    }
  }
  SUM(best, MANY);
  tell("alignments", sum);
  free(first), free(best), free(target);
}

#endif
