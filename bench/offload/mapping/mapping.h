/* Where threads and lanes stand in a nest, by PLACE: L1, L2 and L3 go before its loops. */
#include <stddef.h>

#define DO(text) _Pragma(#text)
#define L1
#define L2
#define L3

#if PLACE == 1 || PLACE == 7
#undef L1
#define L1 DO(omp parallel for)
#elif PLACE == 2 || PLACE == 9
#undef L2
#define L2 DO(omp parallel for)
#elif PLACE == 3
#undef L3
#define L3 DO(omp parallel for)
#elif PLACE == 4 || PLACE == 8
#undef L1
#define L1 DO(omp parallel for collapse(2))
#elif PLACE == 5
#undef L1
#define L1 DO(omp parallel for collapse(3))
#elif PLACE == 6
#undef L2
#define L2 DO(omp parallel for collapse(2))
#elif PLACE == 20
/* As one would write it for a GPU; the mapping is the compiler's to choose. */
#undef L1
#undef L2
#define L1 DO(omp target teams distribute)
#define L2 DO(omp parallel for)
#elif PLACE == 21
#undef L1
#define L1 DO(acc kernels)
#endif

#if PLACE == 7 || PLACE == 8 || PLACE == 9
#define LANES DO(omp simd)
#else
#define LANES
#endif

void RUN(void);
