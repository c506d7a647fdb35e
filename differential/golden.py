"""Golden cases: read from files, and compared with what a launcher did now."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from relaunch.differential import outcome as outcomes
from relaunch.differential.case import Case, CaseError


class LineError(ValueError):
    """A line that holds no case; its text starts with path:line."""


def read(path: Path) -> Iterator[Case]:
    """The cases of a file, one a line; blank lines are skipped. LineError, OSError."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield Case.from_json(json.loads(line))
            except CaseError as error:
                raise LineError(f"{path}:{number}: {error}") from None
            except RecursionError:
                raise LineError(f"{path}:{number}: nested too deeply") from None
            except ValueError as error:  # bad JSON, bad UTF-8
                raise LineError(f"{path}:{number}: not a JSON object: {error}") from None


def compares_texts() -> bool:
    """Whether error texts are comparable here: they were recorded under CPython 3.11."""
    return platform.python_implementation() == "CPython" and sys.version_info[:2] == (3, 11)


def matches(expect: Mapping[str, Any], outcome: outcomes.Outcome, *, texts: bool, may_die: bool = False) -> list[str]:
    """How an outcome differs from what was recorded; empty where it is right.

    Events are compared exactly (a null parameter of `expect` is free), errors by type, and by text
    and cause where `texts`. Where the recorded process died, any error without a launch is right.
    `bind_error` wants no launcher to come to be, for an error of that type.
    `pending` leaves only the parameters of launches on both sides to compare, and there dying is
    right too where `may_die` (a regenerated launcher is as unsafe as the recorded one); `undefined`
    without a null parameter leaves all free but a death.
    """
    if outcome.get("hang"):
        return ["gave no answer in time"]
    if "bind_error" in expect:
        return _matches_refusal(expect["bind_error"], outcome, texts)
    if outcome.get("crash"):
        return [] if expect.get("pending") and may_die else ["the process died"]
    if expect.get("crash"):
        return _matches_death(outcome)
    if "bind_error" in outcome:
        return [f"no launcher came to be: {outcome['bind_error']}"]
    if expect.get("pending"):
        return _matches_parameters(expect, outcome)
    if expect.get("undefined") and not _has_free_parameter(expect):
        return []
    found = outcomes.compare({"events": expect["events"]}, {"events": outcome["events"]})
    return [*([found] if found else []), *_matches_error(expect["error"], outcome["error"], texts)]


def _matches_refusal(expected: Mapping[str, Any], outcome: outcomes.Outcome, texts: bool) -> list[str]:
    if "bind_error" not in outcome:
        return [f"expected no launcher, refused with {expected}"]
    return _matches_error(expected, outcome["bind_error"], texts)


def _matches_death(outcome: outcomes.Outcome) -> list[str]:
    found = ["launched, where an error was expected"] if outcomes.launches(outcome) else []
    if "bind_error" not in outcome and outcome["error"] is None:
        found.append("raised nothing, where an error was expected")
    return found


def _matches_parameters(expect: Mapping[str, Any], outcome: outcomes.Outcome) -> list[str]:
    found = []
    for i, (was, now) in enumerate(zip(outcomes.launches(expect), outcomes.launches(outcome), strict=False)):
        difference = outcomes.compare({"events": [{"params": was["params"]}]}, {"events": [{"params": now["params"]}]})
        if difference:
            found.append(f"launch {i}: {difference}")
    return found


def _has_free_parameter(expect: Mapping[str, Any]) -> bool:
    return any(None in launch["params"] for launch in outcomes.launches(expect))


def _matches_error(expected: Mapping[str, Any] | None, got: Mapping[str, Any] | None, texts: bool) -> list[str]:
    if expected is None or got is None:
        return [] if expected is got else [f"error: expected {expected}, got {got}"]
    if texts:
        return [] if expected == got else [f"error: expected {expected}, got {got}"]
    same = expected["type"] == got["type"]
    return [] if same else [f"error: expected a {expected['type']}, got {got['type']}: {got['text']}"]
