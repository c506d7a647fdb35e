// HIP's declarations exported from this library, and the entry points newer than HIP 5.2's headers.
#ifndef RELAUNCH_DIFFERENTIAL_HIP_EXPORTS_HPP
#define RELAUNCH_DIFFERENTIAL_HIP_EXPORTS_HPP

#pragma GCC visibility push(default)
#include <hip/hip_runtime_api.h>
#ifdef hipGetDeviceProperties
#include <hip/hip_deprecated.h>
#endif
#pragma GCC visibility pop

#include <cstddef>
#include <cstdint>

namespace relaunch::hip {

/// Layout of HIP_LAUNCH_CONFIG in HIP 7.1, x86-64.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  hipStream_t stream;
  const struct LaunchAttribute* attributes;
  unsigned attribute_count;
};
/// Layout of hipLaunchAttribute.
struct LaunchAttribute {
  std::uint32_t id;
  std::uint32_t reserved;
  std::byte value[64];
};
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32);
static_assert(offsetof(LaunchConfig, attributes) == 40);
static_assert(offsetof(LaunchConfig, attribute_count) == 48);
static_assert(sizeof(LaunchAttribute) == 72 && offsetof(LaunchAttribute, value) == 8);

/// Ids of launch attributes whose value is three u32: the one Triton 3.6 sets, unnamed in HIP 7.1.
inline constexpr unsigned kClusterDimension = 4;

/// The properties before HIP 6, whose headers make this name a macro for the R0600 form.
#ifdef hipGetDeviceProperties
#undef hipGetDeviceProperties
using PropertiesR0000 = hipDeviceProp_tR0000;
#else
using PropertiesR0000 = hipDeviceProp_t;
#endif

}  // namespace relaunch::hip

// Headers declare these in one form, another or not at all, so each is exported under its symbol
// from a function with a name of its own.
#pragma GCC visibility push(default)
extern "C" {
hipError_t exported_drv_launch_kernel_ex(const relaunch::hip::LaunchConfig* config,
                                         hipFunction_t function, void** params,
                                         void** extra) __asm__("hipDrvLaunchKernelEx");
hipError_t exported_module_launch_cooperative_kernel(
    hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
    unsigned block_y, unsigned block_z, unsigned shared, hipStream_t stream,
    void** params) __asm__("hipModuleLaunchCooperativeKernel");
hipError_t exported_memcpy_htod(hipDeviceptr_t to, const void* from,
                                std::size_t bytes) __asm__("hipMemcpyHtoD");
/// Newer releases pass a fifth argument for the query's result; it is left alone, so that callers
/// of either form work.
hipError_t exported_get_proc_address(const char* symbol, void** function, int version,
                                     std::uint64_t flags) __asm__("hipGetProcAddress");
hipError_t exported_get_device_properties(relaunch::hip::PropertiesR0000* properties,
                                          int device) __asm__("hipGetDeviceProperties");
/// HIP 6 and later: `properties` is 1472 bytes, aligned to 8.
hipError_t exported_get_device_properties_r0600(void* properties,
                                                int device) __asm__("hipGetDevicePropertiesR0600");
}
#pragma GCC visibility pop

#endif
