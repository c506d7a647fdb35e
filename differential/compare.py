"""One outcome of ours against what was expected of it."""

from __future__ import annotations

import json
from typing import Any

from relaunch.differential import _native
from relaunch.differential.divergence import visible

Outcome = dict[str, Any]


def difference(expected: Outcome, actual: Outcome) -> str | None:
    """The first difference, named by its place in the outcome; None where ours did what it had to.

    Events are compared exactly, errors by type. Where legacy dies, launching is wrong, dying is wrong and any error
    is right. Dying is never right.
    """
    if "crash" in actual:
        return "crash: the worker died"
    if "crash" in expected:
        if any("params" in event for event in actual["events"]):
            return "launched, where legacy dies"
        return None if actual["error"] is not None else "no error, where legacy dies"
    return _native.compare(canonical(visible(expected)), canonical(visible(actual)))


def canonical(outcome: Outcome) -> bytes:
    """Equal outcomes give equal bytes."""
    return json.dumps(outcome, sort_keys=True, separators=(",", ":")).encode()


def launched(outcome: Outcome) -> bool:
    return any("params" in event for event in outcome.get("events", ()))
