"""Blocks of 1 to 16 warps, and stages."""

import torch
import triton
import triton.language as tl


@triton.jit
def total(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK))))


def main():
    x = torch.ones(1024, device="cuda")
    out = torch.zeros(1, device="cuda")
    for warps in (1, 2, 8, 16):
        total[(1,)](x, out, BLOCK=1024, num_warps=warps, num_stages=2)
    return [(out, lambda: torch.tensor([1024.0], device="cuda"))]
