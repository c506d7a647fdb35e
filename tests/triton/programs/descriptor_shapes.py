"""Descriptors of one to five dimensions, padded or not, read and written."""

# Triton: 3.4-

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def move1(source, target, A: tl.constexpr):
    target.store([tl.program_id(0) * A], source.load([tl.program_id(0) * A]))


@triton.jit
def move2(source, target, n, A: tl.constexpr, B: tl.constexpr):
    place = [tl.program_id(0) * A, tl.program_id(1) * B]
    target.store(place, source.load(place) + n)


@triton.jit
def move3(source, target, A: tl.constexpr):
    place = [tl.program_id(0), tl.program_id(1) * A, 0]
    target.store(place, source.load(place))


def descriptor(tensor, block):
    return TensorDescriptor(tensor, list(tensor.shape), list(tensor.stride()), block)


def main():
    pairs = []
    for kind in (torch.float32, torch.float16, torch.bfloat16):
        x = torch.randn(256, device="cuda").to(kind)
        y = torch.zeros_like(x)
        move1[(4,)](descriptor(x, [64]), descriptor(y, [64]), 64)
        pairs.append((y, lambda x=x: x))
    x = torch.randint(0, 100, (100, 96), device="cuda", dtype=torch.int32)
    y = torch.zeros_like(x)
    move2[(4, 3)](descriptor(x, [32, 32]), descriptor(y, [32, 32]), 5, 32, 32)
    pairs.append((y, lambda: x + 5))
    z = torch.randn(3, 64, 32, device="cuda")
    w = torch.zeros_like(z)
    move3[(3, 4)](descriptor(z, [1, 16, 32]), descriptor(w, [1, 16, 32]), 16)
    pairs.append((w, lambda: z))
    return pairs
