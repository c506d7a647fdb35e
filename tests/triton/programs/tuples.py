"""Tuples of tensors and numbers, nested, with constants inside, and with names."""

from typing import NamedTuple

import torch
import triton
import triton.language as tl


class Pair(NamedTuple):
    source: object
    count: int


@triton.jit
def gather(pairs, extra, out):
    total = tl.load(pairs[0][0]) * pairs[0][1]
    total += tl.load(pairs[1][0]) * pairs[1][1]
    if extra[0] is not None:
        total += tl.load(extra[0])
    tl.store(out[0], total + extra[1])


@triton.jit
def named(pair, out):
    tl.store(out, tl.load(pair.source) * pair.count)


def main():
    x, y = (torch.randn(16, device="cuda") for _ in range(2))
    out = [torch.zeros(16, device="cuda") for _ in range(3)]
    gather[(1,)](((x, 2), (y, 3)), (None, 1), (out[0],))
    gather[(1,)](((x, 2.5), (y, 1 << 35)), (x, 7), (out[1], 5))
    named[(1,)](Pair(x, 4), out[2])
    return [(out[0][:1], lambda: (x * 2 + y * 3 + 1)[:1]), (out[2][:1], lambda: x[:1] * 4)]
