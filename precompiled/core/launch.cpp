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
  require(dialect, options.pdl, dialect.has_pdl, "pdl");
  require(dialect, options.preferred_cluster.has_value(),
          sets(dialect, AttributeKind::preferred_cluster), "preferred_cluster");
  require(dialect, options.scheduling.has_value(), sets(dialect, AttributeKind::cluster_scheduling),
          "scheduling");
  require(dialect, options.non_portable_cluster, dialect.non_portable_num_ctas != 0,
          "non_portable_cluster");
  check_dims(options.cluster, "cluster");
  check_dims(options.preferred_cluster, "preferred_cluster");
  if (options.cluster && geometry.num_ctas != 1) {
    throw BindError("cluster=" + text(*options.cluster) + " and num_ctas=" +
                    std::to_string(geometry.num_ctas) + ": only one of them can be given");
  }
  if (options.preferred_cluster && !options.cluster && geometry.num_ctas == 1) {
    throw BindError("preferred_cluster needs a cluster: give cluster=(x, y, z) or num_ctas");
  }
}

AttributeList make_attributes(const Dialect& dialect, const LaunchOptions& options,
                              std::int32_t num_ctas) {
  const bool cta_clusters = has_cta_clusters(dialect, num_ctas);
  const bool clusters = cta_clusters || options.cluster;
  const Dims cluster = cta_clusters ? Dims{static_cast<std::uint32_t>(num_ctas), 1, 1}
                                    : options.cluster.value_or(Dims{});
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
    }
  }
  return list;
}

}  // namespace relaunch
