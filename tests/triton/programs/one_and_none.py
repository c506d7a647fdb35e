"""Ones and absent tensors are folded into the kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, bias, out, n, factor, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    values = tl.load(x + places, mask=places < n) * factor
    if bias is not None:
        values += tl.load(bias + places, mask=places < n)
    tl.store(out + places, values, mask=places < n)


def main():
    x, bias = (torch.randn(100, device="cuda") for _ in range(2))
    results = [torch.zeros(100, device="cuda") for _ in range(4)]
    scale[(1,)](x, None, results[0], 100, 1, BLOCK=128)
    scale[(1,)](x, bias, results[1], 100, 3, BLOCK=128)
    scale[(1,)](x, None, results[2], 1, 2, BLOCK=128)
    scale[(1,)](x, bias=bias, out=results[3], n=100, factor=1, BLOCK=128)
    return [(results[0], lambda: x), (results[1], lambda: x * 3 + bias), (results[3], lambda: x + bias)]
