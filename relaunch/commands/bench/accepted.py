"""What a launch may cost in instructions: the last accepted counts of each build, and the ratios that hold on all."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from relaunch.commands.bench.figures import PROGRAMS, Figure, first_line, python_build
from relaunch.commands.bench.instructions import LAUNCH, RAMP, slopes

ACCEPTED = PROGRAMS / "accepted.json"
ALLOWED_RISE = 0.02
# (arguments, pointers) -> how many times the generated launcher's instructions are those of the precompiled one.
RATIOS = {(0, "none"): 1.5, (58, "dlpack"): 4.0, (58, "object"): 1.5}
MOST_PER_INT = 35.0
LINEAR = 1.05  # how much more an int may cost in a long signature than in a short one
HOW_TO_ACCEPT = "a rise that is wanted is accepted by ./run bench instructions --accept"


def build_key() -> str:
    """The builds that counts depend on: interpreter, compiler and C library."""
    compiler, library = first_line("g++", "--version"), " ".join(platform.libc_ver())
    return f"{python_build()} ({' '.join(platform.python_build())}); {compiler}; {library}"


def key_of(figure: Figure) -> str:
    return f"{figure.what}, {figure.size} arguments, pointers {figure.pointers}"


def counts_of(figures: Sequence[Figure]) -> dict[str, int]:
    """The counts that are accepted or not: those of the precompiled launcher."""
    return {key_of(f): round(f.value) for f in figures if f.unit == LAUNCH and f.what.startswith("precompiled")}


def load(path: Path = ACCEPTED) -> dict[str, dict[str, int]]:
    """The accepted counts of every build."""
    if not path.exists():
        return {}
    found: dict[str, dict[str, int]] = json.loads(path.read_text())
    return found


def accept(figures: Sequence[Figure], path: Path = ACCEPTED) -> None:
    """Makes these the accepted counts of this build."""
    builds = {**load(path), build_key(): counts_of(figures)}
    path.write_text(json.dumps(builds, indent=1, sort_keys=True) + "\n")


def rises(counts: Mapping[str, int], accepted: Mapping[str, int]) -> list[str]:
    """A line for each count that rose by more than is allowed."""
    lines = []
    for key, count in counts.items():
        before = accepted.get(key, count)
        if count > before * (1 + ALLOWED_RISE):
            rise = f"{count:,} instructions, accepted are {before:,} (+{count / before - 1:.1%})"
            lines.append(f"{key}: {rise}; {HOW_TO_ACCEPT}")
    return lines


def ratios(figures: Sequence[Figure]) -> list[Figure]:
    """Generated over precompiled, for every pair that was counted."""
    found = {(f.what, f.size, f.pointers): f.value for f in figures if f.unit == LAUNCH}
    return [
        Figure(f"generated / {what}", size, pointers, found["generated", size, pointers] / value, "times")
        for (what, size, pointers), value in found.items()
        if what.startswith("precompiled") and ("generated", size, pointers) in found
    ]


def broken_bounds(figures: Sequence[Figure]) -> list[str]:
    """A line for each bound that these counts do not keep, on whatever build; a bound without counts is none."""
    lines = []
    for ratio in ratios(figures):
        least = RATIOS.get((ratio.size, ratio.pointers), 0.0)
        if ratio.value < least:
            lines.append(f"{key_of(ratio)}: {ratio.value:.2f}, at least {least} wanted")
    steps = slopes(figures)
    for step in steps:
        if step.value > MOST_PER_INT:
            lines.append(f"{step.what}: {step.value:.1f} instructions, at most {MOST_PER_INT:.0f} wanted")
        if step.value > LINEAR * steps[0].value:
            lines.append(f"{step.what}: {step.value:.1f} instructions, not linear: {steps[0].value:.1f} before")
    return lines


def findings(figures: Sequence[Figure], builds: Mapping[str, Mapping[str, int]]) -> list[str]:
    """What is wrong with these counts: rises where this build has accepted ones, and bounds that are not kept."""
    return rises(counts_of(figures), builds.get(build_key(), {})) + broken_bounds(figures)


def is_complete(figures: Sequence[Figure]) -> bool:
    """Whether every bound has the counts that it is about."""
    found = {(ratio.size, ratio.pointers) for ratio in ratios(figures)}
    return set(RATIOS) <= found and {step.size for step in slopes(figures)} == set(RAMP[1:])
