"""A loop whose loads and products are given to warps of their own, so that a block has more than were asked for."""

# Triton: 3.4-
# Backends: cuda
# GPU: no, what a compiled kernel of this computes on Hopper has not been looked at

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def matmul(a, b, c, K, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK
    column = tl.program_id(1) * BLOCK
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in tl.range(tl.cdiv(K, BLOCK), warp_specialize=True):
        total = tl.dot(a.load([row, k * BLOCK]), b.load([column, k * BLOCK]).T, total)
    c.store([row, column], total.to(tl.float16))


def main():
    a = torch.randn(128, 192, device="cuda", dtype=torch.float16)
    b = torch.randn(64, 192, device="cuda", dtype=torch.float16)
    c = torch.zeros(128, 64, device="cuda", dtype=torch.float16)
    blocks = [TensorDescriptor(x, list(x.shape), list(x.stride()), [64, 64]) for x in (a, b, c)]
    kernel = matmul[(2, 1)](*blocks, 192, BLOCK=64, num_warps=4, num_stages=3)
    assert kernel.metadata.num_warps > 4
    print(kernel.metadata.num_warps, "warps")
    return [(c, lambda: a @ b.T)]
