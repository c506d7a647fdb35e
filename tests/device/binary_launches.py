"""Launches every cubin of tests/binaries through both launchers and says what came out wrong, one JSON line each.

    python tests/device/binary_launches.py CACHE

A process of its own: generated launchers are unsafe.
"""

from __future__ import annotations

import json
import math
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from relaunch.differential.arguments import tensor_map
from relaunch.differential.case import dialect_of
from relaunch.differential.encoding import encoder
from relaunch.differential.launching import provide_driver_module, tree
from relaunch.differential.on_device.device import Device
from relaunch.generator import legacy_descriptors

import relaunch
from relaunch import generator

BINARIES = Path(__file__).parents[1] / "binaries"
SENTINEL = -7.0


@dataclass
class Kernel:
    """One line of the index, loaded."""

    entry: dict[str, Any]
    device: Device
    handle: int
    cache: Path

    @property
    def dialect(self) -> str:
        return dialect_of(self.entry["release"], "cuda")

    @property
    def spec(self) -> generator.LauncherSpec:
        """The signature as the release's launcher sees it."""
        constexpr = generator.facts(self.dialect).takes_constexpr
        given = [kind for _, kind in self.entry["signature"] if constexpr or kind != "constexpr"]
        meta = self.entry["tensordesc_meta"] or None
        return generator.LauncherSpec(self.dialect, tuple(given), tensordesc_meta=meta)

    def arguments(self, **given: Any) -> list[Any]:
        """The launch's arguments in order, the kernel's constants among them where the release passes them."""
        constexpr = generator.facts(self.dialect).takes_constexpr
        values = {**self.entry["constants"], **given}
        return [values[name] for name, kind in self.entry["signature"] if constexpr or kind != "constexpr"]

    def launch(self, launcher: str, grid: tuple[int, int, int], args: list[Any]) -> None:
        """One launch on torch's stream, finished."""
        found, spec = generator.facts(self.dialect), self.spec
        counts = [self.entry["num_warps"], self.entry["num_ctas"], self.entry["shared"], 1, 1, 1]
        metadata = tuple(counts[: len(found.metadata.elements)])
        stream = torch.cuda.current_stream().cuda_stream
        if launcher == "precompiled":
            options: dict[str, Any] = {}
            if spec.tensordesc_meta is not None:
                options["tensordesc_meta"] = spec.tensordesc_meta
            bound = relaunch.Launcher(
                tree(spec.signature), dialect=self.dialect, function=self.handle, name=self.entry["kernel"],
                binary=BINARIES / self.entry["file"], **options,
            )  # fmt: skip
            bound.launch(*grid, stream, self.handle, metadata, None, None, None, *args)
        else:
            (built,) = generator.build([spec], cache=self.cache)
            if spec.tensordesc_meta is not None:
                encode = encoder(self.device.driver, tensor_map(self.dialect))
                args = legacy_descriptors.expand_arguments(spec, args, encode)
            prefix: dict[str, Any] = dict(zip(("grid_x", "grid_y", "grid_z"), grid, strict=True))
            prefix |= {"stream": stream, "function": self.handle, "kernel_metadata": metadata}
            prefix |= {"cooperative": False, "pdl": False}
            given = [prefix.get(one.name) for one in found.prefix]
            generator.load(built).launch(*given, *args)
        torch.cuda.synchronize()


Launch = Callable[[tuple[int, int, int], list[Any]], None]


def add(kernel: Kernel, launch: Launch) -> bool:
    n = 1000
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.full((1024,), SENTINEL, device="cuda")
    launch((8, 1, 1), kernel.arguments(x=x, y=y, out=out, n=n))
    return bool(torch.equal(out[:n], x + y) and (out[n:] == SENTINEL).all())


def scalars(kernel: Kernel, launch: Launch, generated: bool) -> bool:
    """out = flag ? the sum of the integers : the sum of the floats."""
    whole = {"a": 7, "b": 200, "c": -3000, "d": 60000, "e": -2_000_000_000, "f": 4_000_000_000, "g": -(2**40)}
    whole["h"] = 2**50
    real = {"s16": 1.5, "s32": -0.375, "s64": 1000.0625}
    # Up to 3.3 a generated launcher gives the kernel the lower half of the C float 1.5, which is zero.
    passed = {**real, "s16": 0.0} if generated and kernel.dialect < "triton-3.4" else real
    right = True
    for flag, wanted in ((True, float(sum(whole.values()))), (False, math.fsum(passed.values()))):
        out = torch.full((3,), SENTINEL, dtype=torch.float64, device="cuda")
        launch((2, 1, 1), kernel.arguments(out=out, flag=flag, **whole, **real))
        right = right and out.tolist() == [wanted, wanted, SENTINEL]
    return right


def pair(kernel: Kernel, launch: Launch) -> bool:
    n = 150
    x = torch.randn(n, device="cuda")
    out = torch.full((192,), SENTINEL, device="cuda")
    launch((3, 1, 1), kernel.arguments(p=(x, (out, 0.5)), n=n))
    return bool(torch.equal(out[:n], x * 0.5) and (out[n:] == SENTINEL).all())


def matmul(kernel: Kernel, launch: Launch) -> bool:
    """Small whole numbers, whose sums fp16 holds exactly."""
    rows, columns, inner = 128, 192, 96
    a = torch.randint(-2, 3, (rows, inner), device="cuda").half()
    b = torch.randint(-2, 3, (inner, columns), device="cuda").half()
    c = torch.full((rows, columns), SENTINEL, device="cuda").half()
    sizes = {"M": rows, "N": columns, "K": inner, "sam": inner, "sbk": columns, "scm": columns}
    launch((rows // 64, columns // 64, 1), kernel.arguments(a=a, b=b, c=c, alpha=0.5, **sizes))
    return bool(torch.equal(c.float(), a.float() @ b.float() * 0.5))


def desc_copy(kernel: Kernel, launch: Launch) -> bool:
    source, target = torch.randn(192, 128, device="cuda").half(), torch.zeros(192, 128, device="cuda").half()
    launch((3, 2, 1), kernel.arguments(src=descriptor(source), dst=descriptor(target)))
    return bool(torch.equal(source, target))


def descriptor(tensor: Any) -> Any:
    """As Triton's TensorDescriptor."""
    return types.SimpleNamespace(
        base=tensor, shape=list(tensor.shape), strides=list(tensor.stride()), block_shape=[64, 64], padding="zero"
    )


CHECKS: dict[str, Callable[..., bool]] = {"add": add, "pair": pair, "matmul": matmul, "desc_copy": desc_copy}


def main() -> None:
    torch.zeros(1, device="cuda")  # torch looks for Triton when it begins
    provide_driver_module("cuda")
    device = Device()
    for line in (BINARIES / "index.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if not entry["file"].endswith(".cubin"):
            continue
        module = device.load((BINARIES / entry["file"]).read_bytes())
        kernel = Kernel(entry, device, device.function(module, entry["kernel"]), Path(sys.argv[1]))
        for launcher in ("generated", "precompiled"):

            def launch(grid: tuple[int, int, int], args: list[Any], kernel: Any = kernel, how: str = launcher) -> None:
                kernel.launch(how, grid, args)

            if entry["kernel"] == "scalars":
                right = scalars(kernel, launch, launcher == "generated")
            else:
                right = CHECKS[entry["kernel"]](kernel, launch)
            print(json.dumps({"file": entry["file"], "launcher": launcher, "right": right}), flush=True)


if __name__ == "__main__":
    main()
