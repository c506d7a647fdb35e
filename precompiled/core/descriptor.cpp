#include "precompiled/core/descriptor.hpp"

namespace relaunch {

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
