"""Launches from several threads, one after the other and at once."""

from concurrent.futures import ThreadPoolExecutor

import torch
import triton
import triton.language as tl


@triton.jit
def store(out, value, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), value)


def main():
    outs = [torch.zeros(64, dtype=torch.int32, device="cuda") for _ in range(6)]
    store[(1,)](outs[0], 2, BLOCK=64)
    with ThreadPoolExecutor(1) as one:
        for number, out in enumerate(outs):
            one.submit(store[(1,)], out, number + 2, BLOCK=64).result()
    torch.cuda.synchronize()
    return [(out, lambda n=n: torch.full((64,), n + 2, dtype=torch.int32, device="cuda")) for n, out in enumerate(outs)]
