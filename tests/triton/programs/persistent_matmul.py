"""A persistent product of matrices through descriptors made on the host."""

# Triton: 3.4-

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def matmul(
    a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, PROGRAMS: tl.constexpr
):
    tiles_n = tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BLOCK_M) * tiles_n, PROGRAMS, flatten=True):
        row = (tile // tiles_n) * BLOCK_M
        column = (tile % tiles_n) * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            total = tl.dot(a.load([row, k * BLOCK_K]), b.load([column, k * BLOCK_K]).T, total)
        c.store([row, column], total.to(tl.float16))


def main():
    M, N, K = 512, 256, 192
    a = torch.randn(M, K, device="cuda", dtype=torch.float16)
    b = torch.randn(N, K, device="cuda", dtype=torch.float16)
    c = torch.zeros(M, N, device="cuda", dtype=torch.float16)
    blocks = [TensorDescriptor(x, x.shape, x.stride(), [64, 64]) for x in (a, b)] + [
        TensorDescriptor.from_tensor(c, [64, 64])
    ]
    for warps in (4, 8):
        matmul[(16,)](*blocks, M, N, K, BLOCK_M=64, BLOCK_N=64, BLOCK_K=64, PROGRAMS=16, num_stages=3, num_warps=warps)
    return [(c, lambda: a @ b.T)]
