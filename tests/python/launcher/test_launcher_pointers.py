"""Pointers: None, ints, data_ptr() with the driver's answer, and DLPack's C exchange."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import pytest

ADDRESS = 0x700000001000


def hex8(number: int) -> str:
    return (number % 2**64).to_bytes(8, "little").hex()


def place(kind: str = "*fp32") -> str:
    return f"argument 1 'x' of add({kind}): "


def test_ints_and_none(driver: Any, refused: Any) -> None:
    launcher = driver.bind("*fp32", names="x")
    for value in (0, 1, ADDRESS, 2**63, 2**64 - 1, True, None):
        driver.forget(launcher)
        launcher(1, 1, 1, 0, value)
        assert driver.parameters() == [hex8(value or 0)]
        assert len(driver.events()) == 1  # the driver is not asked about ints
    driver.forget(launcher)
    for value in (-1, 2**64, -(2**70)):
        text = place() + f"expected an address of 64 bits, got {value}"
        refused(driver, lambda value=value: launcher(1, 1, 1, 0, value), OverflowError, text)


def test_the_drivers_address_is_used(driver: Any, tensor: Any) -> None:
    launcher = driver.bind("*fp32", "**i8")
    launcher(1, 1, 1, 0, tensor(0x910000001000, driver.recorder), tensor(0, driver.recorder))
    assert driver.parameters() == [hex8(0x910010001000), hex8(0)]
    assert len(driver.events()) == 4  # two data_ptr(), one query: 0 is not asked for


@pytest.mark.parametrize(
    ("value", "got"), [("x", "str"), (1.0, "float"), (object(), "object"), ((1,), "tuple"), (type, "type")]
)
def test_what_is_no_pointer(driver: Any, refused: Any, value: Any, got: str) -> None:
    launcher = driver.bind("*fp32", names="x")
    text = place() + f"expected None, an int or an object with data_ptr(), got {got}"
    refused(driver, lambda: launcher(1, 1, 1, 0, value), TypeError, text)


@pytest.mark.parametrize("answer", [None, 1.5, "0x10", b"1"])
def test_data_ptr_must_return_an_int(driver: Any, refused: Any, tensor: Any, answer: Any) -> None:
    launcher = driver.bind("*fp32", names="x")
    text = place() + "expected data_ptr() of Tensor to return an int"
    refused(driver, lambda: launcher(1, 1, 1, 0, tensor(answer)), TypeError, text)


@pytest.mark.parametrize(
    "error", [ValueError("mine"), AttributeError("mine"), TypeError(), KeyboardInterrupt(), SystemExit(3)]
)
def test_what_data_ptr_raises_is_raised(driver: Any, tensor: Any, error: BaseException) -> None:
    launcher = driver.bind("*fp32", "*fp32", "fp16")
    with pytest.raises(type(error)) as caught:
        launcher(1, 1, 1, 0, tensor(error), tensor(0x1000, driver.recorder), 1e9)
    assert caught.value is error
    assert driver.events() == []


def test_attributes_that_raise(driver: Any, refused: Any) -> None:
    class Lazy:
        @property
        def data_ptr(self) -> Any:
            raise LookupError("from the property")

    class Missing:
        @property
        def data_ptr(self) -> Any:
            raise AttributeError("not really there")

    launcher = driver.bind("*fp32", names="x")
    refused(driver, lambda: launcher(1, 1, 1, 0, Lazy()), LookupError, "from the property")
    text = place() + "expected None, an int or an object with data_ptr(), got Missing"
    refused(driver, lambda: launcher(1, 1, 1, 0, Missing()), TypeError, text)


def test_addresses_the_device_cannot_reach(driver: Any, refused: Any, tensor: Any) -> None:
    launcher = driver.bind("*fp32", names="x")
    for answer, asked in (
        (0xBA0000001000, "0xba0000001000"),
        (-1, "0xffffffffffffffff"),
        (2**64, "0xffffffffffffffff"),
    ):
        driver.forget(launcher)
        text = place() + f"address {asked} of Tensor cannot be accessed from the device (is it in CPU memory?)"
        refused(driver, lambda answer=answer: launcher(1, 1, 1, 0, tensor(answer)), ValueError, text)
        names = [event["call"] for event in driver.events()]
        assert names[1:] == ([] if driver.backend == "cuda" else ["hipGetLastError"])
        assert driver.events()[0]["args"] == ["3", asked[2:]]


def test_other_answers_of_the_driver(driver: Any, refused: Any, tensor: Any) -> None:
    launcher = driver.bind("*fp32", names="x")
    name = "cuPointerGetAttribute" if driver.backend == "cuda" else "hipPointerGetAttribute"
    text = f"Triton Error [{driver.backend.upper()}]: error 700 (700 from {name}): {place()}address 0x5e0000000010"
    refused(driver, lambda: launcher(1, 1, 1, 0, tensor(0x5E0000000010)), RuntimeError, text)


def test_the_first_failure_ends_it(driver: Any, refused: Any, tensor: Any) -> None:
    launcher = driver.bind("*fp32", "*fp32", names="x y")
    text = "argument 1 'x' of add(*fp32, *fp32): expected an address of 64 bits, got -1"
    refused(driver, lambda: launcher(1, 1, 1, 0, -1, tensor(0x1000, driver.recorder)), OverflowError, text)
    assert driver.events() == []


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


def exchanging(made: ExchangeStruct | None = None, name: bytes = NAME) -> type:
    class Exchanged:
        def __init__(self, address: int, device: int = 2, offset: int = 0, fails: bool = False) -> None:
            self.address, self.device, self.offset, self.fails = address, device, offset, fails
            self.calls: list[str] = []

        __dlpack_c_exchange_api__ = capsule(ctypes.addressof(made or table()), name, None)

        def data_ptr(self) -> int:
            self.calls.append("data_ptr")
            return self.address

    return Exchanged


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

    def __init__(self, error: BaseException) -> None:
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
        lambda: exchanging(table(major=2)),
        lambda: exchanging(table(function=FromObject(0))),
    ],
)
def test_tables_that_cannot_be_used(driver: Any, device: int, make: Callable[[], type]) -> None:
    value = make()(ADDRESS, device)
    launcher = driver.bind("*fp32")
    launcher(1, 1, 1, 0, value)
    assert driver.parameters() == [hex8(ADDRESS)]
    assert value.calls == ["data_ptr"]


def test_no_capsule_at_all(driver: Any, tensor: Any) -> None:
    class Odd(tensor):  # type: ignore[misc]
        __dlpack_c_exchange_api__ = 12345

    driver.bind("*fp32")(1, 1, 1, 0, Odd(ADDRESS))
    assert driver.parameters() == [hex8(ADDRESS)]


def test_older_tables_are_found_behind_newer_ones(driver: Any, device: int) -> None:
    value = exchanging(table(major=2, previous=table(major=1)))(ADDRESS, device)
    driver.bind("*fp32")(1, 1, 1, 0, value)
    assert value.calls == ["exchange"]


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
