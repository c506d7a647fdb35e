"""Grids of one to three dimensions, as tuples, lists and functions."""

import torch
import triton
import triton.language as tl


@triton.jit
def where(out, STEP: tl.constexpr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    place = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    tl.store(out + place, place * STEP)


def main():
    out = torch.zeros(64, dtype=torch.int32, device="cuda")
    for grid in ((5,), (3, 4), (2, 3, 4), [6], [2, 2, 2], lambda meta: (meta["STEP"], 2)):
        where[grid](out, STEP=3)
    return [(out[:24], lambda: torch.arange(24, dtype=torch.int32, device="cuda") * 3)]
