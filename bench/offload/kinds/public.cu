/* The kernels of public.c in CUDA: as they are written there, a thread for each iteration ("naive"), and as one would
   write them for the GPU ("tuned"). nvcc -O3 -arch=sm_90 public.cu -o public_cuda && ./public_cuda */
#include "public_cells.cuh"
#include "public_fields.cuh"
#include "public_grids.cuh"
#include "public_layers.cuh"
#include "public_lists.cuh"
#include "public_meshes.cuh"

int main(int argc, char **argv)
{
  wanted = argc > 1 ? argv[1] : nullptr;
  hotspot();
  srad();
  pathfinder();
  gaussian();
  relax7();
  fdtd();
  advect();
  d2q9();
  star();
  bilateral();
  summary();
  conv_layer();
  depthwise();
  batch_norm();
  gemm_strided();
  gemm_tn();
  covariance();
  lstm();
  attention();
  spmm();
  bfs();
  pagerank();
  merge_ranks();
  walks();
  euler();
  motion();
  mri();
  tally();
}
