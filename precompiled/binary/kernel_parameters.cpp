#include "precompiled/binary/kernel_parameters.hpp"

#include "precompiled/binary/error.hpp"

namespace relaunch::binary {

std::string_view format_name(Format format) {
  switch (format) {
    case Format::cubin: return "cubin";
    case Format::ptx: return "ptx";
    case Format::code_object: return "hsaco";
    case Format::amd_assembly: return "amdgcn";
  }
  return "";
}

void check_table(const KernelParameters& kernel, std::uint64_t offset) {
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const KernelParameter& parameter = kernel.parameters[i];
    const std::string which = "parameter " + std::to_string(i);
    if (parameter.size == 0) {
      throw BinaryError(Fault::contradictory, {offset, 0}, which + " of at least one byte",
                        "a size of 0", kernel.kernel);
    }
    if (parameter.offset < end) {
      throw BinaryError(Fault::contradictory, {offset, 0},
                        which + " behind the one before it, which ends at " + std::to_string(end),
                        "offset " + std::to_string(parameter.offset), kernel.kernel);
    }
    end = std::uint64_t{parameter.offset} + parameter.size;
  }
  if (end > kernel.bytes) {
    throw BinaryError(Fault::contradictory, {offset, 0},
                      "parameters within a block of " + std::to_string(kernel.bytes) + " bytes",
                      "one that ends at " + std::to_string(end), kernel.kernel);
  }
}

}  // namespace relaunch::binary
