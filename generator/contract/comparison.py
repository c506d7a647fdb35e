"""Two dialects side by side: in general, and for one signature."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from relaunch.generator.contract.layout import Parameter, layout
from relaunch.generator.contract.topics import topics
from relaunch.generator.dialects import facts
from relaunch.generator.facts import Facts
from relaunch.generator.plan import NothingToGenerateError
from relaunch.generator.render import render_launcher, render_unit
from relaunch.generator.signature import (
    LauncherSpec,
    UnknownType,
    expand,
    flat_types,
    is_descriptor,
    signature_text,
)

ABSENT = "-"
PARAMETERS = "parameters"  # the topic whose differences are rows of `Comparison.parameters`


@dataclass(frozen=True)
class Difference:
    """What one dialect says of an item and what the other does; `ABSENT` where one has nothing to say."""

    topic: str
    item: str
    left: str
    right: str


@dataclass(frozen=True)
class Comparison:
    """What differs between two dialects, for one signature or in general."""

    left: str  # dialect
    right: str
    differences: tuple[Difference, ...]
    # Parameters of both sides, those of one argument in one row; None where one has none. Empty without a signature.
    parameters: tuple[tuple[Parameter | None, Parameter | None], ...] = ()
    taken: bool = True  # whether both dialects take the signature

    @property
    def equal(self) -> bool:
        """Whether there is no difference."""
        return not self.differences


@dataclass(frozen=True)
class _Side:
    """One dialect's view of a signature: a launcher's spec, or why there is none."""

    spec: LauncherSpec
    expanded: tuple[Any, ...] = ()
    reason: str = ""


def compare(left: str, right: str, signature: tuple[Any, ...] | None = None, *, described: bool = False) -> Comparison:
    """Compares two dialects; with a signature (nested tuples of type strings) only in what its calls can meet.

    `described`: its descriptors have metadata, and are passed by value. Dialects to 3.2 have no `constexpr` entries:
    Triton takes them out of signature and call, and so does the comparison. A signature that a dialect does not take
    is a difference. Raises UnknownDialectError.
    """
    one, other = facts(left), facts(right)
    if signature is None:
        return Comparison(one.dialect, other.dialect, tuple(_statements(one, other, None)))
    sides = [_side(found, signature, described) for found in (one, other)]
    if any(side.reason for side in sides):
        answers = [side.reason or "taken" for side in sides]
        refused = Difference("signature", "accepted", *answers)
        return Comparison(one.dialect, other.dialect, (refused,), taken=False)
    differences = [*_arguments(sides), *_statements(one, other, _kinds(signature, sides))]
    rows = tuple(_rows(layout(sides[0].spec), layout(sides[1].spec)))
    differences += _moved(rows)
    return Comparison(one.dialect, other.dialect, tuple(differences), rows)


def source_difference(left: str, right: str, signature: tuple[Any, ...], *, described: bool = False) -> list[str]:
    """The unified diff of the C sources that both dialects generate for a signature, without line ends.

    Raises NothingToGenerateError, UnknownType, ValueError, UnknownDialectError.
    """
    sources = []
    for name in (left, right):
        found = facts(name)
        if found.native:
            raise NothingToGenerateError(found)
        spec = _spec(found, signature, described)
        launcher = render_launcher(spec)  # whose name is a digest, of no interest here
        sources.append(render_unit([launcher]).replace(launcher.name, "launcher").splitlines())
    before, after = (f"{facts(name).dialect}.c" for name in (left, right))
    return list(difflib.unified_diff(sources[0], sources[1], before, after, lineterm=""))


def _spec(found: Facts, signature: tuple[Any, ...], described: bool) -> LauncherSpec:
    kept = signature if found.takes_constexpr else _without_constexpr(signature)
    count = sum(is_descriptor(entry) for entry in (flat_types(kept) if found.descriptor.inside_tuples else kept))
    return LauncherSpec(found.dialect, kept, tensordesc_meta=({},) * count if described and count else None)


def expanded(dialect: str, signature: tuple[Any, ...], *, described: bool = False) -> tuple[Any, ...]:
    """The types that a dialect's launcher is made for, read as `compare` reads them. Raises as `generator.expand`."""
    return expand(_spec(facts(dialect), signature, described))


def _without_constexpr(signature: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(entry for entry in signature if entry != "constexpr")


def _side(found: Facts, signature: tuple[Any, ...], described: bool) -> _Side:
    spec = _spec(found, signature, described)
    try:
        return _Side(spec, expand(spec))
    except (UnknownType, ValueError) as error:
        return _Side(spec, reason=str(error))


def _kinds(signature: tuple[Any, ...], sides: list[_Side]) -> frozenset[str]:
    """What the calls of a signature are made of, by the words that statements are about."""
    types = {name for side in sides for name in flat_types(side.expanded)} | set(flat_types(signature))
    kinds = {name for name in types if not name.startswith("*")}
    if len(kinds) < len(types):
        kinds.add("pointer")
    if any(isinstance(entry, tuple) for entry in signature):
        kinds.add("tuple")
    by_value = {facts(side.spec.dialect).descriptor.name for side in sides}
    if any(is_descriptor(name) for name in types) or kinds & by_value:
        kinds.add("descriptor")
    return frozenset(kinds)


def _statements(left: Facts, right: Facts, kinds: frozenset[str] | None) -> Iterator[Difference]:
    for one, other in zip(topics(left, kinds), topics(right, kinds), strict=True):
        here, there = ({said.item: said.text.replace("`", "") for said in topic.statements} for topic in (one, other))
        for item in _merged(here, there):
            if here.get(item) != there.get(item):
                yield Difference(one.name, item, here.get(item, ABSENT), there.get(item, ABSENT))


def _merged(here: Mapping[str, str], there: Mapping[str, str]) -> list[str]:
    """The items of both: each of `there` alone stands behind what precedes it there."""
    merged = list(here)
    last = -1
    for item in there:
        if item in here:
            last = merged.index(item)
        else:
            last += 1
            merged.insert(last, item)
    return merged


def _arguments(sides: list[_Side]) -> Iterator[Difference]:
    """The kernel's own arguments as the call has them."""
    shown = [signature_text(side.expanded) or "none" for side in sides]
    if shown[0] != shown[1]:
        yield Difference("call", "kernel arguments, descriptors expanded", *shown)


def _rows(
    left: tuple[Parameter, ...], right: tuple[Parameter, ...]
) -> Iterator[tuple[Parameter | None, Parameter | None]]:
    """Own parameters pair in order where types agree, hidden ones by name."""
    matcher = difflib.SequenceMatcher(
        None, [(one.hidden, one.type) for one in left], [(one.hidden, one.type) for one in right], autojunk=False
    )
    for _tag, a, b, c, d in matcher.get_opcodes():
        here, there = left[a:b], right[c:d]
        for place in range(max(len(here), len(there))):
            yield (
                here[place] if place < len(here) else None,
                there[place] if place < len(there) else None,
            )


def _moved(rows: tuple[tuple[Parameter | None, Parameter | None], ...]) -> Iterator[Difference]:
    for number, (one, other) in enumerate(rows):
        here, there = place(one), place(other)
        if here != there:
            name = (one or other or _NOWHERE).type
            yield Difference(PARAMETERS, f"{number} {name}", here, there)


_NOWHERE = Parameter(None, "", 0, 0, 0, 0)


def place(parameter: Parameter | None) -> str:
    """A parameter's slot, size, alignment and offset."""
    if parameter is None:
        return ABSENT
    return (
        f"{parameter.type}: slot {parameter.slot}, kernel {parameter.size} aligned to {parameter.alignment} "
        f"at {parameter.offset}"
    )
