"""A kernel of Gluon, whose layouts are written down."""

# Triton: 3.6-

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def add(x, y, out, n, BLOCK: gl.constexpr, LAYOUT: gl.constexpr):
    places = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=LAYOUT)
    inside = places < n
    gl.store(out + places, gl.load(x + places, mask=inside) + gl.load(y + places, mask=inside), mask=inside)


def main():
    warp = triton.runtime.driver.active.get_current_target().warp_size
    layout = gl.BlockedLayout([4], [warp], [4], [0])
    x, y = (torch.randn(1000, device="cuda") for _ in range(2))
    out = torch.zeros_like(x)
    add[(2,)](x, y, out, 1000, 512, layout, num_warps=4)
    return [(out, lambda: x + y)]
