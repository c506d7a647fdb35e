"""Tensors that give their address by DLPack's C exchange, and tables that cannot be trusted."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import itertools
import sys
from collections.abc import Callable
from typing import Any

import pytest

ADDRESS = 0x700000001000


def hex8(number: int) -> str:
    return number.to_bytes(8, "little").hex()


def place(kind: str = "*fp32") -> str:
    return f"argument 1 'x' of add({kind}): "


# DLPack's C exchange, as dlpack.h 1.3 has it.


class DeviceStruct(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class TensorStruct(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", DeviceStruct),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_uint32),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


FromObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(TensorStruct))


class ExchangeStruct(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocator", ctypes.c_void_p),
        ("managed_from_object", ctypes.c_void_p),
        ("managed_to_object", ctypes.c_void_p),
        ("tensor_from_object", FromObject),
        ("current_work_stream", ctypes.c_void_p),
    )


capsule = ctypes.pythonapi.PyCapsule_New
capsule.restype = ctypes.py_object
capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
NAME = b"dlpack_exchange_api"
kept: list[Any] = []


@FromObject  # type: ignore[untyped-decorator] # a C function type
def from_object(source: Any, out: Any) -> int:
    source.calls.append("exchange")
    if source.fails:
        return -1
    out[0].data = source.address
    out[0].device.type = source.device
    out[0].byte_offset = source.offset
    return 0


def table(major: int = 1, function: Any = from_object, previous: Any = None) -> ExchangeStruct:
    made = ExchangeStruct(major, 3, previous and ctypes.addressof(previous), None, None, None, function, None)
    kept.append(made)
    return made


def exchanging(made: ExchangeStruct | None = None, name: bytes | None = NAME) -> type:
    class Exchanged:
        def __init__(self, address: int, device: int = 2, offset: int = 0, fails: bool = False) -> None:
            self.address, self.device, self.offset, self.fails = address, device, offset, fails
            self.calls: list[str] = []

        __dlpack_c_exchange_api__ = capsule(ctypes.addressof(made or table()), name, None)

        def data_ptr(self) -> int:
            self.calls.append("data_ptr")
            return self.address

    return Exchanged


def endless(length: int) -> ExchangeStruct:
    """A table of major version 99 whose older tables lead back to it."""
    made = [table(major=99) for _ in range(length)]
    for one, other in zip(made, made[1:] + made[:1], strict=True):
        one.previous = ctypes.addressof(other)
    return made[0]


def nulled() -> type:
    """Its capsule's pointer, the first word behind the object's head, is null, which the C API would not let it be."""
    made = exchanging()
    held = made.__dict__["__dlpack_c_exchange_api__"]
    ctypes.c_void_p.from_address(id(held) + object.__basicsize__).value = None
    return made


@pytest.fixture
def device(driver: Any) -> int:
    return 2 if driver.backend == "cuda" else 10


def test_exchanged_tensors_are_trusted(driver: Any, device: int) -> None:
    exchanged = exchanging()
    first, second = exchanged(ADDRESS, device), exchanged(0xBA0000000000, device, offset=24)
    launcher = driver.bind("*fp32", "*fp32")
    launcher(1, 1, 1, 0, first, second)
    assert driver.parameters() == [hex8(ADDRESS), hex8(0xBA0000000018)]
    assert len(driver.events()) == 1
    assert first.calls == second.calls == ["exchange"]


def test_managed_memory_is_reachable(cuda: Any) -> None:
    launcher = cuda.bind("*fp32")
    launcher(1, 1, 1, 0, exchanging()(ADDRESS, 13))
    assert len(cuda.events()) == 1


def test_a_subclass_that_overrides_data_ptr_is_asked(driver: Any, device: int) -> None:
    exchanged = exchanging()

    class Plain(exchanged):  # type: ignore[valid-type, misc]
        pass

    class Overrides(exchanged):  # type: ignore[valid-type, misc]
        def data_ptr(self) -> int:
            self.calls.append("override")
            return 0x2000

    plain, overrides = Plain(ADDRESS, device), Overrides(ADDRESS, device)
    launcher = driver.bind("*fp32", "*fp32")
    launcher(1, 1, 1, 0, plain, overrides)
    assert driver.parameters() == [hex8(ADDRESS), hex8(0x2000)]
    assert (plain.calls, overrides.calls) == (["exchange"], ["override"])


def test_a_base_class_may_have_data_ptr(driver: Any, device: int) -> None:
    class Base:
        def data_ptr(self) -> int:
            return 0x2000

    class Derived(Base):
        __dlpack_c_exchange_api__ = exchanging().__dict__["__dlpack_c_exchange_api__"]

        def __init__(self) -> None:
            self.address, self.device, self.offset, self.fails = ADDRESS, device, 0, False
            self.calls: list[str] = []

    launcher = driver.bind("*fp32")
    launcher(1, 1, 1, 0, Derived())
    assert driver.parameters() == [hex8(ADDRESS)]


def test_other_devices_are_asked_by_data_ptr(driver: Any, refused: Any) -> None:
    value = exchanging()(0xBA0000000000, 1)
    launcher = driver.bind("*fp32", names="x")
    text = place() + "address 0xba0000000000 of Exchanged cannot be accessed from the device (is it in CPU memory?)"
    refused(driver, lambda: launcher(1, 1, 1, 0, value), ValueError, text)
    assert value.calls == ["exchange", "data_ptr"]
    pinned = exchanging()(ADDRESS, 3)
    driver.forget(launcher)
    launcher(1, 1, 1, 0, pinned)
    assert driver.parameters() == [hex8(ADDRESS)]


def without_data_ptr() -> type:
    exchanged = exchanging()
    del exchanged.data_ptr  # type: ignore[attr-defined]
    return exchanged


def test_other_devices_without_data_ptr(driver: Any, refused: Any) -> None:
    launcher = driver.bind("*fp32", names="x")
    text = place() + "Exchanged is on DLPack device type 1, which the device cannot access"
    refused(driver, lambda: launcher(1, 1, 1, 0, without_data_ptr()(ADDRESS, 1)), ValueError, text)


# An int (*)(PyObject*, ...) that fails with whatever fileno() raises; a ctypes callback could set no exception.
failing = FromObject(ctypes.cast(ctypes.pythonapi.PyObject_AsFileDescriptor, ctypes.c_void_p).value or 0)


class Failing:
    __dlpack_c_exchange_api__ = capsule(ctypes.addressof(table(function=failing)), NAME, None)

    def __init__(self, error: BaseException | type[BaseException]) -> None:
        self.error = error

    def fileno(self) -> int:
        raise self.error


class FailingWithAddress(Failing):
    def __getattr__(self, name: str) -> Any:
        if name == "data_ptr":
            return lambda: ADDRESS
        raise AttributeError(name)


def test_an_exchange_that_raises(driver: Any, refused: Any) -> None:
    launcher = driver.bind("*fp32", names="x")
    error = BufferError("not this one")
    refused(driver, lambda: launcher(1, 1, 1, 0, Failing(error)), BufferError, "not this one")
    launcher(1, 1, 1, 0, FailingWithAddress(error))
    assert driver.parameters() == [hex8(ADDRESS)]
    for interrupt in (KeyboardInterrupt("stop"), SystemExit("stop")):
        call = functools.partial(launcher, 1, 1, 1, 0, FailingWithAddress(interrupt))
        refused(driver, call, type(interrupt), "stop")


def test_an_exchange_that_fails_silently(driver: Any, refused: Any, device: int) -> None:
    launcher = driver.bind("*fp32", names="x")
    launcher(1, 1, 1, 0, exchanging()(ADDRESS, device, fails=True))
    assert driver.parameters() == [hex8(ADDRESS)]
    text = place() + "expected None, an int or an object with data_ptr(), got Exchanged"
    refused(driver, lambda: launcher(1, 1, 1, 0, without_data_ptr()(ADDRESS, device, fails=True)), TypeError, text)


@pytest.mark.parametrize(
    "make",
    [
        lambda: exchanging(name=b"something_else"),
        lambda: exchanging(name=None),
        lambda: exchanging(table(major=0)),
        lambda: exchanging(table(major=2)),
        lambda: exchanging(table(major=99, previous=table(major=98))),
        lambda: exchanging(table(major=99, previous=table(major=2, previous=table(major=0)))),
        lambda: exchanging(endless(1)),
        lambda: exchanging(endless(2)),
        nulled,
        lambda: exchanging(table(function=FromObject(0))),
    ],
)
def test_tables_that_cannot_be_used(driver: Any, device: int, make: Callable[[], type]) -> None:
    value = make()(ADDRESS, device)
    launcher = driver.bind("*fp32")
    launcher(1, 1, 1, 0, value)
    assert driver.parameters() == [hex8(ADDRESS)]
    assert value.calls == ["data_ptr"]


@pytest.mark.parametrize("attribute", [12345, None, "dlpack_exchange_api", property(lambda _: 1 / 0), lambda: 1 / 0])
def test_no_capsule_at_all(driver: Any, tensor: Any, refused: Any, attribute: Any) -> None:
    launcher = driver.bind("*fp32", names="x")
    launcher(1, 1, 1, 0, type("Odd", (tensor,), {"__dlpack_c_exchange_api__": attribute})(ADDRESS))
    assert driver.parameters() == [hex8(ADDRESS)]
    neither = type("Neither", (), {"__dlpack_c_exchange_api__": attribute})()
    text = place() + "expected None, an int or an object with data_ptr(), got Neither"
    refused(driver, lambda: launcher(1, 1, 1, 0, neither), TypeError, text)


def test_unusable_tables_without_data_ptr(driver: Any, device: int, refused: Any) -> None:
    launcher = driver.bind("*fp32", names="x")
    text = place() + "expected None, an int or an object with data_ptr(), got Exchanged"
    for made in (exchanging(table(major=99)), exchanging(table(function=FromObject(0))), exchanging(name=b"other")):
        del made.data_ptr  # type: ignore[attr-defined]
        refused(driver, functools.partial(launcher, 1, 1, 1, 0, made(ADDRESS, device)), TypeError, text)
    assert driver.events() == []


@pytest.mark.parametrize("kind", [0, 4, 7, 8, 14, 99, -1, -(2**31), 2**31 - 1])
def test_device_types_of_others(driver: Any, refused: Any, kind: int) -> None:
    """Neither reachable nor host memory: data_ptr() is asked, and without it the type is named."""
    launcher = driver.bind("*fp32", names="x")
    value = exchanging()(ADDRESS, kind)
    launcher(1, 1, 1, 0, value)
    assert value.calls == ["exchange", "data_ptr"]
    assert driver.parameters() == [hex8(ADDRESS)]
    if kind != 0:  # a tensor without a device type is as good as none
        text = place() + f"Exchanged is on DLPack device type {kind}, which the device cannot access"
        refused(driver, lambda: launcher(1, 1, 1, 0, without_data_ptr()(ADDRESS, kind)), ValueError, text)


def test_the_other_vendors_memory_is_refused(driver: Any, device: int, refused: Any) -> None:
    launcher = driver.bind("*fp32", names="x")
    for kind in {2, 10, 13} - {device, 13 if driver.backend == "cuda" else 0}:
        text = place() + f"Exchanged is on DLPack device type {kind}, which the device cannot access"
        value = without_data_ptr()(ADDRESS, kind)
        refused(driver, functools.partial(launcher, 1, 1, 1, 0, value), ValueError, text)
    assert driver.events() == []


def test_older_tables_are_found_behind_newer_ones(driver: Any, device: int) -> None:
    behind = table(major=2, previous=table(major=1))
    launcher = driver.bind("*fp32")
    for made in (behind, table(major=99, previous=table(major=1)), table(major=99, previous=behind)):
        driver.forget(launcher)
        value = exchanging(made)(ADDRESS, device, offset=8)
        launcher(1, 1, 1, 0, value)
        assert value.calls == ["exchange"]
        assert driver.parameters() == [hex8(ADDRESS + 8)]


def test_a_class_that_changes_is_seen(driver: Any, device: int) -> None:
    exchanged: Any = exchanging()
    value = exchanged(ADDRESS, device)
    launcher = driver.bind("*fp32")
    launcher(1, 1, 1, 0, value)
    del exchanged.__dlpack_c_exchange_api__
    launcher(1, 1, 1, 0, value)
    exchanged.__dlpack_c_exchange_api__ = capsule(ctypes.addressof(table()), NAME, None)
    launcher(1, 1, 1, 0, value)
    assert value.calls == ["exchange", "data_ptr", "exchange"]


def test_many_short_lived_classes(driver: Any, device: int) -> None:
    launcher = driver.bind("*fp32")
    for number in range(300):
        value: Any = (
            exchanging()(number, device) if number % 2 else type("T", (), {"data_ptr": lambda _: 5, "calls": []})()
        )
        launcher(1, 1, 1, 0, value)
        assert value.calls == (["exchange"] if number % 2 else [])


@pytest.mark.plain_build  # a sanitizer keeps what is freed, so no address comes again
def test_a_new_class_at_the_address_of_a_dead_one(driver: Any, device: int) -> None:
    """What was remembered of the dead class does not reach the new one, whichever of the two has a table."""
    launcher = driver.bind("*fp32")
    seen: dict[int, bool] = {}
    reused = 0
    for has_table in itertools.islice(itertools.cycle((True, False, False, True)), 400):
        made: Any = exchanging()
        if not has_table:
            del made.__dlpack_c_exchange_api__
        reused += seen.get(id(made), has_table) != has_table
        seen[id(made)] = has_table
        value = made(ADDRESS, device)
        launcher(1, 1, 1, 0, value)
        launcher(1, 1, 1, 0, value)
        assert value.calls == ["exchange" if has_table else "data_ptr"] * 2
        del value, made
        gc.collect(0)
        if reused >= 20:
            break
    assert reused > 0


def test_neither_a_launch_nor_a_refusal_keeps_a_tensor(driver: Any, device: int) -> None:
    launcher = driver.bind("*fp32", "*fp32")
    driver.recorder.record(False)
    good, silent, elsewhere = exchanging()(ADDRESS, device), without_data_ptr()(1, fails=True), without_data_ptr()(1, 1)
    raising = Failing(BufferError)

    def counts() -> list[int]:
        objects = (good, silent, elsewhere, raising)
        return [sys.getrefcount(one) for one in (*objects, *map(type, objects))]

    def launch() -> None:
        launcher(1, 1, 1, 0, good, good)
        for bad, kind in ((silent, TypeError), (elsewhere, ValueError), (raising, BufferError)):
            with contextlib.suppress(kind):
                launcher(1, 1, 1, 0, good, bad)
                raise AssertionError("it did not fail")
        for value in (good, silent, elsewhere):
            value.calls.clear()

    launch()
    before, blocks = counts(), sys.getallocatedblocks()
    for _ in range(10_000):
        launch()
    assert counts() == before
    assert sys.getallocatedblocks() - blocks < 200
