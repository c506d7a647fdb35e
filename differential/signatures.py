"""Signatures as people give them: texts, or files with one a line, migrated to nested tuples of types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relaunch.differential.case import Signature

import relaunch


@dataclass(frozen=True)
class Given:
    """One text with where it stands; `signature` is None where it could not be read, and `problem` says why."""

    source: str
    text: str
    form: str = ""  # as the source names it
    signature: Signature | None = None
    problem: str = ""


def of_tree(entries: Any) -> Signature:
    """The types of a tree or of a tuple's nodes: names, spans and values are left behind."""
    return tuple(_type_of(node) for node in entries)


def _type_of(node: Any) -> Any:
    if node.type == relaunch.ARG_TUPLE:
        return of_tree(node.nested_tuple)
    return "constexpr" if node.type == relaunch.ARG_CONSTEXPR else node.dtype


def read(arguments: list[str]) -> Iterator[Given]:
    """Each argument as a signature or, where a file of that name exists, its lines. Raise OSError."""
    for i, argument in enumerate(arguments, 1):
        if is_file(argument):
            yield from read_file(Path(argument))
        else:
            yield migrated(f"argument {i}", argument)


def is_file(argument: str) -> bool:
    try:
        return Path(argument).is_file()
    except (OSError, ValueError):  # too long for a name, or a NUL in it
        return False


def read_file(path: Path) -> Iterator[Given]:
    """One signature a line: its text, or a JSON object with a `text`. Blank lines and `#` lines are skipped."""
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            source = f"{path}:{number}"
            try:
                line = raw.decode().strip()
            except UnicodeDecodeError as error:
                yield Given(source, "", problem=f"not UTF-8: byte {error.start} of the line")
                continue
            if line and not line.startswith("#"):
                yield _line(source, line)


def _line(source: str, line: str) -> Given:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if isinstance(entry, dict) and isinstance(entry.get("text"), str):
        return migrated(source, entry["text"], str(entry.get("form") or ""))
    return migrated(source, line)


def migrated(source: str, text: str, form: str = "") -> Given:
    """The signature of one text, or why there is none."""
    try:
        return Given(source, text, form, of_tree(relaunch.parse(text)))
    except relaunch.SignatureError as error:
        return Given(source, text, form, problem=str(error))
