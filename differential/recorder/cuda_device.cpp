// The unrecorded calls of CUDA about devices, contexts and symbols. One device, like an H100.
#include <cstdio>
#include <string>

#include "differential/own_symbol.hpp"
#include "differential/recorder/cuda_calls.hpp"
#include "differential/recorder/memory.hpp"

using namespace relaunch::recorder;

namespace {

int device_attribute(CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 49152;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1980000;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return 132;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 2619000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 5120;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 52428800;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return 2048;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: return 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return 9;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return 0;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return 233472;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: return 1;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return 232448;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: return 1;
    default: return 0;
  }
}

CUresult check_device(CUdevice device) {
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// The newest exported variant of a driver function, or null.
void* newest_variant(const char* name) {
  for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
    if (void* const symbol = relaunch::own_symbol((std::string(name) + suffix).c_str())) {
      return symbol;
    }
  }
  return nullptr;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuInit(unsigned /*flags*/) { return answer(__func__); }
CUresult CUDAAPI cuDriverGetVersion(int* version) {
  return answer_with(__func__, version, driver_version(CUDA_VERSION));
}
CUresult CUDAAPI cuDeviceGetCount(int* count) { return answer_with(__func__, count, 1); }

CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
  const CUresult status = answer_with(__func__, device, ordinal);
  return status == CUDA_SUCCESS ? check_device(ordinal) : status;
}

CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  const CUresult status = answer_with(__func__, value, device_attribute(attribute));
  return status == CUDA_SUCCESS ? check_device(device) : status;
}

CUresult CUDAAPI cuDeviceGetName(char* name, int length, CUdevice device) {
  const CUresult status = answer(__func__);
  if (status != CUDA_SUCCESS) return status;
  std::snprintf(name, static_cast<std::size_t>(length), "relaunch recorder");
  return check_device(device);
}

CUresult CUDAAPI cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  const CUresult status = answer_with(__func__, bytes, kTotalMemory);
  return status == CUDA_SUCCESS ? check_device(device) : status;
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device) {
  const CUresult status = answer(__func__);
  return status == CUDA_SUCCESS ? check_device(device) : status;
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  const CUresult status = answer_with(__func__, flags, 0U);
  if (status != CUDA_SUCCESS) return status;
  *active = 1;
  return check_device(device);
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext* context) {
  return answer_with(__func__, context, handle<CUcontext>(current_context()));
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext context) {
  const CUresult status = answer(__func__);
  if (status == CUDA_SUCCESS) set_current_context(reinterpret_cast<std::uint64_t>(context));
  return status;
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext* context) {
  const CUresult status = answer_with(__func__, context, handle<CUcontext>(current_context()));
  if (status == CUDA_SUCCESS) set_current_context(0);
  return status;
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  const CUresult status = answer_with(__func__, device, 0);
  if (status != CUDA_SUCCESS) return status;
  return current_context() == 0 ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  constexpr std::size_t kPrintfFifo = std::size_t{1} << 20U;
  return answer_with(__func__, value,
                     limit == CU_LIMIT_PRINTF_FIFO_SIZE ? kPrintfFifo : std::size_t{1024});
}
CUresult CUDAAPI cuCtxSetLimit(CUlimit /*limit*/, std::size_t /*value*/) {
  return answer(__func__);
}
CUresult CUDAAPI cuCtxSynchronize(void) { return answer(__func__); }

CUresult CUDAAPI cuGetErrorString(CUresult error, const char** text) {
  return answer_with(__func__, text, error_text(error));
}
CUresult CUDAAPI cuGetErrorName(CUresult error, const char** text) {
  return answer_with(__func__, text, error_text(error));
}

CUresult CUDAAPI cuGetProcAddress(const char* symbol, void** function, int /*version*/,
                                  cuuint64_t /*flags*/, CUdriverProcAddressQueryResult* found) {
  const Call call(__func__);
  if (call.failed()) return result(call.status());
  if (symbol == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *function = newest_variant(symbol);
  if (found != nullptr) {
    *found =
        *function == nullptr ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
  }
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

#undef cuGetProcAddress
/// The form of CUDA 11.3 to 11.8, which has no query result.
[[gnu::visibility("default")]] CUresult CUDAAPI cuGetProcAddress(const char* symbol,
                                                                 void** function, int version,
                                                                 cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

}  // extern "C"
