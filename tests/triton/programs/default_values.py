"""Parameters that have a default, given by place, by name, or not at all."""

import torch
import triton
import triton.language as tl


@triton.jit
def fill(out, value=3, n: tl.constexpr = 16, factor=2.0, BLOCK: tl.constexpr = 32):
    places = tl.arange(0, BLOCK)
    tl.store(out + places, value * factor, mask=places < n)


def main():
    out = [torch.zeros(32, device="cuda") for _ in range(3)]
    fill[(1,)](out[0])
    fill[(1,)](out[1], 5, factor=0.5)
    fill[(1,)](out[2], factor=1.5, BLOCK=16, value=1)
    return [
        (out[0][:16], lambda: torch.full((16,), 6.0, device="cuda")),
        (out[1][:16], lambda: torch.full((16,), 2.5, device="cuda")),
        (out[2][:16], lambda: torch.full((16,), 1.5, device="cuda")),
    ]
