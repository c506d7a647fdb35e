"""The concurrency sanitizer asks for memory of its own at each launch."""

# Triton: 3.6-
# Backends: cuda

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, out, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + places, tl.load(x + places) * 2)


def main():
    asked = []

    def allocate(size, alignment, stream):
        asked.append((size, alignment))
        return torch.zeros(size, device="cuda", dtype=torch.int8)

    triton.set_allocator(allocate)
    triton.knobs.compilation.instrumentation_mode = "consan"
    try:
        x = torch.randn(512, device="cuda")
        out = torch.zeros_like(x)
        double[(4,)](x, out, BLOCK=128)
    finally:
        triton.knobs.compilation.instrumentation_mode = ""
    print(asked)
    return [(out, lambda: x * 2)]
