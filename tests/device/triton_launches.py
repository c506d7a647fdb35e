"""Kernels that the installed Triton compiles and launches, then launched by both of ours: one JSON line each.

A process of its own: generated launchers are unsafe.

    python tests/device/triton_launches.py CACHE
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl
from relaunch.differential.launching import tree
from triton.tools.tensor_descriptor import TensorDescriptor

import relaunch
from relaunch import generator

DIALECT = "triton-3.6-cuda"


@triton.jit  # type: ignore[untyped-decorator]
def add(x, y, out, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    tl.store(out + places, tl.load(x + places, mask=inside) + tl.load(y + places, mask=inside), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def scaled(pair, n, flag, factor, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    value = tl.load(pair[0] + places, mask=inside) * factor
    if flag:
        value += pair[1][1]
    tl.store(pair[1][0] + places, value, mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def move(source, target, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # type: ignore[no-untyped-def]
    place = [tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS]
    target.store(place, source.load(place))


def cases() -> dict[str, tuple[Any, tuple[int, int, int], Any, list[Any], dict[str, int]]]:
    """By name: kernel, grid, the tensor that it writes, arguments, and options of the launch."""
    n = 1000
    x, y, out = (torch.randn(1024, device="cuda") for _ in range(3))
    tile = torch.randn(192, 128, device="cuda").half()
    moved = torch.zeros_like(tile)
    descriptors = [TensorDescriptor.from_tensor(one, [64, 64]) for one in (tile, moved)]
    return {
        "add": (add, (8, 1, 1), out, [x, y, out, n, 128], {}),
        "add, 8 warps": (add, (4, 1, 1), out, [x, y, out, n, 256], {"num_warps": 8}),
        "tuple": (scaled, (8, 1, 1), out, [(x, (out, 3.5)), n, True, 0.25, 128], {}),
        "tuple, flag off": (scaled, (8, 1, 1), out, [(x, (out, 3.5)), n, False, -1.5, 128], {}),
        "descriptors": (move, (3, 2, 1), moved, [*descriptors, 64, 64], {}),
    }


def precompiled(compiled: Any, signature: tuple[Any, ...]) -> Callable[..., None]:
    meta = compiled.metadata.tensordesc_meta or None
    options: dict[str, Any] = {} if meta is None else {"tensordesc_meta": meta}
    return relaunch.Launcher(
        tree(signature), dialect=DIALECT, function=compiled.function, name="kernel", **options
    ).launch


def generated(compiled: Any, signature: tuple[Any, ...]) -> Callable[..., None]:
    from triton.backends.nvidia.driver import wrap_handle_tensordesc

    meta = tuple(compiled.metadata.tensordesc_meta or ()) or None
    spec = generator.LauncherSpec(DIALECT, signature, tensordesc_meta=meta)
    (built,) = generator.build([spec], cache=Path(sys.argv[1]))
    launch = wrap_handle_tensordesc(generator.load(built).launch, dict(enumerate(signature)), meta)

    def call(*args: Any) -> None:
        launch(*args[:5], False, False, None, None, *args[5:])

    return call


def main() -> None:
    for name, (kernel, grid, out, args, options) in cases().items():
        out.zero_()
        compiled = kernel[grid](*args, **options)
        torch.cuda.synchronize()
        wanted = out.clone()
        signature = tuple(compiled.src.signature.values())
        stream = torch.cuda.current_stream().cuda_stream
        for launcher in (generated, precompiled):
            out.zero_()
            launch = launcher(compiled, signature)
            launch(*grid, stream, compiled.function, compiled.packed_metadata, None, None, None, *args)
            torch.cuda.synchronize()
            right = bool(wanted.count_nonzero() > 0 and torch.equal(out, wanted))
            print(json.dumps({"case": name, "launcher": launcher.__name__, "right": right}), flush=True)


if __name__ == "__main__":
    main()
