"""Floats whose type is written down."""

# Triton: 3.4-

import torch
import triton
import triton.language as tl


@triton.jit
def keep(out, a: tl.float16, b: tl.bfloat16, c: tl.float64, d: tl.float32, e):
    tl.store(out, a.to(tl.float64))
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, c)
    tl.store(out + 3, d.to(tl.float64))
    tl.store(out + 4, e.to(tl.float64))


def main():
    out = torch.zeros(5, dtype=torch.float64, device="cuda")
    keep[(1,)](out, 0.5, -1.5, 1e300, 0.25, 2.0)
    keep[(1,)](out, 1, 3, 1, 4, 0.125)
    return [(out, lambda: torch.tensor([1, 3, 1, 4, 0.125], dtype=torch.float64, device="cuda"))]
