// What wide characters and plain `char` mean: on the host, and in a region.
#include <stdio.h>
#include <wchar.h>
#define BIG L'\xffffffff'
static wchar_t table[] = L"z\xffffffff\u00e9";
static const wchar_t *const name = L"ab" L"c";
static struct text { int n; wchar_t letters[4]; const wchar_t *more; } text = { 1, L"xyz", L"more" };
#pragma omp declare target enter(table, name, text)
int main(void) {
  for (int away = 0; away < 2; away++) {
    int signs = 0, kinds = 0, sizes = 0, kept = 0, others = 0;
    long widened = 0;
#pragma omp target if(away) map(from: signs, kinds, sizes, kept, others, widened)
    {
      volatile int at = 1;
      wchar_t own[] = L"a\xfffffff0", three[3] = L"abc", five[5] = L"x", none[] = L"";
      const wchar_t *here = L"q\xffffffff";
      int is[] = { BIG < 0, BIG < 5L, -1 < L'a', L'a' - L'b' < 0, L"z\xffffffff"[at] < 0, table[at] < 0, own[at] < 0,
                   here[at] < 0, ((wchar_t[]){ L"u\xffffffff" })[at] < 0, (double)BIG < 0, (at ? BIG : 0) / 2 == 0,
                   WCHAR_MIN < 0, wcscmp(here + 1, three) < 0, wcsncmp(own + 1, L"a", 5) < 0, wmemcmp(own + 1, L"a", 1) < 0 };
      for (int i = 0; i < (int)(sizeof is / sizeof *is); i++) signs |= is[i] << i;
      kinds = _Generic(L'a', int: 1, unsigned: 2) + _Generic(L"a"[0], int: 10, unsigned: 20);
      sizes = sizeof L"abc" + sizeof own + sizeof none + sizeof(*&L"abcd") + wcslen(here);
      kept = (name[2] == L'c') + (name[3] == 0) + (text.letters[2] == 'z') + (text.letters[3] == 0) + (text.more[3] == L'e') +
             (three[2] == L'c') + (five[4] == 0) + (table[2] == 0xe9) + (text.n == 1);
      struct { char c : 3; } bits = { (char)at };
      bits.c = 7;
      others = (u'\xffff' > 0) + (U'\xffffffff' > 0) + (u"\xffff"[at - 1] > 0) + (U"\xffffffff"[at - 1] > 0) +
               10 * (('\xff' < 0) + ("\xff"[at - 1] < 0) + (u8"\xff"[0] < 0) + (bits.c < 0));
      widened = here[at];
    }
    printf("%x %d %d %d %d %ld\n", signs, kinds, sizes, kept, others, widened);
  }
  return 0;
}
