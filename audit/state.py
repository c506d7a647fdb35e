"""What an audit has found so far: a file that only grows, one line of JSON for each unit.

The first line says which audit it belongs to. A line is written whole or not at all as far as a reader can tell: one
that was torn by a killed run ends in no newline or is no JSON, is cut off when the file is opened again, and its unit
is examined again. Lines in the middle that cannot be read (a disk gave out) are left alone, and their units examined
again too.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from relaunch.audit.question import Question

FORMAT = 1
_SHOWN = 200  # characters of a foreign file's first line


class StateError(ValueError):
    """A state file that is another audit's, or no state file, or in use."""


class State:
    """One audit's findings. `done`: keys of the units that are in the file."""

    def __init__(self, file: BinaryIO, root: str, question: Question) -> None:
        """Takes over an open file, new or of an earlier run. Raises StateError, OSError."""
        self._file = file
        self.done: set[str] = set()
        wanted = {"audit": FORMAT, "root": root, "to": question.to, "from": list(question.sources)}
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StateError("another audit is writing it") from None
        file.seek(0)
        first = file.readline()
        if not first.endswith(b"\n") and b'{"audit": '.startswith(first[:10]):
            self._cut(0)
            self._write(json.dumps(wanted).encode() + b"\n")
            return
        self._check(_parsed(first), wanted)
        self.done.update(line["unit"] for _, line in self._lines())

    @staticmethod
    def open(path: Path, root: str, question: Question) -> State:
        """Raises StateError, OSError."""
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        file = os.fdopen(handle, "r+b")
        try:
            return State(file, root, question)
        except BaseException:
            file.close()
            raise

    def add(self, lines: Iterable[tuple[str, bytes]]) -> None:
        """Units with their lines, as `line_of` makes them. One that is there already is not written again."""
        fresh = [(key, line) for key, line in lines if key not in self.done]
        self._write(b"".join(line for _, line in fresh))
        self.done.update(key for key, _ in fresh)

    def kernels(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Every kernel of every unit, with the place of its unit's line; each unit once."""
        seen: set[str] = set()
        for at, line in self._lines():
            if line["unit"] not in seen:
                seen.add(line["unit"])
                for kernel in line["kernels"]:
                    yield at, kernel

    def kernels_at(self, place: int) -> list[dict[str, Any]]:
        """Those of one unit's line."""
        self._file.seek(place)
        return list(json.loads(self._file.readline())["kernels"])

    def close(self) -> None:
        """The lock goes with the file."""
        self._file.close()

    @staticmethod
    def _check(found: Any, wanted: dict[str, Any]) -> None:
        if not isinstance(found, dict) or found.get("audit") is None:
            raise StateError(f"no state of an audit: it begins with {str(found)[:_SHOWN]!r}")
        for key, value in wanted.items():
            if found.get(key) != value:
                raise StateError(f"the state of another audit: {key} is {found.get(key)!r} there, {value!r} here")

    def _lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Lines behind the first with their places; a torn last one is cut off."""
        self._file.seek(0)
        self._file.readline()
        at = self._file.tell()
        while line := self._file.readline():
            if not line.endswith(b"\n"):
                self._cut(at)
                return
            found = _parsed(line)
            if isinstance(found, dict) and "unit" in found and isinstance(found.get("kernels"), list):
                yield at, found
            at += len(line)

    def _write(self, lines: bytes) -> None:
        self._file.seek(0, os.SEEK_END)
        self._file.write(lines)
        self._file.flush()

    def _cut(self, at: int) -> None:
        self._file.seek(at)
        self._file.truncate()


def line_of(unit: str, kernels: list[dict[str, Any]]) -> bytes:
    """A unit's line; what is not UTF-8 in names is escaped."""
    return json.dumps({"unit": unit, "kernels": kernels}, separators=(",", ":")).encode() + b"\n"


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line.decode("utf-8", "replace")
