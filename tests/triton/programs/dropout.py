"""Dropout with a seed: the mask is made in the kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    kept = tl.rand(seed, places) > p
    tl.store(out + places, tl.where(kept, tl.load(x + places, mask=inside) / (1 - p), 0.0), mask=inside)


def main():
    x = torch.randn(1000, device="cuda")
    first, second, other = (torch.empty_like(x) for _ in range(3))
    for out, seed in ((first, 123), (second, 123), (other, 512)):
        dropout[(1,)](x, out, 1000, 0.5, seed, BLOCK=1024)
    return [(first, lambda: second), (first, lambda: torch.where(first != 0, x * 2, 0.0))]
