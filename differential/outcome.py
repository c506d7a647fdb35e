"""Outcomes: what one call of one launcher did. `{"slots"?, "events", "error"}`, `{"crash": true}` where
the process died, `{"hang": true}` where it did not answer, `{"bind_error"}` where no launcher came to be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

Outcome: TypeAlias = Mapping[str, Any]


def describe(error: BaseException) -> dict[str, Any]:
    """An exception as an outcome shows it: type, text and, where it has one, its cause."""
    shown: dict[str, Any] = {"type": type(error).__name__, "text": str(error)}
    if error.__cause__ is not None:
        shown["cause"] = describe(error.__cause__)
    return shown


def launches(outcome: Outcome) -> list[Mapping[str, Any]]:
    """The launches among an outcome's events."""
    return [event for event in outcome.get("events", ()) if "params" in event]


def in_words(outcome: Outcome) -> str:
    """Whether it launched and what it raised."""
    if "events" not in outcome:
        return ", ".join(outcome)
    error = outcome.get("error")
    did = "a launch" if launches(outcome) else "no launch"
    return did if error is None else f"{did} and {error['type']}"


def canonical(outcome: Any) -> bytes:
    """The one spelling of an outcome: members sorted, no blanks."""
    return json.dumps(outcome, sort_keys=True, separators=(",", ":")).encode()


def compare(expected: Outcome, got: Outcome) -> str | None:
    """The first difference, named, or None. A parameter that is null in `expected` is free."""
    from relaunch.differential import _native

    return _native.compare(canonical(expected), canonical(got))
