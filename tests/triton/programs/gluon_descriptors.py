"""Descriptors of Gluon: a block read and written by the copy engine."""

# Triton: 3.6-3.6
# Backends: cuda

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor


@gluon.jit
def move(source, target, BLOCK: gl.constexpr):
    place = [gl.program_id(0) * BLOCK, 0]
    shared = gl.allocate_shared_memory(source.dtype, source.block_type.shape, source.layout)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, source.block_type.nbytes)
    tma.async_copy_global_to_shared(source, place, barrier, shared)
    mbarrier.wait(barrier, 0)
    mbarrier.invalidate(barrier)
    fence_async_shared()
    tma.async_copy_shared_to_global(target, place, shared)
    tma.store_wait(pendings=0)


def main():
    x = torch.randn(128, 64, device="cuda", dtype=torch.float16)
    y = torch.zeros_like(x)
    layout = gl.NVMMASharedLayout.get_default_for([32, 64], gl.float16)
    source, target = (TensorDescriptor.from_tensor(one, [32, 64], layout) for one in (x, y))
    move[(4,)](source, target, 32)
    return [(y, lambda: x)]
