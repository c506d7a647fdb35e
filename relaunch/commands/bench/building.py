"""`relaunch bench building`: what rendering and compiling legacy launchers costs, for every dialect that has them."""

from __future__ import annotations

import dataclasses
import json
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relaunch.commands.bench.binding import processor_seconds
from relaunch.commands.bench.figures import ROOT, UnfitError, machine, progress

if TYPE_CHECKING:
    from relaunch import generator

SIGNATURES = ROOT / "tests" / "signatures" / "signatures.jsonl"
CORES = 2
MOST_RENDER_MS = 1.0
MOST_BUILD_MS = 10.0
PASSES = 5


@dataclasses.dataclass(frozen=True)
class Cost:
    """What one dialect's launchers cost over the real signatures. Times are of the processor, in milliseconds."""

    dialect: str
    signatures: int  # real signatures that the dialect's launcher takes, each as often as it was found
    launchers: int  # distinct ones among theirs
    render_ms: float  # one source, median over the signatures
    build_ms: float  # gcc -O3 of all of them on `CORES` cores, divided by the signatures
    build_ms_of_launcher: float  # the same, divided by the distinct launchers


def real_signatures() -> list[tuple[object, ...]]:
    """Every signature that was found in public code and can be read. Raises UnfitError without a checkout."""
    from relaunch.differential import signatures

    if not SIGNATURES.is_file():
        raise UnfitError("needs a checkout of the project (tests/signatures)")
    return [given.types for given in signatures.read_file(SIGNATURES) if given.types is not None]


def accepted(dialect: str, found: Iterable[tuple[object, ...]]) -> Iterator[generator.LauncherSpec]:
    """The launchers of the signatures that the dialect takes as they are."""
    from relaunch import generator

    for signature in found:
        spec = generator.LauncherSpec(dialect, signature)
        try:
            generator.expand(spec)
        except generator.UnknownType:
            continue
        yield spec


def render_ms(specs: Sequence[generator.LauncherSpec]) -> float:
    """The median over `specs` of the least time of several renderings."""
    from relaunch import generator

    def taken(spec: generator.LauncherSpec) -> float:
        begin = time.process_time()
        generator.render(spec)
        return time.process_time() - begin

    generator.render(specs[0])  # what launchers share is rendered once
    return 1e3 * statistics.median(min(taken(spec) for _ in range(PASSES)) for spec in specs)


def build_seconds(specs: Sequence[generator.LauncherSpec]) -> float:
    """Processor time of building all of `specs` with -O3, into a cache that is empty."""
    from relaunch import generator

    with tempfile.TemporaryDirectory(prefix="relaunch-bench-") as folder:
        begin = processor_seconds()
        generator.build(specs, Path(folder), jobs=CORES, optimize="-O3")
        return processor_seconds() - begin


def measure(dialects: Sequence[str]) -> Iterator[Cost]:
    """The costs of each dialect. Raises UnfitError, and as `generator.build`."""
    from relaunch import generator

    found = real_signatures()
    for dialect in dialects:
        specs = list(accepted(dialect, found))
        progress(f"{dialect}: {len(specs)} of {len(found)} signatures")
        launchers = len({generator.module_name(spec) for spec in specs})
        milliseconds = 1e3 * build_seconds(specs) / CORES
        yield Cost(
            dialect, len(specs), launchers, render_ms(specs), milliseconds / len(specs), milliseconds / launchers
        )


def findings(costs: Iterable[Cost]) -> list[str]:
    """A line for each bound that is not kept."""
    lines = []
    for cost in costs:
        if cost.render_ms > MOST_RENDER_MS:
            lines.append(f"{cost.dialect}: a source takes {cost.render_ms:.2f} ms, at most {MOST_RENDER_MS:g} wanted")
        if cost.build_ms > MOST_BUILD_MS:
            lines.append(f"{cost.dialect}: a build takes {cost.build_ms:.2f} ms, at most {MOST_BUILD_MS:g} wanted")
    return lines


def table(costs: Iterable[Cost]) -> Iterator[str]:
    """One Markdown table."""
    yield "| dialect | signatures | distinct launchers | ms to render, median | ms to build a signature | a launcher |"
    yield "|---|---:|---:|---:|---:|---:|"
    for one in costs:
        yield (
            f"| {one.dialect} | {one.signatures} | {one.launchers} | {one.render_ms:.3f} | {one.build_ms:.2f} | "
            f"{one.build_ms_of_launcher:.2f} |"
        )


def building(
    dialects: Annotated[
        list[str] | None, typer.Option("--dialect", metavar="D", help="May be repeated; default: every generated one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, on standard output.")] = False,
) -> None:
    """Time rendering and gcc -O3 of the legacy launchers of every real signature, for each dialect.

    Times are of the processor: to build is divided by two cores and by the signatures that the dialect takes. Exit 1
    when a source takes more than 1 ms or a build more than 10 ms a signature, 2 for an unknown or native dialect.
    """
    from relaunch import generator

    try:
        for dialect in dialects or ():
            generator.render(generator.LauncherSpec(dialect, ()))
        costs = list(measure(dialects or generator.dialects()))
    except (UnfitError, ValueError, generator.ToolchainError) as error:
        typer.echo(f"relaunch bench: {error}", err=True)
        raise typer.Exit(2) from error
    if as_json:
        for shown in ({"machine": machine()}, *map(dataclasses.asdict, costs)):
            typer.echo(json.dumps(shown))
    else:
        for line in (*(f"{key}: {value}" for key, value in machine().items()), "", *table(costs)):
            typer.echo(line)
    wrong = findings(costs)
    for line in wrong:
        typer.echo(f"relaunch bench: {line}", err=True)
    if wrong:
        raise typer.Exit(1)
