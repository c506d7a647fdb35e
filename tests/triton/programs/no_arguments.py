"""A kernel without parameters."""

import triton
import triton.language as tl


@triton.jit
def nothing():
    tl.debug_barrier()


def main():
    nothing[(1,)]()
    nothing[(7, 2)](num_warps=1)
