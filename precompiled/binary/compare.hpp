#pragma once
// A plan's kernel side against a kernel's own parameter table: sizes and offsets must agree.

#include <cstdint>
#include <string>
#include <vector>

#include "precompiled/binary/kernel_parameters.hpp"
#include "precompiled/core/plan.hpp"

namespace relaunch::binary {

/// A parameter as the signature says it, laid out from the kernel's base on.
struct PlannedParameter {
  std::string name;  // of the signature, or the hidden parameter's own
  std::string type;  // canonical
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  bool hidden = false;  // added by the dialect, no entry of the signature
};

struct Comparison {
  std::vector<PlannedParameter> planned;
  std::uint32_t planned_bytes = 0;     // where the last one ends
  std::vector<KernelParameter> found;  // the kernel's, without those that the runtime fills
  std::uint32_t found_bytes = 0;       // where the last of those ends
  std::size_t difference = kNone;      // index of the first parameter that differs; kNone: it fits
  static constexpr std::size_t kNone = ~std::size_t{0};

  bool fits() const { return difference == kNone; }
};

/// A tensor map may be aligned to 64 bytes, as Triton has it, or to 128, as cuda.h has it now.
Comparison compare(const Plan& plan, const KernelParameters& kernel);

/// The same where nothing says where the kernel's block begins: one begin that fits will do, of
/// those that are 16 bytes apart.
Comparison compare_anywhere(const Plan& plan, KernelParameters kernel);

/// The first difference in one sentence, without a full stop; empty where it fits:
/// `parameter 3 'n' (i64) has 8 bytes at offset 24 by the signature, 4 bytes at 24 in the kernel`.
std::string describe_difference(const Comparison& comparison);

/// Both layouts side by side, a line for each parameter, `>` before the first that differs.
std::string describe_layouts(const Comparison& comparison);

}  // namespace relaunch::binary
