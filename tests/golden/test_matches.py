"""The comparison of outcomes: what it lets pass, and how it names what it does not."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from relaunch.differential import _native, golden, outcome

LAUNCH: dict[str, Any] = {
    "call": "cuLaunchKernelEx",
    "grid": [1, 2, 3],
    "block": [128, 1, 1],
    "shared": 0,
    "stream": "0x1",
    "function": "0xf00",
    "gil_held": 0,
    "attributes": [[6, "01000000"], [4, "020000000100000001000000"]],
    "params": ["0011223344556677", "ff"],
}
QUERY = {"call": "cuPointerGetAttribute", "args": ["3", "1000"]}
OUTCOME: dict[str, Any] = {"events": [{"hook": "enter"}, QUERY, LAUNCH, {"hook": "exit"}], "error": None}
ERROR = {"type": "TypeError", "text": "no"}
REFUSED: dict[str, Any] = {"events": [], "error": ERROR}


def changed(path: list[Any], value: Any) -> dict[str, Any]:
    """OUTCOME with one place replaced."""
    made = copy.deepcopy(OUTCOME)
    place: Any = made
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return made


PARAM, CLUSTER = LAUNCH["params"][0], LAUNCH["attributes"][1][1]
OTHER_PARAM, OTHER_CLUSTER = PARAM[:-2] + "78", "020000000100000002000000"


@pytest.mark.parametrize(
    ("path", "value", "difference"),
    [
        (["params", 0], OTHER_PARAM, f'params[0]: byte 7: expected "{PARAM}", got "{OTHER_PARAM}"'),
        (["params", 0], "00112233", f'params[0]: expected "{PARAM}", got "00112233"'),
        (["params"], [PARAM], "params[1]: missing"),
        (["params"], [PARAM, "ff", "00"], "params[2]: not expected"),
        (["params", 1], None, 'params[1]: expected "ff", got null'),
        (["grid"], [2, 1, 3], "grid[0]: expected 1, got 2"),
        (["gil_held"], 1, "gil_held: expected 0, got 1"),
        (["stream"], "0x2", 'stream: expected "0x1", got "0x2"'),
        (["attributes"], LAUNCH["attributes"][::-1], "attributes[0][0]: expected 6, got 4"),
        (
            ["attributes", 1, 1],
            OTHER_CLUSTER,
            f'attributes[1][1]: byte 8: expected "{CLUSTER}", got "{OTHER_CLUSTER}"',
        ),
    ],
)
def test_first_difference_of_a_launch(path: list[Any], value: Any, difference: str) -> None:
    other = changed(["events", 2, *path], value)
    assert outcome.compare(OUTCOME, other) == f"event 2 (cuLaunchKernelEx): {difference}"
    assert golden.matches(OUTCOME, other, texts=True) == [f"event 2 (cuLaunchKernelEx): {difference}"]


ENTER, REST = OUTCOME["events"][0], OUTCOME["events"][2:]


@pytest.mark.parametrize(
    ("events", "difference"),
    [
        (OUTCOME["events"][:3], "event 3 (exit): missing"),
        ([*OUTCOME["events"], QUERY], "event 4 (cuPointerGetAttribute): not expected"),
        ([QUERY, ENTER, *REST], "event 0: expected enter, got cuPointerGetAttribute"),
        (
            [ENTER, {**QUERY, "args": ["3", "2000"]}, *REST],
            'event 1 (cuPointerGetAttribute): args[1]: expected "1000", got "2000"',
        ),
        ([], "event 0 (enter): missing"),
    ],
)
def test_first_difference_among_events(events: list[Any], difference: str) -> None:
    assert outcome.compare(OUTCOME, {**OUTCOME, "events": events}) == difference


def test_differences_elsewhere() -> None:
    shown = '{"text":"no","type":"TypeError"}'
    assert outcome.compare(OUTCOME, {**OUTCOME, "error": ERROR}) == f"error: expected null, got {shown}"
    other = {**REFUSED, "error": {**ERROR, "type": "ValueError"}}
    assert outcome.compare(REFUSED, other) == 'error.type: expected "TypeError", got "ValueError"'
    assert outcome.compare({"crash": True}, REFUSED) == 'expected member "crash", got member "error"'


def test_equal_outcomes() -> None:
    assert outcome.compare(OUTCOME, copy.deepcopy(OUTCOME)) is None
    assert golden.matches(OUTCOME, OUTCOME, texts=True) == []


def test_null_parameter_is_free_where_expected_only() -> None:
    free = changed(["events", 2, "params", 0], None)
    assert outcome.compare(free, OUTCOME) is None
    assert outcome.compare(OUTCOME, free) is not None
    assert outcome.compare(changed(["events", 2, "shared"], None), OUTCOME) is not None


@pytest.mark.parametrize("text", [b"", b"{", b'{"a":', b'{"a":"b', b"[1,", b"[" * 5000])
def test_broken_json_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="an outcome's JSON"):
        _native.compare(text, text + b" ")


def test_errors_by_type_or_by_text_and_cause() -> None:
    other = {**REFUSED, "error": {"type": "TypeError", "text": "other"}}
    assert golden.matches(REFUSED, other, texts=False) == []
    assert golden.matches(REFUSED, other, texts=True) == [f"error: expected {ERROR}, got {other['error']}"]
    caused = {**REFUSED, "error": {**ERROR, "cause": ERROR}}
    assert len(golden.matches(caused, REFUSED, texts=True)) == 1
    third = {**REFUSED, "error": {"type": "ValueError", "text": "no"}}
    assert golden.matches(REFUSED, third, texts=False) == ["error: expected a TypeError, got ValueError: no"]
    assert golden.matches(REFUSED, {**REFUSED, "error": None}, texts=False) == [f"error: expected {ERROR}, got None"]
    assert golden.matches({**REFUSED, "error": None}, REFUSED, texts=False) == [f"error: expected None, got {ERROR}"]


def test_crash_wants_an_error_without_a_launch() -> None:
    crash = {"crash": True, "slots": [8]}
    assert golden.matches(crash, REFUSED, texts=True) == []
    assert golden.matches(crash, OUTCOME, texts=True) == [
        "launched, where an error was expected",
        "raised nothing, where an error was expected",
    ]
    assert golden.matches(crash, {"crash": True}, texts=True) == ["the process died"]
    assert golden.matches(crash, {"crash": True}, texts=True, may_die=True) == ["the process died"]
    assert golden.matches(OUTCOME, {"crash": True}, texts=True, may_die=True) == ["the process died"]


def test_pending_compares_the_parameters_of_launches_on_both_sides() -> None:
    pending = {**OUTCOME, "pending": True}
    assert golden.matches(pending, REFUSED, texts=True) == []
    assert golden.matches(pending, changed(["events", 2, "grid"], [9, 9, 9]), texts=True) == []
    found = golden.matches(pending, changed(["events", 2, "params", 1], "fe"), texts=True)
    assert found == ['launch 0: event 0: params[1]: byte 0: expected "ff", got "fe"']
    assert golden.matches(pending, {"crash": True}, texts=True, may_die=True) == []
    assert golden.matches(pending, {"crash": True}, texts=True) == ["the process died"]


def test_undefined_leaves_all_but_a_death_free() -> None:
    undefined = {**OUTCOME, "undefined": True}
    assert golden.matches(undefined, REFUSED, texts=True) == []
    assert golden.matches(undefined, {"crash": True}, texts=True, may_die=True) == ["the process died"]


def test_undefined_parameter_leaves_the_rest_to_compare() -> None:
    undefined = {**changed(["events", 2, "params", 0], None), "undefined": True}
    assert golden.matches(undefined, OUTCOME, texts=True) == []
    assert len(golden.matches(undefined, REFUSED, texts=True)) == 2


def test_silence_and_refused_launchers_are_never_right() -> None:
    assert golden.matches({"crash": True}, {"hang": True}, texts=False, may_die=True) == ["gave no answer in time"]
    refusal = {"bind_error": {"type": "KeyError", "text": "x"}}
    assert golden.matches(OUTCOME, refusal, texts=False) == [f"no launcher came to be: {refusal['bind_error']}"]


def test_refused_launchers_have_the_error_that_was_recorded() -> None:
    refusal = {"bind_error": {"type": "KeyError", "text": "x"}}
    other = {"bind_error": {"type": "KeyError", "text": "y"}}
    third = {"bind_error": {"type": "AssertionError", "text": "x"}}
    assert golden.matches(refusal, refusal, texts=True) == golden.matches(refusal, other, texts=False) == []
    assert len(golden.matches(refusal, other, texts=True)) == 1
    assert golden.matches(refusal, third, texts=False) == ["error: expected a KeyError, got AssertionError: x"]
    assert len(golden.matches(refusal, OUTCOME, texts=False)) == 1
