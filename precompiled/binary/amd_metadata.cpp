#include "precompiled/binary/amd_metadata.hpp"

#include <limits>
#include <utility>

namespace relaunch::binary {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
constexpr std::string_view kHiddenPrefix = "hidden_";

std::uint32_t checked(const std::optional<std::uint64_t>& value, const std::string& what,
                      Where where) {
  if (!value) throw BinaryError(Fault::malformed, where, what, "none");
  if (*value > kMost) {
    throw BinaryError(Fault::malformed, where, what + " below 2**32", std::to_string(*value));
  }
  return static_cast<std::uint32_t>(*value);
}

}  // namespace

AmdField kernel_field(std::string_view key) {
  if (key == ".name") return AmdField::name;
  if (key == ".kernarg_segment_size") return AmdField::kernarg_size;
  return AmdField::other;
}

AmdField argument_field(std::string_view key) {
  if (key == ".name") return AmdField::name;
  if (key == ".offset") return AmdField::offset;
  if (key == ".size") return AmdField::size;
  if (key == ".value_kind") return AmdField::value_kind;
  return AmdField::other;
}

bool is_number(AmdField field) {
  return field == AmdField::kernarg_size || field == AmdField::offset || field == AmdField::size;
}

void AmdArgument::set(AmdField field, std::uint64_t value) {
  if (field == AmdField::offset) offset = value;
  if (field == AmdField::size) size = value;
}

void AmdArgument::set(AmdField field, std::string_view value) {
  if (field == AmdField::name) name = value;
  if (field == AmdField::value_kind) value_kind = value;
}

KernelParameter AmdArgument::finish(std::size_t index) {
  const std::string of = "' of argument " + std::to_string(index);
  KernelParameter parameter;
  parameter.offset = checked(offset, "'.offset" + of, where);
  parameter.size = checked(size, "'.size" + of, where);
  if (value_kind.empty()) {
    throw BinaryError(Fault::malformed, where, "'.value_kind" + of, "none");
  }
  parameter.hidden = value_kind.starts_with(kHiddenPrefix);
  parameter.name = std::move(name);
  parameter.kind = std::move(value_kind);
  return parameter;
}

void AmdKernel::set(AmdField field, std::uint64_t value) {
  if (field == AmdField::kernarg_size) kernarg_bytes = value;
}

void AmdKernel::set(AmdField field, std::string_view value) {
  if (field == AmdField::name) name = value;
}

void AmdKernel::begin_arguments(Where at) {
  if (has_arguments) {
    throw BinaryError(Fault::contradictory, at, "one '.args' of a kernel", "a second one", name);
  }
  has_arguments = true;
}

KernelParameters make_kernel(AmdKernel found, Format format) {
  if (found.name.empty()) {
    throw BinaryError(Fault::malformed, found.where, "a kernel's '.name'", "none");
  }
  KernelParameters kernel;
  kernel.kernel = std::move(found.name);
  kernel.format = format;
  kernel.parameters = std::move(found.arguments);
  const std::uint64_t bytes = found.kernarg_bytes.value_or(0);
  if (!found.kernarg_bytes || bytes > kMost) {
    throw BinaryError(Fault::malformed, found.where, "'.kernarg_segment_size' below 2**32",
                      found.kernarg_bytes ? std::to_string(bytes) : "none", kernel.kernel);
  }
  kernel.bytes = static_cast<std::uint32_t>(bytes);
  check_table(kernel, found.where.offset);
  return kernel;
}

}  // namespace relaunch::binary
