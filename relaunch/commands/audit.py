"""`relaunch audit`: a whole cache or tree of kernels, and which of them move."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from relaunch.audit.question import Question
    from relaunch.audit.run import Pool
    from relaunch.audit.state import State

JOBS = len(os.sched_getaffinity(0))


def audit(
    tree: Annotated[str, typer.Argument(metavar="DIR", help="A Triton cache, or a tree of sources and binaries.")],
    to: Annotated[
        str, typer.Option("--to", metavar="D|precompiled", help="The launcher that is to take the kernels over.")
    ] = "precompiled",
    sources: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="D", help="Dialect of kernels that do not name their release; one a backend."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, on standard output.")] = False,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page that stands alone.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes.")] = JOBS,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="A Dask scheduler, instead of processes here.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", metavar="FILE", help="Keep findings here, and go on from what it has.")
    ] = None,
) -> None:
    """Judge every kernel of a cache or tree: its signature read, its binaries verified, its launcher compared.

    A kernel moves as it is, or its calls can meet a difference (diverges), or it must be compiled again for the
    launcher asked for (recompile), or it does not fit its own signature (misfit), or it cannot be read.

    Exit 0: all move as they are. 1: some do not. 2: wrong usage, or DIR or the state cannot be read or written.
    """
    from relaunch.audit import report
    from relaunch.audit.question import OUTCOMES, Question, QuestionError
    from relaunch.audit.run import SchedulerError
    from relaunch.audit.state import StateError
    from relaunch.audit.summary import Summary
    from relaunch.page import printable

    try:
        question = Question.of(to, sources or ())
        with opened_state(state, os.path.realpath(tree), question) as kept:
            examine_all(os.path.realpath(tree), question, kept, pool_of(jobs, scheduler), as_json)
            summary = Summary.of(kept, question)
            if html is not None:
                report.write_page(html, kept, summary, tree)
            if as_json:
                for line in report.json_lines(kept, summary):
                    typer.echo(line)
            else:
                report.show(summary, tree)
    except StateError as error:
        raise refused(f"{state}: {error}") from None
    except (QuestionError, SchedulerError) as error:
        raise refused(str(error)) from None
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        place = f"{printable(str(error.filename))}: " if error.filename else ""
        raise refused(f"{place}{error.strerror or error}") from None
    except KeyboardInterrupt:
        left = (
            "nothing was kept: --state FILE keeps it" if state is None else f"{state} has what was found: run it again"
        )
        typer.echo(f"relaunch audit: interrupted; {left}", err=True)
        raise typer.Exit(2) from None
    if summary.totals[OUTCOMES[0]] != summary.kernels:
        raise typer.Exit(1)


def refused(message: str) -> typer.Exit:
    """Says why there is nothing to report: exit 2."""
    typer.echo(f"relaunch audit: {message}", err=True)
    return typer.Exit(2)


@contextmanager
def opened_state(path: Path | None, root: str, question: Question) -> Iterator[State]:
    """The state at a path; without one, a file that is gone in the end. Raises StateError, OSError."""
    from relaunch.audit.state import State

    if path is not None:
        kept = State.open(path, root, question)
        try:
            yield kept
        finally:
            kept.close()
        return
    with tempfile.TemporaryFile() as file:
        yield State(file, root, question)


def pool_of(jobs: int, scheduler: str | None) -> Pool:
    """Processes here, or a cluster's. Raises SchedulerError."""
    from relaunch.audit.run import Processes

    if scheduler is None:
        return Processes(jobs)
    from relaunch.audit.dask_pool import Cluster

    return Cluster(scheduler)


def examine_all(root: str, question: Question, state: State, pool: Pool, quiet: bool) -> None:
    """With progress on standard error: a bar of the root's own folders, and the kernels done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from relaunch.audit.run import run
    from relaunch.audit.walk import top_folders

    columns = (TextColumn("auditing"), BarColumn(), TextColumn("{task.fields[units]:,} kernels"), TimeElapsedColumn())
    console = Console(stderr=True)
    units, total = 0, top_folders(root)
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task("", total=total or None, units=0)

        def advance(count: int) -> None:
            nonlocal units
            units += count
            progress.update(task, units=units)

        run(root, question, state, pool, advance, lambda: progress.advance(task))
