"""Memory for a profiler: from the allocator that it sets; where it set none from nobody, or from 3.8 on from the driver."""

# Triton: 3.5-

import torch
import triton
import triton.language as tl
from triton.runtime import _allocation


class Profiled:
    """A kernel's launcher, made for metadata that asks for profile memory as a profiler's pass leaves it."""

    def __init__(self, kernel, size):
        self.kernel = kernel
        metadata = kernel.metadata._replace(profile_scratch_size=size, profile_scratch_align=32)
        self.launch = triton.runtime.driver.active.launcher_cls(kernel.src, metadata)

    def run(self, grid, *args):
        self.launch(*grid, 0, self.kernel.function, self.kernel.packed_metadata, None, None, None, *args)


@triton.jit
def store(out, value):
    tl.store(out, value)


def main():
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    kernel = store[(1,)](out, 5)
    try:
        Profiled(kernel, 16).run((2, 3, 2), out, 6)
    except RuntimeError as error:
        print(error)
    asked = []

    def allocate(size, alignment, stream):
        asked.append((size, alignment, stream))
        return torch.zeros(size, device="cuda", dtype=torch.int8)

    before = _allocation._profile_allocator.get()
    _allocation._profile_allocator.set(allocate)
    try:
        Profiled(kernel, 48).run((2, 3, 2), out, 7)
    finally:
        _allocation._profile_allocator.set(before)
    print(asked)
    return [(out, lambda: torch.tensor([7], dtype=torch.int32, device="cuda"))]
