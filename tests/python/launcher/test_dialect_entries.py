"""Entries of signatures by dialect: constants, constexpr, tuples; and the order in which arguments are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import relaunch

OLDEST = [f"{release}-{backend}" for release in ("3.0", "3.2") for backend in ("cuda", "hip")]
VARIADIC = [f"{release}-{backend}" for release in ("3.7", "3.9") for backend in ("cuda", "hip")]
QUERIES = {"cuda": "cuPointerGetAttribute", "hip": "hipPointerGetAttribute"}


def refusal(driver: Any, *types: Any, **options: Any) -> str:
    """The words of a launcher, and of a plan, that do not come to be."""
    with pytest.raises(relaunch.BindError) as caught:
        driver.bind(*types, **options)
    return str(caught.value)


def test_names(tree: Any) -> None:
    def name(given: str) -> str:
        return relaunch.Plan("i32", dialect=given).dialect

    for dialect in relaunch.DIALECTS:
        _, release, backend = dialect.split("-")
        assert name(dialect) == dialect
        assert name(f"triton-{release}.17-{backend}") == dialect
    for backend in ("cuda", "hip"):
        assert name(f"triton-3.1-{backend}") == name(f"triton-3.1.0-{backend}") == f"triton-3.0-{backend}"
        assert name(f"triton-3.8-{backend}") == name(f"triton-3.8.1-{backend}") == f"triton-3.9-{backend}"
    known = ", ".join(relaunch.DIALECTS)
    for unknown in ("triton-3.10-cuda", "triton-2.1-hip", "triton-3.3", "3.3-cuda", ""):
        with pytest.raises(relaunch.BindError) as caught:
            name(unknown)
        assert str(caught.value) == f"unknown dialect '{unknown}'; there are {known}"


@pytest.mark.parametrize("dialect", OLDEST)
def test_folded_constants_are_looked_at_and_not_passed(of: Any, tensor: Any, refused: Any, dialect: str) -> None:
    driver = of(dialect)
    types = ("*i8", "i32", "*i8", "fp16", "i64")
    launcher = driver.bind(*types, constants=[3, 1, 2])
    assert launcher.slots == (8, 8)
    driver.forget(launcher)
    values = (tensor(0x1000, driver.recorder), 1, tensor(0x2000, driver.recorder), 1e9, 7)
    launcher(1, 1, 1, 0, *values)
    assert driver.parameters() == ["0010000000000000", "0700000000000000"]
    asked = [event["args"][1] for event in driver.events() if event.get("call") == QUERIES[driver.backend]]
    assert asked == ["1000", "2000"]
    call = f"add({', '.join(types)})"
    text = f"argument 2 of {call}: expected an int for i32, got str"
    refused(driver, lambda: launcher(1, 1, 1, 0, 1, "x", 2, 1.0, 7), TypeError, text)
    text = f"argument 3 of {call}: expected None, an int or an object with data_ptr(), got str"
    refused(driver, lambda: launcher(1, 1, 1, 0, 1, 1, "x", 1.0, 7), TypeError, text)
    # A mapping's keys count, as Triton hands them on.
    assert driver.bind(*types, constants={3: 1.0, 4: 1}).slots == (8, 4, 8)


@pytest.mark.parametrize("dialect", OLDEST)
def test_what_the_oldest_signatures_have_not(of: Any, dialect: str) -> None:
    driver = of(dialect)
    name = f"triton-{dialect}"
    assert refusal(driver, "i32", "constexpr") == (
        f"parameter 2 of (i32, constexpr): {name} has no constexpr entries: leave it out of the signature and the call"
    )
    assert refusal(driver, ("i32", "i8")) == (
        f"parameter 1 of ((i32, i8)): {name} has no tuples: give each item by itself"
    )
    assert refusal(driver, "i32", constants=[1]) == (
        "constants: index 1 is none of the 1 entries of (i32), which count from 0"
    )
    assert refusal(driver, "i32", constants=[-1]) == "constants: expected an iterable of entry indices from 0, got -1"
    assert refusal(driver, "i32", constants=[None]) == (
        "constants: expected an iterable of entry indices from 0, got None"
    )
    for wrong, words in ((5, "an iterable of entry indices, got int"), (["0"], "an int of 32 bits, got str")):
        with pytest.raises(TypeError) as caught:
            driver.bind("i32", constants=wrong)
        assert str(caught.value) == f"constants: expected {words}"


def test_constants_are_constexpr_since_3_3(each: Any) -> None:
    if each.at_least < (3, 3):
        return
    words = f"{each.dialect} folds no constants: such entries are constexpr in its signatures"
    assert refusal(each, "i32", constants=[0]) == words
    assert each.bind("i32", "constexpr", constants=[]).slots == (4, *[8] * each.hidden)


def test_types_that_a_dialect_has_not(each: Any) -> None:
    maps = each.backend == "cuda" and each.at_least >= (3, 2)
    tdm = each.backend == "hip" and each.at_least >= (3, 6)
    expands = each.at_least >= (3, 4)
    for kind, has in (("nvTmaDesc", maps), ("tensordesc", tdm), ("tensordesc<fp16[8]>", expands)):
        if has:
            each.bind(kind)
        else:
            assert refusal(each, kind) == f"parameter 1 of ({kind}): {each.dialect} has no type '{kind}'"
    for kind in ("fp8e5", "void"):
        assert refusal(each, kind) == f"parameter 1 of ({kind}): '{kind}' can only be pointed to: '*{kind}'"


def hook_of(driver: Any) -> Any:
    return lambda _: driver.recorder.note(b'{"hook": "enter"}')


def trace(driver: Any) -> list[str]:
    """Events in short: hooks, the addresses that were asked for, and launches."""
    return [
        event.get("hook") or (event["args"][1] if "args" in event else "launch")
        for event in driver.events()
        if "intake" not in event
    ]


def test_order_of_scalars_hook_and_pointers(each: Any, tensor: Any) -> None:
    """To 3.6 scalars come before the hook, from 3.7 on everything in flat order behind it."""
    launcher = each.bind("*i8", "i32", "*i8")

    def run(*values: Any) -> list[str]:
        each.forget(launcher)
        values = tuple(tensor(value) if value in (0x1000, 0x2000) else value for value in values)
        try:
            launcher.launch(1, 1, 1, 0, 1, each.metadata(), None, hook_of(each), None, *values)
        except (TypeError, OverflowError):
            return [*trace(each), "raised"]
        return trace(each)

    assert run(0x1000, 5, 0x2000) == ["enter", "1000", "2000", "launch"]
    flat = each.at_least >= (3, 7)
    assert run(0x1000, "x", 0x2000) == (["enter", "1000", "raised"] if flat else ["raised"])
    assert run("x", 2**40, 0x2000) == (["enter", "raised"] if flat else ["raised"])
    assert run(0x1000, 5, -1) == ["enter", "1000", "raised"]


def test_scratch_is_first_or_last(each: Any, tensor: Any) -> None:
    if each.at_least < (3, 5):
        return
    launcher = each.bind("*i8", profile_scratch=tensor(0x3000))
    launcher(1, 1, 1, 0, tensor(0x1000))
    assert trace(each)[:2] == (["1000", "3000"] if each.at_least >= (3, 7) else ["3000", "1000"])


class Items:
    """An iterable that is no sequence."""

    def __init__(self, *items: Any) -> None:
        self.items = items
        self.asked = 0

    def __iter__(self) -> Iterator[Any]:
        for item in self.items:
            self.asked += 1
            yield item


class Endless:
    def __init__(self) -> None:
        self.asked = 0

    def __iter__(self) -> Endless:
        return self

    def __next__(self) -> int:
        self.asked += 1
        return self.asked


@pytest.mark.parametrize("dialect", VARIADIC)
def test_tuples_may_be_any_iterable_since_3_7(of: Any, dialect: str) -> None:
    driver = of(dialect)
    launcher = driver.bind(("i32", ("i8",), "constexpr"))
    shown = ["05000000", "06"]
    for value in (
        (5, (6,), None),
        [5, [6], None],
        Items(5, Items(6), None),
        iter([5, iter([6]), None]),
        {5: None, (6,): None, None: None},
        (number for number in (5, b"\x06", None)),
    ):
        driver.forget(launcher)
        launcher(1, 1, 1, 0, value)
        assert driver.parameters() == shown


@pytest.mark.parametrize("dialect", VARIADIC)
def test_tuples_of_another_length_or_none(of: Any, refused: Any, tensor: Any, dialect: str) -> None:
    driver = of(dialect)
    launcher = driver.bind("*i8", ("i32", "i32"), names="p t")
    place = "argument 2 of add(*i8, (i32, i32)): expected a sequence of 2 items, got"

    def check(value: Any, words: str) -> None:
        driver.forget(launcher)
        args = (1, 1, 1, 0, 1, driver.metadata(), None, hook_of(driver), None, tensor(0x1000), value)
        refused(driver, lambda: launcher.launch(*args), TypeError, f"{place} {words}")
        assert driver.events() == [{"hook": "enter"}], "all tuples are opened before any argument"

    check((1,), "one of 1")
    check([1, 2, 3], "one of 3")
    check(Items(1), "Items")
    check(5, "int")
    check(None, "NoneType")
    check({1: 2}, "dict")
    endless = Endless()
    check(endless, "Endless")
    assert endless.asked == 3, "no more is asked for than tells that there are too many"


@pytest.mark.parametrize("dialect", VARIADIC)
def test_what_iterating_raises_is_raised(of: Any, dialect: str) -> None:
    class Raises:
        def __iter__(self) -> Iterator[int]:
            yield 1
            raise LookupError("in the middle")

    class RaisesAtOnce:
        def __iter__(self) -> Any:
            raise KeyError("at once")

    class NoIterator:
        def __iter__(self) -> Any:
            return 5

    driver = of(dialect)
    launcher = driver.bind(("i32", "i32"))
    for value, kind in ((Raises(), LookupError), (RaisesAtOnce(), KeyError), (NoIterator(), TypeError)):
        with pytest.raises(kind):
            launcher(1, 1, 1, 0, value)
    assert driver.events() == []


def test_tuples_are_sequences_to_3_6(each: Any, refused: Any) -> None:
    if not (3, 3) <= each.at_least < (3, 7):
        return
    launcher = each.bind(("i32", "i32"))
    place = "argument 1 of add((i32, i32)): expected a sequence of 2 items, got"
    for value, words in ((Items(1, 2), "Items"), ({1: 2, 3: 4}, "dict"), ((1,), "one of 1"), (b"12", "bytes")):
        refused(each, lambda value=value: launcher(1, 1, 1, 0, value), TypeError, f"{place} {words}")


@pytest.mark.parametrize("dialect", VARIADIC)
def test_items_live_as_long_as_the_launch(of: Any, tensor: Any, dialect: str) -> None:
    """A list that loses its items, and an iterable whose items nobody else holds, while arguments are looked at."""
    driver = of(dialect)
    given: list[Any] = []

    class Clears:
        def data_ptr(self) -> int:
            given.clear()
            return 0x1000

    given += [Clears(), Items(tensor(0x2000), 2**40)]
    launcher = driver.bind(("*i8", ("*i8", "i64")), ("*i8",))
    launcher(1, 1, 1, 0, given, (tensor(number) for number in [0x3000]))
    assert driver.parameters() == ["0010000000000000", "0020000000000000", "0000000000010000", "0030000000000000"]


def test_deep_tuples(each: Any) -> None:
    if each.at_least < (3, 3):
        return
    types: Any = "i64"
    value: Any = 5
    for _ in range(256):
        types, value = (types,), [value]
    each.bind(types)(1, 1, 1, 0, value)
    assert each.parameters() == ["0500000000000000"]


def test_four_hundred_arguments(each: Any) -> None:
    kinds = ("i32", "fp16", "u1", "*i8")
    launcher = each.bind(*kinds * 100)
    each.forget(launcher)
    launcher(1, 1, 1, 0, *[value for number in range(100) for value in (number, 1.0, True, number)])
    shown = each.parameters()
    assert [int.from_bytes(bytes.fromhex(one), "little") for one in shown[::4]] == [*range(100)]
    assert {one[:4] for one in shown[1::4]} == {"003c"}
    assert {int(one[:2], 16) for one in shown[2::4]} == {1}
    assert [int.from_bytes(bytes.fromhex(one), "little") for one in shown[3::4]] == [*range(100)]
