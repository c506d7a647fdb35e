"""One outcome of ours against what was expected of it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from relaunch.differential import outcome as outcomes
from relaunch.differential.divergence import visible
from relaunch.differential.outcome import Outcome

Verdict: TypeAlias = Literal["launches", "rejections", "nothing", "deaths", "wanted"]
VERDICTS: tuple[Verdict, ...] = ("launches", "rejections", "nothing", "deaths", "wanted")
"""launched with equal records; refused or failed alike; neither (an empty grid); legacy died, ours raised, and no
entry of the divergence list says so; different from legacy exactly as the list says."""


def verdict(expected: Outcome, ids: list[str], actual: Outcome) -> Verdict:
    """What a case counts as in which ours did what it had to; `ids` are the entries that made a difference."""
    if ids:
        return "wanted"
    if "crash" in expected:
        return "deaths"
    if launched(actual):
        return "launches"
    return "rejections" if actual["error"] is not None else "nothing"


def difference(expected: Outcome, actual: Outcome) -> str | None:
    """The first difference, named by its place in the outcome; None where ours did what it had to.

    Events are compared exactly, errors by type. Where legacy dies, launching is wrong and any error is right.
    Dying, giving no answer and not coming to be are never right.
    """
    if "events" not in actual:
        return _in_words(actual)
    if "hang" in expected or "bind_error" in expected:
        return f"legacy: {_in_words(expected)}"
    if "crash" in expected:
        if launched(actual):
            return "events: launched, where legacy dies"
        return None if actual["error"] is not None else "error: none, where legacy dies"
    wanted, got = visible(expected), visible(actual)
    return None if wanted == got else outcomes.compare(wanted, got)


def _in_words(outcome: Outcome) -> str:
    """An outcome without events: a death, no answer, or a launcher that did not come to be."""
    if "bind_error" in outcome:
        return f"bind_error: {outcome['bind_error']['type']}: {outcome['bind_error']['text']}"
    kind = "crash" if "crash" in outcome else "hang"
    return f"{kind}: {outcome['reason']}" if "reason" in outcome else kind


def launched(outcome: Outcome) -> bool:
    """Whether the driver was asked to launch, whatever it answered."""
    return bool(outcomes.launches(outcome))
