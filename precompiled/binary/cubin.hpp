#pragma once
// Cubins: the parameter records of each kernel's `.nv.info.<kernel>` section. Their layout is that
// of what ptxas 12.9 and 13.5 write for sm_70 to sm_120, in the names of cuobjdump -elf.

#include <vector>

#include "precompiled/binary/elf.hpp"
#include "precompiled/binary/kernel_parameters.hpp"

namespace relaunch::binary {

/// Every kernel, in the file's order; device functions are none. Throws BinaryError.
std::vector<KernelParameters> read_cubin(Bytes file, const Elf& elf);

}  // namespace relaunch::binary
