#include "precompiled/core/descriptor.hpp"

#include <algorithm>

namespace relaunch {

bool is_descriptor(const PyKernelArg& node) {
  return node.type == ArgKind::ARG_KERNEL && find_type(node.dtype) == Type::tensordesc;
}

bool has_descriptors(const PyKernelArg& node) {
  return is_descriptor(node) ||
         std::any_of(node.nested_tuple.begin(), node.nested_tuple.end(), has_descriptors);
}

std::vector<std::string> expand_descriptor(const DescriptorRules& rules,
                                           const DescriptorType& descriptor, bool by_value) {
  std::vector<std::string> types;
  const auto repeat = [&types](std::size_t count, const std::string& type) {
    types.insert(types.end(), count, type);
  };
  if (by_value && rules.by_value) {
    repeat(1, std::string(info(*rules.by_value).name));
  } else {
    repeat(1, "*" + descriptor.element);
    repeat(std::size_t{2} * descriptor.rank, "i64");  // shape, strides
    repeat(rules.flags.size(), "i1");
  }
  repeat(descriptor.rank, "i32");  // shape
  repeat(descriptor.rank, "i64");  // strides
  return types;
}

}  // namespace relaunch
