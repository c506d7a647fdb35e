#pragma once
// tensordesc_meta, read once when a launcher is built.

#include <Python.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "precompiled/core/plan.hpp"
#include "precompiled/core/tensor_map.hpp"

namespace relaunch {

/// Whether a descriptor object can be made into the whole descriptor that the kernel takes.
enum class Encoding : std::uint8_t {
  ready,
  lacks_key,  // the metadata says too little
  im2col,     // another call of the driver, which is not made here
  foreign,    // HIP: only Triton's own code knows how
};

struct DescriptorMeta {
  bool given = false;  // an entry that is not None
  Encoding encoding = Encoding::lacks_key;
  std::string lacks;     // the key, `lacks_key` only
  TensorMapMeta fields;  // `ready` only
};

/// The entries of tensordesc_meta; none for None. Throws PythonError with TypeError set, or
/// BindError. An entry may say too little to encode by: values can still be passed.
std::vector<DescriptorMeta> read_metas(PyObject* value, const Dialect& dialect);

/// For each whether it is given.
std::vector<bool> given_metas(const std::vector<DescriptorMeta>& metas);

/// Throws BindError where a block has another number of sizes than the descriptor.
void check_metas(const std::vector<DescriptorMeta>& metas, const Plan& plan);

}  // namespace relaunch
