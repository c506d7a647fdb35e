"""Nothing outlives its launch: arguments, scratch, what hooks return, what was raised, launchers that are dropped."""

from __future__ import annotations

import gc
import os
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

ADDRESS = 0x7F0000001000

pytestmark = pytest.mark.usefixtures("only_new_objects")


class Kept:
    """A tensor that can be referred to weakly."""

    def __init__(self, answer: Any = ADDRESS) -> None:
        self.answer = answer

    def data_ptr(self) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class Fresh:
    """What a hook returns."""


def test_a_tensor_dies_with_its_last_launch(each: Any, launch: Any) -> None:
    """Flat, in a tuple and in a list; the launcher lives on."""
    shapes = [("*fp32", "i32"), (("*fp32", "i32"),)] if each.at_least >= (3, 3) else [("*fp32", "i32")]
    for types in shapes:
        launcher = each.bind(*types)
        for make in (tuple, list):
            value = Kept()
            gone = weakref.ref(value)
            launch(each, launcher, *((value, 1) if types[0] == "*fp32" else (make((value, 1)),)))
            del value
            assert gone() is None


def test_what_hooks_return_dies(each: Any, full_launch: Any) -> None:
    made: list[weakref.ref[Fresh]] = []

    def hook(_: Any) -> Fresh:
        fresh = Fresh()
        made.append(weakref.ref(fresh))
        return fresh

    about = Kept()
    gone = weakref.ref(about)
    launcher = each.bind("*fp32")
    for _ in range(5):
        full_launch(each, launcher, 0x1000, about=about, enter=hook, exit=hook)
    assert len(made) == 10
    assert [ref() for ref in made] == [None] * 10
    del about
    assert gone() is None


def test_an_error_keeps_no_argument_once_it_is_dropped(each: Any, full_launch: Any) -> None:
    """Whatever fails: an argument, the address of one, a hook, the grid, the driver."""

    def fail(_: Any) -> None:
        raise LookupError("from the hook")

    name = "hipModuleLaunchKernel"
    if each.backend == "cuda":
        name = "cuLaunchKernelEx" if each.at_least >= (3, 4) else "cuLaunchKernel"
    launcher = each.bind("*fp32", "*fp32", "i32")
    failures: list[tuple[Any, Any, dict[str, Any]]] = [
        (ADDRESS, "x", {}),
        (0xBA0000001000, 1, {}),
        (LookupError("mine"), 1, {}),
        (ADDRESS, 1, {"enter": fail}),
        (ADDRESS, 1, {"exit": fail}),
        (ADDRESS, 1, {"grid": (-1, 1, 1)}),
        (ADDRESS, 1, {"metadata": (1, 2)}),
        (ADDRESS, 1, {}),
    ]
    for at, (answer, number, given) in enumerate(failures):
        first, second = Kept(), Kept(answer)
        gone = [weakref.ref(first), weakref.ref(second)]
        each.forget(launcher)
        if at == len(failures) - 1:
            each.recorder.fail(name, 0, 700)
        caught: BaseException | None = None
        try:
            full_launch(each, launcher, first, second, number, **given)
        except (TypeError, LookupError, ValueError, RuntimeError, OverflowError) as error:
            caught = error.with_traceback(None)
        assert caught is not None, at
        answer = failures[at] = None  # type: ignore[call-overload] # the exception that data_ptr() raised
        del first, second, caught
        assert [ref() for ref in gone] == [None, None], at


def test_a_dropped_launcher_lets_everything_go(each: Any, launch: Any) -> None:
    """Its scratch, and its memory: a launcher for each of many signatures, as a cache without bound would make."""
    names = [name for name in ("profile_scratch",) if each.at_least >= (3, 5)]
    scratch = Kept()
    gone = weakref.ref(scratch)
    launcher = each.bind("*fp32", **dict.fromkeys(names, scratch))
    launch(each, launcher, 1)
    del launcher, scratch
    assert gone() is None


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.plain_build  # a sanitizer keeps what is freed, so resident memory grows
@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_many_dropped_launchers_leave_no_memory(of: Any, backend: str) -> None:
    driver = of(f"3.6-{backend}")

    def bind_some(first: int, count: int) -> None:
        for number in range(first, first + count):
            types = ["*fp32", *["i32"] * (number % 37), ("fp64", "constexpr"), "i8"]
            launcher = driver.bind(*types, name=f"kernel_{number}", function=number + 1)
            driver.forget(launcher)
            launcher(1, 1, 1, 0, 1, *[1] * (number % 37), (2.0, None), 3)

    bind_some(0, 200)
    gc.collect()
    blocks, memory = sys.getallocatedblocks(), resident()
    bind_some(200, 500)
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 200
    assert resident() - memory < 1 << 20
