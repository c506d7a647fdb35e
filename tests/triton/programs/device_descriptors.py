"""Descriptors made in the kernel need memory from the allocator that is set when it is launched."""

# Triton: 3.4-

import torch
import triton
import triton.language as tl


@triton.jit
def move(source, target, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    from_ = tl.make_tensor_descriptor(source, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N])
    to = tl.make_tensor_descriptor(target, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N])
    place = [tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N]
    to.store(place, from_.load(place) * 2)


def main():
    x = torch.randn(256, 128, device="cuda")
    y = torch.zeros_like(x)
    asked = []

    def allocate(size, alignment, stream):
        asked.append((size, alignment, stream is None))
        return torch.empty(size, device="cuda", dtype=torch.int8)

    triton.set_allocator(allocate)
    move[(4, 2)](x, y, 256, 128, BLOCK_M=64, BLOCK_N=64)
    move[(2, 2, 1)](x, y, 256, 128, BLOCK_M=128, BLOCK_N=64, num_warps=8)

    def allocate_later(size, alignment, stream):
        asked.append("later")
        return allocate(size, alignment, stream)

    triton.set_allocator(allocate_later)
    move[(4, 2)](x, y, 256, 128, BLOCK_M=64, BLOCK_N=64)
    print(asked)
    return [(y, lambda: x * 2)]
