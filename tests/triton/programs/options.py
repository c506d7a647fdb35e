"""Options that are for the compiler alone."""

# Backends: cuda

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    tl.store(out + places, tl.load(x + places) * 1.5 + tl.load(y + places))


def main():
    x, y = (torch.randn(256, device="cuda") for _ in range(2))
    out = torch.zeros_like(x)
    add[(1,)](x, y, out, BLOCK=256, num_stages=4)
    add[(1,)](x, y, out, BLOCK=256, enable_fp_fusion=False)
    add[(1,)](x, y, out, BLOCK=256, maxnreg=64)
    add[(1,)](x, y, out, BLOCK=256, debug=True)
    return [(out, lambda: x * 1.5 + y)]
