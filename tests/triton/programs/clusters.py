"""Blocks in clusters."""

# Backends: cuda

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, out, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + places, tl.load(x + places) * 2)


def main():
    x = torch.randn(4096, device="cuda")
    out = torch.zeros_like(x)
    for ctas in (1, 2, 4):
        double[(4, 1, 1)](x, out, BLOCK=1024, num_ctas=ctas)
        double[(2, 2)](x, out, BLOCK=1024, num_ctas=ctas, num_warps=8)
    return [(out, lambda: x * 2)]
