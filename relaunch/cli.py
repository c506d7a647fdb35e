"""The command line: `relaunch VERB`. Exit 0 fine, 1 findings, 2 usage or environment."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from relaunch.commands.audit import audit
from relaunch.commands.bench import bench
from relaunch.commands.compare import compare
from relaunch.commands.demo import demo
from relaunch.commands.diff import diff
from relaunch.commands.doctor import doctor
from relaunch.commands.generate import generate
from relaunch.commands.migrate import migrate
from relaunch.commands.replay import replay
from relaunch.commands.verify import verify

app = typer.Typer(
    name="relaunch",
    help="Legacy kernel launchers regenerated, their signatures migrated, and the precompiled launcher proven equal.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def print_version(wanted: bool) -> None:
    """Print the version and leave, where --version was given."""
    if wanted:
        typer.echo(f"relaunch {version('relaunch')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=print_version, is_eager=True)
    ] = False,
) -> None:
    """Legacy kernel launchers regenerated, their signatures migrated, and the precompiled launcher proven equal."""


# In the order of use.
app.command()(migrate)
app.command()(verify)
app.command()(audit)
app.command()(generate)
app.command()(compare)
app.command()(demo)
app.command()(diff)
app.command()(replay)
app.add_typer(bench, name="bench")
app.command()(doctor)


def main() -> None:
    """Run the command line. What it cannot read or write is told in one line, exit 2."""
    open_standard_streams()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):  # the reader left: there is no telling what it saw
            leave_unwritten()
        raise
    except BrokenPipeError:
        leave_unwritten()
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"relaunch: {place}{error.strerror or error}", file=sys.stderr)
        leave_unwritten()


def open_standard_streams() -> None:
    """Streams that the caller closed read nothing and take everything; no other file gets their numbers."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)


def leave_unwritten() -> NoReturn:
    """Exit 2; what is still in standard output's buffer has no place to go."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    raise SystemExit(2) from None
