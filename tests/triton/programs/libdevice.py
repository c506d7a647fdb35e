"""A function of the vendor's library."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def asin(x, y, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + places, libdevice.asin(tl.load(x + places, mask=places < n)), mask=places < n)


def main():
    x = torch.rand(1000, device="cuda")
    y = torch.empty_like(x)
    asin[(8,)](x, y, 1000, BLOCK=128)
    return [(y, lambda: torch.asin(x))]
