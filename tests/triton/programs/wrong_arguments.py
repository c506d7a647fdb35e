"""Arguments that no kernel can have. (HIP's launchers of 3.3 and 3.4 die of some of them.)"""

# Backends: cuda

import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    tl.store(out + places, tl.load(x + places, mask=places < n), mask=places < n)


def attempt(*args, **options):
    try:
        copy[(1,)](*args, **options)
    except Exception as error:
        print(type(error).__name__)


def main():
    x = torch.randn(64, device="cuda")
    out = torch.zeros_like(x)
    attempt(torch.randn(64, device="cpu"), out, 64, BLOCK=64)
    attempt(x, out, "64", BLOCK=64)
    attempt(x, out, BLOCK=64)
    attempt(x, out, 64, BLOCK=64, no_such_option=1)
    attempt(x, out, 2**70, BLOCK=64)
    copy[(1,)](x, out, 64, BLOCK=64)
    kernel = copy.warmup(x, out, 64, BLOCK=64, grid=(1,))
    for args in ((x, out, 2.5, 64), (object(), out, 64, 64), (x, "out", 64, 64)):
        try:
            kernel[(1, 1, 1)](*args)
        except TypeError as error:
            print(type(error).__name__)
    return [(out, lambda: x)]
