"""Launches kernels of a program's kind, and says in JSON what making launchers and first launches took.

    python -m tests.triton.first_launch plain|installed launch|time|build-N

Milliseconds are of processor time. launch: a few kernels; what the first of all took. time: also of making the
launcher object of a kernel that is compiled, again and again. build-N: also of making one whose signature no launcher
was ever made for, N telling apart.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import types
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl
from relaunch.differential.recorder import Recorder

from tests.triton.run_programs import make_driver

MODE, TASK = sys.argv[1:]


@triton.jit  # type: ignore[untyped-decorator]
def add(x, y, out, n, factor, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    tl.store(out + places, tl.load(x + places, mask=inside) + factor * tl.load(y + places, mask=inside), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def fill(out, value, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    tl.store(out + tl.arange(0, BLOCK), value)


def processor_time() -> float:
    """Seconds, of this process and of compilers that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def milliseconds(call: Callable[[], Any], times: int = 1) -> float:
    """Of processor time, for one call."""
    begin = processor_time()
    for _ in range(times):
        call()
    return (processor_time() - begin) * 1e3 / times


def main() -> None:
    recorder = Recorder("cuda")
    recorder.own_handles()
    triton.runtime.driver.set_active(make_driver("cuda", recorder))
    if MODE == "installed":
        import relaunch.triton

        relaunch.triton.install(strict=True)
    x, y, out = (torch.randn(256, device="cuda") for _ in range(3))
    first = milliseconds(lambda: add[(2,)](x, y, out, 256, 0.5, BLOCK=128))
    fill[(1,)](out, 2.5, BLOCK=256)
    compiled = add.warmup(x, y, out, 256, 0.5, BLOCK=128, grid=(2,))
    compiled[(2, 1, 1)](x, y, out, 256, 0.5, 128)
    made = None
    if TASK == "time":
        make = triton.runtime.driver.active.launcher_cls

        def init(self: Any) -> Any:
            """As a CompiledKernel makes its launcher: what is looked for in the caller is there."""
            return make(self.src, self.metadata)

        made = milliseconds(lambda: init(compiled), times=200)
    events = [event for event in recorder.events() if "Launch" in event.get("call", "")]
    built = None
    if TASK.startswith("build-"):
        numbers = {f"n{place}": "i64" for place in range(int(TASK.removeprefix("build-")) + 1)}
        source = types.SimpleNamespace(
            signature=compiled.src.signature | numbers, constants={}, name="add", fn=compiled.src.fn
        )
        built = milliseconds(lambda: triton.runtime.driver.active.launcher_cls(source, compiled.metadata))
    print(json.dumps({"launches": len(events), "first": first, "made": made, "built": built}))


if __name__ == "__main__":
    main()
