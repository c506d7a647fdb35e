"""Scalars by dialect: slots, the bytes in them, and what is refused with which words."""

from __future__ import annotations

import functools
import struct
from typing import Any

import pytest

import relaunch

SIGNED_LONG = (-(2**63), 2**63 - 1)
UNSIGNED = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}


class Index:
    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def run(driver: Any, kind: str, *values: Any, **options: Any) -> list[str]:
    launcher = driver.bind(*[kind] * len(values), **options)
    driver.forget(launcher)
    launcher(1, 1, 1, 0, *values)
    parameters: list[str] = driver.parameters()
    return parameters


def values_refused(driver: Any, refused: Any, launcher: Any, kind: type[BaseException], texts: dict[Any, str]) -> None:
    """Each value by itself, with its whole text."""
    for value, text in texts.items():
        refused(driver, functools.partial(launcher, 1, 1, 1, 0, value), kind, text)


def shown(value: int, size: int) -> str:
    return (value % (1 << 8 * size)).to_bytes(size, "little").hex()


def slots_of(driver: Any) -> dict[str, int]:
    """Host bytes of each scalar type in the driver's release, as the facts of the releases have them."""
    bools = 1 if driver.at_least in ((3, 5), (3, 6)) else 4
    halves = 4 if driver.at_least < (3, 4) else 2
    sizes = {"i1": bools, "u1": bools, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8}
    return {**sizes, "fp16": halves, "bf16": halves, "fp32": 4, "fp64": 8, "*fp32": 8}


def test_slots(each: Any) -> None:
    sizes = slots_of(each)
    launcher = each.bind(*sizes)
    assert list(launcher.slots) == [*sizes.values(), *[8] * each.hidden]
    kernel = {"i1": 1, "u1": 1, "fp16": 2, "bf16": 2}
    found = [parameter["size"] for parameter in launcher.parameters]
    assert found[: len(sizes)] == [kernel.get(kind, size) for kind, size in sizes.items()]
    plan = relaunch.Plan(launcher.tree, dialect=each.dialect)
    assert plan.parameters == launcher.parameters
    assert plan.slots == launcher.slots


def test_signed_ints_are_checked_by_their_type(each: Any, refused: Any) -> None:
    for kind in ("i8", "i16", "i32", "i64"):
        bits = int(kind[1:])
        values = [-(2 ** (bits - 1)), -1, 0, 1, 2 ** (bits - 1) - 1]
        assert run(each, kind, *values, Index(5)) == [shown(value, bits // 8) for value in (*values, 5)]
        launcher = each.bind(kind, names="n")
        place = f"argument 1 'n' of add({kind}): expected an int"
        beyond = (2 ** (bits - 1), -(2 ** (bits - 1)) - 1, 2**70)
        texts = {value: f"{place} that fits {kind}, got {value}" for value in beyond}
        values_refused(each, refused, launcher, OverflowError, texts)
        values_refused(each, refused, launcher, TypeError, {1.0: f"{place} for {kind}, got float"})


def test_i1(each: Any, refused: Any) -> None:
    size = slots_of(each)["i1"]
    assert run(each, "i1", 0, 1, 255, True, Index(2)) == [shown(value, size) for value in (0, 1, 255, 1, 2)]
    wide, words = {
        1: ([], "from 0 to 255"),
        4: ([-1, 256, 2**31 - 1, -(2**31)], "of 32 bits"),
    }[size]
    beyond = {1: [-1, 256], 4: [2**31, -(2**31) - 1]}[size] + [2**63]
    if each.at_least >= (3, 7):
        wide, words, beyond = [*wide, *beyond[:2], *SIGNED_LONG], "of 64 bits", [2**63, -(2**63) - 1]
    if wide:
        assert run(each, "i1", *wide) == [shown(value, 4) for value in wide]
    launcher = each.bind("i1")
    for value in beyond:
        text = f"argument 1 of add(i1): expected an int {words} for i1, got {value}"
        refused(each, lambda value=value: launcher(1, 1, 1, 0, value), OverflowError, text)


def test_unsigned(each: Any, refused: Any) -> None:
    variadic = each.at_least >= (3, 7)
    for kind, bits in {"u1": 8 * slots_of(each)["u1"], **UNSIGNED}.items():
        kept = [0, 1, 2**bits - 1, True, 2**64 - 1]
        if kind != "u64":
            kept += [2**bits, 2**63]
        assert run(each, kind, *kept) == [shown(value, bits // 8) for value in kept]
        launcher = each.bind(kind)
        if not variadic:
            masked = [-1, 2**64, 2**70 + 3, -(2**66) - 2]
            assert run(each, kind, *masked) == [shown(value, bits // 8) for value in masked]
            continue
        words = f"that fits {kind}" if kind == "u64" else f"from 0 to 2**64 - 1 for {kind}"
        place = f"argument 1 of add({kind}): expected an int"
        texts: dict[Any, str] = {value: f"{place} {words}, got {value}" for value in (-1, 2**64, -(2**70))}
        values_refused(each, refused, launcher, OverflowError, texts)
        others = {Index(1): "Index", 1.5: "float", None: "NoneType"}
        texts = {value: f"{place} for {kind}, got {name}" for value, name in others.items()}
        values_refused(each, refused, launcher, TypeError, texts)


def test_strict_unsigned(each: Any, refused: Any) -> None:
    for kind, bits in {"u1": 8, **UNSIGNED}.items():
        size = slots_of(each)[kind]
        values = [0, 1, 2**bits - 1]
        assert run(each, kind, *values, strict=True) == [shown(value, size) for value in values]
        launcher = each.bind(kind, strict=True)
        place = f"argument 1 of add({kind}): expected an int that fits {kind}, got"
        texts = {value: f"{place} {value}" for value in (-1, 2**bits, 2**70)}
        values_refused(each, refused, launcher, OverflowError, texts)


FLOATS = [0.0, -0.0, 1.5, -2.0, 1 / 3, float("inf"), float("-inf"), 2.0**-24]


def test_floats_are_right_and_their_slots_have_no_rest(each: Any) -> None:
    rest = "0000" * (slots_of(each)["fp16"] // 4)
    singles = [struct.pack("<f", value) for value in FLOATS]
    assert run(each, "fp64", *FLOATS) == [struct.pack("<d", value).hex() for value in FLOATS]
    assert run(each, "fp32", *FLOATS) == [single.hex() for single in singles]
    assert run(each, "bf16", *FLOATS) == [single[2:].hex() + rest for single in singles]
    assert run(each, "fp16", *FLOATS, 65504) == [struct.pack("<e", value).hex() + rest for value in (*FLOATS, 65504)]
    assert run(each, "bf16", float.fromhex("0x1.01ffp0"), round_bf16=True) == ["813f" + rest]
    assert run(each, "fp32", 1e300) == ["0000807f"]


def test_fp16_overflow(each: Any, refused: Any) -> None:
    launcher = each.bind("fp16", names="h")
    for value in (65520.0, -1e300):
        text = f"argument 1 'h' of add(fp16): expected a number that fits fp16, got {value}"
        refused(each, lambda value=value: launcher(1, 1, 1, 0, value), OverflowError, text)
    text = "argument 1 'h' of add(fp16): expected a real number for fp16, got str"
    refused(each, lambda: launcher(1, 1, 1, 0, "1"), TypeError, text)


# Where an fp16 that overflows is found: what is asked for before, with an enter hook and one tensor in front.
@pytest.mark.parametrize(
    ("dialect", "seen"),
    [
        *[(f"{release}-hip", []) for release in ("3.4", "3.5")],
        *[(f"{release}-hip", ["enter", "data_ptr", "query"]) for release in ("3.0", "3.2", "3.3", "3.6", "3.7", "3.9")],
        *[
            (f"{release}-cuda", ["enter", "data_ptr", "query"])
            for release in ("3.0", "3.3", "3.4", "3.5", "3.6", "3.9")
        ],
    ],
)
def test_place_of_an_fp16_overflow(of: Any, tensor: Any, dialect: str, seen: list[str]) -> None:
    driver = of(dialect)
    launcher = driver.bind("*i8", "fp16")
    hook = lambda _: driver.recorder.note(b'{"hook": "enter"}')  # noqa: E731
    address = tensor(0x1000, driver.recorder)
    with pytest.raises(OverflowError):
        launcher.launch(1, 1, 1, 0, 1, driver.metadata(), None, hook, None, address, 1e6)
    found = [event.get("hook") or event.get("intake") or "query" for event in driver.events()]
    assert found == seen
