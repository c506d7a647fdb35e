// The recorded calls of HIP: launches, pointer queries, the last error, function attributes.
#include <cstring>
#include <utility>

#include "differential/recorder/hip_calls.hpp"

namespace {

using namespace relaunch::hip;
using namespace relaunch::recorder;

hipError_t launched(const Call& call, const Launch& launch) {
  call.record(launch);
  return result(call.status());
}

hipError_t answer_pointer(hipPointer_attribute attribute, hipDeviceptr_t address, void* out) {
  const PointerAnswer answer = device_pointer(reinterpret_cast<std::uint64_t>(address));
  if (answer.status != 0) return result(answer.status);
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      std::memcpy(out, &answer.device_pointer, sizeof answer.device_pointer);
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE: {
      const unsigned type = hipMemoryTypeDevice;
      std::memcpy(out, &type, sizeof type);
      return hipSuccess;
    }
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: std::memset(out, 0, sizeof(int)); return hipSuccess;
    default: return result(kNotSupported);
  }
}

}  // namespace

extern "C" {

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared, hipStream_t stream,
                                 void** params, void** /*extra*/) {
  return launched(Call(__func__), {{grid_x, grid_y, grid_z},
                                   {block_x, block_y, block_z},
                                   shared,
                                   stream,
                                   function,
                                   params,
                                   {}});
}

hipError_t exported_module_launch_cooperative_kernel(hipFunction_t function, unsigned grid_x,
                                                     unsigned grid_y, unsigned grid_z,
                                                     unsigned block_x, unsigned block_y,
                                                     unsigned block_z, unsigned shared,
                                                     hipStream_t stream, void** params) {
  return launched(Call("hipModuleLaunchCooperativeKernel"), {{grid_x, grid_y, grid_z},
                                                             {block_x, block_y, block_z},
                                                             shared,
                                                             stream,
                                                             function,
                                                             params,
                                                             {}});
}

hipError_t exported_drv_launch_kernel_ex(const LaunchConfig* config, hipFunction_t function,
                                         void** params, void** /*extra*/) {
  const Call call("hipDrvLaunchKernelEx");
  if (config == nullptr) return result(hipErrorInvalidValue);
  const Attributes attributes(config->attribute_count);
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const LaunchAttribute& from = config->attributes[i];
    const std::size_t bytes = from.id == kClusterDimension ? 12 : 4;
    attributes.all()[i] = {from.id, {from.value, bytes}};
  }
  return launched(call, {{config->grid[0], config->grid[1], config->grid[2]},
                         {config->block[0], config->block[1], config->block[2]},
                         config->shared_bytes,
                         config->stream,
                         function,
                         params,
                         attributes.all()});
}

hipError_t hipPointerGetAttribute(void* out, hipPointer_attribute attribute,
                                  hipDeviceptr_t address) {
  const Call call(__func__);
  if (Call::recorded()) call.record({decimal(attribute), hex(address)});
  return call.failed() ? result(call.status()) : answer_pointer(attribute, address, out);
}

hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute* attributes, void** out,
                                      hipDeviceptr_t address) {
  const Call call(__func__);
  if (call.failed()) return result(call.status());
  for (unsigned i = 0; i < count; ++i) {
    const hipError_t status = answer_pointer(attributes[i], address, out[i]);
    if (status != hipSuccess) return status;
  }
  return hipSuccess;
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* address) {
  const Call call(__func__);
  if (call.failed()) return result(call.status());
  const PointerAnswer answer = device_pointer(reinterpret_cast<std::uint64_t>(address));
  if (answer.status != 0) return result(answer.status);
  *attributes = {};
  constexpr hipMemoryType kDevice = hipMemoryTypeDevice;
  std::memcpy(attributes, &kDevice, sizeof kDevice);  // the first member; HIP 6 renamed it
  attributes->devicePointer = handle<void*>(answer.device_pointer);
  return hipSuccess;
}

hipError_t hipGetLastError(void) {
  const Call call(__func__);
  call.record({});
  if (call.failed()) return static_cast<hipError_t>(call.status());
  return std::exchange(last_error, hipSuccess);
}

hipError_t hipPeekAtLastError(void) {
  const Call call(__func__);
  return call.failed() ? static_cast<hipError_t>(call.status()) : last_error;
}

hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute attribute, int value) {
  const Call call(__func__);
  call.record({hex(function), decimal(attribute), decimal(value)});
  return result(call.status());
}

}  // extern "C"
