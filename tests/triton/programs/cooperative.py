"""A cooperative launch: all blocks are there at once."""

import torch
import triton
import triton.language as tl


@triton.jit
def meet(counter, out, BLOCKS: tl.constexpr):
    tl.atomic_add(counter, 1)
    while tl.load(counter, volatile=True) < BLOCKS:
        pass
    tl.store(out + tl.program_id(0), tl.load(counter))


def main():
    counter = torch.zeros(1, dtype=torch.int32, device="cuda")
    out = torch.zeros(8, dtype=torch.int32, device="cuda")
    meet[(8,)](counter, out, BLOCKS=8, launch_cooperative_grid=True)
    return [(out, lambda: torch.ones(8, dtype=torch.int32, device="cuda") * 8)]
