// The unrecorded calls of CUDA about modules, functions, streams, events and memory.
#include <algorithm>
#include <cstring>

#include "differential/recorder/cuda_calls.hpp"
#include "differential/recorder/cuda_image.hpp"
#include "differential/recorder/memory.hpp"

using namespace relaunch::recorder;

namespace {

constexpr std::uint64_t kModule = 0x30d01e;
constexpr std::uint64_t kStream = 0x57;
constexpr std::uint64_t kEvent = 0xe7;
constexpr std::size_t kVariableBytes = 65536;

int function_attribute(CUfunction_attribute attribute, CUfunction function) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return static_shared();
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return std::max(allowed_shared(reinterpret_cast<std::uint64_t>(function)), 48 * 1024);
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return 1024;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return 32;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return 90;
    default: return 0;
  }
}

std::uint64_t number(CUfunction function) { return reinterpret_cast<std::uint64_t>(function); }

void* host(CUdeviceptr address) { return handle<void*>(address); }

CUresult copy(const char* function, void* to, const void* from, std::size_t bytes, bool owned) {
  const CUresult status = answer(function);
  if (status != CUDA_SUCCESS) return status;
  if (!owned) return CUDA_ERROR_INVALID_VALUE;
  std::memmove(to, from, bytes);
  return CUDA_SUCCESS;
}

CUresult allocate_to(const char* function, std::size_t bytes, std::uint64_t* address) {
  const CUresult status = answer(function);
  if (status != CUDA_SUCCESS) return status;
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *address = allocate(bytes);
  return *address == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult release_from(const char* function, std::uint64_t address) {
  const CUresult status = answer(function);
  if (status != CUDA_SUCCESS) return status;
  return address == 0 || release(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult load(const char* function, CUmodule* module, const void* image) {
  const CUresult status = answer_with(function, module, handle<CUmodule>(kModule));
  if (status == CUDA_SUCCESS) load_image(image);
  return status;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuModuleLoadData(CUmodule* module, const void* image) {
  return load(__func__, module, image);
}
CUresult CUDAAPI cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned /*count*/,
                                    CUjit_option* /*options*/, void** /*values*/) {
  return load(__func__, module, image);
}
CUresult CUDAAPI cuModuleGetFunction(CUfunction* function, CUmodule /*module*/, const char* name) {
  const std::uint64_t own = next_function();
  const CUresult status = answer_with(__func__, function, handle<CUfunction>(own));
  if (status != CUDA_SUCCESS) return status;
  if (!choose_function(name, own)) return CUDA_ERROR_NOT_FOUND;
  if (has_own_handles() && knows_parameters(own)) set_function_slots(own, parameter_sizes(own));
  return CUDA_SUCCESS;
}
/// Every variable is the same zeroed memory, which lives as long as the process.
CUresult CUDAAPI cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule /*module*/,
                                   const char* /*name*/) {
  static const std::uint64_t memory = allocate(kVariableBytes);
  const CUresult status = answer_with(__func__, address, static_cast<CUdeviceptr>(memory));
  if (status == CUDA_SUCCESS && bytes != nullptr) *bytes = kVariableBytes;
  return status;
}
CUresult CUDAAPI cuModuleUnload(CUmodule /*module*/) {
  const CUresult status = answer(__func__);
  if (status == CUDA_SUCCESS) forget_image();
  return status;
}

CUresult CUDAAPI cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                                    CUfunction function) {
  return answer_with(__func__, value, function_attribute(attribute, function));
}
CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction /*function*/, CUfunc_cache /*config*/) {
  return answer(__func__);
}
#if CUDA_VERSION >= 12040
/// Of the function that was last got from a cubin under this handle; else no table is known.
CUresult CUDAAPI cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                                    std::size_t* size) {
  const CUresult status =
      answer(__func__, knows_parameters(number(function)) ? CUDA_SUCCESS : kNotSupported);
  if (status != CUDA_SUCCESS) return status;
  const std::optional<ParameterPlace> place = parameter(number(function), index);
  if (!place || offset == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *offset = place->offset;
  if (size != nullptr) *size = place->size;
  return CUDA_SUCCESS;
}
#endif
CUresult CUDAAPI cuOccupancyMaxActiveClusters(int* clusters, CUfunction /*function*/,
                                              const CUlaunchConfig* /*config*/) {
  return answer_with(__func__, clusters, 66);
}
CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction /*function*/,
                                                             int /*block_size*/,
                                                             std::size_t /*shared*/) {
  return answer_with(__func__, blocks, 2);
}

CUresult CUDAAPI cuStreamCreate(CUstream* stream, unsigned /*flags*/) {
  return answer_with(__func__, stream, handle<CUstream>(kStream));
}
CUresult CUDAAPI cuStreamDestroy(CUstream /*stream*/) { return answer(__func__); }
CUresult CUDAAPI cuStreamSynchronize(CUstream /*stream*/) { return answer(__func__); }
CUresult CUDAAPI cuStreamIsCapturing(CUstream /*stream*/, CUstreamCaptureStatus* status) {
  return answer_with(__func__, status, CU_STREAM_CAPTURE_STATUS_NONE);
}
CUresult CUDAAPI cuEventCreate(CUevent* event, unsigned /*flags*/) {
  return answer_with(__func__, event, handle<CUevent>(kEvent));
}
CUresult CUDAAPI cuEventDestroy(CUevent /*event*/) { return answer(__func__); }
CUresult CUDAAPI cuEventRecord(CUevent /*event*/, CUstream /*stream*/) { return answer(__func__); }
CUresult CUDAAPI cuEventSynchronize(CUevent /*event*/) { return answer(__func__); }
CUresult CUDAAPI cuEventElapsedTime(float* milliseconds, CUevent /*start*/, CUevent /*end*/) {
  return answer_with(__func__, milliseconds, 0.0F);
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  std::uint64_t got = 0;
  const CUresult status = allocate_to(__func__, bytes, &got);
  if (status == CUDA_SUCCESS) *address = got;
  return status;
}
CUresult CUDAAPI cuMemFree(CUdeviceptr address) { return release_from(__func__, address); }
CUresult CUDAAPI cuMemAllocHost(void** address, std::size_t bytes) {
  std::uint64_t got = 0;
  const CUresult status = allocate_to(__func__, bytes, &got);
  if (status == CUDA_SUCCESS) *address = host(got);
  return status;
}
CUresult CUDAAPI cuMemFreeHost(void* address) {
  return release_from(__func__, reinterpret_cast<std::uint64_t>(address));
}
CUresult CUDAAPI cuMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  const CUresult status = answer_with(__func__, free_bytes, kTotalMemory - allocated_bytes());
  if (status == CUDA_SUCCESS) *total = kTotalMemory;
  return status;
}
CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy(__func__, host(to), from, bytes, owns(to, bytes));
}
CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes,
                                   CUstream /*stream*/) {
  return copy(__func__, host(to), from, bytes, owns(to, bytes));
}
CUresult CUDAAPI cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy(__func__, to, host(from), bytes, owns(from, bytes));
}
CUresult CUDAAPI cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes,
                                   CUstream /*stream*/) {
  return copy(__func__, to, host(from), bytes, owns(from, bytes));
}
CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(__func__, host(to), host(from), bytes, owns(to, bytes) && owns(from, bytes));
}
CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                   CUstream /*stream*/) {
  return copy(__func__, host(to), host(from), bytes, owns(to, bytes) && owns(from, bytes));
}
CUresult CUDAAPI cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  const CUresult status = answer(__func__);
  if (status != CUDA_SUCCESS) return status;
  if (!owns(to, count)) return CUDA_ERROR_INVALID_VALUE;
  std::memset(host(to), value, count);
  return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                 CUstream /*stream*/) {
  return cuMemsetD8(to, value, count);
}

}  // extern "C"
