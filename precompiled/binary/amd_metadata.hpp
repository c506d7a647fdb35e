#pragma once
// What AMDGPU metadata says of a kernel, in a code object's note or in assembly: the keys of one
// entry of `amdhsa.kernels` that are about its arguments.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "precompiled/binary/error.hpp"
#include "precompiled/binary/kernel_parameters.hpp"

namespace relaunch::binary {

inline constexpr std::string_view kKernelsKey = "amdhsa.kernels";
inline constexpr std::string_view kArgumentsKey = ".args";

/// Which field a key names; keys of no interest are `other`.
enum class AmdField : std::uint8_t { name, kernarg_size, offset, size, value_kind, other };

AmdField kernel_field(std::string_view key);
AmdField argument_field(std::string_view key);
/// Whether its value is an integer from 0; the others are texts.
bool is_number(AmdField field);

struct AmdArgument {
  Where where;  // of the entry
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> size;
  std::string name;
  std::string value_kind;

  void set(AmdField field, std::uint64_t value);
  void set(AmdField field, std::string_view value);
  /// Throws BinaryError: an offset, size or kind is missing. Arguments of a kind `hidden_...` are
  /// the runtime's own.
  KernelParameter finish(std::size_t index);
};

struct AmdKernel {
  Where where;
  std::string name;
  std::optional<std::uint64_t> kernarg_bytes;
  bool has_arguments = false;
  std::vector<KernelParameter> arguments;

  void set(AmdField field, std::uint64_t value);
  void set(AmdField field, std::string_view value);
  /// Throws BinaryError (contradictory) where there was one before.
  void begin_arguments(Where at);
};

/// Throws BinaryError: the name or the size is missing, or the arguments contradict each other.
KernelParameters make_kernel(AmdKernel kernel, Format format);

}  // namespace relaunch::binary
