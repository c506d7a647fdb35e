#pragma once
// What every fuzz target of binaries does: read, and where that ends with tables, use them all.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "precompiled/binary/compare.hpp"
#include "precompiled/binary/read.hpp"
#include "precompiled/core/dialect.hpp"

namespace relaunch::binary {

/// A plan that some of the tables come near to.
inline const Plan& some_plan() {
  static const Plan plan = [] {
    Tree tree;
    for (const char* type : {"*fp32", "*fp32", "*fp32", "i32"}) {
      tree.parameters.emplace_back().dtype = type;
    }
    return make_plan(tree, *find_dialect("triton-3.6-cuda"), {});
  }();
  return plan;
}

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// What the interface promises of a table, and that it can be compared and shown.
inline void use(const KernelParameters& kernel) {
  std::uint64_t end = 0;
  for (const KernelParameter& each : kernel.parameters) {
    require(each.size > 0 && each.offset >= end);
    end = std::uint64_t{each.offset} + each.size;
  }
  require(end <= kernel.bytes);
  const Comparison comparison = compare(some_plan(), kernel);
  require(comparison.fits() == describe_difference(comparison).empty());
  require(!describe_layouts(comparison).empty());
}

/// `read` gives the kernels of the bytes, or throws BinaryError: anything else is a fault.
template <typename Read>
int fuzz(const std::uint8_t* data, std::size_t size, Read read) {
  try {
    const std::vector<KernelParameters> kernels = read(std::as_bytes(std::span(data, size)));
    for (const KernelParameters& kernel : kernels) use(kernel);
  } catch (const BinaryError& error) {
    require(!fault_name(error.fault()).empty() && error.what()[0] != '\0');
  }
  return 0;
}

}  // namespace relaunch::binary
