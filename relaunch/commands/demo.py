"""`relaunch demo`: real signatures migrated, their legacy launchers rebuilt, and both launchers compared."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relaunch.commands.diff import FAULTS, JOBS, SHRINK, compare, store

if TYPE_CHECKING:
    from relaunch.differential.case import Signature

SIGNATURES = Path("tests/signatures/signatures.jsonl")


def demo(
    file: Annotated[Path, typer.Argument(help="Signatures, one a line.")] = SIGNATURES,
    comparisons: Annotated[
        int, typer.Option("--comparisons", min=1, help="At least so many, over all dialects.")
    ] = 20_000,
    most: Annotated[int, typer.Option("--signatures", min=1, help="At most so many for each dialect.")] = 60,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same cases everywhere.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = JOBS,
) -> None:
    """The main job on real signatures: migrate, regenerate, build, run both launchers, compare."""
    from rich.console import Console

    from relaunch import generator
    from relaunch.differential import report
    from relaunch.differential.diff import supported
    from relaunch.differential.signatures import read_file

    if not file.is_file():
        typer.echo(f"no file {file}: run this in a checkout, or name a file of signatures", err=True)
        raise typer.Exit(2)
    began = time.monotonic()
    given = list(read_file(file))
    migrated = [entry for entry in given if entry.types is not None]
    distinct = list(dict.fromkeys(entry.types for entry in migrated if entry.types is not None))
    chosen = {dialect: spread(supported(dialect, distinct)[0], most) for dialect in generator.dialects()}
    total = sum(map(len, chosen.values()))
    if not total:
        typer.echo(f"{file} holds no signature that a dialect has a launcher for", err=True)
        raise typer.Exit(2)

    console = Console(highlight=False)
    forms = Counter(entry.form for entry in migrated)
    console.print(f"{len(migrated)} of {len(given)} signatures in {file} migrated: {_counted(forms)}", soft_wrap=True)
    console.print(f"{len(distinct)} distinct ones, at most {most} for each of {len(chosen)} dialects", soft_wrap=True)
    tallies = compare(chosen, cases=math.ceil(comparisons / total), seed=seed, jobs=jobs)
    small = store(tallies, FAULTS, jobs, SHRINK)
    made = sum(tally.cases for tally in tallies)
    seconds = time.monotonic() - began
    title = f"{made:,} calls made by a legacy launcher and by the precompiled one ({seconds:.0f} s, seed {seed})"
    report.show(tallies, title=title, smallest=small, folder=FAULTS)
    console.print(_deeper(file, seed), markup=False, soft_wrap=True)
    if small:
        raise typer.Exit(1)


def spread(signatures: Sequence[Signature], most: int) -> list[Signature]:
    """At most that many of them, from all over."""
    step = max(1, math.ceil(len(signatures) / most))
    return list(signatures[::step])


def _counted(forms: Counter[str]) -> str:
    return ", ".join(f"{count} {form}" for form, count in forms.most_common())


def _deeper(file: Path, seed: int) -> str:
    return f"""
Go deeper:
  your own signature   ./run relaunch diff '*fp32, i32, constexpr, (i32, *fp16)' --cases 10000
  more of these        ./run relaunch diff {file} --dialect triton-3.6-hip --cases 500 --seed {seed + 1}
  what was recorded    ./run relaunch replay tests/golden/triton-3.9.0-cuda.jsonl --launcher precompiled
  legacy C, as built   ./run relaunch generate --dialect triton-3.2-cuda '*fp32, i32'
  the list, reasoned   docs/divergences.md"""
