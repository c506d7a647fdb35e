"""Scalars and addresses: the bytes that the kernel reads, whatever the width, and values that do not fit."""

from __future__ import annotations

import ctypes
import math
import random
import struct
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential.arguments import Arguments
from typer.testing import CliRunner

import relaunch
from relaunch.cli import app

SIGNED = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
UNSIGNED = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
INTS = {**SIGNED, **UNSIGNED}
KERNEL_BYTES = {"i1": 1, "u1": 1, **{kind: bits // 8 for kind, bits in INTS.items()}}
KERNEL_BYTES |= {"fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8, "*fp32": 8}
# Significant bits and the smallest normal exponent of each format, and its largest exponent.
FORMATS = {"fp16": (11, -14, 15), "fp32": (24, -126, 127)}

INF = math.inf
# Ties of fp16, some with a rest that a detour through fp32 loses: they would then go the other way.
TIES = [1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 1 + 3 * 2.0**-11, 2.0**-25, 2.0**-25 + 2.0**-60, 1 + 2.0**-24]
PLAIN = [0.0, -0.0, 42.0, 0.125, math.pi, 1 / 3, 0.1 + 0.2, -1e-3, 5e-324, 2.0**-14, 2.0**-149, INF, -INF]


def shown(value: int, size: int) -> str:
    return (value % (1 << 8 * size)).to_bytes(size, "little").hex()


def rounded(value: float, kind: str) -> float:
    """`value` in a narrower format, to nearest even, by exact arithmetic; infinite beyond its largest."""
    bits, smallest, largest = FORMATS[kind]
    if value == 0 or not math.isfinite(value):
        return value
    quantum = Fraction(2) ** (max(math.frexp(value)[1] - 1, smallest) - bits + 1)
    near = round(Fraction(value) / quantum) * quantum  # round() of a Fraction is to even
    if abs(near) >= Fraction(2) ** (largest + 1):
        return math.copysign(INF, value)
    return math.copysign(float(abs(near)), value)


def float_bytes(value: float, kind: str) -> str:
    if kind == "fp64":
        return struct.pack("<d", value).hex()
    if kind == "bf16":  # what Triton's launchers do: the upper half of a float
        return struct.pack("<f", rounded(value, "fp32"))[2:].hex()
    return struct.pack("<e" if kind == "fp16" else "<f", rounded(value, kind)).hex()


def read_by_kernel(driver: Any, launcher: relaunch.Launcher) -> list[str]:
    """The bytes of each parameter of the one launch that a kernel reads: a slot may be longer."""
    sizes = [parameter["size"] for parameter in launcher.parameters if not parameter["hidden"]]
    return [slot[: 2 * size] for slot, size in zip(driver.parameters(), sizes, strict=True)]


def passed(driver: Any, kind: str, values: list[Any], **options: Any) -> list[str]:
    launcher = driver.bind(*[kind] * len(values), **options)
    driver.forget(launcher)
    launcher(1, 1, 1, 0, *values)
    return read_by_kernel(driver, launcher)


def refuses(driver: Any, launcher: relaunch.Launcher, kind: type[BaseException], *args: Any) -> str:
    """The text of what a launch raises; nothing was launched."""
    driver.forget(launcher)
    with pytest.raises(kind) as caught:
        launcher(1, 1, 1, 0, *args)
    assert type(caught.value) is kind
    assert driver.launches() == []
    return str(caught.value)


def test_floats_keep_the_precision_that_is_declared(each: Any) -> None:
    for kind in ("fp16", "bf16", "fp32", "fp64"):
        chance = random.Random(1)
        values = PLAIN + TIES + [math.ldexp(chance.uniform(-2, 2), chance.randint(-160, 15)) for _ in range(200)]
        assert passed(each, kind, values) == [float_bytes(value, kind) for value in values]
        assert passed(each, kind, [42, True]) == [float_bytes(42.0, kind), float_bytes(1.0, kind)]
        (nan,) = passed(each, kind, [math.nan])
        exponent = {"fp16": 0x7C00, "bf16": 0x7F80, "fp32": 0x7F800000, "fp64": 0x7FF << 52}[kind]
        number = int.from_bytes(bytes.fromhex(nan), "little")
        assert number & exponent == exponent
        assert number & (exponent - 1) & ~exponent, "a NaN, not an infinity"


def test_halves_at_the_end_of_their_range(each: Any) -> None:
    below = [65504.0, 65519.99, -65519.99]
    assert passed(each, "fp16", below) == ["ff7b", "ff7b", "fffb"]
    launcher = each.bind("i32", "fp16", "i64", names="a h b")
    for value in (65520.0, -65520.0, 1e6, 1e300, 2**64):
        text = refuses(each, launcher, OverflowError, 1, value, 2)
        assert text == f"argument 2 'h' of add(i32, fp16, i64): expected a number that fits fp16, got {value}"
    most = float.fromhex("0x1.fffffep127")
    values = [most, 1e39, -1e300, INF, float.fromhex("0x1.ffffffp127")]
    assert passed(each, "bf16", values) == ["7f7f", "807f", "80ff", "807f", "807f"]
    assert passed(each, "fp32", values) == ["ffff7f7f", "0000807f", "000080ff", "0000807f", "0000807f"]


def test_nothing_moves_behind_a_narrow_parameter(each: Any) -> None:
    """Offsets are C's, for the sizes that a kernel has, and the bytes of all others are their own."""
    for kind in KERNEL_BYTES:
        types = [kind, "i8", kind, "i32", kind, "i64", kind, kind, "*fp32"]
        value = 1 if kind in ("i1", "u1") else 5
        plain = {"i8": (-3, "fd"), "i32": (-70000, shown(-70000, 4)), "i64": (2**40, shown(2**40, 8))}
        own = {"fp16": "0045", "bf16": "a040", "fp32": "0000a040", "fp64": shown(0x4014 << 48, 8)}
        launcher = each.bind(*types)
        each.forget(launcher)
        launcher(1, 1, 1, 0, *[plain[one][0] if one in plain and one != kind else value for one in types[:-1]], 0x1000)
        mine = own.get(kind, shown(value, KERNEL_BYTES[kind]))
        expected = [mine if one == kind else plain[one][1] for one in types[:-1]]
        assert read_by_kernel(each, launcher) == [*expected, shown(0x1000, 8)]
        end, offsets = 0, []
        for one in types:
            size = KERNEL_BYTES[one]
            offsets.append(-(-end // size) * size)
            end = offsets[-1] + size
        assert [parameter["offset"] for parameter in launcher.parameters][: len(types)] == offsets


class Index:
    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Int(int): ...


BOUNDARIES = sorted({sign * (2**bits) + off for bits in (7, 8, 15, 16, 31, 32, 63, 64, 70) for sign in (1, -1)
                     for off in (-1, 0, 1, 5)} | {0, 1, 200, -200})  # fmt: skip


def fits(driver: Any, kind: str, value: int, strict: bool) -> bool:
    """Whether a value is taken. Unsigned ones keep their low bits as in every release, unless `strict`."""
    if kind in UNSIGNED and not strict:
        return bool(driver.at_least < (3, 7) or 0 <= value < 2**64)
    bits = INTS[kind]
    low, high = (-(1 << bits - 1), 1 << bits - 1) if kind in SIGNED else (0, 1 << bits)
    return low <= value < high


@pytest.mark.parametrize("nested", [False, True], ids=["flat", "in a tuple"])
def test_no_int_is_narrowed_silently(each: Any, nested: bool) -> None:
    if nested and each.at_least < (3, 3):
        with pytest.raises(relaunch.BindError, match="has no tuples"):
            each.bind(("i32",))
        return
    for kind, bits in INTS.items():
        for strict in (False, True):
            launcher = each.bind((kind,) if nested else kind, strict=strict)
            for value in BOUNDARIES:
                given: Any = [value] if nested else value
                if fits(each, kind, value, strict):
                    each.forget(launcher)
                    launcher(1, 1, 1, 0, given)
                    assert each.parameters() == [shown(value, bits // 8)], (kind, value)
                else:
                    assert str(value) in refuses(each, launcher, OverflowError, given)


def test_no_object_that_is_an_int_is_narrowed_silently(each: Any) -> None:
    for kind, bits in SIGNED.items():
        launcher = each.bind(kind)
        for make in (Int, Index):
            for value in (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1):
                each.forget(launcher)
                launcher(1, 1, 1, 0, make(value))
                assert each.parameters() == [shown(value, bits // 8)]
            for value in (2 ** (bits - 1), -(2 ** (bits - 1)) - 1, 2**bits, 2**70):
                refuses(each, launcher, OverflowError, make(value))


def test_bools_are_one_or_zero_everywhere(each: Any) -> None:
    """Python's own, in every type. What is no int (ctypes.c_bool) is refused by its type, not read as true."""
    for kind, size in KERNEL_BYTES.items():
        if kind.startswith("*"):
            continue
        one = float_bytes(1.0, kind) if kind in ("fp16", "bf16", "fp32", "fp64") else shown(1, size)
        assert passed(each, kind, [True, False]) == [one, "00" * size]
        refuses(each, each.bind(kind), TypeError, ctypes.c_bool(True))

    class Float(float): ...

    assert passed(each, "fp64", [Float(0.1)]) == [struct.pack("<d", 0.1).hex()]


def test_the_declared_width_counts_and_not_the_values(each: Any) -> None:
    for kind, bits in INTS.items():
        size, most = bits // 8, 2 ** (bits - (kind in SIGNED)) - 1
        launcher = relaunch.Launcher(
            relaunch.parse(f"n: {kind}, m: {kind}"), dialect=each.dialect, function=1, driver=str(each.recorder.path)
        )
        each.hidden = sum(parameter["hidden"] for parameter in launcher.parameters)
        each.forget(launcher)
        launcher(1, 1, 1, 0, 5, most)
        assert each.parameters() == [shown(5, size), shown(most, size)]


UNKNOWN = ["fp8e4nv", "fp8e5", "fp8e4b15", "fp4", "tf32", "i4", "i128", "u128", "void", "complex64", "int", "I32"]
UNKNOWN += ["nvTmaDes", "tensordesc<", "i32 ", "fp64x"]


def test_unknown_scalars_are_refused_by_name(each: Any) -> None:
    """When the launcher is built: no type stands for another one."""
    for kind in UNKNOWN:
        for types, place in ((("*fp32", kind), 2), (((kind, "i32"),), 1)):
            if place == 1 and each.at_least < (3, 3):
                continue
            with pytest.raises(relaunch.BindError) as caught:
                each.bind(*types)
            assert str(caught.value).startswith(f"parameter {place} of (")
            assert f"'{kind}'" in str(caught.value)
    assert each.events() == []


def test_addresses_have_64_bits(each: Any, tensor: Any) -> None:
    """As an int, from data_ptr(), and by DLPack's exchange."""
    exchanged = Arguments(each.dialect, lambda _: None)
    launcher = each.bind("*fp32", "*fp32", "*fp32")
    for address in (2**63, 2**63 + 0x7F0000001000, 0xFFFF800000001000, 2**64 - 2):
        each.forget(launcher)
        launcher(1, 1, 1, 0, address, tensor(address), exchanged.build({"dlpack": hex(address)}))
        assert each.parameters() == [shown(address, 8)] * 3


def test_a_tensor_in_the_place_of_a_scalar(each: Any, tensor: Any) -> None:
    """One that is no number; one that says it is (torch's, of one element) is that number, as in every release."""

    class Number(tensor):  # type: ignore[misc] # a fixture's class
        def __index__(self) -> int:
            return 1

        def __float__(self) -> float:
            return 1.0

    for kind in (one for one in KERNEL_BYTES if not one.startswith("*")):
        launcher = each.bind("*fp32", kind, names="x s")
        text = refuses(each, launcher, TypeError, 0x1000, tensor(0x2000))
        assert text.startswith(f"argument 2 's' of add(*fp32, {kind}): expected a")
        assert text.endswith(f" for {kind}, got Tensor")
        if kind in SIGNED or kind in FORMATS:
            each.forget(launcher)
            launcher(1, 1, 1, 0, 0x1000, Number(0x2000))
            assert read_by_kernel(each, launcher)[1] == (
                float_bytes(1.0, kind) if kind in FORMATS else shown(1, KERNEL_BYTES[kind])
            )


def test_numbers_that_do_not_print_as_numbers_in_source_text(tmp_path: Path) -> None:
    """Infinities and NaN among the constants of a signature: the header that is written for C++ compiles."""
    source = tmp_path / "kernels.txt"
    source.write_text("*fp32:16, inf, -inf, nan, 1e400, fp32\n")
    done = CliRunner().invoke(app, ["migrate", str(source), "--emit", "cpp"])
    assert done.exit_code == 0
    (tmp_path / "kernels.cpp").write_text(done.stdout.replace("#pragma once", ""))
    command = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(tmp_path / "kernels.cpp")]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""
