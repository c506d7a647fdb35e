"""The seeded faults of `tests/mutants/*.mutants`: how they are written down, and how one is applied.

A file holds the faults of one group, named by the file. A fault is a block of lines:

    mutant NAME: what is wrong, in one sentence
    in FILE
    by TESTS...              files that notice it, run first; where none are named, those of its group
    quick                    part of `./run test`
    equivalent REASON        nothing can notice it, and why
    -a line as it is
    +the line as it becomes
     a line around it

The lines with `-`, `+` or a blank are the patch. They name their place by what stands there: the old lines must occur
exactly once in FILE, wherever. `#` starts a comment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ENDING = ".mutants"


class PatchError(ValueError):
    """A fault that is written down wrongly; the text starts with path:line."""


class StaleError(ValueError):
    """A fault whose old lines are no longer there, or there more than once."""


@dataclass
class Mutant:
    """One seeded fault."""

    group: str
    name: str
    title: str
    place: str  # path:line of its block
    file: str = ""
    by: tuple[str, ...] = ()
    quick: bool = False
    equivalent: str = ""
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        return f"{self.group}/{self.name}"

    def apply(self, text: str) -> str:
        """The mutated text of its file. StaleError."""
        lines, length = text.split("\n"), len(self.old)
        found = [at for at in range(len(lines)) if lines[at : at + length] == self.old]
        if len(found) != 1:
            raise StaleError(
                f"{self.place}: {self.id} is stale: its old lines occur {len(found)} times in {self.file}, expected "
                "once; write it anew for the code as it is"
            )
        return "\n".join([*lines[: found[0]], *self.new, *lines[found[0] + length :]])


def load(folder: Path) -> list[Mutant]:
    """Every fault, by group. PatchError."""
    mutants = [mutant for path in sorted(folder.glob(f"*{ENDING}")) for mutant in read(path)]
    seen: dict[str, Mutant] = {}
    for mutant in mutants:
        if mutant.id in seen:
            raise PatchError(f"{mutant.place}: {mutant.id} is already at {seen[mutant.id].place}")
        seen[mutant.id] = mutant
    return mutants


def read(path: Path) -> Iterator[Mutant]:
    """The faults of one file, in order. PatchError."""
    mutant: Mutant | None = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        place = f"{path}:{number}"
        if line.startswith("mutant "):
            if mutant is not None:
                yield checked(mutant)
            name, colon, title = line.removeprefix("mutant ").partition(": ")
            if not colon or " " in name:
                raise PatchError(f"{place}: expected `mutant NAME: what is wrong`, got {line!r}")
            mutant = Mutant(path.name.removesuffix(ENDING), name, title, place)
        elif line.strip() and not line.startswith("#"):
            if mutant is None:
                raise PatchError(f"{place}: expected `mutant NAME: what is wrong` first, got {line!r}")
            add_line(mutant, line, place)
    if mutant is not None:
        yield checked(mutant)


def add_line(mutant: Mutant, line: str, place: str) -> None:
    """One line of a block into its fault. PatchError."""
    if line[0] in "-+ ":
        if line[0] in "- ":
            mutant.old.append(line[1:])
        if line[0] in "+ ":
            mutant.new.append(line[1:])
        return
    word, _, rest = line.partition(" ")
    if word == "in":
        mutant.file = rest
    elif word == "by":
        mutant.by = tuple(rest.split())
    elif line == "quick":
        mutant.quick = True
    elif word == "equivalent" and rest:
        mutant.equivalent = rest
    else:
        raise PatchError(f"{place}: expected in, by, quick, equivalent or a line of the patch, got {line!r}")


def checked(mutant: Mutant) -> Mutant:
    """The fault itself, once it is known to be whole. PatchError."""
    if not mutant.file:
        raise PatchError(f"{mutant.place}: {mutant.id} names no file (`in FILE`)")
    if not mutant.old or mutant.old == mutant.new:
        raise PatchError(f"{mutant.place}: {mutant.id} changes nothing")
    if mutant.quick and (mutant.equivalent or not mutant.by):
        raise PatchError(f"{mutant.place}: {mutant.id} is quick: it must be noticed, and `by` must say by which tests")
    return mutant
