#pragma once
// A signature against a compiled kernel: the plan that the dialect makes of it, compared.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "precompiled/binary/compare.hpp"
#include "precompiled/core/dialect.hpp"
#include "precompiled/core/tree.hpp"

namespace relaunch::binary {

struct VerifyOptions {
  /// For each descriptor whether the kernel takes it by value. Where it is not given, every way
  /// that the dialect has is tried, and one that fits will do.
  std::optional<std::vector<bool>> descriptors;
  /// Indices of entries that are folded into the kernel, constexpr entries counted.
  std::vector<std::size_t> constants;
};

struct Verification {
  std::string call;  // `name(types)`
  Comparison comparison;
  std::vector<bool> descriptors;  // by value or not, as compared
  bool right_backend = true;      // the dialect launches such binaries

  bool fits() const { return right_backend && comparison.fits(); }
};

Backend backend_of(Format format);

/// Constexpr entries give no parameter in any dialect, also where its signatures have none; entries
/// with a known value give none where the dialect folds constants. Throws BindError for what the
/// dialect cannot launch.
Verification verify(const Tree& tree, const Dialect& dialect, const KernelParameters& kernel,
                    const VerifyOptions& options);

/// What does not fit, in one line: describe_difference, or that the backend is another.
std::string describe(const Verification& verification, const Dialect& dialect,
                     const KernelParameters& kernel);

}  // namespace relaunch::binary
