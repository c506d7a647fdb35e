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

}  // namespace
}  // namespace relaunch
