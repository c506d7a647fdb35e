#pragma once
// What the CUDA driver is asked for to make a tensor map, and how that follows from a descriptor
// and its metadata.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace relaunch {

/// A tensor map has 1 to 5 dimensions.
inline constexpr std::size_t kMostMapDimensions = 5;

/// The arguments of cuTensorMapEncodeTiled, the innermost dimension first. Entries at `rank` and
/// behind it are zero.
struct TensorMapFields {
  std::uint32_t data_type = 0;  // CUtensorMapDataType
  std::uint32_t rank = 0;
  std::uint64_t address = 0;
  std::array<std::uint64_t, kMostMapDimensions> dims{};     // elements
  std::array<std::uint64_t, kMostMapDimensions> strides{};  // bytes; rank - 1 are read
  std::array<std::uint32_t, kMostMapDimensions> box{};      // elements
  std::array<std::uint32_t, kMostMapDimensions> element_strides{};
  std::uint32_t interleave = 0;
  std::uint32_t swizzle = 0;
  std::uint32_t l2_promotion = 0;
  std::uint32_t oob_fill = 0;
};

/// What tensordesc_meta says of a descriptor that the launcher is to encode.
struct TensorMapMeta {
  std::uint32_t swizzle = 0;         // CUtensorMapSwizzle
  std::uint32_t element_bytes = 0;   // of one element
  std::uint32_t data_type = 0;       // CUtensorMapDataType
  std::vector<std::uint32_t> block;  // elements, outermost first; 1 to 5 entries
  bool fp4_padded = false;           // two elements lie where the last size counts one
};

/// The driver's number of a metadata elem_type (which numbers types as PTX's tensormap.replace
/// does); empty where there is none. Source: tests/golden/descriptors-*.jsonl.
std::optional<std::uint32_t> driver_data_type(std::uint32_t elem_type);

/// A host descriptor as one call gives it. Both lists have as many entries as the block.
struct TensorView {
  std::uint64_t address = 0;
  std::span<const std::int64_t> shape;    // elements, outermost first, not yet padded
  std::span<const std::int64_t> strides;  // elements, outermost first; the last is 1
  bool nan_padding = false;               // out of bounds reads as NaN, else as zero
  bool round_to_tf32 = false;             // fp32 only
};

TensorMapFields describe_tensor_map(const TensorMapMeta& meta, const TensorView& view);

}  // namespace relaunch
