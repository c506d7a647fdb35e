#pragma once
// A kernel's own parameter table, whatever kind of binary it was read from.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relaunch::binary {

enum class Format : std::uint8_t { cubin, ptx, code_object, amd_assembly };

/// `cubin`, `ptx`, `hsaco`, `amdgcn`: as Triton names the files.
std::string_view format_name(Format format);

struct KernelParameter {
  std::string name;             // empty where the binary gives none
  std::string kind;             // the binary's own word for it (`.u64`, `by_value`), or empty
  std::uint32_t offset = 0;     // bytes into the kernel's parameter block
  std::uint32_t size = 0;       // bytes, > 0
  std::uint32_t alignment = 0;  // bytes; 0 where the binary does not say
  bool hidden = false;          // filled by the driver or runtime itself, never by a launch
};

/// Parameters in the order in which a launch gives them. They do not overlap, and offsets ascend.
struct KernelParameters {
  std::string kernel;
  Format format = Format::cubin;
  std::vector<KernelParameter> parameters;
  std::uint32_t bytes = 0;  // the whole block, hidden parameters and room at its end included
  /// Where the block begins in its memory bank. A parameter's alignment counts from the bank's
  /// start, so on CUDA the offset of a 64-byte aligned one depends on this.
  std::uint32_t base = 0;
};

/// Throws BinaryError (contradictory) where parameters overlap, go backwards or leave the block.
void check_table(const KernelParameters& kernel, std::uint64_t offset);

}  // namespace relaunch::binary
