// The recorded calls of CUDA: launches, pointer queries, contexts, function attributes, tensor
// maps.
#include <cstring>

#include "differential/recorder/cuda_calls.hpp"

namespace {

using namespace relaunch::recorder;

/// An attribute's number. Callers written in C may give any, also one that no enumerator of this
/// C++ type can have.
unsigned number_of(const CUlaunchAttributeID& id) {
  unsigned number = 0;
  std::memcpy(&number, &id, sizeof number);
  return number;
}

/// Bytes of an attribute's value: 12 for cluster dimensions, 4 for the others.
std::size_t value_bytes(unsigned id) {
#if CUDA_VERSION >= 12080
  if (id == CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION) return 12;
#endif
  return id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ? 12 : 4;
}

CUresult launched(const Call& call, const Launch& launch) {
  call.record(launch);
  return result(call.status());
}

template <typename T>
std::string list(const T* values, std::size_t count) {
  std::string text = "[";
  for (std::size_t i = 0; values != nullptr && i < count; ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(values[i]);
  }
  return text += ']';
}

CUresult answer_pointer(CUpointer_attribute attribute, CUdeviceptr address, void* out) {
  const PointerAnswer answer = device_pointer(address);
  if (answer.status != 0) return result(answer.status);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      std::memcpy(out, &answer.device_pointer, sizeof answer.device_pointer);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      std::memcpy(out, &kFirstContext, sizeof kFirstContext);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: {
      const unsigned type = CU_MEMORYTYPE_DEVICE;
      std::memcpy(out, &type, sizeof type);
      return CUDA_SUCCESS;
    }
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: std::memset(out, 0, sizeof(int)); return CUDA_SUCCESS;
    default: return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned shared, CUstream stream, void** params,
                                void** /*extra*/) {
  return launched(Call(__func__), {{grid_x, grid_y, grid_z},
                                   {block_x, block_y, block_z},
                                   shared,
                                   stream,
                                   function,
                                   params,
                                   {}});
}

CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                           unsigned grid_z, unsigned block_x, unsigned block_y,
                                           unsigned block_z, unsigned shared, CUstream stream,
                                           void** params) {
  return launched(Call(__func__), {{grid_x, grid_y, grid_z},
                                   {block_x, block_y, block_z},
                                   shared,
                                   stream,
                                   function,
                                   params,
                                   {}});
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params,
                                  void** /*extra*/) {
  const Call call(__func__);
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Attributes attributes(config->numAttrs);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& from = config->attrs[i];
    const unsigned id = number_of(from.id);
    attributes.all()[i] = {id, {reinterpret_cast<const std::byte*>(&from.value), value_bytes(id)}};
  }
  return launched(call, {{config->gridDimX, config->gridDimY, config->gridDimZ},
                         {config->blockDimX, config->blockDimY, config->blockDimZ},
                         config->sharedMemBytes,
                         config->hStream,
                         function,
                         params,
                         attributes.all()});
}

CUresult CUDAAPI cuPointerGetAttribute(void* out, CUpointer_attribute attribute,
                                       CUdeviceptr address) {
  const Call call(__func__);
  if (Call::recorded()) call.record({decimal(attribute), hex(address)});
  return call.failed() ? result(call.status()) : answer_pointer(attribute, address, out);
}

CUresult CUDAAPI cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** out,
                                        CUdeviceptr address) {
  const Call call(__func__);
  if (call.failed()) return result(call.status());
  for (unsigned i = 0; i < count; ++i) {
    const CUresult status = answer_pointer(attributes[i], address, out[i]);
    if (status != CUDA_SUCCESS) return status;
  }
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                                    int value) {
  const Call call(__func__);
  call.record({hex(function), decimal(attribute), decimal(value)});
  if (!call.failed() && attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    allow_shared(reinterpret_cast<std::uint64_t>(function), value);
  }
  return result(call.status());
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  const Call call(__func__);
  call.record({hex(static_cast<std::uint64_t>(device))});
  if (call.failed()) return result(call.status());
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  *context = handle<CUcontext>(kFirstContext);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context) {
  const Call call(__func__);
  call.record({hex(context)});
  if (call.failed()) return result(call.status());
  set_current_context(reinterpret_cast<std::uint64_t>(context));
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuTensorMapEncodeTiled(
    CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
    const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
    const cuuint32_t* element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill oob_fill) {
  const Call call(__func__);
  if (call.failed()) {
    call.record({"failed"});
    return result(call.status());
  }
  const std::size_t inner = rank == 0 ? 0 : rank - 1;
  call.record_fields(
      "\"data_type\": " + decimal(type) + ", \"rank\": " + decimal(rank) + ", \"address\": \"0x" +
      hex(address) + "\", \"dims\": " + list(dims, rank) +
      ", \"strides\": " + list(strides, inner) + ", \"box\": " + list(box, rank) +
      ", \"element_strides\": " + list(element_strides, rank) +
      ", \"interleave\": " + decimal(interleave) + ", \"swizzle\": " + decimal(swizzle) +
      ", \"l2_promotion\": " + decimal(l2_promotion) + ", \"oob_fill\": " + decimal(oob_fill));
  std::memset(map, 0xda, sizeof *map);  // some fixed bytes: the layout is the driver's secret
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuTensorMapEncodeIm2col(
    CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
    const cuuint64_t* dims, const cuuint64_t* strides, const int* lower_corner,
    const int* upper_corner, cuuint32_t channels, cuuint32_t columns,
    const cuuint32_t* element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill oob_fill) {
  const Call call(__func__);
  if (call.failed()) {
    call.record({"failed"});
    return result(call.status());
  }
  const std::size_t inner = rank == 0 ? 0 : rank - 1;
  const std::size_t corners = rank < 2 ? 0 : rank - 2;
  call.record_fields(
      "\"data_type\": " + decimal(type) + ", \"rank\": " + decimal(rank) + ", \"address\": \"0x" +
      hex(address) + "\", \"dims\": " + list(dims, rank) + ", \"strides\": " +
      list(strides, inner) + ", \"lower_corner\": " + list(lower_corner, corners) +
      ", \"upper_corner\": " + list(upper_corner, corners) +
      ", \"channels\": " + decimal(channels) + ", \"columns\": " + decimal(columns) +
      ", \"element_strides\": " + list(element_strides, rank) +
      ", \"interleave\": " + decimal(interleave) + ", \"swizzle\": " + decimal(swizzle) +
      ", \"l2_promotion\": " + decimal(l2_promotion) + ", \"oob_fill\": " + decimal(oob_fill));
  std::memset(map, 0xdb, sizeof *map);
  return CUDA_SUCCESS;
}

}  // extern "C"
