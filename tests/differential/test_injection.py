"""Every driver call of a launch fails once, at each of its occurrences, with several statuses, in every dialect.

What both launchers then do is compared exactly, divergences applied. A launch without a failure follows each, by the
same launchers in the same process, and does what it did before.
"""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from typing import Any

import pytest
from relaunch.differential import pool
from relaunch.differential.case import DIALECTS, Case
from relaunch.differential.compare import difference, launched
from relaunch.differential.diff import Tally, compare_cases
from relaunch.differential.injection import clean_calls, failures, listing, occurrences, told_apart
from relaunch.differential.outcome import Outcome
from relaunch.differential.predicted import predicted
from relaunch.differential.recorder import Recorder

from relaunch import generator

NATIVE = sorted(set(DIALECTS) - set(generator.dialects()))
SIGNATURE = ("*fp32", "i32", "*fp32", "*i8")  # an address of the device, one that another stands for, and none
ARGS = [{"tensor": "0x700000001000"}, 7, {"tensor": "0x910000001000"}, None]


def with_clean_ones(dialect: str, launchers: tuple[str, ...], workers: pool.Workers) -> tuple[list[Case], Counter[str]]:
    """Each failing case with the clean one behind it, and all calls with the most occurrences of each.

    Of the combinations of options those that make the same calls are one; with RELAUNCH_FULL=1 each is tried.
    """
    cleans = list(clean_calls(dialect, SIGNATURE, ARGS))
    runs = (pool.run_cases(map(listing, cleans), launcher, workers=workers) for launcher in launchers)
    learnt = list(zip(*runs, strict=True))
    assert all(launched(outcome) for outcomes in learnt for outcome in outcomes)
    apart = told_apart(cleans, learnt)
    assert len(apart) < len(cleans)
    if os.environ.get("RELAUNCH_FULL"):
        apart = [(case, occurrences(outcomes)) for case, outcomes in zip(cleans, learnt, strict=True)]
    cases: list[Case] = []
    everything: Counter[str] = Counter()
    for clean, calls in apart:
        everything |= calls
        for failing in failures(clean, calls):
            cases += [failing, clean]
    return cases, everything


def check_calls(dialect: str, calls: Counter[str]) -> None:
    """What was learnt is what the dialect is known to call."""
    found = generator.facts(dialect)
    assert set(calls) >= {way.function for way in found.launch.ways if way.function != "hipModuleLaunchKernel"}
    assert calls[found.pointers.query] == 2 + len(found.scratch)
    if found.launch.non_portable:
        assert calls["cuFuncSetAttribute"] == 1
    if found.ensures_context:
        assert {"cuCtxGetCurrent", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"} <= set(calls)


def check_text(case: Case, outcome: Outcome, clean: Outcome) -> None:
    """The driver's words for the status, the kernel, and the calls up to the failing one; none is left out."""
    function, _, status = case.call["fail"]
    error = outcome["error"]
    if error is None:
        assert status != 1 or function == "hipGetLastError"
        assert without_params(outcome) == without_params(clean)
        return
    assert "kernel(*fp32, i32, *fp32, *i8)" in error["text"], (case.id, error)
    if error["type"] != "ValueError":
        assert error["type"] == "RuntimeError"
        assert ("invalid argument" if status == 1 else f"error {status}") in error["text"], (case.id, error)
    events = [event for event in without_params(outcome) if event.get("call") != "hipGetLastError"]
    assert events == without_params(clean)[: len(events)], case.id
    assert len(events) < len(clean["events"])


def without_params(outcome: Outcome) -> list[Any]:
    return [{name: value for name, value in event.items() if name != "params"} for event in outcome["events"]]


@pytest.mark.parametrize("dialect", generator.dialects())
def test_every_driver_call_fails_once(dialect: str, workers: pool.Workers) -> None:
    cases, calls = with_clean_ones(dialect, ("generated", "precompiled"), workers)
    check_calls(dialect, calls)
    ours: list[Outcome] = []

    def run(some: list[Case], launcher: str) -> list[Outcome]:
        outcomes: list[Outcome] = list(pool.run_cases(some, launcher, batch_cases=1000, workers=workers))
        ours.extend(outcomes if launcher == "precompiled" else ())
        return outcomes

    tally = Tally(dialect)
    compare_cases(tally, cases, run)
    assert [f"{fault.case.id}: {fault.difference} {fault.divergences}" for fault in tally.faults[:10]] == []
    assert tally.cases == len(cases)
    assert tally.launches >= len(cases) / 2  # the clean ones
    assert tally.rejections + tally.wanted > len(cases) / 4
    assert tally.deaths == 0
    for case, outcome, clean in zip(cases[::2], ours[::2], ours[1::2], strict=True):
        check_text(case, outcome, clean)


@pytest.mark.parametrize("dialect", NATIVE)
def test_every_driver_call_of_a_native_dialect_fails_once(dialect: str, workers: pool.Workers) -> None:
    cases, calls = with_clean_ones(dialect, ("precompiled",), workers)
    check_calls(dialect, calls)
    ours: list[Outcome] = list(pool.run_cases(cases, "precompiled", batch_cases=1000, workers=workers))
    wanted = [predicted(case, generator.slots(pool.spec_of(case))) for case in cases]
    differences = [difference(one, actual) for one, actual in zip(wanted, ours, strict=True)]
    assert [f"{case.id}: {one}" for case, one in zip(cases, differences, strict=True) if one][:10] == []
    assert (
        sum(outcome["error"] is not None for outcome in wanted) > len(cases) / 8
    )  # HIP launches after most failed queries
    for case, outcome, clean in zip(cases[::2], ours[::2], ours[1::2], strict=True):
        check_text(case, outcome, clean)


DESCRIPTOR = {"base": "0x700000001000", "shape": [64, 64], "strides": [64, 1], "block": [8, 16], "padding": "zero"}
META = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [8, 16], "fp4_padded": False}


@pytest.mark.parametrize("dialect", ["triton-3.4-cuda", "triton-3.5-cuda", "triton-3.6-cuda"])
def test_each_encoding_of_a_tensor_map_fails_once(dialect: str) -> None:
    signature = ("tensordesc<fp16[8, 16]>", "i32", "tensordesc<fp16[8, 16]>")
    one: Any = {"descriptor": {**DESCRIPTOR, "round": False}}
    clean = next(clean_calls(dialect, (), []))
    call = {**clean.call, "args": [one, 7, one]}
    clean = Case("maps", clean.release, "cuda", signature, call, wrapped=True, tensordesc_meta=(META, META))
    learnt = next(iter(pool.run_cases([listing(clean)], "precompiled")))
    calls = occurrences([learnt])
    assert calls["cuTensorMapEncodeTiled"] == 2
    encodings = {"cuTensorMapEncodeTiled": 2}  # the launch's own calls are the other tests'
    cases = [case for failing in failures(clean, encodings) for case in (failing, clean)]
    legacy, ours = (list(pool.run_cases(cases, launcher)) for launcher in ("generated", "precompiled"))
    found = [difference(one, other) for one, other in zip(legacy, ours, strict=True)]
    assert found == [None] * len(cases)
    for outcome in ours[::2]:
        assert outcome["error"]["type"] == "RuntimeError"
        assert not launched(outcome)


@pytest.mark.parametrize(("backend", "name"), [("cuda", "cuCtxGetCurrent"), ("hip", "hipPeekAtLastError")])
def test_every_call_is_listed_recorded_or_not(backend: str, name: str) -> None:
    recorder = Recorder(backend)
    if backend == "hip":
        recorder.library.hipGetLastError()  # forgets what another test's call left in this thread
    recorder.reset()
    function = getattr(recorder.library, name)
    place = ctypes.c_void_p()
    function(ctypes.byref(place))
    assert recorder.calls() == []
    recorder.list_calls()
    recorder.fail(name, 1, 2)
    assert [function(ctypes.byref(place)) for _ in range(3)] == [0, 2, 0]
    assert recorder.calls() == [name] * 3
    assert recorder.events() == []
    recorder.reset()
    function(ctypes.byref(place))
    assert recorder.calls() == []
