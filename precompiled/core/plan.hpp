#pragma once
// The plan: the flat steps that one launch executes, and where every parameter lies on the host
// and in the kernel. Made once from a tree, never changed afterwards, shared freely by threads.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "precompiled/core/dialect.hpp"
#include "precompiled/core/ops.hpp"
#include "precompiled/core/tree.hpp"
#include "precompiled/core/types.hpp"

namespace relaunch {

/// A signature that cannot be launched; the text names the parameter.
class BindError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// tensordesc_meta whose length is not the number of descriptors.
class MetaCountError : public BindError {
 public:
  using BindError::BindError;
};

/// One entry of the flattened signature, descriptors expanded, constexpr counted.
struct Leaf {
  std::string name;  // empty where the source gives none
  std::string type;  // canonical
};

inline constexpr std::uint32_t kNoLeaf = 0xFFFFFFFF;

/// One kernel parameter. Hidden ones come last.
struct Parameter {
  Type type;
  std::uint32_t leaf;         // index into Plan::leaves, kNoLeaf for hidden parameters
  std::uint32_t slot_offset;  // bytes into the launch's slot block
  std::uint32_t slot_size;    // bytes
  std::uint32_t size;         // bytes the kernel reads
  std::uint32_t alignment;    // bytes
  std::uint32_t offset;       // bytes into the kernel's parameter space
  std::string name;
};

/// One `tensordesc<...>` of the signature, which became several arguments.
struct PlannedDescriptor {
  std::string name;     // empty where the source gives none
  std::uint32_t rank;   // entries of shape and of strides
  std::uint32_t parts;  // arguments that it became
  bool by_value;        // the first of them is the whole descriptor
  bool is_im2col;
  bool in_tuple;
};

struct Plan {
  std::string signature;    // the types, for messages: `*fp32, i32, (i32, *fp16)`
  std::uint32_t arguments;  // Python arguments a launch takes
  std::uint32_t values;     // arguments and tuple items
  std::uint32_t items;      // tuple items
  std::uint32_t tuples;
  std::vector<PlannedDescriptor> descriptors;  // left to right, those in tuples as they come
  std::vector<Leaf> leaves;
  std::vector<Parameter> parameters;
  std::vector<std::uint32_t> slot_offsets;  // of the parameters, in order
  bool flat_order;                // nothing is converted before the enter hook: `parse` is empty
  std::vector<Step> parse;        // before the enter hook, left to right; the last is Op::end
  std::vector<Step> intake;       // after it, in the dialect's order; the last is Op::end
  std::uint32_t slot_bytes;       // the slot block, a multiple of kSlotAlignment
  std::uint32_t parameter_bytes;  // end of the kernel's parameter space
};

inline constexpr std::uint32_t kSlotAlignment = 64;

struct PlanOptions {
  bool strict = false;
  bool round_bf16 = false;
  /// For each descriptor of the signature, whether there is metadata, so that it is passed by
  /// value. An empty list passes all taken apart.
  std::vector<bool> descriptor_metas = {};
  bool global_scratch = false;   // given
  bool profile_scratch = false;  // given
  /// Indices of the tree's entries that are folded into the kernel: taken in, but no parameters.
  std::vector<std::size_t> constants = {};
};

/// Throws BindError: unknown type, an entry, a descriptor or constants that the dialect has not,
/// too many parameter bytes, nesting over kMaxTupleDepth; and MetaCountError.
Plan make_plan(const Tree& tree, const Dialect& dialect, const PlanOptions& options);

/// `name(types)`, shortened where the signature is long.
std::string call_text(std::string_view kernel, const Plan& plan);

}  // namespace relaunch
