#pragma once
// What the variadic launchers of Triton 3.7 and later are built with: a list of PyKernelArg and
// the flat list of the types of its kernel parameters.
//
//   arg_annotations = [PyKernelArg(nested_tuple=None, type=ARG_KERNEL), ...]
//   flat_signature = ["*fp32", ...]

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "migrate/diagnostic.hpp"
#include "precompiled/core/tree.hpp"

namespace relaunch::migrate {

/// Whether a text has PyKernelArg, neither in a string nor as the name of a parameter, or begins
/// with `arg_annotations =`.
bool names_annotations(std::string_view text);

/// Where the next `arg_annotations = [` stands at or behind `at`, with the list of types behind it.
std::optional<Span> find_annotations(std::string_view text, std::size_t at, std::size_t longest,
                                     std::size_t& futile);

/// The tree that the first list of a text annotates, its types from the next list. Spans: that of a
/// type is its contents between the quotes, of others the call. Throws Failure.
std::vector<PyKernelArg> read_annotations(std::string_view text, Diagnostics& diagnostics);

}  // namespace relaunch::migrate
