"""Properties that hold for whatever hypothesis thinks of, through both launchers.

Signatures are drawn first, then calls of them, and all are run together: a run costs few worker processes and calls of
the compiler. So what fails is shrunk by the engine (shrink.py), not by hypothesis, which would run each of its attempts
alone. The seed is the run's own, printed at its start: `RELAUNCH_SEED=N` draws the same again.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from relaunch.differential import divergence, pool, report
from relaunch.differential.case import Case, Signature
from relaunch.differential.diff import Fault, RunCases, Tally, compare_cases
from relaunch.differential.outcome import Outcome
from relaunch.differential.shrink import smallest
from relaunch.differential.values import FLOATS, value_range

from relaunch import generator

LEGACY = generator.dialects()
POINTERS = ("*fp32", "**i8")
DESCRIPTOR = "nvTmaDesc"  # one level up, tests/differential/test_sampler.py has them
KINDS = sorted({*POINTERS, *(kind for one in LEGACY for kind in generator.facts(one).types)} - {DESCRIPTOR})
CALLS = 20  # for each type
WITH_EDGE = 3  # for each edge of each type
ODD = 6  # in one of so many arguments, dimensions and hooks something is not as it should be
# Entries of the list that many of the calls meet, whatever the seed.
MET = {"D03", "D05", "D12", "D14"}

RAISED = st.sampled_from(["ValueError", "ZeroDivisionError", "KeyboardInterrupt", "TypeError"])
OBJECTS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([{"object": 1}, {"str": "x"}, {"dict": 1}, {"list": []}, {"tuple": []}, {"intlike": 3}]),
    RAISED.map(lambda name: {"index_raises": name}),
    RAISED.map(lambda name: {"float_raises": name}),
)
WHOLE = st.one_of(st.integers(-(2**70), 2**70), st.sampled_from([-1, 2**63, 2**64 - 1, 2**64]))
ADDRESSES = st.one_of(
    st.sampled_from([0, 0x1000, 0x700000001000, 0x910000001000, 2**64 - 16]),
    st.integers(0, 2**36).map(lambda i: 16 * i),
)
TENSORS = ADDRESSES.map(lambda address: {"tensor": hex(address)})
EXCHANGED = ADDRESSES.map(lambda address: {"dlpack": hex(address)})


def real(value: float) -> dict[str, str]:
    """A float as cases spell it."""
    return {"float": str(value) if value != value or value in (float("inf"), float("-inf")) else value.hex()}


FLOAT_EDGES = [
    0.0, -0.0, 1.0, float("inf"), float("-inf"), float("nan"), 65504.0, 65519.9, 65520.0, -65520.0, 2.0**-24, 2.0**-25,
    1 + 2.0**-11, 1 + 3 * 2.0**-11, 1.0039062, 2.0**-149, 3.4028234663852886e38, 1e39, 1.7976931348623157e308,
]  # fmt: skip


def edges(kind: str) -> list[Any]:
    """Where a type begins and ends, as whatever width it may be taken, and the neighbours."""
    if kind.startswith("*"):
        unknown = [{"tensor": "0xba0000000010"}, {"tensor": "0x5e0000000010"}]  # the driver says: not the device's
        odd = [None, -1, 0, 2**63, 2**64 - 1, 2**64, {"tensor_raises": "KeyboardInterrupt"}, {"object": 1}]
        return [*unknown, *odd, {"dlpack": "0x7f0000000000"}, {"tensor_returns": -1}, {"tensor_returns": None}]
    if kind in FLOATS:
        return [*map(real, FLOAT_EDGES), 0, 65520, True, {"floatlike": "0x1.8p+0"}]
    if kind == "constexpr":
        return [None, 1, {"object": 1}, {"str": "x"}]
    width = 8 * generator.facts(LEGACY[-1]).types[kind].size if kind not in ("i1", "u1") else 8
    middle, end = 2 ** (width - 1), 2**width
    near = [value + more for value in (-end, -middle, 0, middle, end) for more in (-1, 0, 1)]
    return [*near, True, {"index": middle}, {"index": -1}]


def valid(kind: str, dialect: str) -> st.SearchStrategy[Any]:
    """What every launcher takes."""
    if kind.startswith("*"):
        return st.one_of(st.none(), TENSORS, ADDRESSES, EXCHANGED)
    if kind == "constexpr":
        return st.one_of(OBJECTS, WHOLE)
    if kind in FLOATS:
        reals = st.floats(-65504, 65504) if kind == "fp16" else st.one_of(st.floats(width=32), st.floats())
        return st.one_of(st.integers(-2048, 2048), reals.map(real))
    low, high = value_range(kind, dialect)
    return st.one_of(st.integers(low, high), st.sampled_from([low, high]))


def hostile(kind: str) -> st.SearchStrategy[Any]:
    """What launchers refuse, change, or differ on."""
    if kind.startswith("*"):
        returned = st.one_of(st.none(), WHOLE, st.just({"str": "x"})).map(lambda answer: {"tensor_returns": answer})
        return st.one_of(WHOLE, returned, RAISED.map(lambda name: {"tensor_raises": name}), OBJECTS)
    return st.one_of(WHOLE, WHOLE.map(lambda value: {"index": value}), st.floats().map(real), OBJECTS)


def argument(kind: Any, dialect: str, is_odd: bool) -> st.SearchStrategy[Any]:
    """One for this type or tuple of types; hostile now and then where `is_odd` says so."""
    if isinstance(kind, str):
        plain = valid(kind, dialect)
        return st.integers(1, ODD).flatmap(lambda roll: hostile(kind) if roll == ODD else plain) if is_odd else plain
    items = st.tuples(*(argument(one, dialect, is_odd) for one in kind)).map(list)
    return st.builds(lambda form, some: {form: some}, st.sampled_from(["tuple", "list", "namedtuple"]), items)


@st.composite
def signatures(draw: st.DrawFn, dialect: str) -> list[Signature]:
    """Some that have every type of the dialect in one of them, inside a tuple where the dialect has tuples."""
    found = generator.facts(dialect)
    pieces: list[Signature] = []
    rest: list[Any] = draw(st.permutations([kind for kind in KINDS if kind in (*found.types, *POINTERS)]))
    while rest:
        size = draw(st.integers(2, 6))
        piece, rest = rest[:size], rest[size:]
        if found.tuples and draw(st.booleans()):
            start = draw(st.integers(0, len(piece) - 1))
            piece[start : start + 2] = [tuple(piece[start : start + 2])]
        pieces.append(tuple(piece))
    return pieces


def size(is_odd: bool) -> st.SearchStrategy[int]:
    odd = st.sampled_from([0, -1, 65535, 65536, 2**31 - 1, 2**31])
    return st.integers(1, 3 * ODD).flatmap(lambda roll: odd if is_odd and roll == 3 * ODD else st.integers(1, 4))


@st.composite
def calls(draw: st.DrawFn, dialect: str, signature: Signature, is_odd: bool) -> dict[str, Any]:
    """A call of the launcher, with hostile values now and then where `is_odd` says so."""
    found = generator.facts(dialect)
    ctas = draw(st.sampled_from([1, 1, 1, 2, 16]))
    shared = draw(st.sampled_from([0, 128, 232448]))
    has_cluster = len(found.metadata.elements) == 6
    call: dict[str, Any] = {
        "grid": [draw(size(is_odd)) for _ in range(3)],
        "stream": draw(st.sampled_from(["0x0", "0x55d000001000"])),
        "function": "0xf00",
        "metadata": [draw(st.sampled_from([1, 4, 8])), ctas, shared, *([ctas, 1, 1] if has_cluster else [])],
        "enter": draw(st.sampled_from(["none", "ok", "ok", "ok", "raise" if is_odd else "ok"])),
        "exit": draw(st.sampled_from(["none", "ok"])),
        "args": [draw(argument(kind, dialect, is_odd)) for kind in signature],
    }
    call.update((flag.name, draw(st.booleans())) for flag in found.prefix if flag.name in ("cooperative", "pdl"))
    call.update((name, draw(st.one_of(st.none(), TENSORS))) for name in found.scratch)
    if found.backend == "hip":
        call["warp_size"] = 64
    return call


def places(kind: str, signature: Signature) -> list[tuple[int, ...]]:
    """Where a type is, at the top or in a tuple there."""
    inner = [(i, j) for i, one in enumerate(signature) if isinstance(one, tuple) for j in range(len(one))]
    return [(i,) for i, one in enumerate(signature) if one == kind] + [
        (i, j) for i, j in inner if signature[i][j] == kind
    ]


def put(args: list[Any], place: tuple[int, ...], value: Any) -> list[Any]:
    """The arguments with another at this place."""
    if len(place) == 1:
        return [value if i == place[0] else one for i, one in enumerate(args)]
    ((form, items),) = args[place[0]].items()
    return put(args, place[:1], {form: put(items, place[1:], value)})


Where = tuple[str, Signature]


@st.composite
def cases(draw: st.DrawFn, where: list[Where], kind: str, edge: tuple[Any, ...] = (), is_odd: bool = True) -> Case:
    """A call with an argument of this type, the edge where there is one; in two of three, nothing else is odd."""
    dialect, signature = draw(st.sampled_from([one for one in where if places(kind, one[1])]))
    is_odd = is_odd and draw(st.integers(0, 2)) == 2
    call = draw(calls(dialect, signature, is_odd))
    for value in edge:
        call["args"] = put(call["args"], draw(st.sampled_from(places(kind, signature))), value)
    if is_odd and draw(st.integers(1, 2 * ODD)) == 2 * ODD:
        call["args"] = call["args"][:-1]
    return Case("case", f"{dialect.split('-')[1]}.0", dialect.rpartition("-")[2], signature, call)


def collected(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """What the strategy gives, without a look at what it does."""
    found: list[Any] = []

    @seed(int(os.environ["RELAUNCH_SEED"]))
    @settings(
        max_examples=count,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(one: Any) -> None:
        found.append(one)

    collect()
    return found


@pytest.fixture(scope="module")
def run_cases(workers: pool.Workers) -> RunCases:
    return partial(pool.run_cases, jobs=2, workers=workers)


@pytest.fixture(scope="module")
def where() -> list[Where]:
    """Every dialect with a legacy launcher, with signatures that have each of its types."""
    return [(dialect, one) for dialect in LEGACY for one in collected(signatures(dialect), 2)[-1]]


@pytest.fixture(scope="module")
def some(where: list[Where]) -> list[Case]:
    """Every edge of every type in some calls, and calls without."""
    drawn: list[Case] = []
    for kind in KINDS:
        drawn += collected(cases(where, kind), CALLS)
        for edge in edges(kind):
            drawn += collected(cases(where, kind, (edge,)), WITH_EDGE)
    return [replace(case, id=f"{case.dialect}-{i}") for i, case in enumerate(drawn)]


def compared(cases: list[Case], run: RunCases) -> Tally:
    tally = Tally(LEGACY[-1])  # all are of dialects with a legacy launcher: one tally counts them
    compare_cases(tally, cases, run)
    return tally


def told(faults: list[Fault], run: RunCases, folder: Path, most: int = 3) -> str:
    """The smallest cases of some faults, each with the command that replays it; empty without faults."""
    small = smallest(faults, run, seconds=60, most=most)
    lines = [f"{len(faults)} faults, RELAUNCH_SEED={os.environ['RELAUNCH_SEED']}"] * bool(faults)
    for fault, path in zip(small, report.store(small, folder), strict=True):
        lines += [f"{fault.case.dialect} {fault.case.signature} {fault.case.call['args']}: {fault.difference}"]
        lines += [f"  relaunch replay {path} --launcher precompiled"]
    return "\n".join(lines)


@pytest.mark.xdist_group("properties")
def test_both_launchers_do_the_same(some: list[Case], run_cases: RunCases, tmp_path: Path) -> None:
    """Or differ as the list of divergences says, whatever the arguments are."""
    tally = compared(some, run_cases)
    assert told(tally.faults, run_cases, tmp_path) == ""
    assert tally.cases == len(some)
    assert tally.launches > len(some) / 10
    assert tally.rejections > len(some) / 10
    assert MET - set(tally.divergences) == set()


@pytest.mark.xdist_group("properties")
def test_a_missing_entry_is_noticed_and_its_case_shrunk(
    some: list[Case], run_cases: RunCases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D03, i8 as signed: one argument is left, a value at which the launchers part."""
    without = tuple(entry for entry in divergence.divergences() if entry.id != "D03")
    monkeypatch.setattr(divergence, "divergences", lambda: without)
    with_i8 = [case for case in some if places("i8", case.signature)]
    text = told(compared(with_i8, run_cases).faults, run_cases, tmp_path, most=1)
    assert any(f"('i8',) [{value}]: " in text for value in (-1, 128)), text


@pytest.mark.xdist_group("properties")
def test_a_changed_byte_is_noticed_and_its_case_shrunk(some: list[Case], run_cases: RunCases, tmp_path: Path) -> None:
    """The second byte of ours is wrong for each i16 above 255: the least such value is left."""

    def run(cases: list[Case], launcher: str) -> list[Outcome]:
        outcomes = list(run_cases(cases, launcher))
        if launcher == "precompiled":
            for case, outcome in zip(cases, outcomes, strict=True):
                i16 = [i for i, kind in enumerate(case.signature) if kind == "i16"]
                launched = params(outcome)
                if i16 and launched and type(case.call["args"][i16[0]]) is int and case.call["args"][i16[0]] > 255:
                    at = min(own_parameters(case.signature, i16[0]))
                    launched[at] = launched[at][:2] + "ff" + launched[at][4:]
        return outcomes

    with_i16 = [case for case in some if "i16" in case.signature]
    text = told(compared(with_i16, run).faults, run, tmp_path, most=1)
    assert "('i16',) [256]: " in text, text
    assert Path(text.splitlines()[-1].split()[2]).is_file()


def params(outcome: Outcome) -> list[Any] | None:
    """The parameters' bytes of the one launch there is."""
    launches = [event["params"] for event in outcome.get("events", ()) if event.get("params") is not None]
    return launches[0] if len(launches) == 1 else None


@pytest.mark.parametrize("launcher", ["generated", "precompiled"])
@pytest.mark.xdist_group("properties")
def test_a_parameter_depends_on_its_own_argument_alone(where: list[Where], run_cases: RunCases, launcher: str) -> None:
    """One argument is replaced: no other parameter changes, and none at all where it is a constexpr."""
    pairs = [pair for kind in KINDS for pair in collected(replacements(where, kind), 15)]
    outcomes = list(run_cases([case for one, two, _ in pairs for case in (one, two)], launcher))
    changes = 0
    for (one, _, place), first, second in zip(pairs, outcomes[::2], outcomes[1::2], strict=True):
        before, after = params(first), params(second)
        assert before is not None, one.to_json()
        assert after is not None, one.to_json()
        changed = {i for i, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]}
        assert changed <= own_parameters(one.signature, place), (one.to_json(), place)
        changes += bool(changed)
    assert changes > len(pairs) / 3


@st.composite
def replacements(draw: st.DrawFn, where: list[Where], kind: str) -> tuple[Case, Case, int]:
    """A call, the same with another argument at the first place that has this type, and that place."""
    one = draw(cases(where, kind, is_odd=False))
    place = places(kind, one.signature)[0][0]
    other = draw(argument(one.signature[place], one.dialect, False))
    return one, replace(one, call={**one.call, "args": put(one.call["args"], (place,), other)}), place


def own_parameters(signature: Signature, place: int) -> set[int]:
    """The kernel parameters that an argument becomes."""
    first = sum(map(count, signature[:place]))
    return set(range(first, first + count(signature[place])))


def count(kind: Any) -> int:
    """Kernel parameters of a type or of a tuple of types."""
    return int(kind != "constexpr") if isinstance(kind, str) else sum(map(count, kind))
