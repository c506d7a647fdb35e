"""Several products in one launch: addresses and sizes of all of them in tensors."""

import torch
import triton
import triton.language as tl


@triton.jit
def grouped(addresses_a, addresses_b, addresses_c, sizes, strides, groups,
            PROGRAMS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):  # fmt: skip
    tile = tl.program_id(0)
    last_end = 0
    for group in range(groups):
        m = tl.load(sizes + group * 3)
        n = tl.load(sizes + group * 3 + 1)
        k = tl.load(sizes + group * 3 + 2)
        tiles_n = tl.cdiv(n, BLOCK_N)
        tiles = tl.cdiv(m, BLOCK_M) * tiles_n
        while tile >= last_end and tile < last_end + tiles:
            lda = tl.load(strides + group * 3)
            ldb = tl.load(strides + group * 3 + 1)
            ldc = tl.load(strides + group * 3 + 2)
            a = tl.load(addresses_a + group).to(tl.pointer_type(tl.float16))
            b = tl.load(addresses_b + group).to(tl.pointer_type(tl.float16))
            c = tl.load(addresses_c + group).to(tl.pointer_type(tl.float16))
            inside = tile - last_end
            rows = (inside // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
            columns = (inside % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
            inner = tl.arange(0, BLOCK_K)
            total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for start in range(tl.cdiv(k, BLOCK_K)):
                left = tl.load(a + rows[:, None] * lda + start * BLOCK_K + inner[None, :])
                right = tl.load(b + (start * BLOCK_K + inner[:, None]) * ldb + columns[None, :])
                total += tl.dot(left, right)
            tl.store(c + ldc * rows[:, None] + columns[None, :], total.to(tl.float16))
            tile += PROGRAMS
        last_end = last_end + tiles


def main():
    shapes = [(128, 64, 32), (64, 64, 64), (192, 128, 96)]
    a = [torch.randn(m, k, device="cuda", dtype=torch.float16) for m, n, k in shapes]
    b = [torch.randn(k, n, device="cuda", dtype=torch.float16) for m, n, k in shapes]
    c = [torch.zeros(m, n, device="cuda", dtype=torch.float16) for m, n, k in shapes]
    addresses = [
        torch.tensor([one.data_ptr() for one in group], dtype=torch.int64, device="cuda") for group in (a, b, c)
    ]
    sizes = torch.tensor([one for shape in shapes for one in shape], dtype=torch.int32, device="cuda")
    strides = torch.tensor([s for m, n, k in shapes for s in (k, n, n)], dtype=torch.int32, device="cuda")
    grouped[(24,)](*addresses, sizes, strides, len(shapes), PROGRAMS=24, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)
    return [(c[i], lambda i=i: a[i] @ b[i]) for i in range(3)]
