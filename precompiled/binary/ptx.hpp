#pragma once
// PTX: the `.param` declarations of each `.entry`. Offsets are those of the declared order and
// alignments, counted from an aligned start; what ptxas makes of them in a cubin may differ by the
// place of its parameter bank (KernelParameters::base).

#include <vector>

#include "precompiled/binary/bytes.hpp"
#include "precompiled/binary/kernel_parameters.hpp"

namespace relaunch::binary {

/// Whether the text begins as PTX does: comments, then `.version`.
bool is_ptx(Bytes file);

/// Every `.entry`, in the file's order. Throws BinaryError.
std::vector<KernelParameters> read_ptx(Bytes file);

}  // namespace relaunch::binary
