"""Values of the compiler, of every kind."""

import torch
import triton
import triton.language as tl


@triton.jit
def fill(out, KIND: tl.constexpr, TYPE: tl.constexpr, FLAG: tl.constexpr, NUMBER: tl.constexpr, NOTHING: tl.constexpr):
    value = NUMBER + 1 if FLAG else NUMBER
    if KIND == "twice":
        value = value * 2
    if NOTHING is None:
        value = value + 0.5
    tl.store(out, tl.full([], value, TYPE))


def main():
    out = torch.zeros(1, device="cuda")
    fill[(1,)](out, "once", tl.float32, True, 3, None)
    fill[(1,)](out, "twice", tl.float32, False, 2.25, 1)
    fill[(1,)](out, KIND="twice", TYPE=tl.float32, FLAG=True, NUMBER=4, NOTHING=None)
    return [(out, lambda: torch.tensor([10.5], device="cuda"))]
