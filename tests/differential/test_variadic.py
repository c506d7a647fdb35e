"""What the native launchers are worked out to do is what they were recorded to do."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import golden, variadic
from relaunch.differential.conditions import CALL
from relaunch.differential.outcome import compare
from relaunch.differential.situation import Situation

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
NATIVE = ["3.7.0-cuda", "3.7.0-hip", "3.9.0-cuda", "3.9.0-hip"]


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
