"""The named rewrites that entries of the divergence list are made of.

`CALL` rewrites an input into one that the legacy launcher treats as ours treats the original, or at least lets it
stop at the same place in a way that can be told. `OUTCOME` turns what legacy then did into what ours must do: given
the original input, the outcome and the rewrite's own value. An outcome that stopped earlier is returned as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from relaunch.differential.conditions import (
    CONTEXT_CALLS,
    INVALID_VALUE,
    address,
    answers_700,
    by_dlpack,
    first_refused,
    half_of,
    i8_moved,
    overflows,
)
from relaunch.differential.outcome import Outcome, launches
from relaunch.differential.situation import Situation, as_index
from relaunch.differential.variadic import before_launch, first_stop, tail, worked_out

# What legacy says of a pointer whose data_ptr() gives no int: Triton's own text, raised nowhere else.
NO_INT_TEXT = "data_ptr method of Pointer object must return 64-bit int"
# What CPython's argument parser says of metadata that is no tuple.
NO_METADATA_TEXT = "new style getargs format but argument is not a tuple"
UNKNOWN_ADDRESSES = 0xBA0000005E00  # stand-ins for addresses that answer 700; each is used once


def _set(key: str) -> Callable[[Situation, Any], Situation]:
    def put(situation: Situation, value: Any) -> Situation:
        return situation.with_call({**situation.call, key: value})

    return put


def _i8_as_unsigned(situation: Situation, _value: Any) -> Situation:
    for leaf in situation.leaves():
        if leaf.type == "i8" and i8_moved(leaf.argument):
            given = as_index(leaf.argument) or 0
            legacy = given + 256 if given < 0 else 300
            situation = situation.put(leaf.place, {"index": legacy} if isinstance(leaf.argument, dict) else legacy)
    return situation


def _halves_as_floats(situation: Situation, _value: Any) -> Situation:
    """Floats, which legacy passes as they are, with the bytes that ours passes for halves."""
    values = ((leaf.place, half_of(leaf)) for leaf in situation.halves())
    return situation.put_all((place, {"float": half.hex()}) for place, half in values if half is not None)


def _overflows_as_zero(situation: Situation, _value: Any) -> Situation:
    for leaf in situation.halves():
        if overflows(leaf):
            situation = situation.put(leaf.place, 0)
    return situation


def _refuse_first_pointer(situation: Situation, _value: Any) -> Situation:
    leaf = first_refused(situation)
    return situation if leaf is None else situation.put(leaf.place, {"tensor_returns": {"str": "x"}})


def _dlpack_as_int(situation: Situation, _value: Any) -> Situation:
    """Legacy asks nothing about an address that is given as an int."""
    for leaf in situation.pointers():
        if by_dlpack(leaf.argument):
            situation = situation.put(leaf.place, int(leaf.argument["dlpack"], 16))
    return situation


def _stand_ins(situation: Situation) -> dict[int, int]:
    """Stand-in address -> address that answers 700, for every pointer that has one."""
    pointers = situation.pointers()
    used = {address(leaf.argument) for leaf in pointers}
    free = (UNKNOWN_ADDRESSES + i for i in range(2 * len(pointers)) if UNKNOWN_ADDRESSES + i not in used)
    return {next(free): address(leaf.argument) or 0 for leaf in pointers if answers_700(leaf.argument)}


def _query_finds_nothing(situation: Situation, _value: Any) -> Situation:
    """Every query that fails in another way says 'invalid value' instead, at which legacy stops."""
    failing = situation.failing()
    places = [leaf.place for leaf in situation.pointers() if answers_700(leaf.argument)]
    for place, stand_in in zip(places, _stand_ins(situation), strict=True):
        situation = situation.put(place, {"tensor": hex(stand_in)})
    if failing is not None and failing[0] == situation.facts().pointers.query and failing[2] != INVALID_VALUE:
        situation = situation.with_call({**situation.call, "fail": [failing[0], failing[1], INVALID_VALUE]})
    return situation


def _only_get_a_context(situation: Situation, _value: Any) -> Situation:
    """No call fails and there is one argument too many, so that legacy stops once it has a context."""
    call = {key: entry for key, entry in situation.call.items() if key != "fail"}
    return situation.with_call({**call, "args": [None] * (len(situation.signature) + 1)})


CALL: dict[str, Callable[[Situation, Any], Situation]] = {
    "grid": _set("grid"),
    "enter": _set("enter"),
    "exit": _set("exit"),
    "metadata": _set("metadata"),
    "i8 as unsigned": _i8_as_unsigned,
    "halves as floats": _halves_as_floats,
    "fp16 overflows as 0": _overflows_as_zero,
    "refuse the first refused pointer": _refuse_first_pointer,
    "DLPack addresses as ints": _dlpack_as_int,
    "queries find nothing": _query_finds_nothing,
    "only get a context": _only_get_a_context,
}


def _stop(outcome: Outcome, keep: int, error: str) -> Outcome:
    return {**outcome, "events": outcome["events"][:keep], "error": {"type": error}}


def _launch_grid(original: Situation, outcome: Outcome, _value: Any) -> Outcome:
    """Put the grid of the original into a launch that was made with grid (1, 1, 1)."""
    grid = original.grid()
    if grid is None:
        return outcome

    def put(event: Mapping[str, Any]) -> Mapping[str, Any]:
        if "params" not in event:
            return event
        return {**event, "grid": [size * int(factor) % 2**32 for size, factor in zip(grid, event["grid"], strict=True)]}

    return {**outcome, "events": [put(event) for event in outcome["events"]]}


def _stop_at_enter_hook(_original: Situation, outcome: Outcome, value: Any) -> Outcome:
    hook = {"hook": "enter"}
    events = outcome["events"]
    return _stop(outcome, events.index(hook), str(value)) if hook in events else outcome


def _stop_at_refused_pointer(original: Situation, outcome: Outcome, value: Any) -> Outcome:
    """Value: the exception's type, or null for the one that the argument itself raises."""
    leaf = first_refused(original)
    if leaf is None or (outcome["error"] or {}).get("text") != NO_INT_TEXT:
        return outcome
    error = leaf.argument["tensor_raises"] if value is None else value
    return _stop(outcome, len(outcome["events"]) - 1, error)  # the stand-in's own data_ptr() is the last event


def _stop_at_query(original: Situation, outcome: Outcome, value: Any) -> Outcome:
    """Legacy stopped at a query; if it is one that fails otherwise, the error is another and is not cleared."""
    events = outcome["events"]
    if (outcome["error"] or {}).get("type") != "ValueError" or not events:
        return outcome
    query = original.facts().pointers.query
    queries = [i for i, event in enumerate(events) if event.get("call") == query]
    if not queries:
        return outcome
    end, failing = queries[-1], original.failing()
    told = failing[2] if failing is not None and failing[:2] == (query, len(queries) - 1) else None
    attribute, asked = events[end]["args"]
    given = _stand_ins(original).get(int(asked, 16))
    if given is not None:
        events = [*events[:end], {**events[end], "args": [attribute, f"{given:x}"]}, *events[end + 1 :]]
        outcome = {**outcome, "events": events}
    found_nothing = told == INVALID_VALUE or (told is None and given is None)
    return outcome if found_nothing else _stop(outcome, end + 1, str(value))


def _raise_at_the_end(_original: Situation, outcome: Outcome, value: Any) -> Outcome:
    return outcome if outcome["error"] is not None else {**outcome, "error": {"type": str(value)}}


def _stop_at_metadata(_original: Situation, outcome: Outcome, value: Any) -> Outcome:
    return _stop(outcome, 0, str(value)) if (outcome["error"] or {}).get("text") == NO_METADATA_TEXT else outcome


def _stop_where_ours_does(original: Situation, outcome: Outcome, _value: Any) -> Outcome:
    stop = first_stop(original)
    return outcome if stop is None else {**outcome, "events": stop.events, "error": {"type": stop.error}}


def _launch_after_all(original: Situation, outcome: Outcome, _value: Any) -> Outcome:
    launch = tail(original)
    if launch is None:
        return outcome
    last, error = launch
    events = [*before_launch(original), *last]
    return {**outcome, "events": events, "error": None if error is None else {"type": error}}


def _as_worked_out(original: Situation, outcome: Outcome, _value: Any) -> Outcome:
    events, error = worked_out(original)
    return {**outcome, "events": events, "error": None if error is None else {"type": error}}


def _stop_at_launch(_original: Situation, outcome: Outcome, value: Any) -> Outcome:
    made = launches(outcome)
    return _stop(outcome, outcome["events"].index(made[0]) + 1, str(value)) if made else outcome


def _drop_launch(_original: Situation, outcome: Outcome, _value: Any) -> Outcome:
    made = launches(outcome)
    return {**outcome, "events": outcome["events"][: outcome["events"].index(made[0])]} if made else outcome


def _stop_at_context_call(original: Situation, outcome: Outcome, value: Any) -> Outcome:
    failing = original.failing()
    return outcome if failing is None else _stop(outcome, CONTEXT_CALLS[failing[0]], str(value))


OUTCOME: dict[str, Callable[[Situation, Outcome, Any], Outcome]] = {
    "launch with the grid": _launch_grid,
    "stop at the enter hook": _stop_at_enter_hook,
    "stop at the refused pointer": _stop_at_refused_pointer,
    "stop at the query": _stop_at_query,
    "raise at the end": _raise_at_the_end,
    "stop at the metadata": _stop_at_metadata,
    "stop where ours does": _stop_where_ours_does,
    "launch after all": _launch_after_all,
    "what is worked out from the input": _as_worked_out,
    "stop at the launch": _stop_at_launch,
    "drop the launch": _drop_launch,
    "stop at the context call": _stop_at_context_call,
}
