#pragma once
// What one launch asks of the driver beside its parameters: the grid's rules and the attributes.

#include <array>
#include <cstdint>
#include <optional>

#include "precompiled/core/dialect.hpp"

namespace relaunch {

using Dims = std::array<std::uint32_t, 3>;

/// Values are those of the drivers' enumerations.
enum class Scheduling : std::uint32_t { driver_default = 0, spread = 1, load_balancing = 2 };

/// Options fixed when a launcher is built.
struct LaunchOptions {
  bool cooperative = false;
  bool pdl = false;
  std::uint32_t warp_size = 0;  // lanes
  std::optional<Dims> cluster;  // CTAs by dimension; the grid counts CTAs, not clusters
  std::optional<Dims> preferred_cluster;
  std::optional<Scheduling> scheduling;  // none: the dialect's choice
  bool non_portable_cluster = false;
};

/// What kernel_metadata says. `cluster` counts CTAs by dimension; forms of metadata without it
/// leave it as it is.
struct Geometry {
  std::int32_t num_warps = 4;
  std::int32_t num_ctas = 1;
  std::int32_t shared = 0;  // bytes
  std::array<std::int32_t, 3> cluster = {1, 1, 1};
};

struct Attribute {
  AttributeKind kind;
  std::array<std::uint32_t, 3> value;  // three numbers for dimensions, else the first
};

struct AttributeList {
  std::array<Attribute, 8> items;
  std::uint32_t count = 0;
};

enum class GridCheck : std::uint8_t {
  launch,
  skip,  // a dimension is 0: everything but the launch happens
  x_out_of_range,
  y_out_of_range,
  z_out_of_range,
};

/// Throws BindError for what the dialect cannot do or no driver could accept.
void check_options(const Dialect& dialect, const LaunchOptions& options, const Geometry& geometry);

/// The geometry of a launcher's options: clusters are `options.cluster` where num_ctas asks for
/// some and kernel_metadata would say their dimensions, else (num_ctas, 1, 1).
Geometry make_geometry(const Dialect& dialect, const LaunchOptions& options,
                       const Geometry& geometry);

/// Whether two launches with the same options have the same attributes, scale and cluster sizes.
inline bool same_shape(const Dialect& dialect, const Geometry& one, const Geometry& other) {
  const std::int32_t most = dialect.most_shared;
  return one.num_ctas == other.num_ctas && one.cluster == other.cluster &&
         (one.shared > most) == (other.shared > most);
}

/// In the dialect's order.
AttributeList make_attributes(const Dialect& dialect, const LaunchOptions& options,
                              const Geometry& geometry);

/// Whether the function is told, before each launch, to allow non-portable cluster sizes.
inline bool asks_non_portable(const Dialect& dialect, const LaunchOptions& options,
                              std::int32_t num_ctas) {
  return options.non_portable_cluster ||
         (dialect.non_portable_num_ctas != 0 && num_ctas == dialect.non_portable_num_ctas);
}

/// The driver's grid for a grid that was asked for, dimension by dimension.
struct GridScale {
  std::array<std::int32_t, 3> factors = {1, 1, 1};
  Dims most = {INT32_MAX, INT32_MAX, INT32_MAX};  // that can be asked for; 0: look closer

  /// Whether no dimension is 0 or out of range.
  bool takes(const std::array<std::int32_t, 3>& grid) const {
    return static_cast<std::uint32_t>(grid[0]) - 1 < most[0] &&
           static_cast<std::uint32_t>(grid[1]) - 1 < most[1] &&
           static_cast<std::uint32_t>(grid[2]) - 1 < most[2];
  }
  Dims apply(const std::array<std::int32_t, 3>& grid) const {
    return {static_cast<std::uint32_t>(grid[0]) * static_cast<std::uint32_t>(factors[0]),
            static_cast<std::uint32_t>(grid[1]) * static_cast<std::uint32_t>(factors[1]),
            static_cast<std::uint32_t>(grid[2]) * static_cast<std::uint32_t>(factors[2])};
  }
};

GridScale make_scale(const Dialect& dialect, const Geometry& geometry);

/// Each dimension by itself: neither it nor its scaled value may be negative or past 2^31 - 1.
GridCheck check_grid(const std::array<std::int32_t, 3>& grid, const GridScale& scale);

}  // namespace relaunch
