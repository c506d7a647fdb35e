"""A kernel that needs memory, and no allocator: an error, and no launch."""

# Triton: 3.4-
# Backends: cuda

import torch
import triton
import triton.language as tl


@triton.jit
def move(source, target, M, N, BLOCK: tl.constexpr):
    from_ = tl.make_tensor_descriptor(source, shape=[M, N], strides=[N, 1], block_shape=[BLOCK, BLOCK])
    to = tl.make_tensor_descriptor(target, shape=[M, N], strides=[N, 1], block_shape=[BLOCK, BLOCK])
    to.store([0, 0], from_.load([0, 0]))


def main():
    from triton.runtime import _allocation

    triton.set_allocator(_allocation.NullAllocator())
    x = torch.randn(64, 64, device="cuda")
    try:
        move[(1,)](x, torch.empty_like(x), 64, 64, BLOCK=64)
    except RuntimeError as error:
        print(error)
