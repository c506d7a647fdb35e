// Launches, pointer queries and function attributes of HIP, carried to the CUDA driver.
#include <cstring>
#include <string>
#include <vector>

#include "differential/hip_on_cuda/cuda.hpp"

using namespace relaunch::hip;

namespace {

constexpr unsigned kSharedUnasked = 48 * 1024;  // bytes of shared memory that CUDA gives unasked
constexpr unsigned kMostAttributes = 64;
constexpr int kMostEntries = 16;  // of a HIP `extra` list

CUfunction handle(hipFunction_t function) { return reinterpret_cast<CUfunction>(function); }
CUstream handle(hipStream_t stream) { return reinterpret_cast<CUstream>(stream); }

/// HIP gives a kernel all of its device's shared memory; CUDA must be told.
hipError_t allow_shared(hipFunction_t function, unsigned bytes) {
  if (bytes <= kSharedUnasked) return hipSuccess;
  return ask<&Cuda::cuFuncSetAttribute>(
      handle(function), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes));
}

/// A packed buffer in HIP's `extra` form as CUDA's, whose end has another number.
class Extra {
 public:
  /// False where the list is none of HIP's. A null list is fine.
  bool read(void** hip) {
    if (hip == nullptr) return true;
    for (int i = 0; i < kMostEntries; i += 2) {
      if (hip[i] == HIP_LAUNCH_PARAM_END) {
        list_.push_back(CU_LAUNCH_PARAM_END);
        return true;
      }
      if (hip[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER) {
        list_.push_back(CU_LAUNCH_PARAM_BUFFER_POINTER);
      } else if (hip[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE) {
        list_.push_back(CU_LAUNCH_PARAM_BUFFER_SIZE);
      } else {
        return false;
      }
      list_.push_back(hip[i + 1]);
    }
    return false;
  }

  void** list() { return list_.empty() ? nullptr : list_.data(); }

 private:
  std::vector<void*> list_;
};

hipError_t refuse_extra() {
  return refuse(hipErrorInvalidValue,
                "extra: expected HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE and "
                "HIP_LAUNCH_PARAM_END");
}

/// The attribute as CUDA's; false for one that is not carried.
bool translate(const LaunchAttribute& from, CUlaunchAttribute* to) {
  *to = {};
  if (from.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
    to->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    std::memcpy(&to->value.cooperative, from.value, sizeof to->value.cooperative);
    return true;
  }
  if (from.id == kClusterDimension) {
    to->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    std::memcpy(&to->value.clusterDim, from.value, sizeof to->value.clusterDim);
    return true;
  }
  return false;
}

hipError_t memory_type(CUdeviceptr address, void* out) {
  unsigned type = 0;
  const hipError_t status =
      ask<&Cuda::cuPointerGetAttribute>(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  if (status != hipSuccess) return status;
  const hipMemoryType found = type == CU_MEMORYTYPE_DEVICE ? hipMemoryTypeDevice
                              : type == CU_MEMORYTYPE_HOST ? hipMemoryTypeHost
                                                           : hipMemoryTypeUnified;
  std::memcpy(out, &found, sizeof found);
  return hipSuccess;
}

hipError_t pointer_attribute(void* out, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE: return memory_type(address, out);
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return ask<&Cuda::cuPointerGetAttribute>(out, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      return ask<&Cuda::cuPointerGetAttribute>(out, CU_POINTER_ATTRIBUTE_HOST_POINTER, address);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return ask<&Cuda::cuPointerGetAttribute>(out, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return ask<&Cuda::cuPointerGetAttribute>(out, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
      return ask<&Cuda::cuPointerGetAttribute>(out, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address);
    default:
      return refuse(hipErrorNotSupported,
                    "pointer attribute " + std::to_string(attribute) + " is not carried to CUDA");
  }
}

}  // namespace

extern "C" {

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared, hipStream_t stream,
                                 void** params, void** extra) {
  Extra packed;
  if (!packed.read(extra)) return refuse_extra();
  const hipError_t allowed = allow_shared(function, shared);
  if (allowed != hipSuccess) return allowed;
  return ask<&Cuda::cuLaunchKernel>(handle(function), grid_x, grid_y, grid_z, block_x, block_y,
                                    block_z, shared, handle(stream), params, packed.list());
}

hipError_t exported_module_launch_cooperative_kernel(hipFunction_t function, unsigned grid_x,
                                                     unsigned grid_y, unsigned grid_z,
                                                     unsigned block_x, unsigned block_y,
                                                     unsigned block_z, unsigned shared,
                                                     hipStream_t stream, void** params) {
  const hipError_t allowed = allow_shared(function, shared);
  if (allowed != hipSuccess) return allowed;
  return ask<&Cuda::cuLaunchCooperativeKernel>(handle(function), grid_x, grid_y, grid_z, block_x,
                                               block_y, block_z, shared, handle(stream), params);
}

hipError_t exported_drv_launch_kernel_ex(const LaunchConfig* config, hipFunction_t function,
                                         void** params, void** extra) {
  if (config == nullptr) return refuse(hipErrorInvalidValue, "no launch configuration");
  if (config->attribute_count > kMostAttributes ||
      (config->attribute_count != 0 && config->attributes == nullptr)) {
    return refuse(hipErrorInvalidValue, "launch attributes: expected a list of at most " +
                                            std::to_string(kMostAttributes));
  }
  std::vector<CUlaunchAttribute> attributes(config->attribute_count);
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    if (translate(config->attributes[i], &attributes[i])) continue;
    return refuse(hipErrorNotSupported,
                  "launch attribute " + std::to_string(config->attributes[i].id) +
                      " is not carried to CUDA: cooperative (2) and cluster dimension (4) are");
  }
  Extra packed;
  if (!packed.read(extra)) return refuse_extra();
  const hipError_t allowed = allow_shared(function, config->shared_bytes);
  if (allowed != hipSuccess) return allowed;
  CUlaunchConfig carried{};
  carried.gridDimX = config->grid[0];
  carried.gridDimY = config->grid[1];
  carried.gridDimZ = config->grid[2];
  carried.blockDimX = config->block[0];
  carried.blockDimY = config->block[1];
  carried.blockDimZ = config->block[2];
  carried.sharedMemBytes = config->shared_bytes;
  carried.hStream = handle(config->stream);
  carried.attrs = attributes.data();
  carried.numAttrs = config->attribute_count;
  return ask<&Cuda::cuLaunchKernelEx>(&carried, handle(function), params, packed.list());
}

hipError_t hipPointerGetAttribute(void* out, hipPointer_attribute attribute,
                                  hipDeviceptr_t pointer) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "nowhere to write the attribute to");
  return pointer_attribute(out, attribute, pointer);
}

hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute* attributes, void** out,
                                      hipDeviceptr_t pointer) {
  for (unsigned i = 0; i < count; ++i) {
    const hipError_t status = pointer_attribute(out[i], attributes[i], pointer);
    if (status != hipSuccess) return status;
  }
  return hipSuccess;
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  if (attributes == nullptr) return refuse(hipErrorInvalidValue, "nowhere to write attributes to");
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  hipMemoryType type{};
  hipError_t status = memory_type(address, &type);
  CUdeviceptr device = 0;
  if (status == hipSuccess)
    status =
        ask<&Cuda::cuPointerGetAttribute>(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address);
  if (status != hipSuccess) return status;
  *attributes = {};
  std::memcpy(attributes, &type, sizeof type);  // the first member; HIP 6 renamed it
  std::memcpy(&attributes->devicePointer, &device, sizeof device);
  return hipSuccess;
}

/// `function` is a handle: the driver has no host stubs that could stand for kernels. The two
/// number these attributes alike.
hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute attribute, int value) {
  auto* const kernel = static_cast<CUfunction>(const_cast<void*>(function));
  return ask<&Cuda::cuFuncSetAttribute>(kernel, static_cast<CUfunction_attribute>(attribute),
                                        value);
}
hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute,
                               hipFunction_t function) {
  return ask<&Cuda::cuFuncGetAttribute>(value, static_cast<CUfunction_attribute>(attribute),
                                        handle(function));
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function,
                                                              int block_size, std::size_t shared) {
  return ask<&Cuda::cuOccupancyMaxActiveBlocksPerMultiprocessor>(blocks, handle(function),
                                                                 block_size, shared);
}

}  // extern "C"
