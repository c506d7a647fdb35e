#pragma once
// What the steps of a plan can do.

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "precompiled/core/types.hpp"

namespace relaunch {

enum class Op : std::uint8_t {
#define RELAUNCH_CONVERSION(op, type, bytes, converter) op,
#include "precompiled/core/conversions.def"
#undef RELAUNCH_CONVERSION
  pointer,      // an address
  nv_tma_desc,  // a tensor map object: its 128 bytes
  map_address,  // an object whose tma_desc_cpu_ptr() says where 128 bytes are
  tdm_desc,     // a TDM descriptor object: its bytes
  open,         // the value is a sequence of `extra` items
  item,         // value `target` is item `extra` of the sequence
  hidden,       // hidden parameter `extra` of the section, given by the launcher's options
  null,         // eight zero bytes
  check_half,   // fail if the fp16 at `target` overflowed
  end,          // behind the last step: steps of one kind are run until another comes
};

/// Step fields by op (a "value" is a Python object: the arguments first, then items of tuples):
///   scalars, pointer, descriptors, check_half: source = value, target = slot offset, extra = leaf
///   open: source = value, target = the next leaf, extra = item count
///   item: source = sequence, target = value, extra = index
///   hidden: target = slot offset, extra = index in the section      null: target = slot offset
struct Step {
  Op op;
  std::uint32_t source;
  std::uint32_t target;
  std::uint32_t extra;
};
static_assert(sizeof(Step) == 16);

/// A scalar's conversion: its Op has the same number.
struct Conversion {
  Type type;
  std::uint32_t bytes;  // of the host slot
};

inline constexpr Conversion kConversions[] = {
#define RELAUNCH_CONVERSION(op, type, bytes, converter) {Type::type, bytes},
#include "precompiled/core/conversions.def"
#undef RELAUNCH_CONVERSION
};
static_assert(std::size(kConversions) == static_cast<std::size_t>(Op::pointer));

constexpr bool is_scalar(Op op) { return op < Op::pointer; }

constexpr const Conversion& conversion(Op op) { return kConversions[static_cast<std::size_t>(op)]; }

}  // namespace relaunch
