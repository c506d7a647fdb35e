// Devices, contexts, errors and symbols of HIP, answered by the CUDA driver.
#include <cstring>
#include <string>

#include "differential/hip_on_cuda/cuda.hpp"
#include "differential/own_symbol.hpp"

using namespace relaunch::hip;

namespace {

/// HIP 6.0: the first release whose properties are the R0600 form.
constexpr int kVersion = 60000000;

/// What both vendors call alike.
hipError_t attribute(int* value, CUdevice_attribute which, int device) {
  return ask_driver<&Cuda::cuDeviceGetAttribute>(value, which, device);
}

int known_attribute(CUdevice_attribute which, int device) {
  int value = 0;
  static_cast<void>(attribute(&value, which, device));
  return value;
}

/// `sm_90`: the architecture that code for this device is compiled for.
std::string architecture(int device) {
  return "sm_" +
         std::to_string(known_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)) +
         std::to_string(known_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
}

/// HIP 6's device properties (1472 bytes) by the offsets of what Triton's AMD driver reads.
struct PropertiesR0600 {
  std::byte* bytes;

  template <typename T>
  void put(std::size_t offset, const T& value) {
    std::memcpy(bytes + offset, &value, sizeof value);
  }
};
constexpr std::size_t kR0600Bytes = 1472;

}  // namespace

extern "C" {

hipError_t hipInit(unsigned /*flags*/) { return ask_driver<&Cuda::cuInit>(0U); }
hipError_t hipDriverGetVersion(int* version) {
  return ask_driver<&Cuda::cuDriverGetVersion>(version);
}
hipError_t hipRuntimeGetVersion(int* version) {
  *version = kVersion;
  return hipSuccess;
}
hipError_t hipGetDeviceCount(int* count) { return ask_driver<&Cuda::cuDeviceGetCount>(count); }
hipError_t hipGetDevice(int* device) { return ask<&Cuda::cuCtxGetDevice>(device); }
hipError_t hipSetDevice(int device) {
  CUcontext primary = nullptr;
  const hipError_t status = ask_driver<&Cuda::cuDevicePrimaryCtxRetain>(&primary, device);
  return status == hipSuccess ? ask_driver<&Cuda::cuCtxSetCurrent>(primary) : status;
}
hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return ask_driver<&Cuda::cuDeviceGet>(device, ordinal);
}
hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  return ask_driver<&Cuda::cuDeviceGetName>(name, length, device);
}
hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t device) {
  return ask_driver<&Cuda::cuDeviceTotalMem>(bytes, device);
}
hipError_t hipDeviceSynchronize(void) { return ask<&Cuda::cuCtxSynchronize>(); }

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t wanted, int device) {
  switch (wanted) {
#define RELAUNCH_DEVICE_ATTRIBUTE(hip, cuda) \
  case hipDeviceAttribute##hip: return attribute(value, CU_DEVICE_ATTRIBUTE_##cuda, device);
    RELAUNCH_DEVICE_ATTRIBUTE(WarpSize, WARP_SIZE)
    RELAUNCH_DEVICE_ATTRIBUTE(MultiprocessorCount, MULTIPROCESSOR_COUNT)
    RELAUNCH_DEVICE_ATTRIBUTE(MaxSharedMemoryPerBlock, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
    RELAUNCH_DEVICE_ATTRIBUTE(MaxThreadsPerBlock, MAX_THREADS_PER_BLOCK)
    RELAUNCH_DEVICE_ATTRIBUTE(MaxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR)
    RELAUNCH_DEVICE_ATTRIBUTE(MaxRegistersPerBlock, MAX_REGISTERS_PER_BLOCK)
    RELAUNCH_DEVICE_ATTRIBUTE(MaxBlockDimX, MAX_BLOCK_DIM_X)
    RELAUNCH_DEVICE_ATTRIBUTE(MaxBlockDimY, MAX_BLOCK_DIM_Y)
    RELAUNCH_DEVICE_ATTRIBUTE(MaxBlockDimZ, MAX_BLOCK_DIM_Z)
    RELAUNCH_DEVICE_ATTRIBUTE(MaxGridDimX, MAX_GRID_DIM_X)
    RELAUNCH_DEVICE_ATTRIBUTE(MaxGridDimY, MAX_GRID_DIM_Y)
    RELAUNCH_DEVICE_ATTRIBUTE(MaxGridDimZ, MAX_GRID_DIM_Z)
    RELAUNCH_DEVICE_ATTRIBUTE(ClockRate, CLOCK_RATE)
    RELAUNCH_DEVICE_ATTRIBUTE(MemoryClockRate, MEMORY_CLOCK_RATE)
    RELAUNCH_DEVICE_ATTRIBUTE(MemoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH)
    RELAUNCH_DEVICE_ATTRIBUTE(L2CacheSize, L2_CACHE_SIZE)
    RELAUNCH_DEVICE_ATTRIBUTE(ComputeCapabilityMajor, COMPUTE_CAPABILITY_MAJOR)
    RELAUNCH_DEVICE_ATTRIBUTE(ComputeCapabilityMinor, COMPUTE_CAPABILITY_MINOR)
    RELAUNCH_DEVICE_ATTRIBUTE(CooperativeLaunch, COOPERATIVE_LAUNCH)
#undef RELAUNCH_DEVICE_ATTRIBUTE
    default:
      return refuse(hipErrorInvalidValue,
                    "device attribute " + std::to_string(wanted) + " is not carried to CUDA");
  }
}

hipError_t exported_get_device_properties(PropertiesR0000* properties, int device) {
  std::memset(properties, 0, sizeof *properties);
  hipError_t status = hipDeviceGetName(properties->name, sizeof properties->name, device);
  if (status == hipSuccess) status = hipDeviceTotalMem(&properties->totalGlobalMem, device);
  if (status != hipSuccess) return status;
  const std::string name = architecture(device);
  std::memcpy(properties->gcnArchName, name.c_str(), name.size() + 1);
  properties->sharedMemPerBlock = static_cast<std::size_t>(
      known_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device));
  properties->regsPerBlock = known_attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, device);
  properties->warpSize = known_attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
  properties->maxThreadsPerBlock =
      known_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device);
  properties->clockRate = known_attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device);
  properties->memoryClockRate = known_attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device);
  properties->memoryBusWidth = known_attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device);
  properties->major = known_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  properties->minor = known_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  properties->multiProcessorCount =
      known_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  properties->l2CacheSize = known_attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
  properties->cooperativeLaunch = known_attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, device);
  return hipSuccess;
}

hipError_t exported_get_device_properties_r0600(void* out, int device) {
  PropertiesR0000 older;
  const hipError_t status = exported_get_device_properties(&older, device);
  if (status != hipSuccess) return status;
  std::memset(out, 0, kR0600Bytes);
  PropertiesR0600 properties{static_cast<std::byte*>(out)};
  properties.put(0, older.name);
  properties.put(288, older.totalGlobalMem);
  properties.put(296, older.sharedMemPerBlock);
  properties.put(304, older.regsPerBlock);
  properties.put(308, older.warpSize);
  properties.put(320, older.maxThreadsPerBlock);
  properties.put(348, older.clockRate);
  properties.put(360, older.major);
  properties.put(364, older.minor);
  properties.put(388, older.multiProcessorCount);
  properties.put(608, older.memoryClockRate);
  properties.put(612, older.memoryBusWidth);
  properties.put(616, older.l2CacheSize);
  properties.put(688, older.cooperativeLaunch);
  properties.put(1160, older.gcnArchName);
  return hipSuccess;
}

hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return ask<&Cuda::cuCtxGetCurrent>(reinterpret_cast<CUcontext*>(context));
}
hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return ask_driver<&Cuda::cuCtxSetCurrent>(reinterpret_cast<CUcontext>(context));
}
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  return ask_driver<&Cuda::cuDevicePrimaryCtxRetain>(reinterpret_cast<CUcontext*>(context), device);
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return ask_driver<&Cuda::cuDevicePrimaryCtxRelease>(device);
}

hipError_t hipGetLastError(void) { return last_failure(true); }
hipError_t hipPeekAtLastError(void) { return last_failure(false); }
const char* hipGetErrorString(hipError_t error) { return failure_text(error); }
const char* hipGetErrorName(hipError_t error) {
  const char* name = nullptr;
  const Cuda& driver = cuda();
  if (driver.cuGetErrorName != nullptr) driver.cuGetErrorName(static_cast<CUresult>(error), &name);
  return name != nullptr ? name : "unknown error";
}

hipError_t exported_get_proc_address(const char* symbol, void** function, int /*version*/,
                                     std::uint64_t /*flags*/) {
  if (symbol == nullptr || function == nullptr)
    return refuse(hipErrorInvalidValue, "no symbol, or nowhere to write its address to");
  *function = relaunch::own_symbol(symbol);
  if (*function != nullptr) return hipSuccess;
  return refuse(hipErrorNotFound, std::string("no symbol ") + symbol + " in this library");
}

}  // extern "C"
