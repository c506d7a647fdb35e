#include "precompiled/core/tensor_map.hpp"

namespace relaunch {
namespace {

// CUtensorMapDataType, CUtensorMapL2promotion and CUtensorMapFloatOOBfill by number.
constexpr std::uint32_t kFloat32 = 7;
constexpr std::uint32_t kTfloat32 = 11;
constexpr std::uint32_t kPromote128Bytes = 2;
constexpr std::uint32_t kFillNan = 1;

// By elem_type: 32-bit floats that flush denormals, fp64 and bf16 are numbered differently.
constexpr std::array<std::uint32_t, 16> kDriverTypes = {0,  1, 2, 3,  4,  5,  6,  7,
                                                        10, 8, 9, 11, 12, 13, 14, 15};

}  // namespace

std::optional<std::uint32_t> driver_data_type(std::uint32_t elem_type) {
  if (elem_type >= kDriverTypes.size()) return std::nullopt;
  return kDriverTypes[elem_type];
}

TensorMapFields describe_tensor_map(const TensorMapMeta& meta, const TensorView& view) {
  TensorMapFields fields;
  const std::size_t rank = meta.block.size();
  const bool rounds = view.round_to_tf32 && meta.data_type == kFloat32;
  fields.data_type = rounds ? kTfloat32 : meta.data_type;
  fields.rank = static_cast<std::uint32_t>(rank);
  fields.address = view.address;
  for (std::size_t inner = 0; inner < rank; ++inner) {
    const std::size_t outer = rank - 1 - inner;
    fields.dims[inner] = static_cast<std::uint64_t>(view.shape[outer]);
    fields.box[inner] = meta.block[outer];
    fields.element_strides[inner] = 1;
    if (outer == 0) break;
    fields.strides[inner] =
        static_cast<std::uint64_t>(view.strides[outer - 1]) * meta.element_bytes;
  }
  if (meta.fp4_padded) fields.dims[0] *= 2;
  fields.swizzle = meta.swizzle;
  fields.l2_promotion = kPromote128Bytes;
  fields.oob_fill = view.nan_padding ? kFillNan : 0;
  return fields;
}

}  // namespace relaunch
