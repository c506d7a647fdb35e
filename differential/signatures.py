"""Signatures as people give them: texts, or files of them, migrated to nested tuples of types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from relaunch.differential.case import Signature

import relaunch
from relaunch import _core

_FILE_NAME = re.compile(r"[\w~+-]*[./][\w~+./-]*")  # one word with a dot or a slash: no type has either


@dataclass(frozen=True)
class Given:
    """One signature with where it stands; `types` is None where it could not be read, and `problem` says why."""

    source: str
    form: str
    types: Signature | None
    problem: str = ""


def of_tree(entries: Any) -> Signature:
    """The types of a tree or of a tuple's nodes: names, spans and values are left behind."""
    return tuple(_type_of(node) for node in entries)


def _type_of(node: Any) -> Any:
    if node.type == relaunch.ARG_TUPLE:
        return of_tree(node.nested_tuple)
    return "constexpr" if node.type == relaunch.ARG_CONSTEXPR else node.dtype


def read(arguments: list[str]) -> Iterator[Given]:
    """Each argument as a signature or, where a file of that name exists, every one in it. Raise OSError."""
    for i, argument in enumerate(arguments, 1):
        if is_file(argument):
            yield from read_file(Path(argument))
        else:
            found = read_text(f"argument {i}", argument)
            if found.types is None and _FILE_NAME.fullmatch(argument):
                found = replace(found, problem=f"{found.problem}\nand there is no file {argument}")
            yield found


def is_file(argument: str) -> bool:
    """Whether an argument names a file; a text that cannot be a name does not."""
    try:
        return Path(argument).is_file()
    except (OSError, ValueError):  # too long for a name, or a NUL in it
        return False


def read_file(path: Path) -> Iterator[Given]:
    """Every signature of a file. Raise OSError."""
    for entry in _core.read_signatures(path.read_bytes(), str(path)):
        if entry.ok:
            yield Given(entry.source, entry.form, of_tree(entry.tree))
        else:
            found = next(one for one in entry.diagnostics if one["severity"] == "error")
            where = f"{path}:{found['line']}:{found['column']}"
            yield Given(
                entry.source, entry.form, None, f"{where}: {found['code']} {found['message']}\n{found['caret']}"
            )


def read_text(source: str, text: str) -> Given:
    """The signature of one text, or why there is none."""
    try:
        return Given(source, "auto", of_tree(relaunch.parse(text)))
    except relaunch.SignatureError as error:
        return Given(source, "auto", None, f"{source}: {error}")
