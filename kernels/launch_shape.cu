// Kernels that write down how they were launched, for the device tests. The last two parameters are
// the hidden ones that the 3.6 CUDA dialect appends (global and profile scratch).

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// out[block * 8 ..] = grid x, y, z, cluster x, y, z, threads, dynamic shared bytes.
extern "C" __global__ void shape(int* out, void* /*global_scratch*/, void* /*profile_scratch*/) {
  if (threadIdx.x != 0) return;
  const cg::cluster_group cluster = cg::this_cluster();
  unsigned shared_bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(shared_bytes));
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  int* row = out + block * 8;
  row[0] = static_cast<int>(gridDim.x);
  row[1] = static_cast<int>(gridDim.y);
  row[2] = static_cast<int>(gridDim.z);
  row[3] = static_cast<int>(cluster.dim_blocks().x);
  row[4] = static_cast<int>(cluster.dim_blocks().y);
  row[5] = static_cast<int>(cluster.dim_blocks().z);
  row[6] = static_cast<int>(blockDim.x);
  row[7] = static_cast<int>(shared_bytes);
}

// Every block adds 1 to counts[0]; after all have, each writes what it reads there to counts[1 +
// block].
extern "C" __global__ void grid_sync(int* counts, void* /*global_scratch*/,
                                     void* /*profile_scratch*/) {
  if (threadIdx.x == 0) atomicAdd(counts, 1);
  cg::this_grid().sync();
  if (threadIdx.x == 0) counts[1 + blockIdx.x] = *static_cast<volatile int*>(counts);
}

// Fills shared memory, all of it, and gives its sum back: bytes / 4 words of `value`.
extern "C" __global__ void fill_shared(int* out, int words, int value, void* /*global_scratch*/,
                                       void* /*profile_scratch*/) {
  extern __shared__ int memory[];
  for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x))
    memory[i] = value;
  __syncthreads();
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (int i = 0; i < words; ++i) sum += memory[i];
  *out = sum;
}

// out[i] = first + i, after waiting for the launch before it.
extern "C" __global__ void after_previous(int* out, int n, int first, void* /*global_scratch*/,
                                          void* /*profile_scratch*/) {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] += first + i;
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Every block adds 1 to out[0].
extern "C" __global__ void count_blocks(int* out, void* /*global_scratch*/,
                                        void* /*profile_scratch*/) {
  if (threadIdx.x == 0) atomicAdd(out, 1);
}

namespace {

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

}  // namespace

// The first of a pair: lets the launch after it begin, waits for at most `patience` nanoseconds
// until that has set flags[0], says in flags[1] whether it did, and only then sets flags[2].
extern "C" __global__ void lead(int* flags, long long patience, void* /*global_scratch*/,
                                void* /*profile_scratch*/) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  if (threadIdx.x != 0) return;
  volatile int* const seen = flags;
  const unsigned long long end = nanoseconds() + static_cast<unsigned long long>(patience);
  while (seen[0] == 0 && nanoseconds() < end) {
  }
  seen[1] = seen[0];
  __threadfence();
  seen[2] = 5;
}

// The second: sets flags[0] at once, and flags[3] to what flags[2] is when the first has ended.
extern "C" __global__ void follow(int* flags, void* /*global_scratch*/, void* /*profile_scratch*/) {
  volatile int* const seen = flags;
  if (threadIdx.x == 0) {
    seen[0] = 1;
    __threadfence();
  }
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  if (threadIdx.x == 0) seen[3] = seen[2];
}
