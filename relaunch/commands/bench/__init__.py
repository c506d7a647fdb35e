"""`relaunch bench`: what a launch costs in instructions and in time, and binding a signature. In a checkout only."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from relaunch.commands.bench import accepted, instructions
from relaunch.commands.bench.binding import bind_figures, bind_findings
from relaunch.commands.bench.building import building as building_verb
from relaunch.commands.bench.device import device as device_verb
from relaunch.commands.bench.figures import FOLDER, SIZES, Figure, UnfitError, machine, need, progress, tables
from relaunch.commands.bench.triton import triton as triton_verb

bench = typer.Typer(invoke_without_command=True)

Json = Annotated[bool, typer.Option("--json", help="One object a line, on standard output.")]
Turns = Annotated[
    int, typer.Option("--turns", min=1, help="Launches in the shorter loop; the longer has three times as many.")
]
Repeats = Annotated[
    int, typer.Option("--repeats", min=1, help="Builds with gcc per signature; binds are 1000 times as many.")
]


@contextmanager
def fit() -> Iterator[None]:
    """What is missing here ends the command with exit code 2 and one line that names it."""
    from relaunch.generator import ToolchainError

    try:
        yield
    except (UnfitError, ToolchainError) as error:
        typer.echo(f"relaunch bench: {error}", err=True)
        raise typer.Exit(2) from error


def recorder_path() -> Path:
    """The recording driver that launches are counted over."""
    from relaunch.differential import recorder

    return Path(recorder.path("cuda"))


def count(turns: int) -> list[Figure]:
    """Instructions per launch of every launcher, size and kind of pointers, and of one more int."""
    need("valgrind", "gcc")
    FOLDER.mkdir(parents=True, exist_ok=True)
    todo = [*instructions.cases(FOLDER, list(SIZES), instructions.LAUNCHERS, instructions.POINTERS)]
    todo += instructions.ramp()
    progress(f"{len(todo)} loops under callgrind")
    figures = instructions.count_all(todo, recorder_path(), turns, jobs=os.cpu_count() or 1)
    return instructions.count_floors(FOLDER, list(SIZES), recorder_path(), turns) + figures


def shown_counts(figures: Sequence[Figure]) -> list[Figure]:
    """The counts in the order of the tables: lengths of the ramp last, summed up as slopes."""
    of_sizes = [figure for figure in figures if figure.size in SIZES]
    return of_sizes + accepted.ratios(of_sizes) + instructions.slopes(figures)


def time_binds(repeats: int) -> list[Figure]:
    """The time to bind, for both launchers."""
    need("gcc")
    FOLDER.mkdir(parents=True, exist_ok=True)
    return bind_figures(FOLDER, recorder_path(), repeats)


def report(figures: Sequence[Figure], findings: Sequence[str], as_json: bool) -> None:
    """Prints figures and findings; exit 1 where there are findings."""
    if as_json:
        typer.echo(json.dumps({"machine": machine()}))
        for figure in figures:
            typer.echo(json.dumps(dataclasses.asdict(figure)))
        for line in findings:
            typer.echo(json.dumps({"finding": line}))
    else:
        for key, value in machine().items():
            typer.echo(f"{key}: {value}")
        for line in tables(figures):
            typer.echo(line)
    for line in findings:
        typer.echo(f"relaunch bench: {line}", err=True)
    if findings:
        raise typer.Exit(1)


@bench.callback()
def all_without_device(context: typer.Context, turns: Turns = 200, repeats: Repeats = 5, as_json: Json = False) -> None:
    """Measure launches. Without a command: `instructions` and `bind`, which need no GPU."""
    if context.invoked_subcommand is not None:
        return
    with fit():
        figures, binds = count(turns), time_binds(repeats)
    findings = accepted.findings(figures, accepted.load()) + bind_findings(binds)
    report(shown_counts(figures) + binds, findings, as_json)


@bench.command("instructions")
def instructions_verb(
    turns: Turns = 200,
    accept: Annotated[
        bool, typer.Option("--accept", help="Make these counts the accepted ones of this build.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Count instructions per launch: callgrind, over the recorder in null mode.

    Exit 1 when a count rose above the accepted one of this build, or a bound is not kept.
    """
    with fit():
        figures = count(turns)
    if accept:
        accepted.accept(figures)
        progress(f"accepted for {accepted.build_key()}")
    report(shown_counts(figures), accepted.findings(figures, accepted.load()), as_json)


@bench.command("bind")
def bind_verb(repeats: Repeats = 5, as_json: Json = False) -> None:
    """Time binding a signature, next to gcc -O3 on the legacy source."""
    with fit():
        binds = time_binds(repeats)
    report(binds, bind_findings(binds), as_json)


bench.command("building")(building_verb)
bench.command("device")(device_verb)
bench.command("triton")(triton_verb)
