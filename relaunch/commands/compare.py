"""`relaunch compare`: what differs between two dialects, or between a legacy launcher and the precompiled one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import relaunch
from relaunch import generator
from relaunch.commands.generate import plain

if TYPE_CHECKING:
    from relaunch.generator.contract import Comparison

LEGACY = "legacy"
PRECOMPILED = "precompiled"


def compare(
    first: Annotated[str, typer.Argument(metavar="D1", help="A dialect (triton-3.3-cuda), or `legacy`.")],
    second: Annotated[str, typer.Argument(metavar="D2", help="Another, or `precompiled`.")],
    signatures: Annotated[
        list[str] | None, typer.Argument(metavar="[SIGNATURE...]", help="As `relaunch.parse` takes them.")
    ] = None,
    dialect: Annotated[
        str | None, typer.Option("--dialect", metavar="D", help="With `legacy precompiled`: whose launcher.")
    ] = None,
    described: Annotated[
        bool, typer.Option("--described", help="Descriptors have metadata: they are passed by value.")
    ] = False,
    source: Annotated[bool, typer.Option("--source", help="The generated C of each SIGNATURE as a diff too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One object a line, on standard output.")] = False,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page that needs no net.")] = None,
) -> None:
    """Show what differs between two dialects for each SIGNATURE, or in general without one.

    Exit 0 when nothing differs, 1 when something does, 2 for an unknown dialect or options that do not fit.
    """
    texts = signatures or []
    if (first, second) == (LEGACY, PRECOMPILED):
        pass
    try:
        names = [generator.facts(name).dialect for name in (first, second)]
    except generator.UnknownDialectError as error:
        raise refused(str(error)) from error
    print(names, texts, dialect, described, source, as_json, html)


def refused(message: str) -> typer.Exit:
    """Says why there is nothing to do: exit 2."""
    typer.echo(f"relaunch compare: {message}", err=True)
    return typer.Exit(2)
