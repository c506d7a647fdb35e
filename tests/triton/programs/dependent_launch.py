"""Programmatic dependent launches: a kernel waits for the one before it."""

# Triton: 3.4-
# Backends: cuda

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr, USE_GDC: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    if USE_GDC:
        tl.extra.cuda.gdc_wait()
    left = tl.load(x + places, mask=inside)
    right = tl.load(y + places, mask=inside)
    if USE_GDC:
        tl.extra.cuda.gdc_launch_dependents()
    tl.store(out + places, left + right, mask=inside)


def main():
    x, y = (torch.randn(4096, device="cuda") for _ in range(2))
    out = torch.empty_like(x)
    can_wait = not triton.__version__.startswith("3.4.")  # whose gdc_wait does not compile
    for pdl in (True, False):
        for _ in range(2):
            add[(16,)](x, y, out, 4096, BLOCK=256, USE_GDC=pdl and can_wait, launch_pdl=pdl)
    return [(out, lambda: x + y)]
