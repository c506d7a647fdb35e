#pragma once
// Types of the HIP functions that are called, those newer than the installed headers included.

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace relaunch::hip {

/// A launch attribute: the value is a union of 64 bytes behind the id.
struct LaunchAttribute {
  std::uint32_t id;
  std::uint32_t padding;
  std::byte value[64];
};
static_assert(sizeof(LaunchAttribute) == 72);
static_assert(offsetof(LaunchAttribute, value) == 8);

/// HIP_LAUNCH_CONFIG of ROCm 7.
struct LaunchConfig {
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t shared;  // bytes
  hipStream_t stream;
  LaunchAttribute* attributes;
  std::uint32_t attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56);
static_assert(offsetof(LaunchConfig, block) == 12);
static_assert(offsetof(LaunchConfig, shared) == 24);
static_assert(offsetof(LaunchConfig, stream) == 32);
static_assert(offsetof(LaunchConfig, attributes) == 40);
static_assert(offsetof(LaunchConfig, attribute_count) == 48);

inline constexpr std::uint32_t kCooperative = 2;
inline constexpr std::uint32_t kClusterDimension =
    4;                                    // three u32; the enumeration has no name for it
inline constexpr int kDevicePointer = 3;  // HIP_POINTER_ATTRIBUTE_DEVICE_POINTER

struct Functions {
  hipError_t (*hipModuleLaunchKernel)(hipFunction_t, unsigned, unsigned, unsigned, unsigned,
                                      unsigned, unsigned, unsigned, hipStream_t, void**, void**);
  hipError_t (*hipModuleLaunchCooperativeKernel)(hipFunction_t, unsigned, unsigned, unsigned,
                                                 unsigned, unsigned, unsigned, unsigned,
                                                 hipStream_t, void**);
  hipError_t (*hipDrvLaunchKernelEx)(const LaunchConfig*, hipFunction_t, void**, void**);
  hipError_t (*hipGetDevice)(int*);
  hipError_t (*hipDeviceGetAttribute)(int*, hipDeviceAttribute_t, int);
  hipError_t (*hipPointerGetAttribute)(void*, int, void*);
  std::intptr_t (*hipGetErrorString)(hipError_t);  // a C string's address, or the stand-in's code
  hipError_t (*hipGetLastError)();
};

}  // namespace relaunch::hip
