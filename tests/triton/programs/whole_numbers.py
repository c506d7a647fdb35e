"""Numbers of every width that their value asks for."""

import torch
import triton
import triton.language as tl


@triton.jit
def keep(out, a, b, c, d):
    tl.store(out, a.to(tl.int64))
    tl.store(out + 1, b.to(tl.int64))
    tl.store(out + 2, c.to(tl.int64))
    tl.store(out + 3, d.to(tl.int64))


def main():
    pairs = []
    for numbers in (
        (0, 2, 5, 16),
        (-1, -7, 1 << 30, 2**31 - 1),
        (2**31, -(2**31), 2**40 + 1, -(2**63)),
        (2**63 - 1, 48, 1 << 33, 3),
    ):
        out = torch.zeros(4, dtype=torch.int64, device="cuda")
        keep[(1,)](out, *numbers)
        pairs.append((out, lambda numbers=numbers: torch.tensor(numbers, dtype=torch.int64, device="cuda")))
    out = torch.zeros(4, dtype=torch.int64, device="cuda")
    keep[(1,)](out, 2**63, 2**64 - 1, 5, 6)
    pairs.append((out, lambda: torch.tensor([-(2**63), -1, 5, 6], dtype=torch.int64, device="cuda")))
    return pairs
