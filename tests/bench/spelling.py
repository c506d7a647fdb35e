"""Launches spelled out as a user's code would be, for every launcher; and what they are made with.

Programs of this folder import it as their neighbour. Nothing here needs the package, torch or a device.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

METADATA = (4, 1, 0)  # num_warps, num_ctas, shared bytes
DIALECT = "triton-3.6-cuda"
HIDDEN = 2  # global_scratch and profile_scratch, null

# One launch of each launcher of this project. The braces stand for the arguments, each followed by a comma.
FORMS = {
    "generated": "call(1, 1, 1, 0, FUNCTION, False, False, None, None, METADATA, None, None, None, {})",
    "precompiled.launch": "call(1, 1, 1, 0, FUNCTION, METADATA, None, None, None, {})",
    "precompiled.call": "call(1, 1, 1, 0, {})",
}

LOOPS = """
def once({names}):
    return {launch}

def loop(turns, {names}):
    for _ in range(turns):
        {launch}

def burst(turns, clock, {names}):
    begin = clock()
    for _ in range(turns):
        {launch}
    return clock() - begin

def cold(turns, clock, walk, {names}):
    times = []
    for _ in range(turns):
        walk()
        begin = clock()
        {launch}
        times.append(clock() - begin)
    return times
"""


class Tensor:
    """A plain Python object with a data_ptr() method."""

    def __init__(self, address: int) -> None:
        self.address = address

    def data_ptr(self) -> int:
        return self.address


def entries(signature: str) -> list[str]:
    """The entries of a flat signature's text; `{}` has none."""
    return [] if signature == "{}" else signature.split(", ")


def arguments(signature: str, pointer: Callable[[int], object]) -> list[Any]:
    """What a signature is launched with: `pointer` of the address of each pointer entry, else an int."""
    return [
        pointer(0x7F0000000000 + 4096 * place) if entry.startswith("*") else 1000 + place
        for place, entry in enumerate(entries(signature))
    ]


def import_extension(path: str, name: str) -> types.ModuleType:
    """The extension module `name` of a shared object."""
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def import_generated(path: str, name: str) -> Callable[..., None]:
    """The launch function of a generated launcher. Its module imports Triton's descriptor type: without Triton, a
    type of that name stands in."""
    stand_ins: dict[str, types.ModuleType] = {}
    try:
        import triton.backends.nvidia.driver  # noqa: F401
    except Exception:  # noqa: BLE001 - whatever keeps Triton from loading
        parts = ("triton", "triton.backends", "triton.backends.nvidia", "triton.backends.nvidia.driver")
        stand_ins = {part: types.ModuleType(part) for part in parts if part not in sys.modules}
        stand_ins[parts[-1]].PyCUtensorMap = type("PyCUtensorMap", (), {})  # type: ignore[attr-defined]
    sys.modules.update(stand_ins)
    try:
        launch: Callable[..., None] = import_extension(path, name).launch
    finally:
        for part in stand_ins:  # whoever looks for Triton later must not find these
            del sys.modules[part]
    return launch


def loops(form: str, spelled: Sequence[str], names: Mapping[str, object], values: Sequence[object]) -> dict[str, Any]:
    """`once()`, `loop(turns)`, `burst(turns, clock)` and `cold(turns, clock, walk)` over one launch.

    form: the launch, with braces where the arguments stand. spelled: the arguments' expressions, of a0, a1, ... which
    are `values`. names: what else the launch names.
    """
    bound = {**names, **{f"a{place}": value for place, value in enumerate(values)}}
    launch = form.format("".join(f"{expression}, " for expression in spelled))
    scope: dict[str, Any] = {}
    exec(LOOPS.format(names=", ".join(bound), launch=launch), scope)
    given = tuple(bound.values())

    def with_given(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *leading: function(*leading, *given)

    return {name: with_given(scope[name]) for name in ("once", "loop", "burst", "cold")}
