"""`relaunch migrate`: signatures of every form that is read, to trees, and the trees written out again."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

if TYPE_CHECKING:
    from relaunch._core import MigrateSession

STANDARD_INPUT = "<stdin>"


def migrate(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Files with signatures; - reads standard input.")],
    form: Annotated[
        str,
        typer.Option(
            "--form",
            metavar="FORM",
            help="How they are written: auto, csv, aot, dict, json, ast, inductor, values, ttir, c, cache, tree.",
        ),
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line: the same as --emit json.")] = False,
    emit: Annotated[
        str | None,
        typer.Option(
            "--emit",
            metavar="WHAT",
            help="What to write instead of a report: json, python, cpp, csv, aot, ast, inductor, values, ttir.",
        ),
    ] = None,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Show what can be mended safely as a diff, and rewrite the files so; of - the mended text goes to "
            "standard output.",
        ),
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what --fix would change, and change nothing.")] = False,
) -> None:
    """Read signatures and say what they are.

    A file has one signature a line, or Python literals or JSON values over several lines, or is source code or IR
    with signatures in it. Without --json or --emit each is shown as its canonical line, and what is wrong with it as
    `path:line:col: CODE message`. The program relaunch-migrate does the same without Python.

    Exit 0: all were read. 1: at least one has an error, or --diff has shown a change. 2: wrong usage, or a file that
    cannot be read or rewritten.
    """
    from relaunch._core import MigrateSession

    check_form(form)
    target = check_emit(emit, as_json)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    fixing = "show" if diff else "apply" if fix else ""
    session = MigrateSession(form, target, sys.stdout, sys.stderr, fixing)
    for name in files:
        if fixing:
            fix_file(session, name)
            continue
        shown = STANDARD_INPUT if name == "-" else name.encode("utf-8", "backslashreplace").decode()
        try:
            with reader_of(name) as read:
                session.read(read, shown)
        except UnreadableError as error:
            session.unreadable(shown, str(error))
    if status := session.finish():
        raise typer.Exit(status)


class UnreadableError(Exception):
    """A file that cannot be opened or read; str() is the reason."""


def fix_file(session: MigrateSession, name: str) -> None:
    """Mend one file, or show how."""
    if name != "-":
        session.fix_file(os.fsencode(name))
        return
    try:
        with readable():
            content = sys.stdin.buffer.read()
    except UnreadableError as error:
        session.unreadable(STANDARD_INPUT, str(error))
        return
    session.fix_input(content)


@contextmanager
def readable() -> Iterator[None]:
    """Tell what goes wrong with a file from what goes wrong with the output. Raise UnreadableError."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise UnreadableError(reason or str(error)) from error


@contextmanager
def reader_of(name: str) -> Iterator[Callable[[int], bytes]]:
    """What reads a file, or standard input, piece by piece. Both raise UnreadableError."""
    with ExitStack() as opened:
        with readable():
            file: BinaryIO | FileIO = sys.stdin.buffer
            if name != "-":
                file = opened.enter_context(Path(name).open("rb", buffering=0))

        def read(count: int) -> bytes:
            with readable():
                return file.read(count)

        yield read


def check_form(form: str) -> None:
    """Refuse a form that has no reader, naming those that have one."""
    from relaunch._core import FORMS

    if form not in FORMS:
        raise typer.BadParameter(f"no reader for {form!r}: the forms read are {', '.join(FORMS)}", param_hint="--form")


def check_emit(emit: str | None, as_json: bool) -> str:
    """What is to be written; empty for the report."""
    from relaunch._core import EMITTED

    if emit is not None and emit not in EMITTED:
        raise typer.BadParameter(f"no writer for {emit!r}: written are {', '.join(EMITTED)}", param_hint="--emit")
    if as_json and emit not in (None, "json"):
        raise typer.BadParameter(f"--json and --emit {emit} exclude each other", param_hint="--json")
    return "json" if as_json else emit or ""
