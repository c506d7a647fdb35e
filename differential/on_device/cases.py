"""Calls for a device: every signature of a dialect, real ones and drawn ones, with arguments that launchers take."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from relaunch.differential import signatures, variadic
from relaunch.differential.case import Case, Signature
from relaunch.differential.diff import supported
from relaunch.differential.sampler import Source
from relaunch.differential.situation import Situation, as_float, expanded, overflows_half
from relaunch.differential.values import FLOATS, INTEGERS
from relaunch.generator.facts import Facts

from relaunch import generator

ARENA_BYTES = 1 << 20
"""Of device memory that the tensors of calls lie in."""

_POINTERS = ("*fp32", "*fp16", "*bf16", "*i64", "*kfp8e4nv", "**i8")
_BY_VALUE = {"cuda": "nvTmaDesc", "hip": "tensordesc"}
_WITH_CLUSTER = 6  # entries of kernel_metadata up to 3.5


def read(path: Path) -> list[Signature]:
    """The distinct signatures of a file, those that cannot be read left out."""
    return list(dict.fromkeys(given.types for given in signatures.read_file(path) if given.types is not None))


def drawn(count: int, seed: int) -> list[Signature]:
    """Distinct signatures of any length up to 40, half of them with tuples and descriptors."""
    rng = Random(f"signatures {seed}")
    found: dict[Signature, None] = {}
    while len(found) < count:
        longest, plain = rng.choice((3, 12, 40)), rng.random() < 0.5
        found[tuple(_entry(rng, 0, plain) for _ in range(rng.randrange(longest + 1)))] = None
    return list(found)


def _entry(rng: Random, level: int, plain: bool) -> Any:
    roll = rng.random()
    if roll < 0.1 and level < 4 and not plain:
        return tuple(_entry(rng, level + 1, plain) for _ in range(rng.randrange(5)))
    if roll < 0.14 and not plain:
        return rng.choice((*_BY_VALUE.values(), "tensordesc<fp16[64, 64]>"))
    if roll < 0.2:
        return "constexpr"
    if roll < 0.45:
        return rng.choice(_POINTERS)
    return rng.choice((*INTEGERS, *FLOATS))


def taken(dialect: str, given: Iterable[Signature]) -> list[Signature]:
    """What of the signatures the dialect takes. A dialect without constexpr entries sees a signature without them,
    and one with another by-value descriptor that one."""
    found = generator.facts(dialect)
    fitted = dict.fromkeys(_fitted(one, found.takes_constexpr, _BY_VALUE[found.backend]) for one in given)
    return supported(dialect, fitted)[0]


def _fitted(signature: Signature, with_constexpr: bool, by_value: str) -> Signature:
    entries: list[Any] = []
    for entry in signature:
        if not isinstance(entry, str):
            entries.append(_fitted(entry, with_constexpr, by_value))
        elif entry in _BY_VALUE.values():
            entries.append(by_value)
        elif with_constexpr or entry != "constexpr":
            entries.append(entry)
    return tuple(entries)


def draw(dialect: str, given: Iterable[Signature], count: int, seed: int) -> Iterator[Case]:
    """`count` calls for each signature, all of which the dialect must take. Their grids are small, tensors have
    addresses that `placed` moves, and the function is to be filled in."""
    found = generator.facts(dialect)
    for signature in given:
        identity = json.dumps([dialect, signature], separators=(",", ":"))
        name = hashlib.sha256(identity.encode()).hexdigest()[:8]
        rng = Random(f"{seed} {identity}")
        types = expanded(dialect, signature)
        constants = tuple(i for i in range(len(types)) if rng.random() < 0.2) if found.folds_constants else ()
        sampler, numbers = Source(dialect, signature, seed).sampler, itertools.count()
        warp_size = rng.choice((32, 64))  # one for all calls: legacy compiles it in
        release = f"{dialect.split('-')[1]}.0"
        for i in range(count):
            case = None
            while case is None or _refused(case):
                call = _options(found, rng, warp_size)
                call["args"] = sampler.call(next(numbers), disturbed=False)[0]["args"]
                case = Case(f"{dialect}-{name}-{seed}-{i}", release, found.backend, signature, call, constants)
            yield case


def _refused(case: Case) -> bool:
    """Whether a launcher refuses some argument: an fp16 that overflows, or what native ones do not mask."""
    situation = Situation.of(case)
    for leaf in situation.leaves():
        value = as_float(leaf.argument) if leaf.type == "fp16" else None
        if value is not None and overflows_half(value):
            return True
    return situation.facts().native and variadic.worked_out(situation)[1] is not None


def _options(found: Facts, rng: Random, warp_size: int) -> dict[str, Any]:
    ctas = rng.choice((1, 1, 1, 2, 4))
    metadata = [rng.choice((1, 2, 4, 8)), ctas, rng.choice((0, 128, 49152, 65536, 101376))]
    if len(found.metadata.elements) == _WITH_CLUSTER:
        metadata += rng.choice(((ctas, 1, 1), (1, ctas, 1), (1, 1, ctas)))
    call: dict[str, Any] = {
        "grid": [rng.choice((1, 2, 5)), rng.choice((1, 1, 3)), rng.choice((1, 1, 2))],
        "stream": "0x0",
        "function": "0x0",
        "metadata": metadata,
        "enter": rng.choice(("none", "ok")),
        "exit": rng.choice(("none", "ok")),
    }
    for flag in found.prefix:
        if flag.name in ("cooperative", "pdl"):
            call[flag.name] = rng.random() < 0.25
    if found.backend == "hip":
        call["warp_size"] = warp_size
    for scratch in found.scratch:
        call[scratch] = rng.choice((None, {"tensor": hex(16 * rng.randrange(1, 4096))}, 4096))
    return call


def placed(argument: Any, base: int) -> Any:
    """A call's JSON, or part of it, with every tensor at an address of the arena; a null one stays null."""
    if isinstance(argument, list):
        return [placed(item, base) for item in argument]
    if not isinstance(argument, dict):
        return argument
    return {kind: _moved(kind, value, base) for kind, value in argument.items()}


def _moved(kind: str, value: Any, base: int) -> Any:
    if kind in ("tensor", "dlpack"):
        address = int(value, 16)
        return hex(_inside(address, base) if address else 0)
    if kind == "tensor_returns" and isinstance(value, int):
        return _inside(int(value), base) if value else value
    return placed(value, base)


def _inside(address: int, base: int) -> int:
    return base + address % ARENA_BYTES // 16 * 16
