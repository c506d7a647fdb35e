"""Descriptor objects and metadata that are wrong, or not what they seem."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import pytest

import relaunch

BASE = 0x7F0000001000
MAP = "da" * 128  # what the recording driver encodes
META = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [8, 16], "fp4_padded": False}
TYPE = "tensordesc<fp16[8, 16]>"


class Base:
    """A tensor on the device."""

    def __init__(self, address: Any = BASE) -> None:
        self.address = address

    def data_ptr(self) -> Any:
        return self.address


class Descriptor:
    """As Triton's TensorDescriptor."""

    def __init__(self, shape: Any = (40, 30), strides: Any = (32, 1), **others: Any) -> None:
        self.base = Base()
        self.shape, self.strides = shape, strides
        self.padding, self.round_f32_to_tf32 = "zero", False
        self.__dict__.update(others)


def le(number: int, size: int) -> str:
    return (number & (1 << 8 * size) - 1).to_bytes(size, "little").hex()


def i32(*numbers: int) -> list[str]:
    return [le(number, 4) for number in numbers]


def i64(*numbers: int) -> list[str]:
    return [le(number, 8) for number in numbers]


def encoded(driver: Any) -> list[dict[str, Any]]:
    return [event for event in driver.events() if event.get("call") == "cuTensorMapEncodeTiled"]


def raises(kind: type[BaseException]) -> Any:
    class Raises:
        def fail(self, *_: Any) -> Any:
            raise kind("mine")

        __iter__ = __eq__ = data_ptr = fail

    return Raises()


class Endless:
    def __iter__(self) -> Iterator[int]:
        while True:
            yield 1


class ByProperty(Descriptor):
    @property
    def strides(self) -> Any:
        raise LookupError("mine")

    @strides.setter
    def strides(self, _: Any) -> None: ...


HERE = f"descriptor 1 'd' of add({TYPE}): "
FAULTS: list[tuple[Any, type[BaseException], str]] = [
    (object(), AttributeError, "'object' object has no attribute 'shape'"),
    (None, AttributeError, "'NoneType' object has no attribute 'shape'"),
    (ByProperty(), LookupError, "mine"),
    (Descriptor(strides=(32, 2)), AssertionError, HERE + "expected a last stride of 1, got 2"),
    (Descriptor(strides=(32, "1")), AssertionError, HERE + "expected a last stride of 1, got str"),
    (Descriptor((40,)), TypeError, HERE + "expected 2 entries in its shape, got 1"),
    (Descriptor((40, 30, 20)), TypeError, HERE + "expected 2 entries in its shape, got more"),
    (Descriptor(Endless()), TypeError, HERE + "expected 2 entries in its shape, got more"),
    (Descriptor(strides=()), TypeError, HERE + "expected 2 entries in its strides, got 0"),
    (Descriptor(5), TypeError, "'int' object is not iterable"),
    (Descriptor(None), TypeError, "'NoneType' object is not iterable"),
    (Descriptor(raises(LookupError)), LookupError, "mine"),
    (Descriptor(strides=(1, raises(LookupError))), LookupError, "mine"),
    (Descriptor((40, 30.0)), TypeError, HERE + "expected ints in its shape, got 30.0"),
    (Descriptor(strides=(32, 1.0)), TypeError, HERE + "expected ints in its strides, got 1.0"),
    (Descriptor(strides=(2**63, 1)), OverflowError, HERE + f"expected ints of 64 bits in its strides, got {2**63}"),
    (Descriptor((-(2**70), 1)), OverflowError, HERE + f"expected ints of 64 bits in its shape, got {-(2**70)}"),
    (Descriptor(padding=raises(LookupError)), LookupError, "mine"),
    (Descriptor(base=None), AttributeError, "'NoneType' object has no attribute 'data_ptr'"),
    (Descriptor(base=raises(LookupError)), LookupError, "mine"),
    (Descriptor(base=Base("x")), TypeError, HERE + "expected data_ptr() of its base to return an int"),
]


@pytest.mark.parametrize(("value", "kind", "text"), FAULTS, ids=range(len(FAULTS)))
def test_objects_that_cannot_be_encoded(
    bind: Any, cuda: Any, refused: Any, value: Any, kind: type[BaseException], text: str
) -> None:
    launcher = bind("triton-3.6-cuda", TYPE, tensordesc_meta=[META], names="d")
    refused(cuda, lambda: launcher(1, 1, 1, 0, value), kind, text)
    assert cuda.events() == []


def test_objects_that_cannot_be_taken_apart(bind: Any, cuda: Any, refused: Any) -> None:
    launcher = bind("triton-3.6-cuda", TYPE, names="d")
    for value, kind, text in (
        (object(), AttributeError, "'object' object has no attribute 'base'"),
        (Descriptor((1,)), TypeError, HERE + "expected 2 entries in its shape, got 1"),
        (Descriptor(strides=(1,) * 3), TypeError, HERE + "expected 2 entries in its strides, got more"),
        (Descriptor(padding=raises(LookupError)), LookupError, "mine"),
        (ByProperty(), LookupError, "mine"),
    ):
        refused(cuda, lambda value=value: launcher(1, 1, 1, 0, value), kind, text)
    assert cuda.events() == []
    # Sizes are scalars of the launch like any others.
    text = f"argument 2 'd' of add({TYPE}): expected an int for i64, got str"
    refused(cuda, lambda: launcher(1, 1, 1, 0, Descriptor(("x", 1))), TypeError, text)
    text = f"argument 7 'd' of add({TYPE}): expected an int that fits i32, got 4294967296"
    refused(cuda, lambda: launcher(1, 1, 1, 0, Descriptor((2**32, 1))), OverflowError, text)
    launcher(1, 1, 1, 0, Descriptor(strides=(5, 3)))  # any last stride


def test_a_size_that_changes_between_reads(bind: Any, cuda: Any) -> None:
    """It is read once: what is encoded and what is passed agree."""

    class Changing(Descriptor):
        reads = 0

        @property
        def shape(self) -> Any:
            self.reads += 1
            return [10 * self.reads, 30]

        @shape.setter
        def shape(self, _: Any) -> None: ...

    value = Changing()
    bind("triton-3.6-cuda", TYPE, tensordesc_meta=[META])(1, 1, 1, 0, value)
    assert encoded(cuda)[0]["dims"] == [30, 10]
    assert cuda.parameters()[1:3] == i32(10, 30)
    bind("triton-3.6-cuda", TYPE)(1, 1, 1, 0, value)
    assert cuda.launches()[1]["params"][1] == cuda.launches()[1]["params"][6] + "00000000" == le(20, 8)
    assert value.reads == 2


def test_lists_that_are_emptied_while_they_are_read(bind: Any, cuda: Any) -> None:
    strides: list[Any] = [32, 1]
    values: list[Any] = []

    class Emptying(int):
        def __eq__(self, other: object) -> bool:
            strides.clear()
            values.clear()
            return True

        __hash__ = int.__hash__

    strides[1] = Emptying(1)
    bind("triton-3.6-cuda", TYPE, tensordesc_meta=[META])(1, 1, 1, 0, Descriptor(strides=strides))
    assert cuda.parameters() == [MAP, *i32(40, 30), *i64(32, 1)]
    strides[:] = [Emptying(1)]
    values[:] = [Descriptor([9], strides), 5]
    meta = {**META, "block_size": [4]}
    bind("triton-3.9-cuda", ("tensordesc<fp16[4]>", "i8"), tensordesc_meta=[meta])(1, 1, 1, 0, values)
    assert cuda.launches()[1]["params"][:4] == [MAP, *i32(9), *i64(1), "05"]


def test_huge_and_negative_numbers(bind: Any, cuda: Any) -> None:
    """What the released code hands to the driver, the driver judges."""
    launcher = bind("triton-3.6-cuda", TYPE, tensordesc_meta=[META])
    launcher(1, 1, 1, 0, Descriptor((-1, 2**31 - 1), (-(2**63), True), base=Base(-1)))
    (call,) = encoded(cuda)
    assert call["dims"] == [2**31 - 1, 2**64 - 1]
    assert call["strides"] == [0]  # -2**63 * 2, modulo 2**64
    assert call["address"] == "0xffffffffffffffff"


def test_hip_makes_no_tdm_descriptors(bind: Any, hip: Any, refused: Any) -> None:
    for release in ("3.6", "3.7", "3.9"):
        launcher = bind(f"triton-{release}-hip", TYPE, tensordesc_meta=[{"block_size": [8, 16]}], names="d")
        text = (
            HERE + "TDM descriptors are made by Triton's create_tdm_descriptor alone; pass the descriptor itself, its "
            "shape and its strides"
        )
        refused(hip, lambda launcher=launcher: launcher(1, 1, 1, 0, Descriptor()), NotImplementedError, text)


def test_im2col(bind: Any, cuda: Any, refused: Any) -> None:
    signature = "tensordesc_im2col<fp16[8, 16],input_rank=3>"
    launcher = bind("triton-3.9-cuda", signature, tensordesc_meta=[{**META, "is_im2col": True}], names="d")
    launcher(1, 1, 1, 0, relaunch.TensorMap(bytes(128)), 1, 2, 3, 4, 5, 6)
    assert cuda.parameters() == ["00" * 128, *i32(1, 2, 3), *i64(4, 5, 6)]
    cuda.forget(launcher)
    text = (
        f"descriptor 1 'd' of add({signature}): im2col tensor maps are not encoded here; pass the descriptor itself, "
        "its shape and its strides"
    )
    refused(cuda, lambda: launcher(1, 1, 1, 0, Descriptor()), NotImplementedError, text)
    bind("triton-3.9-cuda", signature)(1, 1, 1, 0, Descriptor((1, 2, 3), (4, 5, 6)))
    assert cuda.parameters()[1:7] == i64(1, 2, 3, 4, 5, 6)


def test_metadata_that_says_too_little(bind: Any, cuda: Any) -> None:
    for key in META:
        launcher = bind(
            "triton-3.6-cuda", TYPE, tensordesc_meta=[{k: v for k, v in META.items() if k != key}], names="d"
        )
        with pytest.raises(KeyError) as caught:
            launcher(1, 1, 1, 0, Descriptor())
        text = (
            f"its metadata has no '{key}', so no tensor map can be encoded; pass the descriptor itself, its shape and "
        )
        text += "its strides"
        assert caught.value.args == (HERE + text,)
        launcher(1, 1, 1, 0, relaunch.TensorMap(), 40, 30, 32, 1)


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"swizzle": "3"}, TypeError, "['swizzle']: expected an int from 0 to 2**32 - 1, got str"),
        (
            {"swizzle": -1},
            relaunch.BindError,
            "['swizzle']: expected an int from 0 to 2**32 - 1, got an int out of range",
        ),
        (
            {"elem_size": 2**32},
            relaunch.BindError,
            "['elem_size']: expected an int from 0 to 2**32 - 1, got 4294967296",
        ),
        ({"elem_type": 16}, relaunch.BindError, "['elem_type']: expected 0 to 15, got 16"),
        ({"block_size": []}, relaunch.BindError, "['block_size']: expected 1 to 5 sizes, got 0"),
        ({"block_size": [1] * 6}, relaunch.BindError, "['block_size']: expected 1 to 5 sizes, got 6"),
        ({"block_size": [8]}, relaunch.BindError, "['block_size']: expected 2 sizes as the descriptor has, got 1"),
        ({"block_size": [8, "16"]}, TypeError, "['block_size']: expected a sequence of ints, got str"),
        (
            {"block_size": [8, 2**32]},
            relaunch.BindError,
            "['block_size']: expected ints from 0 to 4294967295, got 4294967296",
        ),
        ({"block_size": 8}, TypeError, "['block_size']: expected a sequence of ints, got int"),
        ({"block_size": None}, TypeError, "['block_size']: expected a sequence of ints, got NoneType"),
    ],
)
def test_metadata_of_another_kind(bind: Any, change: Any, kind: type[BaseException], text: str) -> None:
    with pytest.raises(kind) as caught:
        bind("triton-3.6-cuda", TYPE, tensordesc_meta=[{**META, **change}])
    assert type(caught.value) is kind
    assert str(caught.value) == "tensordesc_meta[0]" + text
    bind("triton-3.6-hip", TYPE, tensordesc_meta=[{**META, **change}])


def test_metadata_that_is_no_mapping(bind: Any) -> None:
    for value in (1, [1], "x", object()):
        with pytest.raises(TypeError) as caught:
            bind("triton-3.6-cuda", TYPE, tensordesc_meta=[value])
        got = type(value).__name__
        assert str(caught.value) == f"tensordesc_meta[0]: expected a dict or None, got {got}"

    bind("triton-3.6-cuda", TYPE, tensordesc_meta=(types.MappingProxyType(META),))

    class Raises(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        bind("triton-3.6-cuda", TYPE, tensordesc_meta=[Raises()])
