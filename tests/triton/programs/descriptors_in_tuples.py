"""Descriptors inside tuples, beside numbers."""

# Triton: 3.8-

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def move(pair, BLOCK: tl.constexpr):
    place = [tl.program_id(0) * BLOCK, 0]
    pair[1][0].store(place, pair[0].load(place) * pair[1][1])


def main():
    x = torch.randn(128, 32, device="cuda")
    y = torch.zeros_like(x)
    source, target = (TensorDescriptor.from_tensor(one, [32, 32]) for one in (x, y))
    move[(4,)]((source, (target, 3)), BLOCK=32)
    return [(y, lambda: x * 3)]
