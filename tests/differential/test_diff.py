"""The engine: both launchers agree on everything but the list, and nothing it counts is lost or made up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import diff as engine
from relaunch.differential.case import Case
from relaunch.differential.compare import difference
from relaunch.differential.diff import Tally, compare_cases, diff, parameter_bytes, supported
from relaunch.differential.divergence import divergences
from relaunch.differential.sampler import sample

from relaunch import generator

CUDA = "triton-3.6-cuda"
HIP = "triton-3.6-hip"

# Every type, every depth, with and without arguments; the plain ones are for dialects without tuples too.
SIGNATURES: list[tuple[Any, ...]] = [
    (),
    ("i1", "u1", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"),
    ("fp16", "bf16", "fp32", "f32", "fp64", "fp16", "bf16", "fp16"),  # some are folded, to 3.2
    ("*i8", "*fp8e4nv", "**u1", "*kbf16", "i8"),
    ("nvTmaDesc", "*fp32", "nvTmaDesc", "i8"),
    ("*fp32", "i32", "constexpr", ("i32", ("*kfp16", "i8")), "fp16"),
    ("fp16", "bf16", ("fp16", ("bf16", (), ("fp64",)))),
    ("tensordesc<fp16[64, 64]>", "**i8", ("constexpr", ("constexpr",))),
    ("*i8", ("*u1", ("*bf16",)), ("nvTmaDesc", "*i64")),
]
FEWEST = 4  # that every dialect takes


@pytest.mark.parametrize("dialect", generator.dialects())
def test_launchers_agree_and_no_divergence_is_stale(dialect: str) -> None:
    tally = diff(dialect, SIGNATURES, cases=1000, seed=3)
    assert [(fault.case.id, fault.difference) for fault in tally.faults] == []
    assert tally.signatures + len(tally.unsupported) == len(SIGNATURES)
    assert tally.signatures >= FEWEST
    assert tally.cases == 1000 * tally.signatures
    assert tally.launches + tally.wanted > 0.5 * tally.cases
    assert tally.rejections > 0.1 * tally.cases
    assert tally.nothing > 0
    assert tally.deaths == 0, "legacy dies where no entry of the list says so"
    stale = [entry.id for entry in divergences() if dialect in entry.dialects and not tally.divergences[entry.id]]
    assert stale == [], "these entries never changed an outcome: drop them, or sample what they are for"


def ran(events: list[Any], error: str | None = None) -> dict[str, Any]:
    return {"slots": [8], "events": events, "error": None if error is None else {"type": error, "text": "any"}}


LAUNCH = {"call": "cuLaunchKernelEx", "params": []}


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        (ran([LAUNCH]), ran([LAUNCH]), None),
        (ran([], "TypeError"), {**ran([], "TypeError"), "error": {"type": "TypeError", "text": "other"}}, None),
        (ran([], "TypeError"), ran([], "ValueError"), 'error.type: expected "TypeError", got "ValueError"'),
        (ran([LAUNCH]), ran([]), "event 0 (cuLaunchKernelEx): missing"),
        (ran([]), ran([{"hook": "exit"}]), "event 0 (exit): not expected"),
        (ran([{"hook": "enter"}]), ran([LAUNCH]), "event 0: expected enter, got cuLaunchKernelEx"),
        ({**ran([LAUNCH]), "slots": [4]}, ran([LAUNCH]), "slots[0]: expected 4, got 8"),
        (ran([LAUNCH]), {"crash": True, "reason": "SIGSEGV"}, "crash: SIGSEGV"),
        ({"crash": True}, {"crash": True}, "crash"),
        ({"crash": True}, ran([], "TypeError"), None),
        ({"crash": True}, ran([LAUNCH], "TypeError"), "events: launched, where legacy dies"),
        ({"crash": True}, ran([]), "error: none, where legacy dies"),
        (ran([]), {"hang": True, "reason": "no answer in 30 s"}, "hang: no answer in 30 s"),
        ({"hang": True, "reason": "no answer in 30 s"}, ran([]), "legacy: hang: no answer in 30 s"),
        (
            ran([LAUNCH]),
            {"bind_error": {"type": "BindError", "text": "no"}},
            "bind_error: BindError: no",
        ),
    ],
)
def test_difference(expected: dict[str, Any], actual: dict[str, Any], found: str | None) -> None:
    assert difference(expected, actual) == found


def test_every_case_is_counted_once_in_order_and_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "CHUNK", 7)
    cases = [
        Case(str(i), "3.6.0", "cuda", ("*i8",), {**call(), "grid": [i + 1, 1, 1], "global_scratch": scratch})
        for i, scratch in enumerate([None, None, None, -1, -1] * 6)
    ]
    calls: list[tuple[int, str]] = []

    def run(some: list[Case], launcher: str) -> Iterable[dict[str, Any]]:
        calls.append((len(some), launcher))
        return (outcome(case, launcher) for case in some)

    def outcome(case: Case, launcher: str) -> dict[str, Any]:
        x = case.call["grid"][0]
        if case.call["global_scratch"] == -1:
            return ran([LAUNCH]) if launcher == "generated" else ran([], "OverflowError")
        if case.call["global_scratch"] is not None:
            text = "data_ptr method of Pointer object must return 64-bit int"
            return {**ran([{"intake": "data_ptr"}], "TypeError"), "error": {"type": "TypeError", "text": text}}
        if x == 1:
            return ran([], "TypeError")
        if x == 2:
            return ran([])
        return ran([LAUNCH]) if (x, launcher) != (3, "precompiled") else ran([LAUNCH], "RuntimeError")

    tally = Tally(CUDA)
    compare_cases(tally, iter(cases), run)
    assert (tally.launches, tally.rejections, tally.nothing, tally.wanted, len(tally.faults)) == (15, 1, 1, 12, 1)
    assert tally.cases == len(cases)
    assert tally.divergences == Counter({"D05": 12})
    fault = tally.faults[0]
    assert (fault.case.id, fault.difference) == ("2", 'error: expected null, got {"type":"RuntimeError"}')
    assert [some for some, launcher in calls if launcher == "precompiled"] == [7, 7, 7, 7, 2]


def test_another_difference_than_the_list_wants_is_a_fault() -> None:
    tally = Tally(CUDA)
    case = Case("0", "3.6.0", "cuda", ("*i8",), call())
    tally.count(case, ran([], "OverflowError"), ["D05"], ran([LAUNCH]))
    assert [fault.divergences for fault in tally.faults] == [("D05",)]
    assert (tally.cases, tally.wanted, tally.divergences) == (1, 0, Counter())


def call() -> dict[str, Any]:
    return dict(next(sample(CUDA, ["*i8"], 1, 0)).call) | {
        "args": [None],
        "profile_scratch": None,
        "metadata": [4, 1, 0],
    }


def test_unsupported_signatures_come_with_a_reason() -> None:
    pointers = ("*fp32",) * 5000
    fit, unfit = supported(HIP, [("i32",), ("nvTmaDesc",), ("fp8e5",), pointers, ("i8",) * 5000])
    assert fit == [("i32",), ("i8",) * 5000]
    assert [reason for _, reason in unfit] == [
        "triton-3.6-hip has no type 'nvTmaDesc' (argument 0)",
        "triton-3.6-hip has no type 'fp8e5' (argument 0)",
        "triton-3.6-hip: 40016 bytes of kernel parameters, drivers take at most 32764",
    ]


def test_the_deepest_tuples_that_legacy_survives(tmp_path: Path) -> None:
    signature: Any = ("i32",)
    for _ in range(29):
        signature = (signature,)
    assert supported(CUDA, [signature])[0] == [signature]
    assert supported(CUDA, [(signature,)])[0] == []
    tally = diff(CUDA, [signature], cases=20, seed=0, cache=tmp_path)
    assert (tally.cases, tally.faults, tally.deaths) == (20, [], 0)


def test_parameters_are_aligned_before_they_are_added_up() -> None:
    assert parameter_bytes([]) == 0
    assert parameter_bytes([1, 8, 1, 4]) == 24
    assert parameter_bytes([1, 128, 8]) == 264
