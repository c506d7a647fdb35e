#pragma once
// A dialect as plain data: what one Triton release's launcher does on one backend, as far as a
// caller, the driver or the kernel can see it. Code reads these fields; it never asks for a name.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "precompiled/core/descriptor.hpp"
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

/// Launch attributes, and the order in which a dialect sets them.
enum class AttributeKind : std::uint8_t {
  programmatic_serialization,
  cooperative,
  cooperative_flag,  // always set, 0 or 1, and only beside a cluster
  cluster_dimension,
  cluster_scheduling,
  preferred_cluster,
};

/// What happens after the enter hook, in order. All checks of one kind are made before the next.
enum class IntakeStage : std::uint8_t { scratch, pointers, descriptors, halves };

/// How the grid of a launch follows from the grid asked for, where the launch has clusters.
enum class GridRule : std::uint8_t { x_times_num_ctas };

/// The num_ctas that make clusters of (num_ctas, 1, 1).
enum class ClusterRule : std::uint8_t { unless_one, above_one };

enum class ContextRule : std::uint8_t {
  none,
  ensure,  // with no current context, the primary context of device 0 is made current
};

enum class GilRule : std::uint8_t { held, released };  // around the driver's launch call

/// The tuple handed to a launch as kernel_metadata, and the error for anything else.
enum class MetadataForm : std::uint8_t { warps_ctas_shared };
enum class MetadataErrors : std::uint8_t {
  one_type_error,  // TypeError, whatever was wrong
  as_found,        // SystemError for what is no tuple, else the element's own error
};

/// Host bytes of a parameter where they differ from the type's size.
struct SlotWidth {
  Type type;
  std::uint32_t bytes;
};

struct Dialect {
  std::string_view name;
  Backend backend;
  std::span<const SlotWidth> slot_widths;
  HiddenSection hidden;
  std::span<const AttributeKind> attributes;
  std::span<const IntakeStage> intake;
  GridRule grid;
  ContextRule context;
  GilRule gil;
  MetadataForm metadata;
  MetadataErrors metadata_errors;
  bool has_pdl;  // the release can ask for programmatic launches
  ClusterRule clusters;
  std::int32_t
      non_portable_num_ctas;  // asks for non-portable cluster sizes at this num_ctas; 0 = never
  std::uint32_t warp_size;    // lanes; the default where it is an option
  bool warp_size_is_option;
  DescriptorRules descriptors;
  std::uint32_t parameter_limit;  // bytes of kernel parameters, alignment included
  std::string_view driver;        // library names to open, separated by blanks, first hit wins
};

/// The dialect of that name; patch numbers are accepted (`triton-3.6.0-cuda` is
/// `triton-3.6-cuda`). Null where there is none.
const Dialect* find_dialect(std::string_view name);

/// Every dialect, in order of release.
std::span<const Dialect> all_dialects();

/// The dialect's host bytes of a parameter of that type.
std::uint32_t slot_size(const Dialect& dialect, Type type);

/// The bytes of it that the kernel reads.
std::uint32_t parameter_size(const Dialect& dialect, Type type);

}  // namespace relaunch
