"""Sampled cases: the same everywhere, every edge among them, most of them launches."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from relaunch.differential.divergence import applicable, divergences
from relaunch.differential.sampler import sample

from relaunch import generator

CUDA = "triton-3.6-cuda"
HIP = "triton-3.6-hip"
SIGNATURE = ["*fp32", "i8", ["i32", ["fp16", "constexpr"]], "u64", "bf16", "tensordesc<fp16[64, 64]>"]


def calls(dialect: str, signature: list[Any], count: int = 2000, seed: int = 0) -> list[dict[str, Any]]:
    return [dict(case.call) for case in sample(dialect, signature, count, seed)]


def digest(dialect: str) -> str:
    cases = [case.to_json() for case in sample(dialect, SIGNATURE, 300, 4)]
    return hashlib.sha256(json.dumps(cases, sort_keys=True).encode()).hexdigest()


@pytest.mark.parametrize("dialect", [CUDA, HIP])
def test_same_seed_gives_the_same_cases_in_another_process(dialect: str) -> None:
    program = f"""
import hashlib, json
from relaunch.differential.sampler import sample
cases = [case.to_json() for case in sample({dialect!r}, {SIGNATURE!r}, 300, 4)]
print(hashlib.sha256(json.dumps(cases, sort_keys=True).encode()).hexdigest())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest(dialect)


def test_a_shorter_run_is_the_beginning_of_a_longer_one() -> None:
    assert calls(CUDA, SIGNATURE, 50) == calls(CUDA, SIGNATURE, 200)[:50]


def test_seed_dialect_and_signature_change_the_cases() -> None:
    first = calls(CUDA, SIGNATURE, 20)
    assert calls(CUDA, SIGNATURE, 20, seed=1) != first
    assert [call["args"] for call in calls(HIP, SIGNATURE, 20)] != [call["args"] for call in first]
    assert calls(CUDA, [*SIGNATURE, "constexpr"], 20) != first


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("i1", [0, 1, 255, -1, 256, True]),
        ("i8", [-129, -128, -1, 0, 127, 128, 255, 256, {"index": -1}]),
        ("i16", [-(2**15) - 1, -(2**15), 2**15 - 1, 2**15, 2**70]),
        ("i32", [-(2**31) - 1, -(2**31), 2**31 - 1, 2**31, 2**63, None, {"float": "0x1.0p+0"}]),
        ("i64", [-(2**63) - 1, -(2**63), 2**63 - 1, 2**63, {"intlike": 3}, {"index_raises": "ZeroDivisionError"}]),
        ("u1", [-1, 255, 256, 2**70]),
        ("u8", [-1, 255, 256, 2**70]),
        ("u16", [-1, 2**16 - 1, 2**16, 2**70]),
        ("u32", [-1, 2**32 - 1, 2**32, 2**32 + 5, 2**70]),
        ("u64", [-1, 2**64 - 1, 2**64, 2**70, {"index": 16}]),
        (
            "fp16",
            [
                *(
                    {"float": value.hex()}
                    for value in (0.0, -0.0, 65504.0, 65520.0, 65519.99999999999, 2.0**-24, 2.0**-25)
                ),
                *({"float": text} for text in ("nan", "inf", "-inf")),
                *(10**309, {"floatlike": "0x1.8p+0"}, {"float_raises": "ZeroDivisionError"}, None, True),
            ],
        ),
        ("bf16", [{"float": (2.0**-149).hex()}, {"float": (1.0039062).hex()}, {"float": "nan"}, {"str": "fp16"}]),
        ("fp32", [{"float": (2.0**-150).hex()}, {"float": (3.4028235677973366e38).hex()}, {"object": 1}]),
        ("fp64", [{"float": (5e-324).hex()}, {"float": (1.7976931348623157e308).hex()}, -(10**309)]),
        ("*fp32", [None, 0, -1, 2**64 - 1, 2**64, True, {"tensor": "0x0"}, {"tensor_returns": None}, {"object": 1}]),
        ("*i8", [{"tensor_raises": "KeyboardInterrupt"}, {"tensor_returns": -1}, {"tensor_returns": 2**64}]),
        ("nvTmaDesc", [None, 0, {"descriptor_unaligned": 1}, {"object": 1}]),
    ],
)
def test_edges_of_every_type_come_up(kind: str, values: list[Any]) -> None:
    drawn = {json.dumps(call["args"][0]) for call in calls(CUDA, [kind], 20_000) if call["args"]}
    assert [value for value in values if json.dumps(value) not in drawn] == []


def test_every_kind_of_option_comes_up() -> None:
    for dialect in (CUDA, HIP):
        seen = calls(dialect, ["*fp32"], 12_000)
        grids = [call["grid"] for call in seen]
        assert any(0 in grid for grid in grids)
        assert any(isinstance(x, int) and x < 0 for grid in grids for x in grid)
        assert [65536, 65536, 1] in grids
        assert any(None in grid for grid in grids)
        assert {call["enter"] for call in seen} == {call["exit"] for call in seen} == {"none", "ok", "raise"}
        odd = [call["metadata"] for call in seen]
        assert None in odd
        assert any(isinstance(metadata, dict) and "list" in metadata for metadata in odd)
        assert {len(metadata) for metadata in odd if isinstance(metadata, list)} == {2, 3, 4}
        ctas = [call["metadata"][1] for call in seen if isinstance(call["metadata"], list)]
        assert all(number in ctas for number in (-1, 0, 1, 2, 4, 8, 16, None, {"index": 2}))
        assert None in [call["stream"] for call in seen]
        functions = {call["fail"][0] for call in seen if "fail" in call}
        if dialect == CUDA:
            assert functions >= {"cuLaunchKernelEx", "cuPointerGetAttribute", "cuFuncSetAttribute", "cuCtxSetCurrent"}
            assert {call["pdl"] for call in seen} == {True, False}
            assert any(call.get("no_context") for call in seen)
        else:
            assert functions >= {"hipModuleLaunchKernel", "hipDrvLaunchKernelEx", "hipPointerGetAttribute"}
            assert len({call["warp_size"] for call in seen}) == 1  # legacy compiles it in


@pytest.mark.parametrize("dialect", generator.dialects())
def test_every_divergence_comes_up(dialect: str) -> None:
    signature = SIGNATURE if generator.facts(dialect).descriptor.expanded else ["*fp32", "i8", "fp16", "bf16"]
    held = Counter(name for case in sample(dialect, signature, 2500, 0) for name in applicable(case))
    assert sorted(held) == [entry.id for entry in divergences() if dialect in entry.dialects]


def test_tuples_come_in_every_shape() -> None:
    shapes = Counter(
        next(iter(argument)) if isinstance(argument, dict) else str(argument)
        for call in calls(CUDA, [["i32", "i32"]], 4000)
        for argument in call["args"][:1]
    )
    assert set(shapes) >= {"tuple", "list", "namedtuple", "str", "dict", "object", "None", "1"}


def test_unknown_type_is_named() -> None:
    with pytest.raises(generator.UnknownType) as caught:
        next(sample(HIP, ["i32", "nvTmaDesc"], 1, 0))
    assert str(caught.value) == "triton-3.6-hip has no type 'nvTmaDesc' (argument 1)"
