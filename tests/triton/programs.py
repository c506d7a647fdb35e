"""The programs of programs/, and running them with and without install()."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.triton.releases import HERE, Bed

OUTCOME = ("events", "printed", "error")
ON_HIP = tuple(
    os.environ.get(
        "TRITON_PROGRAMS_ON_HIP",
        "vector_add compiled_kernel cooperative descriptor_padding descriptor_shapes descriptors_in_tuples fractions"
        " hooks many_arguments no_arguments profile_memory small_floats tuples warps whole_numbers",
    ).split()
)
"""Compiling takes time: all of them run there only where this says "all", as `./run test-releases` does."""


@dataclass(frozen=True)
class Program:
    """A file, and what its head says.

    `# Triton: 3.4-` or `3.3-3.4`: releases. `# Backends: cuda`. `# Differs: 3.7- TITLE`: from that release on, by the
    divergence of that title. `# Falls back: REASON`: for a reason that has these words. `# GPU: no, REASON`: under a
    recording driver alone.
    """

    path: Path
    first: tuple[int, ...]
    last: tuple[int, ...]
    backends: tuple[str, ...]
    differs: str | None
    divergence: str | None
    falls_back: str | None
    on_gpu: bool

    @property
    def name(self) -> str:
        return self.path.stem

    def is_for(self, bed: Bed) -> bool:
        if bed.backend == "hip" and ON_HIP != ("all",) and self.name not in ON_HIP:
            return False
        return bed.backend in self.backends and self.has_release(bed)

    def has_release(self, bed: Bed) -> bool:
        return self.first <= numbers(bed.short) <= self.last

    def may_differ(self, bed: Bed) -> bool:
        return self.differs is not None and numbers(bed.short) >= numbers(self.differs)


def numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def read_head(path: Path) -> Program:
    head = dict(re.findall(r"^# (Triton|Backends|Differs|Falls back|GPU): (.*)$", path.read_text(), re.MULTILINE))
    first, _, last = head.get("Triton", "3.0-").partition("-")
    differs, _, divergence = head.get("Differs", "").partition("- ")
    return Program(
        path,
        numbers(first),
        numbers(last or "9.9"),
        tuple(head.get("Backends", "cuda hip").split()),
        differs or None,
        divergence or None,
        head.get("Falls back"),
        not head.get("GPU", "").startswith("no"),
    )


PROGRAMS = tuple(read_head(path) for path in sorted((HERE / "programs").glob("*.py")))


def outcomes(bed: Bed, names: Collection[str]) -> dict[str, dict[str, dict[str, Any]]]:
    """By mode (plain, installed) and program; all programs of a mode run in one process, plain ones first: what they
    compile, the others find in the cache.
    """
    chosen = [program for program in PROGRAMS if program.name in names and program.is_for(bed)]
    return {mode: _run(bed, mode, chosen) for mode in ("plain", "installed")}


def on_another_device(bed: Bed, names: Collection[str], **environment: str) -> dict[str, dict[str, dict[str, Any]]]:
    """The same of some programs, for whatever backend they are, where the environment makes the device another one."""
    chosen = [program for program in PROGRAMS if program.name in names and program.has_release(bed)]
    return {mode: _run(bed, mode, chosen, **environment) for mode in ("plain", "installed")}


def _run(bed: Bed, mode: str, programs: list[Program], **environment: str) -> dict[str, dict[str, Any]]:
    chosen = [str(one.path) for one in programs]
    done = bed.run(str(HERE / "run_programs.py"), mode, bed.backend, *chosen, **environment)
    if done.returncode != 0:
        raise AssertionError(f"{mode} on {bed} died with {done.returncode}:\n{done.stderr[-3000:]}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["program"]: line for line in lines}
