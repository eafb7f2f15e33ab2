/* What kernels in OpenCL C ask of their language, upon the threads that stand for those of CUDA. A file of C++ gives these
   functions the names that the compiler of OpenCL C looks for. */
size_t get_local_id(unsigned) { return threadIdx.x; }
size_t get_local_size(unsigned) { return blockDim.x; }
size_t get_group_id(unsigned) { return blockIdx.x; }
size_t get_num_groups(unsigned) { return gridDim.x; }
size_t get_global_id(unsigned) { return (size_t)blockIdx.x * blockDim.x + threadIdx.x; }
size_t get_global_size(unsigned) { return (size_t)gridDim.x * blockDim.x; }
void barrier(unsigned) { __syncthreads(); }
