"""relaunch.TensorMap made by the driver, and tensor maps taken from a host address, as Triton 3.2 to 3.4 takes them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

import relaunch

BYTES = bytes(range(128))
FIELDS: dict[str, Any] = {"data_type": 6, "address": 0x7F00, "dims": [30, 40], "strides": [64], "box": [16, 8]}


@pytest.fixture
def encode(cuda: Any) -> Callable[..., relaunch.TensorMap]:
    def made(**fields: Any) -> relaunch.TensorMap:
        return relaunch.TensorMap.encode(**{**FIELDS, "driver": str(cuda.recorder.path), **fields})

    return made


def test_the_driver_encodes(cuda: Any, encode: Any) -> None:
    assert bytes(encode()) == b"\xda" * 128
    full = {"element_strides": (2, 1), "interleave": 1, "swizzle": 3, "l2_promotion": 2, "oob_fill": 1}
    assert encode(**full).address % 128 == 0
    default = {"element_strides": [1, 1], "interleave": 0, "swizzle": 0, "l2_promotion": 0, "oob_fill": 0}
    call = {"call": "cuTensorMapEncodeTiled", "rank": 2, **FIELDS, "address": "0x7f00"}
    assert cuda.events() == [{**call, **default}, {**call, **full, "element_strides": [2, 1]}]


def test_one_dimension(cuda: Any, encode: Any) -> None:
    encode(dims=[2**40], strides=[], box=[256], address=2**64 - 1)
    (call,) = cuda.events()
    assert (call["rank"], call["dims"], call["strides"]) == (1, [2**40], [])
    assert call["address"] == "0xffffffffffffffff"


def test_what_the_driver_refuses(cuda: Any, encode: Any) -> None:
    cuda.recorder.fail("cuTensorMapEncodeTiled", 0, 1)
    with pytest.raises(RuntimeError) as caught:
        encode()
    text = "the driver makes no such tensor map: invalid argument (1 from cuTensorMapEncodeTiled)"
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("fields", "kind", "text"),
    [
        ({"dims": []}, relaunch.BindError, "dims: expected 1 to 5 numbers, got 0"),
        ({"dims": [1] * 6}, relaunch.BindError, "dims: expected at most 5 numbers, got 6"),
        ({"strides": []}, relaunch.BindError, "strides: expected 1 numbers, got 0"),
        ({"strides": [1, 2]}, relaunch.BindError, "strides: expected 1 numbers, got 2"),
        ({"box": [1]}, relaunch.BindError, "box: expected 2 numbers, got 1"),
        ({"box": [1, 2**32]}, relaunch.BindError, "box: expected ints from 0 to 4294967295, got 4294967296"),
        ({"element_strides": [1]}, relaunch.BindError, "element_strides: expected 2 numbers, got 1"),
        ({"dims": [1, -1]}, relaunch.BindError, "dims: expected a sequence of ints, got an int out of range"),
        ({"dims": [1, 1.5]}, TypeError, "dims: expected a sequence of ints, got float"),
        ({"dims": 5}, TypeError, "dims: expected a sequence of ints, got int"),
        ({"dims": None}, TypeError, "dims: expected a sequence of ints, got NoneType"),
        ({"address": "x"}, TypeError, "address: expected a handle, an int from 0 to 2**64 - 1, got str"),
        ({"data_type": 2**32}, relaunch.BindError, "data_type: expected an int from 0 to 2**32 - 1, got 4294967296"),
        ({"swizzle": "x"}, TypeError, "swizzle: expected an int from 0 to 2**32 - 1, got str"),
        ({"driver": ""}, relaunch.BindError, "driver is empty: expected a path or a name"),
    ],
)
def test_numbers_that_cannot_be_encoded(
    cuda: Any, encode: Any, fields: Any, kind: type[BaseException], text: str
) -> None:
    with pytest.raises(kind) as caught:
        encode(**fields)
    assert type(caught.value) is kind
    assert str(caught.value) == text
    assert cuda.events() == []


def test_all_fields_are_named(encode: Any) -> None:
    call: Any = relaunch.TensorMap.encode
    for name in FIELDS:
        with pytest.raises(TypeError) as caught:
            call(**{key: value for key, value in FIELDS.items() if key != name})
        assert str(caught.value) == f"TensorMap.encode() needs {name}="
    with pytest.raises(TypeError):
        call(6, 0x7F00, [1], [], [1])
    with pytest.raises(TypeError):
        encode(padding=1)
    with pytest.raises(relaunch.BindError, match="cannot be opened"):
        encode(driver="/nowhere/libcuda.so.1")


class Host:
    """128 bytes at an aligned address, behind tma_desc_cpu_ptr()."""

    def __init__(self, content: bytes = BYTES, offset: int = 0) -> None:
        self.room = ctypes.create_string_buffer(128 + 128)
        self.address = -(-ctypes.addressof(self.room) // 64) * 64 + offset
        ctypes.memmove(self.address, content, 128)

    def tma_desc_cpu_ptr(self) -> int:
        return self.address


class Answers:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def tma_desc_cpu_ptr(self) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class NoMethod:
    @property
    def tma_desc_cpu_ptr(self) -> Any:
        raise LookupError("mine")


@pytest.fixture(params=["3.2", "3.3", "3.4"])
def launcher(request: pytest.FixtureRequest, cuda: Any) -> Any:
    cuda.release = request.param
    return cuda.bind("nvTmaDesc", names="d")


def test_maps_at_an_address(cuda: Any, launcher: Any) -> None:
    for value in (Host(), Host(offset=64), relaunch.TensorMap(BYTES)):
        launcher(1, 1, 1, 0, value)
    assert [launch["params"][0] for launch in cuda.launches()] == [BYTES.hex()] * 3


GIVES = "argument 1 'd' of add(nvTmaDesc): expected tma_desc_cpu_ptr() of Answers "
LACKS = "argument 1 'd' of add(nvTmaDesc): expected a relaunch.TensorMap or an object with tma_desc_cpu_ptr(), got "


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (object(), TypeError, LACKS + "object"),
        (None, TypeError, LACKS + "NoneType"),
        (NoMethod(), TypeError, LACKS + "NoMethod"),
        (Answers("x"), TypeError, GIVES + "to return an int"),
        (Answers(None), TypeError, GIVES + "to return an int"),
        (Answers(0), ValueError, GIVES + "to return an address, got 0"),
        (Answers(False), ValueError, GIVES + "to return an address, got 0"),
        (Answers(65), ValueError, GIVES + "to return a host address, a multiple of 64"),
        (Answers(-64), ValueError, GIVES + "to return a host address, a multiple of 64"),
        (Answers(2**64), ValueError, GIVES + "to return a host address, a multiple of 64"),
        (Answers(LookupError("mine")), SystemError, GIVES + "to give an address, it raised"),
        (Answers(AttributeError("mine")), SystemError, GIVES + "to give an address, it raised"),
    ],
)
def test_what_is_no_map_at_an_address(
    cuda: Any, launcher: Any, refused: Any, value: Any, kind: type[BaseException], text: str
) -> None:
    refused(cuda, lambda: launcher(1, 1, 1, 0, value), kind, text)


def test_what_was_raised_is_the_cause(launcher: Any) -> None:
    for value, kind in ((Answers(LookupError("mine")), SystemError), (NoMethod(), TypeError)):
        with pytest.raises(kind) as caught:
            launcher(1, 1, 1, 0, value)
        assert repr(caught.value.__cause__) == "LookupError('mine')"
        assert caught.value.__cause__ is not None
        assert caught.value.__cause__.__traceback__ is not None
    with pytest.raises(TypeError) as caught:
        launcher(1, 1, 1, 0, object())
    assert caught.value.__cause__ is None


def test_later_releases_ask_for_no_address(cuda: Any, refused: Any) -> None:
    text = "argument 1 'd' of add(nvTmaDesc): expected relaunch.TensorMap or Triton's PyCUtensorMap, got Host"
    text += " (Triton's driver was not loaded when the launcher was built)"
    for cuda.release in ("3.5", "3.6", "3.7", "3.9"):
        made = cuda.bind("nvTmaDesc", names="d")
        refused(cuda, lambda made=made: made(1, 1, 1, 0, Host()), TypeError, text)
