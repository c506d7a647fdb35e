"""Parameters that are never specialised."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["x"])
def double(x, out, n, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    tl.store(out + places, tl.load(x + places, mask=places < n) * 2, mask=places < n)


def main():
    x = torch.randn(64, device="cuda")
    out = torch.zeros_like(x)
    for n in (1, 16, 17, 64):
        double[(1,)](x, out, n, BLOCK=64)
    double[(1,)](x[1:], out, 63, BLOCK=64)
    return [(out[:63], lambda: x[1:] * 2)]
