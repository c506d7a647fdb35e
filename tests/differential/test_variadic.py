"""What the native launchers are worked out to do is what they were recorded to do."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import golden, pool, variadic
from relaunch.differential.case import DIALECTS
from relaunch.differential.compare import difference
from relaunch.differential.conditions import CALL
from relaunch.differential.foretold import model
from relaunch.differential.invented import invented
from relaunch.differential.outcome import compare
from relaunch.differential.predicted import predicted
from relaunch.differential.sampler import Source, sample
from relaunch.differential.situation import Situation

from relaunch import generator

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
NATIVE = ["3.7.0-cuda", "3.7.0-hip", "3.9.0-cuda", "3.9.0-hip"]


SIGNATURES: list[tuple[Any, ...]] = [
    (),
    ("i1", "u1", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"),
    ("fp16", "bf16", "fp32", "f32", "fp64", "i16"),
    ("*i8", "*fp8e4nv", "i32", "**u1", "*kbf16", "fp16"),
    ("*i8", ("i32", ("*kfp16", "constexpr"), "u8"), "*fp32", ("bf16",)),
    ("tensordesc<fp16[64, 64]>", "*i8"),
]
DESCRIPTORS = {"cuda": ("*i8", "nvTmaDesc", ("nvTmaDesc", "i8")), "hip": ("*i8", "tensordesc", ("tensordesc", "i8"))}


@pytest.mark.parametrize("dialect", sorted(set(DIALECTS) - set(generator.dialects())))
def test_precompiled_launcher_does_what_the_model_and_the_list_say(dialect: str) -> None:
    """On sampled calls, where nothing was recorded."""
    signatures = [*SIGNATURES, DESCRIPTORS[dialect.rsplit("-", 1)[1]]]
    cases = [case for one in signatures for case in sample(dialect, one, 700, 5)]
    wrong = []
    launched = 0
    for case, outcome in zip(cases, pool.run_cases(cases, "precompiled"), strict=True):
        wanted = predicted(case, generator.slots(pool.spec_of(case)))
        launched += any("params" in event for event in wanted["events"])
        found = difference(wanted, outcome)
        if found:
            wrong.append(f"{case.id}: {found}: {json.dumps(case.call)}")
    assert wrong == []
    assert 0.4 * len(cases) < launched < 0.8 * len(cases)


@pytest.mark.parametrize("dialect", sorted(set(DIALECTS) - set(generator.dialects())))
def test_native_model_says_what_is_predicted(dialect: str) -> None:
    """Of the calls that it does not leave to `predicted`."""
    wrong = []
    left = counted = 0
    descriptors = DESCRIPTORS[dialect.rsplit("-", 1)[1]]
    for source in (Source(dialect, one, 6) for one in [*SIGNATURES, descriptors, *invented(dialect, 8, 6)]):
        native = model(dialect, source.types)
        assert native is not None
        for case in (source.case(i) for i in range(400)):
            counted += 1
            found = native.of(case.call)
            if found is None:
                left += 1
                continue
            wanted = predicted(case, [])
            said = {"slots": [], "events": json.loads(found[0]), "error": {"type": found[1]} if found[1] else None}
            if said != wanted:
                wrong.append(f"{case.id}: {json.dumps(case.call)}: {said}, predicted {wanted}")
    assert wrong == []
    assert left < 0.1 * counted


def worked_out(situation: Situation) -> tuple[list[dict[str, Any]], str | None]:
    """Events and the type of the error of a call at which ours stops nowhere else than the released launcher."""
    events = variadic.opening(situation)
    enter = situation.call["enter"]
    events += [{"hook": "enter"}] if enter != "none" else []
    if enter == "raise":
        return events, "RuntimeError"
    found = variadic.turns(situation)
    if not all(turn.opened for turn in found):
        return events, "TypeError"
    for turn in found:
        events += turn.events
        if turn.released is not None:
            return events, turn.released
    if CALL["the product of the grid wraps"](situation) or 0 in (situation.grid() or ()):
        exit_hook = situation.call["exit"]
        events += [{"hook": "exit"}] if exit_hook != "none" else []
        return events, "RuntimeError" if exit_hook == "raise" else None
    launch = variadic.tail(situation)
    assert launch is not None
    return events + launch[0], launch[1]


@pytest.mark.parametrize("name", NATIVE)
def test_model_does_what_was_recorded(name: str) -> None:
    counts: Counter[str] = Counter()
    wrong = []
    for case in golden.read(GOLDEN / f"triton-{name}.jsonl"):
        assert case.expect is not None
        situation = Situation.of(case)
        stop = variadic.first_stop(situation)
        if stop is not None:
            counts[stop.why] += 1
            continue
        if case.expect.get("pending"):
            continue
        if not variadic.parsed(situation):
            counts["refused"] += 1
            assert case.expect["error"] is not None
            assert {"hook": "enter"} not in case.expect["events"]
            continue
        events, error = worked_out(situation)
        counts["worked out"] += 1
        found = compare({"events": case.expect["events"]}, {"events": events})
        if found or (case.expect["error"] or {}).get("type") != error:
            wrong.append(f"{case.id}: {found}; expected {case.expect['error']}, worked out {error}")
    assert wrong == []
    assert counts["worked out"] > 500
    whys = {"count", "grid", "tuple length", "int range", "int pointer", "data_ptr raises"}
    assert whys <= set(counts)
    assert ("descriptor type" in counts) == name.endswith("hip")


@pytest.mark.parametrize("name", NATIVE)
def test_facts_say_which_ints_the_model_takes(name: str) -> None:
    found = generator.facts(f"triton-{name}")
    for kind in variadic.INT_BITS:
        accepted = found.types[kind].converter.accepted
        assert accepted is not None
        low, high = accepted
        for value, error in ((low - 1, "OverflowError"), (low, None), (high, None), (high + 1, "OverflowError")):
            call = {"args": [value], "fail": None, "global_scratch": None, "profile_scratch": None}
            turn = variadic.turns(Situation(found.dialect, found.backend, (kind,), call))[0]
            assert turn.released == error, f"{kind} {value}"
        takes_index = "__index__" in found.types[kind].converter.takes
        turn = variadic.turns(Situation(found.dialect, found.backend, (kind,), {**call, "args": [{"index": 1}]}))[0]
        assert (turn.released is None) == takes_index, kind
