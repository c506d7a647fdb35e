"""Tensors of every element type, and one seen as another."""

import torch
import triton
import triton.language as tl


@triton.jit
def first(x, out):
    tl.store(out, tl.load(x).to(tl.float32))


def main():
    out = torch.zeros(1, device="cuda")
    for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int16, torch.int32,
                 torch.int64, torch.uint8, torch.bool):  # fmt: skip
        first[(1,)](torch.zeros(8, dtype=kind, device="cuda"), out)
    first[(1,)](triton.reinterpret(torch.zeros(8, dtype=torch.int8, device="cuda"), tl.float8e5), out)
    return [(out, lambda: torch.zeros(1, device="cuda"))]
