// The unrecorded calls of HIP about modules, functions, streams, events and memory.
#include <cstring>

#include "differential/recorder/hip_calls.hpp"
#include "differential/recorder/memory.hpp"

using namespace relaunch::recorder;

namespace {

constexpr std::uint64_t kModule = 0x30d01e;
constexpr std::uint64_t kStream = 0x57;
constexpr std::uint64_t kEvent = 0xe7;

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

hipError_t copy(const char* function, void* to, const void* from, std::size_t bytes, bool owned) {
  const hipError_t status = answer(function);
  if (status != hipSuccess) return status;
  if (!owned) return result(hipErrorInvalidValue);
  std::memmove(to, from, bytes);
  return hipSuccess;
}

/// Which ends of a copy are device memory decides which must be ours.
bool owned_for(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  const bool to_owned = owns(number(to), bytes);
  const bool from_owned = owns(number(from), bytes);
  switch (kind) {
    case hipMemcpyHostToDevice: return to_owned;
    case hipMemcpyDeviceToHost: return from_owned;
    case hipMemcpyDeviceToDevice: return to_owned && from_owned;
    default: return true;
  }
}

hipError_t fill(const char* function, void* to, int value, std::size_t count) {
  const hipError_t status = answer(function);
  if (status != hipSuccess) return status;
  if (!owns(number(to), count)) return result(hipErrorInvalidValue);
  std::memset(to, value, count);
  return hipSuccess;
}

}  // namespace

extern "C" {

hipError_t hipModuleLoadData(hipModule_t* module, const void* /*image*/) {
  return answer_with(__func__, module, handle<hipModule_t>(kModule));
}
hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* /*image*/, unsigned /*count*/,
                               hipJitOption* /*options*/, void** /*values*/) {
  return answer_with(__func__, module, handle<hipModule_t>(kModule));
}
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t /*module*/,
                                const char* /*name*/) {
  return answer_with(__func__, function, handle<hipFunction_t>(next_function()));
}
hipError_t hipModuleUnload(hipModule_t /*module*/) { return answer(__func__); }
hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute,
                               hipFunction_t /*function*/) {
  const bool threads = attribute == HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
  const bool registers = attribute == HIP_FUNC_ATTRIBUTE_NUM_REGS;
  return answer_with(__func__, value, threads ? 1024 : registers ? 32 : 0);
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                              hipFunction_t /*function*/,
                                                              int /*block_size*/,
                                                              std::size_t /*shared*/) {
  return answer_with(__func__, blocks, 2);
}

hipError_t hipStreamCreate(hipStream_t* stream) {
  return answer_with(__func__, stream, handle<hipStream_t>(kStream));
}
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned /*flags*/) {
  return answer_with(__func__, stream, handle<hipStream_t>(kStream));
}
hipError_t hipStreamDestroy(hipStream_t /*stream*/) { return answer(__func__); }
hipError_t hipStreamSynchronize(hipStream_t /*stream*/) { return answer(__func__); }
hipError_t hipStreamIsCapturing(hipStream_t /*stream*/, hipStreamCaptureStatus* status) {
  return answer_with(__func__, status, hipStreamCaptureStatusNone);
}
hipError_t hipEventCreate(hipEvent_t* event) {
  return answer_with(__func__, event, handle<hipEvent_t>(kEvent));
}
hipError_t hipEventDestroy(hipEvent_t /*event*/) { return answer(__func__); }
hipError_t hipEventRecord(hipEvent_t /*event*/, hipStream_t /*stream*/) { return answer(__func__); }
hipError_t hipEventSynchronize(hipEvent_t /*event*/) { return answer(__func__); }
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t /*start*/, hipEvent_t /*stop*/) {
  return answer_with(__func__, milliseconds, 0.0F);
}

hipError_t hipMalloc(void** address, std::size_t bytes) {
  const hipError_t status = answer(__func__);
  if (status != hipSuccess) return status;
  if (address == nullptr) return result(hipErrorInvalidValue);
  *address = handle<void*>(allocate(bytes));
  return *address == nullptr && bytes != 0 ? result(hipErrorOutOfMemory) : hipSuccess;
}
hipError_t hipFree(void* address) {
  const hipError_t status = answer(__func__);
  if (status != hipSuccess) return status;
  return address == nullptr || release(number(address)) ? hipSuccess : result(hipErrorInvalidValue);
}
hipError_t hipMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  const hipError_t status = answer_with(__func__, free_bytes, kTotalMemory - allocated_bytes());
  if (status == hipSuccess) *total = kTotalMemory;
  return status;
}
hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return copy(__func__, to, from, bytes, owned_for(to, from, bytes, kind));
}
hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind,
                          hipStream_t /*stream*/) {
  return copy(__func__, to, from, bytes, owned_for(to, from, bytes, kind));
}
hipError_t exported_memcpy_htod(hipDeviceptr_t to, const void* from, std::size_t bytes) {
  return copy("hipMemcpyHtoD", to, from, bytes, owns(number(to), bytes));
}
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, std::size_t bytes) {
  return copy(__func__, to, from, bytes, owns(number(from), bytes));
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes) {
  return copy(__func__, to, from, bytes, owns(number(to), bytes) && owns(number(from), bytes));
}
hipError_t hipMemset(void* to, int value, std::size_t count) {
  return fill(__func__, to, value, count);
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, std::size_t count) {
  return fill(__func__, to, value, count);
}

}  // extern "C"
