// Attributes and grids.

#include "precompiled/core/launch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "precompiled/core/plan.hpp"

namespace relaunch {
namespace {

using Kind = AttributeKind;
using Value = std::array<std::uint32_t, 3>;

const Dialect& cuda() { return *find_dialect("triton-3.6-cuda"); }
const Dialect& hip() { return *find_dialect("triton-3.6-hip"); }

std::vector<std::pair<Kind, Value>> attributes(const Dialect& dialect, const LaunchOptions& options,
                                               std::int32_t num_ctas) {
  const AttributeList list =
      make_attributes(dialect, options, make_geometry(dialect, options, {.num_ctas = num_ctas}));
  std::vector<std::pair<Kind, Value>> out;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    out.emplace_back(list.items[i].kind, list.items[i].value);
  }
  return out;
}

std::string refusal(const Dialect& dialect, LaunchOptions options, Geometry geometry = {}) {
  if (options.warp_size == 0) options.warp_size = dialect.warp_size;
  try {
    check_options(dialect, options, geometry);
  } catch (const BindError& error) {
    return error.what();
  }
  return "accepted";
}

using Expected = std::vector<std::pair<Kind, Value>>;

TEST(Attributes, CudaOrder) {
  LaunchOptions options;
  EXPECT_EQ(attributes(cuda(), options, 1), Expected{});
  options.pdl = true;
  options.cooperative = true;
  options.preferred_cluster = Dims{8, 1, 1};
  EXPECT_EQ(attributes(cuda(), options, 4), (Expected{{Kind::programmatic_serialization, {1, 0, 0}},
                                                      {Kind::cooperative, {1, 0, 0}},
                                                      {Kind::cluster_dimension, {4, 1, 1}},
                                                      {Kind::cluster_scheduling, {1, 0, 0}},
                                                      {Kind::preferred_cluster, {8, 1, 1}}}));
}

TEST(Attributes, ThreeDimensionalClusters) {
  LaunchOptions options;
  options.cluster = Dims{2, 3, 4};
  options.scheduling = Scheduling::load_balancing;
  EXPECT_EQ(attributes(cuda(), options, 1), (Expected{{Kind::cluster_dimension, {2, 3, 4}},
                                                      {Kind::cluster_scheduling, {2, 0, 0}}}));
  // num_ctas of a launch's own metadata wins.
  EXPECT_EQ(attributes(cuda(), options, 2)[0].second, (Value{2, 1, 1}));
}

TEST(Attributes, OddNumbersOfCtas) {
  EXPECT_EQ(attributes(cuda(), {}, 0)[0].second, (Value{0, 1, 1}));
  EXPECT_EQ(attributes(cuda(), {}, -1)[0].second, (Value{0xFFFFFFFF, 1, 1}));
  EXPECT_EQ(attributes(hip(), {}, 0), Expected{});
  EXPECT_EQ(attributes(hip(), {}, -1), Expected{});
}

TEST(Attributes, HipClusters) {
  LaunchOptions options;
  options.cooperative = true;
  EXPECT_EQ(attributes(hip(), options, 1), Expected{});
  EXPECT_EQ(attributes(hip(), options, 2),
            (Expected{{Kind::cluster_dimension, {2, 1, 1}}, {Kind::cooperative_flag, {1, 0, 0}}}));
  EXPECT_EQ(attributes(hip(), {}, 2)[1].second, (Value{0, 0, 0}));
}

TEST(Attributes, NonPortableClusters) {
  EXPECT_TRUE(asks_non_portable(cuda(), {}, 16));
  EXPECT_FALSE(asks_non_portable(cuda(), {}, 8));
  EXPECT_FALSE(asks_non_portable(hip(), {}, 16));
  LaunchOptions options;
  options.non_portable_cluster = true;
  EXPECT_TRUE(asks_non_portable(cuda(), options, 1));
}

GridScale times(std::int32_t factor) {
  return make_scale(cuda(), make_geometry(cuda(), {}, {.num_ctas = factor}));
}

TEST(Grid, EachDimensionByItself) {
  EXPECT_EQ(check_grid({1, 1, 1}, times(1)), GridCheck::launch);
  EXPECT_EQ(check_grid({1 << 26, 64, 1}, times(1)), GridCheck::launch);  // the product is 2^32
  EXPECT_EQ(check_grid({INT32_MAX, INT32_MAX, INT32_MAX}, times(1)), GridCheck::launch);
  EXPECT_EQ(check_grid({0, 1, 1}, times(1)), GridCheck::skip);
  EXPECT_EQ(check_grid({4, 4, 0}, times(16)), GridCheck::skip);
  EXPECT_EQ(check_grid({-1, -1, 1}, times(1)), GridCheck::x_out_of_range);
  EXPECT_EQ(check_grid({1, INT32_MIN, 0}, times(1)), GridCheck::y_out_of_range);
  EXPECT_EQ(check_grid({0, 0, -1}, times(1)), GridCheck::z_out_of_range);
}

TEST(Grid, ClustersScaleX) {
  EXPECT_EQ(check_grid({1 << 30, 1, 1}, times(1)), GridCheck::launch);
  EXPECT_EQ(check_grid({1 << 30, 1, 1}, times(2)), GridCheck::x_out_of_range);
  EXPECT_EQ(check_grid({(1 << 30) - 1, 1, 1}, times(2)), GridCheck::launch);
  EXPECT_EQ(check_grid({INT32_MAX, 1, 1}, times(-1)), GridCheck::x_out_of_range);
  EXPECT_EQ(check_grid({INT32_MAX, 1, 1}, times(0)), GridCheck::launch);
}

TEST(Options, Refusals) {
  LaunchOptions pdl;
  pdl.pdl = true;
  EXPECT_EQ(refusal(cuda(), pdl), "accepted");
  EXPECT_EQ(refusal(hip(), pdl), "triton-3.6-hip has no pdl");
  LaunchOptions preferred;
  preferred.preferred_cluster = Dims{2, 1, 1};
  EXPECT_EQ(refusal(cuda(), preferred),
            "preferred_cluster needs a cluster: give cluster=(x, y, z) or num_ctas");
  EXPECT_EQ(refusal(cuda(), preferred, {4, 2, 0}), "accepted");
  EXPECT_EQ(refusal(hip(), preferred), "triton-3.6-hip has no preferred_cluster");
  LaunchOptions cluster;
  cluster.cluster = Dims{2, 2, 1};
  EXPECT_EQ(refusal(cuda(), cluster, {4, 2, 0}),
            "cluster=(2, 2, 1) and num_ctas=2: only one of them can be given");
  cluster.cluster = Dims{2, 0, 1};
  EXPECT_EQ(refusal(hip(), cluster), "cluster=(2, 0, 1): every dimension must be positive");
  LaunchOptions scheduling;
  scheduling.scheduling = Scheduling::spread;
  EXPECT_EQ(refusal(hip(), scheduling), "triton-3.6-hip has no scheduling");
  LaunchOptions portable;
  portable.non_portable_cluster = true;
  EXPECT_EQ(refusal(hip(), portable), "triton-3.6-hip has no non_portable_cluster");
  LaunchOptions lanes;
  lanes.warp_size = 64;
  EXPECT_EQ(refusal(cuda(), lanes), "triton-3.6-cuda has warps of 32 lanes, got warp_size=64");
  EXPECT_EQ(refusal(hip(), lanes), "accepted");
  EXPECT_EQ(refusal(cuda(), {}, {0, 1, 0}), "num_warps must be positive, got 0");
  EXPECT_EQ(refusal(cuda(), {}, {1, -2, 0}), "num_ctas must be positive, got -2");
  EXPECT_EQ(refusal(cuda(), {}, {1, 1, -1}), "shared must not be negative, got -1");
}

const Dialect& of(const char* name) { return *find_dialect(name); }

std::vector<Kind> kinds(const char* name, const LaunchOptions& options, const Geometry& geometry) {
  const AttributeList list = make_attributes(of(name), options, geometry);
  std::vector<Kind> out;
  for (std::uint32_t i = 0; i < list.count; ++i) out.push_back(list.items[i].kind);
  return out;
}

TEST(Attributes, OrderOfEachRelease) {
  LaunchOptions cooperative;
  cooperative.cooperative = true;
  const Geometry clusters = {.num_ctas = 2, .cluster = {2, 1, 1}};
  EXPECT_EQ(kinds("triton-3.0-cuda", {}, clusters),
            (std::vector{Kind::cluster_dimension, Kind::cluster_scheduling}));
  EXPECT_EQ(kinds("triton-3.3-cuda", cooperative, clusters),
            (std::vector{Kind::cluster_dimension, Kind::cluster_scheduling, Kind::cooperative}));
  EXPECT_EQ(kinds("triton-3.4-cuda", cooperative, clusters),
            (std::vector{Kind::cooperative, Kind::cluster_dimension, Kind::cluster_scheduling}));
  EXPECT_EQ(kinds("triton-3.5-hip", cooperative, clusters), std::vector<Kind>{});
}

TEST(Attributes, MoreSharedMemoryThanABlockUsuallyHas) {
  EXPECT_EQ(kinds("triton-3.9-cuda", {}, {.shared = 233'472}), std::vector<Kind>{});
  EXPECT_EQ(kinds("triton-3.9-cuda", {}, {.shared = 233'473}), std::vector{Kind::oversize_shared});
  EXPECT_EQ(kinds("triton-3.7-cuda", {}, {.shared = INT32_MAX}), std::vector<Kind>{});
  const AttributeList list = make_attributes(of("triton-3.9-cuda"), {}, {.shared = 233'473});
  EXPECT_EQ(list.items[0].value[0], 3U);
  LaunchOptions all;
  all.pdl = all.cooperative = true;
  all.preferred_cluster = Dims{4, 1, 1};
  EXPECT_EQ(kinds("triton-3.9-cuda", all, {.num_ctas = 2, .shared = 250'000}).size(), 6U);
}

TEST(Attributes, ClusterSizesOfMetadata) {
  const AttributeList list =
      make_attributes(of("triton-3.5-cuda"), {}, {.num_ctas = 6, .cluster = {1, 2, 3}});
  EXPECT_EQ(list.items[0].value, (Value{1, 2, 3}));
  EXPECT_EQ(kinds("triton-3.5-cuda", {}, {.num_ctas = 1, .cluster = {1, 2, 3}}),
            std::vector<Kind>{});
}

TEST(Geometry, ClusterOptionStandsForMetadata) {
  LaunchOptions options;
  options.cluster = Dims{1, 2, 1};
  const Geometry given = make_geometry(of("triton-3.4-cuda"), options, {.num_ctas = 2});
  EXPECT_EQ(given.cluster, (std::array<std::int32_t, 3>{1, 2, 1}));
  const Geometry usual = make_geometry(of("triton-3.4-cuda"), {}, {.num_ctas = 2});
  EXPECT_EQ(usual.cluster, (std::array<std::int32_t, 3>{2, 1, 1}));
  EXPECT_FALSE(same_shape(of("triton-3.4-cuda"), given, usual));
  Geometry larger = usual;
  larger.shared = 250'000;
  EXPECT_TRUE(same_shape(of("triton-3.7-cuda"), usual, larger));
  EXPECT_FALSE(same_shape(of("triton-3.9-cuda"), usual, larger));
}

TEST(Grid, OlderClustersScaleEveryDimension) {
  const Geometry geometry = {.num_ctas = 2, .cluster = {1, 2, 4}};
  const GridScale scale = make_scale(of("triton-3.4-cuda"), geometry);
  EXPECT_TRUE(scale.takes({5, 1 << 29, 1 << 28}));
  EXPECT_EQ(scale.apply({5, 6, 7}), (Dims{5, 12, 28}));
  EXPECT_FALSE(scale.takes({5, 1 << 30, 1}));
  EXPECT_EQ(check_grid({5, 1 << 30, 1}, scale), GridCheck::y_out_of_range);
  EXPECT_EQ(check_grid({5, 1, 1 << 29}, scale), GridCheck::z_out_of_range);
  const GridScale flat = make_scale(of("triton-3.4-hip"), geometry);
  EXPECT_EQ(flat.apply({5, 6, 7}), (Dims{5, 6, 7}));
  const GridScale odd = make_scale(of("triton-3.0-cuda"), {.num_ctas = 2, .cluster = {0, 1, -1}});
  EXPECT_EQ(check_grid({1, 1, 1}, odd), GridCheck::z_out_of_range);
  EXPECT_EQ(check_grid({1, 1, 0}, odd), GridCheck::skip);
}

TEST(Options, OfOlderReleases) {
  LaunchOptions cooperative;
  cooperative.cooperative = true;
  EXPECT_EQ(refusal(of("triton-3.2-cuda"), cooperative), "triton-3.2-cuda has no cooperative");
  EXPECT_EQ(refusal(of("triton-3.3-cuda"), cooperative), "accepted");
  LaunchOptions pdl;
  pdl.pdl = true;
  EXPECT_EQ(refusal(of("triton-3.3-cuda"), pdl), "triton-3.3-cuda has no pdl");
  EXPECT_EQ(refusal(of("triton-3.4-cuda"), pdl), "accepted");
  LaunchOptions cluster;
  cluster.cluster = Dims{1, 2, 1};
  EXPECT_EQ(refusal(of("triton-3.4-cuda"), cluster, {.num_ctas = 2}), "accepted");
  EXPECT_EQ(refusal(of("triton-3.4-cuda"), cluster),
            "cluster=(1, 2, 1) needs num_ctas: triton-3.4-cuda has no clusters where it is 1");
  EXPECT_EQ(refusal(of("triton-3.5-hip"), cluster, {.num_ctas = 2}),
            "triton-3.5-hip has no cluster");
}

}  // namespace
}  // namespace relaunch
