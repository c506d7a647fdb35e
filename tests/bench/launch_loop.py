"""Launches one signature in a loop, in a process of its own: what `relaunch bench` runs under callgrind.

    python launch_loop.py LAUNCHER SIGNATURE POINTERS TURNS RECORDER [SHARED_OBJECT MODULE_NAME]

LAUNCHER is `generated`, `precompiled.launch` or `precompiled.call`; SIGNATURE comma text of `*...`, `i32` and
`constexpr`, or `{}`; POINTERS `tensor` (plain objects with a data_ptr() method) or `int`. Launches TURNS times, then
three times as many, with a call of getppid() before, between and after. Prints the nanoseconds per turn of the longer
loop.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.machinery
import importlib.util
import os
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

FUNCTION = 0x1000
METADATA = (4, 1, 0)  # num_warps, num_ctas, shared bytes
DIALECT = "triton-3.6-cuda"


class Tensor:
    """A plain Python object with a data_ptr() method."""

    def __init__(self, address: int) -> None:
        self.address = address

    def data_ptr(self) -> int:
        return self.address


def arguments(signature: str, pointers: str) -> list[Any]:
    """What a signature is launched with."""
    values: list[Any] = []
    for place, entry in enumerate([] if signature == "{}" else signature.split(", ")):
        if entry.startswith("*"):
            address = 0x7F0000000000 + 4096 * place
            values.append(address if pointers == "int" else Tensor(address))
        else:
            values.append(1000 + place)
    return values


def generated(shared_object: str, module_name: str) -> Callable[..., None]:
    """The launch function of a generated launcher; its module wants Triton's descriptor type to be importable."""
    stand_in = types.ModuleType("triton.backends.nvidia.driver")
    stand_in.PyCUtensorMap = type("PyCUtensorMap", (), {})  # type: ignore[attr-defined]
    for name in ("triton", "triton.backends", "triton.backends.nvidia"):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules.setdefault(stand_in.__name__, stand_in)
    loader = importlib.machinery.ExtensionFileLoader(module_name, shared_object)
    spec = importlib.util.spec_from_file_location(module_name, shared_object, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    launch: Callable[..., None] = module.launch
    return launch


def precompiled(signature: str, recorder: str) -> Any:
    """The precompiled launcher of a signature."""
    import relaunch

    tree = relaunch.parse(signature)
    return relaunch.Launcher(tree, dialect=DIALECT, function=FUNCTION, name="kernel", driver=recorder, num_warps=4)


# What stands in front of the kernel's arguments, for each launcher.
PREFIX = {
    "generated": "1, 1, 1, 0, FUNCTION, False, False, None, None, METADATA, None, None, None",
    "precompiled.launch": "1, 1, 1, 0, FUNCTION, METADATA, None, None, None",
    "precompiled.call": "1, 1, 1, 0",
}


def loop_of(launcher: str, call: Callable[..., object], values: list[Any]) -> Callable[[int], None]:
    """A function of the number of turns whose body is the call, spelled out as a user's code would be."""
    names = "".join(f", a{i}" for i in range(len(values)))
    source = f"def loop(turns, call{names}):\n    for _ in range(turns):\n        call({PREFIX[launcher]}{names})\n"
    scope: dict[str, Any] = {"FUNCTION": FUNCTION, "METADATA": METADATA}
    exec(source, scope)
    return lambda turns: scope["loop"](turns, call, *values)


def main(words: list[str]) -> None:
    """Runs the loop that the words ask for."""
    launcher, signature, pointers, turns, recorder = words[0], words[1], words[2], int(words[3]), words[4]
    driver = ctypes.CDLL(str(Path(recorder)), mode=ctypes.RTLD_GLOBAL)
    driver.relaunch_recorder_mode(1)
    call: Callable[..., object]
    if launcher == "generated":
        call = generated(words[5], words[6])
    else:
        handle = precompiled(signature, recorder)
        call = handle.launch if launcher == "precompiled.launch" else handle
    loop = loop_of(launcher, call, arguments(signature, pointers))
    loop(10)
    gc.collect()
    gc.disable()  # a collection that happens to fall into the loop is no part of a launch
    # Whoever counts tells the loops apart by these calls, which nothing else makes.
    os.getppid()
    loop(turns)
    os.getppid()
    begin = time.perf_counter_ns()
    loop(3 * turns)
    taken = time.perf_counter_ns() - begin
    os.getppid()
    print(taken / (3 * turns))


if __name__ == "__main__":
    main(sys.argv[1:])
