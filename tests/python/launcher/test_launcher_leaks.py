"""Neither a launch nor a failure keeps a reference or a byte. The recorder records nothing meanwhile."""

from __future__ import annotations

import gc
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import relaunch

MOST_BYTES = 1 << 20  # that resident memory may grow by: one byte of each of 10^6 launches
ADDRESS = 0x700000001000

pytestmark = [
    pytest.mark.usefixtures("only_new_objects"),
    pytest.mark.plain_build,  # a sanitizer keeps what is freed, so resident memory grows
]


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Steady:
    """Asserts on leaving that the objects have the references they had, and the process its memory.
    None and its like may gain or lose a few: the test runner holds them too."""

    def __init__(self, *objects: Any) -> None:
        self.objects = objects

    def counts(self) -> list[int]:
        return [sys.getrefcount(one) for one in self.objects]

    def __enter__(self) -> None:
        gc.collect()
        self.before = self.counts()
        self.allocated = sys.getallocatedblocks()
        self.resident = resident()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            return
        gc.collect()
        grown = resident() - self.resident
        allocated = sys.getallocatedblocks() - self.allocated
        for one, before, after in zip(self.objects, self.before, self.counts(), strict=True):
            slack = 200 if one is None or (isinstance(one, (bool, int)) and -5 <= one <= 256) else 0
            assert abs(after - before) <= slack, f"{one!r}: {before} references became {after}"
        assert allocated < 400  # the interpreter's own caches; the shortest loop has 2,000 turns
        assert grown < MOST_BYTES


class Index:
    def __index__(self) -> int:
        return 7


class Float:
    def __float__(self) -> float:
        return 0.5


class MyInt(int): ...


class MyFloat(float): ...


class Items:
    """A sequence that makes its items."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> int:
        return 2**40 + index


def run(count: int, call: Callable[..., Any], *args: Any) -> None:
    for _ in itertools.repeat(None, count):
        call(*args)


def measured(driver: Any, count: int, call: Callable[..., Any], *args: Any) -> None:
    driver.recorder.record(False)
    run(2000, call, *args)
    with Steady(call, *args):
        run(count, call, *args)


def test_flat_launches(driver: Any, tensor: Any) -> None:
    types = ["*i8", "*i8", "*i8", "i32", "i64", "u64", "i8", "fp32", "fp64", "fp16", "i16", "constexpr", "i32"]
    numbers = [2**46, 2**20, 2**50, 2**63, MyInt(100), 1.5, MyFloat(2.5), 3, Index()]
    values = [tensor(ADDRESS), None, *numbers, "kept", True]
    measured(driver, 1_000_000, driver.bind(*types), 1, 2, 3, 0x55D000001000, *values)


def test_many_plain_ints(driver: Any) -> None:
    measured(driver, 100_000, driver.bind(*["i32"] * 58), 1, 2, 3, 0, *range(1000, 1058))


def test_tuples_and_scratch(driver: Any, tensor: Any) -> None:
    launcher = driver.bind(
        ("*i8", ("i64", "constexpr")), ("i64", "i64"), ("fp32",), profile_scratch=lambda _grid, _stream: 2**45
    )
    nested = (tensor(ADDRESS), [2**40, "kept"])
    measured(driver, 30_000, launcher, 1, 2, 3, 0, nested, Items(), [Float()])


def test_tensor_maps(cuda: Any) -> None:
    measured(cuda, 20_000, cuda.bind("nvTmaDesc", "i32"), 1, 1, 1, 0, relaunch.TensorMap(bytes(128)), 2**20)


def test_launches_with_hooks(driver: Any, tensor: Any) -> None:
    launcher = driver.bind("*i8", ("i64",), "fp64")
    values = (tensor(ADDRESS), [2**40], 1.5)
    fixed, metadata, asked = (1, 1, 1, 0, 2**41), (4, 1, 0), {"grid": 1}
    measured(driver, 20_000, launcher.launch, *fixed, metadata, asked, lambda _: None, lambda _: [1], *values)
    measured(driver, 20_000, launcher.launch, *fixed, (8, 2, 0), asked, None, None, *values)


def test_empty_grids(driver: Any, tensor: Any) -> None:
    measured(driver, 10_000, driver.bind("*i8"), 0, 1, 1, 0, tensor(ADDRESS))


class Raises:
    """Everything that a launcher may ask of an argument raises."""

    def fail(self, *_: Any) -> Any:
        raise LookupError("mine")

    data_ptr = __index__ = __float__ = __getitem__ = __call__ = fail

    def __len__(self) -> int:
        return 1


class Short(Items):
    def __getitem__(self, index: int) -> int:
        raise IndexError(index)


def scalars(tensor: Any) -> Iterator[tuple[Any, Any, type[BaseException]]]:
    yield from (("i32", "x", TypeError), ("i32", 2**40, OverflowError), ("i8", 200, OverflowError))
    yield from (("i64", 2**70, OverflowError), ("u64", "x", TypeError), ("i32", 1.5, TypeError))
    yield from (("i32", Raises(), LookupError), ("fp32", "x", TypeError), ("fp32", Raises(), LookupError))
    yield from (("fp16", 1e9, OverflowError), ("fp64", 2**2000, OverflowError))
    yield from ((("i32", "i32"), [1], TypeError), (("i32",), 5, TypeError), (("i32",), Raises(), TypeError))
    yield from ((("i64", "i64"), Short(), TypeError), (("i64", "i64"), [2**40, "x"], TypeError))
    yield from (("*i8", Raises(), LookupError), ("*i8", "x", TypeError), ("*i8", -1, OverflowError))
    yield from (("*i8", tensor(None), TypeError), ("*i8", tensor(2**64), ValueError))
    yield from (("*i8", tensor(0xBA0000000000), ValueError), ("*i8", tensor(0x5E0000000000), RuntimeError))
    yield from ((("*i8", "*i8"), [tensor(ADDRESS), tensor("x")], TypeError),)


def fails(count: int, kind: type[BaseException], call: Callable[..., Any], *args: Any) -> None:
    for _ in itertools.repeat(None, count):
        try:
            call(*args)
        except kind:
            continue
        raise AssertionError("it did not fail")


def failing(driver: Any, kind: type[BaseException], call: Callable[..., Any], *args: Any, count: int = 10_000) -> None:
    driver.recorder.record(False)
    fails(500, kind, call, *args)
    with Steady(call, *args):
        fails(count, kind, call, *args)


def test_arguments_that_fail(driver: Any, tensor: Any) -> None:
    for types, value, kind in scalars(tensor):
        launcher = driver.bind("*i8", "i64", types, names="x n bad")
        failing(driver, kind, launcher, 1, 1, 1, 0, tensor(ADDRESS), 2**40, value)


def test_places_that_fail(driver: Any) -> None:
    launcher = driver.bind("i32")
    failing(driver, TypeError, launcher, 1, 1, 1, 0)
    failing(driver, TypeError, launcher, "x", 1, 1, 0, 1)
    failing(driver, OverflowError, launcher, 1, 2**40, 1, 0, 1)
    failing(driver, ValueError, launcher, 1, 1, -1, 0, 1)
    failing(driver, TypeError, launcher, 1, 1, 1, "x", 1)
    failing(driver, TypeError, lambda: launcher(1, 1, 1, 0, n=1))
    failing(driver, relaunch.BindError, lambda: driver.bind("i32", "fp7"), count=2000)
    failing(driver, relaunch.BindError, lambda: driver.bind("i32", num_warps=0), count=2000)
    failing(driver, relaunch.BindError, lambda: driver.bind("i32", driver="/nowhere/driver.so"), count=2000)
    failing(driver, TypeError, lambda: driver.bind("i32", global_scratch=None, name=5), count=2000)


def test_surroundings_that_fail(driver: Any, tensor: Any) -> None:
    value, raises = tensor(ADDRESS), Raises()
    launch = driver.bind("*i8").launch
    fixed = (1, 1, 1, 0, 2**41)
    refused = TypeError if driver.backend == "cuda" else SystemError
    failing(driver, refused, launch, *fixed, "x", None, None, None, value)
    failing(driver, TypeError, launch, *fixed, (4, 1, "x"), None, None, None, value)
    failing(driver, LookupError, launch, *fixed, (4, 1, 0), {}, raises, None, value)
    failing(driver, LookupError, launch, *fixed, (4, 1, 0), {}, None, raises, value)
    failing(driver, LookupError, driver.bind("*i8", profile_scratch=Raises.fail), 1, 1, 1, 0, value)
    failing(driver, TypeError, driver.bind("*i8", profile_scratch=lambda *_: "x"), 1, 1, 1, 0, value)
    failing(driver, LookupError, driver.bind("*i8", profile_scratch=raises), 1, 1, 1, 0, value)


def test_descriptors_that_fail(cuda: Any) -> None:
    failing(cuda, TypeError, cuda.bind("nvTmaDesc"), 1, 1, 1, 0, bytes(128))


@pytest.mark.parametrize("function", ["cuCtxGetCurrent", "cuFuncSetAttribute", "cuLaunchKernelEx"])
def test_drivers_that_fail(cuda: Any, tensor: Any, function: str) -> None:
    launcher = cuda.bind("*i8", "i64", num_ctas=16)
    value = tensor(ADDRESS)

    def call() -> None:
        cuda.recorder.reset()
        cuda.recorder.record(False)
        cuda.recorder.fail(function, 0, 719)
        launcher(1, 1, 1, 0, value, 2**40)

    with Steady(value, launcher):
        failing(cuda, RuntimeError, call)


class Iterable:
    """Makes its items, and is no sequence."""

    def __iter__(self) -> Iterator[int]:
        yield 2**40
        yield 2**41


def test_launches_of_every_era(era: Any, tensor: Any) -> None:
    folded = {"constants": [1]} if era.at_least < (3, 3) else {}
    values = (tensor(ADDRESS), 2**50, 1.5, MyFloat(2.5), True, 7, MyInt(100))
    launcher = era.bind("*i8", "i64", "fp16", "bf16", "i1", "u1", "i32", **folded)
    measured(era, 50_000, launcher, 1, 2, 3, 0, *values)
    fixed, asked = (1, 1, 1, 0, 2**41), {"grid": 1}
    for metadata in (era.metadata(), era.metadata(8, 2, 250_000)):
        measured(era, 20_000, launcher.launch, *fixed, metadata, asked, lambda _: None, lambda _: [1], *values)


def test_tuples_of_every_era(era: Any, tensor: Any) -> None:
    if era.at_least < (3, 3):
        return
    launcher = era.bind(("*i8", ("i64", "constexpr")), ("i64", "i64"), ("fp32",), ())
    items = Iterable() if era.at_least >= (3, 7) else Items()
    measured(era, 20_000, launcher, 1, 2, 3, 0, (tensor(ADDRESS), [2**40, "kept"]), items, [Float()], [])


class Raising:
    """An iterable that raises once it has given an item."""

    def __iter__(self) -> Iterator[int]:
        yield 2**40
        raise LookupError("mine")


def test_failures_of_every_era(era: Any, tensor: Any) -> None:
    cases = [case for case in scalars(tensor) if isinstance(case[0], str) or era.at_least >= (3, 3)]
    variadic = era.at_least >= (3, 7)
    if variadic:  # iterated, not indexed: other exceptions
        cases = [case for case in cases if not (isinstance(case[1], (Raises, Short)) and isinstance(case[0], tuple))]
        cases += [(("i64", "i64"), Raising(), LookupError), (("i64", "i64"), Iterable, TypeError)]
        cases += [(("i64",), Iterable(), TypeError), ("u8", -1, OverflowError), ("u8", Index(), TypeError)]
    if variadic and era.backend == "hip":  # such an address is passed on
        cases = [case for case in cases if case[2] is not RuntimeError]
    for types, value, kind in cases:
        launcher = era.bind("*i8", "i64", types, names="x n bad")
        failing(era, kind, launcher, 1, 1, 1, 0, tensor(ADDRESS), 2**40, value, count=2000)
    launch = era.bind("*i8").launch
    wrong = TypeError if variadic or era.backend == "cuda" else SystemError
    fixed, value = (1, 1, 1, 0, 2**41), tensor(ADDRESS)
    failing(era, wrong, launch, *fixed, "x", None, None, None, value, count=2000)
    failing(era, TypeError, launch, *fixed, (*era.metadata()[:-1], "x"), None, None, None, value, count=2000)
    failing(era, ValueError, launch, -1, *fixed[1:], era.metadata(), None, None, None, value, count=2000)
    failing(era, TypeError, launch, *fixed, era.metadata(), None, None, None, count=2000)
    if variadic:
        listed = ["x", *era.metadata()[1:]]
        failing(era, TypeError, launch, *fixed, listed, None, None, None, value, count=2000)
        measured(era, 20_000, launch, *fixed, [8, 2, 0], {}, None, None, value)


def test_launchers_that_do_not_come_to_be(era: Any) -> None:
    failing(era, relaunch.BindError, lambda: era.bind("i32", "fp7"), count=2000)
    failing(era, relaunch.BindError, lambda: era.bind("i32", constants=[5]), count=2000)
    failing(era, TypeError, lambda: era.bind("i32", constants=5), count=2000)
    failing(era, relaunch.BindError, lambda: relaunch.Plan("fp8e5", dialect=era.dialect), count=2000)
    failing(era, relaunch.BindError, lambda: relaunch.Plan("i32", dialect="none"), count=2000)
    measured(era, 2000, lambda: relaunch.Plan("*fp32, i32", dialect=era.dialect).parameters)


META = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [8, 16], "fp4_padded": True}


class Descriptor:
    def __init__(self, base: Any, shape: Any = (4000, 3000), strides: Any = (3000, 1), padding: Any = "nan") -> None:
        self.base, self.shape, self.strides, self.padding = base, shape, strides, padding
        self.round_f32_to_tf32 = False


def bound(cuda: Any, release: str, *types: Any, **options: Any) -> Any:
    cuda.release = release
    return cuda.bind(*types, **options)


TWO = "tensordesc<fp16[8, 16]>"


def test_descriptor_objects(cuda: Any, tensor: Any) -> None:
    value = Descriptor(tensor(ADDRESS))
    for release, metas in (("3.4", [META]), ("3.6", [META]), ("3.6", None), ("3.7", [META]), ("3.9", None)):
        launcher = bound(cuda, release, TWO, "i64", tensordesc_meta=metas)
        measured(cuda, 10_000, launcher, 1, 1, 1, 0, value, 2**40)
    launcher = bound(cuda, "3.9", ("i64", (TWO,)), tensordesc_meta=[META])
    measured(cuda, 10_000, launcher, 1, 1, 1, 0, [2**40, (value,)])


def test_descriptor_objects_that_fail(cuda: Any, tensor: Any) -> None:
    good = tensor(ADDRESS)
    with_meta = bound(cuda, "3.6", TWO, TWO, tensordesc_meta=[META, META])
    apart = bound(cuda, "3.6", TWO, TWO)
    ok = Descriptor(good)
    kind: type[Exception]
    for value, kind in (
        (object(), AttributeError),
        (Descriptor(good, (2**40,)), TypeError),
        (Descriptor(good, Raising()), LookupError),
    ):
        failing(cuda, kind, with_meta, 1, 1, 1, 0, ok, value)
        failing(cuda, kind, apart, 1, 1, 1, 0, ok, value)
    for value, kind in (
        (Descriptor(good, strides=(2**40, 2)), AssertionError),
        (Descriptor(good, (2**70, 2)), OverflowError),
        (Descriptor(good, (2**40, "x")), TypeError),
        (Descriptor(Raises()), LookupError),
        (Descriptor(None), AttributeError),
        (Descriptor(tensor("x")), TypeError),
    ):
        failing(cuda, kind, with_meta, 1, 1, 1, 0, ok, value)
    nested = bound(cuda, "3.9", (TWO, "i64"), tensordesc_meta=[META])
    failing(cuda, AttributeError, nested, 1, 1, 1, 0, (object(), 2**40))
    failing(cuda, TypeError, nested, 1, 1, 1, 0, (ok, 2**40, 1))
    failing(cuda, AssertionError, lambda: bound(cuda, "3.6", TWO, tensordesc_meta=[META, META]), count=2000)
    failing(cuda, TypeError, lambda: bound(cuda, "3.6", TWO, tensordesc_meta=[{**META, "swizzle": "x"}]), count=2000)


def test_refused_encodings(cuda: Any, tensor: Any) -> None:
    launcher = bound(cuda, "3.6", TWO, tensordesc_meta=[META])

    def refused(value: Any) -> None:
        cuda.recorder.fail("cuTensorMapEncodeTiled", 0, 1)
        launcher(1, 1, 1, 0, value)

    failing(cuda, RuntimeError, refused, Descriptor(tensor(ADDRESS)), count=3000)


def test_encoded_maps(cuda: Any) -> None:
    def encode() -> None:
        path = str(cuda.recorder.path)
        relaunch.TensorMap.encode(data_type=6, address=2**40, dims=[2**40], strides=[], box=[8], driver=path)

    measured(cuda, 10_000, encode)


def test_maps_at_an_address(cuda: Any) -> None:
    launcher = bound(cuda, "3.4", "nvTmaDesc")
    made = relaunch.TensorMap(bytes(128))

    class At:
        def tma_desc_cpu_ptr(self) -> Any:
            return made.address

    class Fails:
        def __init__(self, answer: Any) -> None:
            self.answer = answer

        def tma_desc_cpu_ptr(self) -> Any:
            if self.answer is None:
                raise LookupError("mine")
            return self.answer

    measured(cuda, 10_000, launcher, 1, 1, 1, 0, At())
    for answer, kind in (("x", TypeError), (0, ValueError), (2**40 + 1, ValueError), (None, SystemError)):
        failing(cuda, kind, launcher, 1, 1, 1, 0, Fails(answer))
    failing(cuda, TypeError, launcher, 1, 1, 1, 0, object())
