// The CUDA driver, function by function.

#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "precompiled/core/plan.hpp"
#include "precompiled/driver/encode_tiled.hpp"
#include "precompiled/driver/make.hpp"

namespace relaunch {
namespace {

static_assert(sizeof(CUlaunchAttribute) == EncodedAttributes::kEntryBytes);
static_assert(CUDA_ERROR_INVALID_VALUE == kInvalidValue);
static_assert(offsetof(LaunchCall, grid) == offsetof(CUlaunchConfig, gridDimX));
static_assert(offsetof(LaunchCall, block) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(LaunchCall, shared) == offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(LaunchCall, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchCall, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(LaunchCall, attribute_count) == offsetof(CUlaunchConfig, numAttrs));
static_assert(offsetof(LaunchCall, function) >= sizeof(CUlaunchConfig));
static_assert(static_cast<int>(Scheduling::spread) == CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
static_assert(static_cast<int>(Scheduling::load_balancing) ==
              CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);

// Attribute ids by number: those of newer releases are absent from older headers.
constexpr int kCooperative = 2;
constexpr int kClusterDimension = 4;
constexpr int kClusterScheduling = 5;
constexpr int kProgrammaticSerialization = 6;
constexpr int kPreferredCluster = 11;
constexpr int kSharedMemoryMode = 18;
static_assert(CU_LAUNCH_ATTRIBUTE_COOPERATIVE == kCooperative);
static_assert(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION == kClusterDimension);
static_assert(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE == kClusterScheduling);
static_assert(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION == kProgrammaticSerialization);

// Bytes of parameters that drivers older than CUDA 12.1 take (CUDA C++ Programming Guide, kernel
// parameters; versions as cuDriverGetVersion gives them).
constexpr std::uint32_t kOldParameterLimit = 4096;
constexpr int kFirstWithMoreParameters = 12010;

// More than any kernel's bytes have room for.
[[maybe_unused]] constexpr std::size_t kMostParameters = 32764;

struct Functions {
#define RELAUNCH_DRIVER_FUNCTION(name, since) decltype(&::name) name = nullptr;
#include "precompiled/driver/cuda_functions.def"
#undef RELAUNCH_DRIVER_FUNCTION
};

int attribute_id(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::programmatic_serialization: return kProgrammaticSerialization;
    case AttributeKind::cooperative:
    case AttributeKind::cooperative_flag: return kCooperative;
    case AttributeKind::cluster_dimension: return kClusterDimension;
    case AttributeKind::cluster_scheduling: return kClusterScheduling;
    case AttributeKind::preferred_cluster: return kPreferredCluster;
    case AttributeKind::oversize_shared: return kSharedMemoryMode;
  }
  return 0;
}

template <typename Handle>
Handle handle(std::uint64_t value) {
  return reinterpret_cast<Handle>(value);
}

/// `12.1` of 12010.
std::string release(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// The rules are template arguments: a launch does not look at them.
template <ContextRule context, LaunchFunction launched_by>
class CudaDriver final : public Driver {
 public:
  explicit CudaDriver(Library library) : Driver(Backend::cuda), library_(std::move(library)) {
#define RELAUNCH_DRIVER_FUNCTION(name, since) \
  load<CUDA_ERROR_NOT_SUPPORTED>(library_, {#name, since}, &f_.name, &missing_);
#include "precompiled/driver/cuda_functions.def"
#undef RELAUNCH_DRIVER_FUNCTION
    require(library_, missing_, "cuCtxGetCurrent", "CUDA driver");
  }

  Status ensure_context() const noexcept override {
    CUcontext current = nullptr;
    const CUresult result = f_.cuCtxGetCurrent(&current);
    if (result == CUDA_SUCCESS && current != nullptr) [[likely]]
      return {};
    if (result != CUDA_SUCCESS) return {result, "cuCtxGetCurrent"};
    return adopt_primary_context();
  }

  Status begin_launch() const noexcept override {
    if constexpr (context == ContextRule::none) return {};
    return CudaDriver::ensure_context();
  }

  Status device_pointer(std::uint64_t address, std::uint64_t* device) const noexcept override {
    const CUresult result =
        f_.cuPointerGetAttribute(device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address);
    return {result, "cuPointerGetAttribute"};
  }

  Status allow_non_portable_cluster(std::uint64_t function) const noexcept override {
    const CUresult result = f_.cuFuncSetAttribute(
        handle<CUfunction>(function), CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    return {result, "cuFuncSetAttribute"};
  }

  Status allow_shared(std::uint64_t function, std::uint32_t bytes) const noexcept override {
    constexpr auto kMost = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    const int own = function_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    if (bytes + static_cast<std::uint32_t>(own) <= kSharedWithoutAsking) return {};
    if (const Status made = CudaDriver::ensure_context(); !made) return made;
    static std::mutex mutex;  // between a look at the limit and its change
    const std::lock_guard lock(mutex);
    const int allowed = function_attribute(function, kMost);
    const int wanted = std::max(allowed, static_cast<int>(bytes));
    // Up to 48 KiB the limit may be the one that all functions have, their own memory included.
    if (wanted == allowed && wanted > static_cast<int>(kSharedWithoutAsking)) return {};
    const CUresult result = f_.cuFuncSetAttribute(handle<CUfunction>(function), kMost, wanted);
    return {result, "cuFuncSetAttribute"};
  }

  std::optional<std::vector<ParameterPlace>> parameters_of(std::uint64_t function) const override {
    std::vector<ParameterPlace> places;
#if CUDA_VERSION >= 12040
    std::size_t offset = 0;
    std::size_t size = 0;
    for (;;) {
      const CUresult result =
          f_.cuFuncGetParamInfo(handle<CUfunction>(function), places.size(), &offset, &size);
      if (result == CUDA_ERROR_INVALID_VALUE) return places;  // behind the last one
      if (result != CUDA_SUCCESS || places.size() > kMostParameters) return std::nullopt;
      places.push_back({offset, size});
    }
#else
    static_cast<void>(function);
    return std::nullopt;
#endif
  }

  void check_parameter_bytes(std::uint32_t bytes, const std::string& call) const override {
    if (bytes <= kOldParameterLimit) return;
    int version = 0;
    // A driver that does not say decides at the launch.
    if (f_.cuDriverGetVersion(&version) != CUDA_SUCCESS) return;
    if (version >= kFirstWithMoreParameters) return;
    throw BindError(call + " has " + std::to_string(bytes) +
                    " bytes of parameters; the driver, of CUDA " + release(version) + ", takes " +
                    std::to_string(kOldParameterLimit) + " (32764 since CUDA " +
                    release(kFirstWithMoreParameters) + ")");
  }

  Status launch(const LaunchCall& call) const noexcept override {
    if constexpr (launched_by == LaunchFunction::plain_without_attributes) {
      if (call.attribute_count == 0) return launch_plain(call);
    }
    const CUresult result =
        f_.cuLaunchKernelEx(reinterpret_cast<const CUlaunchConfig*>(&call),
                            handle<CUfunction>(call.function), call.parameters, nullptr);
    return {result, "cuLaunchKernelEx"};
  }

  std::string beyond_limits(const LaunchCall& call) const override {
    CUdevice device = 0;
    if (f_.cuCtxGetDevice(&device) != CUDA_SUCCESS) return {};
    const auto limit = [&](CUdevice_attribute attribute) {
      int value = 0;
      return f_.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS ? value : 0;
    };
    const Limited numbers[] = {
        {"grid_x", call.grid[0], limit(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)},
        {"grid_y", call.grid[1], limit(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)},
        {"grid_z", call.grid[2], limit(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
        {"block", call.block, limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)},
        {"shared", call.shared, limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)},
    };
    return list_beyond_limits(numbers);
  }

  Status encode_tensor_map(const TensorMapFields& fields, std::byte* map) const noexcept override {
    return {encode_tiled(f_.cuTensorMapEncodeTiled, fields, map), "cuTensorMapEncodeTiled"};
  }

  EncodedAttributes encode(const AttributeList& list, bool cooperative) const override {
    EncodedAttributes out{};
    out.cooperative = cooperative;
    for (std::uint32_t i = 0; i < list.count; ++i) {
      CUlaunchAttribute attribute{};
      attribute.id = static_cast<CUlaunchAttributeID>(attribute_id(list.items[i].kind));
      std::memcpy(&attribute.value, list.items[i].value.data(), sizeof(list.items[i].value));
      std::memcpy(out.bytes + out.count++ * sizeof(attribute), &attribute, sizeof(attribute));
    }
    return out;
  }

  std::string explain(const Status& status) const override {
    if (status.code == CUDA_ERROR_NOT_SUPPORTED) {
      std::string missing = explain_missing(library_, missing_, status.function);
      if (!missing.empty()) return missing;
    }
    const char* text = nullptr;
    f_.cuGetErrorString(static_cast<CUresult>(status.code), &text);
    return text != nullptr ? text : "error " + std::to_string(status.code);
  }

 private:
  /// 0 where the driver does not say.
  int function_attribute(std::uint64_t function, CUfunction_attribute attribute) const noexcept {
    int value = 0;
    const CUresult result = f_.cuFuncGetAttribute(&value, attribute, handle<CUfunction>(function));
    return result == CUDA_SUCCESS ? value : 0;
  }

  Status launch_plain(const LaunchCall& call) const noexcept {
    const CUresult result =
        f_.cuLaunchKernel(handle<CUfunction>(call.function), call.grid[0], call.grid[1],
                          call.grid[2], call.block, call.block_y, call.block_z, call.shared,
                          handle<CUstream>(call.stream), call.parameters, nullptr);
    return {result, "cuLaunchKernel"};
  }

  [[gnu::noinline, gnu::cold]] Status adopt_primary_context() const noexcept {
    CUdevice device = 0;
    CUresult result = f_.cuDeviceGet(&device, 0);
    if (result != CUDA_SUCCESS) return {result, "cuDeviceGet"};
    CUcontext primary = nullptr;
    result = f_.cuDevicePrimaryCtxRetain(&primary, device);
    if (result != CUDA_SUCCESS) return {result, "cuDevicePrimaryCtxRetain"};
    result = f_.cuCtxSetCurrent(primary);
    return {result, "cuCtxSetCurrent"};
  }

  Library library_;
  Functions f_;
  std::vector<FunctionEntry> missing_;
};

}  // namespace

std::unique_ptr<Driver> make_cuda_driver(Library library, const DriverRules& rules) {
  constexpr auto kExtended = LaunchFunction::extended;
  constexpr auto kPlain = LaunchFunction::plain_without_attributes;
  const bool ensures = rules.context == ContextRule::ensure;
  if (rules.launch == kExtended && ensures) {
    return std::make_unique<CudaDriver<ContextRule::ensure, kExtended>>(std::move(library));
  }
  if (rules.launch == kExtended) {
    return std::make_unique<CudaDriver<ContextRule::none, kExtended>>(std::move(library));
  }
  if (ensures) {
    return std::make_unique<CudaDriver<ContextRule::ensure, kPlain>>(std::move(library));
  }
  return std::make_unique<CudaDriver<ContextRule::none, kPlain>>(std::move(library));
}

}  // namespace relaunch
