"""Attention of one head a block, with a running maximum and sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def inner(total, sums, top, q, k, v, begin, end, start, scale, stride_k, stride_v, offsets_m,
          MASKED: tl.constexpr, BLOCK_N: tl.constexpr, HEAD: tl.constexpr):  # fmt: skip
    for at in range(begin, end, BLOCK_N):
        at = tl.multiple_of(at, BLOCK_N)
        offsets_n = at + tl.arange(0, BLOCK_N)
        dims = tl.arange(0, HEAD)
        keys = tl.load(k + offsets_n[None, :] * stride_k + dims[:, None])
        scores = tl.dot(q, keys) * scale
        if MASKED:
            scores = tl.where(offsets_m[:, None] >= offsets_n[None, :], scores, -1.0e6)
        now = tl.maximum(top, tl.max(scores, 1))
        powers = tl.math.exp2(scores - now[:, None])
        alpha = tl.math.exp2(top - now)
        sums = sums * alpha + tl.sum(powers, 1)
        total = total * alpha[:, None]
        values = tl.load(v + offsets_n[:, None] * stride_v + dims[None, :])
        total = tl.dot(powers.to(tl.float16), values, total)
        top = now
    return total, sums, top


@triton.jit
def attend(q, k, v, out, scale, stride_z, stride_h, stride_m, H, CONTEXT,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD: tl.constexpr, CAUSAL: tl.constexpr):  # fmt: skip
    start = tl.program_id(0)
    both = tl.program_id(1)
    offset = (both // H).to(tl.int64) * stride_z + (both % H).to(tl.int64) * stride_h
    offsets_m = start * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD)
    query = tl.load(q + offset + offsets_m[:, None] * stride_m + dims[None, :])
    total = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    sums = tl.zeros([BLOCK_M], dtype=tl.float32)
    top = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    scale *= 1.44269504
    end = CONTEXT
    if CAUSAL:
        total, sums, top = inner(total, sums, top, query, k + offset, v + offset, 0, start * BLOCK_M, start, scale,
                                 stride_m, stride_m, offsets_m, False, BLOCK_N, HEAD)  # fmt: skip
        total, sums, top = inner(total, sums, top, query, k + offset, v + offset, start * BLOCK_M,
                                 (start + 1) * BLOCK_M, start, scale, stride_m, stride_m, offsets_m, True, BLOCK_N,
                                 HEAD)  # fmt: skip
    else:
        total, sums, top = inner(total, sums, top, query, k + offset, v + offset, 0, end, start, scale, stride_m,
                                 stride_m, offsets_m, False, BLOCK_N, HEAD)  # fmt: skip
    total = total / sums[:, None]
    tl.store(out + offset + offsets_m[:, None] * stride_m + dims[None, :], total.to(tl.float16))


def main():
    Z, H, CONTEXT, HEAD = 2, 3, 256, 64
    q, k, v = (torch.randn(Z, H, CONTEXT, HEAD, device="cuda", dtype=torch.float16) for _ in range(3))
    results = []
    for causal in (False, True):
        out = torch.empty_like(q)
        attend[(triton.cdiv(CONTEXT, 64), Z * H, 1)](
            q, k, v, out, 0.125, q.stride(0), q.stride(1), q.stride(2), H, CONTEXT,
            BLOCK_M=64, BLOCK_N=32, HEAD=HEAD, CAUSAL=causal, num_warps=4, num_stages=2,
        )  # fmt: skip
        results.append(out)
    attention = lambda causal: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=0.125)
    return [(results[0], lambda: attention(False)), (results[1], lambda: attention(True))]
