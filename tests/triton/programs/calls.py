"""Functions that are called, inlined or not, and a run hook."""

import torch
import triton
import triton.language as tl


@triton.jit(noinline=True)
def square(x):
    return x * x


@triton.jit
def work(x, out, n, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    tl.store(out + places, tl.load(x + places, mask=places < n) * square(n), mask=places < n)


def main():
    x = torch.randn(64, device="cuda")
    out = torch.zeros_like(x)
    work.add_pre_run_hook(lambda *args, **options: print("about to run", len(args)))
    work[(1,)](x, out, 64, BLOCK=64)
    work.pre_run_hooks.clear()
    work[(1,)](x, out, 64, BLOCK=64)
    return [(out, lambda: x * 4096)]
