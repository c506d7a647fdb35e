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

/// What kernel_metadata says.
struct Geometry {
  std::int32_t num_warps = 4;
  std::int32_t num_ctas = 1;
  std::int32_t shared = 0;  // bytes
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

/// Whether num_ctas makes clusters of (num_ctas, 1, 1).
inline bool has_cta_clusters(const Dialect& dialect, std::int32_t num_ctas) {
  return dialect.clusters == ClusterRule::unless_one ? num_ctas != 1 : num_ctas > 1;
}

/// In the dialect's order.
AttributeList make_attributes(const Dialect& dialect, const LaunchOptions& options,
                              std::int32_t num_ctas);

/// Whether the function is told, before each launch, to allow non-portable cluster sizes.
inline bool asks_non_portable(const Dialect& dialect, const LaunchOptions& options,
                              std::int32_t num_ctas) {
  return options.non_portable_cluster ||
         (dialect.non_portable_num_ctas != 0 && num_ctas == dialect.non_portable_num_ctas);
}

/// Each dimension by itself; the x dimension times num_ctas must fit 31 bits too.
inline GridCheck check_grid(const std::array<std::int32_t, 3>& grid, std::int32_t scale) {
  if (grid[0] < 0 || std::int64_t{grid[0]} * scale > INT32_MAX) return GridCheck::x_out_of_range;
  if (grid[1] < 0) return GridCheck::y_out_of_range;
  if (grid[2] < 0) return GridCheck::z_out_of_range;
  const bool empty = grid[0] == 0 || grid[1] == 0 || grid[2] == 0;
  return empty ? GridCheck::skip : GridCheck::launch;
}

}  // namespace relaunch
