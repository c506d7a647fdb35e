"""A kernel of Gluon with warps of its own beside those that were asked for."""

# Triton: 3.5-
# Backends: cuda

import inspect

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

# Triton 3.5 takes functions and their arguments apart.
IN_PAIRS = gl.constexpr("functions_and_args" in inspect.signature(gl.warp_specialize).parameters)


@gluon.jit
def copy(source, target, BLOCK: gl.constexpr, LAYOUT: gl.constexpr):
    places = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=LAYOUT)
    gl.store(target + places, gl.load(source + places))


@gluon.jit
def copy_both(a, b, c, d, BLOCK: gl.constexpr, FOUR: gl.constexpr, EIGHT: gl.constexpr):
    if IN_PAIRS:
        gl.warp_specialize([(copy, (a, b, BLOCK, FOUR)), (copy, (c, d, BLOCK, EIGHT))], [8], [24])
    else:
        gl.warp_specialize((a, b, BLOCK, FOUR), copy, (c, d, BLOCK, EIGHT), [copy], [8], [24])


def main():
    a, c = (torch.randn(1024, device="cuda") for _ in range(2))
    b, d = (torch.zeros_like(one) for one in (a, c))
    layouts = [gl.BlockedLayout([1], [32], [warps], [0]) for warps in (4, 8)]
    kernel = copy_both[(4,)](a, b, c, d, 256, *layouts, num_warps=4)
    assert kernel.metadata.num_warps > 4
    print(kernel.metadata.num_warps, "warps")
    return [(b, lambda: a), (d, lambda: c)]
