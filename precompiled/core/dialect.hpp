#pragma once
// A dialect as plain data: what one Triton release's launcher does on one backend, as far as a
// caller, the driver or the kernel can see it. Code reads these fields; it never asks for a name.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "precompiled/core/descriptor.hpp"
#include "precompiled/core/ops.hpp"
#include "precompiled/core/types.hpp"

namespace relaunch {

enum class Backend : std::uint8_t { cuda, hip };

std::string_view backend_name(Backend backend);

/// A parameter behind the signature's own, filled by the launcher.
enum class HiddenKind : std::uint8_t {
  global_scratch,   // given by the caller, null where nothing is given
  profile_scratch,  // likewise
  null,             // always null: the kernel has the parameter, no caller can fill it
};

struct HiddenParameter {
  HiddenKind kind;
  std::string_view name;
  std::uint32_t size;       // bytes
  std::uint32_t alignment;  // bytes
};

/// The hidden parameters of a release. The version grows with every change upstream made.
struct HiddenSection {
  std::uint32_t version;
  std::span<const HiddenParameter> parameters;  // in kernel order
};

/// How a type is converted, where that is not the first line for it in conversions.def.
struct ConversionRule {
  Type type;
  Op usual;
  Op on_request;  // under strict (unsigned integers) or round_bf16 (bf16)
};

/// Launch attributes, and the order in which a dialect sets them.
enum class AttributeKind : std::uint8_t {
  programmatic_serialization,
  cooperative,
  cooperative_flag,  // always set, 0 or 1, and only beside a cluster
  cluster_dimension,
  cluster_scheduling,
  preferred_cluster,
  oversize_shared,  // more shared memory is allowed than a block usually has
};

/// What happens after the enter hook, in order. All checks of one kind are made before the next.
enum class IntakeStage : std::uint8_t {
  scratch,
  pointers,
  descriptors,
  halves,     // fp16 values that overflowed; where no stage says it, with the arguments
  flat_order  // tuples are opened, then every argument is converted, in flat order
};

/// How the grid of a launch follows from the grid asked for, where the launch has clusters.
enum class GridRule : std::uint8_t { as_given, x_times_num_ctas, times_cluster };

/// The num_ctas that make clusters.
enum class ClusterRule : std::uint8_t { never, unless_one, above_one };

/// The tuple handed to a launch as kernel_metadata, and the error for anything else.
enum class MetadataForm : std::uint8_t {
  warps_ctas_shared,           // clusters have (num_ctas, 1, 1) CTAs
  warps_ctas_shared_clusters,  // and three more numbers, the CTAs of a cluster by dimension
};
enum class MetadataErrors : std::uint8_t {
  one_type_error,  // TypeError, whatever was wrong
  as_found,        // SystemError for what is no tuple, else the element's own error
  any_sequence,    // any sequence will do; TypeError for what is none, else the element's own
};

enum class ContextRule : std::uint8_t {
  none,
  ensure,  // with no current context, the primary context of device 0 is made current
};

enum class GilRule : std::uint8_t { held, released };  // around the driver's launch call

/// CUDA: the function that launches.
enum class LaunchFunction : std::uint8_t {
  extended,                  // always cuLaunchKernelEx
  plain_without_attributes,  // cuLaunchKernel where there is no attribute to set
};

/// What becomes of a pointer query that fails. An address that the device cannot reach is always an
/// error.
enum class QueryRule : std::uint8_t {
  strict,               // so is any other failure
  clears_error,         // likewise; and after an unreachable address the last error is cleared
  ignores_other_errors  // after any other failure the address stays as it was; cleared as above
};

/// What is called beside the launch itself, and how.
struct DriverRules {
  ContextRule context;
  LaunchFunction launch;
  QueryRule query;
  bool operator==(const DriverRules&) const = default;
  auto operator<=>(const DriverRules&) const = default;
};

/// Entries of a signature, beside those with a type.
struct EntryRules {
  bool has_constexpr;  // takes an argument, gives no parameter
  bool has_tuples;
  bool folds_constants;  // an entry may be taken in like others and give no parameter
};

struct Dialect {
  std::string_view name;
  Backend backend;
  EntryRules entries;
  std::span<const ConversionRule> conversions;
  DescriptorRules descriptors;
  HiddenSection hidden;
  std::span<const IntakeStage> intake;
  MetadataForm metadata;
  MetadataErrors metadata_errors;
  ClusterRule clusters;
  GridRule grid;
  std::span<const AttributeKind> attributes;
  bool has_cooperative;  // the release can ask for cooperative launches
  bool has_pdl;          // the release can ask for programmatic launches
  std::int32_t
      non_portable_num_ctas;  // asks for non-portable cluster sizes at this num_ctas; 0 = never
  std::int32_t most_shared;   // bytes; above, `oversize_shared` is set
  std::uint32_t warp_size;    // lanes; the default where it is an option
  bool warp_size_is_option;
  DriverRules calls;
  GilRule gil;
  std::uint32_t parameter_limit;  // bytes of kernel parameters, alignment included
  std::string_view driver;        // library names to open, separated by blanks, first hit wins
};

/// The dialect of that name. Patch numbers are accepted (`triton-3.6.0-cuda` is `triton-3.6-cuda`),
/// and releases with the launcher of another one: 3.1 (3.0) and 3.8 (3.9). Null where there is
/// none.
const Dialect* find_dialect(std::string_view name);

/// Every dialect, in order of release.
std::span<const Dialect> all_dialects();

/// "unknown dialect 'x'; there are ..."
std::string unknown_dialect(std::string_view name);

/// Why no caller can give the scratch of that name: the dialect has no such parameter, or a null.
std::string scratch_refusal(const Dialect& dialect, std::string_view name);

/// The step that converts a scalar of that type. Undefined for types that are no scalars.
Op scalar_op(const Dialect& dialect, Type type, bool on_request = false);

/// Whether everything is converted behind the enter hook, in flat order.
bool takes_flat_order(const Dialect& dialect);

}  // namespace relaunch
