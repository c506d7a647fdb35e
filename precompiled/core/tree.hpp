#pragma once
// The parsed form of a signature. Node names and kind values are those of Triton 3.7 and later,
// so that trees can be exchanged with its launchers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace relaunch {

enum class ArgKind : std::uint8_t {
  ARG_CONSTEXPR = 0,  // takes an argument, gives the kernel nothing
  ARG_KERNEL = 1,     // one argument, one parameter (a descriptor expands to several)
  ARG_TUPLE = 2,      // one sequence argument; its items follow in nested_tuple
};

/// Byte offsets into the text a node was read from; `end` is one past the last byte.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct PyKernelArg {
  ArgKind type = ArgKind::ARG_KERNEL;
  std::string dtype;                      // canonical type, ARG_KERNEL only
  std::vector<PyKernelArg> nested_tuple;  // ARG_TUPLE only
  std::string name;                       // empty where the source gives none
  std::string value;                      // JSON text of a known constant, else empty
  std::string hint;                       // as written after ':' (divisibility), else empty
  Span span;
};

/// A whole signature: `text` is what it was read from, `parameters` its entries in order.
struct Tree {
  std::string text;
  std::vector<PyKernelArg> parameters;
};

/// Deepest nesting of tuples that is read, and that every walk over a tree may rely on.
inline constexpr std::size_t kMaxTupleDepth = 256;

/// One canonical line: `x: *fp32:16, n: i32, constexpr=128, (i32, *fp16)`. A tuple of one entry
/// ends in a comma as in Python, `(i32,)`; a tree of no entries is `{}`. Reading the line again
/// gives the same tree.
std::string dump(const Tree& tree);
std::string dump(const PyKernelArg& node);

}  // namespace relaunch
