// Modules, streams, events and memory of HIP, carried to the CUDA driver.
#include <cstring>

#include "differential/hip_on_cuda/cuda.hpp"

using namespace relaunch::hip;

namespace {

CUmodule handle(hipModule_t module) { return reinterpret_cast<CUmodule>(module); }
CUstream handle(hipStream_t stream) { return reinterpret_cast<CUstream>(stream); }
CUevent handle(hipEvent_t event) { return reinterpret_cast<CUevent>(event); }
CUdeviceptr device(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

hipError_t refuse_kind(hipMemcpyKind kind) {
  return refuse(hipErrorInvalidMemcpyDirection,
                "copies of kind " + std::to_string(kind) + " are not carried to CUDA");
}

}  // namespace

extern "C" {

/// The image is what CUDA takes: PTX or a cubin.
hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return ask<&Cuda::cuModuleLoadData>(reinterpret_cast<CUmodule*>(module), image);
}
/// The options tune the compiler of another vendor: they are left out.
hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned /*count*/,
                               hipJitOption* /*options*/, void** /*values*/) {
  return hipModuleLoadData(module, image);
}
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return ask<&Cuda::cuModuleGetFunction>(reinterpret_cast<CUfunction*>(function), handle(module),
                                         name);
}
hipError_t hipModuleUnload(hipModule_t module) {
  return ask<&Cuda::cuModuleUnload>(handle(module));
}

hipError_t hipStreamCreate(hipStream_t* stream) {
  return ask<&Cuda::cuStreamCreate>(reinterpret_cast<CUstream*>(stream), CU_STREAM_DEFAULT);
}
/// The two number their flags alike.
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return ask<&Cuda::cuStreamCreate>(reinterpret_cast<CUstream*>(stream), flags);
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  return ask<&Cuda::cuStreamDestroy>(handle(stream));
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
  return ask<&Cuda::cuStreamSynchronize>(handle(stream));
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
  const hipError_t done = ask<&Cuda::cuStreamIsCapturing>(handle(stream), &found);
  if (done == hipSuccess) *status = static_cast<hipStreamCaptureStatus>(found);
  return done;
}
hipError_t hipEventCreate(hipEvent_t* event) {
  return ask<&Cuda::cuEventCreate>(reinterpret_cast<CUevent*>(event), CU_EVENT_DEFAULT);
}
hipError_t hipEventDestroy(hipEvent_t event) { return ask<&Cuda::cuEventDestroy>(handle(event)); }
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return ask<&Cuda::cuEventRecord>(handle(event), handle(stream));
}
hipError_t hipEventSynchronize(hipEvent_t event) {
  return ask<&Cuda::cuEventSynchronize>(handle(event));
}
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return ask<&Cuda::cuEventElapsedTime>(milliseconds, handle(start), handle(stop));
}

hipError_t hipMalloc(void** address, std::size_t bytes) {
  if (address == nullptr) return refuse(hipErrorInvalidValue, "nowhere to write the address to");
  *address = nullptr;
  if (bytes == 0) return hipSuccess;  // HIP's answer; CUDA refuses
  return ask<&Cuda::cuMemAlloc>(reinterpret_cast<CUdeviceptr*>(address), bytes);
}
hipError_t hipFree(void* address) { return ask<&Cuda::cuMemFree>(device(address)); }
hipError_t hipMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  return ask<&Cuda::cuMemGetInfo>(free_bytes, total);
}
hipError_t exported_memcpy_htod(hipDeviceptr_t to, const void* from, std::size_t bytes) {
  return ask<&Cuda::cuMemcpyHtoD>(device(to), from, bytes);
}
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, std::size_t bytes) {
  return ask<&Cuda::cuMemcpyDtoH>(to, device(from), bytes);
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes) {
  return ask<&Cuda::cuMemcpyDtoD>(device(to), device(from), bytes);
}
hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  switch (kind) {
    case hipMemcpyHostToDevice: return exported_memcpy_htod(to, from, bytes);
    case hipMemcpyDeviceToHost: return ask<&Cuda::cuMemcpyDtoH>(to, device(from), bytes);
    case hipMemcpyDeviceToDevice: return ask<&Cuda::cuMemcpyDtoD>(device(to), device(from), bytes);
    case hipMemcpyHostToHost: std::memmove(to, from, bytes); return hipSuccess;
    default: return refuse_kind(kind);
  }
}
hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  switch (kind) {
    case hipMemcpyHostToDevice:
      return ask<&Cuda::cuMemcpyHtoDAsync>(device(to), from, bytes, handle(stream));
    case hipMemcpyDeviceToHost:
      return ask<&Cuda::cuMemcpyDtoHAsync>(to, device(from), bytes, handle(stream));
    case hipMemcpyDeviceToDevice:
      return ask<&Cuda::cuMemcpyDtoDAsync>(device(to), device(from), bytes, handle(stream));
    default: return refuse_kind(kind);
  }
}
hipError_t hipMemset(void* to, int value, std::size_t count) {
  return ask<&Cuda::cuMemsetD8>(device(to), static_cast<unsigned char>(value), count);
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, std::size_t count) {
  return ask<&Cuda::cuMemsetD8>(device(to), value, count);
}

}  // extern "C"
