"""Parameters whose type is written down."""

import torch
import triton
import triton.language as tl


@triton.jit
def keep(out, a: tl.int64, b: tl.int8, c: tl.uint16, d: "i32", e: tl.uint8, n):
    tl.store(out, a + b + c + d + e + n)


def main():
    pairs = []
    for numbers in ((1, 2, 3, 4, 5, 6), (1 << 40, 100, 65535, -5, 200, 1)):
        out = torch.zeros(1, dtype=torch.int64, device="cuda")
        keep[(1,)](out, *numbers)
        pairs.append((out, lambda numbers=numbers: torch.tensor([sum(numbers)], device="cuda")))
    return pairs
