#pragma once
// Third stage for Python literals and JSON: a literal to the entries of a signature.

#include <cstdint>
#include <optional>
#include <vector>

#include "migrate/diagnostic.hpp"
#include "migrate/literal.hpp"
#include "precompiled/core/tree.hpp"

namespace relaunch::migrate {

/// Entries, and for each the integer key it stood under, if any (`{0: "*fp32", 2: "i32"}`).
struct Entries {
  std::vector<PyKernelArg> parameters;
  std::vector<std::optional<std::uint64_t>> indices;  // as many, or none at all
};

/// The signature that a literal is: a dict by name or index, a sequence, or a string of comma text.
/// `("*fp32", 16)` is a type with its hint, as some kernels' specifications write it. Spans: that
/// of a type is its contents between the quotes. Throws Failure where it is none at all.
Entries read_signature(const Literal& literal, Diagnostics& diagnostics);

}  // namespace relaunch::migrate
