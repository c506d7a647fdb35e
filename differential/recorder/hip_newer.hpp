// HIP's declarations exported from this library, and the entry points newer than HIP 5.2's headers.
#ifndef RELAUNCH_DIFFERENTIAL_RECORDER_HIP_NEWER_HPP
#define RELAUNCH_DIFFERENTIAL_RECORDER_HIP_NEWER_HPP

#pragma GCC visibility push(default)
#include <hip/hip_runtime_api.h>
#ifdef hipGetDeviceProperties
#include <hip/hip_deprecated.h>
#endif
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

/// The properties before HIP 6, whose headers make this name a macro for the R0600 form.
#ifdef hipGetDeviceProperties
#undef hipGetDeviceProperties
using HipPropertiesR0000 = hipDeviceProp_tR0000;
#else
using HipPropertiesR0000 = hipDeviceProp_t;
#endif

}  // namespace relaunch::recorder

// Headers declare these in one form, another or not at all, so each is exported under its symbol
// from a function with a name of its own.
#pragma GCC visibility push(default)
extern "C" {
hipError_t recorder_drv_launch_kernel_ex(const relaunch::recorder::HipLaunchConfig* config,
                                         hipFunction_t function, void** params,
                                         void** extra) __asm__("hipDrvLaunchKernelEx");
hipError_t recorder_module_launch_cooperative_kernel(
    hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
    unsigned block_y, unsigned block_z, unsigned shared, hipStream_t stream,
    void** params) __asm__("hipModuleLaunchCooperativeKernel");
hipError_t recorder_memcpy_htod(hipDeviceptr_t to, const void* from,
                                std::size_t bytes) __asm__("hipMemcpyHtoD");
/// Newer releases pass a fifth argument for the query's result; it is left alone, so that callers
/// of either form work.
hipError_t recorder_get_proc_address(const char* symbol, void** function, int version,
                                     std::uint64_t flags) __asm__("hipGetProcAddress");
hipError_t recorder_get_device_properties(relaunch::recorder::HipPropertiesR0000* properties,
                                          int device) __asm__("hipGetDeviceProperties");
/// HIP 6 and later: `properties` is 1472 bytes, aligned to 8.
hipError_t recorder_get_device_properties_r0600(void* properties,
                                                int device) __asm__("hipGetDevicePropertiesR0600");
}
#pragma GCC visibility pop

#endif
