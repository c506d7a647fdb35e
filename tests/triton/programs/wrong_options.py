"""Calls that do not come as far as a launch, and right ones after them."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    tl.store(out + places, tl.load(x + places, mask=places < n), mask=places < n)


def main():
    x = torch.randn(64, device="cuda")
    out = torch.zeros_like(x)
    for args, options in (
        ((x, out), {"BLOCK": 64}),
        ((x, out, 64), {"BLOCK": 64, "no_such_option": 1}),
        ((x, out, 64), {"BLOCK": 63}),
        ((x, out, 64), {"BLOCK": 64, "num_warps": 3}),
    ):
        try:
            copy[(1,)](*args, **options)
        except Exception as error:
            print(type(error).__name__)
    copy[(1,)](x, out, 64, BLOCK=64)
    return [(out, lambda: x)]
