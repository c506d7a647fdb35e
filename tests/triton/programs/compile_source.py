"""triton.compile, from a function and from IR in a file."""

import tempfile
from pathlib import Path

import torch
import triton
import triton.language as tl
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    tl.store(out + places, tl.load(x + places, mask=inside) + tl.load(y + places, mask=inside), mask=inside)


def main():
    x, y = (torch.randn(512, device="cuda") for _ in range(2))
    out, again = (torch.zeros_like(x) for _ in range(2))
    signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    kernel = triton.compile(ASTSource(fn=add, signature=signature, constexprs={"BLOCK": 128}))
    kernel[(4, 1, 1)](x, y, out, 512, 128)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "add.ttir"
        path.write_text(kernel.asm["ttir"])
        from_ir = triton.compile(str(path))
    from_ir[(4, 1, 1)](x, y, again, 512)
    return [(out, lambda: x + y), (again, lambda: x + y)]
