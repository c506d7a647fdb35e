// The HIP runtime, function by function.

#include <cstring>
#include <utility>

#include "precompiled/driver/hip_types.hpp"
#include "precompiled/driver/make.hpp"

namespace relaunch {
namespace {

static_assert(sizeof(hip::LaunchAttribute) == EncodedAttributes::kEntryBytes);
static_assert(hipErrorInvalidValue == kInvalidValue);
static_assert(offsetof(LaunchCall, grid) == offsetof(hip::LaunchConfig, grid));
static_assert(offsetof(LaunchCall, block) == offsetof(hip::LaunchConfig, block));
static_assert(offsetof(LaunchCall, shared) == offsetof(hip::LaunchConfig, shared));
static_assert(offsetof(LaunchCall, stream) == offsetof(hip::LaunchConfig, stream));
static_assert(offsetof(LaunchCall, attributes) == offsetof(hip::LaunchConfig, attributes));
static_assert(offsetof(LaunchCall, attribute_count) ==
              offsetof(hip::LaunchConfig, attribute_count));
static_assert(offsetof(LaunchCall, function) >= sizeof(hip::LaunchConfig));

template <typename Handle>
Handle handle(std::uint64_t value) {
  return reinterpret_cast<Handle>(value);
}

/// The rule is a template argument: a query does not look at it.
template <QueryRule query>
class HipDriver final : public Driver {
 public:
  explicit HipDriver(Library library) : Driver(Backend::hip), library_(std::move(library)) {
#define RELAUNCH_DRIVER_FUNCTION(name, since) \
  load<hipErrorNotSupported>(library_, {#name, since}, &f_.name, &missing_);
#include "precompiled/driver/hip_functions.def"
#undef RELAUNCH_DRIVER_FUNCTION
    require(library_, missing_, "hipModuleLaunchKernel", "HIP runtime");
  }

  Status ensure_context() const noexcept override { return {}; }
  Status begin_launch() const noexcept override { return {}; }

  Status device_pointer(std::uint64_t address, std::uint64_t* device) const noexcept override {
    const hipError_t result =
        f_.hipPointerGetAttribute(device, hip::kDevicePointer, handle<void*>(address));
    // The runtime keeps this error for the next hipGetLastError of anyone; it is ours, so clear it.
    if (query != QueryRule::strict && result == hipErrorInvalidValue) {
      [[maybe_unused]] const hipError_t cleared = f_.hipGetLastError();
    }
    if constexpr (query == QueryRule::ignores_other_errors) {
      if (result != hipSuccess && result != hipErrorInvalidValue) {
        *device = address;
        return {};
      }
    }
    return {result, "hipPointerGetAttribute"};
  }

  Status allow_non_portable_cluster(std::uint64_t /*function*/) const noexcept override {
    return {hipErrorNotSupported, "cuFuncSetAttribute"};
  }

  Status allow_shared(std::uint64_t /*function*/, std::uint32_t /*bytes*/) const noexcept override {
    return {};
  }

  std::optional<std::vector<ParameterPlace>> parameters_of(
      std::uint64_t /*function*/) const override {
    return std::nullopt;  // no function of HIP says
  }

  void check_parameter_bytes(std::uint32_t /*bytes*/, const std::string& /*call*/) const override {}

  Status launch(const LaunchCall& call) const noexcept override {
    const auto function = handle<hipFunction_t>(call.function);
    const auto stream = handle<hipStream_t>(call.stream);
    const Dims& grid = call.grid;
    if (call.attribute_count != 0) return launch_with_attributes(call);
    if (call.attributes->cooperative) {
      return {f_.hipModuleLaunchCooperativeKernel(function, grid[0], grid[1], grid[2], call.block,
                                                  1, 1, call.shared, stream, call.parameters),
              "hipModuleLaunchCooperativeKernel"};
    }
    return {f_.hipModuleLaunchKernel(function, grid[0], grid[1], grid[2], call.block, 1, 1,
                                     call.shared, stream, call.parameters, nullptr),
            "hipModuleLaunchKernel"};
  }

  std::string beyond_limits(const LaunchCall& call) const override {
    int device = 0;
    if (f_.hipGetDevice(&device) != hipSuccess) return {};
    const auto limit = [&](hipDeviceAttribute_t attribute) {
      int value = 0;
      return f_.hipDeviceGetAttribute(&value, attribute, device) == hipSuccess ? value : 0;
    };
    const Limited numbers[] = {
        {"grid_x", call.grid[0], limit(hipDeviceAttributeMaxGridDimX)},
        {"grid_y", call.grid[1], limit(hipDeviceAttributeMaxGridDimY)},
        {"grid_z", call.grid[2], limit(hipDeviceAttributeMaxGridDimZ)},
        {"block", call.block, limit(hipDeviceAttributeMaxThreadsPerBlock)},
        {"shared", call.shared, limit(hipDeviceAttributeMaxSharedMemoryPerBlock)},
    };
    return list_beyond_limits(numbers);
  }

  Status encode_tensor_map(const TensorMapFields& /*fields*/,
                           std::byte* /*map*/) const noexcept override {
    return {hipErrorNotSupported, "cuTensorMapEncodeTiled"};
  }

  EncodedAttributes encode(const AttributeList& list, bool cooperative) const override {
    EncodedAttributes out{};
    out.cooperative = cooperative;
    for (std::uint32_t i = 0; i < list.count; ++i) {
      hip::LaunchAttribute attribute{};
      attribute.id = list.items[i].kind == AttributeKind::cluster_dimension ? hip::kClusterDimension
                                                                            : hip::kCooperative;
      std::memcpy(attribute.value, list.items[i].value.data(), sizeof(list.items[i].value));
      std::memcpy(out.bytes + out.count++ * sizeof(attribute), &attribute, sizeof(attribute));
    }
    return out;
  }

  std::string explain(const Status& status) const override {
    if (status.code == hipErrorNotSupported) {
      std::string missing = explain_missing(library_, missing_, status.function);
      if (!missing.empty()) return missing;
    }
    const std::intptr_t text = f_.hipGetErrorString(static_cast<hipError_t>(status.code));
    if (text == 0 || text == hipErrorNotSupported) return "error " + std::to_string(status.code);
    return reinterpret_cast<const char*>(text);
  }

 private:
  Status launch_with_attributes(const LaunchCall& call) const noexcept {
    return {f_.hipDrvLaunchKernelEx(reinterpret_cast<const hip::LaunchConfig*>(&call),
                                    handle<hipFunction_t>(call.function), call.parameters, nullptr),
            "hipDrvLaunchKernelEx"};
  }

  Library library_;
  hip::Functions f_{};
  std::vector<FunctionEntry> missing_;
};

}  // namespace

std::unique_ptr<Driver> make_hip_driver(Library library, const DriverRules& rules) {
  switch (rules.query) {
    case QueryRule::strict: break;
    case QueryRule::clears_error:
      return std::make_unique<HipDriver<QueryRule::clears_error>>(std::move(library));
    case QueryRule::ignores_other_errors:
      return std::make_unique<HipDriver<QueryRule::ignores_other_errors>>(std::move(library));
  }
  return std::make_unique<HipDriver<QueryRule::strict>>(std::move(library));
}

}  // namespace relaunch
