"""Pointers: None, ints and data_ptr() with the driver's answer."""

from __future__ import annotations

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


def test_scratch_with_a_data_ptr_is_not_called(driver: Any, tensor: Any) -> None:
    class Tensor(tensor):  # type: ignore[misc]
        def __call__(self, *_: Any) -> Any:
            raise AssertionError("an object with data_ptr is no allocator")

    launcher = driver.bind(profile_scratch=Tensor(0x1000))
    driver.forget(launcher)
    launcher(1, 1, 1, 0)
    (launch,) = driver.launches()
    assert launch["params"][-1] == "0010000000000000"
