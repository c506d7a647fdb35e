"""A failing case is shrunk to the smallest one in which the same difference remains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from relaunch.differential.case import Case
from relaunch.differential.diff import Fault, RunCases, Tally, compare_cases, supported
from relaunch.differential.sampler import sample
from relaunch.differential.shrink import kind_of, shrink, size_of, smallest
from relaunch.differential.situation import Situation, as_index

from relaunch import generator

SIGNATURE = ("*fp32", "i8", ("i32", ("fp16", "constexpr", "i32")), "u64", "bf16", "tensordesc<fp16[64, 64]>")
FLAT = ("*fp32", "i8", "i32", "fp16", "i32", "u64", "**u1")

Fails = Callable[[Case], bool]


def launchers(fails: Fails, error: str = "ValueError") -> RunCases:
    """Launchers that do nothing, but that the precompiled one raises where `fails` says so."""

    def run(cases: list[Case], launcher: str) -> Iterator[dict[str, Any]]:
        for case in cases:
            bad = launcher == "precompiled" and fails(case)
            yield {"slots": [], "events": [], "error": {"type": error, "text": ""} if bad else None}

    return run


def first_fault(dialect: str, run: RunCases, seed: int = 1, count: int = 200) -> Fault:
    signature = SIGNATURE if supported(dialect, [SIGNATURE])[0] else FLAT
    tally = Tally(dialect)
    compare_cases(tally, sample(dialect, signature, count, seed), run)
    raised = [fault for fault in tally.faults if fault.difference.startswith("error: expected null")]
    return raised[seed % len(raised)]


def plain(dialect: str) -> dict[str, Any]:
    found = generator.facts(dialect)
    call: dict[str, Any] = {"grid": [1, 1, 1], "stream": "0x0", "function": "0xf00"}
    call["metadata"] = [0 if element.name == "shared" else 1 for element in found.metadata.elements]
    return call


def bare(case: Case) -> dict[str, Any]:
    return {name: value for name, value in case.call.items() if name != "warp_size"}


def has_int(kind: str, least: int) -> Fails:
    def fails(case: Case) -> bool:
        leaves = Situation.of(case).leaves()
        return any(leaf.type == kind and (as_index(leaf.argument) or 0) >= least for leaf in leaves)

    return fails


SOME = ("triton-3.0-hip", "triton-3.2-cuda", "triton-3.6-cuda")


@pytest.mark.parametrize("dialect", SOME)
@settings(max_examples=3, phases=(Phase.generate,))
@given(least=st.integers(1, 2**15), seed=st.integers(0, 1000))
def test_one_value_remains_and_it_is_the_smallest_that_fails(dialect: str, least: int, seed: int) -> None:
    run = launchers(has_int("i32", least))
    found = shrink(first_fault(dialect, run, seed, 60), run)
    assert found.case.signature == ("i32",)
    assert bare(found.case) == {**plain(dialect), "args": [least]}


@pytest.mark.parametrize("dialect", SOME)
def test_an_option_alone_remains(dialect: str) -> None:
    options: list[tuple[Fails, dict[str, Any]]] = [
        (lambda case: case.call.get("exit") == "ok", {"exit": "ok"}),
        (lambda case: case.call["grid"][1] == 3, {"grid": [1, 3, 1]}),
        (lambda case: isinstance(case.call["metadata"], list) and case.call["metadata"][0] == 8, {}),
        (lambda case: bool(case.call.get("fail")), {}),
    ]
    for fails, left in options:
        run = launchers(fails)
        found = shrink(first_fault(dialect, run), run).case
        assert (found.signature, found.call["args"]) == ((), [])
        wanted = {**plain(dialect), "args": [], **left}
        if not left:
            name = "fail" if "fail" in found.call else "metadata"
            wanted[name] = found.call[name]
            shown = wanted["metadata"]
            assert shown == (plain(dialect)["metadata"] if name == "fail" else [8, *plain(dialect)["metadata"][1:]])
        assert bare(found) == wanted


def test_what_two_arguments_do_together_keeps_both() -> None:
    def fails(case: Case) -> bool:
        kinds = [leaf.type for leaf in Situation.of(case).leaves()]
        return "bf16" in kinds and any(kind.startswith("*") for kind in kinds)

    run = launchers(fails)
    found = shrink(first_fault("triton-3.6-cuda", run), run).case
    assert sorted(found.signature) == ["*i8", "bf16"]
    assert len(found.call["args"]) == 2


def test_a_wrong_number_of_arguments_stays_wrong() -> None:
    run = launchers(lambda case: len(Situation.of(case).signature) != len(case.call["args"]))
    found = shrink(first_fault("triton-3.6-hip", run), run).case
    assert len(found.signature) + len(found.call["args"]) == 1


def test_constants_follow_their_arguments() -> None:
    def fails(case: Case) -> bool:
        return any(leaf.folded and leaf.type == "i32" for leaf in Situation.of(case).leaves())

    call = {**plain("triton-3.2-cuda"), "args": [1, 2, 3, 4]}
    case = Case("case", "3.2.0", "cuda", ("i8", "fp32", "i32", "i32"), call, constants=(1, 2))
    run = launchers(fails)
    tally = Tally("triton-3.2-cuda")
    compare_cases(tally, [case], run)
    found = shrink(tally.faults[0], run).case
    assert (found.signature, found.constants) == (("i32",), (0,))


def test_another_difference_is_not_taken_for_the_same() -> None:
    def run(cases: list[Case], launcher: str) -> Iterator[dict[str, Any]]:
        for case in cases:
            events = [] if launcher == "generated" or len(case.signature) == 7 else [{"hook": "exit"}]
            bad = launcher == "precompiled" and len(case.signature) == 7
            yield {"slots": [], "events": events, "error": {"type": "ValueError", "text": ""} if bad else None}

    tally = Tally("triton-3.6-hip")
    compare_cases(tally, sample("triton-3.6-hip", FLAT, 20, 0), run)
    fault = next(one for one in tally.faults if one.difference.startswith("error"))
    found = shrink(fault, run)
    assert len(found.case.signature) == 7
    assert found.difference.startswith("error")


def test_kinds_of_differences() -> None:
    assert kind_of("event 3 (cuLaunchKernelEx): params[12]: byte 3: expected 01, got 02") == kind_of(
        "event 0 (cuLaunchKernelEx): params[0]: byte 1: expected ff, got 00"
    )
    assert kind_of('error: expected null, got {"type":"X"}') != kind_of("event 0 (exit): not expected")


def test_first_of_each_dialect_and_kind_until_time_is_up() -> None:
    run = launchers(lambda _: True)
    faults = [
        replace(first_fault(dialect, run, seed, 20), difference=difference)
        for dialect in ("triton-3.6-cuda", "triton-3.0-hip")
        for difference in ("error: expected null", "event 1 (exit): missing", "event 2 (exit): missing")
        for seed in (1, 2)
    ]
    assert [faults.index(one) for one in smallest(faults, run, seconds=0)] == [0, 2, 6, 8]
    assert [faults.index(one) for one in smallest(faults, run, most=3, seconds=0)] == [0, 2, 6]
    shrunk = smallest(faults[:1] * 3, run, seconds=60)
    assert [one.case.id for one in shrunk] == [f"{faults[0].case.id}-smallest"]
    assert size_of(shrunk[0].case) < size_of(faults[0].case)
    assert shrunk[0].case.signature == ()
