"""A driver library that lacks one function, or all that came after a release, and a machine without a device; for every
dialect and every function that ours looks up.

What needs the function says which one and what to do, or does without where the facts say so; all else works as ever.

The library is the recording driver with names of its symbol table written over.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterable
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
TAKING_ADDRESSES = ("triton-3.7-hip", "triton-3.9-hip")  # as they are where their query fails
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


def done(use: Use, recorder: Recorder, dialect: str, version: int = 0) -> Done:
    """`version`: what the driver says of itself, 0 for the newest."""
    recorder.reset()
    recorder.driver_version(version)
    recorder.list_calls()
    error = None
    try:
        use.run(recorder, dialect)
    except (RuntimeError, ValueError) as caught:
        error = (type(caught), str(caught))
    return Done(recorder.events(), error, recorder.calls())


def without(backend: str, functions: Iterable[str], made: Path) -> Recorder:
    """The recording driver without some functions, written to a file."""
    content = path(backend).read_bytes()
    for function in functions:
        name = b"\0" + function.encode() + b"\0"
        content = content.replace(name, b"\0_" + name[2:], 1)  # the symbol table comes before other texts
    made.write_bytes(content)
    recorder = Recorder(backend, made)
    assert [function for function in FUNCTIONS[backend] if not hasattr(recorder.library, function)] == [*functions]
    return recorder


@pytest.mark.parametrize(
    ("backend", "function"), [(backend, function) for backend, listed in FUNCTIONS.items() for function in listed]
)
def test_a_missing_function_is_named(backend: str, function: str, tmp_path: Path) -> None:
    whole, poor = Recorder(backend), without(backend, [function], tmp_path / f"lib{function}.so")
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
                check_done_without({function}, wanted, got, where)
            elif got.error is None:
                assert function == "hipPointerGetAttribute"
                assert dialect in TAKING_ADDRESSES, where
            else:
                check_names(poor, function, wanted, got, where)
    assert bool(failed) == (function not in DISPENSABLE)


def check_names(poor: Recorder, function: str, wanted: Done, got: Done, where: str) -> None:
    """The error says which function is missing; all was as ever up to there, and nothing was launched."""
    assert got.error is not None, where
    (since,) = (some[function] for some in FUNCTIONS.values() if function in some)
    text = f"{poor.path} has no {function}, which came with {since}: install that release or a later one"
    assert text in got.error[1], where
    assert f"from {function})" in got.error[1], where
    assert not any("params" in event for event in got.events), where
    assert got.events == wanted.events[: len(got.events)], where


# Older drivers: what each says of its version, and how many functions it lacks.
OLDER = [
    ("cuda", "CUDA 8.0", 8000, 4), ("cuda", "CUDA 11.4", 11040, 3), ("cuda", "CUDA 11.8", 11080, 2),
    ("cuda", "CUDA 12.0", 12000, 1), ("cuda", "CUDA 12.2", 12020, 1), ("cuda", "CUDA 12.4", 12040, 0),
    ("hip", "ROCm 4.5", 40500000, 3), ("hip", "ROCm 5.4", 50400000, 2), ("hip", "ROCm 6.4", 60400000, 1),
]  # fmt: skip


@pytest.mark.parametrize(("backend", "release", "version", "count"), OLDER)
def test_an_older_driver_does_what_it_can(backend: str, release: str, version: int, count: int, tmp_path: Path) -> None:
    """What calls none of the functions that came later works as ever; all else names the first that is missing."""
    lacking = [name for name, since in FUNCTIONS[backend].items() if numbers(since) > numbers(release)]
    assert len(lacking) == count
    whole, poor = Recorder(backend), without(backend, lacking, tmp_path / "libolder.so")
    refused = 0
    for dialect in dialects(backend):
        for name, use in uses(dialect).items():
            wanted, got = done(use, whole, dialect, version), done(use, poor, dialect, version)
            where = f"{dialect}: {name}: {got.error}"
            needed = [one for one in wanted.calls if one in lacking and one not in DISPENSABLE]
            if name == "many parameters" and backend == "cuda" and version < 12010:
                assert wanted.error is not None, where
                assert "takes 4096" in wanted.error[1], where
            if not needed:
                check_done_without({*lacking}, wanted, got, where)
            elif got.error is None:
                assert needed == ["hipPointerGetAttribute"], where
                assert dialect in TAKING_ADDRESSES, where
            else:
                check_names(poor, needed[0], wanted, got, where)
                refused += 1
    assert bool(refused) == any(name not in DISPENSABLE for name in lacking)


def numbers(release: str) -> tuple[int, ...]:
    """(12, 4) for "CUDA 12.4"."""
    return tuple(map(int, release.split()[1].split(".")))


NO_DEVICE = 100


@pytest.mark.parametrize("dialect", relaunch.DIALECTS)
def test_a_machine_without_a_device(dialect: str) -> None:
    """Every call of the driver says so: what needs a device says which call, and nothing else is asked for.

    As soon as there is one, the same things work.
    """
    backend = dialect.rpartition("-")[2]
    recorder = Recorder(backend)
    not_needed = DISPENSABLE | ({"hipPointerGetAttribute"} if dialect in TAKING_ADDRESSES else set())
    for name, use in uses(dialect).items():
        if name == "a refused launch" or (backend == "hip" and name == "much shared memory without a context"):
            continue  # is told another status; asks HIP for nothing
        wanted, got = done(use, recorder, dialect), done(deviceless(use, backend), recorder, dialect)
        where = f"{dialect}: {name}: {got.error}"
        needed = [one for one in wanted.calls if one not in not_needed]
        first = needed[0] if needed else "hipModuleLaunchKernel"  # of an address that is taken as it is
        assert got.error is not None, where
        binding = backend == "cuda" and name.startswith("much shared memory")
        assert got.error[0] is (relaunch.BindError if binding else RuntimeError), where
        assert f"({NO_DEVICE} from {first})" in got.error[1], where
        assert [one for one in got.calls if one not in not_needed] == [first], where
        assert done(use, recorder, dialect) == wanted, where


def deviceless(use: Use, backend: str) -> Use:
    def run(recorder: Recorder, dialect: str) -> None:
        for function in FUNCTIONS[backend]:
            for nth in range(50):
                recorder.fail(function, nth, NO_DEVICE)
        use.run(recorder, dialect)

    return Use(run, use.options)


def dialects(backend: str) -> list[str]:
    return [one for one in relaunch.DIALECTS if one.endswith(backend)]


def check_done_without(lacking: set[str], wanted: Done, got: Done, where: str) -> None:
    """The same, but for what the functions themselves show or word."""
    assert [event for event in wanted.events if event.get("call") not in lacking] == got.events, where
    assert (got.error is None) == (wanted.error is None), where
    if got.error is not None and wanted.error is not None:
        assert got.error[0] is wanted.error[0], where
        if any("GetErrorString" in function for function in lacking):
            assert got.error[1] == wanted.error[1].replace("invalid argument", "error 1"), where
        elif not lacking & {*wanted.calls}:
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
