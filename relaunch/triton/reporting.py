"""What was taken and what went to Triton's own launcher, by kernel."""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any


class FallBackError(RuntimeError):
    """With strict=True: a kernel that would have gone to Triton's own launcher."""


class FallBackWarning(UserWarning):
    """A kernel went to Triton's own launcher; said once for each reason."""


@dataclass(frozen=True)
class Report:
    """Kernels by name, each with how many launcher objects were made for it since the report was last forgotten.

    fallen_back: (kernel, reason) -> count. unchecked: those of `taken` whose binary was not at hand to be compared with
    the signature. backends: what became of each backend's launcher class; empty when nothing is installed.
    """

    taken: dict[str, int]
    fallen_back: dict[tuple[str, str], int]
    unchecked: dict[str, int]
    backends: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        reasons = [{"kernel": k, "reason": r, "count": n} for (k, r), n in self.fallen_back.items()]
        return {
            "taken": self.taken,
            "fallen_back": reasons,
            "unchecked": self.unchecked,
            "backends": self.backends,
        }

    def __str__(self) -> str:
        lines = [f"backend {name}: {what}" for name, what in self.backends.items()]
        lines.append(f"taken: {sum(self.taken.values())} launchers of {len(self.taken)} kernels")
        lines += [f"  {count:5d}  {kernel}" for kernel, count in sorted(self.taken.items())]
        if self.unchecked:
            lines.append(f"  not compared with their binary: {', '.join(sorted(self.unchecked))}")
        fallen = sorted(self.fallen_back.items())
        lines.append(
            f"fallen back: {sum(self.fallen_back.values())} launchers of {len({k for (k, _), _ in fallen})} kernels"
        )
        lines += [f"  {count:5d}  {kernel}: {reason}" for (kernel, reason), count in fallen]
        return "\n".join(lines)


_lock = threading.Lock()
_taken: Counter[str] = Counter()
_unchecked: Counter[str] = Counter()
_fallen_back: Counter[tuple[str, str]] = Counter()
_warned: set[str] = set()
backends: dict[str, str] = {}
"""By name of the backend; written by installation."""


def note_taken(kernel: str, checked: bool) -> None:
    with _lock:
        _taken[kernel] += 1
        if not checked:
            _unchecked[kernel] += 1


def note_fall_back(kernel: str, reason: str, strict: bool) -> None:
    """Counts it and warns once for the reason; raises FallBackError instead of warning where `strict`."""
    with _lock:
        _fallen_back[kernel, reason] += 1
        is_new = reason not in _warned
        _warned.add(reason)
    text = f"{kernel} is left to Triton's own launcher: {reason}"
    if strict:
        raise FallBackError(text)
    if is_new:
        warnings.warn(f"{text} (said once; relaunch.triton.report() lists all)", FallBackWarning, stacklevel=2)


def report() -> Report:
    """What happened since the start, or since forget_report()."""
    with _lock:
        return Report(dict(_taken), dict(_fallen_back), dict(_unchecked), dict(backends))


def forget_report() -> None:
    """Counts begin anew, and each reason is warned of once more."""
    with _lock:
        for counts in (_taken, _unchecked, _fallen_back):
            counts.clear()
        _warned.clear()
