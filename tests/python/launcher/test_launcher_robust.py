"""No Python object makes a launch die, and one launcher serves many threads."""

from __future__ import annotations

import copy
import ctypes
import gc
import os
import pickle
import sys
import threading
import weakref
from typing import Any

import pytest

import relaunch


def test_construction_is_all_or_nothing() -> None:
    make: Any = relaunch.Launcher
    with pytest.raises(TypeError):
        make.__new__(make)
    with pytest.raises(TypeError):
        make.__new__(int)
    with pytest.raises(TypeError):
        object.__new__(make)


def test_no_copies(driver: Any) -> None:
    launcher = driver.bind("i32")
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            copied(launcher)


def test_cycles_are_collected(cuda: Any) -> None:
    class Scratch:
        launcher: Any = None

        def __call__(self, _grid: Any, _stream: Any) -> int:
            return 0

    scratch = Scratch()
    scratch.launcher = cuda.bind(global_scratch=scratch)
    gone = weakref.ref(scratch)
    del scratch
    gc.collect()
    assert gone() is None


def test_a_finalizer_may_still_launch(cuda: Any) -> None:
    ended: list[Any] = []

    class Scratch:
        launcher: Any = None

        def __call__(self, _grid: Any, _stream: Any) -> int:
            return 0

        def __del__(self) -> None:
            ended.append(self.launcher(1, 1, 1, 0))

    scratch = Scratch()
    scratch.launcher = cuda.bind(global_scratch=scratch)
    del scratch
    gc.collect()
    assert ended == [None]


def test_no_references_are_leaked(driver: Any, tensor: Any) -> None:
    launcher = driver.bind("*i8", ("*i8", "i64"), "fp16", "constexpr")
    value, items, text = tensor(0x1000), [tensor(0x2000), 2**40], "".join(("ke", "pt"))  # a literal would be anyone's
    counted = (value, items, items[0], items[1], text, launcher)

    def counts() -> list[int]:
        return [sys.getrefcount(one) for one in counted]

    before = counts()
    for _ in range(50):
        launcher(1, 1, 1, 0, value, items, 1.5, text)
        launcher.launch(1, 1, 1, 0, 1, (4, 1, 0), text, None, None, value, items, 1.5, text)
        for bad in ((value, items, "x", text), (value, (items[0], "x"), 1.5, text), (value, items, 1e9, text)):
            with pytest.raises((TypeError, OverflowError)):
                launcher(1, 1, 1, 0, *bad)
    del bad
    assert counts() == before


def test_arguments_that_call_the_launcher(driver: Any) -> None:
    class Again:
        depth = 0

        def data_ptr(self) -> int:
            if self.depth < 20:
                self.depth += 1
                launcher(1, 1, 1, 0, self, self.depth)
            return 0x1000

    launcher = driver.bind("*i8", "i32")
    launcher(1, 1, 1, 0, Again(), 0)
    order = [int.from_bytes(bytes.fromhex(launch["params"][1]), "little") for launch in driver.launches()]
    assert order == [*range(20, -1, -1)]


@pytest.mark.plain_build  # frames are several times as large under a sanitizer
@pytest.mark.parametrize("count", [0, 200, 255, 1000, 4000])
@pytest.mark.parametrize("nested", [False, True])
def test_endless_recursion_is_an_error(driver: Any, nested: bool, count: int) -> None:
    """However large a launch's frame is, Python's recursion limit is reached before the stack's end."""

    class Endless:
        def data_ptr(self) -> int:
            launcher(1, 1, 1, 0, self, *numbers)
            return 0

    types: list[Any] = ["i64"] * count
    numbers: list[Any] = [7] * count
    if nested:
        types, numbers = [tuple(types)], [numbers]
    launcher = driver.bind("*i8", *types)
    with pytest.raises(RecursionError):
        launcher(1, 1, 1, 0, Endless(), *numbers)
    assert driver.launches() == []


def test_a_launcher_that_deletes_itself(driver: Any) -> None:
    holder: dict[str, Any] = {}

    class Deletes:
        def data_ptr(self) -> int:
            holder.clear()
            gc.collect()
            return 0x1000

    holder["launcher"] = driver.bind("*i8", ("*i8",))
    holder["launcher"](1, 1, 1, 0, Deletes(), [Deletes()])
    assert driver.parameters() == ["0010000000000000"] * 2


def test_classes_with_hostile_attributes(driver: Any) -> None:
    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            raise RuntimeError(name)

        def mro(cls) -> Any:
            return [cls, object]

    class Hostile(metaclass=Meta):
        def __getattribute__(self, name: str) -> Any:
            raise ZeroDivisionError(name)

    launcher = driver.bind("*i8")
    with pytest.raises(ZeroDivisionError, match="data_ptr"):
        launcher(1, 1, 1, 0, Hostile())
    assert driver.events() == []


def test_odd_names_in_messages(driver: Any) -> None:
    launcher = driver.bind("i32", name="名前 %s {}\n")
    with pytest.raises(TypeError) as caught:
        launcher(1, 1, 1, 0, None)
    assert str(caught.value) == "argument 1 of 名前 %s {}\n(i32): expected an int for i32, got NoneType"
    with pytest.raises(UnicodeEncodeError):
        driver.bind("i32", name="\ud800")


def test_deep_tuples(driver: Any) -> None:
    types: Any = "i8"
    value: Any = 5
    for _ in range(256):
        types, value = (types,), [value]
    launcher = driver.bind(types)
    launcher(1, 1, 1, 0, value)
    assert driver.parameters() == ["05"]


def test_large_frames(driver: Any) -> None:
    launcher = driver.bind(*[("i32", "constexpr")] * 4000, "i32")
    driver.forget(launcher)
    launcher(1, 1, 1, 0, *[[number, None] for number in range(4000)], 7)
    assert driver.parameters()[3999:] == [(3999).to_bytes(4, "little").hex(), "07000000"]
    with pytest.raises(TypeError) as caught:
        launcher(1, 1, 1, 0, *[["x", None]] * 4000, 7)
    assert str(caught.value).startswith("argument 1 of add((i32, constexpr), (i32, constexpr), ")


@pytest.mark.threads
def test_many_threads(driver: Any, in_threads: Any) -> None:
    launcher = driver.bind("i32", ("i32", "fp64"))

    def launch(number: int) -> None:
        for i in range(200):
            launcher(1, 1, 1, 0, number, [i, float(number)])

    in_threads(8, launch)
    seen: dict[str, list[int]] = {}
    for launched in driver.launches():
        number, i, double, *_ = launched["params"]
        assert double == __import__("struct").pack("<d", int.from_bytes(bytes.fromhex(number), "little")).hex()
        seen.setdefault(number, []).append(int.from_bytes(bytes.fromhex(i), "little"))
    assert sorted(seen) == [number.to_bytes(4, "little").hex() for number in range(1, 9)]
    assert all(order == list(range(200)) for order in seen.values())


@pytest.mark.threads
def test_small_thread_stacks(driver: Any) -> None:
    """256 parameters fit a small stack; larger launches take their frame from the heap."""
    old = threading.stack_size(256 * 1024)
    try:
        for count in (256, 4000):
            launcher = driver.bind(*["i32"] * count)
            driver.forget(launcher)
            thread = threading.Thread(target=launcher, args=(1, 1, 1, 0, *range(count)))
            thread.start()
            thread.join()
            assert len(driver.parameters()) == count
    finally:
        threading.stack_size(old)


def test_a_forked_child_that_launches_nothing_leaves_the_driver_alone(driver: Any) -> None:
    """Unrecorded calls show too: the first call of each function is told to fail, and comes from the test."""
    launcher = driver.bind("i32", shared=50_000)
    launcher(1, 1, 1, 0, 1)
    names = {
        "cuda": ("cuCtxGetCurrent", "cuDeviceGet", "cuDriverGetVersion", "cuInit"),
        "hip": ("hipGetLastError", "hipDriverGetVersion", "hipGetDevice", "hipInit"),
    }[driver.backend]
    before = driver.events()
    for name in names:
        driver.recorder.fail(name, 0, 999)
    child = os.fork()
    if child == 0:
        try:
            shown = (repr(launcher), launcher.parameters, launcher.tree)
            del launcher, shown
            gc.collect()
            untouched = driver.events() == before
            out = ctypes.c_uint64()
            library = driver.recorder.library
            untouched &= all(library[name](ctypes.byref(out), 0) == 999 for name in names)
            os._exit(0 if untouched else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_after_a_fork(driver: Any) -> None:
    launcher = driver.bind("i32")
    child = os.fork()
    if child == 0:
        try:
            launcher(1, 1, 1, 0, 1)
            os._exit(0 if len(driver.launches()) == 1 else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.plain_build  # frames are several times as large under a sanitizer
@pytest.mark.parametrize("count", [0, 255, 1000])
def test_endless_recursion_is_an_error_in_every_era(era: Any, count: int) -> None:
    class Endless:
        def data_ptr(self) -> int:
            launcher(1, 1, 1, 0, self, *numbers)
            return 0

    numbers = [7] * count
    launcher = era.bind("*i8", *["i64"] * count)
    with pytest.raises(RecursionError):
        launcher(1, 1, 1, 0, Endless(), *numbers)
    assert era.launches() == []


@pytest.mark.parametrize("dialect", ["3.7-cuda", "3.9-hip"])
def test_iterables_that_call_the_launcher(of: Any, dialect: str) -> None:
    class Again:
        depth = 0

        def __iter__(self) -> Any:
            if self.depth < 20:
                self.depth += 1
                launcher(1, 1, 1, 0, self, self.depth)
            return iter([0x1000, 7])

    class Endless:
        def __iter__(self) -> Any:
            launcher(1, 1, 1, 0, self, 1)
            return iter([0, 0])

    driver = of(dialect)
    launcher = driver.bind(("*i8", "i32"), "i32")
    launcher(1, 1, 1, 0, Again(), 0)
    order = [int.from_bytes(bytes.fromhex(launch["params"][2]), "little") for launch in driver.launches()]
    assert order == [*range(20, -1, -1)]
    driver.forget(launcher)
    with pytest.raises(RecursionError):
        launcher(1, 1, 1, 0, Endless(), 0)
    assert driver.launches() == []


def test_a_launcher_of_every_era_that_deletes_itself(era: Any) -> None:
    holder: dict[str, Any] = {}

    class Deletes:
        def data_ptr(self) -> int:
            holder.clear()
            gc.collect()
            return 0x1000

    tuples = era.at_least >= (3, 3)
    holder["launcher"] = era.bind("*i8", ("*i8",) if tuples else "*i8")
    holder["launcher"](1, 1, 1, 0, Deletes(), [Deletes()] if tuples else Deletes())
    assert era.parameters() == ["0010000000000000"] * 2


def test_metadata_that_changes_while_it_is_read(of: Any) -> None:
    driver = of("3.7-cuda")
    metadata: list[Any] = []

    class Clears:
        def __index__(self) -> int:
            metadata.clear()
            gc.collect()
            return 2

    metadata += [Clears(), Clears(), Clears()]
    driver.bind().launch(1, 1, 1, 0, 1, metadata, None, None, None)
    assert driver.launches()[0]["block"] == [64, 1, 1]
    assert driver.launches()[0]["grid"] == [2, 1, 1]


@pytest.mark.threads
def test_threads_of_every_era(era: Any, in_threads: Any) -> None:
    launcher = era.bind("i32", "fp16", "u1")

    def launch(number: int) -> None:
        for _ in range(100):
            launcher.launch(1, 1, 1, 0, 1, era.metadata(4, 1 + number % 2), None, None, None, number, 1.0, True)

    in_threads(8, launch)
    scaled = era.backend == "cuda" or era.at_least >= (3, 6)
    for launched in era.launches():
        odd = int(launched["params"][0][:2], 16) % 2
        assert launched["grid"][0] == (1 + odd if scaled else 1)
