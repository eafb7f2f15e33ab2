// Functions of the C library in regions: rounding to integers, words, sines with cosines, characters, quotients with rests.
#define _GNU_SOURCE
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;

static void expect(int is_right, const char *what)
{
  if (!is_right) {
    printf("wrong: %s\n", what);
    wrong = 1;
  }
}

/* All that is asked about a character, by macros and by functions. */
static int asked(int c)
{
  int kinds = !!isalpha(c) | !!isdigit(c) << 1 | !!isalnum(c) << 2 | !!isspace(c) << 3 | !!isupper(c) << 4;
  kinds |= !!islower(c) << 5 | !!ispunct(c) << 6 | !!isprint(c) << 7 | !!iscntrl(c) << 8 | !!isxdigit(c) << 9;
  kinds |= !!isgraph(c) << 10 | !!isblank(c) << 11 | !!(isalpha)(c) << 12 | !!(isxdigit)(c) << 13;
  return kinds << 16 | (toupper)(c) << 8 | tolower(c);
}

static void characters(void)
{
  int told[128], right = 1;
#pragma omp target teams distribute parallel for map(from : told)
  for (int c = 0; c < 128; c++) told[c] = asked(c);
  for (int c = 0; c < 128; c++) right &= told[c] == asked(c);
  expect(right, "characters");
}

/* Quotients and rests at once: towards zero, in all types, in a function and through its result. */
static long divided(long a, long b)
{
  const ldiv_t both = ldiv(a, b);
  return both.quot * 1000 + both.rem;
}

static void quotients(void)
{
  long told[64], right = 1;
#pragma omp target teams distribute parallel for map(from : told)
  for (int i = 0; i < 64; i++) {
    const div_t small = div(i - 32, 5);
    told[i] = small.quot + small.rem * 100L + divided(i * 3L - 100, -7);
    told[i] += (long)(lldiv(i * 10000000000LL, 3).rem + imaxdiv((intmax_t)i - 40, 9).quot * 1000000);
  }
  for (int i = 0; i < 64; i++) {
    const long a = i * 3L - 100, b = -7;
    long wanted = (i - 32) / 5 + (i - 32) % 5 * 100L + a / b * 1000 + a % b;
    wanted += i * 10000000000L % 3 + (i - 40L) / 9 * 1000000;
    right &= told[i] == wanted;
  }
  expect(right, "quotients");
}

int main(void)
{
  characters();
  quotients();
  const double input[6] = { -2.5, -0.5, 0.4999, 1.5, 2.5, 1e6 + 0.5 };
  long rounded[6], even[6];
  double whole[6], scaled[6], sine, cosine;
  float single = 0;
  int away = 0;
#pragma omp target map(from : rounded, even, whole, scaled, sine, cosine, single, away) map(to : input)
  {
    for (int i = 0; i < 6; i++) {
      rounded[i] = lround(input[i]) + llroundf(0.5f);
      even[i] = lrint(input[i]) + llrint(2.5);
      whole[i] = nearbyint(input[i]);
      scaled[i] = scalbn(input[i], 3) + scalbln(1, -2L);
    }
    sincos(0.75, &sine, &cosine);
    single = nearbyintf(-3.5f) + scalbnf(0.5f, 4);
    away = !omp_is_initial_device();
  }
  int right = away && single == 4 && fabs(sine - sin(0.75)) < 1e-15 && fabs(cosine - cos(0.75)) < 1e-15;
  for (int i = 0; i < 6; i++) {
    right &= rounded[i] == lround(input[i]) + 1 && even[i] == lrint(input[i]) + 2;
    right &= whole[i] == nearbyint(input[i]) && scaled[i] == 8 * input[i] + 0.25;
  }
  expect(right, "rounded and scaled");

  char text[32] = "ferry", copy[8];
  int found = 0, missing = 0, length = 0;
#pragma omp target map(tofrom : text) map(from : copy, found, missing, length)
  {
    strcat(text, " over");
    strncat(text, " the sea", 4);
    strncpy(copy, text, 7);
    copy[7] = 0;
    found = (int)(strstr(text, "er t") - text);
    missing = strstr(text, "sea") == 0 && memchr(text, 'z', 10) == 0;
    length = (int)strnlen(text, 9) + ((char *)memchr(text, 'o', 32) == text + 6);
  }
  expect(!strcmp(text, "ferry over the") && !strcmp(copy, "ferry o"), "words that are joined and copied");
  expect(found == 8 && missing == 1 && length == 10, "words that are looked for");
  return wrong;
}
