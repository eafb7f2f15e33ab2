/* The kernels of third.c in CUDA: as they are written there, a thread for each iteration ("naive"), and as one would
   write them for the GPU ("tuned"). nvcc -O3 -arch=sm_90 third.cu -o third_cuda && ./third_cuda */
#include "third_grids.cuh"
#include "third_lattices.cuh"
#include "third_lists.cuh"
#include "third_words.cuh"

int main(int argc, char **argv)
{
  wanted = argc > 1 ? argv[1] : nullptr;
  cholesky();
  tridiagonal();
  fourier();
  pivots();
  layer_norm();
  video();
  median();
  acoustics();
  lattice_cells();
  lattice_planes();
  rays();
  push();
  both_ways();
  groups();
  sorting_step();
  triples();
  islands();
  tree();
  hashes();
  letters();
  queens();
  fingerprints();
  levels();
  alignments();
}
