"""Maps that the program itself makes and keeps (to 3.4)."""

# Triton: 3.3-3.3
# Backends: cuda

import torch
import triton
import triton.language as tl
from triton.tools.experimental_descriptor import create_1d_tma_descriptor, create_2d_tma_descriptor


@triton.jit
def move(source, target, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK
    values = tl._experimental_descriptor_load(source, [place], [BLOCK], tl.float32)
    tl._experimental_descriptor_store(target, values, [place])


@triton.jit
def move2(source, target, BLOCK: tl.constexpr):
    place = [tl.program_id(0) * BLOCK, 0]
    values = tl._experimental_descriptor_load(source, place, [BLOCK, 32], tl.float16)
    tl._experimental_descriptor_store(target, values, place)


def main():
    x = torch.randn(512, device="cuda")
    y = torch.zeros_like(x)
    maps = [create_1d_tma_descriptor(one.data_ptr(), 512, 128, 4) for one in (x, y)]
    move[(4,)](*maps, BLOCK=128)
    a = torch.randn(64, 32, device="cuda", dtype=torch.float16)
    b = torch.zeros_like(a)
    maps = [create_2d_tma_descriptor(one.data_ptr(), 64, 32, 32, 32, 2) for one in (a, b)]
    move2[(2,)](*maps, BLOCK=32)
    return [(y, lambda: x), (b, lambda: a)]
