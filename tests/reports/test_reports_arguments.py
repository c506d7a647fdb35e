"""Tuples, constexpr entries and counts: which argument becomes which parameter, and calls of another shape."""

from __future__ import annotations

import itertools
import random
from collections import namedtuple
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import relaunch
from relaunch import ARG_CONSTEXPR, generator

TUPLES = (3, 3)  # the first release with tuples and constexpr entries
TYPES = ("*fp32", "i32", "fp64", "i8")
VALUES = (0x7F0000001000, 7, 0.5, -3)
SHOWN = ("00100000007f0000", "07000000", "000000000000e03f", "fd")
FUNCTION = print  # one of the things that a constexpr may be


def anything() -> Iterator[Any]:
    """Values that no parameter could hold."""
    return itertools.cycle([None, FUNCTION, "text", 2**100, object(), {"a": 1}, (1, 2), float("nan")])


def test_every_choice_of_constexpr_entries(each: Any, launch: Any) -> None:
    """All of four entries, none, and every choice between: what is left arrives in order, the rest has no slot."""
    for chosen in itertools.product((False, True), repeat=len(TYPES)):
        kept = [shown for shown, gone in zip(SHOWN, chosen, strict=True) if not gone]
        if each.at_least < TUPLES:  # the kernel has these folded in; Python passes their values all the same
            launcher = each.bind(*TYPES, constants=[at for at, gone in enumerate(chosen) if gone])
            values: list[Any] = list(VALUES)
        else:
            launcher = each.bind(*["constexpr" if gone else kind for kind, gone in zip(TYPES, chosen, strict=True)])
            values = [odd if gone else value for value, gone, odd in zip(VALUES, chosen, anything(), strict=False)]
        each.forget(launcher)
        launch(each, launcher, *values)
        assert each.parameters() == kept
        assert each.launches()[0]["grid"] == [2, 3, 4]
        assert len(launcher.slots) == len(kept) + each.hidden


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("constexpr: *fp32, constexpr_n: i32, n: constexpr", ["*fp32", "i32", None]),
        ('{"constexpr": "*fp32", "tl.constexpr": "i32", "BLOCK": "constexpr"}', ["*fp32", "i32", None]),
        ("BLOCK: constexpr, x: *fp32, n: i32", [None, "*fp32", "i32"]),
        ("x: *fp32:16, n: i32:16, m: i32", ["*fp32", "i32", "i32"]),
        ("[None, torch.float32, 65, 1]", [None, "*fp32", "i32", None]),
        ("ASTSource(fn=k, signature={0: '*fp32', 1: 'i32', 2: 'i32'}, constants={1: 1})", ["*fp32", None, "i32"]),
    ],
)
def test_only_what_is_constant_is_constexpr(text: str, types: list[str | None]) -> None:
    """No name, annotation or hint makes a parameter a constant; None and a given value do."""
    tree = relaunch.parse(text)
    found = [None if node.type == ARG_CONSTEXPR or node.value is not None else node.dtype for node in tree]
    assert found == types


class Inner(NamedTuple):
    fn: Any
    captured: Any


class Outer(NamedTuple):
    left: Any
    right: Any


def test_named_tuples_are_tuples(each: Any, launch: Any) -> None:
    """Of NamedTuple and collections.namedtuple, nested, constants among their leaves."""
    if each.at_least < TUPLES:
        return
    pair = namedtuple("pair", "a b")  # noqa: PYI024
    launcher = each.bind("i8", ("constexpr", ("*fp32", "i32")), (("i16", "constexpr"), "fp64"))
    for values in (
        (Inner(FUNCTION, pair(0x7F0000001000, 7)), Outer(Inner(-2, None), 0.5)),
        (pair(FUNCTION, Inner(0x7F0000001000, 7)), pair(pair(-2, "text"), 0.5)),
    ):
        each.forget(launcher)
        launch(each, launcher, 1, *values)
        assert each.parameters() == ["01", SHOWN[0], SHOWN[1], "feff", SHOWN[2]]


def test_a_named_tuple_in_a_signature_is_its_items() -> None:
    tree = relaunch.parse("{'t': Inner(fn='constexpr', captured=('*fp32', 'i32')), 'n': 'i32'}")
    assert tree.dump() == "t: (fn: constexpr, captured: (*fp32, i32)), n: i32"


def deep(levels: int, leaf: Any) -> Any:
    return Outer(deep(levels - 1, leaf), deep(levels - 1, leaf)) if levels else leaf


def test_a_deep_named_tuple_of_nothing_but_constants(each: Any, launch: Any) -> None:
    """Five levels, 32 leaves, all None: no parameter. Beside it, and with one leaf that is none, the others arrive."""
    if each.at_least < TUPLES:
        return
    launcher = each.bind(deep(5, "constexpr"))
    launch(each, launcher, deep(5, None))
    assert each.parameters() == []
    kinds = Outer(deep(4, "constexpr"), Outer("i32", deep(3, "constexpr")))
    launcher = each.bind("i8", kinds, "i8")
    each.forget(launcher)
    launch(each, launcher, 1, Outer(deep(4, None), Outer(7, deep(3, None))), 2)
    assert each.parameters() == ["01", SHOWN[1], "02"]


def test_any_number_of_arguments(each: Any, launch: Any) -> None:
    for count in (0, 1, 49, 50, 51, 64, 127, 128, 255, 256, 257, 1000):
        launcher = each.bind(*["i32"] * count)
        each.forget(launcher)
        launch(each, launcher, *range(count))
        assert each.parameters() == [number.to_bytes(4, "little").hex() for number in range(count)]


def sampled(chance: random.Random, depth: int) -> tuple[Any, ...]:
    """Nested tuples of types."""
    return tuple(
        sampled(chance, depth - 1) if depth and chance.random() < 0.5 else chance.choice(["i32", "constexpr", "*i8"])
        for _ in range(chance.randint(1, 3))
    )


def paths(entries: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Where the tuples are."""
    for at, entry in enumerate(entries):
        if not isinstance(entry, str):
            yield (*path, at)
            yield from paths(entry, (*path, at))


def filled(entries: Any, path: Any = None, change: int = 0, here: tuple[int, ...] = ()) -> list[Any]:
    """Values for the types; the tuple at `path` has `change` items more."""
    made = [5 if isinstance(one, str) else filled(one, path, change, (*here, at)) for at, one in enumerate(entries)]
    if here == path:
        made = made[:change] if change < 0 else made + [5] * change
    return made


def at_path(entries: Any, path: tuple[int, ...]) -> Any:
    for at in path:
        entries = entries[at]
    return entries


def test_lengths_are_checked_at_every_level(each: Any, launch: Any, refused: Any) -> None:
    """Too few and too many items of every tuple of random signatures: the counts are named, nothing is launched."""
    if each.at_least < TUPLES:
        return
    chance = random.Random(5)
    checked = 0
    for _ in range(12):
        types = (sampled(chance, 3), "i32")
        launcher = each.bind(*types)
        each.forget(launcher)
        launch(each, launcher, *filled(types))
        assert len(each.launches()) == 1
        for path in paths(types):
            wanted = len(at_path(types, path))
            for change in (-1, 1, 2):
                with pytest.raises(TypeError) as caught:
                    launch(each, launcher, *filled(types, path, change))
                words = f": expected a sequence of {wanted} items, got one of {wanted + change}"
                assert str(caught.value).endswith(words)
                assert len(each.launches()) == 1
                checked += 1
    assert checked > 60


def test_no_argument_is_taken_for_the_grid(each: Any, launch: Any) -> None:
    """Constants left out of a call, or put in twice, are a wrong count, whatever the grid would then be."""
    types = ("*fp32", "constexpr", "i32", "constexpr") if each.at_least >= TUPLES else ("*fp32", "i32", "i32", "i32")
    launcher = each.bind(*types)
    behind = {"by_call": "the grid and the stream", "by_launch": "the exit hook"}[launch.__name__]
    for count in (0, 1, 2, 3, 5, 6, 9, 13):
        with pytest.raises(TypeError) as caught:
            launch(each, launcher, *[1] * count)
        text = f"add({', '.join(types)}) takes 4 arguments behind {behind}, got {count}"
        assert str(caught.value) == text
    assert each.events() == []
    launch(each, launcher, 1, 64, 8, 64, grid=(5, 6, 7))
    assert each.launches()[0]["grid"] == [5, 6, 7]


PREFIXES = {tuple(one.name for one in generator.facts(name).prefix) for name in generator.all_dialects()}
GIVEN: dict[str, Any] = {
    "grid_x": 1,
    "grid_y": 1,
    "grid_z": 1,
    "stream": 0,
    "function": 1,
    "cooperative": False,
    "pdl": False,
}
GIVEN |= {"warp_size": 64, "kernel_arguments": (1, 2), "kernel_signature": (), "argument_annotations": ()}
TAKEN: tuple[str, ...] = ("grid_x", "grid_y", "grid_z", "stream", "function", "kernel_metadata", "launch_metadata")
TAKEN += ("enter_hook", "exit_hook")


def test_the_calling_conventions_of_other_releases_are_refused(each: Any) -> None:
    """What every release's own launcher takes in front of the arguments, where `launch` takes nine."""
    launcher = each.bind("*fp32", "i32")
    assert len(PREFIXES) > 6
    for prefix in sorted(PREFIXES):
        front = [each.metadata() if name == "kernel_metadata" else GIVEN.get(name) for name in prefix]
        args = () if prefix[-1] == "kernel_arguments" else (0x1000, 5)
        if prefix == TAKEN:
            launcher.launch(*front, *args)
            assert len(each.launches()) == 1
            each.forget(launcher)
            continue
        with pytest.raises(TypeError) as caught:
            launcher.launch(*front, *args)
        assert str(caught.value) == (
            f"add(*fp32, i32) takes 2 arguments behind the exit hook, got {len(front) + len(args) - 9}"
        )
        assert each.events() == []
