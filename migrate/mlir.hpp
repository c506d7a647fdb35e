#pragma once
// TTIR and TTGIR: the parameters of a `tt.func`, with their attributes and locations.
//
//   function   = word [ "public" | "private" | "nested" ] "@" name "(" [ parameters ] ")"
//   word       = "tt.func" | "func.func" | "func"   (the last two before 2.1, "func" with "public")
//   parameters = parameter { "," parameter }
//   parameter  = "%" name ":" type [ "{" attributes "}" ] [ "loc" "(" ... ")" ]
//
// `!tt.ptr<f32>` is `*fp32` whatever its address space, `f16` is `fp16`, `ui8` is `u8`,
// `!tt.tensordesc<128x64xf16, #shared>` (or with `tensor<...>` inside) is `tensordesc<fp16[128,
// 64]>`: its layout says nothing about the launch. `tt.divisibility = 16` is the hint 16, and
// `tt.nv_tma_desc = 1` makes a pointer an `nvTmaDesc`, as Triton reads IR files.

#include <cstddef>
#include <string_view>
#include <vector>

#include "migrate/diagnostic.hpp"
#include "precompiled/core/tree.hpp"

namespace relaunch::migrate {

/// Whether a text begins like the parameters of a function, or like a function or module.
bool looks_like_mlir(std::string_view text);

/// Whether a text begins with a function, as far as its name.
bool begins_function(std::string_view text);

/// Where a function's header stands: from its word to one past the `)` of its parameters.
struct MlirFunction {
  Span header;
  std::string_view name;    // without '@' and quotes
  bool is_private = false;  // called by kernels, never launched
  bool is_closed = true;    // false: no ')' ends it; the header is then its first line
};

/// The first function at or behind `at`; false where there is none. Comments are passed over. Its
/// ')' is looked for in `longest` bytes; `futile` counts those that were looked through in vain.
bool find_function(std::string_view text, std::size_t at, std::size_t longest, std::size_t& futile,
                   MlirFunction& out);

/// The parameters in a text: of its one function, or, where it begins with '%', the list itself.
/// Spans: that of a type is its own text. A type that no kernel takes is reported and read past;
/// what cannot be read on is thrown as Failure.
std::vector<PyKernelArg> read_mlir(std::string_view text, Diagnostics& diagnostics);

}  // namespace relaunch::migrate
