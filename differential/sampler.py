"""Seeded cases for one signature: mostly launches, with every kind of refusal and failure mixed in.

The same dialect, signature, seed and number give the same case on every machine and Python. A case is valid arguments
and launch options, then in two of five cases a disturbance, rarely several: an odd argument, a wrong count, a grid that
is empty, negative, wrapping or too large, broken metadata, a hook that raises, a driver call that fails. What is drawn
from stands here and in `values.py`; the drawing itself is native (native/sampler.hpp).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from itertools import product
from random import Random
from typing import Any, TypeAlias

from relaunch.differential import _native, values
from relaunch.differential.case import Case, Signature
from relaunch.differential.divergence import Divergence, divergences, possible
from relaunch.differential.situation import Situation, expanded, freeze
from relaunch.differential.values import Rules

from relaunch import generator

Call: TypeAlias = dict[str, Any]
Base: TypeAlias = tuple[Call, ...]  # calls that a drawn part is put into to see whether an entry of the list may hold

REWRITE = "halves as floats"
"""The rewrite of the list that native code applies itself, to the record of a launch, because many cases need it."""

HALVES = ("fp16", "bf16")
_STATUSES = (1, 1, 2, 700, 719)
_WITH_CLUSTER = 6  # entries of kernel_metadata up to 3.5: num_warps, num_ctas, shared, and the cluster's dimensions
_STREAMS = ["0x0", "0x1", "0x2", "0x55d000001000"]
_LARGEST = 2**31 - 1
_OTHER_GRIDS = [[1, 65535, 1], [1, 1, 65535], [3, 65535, 2], [_LARGEST // 16, 1, 1]]
_EMPTY_GRIDS = [[0, 1, 1], [1, 0, 1], [7, 2, 0], [0, 0, 0], [0, 65536, 65536]]
_NEGATIVE_GRIDS = [[-1, 1, 1], [1, -(2**31), 1], [2, 1, -7], [{"index": -1}, 1, 1], [-1, -1, 1]]
_WRAPPED_GRIDS = [[65536, 65536, 1], [2**26, 64, 1], [65536, 32768, 1], [_LARGEST, 2, 1], [65536, 65536, 2]]
_ODD_DIMENSIONS = [None, {"float": "0x1.0p+0"}, {"index": 4}, {"str": "1"}, 2**31, 2**40, -(2**70), True]

_EXTRA = [1, None, {"tensor": "0x1000"}]

_LAUNCH_CALLS = {
    "cuda": ("cuLaunchKernelEx", "cuLaunchKernelEx", "cuLaunchKernel"),
    "hip": ("hipModuleLaunchKernel", "hipModuleLaunchCooperativeKernel", "hipDrvLaunchKernelEx"),
}
_CONTEXT_CALLS = ("cuCtxGetCurrent", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent")


class Source:
    """The cases of one signature under one dialect, by their number.

    Raise `generator.UnknownType` where the dialect's launcher cannot be made.
    """

    def __init__(self, dialect: str, signature: Any, seed: int) -> None:
        found = generator.facts(dialect)
        self.dialect = found.dialect
        self.backend = found.backend
        self.signature = freeze(signature)
        self.types = expanded(self.dialect, self.signature)
        identity = json.dumps([self.dialect, self.signature], separators=(",", ":"))
        name = hashlib.sha256(identity.encode()).hexdigest()[:8]
        self._prefix = f"{self.dialect}-{name}-{seed}"
        self._release = self.dialect.split("-")[1] + ".0"
        rng = Random(f"{seed} {identity}")
        self.warp_size = rng.choice((32, 64))  # one for all cases: legacy compiles it in
        self._has_warp_size = found.launch.warp_size != "32"  # compiled in, or an argument
        self.constants: tuple[int, ...] = ()  # compiled in as well
        if found.folds_constants:
            self.constants = tuple(i for i in range(len(self.types)) if rng.random() < 0.2)
        self._key = int.from_bytes(hashlib.sha256(f"{seed} {identity}".encode()).digest()[:8], "little")

    @cached_property
    def sampler(self) -> _native.Sampler:
        """What draws the calls."""
        fixed = {"warp_size": self.warp_size} if self._has_warp_size else {}
        kinds = _kinds(self.dialect, self.types)
        return _native.Sampler(_recipe(self.dialect), self.types, kinds, fixed, self._key)

    def spec(self) -> generator.LauncherSpec:
        """What the generator needs to know of the cases: one launcher serves all."""
        spec = generator.LauncherSpec(self.dialect, self.signature, constants=self.constants)
        return replace(spec, warp_size=self.warp_size) if self._has_warp_size else spec

    def call(self, number: int) -> Call:
        call: Call = self.sampler.call(number)[0]
        return call

    def case(self, number: int) -> Case:
        return self.of_call(number, self.call(number))

    def of_call(self, number: int, call: Call) -> Case:
        """The case with that number, whose call is known."""
        name = f"{self._prefix}-{number}"
        return Case(name, self._release, self.backend, self.signature, call, constants=self.constants)


def sample(dialect: str, signature: Any, count: int, seed: int) -> Iterator[Case]:
    """The first `count` cases for a signature given as nested lists or tuples of types.

    Raise `generator.UnknownType` where the dialect's launcher cannot be made.
    """
    source = Source(dialect, signature, seed)
    for i in range(count):
        yield source.case(i)


def _kinds(dialect: str, types: Signature) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in types:
        if isinstance(kind, tuple):
            found.update(_kinds(dialect, kind))
        elif kind not in found:
            found[kind] = _alternatives(dialect, "*i8" if kind.startswith("*") else kind)
    return found


@lru_cache(maxsize=1024)
def _alternatives(dialect: str, kind: str) -> tuple[Any, Any]:
    """Valid and odd arguments of one type, each told whether an entry of the divergence list may hold with it."""
    base = _base(dialect)

    def put(call: Call, argument: Any) -> Call:
        return {**call, "args": [argument]}

    def marked(rules: Rules) -> Any:
        listed = partial(_listed, dialect, (kind,), base[:1], put=put)
        return _native.Alternatives([_marked(rule, listed) for rule in rules])

    return marked(values.valid(kind, dialect)), marked(values.odd(kind, dialect))


def halves(source: Source) -> list[tuple[tuple[int, ...], int, bool]]:
    """Each fp16 and bf16 that is a parameter: the argument with the items of tuples that lead to it, the place of the
    parameter, and whether it is a bf16."""
    found: list[tuple[tuple[int, ...], int, bool]] = []
    slot = 0

    def walk(kind: Any, path: tuple[int, ...]) -> None:
        nonlocal slot
        if isinstance(kind, tuple):
            for i, inner in enumerate(kind):
                walk(inner, (*path, i))
        elif kind != "constexpr":
            if kind in HALVES:
                found.append((path, slot, kind == "bf16"))
            slot += 1

    for i, kind in enumerate(source.types):
        if i not in source.constants:
            walk(kind, (i,))
    return found


def rewritten(dialect: str) -> Divergence | None:
    """The entry of the list that native code applies itself: it wants nothing but the rewrite REWRITE of the call."""
    base = generator.base_of(dialect)
    wanted = (((REWRITE, None),), ())
    every = (entry for entry in divergences() if base in entry.dialects)
    return next((entry for entry in every if (entry.rewrite_call, entry.rewrite_outcome) == wanted), None)


def _listed(dialect: str, types: Signature, base: Base, part: Any, put: Any) -> bool:
    """Whether an entry of the divergence list, that of the rewrite apart, holds for a plain call that this part is put
    into.

    Without a legacy launcher none does: what ours must do is worked out.
    """
    if generator.facts(dialect).native:
        return False
    backend = generator.facts(dialect).backend
    entries = _others(dialect, types)
    situations = (Situation(dialect, backend, types, put(call, part)) for call in base)
    return any(entry.holds_for_call(situation) for situation in situations for entry in entries)


@lru_cache(maxsize=1024)
def _others(dialect: str, types: Signature) -> tuple[Divergence, ...]:
    """The entries that calls of these types can meet, without that of the rewrite."""
    return tuple(entry for entry in possible(dialect, types) if entry is not rewritten(dialect))


def _marked(rule: Any, listed: Any) -> Any:
    """The rule as native/draw.hpp takes it: each value with its mark, or one mark for all that the rule gives."""
    weight, name, *rest = rule
    if name == "values":
        return weight, name, [(value, listed(value)) for value in rest[0]]
    return weight, name, *rest, any(listed(probe) for probe in _probes(name, rest))


def _probes(name: str, rest: list[Any]) -> list[Any]:
    """Arguments that stand for all that a rule gives."""
    if name == "int":
        return [rest[0], rest[1]]
    if name == "tensor":
        return [{"tensor": hex(base + steps)} for base in rest[0] for steps in (0, rest[1] * (rest[2] - 1))]
    if name == "bytes":
        return [{"tensormap": "00" * rest[0]}]
    probes = {"uniform": (-1000.0, 0.1, 1000.0), "single": (0.1, 1e30), "half": (0.1, 65503.0)}
    return [values.real(value) for value in probes[name]]


def _base(dialect: str) -> Base:
    """Plain calls with hooks: one CTA and a context, and 16 without one, each with every set of launch flags."""
    plain = {"grid": [1, 1, 1], "stream": "0x0", "function": "0xf00", "enter": "ok", "exit": "ok", "args": [None]}
    flags = _flags(dialect)
    return tuple(
        {
            **plain,
            "metadata": _metadata(dialect, 4, ctas, 0),
            "no_context": none,
            **dict(zip(flags, values, strict=True)),
        }
        for values in product((False, True), repeat=len(flags))
        for ctas, none in ((1, False), (16, True))
    )


def _flags(dialect: str) -> list[str]:
    return [flag.name for flag in generator.facts(dialect).prefix if flag.name in ("cooperative", "pdl")]


def _metadata(dialect: str, warps: Any, ctas: Any, shared: Any, cluster: list[Any] | None = None) -> list[Any]:
    """kernel_metadata; the cluster has all CTAs along x where none is given."""
    clusters = len(generator.facts(dialect).metadata.elements) == _WITH_CLUSTER
    return [warps, ctas, shared, *((cluster or [ctas, 1, 1]) if clusters else [])]


@lru_cache(maxsize=64)
def _recipe(dialect: str) -> _native.Recipe:
    """What calls of the dialect are drawn from, arguments apart."""
    found = generator.facts(dialect)
    base = _base(dialect)

    def put(call: Call, change: Call) -> Call:
        return {**call, **change}

    def listed(change: Call) -> bool:
        """Each member by itself too: another disturbance may replace the others."""
        members = [{name: value} for name, value in change.items()]
        parts = members if len(members) == 1 else [change, *members]
        return any(_listed(dialect, ("*i8",), base, part, put) for part in parts)

    def drawn(name: str, *rules: Any) -> tuple[str, Any]:
        return name, _native.Alternatives([_marked(rule, lambda value: listed({name: value})) for rule in rules])

    plain = (35, "values", [None]), (10, "values", [135239930216448]), (10, "values", [{"tensor": "0x7a0000000000"}])
    given = {
        "fields": [
            drawn("grid", (96, "values", _plain_grids()), (4, "values", _OTHER_GRIDS)),
            drawn("stream", (1, "values", _STREAMS)),
            drawn("function", (1, "values", ["0xf00", "0x7f1234567890"])),
            drawn("metadata", (1, "values", _plain_metadata(dialect))),
            drawn("enter", (1, "values", ["none", "ok"])),
            drawn("exit", (1, "values", ["none", "ok"])),
        ],
        "options": [
            *(drawn(name, (4, "values", [False]), (1, "values", [True])) for name in _flags(dialect)),
            *(drawn(name, *plain) for name in found.scratch),
        ],
        "disturbances": [
            (36, "argument"),
            (5, "count"),
            *((weight, [(change, listed(change)) for change in changes]) for weight, changes in _changes(dialect)),
        ],
        "extra": _native.Alternatives([_marked((1, "values", _EXTRA), lambda _: False)]),
    }
    return _native.Recipe(given)


def _plain_grids() -> list[Any]:
    return [list(sizes) for sizes in product((1, 2, 3, 7, 128, 1023, 65535), (1, 1, 2, 3), (1, 1, 2, 3))]


def _plain_metadata(dialect: str) -> list[Any]:
    plain = []
    for warps, ctas, shared in product((1, 2, 4, 8, 16, 32), (1, 1, 1, 1, 2, 4, 8, 16), (0, 128, 49152, 232448)):
        plain.append(_metadata(dialect, warps, ctas, shared))
        if len(plain[-1]) == _WITH_CLUSTER and ctas > 1:
            plain += [_metadata(dialect, warps, ctas, shared, one) for one in ([ctas // 2, 2, 1], [1, 1, ctas])]
    return plain


def _changes(dialect: str) -> Iterator[tuple[int, list[Call]]]:
    """What disturbs a call besides its arguments: weights, and the members that are put into it."""
    found = generator.facts(dialect)
    yield 7, [{"grid": grid} for grid in _EMPTY_GRIDS]
    yield 2, [{"grid": grid} for grid in _NEGATIVE_GRIDS]
    yield 1, [{"grid": grid, "metadata": _metadata(dialect, 4, 1, 0)} for grid in _WRAPPED_GRIDS]
    yield 1, [{"grid": [_LARGEST, 1, 1], "metadata": _metadata(dialect, 4, ctas, 0)} for ctas in (1, 1, 2, 4, 16)]
    yield 4, [{"grid": [*[1] * place, size, *[1] * (2 - place)]} for size in _ODD_DIMENSIONS for place in range(3)]
    yield 5, [{"metadata": metadata} for metadata in _odd_metadata(dialect)]
    odd_streams = [None, {"float": "0x1.0p+0"}, {"index": 1}, {"str": "0"}, -1, 2**64 + 5, True]
    yield 3, [{"stream": stream} for stream in odd_streams]
    yield 6, [{"enter": "raise"}, {"exit": "raise"}]
    if found.scratch:
        yield 3, [{name: one} for name in found.scratch for one in _odd_scratch()]
    calls = _LAUNCH_CALLS.get(found.backend) or tuple(way.function for way in found.launch.ways)
    yield 8, [{"fail": [*fail]} for fail in product(calls, (0, 0, 0, 1), _STATUSES)]
    yield 7, [{"fail": [found.pointers.query, n, s]} for n, s in product((0, 0, 1, 1, 2, 5), _STATUSES)]
    if found.backend == "cuda":
        yield 5, [{"no_context": True}]
        failures = [{"fail": ["cuFuncSetAttribute", n, s]} for n, s in product((0, 0, 0, 1), _STATUSES)]
        yield 3, [{**one, **more} for one in failures for more in ({}, {"metadata": _metadata(dialect, 4, 16, 0)})]
        yield (
            2,
            [
                {"fail": [name, n, status], "no_context": n % 10 != 9}
                for name, n, status in product(_CONTEXT_CALLS, (0, 0, 0, 1), _STATUSES)
            ],
        )
        yield 1, [{"fail": [name, 0, 2], "no_context": False} for name in _CONTEXT_CALLS]


def _odd_scratch() -> list[Any]:
    odd_ones = [value for rule in values.ODD_POINTERS if rule[1] == "values" for value in rule[2]]
    tensors = [{"tensor": hex(at)} for at in (0, 0x7F0000000010, 0x910000001010, 0xBA0000000010, 0x5E0000000010)]
    return [*tensors, *odd_ones]


def _odd_metadata(dialect: str) -> list[Any]:
    warps, shared = 4, 128
    odd_ones: list[Any] = [None, {"str": "abc"}, {"str": "abcdef"}, 3]
    clusters = len(generator.facts(dialect).metadata.elements) == _WITH_CLUSTER
    for ctas in (1, 2, 16):
        for rest in [[ctas, 1, 1], [1, ctas, 1], [0, 1, 1], [2, -1, 1]] if clusters else [[]]:
            odd_ones += [
                {"list": [warps, ctas, shared, *rest]}, [warps, ctas], [warps, ctas, shared, *rest, 0],
                [{"str": "x"}, ctas, 0, *rest], [warps, {"index": ctas}, shared, *rest],
                [warps, ctas, 2**31, *rest], [warps, None, shared, *rest],
                [True, ctas, {"index": 0}, *rest], [{"float": "0x1.0p+2"}, ctas, shared, *rest],
                [warps, 0, shared, *rest], [warps, -1, shared, *rest],
                [0, ctas, shared, *rest], [2**31 - 1, ctas, -1, *rest], [-1, 1, -(2**31), *rest],
            ]  # fmt: skip
    return odd_ones
