"""What was deduced from source and CPython's rules, and what recorded calls say of it.

Examples, by dialect, are in recordings.json: a test looks each of them up in tests/golden again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from relaunch.generator.facts import Facts

Verdict = Literal["confirmed", "contradicted", "in part", "not met"]


@dataclass(frozen=True)
class Deduction:
    """One question that the source alone leaves open. `dialects`: (backend, first release, last release)."""

    key: str
    question: str
    deduced: str
    recorded: str
    verdict: Verdict
    dialects: tuple[tuple[str, float, float], ...]

    def concerns(self, found: Facts) -> bool:
        """Whether the question arises in a dialect."""
        releases = [float(release) for release in found.releases]
        return any(
            backend == found.backend and first <= release <= last
            for backend, first, last in self.dialects
            for release in releases
        )


_EVERY = (("cuda", 3.0, 3.9), ("hip", 3.0, 3.9))
_NOT_MET = "no recorded call meets this"

DEDUCTIONS: tuple[Deduction, ...] = (
    Deduction(
        "wrapped-grid",
        "the grid's product passes 2^31",
        "undefined in C; wraps in practice",
        "it wraps: such grids are skipped without an error",
        "confirmed",
        _EVERY,
    ),
    Deduction(
        "negative-result",
        "`data_ptr()` gives a negative int",
        "the all-ones address is asked about; ValueError",
        "so it is: ValueError",
        "confirmed",
        _EVERY,
    ),
    Deduction(
        "raising-data-ptr",
        "`data_ptr()` raises",
        "the process dies",
        "it dies",
        "confirmed",
        (("cuda", 3.0, 3.4), ("hip", 3.0, 3.6)),
    ),
    Deduction(
        "missing-data-ptr",
        "an object has no `data_ptr`",
        "the process dies",
        "it dies",
        "confirmed",
        (("hip", 3.5, 3.6),),
    ),
    Deduction(
        "bad-int-then-object",
        "an int pointer is out of range, a later pointer is an object",
        "the process dies",
        "it dies, or the pending error is lost on the way and the call is launched without an error",
        "in part",
        (("cuda", 3.0, 3.4), ("hip", 3.0, 3.6)),
    ),
    Deduction(
        "bad-int-then-object-refused",
        "an int pointer is out of range, a later pointer is an object",
        "TypeError before the launch",
        "TypeError and no launch",
        "confirmed",
        (("cuda", 3.5, 3.6),),
    ),
    Deduction(
        "bad-int-then-object-native",
        "an int pointer is out of range, a later pointer is an object",
        "TypeError before the launch",
        "TypeError, the OverflowError, or a launch without an error: it depends on what is asked next",
        "in part",
        (("cuda", 3.7, 3.9), ("hip", 3.7, 3.9)),
    ),
    Deduction(
        "early-overflow",
        "an fp16 overflows, and its error is pending while hooks and `data_ptr()` run",
        "they fail or the process dies, before the launch",
        "the error was lost: a launch without an error",
        "contradicted",
        (("hip", 3.5, 3.5),),
    ),
    Deduction(
        "early-overflow-unmet",
        "an fp16 overflows, and its error is pending while hooks and `data_ptr()` run",
        "they fail or the process dies, before the launch",
        _NOT_MET,
        "not met",
        (("hip", 3.4, 3.4),),
    ),
    Deduction(
        "exit-hook-with-error",
        "the launch fails and the exit hook runs with its error pending",
        "SystemError with the first error as its cause, or the first error itself",
        "SystemError caused by the RuntimeError, or no error at all: it depends on the hook",
        "in part",
        (("hip", 3.0, 3.9),),
    ),
    Deduction(
        "wrong-tdm",
        "a descriptor argument of another type",
        "the process dies",
        _NOT_MET,
        "not met",
        (("hip", 3.6, 3.6),),
    ),
    Deduction(
        "shared-memory-mode",
        "the value of attribute 18",
        "1",
        "3, wherever shared memory is larger than 233,472 bytes",
        "contradicted",
        (("cuda", 3.8, 3.9),),
    ),
    Deduction(
        "five-attributes",
        "all five attributes are set",
        "the fifth is written past the array",
        "all five arrive; what the write hits does not show",
        "in part",
        (("cuda", 3.8, 3.9),),
    ),
    Deduction(
        "number-in-error",
        "the number in the text about an address that the device cannot reach",
        "any number: none is passed",
        "1 in every recorded call",
        "in part",
        (("hip", 3.7, 3.9),),
    ),
    Deduction(
        "nan-payload",
        "a bf16 from a NaN whose payload is in the lower half of its float",
        "becomes infinity",
        _NOT_MET,
        "not met",
        (("cuda", 3.4, 3.9), ("hip", 3.4, 3.9)),
    ),
    Deduction(
        "missing-symbol",
        "the driver lacks `cuLaunchKernelEx`",
        "the process dies",
        _NOT_MET,
        "not met",
        (("cuda", 3.0, 3.9),),
    ),
    Deduction(
        "unknown-type-byte",
        "`kernel_signature` has a byte that stands for no type",
        "SystemError",
        _NOT_MET,
        "not met",
        (("cuda", 3.7, 3.9), ("hip", 3.7, 3.9)),
    ),
)


@cache
def recordings() -> Mapping[str, Mapping[str, Mapping[str, list[str]]]]:
    """Ids of recorded calls: of "faults" and "deductions", by dialect, then name."""
    found: Mapping[str, Mapping[str, Mapping[str, list[str]]]]
    found = json.loads(Path(__file__).with_name("recordings.json").read_text("utf-8"))
    return found
