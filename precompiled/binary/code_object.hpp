#pragma once
// AMDGPU code objects of version 3 and later: the metadata note of an ELF file, in MessagePack.

#include <vector>

#include "precompiled/binary/elf.hpp"
#include "precompiled/binary/kernel_parameters.hpp"

namespace relaunch::binary {

/// Every kernel, in the note's order. Throws BinaryError; a file without the note is unsupported.
std::vector<KernelParameters> read_code_object(const Elf& elf);

/// Every kernel of a metadata note that begins at `offset` of its file. Throws BinaryError.
std::vector<KernelParameters> read_metadata_note(Bytes note, std::uint64_t offset);

}  // namespace relaunch::binary
