#pragma once
// Tensor maps, from their fields to the driver's 128 bytes.

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "precompiled/core/tensor_map.hpp"
#include "precompiled/driver/driver.hpp"

namespace relaunch {

static_assert(sizeof(CUtensorMap) == kTensorMapBytes);

/// Calls `encode`, a cuTensorMapEncodeTiled. `map` must be aligned to kTensorMapAlignment.
inline CUresult encode_tiled(decltype(&::cuTensorMapEncodeTiled) encode,
                             const TensorMapFields& fields, std::byte* map) noexcept {
  return encode(reinterpret_cast<CUtensorMap*>(map),
                static_cast<CUtensorMapDataType>(fields.data_type), fields.rank,
                reinterpret_cast<void*>(fields.address), fields.dims.data(), fields.strides.data(),
                fields.box.data(), fields.element_strides.data(),
                static_cast<CUtensorMapInterleave>(fields.interleave),
                static_cast<CUtensorMapSwizzle>(fields.swizzle),
                static_cast<CUtensorMapL2promotion>(fields.l2_promotion),
                static_cast<CUtensorMapFloatOOBfill>(fields.oob_fill));
}

}  // namespace relaunch
