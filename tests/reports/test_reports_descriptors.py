"""Tensor descriptors: encoded, taken apart or refused, wherever they stand and however many there are."""

from __future__ import annotations

from typing import Any

import pytest

import relaunch

BASE = 0x7F0000001000
MAP = "da" * 128  # what the recording driver encodes
META = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [8, 16], "fp4_padded": False}
TYPE = "tensordesc<fp16[8, 16]>"
EXPANDING = (3, 4)  # the first release with tensordesc<...>
NESTING = (3, 9)  # and with descriptors inside tuples
ENCODING = [f"{release}-cuda" for release in ("3.4", "3.5", "3.6", "3.7", "3.9")]


class Descriptor:
    """As Triton's TensorDescriptor."""

    def __init__(self, tensor: Any, shape: Any = (40, 30), strides: Any = (32, 1)) -> None:
        self.base, self.shape, self.strides = tensor, shape, strides
        self.padding, self.round_f32_to_tf32 = "zero", False


def shown(number: int, size: int) -> str:
    return number.to_bytes(size, "little").hex()


SIZES = [shown(40, 4), shown(30, 4), shown(32, 8), shown(1, 8)]


def encoded(driver: Any) -> list[dict[str, Any]]:
    return [event for event in driver.events() if event["call"] == "cuTensorMapEncodeTiled"]


@pytest.mark.parametrize("dialect", ENCODING)
def test_a_refused_encoding_is_an_error_and_launches_nothing(
    of: Any, launch: Any, tensor: Any, refused: Any, dialect: str
) -> None:
    """Whichever of several descriptors, with whatever status; the next launch is as if nothing had been."""
    driver = of(dialect)
    launcher = driver.bind(TYPE, "i32", TYPE, TYPE, tensordesc_meta=[META] * 3, names="a n b c")
    values = [Descriptor(tensor(BASE)), 7, Descriptor(tensor(BASE)), Descriptor(tensor(BASE))]
    for nth, name in enumerate("abc"):
        for status, words in ((1, "invalid argument"), (2, "error 2"), (801, "error 801")):
            driver.forget(launcher)
            driver.recorder.fail("cuTensorMapEncodeTiled", nth, status)
            text = (
                f"Triton Error [CUDA]: {words} ({status} from cuTensorMapEncodeTiled): descriptor {nth + 1} '{name}' "
                f"of add({TYPE}, i32, {TYPE}, {TYPE}): data type 6, address 0x7f0000001000, dims (30, 40), strides "
                "(64), box (16, 8), swizzle 3, fill 0"
            )
            refused(driver, lambda: launch(driver, launcher, *values), RuntimeError, text)
            driver.forget(launcher)
            launch(driver, launcher, *values)
            assert driver.parameters() == [MAP, *SIZES, "07000000", MAP, *SIZES, MAP, *SIZES]


def test_a_descriptor_in_a_tuple_is_expanded_or_refused(each: Any, launch: Any, tensor: Any) -> None:
    """Its Python object never reaches a kernel: (descriptor, int) is refused where the release does not expand it."""
    if each.at_least < NESTING:
        with pytest.raises(relaunch.BindError):
            each.bind((TYPE, "i32"))
        return
    metas = (None, [META]) if each.backend == "cuda" else (None,)
    for meta in metas:
        launcher = each.bind((TYPE, "i32"), "i8", tensordesc_meta=meta)
        each.forget(launcher)
        launch(each, launcher, (Descriptor(tensor(BASE)), 3), 1)
        shown_as = (
            [MAP, *SIZES]
            if meta
            else [shown(BASE, 8), *[shown(size, 8) for size in (40, 30, 32, 1)], "00000000", "00000000", *SIZES]
        )
        assert each.parameters() == [*shown_as, shown(3, 4), "01"]


@pytest.mark.parametrize("count", [1, 8, 13, 40])
def test_any_number_of_descriptors(each: Any, launch: Any, tensor: Any, count: int) -> None:
    """Encoded or taken apart, in order, in one launch: no table of ours ends at 8 maps or 62 values."""
    if each.at_least < EXPANDING:
        return
    for encodes in (False, True) if each.backend == "cuda" else (False,):
        launcher = each.bind(*[TYPE, "i32"] * count, tensordesc_meta=[META] * count if encodes else None)
        each.forget(launcher)
        values = [Descriptor(tensor(BASE + 4096 * at), (40 + at, 30)) for at in range(count)]
        launch(each, launcher, *[one for at, value in enumerate(values) for one in (value, at)])
        found = each.parameters()
        width = len(found) // count
        for at in range(count):
            one = found[width * at : width * (at + 1)]
            assert one[0] == (MAP if encodes else shown(BASE + 4096 * at, 8))
            assert one[-5:] == [shown(40 + at, 4), *SIZES[1:], shown(at, 4)]
        calls = encoded(each) if encodes else []
        assert [call["address"] for call in calls] == [hex(BASE + 4096 * at) for at in range(count * encodes)]


@pytest.mark.parametrize("dialect", ENCODING)
def test_a_map_and_an_object_pass_the_same_bytes(of: Any, launch: Any, tensor: Any, dialect: str) -> None:
    """128 bytes by value, then shape as i32 and strides as i64."""
    driver = of(dialect)
    launcher = driver.bind("i8", TYPE, "i8", tensordesc_meta=[META])
    launches = []
    made = relaunch.TensorMap(bytes.fromhex(MAP))
    for values in ((1, made, 40, 30, 32, 1, 2), (1, Descriptor(tensor(BASE)), 2)):
        driver.forget(launcher)
        launch(driver, launcher, *values)
        assert driver.parameters() == ["01", MAP, *SIZES, "02"]
        launches += driver.launches()
    assert launches[0] == launches[1]
