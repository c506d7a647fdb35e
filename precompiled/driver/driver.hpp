#pragma once
// The CUDA driver and the HIP runtime behind one face. Libraries are opened at run time by name or
// path; nothing links to them, and this header needs none of theirs.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "precompiled/core/dialect.hpp"
#include "precompiled/core/launch.hpp"
#include "precompiled/core/tensor_map.hpp"

namespace relaunch {

/// A library that cannot be opened, or that is not the backend's driver.
class DriverError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The outcome of a driver call: 0 is success. `function` names the call that gave it.
struct Status {
  int code = 0;
  const char* function = nullptr;
  explicit operator bool() const { return code == 0; }
};

/// Attributes in the driver's own form: made once, read by every launch.
struct EncodedAttributes {
  static constexpr std::size_t kEntryBytes = 72;
  alignas(8) std::byte bytes[8 * kEntryBytes];
  std::uint32_t count = 0;
  bool cooperative = false;  // for drivers that launch such kernels by another function
};

/// What follows from kernel_metadata and the options: made once for a launcher, and again for a
/// launch with other metadata.
struct Configuration {
  Geometry geometry;
  EncodedAttributes attributes;
  GridScale scale;
  bool non_portable = false;  // the function is told before each launch
};

/// A launch. The fields up to `attribute_count` lie as in CUlaunchConfig and HIP_LAUNCH_CONFIG, so
/// that a driver takes them as they are.
struct LaunchCall {
  Dims grid;
  std::uint32_t block;  // threads along x
  std::uint32_t block_y = 1;
  std::uint32_t block_z = 1;
  std::uint32_t shared;  // bytes
  std::uint64_t stream;
  const EncodedAttributes* attributes;
  std::uint32_t attribute_count;  // attributes->count
  std::uint64_t function;
  void** parameters;
};

/// Where a parameter of a loaded function lies in its parameter block, in bytes.
struct ParameterPlace {
  std::uint64_t offset;
  std::uint64_t size;
};

/// Both drivers give this code to an address that is none of theirs.
inline constexpr int kInvalidValue = 1;

/// Dynamic shared memory, bytes, that a CUDA function may be launched with without being told.
inline constexpr std::uint32_t kSharedWithoutAsking = 48 * 1024;

/// A tensor map of CUDA, in bytes.
inline constexpr std::size_t kTensorMapBytes = 128;
inline constexpr std::size_t kTensorMapAlignment = 128;

class Driver {
 public:
  explicit Driver(Backend backend) : backend(backend) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  virtual ~Driver() = default;

  /// Makes the primary context of device 0 current if no context is. Does nothing on HIP.
  virtual Status ensure_context() const noexcept = 0;
  /// What comes first in a launch: ensure_context(), or nothing, as the rules have it.
  virtual Status begin_launch() const noexcept = 0;
  /// The device's own address of `address`; kInvalidValue where the device cannot reach it.
  virtual Status device_pointer(std::uint64_t address, std::uint64_t* device) const noexcept = 0;
  virtual Status allow_non_portable_cluster(std::uint64_t function) const noexcept = 0;
  /// Lets the function be launched with that much dynamic shared memory beside its own, for which
  /// a context is made current; does nothing where no permission is needed, and on HIP. What was
  /// allowed before, for another launcher of the function, is never lowered.
  virtual Status allow_shared(std::uint64_t function, std::uint32_t bytes) const noexcept = 0;
  /// The function's own parameters in order, or nothing where the driver does not say: CUDA before
  /// 12.4, HIP, and handles of kernels that are no functions.
  virtual std::optional<std::vector<ParameterPlace>> parameters_of(
      std::uint64_t function) const = 0;
  /// Throws BindError where `call`, a kernel with its types, has more bytes of parameters than this
  /// release of the driver takes. The dialect's limit is that of the newest releases.
  virtual void check_parameter_bytes(std::uint32_t bytes, const std::string& call) const = 0;
  virtual Status launch(const LaunchCall& call) const noexcept = 0;
  /// What of a refused launch the current device does not take, each with its limit:
  /// "; grid_y 65536 is more than the device's 65535". Empty where the driver does not say.
  virtual std::string beyond_limits(const LaunchCall& call) const = 0;
  /// Writes the kTensorMapBytes of a tensor map. HIP has none.
  virtual Status encode_tensor_map(const TensorMapFields& fields,
                                   std::byte* map) const noexcept = 0;
  virtual EncodedAttributes encode(const AttributeList& list, bool cooperative) const = 0;
  /// The driver's own words for a failed call, or that the function is missing in this library.
  virtual std::string explain(const Status& status) const = 0;

  /// `names` holds library names separated by blanks, or one path (`is_path`). A library stays
  /// open for the life of the process, and the same names and rules give the same object. Throws
  /// DriverError.
  static const Driver& open(Backend backend, const DriverRules& rules, std::string_view names,
                            bool is_path);
  /// The driver of a dialect: at `path`, or where none is given under its usual names.
  static const Driver& open(const Dialect& dialect, const std::optional<std::string>& path);

  const Backend backend;
};

Configuration configure(const Dialect& dialect, const Driver& driver, const LaunchOptions& options,
                        const Geometry& geometry);

}  // namespace relaunch
