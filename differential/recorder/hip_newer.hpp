// HIP's declarations exported from this library, and the entry points newer than HIP 5.2's headers.
#ifndef RELAUNCH_DIFFERENTIAL_RECORDER_HIP_NEWER_HPP
#define RELAUNCH_DIFFERENTIAL_RECORDER_HIP_NEWER_HPP

#pragma GCC visibility push(default)
#include <hip/hip_runtime_api.h>
#pragma GCC visibility pop

#include <cstddef>
#include <cstdint>

namespace relaunch::recorder {

/// Layout of HIP_LAUNCH_CONFIG in HIP 7.1, x86-64.
struct HipLaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  hipStream_t stream;
  const struct HipLaunchAttribute* attributes;
  unsigned attribute_count;
};
/// Layout of hipLaunchAttribute.
struct HipLaunchAttribute {
  std::uint32_t id;
  std::uint32_t reserved;
  std::byte value[64];
};
static_assert(sizeof(HipLaunchConfig) == 56 && offsetof(HipLaunchConfig, stream) == 32);
static_assert(offsetof(HipLaunchConfig, attributes) == 40);
static_assert(offsetof(HipLaunchConfig, attribute_count) == 48);
static_assert(sizeof(HipLaunchAttribute) == 72 && offsetof(HipLaunchAttribute, value) == 8);

/// Ids of launch attributes whose value is three u32: the one Triton 3.6 sets, unnamed in HIP 7.1.
inline constexpr unsigned kHipClusterDimension = 4;

}  // namespace relaunch::recorder

#pragma GCC visibility push(default)
extern "C" {
hipError_t hipDrvLaunchKernelEx(const relaunch::recorder::HipLaunchConfig* config,
                                hipFunction_t function, void** params, void** extra);
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x,
                                            unsigned grid_y, unsigned grid_z, unsigned block_x,
                                            unsigned block_y, unsigned block_z, unsigned shared,
                                            hipStream_t stream, void** params);
hipError_t hipGetProcAddress(const char* symbol, void** function, int version, std::uint64_t flags);
/// HIP 6 and later: `properties` is 1472 bytes, aligned to 8.
hipError_t hipGetDevicePropertiesR0600(void* properties, int device);
}
#pragma GCC visibility pop

#endif
