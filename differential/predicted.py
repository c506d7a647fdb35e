"""What ours must do with a call in the dialects whose released launcher is native: worked out from the input alone."""

from __future__ import annotations

from relaunch.differential import variadic
from relaunch.differential.case import Case
from relaunch.differential.conditions import CALL, CONTEXT_CALLS
from relaunch.differential.outcome import Outcome
from relaunch.differential.situation import INT32_MAX, INT32_MIN, Situation, as_index, items_of


def predicted(case: Case, slots: list[int]) -> Outcome:
    """Slots, events and the type of the error of a call in ours."""
    situation = Situation.of(case)
    events, error = _predicted(situation)
    return {"slots": slots, "events": events, "error": None if error is None else {"type": error}}


def _predicted(situation: Situation) -> tuple[list[variadic.Event], str | None]:
    opening = variadic.opening(situation)
    if situation.backend == "cuda" and CALL["a context call fails"](situation):
        failing = situation.failing()
        assert failing is not None
        return opening[: CONTEXT_CALLS[failing[0]]], "RuntimeError"
    count_is_right = len(situation.call["args"]) == len(situation.signature)
    if count_is_right and not variadic.parsed(situation):
        return opening, _refusal(situation)
    return variadic.worked_out(situation)


def _refusal(situation: Situation) -> str:
    """The error of a call whose grid, stream or metadata is refused: the first one's."""
    call = situation.call
    for size in call["grid"]:
        value = as_index(size)
        if value is None:
            return "TypeError"
        if not INT32_MIN <= value <= INT32_MAX:
            return "OverflowError"
    if not all(isinstance(call[name], (str, int)) for name in ("stream", "function")):
        return "TypeError"
    metadata = call["metadata"]
    items = metadata if isinstance(metadata, list) else items_of(metadata)
    if items is None or len(items) != len(situation.facts().metadata.elements):
        return "TypeError"
    values = [as_index(item) for item in items]
    wrong = next(value for value in values if value is None or not INT32_MIN <= value <= INT32_MAX)
    return "TypeError" if wrong is None else "OverflowError"
