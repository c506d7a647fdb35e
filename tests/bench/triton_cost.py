"""What a launch through the installed Triton costs with and without relaunch.triton, as one JSON line a figure.

    python tests/bench/triton_cost.py ROUNDS FLOOR

FLOOR is the shared object of device_floor.c: plain launches of the same kernel in C, which are the floor. The three
take turns in one process. Bursts are shorter than the driver's queue, and waiting for the device is outside
the clock. On a machine without a GPU, in an environment of tests/triton, the recording driver answers and records
nothing.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
import triton
import triton.language as tl
from device_rounds import Floor

import relaunch.triton

BURST = 200
DRIVER = "libcuda.so.1"
FLOOR, OWN, OURS = "C", "Triton", "relaunch"


@triton.jit
def nothing_0():  # type: ignore[no-untyped-def]
    pass


@triton.jit  # type: ignore[untyped-decorator]
def nothing_19(a0, a1, a2, a3, a4, n0, n1, n2, n3, n4, n5, n6, n7, n8,  # type: ignore[no-untyped-def]
               C0: tl.constexpr, C1: tl.constexpr, C2: tl.constexpr, C3: tl.constexpr, C4: tl.constexpr):  # fmt: skip
    pass


@triton.jit  # type: ignore[untyped-decorator]
def nothing_58(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13,  # type: ignore[no-untyped-def]
               n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, n16, n17, n18, n19, n20, n21, n22,
               n23, n24, n25, C0: tl.constexpr, C1: tl.constexpr, C2: tl.constexpr, C3: tl.constexpr, C4: tl.constexpr,
               C5: tl.constexpr, C6: tl.constexpr, C7: tl.constexpr, C8: tl.constexpr, C9: tl.constexpr,
               C10: tl.constexpr, C11: tl.constexpr, C12: tl.constexpr, C13: tl.constexpr, C14: tl.constexpr,
               C15: tl.constexpr, C16: tl.constexpr, C17: tl.constexpr):  # fmt: skip
    pass


KERNELS = {0: (nothing_0, 0, 0, 0), 19: (nothing_19, 5, 9, 5), 58: (nothing_58, 14, 26, 18)}


def arguments(tensors: int, numbers: int, constants: int) -> list[Any]:
    found: list[Any] = [torch.zeros(64, device="cuda") for _ in range(tensors)]
    return found + [100 + number for number in range(numbers)] + [3 + number for number in range(constants)]


Loop = Callable[[], None]


def ways(size: int, floor: Floor) -> Iterator[tuple[str, Callable[[], Loop], Loop]]:
    """By name: what makes a loop of BURST launches, anew for each turn, as programs find their launcher anew; and the
    same number of launches in C."""
    kernel, *counts = KERNELS[size]
    args = arguments(*counts)
    compiled = kernel.warmup(*args, grid=(1,))

    def by_function() -> Loop:
        def loop() -> None:
            for _ in range(BURST):
                kernel[(1,)](*args)

        return loop

    def by_handle() -> Loop:
        launch = compiled[(1, 1, 1)]

        def loop() -> None:
            for _ in range(BURST):
                launch(*args)

        return loop

    def by_launcher() -> Loop:
        hooks = hooks_of(triton)
        launch = compiled.run
        function, metadata = compiled.function, compiled.packed_metadata

        def loop() -> None:
            for _ in range(BURST):
                launch(1, 1, 1, 0, function, metadata, None, *hooks, *args)

        return loop

    def in_c() -> None:
        floor.burst(compiled.function, BURST)

    kernel[(1,)](*args)
    compiled[(1, 1, 1)]
    for name, make in (
        ("kernel[grid](...)", by_function),
        ("CompiledKernel[grid](...)", by_handle),
        ("the launcher object", by_launcher),
    ):
        yield name, make, in_c


def hooks_of(package: Any) -> tuple[Any, Any]:
    if not hasattr(package, "knobs"):
        return None, None
    return package.knobs.runtime.launch_enter_hook, package.knobs.runtime.launch_exit_hook


def measure(make: Callable[[], Loop], in_c: Loop, rounds: int) -> dict[str, list[float]]:
    """Nanoseconds per launch of every burst, by turns."""
    found: dict[str, list[float]] = {FLOOR: [], OWN: [], OURS: []}
    for _ in range(rounds):
        for who, bursts in found.items():
            if who == OURS:
                relaunch.triton.install(strict=True)
            loop = in_c if who == FLOOR else make()
            loop()
            for _ in range(10):
                torch.cuda.synchronize()
                begin = time.perf_counter_ns()
                loop()
                bursts.append((time.perf_counter_ns() - begin) / BURST)
            torch.cuda.synchronize()
            relaunch.triton.uninstall()
    return found


def use_recorder() -> None:
    """Where torch is the stand-in of the tests."""
    from relaunch.differential.recorder import Recorder
    from triton.backends.nvidia.driver import CudaDriver

    recorder = Recorder("cuda")
    recorder.record(False)
    triton.runtime.driver.set_active(CudaDriver())


def main() -> None:
    rounds, floor = int(sys.argv[1]), Floor(sys.argv[2], DRIVER)
    if torch.__version__ == "0.0-stand-in":
        use_recorder()
    print(json.dumps({"triton": triton.__version__, "torch": torch.__version__}), flush=True)
    for size in KERNELS:
        for way, make, in_c in ways(size, floor):
            for who, bursts in measure(make, in_c, rounds).items():
                median, least = statistics.median(bursts), min(bursts)
                print(json.dumps({"way": way, "who": who, "size": size, "ns": median, "least": least}), flush=True)


if __name__ == "__main__":
    main()
