"""Instructions, counted by callgrind: of whole loops, and between one shared object and another."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

# The counted programs call it around their loops, and nothing else does: callgrind writes what it has counted, and
# starts anew, at each of these calls.
MARK = "getppid"


@dataclasses.dataclass(frozen=True)
class Crossing:
    """Calls from one shared object into another, and the instructions until they returned."""

    caller: str
    called: str
    calls: int
    instructions: int


def counted(command: Sequence[str | Path]) -> list[str]:
    """Runs a command under callgrind and gives what was counted before each mark, the time before the first included.

    Raises RuntimeError with the program's error output where it fails.
    """
    words = [os.fspath(word) for word in command]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        callgrind = ["valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={out}"]
        callgrind += [f"--dump-before={MARK}", *words]
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(callgrind, capture_output=True, text=True, env=environment, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
        dumps = sorted(Path(folder).iterdir(), key=lambda dump: int(dump.suffix[1:] or 0))
        texts = [dump.read_text() for dump in dumps]
    return [text for text in texts if "Trigger: --dump-before" in text]


def total(dump: str) -> int:
    """Instructions counted in one dump."""
    found = re.search(r"^totals: (\d+)", dump, re.MULTILINE)
    assert found is not None
    return int(found[1])


def crossings(dump: str) -> Iterator[Crossing]:
    """The calls in one dump that go from one shared object into another (format: Callgrind manual, chapter 3)."""
    names: dict[str, str] = {}

    def named(text: str) -> str:
        number, _, name = text.partition(" ")
        return names.setdefault(number, name)

    here = called = ""
    lines = iter(dump.splitlines())
    for line in lines:
        key, _, rest = line.partition("=")
        if key == "ob":
            here = called = named(rest)
        elif key == "cob":
            called = named(rest)
        elif key == "calls":
            instructions = int(next(lines).split()[1])
            if called != here:
                yield Crossing(here, called, int(rest.split()[0]), instructions)
            called = here


def between(dump: str, launcher: Callable[[str], bool], driver: Callable[[str], bool]) -> tuple[int, float]:
    """How often the launcher was entered, and the instructions of one entry without those of the driver.

    launcher and driver tell their shared objects by path. What else the launcher calls, the interpreter and the
    arguments' own methods, counts as its own.
    """
    entries = spent = 0
    for crossing in crossings(dump):
        if launcher(crossing.called) and not launcher(crossing.caller):
            entries += crossing.calls
            spent += crossing.instructions
        elif driver(crossing.called) and launcher(crossing.caller):
            spent -= crossing.instructions
    return entries, spent / entries if entries else 0.0
