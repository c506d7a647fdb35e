"""The command line: `relaunch VERB`. Exit 0 fine, 1 findings, 2 usage or environment."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from relaunch.commands.bench import bench
from relaunch.commands.demo import demo
from relaunch.commands.diff import diff
from relaunch.commands.doctor import doctor
from relaunch.commands.generate import generate
from relaunch.commands.migrate import migrate
from relaunch.commands.replay import replay

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
app.command()(generate)
app.command()(demo)
app.command()(diff)
app.command()(replay)
app.command()(bench)
app.command()(doctor)


def main() -> None:
    """Run the command line."""
    app()
