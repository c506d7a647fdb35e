"""Layer norm forward, and the backward pass whose sums take locks."""

import torch
import triton
import triton.language as tl


@triton.jit
def forward(x, y, weight, bias, means, scales, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    inside = places < columns
    values = tl.load(x + row * stride + places, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    w = tl.load(weight + places, mask=inside)
    b = tl.load(bias + places, mask=inside)
    tl.store(y + row * stride + places, centred * scale * w + b, mask=inside)


@triton.jit
def backward(dy, x, dw, db, means, scales, locks, stride, columns, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, BLOCK)
    inside = places < columns
    values = tl.load(x + row * stride + places, mask=inside, other=0.0).to(tl.float32)
    grads = tl.load(dy + row * stride + places, mask=inside, other=0.0).to(tl.float32)
    normal = (values - tl.load(means + row)) * tl.load(scales + row)
    group = row % GROUP
    lock = locks + group
    count = locks + GROUP + group
    dw_places = dw + group * columns + places
    db_places = db + group * columns + places
    part_w = grads * normal
    part_b = grads
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        part_w += tl.load(dw_places, mask=inside)
        part_b += tl.load(db_places, mask=inside)
    tl.store(dw_places, part_w, mask=inside)
    tl.store(db_places, part_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def main():
    rows, columns, groups = 96, 320, 8
    x = torch.randn(rows, columns, device="cuda")
    dy = torch.randn(rows, columns, device="cuda")
    weight, bias = (torch.randn(columns, device="cuda") for _ in range(2))
    y = torch.empty_like(x)
    means, scales = (torch.empty(rows, device="cuda") for _ in range(2))
    forward[(rows,)](x, y, weight, bias, means, scales, x.stride(0), columns, 1e-5, BLOCK=512, num_warps=2)
    dw, db = (torch.zeros(groups, columns, device="cuda") for _ in range(2))
    locks = torch.zeros(2 * groups, dtype=torch.int32, device="cuda")
    backward[(rows,)](dy, x, dw, db, means, scales, locks, x.stride(0), columns, GROUP=groups, BLOCK=512)
    return [
        (y, lambda: torch.nn.functional.layer_norm(x, (columns,), weight, bias, 1e-5)),
        (db, lambda: dy.view(rows // groups, groups, columns).sum(0)),
    ]
