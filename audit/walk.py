"""The kernels of a tree, found by the names of files alone: nothing is opened here.

In a Triton cache a kernel is the files of one folder that share a stem: `add.json` (metadata), `add.ttir`,
`add.ttgir`, `add.cubin`, `add.ptx` or `add.hsaco`, `add.amdgcn`. `__grp__add.json` lists paths of the machine that
compiled it and is passed over. Source files are units of their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

METADATA = ".json"
IR = (".ttir", ".ttgir")  # the better one first
BINARIES = (".cubin", ".hsaco", ".ptx", ".amdgcn")
SOURCES = {".py": "auto", ".c": "c", ".mlir": "ttir"}  # and the form in which each is read
GROUP = "__grp__"
_ORDER = (METADATA, *IR, *BINARIES)
_KERNEL = frozenset(_ORDER)


@dataclass(frozen=True)
class Unit:
    """What is examined at once: a kernel's files, a source file, or a place that could not be walked.

    Names hold bytes that are not UTF-8 as half surrogates, as Python's own do.
    """

    key: str  # path from the root; of several files the metadata's, else the IR's, else a binary's
    folder: str  # from the root, "" for itself
    stem: str
    suffixes: tuple[str, ...]
    problem: str = ""


def walk(root: str, opened: Callable[[], None] = lambda: None) -> Iterator[Unit]:
    """Every unit below a folder, each folder's own before those of the folders in it, in the order of names.

    A link to a folder is a unit with a problem and not followed: what it points to is counted where it lies. `opened`
    is called for each of the folders that lie in the root itself. Raises OSError where the root cannot be read; any
    other folder that cannot be is a unit with a problem.
    """
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        if folder and "/" not in folder:
            opened()
        try:
            files, folders, problems = _listed(os.path.join(root, folder))  # noqa: PTH118 - a hundred thousand of them
        except OSError as error:
            if not folder:
                raise
            yield Unit(folder, folder, "", (), error.strerror or str(error))
            continue
        for name, problem in problems:
            yield Unit(_below(folder, name), folder, name, (), problem)
        yield from _units(folder, files)
        waiting += [_below(folder, name) for name in reversed(folders)]


def top_folders(root: str) -> int:
    """How many folders lie in the root itself. Raises OSError."""
    return len(_listed(root)[1])


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _listed(path: str) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """Names of a folder's files and folders, and of links that lead nowhere or to a folder. Raises OSError."""
    files: list[str] = []
    folders: list[str] = []
    problems: list[tuple[str, str]] = []
    with os.scandir(path) as entries:
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_symlink() and entry.is_dir():
                    problems.append((entry.name, "a link to a folder is not followed"))
                else:
                    files.append(entry.name)
            except OSError as error:  # a loop of links, say
                problems.append((entry.name, error.strerror or str(error)))
    return sorted(files), sorted(folders), sorted(problems)


def _units(folder: str, files: list[str]) -> Iterator[Unit]:
    kernels: dict[str, list[str]] = {}
    for name in files:
        stem, suffix = os.path.splitext(name)  # noqa: PTH122
        if suffix in _KERNEL and not name.startswith(GROUP):
            kernels.setdefault(stem, []).append(suffix)
        elif suffix in SOURCES:
            yield Unit(_below(folder, name), folder, stem, (suffix,))
    for stem, suffixes in kernels.items():
        first = next(suffix for suffix in _ORDER if suffix in suffixes)
        yield Unit(_below(folder, stem + first), folder, stem, tuple(suffixes))
