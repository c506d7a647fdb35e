#pragma once
// AMDGPU assembly: the metadata between `.amdgpu_metadata` and `.end_amdgpu_metadata`, in the part
// of YAML that LLVM writes: block mappings and sequences, values on the line of their key.

#include <vector>

#include "precompiled/binary/bytes.hpp"
#include "precompiled/binary/kernel_parameters.hpp"

namespace relaunch::binary {

/// Whether the text has what only AMDGPU assembly has.
bool is_amd_assembly(Bytes file);

/// Every kernel, in the text's order. Throws BinaryError; assembly without metadata is unsupported.
std::vector<KernelParameters> read_amd_assembly(Bytes file);

}  // namespace relaunch::binary
