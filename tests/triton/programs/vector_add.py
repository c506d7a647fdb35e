"""Two vectors added: tensors, a count, a block size."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    tl.store(out + places, tl.load(x + places, mask=inside) + tl.load(y + places, mask=inside), mask=inside)


def main():
    n = 98432
    x, y = (torch.randn(n, device="cuda") for _ in range(2))
    results = [torch.zeros_like(x) for _ in range(3)]
    add[(triton.cdiv(n, 1024),)](x, y, results[0], n, BLOCK=1024)
    add[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, results[1], n, BLOCK=512)
    add[(triton.cdiv(n - 3, 1024),)](x[3:], y, results[2], n - 3, BLOCK=1024)
    return [
        (results[0], lambda: x + y),
        (results[1], lambda: x + y),
        (results[2][: n - 3], lambda: x[3:] + y[: n - 3]),
    ]
