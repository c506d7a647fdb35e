"""A descriptor that reads a convolution's patches: only Triton's own functions make such a map. Hooks are called as ever."""

# Triton: 3.8-
# Backends: cuda

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptorIm2Col


@gluon.jit
def read(source, out, PIXELS: gl.constexpr, CHANNELS: gl.constexpr, LAYOUT: gl.constexpr):
    shared = gl.allocate_shared_memory(source.dtype, source.block_type.shape, source.layout)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, source.block_type.nbytes)
    tma.async_load_im2col(source, [0, 0, 0, 0], [0, 0], barrier, shared)
    mbarrier.wait(barrier, 0)
    values = shared.load(LAYOUT)
    rows = gl.arange(0, PIXELS, layout=gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, CHANNELS, layout=gl.SliceLayout(0, LAYOUT))
    gl.store(out + rows[:, None] * CHANNELS + columns[None, :], values)


def enter(metadata):
    print("enter", metadata.get()["name"])


def leave(metadata):
    print("exit", metadata.get()["name"])


def main():
    image = torch.randn(1, 8, 8, 64, device="cuda", dtype=torch.float16)
    out = torch.zeros(64, 64, device="cuda", dtype=torch.float16)
    shared = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    source = TensorDescriptorIm2Col(
        image,
        list(image.shape),
        list(image.stride()),
        [64, 64],
        shared,
        pixel_box_lower_corner=[0, 0],
        pixel_box_upper_corner=[0, 0],
    )
    runtime = triton.knobs.runtime
    runtime.launch_enter_hook.add(enter)
    runtime.launch_exit_hook.add(leave)
    read[(1,)](source, out, 64, 64, gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]), num_warps=4)
    runtime.launch_enter_hook.remove(enter)
    runtime.launch_exit_hook.remove(leave)
    return [(out, lambda: image.view(64, 64))]
