"""The files that `relaunch diff` and `relaunch demo` write beside their table: a page, JUnit's XML, JSON lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from relaunch.differential.diff import Fault, Tally

Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page that stands alone.")]
Junit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit's XML: a test suite for each dialect.")
]
JsonFile = Annotated[
    Path | None, typer.Option("--json-file", metavar="FILE", help="Write what --json prints, beside the table.")
]


@dataclass(frozen=True)
class Files:
    """Where each report goes; None: nowhere."""

    html: Path | None = None
    junit: Path | None = None
    json: Path | None = None

    def check(self, verb: str) -> None:
        """Exit 2 where a report cannot be written: before the work, not after it."""
        for path in filter(None, (self.html, self.junit, self.json)):
            if path.is_dir() or not path.parent.is_dir():
                why = "is a folder" if path.is_dir() else f"there is no folder {path.parent}"
                typer.echo(f"relaunch {verb}: {path}: {why}", err=True)
                raise typer.Exit(2)


@dataclass(frozen=True)
class Finding:
    """What a run came to, and what its reports say besides."""

    tallies: Sequence[Tally]
    smallest: Sequence[Fault]
    title: str
    seed: int
    folder: Path  # of the stored cases
    backends: Sequence[Path] = ()

    def commands(self) -> dict[str, str]:
        """By the id of a case the command that runs it again."""
        from relaunch.differential import report

        found = [fault for tally in self.tallies for fault in tally.faults]
        stored = [(found, self.folder), (self.smallest, self.folder / report.SMALLEST)]
        return {
            fault.case.id: report.replay_command(report.path_of(fault, folder), self.backends)
            for faults, folder in stored
            for fault in faults
        }


def write(finding: Finding, files: Files, jobs: int, verb: str) -> None:
    """Every report that is wanted. Exit 2 where one cannot be written, or the examples of the page cannot be run."""
    from relaunch import generator
    from relaunch.differential import examples, junit, page, pool, report
    from relaunch.page import write_whole

    commands = finding.commands()
    try:
        if files.json is not None:
            lines = report.json_lines(list(finding.tallies), finding.seed, list(finding.smallest))
            write_whole(files.json, (line + "\n" for line in lines))
        if files.junit is not None:
            junit.write(files.junit, finding.tallies, finding.seed, commands)
        if files.html is not None:
            with pool.Workers() as workers:
                run_cases = partial(pool.run_cases, jobs=jobs, cache=generator.default_cache(), workers=workers)
                shown = {tally.dialect: examples.examples(tally, finding.seed, run_cases) for tally in finding.tallies}
            page.write(
                files.html,
                finding.tallies,
                title=finding.title,
                examples=shown,
                smallest=finding.smallest,
                commands=commands,
            )
    except OSError as error:
        typer.echo(f"relaunch {verb}: {error.filename}: {error.strerror}", err=True)
        raise typer.Exit(2) from None
    except (generator.BuildError, generator.ToolchainError, pool.WorkerError) as error:
        typer.echo(f"relaunch {verb}: {error}", err=True)
        raise typer.Exit(2) from None
