/* The kernels of held.c in CUDA: as they are written there, a thread for each iteration ("naive"), and as one would
   write them for the GPU ("tuned"). nvcc -O3 -arch=sm_90 held.cu -o held_cuda && ./held_cuda */
#include "held_grids.cuh"
#include "held_lists.cuh"

int main(int argc, char **argv)
{
  wanted = argc > 1 ? argv[1] : nullptr;
  laplace_wrap();
  nearest_centre();
  options();
  factor8();
  shortest_paths();
  monte_carlo();
  max_norm();
  section_sums();
  waves();
  filter33();
  channels();
  ellpack();
  rotate();
  count_if();
  permute();
  wavefront();
  segments();
  kept_items();
  sobel();
  deposit();
}
