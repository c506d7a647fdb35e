#include "precompiled/core/launch.hpp"

#include <algorithm>
#include <string>

#include "precompiled/core/plan.hpp"

namespace relaunch {
namespace {

std::string text(const Dims& dims) {
  return "(" + std::to_string(dims[0]) + ", " + std::to_string(dims[1]) + ", " +
         std::to_string(dims[2]) + ")";
}

bool sets(const Dialect& dialect, AttributeKind kind) {
  return std::find(dialect.attributes.begin(), dialect.attributes.end(), kind) !=
         dialect.attributes.end();
}

void require(const Dialect& dialect, bool asked, bool known, const char* option) {
  if (asked && !known) throw BindError(std::string(dialect.name) + " has no " + option);
}

void check_dims(const std::optional<Dims>& dims, const char* option) {
  if (dims && ((*dims)[0] == 0 || (*dims)[1] == 0 || (*dims)[2] == 0)) {
    throw BindError(std::string(option) + "=" + text(*dims) + ": every dimension must be positive");
  }
}

/// Whether num_ctas makes clusters.
bool has_cta_clusters(const Dialect& dialect, std::int32_t num_ctas) {
  switch (dialect.clusters) {
    case ClusterRule::never: return false;
    case ClusterRule::unless_one: return num_ctas != 1;
    case ClusterRule::above_one: return num_ctas > 1;
  }
  return false;
}

/// Whether kernel_metadata says the dimensions of clusters.
bool has_cluster_sizes(const Dialect& dialect) {
  return dialect.metadata == MetadataForm::warps_ctas_shared_clusters;
}

Dims unsigned_of(const std::array<std::int32_t, 3>& dims) {
  return {static_cast<std::uint32_t>(dims[0]), static_cast<std::uint32_t>(dims[1]),
          static_cast<std::uint32_t>(dims[2])};
}

/// cluster= and num_ctas belong together where metadata has both, else one of them says it all.
void check_cluster(const Dialect& dialect, const LaunchOptions& options, const Geometry& geometry) {
  if (options.cluster && has_cluster_sizes(dialect) && geometry.num_ctas == 1) {
    throw BindError("cluster=" + text(*options.cluster) + " needs num_ctas: " +
                    std::string(dialect.name) + " has no clusters where it is 1");
  }
  if (options.cluster && !has_cluster_sizes(dialect) && geometry.num_ctas != 1) {
    throw BindError("cluster=" + text(*options.cluster) + " and num_ctas=" +
                    std::to_string(geometry.num_ctas) + ": only one of them can be given");
  }
  if (options.preferred_cluster && !options.cluster && geometry.num_ctas == 1) {
    throw BindError("preferred_cluster needs a cluster: give cluster=(x, y, z) or num_ctas");
  }
}

}  // namespace

void check_options(const Dialect& dialect, const LaunchOptions& options, const Geometry& geometry) {
  const auto positive = [](std::int32_t value, const char* option) {
    if (value < 1) {
      throw BindError(std::string(option) + " must be positive, got " + std::to_string(value));
    }
  };
  positive(geometry.num_warps, "num_warps");
  positive(geometry.num_ctas, "num_ctas");
  if (geometry.shared < 0) {
    throw BindError("shared must not be negative, got " + std::to_string(geometry.shared));
  }
  if (options.warp_size == 0 ||
      (!dialect.warp_size_is_option && options.warp_size != dialect.warp_size)) {
    throw BindError(std::string(dialect.name) + " has warps of " +
                    std::to_string(dialect.warp_size) +
                    " lanes, got warp_size=" + std::to_string(options.warp_size));
  }
  require(dialect, options.cooperative, dialect.has_cooperative, "cooperative");
  require(dialect, options.pdl, dialect.has_pdl, "pdl");
  require(dialect, options.cluster.has_value(), sets(dialect, AttributeKind::cluster_dimension),
          "cluster");
  require(dialect, options.preferred_cluster.has_value(),
          sets(dialect, AttributeKind::preferred_cluster), "preferred_cluster");
  require(dialect, options.scheduling.has_value(), sets(dialect, AttributeKind::cluster_scheduling),
          "scheduling");
  require(dialect, options.non_portable_cluster, dialect.non_portable_num_ctas != 0,
          "non_portable_cluster");
  check_dims(options.cluster, "cluster");
  check_dims(options.preferred_cluster, "preferred_cluster");
  check_cluster(dialect, options, geometry);
}

Geometry make_geometry(const Dialect& dialect, const LaunchOptions& options,
                       const Geometry& geometry) {
  Geometry out = geometry;
  out.cluster = {geometry.num_ctas, 1, 1};
  if (options.cluster && has_cluster_sizes(dialect)) {
    const Dims& given = *options.cluster;
    for (std::size_t i = 0; i < 3; ++i) out.cluster[i] = static_cast<std::int32_t>(given[i]);
  }
  return out;
}

/// The shared memory mode that recorded launches of 3.9 ask for.
constexpr std::uint32_t kOversizeShared = 3;

AttributeList make_attributes(const Dialect& dialect, const LaunchOptions& options,
                              const Geometry& geometry) {
  const bool cta_clusters = has_cta_clusters(dialect, geometry.num_ctas);
  const bool option_clusters = options.cluster && !has_cluster_sizes(dialect);
  const bool clusters = cta_clusters || option_clusters;
  const Dims cluster =
      cta_clusters ? unsigned_of(geometry.cluster) : options.cluster.value_or(Dims{});
  AttributeList list{};
  const auto add = [&list](bool set, AttributeKind kind, const Dims& value) {
    if (set) list.items[list.count++] = {kind, value};
  };
  for (const AttributeKind kind : dialect.attributes) {
    switch (kind) {
      case AttributeKind::programmatic_serialization: add(options.pdl, kind, {1, 0, 0}); break;
      case AttributeKind::cooperative: add(options.cooperative, kind, {1, 0, 0}); break;
      case AttributeKind::cooperative_flag:
        add(clusters, kind, {options.cooperative ? 1U : 0U, 0, 0});
        break;
      case AttributeKind::cluster_dimension: add(clusters, kind, cluster); break;
      case AttributeKind::cluster_scheduling: {
        const Scheduling policy = options.scheduling.value_or(Scheduling::spread);
        add(clusters || options.scheduling, kind, {static_cast<std::uint32_t>(policy), 0, 0});
        break;
      }
      case AttributeKind::preferred_cluster:
        add(options.preferred_cluster.has_value(), kind,
            options.preferred_cluster.value_or(Dims{}));
        break;
      case AttributeKind::oversize_shared:
        add(geometry.shared > dialect.most_shared, kind, {kOversizeShared, 0, 0});
        break;
    }
  }
  return list;
}

GridScale make_scale(const Dialect& dialect, const Geometry& geometry) {
  GridScale scale;
  if (!has_cta_clusters(dialect, geometry.num_ctas)) return scale;
  switch (dialect.grid) {
    case GridRule::as_given: break;
    case GridRule::x_times_num_ctas: scale.factors[0] = geometry.num_ctas; break;
    case GridRule::times_cluster: scale.factors = geometry.cluster; break;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int32_t factor = scale.factors[i];
    scale.most[i] = factor > 0 ? static_cast<std::uint32_t>(INT32_MAX / factor) : 0;
  }
  return scale;
}

GridCheck check_grid(const std::array<std::int32_t, 3>& grid, const GridScale& scale) {
  bool empty = false;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t scaled = std::int64_t{grid[i]} * scale.factors[i];
    if (grid[i] < 0 || scaled < 0 || scaled > INT32_MAX) {
      return static_cast<GridCheck>(static_cast<std::size_t>(GridCheck::x_out_of_range) + i);
    }
    empty = empty || grid[i] == 0;
  }
  return empty ? GridCheck::skip : GridCheck::launch;
}

}  // namespace relaunch
