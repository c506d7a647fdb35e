// Kernels that load one tile through a tensor map passed by value, for the device tests. Their
// parameters are those of a descriptor of two dimensions with metadata (the map, two sizes, two
// strides), then out, seen and the tile's place, then the hidden parameters of the dialect.

#include <cuda.h>

#include <cstdint>

namespace {

constexpr int kRows = 8;
constexpr int kColumns = 16;
constexpr unsigned kTileBytes = kRows * kColumns * sizeof(float);

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// The tile whose first element is at (row, column), into shared memory; all threads wait for it.
__device__ void load(const CUtensorMap& map, int row, int column, float* tile,
                     std::uint64_t* barrier) {
  const unsigned arrived = shared_address(barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(arrived) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(arrived),
                 "r"(kTileBytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
        "l"(&map), "r"(column), "r"(row), "r"(arrived)
        : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; "
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(arrived)
        : "memory");
  }
}

/// out[0 .. 128) = the tile, row by row; seen = the sizes and strides that came with the map.
__device__ void store(const CUtensorMap& map, const long long (&values)[4], float* out,
                      long long* seen, int row, int column) {
  __shared__ alignas(128) float tile[kRows * kColumns];
  __shared__ std::uint64_t barrier;
  load(map, row, column, tile, &barrier);
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kColumns;
       i += static_cast<int>(blockDim.x)) {
    out[i] = tile[i];
  }
  if (threadIdx.x < 4) seen[threadIdx.x] = values[threadIdx.x];
}

}  // namespace

extern "C" __global__ void load_tile(const __grid_constant__ CUtensorMap map, int size0, int size1,
                                     long long stride0, long long stride1, float* out,
                                     long long* seen, int row, int column, void* /*global_scratch*/,
                                     void* /*profile_scratch*/) {
  store(map, {size0, size1, stride0, stride1}, out, seen, row, column);
}

// As above, for 3.3 and 3.4, which have one hidden parameter.
extern "C" __global__ void load_tile_before_3_5(const __grid_constant__ CUtensorMap map, int size0,
                                                int size1, long long stride0, long long stride1,
                                                float* out, long long* seen, int row, int column,
                                                void* /*global_scratch*/) {
  store(map, {size0, size1, stride0, stride1}, out, seen, row, column);
}
