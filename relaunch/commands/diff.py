"""`relaunch diff`: both launchers on sampled calls of given signatures, compared."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relaunch.commands import reports
from relaunch.commands.replay import load_backends

if TYPE_CHECKING:
    from relaunch.differential.case import Signature
    from relaunch.differential.diff import Fault, Tally

FAULTS = Path("relaunch-faults")
SHRINK = 60.0
SHOWN_UNREAD = 5
JOBS = len(os.sched_getaffinity(0))


def diff(
    signature: Annotated[
        list[str] | None,
        typer.Argument(metavar="SIGNATURE... or FILE", help="Signature texts, or files with one a line."),
    ] = None,
    dialect: Annotated[
        list[str] | None,
        typer.Option("--dialect", "-d", help="May be repeated. Default: every dialect, or those of --backend."),
    ] = None,
    cases: Annotated[int, typer.Option("--cases", min=1, help="Cases for each signature and dialect.")] = 500,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same cases everywhere.")] = 0,
    backend: Annotated[
        list[Path] | None, typer.Option("--backend", help="A Python file that registers a backend (docs/backends.md).")
    ] = None,
    random: Annotated[
        int,
        typer.Option("--random", min=0, metavar="N", help="N random signatures for each dialect, besides those given."),
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, on standard output.")] = False,
    html: reports.Html = None,
    junit: reports.Junit = None,
    json_file: reports.JsonFile = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = JOBS,
    faults: Annotated[Path, typer.Option("--faults", help="Folder for the case file of each difference.")] = FAULTS,
    shrink: Annotated[float, typer.Option("--shrink", min=0, help="Seconds to make failing cases small in.")] = SHRINK,
) -> None:
    """Run both launchers on generated calls of each signature and compare what they launched.

    Dialects from 3.7 on have no legacy launcher: there ours is held to what is worked out from each call.
    """
    from relaunch import generator
    from relaunch.differential import report
    from relaunch.differential.invented import invented
    from relaunch.differential.signatures import read

    files = reports.Files(html, junit, json_file)
    files.check("diff")
    load_backends(backend or [])
    dialects = known_dialects(dialect or []) or list(generator.own_dialects() or generator.all_dialects())
    if not signature and not random:
        raise typer.BadParameter("give a SIGNATURE, a FILE of them, or --random N", param_hint="SIGNATURE")
    try:
        given = list(read(signature or []))
    except OSError as error:
        typer.echo(f"relaunch diff: {error.filename}: {error.strerror}", err=True)
        raise typer.Exit(2) from None
    unread = [entry for entry in given if entry.types is None]
    for entry in unread[:SHOWN_UNREAD]:
        typer.echo(entry.problem, err=True)
    if len(unread) > SHOWN_UNREAD:
        typer.echo(f"{len(unread) - SHOWN_UNREAD} more cannot be read: relaunch migrate shows them", err=True)
    signatures = list(dict.fromkeys(entry.types for entry in given if entry.types is not None))
    complain_unsupported(dialects, signatures)
    if not signatures and not random:
        raise typer.Exit(2)
    given_to = {name: list(dict.fromkeys([*signatures, *invented(name, random, seed)])) for name in dialects}
    tallies = compare(given_to, cases=cases, seed=seed, jobs=jobs, quiet=as_json)
    small = store(tallies, faults, jobs, shrink)
    title = f"relaunch diff: {cases:,} cases for each signature, seed {seed}"
    found = reports.Finding(tallies, small, title, seed, faults, backend or ())
    reports.write(found, files, jobs, "diff")
    if as_json:
        for line in report.json_lines(tallies, seed, small):
            typer.echo(line)
    else:
        report.show(tallies, title=title, smallest=small, folder=faults, backends=backend or ())
    if small or unread:
        raise typer.Exit(1)


def store(tallies: Sequence[Tally], folder: Path, jobs: int, seconds: float) -> list[Fault]:
    """A case file for each fault, and one for the smallest case of each kind of fault; gives the smallest ones.

    Exit 2 where launchers cannot be built or run.
    """
    from relaunch import generator
    from relaunch.differential import pool, report
    from relaunch.differential.shrink import smallest

    found = [fault for tally in tallies for fault in tally.faults]
    report.store(found, folder)
    try:
        with pool.Workers() as workers:
            run_cases = partial(pool.run_cases, jobs=jobs, cache=generator.default_cache(), workers=workers)
            small = smallest(found, run_cases, seconds=seconds)
    except (generator.BuildError, generator.ToolchainError, pool.WorkerError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    report.store(small, folder / report.SMALLEST)
    return small


def known_dialects(names: Sequence[str]) -> list[str]:
    """The dialects of these names, each once, a patch number being accepted. Exit 2 for an unknown one."""
    from relaunch import generator

    chosen = []
    for name in names:
        try:
            chosen.append(generator.facts(name).dialect)
        except generator.UnknownDialectError:
            typer.echo(
                f"no dialect {name!r}: there are {', '.join((*generator.all_dialects(), *generator.own_dialects()))}",
                err=True,
            )
            raise typer.Exit(2) from None
    return list(dict.fromkeys(chosen))


def complain_unsupported(dialects: Sequence[str], signatures: Sequence[Signature]) -> None:
    """Say which signatures none of the dialects has a launcher for; exit 2 where that is all of them."""
    from relaunch.differential.diff import supported

    unfit = [dict(supported(dialect, signatures)[1]) for dialect in dialects]
    nowhere = [signature for signature in signatures if all(signature in found for found in unfit)]
    for signature in nowhere:
        typer.echo(f"no launcher: {'; '.join(dict.fromkeys(found[signature] for found in unfit))}", err=True)
    if signatures and len(nowhere) == len(signatures):
        raise typer.Exit(2)


def compare(
    given: Mapping[str, Sequence[Signature]], *, cases: int, seed: int, jobs: int, quiet: bool = False
) -> list[Tally]:
    """One tally per dialect, for the signatures that it is given; progress goes to standard error.

    Exit 2 where launchers cannot be built or run.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from relaunch import generator
    from relaunch.differential import pool
    from relaunch.differential.diff import build_launchers, supported
    from relaunch.differential.diff import diff as run_diff

    cache = generator.default_cache()
    console = Console(stderr=True, quiet=quiet)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with pool.Workers() as workers, Progress(*columns, console=console, transient=True) as progress:
            building = progress.add_task("building legacy launchers", total=None)
            built = build_launchers(
                given,
                seed,
                cache,
                jobs,
                lambda done, total: progress.update(building, completed=done, total=total),
            )
            progress.remove_task(building)
            console.print(f"{built} legacy launchers in {cache}", highlight=False, soft_wrap=True)
            tallies = []
            for dialect, signatures in given.items():
                total = cases * len(supported(dialect, signatures)[0])
                task = progress.add_task(f"comparing {dialect}", total=total)
                tallies.append(
                    run_diff(
                        dialect,
                        signatures,
                        cases=cases,
                        seed=seed,
                        jobs=jobs,
                        cache=cache,
                        advance=partial(progress.advance, task),
                        workers=workers,
                    )
                )
    except (generator.BackendError, generator.BuildError, generator.ToolchainError, pool.WorkerError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    return tallies
