"""The command line: `relaunch VERB`. Exit 0 fine, 1 findings, 2 usage or environment."""

from __future__ import annotations

import typer

app = typer.Typer(
    name="relaunch",
    help="Legacy kernel launchers regenerated, their signatures migrated, and the precompiled launcher proven equal.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def root() -> None:
    """Choose a verb."""


def main() -> None:
    """Run the command line."""
    app()
