// The unrecorded calls of HIP about devices, contexts and symbols. One device, like an MI300X.
#include <cstdio>
#include <cstring>

#include "differential/own_symbol.hpp"
#include "differential/recorder/hip_calls.hpp"
#include "differential/recorder/memory.hpp"

using namespace relaunch::hip;
using namespace relaunch::recorder;

namespace {

constexpr int kVersion = 70100000;
constexpr int kWarpSize = 64;
constexpr int kRegisters = 65536;
constexpr int kComputeUnits = 304;
constexpr int kClockKhz = 2100000;
constexpr int kMemoryClockKhz = 1300000;
constexpr int kMemoryBusBits = 8192;
constexpr int kL2Bytes = 4194304;
constexpr int kThreadsPerBlock = 1024;
constexpr std::size_t kSharedBytes = 65536;
constexpr char kName[] = "relaunch recorder";
constexpr char kArchitecture[] = "gfx942:sramecc+:xnack-";

/// The members of HIP 6's device properties (1472 bytes) that anything reads, at their offsets.
struct alignas(8) PropertiesR0600 {
  std::byte bytes[1472];

  template <typename T>
  void put(std::size_t offset, const T& value) {
    std::memcpy(bytes + offset, &value, sizeof value);
  }
};

int device_attribute(hipDeviceAttribute_t attribute) {
  switch (attribute) {
    case hipDeviceAttributeWarpSize: return kWarpSize;
    case hipDeviceAttributeMultiprocessorCount: return kComputeUnits;
    case hipDeviceAttributeMaxSharedMemoryPerBlock: return static_cast<int>(kSharedBytes);
    case hipDeviceAttributeMaxThreadsPerBlock: return kThreadsPerBlock;
    case hipDeviceAttributeMaxRegistersPerBlock: return kRegisters;
    case hipDeviceAttributeComputeCapabilityMajor: return 9;
    case hipDeviceAttributeComputeCapabilityMinor: return 4;
    case hipDeviceAttributeCooperativeLaunch: return 1;
    default: return 0;
  }
}

hipError_t check_device(int device) {
  return device == 0 ? hipSuccess : result(hipErrorInvalidDevice);
}

}  // namespace

extern "C" {

hipError_t hipInit(unsigned /*flags*/) { return answer(__func__); }
hipError_t hipDriverGetVersion(int* version) {
  return answer_with(__func__, version, driver_version(kVersion));
}
hipError_t hipRuntimeGetVersion(int* version) { return answer_with(__func__, version, kVersion); }
hipError_t hipGetDeviceCount(int* count) { return answer_with(__func__, count, 1); }
hipError_t hipGetDevice(int* device) { return answer_with(__func__, device, 0); }
hipError_t hipSetDevice(int device) {
  const hipError_t status = answer(__func__);
  return status == hipSuccess ? check_device(device) : status;
}
hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  const hipError_t status = answer_with(__func__, device, ordinal);
  return status == hipSuccess ? check_device(ordinal) : status;
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  const hipError_t status = answer_with(__func__, value, device_attribute(attribute));
  return status == hipSuccess ? check_device(device) : status;
}
hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  const hipError_t status = answer(__func__);
  if (status != hipSuccess) return status;
  std::snprintf(name, static_cast<std::size_t>(length), "%s", kName);
  return check_device(device);
}
hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t device) {
  const hipError_t status = answer_with(__func__, bytes, kTotalMemory);
  return status == hipSuccess ? check_device(device) : status;
}
hipError_t hipDeviceSynchronize(void) { return answer(__func__); }

hipError_t exported_get_device_properties(PropertiesR0000* properties, int device) {
  const hipError_t status = answer("hipGetDeviceProperties");
  if (status != hipSuccess) return status;
  std::memset(properties, 0, sizeof *properties);
  std::memcpy(properties->name, kName, sizeof kName);
  std::memcpy(properties->gcnArchName, kArchitecture, sizeof kArchitecture);
  properties->totalGlobalMem = kTotalMemory;
  properties->sharedMemPerBlock = kSharedBytes;
  properties->regsPerBlock = kRegisters;
  properties->warpSize = kWarpSize;
  properties->maxThreadsPerBlock = kThreadsPerBlock;
  properties->clockRate = kClockKhz;
  properties->memoryClockRate = kMemoryClockKhz;
  properties->memoryBusWidth = kMemoryBusBits;
  properties->major = 9;
  properties->minor = 4;
  properties->multiProcessorCount = kComputeUnits;
  properties->l2CacheSize = kL2Bytes;
  properties->cooperativeLaunch = 1;
  return check_device(device);
}

hipError_t exported_get_device_properties_r0600(void* out, int device) {
  const hipError_t status = answer("hipGetDevicePropertiesR0600");
  if (status != hipSuccess) return status;
  auto* const properties = static_cast<PropertiesR0600*>(out);
  *properties = {};
  properties->put(0, kName);
  properties->put(288, kTotalMemory);
  properties->put(296, kSharedBytes);
  properties->put(304, kRegisters);
  properties->put(308, kWarpSize);
  properties->put(320, kThreadsPerBlock);
  properties->put(348, kClockKhz);
  properties->put(360, 9);
  properties->put(364, 4);
  properties->put(388, kComputeUnits);
  properties->put(608, kMemoryClockKhz);
  properties->put(612, kMemoryBusBits);
  properties->put(616, kL2Bytes);
  properties->put(688, 1);  // cooperativeLaunch
  properties->put(1160, kArchitecture);
  return check_device(device);
}

hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return answer_with(__func__, context, handle<hipCtx_t>(current_context()));
}
hipError_t hipCtxSetCurrent(hipCtx_t context) {
  const hipError_t status = answer(__func__);
  if (status == hipSuccess) set_current_context(reinterpret_cast<std::uint64_t>(context));
  return status;
}
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  const hipError_t status = answer_with(__func__, context, handle<hipCtx_t>(kFirstContext));
  return status == hipSuccess ? check_device(device) : status;
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  const hipError_t status = answer(__func__);
  return status == hipSuccess ? check_device(device) : status;
}

const char* hipGetErrorString(hipError_t error) { return error_text(error); }
const char* hipGetErrorName(hipError_t error) { return error_text(error); }

/// A caller of HIP 6 or later means the later of two device property structures by the same name.
hipError_t exported_get_proc_address(const char* symbol, void** function, int version,
                                     std::uint64_t /*flags*/) {
  constexpr int kSecondProperties = 60000000;
  const Call call("hipGetProcAddress");
  if (call.failed()) return result(call.status());
  if (symbol == nullptr || function == nullptr) return result(hipErrorInvalidValue);
  const bool is_second =
      version >= kSecondProperties && std::strcmp(symbol, "hipGetDeviceProperties") == 0;
  *function = relaunch::own_symbol(is_second ? "hipGetDevicePropertiesR0600" : symbol);
  return *function == nullptr ? result(hipErrorNotFound) : hipSuccess;
}

}  // extern "C"
