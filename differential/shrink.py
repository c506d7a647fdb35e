"""A case in which the launchers differ, made as small as it gets while the same difference remains.

Arguments are left out with their types, tuples opened, options put to their defaults, values made simpler. Every round
runs all simpler neighbours of the smallest case so far through both launchers at once, so that a round costs one call
of the compiler, and goes on from the smallest in which the difference remains.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from relaunch.differential.case import Case, Signature
from relaunch.differential.diff import Fault, RunCases, Tally, compare_cases, supported
from relaunch.differential.situation import Argument, Place, expanded, items_of

from relaunch import generator

ROUNDS = 40
MOST = 10  # cases, one of each dialect and kind of difference
FEW = 16  # arguments up to which each is tried by itself and left out by itself

# Members of a call that may be missing: what a launcher is not given.
_OPTIONS = ("fail", "no_context", "cooperative", "pdl", "global_scratch", "profile_scratch", "enter", "exit")
_PLAIN_FLOATS = (0.0, 1.0, -1.0)
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Edit:
    """A neighbour of a case. `place` and `value` say what was put where, for edits that can be made together."""

    case: Case
    place: Place | None = None
    value: Any = None


def smallest(faults: Iterable[Fault], run_cases: RunCases, *, seconds: float, most: int = MOST) -> list[Fault]:
    """The first fault of each dialect and kind of difference, shrunk; those begun after `seconds` as they are.

    Raises what `run_cases` raises.
    """
    first: dict[tuple[str, str], Fault] = {}
    for fault in faults:
        first.setdefault((fault.case.dialect, kind_of(fault.difference)), fault)
    end = time.monotonic() + seconds
    some = list(first.values())[:most]
    return [shrink(fault, run_cases, end) if time.monotonic() < end else fault for fault in some]


def shrink(fault: Fault, run_cases: RunCases, end: float = math.inf) -> Fault:
    """The smallest case found in which the same kind of difference remains; its id ends in `-smallest`.

    No round is begun after `end`, a time of `time.monotonic()`.

    Raises what `run_cases` raises.
    """
    wanted = kind_of(fault.difference)
    best = replace(fault, case=replace(fault.case, id=f"{fault.case.id}-smallest"))
    seen: set[str] = set()
    if not best.case.wrapped:  # there, descriptor objects stand for several entries each
        whole = replace(best.case, signature=expanded(best.case.dialect, best.case.signature))
        best = next((found for _, found in _kept([Edit(whole)], wanted, run_cases)), best)
    for _ in range(ROUNDS):
        if time.monotonic() >= end:
            break
        for edits in (shorter(best.case), plainer(best.case)):
            kept = _kept(_new(edits, best.case, seen), wanted, run_cases)
            together = _together(best.case, [edit for edit, _ in kept])
            if together is not None:
                kept += _kept([Edit(together)], wanted, run_cases)
            if kept:
                best = min((found for _, found in kept), key=lambda found: size_of(found.case))
                break
        else:
            return best
    return best


def kind_of(difference: str) -> str:
    """A difference without the numbers in it: where it was found and, where it has a name, what was found."""
    return _NUMBER.sub("#", difference.split(": expected", maxsplit=1)[0])


def size_of(case: Case) -> tuple[int, int, str]:
    """Smaller cases come first: by types, then by what has to be read, plain members of the call apart."""
    plain = _plain_call(case)
    told = {name: value for name, value in case.call.items() if name not in plain or value != plain[name]}
    text = json.dumps([_listed(case.signature), case.constants, told])
    return len(list(_flat(case.signature))), len(text), text


def shorter(case: Case) -> Iterator[Edit]:
    """Cases with fewer or opened arguments; the boldest first."""
    if not case.wrapped:
        yield from (Edit(one) for one in _without_arguments(case))


def plainer(case: Case) -> Iterator[Edit]:
    """Cases with the same types, and fewer options or simpler values."""
    yield from _plainer_calls(case)
    for i, argument in enumerate(case.call["args"]):
        for place, value in _plainer_arguments(argument, ("args", i)):
            yield Edit(_put(case, place, value), place, value)


def _new(edits: Iterable[Edit], best: Case, seen: set[str]) -> list[Edit]:
    """Smaller ones that were not tried and that launchers can be made for."""
    limit = size_of(best)
    found = []
    fit: dict[Signature, bool] = {}
    for edit in edits:
        key = size_of(edit.case)[2]
        signature = edit.case.signature
        if key in seen or size_of(edit.case) >= limit:
            continue
        seen.add(key)
        if signature not in fit:
            fit[signature] = bool(supported(edit.case.dialect, [signature])[0])
        if fit[signature]:
            found.append(edit)
    return found


def _kept(edits: Sequence[Edit], wanted: str, run_cases: RunCases) -> list[tuple[Edit, Fault]]:
    """The edits in which the same kind of difference remains."""
    if not edits:
        return []
    tally = Tally(edits[0].case.dialect)
    numbered = [replace(edit.case, id=str(i)) for i, edit in enumerate(edits)]
    compare_cases(tally, numbered, run_cases)
    kept = []
    for fault in tally.faults:
        edit = edits[int(fault.case.id)]
        if kind_of(fault.difference) == wanted:
            kept.append((edit, replace(fault, case=edit.case)))
    return kept


def _together(case: Case, edits: Iterable[Edit]) -> Case | None:
    """The case with every one of these edits that can be made with the others, the best of each place."""
    best: dict[Place, Edit] = {}
    for edit in edits:
        place = edit.place
        if place is not None and (place not in best or size_of(edit.case) < size_of(best[place].case)):
            best[place] = edit
    chosen = [place for place in best if not any(place[:n] in best for n in range(1, len(place)))]
    if len(chosen) < 2:
        return None
    for place in chosen:
        case = _put(case, place, best[place].value)
    return case


def _without_arguments(case: Case) -> Iterator[Case]:
    """Cases with fewer arguments, or tuples opened. With a wrong number of them, types and arguments go each alone."""
    args = case.call["args"]
    if len(args) == len(case.signature):
        for pairs, places in _fewer(list(zip(case.signature, args, strict=True))):
            moved = {old: new for new, old in enumerate(places) if old is not None}
            constants = tuple(moved[old] for old in case.constants if old in moved)
            yield _with_pairs(case, [kind for kind, _ in pairs], [arg for _, arg in pairs], constants)
        return
    shared = range(min(len(args), len(case.signature)))
    for i in shared:
        yield _with_pairs(case, _dropped(case.signature, i), _dropped(args, i), ())
    yield _with_pairs(case, case.signature[: len(shared)], args[: len(shared) + 1], ())
    yield _with_pairs(case, case.signature[: len(shared) + 1], args[: len(shared)], ())


Pairs = list[tuple[Any, Argument]]


def _fewer(pairs: Pairs) -> Iterator[tuple[Pairs, list[int | None]]]:
    """Fewer pairs, each with the places that they had; None for one that was inside another."""
    count = len(pairs)
    for kept in _subsets(count):
        yield [pairs[i] for i in kept], list(kept)
    for i, (kind, argument) in enumerate(pairs):
        before, after = list(range(i)), list(range(i + 1, count))
        if isinstance(kind, str):
            if kind.startswith("*") and kind != "*i8":
                yield [*pairs[:i], ("*i8", argument), *pairs[i + 1 :]], list(range(count))
            continue
        items = items_of(argument)
        if items is None or len(items) != len(kind):
            continue
        inner: Pairs = list(zip(kind, items, strict=True))
        yield [*pairs[:i], *inner, *pairs[i + 1 :]], [*before, *[None] * len(inner), *after]
        for fewer, _ in _fewer(inner):
            tuple_of = (tuple(kind for kind, _ in fewer), {"tuple": [item for _, item in fewer]})
            yield [*pairs[:i], tuple_of, *pairs[i + 1 :]], list(range(count))


def _subsets(count: int) -> Iterator[list[int]]:
    """Places to keep: none, one alone, all but some; of many, pieces alone and all but a piece."""
    everything = list(range(count))
    piece = 1 if count <= FEW else -(-count // FEW)
    if count:
        yield []
    for start in range(0, count, piece):
        yield everything[start : start + piece]
    for start in range(0, count, piece):
        yield everything[:start] + everything[start + piece :]


def _plainer_calls(case: Case) -> Iterator[Edit]:
    call = case.call
    for name in _OPTIONS:
        if name in call:
            yield Edit(replace(case, call=_dropped_member(call, name)))
    bare = {name: value for name, value in call.items() if name not in _OPTIONS}
    plain = _plain_call(case)
    yield Edit(replace(case, call={**bare, **plain}))
    for name, value in plain.items():
        yield Edit(_put(case, (name,), value), (name,), value)
    for name in ("grid", "metadata"):
        values = call.get(name)
        for i, value in enumerate(values if isinstance(values, list) else ()):
            least = plain[name][i] if i < len(plain[name]) else 1
            steps = _plainer_ints(value - least) if isinstance(value, int) else ()
            for new in (least, *(least + step for step in steps)):
                yield Edit(_put(case, (name, i), new), (name, i), new)
    fail = call.get("fail")
    if fail:
        for place, new in ((("fail", 1), 0), (("fail", 2), 1)):
            yield Edit(_put(case, place, new), place, new)
    for name in ("enter", "exit"):
        if call.get(name) == "raise":
            yield Edit(_put(case, (name,), "ok"), (name,), "ok")


def _plain_call(case: Case) -> dict[str, Any]:
    """What a call has to say at least, but for its arguments."""
    elements = generator.facts(case.dialect).metadata.elements
    metadata = [0 if element.name == "shared" else 1 for element in elements]
    return {"grid": [1, 1, 1], "stream": "0x0", "function": "0xf00", "metadata": metadata}


def _plainer_arguments(argument: Argument, place: Place) -> Iterator[tuple[Place, Argument]]:
    """What can be put instead of an argument or of one inside it."""
    for value in _plainer_values(argument):
        yield place, value
    if isinstance(argument, dict):
        kind, value = next(iter(argument.items()))
        if kind in ("tuple", "list", "namedtuple"):
            for i, item in enumerate(value):
                yield from _plainer_arguments(item, (*place, kind, i))


def _plainer_values(argument: Argument) -> Iterator[Argument]:
    yield from (None, 0, 1)
    if isinstance(argument, int):
        yield from _plainer_ints(int(argument))
    elif isinstance(argument, dict):
        kind, value = next(iter(argument.items()))
        if kind in ("index", "intlike"):
            yield int(value)
            yield from ({kind: smaller} for smaller in (0, 1, *_plainer_ints(int(value))))
        elif kind in ("float", "floatlike"):
            yield from ({made: smaller} for made in ("float", kind) for smaller in (value, *_plainer_floats(value)))
        elif kind in ("tensor", "dlpack"):
            address = int(value, 16)
            yield from ({made: hex(part)} for made in ("tensor", kind) for part in (0x1000, address & 0xFF << 40))
        elif kind in ("tensor_returns", "descriptor_returns"):
            yield from ({kind: inner} for inner in _plainer_values(value))
        elif kind in ("list", "namedtuple"):
            yield {"tuple": value}
        elif kind == "str":
            yield {"str": value[:1]}


def _plainer_ints(value: int) -> Iterator[int]:
    """Halves, quarters, ... of a number, and itself less those, so that few rounds find the least that differs."""
    sign, distance = (1 if value > 0 else -1), abs(value)
    while distance:
        yield value - sign * distance
        distance //= 2
        yield sign * distance
    if value < 0:
        yield -value


def _plainer_floats(text: str) -> Iterator[str]:
    yield from (plain.hex() for plain in _PLAIN_FLOATS)
    mantissa, mark, exponent = text.partition("p")
    if mark and "." in mantissa:
        whole, _, digits = mantissa.partition(".")
        yield from (f"{whole}.{digits[:keep] or '0'}p{exponent}" for keep in {0, 1, len(digits) // 2, len(digits) - 1})


def _put(case: Case, place: Place, value: Any) -> Case:
    """A copy of the case with something else at a place of its call."""
    call = json.loads(json.dumps(case.call))
    holder: Any = call
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = value
    return replace(case, call=call)


def _with_pairs(case: Case, kinds: Iterable[Any], args: Iterable[Argument], constants: tuple[int, ...]) -> Case:
    call = {**case.call, "args": list(args)}
    return replace(case, signature=tuple(kinds), constants=constants, call=call)


def _dropped(entries: Sequence[Any], place: int) -> list[Any]:
    return [entry for i, entry in enumerate(entries) if i != place]


def _dropped_member(call: Any, name: str) -> dict[str, Any]:
    return {key: value for key, value in call.items() if key != name}


def _flat(signature: Signature) -> Iterator[str]:
    """The types, and one more for every tuple."""
    for entry in signature:
        if isinstance(entry, str):
            yield entry
        else:
            yield "tuple"
            yield from _flat(entry)


def _listed(signature: Signature) -> list[Any]:
    return [entry if isinstance(entry, str) else _listed(entry) for entry in signature]
