#pragma once
// The C source of a generated launcher, Triton 3.0 to 3.6, CUDA and HIP, read back.
//
// `PyArg_ParseTuple(args, "iiiKKppOOOOOOOi(OO)", &gridX, ..., &_arg0, ...)` says what Python
// passes: letters behind those of the grid, stream, function, metadata and hooks are arguments,
// parentheses tuples. The list `params[] = {&arg0, ...}` says which of them the kernel receives;
// the others are constexpr. `pack_fp16(_arg3)` and the like tell the floats of 3.4 and later
// apart, and what is done with an object tells a descriptor from a pointer.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "migrate/diagnostic.hpp"
#include "precompiled/core/tree.hpp"

namespace relaunch::migrate {

/// Whether a text names the function that a launcher parses its arguments with.
bool names_c_launcher(std::string_view text);

/// Where the next launcher stands at or behind `at`: from the function with its list of parameters
/// to the end of the one that parses the arguments.
std::optional<Span> find_c_launcher(std::string_view text, std::size_t at);

/// The tree of the first launcher in a text. The C does not say what a pointer points to (`*void`),
/// nor tell `i1` from an integer of its size: a warning says so once. Spans: that of a type is its
/// letter, of a tuple its parentheses. Throws Failure where the text is no launcher.
std::vector<PyKernelArg> read_c_launcher(std::string_view text, Diagnostics& diagnostics);

}  // namespace relaunch::migrate
