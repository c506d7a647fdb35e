"""Atomics and a histogram, in two launches after each other."""

import torch
import triton
import triton.language as tl


@triton.jit
def count(x, bins, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + places)
    tl.atomic_add(bins + tl.arange(0, BINS), tl.histogram(values, BINS))


@triton.jit
def largest(bins, out, BINS: tl.constexpr):
    tl.atomic_max(out, tl.max(tl.load(bins + tl.arange(0, BINS)), axis=0))


def main():
    x = torch.randint(0, 16, (1024,), device="cuda", dtype=torch.int32)
    bins = torch.zeros(16, dtype=torch.int32, device="cuda")
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    count[(4,)](x, bins, 1024, BLOCK=256, BINS=16)
    largest[(1,)](bins, out, BINS=16)
    return [(bins, lambda: torch.bincount(x, minlength=16).int()), (out, lambda: bins.max().view(1))]
