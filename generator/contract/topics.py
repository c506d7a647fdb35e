"""The facts of one dialect as statements under topics: what pages are made of and what comparisons compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from relaunch.generator.contract import words
from relaunch.generator.contract.errors import refusals
from relaunch.generator.facts import Attribute, Facts

Statements = Iterator["Statement"]


@dataclass(frozen=True)
class Statement:
    """One thing that can be said of every dialect, and what this one's answer is. `about` as in `Refusal`."""

    item: str
    text: str
    about: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Topic:
    """Statements that belong together."""

    name: str
    statements: tuple[Statement, ...]


def topics(found: Facts, kinds: frozenset[str] | None = None) -> tuple[Topic, ...]:
    """All topics of a dialect, in the order of a call. With `kinds` (types, "pointer", "tuple", "descriptor",
    "constexpr") only what signatures made of these can meet.
    """
    every = {
        "call": _call(found),
        "argument types": _types(found),
        "hidden parameters": _hidden(found),
        "launch": _launch(found),
        "attributes": _attributes(found),
        "order of steps": _steps(found),
        "hooks": _hooks(found),
        "pointers": _pointers(found),
        "descriptors": _descriptors(found),
        "errors": _errors(found),
        "module": _module(found),
        "known faults": _faults(found),
    }
    return tuple(
        Topic(name, tuple(one for one in statements if kinds is None or not one.about or one.about & kinds))
        for name, statements in every.items()
    )


def _call(found: Facts) -> Statements:
    for place, positional in enumerate(found.prefix, 1):
        yield Statement(positional.name, f"{words.ordinal(place)}, {positional.format}")
    if not found.native:
        yield Statement("kernel arguments", f"from the {words.ordinal(len(found.prefix) + 1)} on, one by one")
    yield Statement("kernel_metadata is", words.metadata(found))
    yield Statement("constexpr entries", words.constexpr(found), frozenset({"constexpr"}))
    yield Statement("tuples", words.tuples(found), frozenset({"tuple"}))
    yield Statement("count of arguments", words.count(found))


def _types(found: Facts) -> Statements:
    for name, one in found.types.items():
        if one.size and not words.by_value(one):
            about = frozenset({name})
            yield Statement(f"{name} takes", words.taken(one), about)
            yield Statement(f"{name} becomes", words.stored(name, one), about)


def _hidden(found: Facts) -> Statements:
    for place, hidden in enumerate(found.hidden, 1):
        yield Statement(hidden.name, f"{words.ordinal(place)} behind the kernel's own; {words.hidden(hidden)}")


def _launch(found: Facts) -> Statements:
    rules = found.launch
    for number, way in enumerate(rules.ways, 1):
        yield Statement(f"driver function, {words.ordinal(number)} choice", words.way(way))
    yield Statement("grid", words.grid(rules))
    yield Statement("block", words.block(rules))
    yield Statement("not launched", words.skipped(rules))
    yield Statement("cluster of 16", words.non_portable(rules))
    yield Statement("context", words.context(found))
    yield Statement("GIL", "released around the driver call" if rules.gil_released else "held throughout")


def _attributes(found: Facts) -> Statements:
    for attribute, place in ordered_attributes(found):
        yield Statement(words.attribute_name(attribute), f"{words.ordinal(place)}; {words.attribute(attribute)}")


def ordered_attributes(found: Facts) -> list[tuple[Attribute, int]]:
    """The launch attributes with their places, from 1, among all that the dialect knows."""
    every = [attribute for way in found.launch.ways for attribute in way.attributes]
    return [(attribute, place) for place, attribute in enumerate(every, 1)]


def _steps(found: Facts) -> Statements:
    yield Statement("order", ", ".join(words.STEPS[step] for step in found.steps))


def _hooks(found: Facts) -> Statements:
    yield Statement("called", words.hook_call(found.hooks))
    yield Statement("Triton passes", words.hook_default(found.hooks))
    yield Statement("launch_metadata is", words.launch_metadata(found.hooks))
    late = found.exit_hook_after_failure
    yield Statement("exit hook after a failed launch", "called, with the error pending" if late else "not called")


def _pointers(found: Facts) -> Statements:
    about = frozenset() if found.scratch else frozenset({"pointer"})
    for item, text in words.pointers(found):
        yield Statement(item, text, about)


def _descriptors(found: Facts) -> Statements:
    about = frozenset({"descriptor"})
    for item, text in words.descriptors(found):
        yield Statement(item, text, about)
    for item, text in words.encoding(found):
        yield Statement(f"tensor map: {item}", text, about)


def _errors(found: Facts) -> Statements:
    for refusal in refusals(found):
        item = f"{refusal.subject}: {refusal.when}".replace("`", "")
        text = f"{refusal.type} at {words.STEPS[refusal.step]}: {' | '.join(refusal.texts)}"
        yield Statement(item, text, refusal.about)


def _module(found: Facts) -> Statements:
    for item, text in words.module(found):
        yield Statement(item, text)


def _faults(found: Facts) -> Statements:
    for fault in found.faults:
        yield Statement(fault.name, fault.text, frozenset(fault.about))
