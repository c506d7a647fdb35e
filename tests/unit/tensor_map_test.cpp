// Tensor maps: what the driver is asked for, and that it is asked.

#include "precompiled/core/tensor_map.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "differential/recorder/control.h"
#include "precompiled/driver/driver.hpp"

namespace relaunch {
namespace {

using Dims = std::array<std::uint64_t, kMostMapDimensions>;
using Sizes = std::array<std::uint32_t, kMostMapDimensions>;

TEST(TensorMap, DimensionsAreTurnedRound) {
  const TensorMapMeta meta{
      .swizzle = 3, .element_bytes = 4, .data_type = 7, .block = {1, 2, 3, 4, 5}};
  const std::int64_t shape[] = {10, 20, 30, 40, 50};
  const std::int64_t strides[] = {1000, 100, 10, 2, 1};
  const TensorMapFields fields =
      describe_tensor_map(meta, {.address = 0x7f00, .shape = shape, .strides = strides});
  EXPECT_EQ(fields.rank, 5U);
  EXPECT_EQ(fields.data_type, 7U);
  EXPECT_EQ(fields.address, 0x7f00U);
  EXPECT_EQ(fields.dims, (Dims{50, 40, 30, 20, 10}));
  EXPECT_EQ(fields.strides, (Dims{8, 40, 400, 4000, 0}));
  EXPECT_EQ(fields.box, (Sizes{5, 4, 3, 2, 1}));
  EXPECT_EQ(fields.element_strides, (Sizes{1, 1, 1, 1, 1}));
  EXPECT_EQ(fields.interleave, 0U);
  EXPECT_EQ(fields.swizzle, 3U);
  EXPECT_EQ(fields.l2_promotion, 2U);
  EXPECT_EQ(fields.oob_fill, 0U);
}

TEST(TensorMap, OneDimensionHasNoStride) {
  const TensorMapMeta meta{.element_bytes = 4, .data_type = 7, .block = {16}};
  const std::int64_t shape[] = {10};
  const std::int64_t strides[] = {1};
  const TensorMapFields fields = describe_tensor_map(meta, {.shape = shape, .strides = strides});
  EXPECT_EQ(fields.dims, (Dims{10}));
  EXPECT_EQ(fields.strides, Dims{});
  EXPECT_EQ(fields.element_strides, (Sizes{1}));
}

TEST(TensorMap, PaddingAndRounding) {
  TensorMapMeta meta{.element_bytes = 1, .data_type = 7, .block = {4, 4}, .fp4_padded = true};
  const std::int64_t shape[] = {10, 20};
  const std::int64_t strides[] = {32, 1};
  TensorView view{.shape = shape, .strides = strides, .nan_padding = true, .round_to_tf32 = true};
  EXPECT_EQ(describe_tensor_map(meta, view).dims, (Dims{40, 10}));
  EXPECT_EQ(describe_tensor_map(meta, view).strides, (Dims{32}));
  EXPECT_EQ(describe_tensor_map(meta, view).oob_fill, 1U);
  EXPECT_EQ(describe_tensor_map(meta, view).data_type, 11U);
  meta.data_type = 6;
  EXPECT_EQ(describe_tensor_map(meta, view).data_type, 6U);
}

TEST(TensorMap, TypesOfTheDriver) {
  for (const std::uint32_t same : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 11U, 12U, 13U, 14U, 15U}) {
    EXPECT_EQ(driver_data_type(same), same);
  }
  EXPECT_EQ(driver_data_type(8), 10U);
  EXPECT_EQ(driver_data_type(9), 8U);
  EXPECT_EQ(driver_data_type(10), 9U);
  EXPECT_EQ(driver_data_type(16), std::nullopt);
}

TEST(TensorMap, TheDriverIsAsked) {
  const std::optional<std::string> path = RELAUNCH_RECORDER_DIR "/libcuda.so.1";
  const Driver& driver = Driver::open(*find_dialect("triton-3.6-cuda"), path);
  TensorMapFields fields;
  fields.data_type = 7;
  fields.rank = 1;
  fields.dims[0] = 64;
  fields.box[0] = 32;
  fields.element_strides[0] = 1;
  alignas(kTensorMapAlignment) std::byte map[kTensorMapBytes]{};
  const Status status = driver.encode_tensor_map(fields, map);
  EXPECT_TRUE(status);
  EXPECT_TRUE(
      std::all_of(map, map + sizeof(map), [](std::byte b) { return b == std::byte{0xda}; }));
}

TEST(TensorMap, HipHasNone) {
  const std::optional<std::string> path = RELAUNCH_RECORDER_DIR "/libamdhip64.so";
  const Driver& driver = Driver::open(*find_dialect("triton-3.6-hip"), path);
  std::byte map[kTensorMapBytes]{};
  EXPECT_FALSE(driver.encode_tensor_map({}, map));
}

}  // namespace
}  // namespace relaunch
