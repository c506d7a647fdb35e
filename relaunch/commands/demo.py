"""`relaunch demo`: real signatures migrated, their legacy launchers rebuilt, and both launchers compared."""

from __future__ import annotations

import math
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from relaunch.commands.diff import FAULTS, JOBS, compare, known_dialects

SIGNATURES = Path("tests/signatures/signatures.jsonl")


def demo(
    file: Annotated[Path, typer.Argument(help="Signatures, one a line.")] = SIGNATURES,
    comparisons: Annotated[
        int, typer.Option("--comparisons", min=1, help="At least so many, over both dialects.")
    ] = 20_000,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same cases everywhere.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = JOBS,
) -> None:
    """The main job on real signatures: migrate, regenerate, build, run both launchers, compare."""
    from rich.console import Console

    from relaunch.differential import report
    from relaunch.differential.diff import supported
    from relaunch.differential.signatures import read_file

    if not file.is_file():
        typer.echo(f"no file {file}: run this in a checkout, or name a file of signatures", err=True)
        raise typer.Exit(2)
    dialects = known_dialects([])
    began = time.monotonic()
    given = list(read_file(file))
    migrated = [entry for entry in given if entry.types is not None]
    signatures = list(dict.fromkeys(entry.types for entry in migrated if entry.types is not None))
    for dialect in dialects:
        signatures = supported(dialect, signatures)[0]
    if not signatures:
        typer.echo(f"{file} holds no signature that every dialect has a launcher for", err=True)
        raise typer.Exit(2)
    cases = math.ceil(comparisons / (len(signatures) * len(dialects)))

    console = Console(highlight=False)
    forms = Counter(entry.form for entry in migrated)
    console.print(f"{len(migrated)} of {len(given)} signatures in {file} migrated: {_counted(forms)}", soft_wrap=True)
    console.print(f"{len(signatures)} distinct ones that {' and '.join(dialects)} both take", soft_wrap=True)
    tallies = compare(dialects, signatures, cases=cases, seed=seed, jobs=jobs)
    stored = report.store([fault for tally in tallies for fault in tally.faults], FAULTS)
    total = sum(tally.cases for tally in tallies)
    seconds = time.monotonic() - began
    title = f"{total:,} calls made by a legacy launcher and by the precompiled one ({seconds:.0f} s, seed {seed})"
    report.show(tallies, title=title, stored=stored)
    console.print(_deeper(file, seed), markup=False, soft_wrap=True)
    if stored:
        raise typer.Exit(1)


def _counted(forms: Counter[str]) -> str:
    return ", ".join(f"{count} {form}" for form, count in forms.most_common())


def _deeper(file: Path, seed: int) -> str:
    return f"""
Go deeper:
  your own signature   ./run relaunch diff '*fp32, i32, constexpr, (i32, *fp16)' --cases 10000
  more of these        ./run relaunch diff {file} --cases 500 --seed {seed + 1}
  what was recorded    ./run relaunch replay tests/golden/triton-3.6.0-cuda.jsonl --launcher precompiled
  legacy C, as built   ./run relaunch generate --dialect triton-3.6-cuda '*fp32, i32'
  the list, reasoned   docs/divergences.md"""
