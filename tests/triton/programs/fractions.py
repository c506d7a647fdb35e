"""Floats, also those that are not numbers."""

import torch
import triton
import triton.language as tl


@triton.jit
def keep(out, a, b, c):
    tl.store(out, a)
    tl.store(out + 1, b)
    tl.store(out + 2, c)


def main():
    pairs = []
    for numbers in (
        (0.5, -1.25, 1e-30),
        (float("inf"), -float("inf"), 0.1),
        (float("nan"), -0.0, 3.4e38),
        (1e300, 1.0, 0.0),
    ):
        out = torch.zeros(3, device="cuda")
        keep[(1,)](out, *numbers)
        pairs.append((out, lambda numbers=numbers: torch.tensor(numbers, dtype=torch.float64, device="cuda").float()))
    return pairs
