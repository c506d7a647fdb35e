"""`relaunch migrate`: signatures of every form that is read, to trees, and the trees written out again."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from relaunch._core import Signature

STANDARD_INPUT = "<stdin>"
EMITTED = ("json", "python", "csv")


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
        str | None, typer.Option("--emit", metavar="json|python|csv", help="What to write instead of a report.")
    ] = None,
) -> None:
    """Read signatures and say what they are.

    A file has one signature a line, or Python literals or JSON values over several lines, or is source code or IR
    with signatures in it. Without --json or --emit each is shown as its canonical line, and what is wrong with it as
    `path:line:col: CODE message`.

    Exit 0: all were read. 1: at least one has an error. 2: wrong usage, or a file that cannot be read.
    """
    check_form(form)
    target = check_emit(emit, as_json)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    count = Count()
    for signature in read_all(files, form, count):
        count.add(signature)
        if target is None:
            sys.stdout.write(report(signature))
        elif target == "json":
            sys.stdout.write(signature.to_json() + "\n")
        else:
            sys.stderr.write(findings(signature))
            if signature.ok:
                sys.stdout.write(signature.to_python() if target == "python" else signature.to_csv() + "\n")
    print(count.summary(), file=sys.stdout if target is None else sys.stderr)
    if count.unreadable:
        raise typer.Exit(2)
    if count.failed:
        raise typer.Exit(1)


class Count:
    """What was read so far."""

    def __init__(self) -> None:
        self.signatures = 0
        self.failed = 0
        self.warnings = 0
        self.unreadable = 0

    def add(self, signature: Signature) -> None:
        """Count one signature and its findings."""
        self.signatures += 1
        self.failed += not signature.ok
        self.warnings += sum(found["severity"] == "warning" for found in signature.diagnostics)

    def summary(self) -> str:
        """One line: how many were read, and how many were not."""
        parts = [f"{counted(self.signatures, 'signature')}: {self.signatures - self.failed} read, {self.failed} failed"]
        if self.warnings:
            parts.append(counted(self.warnings, "warning"))
        if self.unreadable:
            parts.append(f"{counted(self.unreadable, 'file')} could not be read")
        return ", ".join(parts)


def counted(number: int, noun: str) -> str:
    """`1 signature`, `2 signatures`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def check_form(form: str) -> None:
    """Refuse a form that has no reader, naming those that have one."""
    from relaunch._core import FORMS

    if form not in FORMS:
        raise typer.BadParameter(f"no reader for {form!r}: the forms read are {', '.join(FORMS)}", param_hint="--form")


def check_emit(emit: str | None, as_json: bool) -> str | None:
    """What is to be written; None for the report."""
    if emit is not None and emit not in EMITTED:
        raise typer.BadParameter(f"no writer for {emit!r}: written are {', '.join(EMITTED)}", param_hint="--emit")
    if as_json and emit not in (None, "json"):
        raise typer.BadParameter(f"--json and --emit {emit} exclude each other", param_hint="--json")
    return "json" if as_json else emit


def read_all(files: list[str], form: str, count: Count) -> Iterator[Signature]:
    """The signatures of all files in order; a file that cannot be read is named on standard error and counted."""
    from relaunch._core import read_signatures

    for name in files:
        shown = STANDARD_INPUT if name == "-" else name.encode("utf-8", "backslashreplace").decode()
        try:
            content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        except (OSError, ValueError) as error:
            count.unreadable += 1
            reason = error.strerror if isinstance(error, OSError) else str(error)
            print(f"relaunch migrate: {shown}: {reason}", file=sys.stderr)
            continue
        yield from read_signatures(content, shown, form)


def report(signature: Signature) -> str:
    """Canonical line and findings, as a person reads them."""
    line = f"{signature.source}: {signature.to_csv()}\n" if signature.ok else ""
    return line + findings(signature)


def findings(signature: Signature) -> str:
    """`path:line:col: CODE message` and a caret, for everything that is wrong with a signature."""
    path = signature.source.rsplit(":", 2)[0]
    return "".join(
        f"{path}:{found['line']}:{found['column']}: {found['code']}"
        f"{' warning:' if found['severity'] == 'warning' else ''} {found['message']}\n{found['caret']}\n"
        for found in signature.diagnostics
    )
