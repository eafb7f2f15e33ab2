#define HDR(x) ((x) + 1)
static inline int hdr(int a) { return HDR(a); }
