#pragma once
// Lists of the values that a kernel is called with, typed as Triton's JIT (3.3 and later) types
// them:
//
//   [torch.float16, Tensor(dtype=torch.int8), 4096, 1, 2.5, True, None, (7, 1 << 40)]
//
// A dtype, or a call with one, stands for a tensor: `*fp16`. An int is `i32`, `i64` or `u64`, the
// first that holds it, with the hint 16 where it is a multiple; the int 1 and None are constexpr;
// a float is `fp32`, a bool `u1` (`i1` up to 3.3). A dict gives the arguments names.

#include <string_view>
#include <vector>

#include "migrate/diagnostic.hpp"
#include "migrate/lexer.hpp"
#include "precompiled/core/tree.hpp"

namespace relaunch::migrate {

/// Whether a text is a list, or a tuple with a dtype of torch or triton in it, of values alone.
bool looks_like_values(std::string_view text, const std::vector<Token>& tokens);

/// The arguments that the values make. Spans: the value. Throws Failure for what is no value.
std::vector<PyKernelArg> read_values(std::string_view text, Diagnostics& diagnostics);

}  // namespace relaunch::migrate
