"""Memory that a launch asks for is for each block of each cluster."""

# Backends: cuda

import torch
import triton
import triton.language as tl


@triton.jit
def store(out, value):
    tl.store(out, value)


def main():
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    asked = []

    def allocate(size, alignment, stream):
        asked.append((size, alignment, stream))
        return torch.zeros(size, device="cuda", dtype=torch.int8)

    triton.set_allocator(allocate)
    for ctas in (1, 2):
        kernel = store[(1,)](out, 5, num_ctas=ctas)
        metadata = kernel.metadata._replace(global_scratch_size=48, global_scratch_align=64)
        launch = triton.runtime.driver.active.launcher_cls(kernel.src, metadata)
        launch(2, 3, 2, 0, kernel.function, kernel.packed_metadata, None, None, None, out, 7)
    print(asked)
    return [(out, lambda: torch.tensor([7], dtype=torch.int32, device="cuda"))]
