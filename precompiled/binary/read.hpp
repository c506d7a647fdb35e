#pragma once
// Any binary that Triton writes, to the parameter tables of its kernels. Nothing outside the given
// bytes is read, whatever they are; memory stays within a small multiple of their number.

#include <string_view>
#include <vector>

#include "precompiled/binary/bytes.hpp"
#include "precompiled/binary/kernel_parameters.hpp"

namespace relaunch::binary {

/// Throws BinaryError (unknown_format, unsupported); names what else the bytes may be.
Format find_format(Bytes file);

/// Every kernel, in the file's order, at least one; their names differ. Throws BinaryError.
std::vector<KernelParameters> read_kernels(Bytes file);

/// The kernel of that name, or the only one where the name is empty. Throws BinaryError
/// (no_such_kernel, several_kernels) that lists the names.
const KernelParameters& find_kernel(const std::vector<KernelParameters>& kernels,
                                    std::string_view name);

}  // namespace relaunch::binary
