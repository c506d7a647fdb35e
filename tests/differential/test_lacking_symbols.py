"""A driver library that lacks one function, for every dialect and every function that ours looks up.

What needs the function says which one and what to do, or does without where the facts say so; all else works as ever.

The library is the recording driver with one name of its symbol table written over.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential.recorder import Recorder, path

import relaunch

DRIVER = Path(__file__).resolve().parents[2] / "precompiled" / "driver"
LISTED = re.compile(r'^RELAUNCH_DRIVER_FUNCTION\((\w+), "([^"]+)"\)', re.MULTILINE)
FUNCTIONS = {
    backend: dict(LISTED.findall((DRIVER / f"{backend}_functions.def").read_text())) for backend in ("cuda", "hip")
}

# Asked for what only makes an error or a check better, and done without.
DISPENSABLE = {
    "cuCtxGetDevice", "cuDeviceGetAttribute", "hipGetDevice", "hipDeviceGetAttribute",  # the limits in a refusal's text
    "cuGetErrorString", "hipGetErrorString",  # a refusal's words: its number is left
    "cuDriverGetVersion",  # for more than 4096 bytes of parameters: the launch decides
    "cuFuncGetAttribute",  # what a function has of its own: the driver is asked for more without it
    "cuFuncGetParamInfo",  # the comparison with the signature
    "hipGetLastError",  # forgets a failed query
}  # fmt: skip
PROBES = {"cuda": ("cuCtxGetCurrent", "CUDA driver"), "hip": ("hipModuleLaunchKernel", "HIP runtime")}

META = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [8, 16], "fp4_padded": False}
ADDRESS = 0x700000001000
ELSEWHERE = 0xBA0000000000  # an address that the recording drivers' query refuses


@dataclass
class Tensor:
    address: int

    def data_ptr(self) -> int:
        return self.address


class Descriptor:
    base = Tensor(ADDRESS)
    shape, strides, padding, round_f32_to_tf32 = (64, 64), (64, 1), "zero", False


@dataclass
class Use:
    """Something that is done with a driver: binding, launching, encoding."""

    run: Callable[[Recorder, str], Any]
    options: dict[str, Any]


def launching(signature: str, *args: Any, no_context: bool = False, fail: bool = False, **options: Any) -> Use:
    def run(recorder: Recorder, dialect: str) -> None:
        launcher = relaunch.Launcher(signature, dialect=dialect, driver=str(recorder.path), function=0xF00, **options)
        recorder.set_slots(launcher.slots)
        if no_context:
            recorder.no_context()
        if fail:
            for name in ("cuLaunchKernel", "cuLaunchKernelEx", "hipModuleLaunchKernel"):
                recorder.fail(name, 0, 1)
        launcher(1, 1, 1, 0, *args)

    return Use(run, options)


def bind_without_context(recorder: Recorder, dialect: str) -> None:
    recorder.no_context()
    relaunch.Launcher("i32", dialect=dialect, driver=str(recorder.path), function=0xF00, shared=60_000)


def encode(recorder: Recorder, _dialect: str) -> None:
    driver = str(recorder.path)
    relaunch.TensorMap.encode(data_type=6, address=2**40, dims=[2**40], strides=[], box=[8], driver=driver)


@cache
def uses(dialect: str) -> dict[str, Use]:
    """By name; those whose options the dialect has."""
    made = {
        "plain": launching("i32", 7),
        "pointers": launching("*fp32, i32", Tensor(ADDRESS), 7),
        "a pointer of the host": launching("*fp32", Tensor(ELSEWHERE)),
        "clusters": launching("i32", 7, num_ctas=2),
        "16 CTAs": launching("i32", 7, num_ctas=16),
        "cooperative": launching("i32", 7, cooperative=True),
        "both": launching("i32", 7, cooperative=True, num_ctas=2),
        "PDL": launching("i32", 7, pdl=True),
        "no context": launching("i32", 7, no_context=True),
        "much shared memory": launching("i32", 7, shared=60_000),
        "much shared memory without a context": Use(bind_without_context, {}),
        "many parameters": launching(", ".join(["i32"] * 2000), *[7] * 2000),
        "a refused launch": launching("i32", 7, fail=True),
    }
    if dialect.endswith("cuda"):
        made["a map"] = Use(encode, {})
    if dialect in ("triton-3.4-cuda", "triton-3.6-cuda", "triton-3.9-cuda"):
        made["a descriptor"] = launching("tensordesc<fp16[8, 16]>", Descriptor(), tensordesc_meta=[META])
    return {name: use for name, use in made.items() if fits(dialect, use)}


def fits(dialect: str, use: Use) -> bool:
    try:
        relaunch.Launcher("{}", dialect=dialect, driver=str(path(dialect.rpartition("-")[2])), **use.options)
    except relaunch.BindError:
        return False
    except AssertionError:
        return True  # of the descriptor that is in the use's signature alone
    return True


@dataclass
class Done:
    """What came of a use."""

    events: list[Any]
    error: tuple[type[BaseException], str] | None
    calls: list[str]


def done(use: Use, recorder: Recorder, dialect: str) -> Done:
    recorder.reset()
    recorder.list_calls()
    error = None
    try:
        use.run(recorder, dialect)
    except (RuntimeError, ValueError) as caught:
        error = (type(caught), str(caught))
    return Done(recorder.events(), error, recorder.calls())


def without(backend: str, function: str, folder: Path) -> Recorder:
    """The recording driver without a function."""
    name = b"\0" + function.encode() + b"\0"
    content = path(backend).read_bytes()
    made = folder / f"lib{function}.so"
    made.write_bytes(content.replace(name, b"\0_" + name[2:], 1))  # the symbol table comes before other texts
    recorder = Recorder(backend, made)
    assert not hasattr(recorder.library, function)
    return recorder


@pytest.mark.parametrize(
    ("backend", "function"), [(backend, function) for backend, listed in FUNCTIONS.items() for function in listed]
)
def test_a_missing_function_is_named(backend: str, function: str, tmp_path: Path) -> None:
    whole, poor = Recorder(backend), without(backend, function, tmp_path)
    failed = 0
    for dialect in dialects(backend):
        for name, use in uses(dialect).items():
            wanted, got = done(use, whole, dialect), done(use, poor, dialect)
            where = f"{dialect}: {name}: {got.error}"
            failed += got.error is not None and wanted.error is None
            if function == PROBES[backend][0]:
                text = f"{poor.path} is not the {PROBES[backend][1]}: it has no {function}"
                assert got.error == (relaunch.BindError, text + "; give the path of its own library"), where
            elif function not in wanted.calls or function in DISPENSABLE:
                check_done_without(function, wanted, got, where)
            elif got.error is None:  # the address is taken as it is where the query fails
                assert function == "hipPointerGetAttribute"
                assert dialect in ("triton-3.7-hip", "triton-3.9-hip"), where
            else:
                since = FUNCTIONS[backend][function]
                text = f"{poor.path} has no {function}, which came with {since}: install that release or a later one"
                assert text in got.error[1], where
                assert f"from {function})" in got.error[1], where
                assert not any("params" in event for event in got.events), where
                assert got.events == wanted.events[: len(got.events)], where
    assert bool(failed) == (function not in DISPENSABLE)


def dialects(backend: str) -> list[str]:
    return [one for one in relaunch.DIALECTS if one.endswith(backend)]


def check_done_without(function: str, wanted: Done, got: Done, where: str) -> None:
    """The same, but for what the function itself shows or words."""
    assert [event for event in wanted.events if event.get("call") != function] == got.events, where
    assert (got.error is None) == (wanted.error is None), where
    if got.error is not None and wanted.error is not None:
        assert got.error[0] is wanted.error[0], where
        if "GetErrorString" in function:
            assert got.error[1] == wanted.error[1].replace("invalid argument", "error 1"), where
        elif function not in wanted.calls:
            assert got.error == wanted.error, where
        else:
            assert wanted.error[1].startswith(got.error[1])


@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_every_function_has_a_use(backend: str) -> None:
    """In some dialect something calls it; else nothing would have shown what its absence does."""
    recorder = Recorder(backend)
    called: set[str] = set()
    for dialect in dialects(backend):
        called.update(*(done(use, recorder, dialect).calls for use in uses(dialect).values()))
    assert called == set(FUNCTIONS[backend]) - {"hipGetErrorString"}  # gives no status, and is not listed


def test_without_a_driver_the_library_is_named() -> None:
    """In every dialect, where no library of that name is on the machine: here by a loader that finds nothing."""
    script = (
        "import relaunch\n"
        "for dialect in relaunch.DIALECTS:\n"
        "    name = 'libnone.so.1'\n"
        "    try:\n"
        "        relaunch.Launcher('i32', dialect=dialect, driver=name)\n"
        "    except relaunch.BindError as error:\n"
        "        assert str(error).startswith(f'the driver library cannot be opened: {name}: '), error\n"
        '        assert str(error).endswith("; install the GPU\'s driver, or give the path of its library"), error\n'
        "    else:\n"
        "        raise AssertionError(dialect)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
