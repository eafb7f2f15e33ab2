// Truths of every type are combined with values of every type, in regions that stand beside others.
#include <omp.h>
#include <stdio.h>

enum { N = 1013 };

#define WORDS(...) _Pragma(#__VA_ARGS__)
#define LOOP(...) WORDS(omp target teams distribute parallel for __VA_ARGS__)
#define COMBINE(name, type, value_type, value)                                                                          \
  static int name(int odd)                                                                                              \
  {                                                                                                                     \
    type all = 1, none = 0, some = 1, any = 0;                                                                          \
    LOOP(reduction(&& : all, some) reduction(|| : none, any) map(tofrom : all, none, some, any) num_teams(3))          \
    for (int i = 0; i < N; i++) {                                                                                       \
      value_type yes = (value_type)(value), no = (value_type)0, rare = i == odd ? no : yes;                            \
      all = all && yes;                                                                                                 \
      some = rare && some;                                                                                              \
      none = none || no;                                                                                                \
      any = any || !rare;                                                                                               \
    }                                                                                                                   \
    return all != 1 || none != 0 || some != (odd >= N) || any != (odd < N);                                             \
  }

COMBINE(truths_of_truths, _Bool, _Bool, 1)
COMBINE(truths_of_characters, _Bool, signed char, -1)
COMBINE(numbers_of_longs, int, long, 1L << 40)
COMBINE(numbers_of_halves, unsigned char, float, 0.5f)
COMBINE(longs_of_doubles, long, double, 1e-300)
COMBINE(shorts_of_words, short, unsigned long, ~0UL)

int main(void)
{
  int wrong = 0;
  for (int odd = 500; odd <= N; odd += N - 500) {
    wrong |= truths_of_truths(odd) << 0 | truths_of_characters(odd) << 1 | numbers_of_longs(odd) << 2;
    wrong |= numbers_of_halves(odd) << 3 | longs_of_doubles(odd) << 4 | shorts_of_words(odd) << 5;
  }
  int here = 1;
#pragma omp target map(from : here)
  here = omp_is_initial_device();
  printf("%x %d\n", wrong, here);
  return wrong || here;
}
