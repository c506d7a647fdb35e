"""A number too wide for its parameter, given to a kernel that is compiled already."""

# Differs: 3.7- native-int-range

import torch
import triton
import triton.language as tl


@triton.jit
def store(out, value):
    tl.store(out, value)


def main():
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    kernel = store.warmup(out, 64, grid=(1,))
    for value in (65, 2**33):
        try:
            kernel[(1, 1, 1)](out, value)
        except OverflowError as error:
            print(type(error).__name__)
