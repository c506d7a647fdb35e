"""Truth values, alone and among numbers."""

import torch
import triton
import triton.language as tl


@triton.jit
def choose(out, first, second, n, flag):
    if flag:
        tl.store(out, n)
    else:
        tl.store(out, -n)
    tl.store(out + 1, first.to(tl.int32) * 2 + second.to(tl.int32))


def main():
    pairs = []
    for first, second, flag in ((True, False, True), (False, True, False), (True, True, True)):
        out = torch.zeros(2, dtype=torch.int32, device="cuda")
        choose[(1,)](out, first, second, 17, flag)
        wanted = [17 if flag else -17, 2 * first + second]
        pairs.append((out, lambda wanted=wanted: torch.tensor(wanted, dtype=torch.int32, device="cuda")))
    return pairs
