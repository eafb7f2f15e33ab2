/* The kernels of first.c in CUDA: as they are written there, a thread for each iteration ("naive"), and as one would
   write them for the GPU ("tuned"). nvcc -O3 -arch=sm_90 first.cu -o first_cuda && ./first_cuda */
#include "first_grids.cuh"
#include "first_lists.cuh"

int main(int argc, char **argv)
{
  wanted = argc > 1 ? argv[1] : nullptr;
  saxpy();
  jacobi();
  heat27();
  triangle();
  syrk();
  matrices4();
  max_place();
  prefix();
  bitonic();
  mandelbrot();
  search();
  lennard_jones();
  boltzmann();
  particles();
  histogram_weights();
  histogram_max();
  softmax();
  complex_dot();
  gather();
  grey();
  blur();
  matvec_columns();
  sparse();
  bodies();
}
