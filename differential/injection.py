"""Driver calls that fail on demand: every call that a launch makes, made to fail once, with several statuses.

Which calls those are is learnt from the recording driver, which lists them all, the ones it does not record too. Where
no legacy launcher exists, what ours must do is worked out from the input and the released facts (`predicted`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from relaunch.differential.case import Case, Signature
from relaunch.differential.outcome import Outcome

from relaunch import generator

STATUSES = (1, 2, 100, 201, 700, 719, 801, 999)
"""Invalid value, out of memory, no device, invalid context, illegal address, launch failed, not supported, unknown."""

_WITH_CLUSTER = 6  # entries of kernel_metadata up to 3.5
_CTAS = (1, 2, 16)
_SHARED = (0, 233473)  # bytes; so many take an attribute more in some dialects


def clean_calls(dialect: str, signature: Signature, args: list[Any]) -> Iterator[Case]:
    """A launch of these arguments for each combination of options that can change the driver calls made."""
    found = generator.facts(dialect)
    flags = [flag.name for flag in found.prefix if flag.name in ("cooperative", "pdl")]
    contexts = (False, True) if found.backend == "cuda" else (False,)
    choices = product(_CTAS, _SHARED, contexts, *[(False, True)] * len(flags))
    for i, (ctas, shared, no_context, *values) in enumerate(choices):
        metadata = [4, ctas, shared]
        if len(found.metadata.elements) == _WITH_CLUSTER:
            metadata += [ctas, 1, 1]
        call: dict[str, Any] = {
            "grid": [2, 3, 4],
            "stream": "0x10",
            "function": "0xf00",
            "metadata": metadata,
            "enter": "ok",
            "exit": "ok",
            "args": args,
            **dict(zip(flags, values, strict=True)),
            **{name: {"tensor": "0x910000002000"} for name in found.scratch},
        }
        if found.backend == "hip":
            call["warp_size"] = 64
        if no_context:
            call["no_context"] = True
        release = dialect.split("-")[1] + ".0"
        yield Case(f"{found.dialect}-{i}", release, found.backend, signature, call)


def listing(case: Case) -> Case:
    """The case with an outcome that has `calls`, the names of all driver calls in order."""
    return replace(case, call={**case.call, "list_calls": True})


def told_apart(cases: Iterable[Case], learnt: Iterable[tuple[Outcome, ...]]) -> list[tuple[Case, Counter[str]]]:
    """Of cases in which every launcher makes the same calls in the same order the first, with its `occurrences`."""
    found: dict[str, tuple[Case, Counter[str]]] = {}
    for case, outcomes in zip(cases, learnt, strict=True):
        made = json.dumps([outcome["calls"] for outcome in outcomes])
        found.setdefault(made, (case, occurrences(outcomes)))
    return list(found.values())


def occurrences(outcomes: Iterable[Outcome]) -> Counter[str]:
    """How often each driver function is called, at most, in the outcomes of `listing` cases."""
    most: Counter[str] = Counter()
    for outcome in outcomes:
        most |= Counter(outcome["calls"])
    return most


def failures(case: Case, calls: Mapping[str, int], statuses: Iterable[int] = STATUSES) -> Iterator[Case]:
    """The case with each occurrence of each call failing once, with each status."""
    for function, count in calls.items():
        for n, status in product(range(count), statuses):
            call = {**case.call, "fail": [function, n, status]}
            yield replace(case, id=f"{case.id}-{function}-{n}-{status}", call=call)
