"""Scalars and tuples: the bytes of every type, and what is refused with which words."""

from __future__ import annotations

import struct
import sys
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import pytest

INTS = {"i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q"}
MASKED = {"u1": 8, "u8": 8, "u16": 16, "u32": 32, "u64": 64}


class Index:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __index__(self) -> Any:
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


class Float:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __float__(self) -> Any:
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


class Int(int):
    def __index__(self) -> int:
        raise AssertionError("an int's __index__ is not asked")

    def __float__(self) -> float:
        return 2.5


def run(driver: Any, kind: str, *values: Any, **options: Any) -> list[str]:
    launcher = driver.bind(*[kind] * len(values), **options)
    driver.forget(launcher)
    launcher(1, 1, 1, 0, *values)
    parameters: list[str] = driver.parameters()
    return parameters


@pytest.mark.parametrize("kind", INTS)
def test_signed(driver: Any, refused: Any, kind: str) -> None:
    low, high = -(2 ** (int(kind[1:]) - 1)), 2 ** (int(kind[1:]) - 1) - 1
    values = [low, low + 1, -1, 0, 1, 2**7 - 1, high - 1, high]
    shown = [struct.pack(INTS[kind], value).hex() for value in values]
    assert run(driver, kind, *values) == shown
    assert run(driver, kind, *map(Index, values)) == shown
    assert run(driver, kind, True, Int(5)) == [struct.pack(INTS[kind], value).hex() for value in (1, 5)]
    launcher = driver.bind(kind, names="n")
    place = f"argument 1 'n' of add({kind}): expected an int"
    for value in (low - 1, high + 1, 2**62 * 8, -(2**80)):
        text = f"{place} that fits {kind}, got {value}"
        refused(driver, lambda value=value: launcher(1, 1, 1, 0, value), OverflowError, text)
        text = f"{place} that fits {kind}, got Index"
        refused(driver, lambda value=value: launcher(1, 1, 1, 0, Index(value)), OverflowError, text)
    for value, name in ((1.0, "float"), (None, "NoneType"), ("1", "str"), (object(), "object"), (Float(1.0), "Float")):
        text = f"{place} for {kind}, got {name}"
        refused(driver, lambda value=value: launcher(1, 1, 1, 0, value), TypeError, text)


@pytest.mark.parametrize("kind", MASKED)
def test_unsigned_is_masked(driver: Any, refused: Any, kind: str) -> None:
    bits = MASKED[kind]
    values = [0, 1, -1, 2**bits - 1, 2**bits, 2**bits + 5, 2**70, 2**70 + 3, -(2**66) - 2, 2**63, -(2**63)]
    shown = [(value % 2**bits).to_bytes(bits // 8, "little").hex() for value in values]
    assert run(driver, kind, *values) == shown
    assert run(driver, kind, True, Int(9)) == [shown[1], (9).to_bytes(bits // 8, "little").hex()]
    launcher = driver.bind(kind)
    if kind == "u64" and sys.version_info < (3, 14):
        text = "argument 1 of add(u64): expected an int for u64, got Index"
        refused(driver, lambda: launcher(1, 1, 1, 0, Index(1)), TypeError, text)
    else:
        assert run(driver, kind, *map(Index, values)) == shown
    for value, name in ((1.5, "float"), (None, "NoneType"), (b"1", "bytes")):
        text = f"argument 1 of add({kind}): expected an int for {kind}, got {name}"
        driver.forget(launcher)
        refused(driver, lambda value=value: launcher(1, 1, 1, 0, value), TypeError, text)


@pytest.mark.parametrize("kind", MASKED)
def test_strict_unsigned_is_not_masked(driver: Any, refused: Any, kind: str) -> None:
    bits = MASKED[kind]
    values = [0, 1, 2**bits - 1]
    assert run(driver, kind, *values, strict=True) == [value.to_bytes(bits // 8, "little").hex() for value in values]
    launcher = driver.bind(kind, strict=True)
    for value in (-1, 2**bits, 2**70, -(2**70)):
        driver.forget(launcher)
        text = f"argument 1 of add({kind}): expected an int that fits {kind}, got {value}"
        refused(driver, lambda value=value: launcher(1, 1, 1, 0, value), OverflowError, text)


def test_i1(driver: Any, refused: Any) -> None:
    assert run(driver, "i1", 0, 1, 255, True, Index(2)) == ["00", "01", "ff", "01", "02"]
    launcher = driver.bind("i1")
    for value in (-1, 256, 2**70):
        driver.forget(launcher)
        text = f"argument 1 of add(i1): expected an int from 0 to 255 for i1, got {value}"
        refused(driver, lambda value=value: launcher(1, 1, 1, 0, value), OverflowError, text)


FLOATS = [0.0, -0.0, 1.5, -2.0, 1 / 3, 65504.0, float("inf"), float("-inf"), 2.0**-24, 5e-324, 1e300]


def test_floats(driver: Any) -> None:
    def single(value: float) -> bytes:
        return (
            struct.pack("<f", value)
            if abs(value) < 1e39 or value in (float("inf"), float("-inf"))
            else (struct.pack("<f", float("inf")))
        )

    assert run(driver, "fp64", *FLOATS) == [struct.pack("<d", value).hex() for value in FLOATS]
    assert run(driver, "fp32", *FLOATS) == [single(value).hex() for value in FLOATS]
    assert run(driver, "bf16", *FLOATS) == [single(value)[2:].hex() for value in FLOATS]
    assert run(driver, "fp16", *FLOATS[:-1]) == [struct.pack("<e", value).hex() for value in FLOATS[:-1]]
    assert run(driver, "fp32", float("nan")) == ["0000c07f"]
    assert run(driver, "fp16", float("nan"), -float("nan")) == ["007e", "00fe"]


def test_bf16_truncates_unless_told_to_round(driver: Any) -> None:
    value = float.fromhex("0x1.01ffp0")
    assert run(driver, "bf16", value) == ["803f"]
    assert run(driver, "bf16", value, round_bf16=True) == ["813f"]
    assert run(driver, "bf16", 3, Index(3), round_bf16=True) == ["4040", "4040"]


def test_halves_are_rounded_as_cpython_rounds_them(driver: Any) -> None:
    """Neighbours, what lies in the middle and on both sides of it: subnormal, normal, and up to the largest."""
    values: list[float] = []
    for bits in (*range(0, 0x7BFF, 61), 0x3FE, 0x3FF, 0x400, 0x7BFE):
        low, high = struct.unpack("<2e", struct.pack("<2H", bits, bits + 1))
        middle = (low + high) / 2
        values += [low, middle, -middle, middle * (1 - 2**-40), middle * (1 + 2**-40)]
    for start in range(0, len(values), 500):
        some = values[start : start + 500]
        assert run(driver, "fp16", *some) == [struct.pack("<e", value).hex() for value in some]


@pytest.mark.parametrize(
    ("value", "truncated", "rounded"),
    [
        (float.fromhex("0x1.01p0"), "803f", "803f"),  # in the middle: to even
        (float.fromhex("0x1.03p0"), "813f", "823f"),
        (float.fromhex("-0x1.01p0"), "80bf", "80bf"),
        (float.fromhex("0x1.fep127"), "7f7f", "7f7f"),
        (float.fromhex("0x1.ffp127"), "7f7f", "807f"),
        (float("inf"), "807f", "807f"),
        (*struct.unpack("<d", b"\xff" * 7 + b"\x7f"), "ff7f", "ff7f"),  # a NaN with every bit of its payload
        (*struct.unpack("<d", b"\xff" * 8), "ffff", "ffff"),
    ],
)
def test_bf16_ends_and_middles(driver: Any, value: float, truncated: str, rounded: str) -> None:
    assert run(driver, "bf16", value) == [truncated]
    assert run(driver, "bf16", value, round_bf16=True) == [rounded]


@pytest.mark.parametrize("kind", ["fp16", "bf16", "fp32", "fp64"])
def test_what_is_a_real_number(driver: Any, refused: Any, kind: str) -> None:
    class Sub(float):
        def __float__(self) -> float:
            raise AssertionError("a float's __float__ is not asked")

    two = run(driver, kind, 2.0)[0]
    assert run(driver, kind, 2, Index(2), Float(2.0), Sub(2.0)) == [two] * 4
    assert run(driver, kind, Int(7)) == run(driver, kind, 2.5)
    launcher = driver.bind(kind)
    for value, name in (("2", "str"), (None, "NoneType"), (object(), "object"), (1j, "complex")):
        driver.forget(launcher)
        text = f"argument 1 of add({kind}): expected a real number for {kind}, got {name}"
        refused(driver, lambda value=value: launcher(1, 1, 1, 0, value), TypeError, text)
    text = f"argument 1 of add({kind}): expected a number that fits {kind}, got {str(10**400)[:48]}... (401 characters)"
    refused(driver, lambda: launcher(1, 1, 1, 0, 10**400), OverflowError, text)
    text = f"argument 1 of add({kind}): expected a number that fits {kind}, got an int too large to print"
    refused(driver, lambda: launcher(1, 1, 1, 0, 10**5000), OverflowError, text)


def test_fp16_overflow_comes_last(driver: Any, refused: Any, tensor: Any) -> None:
    launcher = driver.bind("fp16", "*i8", "i32", names="scale x n")
    place = "argument 1 'scale' of add(fp16, *i8, i32): "
    text = place + "expected a number that fits fp16, got 65520.0"
    refused(driver, lambda: launcher(1, 1, 1, 0, 65520.0, tensor(0x1000, driver.recorder), 1), OverflowError, text)
    assert driver.events()[0] == {"intake": "data_ptr"}
    text = "argument 3 'n' of add(fp16, *i8, i32): expected an int for i32, got str"
    refused(driver, lambda: launcher(1, 1, 1, 0, 65520.0, 1, "x"), TypeError, text)
    text = place + "expected a number that fits fp16, got Float"
    refused(driver, lambda: launcher(1, 1, 1, 0, Float(-1e9), 1, 1), OverflowError, text)


def test_an_overflow_is_forgotten_with_its_launch(driver: Any) -> None:
    """Enough of them that some memory of the launch that failed is used again by the next."""
    launcher = driver.bind(*["fp16"] * 200)
    driver.forget(launcher)
    for value in (1e6, 1.0, 1e6, 1.0):
        try:
            launcher(1, 1, 1, 0, *[value] * 200)
        except OverflowError:
            assert value == 1e6
    assert [event["params"][:200] for event in driver.launches()] == [["003c"] * 200] * 2


@pytest.mark.parametrize("error", [ZeroDivisionError("mine"), KeyboardInterrupt(), TypeError("mine"), OverflowError()])
def test_what_an_argument_raises_is_raised(driver: Any, error: BaseException) -> None:
    for kind, value in (("i32", Index(error)), ("u8", Index(error)), ("fp32", Float(error)), ("fp16", Index(error))):
        launcher = driver.bind(kind)
        with pytest.raises(type(error)) as caught:
            launcher(1, 1, 1, 0, value)
        assert caught.value is error
        assert driver.events() == []


def test_answers_of_the_wrong_type(driver: Any) -> None:
    for kind, value, text in (
        ("i32", Index("1"), "__index__ returned non-int (type str)"),
        ("fp32", Float(1), "Float.__float__ returned non-float (type int)"),
    ):
        with pytest.raises(TypeError) as caught:
            driver.bind(kind)(1, 1, 1, 0, value)
        assert str(caught.value) == text
    assert driver.events() == []


Pair = namedtuple("Pair", "a b")  # noqa: PYI024


class Twins(Sequence[Any]):
    """A sequence that makes its items when asked."""

    def __init__(self, *items: Any, length: Any = None) -> None:
        self.items = items
        self.length = length

    def __len__(self) -> int:
        if isinstance(self.length, BaseException):
            raise self.length
        return len(self.items) if self.length is None else self.length

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]


def test_tuples_are_any_sequence(driver: Any, tensor: Any) -> None:
    launcher = driver.bind("i8", ("i16", "*i8"), ((("u8",),), "constexpr"), ())
    expected = ["01", "0200", "0010000000000000", "03"]
    for make in (tuple, list, lambda items: Pair(*items), lambda items: Twins(*items)):
        driver.forget(launcher)
        launcher(1, 1, 1, 0, 1, make([2, tensor(0x1000)]), make([[[3]], "any"]), [])
        assert driver.parameters() == expected


def test_text_is_a_sequence_of_text(driver: Any, refused: Any) -> None:
    launcher = driver.bind(("constexpr", "constexpr"))
    launcher(1, 1, 1, 0, "ab")
    launcher(1, 1, 1, 0, range(2))
    assert len(driver.launches()) == 2
    driver.forget(launcher)
    place = "argument 1 of add((constexpr, constexpr)): expected a sequence of 2 items, got "
    value: Any
    for value, got in (
        (b"ab", "bytes"),
        ({0: 1, 1: 2}, "dict"),
        ({1, 2}, "set"),
        (None, "NoneType"),
        (iter([1, 2]), "list_iterator"),
    ):
        refused(driver, lambda value=value: launcher(1, 1, 1, 0, value), TypeError, place + got)
    for value, got in (("abc", "one of 3"), ((1,), "one of 1"), ([], "one of 0"), (Twins(1, 2, length=5), "one of 5")):
        refused(driver, lambda value=value: launcher(1, 1, 1, 0, value), TypeError, place + got)


def test_places_in_tuples_count_leaves(driver: Any, refused: Any) -> None:
    launcher = driver.bind("*i8", ("i32", ("i32", "constexpr")), "i32", names="p t n")
    call = "add(*i8, (i32, (i32, constexpr)), i32): "
    text = f"argument 3 of {call}expected an int for i32, got str"
    refused(driver, lambda: launcher(1, 1, 1, 0, 0, (1, ("x", 0)), 1), TypeError, text)
    text = f"argument 3 of {call}expected a sequence of 2 items, got one of 3"
    refused(driver, lambda: launcher(1, 1, 1, 0, 0, (1, (1, 2, 3)), 1), TypeError, text)
    text = f"argument 5 'n' of {call}expected an int for i32, got NoneType"
    refused(driver, lambda: launcher(1, 1, 1, 0, 0, (1, (1, 2)), None), TypeError, text)


def test_sequences_that_misbehave(driver: Any, refused: Any) -> None:
    launcher = driver.bind(("i8", "i8"))
    error = LookupError("no length")
    refused(driver, lambda: launcher(1, 1, 1, 0, Twins(1, 2, length=error)), LookupError, "no length")
    text = "item 2 of the Twins for a tuple of add((i8, i8)) cannot be retrieved"
    refused(driver, lambda: launcher(1, 1, 1, 0, Twins(1, length=2)), TypeError, text)

    class Liar(tuple[Any, ...]):
        def __len__(self) -> int:
            return 2

    text = "item 2 of the Liar for a tuple of add((i8, i8)) cannot be retrieved"
    refused(driver, lambda: launcher(1, 1, 1, 0, Liar((1,))), TypeError, text)

    class Doubles(tuple[Any, ...]):
        def __getitem__(self, index: Any) -> Any:
            return 2 * super().__getitem__(index)

    driver.forget(launcher)
    launcher(1, 1, 1, 0, Doubles((3, 4)))
    assert driver.parameters() == ["06", "08"]


def test_a_list_that_changes_while_it_is_read(driver: Any, refused: Any) -> None:
    items: list[Any] = []

    class Shrinks:
        def __index__(self) -> int:
            items.clear()
            return 1

    class Grows:
        def __index__(self) -> int:
            items[1] = 77
            return 1

    launcher = driver.bind(("i8", "i8"))
    items[:] = [Shrinks(), 2]
    text = "item 2 of the list for a tuple of add((i8, i8)) cannot be retrieved"
    refused(driver, lambda: launcher(1, 1, 1, 0, items), TypeError, text)
    items[:] = [Grows(), 2]
    launcher(1, 1, 1, 0, items)
    assert driver.parameters() == ["01", "4d"]


def test_items_live_until_they_are_used(driver: Any) -> None:
    """Items made on demand, and lists emptied by another argument, are held."""
    items: list[Any] = []

    class Made:
        def data_ptr(self) -> int:
            return 0x1000

    class Empties:
        def __index__(self) -> int:
            items.clear()
            return 1

    class Maker(Sequence[Any]):
        def __len__(self) -> int:
            return 1

        def __getitem__(self, index: Any) -> Any:
            return Made()

    items.append(Made())
    launcher = driver.bind(("*i8",), ("*i8",), "i8")
    launcher(1, 1, 1, 0, items, Maker(), Empties())
    assert driver.parameters() == ["0010000000000000", "0010000000000000", "01"]


def test_left_to_right(driver: Any) -> None:
    order: list[int] = []

    class Note:
        def __init__(self, number: int) -> None:
            self.number = number

        def __index__(self) -> int:
            order.append(self.number)
            return self.number

    launcher = driver.bind("i8", ("u8", "i64"), "fp16", "i1")
    launcher(Note(1), Note(2), Note(3), 0, Note(4), [Note(5), Note(6)], Note(7), Note(8))
    assert order == [1, 2, 3, 4, 5, 6, 7, 8]
