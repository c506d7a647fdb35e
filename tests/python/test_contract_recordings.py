"""What pages say that recorded calls show, looked up in the golden files again.

`python tests/python/test_contract_recordings.py` prints what generator/contract/recordings.json must hold.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from relaunch.generator.contract.deduced import DEDUCTIONS, recordings

from relaunch import generator

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = 3  # of each question and dialect

Record = dict[str, Any]
Shows = Callable[[Record], bool]


@cache
def golden(dialect: str) -> tuple[Record, ...]:
    found = generator.facts(dialect)
    name = f"triton-{found.recorded}-{found.backend}.jsonl"
    folder = ROOT / "tests" / "golden"
    paths = [path for path in (folder / name, folder / f"descriptors-{name}") if path.exists()]
    lines = [line for path in paths for line in path.read_text("utf-8").splitlines()]
    return tuple({**json.loads(line), "dialect": dialect} for line in lines)


def pairs(types: list[Any], args: list[Any]) -> Iterator[tuple[str, Any]]:
    """Leaf types with their arguments; nothing where the number of arguments is wrong."""
    if len(types) != len(args):
        return
    for kind, argument in zip(types, args, strict=True):
        if not isinstance(kind, list):
            yield kind, argument
        elif isinstance(argument, dict):
            for sequence in ("tuple", "list", "namedtuple"):
                yield from pairs(kind, argument.get(sequence, []))


def arguments(case: Record) -> list[tuple[str, Any]]:
    return list(pairs(case["signature"], case["call"]["args"]))


def pointers(case: Record) -> list[Any]:
    """Pointer arguments in the order of intake: scratch first, in native launchers last."""
    found = generator.facts(case["dialect"])
    own = [argument for kind, argument in arguments(case) if kind.startswith("*")]
    scratch = [case["call"].get(name) for name in found.scratch]
    return own + scratch if found.native else scratch + own


def launched(case: Record) -> list[Record]:
    return [event for event in case["expect"].get("events", ()) if "params" in event]


def hooked(case: Record, hook: str) -> bool:
    return any(event.get("hook") == hook for event in case["expect"].get("events", ()))


def dies(case: Record) -> bool:
    return "crash" in case["expect"]


def error(case: Record) -> str:
    return str((case["expect"].get("error") or {}).get("type", ""))


def text(case: Record) -> str:
    return str((case["expect"].get("error") or {}).get("text", ""))


def whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def fits(kind: str, value: int) -> bool:
    half = 1 << (int(kind[1:]) - 1)
    return -half <= value < half if kind[0] == "i" else 0 <= value < 2 * half


def refused(pointer: Any) -> str:
    """Why a pointer is refused whatever the driver says; "" where it is not."""
    if pointer is None or isinstance(pointer, bool):
        return ""
    if isinstance(pointer, int):
        return "" if 0 <= pointer < 2**64 else "int"
    if isinstance(pointer, dict) and "tensor" in pointer:
        return ""
    if isinstance(pointer, dict) and "tensor_raises" in pointer:
        return "raises"
    if isinstance(pointer, dict) and "tensor_returns" in pointer:
        return "" if isinstance(pointer["tensor_returns"], int) else "no int"
    return "missing"


def first_refused(case: Record) -> str:
    return next((why for pointer in pointers(case) if (why := refused(pointer))), "")


def bad_int_then_object(case: Record) -> bool:
    found = pointers(case)
    place = next((place for place, pointer in enumerate(found) if refused(pointer)), len(found))
    later = found[place + 1 :]
    return first_refused(case) == "int" and any(isinstance(one, dict) and refused(one) != "missing" for one in later)


def unplaced(case: Record) -> bool:
    """Whether the call got as far as its pointers, to all that the recording shows."""
    return dies(case) or bool(launched(case)) or bool(case["expect"].get("pending"))


def has_value_out_of_range(case: Record, types: str) -> bool:
    return bool(launched(case)) and any(
        kind in types.split() and whole(value) and not fits(kind, value) for kind, value in arguments(case)
    )


def grid_wraps(case: Record) -> bool:
    grid = case["call"]["grid"]
    if not all(whole(dim) and 0 < dim < 2**31 for dim in grid) or dies(case) or error(case):
        return False
    return int(grid[0] * grid[1] * grid[2]) >= 2**31 and not launched(case)


def failing(case: Record, start: str) -> bool:
    fail = case["call"].get("fail")
    return bool(fail) and fail[0].startswith(start) and fail[1] == 0


def launch_fails(case: Record) -> bool:
    fail = case["call"].get("fail")
    return bool(fail) and fail[1] == 0 and any(event["call"] == fail[0] for event in launched(case))


def counts(case: Record) -> list[Any]:
    """num_warps, num_ctas, shared, where they are what they should be."""
    given = case["call"]["metadata"]
    good = isinstance(given, list) and len(given) >= 3 and all(map(whole, given))
    return given if good else [0, 0, 0]


def overflows_half(case: Record) -> bool:
    values = [
        value["float"]
        for kind, value in arguments(case)
        if kind == "fp16" and isinstance(value, dict) and "float" in value
    ]
    return any(value.lstrip("-") not in ("nan", "inf") and abs(float.fromhex(value)) >= 65520 for value in values)


def attribute_ids(case: Record) -> list[int]:
    return [attribute[0] for event in launched(case) for attribute in event["attributes"]]


def doubles_shape(case: Record) -> bool:
    """Whether the first argument is a packed fp4 descriptor by value whose last dimension arrived doubled."""
    meta = case.get("tensordesc_meta") or [None]
    first = case["call"]["args"][0] if case["call"]["args"] else None
    if meta[0] is None or not meta[0]["fp4_padded"] or not isinstance(first, dict) or "descriptor" not in first:
        return False
    shape = first["descriptor"]["shape"]
    arrived = [int.from_bytes(bytes.fromhex(event["params"][len(shape)]), "little") for event in launched(case)]
    return arrived == [2 * shape[-1]]


FAULTS: dict[str, Shows] = {
    "doubled-shape": doubles_shape,
    "negative-i8": lambda c: text(c) == "unsigned byte integer is less than minimum",
    "masked": lambda c: has_value_out_of_range(c, "u8 u16 u32 u64"),
    "truncated": lambda c: has_value_out_of_range(c, "i1 i8 i16 i32 u1 u8 u16 u32"),
    "half-of-a-float": lambda c: bool(launched(c)) and any(kind in ("fp16", "bf16") for kind, _ in arguments(c)),
    "wrapped-grid": grid_wraps,
    "bad-int-pointer": lambda c: bool(launched(c)) and error(c) == "OverflowError" and first_refused(c) == "int",
    "fp16-overflow": lambda c: bool(launched(c)) and overflows_half(c),
    "pending-context": lambda c: bool(c["call"].get("no_context")) and failing(c, "cuDevicePrimaryCtxRetain")
    and (bool(launched(c)) or hooked(c, "enter")),
    "unknown-status": lambda c: bool(launched(c)) and bool(c["expect"].get("undefined")),
    "data-ptr-raises": lambda c: dies(c) and first_refused(c) == "raises",
    "data-ptr-replaced": lambda c: first_refused(c) == "raises" and text(c).startswith("Pointer argument must be"),
    "no-data-ptr": lambda c: first_refused(c) == "missing" and (dies(c) or bool(launched(c))),
    "exit-hook-after-failure": lambda c: launch_fails(c) and c["call"]["exit"] != "none" and error(c) != "RuntimeError",
    "ctas-ignored": lambda c: counts(c)[1] > 1 and bool(launched(c)) and not attribute_ids(c),
    "non-portable-cluster": lambda c: failing(c, "cuFuncSetAttribute") and bool(launched(c)),
    "five-attributes": lambda c: len(attribute_ids(c)) == 5,
    "uncounted-arguments": lambda c: len(c["signature"]) < len(c["call"]["args"]) and bool(launched(c)),
    "no-index": lambda c: text(c).startswith("Pointer argument cannot be accessed"),
    "wrong-index": lambda c: text(c).startswith("Pointer argument (at "),
    "any-descriptor": lambda c: bool(launched(c)) and any(
        kind == "tensordesc" and not (isinstance(value, dict) and "tensormap" in value) for kind, value in arguments(c)
    ),
}  # fmt: skip

QUESTIONS: dict[str, Shows] = {
    "wrapped-grid": grid_wraps,
    "negative-result": lambda c: error(c) == "ValueError" and any(
        isinstance(one, dict) and whole(one.get("tensor_returns")) and one["tensor_returns"] < 0 for one in pointers(c)
    ),
    "raising-data-ptr": FAULTS["data-ptr-raises"],
    "missing-data-ptr": lambda c: dies(c) and first_refused(c) == "missing",
    "bad-int-then-object": lambda c: bad_int_then_object(c) and unplaced(c),
    "bad-int-then-object-refused": lambda c: bad_int_then_object(c) and error(c) == "TypeError"
    and bool(c["expect"].get("pending")),
    "bad-int-then-object-native": lambda c: bad_int_then_object(c) and unplaced(c),
    "early-overflow": lambda c: overflows_half(c) and bool(c["expect"].get("pending")) and bool(launched(c)),
    "exit-hook-with-error": FAULTS["exit-hook-after-failure"],
    "shared-memory-mode": lambda c: any([18, "03000000"] in event["attributes"] for event in launched(c)),
    "five-attributes": FAULTS["five-attributes"],
    "number-in-error": lambda c: text(c).startswith("Pointer argument (at 1)"),
}  # fmt: skip


def found() -> dict[str, dict[str, dict[str, list[str]]]]:
    """The contents of recordings.json."""
    every: dict[str, dict[str, dict[str, list[str]]]] = {"faults": {}, "deductions": {}}
    for dialect in generator.all_dialects():
        facts = generator.facts(dialect)
        faults = {fault.name: FAULTS[fault.name] for fault in facts.faults if fault.name in FAULTS}
        questions = {one.key: QUESTIONS[one.key] for one in DEDUCTIONS if one.concerns(facts) and one.key in QUESTIONS}
        for kind, wanted in (("faults", faults), ("deductions", questions)):
            every[kind][dialect] = {
                name: [case["id"] for case in golden(dialect) if shows(case)][:EXAMPLES]
                for name, shows in wanted.items()
            }
    return every


def test_recordings_are_what_the_golden_files_show() -> None:
    assert recordings() == found(), "python tests/python/test_contract_recordings.py prints what they are"


@pytest.mark.parametrize("one", DEDUCTIONS, ids=lambda one: one.key)
def test_a_verdict_has_recorded_calls_or_none(one: Any) -> None:
    """A question is settled by at least one recorded call; one that is not met has no way to be looked up."""
    shown = [ids for by_key in recordings()["deductions"].values() for key, ids in by_key.items() if key == one.key]
    assert any(shown) == (one.verdict != "not met")
    assert (one.key in QUESTIONS) == (one.verdict != "not met")


def test_every_fault_is_looked_for_or_known_to_be_out_of_sight() -> None:
    """No recorded call can show leaks, a missing symbol, or what only the headers or Python side decide."""
    named = {fault.name for dialect in generator.all_dialects() for fault in generator.facts(dialect).faults}
    out_of_sight = {"leaks", "lazy-symbol", "descriptor-alignment", "wrong-descriptor"}
    assert named - set(FAULTS) == out_of_sight
    assert set(FAULTS) <= named


if __name__ == "__main__":
    print(json.dumps(found(), indent=1))
