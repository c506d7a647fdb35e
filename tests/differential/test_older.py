"""Where the entries of the dialects before 3.6 hold, and what they make of an outcome."""

from __future__ import annotations

from typing import Any

import pytest
from relaunch.differential.case import Case
from relaunch.differential.divergence import applicable, expected, legacy_runs

from relaunch import generator

ENTER = {"hook": "enter"}
EXIT = {"hook": "exit"}
INTAKE = {"intake": "data_ptr"}
NO_INT = "data_ptr method of Pointer object must return 64-bit int"
NO_TUPLE = "new style getargs format but argument is not a tuple"


def case(dialect: str, signature: list[Any], args: list[Any], **options: Any) -> Case:
    found = generator.facts(dialect)
    plain = {"num_warps": 4, "shared": 0}
    call: dict[str, Any] = {
        "grid": [1, 1, 1],
        "stream": "0x0",
        "function": "0xf00",
        "metadata": [plain.get(element.name, 1) for element in found.metadata.elements],
        "enter": "none",
        "exit": "none",
        "args": args,
        **options,
    }
    release = dialect.split("-")[1] + ".0"
    constants = call.pop("constants", [])
    source = {"id": "case", "release": release, "backend": found.backend, "signature": signature, "call": call}
    source["constants"] = constants
    return Case.from_json(source)


HUGE = {"float": (1e5).hex()}
HALF = {"float": (1.5).hex()}

# (name, dialect, signature, arguments, options, ids that hold)
HOLDS: list[tuple[str, str, list[Any], list[Any], dict[str, Any], list[str]]] = [
    ("3.1 is 3.0", "triton-3.1-cuda", ["fp16"], [HALF], {}, ["D14"]),
    ("half of a float", "triton-3.0-cuda", ["fp16", "i32"], [HALF, 1], {}, ["D14"]),
    ("half of a float, bf16 by int", "triton-3.3-hip", [["bf16"]], [{"tuple": [7]}], {}, ["D14"]),
    ("a half that is refused", "triton-3.2-hip", ["fp16"], [None], {}, []),
    ("a half past double", "triton-3.2-cuda", ["bf16"], [10**309], {}, []),
    ("packed since 3.4", "triton-3.4-cuda", ["fp16"], [HALF], {}, []),
    ("too large, as a float", "triton-3.3-cuda", ["fp16"], [HUGE], {}, ["D15"]),
    ("too large, but folded", "triton-3.2-cuda", ["fp16", "bf16"], [HUGE, HALF], {"constants": [0, 1]}, []),
    ("too large, beside another", "triton-3.0-hip", ["fp16", "fp16"], [HUGE, HALF], {}, ["D14", "D15"]),
    ("bf16 overflows to infinity", "triton-3.0-hip", ["bf16"], [{"float": (1e39).hex()}], {}, ["D14"]),
    ("too large, packed late", "triton-3.4-cuda", ["fp16"], [HUGE], {}, ["D04"]),
    ("too large, packed early", "triton-3.4-hip", ["fp16"], [HUGE], {}, ["D16"]),
    ("too large, packed early in 3.5", "triton-3.5-hip", ["fp16"], [HUGE], {"grid": [2**31, 1, 1]}, ["D16"]),
    ("too large, packed late in 3.6", "triton-3.6-hip", ["fp16"], [HUGE], {}, ["D04"]),
    ("no data_ptr", "triton-3.4-hip", ["*i8", "*i8"], [{"object": 1}, -1], {}, ["D13"]),
    ("no data_ptr, 3.5", "triton-3.5-hip", ["*i8"], [{"object": 1}], {}, []),
    ("no data_ptr on CUDA", "triton-3.0-cuda", ["*i8"], [{"object": 1}], {}, []),
    ("refused earlier", "triton-3.0-hip", ["*i8", "*i8"], [-1, {"object": 1}], {}, ["D05"]),
    ("unknown status", "triton-3.0-cuda", ["*i8"], [{"tensor": "0x5e0000000010"}], {}, ["D11"]),
    ("unknown status is known", "triton-3.2-cuda", ["*i8"], [{"tensor": "0x5e0000000010"}], {}, []),
    ("no context in 3.0", "triton-3.0-cuda", [], [], {"no_context": True, "fail": ["cuCtxGetCurrent", 0, 2]}, []),
    ("no context in 3.2", "triton-3.2-cuda", [], [], {"no_context": True, "fail": ["cuCtxGetCurrent", 0, 2]}, ["D09"]),
    ("wraps to a negative", "triton-3.5-hip", [], [], {"grid": [65536, 32768, 1]}, ["D01"]),
    ("wraps to a negative, launched", "triton-3.6-hip", [], [], {"grid": [65536, 32768, 1]}, []),
    ("too large along y", "triton-3.5-cuda", [], [], {"grid": [1, 2**30, 1], "metadata": [4, 4, 0, 2, 2, 1]}, ["D02"]),
    ("too large, not scaled", "triton-3.5-cuda", [], [], {"grid": [1, 2**30, 1], "metadata": [4, 1, 0, 2, 2, 1]}, []),
    ("not scaled on HIP", "triton-3.5-hip", [], [], {"grid": [2**31 - 1, 1, 1], "metadata": [4, 4, 0, 4, 1, 1]}, []),
    ("three entries of six", "triton-3.5-cuda", [], [], {"grid": [2**31 - 1, 1, 1], "metadata": [4, 4, 0]}, []),
    ("launch fails", "triton-3.0-hip", [], [], {"exit": "ok", "fail": ["hipModuleLaunchKernel", 0, 2]}, ["D10"]),
    (
        "another launch fails",
        *("triton-3.5-hip", [], []),
        {"exit": "ok", "fail": ["hipDrvLaunchKernelEx", 0, 2], "metadata": [4, 2, 0, 2, 1, 1]},
        [],
    ),
    ("attribute for 16 CTAs", "triton-3.5-cuda", [], [], {"fail": ["cuFuncSetAttribute", 0, 2]}, []),
    ("i8 in 3.0", "triton-3.0-cuda", ["i8"], [-1], {}, ["D03"]),
    ("DLPack in 3.0", "triton-3.0-hip", ["*i8"], [{"dlpack": "0x10"}], {}, ["D12"]),
]


@pytest.mark.parametrize(
    ("dialect", "signature", "args", "options", "ids"),
    [entry[1:] for entry in HOLDS],
    ids=[entry[0] for entry in HOLDS],
)
def test_where_entries_hold(
    dialect: str, signature: list[Any], args: list[Any], options: dict[str, Any], ids: list[str]
) -> None:
    assert applicable(case(dialect, signature, args, **options)) == ids


def test_wrapped_case_is_seen_with_its_descriptors_taken_apart() -> None:
    given = case("triton-3.5-hip", ["i8", "tensordesc<fp16[4, 4]>", "*i8"], [])
    descriptor = {"base": "0x5e0000000010", "shape": [1, 2], "strides": [2, 1], "block": [4, 4], "padding": "nan"}
    args = [-1, {"descriptor": {**descriptor, "round": False}}, -1]

    def held(**options: Any) -> list[str]:
        source = {**given.to_json(), "tensordesc_meta": None, **options}
        return applicable(Case.from_json({**source, "call": {**source["call"], "args": args}}))

    assert held() == ["D03", "D05", "D11"]
    meta = {"swizzle": 0, "elem_size": 2, "elem_type": 6, "block_size": [4, 4], "fp4_padded": False}
    assert held(tensordesc_meta=[meta]) == []  # no launcher: HIP in 3.5 takes no metadata
    assert held(release="3.5.1", backend="cuda", tensordesc_meta=[meta]) == ["D03", "D05"]
    native = {**given.to_json()["call"], "metadata": [4, 1, 0]}
    assert held(release="3.7.0", backend="cuda", tensordesc_meta=[meta], call=native) == ["D23"]


def ran(events: list[Any], error: str | None = None, text: str = "") -> dict[str, Any]:
    return {"events": events, "error": None if error is None else {"type": error, "text": text}}


@pytest.mark.parametrize(
    ("kind", "value", "slot"),
    [
        ("fp16", 1.5, "003e0000"),
        ("fp16", -0.0, "00800000"),
        ("fp16", 65519.9, "ff7b0000"),
        ("fp16", float("inf"), "007c0000"),
        ("bf16", 1.0, "803f0000"),
        ("bf16", 1.00390625, "803f0000"),  # truncated, not rounded
        ("bf16", 1e39, "807f0000"),
        ("bf16", -3, "40c00000"),
    ],
)
def test_half_is_the_float_with_these_bytes(kind: str, value: Any, slot: str) -> None:
    import struct

    argument = value if isinstance(value, int) else {"float": value.hex()}
    given = case("triton-3.3-cuda", [["i32", kind]], [{"tuple": [1, argument]}])
    rewritten = legacy_runs(given)[1].call["args"][0]["tuple"][1]["float"]
    assert struct.pack("<f", float.fromhex(rewritten)).hex() == slot


def test_float_that_is_no_half_is_launched_nowhere() -> None:
    given = case("triton-3.0-cuda", ["fp16"], [HUGE], enter="ok", exit="ok")
    calls: list[Any] = []

    def legacy(run: Case) -> dict[str, Any]:
        calls.append(run.call)
        launched = [] if 0 in run.call["grid"] else [{"call": "cuLaunchKernel", "params": []}]
        return ran([ENTER, *launched, *([] if run.call["exit"] == "none" else [EXIT])])

    assert expected(given, legacy) == ({"events": [ENTER], "error": {"type": "OverflowError"}}, ["D15"])
    assert calls[0]["grid"] == [0, 1, 1]


def test_overflow_is_raised_before_metadata_is_read() -> None:
    given = case("triton-3.4-hip", ["fp16", "*i8"], [HUGE, -1], enter="ok", grid=[-1, 1, 1])

    def legacy(run: Case) -> dict[str, Any]:
        if run.call["metadata"] is None:
            assert run.call["args"][0] == 0
            return ran([], "SystemError", NO_TUPLE)
        return ran([ENTER], "SystemError", "returned a result with an exception set")

    outcome, ids = expected(given, legacy)
    assert outcome == {"events": [], "error": {"type": "OverflowError"}}
    assert ids == ["D16"]


def test_arguments_refused_before_an_overflow_stay_refused() -> None:
    given = case("triton-3.5-hip", ["fp16", "i32"], [HUGE, None])
    refused = ran([], "TypeError", "'NoneType' object cannot be interpreted as an integer")
    assert expected(given, lambda _run: refused) == (refused, [])


def test_missing_data_ptr_ends_the_launch_at_its_turn() -> None:
    given = case("triton-3.0-hip", ["*i8", "*i8"], [None, {"object": 1}], exit="ok")

    def legacy(run: Case) -> dict[str, Any]:
        if run.call["args"][1] == {"tensor_returns": {"str": "x"}}:
            return ran([INTAKE], "TypeError", NO_INT)
        return ran([{"call": "hipModuleLaunchKernel", "params": []}, EXIT], "SystemError")

    assert expected(given, legacy) == ({"events": [], "error": {"type": "TypeError"}}, ["D13"])


def test_wrapped_grid_is_put_into_every_scaled_dimension() -> None:
    given = case("triton-3.4-cuda", [], [], grid=[65536, 65536, 2], metadata=[4, 8, 0, 2, 2, 2])

    def legacy(run: Case) -> dict[str, Any]:
        launch = {"call": "cuLaunchKernelEx", "grid": [2, 2, 2], "params": []}
        return ran([launch] if run.call["grid"] == [1, 1, 1] else [])

    outcome, ids = expected(given, legacy)
    assert outcome["events"][0]["grid"] == [131072, 131072, 4]
    assert ids == ["D01"]
