"""Launches on a stream that was chosen."""

import torch
import triton
import triton.language as tl


@triton.jit
def store(out, value):
    tl.store(out, value)


def main():
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    store[(1,)](out, 3)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        store[(1,)](out, 4)
    torch.cuda.synchronize()
    return [(out, lambda: torch.tensor([4], dtype=torch.int32, device="cuda"))]
