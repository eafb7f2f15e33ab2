/* What kernels in HIP ask of the compiler beyond the words of CUDA (emulated/cuda.h of crate emit, which comes before),
   on the host. Lanes are those of a wave, of which there are 64. */
#define __HIPCC_RTC__
#define __builtin_amdgcn_is_private(at) false
#define __builtin_amdgcn_mbcnt_lo(mask, sum) 0u
#define __builtin_amdgcn_mbcnt_hi(mask, sum) (threadIdx.x % WARP)
#define __builtin_amdgcn_ds_bpermute(at, word) __shfl_sync(~0u, word, (at) / 4)
