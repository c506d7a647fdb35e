"""A kernel that prints and asserts."""

import torch
import triton
import triton.language as tl


@triton.jit
def check(x, n, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    values = tl.load(x + places, mask=places < n, other=0)
    tl.device_assert(values >= 0, "negative")
    if n == 0:
        tl.device_print("nothing in", places)


def main():
    x = torch.zeros(64, dtype=torch.int32, device="cuda")
    check[(1,)](x, 64, BLOCK=64, debug=True)
    check[(1,)](x, 7, BLOCK=64)
    torch.cuda.synchronize()
